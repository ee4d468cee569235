/* Links and monitors. Each process keeps its half in a table of its own; a change of the other half travels
 * as a signal, so tables are touched by their owners alone.
 *
 * Most processes have their parent and nobody else: a lone relation lies in the control block. From the
 * second on there is a table, a hash of 16-byte entries: the pid with the kind in its tag bits, and the
 * monitor's serial or the wait id (0 for links). Open addressing, linear probing, deletion by shifting back.
 */
#include "vm/sched_internal.h"

typedef struct RelationTable {
    uint32_t count, capacity; /* capacity: a power of two */
    Relation entries[];
} RelationTable;

/* ---- the table ---- */

static uint64_t key_make(RelationKind kind, Value pid) {
    return (pid & ~(uint64_t)TAG_MASK) | ((uint64_t)kind + 1);
}
static RelationKind key_kind(uint64_t key) { return (RelationKind)((key & TAG_MASK) - 1); }
static Value key_pid(uint64_t key) { return (key & ~(uint64_t)TAG_MASK) | TAG_PID; }

/* Links are found by pid, others by id. */
static uint32_t home_of(const RelationTable *t, Relation r) {
    uint64_t h = (key_kind(r.key) == RELATION_LINK ? r.key : r.id) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32) & (t->capacity - 1);
}

static bool is_wanted(const Relation *r, RelationKind kind, Value pid, uint64_t id) {
    return r->key && key_kind(r->key) == kind && r->id == id && (pid == V_NIL || key_pid(r->key) == pid);
}

/* pid V_NIL: any. NULL if there is none. */
static Relation *table_find(RelationTable *t, RelationKind kind, Value pid, uint64_t id) {
    uint32_t at = home_of(t, (Relation){key_make(kind, pid), id});
    for (uint32_t i = 0; i < t->capacity && t->entries[at].key; i++, at = (at + 1) & (t->capacity - 1))
        if (is_wanted(&t->entries[at], kind, pid, id)) return &t->entries[at];
    return NULL;
}

static void table_insert(RelationTable *t, Relation r) {
    uint32_t at = home_of(t, r);
    while (t->entries[at].key) at = (at + 1) & (t->capacity - 1);
    t->entries[at] = r;
    t->count++;
}

static bool table_grow(const Memory *memory, Relations *of) {
    RelationTable *old = of->table;
    uint32_t capacity = old ? old->capacity * 2 : 4;
    RelationTable *t = memory_zalloc(memory, sizeof *t + capacity * sizeof(Relation));
    if (!t) return false;
    t->capacity = capacity;
    for (uint32_t i = 0; old && i < old->capacity; i++)
        if (old->entries[i].key) table_insert(t, old->entries[i]);
    if (of->lone.key) table_insert(t, of->lone);
    of->lone = (Relation){0, 0};
    memory_free(memory, old);
    of->table = t;
    return true;
}

static void table_remove(RelationTable *t, uint32_t hole) {
    uint32_t mask = t->capacity - 1;
    for (uint32_t at = (hole + 1) & mask; at != hole && t->entries[at].key; at = (at + 1) & mask) {
        uint32_t home = home_of(t, t->entries[at]);
        /* may move back only if its home does not lie between the hole and itself */
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        t->entries[hole] = t->entries[at];
        t->entries[at].key = 0;
        hole = at;
    }
    t->entries[hole] = (Relation){0, 0};
    t->count--;
}

/* ---- all of them ---- */

/* The places where they are, some of them empty (key 0). */
static Relation *places(Relations *of, uint32_t *count) {
    *count = of->table ? of->table->capacity : 1;
    return of->table ? of->table->entries : &of->lone;
}

static Relation *find(Relations *of, RelationKind kind, Value pid, uint64_t id) {
    if (of->table) return table_find(of->table, kind, pid, id);
    return is_wanted(&of->lone, kind, pid, id) ? &of->lone : NULL;
}

bool relation_add(const Memory *memory, Relations *of, RelationKind kind, Value pid, uint64_t id) {
    Relation r = {key_make(kind, pid), id};
    RelationTable *t = of->table;
    if (!t && !of->lone.key) return of->lone = r, true;
    if (find(of, kind, pid, id)) return true;
    bool full = !t || t->count >= (t->capacity > 4 ? t->capacity - t->capacity / 4 : t->capacity);
    if (full && !table_grow(memory, of)) return false;
    table_insert(of->table, r);
    return true;
}

