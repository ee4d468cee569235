/* Registered names: two hash tables with chains over the same entries, by name and by pid. */
#include "vm/registry.h"
#include "vm/sched_internal.h"

typedef struct Entry {
    Value name, pid;
    struct Entry *next_by_name, *next_by_pid;
    struct Entry *older, *newer; /* in order of registration */
} Entry;

struct Registry {
    const Memory *memory;
    pthread_rwlock_t lock;
    uint32_t count, capacity; /* capacity: a power of two */
    Entry **by_name, **by_pid;
    Entry *oldest, *newest;
    /* A bit for every name that is there, and for some that were: who asks for a name that nobody has, as
     * every birth and end of an actor does, needs no lock. */
    _Atomic uint64_t seen;
};

static uint64_t seen_bit(Value name) { return (uint64_t)1 << ((name * 0x9e3779b97f4a7c15u) >> 58); }

enum { FIRST_CAPACITY = 16 };

static uint32_t bucket(const Registry *r, Value v) {
    return (uint32_t)((v * 0x9e3779b97f4a7c15u) >> 40) & (r->capacity - 1);
}

static bool make_tables(Registry *r, uint32_t capacity) {
    Entry **by_name = memory_zalloc(r->memory, capacity * sizeof *by_name),
          **by_pid = memory_zalloc(r->memory, capacity * sizeof *by_pid);
    if (!by_name || !by_pid) return memory_free(r->memory, by_name), memory_free(r->memory, by_pid), false;
    memory_free(r->memory, r->by_name);
    memory_free(r->memory, r->by_pid);
    r->by_name = by_name;
    r->by_pid = by_pid;
    r->capacity = capacity;
    return true;
}

static void chain(Registry *r, Entry *e) {
    /* release: pairs with registry_lookup, which must find what its caller has been told of */
    atomic_fetch_or_explicit(&r->seen, seen_bit(e->name), memory_order_release);
    Entry **name = &r->by_name[bucket(r, e->name)], **pid = &r->by_pid[bucket(r, e->pid)];
    e->next_by_name = *name;
    *name = e;
    e->next_by_pid = *pid;
    *pid = e;
}

static void grow(Registry *r) {
    if (r->count < r->capacity || !make_tables(r, r->capacity * 2)) return; /* longer chains do no harm */
    for (Entry *e = r->oldest; e; e = e->newer) chain(r, e);
}

Registry *registry_new(const Memory *memory) {
    Registry *r = memory_zalloc(memory, sizeof *r);
    if (!r) return NULL;
    r->memory = memory;
    if (pthread_rwlock_init(&r->lock, NULL) != 0) return memory_free(memory, r), NULL;
    if (!make_tables(r, FIRST_CAPACITY)) return registry_free(r), NULL;
    return r;
}

void registry_free(Registry *r) {
    if (!r) return;
    for (Entry *e = r->oldest, *next; e; e = next) {
        next = e->newer;
        memory_free(r->memory, e);
    }
    memory_free(r->memory, r->by_name);
    memory_free(r->memory, r->by_pid);
    pthread_rwlock_destroy(&r->lock);
    memory_free(r->memory, r);
}

static Entry *find_name(const Registry *r, Value name) {
    Entry *e = r->by_name[bucket(r, name)];
    while (e && e->name != name) e = e->next_by_name;
    return e;
}

static Entry *find_pid(const Registry *r, Value pid) {
    Entry *e = r->by_pid[bucket(r, pid)];
    while (e && e->pid != pid) e = e->next_by_pid;
    return e;
}

/* Marks the process as named, so that its end comes here. False: it is dead. */
static bool mark_named(BtVm *vm, Value pid, bool named) {
    Process *p = process_by_slot(vm, pid_slot(pid));
    if (!p) return false;
    Word128 w = word128_peek(p->link.word), put;
    do {
        if (named ? !link_is_alive(w.low, pid_generation(pid))
                  : link_generation(w.low) != pid_generation(pid))
            return false;
        put.low = named ? w.low | LINK_NAMED : w.low & ~LINK_NAMED;
        put.high = w.high;
    } while (!word128_cas(p->link.word, &w, put));
    return true;
}

static void unchain(Registry *r, Entry *e) {
    Entry **at = &r->by_name[bucket(r, e->name)];
    while (*at != e) at = &(*at)->next_by_name;
    *at = e->next_by_name;
    at = &r->by_pid[bucket(r, e->pid)];
    while (*at != e) at = &(*at)->next_by_pid;
    *at = e->next_by_pid;
    *(e->older ? &e->older->newer : &r->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &r->newest) = e->older;
    if (--r->count == 0) atomic_store_explicit(&r->seen, 0, memory_order_release); /* as in chain */
}

static void remove_entry(Registry *r, Entry *e) {
    unchain(r, e);
    memory_free(r->memory, e);
}

bool registry_register(BtVm *vm, Value name, Value pid) {
    Registry *r = vm->schedulers->registry;
    if (!value_is_pid(pid)) return false;
    Entry *e = memory_zalloc(r->memory, sizeof *e);
    if (!e) return false;
    e->name = name;
    e->pid = pid;
    pthread_rwlock_wrlock(&r->lock);
    Entry *before = find_name(r, name);
    if (before && !process_is_alive(vm, before->pid))
        remove_entry(r, before), before = NULL; /* doomed: about to go */
    bool done = !before && !find_pid(r, pid) && mark_named(vm, pid, true);
    if (done) {
        grow(r);
        chain(r, e);
        e->older = r->newest;
        *(r->newest ? &r->newest->newer : &r->oldest) = e;
        r->newest = e;
        r->count++;
    }
    pthread_rwlock_unlock(&r->lock);
    if (!done) memory_free(r->memory, e);
    return done;
}

bool registry_unregister(BtVm *vm, Value name, Value pid) {
    Registry *r = vm->schedulers->registry;
    pthread_rwlock_wrlock(&r->lock);
    Entry *e = find_name(r, name);
    bool found = e && e->pid == pid;
    if (found) {
        remove_entry(r, e);
        (void)mark_named(vm, pid, false);
    }
    pthread_rwlock_unlock(&r->lock);
    return found;
}

Value registry_lookup(BtVm *vm, Value name) {
    Registry *r = vm->schedulers->registry;
    /* acquire: pairs with chain */
    if (!(atomic_load_explicit(&r->seen, memory_order_acquire) & seen_bit(name))) return V_NIL;
    pthread_rwlock_rdlock(&r->lock);
    Entry *e = find_name(r, name);
    Value pid = e && process_is_alive(vm, e->pid) ? e->pid : V_NIL;
    pthread_rwlock_unlock(&r->lock);
    return pid;
}

Value registry_name_of(BtVm *vm, Value pid) {
    Registry *r = vm->schedulers->registry;
    pthread_rwlock_rdlock(&r->lock);
    Entry *e = find_pid(r, pid);
    Value name = e ? e->name : V_NIL;
    pthread_rwlock_unlock(&r->lock);
    return name;
}

void registry_each(BtVm *vm, void (*visit)(void *context, Value name, Value pid), void *context) {
    Registry *r = vm->schedulers->registry;
    pthread_rwlock_rdlock(&r->lock);
    for (Entry *e = r->oldest; e; e = e->newer) visit(context, e->name, e->pid);
    pthread_rwlock_unlock(&r->lock);
}
