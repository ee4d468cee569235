/* Runs one callable, or one send, in a fresh process and waits for its end. */
#include <sched.h>
#include "vm/api/api_internal.h"
#include "vm/limits.h"
#include "vm/sched_internal.h"

void kept_free(BtVm *vm, Kept *kept) {
    if (kept->fragment) fragment_free(vm, kept->fragment);
    *kept = (Kept){.value = V_NIL};
}

RanKind ran_kind_of(const Completion *c) {
    if (c->broken_limit == BROKEN_REDUCTIONS) return RAN_OUT_OF_REDUCTIONS;
    if (c->broken_limit == BROKEN_OUTPUT) return RAN_OUT_OF_OUTPUT;
    switch (c->reply.kind) {
    case REPLY_VALUE: return RAN_VALUE;
    case REPLY_ERROR: return RAN_ERROR;
    case REPLY_NLR: return RAN_NLR;
    case REPLY_DEAD:
    case REPLY_TIMEOUT: break;
    }
    return RAN_KILLED;
}

Process *process_for_run(BtVm *vm, Scheduler *s, const RunLimits *limits, Completion *completion) {
    SpawnOptions options = {.role = PROC_PLAIN,
                            .self_ref = V_NIL,
                            .scheduler = s,
                            .heap_limit_words = limits->heap_limit_words,
                            .stack_limit_words = limits->stack_limit_words,
                            .ignore_link_exits = limits->main_process,
                            .completion = completion};
    Process *p = process_new(vm, &options);
    if (p && limits->session) p->session = limits->session->core->id;
    if (p && limits->reductions_limit) p->link.reductions_ceiling = limits->reductions_limit;
    return p;
}

static void not_running(BtVm *vm, const RunLimits *limits) {
    sched_wait_end(vm);
    atomic_store(&limits->session->running, V_NIL);
}

/* True if it ended in time; else it has been killed. */
static bool wait_for_run(BtVm *vm, Scheduler *borrowed, Value pid, int64_t limit_ms) {
    int64_t deadline_us = limit_ms > 0 ? vm_now_us(vm) + limit_ms * 1000 : -1;
    if (sched_wait_for(vm, borrowed, pid, deadline_us)) return true;
    process_exit_signal(vm, pid, SYMBOL(killed), true);
    sched_wait_for(vm, NULL, pid, -1);
    return false;
}

RanKind run_process(BtVm *vm, const RunLimits *limits, Value callable, Value selector, const Value *args,
                    unsigned argc, Kept *out) {
    *out = (Kept){.value = V_NIL};
    HostWaitStatus may = sched_may_wait(vm);
    if (may != HOST_WAIT_OK) return may == HOST_WAIT_TOO_DEEP ? RAN_TOO_DEEP : RAN_FORBIDDEN;
    Completion *completion = memory_zalloc(vm->memory, sizeof *completion);
    if (!completion) return RAN_NO_MEMORY;
    Scheduler *borrowed = sched_borrow(vm), *s = borrowed ? borrowed : sched_here(vm);
    Process *p = process_for_run(vm, s, limits, completion);
    if (!p) return sched_give_back(borrowed), memory_free(vm->memory, completion), RAN_NO_MEMORY;
    Value pid = p->pid;
    atomic_store(&limits->session->running, pid);
    (void)sched_wait_begin(vm, pid);
    if (!process_start_from_host(p, s, callable, selector, args, argc)) {
        sched_give_back(borrowed);
        not_running(vm, limits);
        return memory_free(vm->memory, completion), RAN_NO_MEMORY;
    }
    if (atomic_load(&limits->session->interrupted)) process_exit_signal(vm, pid, SYMBOL(killed), true);
    bool in_time = wait_for_run(vm, borrowed, pid, limits->deadline_ms);
    not_running(vm, limits);
    RanKind kind = RAN_KILLED;
    if (atomic_load_explicit(&completion->done, memory_order_acquire)) {
        kind = ran_kind_of(completion);
        *out = (Kept){completion->reply.fragment, completion->reply.value};
        memory_free(vm->memory, completion);
    } else { /* the program asked to exit while this process still ran: it may be at its very end, and
                complete it */
        completion_abandon(vm, completion);
    }
    return in_time ? kind : RAN_TIMEOUT;
}
