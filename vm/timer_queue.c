/* See timer_queue.h. */
#include "vm/timer_queue.h"
#include "vm/bytecode/memory.h"

enum { BUCKET_SHIFT = 12, LATER = TIMER_BUCKETS, FAR_BUCKETS = TIMER_BUCKETS + 1, BUCKET_FIRST = 64 };
#define BUCKET_US ((int64_t)1 << BUCKET_SHIFT)

static bool entry_before(const TimerEntry *a, const TimerEntry *b) {
    return a->deadline != b->deadline ? a->deadline < b->deadline : a->order < b->order;
}

static bool bucket_push(const Memory *memory, TimerBucket *b, TimerEntry e) {
    if (b->count == b->capacity) {
        TimerEntry *entries = memory_grown(memory, b->entries, &b->capacity, sizeof *entries, BUCKET_FIRST);
        if (!entries) return false;
        b->entries = entries;
    }
    if (!b->count || e.deadline < b->least) b->least = e.deadline;
    b->entries[b->count++] = e;
    return true;
}

/* ---- the heap ---- */

static void sift_up(TimerBucket *b, size_t i) {
    TimerEntry e = b->entries[i];
    while (i > 0 && entry_before(&e, &b->entries[(i - 1) / 2])) {
        b->entries[i] = b->entries[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    b->entries[i] = e;
}

static void sift_down(TimerBucket *b, size_t i) {
    TimerEntry e = b->entries[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= b->count) break;
        if (child + 1 < b->count && entry_before(&b->entries[child + 1], &b->entries[child])) child++;
        if (!entry_before(&b->entries[child], &e)) break;
        b->entries[i] = b->entries[child];
        i = child;
    }
    b->entries[i] = e;
}

static void make_heap(TimerBucket *b) {
    for (size_t i = b->count / 2; i-- > 0;) sift_down(b, i);
}

/* ---- what is far away ---- */

static void empty(const Memory *memory, TimerBucket *b) {
    if (b->capacity > BUCKET_FIRST) {
        memory_free(memory, b->entries);
        b->entries = NULL;
        b->capacity = 0;
    }
    b->count = 0;
    b->least = INT64_MAX;
}

static bool make_far(TimerHeap *h, int64_t now) {
    if (h->far) return true;
    h->far = memory_zalloc(h->memory, FAR_BUCKETS * sizeof *h->far);
    if (!h->far) return false;
    for (unsigned i = 0; i < FAR_BUCKETS; i++) h->far[i].least = INT64_MAX;
    h->first_far = (now >> BUCKET_SHIFT) + 1;
    h->far_least = INT64_MAX;
    return true;
}

static TimerBucket *far_bucket(TimerHeap *h, int64_t deadline) {
    int64_t number = deadline >> BUCKET_SHIFT;
    return &h->far[number < h->first_far + TIMER_BUCKETS ? number % TIMER_BUCKETS : LATER];
}

static void find_least(TimerHeap *h) {
    h->far_least = h->far[LATER].least;
    for (int64_t b = h->first_far; b < h->first_far + TIMER_BUCKETS; b++) {
        const TimerBucket *bucket = &h->far[b % TIMER_BUCKETS];
        if (!bucket->count) continue;
        if (bucket->least < h->far_least) h->far_least = bucket->least;
        return; /* those behind it are later */
    }
}

/* The ring begins at the bucket of far_least: what is in it now comes out of the last bucket. No memory: it
 * stays there, and is found there. */
static void turn(TimerHeap *h) {
    h->first_far = h->far_least >> BUCKET_SHIFT;
    TimerBucket *later = &h->far[LATER];
    if (!later->count || later->least >> BUCKET_SHIFT >= h->first_far + TIMER_BUCKETS) return;
    size_t kept = 0;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < later->count; i++) {
        TimerEntry e = later->entries[i];
        TimerBucket *to = far_bucket(h, e.deadline);
        if (to != later && bucket_push(h->memory, to, e)) continue;
        later->entries[kept++] = e;
        if (e.deadline < least) least = e.deadline;
    }
    later->count = kept;
    later->least = least;
}

/* The earliest bucket goes to the heap. */
static bool approach(TimerHeap *h) {
    turn(h);
    TimerBucket *bucket = &h->far[h->first_far % TIMER_BUCKETS];
    if (!bucket->count) bucket = &h->far[LATER]; /* for want of memory */
    while (bucket->count) {
        if (!bucket_push(h->memory, &h->near, bucket->entries[bucket->count - 1])) break;
        bucket->count--;
        sift_up(&h->near, h->near.count - 1);
    }
    if (bucket->count) return false;
    empty(h->memory, bucket);
    h->first_far++;
    find_least(h);
    return true;
}

/* ---- */

bool timer_heap_add(TimerHeap *h, int64_t now, int64_t deadline, uint64_t subject) {
    TimerEntry e = {deadline, h->next_order, subject};
    if (!make_far(h, now)) return false;
    if (h->far_least == INT64_MAX && h->first_far <= now >> BUCKET_SHIFT)
        h->first_far = (now >> BUCKET_SHIFT) + 1; /* nothing is far away: the ring follows the time */
    if (deadline >> BUCKET_SHIFT < h->first_far) {
        if (!bucket_push(h->memory, &h->near, e)) return false;
        sift_up(&h->near, h->near.count - 1);
    } else {
        if (!bucket_push(h->memory, far_bucket(h, deadline), e)) return false;
        if (deadline < h->far_least) h->far_least = deadline;
    }
    h->next_order++;
    h->count++;
    return true;
}

bool timer_heap_take(TimerHeap *h, int64_t now, TimerEntry *out) {
    TimerBucket *near = &h->near;
    while (h->count && h->far_least <= now && (!near->count || h->far_least <= near->entries[0].deadline))
        if (!approach(h)) break;
    if (!near->count || near->entries[0].deadline > now) return false;
    *out = near->entries[0];
    near->entries[0] = near->entries[--near->count];
    if (near->count) sift_down(near, 0);
    h->count--;
    return true;
}

static void filter(TimerHeap *h, TimerBucket *b, bool (*keep)(void *context, uint64_t subject),
                   void *context) {
    size_t kept = 0;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < b->count; i++) {
        TimerEntry e = b->entries[i];
        if (!keep(context, e.subject)) continue;
        b->entries[kept++] = e;
        if (e.deadline < least) least = e.deadline;
    }
    h->count -= b->count - kept;
    b->count = kept;
    b->least = least;
}

void timer_heap_filter(TimerHeap *h, bool (*keep)(void *context, uint64_t subject), void *context) {
    filter(h, &h->near, keep, context);
    make_heap(&h->near);
    if (!h->far) return;
    for (unsigned i = 0; i < FAR_BUCKETS; i++) filter(h, &h->far[i], keep, context);
    find_least(h);
}

void timer_heap_free(TimerHeap *h) {
    for (unsigned i = 0; h->far && i < FAR_BUCKETS; i++) memory_free(h->memory, h->far[i].entries);
    memory_free(h->memory, h->far);
    memory_free(h->memory, h->near.entries);
}
