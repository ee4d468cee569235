/* What waits for its time on one scheduler: entries by exact deadline, then insertion.
 *
 * Those of the next few milliseconds lie in a binary heap, later ones unsorted in a ring of buckets of
 * BUCKET_US each, the rest in one more bucket; a bucket goes to the heap when its time comes near. So an
 * entry far away costs a store, and the heap stays small however many wait (after the hierarchical wheels of
 * Varghese and Lauck, 1987, whose last stage keeps the exact order). Owner: the scheduler's thread. */
#ifndef BT_VM_TIMER_QUEUE_H
#define BT_VM_TIMER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Memory Memory;

typedef struct TimerEntry {
    int64_t deadline;
    uint64_t order;   /* insertion order among equal deadlines */
    uint64_t subject; /* control block slot, or timer record index with TIMER_RECORD set */
} TimerEntry;

typedef struct TimerBucket {
    TimerEntry *entries;
    size_t count, capacity;
    int64_t least; /* earliest deadline (of the heap: not kept up), INT64_MAX of an empty one */
} TimerBucket;

enum { TIMER_BUCKETS = 256 };

typedef struct TimerHeap {
    const Memory *memory;
    TimerBucket near;  /* the heap: all entries before bucket number `first_far` */
    TimerBucket *far;  /* TIMER_BUCKETS, bucket number b at b % TIMER_BUCKETS, and one for what is later; NULL
                          before the first */
    int64_t first_far; /* number of the first bucket of the ring: deadline / BUCKET_US */
    int64_t far_least; /* the earliest deadline in `far`, INT64_MAX if there is none */
    size_t count;      /* in all */
    uint64_t next_order;
} TimerHeap;

/* False: no memory. */
bool timer_heap_add(TimerHeap *h, int64_t now, int64_t deadline, uint64_t subject);
/* The first of those that are due, removed. False: none is. */
bool timer_heap_take(TimerHeap *h, int64_t now, TimerEntry *out);
/* The earliest deadline, INT64_MAX if there is none. */
static inline int64_t timer_heap_next(const TimerHeap *h) {
    if (!h->count) return INT64_MAX;
    int64_t near = h->near.count ? h->near.entries[0].deadline : INT64_MAX;
    return h->far && h->far_least < near ? h->far_least : near;
}
/* Keeps those entries that `keep` wants. */
void timer_heap_filter(TimerHeap *h, bool (*keep)(void *context, uint64_t subject), void *context);
void timer_heap_free(TimerHeap *h);

#endif
