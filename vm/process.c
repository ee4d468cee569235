/* Processes' birth and death, and the table of control blocks.
 *
 * Control blocks come in slabs that live as long as the VM, so a pointer to one never dangles; whether the
 * process behind it is still the one a pid names is said by the generation in the state word. Each scheduler
 * keeps a short list of free blocks; the table's own list, under its lock, balances them. */
#include <stddef.h>
#include "vm/class_vars.h"
#include "vm/error.h"
#include "vm/gc.h"
#include "vm/poll_fd.h"
#include "vm/limits.h"
#include "vm/sched_internal.h"

#define CACHE_LINE 64u

/* ---- the table ---- */

bool processes_init(BtVm *vm, ProcessTable *t) {
    (void)vm;
    return pthread_mutex_init(&t->lock, NULL) == 0;
}

/* Zeroed memory that lives as long as the table, aligned to a cache line; under the lock. Large blocks come
 * out aligned, and of a size the allocator need not round up: asking for more to align by hand is the
 * exception. */
static void *table_own(BtVm *vm, ProcessTable *t, size_t size) {
    if (t->memory_count == t->memory_capacity) {
        uint32_t capacity = t->memory_capacity ? t->memory_capacity * 2 : 32;
        void **memory = memory_realloc(vm->memory, t->memory, capacity * sizeof *memory);
        if (!memory) return NULL;
        t->memory = memory;
        t->memory_capacity = capacity;
    }
    void *block = memory_zalloc(vm->memory, size);
    if (block && (uintptr_t)block % CACHE_LINE) {
        memory_free(vm->memory, block);
        block = memory_zalloc(vm->memory, size + CACHE_LINE - 1);
    }
    if (!block) return NULL;
    t->memory[t->memory_count++] = block;
    return (void *)(((uintptr_t)block + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));
}

static bool directory_grow(BtVm *vm, ProcessTable *t) {
    uint32_t capacity = t->capacity ? t->capacity * 2 : 16;
    Process **fresh = table_own(vm, t, capacity * sizeof *fresh);
    if (!fresh) return false;
    /* relaxed: only this side, under the lock, writes it */
    Process **old = atomic_load_explicit(&t->directory, memory_order_relaxed);
    if (old) memcpy(fresh, old, t->capacity * sizeof *fresh);
    t->capacity = capacity;
    /* release: pairs with process_by_slot */
    atomic_store_explicit(&t->directory, fresh, memory_order_release);
    return true;
}

static bool slab_add(BtVm *vm, ProcessTable *t) {
    uint32_t count = atomic_load_explicit(&t->slab_count, memory_order_relaxed); /* relaxed: under the lock */
    if (count >= PROCESSES_MAX / SLAB_PROCESSES) return false;
    if (count == t->capacity && !directory_grow(vm, t)) return false;
    Process *slab = table_own(vm, t, SLAB_PROCESSES * sizeof *slab);
    if (!slab) return false;
    Process **directory = atomic_load_explicit(&t->directory, memory_order_relaxed);
    directory[count] = slab;
    /* release: pairs with process_by_slot, which reads the entry after the count */
    atomic_store_explicit(&t->slab_count, count + 1, memory_order_release);
    return true;
}

/* A block that nobody has had yet: they are set up one by one, so that a slab costs only what is used. Under
 * the lock. */
static Process *take_fresh(BtVm *vm, ProcessTable *t) {
    uint32_t count = atomic_load_explicit(&t->slab_count, memory_order_relaxed); /* relaxed: under the lock */
    if (t->used == count * SLAB_PROCESSES && !slab_add(vm, t)) return NULL;
    Process **directory = atomic_load_explicit(&t->directory, memory_order_relaxed);
    Process *p = &directory[t->used / SLAB_PROCESSES][t->used % SLAB_PROCESSES];
    p->link.slot = t->used++;
    Word128 none = {0, 0}, free_word = {((uint64_t)1 << 32) | RUN_FREE, 0};
    (void)word128_cas(p->link.word, &none, free_word); /* others may look at it already */
    return p;
}

static Process *take_from_table(BtVm *vm, ProcessTable *t) {
    Process *p = t->free_processes;
    if (!p) return take_fresh(vm, t);
    t->free_processes = p->link.run_next;
    return p;
}

