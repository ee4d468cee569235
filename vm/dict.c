#include "vm/dict_internal.h"
#include "vm/compare.h"
#include "vm/error.h"
#include "vm/hash.h"
#include "vm/list.h"
#include "vm/rooted.h"

/* --- lookup --- */

KeyPlace keys_search(BtVm *vm, const uint64_t *keys, uint32_t count, uint32_t stride, Value key) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = value_compare_keys(vm, key, keys[(size_t)middle * stride]);
        if (order == 0) return (KeyPlace){middle, true};
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return (KeyPlace){low, false};
}

static KeyPlace flat_search(BtVm *vm, Value dict, Value key) {
    return keys_search(vm, object_words(dict) + 1, (uint32_t)dict_size(dict), 1, key);
}

static Value flat_get(BtVm *vm, Value dict, Value key) {
    size_t n = dict_size(dict);
    const uint64_t *keys = object_words(dict) + 1;
    if (value_is_ptr(key)) {
        KeyPlace at = flat_search(vm, dict, key);
        return at.found ? keys[n + at.index] : V_HOLE;
    }
    for (size_t i = 0; i < n; i++) /* an immediate equals nothing but itself */
        if (keys[i] == key) return keys[n + i];
    return V_HOLE;
}

/* The way to a key in a trie. */
typedef enum {
    PLACE_FOUND, /* pair at word `index` of the last node has the key */
    PLACE_FREE,  /* no pair there: it would begin at word `index` */
    PLACE_CLASH  /* another key's pair at word `index` */
} PlaceKind;
typedef struct {
    Value node[DICT_LEVELS + 1];
    unsigned depth; /* index of the last node, which is its level */
    PlaceKind kind;
    uint32_t index;
} Place;

static void locate(BtVm *vm, Value root, uint64_t hash, Value key, Place *place) {
    Value node = root;
    for (unsigned level = 0;; level++) {
        place->node[level] = node;
        place->depth = level;
        if (level == DICT_LEVELS) break;
        uint32_t bit = 1u << hash_digit(hash, level);
        if (node_children(node) & bit) {
            node = object_at(node, child_word(node, bit));
            continue;
        }
        place->index = DICT_NODE_FIRST + 2 * bit_rank(node_data(node), bit);
        place->kind = !(node_data(node) & bit)                                     ? PLACE_FREE
                      : value_equal_strict(vm, object_at(node, place->index), key) ? PLACE_FOUND
                                                                                   : PLACE_CLASH;
        return;
    }
    KeyPlace at = keys_search(vm, object_words(node) + DICT_NODE_FIRST, node_pairs(node), 2, key);
    place->index = DICT_NODE_FIRST + 2 * at.index;
    place->kind = at.found ? PLACE_FOUND : PLACE_FREE;
}

Value dict_get(BtVm *vm, Value dict, Value key) {
    if (object_kind(dict) == KIND_DICT) return flat_get(vm, dict, key);
    Place place;
    locate(vm, object_at(dict, DICT_TRIE_ROOT), value_hash(vm, key), key, &place);
    return place.kind == PLACE_FOUND ? object_at(place.node[place.depth], place.index + 1) : V_HOLE;
}

/* --- iteration --- */

void dict_iter_init(DictIter *it, Value dict) {
    it->node[0] = object_kind(dict) == KIND_DICT ? dict : object_at(dict, DICT_TRIE_ROOT);
    it->at[0] = 0;
    it->depth = 0;
}

/* at counts the pairs of a node, then its children. */
static bool node_iter_next(DictIter *it, Value *key, Value *value) {
    while (it->depth >= 0) {
        Value node = it->node[it->depth];
        uint32_t at = it->at[it->depth]++, pairs = node_pairs(node);
        if (at < pairs) {
            *key = object_at(node, DICT_NODE_FIRST + 2 * at);
            *value = object_at(node, DICT_NODE_FIRST + 2 * at + 1);
            return true;
        }
        size_t child = DICT_NODE_FIRST + pairs + at;
        if (child >= object_size(node)) {
            it->depth--;
        } else {
            it->depth++;
            it->node[it->depth] = object_at(node, child);
            it->at[it->depth] = 0;
        }
    }
    return false;
}

