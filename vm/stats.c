/* Statistics of a VM. See stats.h. */
#include "vm/stats.h"
#include "vm/sched.h"
#include "vm/sched_internal.h"

enum { COUNTS = sizeof(SchedulerCounts) / sizeof(uint64_t) };

void stats_show(Scheduler *s) {
    uint64_t counts[COUNTS];
    memcpy(counts, &s->counts, sizeof counts);
    for (unsigned i = 0; i < COUNTS; i++) /* relaxed: numbers for reports */
        atomic_store_explicit(&s->shown_counts[i], counts[i], memory_order_relaxed);
}

VmStats stats_of(BtVm *vm) {
    const Schedulers *all = vm->schedulers;
    VmStats stats = {.schedulers = all->count,
                     .processes = process_count(vm),
                     .uptime_us = vm_clock_us() - vm->started_us};
    uint64_t counts[COUNTS] = {0};
    for (unsigned k = 0; k < all->count; k++) { /* relaxed: as above */
        Scheduler *s = &all->list[k];
        for (unsigned i = 0; i < COUNTS; i++)
            counts[i] += atomic_load_explicit(&s->shown_counts[i], memory_order_relaxed);
        stats.reductions += atomic_load_explicit(&s->shown_reductions, memory_order_relaxed);
        stats.timers += atomic_load_explicit(&s->timers.records, memory_order_relaxed);
    }
    memcpy(&stats.counts, counts, sizeof counts);
    return stats;
}
