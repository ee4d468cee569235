/* Synchronous calls, casts and raw messages.
 *
 * Fast path: the callee is IDLE, so the caller's thread claims it, puts the request straight into its private
 * queue and runs it as soon as the caller has stopped, with the caller's reductions; the answer switches
 * back. Otherwise the request is pushed and the caller waits like anyone else. Either way requests are served
 * in order: an IDLE process has none pending.
 *
 * Deadlock: a caller first stores whom it waits for, then walks the chain of such stores from its target,
 * both seq_cst. Of two callers that close a cycle at once, the later store in that order is followed by a
 * walk that sees the earlier one, so at least one of them raises. A claimed callee waits for nobody, so it
 * needs no walk. */
#include <stdio.h>
#include "vm/dict.h"
#include "vm/error.h"
#include "vm/limits.h"
#include "vm/list.h"
#include "vm/registry.h"
#include "vm/sched_internal.h"

#define CHAIN_WALK_MAX (1u << 16)
#define HINT_DEAD "Use 'isAlive' to check, or use monitors for lifecycle events"
#define HINT_CLASS_DEAD                                                                                      \
    "The process of the class ended while it served this message. The next message starts it again, with "   \
    "its class variables at their declared initial values; what they held is lost"
#define HINT_TIMEOUT                                                                                         \
    "Actor did not respond within the timeout period. The actor may be slow, overloaded, or deadlocked"
#define HINT_CLASS_TIMEOUT                                                                                   \
    "The class did not answer within the time limit. It goes on with the method, and drops the late answer"
#define HINT_DEADLOCK "Sync send would deadlock: target actor is already in the call chain"
#define HINT_CLASS_DEADLOCK                                                                                  \
    "This send would deadlock: the class is waiting, further up in the same chain of calls, for an answer "  \
    "that depends "                                                                                          \
    "on it; usually a block passed to a class method is messaging that class: read what you need first"

/* ---- errors ---- */

static void note_call(Process *caller, Value receiver, Value selector) {
    uint32_t id = value_is_ptr(receiver) ? object_class(receiver) : special_payload(receiver);
    caller->link.call_class = value_is_ptr(receiver) ? value_from_class(id) : receiver;
    caller->link.call_selector = selector;
    caller->link.calls_class = !value_is_ptr(receiver);
}

static Value called_class_name(Process *p) {
    Value c = p->link.call_class;
    if (!value_is_class(c)) return V_NIL;
    Class *class = class_by_id(p->vm, special_payload(c));
    return class ? class->name : V_NIL;
}

static void raise_dead(Process *p) {
    Value name = called_class_name(p), selector = p->link.call_selector;
    if (!p->link.calls_class || !value_is_symbol(name)) {
        (void)error_raise(p, ERR_actor_dead, name, selector, NULL, HINT_DEAD, V_NIL);
        return;
    }
    char text[600];
    snprintf(text, sizeof text, "Cannot send '%.250s' to %.250s (class process has terminated)",
             symbol_text(p->vm, selector, NULL), symbol_text(p->vm, name, NULL));
    (void)error_raise(p, ERR_actor_dead, name, selector, text, HINT_CLASS_DEAD, V_NIL);
}

static void raise_timeout(Process *p) {
    (void)error_raise(p, ERR_timeout, called_class_name(p), p->link.call_selector, NULL,
                      p->link.calls_class ? HINT_CLASS_TIMEOUT : HINT_TIMEOUT, V_NIL);
}

/* ---- the chain ---- */

/* Whom the process behind pid waits for in a call, or V_NIL. */
static Value waits_for(BtVm *vm, Value pid) {
    Process *p = process_by_slot(vm, pid_slot(pid));
    if (!p) return V_NIL;
    /* seq_cst: the walk half of the rule above; pairs with the store in call_start */
    uint64_t next = atomic_load_explicit(&p->link.waiting_on, memory_order_seq_cst);
    if (!next) return V_NIL;
    /* acquire: pairs with wait_open. An answered wait is over, even if its owner has not run since. */
    uint64_t slot = atomic_load_explicit(&p->link.reply_call_id, memory_order_acquire);
    bool open = slot && (slot & SLOT_BITS) == SLOT_OPEN;
    return open && link_generation(word128_peek(p->link.word).low) == pid_generation(pid) ? next : V_NIL;
}

