/* Scheduler threads: picking, stealing, parking, waking. Running a slice is in sched_run.c.
 *
 * Order of picking: woken processes, then those whose slice expired; but once woken ones have used two slices
 * an expired one goes first, so neither can starve. Every 61st pick looks at the injector first. Then:
 * injector, stealing, parking.
 *
 * Waking (after Go's proc.go). A thread that has work to give wakes one parked thread only if some thread is
 * parked and none is searching; a searcher that finds work stops searching and, if it was the last, does the
 * same for whoever comes next. So at most one thread is being woken at a time, and they come up one after the
 * other as long as there is work. Why no work is left behind. A submitter does S1 publish the work (ring
 * tail, injector count)   S2 load parked, searching; wake unless parked = 0 or searching > 0 and a thread
 * that parks P1 parked += 1, park_word = PARKED   P2 searching -= 1 (if it searched)   P3 look at all queues
 * again; found: unpark all seq_cst. If S2 reads parked = 0, P1 comes later, so P3 sees the work. If S2 reads
 * searching > 0, that searcher's P2, or its decrement on finding other work, comes later; P3, or the check
 * after that decrement, sees the work or it is gone. A waker that finds nobody to wake has counted itself as
 * a searcher; it takes that back and looks again for the same reason. Rejected: one shared queue (contended,
 * no locality); handing each readied process to another thread (21 us a wake, cold caches); waking a thread
 * for each submission (thrashing). A scheduler whose thread has not been started counts as parked; waking it
 * starts it.
 *
 * A process in `next` is not published yet: its thread is running a slice and will run it, or submit it as
 * above, when the slice ends (sched_run.c).
 *
 * A parked thread sleeps until the exact deadline of its next timer. An idle VM uses no processor. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <sched.h>
#include "vm/io.h"
#include "vm/poll_fd.h"
#include "vm/sched_internal.h"

/* Functions of the host, and what they evaluate in place, run on it too. */
#define THREAD_STACK_BYTES ((size_t)4 << 20)

/* ---- clock, futex, random ---- */

int64_t clock_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_now_us(void) { return clock_now_ns() / 1000; }

int64_t vm_clock_us(void) { return clock_now_us(); }

int64_t vm_now_us(BtVm *vm) {
    struct Seeded *seeded = vm->schedulers->seeded;
    return seeded ? seeded_now_us(seeded) : clock_now_us();
}

