#include "vm/array.h"
#include "vm/error.h"
#include "vm/list.h"
#include "vm/rooted.h"

#define BITS 5
#define WIDTH ((size_t)1 << BITS)
#define MASK (WIDTH - 1)

/* --- reading --- */

static size_t tail_size(size_t count) { return ((count - 1) & MASK) + 1; }
static int64_t tree_shift(Value tree) { return value_to_int(object_at(tree, ARRAY_TREE_SHIFT)); }

const Value *array_chunk(Value array, size_t index, size_t *count) {
    size_t size = array_size(array);
    if (object_kind(array) == KIND_ARRAY) {
        *count = size - index;
        return object_words(array) + 1 + index;
    }
    Value node = object_at(array, ARRAY_TREE_TAIL);
    size_t tail_start = size - tail_size(size), offset = index & MASK;
    if (index < tail_start) {
        node = object_at(array, ARRAY_TREE_ROOT);
        for (int64_t shift = tree_shift(array); shift > 0; shift -= BITS)
            node = object_at(node, ((index >> shift) & MASK) + 1);
    }
    *count = object_size(node) - 1 - offset;
    return object_words(node) + 1 + offset;
}

/* --- building --- */

static Value new_node(Process *p, size_t children) {
    return heap_new(p, KIND_ARRAY_NODE, CLASS_ID_Array, 1 + children);
}

static Value new_tree(Process *p, size_t count, int64_t shift, Value root, Value tail) {
    Value tree = heap_new(p, KIND_ARRAY_TREE, CLASS_ID_Array, ARRAY_TREE_WORDS);
    uint64_t *words = object_words(tree);
    words[ARRAY_TREE_COUNT] = value_from_int((int64_t)count);
    words[ARRAY_TREE_SHIFT] = value_from_int(shift);
    words[ARRAY_TREE_ROOT] = root;
    words[ARRAY_TREE_TAIL] = tail;
    return tree;
}

static Value blank_node(Process *p, ObjectKind kind, size_t count) {
    Value node = heap_new(p, kind, CLASS_ID_Array, 1 + count);
    for (size_t i = 1; i <= count; i++) object_words(node)[i] = V_NIL;
    return node;
}

/* Words of the trie above `nodes` leaves. */
static size_t inner_words(size_t nodes) {
    size_t words = 0;
    while (nodes > 1) {
        size_t parents = (nodes + MASK) >> BITS;
        words += parents + nodes;
        nodes = parents;
    }
    return words;
}

/* The levels above `nodes` nodes that lie one behind the other from `base`, all but the last of them full. */
static Value build_levels(Process *p, uint64_t *base, size_t nodes, int64_t *shift) {
    for (*shift = 0; nodes > 1; *shift += BITS) {
        size_t parents = (nodes + MASK) >> BITS;
        uint64_t *parent_base = p->heap.top;
        for (size_t i = 0; i < parents; i++) {
            size_t children = i + 1 < parents ? WIDTH : nodes - i * WIDTH;
            uint64_t *parent = object_words(new_node(p, children));
            for (size_t k = 0; k < children; k++)
                parent[1 + k] = value_from_object(base + (i * WIDTH + k) * (WIDTH + 1));
        }
        base = parent_base;
        nodes = parents;
    }
    return value_from_object(base);
}

Value array_new_blank(Process *p, size_t count) {
    if (count <= ARRAY_FLAT_MAX)
        return heap_reserve(p, 1 + count) ? blank_node(p, KIND_ARRAY, count) : V_HOLE;
    size_t tail = tail_size(count), leaves = (count - tail) >> BITS;
    if (!heap_reserve(p, ARRAY_TREE_WORDS + 1 + tail + leaves * (WIDTH + 1) + inner_words(leaves)))
        return V_HOLE;
    uint64_t *base = p->heap.top;
    for (size_t i = 0; i < leaves; i++) blank_node(p, KIND_ARRAY_NODE, WIDTH);
    int64_t shift;
    Value root = build_levels(p, base, leaves, &shift);
    return new_tree(p, count, shift, root, blank_node(p, KIND_ARRAY_NODE, tail));
}

Value array_from(Process *p, const Value *values, size_t count) {
    Value array = array_new_blank(p, count);
    if (array == V_HOLE) return V_HOLE;
    for (size_t i = 0, n; i < count; i += n) {
        Value *to = array_blank_chunk(array, i, &n); /* sets n: must come first */
        memcpy(to, values + i, sizeof *values * n);
    }
    return array;
}

Value array_from_list(Process *p, Value list) {
    RootSpan span;
    roots_push(p, &span, &list, 1);
    size_t count = list_length(list);
    Value array = array_new_blank(p, count);
    roots_pop(p, &span);
    if (array == V_HOLE) return V_HOLE;
    for (size_t i = 0, n; i < count; i += n) {
        Value *at = array_blank_chunk(array, i, &n);
        for (size_t k = 0; k < n; k++, list = CONS_TAIL(list)) at[k] = CONS_HEAD(list);
    }
    return array;
}

Value array_slice_from(Process *p, Value array, size_t index) {
    size_t size = array_size(array), count = index < size ? size - index : 0;
    if (index == 0) return array;
    RootSpan span;
    roots_push(p, &span, &array, 1);
    Value slice = array_new_blank(p, count);
    roots_pop(p, &span);
    if (slice == V_HOLE) return V_HOLE;
    for (size_t i = 0, n, m; i < count; i += n) {
        const Value *from = array_chunk(array, index + i, &n);
        Value *to = array_blank_chunk(slice, i, &m);
        if (m < n) n = m;
        memcpy(to, from, n * sizeof *to);
    }
    return slice;
}

