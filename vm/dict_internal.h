/* Private to dict*.c: parts of the map that lookup, edits and the bulk builder share. */
#ifndef BT_VM_DICT_INTERNAL_H
#define BT_VM_DICT_INTERNAL_H

#include "vm/dict.h"
#include "vm/rooted.h"

#define DIGIT_BITS 5u

static inline uint32_t hash_digit(uint64_t hash, unsigned level) {
    return (uint32_t)(hash >> (level * DIGIT_BITS)) & 31u;
}
static inline uint64_t node_maps(Value node) { return object_at(node, DICT_NODE_MAPS); }
static inline uint32_t node_data(Value node) { return (uint32_t)(node_maps(node) >> 32); }
static inline uint32_t node_children(Value node) { return (uint32_t)node_maps(node); }
static inline bool node_collides(Value node) { return node_maps(node) == 0; }
static inline uint64_t maps_make(uint32_t data, uint32_t children) { return (uint64_t)data << 32 | children; }
static inline uint32_t bit_rank(uint32_t map, uint32_t bit) {
    return (uint32_t)__builtin_popcount(map & (bit - 1));
}
static inline uint32_t node_pairs(Value node) {
    return node_collides(node) ? (uint32_t)(object_size(node) - DICT_NODE_FIRST) / 2
                               : (uint32_t)__builtin_popcount(node_data(node));
}
/* Word index of the child under bit. */
static inline uint32_t child_word(Value node, uint32_t bit) {
    return DICT_NODE_FIRST + 2 * (uint32_t)__builtin_popcount(node_data(node)) +
           bit_rank(node_children(node), bit);
}
static inline Value node_new(Process *p, uint32_t data, uint32_t children, size_t pairs) {
    size_t words = DICT_NODE_FIRST + 2 * pairs + (size_t)__builtin_popcount(children);
    Value node = heap_new(p, KIND_DICT_NODE, CLASS_ID_Dictionary, words);
    object_words(node)[DICT_NODE_MAPS] = maps_make(data, children);
    return node;
}
static inline Value trie_new(Process *p, size_t count, Value root) {
    Value trie = heap_new(p, KIND_DICT_TRIE, CLASS_ID_Dictionary, DICT_TRIE_WORDS);
    object_words(trie)[DICT_TRIE_COUNT] = value_from_int((int64_t)count);
    object_words(trie)[DICT_TRIE_ROOT] = root;
    return trie;
}

/* Where key is, or would go, among count sorted keys that lie stride words apart. */
typedef struct {
    uint32_t index;
    bool found;
} KeyPlace;
KeyPlace keys_search(BtVm *vm, const uint64_t *keys, uint32_t count, uint32_t stride, Value key);

/* Entries gathered on their way into a map: keys in the first half of the buffer, values in the second. */
typedef struct {
    RootedBuffer buffer;
    size_t count;
} EntryBuffer;
static inline bool entries_open(Process *p, EntryBuffer *b, size_t capacity) {
    b->count = 0;
    return rooted_open(p, &b->buffer, 2 * capacity);
}
static inline void entries_add(EntryBuffer *b, Value key, Value value) {
    b->buffer.items[b->count] = key;
    b->buffer.items[b->buffer.capacity / 2 + b->count++] = value;
}
void entries_add_all(EntryBuffer *b, Value dict);
/* The map of the entries; closes the buffer. MAY_GC. */
Value entries_build(Process *p, EntryBuffer *b);

#endif
