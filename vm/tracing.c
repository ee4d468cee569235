/* Tracing of messages. See tracing.h. */
#include "vm/tracing.h"
#include <pthread.h>
#include "vm/bytecode/memory.h"
#include "vm/sched.h"
#include "vm/symbol.h"
#include "vm/vm.h"

#define DEFAULT_EVENTS 100000

struct Tracing {
    const Memory *memory;
    pthread_mutex_t lock; /* guards all but `on` */
    _Atomic bool on;
    TraceEvent *events; /* a ring of `capacity`, made at the first event */
    size_t capacity, next, count;
};

bool tracing_new(BtVm *vm) {
    Tracing *t = memory_zalloc(vm->memory, sizeof *t);
    if (!t) return false;
    t->memory = vm->memory;
    if (pthread_mutex_init(&t->lock, NULL) != 0) return memory_free(vm->memory, t), false;
    t->capacity = DEFAULT_EVENTS;
    vm->tracing = t;
    return true;
}

void tracing_free(BtVm *vm) {
    Tracing *t = vm->tracing;
    if (!t) return;
    pthread_mutex_destroy(&t->lock);
    memory_free(t->memory, t->events);
    memory_free(vm->memory, t);
    vm->tracing = NULL;
}

/* relaxed, both: a message more or less is traced */
bool tracing_is_on(BtVm *vm) { return atomic_load_explicit(&vm->tracing->on, memory_order_relaxed); }
void tracing_set(BtVm *vm, bool on) { atomic_store_explicit(&vm->tracing->on, on, memory_order_relaxed); }

void tracing_begin(Process *p) { p->traced_since = vm_now_us(p->vm); }

/* What the library does on behalf of spawn and stop are events of the actor's life. */
static Value shown_selector(Process *p, const Message *m, bool *lifecycle) {
    const char *text = value_is_symbol(m->selector) ? symbol_text(p->vm, m->selector, NULL) : "handleInfo:";
    *lifecycle = true;
    if (!strcmp(text, "__start:")) return symbol_intern(p->vm, "start", 5);
    if (!strcmp(text, "__stop:")) return symbol_intern(p->vm, "stop", 4);
    *lifecycle = false;
    return value_is_symbol(m->selector) ? m->selector : symbol_intern(p->vm, text, strlen(text));
}

static void note(Tracing *t, const TraceEvent *event) {
    pthread_mutex_lock(&t->lock);
    if (!t->events) t->events = memory_alloc(t->memory, t->capacity * sizeof *t->events);
    if (t->events) {
        t->events[t->next] = *event;
        t->next = (t->next + 1) % t->capacity;
        if (t->count < t->capacity) t->count++;
    }
    pthread_mutex_unlock(&t->lock);
}

void tracing_end(Process *p, Value class_name, TraceOutcome outcome) {
    const Message *m = p->serving;
    bool lifecycle;
    int64_t start = p->traced_since;
    p->traced_since = 0;
    TraceEvent e = {.at_us = start, .duration_us = vm_now_us(p->vm) - start, .pid = p->pid};
    e.class_name = class_name;
    e.selector = shown_selector(p, m, &lifecycle);
    const char *mode = lifecycle ? "lifecycle" : m->kind == MSG_CALL ? "sync" : "cast";
    e.mode = symbol_intern(p->vm, mode, strlen(mode));
    e.outcome = symbol_intern(p->vm, outcome == TRACE_OK ? "ok" : "error", outcome == TRACE_OK ? 2 : 5);
    note(p->vm->tracing, &e);
}

void tracing_clear(BtVm *vm) {
    Tracing *t = vm->tracing;
    pthread_mutex_lock(&t->lock);
    t->next = t->count = 0;
    pthread_mutex_unlock(&t->lock);
}

size_t tracing_capacity(BtVm *vm, size_t capacity) {
    Tracing *t = vm->tracing;
    pthread_mutex_lock(&t->lock);
    if (capacity && capacity != t->capacity) {
        memory_free(t->memory, t->events);
        t->events = NULL;
        t->next = t->count = 0;
        t->capacity = capacity;
    }
    size_t now = t->capacity;
    pthread_mutex_unlock(&t->lock);
    return now;
}

size_t tracing_copy(BtVm *vm, TraceEvent *events, size_t max) {
    Tracing *t = vm->tracing;
    pthread_mutex_lock(&t->lock);
    size_t count = t->count < max ? t->count : max;
    for (size_t i = 0; i < count; i++) events[i] = t->events[(t->next + t->capacity - 1 - i) % t->capacity];
    pthread_mutex_unlock(&t->lock);
    return count;
}
