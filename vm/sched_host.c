/* Host threads and the schedulers: waiting for a process, and running processes meanwhile.
 *
 * Who waits, and how:
 * - a thread of the host's runs a scheduler that has nothing to do until its process has ended
 * (sched_lend.c); if there is none, it sleeps;
 * - a function of the host, on a thread that runs a scheduler: runs that scheduler in place until its process
 *   has ended, up to HOST_DEPTH_MAX such waits one inside the other. What ends further down the C stack goes
 *   on only when those above it are over, so the process it works for counts as waiting on the one it
 *   started: a call back to it is a deadlock, and is reported as one (call.c);
 * - any thread, in a VM without threads of its own (`driven`): runs the one scheduler if nobody does, else
 *   sleeps until its process has ended or the scheduler is free. */
#include <limits.h>
#include "vm/io.h"
#include "vm/poll_fd.h"
#include "vm/sched_internal.h"

/* ---- which thread is this ---- */

void sched_own(Scheduler *s, bool owns) {
    /* relaxed: a thread looks only for itself */
    atomic_store_explicit(&s->owner, owns ? (uint64_t)pthread_self() : 0, memory_order_relaxed);
}

Scheduler *sched_here(BtVm *vm) {
    Schedulers *all = vm->schedulers;
    uint64_t self = (uint64_t)pthread_self();
    for (unsigned i = 0; i < all->count; i++)
        if (atomic_load_explicit(&all->list[i].owner, memory_order_relaxed) == self) return &all->list[i];
    return NULL;
}

bool sched_is_here(BtVm *vm) { return sched_here(vm) != NULL; }

Process *sched_host_enter(Process *p) {
    Process *outer = p->scheduler->host_caller;
    p->scheduler->host_caller = p;
    return outer;
}

void sched_host_leave(Process *p, Process *outer) { p->scheduler->host_caller = outer; }

/* ---- what ends ---- */

void sched_notify_hosts(Schedulers *all) {
    /* seq_cst: a driver that parks reads it after it has said so, and we look at park_word after this */
    atomic_fetch_add_explicit(&all->ended, 1, memory_order_seq_cst);
    futex_wake(&all->ended, INT_MAX);
    if (atomic_load_explicit(&all->drivers, memory_order_seq_cst) == 0) return;
    for (unsigned i = 0; i < all->count; i++) sched_unpark(all, &all->list[i]);
}

void vm_request_exit(BtVm *vm, int status) {
    int none = -1;
    /* seq_cst: rare */
    atomic_compare_exchange_strong(&vm->exit_status, &none, status);
    atomic_store(&vm->schedulers->halted, true);
    sched_notify_hosts(vm->schedulers);
    struct PollFd *poll = atomic_load(&vm->poll);
    if (poll) poll_fd_signal(poll);
}

/* Marks the process as watched; false if it has ended. */
static bool watch(BtVm *vm, Value pid) {
    Process *p = value_is_pid(pid) ? process_by_slot(vm, pid_slot(pid)) : NULL;
    if (!p) return false;
    Word128 w = word128_peek(p->link.word), put;
    do {
        if (link_generation(w.low) != pid_generation(pid) || link_state(w.low) == RUN_FREE) return false;
        if (w.low & LINK_WATCHED) return true;
        put.low = w.low | LINK_WATCHED;
        put.high = w.high;
    } while (!word128_cas(p->link.word, &w, put));
    return true;
}

static bool is_over(int64_t deadline) { return deadline != DEADLINE_NONE && clock_now_us() >= deadline; }

void completion_abandon(BtVm *vm, Completion *c) {
    _Atomic(Completion *) *list = &vm->schedulers->abandoned;
    c->next = atomic_load_explicit(list, memory_order_relaxed); /* relaxed: the CAS decides */
    /* release: whoever takes the list finds the element whole */
    while (!atomic_compare_exchange_weak_explicit(list, &c->next, c, memory_order_release,
                                                  memory_order_relaxed)) {
    }
}

/* ---- running a scheduler until something ends ---- */

/* Nobody tells of the end of a process for which nobody sleeps: most end on this very thread. */
static void park_until_ended(Scheduler *s, Value pid, int64_t deadline) {
    Schedulers *all = s->vm->schedulers;
    atomic_fetch_add_explicit(&all->drivers, 1, memory_order_seq_cst); /* pairs with sched_notify_hosts */
    HostWait wait = {atomic_load_explicit(&all->ended, memory_order_seq_cst), deadline};
    if (watch(s->vm, pid)) sched_park(s, &wait);
    atomic_fetch_sub_explicit(&all->drivers, 1, memory_order_relaxed); /* relaxed: too late does no harm */
}

static bool drive(Scheduler *s, Value pid, int64_t deadline) {
    bool ended = false;
    while (!(ended = process_has_ended(s->vm, pid)) && !sched_is_stopping(s->vm) && !is_over(deadline))
        if (!sched_step(s)) park_until_ended(s, pid, deadline);
    sched_stop_searching(s);
    return ended;
}