bool dict_iter_next(DictIter *it, Value *key, Value *value) {
    if (it->depth < 0) return false;
    if (object_kind(it->node[0]) == KIND_DICT_NODE) return node_iter_next(it, key, value);
    size_t n = dict_size(it->node[0]), at = it->at[0]++;
    if (at >= n) {
        it->depth = -1;
        return false;
    }
    *key = object_at(it->node[0], 1 + at);
    *value = object_at(it->node[0], 1 + n + at);
    return true;
}

static Value entries_to_list(Process *p, Value dict, bool values) {
    size_t n = dict_size(dict);
    if (n == 0) return V_EMPTY_LIST;
    if (!heap_reserve_rooted(p, n * LIST_CELL_WORDS, &dict, 1)) return V_HOLE;
    DictIter it;
    Value entry[2], first = V_EMPTY_LIST, last = V_EMPTY_LIST;
    dict_iter_init(&it, dict);
    while (dict_iter_next(&it, &entry[0], &entry[1])) {
        Value cell = list_cons_reserved(p, entry[values], V_EMPTY_LIST);
        if (first == V_EMPTY_LIST) {
            first = cell;
        } else {
            object_words(last)[2] = cell; /* still fresh */
        }
        last = cell;
    }
    return first;
}

Value dict_keys(Process *p, Value dict) { return entries_to_list(p, dict, false); }
Value dict_values(Process *p, Value dict) { return entries_to_list(p, dict, true); }

/* --- flat edits --- */

static Value flat_new(Process *p, size_t count) {
    return heap_new(p, KIND_DICT, CLASS_ID_Dictionary, 1 + 2 * count);
}

Value dict_empty(Process *p) { return heap_reserve(p, 1) ? flat_new(p, 0) : V_HOLE; }

/* Copies an array of n words to one of n + 1 with a gap at index, or of n - 1 without that word. */
static void copy_with_gap(uint64_t *to, const uint64_t *from, size_t n, size_t index) {
    memcpy(to, from, index * sizeof *to);
    memcpy(to + index + 1, from + index, (n - index) * sizeof *to);
}
static void copy_without(uint64_t *to, const uint64_t *from, size_t n, size_t index) {
    memcpy(to, from, index * sizeof *to);
    memcpy(to + index, from + index + 1, (n - index - 1) * sizeof *to);
}

/* A full flat map and one more entry. */
static Value flat_overflow(Process *p, Value dict, Value key, Value value) {
    Value keys[DICT_FLAT_MAX + 1], values[DICT_FLAT_MAX + 1];
    size_t n = dict_size(dict);
    memcpy(keys, object_words(dict) + 1, n * sizeof *keys);
    memcpy(values, object_words(dict) + 1 + n, n * sizeof *values);
    keys[n] = key;
    values[n] = value;
    RootSpan key_span, value_span;
    roots_push(p, &key_span, keys, n + 1);
    roots_push(p, &value_span, values, n + 1);
    Value trie = dict_from_entries(p, keys, values, n + 1);
    roots_pop(p, &value_span);
    roots_pop(p, &key_span);
    return trie;
}

static Value flat_put(Process *p, Value dict, Value key, Value value) {
    size_t n = dict_size(dict);
    KeyPlace at = flat_search(p->vm, dict, key);
    if (at.found && object_at(dict, 1 + n + at.index) == value) return dict;
    if (!at.found && n == DICT_FLAT_MAX) return flat_overflow(p, dict, key, value);
    Value roots[3] = {dict, key, value};
    if (!heap_reserve_rooted(p, 1 + 2 * (n + 1), roots, 3)) return V_HOLE;
    const uint64_t *from = object_words(roots[0]) + 1;
    if (at.found) {
        Value copy = flat_new(p, n);
        memcpy(object_words(copy) + 1, from, 2 * n * sizeof *from);
        object_words(copy)[1 + n + at.index] = roots[2];
        return copy;
    }
    Value grown = flat_new(p, n + 1);
    uint64_t *keys = object_words(grown) + 1, *values = keys + n + 1;
    copy_with_gap(keys, from, n, at.index);
    copy_with_gap(values, from + n, n, at.index);
    keys[at.index] = roots[1];
    values[at.index] = roots[2];
    return grown;
}

