/* The collector, as vm/heap.c calls it. Generational, copying, iterative (Cheney); see heap.h for who may
 * call when.
 *
 * Minor: what has survived a collection before is promoted to the old space, the rest moves to a fresh
 * nursery, fragments included. Full: everything live moves to a fresh old space and the nursery is empty
 * afterwards. No old object points to a younger one, so a minor collection does not look into the old space.
 */
#ifndef BT_VM_GC_H
#define BT_VM_GC_H

#include "vm/process.h"

/* Steps of block sizes: 32 words, doubled to 1 K, times 1.6 to a million, then a fifth more each. */
size_t gc_size_class(size_t words);
/* Words in use outside the old space: nursery and fragments. */
static inline size_t gc_young_words(const Heap *h) { return (size_t)(h->top - h->young) + h->fragment_words; }
static inline size_t gc_used_words(const Heap *h) {
    return gc_young_words(h) + (size_t)(h->old_top - h->old);
}
/* Both leave `need` words free. False: no memory; the heap is as before or, after a full one, without
 * nursery. */
bool gc_minor(Process *p, size_t need);
bool gc_full(Process *p, size_t need);
/* A full one into an old space of exact size, without nursery. */
bool gc_compact(Process *p);
/* True if a minor collection would not do: the old space cannot take the promotions, or holds too much
 * off-heap data. */
bool gc_must_be_full(const Process *p);
/* A fresh empty nursery in place of none. */
bool gc_new_nursery(Process *p, size_t need);

/* Lets go of nursery and old space; the heap still names them. */
void gc_free_blocks(Process *p);

/* Every root of the process: frames, fields, the message being served, declared spans. */
void gc_each_root(Process *p, void (*visit)(void *context, Value *slots, size_t count), void *context);
/* First value word by kind, OBJECT_NO_VALUES or OBJECT_OFFHEAP. */
extern const uint8_t OBJECT_FIRST_VALUE[KIND_COUNT];
/* Virtual words of the data behind an OFFHEAP object. */
size_t offheap_size(const uint64_t *object);
/* Moves the counts that fragments hold on transient units to the heap. */
void heap_take_fragment_units(Process *p);

#endif