void futex_wait_until(_Atomic uint32_t *word, uint32_t value, int64_t deadline_us) {
    struct timespec at = {.tv_sec = deadline_us / 1000000, .tv_nsec = deadline_us % 1000000 * 1000};
    (void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
                  deadline_us == DEADLINE_NONE ? NULL : &at, NULL, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake(_Atomic uint32_t *word, int count) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

uint64_t splitmix64(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t vm_random(BtVm *vm) {
    Schedulers *all = vm->schedulers;
    if (all->seeded) return seeded_random(all->seeded);
    /* relaxed: each caller gets a step of its own */
    uint64_t state = atomic_fetch_add_explicit(&all->random, 0x9e3779b97f4a7c15u, memory_order_relaxed);
    return splitmix64(&state);
}

/* ---- waking ---- */

static void thread_start(Scheduler *s);

bool sched_work_is_visible(Schedulers *all) {
    /* seq_cst: P3 of the rule; pairs with injector_push and ring_push */
    if (atomic_load_explicit(&all->injector.count, memory_order_seq_cst)) return true;
    for (unsigned i = 0; i < all->count; i++)
        if (!ring_is_empty(&all->list[i].woken) || !ring_is_empty(&all->list[i].expired)) return true;
    return false;
}

/* Takes s out of a state in which nobody runs it. */
static bool take_parked(Schedulers *all, Scheduler *s, uint32_t *was) {
    *was = atomic_load_explicit(&s->park_word, memory_order_relaxed); /* the CAS decides */
    if (*was == PARK_RUNNING || *was == PARK_LENT) return false;
    uint32_t now = *was == PARK_LENT_WAITING ? PARK_LENT : PARK_RUNNING;
    /* seq_cst: one winner among wakers, borrowers and the thread itself */
    if (!atomic_compare_exchange_strong_explicit(&s->park_word, was, now, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return false;
    atomic_fetch_sub_explicit(&all->parked, 1, memory_order_seq_cst); /* pairs with S2 */
    return true;
}

/* After take_parked; it has been counted as a searcher. */
static void rouse(Scheduler *s, uint32_t was) {
    if (was == PARK_UNSTARTED)
        thread_start(s);
    else if (was == PARK_HOST)
        poll_fd_signal(s->vm->poll);
    else
        futex_wake(&s->park_word,
                   INT_MAX); /* of a lent one both may sleep; its own thread goes on doing so */
}

void sched_unpark(Schedulers *all, Scheduler *s) {
    uint32_t was;
    if (!take_parked(all, s, &was)) return;
    atomic_fetch_add_explicit(&all->searching, 1, memory_order_seq_cst); /* pairs with S2 */
    rouse(s, was);
}

static bool rouse_one(Schedulers *all) {
    uint32_t was;
    for (unsigned i = 0; i < all->count; i++)
        if (take_parked(all, &all->list[i], &was)) return rouse(&all->list[i], was), true;
    return false;
}

void sched_wake_one(BtVm *vm) {
    Schedulers *all = vm->schedulers;
    for (;;) {
        /* seq_cst: S2 of the rule */
        if (atomic_load_explicit(&all->parked, memory_order_seq_cst) == 0) return;
        uint32_t none = 0;
        if (atomic_load_explicit(&all->searching, memory_order_seq_cst) != 0 ||
            !atomic_compare_exchange_strong_explicit(&all->searching, &none, 1, memory_order_seq_cst,
                                                     memory_order_seq_cst))
            return;
        if (rouse_one(all)) return; /* it comes up as the searcher we have counted */
        atomic_fetch_sub_explicit(&all->searching, 1, memory_order_seq_cst);
        if (!sched_work_is_visible(all) || sched_is_stopping(vm)) return; /* who stops parks nobody */
    }
}

static void overflow(Scheduler *s, RunRing *ring, Process *p) {
    Process *batch[RING_SIZE / 2];
    unsigned count = ring_steal(ring, batch);
    for (unsigned i = 0; i + 1 < count; i++) batch[i]->link.run_next = batch[i + 1];
    if (count) {
        batch[count - 1]->link.run_next = p;
        injector_push(&s->vm->schedulers->injector, batch[0], p, count + 1);
    } else {
        injector_push(&s->vm->schedulers->injector, p, p, 1);
    }
}

void sched_enqueue(BtVm *vm, Scheduler *s, Process *p, QueueKind kind) {
    Schedulers *all = vm->schedulers;
    if (all->seeded) {
        seeded_enqueue(vm, s, p);
        return;
    }
    if (!s) {
        injector_push(&all->injector, p, p, 1);
    } else if (kind == QUEUE_NEXT && !s->next) {
        s->next = p;
        return;
    } else {
        RunRing *ring = kind == QUEUE_EXPIRED ? &s->expired : &s->woken;
        bool alone = kind >= QUEUE_LAST && !s->next && ring_is_empty(&s->expired) && ring_is_empty(&s->woken);
        if (!ring_push(ring, p)) overflow(s, ring, p);
        if (alone) return;
    }
    sched_wake_one(vm);
}

void sched_make_runnable(BtVm *vm, Process *p) {
    Word128 w = word128_peek(p->link.word), put;
    do {
        if (link_state(w.low) != RUN_IDLE) return;
        put.low = link_with_state(w.low, RUN_RUNNABLE);
        put.high = w.high;
    } while (!word128_cas(p->link.word, &w, put));
    sched_enqueue(vm, NULL, p, QUEUE_WOKEN);
}

/* ---- finding work ---- */

static Process *take_injected(Scheduler *s) {
    Process *batch[RING_SIZE / 4];
    Injector *in = &s->vm->schedulers->injector;
    uint32_t waiting =
        atomic_load_explicit(&in->count, memory_order_relaxed); /* relaxed: a hint for the share */
    unsigned share = waiting / s->vm->schedulers->count + 1;
    unsigned count = injector_take(in, batch, share < RING_SIZE / 4 ? share : RING_SIZE / 4);
    for (unsigned i = 1; i < count; i++)
        if (!ring_push(&s->woken, batch[i])) injector_push(in, batch[i], batch[i], 1);
    return count ? batch[0] : NULL;
}

/* Relaxed is enough: only what this thread itself has queued counts. */
static bool has_queued(Scheduler *s) {
    return ring_length(&s->woken) || ring_length(&s->expired) ||
           atomic_load_explicit(&s->vm->schedulers->injector.count, memory_order_relaxed);
}

static Process *pick(Scheduler *s) {
    Process *p = s->next; /* woken by a timer just now; within a slice `next` is emptied by its end */
    s->next = NULL;
    s->runs_expired = false;
    if (p && !has_queued(s)) return p;
    if (p) sched_enqueue(s->vm, s, p, QUEUE_LAST); /* a loop of short sleeps must not keep others out */
    if (s->tick % INJECTOR_TICKS == 0 && (p = take_injected(s))) return p;
    if (s->woken_used > 2 * SLICE_REDUCTIONS) {
        s->woken_used = 0;
        if ((p = ring_pop(&s->expired))) goto expired;
    }
    if ((p = ring_pop(&s->woken))) return p;
    if ((p = ring_pop(&s->expired))) {
        s->woken_used = 0;
        goto expired;
    }
    return take_injected(s);
expired:
    s->runs_expired = true;
    return p;
}

static Process *steal_from(Scheduler *s, RunRing *theirs, RunRing *mine) {
    Process *batch[RING_SIZE / 2];
    unsigned count = ring_steal(theirs, batch);
    for (unsigned i = 1; i < count; i++)
        if (!ring_push(mine, batch[i])) injector_push(&s->vm->schedulers->injector, batch[i], batch[i], 1);
    return count ? batch[0] : NULL;
}

static Process *steal(Scheduler *s) {
    Schedulers *all = s->vm->schedulers;
    unsigned start = (unsigned)(splitmix64(&s->random) % all->count);
    for (unsigned i = 0; i < all->count; i++) {
        Scheduler *victim = &all->list[(start + i) % all->count];
        if (victim == s) continue;
        Process *p = steal_from(s, &victim->woken, &s->woken);
        if (!p) p = steal_from(s, &victim->expired, &s->expired);
        if (p) return p;
    }
    return NULL;
}

void sched_stop_searching(Scheduler *s) {
    Schedulers *all = s->vm->schedulers;
    if (!s->searching) return;
    s->searching = false;
    /* seq_cst: the decrement of the rule; what was submitted while we searched is seen now, or somebody has
     * it */
    if (atomic_fetch_sub_explicit(&all->searching, 1, memory_order_seq_cst) == 1 &&
        sched_work_is_visible(all))
        sched_wake_one(s->vm);
}

/* Looks at the others' queues for a while. At most half of the threads do so at a time. */
static Process *search(Scheduler *s) {
    Schedulers *all = s->vm->schedulers;
    if (!s->searching) {
        if (all->count == 1 || 2 * atomic_load_explicit(&all->searching, memory_order_relaxed) >= all->count)
            return steal(s);
        atomic_fetch_add_explicit(&all->searching, 1, memory_order_seq_cst); /* pairs with S2 */
        s->searching = true;
    }
    int64_t end = clock_now_us() + SPIN_US;
    do {
        Process *p = steal(s);
        if (!p) p = take_injected(s);
        if (p) return p;
        for (int i = 0; i < 50; i++) __builtin_ia32_pause();
    } while (clock_now_us() < end && !sched_is_stopping(s->vm));
    return NULL;
}

/* ---- parking ---- */

static bool is_last_awake(Schedulers *all) {
    return atomic_load_explicit(&all->parked, memory_order_relaxed) + 1 >= all->count; /* relaxed: a hint */
}

/* When the time is over, or, with `wait`, earlier. */
static int64_t wakes_at(Scheduler *s, const HostWait *wait) {
    int64_t deadline = timers_next(&s->timers);
    return wait && wait->deadline_us < deadline ? wait->deadline_us : deadline;
}

/* Until a waker has taken s out of `parked` into `running`, or this thread does since it is `due`. Meanwhile
 * a host thread may borrow s. */
static void sleep_parked(Scheduler *s, uint32_t parked, uint32_t running, bool due, int64_t deadline) {
    for (;;) {
        /* acquire: pairs with take_parked and sched_give_back */
        uint32_t now = atomic_load_explicit(&s->park_word, memory_order_acquire);
        if (now == running) { /* and counted us as a searcher */
            s->searching = true;
            return;
        }
        due = due || (deadline != DEADLINE_NONE && clock_now_us() >= deadline);
        if (now == parked && due) {
            /* seq_cst: one winner, as in take_parked */
            if (!atomic_compare_exchange_strong_explicit(&s->park_word, &now, running, memory_order_seq_cst,
                                                         memory_order_relaxed))
                continue;
            atomic_fetch_sub_explicit(&s->vm->schedulers->parked, 1, memory_order_seq_cst);
            return;
        }
        /* seq_cst: the host thread that leaves sees it, or the futex sees that it has left */
        if (due) atomic_store_explicit(&s->is_wanted, true, memory_order_seq_cst);
        futex_wait_until(&s->park_word, now, due ? DEADLINE_NONE : deadline);
    }
}

void sched_settle(Scheduler *s) {
    Schedulers *all = s->vm->schedulers;
    sched_cool(s);
    spare_release(s->vm->memory, &s->spares);
    stats_show(s);
    if (!is_last_awake(all)) return;
    io_console_flush(s->vm);
    message_pools_trim(all);
}

void sched_park(Scheduler *s, const HostWait *wait) {
    Schedulers *all = s->vm->schedulers;
    uint32_t parked = s->lent_from ? PARK_LENT_WAITING : wait ? PARK_WAITING : PARK_PARKED;
    uint32_t running = s->lent_from ? PARK_LENT : PARK_RUNNING;
    sched_settle(s);
    int64_t deadline = wakes_at(s, wait);
    bool searched = s->searching;
    s->searching = false;
    /* P1 to P3 of the rule. The count goes up first: a waker that sees PARKED takes it down. */
    atomic_fetch_add_explicit(&all->parked, 1, memory_order_seq_cst);
    atomic_store_explicit(&s->park_word, parked, memory_order_seq_cst); /* from here on it may be lent */
    if (searched) atomic_fetch_sub_explicit(&all->searching, 1, memory_order_seq_cst);
    /* seq_cst: what ends after this look finds us parked (sched_notify_hosts) */
    bool due = sched_work_is_visible(all) || sched_is_stopping(s->vm) ||
               (wait && atomic_load_explicit(&all->ended, memory_order_seq_cst) != wait->ended);
    sleep_parked(s, parked, running, due, deadline);
    /* relaxed: to be woken for nothing does no harm */
    if (!s->lent_from) atomic_store_explicit(&s->is_wanted, false, memory_order_relaxed);
}

/* ---- threads ---- */

bool sched_step(Scheduler *s) {
    if (s->timers.heap.count) timers_run(s, clock_now_us());
    Process *p = pick(s);
    if (!p) p = search(s);
    if (!p) return false;
    sched_stop_searching(s);
    sched_run_slice(s, p);
    return true;
}

static void *thread_main(void *argument) {
    Scheduler *s = argument;
    sched_own(s, true);
    while (!sched_is_stopping(s->vm))
        if (!sched_step(s)) sched_park(s, NULL);
    sched_stop_searching(s);
    sched_own(s, false);
    return NULL;
}

/* The caller has taken the scheduler out of PARK_UNSTARTED and counted it as a searcher. */
static void thread_start(Scheduler *s) {
    Schedulers *all = s->vm->schedulers;
    pthread_attr_t attributes;
    sigset_t every, before;
    pthread_mutex_lock(&all->start_lock);
    bool stopping = atomic_load_explicit(&all->stopping, memory_order_relaxed); /* under the lock */
    s->searching = true;
    if (!stopping && pthread_attr_init(&attributes) == 0) {
        sigfillset(&every);
        pthread_sigmask(SIG_SETMASK, &every, &before); /* VM threads take no signals (models.md 3.15) */
        pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
        s->started = pthread_create(&s->thread, &attributes, thread_main, s) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
    }
    bool started = s->started;
    bool any = all->any_started = started || all->any_started;
    pthread_mutex_unlock(&all->start_lock);
    if (started || stopping) return;
    atomic_fetch_sub_explicit(&all->searching, 1, memory_order_seq_cst);
    if (!any) vm_fail(s->vm); /* with one thread running we do without the others */
}

/* ---- life of the whole ---- */

static unsigned cores(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : (unsigned)count;
}

static uint64_t entropy(void) {
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) bits = (uint64_t)clock_now_us();
    return bits;
}

static void scheduler_init(Schedulers *all, Scheduler *s, unsigned index) {
    s->vm = all->vm;
    s->index = index;
    s->timers.heap.memory = all->vm->memory;
    s->random = entropy();
    /* relaxed: no other thread yet */
    atomic_store_explicit(&s->park_word, all->vm->driven ? PARK_HOST : PARK_UNSTARTED, memory_order_relaxed);
}

bool sched_init(BtVm *vm, unsigned schedulers, bool seeded, uint64_t seed) {
    void *memory = memory_zalloc(vm->memory, sizeof(Schedulers) + 64);
    if (!memory) return false;
    Schedulers *all = (Schedulers *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    all->memory = memory;
    all->vm = vm;
    all->run = interp_run;
    vm->schedulers = all;
    all->count = seeded || vm->driven ? 1 : schedulers ? schedulers : cores();
    if (all->count > SCHEDULERS_MAX) all->count = SCHEDULERS_MAX;
    atomic_store_explicit(&all->random, entropy(), memory_order_relaxed); /* relaxed: no other thread yet */
    atomic_store_explicit(&all->parked, all->count, memory_order_relaxed);
    all->list_memory = memory_zalloc(vm->memory, all->count * sizeof(Scheduler) + 64);
    all->list = (Scheduler *)(((uintptr_t)all->list_memory + 63) & ~(uintptr_t)63);
    all->registry = registry_new(vm->memory);
    if (seeded) all->seeded = seeded_new(vm->memory, seed);
    bool whole = all->list_memory && all->registry && (!seeded || all->seeded) &&
                 processes_init(vm, &all->processes) && pthread_mutex_init(&all->injector.lock, NULL) == 0 &&
                 pthread_mutex_init(&all->start_lock, NULL) == 0 &&
                 pthread_mutex_init(&all->host_lock, NULL) == 0 && message_pools_init(all);
    if (!whole) {
        registry_free(all->registry);
        seeded_free(vm->memory, all->seeded);
        memory_free(vm->memory, all->list_memory);
        memory_free(vm->memory, memory);
        vm->schedulers = NULL;
        return false;
    }
    for (unsigned i = 0; i < all->count; i++) scheduler_init(all, &all->list[i], i);
    return true;
}

static void stop_threads(Schedulers *all) {
    pthread_mutex_lock(&all->start_lock);
    atomic_store_explicit(&all->stopping, true,
                          memory_order_seq_cst);                     /* pairs with the look before parking */
    atomic_store_explicit(&all->halted, true, memory_order_seq_cst); /* as above */
    pthread_mutex_unlock(&all->start_lock);
    for (unsigned i = 0; i < all->count; i++) {
        Scheduler *s = &all->list[i];
        /* seq_cst: a thread that parks after this sees `stopping` */
        if (atomic_exchange_explicit(&s->park_word, PARK_RUNNING, memory_order_seq_cst) != PARK_RUNNING)
            futex_wake(&s->park_word, INT_MAX);
        pthread_mutex_lock(&all->start_lock);
        bool started = s->started;
        s->started = false;
        pthread_mutex_unlock(&all->start_lock);
        if (started) pthread_join(s->thread, NULL);
    }
}

void sched_stop(BtVm *vm) {
    if (vm->schedulers) stop_threads(vm->schedulers);
}

void sched_shutdown(BtVm *vm) {
    Schedulers *all = vm->schedulers;
    if (!all) return;
    stop_threads(all);
    processes_destroy(vm, &all->processes);
    for (unsigned i = 0; i < all->count; i++) {
        Scheduler *s = &all->list[i];
        timers_destroy(vm, &s->timers);
        memory_free(vm->memory, s->method_cache);
        message_caches_free(s);
        spare_release(s->vm->memory, &s->spares);
    }
    message_pools_free(all);
    registry_free(all->registry);
    seeded_free(vm->memory, all->seeded);
    pthread_mutex_destroy(&all->injector.lock);
    pthread_mutex_destroy(&all->start_lock);
    pthread_mutex_destroy(&all->host_lock);
    for (Completion *c = atomic_load_explicit(&all->abandoned, memory_order_relaxed), *next; c; c = next) {
        next = c->next; /* relaxed, above: alone by now */
        if (c->reply.fragment) fragment_free(vm, c->reply.fragment);
        memory_free(vm->memory, c);
    }
    memory_free(vm->memory, all->list_memory);
    vm->schedulers = NULL;
    memory_free(vm->memory, all->memory);
}