static Value flat_remove(Process *p, Value dict, Value key) {
    size_t n = dict_size(dict);
    KeyPlace at = flat_search(p->vm, dict, key);
    if (!at.found) return dict;
    if (!heap_reserve_rooted(p, 1 + 2 * (n - 1), &dict, 1)) return V_HOLE;
    Value less = flat_new(p, n - 1);
    const uint64_t *from = object_words(dict) + 1;
    uint64_t *to = object_words(less) + 1;
    copy_without(to, from, n, at.index);
    copy_without(to + n - 1, from + n, n, at.index);
    return less;
}

/* --- trie edits: locate, reserve, build the last node anew, copy the path above it --- */

static size_t path_words(const Place *place) {
    size_t words = DICT_TRIE_WORDS;
    for (unsigned i = 0; i <= place->depth; i++) words += object_size(place->node[i]);
    return words;
}

/* A copy of the node with one word replaced. */
static Value node_with_word(Process *p, Value old, size_t index, Value word) {
    size_t size = object_size(old);
    Value node = heap_new(p, KIND_DICT_NODE, CLASS_ID_Dictionary, size);
    memcpy(object_words(node) + 1, object_words(old) + 1, (size - 1) * sizeof(uint64_t));
    object_words(node)[index] = word;
    return node;
}

/* Copies the nodes above the last one, each with its child on the path replaced. Answers the new root. */
static Value copy_path(Process *p, const Place *place, uint64_t hash, unsigned depth, Value child) {
    for (unsigned level = depth; level-- > 0;) {
        Value old = place->node[level];
        child = node_with_word(p, old, child_word(old, 1u << hash_digit(hash, level)), child);
    }
    return child;
}

/* The last node with a pair put in at the word where the key would go. */
static Value node_with_pair(Process *p, Value old, uint32_t bit, uint32_t index, Value key, Value value) {
    bool collides = node_collides(old);
    size_t size = object_size(old);
    Value node = node_new(p, collides ? 0 : node_data(old) | bit, node_children(old), node_pairs(old) + 1);
    uint64_t *to = object_words(node);
    const uint64_t *from = object_words(old);
    memcpy(to + DICT_NODE_FIRST, from + DICT_NODE_FIRST, (index - DICT_NODE_FIRST) * sizeof *to);
    to[index] = key;
    to[index + 1] = value;
    memcpy(to + index + 2, from + index, (size - index) * sizeof *to);
    return node;
}

typedef struct {
    Value key, value;
    uint64_t hash;
} Entry;

/* Nodes from `level` on that hold just two entries. */
static Value two_entries(Process *p, unsigned level, Entry a, Entry b) {
    unsigned last = level;
    while (last < DICT_LEVELS && hash_digit(a.hash, last) == hash_digit(b.hash, last)) last++;
    bool collide = last == DICT_LEVELS;
    uint32_t a_bit = collide ? 0 : 1u << hash_digit(a.hash, last),
             b_bit = collide ? 0 : 1u << hash_digit(b.hash, last);
    bool in_order = collide ? value_compare_keys(p->vm, a.key, b.key) < 0 : a_bit < b_bit;
    Value node = node_new(p, a_bit | b_bit, 0, 2);
    uint64_t *words = object_words(node) + DICT_NODE_FIRST;
    words[in_order ? 0 : 2] = a.key, words[in_order ? 1 : 3] = a.value;
    words[in_order ? 2 : 0] = b.key, words[in_order ? 3 : 1] = b.value;
    while (last-- > level) {
        Value parent = node_new(p, 0, 1u << hash_digit(a.hash, last), 0);
        object_words(parent)[DICT_NODE_FIRST] = node;
        node = parent;
    }
    return node;
}
#define TWO_ENTRIES_WORDS ((DICT_LEVELS + 1) * (DICT_NODE_FIRST + 1) + DICT_NODE_FIRST + 4)