static bool closes_cycle(Process *caller, Value target) {
    for (unsigned steps = 0; value_is_pid(target) && steps < CHAIN_WALK_MAX; steps++) {
        if (target == caller->pid) return true;
        target = waits_for(caller->vm, target);
    }
    return false;
}

/* #{call_stack, target_pid}, the sender first. V_HOLE = pending resource_error. */
static Value deadlock_details(Process *caller, Value target) {
    BtVm *vm = caller->vm;
    Value pairs[4] = {symbol_intern(vm, "call_stack", 10), V_EMPTY_LIST, symbol_intern(vm, "target_pid", 10),
                      target};
    RootSpan span;
    roots_push(caller, &span, pairs, 4);
    Value pid = target, details = V_HOLE;
    for (unsigned steps = 0; value_is_pid(pid) && pid != caller->pid && steps < CHAIN_WALK_MAX; steps++) {
        pairs[1] = list_cons(caller, pid, pairs[1]);
        if (pairs[1] == V_HOLE) goto out;
        pid = waits_for(vm, pid);
    }
    pairs[1] = list_cons(caller, caller->pid, pairs[1]);
    if (pairs[1] != V_HOLE) details = dict_from_pairs(caller, pairs, 2);
out:
    roots_pop(caller, &span);
    return details;
}

static void raise_deadlock(Process *p, Value target, bool is_class) {
    Value details = deadlock_details(p, target);
    if (details == V_HOLE) return;
    (void)error_raise(p, is_class ? ERR_dispatch_error : ERR_deadlock_detected, called_class_name(p),
                      p->link.call_selector, NULL, is_class ? HINT_CLASS_DEADLOCK : HINT_DEADLOCK, details);
}

/* ---- calling ---- */

static void leave_chain(Process *p) {
    /* relaxed: a closed slot already says that this is no wait */
    atomic_store_explicit(&p->link.waiting_on, 0, memory_order_relaxed);
}

/* The fast path. m becomes the callee's. */
static bool hand_off(Process *caller, Process *callee, Value target, Message *m) {
    Scheduler *s = caller->scheduler;
    if (!s || s->handoff || !sched_may_claim(s)) return false;
    if (!process_claim(callee, pid_generation(target), RUN_IDLE)) return false;
    m->handoff = true;
    callee->scheduler = s;
    mailbox_append(callee, m);
    s->handoff = callee;
    return true;
}

/* A big message is paid for by who sends it. */
static void charge_copy(Process *sender, const Message *m) {
    if (m->fragment) (void)process_charge(sender, (uint32_t)(m->fragment->size_words >> 3 & INT32_MAX >> 8));
}

static Value receiver_in_message(Value receiver) { return value_is_ptr(receiver) ? V_HOLE : receiver; }

CallStatus call_start(Process *caller, Value target_pid, Value receiver, Value selector, const Value *args,
                      unsigned argc, int64_t timeout_us) {
    BtVm *vm = caller->vm;
    note_call(caller, receiver, selector);
    Process *callee = process_by_pid(vm, target_pid);
    if (!callee) return raise_dead(caller), CALL_RAISED;
    Message *m = message_make(vm, caller->scheduler, MSG_CALL, caller->pid, receiver_in_message(receiver),
                              selector, args, argc);
    if (!m) return (void)error_resource(caller, NULL), CALL_RAISED;
    charge_copy(caller, m);
    m->call_id = wait_open(caller, WAIT_CALL, timeout_us);
    if (hand_off(caller, callee, target_pid, m)) {
        /* release: nobody waits for the caller through the callee before the callee has run, on this thread,
         * and published whom it waits for in its turn */
        atomic_store_explicit(&caller->link.waiting_on, target_pid, memory_order_release);
        return CALL_WAITING;
    }
    /* seq_cst: the publish half of the rule above; pairs with the load in waits_for */
    atomic_store_explicit(&caller->link.waiting_on, target_pid, memory_order_seq_cst);
    bool class_called = value_is_class(receiver);
    bool cycle = closes_cycle(caller, target_pid);
    if (!cycle && mailbox_push(vm, caller->scheduler, target_pid, m) == PUSH_DONE) return CALL_WAITING;
    message_release(vm, caller->scheduler, m);
    if (cycle)
        raise_deadlock(caller, target_pid, class_called);
    else
        raise_dead(caller);
    wait_close(caller);
    leave_chain(caller);
    return CALL_RAISED;
}

