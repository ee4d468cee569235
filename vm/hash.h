/* Content hash of any value: equal for =:= values, the same from run to run and in every process (symbols and
 * class objects by text). Work is bounded: beyond a depth of 16 and 65,536 parts the rest of a term counts by
 * kind only. Pure; any thread that may read the term. The trie dictionaries consume it five bits at a time.
 */
#ifndef BT_VM_HASH_H
#define BT_VM_HASH_H

#include "vm/value.h"

typedef struct BtVm BtVm;

uint64_t value_hash_slow(BtVm *vm, Value v);
/* Finalizer of 64-bit avalanche quality. */
static inline uint64_t hash_mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ (x >> 32);
}
static inline uint64_t value_hash(BtVm *vm, Value v) {
    return value_is_int(v) ? hash_mix((uint64_t)value_to_int(v) + 0x9e3779b97f4a7c15ull)
                           : value_hash_slow(vm, v);
}
uint64_t hash_bytes(const void *bytes, size_t length);
/* What `hash` answers to a program: 0 .. 2^27 - 1. */
static inline int64_t value_public_hash(BtVm *vm, Value v) {
    return (int64_t)(value_hash(vm, v) & 0x7ffffff);
}

#endif