/* The last node with the pair at index moved into a child. */
static Value node_with_child(Process *p, Value old, uint32_t bit, uint32_t index, Value child) {
    uint32_t data = node_data(old) & ~bit, children = node_children(old) | bit;
    size_t size = object_size(old), pairs = (size_t)__builtin_popcount(data);
    Value node = node_new(p, data, children, pairs);
    uint64_t *to = object_words(node);
    const uint64_t *from = object_words(old);
    size_t at = child_word(node, bit), old_at = at + 2; /* where the children behind it were */
    memcpy(to + DICT_NODE_FIRST, from + DICT_NODE_FIRST, (index - DICT_NODE_FIRST) * sizeof *to);
    memcpy(to + index, from + index + 2, (at - index) * sizeof *to);
    to[at] = child;
    memcpy(to + at + 1, from + old_at, (size - old_at) * sizeof *to);
    return node;
}

static Value put_clash(Process *p, const Place *place, Entry entry) {
    Value old = place->node[place->depth];
    Entry other = {object_at(old, place->index), object_at(old, place->index + 1), 0};
    other.hash = value_hash(p->vm, other.key);
    Value child = two_entries(p, place->depth + 1, entry, other);
    return node_with_child(p, old, 1u << hash_digit(entry.hash, place->depth), place->index, child);
}

static Value trie_put(Process *p, Value dict, Value key, Value value) {
    uint64_t hash = value_hash(p->vm, key);
    Place place;
    locate(p->vm, object_at(dict, DICT_TRIE_ROOT), hash, key, &place);
    if (place.kind == PLACE_FOUND && object_at(place.node[place.depth], place.index + 1) == value)
        return dict;
    size_t words = path_words(&place) + (place.kind == PLACE_CLASH ? TWO_ENTRIES_WORDS : 2);
    if (!heap_has_room(p, words)) {
        Value roots[3] = {dict, key, value};
        if (!heap_reserve_rooted(p, words, roots, 3)) return V_HOLE;
        dict = roots[0], key = roots[1], value = roots[2];
        locate(p->vm, object_at(dict, DICT_TRIE_ROOT), hash, key, &place); /* everything has moved */
    }
    size_t count = dict_size(dict);
    Value node = place.node[place.depth];
    uint32_t bit = place.depth < DICT_LEVELS ? 1u << hash_digit(hash, place.depth) : 0;
    switch (place.kind) {
    case PLACE_FOUND: node = node_with_word(p, node, place.index + 1, value); break;
    case PLACE_FREE: node = node_with_pair(p, node, bit, place.index, key, value), count++; break;
    case PLACE_CLASH: node = put_clash(p, &place, (Entry){key, value, hash}), count++; break;
    }
    return trie_new(p, count, copy_path(p, &place, hash, place.depth, node));
}

/* The 32 entries that remain when one of 33 goes. */
static Value trie_underflow(Process *p, Value dict, Value gone) {
    Value keys[DICT_FLAT_MAX], values[DICT_FLAT_MAX], key, value;
    size_t n = 0;
    DictIter it;
    dict_iter_init(&it, dict);
    while (dict_iter_next(&it, &key, &value)) {
        if (key == gone) continue; /* the very word that locate found */
        keys[n] = key;
        values[n++] = value;
    }
    RootSpan key_span, value_span;
    roots_push(p, &key_span, keys, n);
    roots_push(p, &value_span, values, n);
    Value flat = dict_from_entries(p, keys, values, n);
    roots_pop(p, &value_span);
    roots_pop(p, &key_span);
    return flat;
}

