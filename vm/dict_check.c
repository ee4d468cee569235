/* The invariants of maps, checked by walking everything. */
#include "vm/dict_internal.h"
#include "vm/compare.h"
#include "vm/hash.h"

static bool keys_ascend(BtVm *vm, const uint64_t *keys, size_t count, size_t stride) {
    for (size_t i = 1; i < count; i++)
        if (value_compare_keys(vm, keys[(i - 1) * stride], keys[i * stride]) >= 0) return false;
    return true;
}

/* The hash of every key in the subtree must lead here: prefix holds its digits above `level`. Recursion as
 * deep as the trie. */
static bool node_is_valid(BtVm *vm, Value node, unsigned level, uint64_t prefix, size_t *count) {
    if (!value_is_kind(node, KIND_DICT_NODE)) return false;
    const uint64_t *words = object_words(node) + DICT_NODE_FIRST;
    uint32_t pairs = node_pairs(node), data = node_data(node), children = node_children(node);
    size_t entries = pairs;
    if (data & children || (level == DICT_LEVELS) != node_collides(node)) return false;
    if (object_size(node) != DICT_NODE_FIRST + 2 * (size_t)pairs + (size_t)__builtin_popcount(children))
        return false;
    uint64_t mask = level == 0             ? 0
                    : level == DICT_LEVELS ? UINT64_MAX
                                           : (UINT64_C(1) << (level * DIGIT_BITS)) - 1;
    for (uint32_t i = 0; i < pairs; i++)
        if ((value_hash(vm, words[(size_t)2 * i]) & mask) != prefix) return false;
    if (level == DICT_LEVELS) {
        *count += pairs;
        return pairs > 1 && keys_ascend(vm, words, pairs, 2);
    }
    for (uint32_t digit = 0, pair = 0, child = 0; digit < 32; digit++) {
        uint32_t bit = 1u << digit;
        if (data & bit && hash_digit(value_hash(vm, words[(size_t)2 * pair++]), level) != digit) return false;
        if (!(children & bit)) continue;
        size_t before = *count;
        uint64_t deeper = prefix | (uint64_t)digit << (level * DIGIT_BITS);
        if (!node_is_valid(vm, words[2 * pairs + child++], level + 1, deeper, count)) return false;
        entries += *count - before;
    }
    *count += pairs;
    return level == 0 || entries > 1;
}

bool dict_is_valid(BtVm *vm, Value dict) {
    if (!dict_is(dict)) return false;
    size_t count = 0;
    if (object_kind(dict) == KIND_DICT)
        return object_size(dict) % 2 == 1 && dict_size(dict) <= DICT_FLAT_MAX &&
               keys_ascend(vm, object_words(dict) + 1, dict_size(dict), 1);
    return node_is_valid(vm, object_at(dict, DICT_TRIE_ROOT), 0, 0, &count) && count == dict_size(dict) &&
           count > DICT_FLAT_MAX;
}
