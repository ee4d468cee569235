/* Lending a scheduler to a host thread. What the thread starts there and waits for runs at once, on a warm
 * core, where waking a scheduler's thread and being woken by it costs some 20 us.
 *
 * In a VM with threads: a scheduler whose own thread sleeps, or was never started, is LENT. The thread sleeps
 * on; if a timer of its scheduler falls due meanwhile, it says that it is wanted, and waits until the host
 * thread leaves. In a VM without (`driven`): its one scheduler, under host_lock, is taken out of HOST.
 *
 * Whoever leaves follows the rule of parking (sched.c): the scheduler counts as parked again, then the queues
 * are looked at. A timer that came meanwhile is the business of its own thread, which is woken for it if it
 * would sleep too long. */
#include "vm/io.h"
#include "vm/poll_fd.h"
#include "vm/sched_internal.h"

/* ---- VMs with threads ---- */

static bool lend(Scheduler *s, uint32_t from) {
    Schedulers *all = s->vm->schedulers;
    uint32_t was = from;
    /* seq_cst: one winner among borrowers, wakers and its own thread */
    if (!atomic_compare_exchange_strong_explicit(&s->park_word, &was, PARK_LENT, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return false;
    atomic_fetch_sub_explicit(&all->parked, 1, memory_order_seq_cst); /* pairs with S2 */
    sched_own(s, true);
    s->lent_from = from;
    s->slept_until = timers_next(&s->timers);
    return true;
}

static Scheduler *borrow_sleeping(Schedulers *all) {
    for (unsigned i = 0; i < all->count; i++) {
        Scheduler *s = &all->list[i];
        uint32_t word = atomic_load_explicit(&s->park_word, memory_order_relaxed); /* relaxed: lend decides */
        if ((word == PARK_PARKED || word == PARK_UNSTARTED) && lend(s, word)) return s;
    }
    return NULL;
}

static void give_back_sleeping(Scheduler *s) {
    Schedulers *all = s->vm->schedulers;
    uint32_t home = s->lent_from;
    sched_publish_next(s);
    sched_settle(s);
    io_console_flush(s->vm);
    bool is_urgent = timers_next(&s->timers) < s->slept_until;
    s->lent_from = 0;
    sched_own(s, false);
    /* P1 to P3 of the rule; this thread does not search */
    atomic_fetch_add_explicit(&all->parked, 1, memory_order_seq_cst);
    atomic_store_explicit(&s->park_word, home, memory_order_seq_cst);
    /* seq_cst: see sleep_parked */
    if (is_urgent)
        sched_unpark(all, s);
    else if (atomic_load_explicit(&s->is_wanted, memory_order_seq_cst))
        futex_wake(&s->park_word, 1);
    if (sched_work_is_visible(all)) sched_wake_one(s->vm);
}

/* ---- VMs without; under host_lock ---- */

Scheduler *sched_borrow_driven(BtVm *vm) {
    Schedulers *all = vm->schedulers;
    Scheduler *s = &all->list[0];
    uint32_t was = PARK_HOST;
    if (pthread_mutex_trylock(&all->host_lock) != 0) return NULL;
    sched_own(s, true);
    /* seq_cst: as at the end of sched_park */
    if (atomic_compare_exchange_strong_explicit(&s->park_word, &was, PARK_RUNNING, memory_order_seq_cst,
                                                memory_order_acquire))
        atomic_fetch_sub_explicit(&all->parked, 1, memory_order_seq_cst);
    else
        s->searching = true;
    return s;
}

static void leave_driven(Scheduler *s) {
    Schedulers *all = s->vm->schedulers;
    bool searched = s->searching;
    s->searching = false;
    sched_publish_next(s);
    sched_settle(s);
    io_console_flush(s->vm);
    sched_own(s, false);
    poll_fd_arm(s->vm->poll, POLL_TIMERS, timers_next(&s->timers));
    /* P1 to P3 of the rule; instead of sleeping, the host is told */
    atomic_fetch_add_explicit(&all->parked, 1, memory_order_seq_cst);
    atomic_store_explicit(&s->park_word, PARK_HOST, memory_order_seq_cst);
    if (searched) atomic_fetch_sub_explicit(&all->searching, 1, memory_order_seq_cst);
    if (sched_work_is_visible(all)) poll_fd_signal(s->vm->poll);
}

static void give_back_driven(Scheduler *s) {
    Schedulers *all = s->vm->schedulers;
    leave_driven(s);
    pthread_mutex_unlock(&all->host_lock);
    /* seq_cst: who waits has said so before it found the lock taken */
    if (atomic_load_explicit(&all->waiting, memory_order_seq_cst)) sched_notify_hosts(all);
}

/* ---- both ---- */

Scheduler *sched_borrow(BtVm *vm) {
    if (vm->schedulers->seeded || sched_is_stopping(vm) || sched_here(vm)) return NULL;
    return vm->driven ? sched_borrow_driven(vm) : borrow_sleeping(vm->schedulers);
}

void sched_give_back(Scheduler *s) {
    if (!s) return;
    if (s->vm->driven)
        give_back_driven(s);
    else
        give_back_sleeping(s);
}
