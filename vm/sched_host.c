/* Host threads and the schedulers: waiting for a process, and running processes meanwhile.
 *
 * Who waits, and how:
 * - a thread of the host's, in a VM that has threads: sleeps;
 * - a function of the host, on a scheduler's thread: runs that scheduler in place until its process has
 * ended, up to HOST_DEPTH_MAX such waits one inside the other. What ends further down the C stack goes on
 * only when those above it are over, so the process it works for counts as waiting on the one it started: a
 * call back to it is a deadlock, and is reported as one (call.c);
 * - any thread, in a VM without threads of its own (`driven`): runs the one scheduler if nobody does, else
 *   sleeps until its process has ended or the scheduler is free.
 *
 * A scheduler that no thread runs is PARK_HOST: leaving it follows the rule of parking (sched.c), and the
 * waker that takes it out signals the host's file descriptor. */
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

static void unpark(Schedulers *all, Scheduler *s) {
    uint32_t parked = PARK_PARKED;
    /* seq_cst: as in take_parked; it comes up as a searcher we have counted */
    if (!atomic_compare_exchange_strong_explicit(&s->park_word, &parked, PARK_RUNNING, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return;
    atomic_fetch_sub_explicit(&all->parked, 1, memory_order_seq_cst);
    atomic_fetch_add_explicit(&all->searching, 1, memory_order_seq_cst);
    futex_wake(&s->park_word, 1);
}

void sched_notify_hosts(Schedulers *all) {
    /* seq_cst: a driver that parks reads it after it has said so, and we look at park_word after this */
    atomic_fetch_add_explicit(&all->ended, 1, memory_order_seq_cst);
    futex_wake(&all->ended, INT_MAX);
    if (atomic_load_explicit(&all->drivers, memory_order_seq_cst) == 0) return;
    for (unsigned i = 0; i < all->count; i++) unpark(all, &all->list[i]);
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

static bool drive(Scheduler *s, Value pid, int64_t deadline) {
    BtVm *vm = s->vm;
    Schedulers *all = vm->schedulers;
    bool ended = false;
    atomic_fetch_add_explicit(&all->drivers, 1, memory_order_seq_cst); /* pairs with sched_notify_hosts */
    for (;;) {
        HostWait wait = {atomic_load_explicit(&all->ended, memory_order_seq_cst), deadline};
        ended = !watch(vm, pid);
        if (ended || sched_is_stopping(vm) || is_over(deadline)) break;
        if (!sched_step(s)) sched_park(s, &wait);
    }
    atomic_fetch_sub_explicit(&all->drivers, 1, memory_order_relaxed); /* relaxed: too late does no harm */
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

/* ---- the scheduler of a VM without threads; under host_lock ---- */

static Scheduler *host_take(Schedulers *all) {
    Scheduler *s = &all->list[0];
    uint32_t was = PARK_HOST;
    sched_own(s, true);
    /* seq_cst: as at the end of sched_park */
    if (atomic_compare_exchange_strong_explicit(&s->park_word, &was, PARK_RUNNING, memory_order_seq_cst,
                                                memory_order_acquire))
        atomic_fetch_sub_explicit(&all->parked, 1, memory_order_seq_cst);
    else
        s->searching = true;
    return s;
}

static void host_leave(Scheduler *s) {
    Schedulers *all = s->vm->schedulers;
    sched_cool(s);
    io_console_flush(s->vm);
    sched_own(s, false);
    poll_fd_arm(s->vm->poll, POLL_TIMERS, timers_next(&s->timers));
    /* P1 to P3 of the rule of parking; instead of sleeping, the host is told */
    atomic_fetch_add_explicit(&all->parked, 1, memory_order_seq_cst);
    atomic_store_explicit(&s->park_word, PARK_HOST, memory_order_seq_cst);
    if (s->searching) {
        s->searching = false;
        atomic_fetch_sub_explicit(&all->searching, 1, memory_order_seq_cst);
    }
    if (sched_work_is_visible(all)) poll_fd_signal(s->vm->poll);
}

static void host_unlock(Schedulers *all) {
    pthread_mutex_unlock(&all->host_lock);
    /* seq_cst: who waits has said so before it found the lock taken */
    if (atomic_load_explicit(&all->waiting, memory_order_seq_cst)) sched_notify_hosts(all);
}

static bool wait_or_drive(BtVm *vm, Value pid, int64_t deadline) {
    Schedulers *all = vm->schedulers;
    bool ended = false;
    atomic_fetch_add_explicit(&all->waiting, 1, memory_order_seq_cst); /* pairs with host_unlock */
    for (;;) {
        uint32_t seen = atomic_load_explicit(&all->ended, memory_order_seq_cst);
        ended = !watch(vm, pid);
        if (ended || sched_is_stopping(vm) || is_over(deadline)) break;
        if (pthread_mutex_trylock(&all->host_lock) != 0) {
            futex_wait_until(&all->ended, seen, deadline);
            continue;
        }
        Scheduler *s = host_take(all);
        (void)drive(s, pid, deadline);
        host_leave(s);
        host_unlock(all);
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
    if (!vm->driven || pthread_mutex_trylock(&all->host_lock) != 0) return false;
    Scheduler *s = host_take(all);
    while (!sched_is_stopping(vm) && sched_step(s)) {
        ran = true;
        if (clock_now_us() >= until_us) break;
    }
    sched_stop_searching(s);
    host_leave(s);
    host_unlock(all);
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

bool sched_wait_for(BtVm *vm, Value pid, int64_t deadline_us) {
    Schedulers *all = vm->schedulers;
    Scheduler *here = sched_here(vm);
    if (here) return drive_in_place(here, pid, deadline_us);
    if (all->seeded) return seeded_wait_for(vm, pid, deadline_us);
    int64_t deadline = deadline_us < 0 ? DEADLINE_NONE : deadline_us;
    if (vm->driven) return wait_or_drive(vm, pid, deadline);
    for (;;) {
        /* acquire: pairs with sched_notify_hosts; read before the look, so that no end is missed */
        uint32_t ended = atomic_load_explicit(&all->ended, memory_order_acquire);
        if (!watch(vm, pid)) return io_console_flush(vm), true;
        if (sched_is_stopping(vm) || is_over(deadline)) return false;
        futex_wait_until(&all->ended, ended, deadline);
    }
}
