/* Timers: one queue a scheduler (vm/timer_queue.h), ordered by exact deadline, then insertion.
 *
 * Every wait of a process with a limit (call, sleep, I/O) shares one entry of its control block:
 * `armed_until` says when the entry looks at the block, `wait_deadline` when the present wait runs out. A
 * later deadline leaves the entry as it is; when it fires too early it is set anew. So calls with long limits
 * that are answered soon leave one entry a process behind, not one a call. Owner and firing thread run this
 * against each other: owner:  store wait_deadline; load armed_until      firing: armed_until := 0; load
 * wait_deadline all seq_cst, so either the owner sees the 0 and arms, or the firing thread sees the deadline.
 *
 * Timers of timer_start have a record each; a cancel from any thread marks it and the entry goes when it is
 * due, or when most entries are cancelled ones. */
#include "vm/limits.h"
#include "vm/sched_internal.h"

#define SWEEP_LEAST 1024u
/* Blocks that one process gets: enough to make its birth cheap, few enough that others take their share. */
#define BODIES_A_PROCESS 64u

/* relaxed: only this thread writes it, others read it for reports */
static void count_record(TimerQueue *t, uint64_t subject, uint32_t change) {
    if (!(subject & TIMER_RECORD)) return;
    uint32_t now = atomic_load_explicit(&t->records, memory_order_relaxed);
    atomic_store_explicit(&t->records, now + change, memory_order_relaxed);
}

static bool add(TimerQueue *t, int64_t now, int64_t deadline, uint64_t subject) {
    if (!timer_heap_add(&t->heap, now, deadline, subject)) return false;
    count_record(t, subject, 1);
    return true;
}

/* ---- limits of waits ---- */

static int64_t deadline_after(int64_t now, int64_t timeout_us) {
    return timeout_us > DEADLINE_NONE - 1 - now ? DEADLINE_NONE - 1 : now + timeout_us;
}

/* Sees to it that an entry looks at p's block at `deadline` or before. */
static void arm_block(Scheduler *s, Process *p, int64_t now, int64_t deadline) {
    /* seq_cst throughout: the rule in the header comment */
    int64_t armed = atomic_load_explicit(&p->link.armed_until, memory_order_seq_cst);
    for (;;) {
        if (armed != 0 && armed <= deadline) return;
        if (atomic_compare_exchange_weak_explicit(&p->link.armed_until, &armed, deadline,
                                                  memory_order_seq_cst, memory_order_seq_cst))
            break;
    }
    if (!add(&s->timers, now, deadline, p->link.slot)) vm_fail(s->vm);
}

void wait_arm(Scheduler *s, Process *p) {
    int64_t now = vm_now_us(s->vm), deadline = deadline_after(now, p->link.wait_timeout_us);
    p->link.wait_timeout_us = -1;
    atomic_store_explicit(&p->link.wait_deadline, deadline, memory_order_seq_cst);
    arm_block(s, p, now, deadline);
}

