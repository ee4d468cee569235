/* The table of host functions. See host.h. */
#include "vm/host.h"
#include <pthread.h>
#include "vm/bytecode/memory.h"
#include "vm/vm.h"

#define CHUNK_ENTRIES 256u
#define MAX_CHUNKS 256u

typedef struct {
    HostInvoke invoke;
    void *function;
    void (*drop)(const Memory *memory, void *function);
} Entry;

struct HostTable {
    pthread_mutex_t lock; /* of adding */
    Entry *chunks[MAX_CHUNKS];
    _Atomic uint32_t count; /* entries below it are whole */
};

bool host_new(BtVm *vm) {
    vm->host = memory_zalloc(vm->memory, sizeof *vm->host);
    return vm->host && pthread_mutex_init(&vm->host->lock, NULL) == 0;
}

static Entry *entry_at(const HostTable *t, uint32_t number) {
    return &t->chunks[number / CHUNK_ENTRIES][number % CHUNK_ENTRIES];
}

void host_free(BtVm *vm) {
    HostTable *t = vm->host;
    if (!t) return;
    uint32_t count = atomic_load_explicit(&t->count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++)
        if (entry_at(t, i)->drop) entry_at(t, i)->drop(vm->memory, entry_at(t, i)->function);
    for (uint32_t i = 0; i < MAX_CHUNKS; i++) memory_free(vm->memory, t->chunks[i]);
    pthread_mutex_destroy(&t->lock);
    memory_free(vm->memory, t);
    vm->host = NULL;
}

uint32_t host_add(BtVm *vm, HostInvoke invoke, void *function,
                  void (*drop)(const Memory *memory, void *function)) {
    HostTable *t = vm->host;
    pthread_mutex_lock(&t->lock);
    uint32_t number = atomic_load_explicit(&t->count, memory_order_relaxed);
    bool room = number < CHUNK_ENTRIES * MAX_CHUNKS;
    Entry **chunk = room ? &t->chunks[number / CHUNK_ENTRIES] : NULL;
    if (room && !*chunk) *chunk = memory_alloc(vm->memory, CHUNK_ENTRIES * sizeof **chunk);
    if (!room || !*chunk) return pthread_mutex_unlock(&t->lock), UINT32_MAX;
    *entry_at(t, number) = (Entry){invoke, function, drop};
    /* release: who finds the number finds the entry whole */
    atomic_store_explicit(&t->count, number + 1, memory_order_release);
    pthread_mutex_unlock(&t->lock);
    return number;
}

bool host_find(BtVm *vm, uint32_t number, HostInvoke *invoke, void **function) {
    const HostTable *t = vm->host;
    /* acquire: pairs with host_add */
    if (number >= atomic_load_explicit(&t->count, memory_order_acquire)) return false;
    const Entry *e = entry_at(t, number);
    *invoke = e->invoke;
    *function = e->function;
    return true;
}

/* ---- steps ---- */

void host_step_release(HostStep *step) {
    if (step->release) step->release(step->state);
    step->release = NULL;
}

void host_step_drop(const Memory *memory, Counted *c) {
    host_step_release((HostStep *)c);
    memory_free(memory, c);
}
