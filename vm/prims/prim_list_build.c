/* Primitives of List that sort, flatten or pair. Elements go into rooted native buffers, then into fresh
 * cells. */
#include "vm/prims/prim_collection.h"
#include "vm/compare.h"

/* --- sorting --- */

static void merge_runs(BtVm *vm, const Value *from, Value *to, size_t low, size_t middle, size_t high) {
    size_t i = low, j = middle;
    for (size_t k = low; k < high; k++) {
        bool left = j >= high || (i < middle && value_compare(vm, from[i], from[j]) <= 0);
        to[k] = left ? from[i++] : from[j++];
    }
}

#define RADIX_BITS 11
#define RADIX_LEAST 128 /* fewer are merged */

/* One stable pass by the digit at shift. Small integers less the smallest count as unsigned. */
static void radix_pass(const Value *from, Value *to, size_t count, Value least, unsigned shift) {
    size_t at[1 << RADIX_BITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++) at[((from[i] - least) >> shift) & ((1 << RADIX_BITS) - 1)]++;
    for (size_t digit = 0; digit < 1 << RADIX_BITS; digit++) {
        size_t n = at[digit];
        at[digit] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[at[((from[i] - least) >> shift) & ((1 << RADIX_BITS) - 1)]++] = from[i];
}

/* False if there is anything but small integers. Words of small integers are in order, with a tag bit below.
 */
static bool sort_integers(Value *values, Value *scratch, size_t count) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        if (!value_is_int(values[i])) return false;
        int64_t word = (int64_t)values[i];
        if (word < least) least = word;
        if (word > most) most = word;
    }
    Value *from = values, *to = scratch, *other;
    uint64_t range = (uint64_t)most - (uint64_t)least;
    for (unsigned shift = 1; shift < 64 && range >> shift; shift += RADIX_BITS) {
        radix_pass(from, to, count, (Value)least, shift);
        other = from, from = to, to = other;
    }
    if (from != values) memcpy(values, from, count * sizeof *values);
    return true;
}

void values_sort(Process *p, Value *values, Value *scratch, size_t count) {
    charge_elements(p, count);
    unsigned levels = count > 1 ? 64 - (unsigned)__builtin_clzll(count) : 1;
    charge_elements(p, (size_t)2 * levels * count); /* a comparison costs about half a reduction */
    if (count >= RADIX_LEAST && sort_integers(values, scratch, count)) return;
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

/* --- flattening --- */

typedef struct {
    const Memory *memory;
    Value *items;
    size_t count, capacity;
    bool failed;
} Growing;

static void push(Growing *g, Value v) {
    if (g->count == g->capacity) {
        Value *items = memory_grown(g->memory, g->items, &g->capacity, sizeof *items, 64);
        if (!items) {
            g->failed = true;
            return;
        }
        g->items = items;
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
    Growing leaves = {.memory = p->vm->memory}, rests = leaves;
    flatten_into(&leaves, &rests, args[0]);
    Value list = V_HOLE;
    if (leaves.failed || rests.failed) {
        error_resource(p, "Not enough memory for a List of this size");
    } else {
        list = list_of_growing(p, &leaves);
    }
    charge_elements(p, leaves.count);
    memory_free(p->vm->memory, leaves.items);
    memory_free(p->vm->memory, rests.items);
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
