/* Waiting and waking: the reply slot, and the transitions of the state word that its owner makes. */
#include <sched.h>
#include "vm/error.h"
#include "vm/sched_internal.h"

/* ---- the state word ---- */

bool process_claim(Process *p, uint32_t generation, RunState from) {
    Word128 w = word128_peek(p->link.word), put;
    do {
        if (link_generation(w.low) != generation || link_state(w.low) != from) return false;
        put.low = link_with_state(w.low, RUN_RUNNING) & ~(LINK_WAKE | LINK_RECEIVE);
        put.high = w.high;
    } while (!word128_cas(p->link.word, &w, put));
    return true;
}

void process_set_state(Process *p, RunState state) {
    Word128 w = word128_peek(p->link.word), put;
    do {
        put.low = link_with_state(w.low, state) & ~LINK_WAKE;
        put.high = w.high;
    } while (!word128_cas(p->link.word, &w, put));
}

static void forget_wake(Process *p) {
    Word128 w = word128_peek(p->link.word);
    while (w.low & LINK_WAKE) {
        Word128 put = {w.low & ~LINK_WAKE, w.high};
        if (word128_cas(p->link.word, &w, put)) return;
    }
}

bool process_go_waiting(Process *p) {
    if (wait_is_over(p)) return forget_wake(p), false;
    bool receives = p->link.wait == WAIT_RECEIVE;
    if (receives && mailbox_has_tagged(p, (uint64_t)(uintptr_t)p->link.wait_context)) return false;
    Word128 w = word128_peek(p->link.word), put;
    do {
        if (w.low & LINK_WAKE) return forget_wake(p), false;
        if ((w.low & LINK_SIGNALS) || (receives && w.high)) return false;
        put.low = link_with_state(w.low, RUN_WAITING) | (receives ? LINK_RECEIVE : 0);
        put.high = w.high;
    } while (!word128_cas(p->link.word, &w, put));
    return true;
}

bool process_go_idle(Process *p) {
    if (p->link.queue_head) return false;
    Word128 w = word128_peek(p->link.word), put;
    do {
        if (w.high || (w.low & LINK_SIGNALS)) return false;
        put.low = link_with_state(w.low, RUN_IDLE) & ~LINK_WAKE;
        put.high = 0;
    } while (!word128_cas(p->link.word, &w, put));
    return true;
}

void process_wake(BtVm *vm, Scheduler *s, Process *p, uint32_t generation) {
    Word128 w = word128_peek(p->link.word), put;
    bool waiting;
    do {
        RunState state = link_state(w.low);
        if (link_generation(w.low) != generation) return;
        if (state != RUN_WAITING && (state != RUN_RUNNING || (w.low & LINK_WAKE))) return;
        waiting = state == RUN_WAITING;
        put.low = waiting ? link_with_state(w.low, RUN_RUNNABLE) & ~LINK_RECEIVE : w.low | LINK_WAKE;
        put.high = w.high;
    } while (!word128_cas(p->link.word, &w, put));
    if (waiting) sched_enqueue(vm, s, p, QUEUE_NEXT);
}

/* ---- the reply slot ---- */

uint64_t wait_open(Process *p, WaitKind kind, int64_t timeout_us) {
    ProcessLink *l = &p->link;
    uint64_t id = ++l->next_call_id << 2;
    l->wait = (uint8_t)kind;
    l->wait_timeout_us = timeout_us;
    l->wait_finish = NULL;
    l->wait_discard = NULL;
    /* relaxed: ordered before the id by the store below */
    atomic_store_explicit(&l->wait_deadline, DEADLINE_NONE, memory_order_relaxed);
    /* release: pairs with the acquire of the CAS in reply_deliver and of the timer's load */
    atomic_store_explicit(&l->reply_call_id, id, memory_order_release);
    return id;
}

/* Closes the slot; true if a reply had come. */
static bool slot_close(Process *p) {
    _Atomic uint64_t *slot = &p->link.reply_call_id;
    /* acquire: pairs with the release of SLOT_DONE */
    uint64_t id = atomic_load_explicit(slot, memory_order_acquire);
    for (;;) {
        if (id == 0) return false;
        if ((id & SLOT_BITS) == SLOT_DONE) break;
        if ((id & SLOT_BITS) == SLOT_OPEN) {
            /* acq_rel: either this closes it, or a writer was faster */
            if (atomic_compare_exchange_weak_explicit(slot, &id, 0, memory_order_acq_rel,
                                                      memory_order_acquire))
                return false;
            continue;
        }
        sched_yield(); /* a writer is a few instructions from done */
        id = atomic_load_explicit(slot, memory_order_acquire);
    }
    /* relaxed: nobody but the owner changes a slot that is done */
    atomic_store_explicit(slot, 0, memory_order_relaxed);
    return true;
}