static void fire_block(Scheduler *s, const TimerEntry *e, int64_t now) {
    Process *p = process_by_slot(s->vm, (uint32_t)e->subject);
    int64_t armed = e->deadline;
    if (!atomic_compare_exchange_strong_explicit(&p->link.armed_until, &armed, 0, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return; /* an earlier entry has taken over */
    if (atomic_load_explicit(&p->link.wait_deadline, memory_order_seq_cst) == DEADLINE_NONE) return;
    /* acquire: pairs with wait_open. The deadline is read again, since the wait may be another by now:
     * wait_open clears it before it publishes the id, so what is read now belongs to this wait or a later
     * one. */
    uint64_t id = atomic_load_explicit(&p->link.reply_call_id, memory_order_acquire);
    int64_t deadline = atomic_load_explicit(&p->link.wait_deadline, memory_order_seq_cst);
    if (!id || (id & SLOT_BITS) != SLOT_OPEN || deadline == DEADLINE_NONE) return;
    if (deadline > now) {
        arm_block(s, p, now, deadline);
        return;
    }
    Reply late = {.kind = REPLY_TIMEOUT, .value = V_NIL};
    uint32_t generation = link_generation(word128_peek(p->link.word).low);
    (void)reply_deliver(s->vm, s, value_from_pid(p->link.slot, generation), id, &late, false);
}

/* ---- timers of their own ---- */

enum { TIMER_FREE, TIMER_PENDING, TIMER_CANCELLED, TIMER_STATUS = 3 };

static TimerRecord *record_at(TimerQueue *t, uint32_t index) {
    uint32_t at = index / TIMER_FIRST_CHUNK + 1;
    unsigned k = 31 - (unsigned)__builtin_clz(at);
    if (k >= TIMER_CHUNKS) return NULL;
    /* acquire: pairs with record_take */
    TimerRecord *chunk = atomic_load_explicit(&t->chunks[k], memory_order_acquire);
    return chunk ? &chunk[index - TIMER_FIRST_CHUNK * ((1u << k) - 1)] : NULL;
}

static TimerRecord *record_take(TimerQueue *t, uint32_t *index) {
    if (t->free_record) {
        *index = t->free_record - 1;
        TimerRecord *r = record_at(t, *index);
        t->free_record = r->next_free;
        return r;
    }
    uint32_t at = t->record_count / TIMER_FIRST_CHUNK + 1;
    unsigned k = 31 - (unsigned)__builtin_clz(at);
    if (k >= TIMER_CHUNKS) return NULL;
    if (!record_at(t, t->record_count)) {
        TimerRecord *chunk = memory_zalloc(t->heap.memory, ((size_t)TIMER_FIRST_CHUNK << k) * sizeof *chunk);
        if (!chunk) return NULL;
        /* release: pairs with record_at on other threads */
        atomic_store_explicit(&t->chunks[k], chunk, memory_order_release);
    }
    *index = t->record_count++;
    return record_at(t, *index);
}

static void record_give(TimerQueue *t, TimerRecord *r, uint32_t index, uint64_t state) {
    /* release: the next life of the record starts from here */
    atomic_store_explicit(&r->state, ((state >> 2) + 1) << 2 | TIMER_FREE, memory_order_release);
    r->start = NULL;
    r->next_free = t->free_record;
    t->free_record = index + 1;
}

void timers_destroy(BtVm *vm, TimerQueue *t) {
    for (uint32_t i = 0; i < t->record_count; i++) {
        TimerRecord *r = record_at(t, i);
        if (r->start) message_release(vm, NULL, r->start);
    }
    timer_heap_free(&t->heap);
    /* relaxed: alone by now */
    for (unsigned k = 0; k < TIMER_CHUNKS; k++)
        memory_free(vm->memory, atomic_load_explicit(&t->chunks[k], memory_order_relaxed));
}

/* Whom it is for. relaxed: this thread wrote it */
static Value record_pid(TimerRecord *r) {
    return r ? atomic_load_explicit(&r->pid, memory_order_relaxed) : V_NIL;
}

/* id: scheduler in bits 54-61, record in 32-53, low half of the record's generation below. */
static uint64_t timer_id(const Scheduler *s, uint32_t index, uint64_t state) {
    return ((uint64_t)s->index << 54) | ((uint64_t)index << 32) | ((state >> 2) & 0xffffffffu);
}

/* False: a record that waits for nothing any more, cancelled, or whoever it was for has ended. It is given
 * up. */
static bool keep_entry(void *context, uint64_t subject) {
    Scheduler *s = context;
    if (!(subject & TIMER_RECORD)) return true;
    TimerQueue *t = &s->timers;
    TimerRecord *r = record_at(t, (uint32_t)subject);
    uint64_t state = atomic_load_explicit(&r->state, memory_order_acquire); /* pairs with timer_cancel */
    bool cancelled = (state & TIMER_STATUS) == TIMER_CANCELLED;
    if (!cancelled) {
        uint64_t expected = state;
        /* acq_rel: as in timer_cancel */
        if (process_is_alive(s->vm, record_pid(r)) ||
            !atomic_compare_exchange_strong_explicit(&r->state, &expected, state ^ TIMER_PENDING,
                                                     memory_order_acq_rel, memory_order_relaxed))
            return true;
    }
    if (cancelled) atomic_fetch_sub_explicit(&t->cancelled, 1, memory_order_relaxed); /* a hint */
    if (r->start) message_release(s->vm, s, r->start);
    record_give(t, r, (uint32_t)subject, state);
    count_record(t, subject, (uint32_t)-1);
    return false;
}

/* Throws out what waits for nothing, when cancelled entries are the majority or there are twice as many as
 * after the last time. */
static void sweep(Scheduler *s) {
    TimerQueue *t = &s->timers;
    /* relaxed: a hint */
    uint32_t cancelled = atomic_load_explicit(&t->cancelled, memory_order_relaxed);
    bool many = cancelled >= 64 && cancelled >= t->heap.count / 2;
    if (!many && t->heap.count < t->next_sweep) return;
    timer_heap_filter(&t->heap, keep_entry, s);
    t->next_sweep = 2 * t->heap.count > SWEEP_LEAST ? 2 * t->heap.count : SWEEP_LEAST;
}

/* 0: no memory; the message is still the caller's. */
static uint64_t start_record(Process *p, Value pid, Message *start, int64_t microseconds) {
    Scheduler *s = p->scheduler;
    uint32_t index;
    sweep(s);
    if (!limits_allow_timer(p->vm)) return 0;
    TimerRecord *r = record_take(&s->timers, &index);
    if (!r) return 0;
    uint64_t state = atomic_load_explicit(&r->state, memory_order_relaxed); /* free: ours alone */
    if ((state >> 2 & 0xffffffffu) == 0) state += 1u << 2;                  /* no id is 0 */
    state = (state & ~(uint64_t)TIMER_STATUS) | TIMER_PENDING;
    atomic_store_explicit(&r->pid, pid, memory_order_release); /* pairs with timer_is_pending */
    r->start = start;
    /* release: pairs with timer_cancel */
    atomic_store_explicit(&r->state, state, memory_order_release);
    int64_t now = vm_now_us(p->vm), deadline = deadline_after(now, microseconds < 0 ? 0 : microseconds);
    if (!add(&s->timers, now, deadline, TIMER_RECORD | index)) vm_fail(p->vm);
    return timer_id(s, index, state);
}

uint64_t timer_start(Process *p, Value pid, int64_t microseconds) {
    return start_record(p, pid, NULL, microseconds);
}

uint64_t timer_start_process(Process *p, int64_t microseconds, Value callable, Value selector,
                             const Value *args, unsigned argc) {
    Message *m = message_make(p->vm, p->scheduler, MSG_START, p->pid, callable, selector, args, argc);
    uint64_t id = m ? start_record(p, p->pid, m, microseconds) : 0;
    if (m && !id) message_release(p->vm, p->scheduler, m);
    return id;
}

/* The record of a timer that is pending, and its state; NULL: it is not. Any thread. */
static TimerRecord *pending_record(BtVm *vm, uint64_t id, TimerQueue **queue, uint64_t *state) {
    uint64_t owner = id >> 54;
    if (owner >= vm->schedulers->count) return NULL;
    TimerQueue *t = *queue = &vm->schedulers->list[owner].timers;
    TimerRecord *r = record_at(t, (uint32_t)(id >> 32) & 0x3fffff);
    if (!r) return NULL;
    *state = atomic_load_explicit(&r->state, memory_order_acquire); /* pairs with timer_start */
    bool pending = (*state & TIMER_STATUS) == TIMER_PENDING;
    return pending && ((*state >> 2) & 0xffffffffu) == (id & 0xffffffffu) ? r : NULL;
}

bool timer_is_pending(BtVm *vm, uint64_t id) {
    TimerQueue *t;
    uint64_t state;
    TimerRecord *r = pending_record(vm, id, &t, &state);
    if (!r) return false;
    /* acquire: a pid of the record's next life is seen only after the state that ended this one */
    Value pid = atomic_load_explicit(&r->pid, memory_order_acquire);
    return process_is_alive(vm, pid) && atomic_load_explicit(&r->state, memory_order_acquire) == state;
}

bool timer_cancel(BtVm *vm, uint64_t id) {
    TimerQueue *t;
    uint64_t state;
    TimerRecord *r = pending_record(vm, id, &t, &state);
    /* acq_rel: canceller and firing scheduler agree on one winner */
    if (!r ||
        !atomic_compare_exchange_strong_explicit(&r->state, &state, state ^ TIMER_PENDING ^ TIMER_CANCELLED,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    atomic_fetch_add_explicit(&t->cancelled, 1, memory_order_relaxed); /* a hint */
    return true;
}

/* Messages for the processes of timers, in the order of their time. */
typedef struct {
    Message *first, **end;
    unsigned count;
} Bodies;

static void bodies_add(Bodies *b, Message *m) {
    m->waiter = true;
    m->next = NULL;
    *b->end = m;
    b->end = &m->next;
    b->count++;
}

static void bodies_run(Scheduler *s, Bodies *b) {
    timer_bodies_start(s->vm, s, b->first);
    *b = (Bodies){.end = &b->first};
}

static void fire_record(Scheduler *s, const TimerEntry *e, Bodies *bodies) {
    uint32_t index = (uint32_t)e->subject;
    TimerRecord *r = record_at(&s->timers, index);
    Value pid = record_pid(r);
    Message *start = r->start;
    uint64_t state = atomic_load_explicit(&r->state, memory_order_acquire); /* pairs with timer_cancel */
    uint64_t id = timer_id(s, index, state);
    bool pending = (state & TIMER_STATUS) == TIMER_PENDING;
    if (pending) {
        uint64_t expected = state;
        /* acq_rel: as in timer_cancel */
        pending = atomic_compare_exchange_strong_explicit(&r->state, &expected, state ^ TIMER_PENDING,
                                                          memory_order_acq_rel, memory_order_relaxed);
    }
    if (!pending) atomic_fetch_sub_explicit(&s->timers.cancelled, 1, memory_order_relaxed); /* a hint */
    record_give(&s->timers, r, index, state);
    if (!pending && start) message_release(s->vm, s, start);
    if (pending && start) bodies_add(bodies, start);
    if (!pending || start) return;
    Message *m = message_make(s->vm, s, MSG_TIMER, V_NIL, V_NIL, V_NIL, NULL, 0);
    if (!m) {
        vm_fail(s->vm);
        return;
    }
    m->call_id = id;
    (void)mailbox_send(s->vm, s, pid, m);
}

void timers_run(Scheduler *s, int64_t now) {
    TimerEntry e;
    Bodies bodies = {.end = &bodies.first};
    /* in deterministic mode each has its own, so that exploration sees them interleave */
    unsigned most = s->vm->seeded ? 1 : BODIES_A_PROCESS;
    while (timer_heap_take(&s->timers.heap, now, &e)) {
        count_record(&s->timers, e.subject, (uint32_t)-1);
        if (!(e.subject & TIMER_RECORD))
            fire_block(s, &e, now);
        else
            fire_record(s, &e, &bodies);
        if (bodies.count == most) bodies_run(s, &bodies);
    }
    bodies_run(s, &bodies);
}