bool relation_remove(Relations *of, RelationKind kind, Value pid, uint64_t id) {
    Relation *r = find(of, kind, pid, id);
    if (!r) return false;
    if (of->table)
        table_remove(of->table, (uint32_t)(r - of->table->entries));
    else
        r->key = 0;
    return true;
}

Value relation_watched(Relations *of, uint64_t id) {
    const Relation *r = find(of, RELATION_WATCHES, V_NIL, id);
    return r ? key_pid(r->key) : V_NIL;
}

void relation_counts(Relations *of, uint64_t *links, uint64_t *monitors) {
    uint32_t count;
    const Relation *all = places(of, &count);
    *links = *monitors = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!all[i].key) continue;
        RelationKind kind = key_kind(all[i].key);
        if (kind == RELATION_LINK) ++*links;
        if (kind == RELATION_WATCHES || kind == RELATION_WATCHED_BY) ++*monitors;
    }
}

void relations_free(const Memory *memory, Relations *of) {
    memory_free(memory, of->table);
    *of = (Relations){.table = NULL};
}

/* ---- signals ---- */

static void send_down(BtVm *vm, Scheduler *s, Value self, Value watcher, uint64_t serial, Value reason) {
    uint64_t words[2] = {header_make(CLASS_ID_Reference, KIND_REFERENCE, 0, 2), serial};
    Value values[2] = {value_from_object(words), reason};
    (void)signal_send(vm, s, watcher, MSG_DOWN, self, serial, values, 2);
}

static void tell_waiter(BtVm *vm, Scheduler *s, Value pid, uint64_t wait_id) {
    Reply ended = {.kind = REPLY_VALUE, .value = V_TRUE};
    (void)reply_deliver(vm, s, pid, wait_id, &ended, false);
}

void relations_fire(Scheduler *s, Process *p, Value reason) {
    uint32_t count;
    const Relation *all = places(&p->link.relations, &count);
    for (uint32_t i = 0; i < count; i++) {
        Relation r = all[i];
        if (!r.key) continue;
        Value pid = key_pid(r.key);
        switch (key_kind(r.key)) {
        case RELATION_LINK: (void)signal_send(p->vm, s, pid, MSG_EXIT, p->pid, 0, &reason, 1); break;
        case RELATION_WATCHED_BY: send_down(p->vm, s, p->pid, pid, r.id, reason); break;
        case RELATION_WATCHES: (void)signal_send(p->vm, s, pid, MSG_DEMONITOR, p->pid, r.id, NULL, 0); break;
        case RELATION_AWAITED_BY: tell_waiter(p->vm, s, pid, r.id); break;
        case RELATION_TETHERED:
            if (reason == SYMBOL(normal)) break;
            (void)signal_send(p->vm, s, pid, MSG_LINK, p->pid, 0, NULL, 0);
            (void)signal_send(p->vm, s, pid, MSG_EXIT, p->pid, 0, &reason, 1);
            break;
        }
    }
}

void relation_refuse(BtVm *vm, Scheduler *s, Value self, const Message *m, Value reason) {
    if (m->kind == MSG_LINK)
        (void)signal_send(vm, s, m->sender, MSG_EXIT, self, 0, &reason, 1);
    else if (m->waiter)
        tell_waiter(vm, s, m->sender, m->call_id);
    else
        send_down(vm, s, self, m->sender, m->call_id, reason);
}

void relation_signal(Process *p, const Message *m) {
    Relations *of = &p->link.relations;
    RelationKind watch = m->waiter ? RELATION_AWAITED_BY : RELATION_WATCHED_BY;
    bool done = true;
    switch (m->kind) {
    case MSG_LINK: done = relation_add(p->vm->memory, of, RELATION_LINK, m->sender, 0); break;
    case MSG_UNLINK: (void)relation_remove(of, RELATION_LINK, m->sender, 0); break;
    case MSG_MONITOR: done = relation_add(p->vm->memory, of, watch, m->sender, m->call_id); break;
    case MSG_DEMONITOR: (void)relation_remove(of, watch, m->sender, m->call_id); break;
    default: break;
    }
    if (!done) vm_fail(p->vm);
}

/* ---- what a process does ---- */

