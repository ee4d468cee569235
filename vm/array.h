/* Arrays: persistent vectors. Up to 32 elements flat (KIND_ARRAY); above that (KIND_ARRAY_TREE) a 32-way trie
 * of full leaves with a tail of 1 to 32 elements. The shape is a function of the size alone.
 *
 * Owner: the process whose heap holds them. Indexes are 0-based. Functions root single Values themselves;
 * arrays of Values must lie in rooted memory. V_HOLE as an answer: a resource_error is pending.
 */
#ifndef BT_VM_ARRAY_H
#define BT_VM_ARRAY_H

#include "vm/process.h"

#define ARRAY_FLAT_MAX 32u
/* Word indexes of an ARRAY_TREE. */
enum { ARRAY_TREE_COUNT = 1, ARRAY_TREE_SHIFT, ARRAY_TREE_ROOT, ARRAY_TREE_TAIL, ARRAY_TREE_WORDS };

static inline bool array_is(Value v) {
    return value_is_ptr(v) && (object_kind(v) == KIND_ARRAY || object_kind(v) == KIND_ARRAY_TREE);
}
static inline size_t array_size(Value array) {
    return object_kind(array) == KIND_ARRAY ? object_size(array) - 1
                                            : (size_t)value_to_int(object_at(array, ARRAY_TREE_COUNT));
}
/* The elements from index on that lie together in memory: *count of them, at least one. index must be in
 * range. Valid until the next reserve. Iterate: for (i = 0; i < size; i += n) { at = array_chunk(a, i, &n);
 * ... }. */
const Value *array_chunk(Value array, size_t index, size_t *count);
/* index must be in range. */
static inline Value array_at(Value array, size_t index) {
    if (object_kind(array) == KIND_ARRAY) return object_at(array, index + 1);
    size_t n;
    return *array_chunk(array, index, &n);
}

/* All MAY_GC. */
Value array_from(Process *p, const Value *values, size_t count);
Value array_from_list(Process *p, Value list);
Value array_at_put(Process *p, Value array, size_t index, Value value); /* index in range */
Value array_append(Process *p, Value array, Value value);
Value array_slice_from(Process *p, Value array, size_t index); /* past the end: the empty Array */
Value array_to_list(Process *p, Value array);

/* For builders: an Array of nils, and its chunks to be written before the next reserve. */
Value array_new_blank(Process *p, size_t count);
static inline Value *array_blank_chunk(Value array, size_t index, size_t *count) {
    return (Value *)(uintptr_t)array_chunk(array, index, count);
}

#endif
