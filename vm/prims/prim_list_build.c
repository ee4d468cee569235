/* Primitives of List that sort or regroup. Elements go into rooted native buffers, then into fresh cells. */
#include "vm/prims/prim_collection.h"
#include "vm/compare.h"
#include "vm/dict.h"

#include <stdlib.h>

static void buffer_fill(Value *items, Value list) {
    for (size_t i = 0; list != V_EMPTY_LIST; list = CONS_TAIL(list)) items[i++] = CONS_HEAD(list);
}

/* --- sorting --- */

static void merge_runs(BtVm *vm, const Value *from, Value *to, size_t low, size_t middle, size_t high) {
    size_t i = low, j = middle;
    for (size_t k = low; k < high; k++) {
        bool left = j >= high || (i < middle && value_compare(vm, from[i], from[j]) <= 0);
        to[k] = left ? from[i++] : from[j++];
    }
}

void values_sort(Process *p, Value *values, Value *scratch, size_t count) {
    Value *from = values, *to = scratch;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = low + width < count ? low + width : count,
                   high = middle + width < count ? middle + width : count;
            merge_runs(p->vm, from, to, low, middle, high);
        }
        Value *other = from;
        from = to;
        to = other;
        charge_elements(p, count);
    }
    if (from != values) memcpy(values, from, count * sizeof *values);
}

PRIM(prim_list_sort) {
    (void)count;
    size_t n = list_length(args[0]);
    RootedBuffer b;
    if (n < 2) return answered(args[0], result);
    if (!rooted_open(p, &b, 2 * n)) return PRIM_RAISE;
    buffer_fill(b.items, args[0]);
    values_sort(p, b.items, b.items + n, n);
    Value sorted = list_from_array(p, b.items, n, V_EMPTY_LIST);
    rooted_close(p, &b);
    return made(sorted, result);
}

/* --- grouping equal values: indexes sorted by key, equal keys in order of appearance --- */

typedef struct {
    BtVm *vm;
    const Value *keys;
} KeyOrder;

static int compare_indexes(const void *a, const void *b, void *context) {
    const KeyOrder *by = context;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = value_compare_keys(by->vm, by->keys[i], by->keys[j]);
    return order ? order : (i > j) - (i < j);
}

static size_t *sorted_indexes(Process *p, const Value *keys, size_t n) {
    size_t *index = mem_alloc((n ? n : 1) * sizeof *index);
    if (!index) {
        error_resource(p, "Not enough memory for a collection of this size");
        return NULL;
    }
    for (size_t i = 0; i < n; i++) index[i] = i;
    qsort_r(index, n, sizeof *index, compare_indexes, &(KeyOrder){p->vm, keys});
    charge_elements(p, 16 * n);
    return index;
}

