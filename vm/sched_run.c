/* Running a slice: one process after the other on this thread, as calls and answers hand it on.
 *
 * A slice is SLICE_REDUCTIONS, shared by all who run in it: a claimed callee, the caller it answers, and the
 * process in `next` inherit what is left, so a pair that plays ping-pong cannot keep others out. Time limits
 * of calls are armed when the caller really waits: callers that wait through hand-off stand in `chain`; who
 * is answered in the same slice leaves it, the rest is armed when the slice ends. */
#include "vm/io.h"
#include "vm/limits.h"
#include "vm/profile.h"
#include "vm/sched_internal.h"

bool sched_may_claim(Scheduler *s) {
    struct Seeded *seeded = s->vm->schedulers->seeded;
    return !seeded || !seeded_choice(seeded, 4);
}

int32_t sched_slice(Scheduler *s) {
    if (s->vm->yield_stress) return 1;
    struct Seeded *seeded = s->vm->schedulers->seeded;
    if (s->vm->profile && !seeded) return PROFILE_SLICE_REDUCTIONS;
    return seeded ? seeded_slice(seeded) : SLICE_REDUCTIONS;
}

static void make_runnable(Scheduler *s, Process *p, QueueKind kind) {
    process_set_state(p, RUN_RUNNABLE);
    sched_enqueue(s->vm, s, p, kind);
}

/* ---- the chain of callers ---- */

static bool chain_push(Scheduler *s, Process *p) {
    if (s->chain_count == CHAIN_MAX) return false;
    s->chain[s->chain_count++] = p;
    return true;
}

/* Control goes elsewhere than down or up the chain: now its callers wait like anyone else. */
static void chain_release(Scheduler *s) {
    while (s->chain_count) {
        Process *p = s->chain[--s->chain_count];
        if (p->link.wait_timeout_us >= 0 && !wait_is_over(p)) wait_arm(s, p);
        if (!process_go_waiting(p)) make_runnable(s, p, QUEUE_NEXT);
    }
}

/* ---- idle processes ---- */

static void trim(Process *p) {
    if (!p->frame) { /* no stack, no callers to remember */
        memory_free(p->vm->memory, p->elided_ring);
        p->elided_ring = NULL;
        p->elided_count = 0;
    }
    stack_trim_idle(p);
    heap_shrink_idle(p);
}

/* Trims at leisure: a process that is called again soon must not pay for it. */
void sched_cool(Scheduler *s) {
    unsigned kept = 0;
    for (unsigned i = 0; i < s->cooling_count; i++) {
        Value pid = s->cooling[i];
        Process *p = process_by_pid(s->vm, pid);
        if (!p) continue;
        if (!process_claim(p, pid_generation(pid), RUN_IDLE)) {
            s->cooling[kept++] = pid;
            continue;
        }
        p->scheduler = s;
        p->link.cooling = false;
        trim(p);
        if (!process_go_idle(p)) make_runnable(s, p, QUEUE_WOKEN);
    }
    s->cooling_count = kept;
}

static void drop_ended(Scheduler *s) {
    unsigned kept = 0;
    for (unsigned i = 0; i < s->cooling_count; i++)
        if (process_is_alive(s->vm, s->cooling[i])) s->cooling[kept++] = s->cooling[i];
    s->cooling_count = kept;
}

static void note_cooling(Scheduler *s, Process *p) {
    if (p->link.cooling) return;
    if (s->cooling_count == COOLING_MAX) {
        drop_ended(s); /* those who live pay only for each other */
        if (s->cooling_count > COOLING_MAX - COOLING_MAX / 8) sched_cool(s);
        if (s->cooling_count == COOLING_MAX) return;
    }
    p->link.cooling = true;
    s->cooling[s->cooling_count++] = p->pid;
}

void sched_forget_cooling(Scheduler *s, Process *p) {
    if (s && s->cooling_count && s->cooling[s->cooling_count - 1] == p->pid) s->cooling_count--;
}

/* ---- one process ---- */

static RunOutcome step(Process *p) {
    if (process_has_signals(p) && !process_poll_signals(p)) return RUN_DONE;
    if (!wait_resume(p)) return p->link.killed ? RUN_DONE : RUN_BLOCKED;
    RunOutcome outcome = p->vm->schedulers->run(p);
    if (p->link.killed || (outcome == RUN_SERVED && p->link.ending)) return RUN_DONE;
    return outcome;
}

