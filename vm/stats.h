/* What a VM has done and holds. Each scheduler counts on its own, in plain words that no other thread
 * touches, and shows them at the end of a slice; whoever asks adds up what is shown. */
#ifndef BT_VM_STATS_H
#define BT_VM_STATS_H

#include <stdint.h>

typedef struct BtVm BtVm;
typedef struct Scheduler Scheduler;

/* Words only: they are shown as an array. Differences may be negative: the sums are right. */
typedef struct SchedulerCounts {
    uint64_t messages, collections, full_collections;
    uint64_t heap_words; /* blocks of processes' heaps, taken less given back here */
} SchedulerCounts;

typedef struct VmStats {
    uint64_t reductions, timers;
    uint32_t schedulers, processes;
    int64_t uptime_us;
    SchedulerCounts counts;
} VmStats;

/* The scheduler's own thread. */
void stats_show(Scheduler *s);
/* Any thread. */
VmStats stats_of(BtVm *vm);

#endif
