/* A pair of 64-bit words changed together by compare-and-swap (cmpxchg16b).
 *
 * gcc's _Atomic of 16 bytes calls libatomic, so the __sync builtins are used; they are full barriers and
 * ThreadSanitizer knows them. The pair is never written by plain stores once it is shared, save by
 * word128_publish. Build with -mcx16.
 */
#ifndef BT_VM_ATOMIC128_H
#define BT_VM_ATOMIC128_H

#include <stdbool.h>
#include <stdint.h>

#ifndef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
#error "compile with -mcx16"
#endif

typedef struct Word128 {
    uint64_t low, high;
} Word128;

typedef unsigned __int128 Raw128 __attribute__((may_alias));

/* Two loads: the halves may be of different times. Good as a first guess for word128_cas, and each half is
 * true by itself. acquire: pairs with word128_cas. */
static inline Word128 word128_peek(const uint64_t word[2]) {
    Word128 w;
    w.low = __atomic_load_n(&word[0], __ATOMIC_ACQUIRE);
    w.high = __atomic_load_n(&word[1], __ATOMIC_ACQUIRE);
    return w;
}

/* A new low half, where nobody else's compare-and-swap can succeed: they all want a generation that has not
 * been given out yet. release: pairs with the acquire of word128_peek. */
static inline void word128_publish(uint64_t word[2], uint64_t low) {
    __atomic_store_n(&word[0], low, __ATOMIC_RELEASE);
}

/* Sequentially consistent. On failure *expected is what was found. */
static inline bool word128_cas(uint64_t word[2], Word128 *expected, Word128 desired) {
    unsigned __int128 want = ((unsigned __int128)expected->high << 64) | expected->low;
    unsigned __int128 put = ((unsigned __int128)desired.high << 64) | desired.low;
    unsigned __int128 found = __sync_val_compare_and_swap((Raw128 *)word, want, put);
    if (found == want) return true;
    expected->low = (uint64_t)found;
    expected->high = (uint64_t)(found >> 64);
    return false;
}

#endif
