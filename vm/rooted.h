/* Reserving with a few C locals kept alive: they are roots while heap_reserve may collect, and hold the moved
 * Values afterwards. */
#ifndef BT_VM_ROOTED_H
#define BT_VM_ROOTED_H

#include "vm/process.h"

/* MAY_GC. */
static inline bool heap_reserve_rooted(Process *p, size_t words, Value *values, size_t count) {
    if ((size_t)(p->heap.limit - p->heap.top) >= words) return true;
    RootSpan span;
    roots_push(p, &span, values, count);
    bool reserved = heap_reserve(p, words);
    roots_pop(p, &span);
    return reserved;
}

#endif