static Value node_without_pair(Process *p, Value old, uint32_t bit, uint32_t index) {
    size_t size = object_size(old);
    Value node = node_new(p, node_data(old) & ~bit, node_children(old), node_pairs(old) - 1);
    uint64_t *to = object_words(node);
    const uint64_t *from = object_words(old);
    memcpy(to + DICT_NODE_FIRST, from + DICT_NODE_FIRST, (index - DICT_NODE_FIRST) * sizeof *to);
    memcpy(to + index, from + index + 2, (size - index - 2) * sizeof *to);
    return node;
}

/* A node whose child under bit has shrunk to one entry: the entry takes the child's place. */
static Value node_with_inlined(Process *p, Value old, uint32_t bit, Value key, Value value) {
    uint32_t data = node_data(old) | bit, children = node_children(old) & ~bit;
    size_t size = object_size(old), old_child = child_word(old, bit);
    size_t index = DICT_NODE_FIRST + 2 * bit_rank(data, bit);
    Value node = node_new(p, data, children, (size_t)__builtin_popcount(data));
    uint64_t *to = object_words(node);
    const uint64_t *from = object_words(old);
    memcpy(to + DICT_NODE_FIRST, from + DICT_NODE_FIRST, (index - DICT_NODE_FIRST) * sizeof *to);
    to[index] = key;
    to[index + 1] = value;
    memcpy(to + index + 2, from + index, (old_child - index) * sizeof *to);
    memcpy(to + old_child + 2, from + old_child + 1, (size - old_child - 1) * sizeof *to);
    return node;
}

static bool node_is_only_child(Value node) { return object_size(node) == DICT_NODE_FIRST + 1; }

/* The new root without the pair at place. */
static Value remove_at(Process *p, const Place *place, uint64_t hash) {
    unsigned depth = place->depth;
    Value last = place->node[depth];
    bool two_pairs = object_size(last) == DICT_NODE_FIRST + 4 && node_children(last) == 0;
    if (depth > 0 &&
        two_pairs) { /* the other pair moves up to the first node that it does not leave alone there */
        uint32_t rest = place->index == DICT_NODE_FIRST ? DICT_NODE_FIRST + 2 : DICT_NODE_FIRST;
        Value key = object_at(last, rest), value = object_at(last, rest + 1);
        do depth--;
        while (depth > 0 && node_is_only_child(place->node[depth]));
        Value node = node_with_inlined(p, place->node[depth], 1u << hash_digit(hash, depth), key, value);
        return copy_path(p, place, hash, depth, node);
    }
    uint32_t bit = node_collides(last) ? 0 : 1u << hash_digit(hash, depth);
    return copy_path(p, place, hash, depth, node_without_pair(p, last, bit, place->index));
}

static Value trie_remove(Process *p, Value dict, Value key) {
    uint64_t hash = value_hash(p->vm, key);
    Place place;
    locate(p->vm, object_at(dict, DICT_TRIE_ROOT), hash, key, &place);
    if (place.kind != PLACE_FOUND) return dict;
    size_t count = dict_size(dict) - 1;
    if (count == DICT_FLAT_MAX)
        return trie_underflow(p, dict, object_at(place.node[place.depth], place.index));
    size_t words = path_words(&place) + 1; /* an inlined pair has one word more than the child */
    if (!heap_has_room(p, words)) {
        Value roots[2] = {dict, key};
        if (!heap_reserve_rooted(p, words, roots, 2)) return V_HOLE;
        dict = roots[0], key = roots[1];
        locate(p->vm, object_at(dict, DICT_TRIE_ROOT), hash, key, &place);
    }
    return trie_new(p, count, remove_at(p, &place, hash));
}

/* --- edits of either --- */

Value dict_put(Process *p, Value dict, Value key, Value value) {
    return object_kind(dict) == KIND_DICT ? flat_put(p, dict, key, value) : trie_put(p, dict, key, value);
}

Value dict_remove(Process *p, Value dict, Value key) {
    return object_kind(dict) == KIND_DICT ? flat_remove(p, dict, key) : trie_remove(p, dict, key);
}