Value array_to_list(Process *p, Value array) {
    size_t size = array_size(array);
    if (!heap_reserve_rooted(p, size * LIST_CELL_WORDS, &array, 1)) return V_HOLE;
    Value list = V_EMPTY_LIST;
    for (size_t i = size, n; i > 0;) {
        size_t start =
            (i - 1) & ~MASK; /* chunks of a tree begin at multiples of its width; a flat Array is one */
        const Value *at = array_chunk(array, start, &n);
        for (; i > start; i--) list = list_cons_reserved(p, at[i - 1 - start], list);
    }
    return list;
}

/* --- editing --- */

/* A copy with room for `extra` more words at the end. */
static Value copy_object(Process *p, Value v, size_t extra) {
    size_t size = object_size(v);
    Value copy = heap_new(p, object_kind(v), CLASS_ID_Array, size + extra);
    memcpy(object_words(copy) + 1, object_words(v) + 1, (size - 1) * sizeof(uint64_t));
    return copy;
}

/* Words of every node on a path to a leaf, the leaf included, each with room for one more child. */
static size_t path_words(int64_t shift) { return (size_t)(shift / BITS + 1) * (WIDTH + 1); }

Value array_at_put(Process *p, Value array, size_t index, Value value) {
    bool flat = object_kind(array) == KIND_ARRAY;
    size_t words = flat ? object_size(array) : ARRAY_TREE_WORDS + path_words(tree_shift(array));
    Value roots[2] = {array, value};
    if (!heap_reserve_rooted(p, words, roots, 2)) return V_HOLE;
    Value copy = copy_object(p, roots[0], 0);
    if (flat) {
        object_words(copy)[1 + index] = roots[1];
        return copy;
    }
    size_t size = array_size(copy);
    bool in_tail = index >= size - tail_size(size);
    uint64_t *slot = object_words(copy) + (in_tail ? ARRAY_TREE_TAIL : ARRAY_TREE_ROOT);
    for (int64_t shift = in_tail ? 0 : tree_shift(copy);; shift -= BITS) {
        *slot = copy_object(p, *slot, 0);
        slot = object_words(*slot) + 1 + ((index >> shift) & MASK);
        if (shift == 0) break;
    }
    *slot = roots[1];
    return copy;
}

/* Single-child nodes from level `shift` down to the leaf. */
static Value chain_to(Process *p, Value leaf, int64_t shift) {
    for (; shift > 0; shift -= BITS) {
        Value node = new_node(p, 1);
        object_words(node)[1] = leaf;
        leaf = node;
    }
    return leaf;
}

/* The trie of a tree whose tail is full, with the tail as its next leaf; all words are reserved. */
static Value push_leaf(Process *p, Value tree, int64_t *shift) {
    size_t index = array_size(tree) - WIDTH;
    Value leaf = object_at(tree, ARRAY_TREE_TAIL), root = object_at(tree, ARRAY_TREE_ROOT);
    if (index >> (*shift + BITS)) { /* the trie is full: one level more */
        Value top = new_node(p, 2);
        object_words(top)[1] = root;
        object_words(top)[2] = chain_to(p, leaf, *shift);
        *shift += BITS;
        return top;
    }
    uint64_t *slot = &root;
    for (int64_t at = *shift; at > 0; at -= BITS) {
        size_t child = (index >> at) & MASK, children = object_size(*slot) - 1;
        *slot = copy_object(p, *slot, child == children);
        slot = object_words(*slot) + 1 + child;
        if (child == children) {
            *slot = chain_to(p, leaf, at - BITS);
            break;
        }
    }
    return root;
}

static Value append_flat(Process *p, Value array, Value value) {
    size_t size = array_size(array);
    Value roots[2] = {array, value};
    RootSpan span;
    roots_push(p, &span, roots, 2);
    Value grown = array_new_blank(p, size + 1);
    roots_pop(p, &span);
    if (grown == V_HOLE) return V_HOLE;
    size_t n;
    if (size) memcpy(array_blank_chunk(grown, 0, &n), object_words(roots[0]) + 1, size * sizeof(Value));
    *array_blank_chunk(grown, size, &n) = roots[1];
    return grown;
}

Value array_append(Process *p, Value array, Value value) {
    if (object_kind(array) == KIND_ARRAY) return append_flat(p, array, value);
    int64_t shift = tree_shift(array);
    Value roots[2] = {array, value};
    if (!heap_reserve_rooted(p, ARRAY_TREE_WORDS + WIDTH + 1 + path_words(shift + BITS), roots, 2))
        return V_HOLE;
    size_t size = array_size(roots[0]);
    Value root = object_at(roots[0], ARRAY_TREE_ROOT), tail = object_at(roots[0], ARRAY_TREE_TAIL);
    if (tail_size(size) == WIDTH) {
        root = push_leaf(p, roots[0], &shift);
        tail = new_node(p, 1);
    } else {
        tail = copy_object(p, tail, 1);
    }
    object_words(tail)[object_size(tail) - 1] = roots[1];
    return new_tree(p, size + 1, shift, root, tail);
}
