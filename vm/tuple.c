#include "vm/tuple.h"
#include "vm/error.h"
#include "vm/list.h"
#include "vm/rooted.h"

static bool reserve_tuple(Process *p, size_t count, Value *roots, size_t root_count) {
    if (count >= OBJECT_MAX_WORDS) {
        error_resource(p, "A Tuple cannot have so many elements");
        return false;
    }
    return heap_reserve_rooted(p, 1 + count, roots, root_count);
}

static Value new_tuple(Process *p, size_t count) {
    return heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, 1 + count);
}

Value tuple_from(Process *p, const Value *values, size_t count) {
    if (!reserve_tuple(p, count, NULL, 0)) return V_HOLE;
    Value tuple = new_tuple(p, count);
    if (count) memcpy(object_words(tuple) + 1, values, count * sizeof *values);
    return tuple;
}

Value tuple_from_list(Process *p, Value list) {
    size_t count = list_length(list);
    if (!reserve_tuple(p, count, &list, 1)) return V_HOLE;
    Value tuple = new_tuple(p, count);
    for (uint64_t *at = object_words(tuple) + 1; list != V_EMPTY_LIST; list = CONS_TAIL(list))
        *at++ = CONS_HEAD(list);
    return tuple;
}

Value tuple_append(Process *p, Value left, Value right) {
    size_t n = tuple_size(left), m = tuple_size(right);
    if (n == 0 || m == 0) return n == 0 ? right : left;
    Value roots[2] = {left, right};
    if (!reserve_tuple(p, n + m, roots, 2)) return V_HOLE;
    Value tuple = new_tuple(p, n + m);
    memcpy(object_words(tuple) + 1, object_words(roots[0]) + 1, n * sizeof(Value));
    memcpy(object_words(tuple) + 1 + n, object_words(roots[1]) + 1, m * sizeof(Value));
    return tuple;
}

Value tuple_to_list(Process *p, Value tuple) {
    size_t n = tuple_size(tuple);
    if (!heap_reserve_rooted(p, n * LIST_CELL_WORDS, &tuple, 1)) return V_HOLE;
    Value list = V_EMPTY_LIST;
    for (size_t i = n; i-- > 0;) list = list_cons_reserved(p, tuple_at(tuple, i), list);
    return list;
}
