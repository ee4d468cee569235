/* Maps made at once from many entries: literals, sets of Lists, merges, groupBy:. Sorts first, then builds
 * every node once. */
#include "vm/dict_internal.h"
#include "vm/bytecode/memory.h"
#include "vm/compare.h"
#include "vm/error.h"
#include "vm/hash.h"
#include "vm/vm.h"

#include <stdlib.h>

/* Entries to come: rooted arrays, a key or value every `stride` words. values NULL: all nil. */
typedef struct {
    const Value *keys, *values;
    size_t count, stride;
} Source;

static Value source_key(const Source *s, size_t i) { return s->keys[i * s->stride]; }
static Value source_value(const Source *s, size_t i) { return s->values ? s->values[i * s->stride] : V_NIL; }

/* --- up to 32 entries: sorted insertion --- */

typedef struct {
    uint32_t count;
    uint32_t index[DICT_FLAT_MAX]; /* of entries, in order of keys */
} FlatIndex;

/* False: a 33rd key. */
static bool flat_insert(BtVm *vm, FlatIndex *f, const Source *s, uint32_t entry) {
    uint32_t low = 0, high = f->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = value_compare_keys(vm, source_key(s, entry), source_key(s, f->index[middle]));
        if (order == 0) {
            f->index[middle] = entry;
            return true;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    if (f->count == DICT_FLAT_MAX) return false;
    memmove(f->index + low + 1, f->index + low, (f->count - low) * sizeof *f->index);
    f->index[low] = entry;
    f->count++;
    return true;
}

static Value flat_build(Process *p, const FlatIndex *f, const Source *s) {
    uint32_t n = f->count;
    if (!heap_reserve(p, 1 + 2 * (size_t)n)) return V_HOLE;
    Value dict = heap_new(p, KIND_DICT, CLASS_ID_Dictionary, 1 + 2 * (size_t)n);
    uint64_t *at = object_words(dict) + 1;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = source_key(s, f->index[i]);
        at[n + i] = source_value(s, f->index[i]);
    }
    return dict;
}

/* --- more: sorted by hash digits --- */

/* order: the hash with its digits turned round, so that sorting by it groups entries as the trie does. */
typedef struct {
    uint64_t order;
    size_t index;
} HashEntry;

static uint64_t order_of_hash(uint64_t hash) {
    uint64_t order = 0;
    for (unsigned level = 0; level + 1 < DICT_LEVELS; level++)
        order |= (uint64_t)hash_digit(hash, level) << (59 - DIGIT_BITS * level);
    return order | hash_digit(hash, DICT_LEVELS - 1);
}

static uint32_t order_digit(uint64_t order, unsigned level) {
    return level + 1 < DICT_LEVELS ? (uint32_t)(order >> (59 - DIGIT_BITS * level)) & 31u
                                   : (uint32_t)order & 15u;
}