static Process *free_list_take(BtVm *vm, ProcessTable *t, Scheduler *s) {
    if (s && s->free_processes) {
        Process *p = s->free_processes;
        s->free_processes = p->link.run_next;
        s->free_count--;
        return p;
    }
    pthread_mutex_lock(&t->lock);
    Process *p = take_from_table(vm, t);
    for (unsigned i = 0; p && s && i < FREE_BATCH; i++) {
        Process *more = take_from_table(vm, t);
        if (!more) break;
        more->link.run_next = s->free_processes;
        s->free_processes = more;
        s->free_count++;
    }
    pthread_mutex_unlock(&t->lock);
    return p;
}

static void free_list_put(ProcessTable *t, Scheduler *s, Process *p) {
    if (s) {
        p->link.run_next = s->free_processes;
        s->free_processes = p;
        if (++s->free_count < 4 * FREE_BATCH) return;
    }
    pthread_mutex_lock(&t->lock);
    if (!s) {
        p->link.run_next = t->free_processes;
        t->free_processes = p;
    }
    while (s && s->free_count > FREE_BATCH) {
        Process *less = s->free_processes;
        s->free_processes = less->link.run_next;
        s->free_count--;
        less->link.run_next = t->free_processes;
        t->free_processes = less;
    }
    pthread_mutex_unlock(&t->lock);
}

/* ---- looking at others ---- */

Process *process_by_pid(BtVm *vm, Value pid) {
    if (!value_is_pid(pid)) return NULL;
    Process *p = process_by_slot(vm, pid_slot(pid));
    return p && link_is_alive(word128_peek(p->link.word).low, pid_generation(pid)) ? p : NULL;
}

/* Each scheduler counts on its own, so that a birth costs no step that others see. relaxed: a statistic */
static void count_process(ProcessTable *t, Scheduler *s, int32_t change) {
    if (s)
        atomic_store_explicit(&s->live, atomic_load_explicit(&s->live, memory_order_relaxed) + change,
                              memory_order_relaxed);
    else
        atomic_fetch_add_explicit(&t->live, change, memory_order_relaxed);
}

uint32_t process_count(BtVm *vm) {
    const Schedulers *all = vm->schedulers;
    int64_t count = atomic_load_explicit(&all->processes.live, memory_order_relaxed); /* as above */
    for (unsigned i = 0; i < all->count; i++)
        count += atomic_load_explicit(&all->list[i].live, memory_order_relaxed);
    return count < 0 ? 0 : (uint32_t)count; /* made and ended between two of the loads */
}

bool process_is_alive(BtVm *vm, Value pid) { return process_by_pid(vm, pid) != NULL; }

bool process_has_ended(BtVm *vm, Value pid) {
    Process *p = process_by_slot(vm, pid_slot(pid));
    return !p || link_generation(word128_peek(p->link.word).low) != pid_generation(pid);
}

bool process_class_of(BtVm *vm, Value pid, uint32_t *class_id) {
    Process *p = process_by_pid(vm, pid);
    if (!p) return false;
    /* acquire: the look at the generation below comes after it */
    *class_id = atomic_load_explicit(&p->link.class_id, memory_order_acquire);
    return link_is_alive(word128_peek(p->link.word).low, pid_generation(pid));
}

void process_each(BtVm *vm, void (*visit)(Value pid, uint32_t class_id, void *context), void *context) {
    Process *p;
    for (uint32_t slot = 0; (p = process_by_slot(vm, slot)) != NULL; slot++) {
        Value pid = value_from_pid(slot, link_generation(word128_peek(p->link.word).low));
        uint32_t class_id;
        if (process_class_of(vm, pid, &class_id)) visit(pid, class_id, context);
    }
}

/* ---- birth ---- */

/* The library's memset: for a size that it knows the compiler makes `rep stos`, which takes longer to start
 * than these few lines to clear. */
static void clear(void *block, size_t size) {
    __asm__("" : "+r"(size));
    memset(block, 0, size);
}

