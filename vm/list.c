#include "vm/list.h"
#include "vm/alloc.h"
#include "vm/error.h"
#include "vm/rooted.h"

Value list_cons(Process *p, Value head, Value tail) {
    Value roots[2] = {head, tail};
    if (!heap_reserve_rooted(p, LIST_CELL_WORDS, roots, 2)) return V_HOLE;
    return list_cons_reserved(p, roots[0], roots[1]);
}

Value list_from_array(Process *p, const Value *values, size_t count, Value tail) {
    if (!heap_reserve_rooted(p, count * LIST_CELL_WORDS, &tail, 1)) return V_HOLE;
    for (size_t i = count; i-- > 0;) tail = list_cons_reserved(p, values[i], tail);
    return tail;
}

Value *list_to_buffer(Value list, size_t *count) {
    *count = list_length(list);
    Value *buffer = mem_alloc((*count ? *count : 1) * sizeof *buffer);
    if (!buffer) return NULL;
    for (size_t i = 0; list != V_EMPTY_LIST; list = CONS_TAIL(list)) buffer[i++] = CONS_HEAD(list);
    return buffer;
}

/* The first n cells copied, forward, ending in tail; the cells are reserved and fresh, so their tails may
 * still be set. */
static Value copy_prefix(Process *p, Value list, size_t n, Value tail) {
    if (n == 0) return tail;
    Value first = list_cons_reserved(p, CONS_HEAD(list), tail), last = first;
    while (--n > 0) {
        list = CONS_TAIL(list);
        Value cell = list_cons_reserved(p, CONS_HEAD(list), tail);
        object_words(last)[2] = cell;
        last = cell;
    }
    return first;
}

Value list_concat(Process *p, Value left, Value right) {
    if (right == V_EMPTY_LIST) return left;
    size_t n = list_length(left);
    Value roots[2] = {left, right};
    if (!heap_reserve_rooted(p, n * LIST_CELL_WORDS, roots, 2)) return V_HOLE;
    return copy_prefix(p, roots[0], n, roots[1]);
}

Value list_reverse(Process *p, Value list) {
    size_t n = list_length(list);
    if (!heap_reserve_rooted(p, n * LIST_CELL_WORDS, &list, 1)) return V_HOLE;
    Value reversed = V_EMPTY_LIST;
    for (; list != V_EMPTY_LIST; list = CONS_TAIL(list))
        reversed = list_cons_reserved(p, CONS_HEAD(list), reversed);
    return reversed;
}

/* Allocated since the last collection: such a cell may still be made to point at any other. */
static bool cell_is_fresh(const Process *p, Value cell) {
    const uint64_t *at = object_words(cell);
    return at >= p->heap.young_mark && at < p->heap.top;
}

Value list_turn(Process *p, Value list) {
    size_t aged = 0;
    for (Value at = list; at != V_EMPTY_LIST; at = CONS_TAIL(at)) aged += !cell_is_fresh(p, at);
    if (aged && (size_t)(p->heap.limit - p->heap.top) < aged * LIST_CELL_WORDS) return list_reverse(p, list);
    Value turned = V_EMPTY_LIST;
    while (list != V_EMPTY_LIST) {
        Value cell = list;
        list = CONS_TAIL(list);
        if (cell_is_fresh(p, cell)) {
            object_words(cell)[2] = turned;
            turned = cell;
        } else {
            turned = list_cons_reserved(p, CONS_HEAD(cell), turned);
        }
    }
    return turned;
}

Value list_take(Process *p, Value list, size_t n) {
    size_t length = 0;
    Value rest = list;
    for (; length < n && rest != V_EMPTY_LIST; rest = CONS_TAIL(rest)) length++;
    if (rest == V_EMPTY_LIST) return list;
    if (!heap_reserve_rooted(p, length * LIST_CELL_WORDS, &list, 1)) return V_HOLE;
    return copy_prefix(p, list, length, V_EMPTY_LIST);
}
