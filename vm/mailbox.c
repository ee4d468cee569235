/* Mailboxes: pushing, taking, and acting on signals. See mailbox.h for the word they live in; the messages
 * themselves are vm/message.c. */
#include "vm/limits.h"
#include "vm/sched_internal.h"

/* ---- pushing ---- */

enum {
    SIGNAL_KINDS = 1 << MSG_EXIT | 1 << MSG_KILL | 1 << MSG_SYSTEM | 1 << MSG_LINK | 1 << MSG_UNLINK |
                   1 << MSG_MONITOR | 1 << MSG_DEMONITOR
};

static bool is_signal(MessageKind kind) { return SIGNAL_KINDS >> kind & 1; }

/* Whether a push makes a process in this state runnable. */
static bool push_wakes(uint64_t low, bool signal) {
    switch (link_state(low)) {
    case RUN_IDLE: return true;
    case RUN_WAITING: return signal || (low & LINK_RECEIVE);
    default: return false;
    }
}

/* Relaxed throughout: a limit need not be exact to the message. */
static bool mailbox_is_full(Process *p, uint64_t low) {
    uint32_t limit = atomic_load_explicit(&p->link.mailbox_limit, memory_order_relaxed);
    return limit && link_count(low) + atomic_load_explicit(&p->link.queued, memory_order_relaxed) >= limit;
}

void process_limit_mailbox(Process *p, uint32_t most) {
    atomic_store_explicit(&p->link.mailbox_limit, most, memory_order_relaxed);
}

static PushResult end_for_mailbox(BtVm *vm, Process *p, Value pid) {
    limits_end_for_mailbox(vm, pid, atomic_load_explicit(&p->link.mailbox_limit, memory_order_relaxed));
    return PUSH_DEAD;
}

/* Inlined for requests and for signals, each without what is the other's. */
static inline __attribute__((always_inline)) PushResult push(BtVm *vm, Scheduler *s, Value pid, Message *m,
                                                             bool signal) {
    Process *p = process_by_slot(vm, pid_slot(pid));
    if (!p) return PUSH_DEAD;
    bool wakes;
    Word128 w = word128_peek(p->link.word), put;
    do {
        RunState state = link_state(w.low);
        if (link_generation(w.low) != pid_generation(pid) || state == RUN_FREE || state == RUN_EXITING)
            return PUSH_DEAD;
        if ((w.low & LINK_DOOMED) && !signal) return PUSH_DEAD;
        if (!signal && mailbox_is_full(p, w.low)) return end_for_mailbox(vm, p, pid);
        wakes = push_wakes(w.low, signal);
        m->next = (Message *)(uintptr_t)w.high;
        put.low = w.low | (signal ? LINK_SIGNALS : 0) | (signal && m->kind == MSG_KILL ? LINK_DOOMED : 0);
        if ((w.low & LINK_COUNT_BITS) != LINK_COUNT_BITS) put.low += LINK_COUNT_ONE;
        if (wakes) put.low = link_with_state(put.low, RUN_RUNNABLE) & ~(LINK_RECEIVE | LINK_WAKE);
        put.high = (uint64_t)(uintptr_t)m;
    } while (!word128_cas(p->link.word, &w, put));
    if (wakes) sched_enqueue(vm, s, p, QUEUE_NEXT);
    return PUSH_DONE;
}

PushResult mailbox_push(BtVm *vm, Scheduler *s, Value pid, Message *m) {
    return is_signal(m->kind) ? push(vm, s, pid, m, true) : push(vm, s, pid, m, false);
}

bool mailbox_send(BtVm *vm, Scheduler *s, Value pid, Message *m) {
    if (mailbox_push(vm, s, pid, m) == PUSH_DONE) return true;
    message_release(vm, s, m);
    return false;
}

bool signal_send(BtVm *vm, Scheduler *s, Value target, MessageKind kind, Value sender, uint64_t id,
                 const Value *values, unsigned count) {
    Message *m = message_make(vm, s, kind, sender, V_NIL, V_NIL, values, count);
    if (!m) return vm_fail(vm), false;
    m->call_id = id;
    return mailbox_send(vm, s, target, m);
}

/* ---- the private queue ---- */

/* Only the owner writes it; relaxed, since others read it as a number and no more. */
static void count_queued(Process *p, uint32_t change) {
    uint32_t now = atomic_load_explicit(&p->link.queued, memory_order_relaxed);
    atomic_store_explicit(&p->link.queued, now + change, memory_order_relaxed);
}

void mailbox_append(Process *p, Message *m) {
    m->next = NULL;
    count_queued(p, 1);
    if (p->link.queue_tail)
        p->link.queue_tail->next = m;
    else
        p->link.queue_head = m;
    p->link.queue_tail = m;
}