static void init_owner_part(BtVm *vm, Process *p, const SpawnOptions *options, uint32_t generation) {
    clear(p, offsetof(Process, link));
    p->vm = vm;
    p->pid = value_from_pid(p->link.slot, generation);
    p->self_ref = options->role == PROC_CLASS ? options->self_ref : V_NIL;
    p->state = p->carriers = p->exception = p->rollback_state = V_HOLE;
    class_vars_init(p);
    p->pending_value = p->pending_pid = p->pending_serial = p->resume_value = p->dictionary = V_NIL;
    p->role = options->role;
    p->heap.limit_words =
        options->heap_limit_words ? options->heap_limit_words : vm->default_heap_limit_words;
    p->stack_limit_words =
        options->stack_limit_words ? options->stack_limit_words : vm->default_stack_limit_words;
}

static void init_link(Process *p, const SpawnOptions *options) {
    ProcessLink *l = &p->link;
    l->queue_head = l->queue_tail = NULL;
    atomic_store_explicit(&l->queued, 0, memory_order_relaxed); /* relaxed, these two: numbers and no more */
    atomic_store_explicit(&l->mailbox_limit, p->vm->mailbox_limit, memory_order_relaxed);
    l->wait = WAIT_NONE;
    l->wait_timeout_us = -1;
    l->relations = (Relations){.table = NULL};
    l->completion = options->completion;
    l->system_request = NULL;
    l->run_next = NULL;
    l->exit_reason = SYMBOL(normal);
    l->call_class = l->call_selector = V_NIL;
    l->trap_exit = options->ignore_link_exits;
    l->ending = l->killed = l->cooling = l->tethered = l->timer = false;
    limits_begin_process(p);
    /* relaxed: published with the state word */
    atomic_store_explicit(&l->class_id, options->class_id, memory_order_relaxed);
    atomic_store_explicit(&l->waiting_on, 0, memory_order_relaxed);
}

/* Its reference, and its state if it needs no message for that. */
static bool make_actor(Process *p, const SpawnOptions *options) {
    uint32_t slots = options->state ? options->state_layout->count : 0;
    uint64_t *reference = heap_begin(p, 2 + (options->state ? 1 + slots : 0));
    if (!reference) return false;
    reference[0] = header_make(options->class_id, KIND_ACTOR_REF, 0, 2);
    reference[1] = p->pid;
    p->self_ref = value_from_object(reference);
    if (!options->state) return true;
    uint64_t *record = reference + 2;
    record[0] = header_make(CLASS_ID_Object, KIND_RECORD, 0, 1 + slots);
    memcpy(record + 1, options->state, slots * sizeof *record);
    p->state = value_from_object(record);
    p->state_layout = options->state_layout;
    return true;
}

/* A class process is linked in name only (semantics 3). */
static bool link_to_parent(Process *p, Process *parent) {
    if (!parent || parent->role == PROC_CLASS) return true;
    return relation_add(p->vm->memory, &p->link.relations, RELATION_LINK, parent->pid, 0) &&
           relation_add(p->vm->memory, &parent->link.relations, RELATION_LINK, p->pid, 0);
}

static void release_memory(Process *p) {
    stack_release(p);
    heap_destroy(p);
    relations_free(p->vm->memory, &p->link.relations);
    memory_free(p->vm->memory, p->elided_ring);
    p->elided_ring = NULL;
}

Process *process_new(BtVm *vm, const SpawnOptions *options) {
    Scheduler *s = options->parent ? options->parent->scheduler : options->scheduler;
    ProcessTable *t = &vm->schedulers->processes;
    bool asked_for = !options->completion && options->role != PROC_CLASS; /* by a program */
    if (asked_for && !limits_allow_process(vm)) return NULL;
    Process *p = free_list_take(vm, t, s);
    if (!p) return NULL;
    Word128 w = word128_peek(p->link.word);
    init_owner_part(vm, p, options, link_generation(w.low));
    p->scheduler = s; /* its first words are counted there */
    init_link(p, options);
    bool whole = options->role != PROC_ACTOR || make_actor(p, options);
    if (!whole || !link_to_parent(p, options->parent)) {
        release_memory(p);
        free_list_put(t, s, p);
        return NULL;
    }
    count_process(t, s, 1);
    word128_publish(p->link.word, link_with_state(w.low, RUN_IDLE));
    return p;
}

