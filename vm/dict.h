/* Dictionaries and Sets: persistent maps from keys compared by `=:=`.
 *
 * Up to 32 entries: KIND_DICT, keys sorted by value_compare_keys. Above: KIND_DICT_TRIE, a CHAMP trie over
 * value_hash taken five bits at a time from the low end; DICT_NODE holds its pairs first, then its children,
 * both in bit order. Where 64 bits are used up, colliding keys lie in a node whose maps are both 0, sorted by
 * value_compare_keys. A Set (KIND_SET) wraps a map whose values are nil.
 *
 * Invariant: the shape is a function of the content alone, whatever the edits: no node but the root has a
 * single entry, 32 entries or fewer are flat. So equality, order and hash walk the structure, and iteration
 * order is equal for equal maps. Owner: the process whose heap holds them. Functions root single Values
 * themselves; arrays of Values must lie in rooted memory. V_HOLE as an answer of a maker: a resource_error is
 * pending.
 */
#ifndef BT_VM_DICT_H
#define BT_VM_DICT_H

#include "vm/process.h"

#define DICT_FLAT_MAX 32u
#define DICT_LEVELS 13u /* bitmap nodes on a path: 64 hash bits, 5 at a time; a collision node may follow */
/* Word indexes. */
enum { DICT_TRIE_COUNT = 1, DICT_TRIE_ROOT, DICT_TRIE_WORDS };
enum { DICT_NODE_MAPS = 1, DICT_NODE_FIRST };

static inline bool dict_is(Value v) {
    return value_is_ptr(v) && (object_kind(v) == KIND_DICT || object_kind(v) == KIND_DICT_TRIE);
}
static inline size_t dict_size(Value dict) {
    return object_kind(dict) == KIND_DICT ? (object_size(dict) - 1) / 2
                                          : (size_t)value_to_int(object_at(dict, DICT_TRIE_COUNT));
}

/* The value under key, V_HOLE if there is none. No allocation. */
Value dict_get(BtVm *vm, Value dict, Value key);
static inline bool dict_has(BtVm *vm, Value dict, Value key) { return dict_get(vm, dict, key) != V_HOLE; }

/* All MAY_GC. */
Value dict_empty(Process *p);
Value dict_put(Process *p, Value dict, Value key, Value value);
Value dict_remove(Process *p, Value dict, Value key); /* absent: the same dictionary */
/* key, value, key, value ...: count pairs; of equal keys the last wins. */
Value dict_from_pairs(Process *p, const Value *pairs, size_t count);
/* The same from separate arrays. values NULL: all nil. */
Value dict_from_entries(Process *p, const Value *keys, const Value *values, size_t count);
Value dict_merge(Process *p, Value left, Value right); /* the right side wins */
Value dict_keys(Process *p, Value dict);               /* Lists in iteration order */
Value dict_values(Process *p, Value dict);

/* Iteration in the order of the language: term order when flat, trie order above. No allocation; the Values
 * in the iterator are not rooted, so it is good until the next reserve. */
typedef struct {
    Value node[DICT_LEVELS + 1]; /* path in the trie; [0] alone when flat */
    uint32_t at[DICT_LEVELS + 1];
    int depth; /* of the current node, -1 at the end */
} DictIter;
void dict_iter_init(DictIter *it, Value dict);
/* False at the end. */
bool dict_iter_next(DictIter *it, Value *key, Value *value);

/* Checks every invariant (tests, ASSERT_HEAVY). */
bool dict_is_valid(BtVm *vm, Value dict);

/* Sets. */
static inline bool set_is(Value v) { return value_is_kind(v, KIND_SET); }
static inline Value set_dict(Value set) { return object_at(set, 1); }
static inline size_t set_size(Value set) { return dict_size(set_dict(set)); }
static inline bool set_has(BtVm *vm, Value set, Value element) {
    return dict_has(vm, set_dict(set), element);
}
/* All MAY_GC. */
Value set_from_dict(Process *p, Value dict); /* the values must be nil */
Value set_from(Process *p, const Value *values, size_t count);
Value set_from_list(Process *p, Value list);
Value set_add(Process *p, Value set, Value element);
Value set_remove(Process *p, Value set, Value element);
Value set_to_list(Process *p, Value set);
Value set_union(Process *p, Value left, Value right);
Value set_intersection(Process *p, Value left, Value right);
Value set_difference(Process *p, Value left, Value right);
bool set_is_subset(BtVm *vm, Value left, Value right);

#endif
