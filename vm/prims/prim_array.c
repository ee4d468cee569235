/* Primitives of Array and Tuple. */
#include "vm/array.h"
#include "vm/prims/prim_collection.h"
#include "vm/tuple.h"

#include <stdio.h>

PRIM(prim_array_with_all) {
    (void)count;
    if (!list_is(args[1])) return prim_type_error(p, args[0], "withAll:", "Expected a List argument");
    return made(array_from_list(p, args[1]), result);
}

PRIM(prim_array_size) {
    (void)p, (void)count;
    return answered(value_from_int((int64_t)array_size(args[0])), result);
}

static PrimStatus out_of_bounds(Process *p, Value *args, const char *selector, int64_t index) {
    const char *hint = index < 1 ? "Index must be >= 1" : "Index is beyond array size";
    return prim_raise(p, ERR_index_out_of_bounds, args[0], selector, hint);
}

PRIM(prim_array_at) {
    (void)count;
    int64_t index;
    if (!index_from(args[1], &index)) return prim_type_error(p, args[0], "at:", "Index must be an Integer");
    size_t size = array_size(args[0]);
    if (index >= 1 && (uint64_t)index <= size) return answered(array_at(args[0], (size_t)index - 1), result);
    if (index >= 1 && size == 0) return prim_empty(p, args[0], "at:", EMPTY_TEXT_HINT);
    return out_of_bounds(p, args, "at:", index);
}

PRIM(prim_array_at_put) {
    (void)count;
    int64_t index;
    if (!index_from(args[1], &index))
        return prim_type_error(p, args[0], "at:put:", "Index must be an Integer");
    if (index < 1 || (uint64_t)index > array_size(args[0])) return out_of_bounds(p, args, "at:put:", index);
    return made(array_at_put(p, args[0], (size_t)index - 1, args[2]), result);
}

static PrimStatus end_of(Process *p, Value *args, bool last, const char *selector, Value *result) {
    size_t size = array_size(args[0]);
    if (size == 0) return prim_empty(p, args[0], selector, EMPTY_TEXT_HINT);
    return answered(array_at(args[0], last ? size - 1 : 0), result);
}

PRIM(prim_array_first) {
    (void)count;
    return end_of(p, args, false, "first", result);
}

PRIM(prim_array_last) {
    (void)count;
    return end_of(p, args, true, "last", result);
}

PRIM(prim_array_as_list) {
    (void)count;
    charge_elements(p, array_size(args[0]));
    return made(array_to_list(p, args[0]), result);
}

/* --- tuples --- */

PRIM(prim_tuple_with_all) {
    (void)count;
    if (!list_is(args[1]))
        return prim_raise(p, ERR_argument_error, args[0], "withAll:", "Expected a List argument");
    return made(tuple_from_list(p, args[1]), result);
}

PRIM(prim_tuple_size) {
    (void)p, (void)count;
    return answered(value_from_int((int64_t)tuple_size(args[0])), result);
}

PRIM(prim_tuple_at) {
    (void)count;
    int64_t index;
    if (!index_from(args[1], &index)) return prim_type_error(p, args[0], "at:", "Index must be an Integer");
    if (index >= 1 && (uint64_t)index <= tuple_size(args[0]))
        return answered(tuple_at(args[0], (size_t)index - 1), result);
    char hint[100];
    snprintf(hint, sizeof hint, "Index %lld is out of bounds for a tuple of size %zu", (long long)index,
             tuple_size(args[0]));
    return error_dnu(p, args[0], prim_selector(p, "at:"), hint);
}

PRIM(prim_tuple_as_list) {
    (void)count;
    return made(tuple_to_list(p, args[0]), result);
}

PRIM(prim_tuple_append) {
    (void)count;
    if (!tuple_is(args[1])) return error_argument(p, args[0], prim_selector(p, "__append:"), NULL);
    return made(tuple_append(p, args[0], args[1]), result);
}
