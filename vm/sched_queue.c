/* Run queues: a ring a scheduler (twice: woken and expired processes), and the injector that all share. */
#include "vm/sched_internal.h"

bool ring_push(RunRing *ring, Process *p) {
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed); /* relaxed: the owner's own */
    /* acquire: pairs with the CAS of pop and steal; the slots behind head are free */
    if (tail - atomic_load_explicit(&ring->head, memory_order_acquire) >= RING_SIZE) return false;
    atomic_store_explicit(&ring->slots[tail % RING_SIZE], p, memory_order_relaxed); /* published by tail */
    /* seq_cst: publishes the slot to thieves, and is the "submit" store of the wake rule (sched.c) */
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_seq_cst);
    return true;
}

Process *ring_pop(RunRing *ring) {
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed); /* relaxed: the owner's own */
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire); /* pairs with ring_steal */
    while (head != tail) {
        Process *p = atomic_load_explicit(&ring->slots[head % RING_SIZE], memory_order_relaxed);
        /* acq_rel: either we take it or a thief does; release lets ring_push reuse the slot */
        if (atomic_compare_exchange_weak_explicit(&ring->head, &head, head + 1, memory_order_acq_rel,
                                                  memory_order_acquire))
            return p;
    }
    return NULL;
}

unsigned ring_steal(RunRing *ring, Process **batch) {
    uint32_t head =
        atomic_load_explicit(&ring->head, memory_order_acquire); /* pairs with pop and other thieves */
    for (;;) {
        uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire); /* pairs with ring_push */
        uint32_t count = tail - head;
        count -= count / 2;
        if (count == 0) return 0;
        if (count > RING_SIZE / 2) { /* head and tail were read at different times */
            head = atomic_load_explicit(&ring->head, memory_order_acquire);
            continue;
        }
        for (uint32_t i = 0; i < count; i++) /* relaxed: thrown away unless the CAS confirms them */
            batch[i] = atomic_load_explicit(&ring->slots[(head + i) % RING_SIZE], memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&ring->head, &head, head + count, memory_order_acq_rel,
                                                  memory_order_acquire))
            return count;
    }
}

bool ring_is_empty(RunRing *ring) {
    /* seq_cst: the "look again" loads of the wake rule (sched.c) */
    return atomic_load_explicit(&ring->tail, memory_order_seq_cst) ==
           atomic_load_explicit(&ring->head, memory_order_seq_cst);
}

/* The lock is taken once a batch: rings overflow by halves, and other threads submit seldom. */
void injector_push(Injector *in, Process *first, Process *last, uint32_t count) {
    pthread_mutex_lock(&in->lock);
    last->link.run_next = NULL;
    if (in->last)
        in->last->link.run_next = first;
    else
        in->first = first;
    in->last = last;
    /* seq_cst: a "submit" of the wake rule (sched.c) */
    atomic_fetch_add_explicit(&in->count, count, memory_order_seq_cst);
    pthread_mutex_unlock(&in->lock);
}

unsigned injector_take(Injector *in, Process **batch, unsigned max) {
    /* relaxed: a miss is found by the next look; parking looks again with seq_cst */
    if (atomic_load_explicit(&in->count, memory_order_relaxed) == 0) return 0;
    pthread_mutex_lock(&in->lock);
    unsigned taken = 0;
    while (taken < max && in->first) {
        Process *p = in->first;
        in->first = p->link.run_next;
        p->link.run_next = NULL;
        batch[taken++] = p;
    }
    if (!in->first) in->last = NULL;
    atomic_fetch_sub_explicit(&in->count, taken, memory_order_seq_cst); /* pairs with injector_push */
    pthread_mutex_unlock(&in->lock);
    return taken;
}
