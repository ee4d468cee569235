#include "vm/list.h"
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/rooted.h"
#include "vm/vm.h"

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

Value *list_to_buffer(BtVm *vm, Value list, size_t *count) {
    *count = list_length(list);
    Value *buffer = memory_alloc(vm->memory, (*count ? *count : 1) * sizeof *buffer);
    if (!buffer) return NULL;
    for (size_t i = 0; list != V_EMPTY_LIST; list = CONS_TAIL(list)) buffer[i++] = CONS_HEAD(list);
    return buffer;
}

/* ---- copies: cell after cell into the room there is, without counting first ---- */

typedef struct {
    uint64_t *top, *limit; /* end of what has been written, of what may be */
} Copy;

static Copy copy_begin(const Process *p) { return (Copy){p->heap.top, p->heap.limit}; }
static inline bool copy_has_room(const Copy *c) { return c->limit - c->top >= (ptrdiff_t)LIST_CELL_WORDS; }
/* A cell in front of whatever will be written behind it. */
static inline void copy_put(Copy *c, Value head) {
    c->top[0] = header_make(CLASS_ID_List, KIND_CONS, 0, LIST_CELL_WORDS);
    c->top[1] = head;
    c->top[2] = value_from_object(c->top + LIST_CELL_WORDS);
    c->top += LIST_CELL_WORDS;
}
/* The last cell gets its tail, and the cells are the heap's. */
static Value copy_end(Process *p, const Copy *c, Value tail) {
    Value first = value_from_object(p->heap.top);
    if (c->top == p->heap.top) return tail;
    c->top[-1] = tail;
    p->heap.top = c->top;
    return first;
}

Value list_concat(Process *p, Value left, Value right) {
    if (right == V_EMPTY_LIST) return left;
    Value roots[2] = {left, right};
    for (;;) {
        Copy copy = copy_begin(p);
        Value at = roots[0];
        for (; at != V_EMPTY_LIST && copy_has_room(&copy); at = CONS_TAIL(at)) copy_put(&copy, CONS_HEAD(at));
        if (at == V_EMPTY_LIST) return copy_end(p, &copy, roots[1]);
        if (!heap_reserve_rooted(p, list_length(roots[0]) * LIST_CELL_WORDS, roots, 2)) return V_HOLE;
    }
}

Value list_append(Process *p, Value list, Value last) {
    Value roots[2] = {list, last};
    for (;;) {
        Copy copy = copy_begin(p);
        Value at = roots[0];
        for (; at != V_EMPTY_LIST && copy_has_room(&copy); at = CONS_TAIL(at)) copy_put(&copy, CONS_HEAD(at));
        if (at == V_EMPTY_LIST && copy_has_room(&copy)) {
            copy_put(&copy, roots[1]);
            return copy_end(p, &copy, V_EMPTY_LIST);
        }
        if (!heap_reserve_rooted(p, (list_length(roots[0]) + 1) * LIST_CELL_WORDS, roots, 2)) return V_HOLE;
    }
}

Value list_take(Process *p, Value list, size_t n) {
    for (;;) {
        Copy copy = copy_begin(p);
        Value at = list;
        size_t left = n;
        for (; left > 0 && at != V_EMPTY_LIST && copy_has_room(&copy); at = CONS_TAIL(at), left--)
            copy_put(&copy, CONS_HEAD(at));
        if (at == V_EMPTY_LIST) return list;
        if (left == 0) return copy_end(p, &copy, V_EMPTY_LIST);
        size_t length = n - left; /* of what is taken */
        for (; left > 0 && at != V_EMPTY_LIST; at = CONS_TAIL(at), left--) length++;
        if (!heap_reserve_rooted(p, length * LIST_CELL_WORDS, &list, 1)) return V_HOLE;
    }
}

Value list_reverse(Process *p, Value list) {
    for (;;) {
        Copy copy = copy_begin(p);
        Value at = list, reversed = V_EMPTY_LIST;
        for (; at != V_EMPTY_LIST && copy_has_room(&copy); at = CONS_TAIL(at)) {
            Value cell = value_from_object(copy.top);
            copy_put(&copy, CONS_HEAD(at));
            object_words(cell)[2] = reversed;
            reversed = cell;
        }
        if (at == V_EMPTY_LIST) return p->heap.top = copy.top, reversed;
        if (!heap_reserve_rooted(p, list_length(list) * LIST_CELL_WORDS, &list, 1)) return V_HOLE;
    }
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