static int compare_hash_entries(const void *a, const void *b) {
    const HashEntry *x = a, *y = b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Entries by their highest bits, so that a bucket holds few; then the buckets. */
#define BUCKET_BITS_MOST 16u
#define BUCKET_BY_HAND 32u

static void sort_bucket(HashEntry *entries, size_t n) {
    if (n > BUCKET_BY_HAND) { /* hashes made to meet */
        qsort(entries, n, sizeof *entries, compare_hash_entries);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        HashEntry entry = entries[i];
        size_t at = i;
        for (; at > 0 && compare_hash_entries(&entries[at - 1], &entry) > 0; at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

/* to: as many as entries. starts: 2^bits + 1 zeros. */
static void sort_by_buckets(const HashEntry *entries, HashEntry *to, size_t n, size_t *starts,
                            unsigned bits) {
    size_t buckets = (size_t)1 << bits;
    for (size_t i = 0; i < n; i++) starts[(entries[i].order >> (64 - bits)) + 1]++;
    for (size_t i = 1; i <= buckets; i++) starts[i] += starts[i - 1];
    for (size_t i = 0; i < n; i++) to[starts[entries[i].order >> (64 - bits)]++] = entries[i];
    for (size_t i = 0, from = 0; i < buckets; from = starts[i++]) sort_bucket(to + from, starts[i] - from);
}

/* The entries sorted in memory of its own, NULL without memory. */
static HashEntry *sorted_entries(BtVm *vm, const Source *s) {
    unsigned bits = 1;
    while (bits < BUCKET_BITS_MOST && (size_t)1 << bits < s->count) bits++;
    HashEntry *entries = memory_alloc(vm->memory, s->count * sizeof *entries),
              *sorted = memory_alloc(vm->memory, s->count * sizeof *sorted);
    size_t *starts = memory_zalloc(vm->memory, (((size_t)1 << bits) + 1) * sizeof *starts);
    bool made = entries && sorted && starts;
    for (size_t i = 0; made && i < s->count; i++)
        entries[i] = (HashEntry){order_of_hash(value_hash(vm, source_key(s, i))), i};
    if (made) sort_by_buckets(entries, sorted, s->count, starts, bits);
    memory_free(vm->memory, starts);
    memory_free(vm->memory, entries);
    if (made) return sorted;
    memory_free(vm->memory, sorted);
    return NULL;
}

typedef struct {
    BtVm *vm;
    const Source *source;
} KeyOrder;

/* Equal keys in order of appearance. */
static int compare_colliding(const void *a, const void *b, void *context) {
    const HashEntry *x = a, *y = b;
    const KeyOrder *by = context;
    int order =
        value_compare_keys(by->vm, source_key(by->source, x->index), source_key(by->source, y->index));
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Drops all but the last of equal keys; entries with one hash are left in order of keys. Answers how many
 * remain. */
static size_t drop_doubles(BtVm *vm, HashEntry *entries, size_t n, const Source *s) {
    size_t kept = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && entries[end].order == entries[i].order;) end++;
        if (end - i > 1)
            qsort_r(entries + i, end - i, sizeof *entries, compare_colliding, &(KeyOrder){vm, s});
        for (size_t k = i; k < end; k++) {
            bool same_follows = k + 1 < end && value_equal_strict(vm, source_key(s, entries[k].index),
                                                                  source_key(s, entries[k + 1].index));
            if (!same_follows) entries[kept++] = entries[k];
        }
    }
    return kept;
}

static size_t group_end(const HashEntry *entries, size_t at, size_t end, unsigned level) {
    uint32_t digit = order_digit(entries[at].order, level);
    do at++;
    while (at < end && order_digit(entries[at].order, level) == digit);
    return at;
}

/* Recursion as deep as the trie: at most DICT_LEVELS. */
static size_t node_words(const HashEntry *entries, size_t at, size_t end, unsigned level) {
    if (level == DICT_LEVELS) return DICT_NODE_FIRST + 2 * (end - at);
    size_t words = DICT_NODE_FIRST;
    for (size_t next; at < end; at = next) {
        next = group_end(entries, at, end, level);
        words += next - at == 1 ? 2 : 1 + node_words(entries, at, next, level + 1);
    }
    return words;
}

typedef struct {
    Process *p;
    const HashEntry *entries;
    const Source *source;
} Builder;

static void write_pair(const Builder *b, uint64_t *at, size_t entry) {
    at[0] = source_key(b->source, b->entries[entry].index);
    at[1] = source_value(b->source, b->entries[entry].index);
}

static Value build_collision(const Builder *b, size_t at, size_t end) {
    Value node = node_new(b->p, 0, 0, end - at);
    for (size_t i = at; i < end; i++) write_pair(b, object_words(node) + DICT_NODE_FIRST + 2 * (i - at), i);
    return node;
}

/* Recursion as deep as the trie; the words are reserved. */
static Value build_node(const Builder *b, size_t first, size_t end, unsigned level) {
    if (level == DICT_LEVELS) return build_collision(b, first, end);
    uint32_t data = 0, children = 0;
    for (size_t at = first, next; at < end; at = next) {
        next = group_end(b->entries, at, end, level);
        uint32_t bit = 1u << order_digit(b->entries[at].order, level);
        if (next - at == 1) {
            data |= bit;
        } else {
            children |= bit;
        }
    }
    Value node = node_new(b->p, data, children, (size_t)__builtin_popcount(data));
    uint64_t *pair = object_words(node) + DICT_NODE_FIRST,
             *child = pair + (ptrdiff_t)2 * __builtin_popcount(data);
    for (size_t at = first, next; at < end; at = next) {
        next = group_end(b->entries, at, end, level);
        if (next - at == 1) {
            write_pair(b, pair, at);
            pair += 2;
        } else {
            *child++ = build_node(b, at, next, level + 1);
        }
    }
    return node;
}

static Value trie_build(Process *p, const HashEntry *entries, size_t n, const Source *s) {
    if (!heap_reserve(p, DICT_TRIE_WORDS + node_words(entries, 0, n, 0))) return V_HOLE;
    Builder b = {p, entries, s};
    return trie_new(p, n, build_node(&b, 0, n, 0));
}

static Value large_build(Process *p, const Source *s) {
    HashEntry *entries = sorted_entries(p->vm, s);
    if (!entries) {
        error_resource(p, "Not enough memory for a Dictionary of this size");
        return V_HOLE;
    }
    size_t n = drop_doubles(p->vm, entries, s->count, s);
    Value dict;
    if (n > DICT_FLAT_MAX) {
        dict = trie_build(p, entries, n, s);
    } else {
        FlatIndex flat = {.count = 0};
        for (size_t i = 0; i < n; i++) flat_insert(p->vm, &flat, s, (uint32_t)entries[i].index);
        dict = flat_build(p, &flat, s);
    }
    memory_free(p->vm->memory, entries);
    return dict;
}

static Value build(Process *p, const Source *s) {
    FlatIndex flat = {.count = 0};
    if (s->count > (size_t)2 * DICT_FLAT_MAX) return large_build(p, s);
    for (uint32_t i = 0; i < s->count; i++)
        if (!flat_insert(p->vm, &flat, s, i)) return large_build(p, s);
    return flat_build(p, &flat, s);
}

Value dict_from_entries(Process *p, const Value *keys, const Value *values, size_t count) {
    return build(p, &(Source){keys, values, count, 1});
}

Value dict_from_pairs(Process *p, const Value *pairs, size_t count) {
    return build(p, &(Source){pairs, pairs + 1, count, 2});
}

/* --- merging --- */

void entries_add_all(EntryBuffer *b, Value dict) {
    DictIter it;
    Value key, value;
    dict_iter_init(&it, dict);
    while (dict_iter_next(&it, &key, &value)) entries_add(b, key, value);
}

Value entries_build(Process *p, EntryBuffer *b) {
    const Value *keys = b->buffer.items;
    Value dict = dict_from_entries(p, keys, keys + b->buffer.capacity / 2, b->count);
    rooted_close(p, &b->buffer);
    return dict;
}

/* A right side this many times smaller is put in entry by entry. */
#define MERGE_BY_PUT 8

Value dict_merge(Process *p, Value left, Value right) {
    size_t n = dict_size(left), m = dict_size(right);
    if (m == 0) return left;
    if (n == 0) return right;
    bool by_put = n > DICT_FLAT_MAX && n / MERGE_BY_PUT >= m;
    EntryBuffer b;
    if (!entries_open(p, &b, by_put ? m : n + m)) return V_HOLE;
    if (!by_put) {
        entries_add_all(&b, left);
        entries_add_all(&b, right);
        return entries_build(p, &b);
    }
    entries_add_all(&b, right);
    for (size_t i = 0; i < m && left != V_HOLE; i++)
        left = dict_put(p, left, b.buffer.items[i], b.buffer.items[m + i]);
    rooted_close(p, &b.buffer);
    return left;
}