bool process_start(Process *fresh, Process *from, Value callable, Value selector, const Value *args,
                   unsigned argc) {
    Message *m =
        message_make(fresh->vm, from->scheduler, MSG_START, from->pid, callable, selector, args, argc);
    return m && mailbox_send(fresh->vm, from->scheduler, fresh->pid, m);
}

bool process_start_from_host(Process *fresh, Scheduler *s, Value callable, Value selector, const Value *args,
                             unsigned argc) {
    Message *m = message_make(fresh->vm, s, MSG_START, V_NIL, callable, selector, args, argc);
    return m && mailbox_send(fresh->vm, s, fresh->pid, m);
}

bool process_start_watching(Process *from, Value target, Value callable, Value selector, const Value *args,
                            unsigned argc) {
    BtVm *vm = from->vm;
    SpawnOptions options = {.role = PROC_PLAIN, .self_ref = V_NIL};
    Process *fresh = process_new(vm, &options);
    if (!fresh) return false;
    /* Nobody knows it yet; claimed, it can be told of an end without running before its first message. */
    (void)process_claim(fresh, pid_generation(fresh->pid), RUN_IDLE);
    fresh->scheduler = from->scheduler;
    Message *start = message_make(vm, from->scheduler, MSG_START, from->pid, callable, selector, args, argc);
    if (start) {
        mailbox_append(fresh, start);
        process_monitor(fresh, target, args[0]);
    } else {
        fresh->link.ending = true;
    }
    process_set_state(fresh, RUN_RUNNABLE);
    sched_enqueue(vm, from->scheduler, fresh, QUEUE_WOKEN);
    return start != NULL;
}

bool process_make_elided_ring(Process *p) {
    p->elided_ring = memory_zalloc(p->vm->memory, ELIDED_CALLS * sizeof *p->elided_ring);
    return p->elided_ring != NULL;
}

/* ---- death ---- */

static void complete(BtVm *vm, Completion *c, Reply reply) {
    reply_detach(vm, &reply);
    c->reply = reply;
    /* release: pairs with the acquire load of the starter */
    void (*ended)(BtVm *, Completion *) = c->ended;
    atomic_store_explicit(&c->done, true, memory_order_release);
    if (ended) ended(vm, c);
}

void process_complete(Process *p, ReplyKind kind, Value value) {
    Completion *c = p->link.completion;
    p->link.completion = NULL;
    if (!c) return;
    complete(p->vm, c, (Reply){kind, NULL, value, p->pending_pid, p->pending_serial});
}

/* From here on nothing can be pushed; what has been pushed is in the private queue. Answers the flags. */
static uint64_t close_inbox(Process *p) {
    Word128 w = word128_peek(p->link.word), put = {0, 0};
    do {
        put.low = link_with_state(w.low, RUN_EXITING) & ~(LINK_SIGNALS | LINK_COUNT_BITS);
    } while (!word128_cas(p->link.word, &w, put));
    for (Message *m = messages_reverse((Message *)(uintptr_t)w.high), *next; m; m = next) {
        next = m->next;
        mailbox_append(p, m);
    }
    return w.low;
}

/* The value tells the caller whether its request had begun: noproc if it had not. */
static void answer_dead(Process *p, Scheduler *s, const Message *m) {
    Reply dead = {.kind = REPLY_DEAD, .value = m == p->serving ? SYMBOL(killed) : SYMBOL(noproc)};
    (void)reply_deliver(p->vm, s, m->sender, m->call_id, &dead, false);
}

static void refuse(Process *p, Scheduler *s, Message *m) {
    switch (m->kind) {
    case MSG_CALL:
    case MSG_SYSTEM: answer_dead(p, s, m); break;
    case MSG_LINK:
    case MSG_MONITOR: relation_refuse(p->vm, s, p->pid, m, p->link.exit_reason); break;
    default: break;
    }
    message_release(p->vm, s, m);
}

/* FREE under the next generation. True if a host thread waits for this. */
static bool free_slot(Process *p) {
    Word128 w = word128_peek(p->link.word), put = {0, 0};
    uint32_t generation = link_generation(w.low) + 1;
    put.low = ((uint64_t)(generation ? generation : 1) << 32) | RUN_FREE;
    while (!word128_cas(p->link.word, &w, put)) {
    }
    return (w.low & LINK_WATCHED) != 0;
}