void process_link(Process *a, Value b_pid) {
    Value noproc = SYMBOL(noproc);
    if (b_pid == a->pid || !value_is_pid(b_pid)) return;
    if (find(&a->link.relations, RELATION_LINK, b_pid, 0)) return;
    if (!relation_add(a->vm->memory, &a->link.relations, RELATION_LINK, b_pid, 0)) {
        vm_fail(a->vm);
        return;
    }
    if (!signal_send(a->vm, a->scheduler, b_pid, MSG_LINK, a->pid, 0, NULL, 0))
        (void)signal_send(a->vm, a->scheduler, a->pid, MSG_EXIT, b_pid, 0, &noproc, 1);
}

void process_tether(Process *p, Value owner) {
    p->link.tethered = relation_add(p->vm->memory, &p->link.relations, RELATION_TETHERED, owner, 0);
    if (!p->link.tethered) vm_fail(p->vm);
}

/* Whom it was tethered to. */
static Value cut(Process *p) {
    uint32_t count, at = 0;
    const Relation *all = places(&p->link.relations, &count);
    p->link.tethered = false;
    while (at < count && !(all[at].key && key_kind(all[at].key) == RELATION_TETHERED)) at++;
    if (at == count) return V_NIL;
    Value owner = key_pid(all[at].key);
    (void)relation_remove(&p->link.relations, RELATION_TETHERED, owner, 0);
    return owner;
}

void process_untether(Process *p) {
    if (p->link.tethered) (void)cut(p);
}

void process_tie(Process *p) {
    if (p->link.tethered) process_link(p, cut(p));
}

void process_unlink(Process *a, Value b_pid) {
    if (a->link.tethered && relation_remove(&a->link.relations, RELATION_TETHERED, b_pid, 0)) {
        a->link.tethered = false;
        return;
    }
    if (relation_remove(&a->link.relations, RELATION_LINK, b_pid, 0))
        (void)signal_send(a->vm, a->scheduler, b_pid, MSG_UNLINK, a->pid, 0, NULL, 0);
}

void process_monitor(Process *watcher, Value target, Value reference) {
    uint64_t serial = reference_serial(reference);
    if (!relation_add(watcher->vm->memory, &watcher->link.relations, RELATION_WATCHES, target, serial)) {
        vm_fail(watcher->vm);
        return;
    }
    if (!signal_send(watcher->vm, watcher->scheduler, target, MSG_MONITOR, watcher->pid, serial, NULL, 0))
        send_down(watcher->vm, watcher->scheduler, target, watcher->pid, serial, SYMBOL(noproc));
}

void process_demonitor(Process *watcher, Value reference) {
    uint64_t serial = reference_serial(reference);
    Value target = relation_watched(&watcher->link.relations, serial);
    if (relation_remove(&watcher->link.relations, RELATION_WATCHES, V_NIL, serial))
        (void)signal_send(watcher->vm, watcher->scheduler, target, MSG_DEMONITOR, watcher->pid, serial, NULL,
                          0);
}

Value reference_new(Process *p) {
    if (!heap_reserve(p, 2)) return V_HOLE;
    Value reference = heap_new(p, KIND_REFERENCE, CLASS_ID_Reference, 2);
    /* relaxed: only uniqueness counts */
    object_words(reference)[1] =
        atomic_fetch_add_explicit(&p->vm->schedulers->next_reference, 1, memory_order_relaxed) + 1;
    return reference;
}

/* Pushes MSG_MONITOR or MSG_DEMONITOR of a wait; false: dead, or no memory. */
static bool watch_for_wait(Process *p, Value target, MessageKind kind, uint64_t id) {
    Message *m = message_make(p->vm, p->scheduler, kind, p->pid, V_NIL, V_NIL, NULL, 0);
    if (!m) return false;
    m->waiter = true;
    m->call_id = id;
    return mailbox_send(p->vm, p->scheduler, target, m);
}

static void finish_await(Process *p, Reply *reply) {
    p->resume_value = value_from_bool(reply->kind == REPLY_VALUE);
    if (reply->kind != REPLY_VALUE)
        (void)watch_for_wait(p, (Value)(uintptr_t)p->link.wait_context, MSG_DEMONITOR,
                             p->link.next_call_id << 2);
}

PrimStatus process_await_end(Process *p, Value target, int64_t timeout_us) {
    uint64_t id = wait_open(p, WAIT_PRIM, timeout_us);
    p->link.wait_finish = finish_await;
    p->link.wait_context = (void *)(uintptr_t)target;
    if (!watch_for_wait(p, target, MSG_MONITOR, id)) tell_waiter(p->vm, p->scheduler, p->pid, id);
    return PRIM_BLOCK;
}