void wait_close(Process *p) {
    if (slot_close(p)) {
        if (p->link.reply.fragment) fragment_free(p->vm, p->link.reply.fragment);
        if (p->link.wait_discard) p->link.wait_discard(&p->link.reply);
    }
    p->link.reply.fragment = NULL;
    p->link.wait = WAIT_NONE;
}

/* The answered caller goes on as soon as the callee gives the thread back: it is the last on this thread's
 * chain, or it has begun to wait. */
static bool switch_back(Scheduler *s, Process *p, uint32_t generation) {
    if (!s || s->switch_to) return false;
    if (s->chain_count && s->chain[s->chain_count - 1] == p)
        s->chain_count--;
    else if (!process_claim(p, generation, RUN_WAITING))
        return false;
    s->switch_to = p;
    return true;
}

void reply_detach(BtVm *vm, Reply *reply) {
    if (!value_needs_copy(reply->value)) return;
    Value copy = V_NIL;
    reply->fragment = term_copy(vm, &reply->value, 1, &copy);
    if (!reply->fragment) reply->kind = REPLY_ERROR, copy = error_out_of_memory(vm);
    reply->value = copy;
}

/* The caller stands on this thread's chain: its time limit has not been armed, so nobody else would answer,
 * and the slot needs no compare-and-swap. relaxed: this thread opened it. */
static bool answer_chain(Scheduler *s, Process *p, uint64_t call_id, const Reply *reply) {
    if (!s || !s->chain_count || s->chain[s->chain_count - 1] != p || s->switch_to) return false;
    if (atomic_load_explicit(&p->link.reply_call_id, memory_order_relaxed) != call_id) return false;
    p->link.reply = *reply;
    /* release: as in reply_deliver */
    atomic_store_explicit(&p->link.reply_call_id, call_id | SLOT_DONE, memory_order_release);
    s->chain_count--;
    s->switch_to = p;
    return true;
}

bool reply_deliver(BtVm *vm, Scheduler *s, Value pid, uint64_t call_id, const Reply *reply, bool handoff) {
    Process *p = process_by_slot(vm, pid_slot(pid));
    if (p && handoff && answer_chain(s, p, call_id, reply)) return true;
    uint64_t expected = call_id;
    /* acq_rel: acquire pairs with wait_open; the id is this wait's alone, so a match also means the
     * generation is right */
    if (!p || !atomic_compare_exchange_strong_explicit(&p->link.reply_call_id, &expected, call_id | SLOT_BUSY,
                                                       memory_order_acq_rel, memory_order_relaxed)) {
        if (reply->fragment) fragment_free(vm, reply->fragment);
        return false;
    }
    p->link.reply = *reply;
    /* release: pairs with the acquire loads of the owner */
    atomic_store_explicit(&p->link.reply_call_id, call_id | SLOT_DONE, memory_order_release);
    uint32_t generation = pid_generation(pid);
    if (!handoff || !switch_back(s, p, generation)) process_wake(vm, s, p, generation);
    return true;
}

/* ---- resuming ---- */

static bool resume_receive(Process *p) {
    if (!mailbox_drain(p)) return false;
    Message *m = mailbox_remove_tagged(p, (uint64_t)(uintptr_t)p->link.wait_context);
    if (!m) {
        if (!wait_is_over(p)) return false;
        (void)slot_close(p);
        p->resume_value = V_NIL;
        return true;
    }
    if (m->fragment) heap_adopt(p, m->fragment);
    m->fragment = NULL;
    switch (m->kind) {
    case MSG_DOWN: p->resume_value = m->values[1]; break;
    case MSG_TIMER: p->resume_value = value_from_int((int64_t)m->call_id); break;
    default: p->resume_value = m->values[0];
    }
    message_release(p->vm, p->scheduler, m);
    uint8_t wait = p->link.wait;
    wait_close(p);
    p->link.wait = wait; /* the interpreter clears it */
    return true;
}

bool wait_resume(Process *p) {
    switch ((WaitKind)p->link.wait) {
    case WAIT_NONE: return true;
    case WAIT_CALL: return wait_is_over(p);
    case WAIT_RECEIVE: return resume_receive(p);
    case WAIT_PRIM: break;
    }
    if (!wait_is_over(p)) return false;
    Reply reply = p->link.reply;
    p->link.reply.fragment = NULL;
    (void)slot_close(p);
    if (p->link.wait_finish)
        p->link.wait_finish(p, &reply);
    else if (reply.fragment)
        fragment_free(p->vm, reply.fragment);
    return true;
}

/* ---- primitives that wait ---- */

PrimStatus process_sleep(Process *p, int64_t microseconds, Value answer) {
    p->resume_value = answer;
    (void)wait_open(p, WAIT_PRIM, microseconds < 0 ? 0 : microseconds);
    return PRIM_BLOCK;
}

PrimStatus process_receive(Process *p, uint64_t tag, int64_t timeout_us) {
    p->resume_value = V_NIL;
    (void)wait_open(p, WAIT_RECEIVE, timeout_us);
    p->link.wait_context = (void *)(uintptr_t)tag;
    return PRIM_BLOCK;
}