/* The slice of the process whose function this is goes on afterwards as if nothing had been. */
static bool drive_in_place(Scheduler *s, Value pid, int64_t deadline_us) {
    BtVm *vm = s->vm;
    Process *caller = s->host_caller;
    bool runs_expired = s->runs_expired;
    int32_t woken_used = s->woken_used;
    sched_suspend_slice(s);
    s->host_caller = NULL;
    s->host_depth++;
    bool ended = vm->schedulers->seeded ? seeded_drive(vm, pid, deadline_us)
                                        : drive(s, pid, deadline_us < 0 ? DEADLINE_NONE : deadline_us);
    s->host_depth--;
    s->host_caller = caller;
    s->runs_expired = runs_expired;
    s->woken_used = woken_used;
    return ended;
}

/* ---- a VM without threads ---- */

static bool drive_borrowed(Scheduler *s, Value pid, int64_t deadline) {
    bool ended = drive(s, pid, deadline);
    sched_give_back(s);
    return ended;
}

static bool wait_or_drive(BtVm *vm, Value pid, int64_t deadline) {
    Schedulers *all = vm->schedulers;
    bool ended = false;
    atomic_fetch_add_explicit(&all->waiting, 1, memory_order_seq_cst); /* pairs with host_unlock */
    for (;;) {
        uint32_t seen = atomic_load_explicit(&all->ended, memory_order_seq_cst);
        ended = !watch(vm, pid);
        if (ended || sched_is_stopping(vm) || is_over(deadline)) break;
        Scheduler *s = sched_borrow_driven(vm);
        if (s)
            drive_borrowed(s, pid, deadline);
        else
            futex_wait_until(&all->ended, seen, deadline);
    }
    atomic_fetch_sub_explicit(&all->waiting, 1, memory_order_relaxed); /* relaxed: too late does no harm */
    return ended;
}

bool sched_run_here(BtVm *vm, int64_t until_us) {
    Schedulers *all = vm->schedulers;
    bool ran = false;
    if (all->seeded) {
        struct PollFd *poll = atomic_load(&vm->poll);
        (void)seeded_run(vm, until_us, &ran);
        if (ran && poll) poll_fd_signal(poll); /* there may be more; nobody is woken in this mode */
        return ran;
    }
    Scheduler *s = vm->driven ? sched_borrow_driven(vm) : NULL;
    if (!s) return false;
    while (!sched_is_stopping(vm) && sched_step(s)) {
        ran = true;
        if (clock_now_us() >= until_us) break;
    }
    sched_stop_searching(s);
    sched_give_back(s);
    return ran;
}

/* ---- waiting ---- */

HostWaitStatus sched_may_wait(BtVm *vm) {
    Scheduler *s = sched_here(vm);
    if (!s) return HOST_WAIT_OK;
    if (!s->host_caller) return HOST_WAIT_FORBIDDEN;
    return s->host_depth < HOST_DEPTH_MAX ? HOST_WAIT_OK : HOST_WAIT_TOO_DEEP;
}

HostWaitStatus sched_wait_begin(BtVm *vm, Value pid) {
    HostWaitStatus status = sched_may_wait(vm);
    Scheduler *s = status == HOST_WAIT_OK ? sched_here(vm) : NULL;
    if (!s) return status;
    ProcessLink *l = &s->host_caller->link;
    /* seq_cst: the store half of the rule in call.c. An open slot says that the wait is on; a number that
     * nobody is told opens it, unless the function has promised an answer for later and so opened one. */
    atomic_store_explicit(&l->waiting_on, pid, memory_order_seq_cst);
    if (atomic_load_explicit(&l->reply_call_id, memory_order_relaxed) == 0)
        atomic_store_explicit(&l->reply_call_id, ++l->next_call_id << 2, memory_order_release);
    return status;
}

void sched_wait_end(BtVm *vm) {
    Scheduler *s = sched_here(vm);
    if (!s || !s->host_caller) return;
    ProcessLink *l = &s->host_caller->link;
    atomic_store_explicit(&l->waiting_on, 0, memory_order_relaxed); /* relaxed: the wait is over anyhow */
    if (l->wait == WAIT_NONE) atomic_store_explicit(&l->reply_call_id, 0, memory_order_relaxed);
}

static bool sleep_until_ended(BtVm *vm, Value pid, int64_t deadline) {
    Schedulers *all = vm->schedulers;
    for (;;) {
        /* acquire: pairs with sched_notify_hosts; read before the look, so that no end is missed */
        uint32_t ended = atomic_load_explicit(&all->ended, memory_order_acquire);
        if (!watch(vm, pid)) return io_console_flush(vm), true;
        if (sched_is_stopping(vm) || is_over(deadline)) return false;
        futex_wait_until(&all->ended, ended, deadline);
    }
}

bool sched_wait_for(BtVm *vm, Scheduler *borrowed, Value pid, int64_t deadline_us) {
    int64_t deadline = deadline_us < 0 ? DEADLINE_NONE : deadline_us;
    if (borrowed) return drive_borrowed(borrowed, pid, deadline);
    Scheduler *here = sched_here(vm);
    if (here) return drive_in_place(here, pid, deadline_us);
    if (vm->schedulers->seeded) return seeded_wait_for(vm, pid, deadline_us);
    return vm->driven ? wait_or_drive(vm, pid, deadline) : sleep_until_ended(vm, pid, deadline);
}
