/* Tuples: [header][elements...]. Indexes are 0-based. Functions root single Values themselves; arrays of
 * Values must lie in rooted memory. V_HOLE as an answer: a resource_error is pending. */
#ifndef BT_VM_TUPLE_H
#define BT_VM_TUPLE_H

#include "vm/process.h"

static inline bool tuple_is(Value v) { return value_is_kind(v, KIND_TUPLE); }
static inline size_t tuple_size(Value tuple) { return object_size(tuple) - 1; }
static inline Value tuple_at(Value tuple, size_t index) { return object_at(tuple, index + 1); }

/* All MAY_GC. */
Value tuple_from(Process *p, const Value *values, size_t count);
Value tuple_from_list(Process *p, Value list);
Value tuple_append(Process *p, Value left, Value right);
Value tuple_to_list(Process *p, Value tuple);

#endif