Message *mailbox_remove_first(Process *p) {
    Message *m = p->link.queue_head;
    if (!m) return NULL;
    p->link.queue_head = m->next;
    if (!m->next) p->link.queue_tail = NULL;
    count_queued(p, (uint32_t)-1);
    return m;
}

static bool is_receivable(const Message *m, uint64_t tag) {
    bool kind = m->kind == MSG_RAW || m->kind == MSG_DOWN || m->kind == MSG_TIMER;
    return kind && (!tag || m->call_id == tag);
}

bool mailbox_has_tagged(const Process *p, uint64_t tag) {
    const Message *m = p->link.queue_head;
    while (m && !is_receivable(m, tag)) m = m->next;
    return m != NULL;
}

Message *mailbox_remove_tagged(Process *p, uint64_t tag) {
    Message *before = NULL, *m = p->link.queue_head;
    while (m && !is_receivable(m, tag)) before = m, m = m->next;
    if (!m) return NULL;
    if (!before) return mailbox_remove_first(p);
    count_queued(p, (uint32_t)-1);
    before->next = m->next;
    if (!m->next) p->link.queue_tail = before;
    return m;
}

/* ---- taking ---- */

static void end_by_signal(Process *p, Message *m, Value reason) {
    if (m->fragment) heap_adopt(p, m->fragment);
    m->fragment = NULL;
    p->link.exit_reason = reason;
    p->link.ending = p->link.killed = true;
}

/* An exit signal over a link counts only while the link exists. */
static void act_on_exit(Process *p, Message *m) {
    bool linked = m->sender == V_NIL || relation_remove(&p->link.relations, RELATION_LINK, m->sender, 0);
    if (!linked || p->link.trap_exit || m->values[0] == SYMBOL(normal)) return;
    end_by_signal(p, m, m->values[0]);
}

static void act_on_request(Process *p, Message *m) {
    p->link.system_request = m;
    m->serve(p, m->context);
    if (p->link.system_request) system_answer(p, V_NIL);
}

static void act_on_signal(Process *p, Message *m) {
    switch (m->kind) {
    case MSG_KILL: end_by_signal(p, m, m->values[0]); break;
    case MSG_EXIT: act_on_exit(p, m); break;
    case MSG_SYSTEM: act_on_request(p, m); break;
    default: relation_signal(p, m);
    }
    message_release(p->vm, p->scheduler, m);
}

static Message *take_all(Process *p) {
    Word128 w = word128_peek(p->link.word), put = {0, 0};
    do {
        if (!w.high && !(w.low & LINK_SIGNALS)) return NULL;
        put.low = w.low & ~(LINK_SIGNALS | LINK_COUNT_BITS);
    } while (!word128_cas(p->link.word, &w, put));
    return (Message *)(uintptr_t)w.high;
}

Message *messages_reverse(Message *m) {
    Message *done = NULL;
    while (m) {
        Message *next = m->next;
        m->next = done;
        done = m;
        m = next;
    }
    return done;
}

bool mailbox_drain(Process *p) {
    for (Message *m = messages_reverse(take_all(p)), *next; m; m = next) {
        next = m->next;
        if (is_signal(m->kind) && !p->link.killed)
            act_on_signal(p, m);
        else if (m->kind == MSG_DOWN &&
                 !relation_remove(&p->link.relations, RELATION_WATCHES, V_NIL, m->call_id))
            message_release(p->vm, p->scheduler, m); /* the watch was given up before it came */
        else
            mailbox_append(p, m); /* what a dying process did not see is answered by process_end */
    }
    return !p->link.killed;
}

bool process_poll_signals(Process *p) { return mailbox_drain(p); }

bool mailbox_has_more(Process *p) {
    Word128 w = word128_peek(p->link.word);
    return p->link.queue_head || w.high || (w.low & LINK_SIGNALS);
}

/* Whoever floods this process writes the state word all the time, and every look at it would take the word's
 * cache line from him. So it is looked at before every 16th message; it has been when the slice began. */
static bool looks_for_signals(Process *p) {
    uint32_t left = atomic_load_explicit(&p->link.queued, memory_order_relaxed); /* relaxed: its own */
    return left % 16 == 0 && process_has_signals(p);
}

Message *mailbox_take(Process *p) {
    /* The caller that was just answered goes first: giving the thread back is how the switch happens. */
    if (p->scheduler && p->scheduler->switch_to) return NULL;
    if ((!p->link.queue_head || looks_for_signals(p)) && !mailbox_drain(p)) return NULL;
    Message *m = mailbox_remove_first(p);
    if (!m) return NULL;
    if (m->fragment) heap_adopt(p, m->fragment);
    m->fragment = NULL;
    if (m->receiver == V_HOLE) m->receiver = p->self_ref;
    return m;
}