/* Publishes what p has become. True: it stays RUNNING and wants to go on. `handing`: a callee that it has
 * called runs next. */
static bool settle(Scheduler *s, Process *p, RunOutcome outcome, bool handing) {
    if (p->link.tethered && outcome != RUN_DONE) timer_body_outlives(s, p);
    switch (outcome) {
    case RUN_YIELDED: make_runnable(s, p, QUEUE_EXPIRED); return false;
    case RUN_BLOCKED:
        if (handing && chain_push(s, p)) return false;
        if (p->link.wait_timeout_us >= 0 && !wait_is_over(p)) wait_arm(s, p);
        return !process_go_waiting(p);
    case RUN_SERVED: note_cooling(s, p); return !process_go_idle(p);
    case RUN_DONE: process_end(s, p); return false;
    }
    return false;
}

static Process *take(Process **place) {
    Process *p = *place;
    *place = NULL;
    return p;
}

/* Who goes on, RUNNING, after p: the callee it has called, the caller it has answered, p itself, whoever it
 * woke. */
static Process *follow(Scheduler *s, Process *p, bool again, bool budget) {
    Process *callee = take(&s->handoff), *caller = take(&s->switch_to);
    Process *q = callee ? callee : caller;
    if (callee && caller) make_runnable(s, caller, QUEUE_WOKEN);
    if (again && q)
        make_runnable(s, p, QUEUE_NEXT);
    else if (again)
        q = p;
    if (q) return q;
    chain_release(s);
    if (budget && s->next) {
        q = take(&s->next);
        process_set_state(q, RUN_RUNNING);
    }
    return q;
}

/* Charges what has been used on this scheduler to the process that has used up the slice. */
static void profile_step(Scheduler *s, Process *p, RunOutcome outcome, int64_t start_ns) {
    s->unprofiled_ns += clock_now_ns() - start_ns;
    if (outcome != RUN_YIELDED || !p->frame) return;
    profile_charge(s->vm->profile, p, (uint64_t)s->unprofiled_ns);
    s->unprofiled_ns = 0;
}

static RunOutcome profiled_step(Scheduler *s, Process *p) {
    if (!s->vm->profile) return step(p);
    int64_t start = clock_now_ns();
    RunOutcome outcome = step(p);
    profile_step(s, p, outcome, start);
    return outcome;
}

void sched_suspend_slice(Scheduler *s) {
    chain_release(s);
    Process *q = take(&s->switch_to);
    if (q) make_runnable(s, q, QUEUE_WOKEN);
    if (s->next) sched_enqueue(s->vm, s, take(&s->next), QUEUE_LAST);
}

void sched_publish_next(Scheduler *s) {
    if (s && s->next) sched_enqueue(s->vm, s, take(&s->next), QUEUE_WOKEN);
}

void sched_run_slice(Scheduler *s, Process *p) {
    int32_t left = sched_slice(s);
    s->tick++;
    if (!s->runs_expired) s->woken_used += SLICE_COST;
    process_set_state(p, RUN_RUNNING);
    while (p) {
        p->scheduler = s;
        p->send = &s->send;
        p->reductions = left;
        RunOutcome outcome = profiled_step(s, p);
        int32_t used = left - p->reductions;
        p->reductions_total += (uint64_t)used;
        if (!s->runs_expired) s->woken_used += used;
        s->reductions += (uint64_t)used;
        if (outcome == RUN_YIELDED && limits_end_for_reductions(p)) outcome = RUN_DONE;
        left = p->reductions - 1; /* a switch is not free */
        bool again = settle(s, p, outcome, s->handoff != NULL);
        p = follow(s, p, again, left > 0);
        if (p && (left <= 0 || sched_is_stopping(s->vm))) {
            make_runnable(s, p, QUEUE_LAST);
            p = NULL;
        }
    }
    /* relaxed: a number for reports */
    atomic_store_explicit(&s->shown_reductions, s->reductions, memory_order_relaxed);
    stats_show(s);
    chain_release(s);
    if (s->next) sched_enqueue(s->vm, s, take(&s->next), QUEUE_LAST);
    if (s->tick % COOLING_TICKS == 0 && s->cooling_count) sched_cool(s);
    if (s->tick % FLUSH_TICKS == 0) {
        io_console_flush(s->vm);
        (void)limits_look_at_memory(s->vm);
    }
}