/* Drops what is =:= to something before it; V_HOLE marks what goes. Answers how many stay, in order. */
static size_t keep_first_of_equals(Process *p, Value *items, const size_t *index, size_t n) {
    size_t kept = 0, leader = 0;
    for (size_t i = 1; i < n; i++) {
        if (value_equal_strict(p->vm, items[index[leader]], items[index[i]])) {
            items[index[i]] = V_HOLE;
        } else {
            leader = i;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (items[i] != V_HOLE) items[kept++] = items[i];
    return kept;
}

PRIM(prim_list_unique) {
    (void)count;
    size_t n = list_length(args[0]);
    RootedBuffer b;
    if (n < 2) return answered(args[0], result);
    if (!rooted_open(p, &b, 2 * n)) return PRIM_RAISE;
    buffer_fill(b.items, args[0]);
    size_t *index = sorted_indexes(p, b.items, n);
    Value unique = V_HOLE;
    if (index) {
        size_t kept = keep_first_of_equals(p, b.items, index, n);
        mem_free(index);
        values_sort(p, b.items, b.items + n, kept);
        unique = list_from_array(p, b.items, kept, V_EMPTY_LIST);
    }
    rooted_close(p, &b);
    return made(unique, result);
}

typedef struct {
    RootedBuffer elements,
        keys; /* of the entries; later the first words of keys and elements are those of the groups */
    size_t *index;
    size_t count;
} Grouping;

/* The Lists of the groups, from reserved words, put where their last elements were. Answers how many groups
 * there are. */
static size_t build_groups(Process *p, Grouping *g, Value *group_keys, Value *groups) {
    size_t count = 0;
    for (size_t start = 0, end; start < g->count; start = end) {
        Value key = g->keys.items[g->index[start]], list = V_EMPTY_LIST;
        for (end = start + 1; end < g->count && value_equal_strict(p->vm, key, g->keys.items[g->index[end]]);)
            end++;
        for (size_t i = end; i-- > start;) list = list_cons_reserved(p, g->elements.items[g->index[i]], list);
        group_keys[count] = key;
        groups[count++] = list;
    }
    return count;
}

static Value grouped(Process *p, Grouping *g) {
    RootedBuffer out;
    if (!rooted_open(p, &out, 2 * g->count)) return V_HOLE;
    Value dict = V_HOLE;
    if (heap_reserve(p, g->count * LIST_CELL_WORDS)) {
        size_t groups = build_groups(p, g, out.items, out.items + g->count);
        dict = dict_from_entries(p, out.items, out.items + g->count, groups);
    }
    rooted_close(p, &out);
    return dict;
}

/* The receiver's elements by the keys in the argument, a List of the same length. */
PRIM(prim_list_grouped_by) {
    (void)count;
    Grouping g = {.count = list_length(args[0])};
    if (!list_is(args[1]) || list_length(args[1]) != g.count) return error_argument(p, args[0], V_NIL, NULL);
    if (!rooted_open(p, &g.elements, g.count)) return PRIM_RAISE;
    if (!rooted_open(p, &g.keys, g.count)) return rooted_close(p, &g.elements), PRIM_RAISE;
    buffer_fill(g.elements.items, args[0]);
    buffer_fill(g.keys.items, args[1]);
    g.index = sorted_indexes(p, g.keys.items, g.count);
    Value dict = g.index ? grouped(p, &g) : V_HOLE;
    mem_free(g.index);
    rooted_close(p, &g.keys);
    rooted_close(p, &g.elements);
    return made(dict, result);
}

/* --- flattening --- */

typedef struct {
    Value *items;
    size_t count, capacity;
    bool failed;
} Growing;

static void push(Growing *g, Value v) {
    if (g->count == g->capacity) {
        size_t capacity = g->capacity ? 2 * g->capacity : 64;
        Value *items = mem_realloc(g->items, capacity * sizeof *items);
        if (!items) {
            g->failed = true;
            return;
        }
        g->items = items;
        g->capacity = capacity;
    }
    g->items[g->count++] = v;
}

/* Leaves of nested Lists, with the rests still to be visited on a stack of their own. */
static void flatten_into(Growing *leaves, Growing *rests, Value list) {
    while (!leaves->failed && !rests->failed) {
        if (list == V_EMPTY_LIST) {
            if (rests->count == 0) return;
            list = rests->items[--rests->count];
            continue;
        }
        Value head = CONS_HEAD(list), tail = CONS_TAIL(list);
        if (!list_is(head)) {
            push(leaves, head);
            list = tail;
        } else {
            if (tail != V_EMPTY_LIST) push(rests, tail);
            list = head;
        }
    }
}

static Value list_of_growing(Process *p, Growing *g) {
    RootSpan span;
    roots_push(p, &span, g->items, g->count);
    Value list = list_from_array(p, g->items, g->count, V_EMPTY_LIST);
    roots_pop(p, &span);
    return list;
}

PRIM(prim_list_flatten) {
    (void)count;
    Growing leaves = {0}, rests = {0};
    flatten_into(&leaves, &rests, args[0]);
    Value list = V_HOLE;
    if (leaves.failed || rests.failed) {
        error_resource(p, "Not enough memory for a List of this size");
    } else {
        list = list_of_growing(p, &leaves);
    }
    charge_elements(p, leaves.count);
    mem_free(leaves.items);
    mem_free(rests.items);
    return made(list, result);
}

/* One List of the elements of the receiver's elements, which must be Lists. */
PRIM(prim_list_concatenated) {
    (void)count;
    size_t n = 0;
    for (Value list = args[0]; list != V_EMPTY_LIST; list = CONS_TAIL(list)) {
        if (!list_is(CONS_HEAD(list)))
            return prim_type_error(p, args[0], "flatMap:", "The block must answer a List");
        n += list_length(CONS_HEAD(list));
    }
    RootedBuffer b;
    if (!rooted_open(p, &b, n)) return PRIM_RAISE;
    size_t at = 0;
    for (Value list = args[0]; list != V_EMPTY_LIST; list = CONS_TAIL(list))
        for (Value part = CONS_HEAD(list); part != V_EMPTY_LIST; part = CONS_TAIL(part))
            b.items[at++] = CONS_HEAD(part);
    Value whole = list_from_array(p, b.items, n, V_EMPTY_LIST);
    rooted_close(p, &b);
    charge_elements(p, n);
    return made(whole, result);
}

/* --- pairing --- */

PRIM(prim_list_zip) {
    (void)count;
    if (!list_is(args[1])) return prim_type_error(p, args[0], "zip:", "Expected a List argument");
    size_t n = list_length(args[0]), m = list_length(args[1]);
    if (m < n) n = m;
    if (!heap_reserve(p, n * 3 * LIST_CELL_WORDS)) return PRIM_RAISE;
    Value left = args[0], right = args[1], pairs = V_EMPTY_LIST;
    uint64_t *last = NULL;
    for (size_t i = 0; i < n; i++, left = CONS_TAIL(left), right = CONS_TAIL(right)) {
        Value pair = list_cons_reserved(p, CONS_HEAD(right), V_EMPTY_LIST);
        Value cell = list_cons_reserved(p, list_cons_reserved(p, CONS_HEAD(left), pair), V_EMPTY_LIST);
        if (last) {
            last[2] = cell; /* still fresh */
        } else {
            pairs = cell;
        }
        last = object_words(cell);
    }
    charge_elements(p, n);
    return answered(pairs, result);
}

PRIM(prim_list_intersperse) {
    (void)count;
    size_t n = list_length(args[0]);
    if (n < 2) return answered(args[0], result);
    RootedBuffer b;
    if (!rooted_open(p, &b, 2 * n - 1)) return PRIM_RAISE;
    Value list = args[0];
    for (size_t i = 0; i < 2 * n - 1; i++) {
        b.items[i] = i % 2 ? args[1] : CONS_HEAD(list);
        if (i % 2 == 0) list = CONS_TAIL(list);
    }
    Value whole = list_from_array(p, b.items, 2 * n - 1, V_EMPTY_LIST);
    rooted_close(p, &b);
    return made(whole, result);
}
