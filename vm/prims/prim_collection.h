/* What the collection primitives share. */
#ifndef BT_PRIM_COLLECTION_H
#define BT_PRIM_COLLECTION_H

#include "vm/list.h"
#include "vm/number.h"
#include "vm/prims/prim_text.h"
#include "vm/rooted.h"

/* The answer of a maker: V_HOLE stands for a pending error. */
static inline PrimStatus made(Value v, Value *result) {
    *result = v;
    return v == V_HOLE ? PRIM_RAISE : PRIM_OK;
}
static inline PrimStatus answered(Value v, Value *result) {
    *result = v;
    return PRIM_OK;
}

/* An Integer as a number of elements or an index: beyond 63 bits it is as good as the largest or smallest.
 * False if v is no Integer. */
static inline bool index_from(Value v, int64_t *out) {
    if (value_is_int(v)) return *out = value_to_int(v), true;
    if (!value_is_bignum(v)) return false;
    *out = number_compare(v, value_from_int(0)) < 0 ? SMALLINT_MIN : SMALLINT_MAX;
    return true;
}
static inline Value collection_symbol(Process *p) { return class_by_id(p->vm, CLASS_ID_Collection)->name; }

/* The elements of a List, into memory that has room for them. */
static inline void buffer_fill(Value *items, Value list) {
    for (size_t i = 0; list != V_EMPTY_LIST; list = CONS_TAIL(list)) items[i++] = CONS_HEAD(list);
}
/* Stable, ascending in term order; scratch has room for count more. No allocation. */
void values_sort(Process *p, Value *values, Value *scratch, size_t count);
/* Reductions for work on n elements. */
static inline void charge_elements(Process *p, size_t n) {
    (void)process_charge(p, n > 100000000 ? 25000000 : (uint32_t)(n >> 2));
}

#endif