/* p is EXITING; `flags`: its state word before. */
static void end_closed(Scheduler *s, Process *p, uint64_t flags) {
    BtVm *vm = p->vm;
    ProcessLink *l = &p->link;
    if (flags & LINK_NAMED) (void)registry_unregister(vm, registry_name_of(vm, p->pid), p->pid);
    wait_close(p);
    if (l->completion) {
        Reply killed = {.kind = REPLY_DEAD, .value = l->exit_reason};
        l->completion->broken_limit = (uint8_t)limits_broken(p);
        complete(vm, l->completion, killed);
    }
    if (p->serving) refuse(p, s, p->serving);
    if (l->timer) timer_bodies_hand_over(s, p);
    for (Message *m; (m = mailbox_remove_first(p)) != NULL;) refuse(p, s, m);
    relations_fire(s, p, l->exit_reason);
    release_memory(p);
    if (l->cooling) sched_forget_cooling(s, p);
    ProcessTable *t = &vm->schedulers->processes;
    count_process(t, s, -1);
    bool watched = free_slot(p);
    free_list_put(t, s, p);
    if (watched) sched_notify_hosts(vm->schedulers);
}

void process_end(Scheduler *s, Process *p) { end_closed(s, p, close_inbox(p)); }

/* IDLE to EXITING: an idle process has nothing in its inbox. False: it was not idle, or is another. */
static bool claim_to_end(Process *p, uint32_t generation, uint64_t *flags) {
    Word128 w = word128_peek(p->link.word), put = {0, 0};
    do {
        if (link_generation(w.low) != generation || link_state(w.low) != RUN_IDLE) return false;
        put.low = link_with_state(w.low, RUN_EXITING);
    } while (!word128_cas(p->link.word, &w, put));
    *flags = w.low;
    return true;
}

/* The link between the two goes at once, if nothing that one has sent is on its way to the other. */
static void part(Process *by, Process *p) {
    if (word128_peek(by->link.word).high) return;
    if (relation_remove(&by->link.relations, RELATION_LINK, p->pid, 0))
        (void)relation_remove(&p->link.relations, RELATION_LINK, by->pid, 0);
}

bool process_end_idle(Process *by, Value pid) {
    Scheduler *s = by->scheduler;
    Process *p = process_by_pid(by->vm, pid);
    uint64_t flags;
    if (!p || !sched_may_claim(s) || !claim_to_end(p, pid_generation(pid), &flags)) return false;
    p->scheduler = s;
    part(by, p);
    p->link.exit_reason = SYMBOL(normal);
    end_closed(s, p, flags);
    return true;
}

void vm_fail(BtVm *vm) {
    /* seq_cst: nothing depends on the order, and it happens once */
    atomic_store(&vm->failed, true);
    atomic_store(&vm->schedulers->halted, true);
    sched_notify_hosts(vm->schedulers);
    struct PollFd *poll = atomic_load(&vm->poll);
    if (poll) poll_fd_signal(poll);
}

/* At shutdown, with all threads gone: the memory of what still lives. */
static void drop(BtVm *vm, Process *p) {
    RunState state = link_state(word128_peek(p->link.word).low);
    if (state == RUN_FREE) return;
    (void)close_inbox(p);
    wait_close(p);
    if (p->serving) message_release(vm, NULL, p->serving);
    for (Message *m; (m = mailbox_remove_first(p)) != NULL;) message_release(vm, NULL, m);
    release_memory(p);
}

void processes_destroy(BtVm *vm, ProcessTable *t) {
    uint32_t count = atomic_load_explicit(&t->slab_count, memory_order_relaxed); /* relaxed: alone by now */
    for (uint32_t slot = 0; slot < count * SLAB_PROCESSES; slot++) drop(vm, process_by_slot(vm, slot));
    for (uint32_t i = 0; i < t->memory_count; i++) memory_free(vm->memory, t->memory[i]);
    memory_free(vm->memory, t->memory);
    pthread_mutex_destroy(&t->lock);
}