ReplyKind call_take_reply(Process *caller, Value *answer) {
    Reply r = caller->link.reply;
    caller->link.reply.fragment = NULL;
    wait_close(caller);
    leave_chain(caller);
    if (r.fragment) heap_adopt(caller, r.fragment);
    switch (r.kind) {
    case REPLY_VALUE: *answer = r.value; break;
    case REPLY_ERROR:
        caller->exception = r.value;
        error_extend_trace(caller);
        break;
    case REPLY_NLR:
        caller->pending_value = r.value;
        caller->pending_pid = r.token_pid;
        caller->pending_serial = r.token_serial;
        break;
    case REPLY_DEAD:
        *answer = r.value;
        raise_dead(caller);
        break;
    case REPLY_TIMEOUT: raise_timeout(caller); break;
    }
    return r.kind;
}

/* ---- answering ---- */

static void answer(Process *callee, const Message *m, ReplyKind kind, Value value) {
    BtVm *vm = callee->vm;
    Process *caller = process_by_slot(vm, pid_slot(m->sender));
    /* relaxed: saves the copy for a caller that has given up; reply_deliver decides */
    if (!caller || atomic_load_explicit(&caller->link.reply_call_id, memory_order_relaxed) != m->call_id)
        return;
    Reply r = {kind, NULL, value, callee->pending_pid, callee->pending_serial};
    reply_detach(vm, &r);
    (void)reply_deliver(vm, callee->scheduler, m->sender, m->call_id, &r, m->handoff);
}

void call_reply(Process *callee, ReplyKind kind, Value value) {
    Message *m = callee->serving;
    callee->serving = NULL;
    if (!m) return;
    if (m->kind == MSG_CALL) answer(callee, m, kind, value);
    message_release(callee->vm, callee->scheduler, m);
}

/* ---- sending without waiting ---- */

bool cast_send(Process *sender, Value target_pid, Value receiver, Value selector, const Value *args,
               unsigned argc) {
    BtVm *vm = sender->vm;
    Scheduler *s = sender->scheduler;
    if (limits_memory_is_short(vm) && limits_look_at_memory(vm)) return limits_raise_memory(sender);
    Message *m =
        message_make(vm, s, MSG_CAST, sender->pid, receiver_in_message(receiver), selector, args, argc);
    if (!m) return (void)error_resource(sender, NULL), false;
    charge_copy(sender, m);
    return mailbox_send(vm, s, target_pid, m);
}

bool cast_from_host(BtVm *vm, Value reference, Value selector, const Value *args, unsigned argc) {
    Value target = object_at(reference, 1);
    if (value_is_symbol(target)) target = registry_lookup(vm, target);
    if (!value_is_pid(target)) return true;
    Message *m = message_make(vm, NULL, MSG_CAST, V_NIL, V_HOLE, selector, args, argc);
    if (!m) return false;
    (void)mailbox_send(vm, NULL, target, m);
    return true;
}

bool raw_send(BtVm *vm, Process *from, Value target_pid, uint64_t tag, Value term) {
    Scheduler *s = from ? from->scheduler : NULL;
    if (!process_is_alive(vm, target_pid)) return false;
    Message *m = message_make(vm, s, MSG_RAW, from ? from->pid : V_NIL, V_NIL, V_NIL, &term, 1);
    if (!m) return from && (error_resource(from, NULL), false);
    m->call_id = tag;
    return mailbox_send(vm, s, target_pid, m);
}

void process_exit_signal(BtVm *vm, Value pid, Value reason_symbol, bool kill) {
    (void)signal_send(vm, NULL, pid, kill ? MSG_KILL : MSG_EXIT, V_NIL, 0, &reason_symbol, 1);
}
