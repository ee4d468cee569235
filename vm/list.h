/* Lists: proper chains of CONS cells ending in V_EMPTY_LIST.
 *
 * Owner: the process whose heap holds them. Invariant: the tail of a cell is always a List, so walking needs
 * no checks. Functions that take single Values root them themselves; arrays of Values must lie in rooted
 * memory (frame registers, a RootSpan). V_HOLE as an answer: a resource_error is pending.
 */
#ifndef BT_VM_LIST_H
#define BT_VM_LIST_H

#include "vm/process.h"

#define LIST_CELL_WORDS 3u

static inline bool list_is(Value v) { return v == V_EMPTY_LIST || value_is_kind(v, KIND_CONS); }
static inline size_t list_length(Value list) {
    size_t n = 0;
    for (; list != V_EMPTY_LIST; list = CONS_TAIL(list)) n++;
    return n;
}
/* A cell out of LIST_CELL_WORDS reserved words; cannot fail. */
static inline Value list_cons_reserved(Process *p, Value head, Value tail) {
    Value cell = heap_new(p, KIND_CONS, CLASS_ID_List, LIST_CELL_WORDS);
    object_words(cell)[1] = head;
    object_words(cell)[2] = tail;
    return cell;
}
/* MAY_GC. */
Value list_cons(Process *p, Value head, Value tail);
/* values[0] .. values[count-1] in front of tail (V_EMPTY_LIST for a whole list). MAY_GC. */
Value list_from_array(Process *p, const Value *values, size_t count, Value tail);
/* Copies the elements into native memory (memory_free), count in *count; NULL without memory (never for an
 * empty list). The copy is not rooted: put it into a RootSpan before a reserve. */
Value *list_to_buffer(BtVm *vm, Value list, size_t *count);
/* MAY_GC. The tail is shared. */
Value list_concat(Process *p, Value left, Value right);
/* A copy with one element more behind. MAY_GC. */
Value list_append(Process *p, Value list, Value last);
Value list_reverse(Process *p, Value list);
/* The same of a List that nothing else refers to: fresh cells are turned round in place. MAY_GC. */
Value list_turn(Process *p, Value list);
/* The List without its first n cells; V_EMPTY_LIST if it is shorter. No allocation. */
static inline Value list_drop(Value list, size_t n) {
    for (; n > 0 && list != V_EMPTY_LIST; n--) list = CONS_TAIL(list);
    return list;
}
Value list_take(Process *p, Value list, size_t n); /* MAY_GC */

#endif
