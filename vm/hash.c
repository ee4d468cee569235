#include "vm/hash.h"
#include "vm/number.h"
#include "vm/string.h"
#include "vm/vm.h"

/* Depth and number of parts that count. The recursion below is bounded by MAX_DEPTH. */
#define MAX_DEPTH 16
#define MAX_PARTS 65536

/* Seeds that keep kinds apart. Fixed numbers: hashes must be the same from run to run. */
enum {
    SEED_CONST = 1,
    SEED_SYMBOL,
    SEED_CLASS,
    SEED_META,
    SEED_PID,
    SEED_FLOAT,
    SEED_BIGNUM,
    SEED_BYTES,
    SEED_KIND = 32
};

typedef struct {
    BtVm *vm;
    unsigned parts;
} Hasher;

static uint64_t combine(uint64_t h, uint64_t x) {
    return hash_mix(h ^ (x + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2)));
}

uint64_t hash_bytes(const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    uint64_t h = combine(SEED_BYTES, length), word;
    for (; length >= 8; length -= 8, at += 8) {
        memcpy(&word, at, 8);
        h = (h ^ word) * 0x9fb21c651e98df25ull;
        h ^= h >> 29;
    }
    word = 0;
    if (length) memcpy(&word, at, length);
    return combine(h, word);
}

static uint64_t class_name_hash(BtVm *vm, uint32_t class_id) {
    Class *c = class_by_id(vm, class_id);
    return c ? symbol_hash(vm, c->name) : class_id;
}

static uint64_t hash_immediate(BtVm *vm, Value v) {
    if (value_is_int(v)) return value_hash(vm, v);
    if (value_is_symbol(v)) return combine(SEED_SYMBOL, symbol_hash(vm, v));
    if (value_is_class(v)) return combine(SEED_CLASS, class_name_hash(vm, special_payload(v)));
    if (value_is_meta(v)) return combine(SEED_META, class_name_hash(vm, special_payload(v)));
    if (value_is_pid(v)) return combine(SEED_PID, v);
    if (value_is_flonum(v)) return combine(SEED_FLOAT, v);
    return combine(SEED_CONST, v);
}

static uint64_t hash_part(Hasher *h, Value v, unsigned depth);

static uint64_t hash_words(Hasher *h, uint64_t seed, Value v, size_t first, unsigned depth) {
    size_t size = object_size(v);
    for (size_t i = first; i < size && h->parts; i++)
        seed = combine(seed, hash_part(h, object_at(v, i), depth));
    return seed;
}

static uint64_t hash_list(Hasher *h, Value v, unsigned depth) {
    uint64_t hash = SEED_KIND + KIND_CONS;
    while (value_is_kind(v, KIND_CONS) && h->parts) {
        h->parts--;
        hash = combine(hash, hash_part(h, CONS_HEAD(v), depth));
        v = CONS_TAIL(v);
    }
    return hash;
}

/* Elements only: the shape of the tree is a matter of its length. */
static uint64_t hash_array(Hasher *h, Value v, unsigned depth) {
    if (object_kind(v) == KIND_ARRAY)
        return hash_words(h, combine(SEED_KIND + KIND_ARRAY, object_size(v)), v, 1, depth);
    return hash_words(h, combine(SEED_KIND + KIND_ARRAY_TREE, object_at(v, 1)), v, 3, depth);
}

/* A node with colliding keys counts by its size: the order of its entries is no part of its content. */
static uint64_t hash_dict_node(Hasher *h, Value v, unsigned depth) {
    uint64_t maps = object_at(v, 1);
    uint64_t hash = combine(combine(SEED_KIND + KIND_DICT_NODE, maps), object_size(v));
    return maps ? hash_words(h, hash, v, 2, depth) : hash;
}

static uint64_t hash_closure(Hasher *h, Value v, unsigned depth) {
    const Function *fn = closure_function(v);
    uint64_t hash = combine(SEED_KIND + KIND_CLOSURE, (uint64_t)(fn - fn->unit->functions));
    if (value_is_symbol(fn->name)) hash = combine(hash, symbol_hash(h->vm, fn->name));
    return hash_words(h, hash, v, CLOSURE_CAPTURES, depth);
}

static uint64_t hash_object(Hasher *h, Value v, unsigned depth) {
    ObjectKind kind = object_kind(v);
    uint64_t seed = SEED_KIND + (uint64_t)kind;
    size_t length;
    switch (kind) {
    case KIND_FLOAT: return combine(SEED_FLOAT, object_at(v, 1));
    case KIND_BIGNUM:
        return combine(hash_bytes(object_words(v) + 2, (object_size(v) - 2) * 8),
                       SEED_BIGNUM + (object_at(v, 1) & 1));
    case KIND_STRING:
    case KIND_STRING_REF: {
        const char *bytes = string_bytes(v, &length);
        return hash_bytes(bytes, length);
    }
    case KIND_CONS: return hash_list(h, v, depth);
    case KIND_ARRAY:
    case KIND_ARRAY_TREE: return hash_array(h, v, depth);
    case KIND_DICT_TRIE: return hash_words(h, combine(seed, object_at(v, 1)), v, 2, depth);
    case KIND_DICT_NODE: return hash_dict_node(h, v, depth);
    case KIND_INSTANCE:
        return hash_words(h, combine(seed, class_name_hash(h->vm, object_class(v))), v, 1, depth);
    case KIND_CLOSURE: return hash_closure(h, v, depth);
    case KIND_TIMER:
    case KIND_REFERENCE: return combine(seed, object_at(v, 1));
    case KIND_METHOD: return hash_words(h, seed, v, 2, depth);
    case KIND_NATIVE:
    case KIND_RECORD: return seed;
    default: return hash_words(h, combine(seed, object_size(v)), v, 1, depth);
    }
}

static uint64_t hash_part(Hasher *h, Value v, unsigned depth) {
    if (!value_is_ptr(v)) return hash_immediate(h->vm, v);
    if (depth == MAX_DEPTH || h->parts == 0) return SEED_KIND + (uint64_t)object_kind(v);
    h->parts--;
    return hash_object(h, v, depth + 1);
}

uint64_t value_hash_slow(BtVm *vm, Value v) {
    Hasher h = {vm, MAX_PARTS};
    return hash_part(&h, v, 0);
}
