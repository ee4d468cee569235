/* System requests: reading another process in its own ownership (architecture.md section 3).
 *
 * A target that is idle or waits is claimed and served by the asking thread, so the question never waits for
 * a busy queue; one that runs or is about to run serves it at its next safepoint, in mid-invocation too. The
 * asker waits in its reply slot. `context` may outlive the asker: it must be data that lives as long as the
 * VM, or a plain number. */
#include "vm/error.h"
#include "vm/sched_internal.h"

static void finish_request(Process *p, Reply *reply) {
    if (reply->fragment) heap_adopt(p, reply->fragment);
    p->resume_value = V_NIL;
    if (reply->kind == REPLY_VALUE)
        p->resume_value = reply->value;
    else if (reply->kind == REPLY_ERROR)
        p->exception = reply->value;
    else if (reply->kind == REPLY_TIMEOUT)
        (void)error_raise(p, ERR_timeout, V_NIL, V_NIL, NULL, NULL, V_NIL);
    else
        (void)error_raise(p, ERR_actor_dead, V_NIL, V_NIL, NULL, NULL, V_NIL);
}

void system_answer(Process *target, Value term) {
    Message *m = target->link.system_request;
    target->link.system_request = NULL;
    if (!m) return;
    Reply r = {.kind = REPLY_VALUE, .value = term};
    reply_detach(target->vm, &r);
    (void)reply_deliver(target->vm, target->scheduler, m->sender, m->call_id, &r, false);
}

static void serve_claimed(Process *asker, Process *target, uint64_t id, void (*serve)(Process *, void *),
                          void *context) {
    Message request = {.kind = MSG_SYSTEM, .sender = asker->pid, .call_id = id};
    target->scheduler = asker->scheduler;
    target->link.system_request = &request;
    serve(target, context);
    if (target->link.system_request) system_answer(target, V_NIL);
}

static bool serve_here(Process *asker, Value pid, uint64_t id, void (*serve)(Process *, void *),
                       void *context) {
    Process *target = process_by_pid(asker->vm, pid);
    if (!target) return false;
    uint32_t generation = pid_generation(pid);
    bool stopped;
    if (target == asker) {
        serve_claimed(asker, target, id, serve, context);
        return true;
    }
    if (process_claim(target, generation, RUN_IDLE)) {
        serve_claimed(asker, target, id, serve, context);
        stopped = process_go_idle(target);
    } else if (process_claim(target, generation, RUN_WAITING)) {
        serve_claimed(asker, target, id, serve, context);
        stopped = process_go_waiting(target);
    } else {
        return false;
    }
    if (!stopped) {
        process_set_state(target, RUN_RUNNABLE);
        sched_enqueue(asker->vm, asker->scheduler, target, QUEUE_WOKEN);
    }
    return true;
}

PrimStatus system_signal(Process *p, Value target_pid, void (*serve)(Process *target, void *context),
                         void *context) {
    return system_signal_within(p, target_pid, serve, context, -1);
}

PrimStatus system_signal_within(Process *p, Value target_pid, void (*serve)(Process *target, void *context),
                                void *context, int64_t timeout_us) {
    uint64_t id = wait_open(p, WAIT_PRIM, timeout_us);
    p->link.wait_finish = finish_request;
    if (serve_here(p, target_pid, id, serve, context)) return PRIM_BLOCK;
    Message *m = message_make(p->vm, p->scheduler, MSG_SYSTEM, p->pid, V_NIL, V_NIL, NULL, 0);
    if (!m) return wait_close(p), error_resource(p, NULL);
    m->call_id = id;
    m->serve = serve;
    m->context = context;
    if (mailbox_send(p->vm, p->scheduler, target_pid, m)) return PRIM_BLOCK;
    wait_close(p);
    return error_raise(p, ERR_actor_dead, V_NIL, V_NIL, NULL, NULL, V_NIL);
}

/* ---- interrupts from outside ---- */

/* Of no wait: nobody takes the answer. */
#define NO_WAIT_ID (~(uint64_t)SLOT_BITS)

/* In the target: the request of this caller, if it is still the one that is being served, fails. */
static void fail_request(Process *target, void *caller) {
    Value pid = (Value)(uintptr_t)caller;
    if (!target->frame || !target->serving || target->serving->sender != pid) return;
    if (target->link.wait != WAIT_NONE || target->exception != V_HOLE) return;
    (void)error_raise(target, ERR_interrupted, V_NIL, V_NIL, "Interrupted", NULL, V_NIL);
}

void process_interrupt(BtVm *vm, Value pid) {
    enum { MAX_CHAIN = 64 };
    Value caller = pid, callee = pid;
    Process *p = process_by_pid(vm, pid);
    for (unsigned i = 0; p && i < MAX_CHAIN; i++) {
        Value next = atomic_load_explicit(&p->link.waiting_on, memory_order_acquire);
        if (!next) break;
        caller = callee;
        callee = next;
        p = process_by_pid(vm, next);
    }
    process_exit_signal(vm, pid, SYMBOL(killed), true);
    if (callee == pid) return;
    Message *m = message_make(vm, NULL, MSG_SYSTEM, pid, V_NIL, V_NIL, NULL, 0);
    if (!m) return;
    m->call_id = NO_WAIT_ID;
    m->serve = fail_request;
    m->context = (void *)(uintptr_t)caller;
    (void)mailbox_send(vm, NULL, callee, m);
}
