/* Integers as sign and magnitude, arithmetic by GMP's mpn layer on limbs inside heap objects.
 *
 * Operands are Integer values of any size; number.c has checked that. Every function roots its operands,
 * reserves what result and scratch need before it computes (scratch lies behind the result, in the reserved
 * words), and answers PRIM_OK or PRIM_RAISE. GMP takes its own scratch for large operands from malloc and may
 * not fail there, so the worst case is asked for and given back first. Invariants: no leading zero limb; what
 * fits 63 bits is immediate; at most INTEGER_MAX_BITS bits.
 */
#ifndef BT_VM_BIGNUM_H
#define BT_VM_BIGNUM_H

#include <gmp.h>
#include "vm/number.h"
#include "vm/text.h"

/* A view of an Integer; `limbs` points into the object (or at `small`): take it again after any reserve. Zero
 * has count 0. */
typedef struct {
    const mp_limb_t *limbs;
    size_t count;
    bool negative;
    mp_limb_t small;
} Magnitude;
void magnitude_of(Value v, Magnitude *m);
size_t magnitude_bits(const Magnitude *m);

typedef enum { BIT_AND, BIT_OR, BIT_XOR } BitOperation;

PrimStatus bignum_add(Process *p, Value a, Value b, bool subtract, Value *out);
PrimStatus bignum_mul(Process *p, Value a, Value b, Value *out);
/* Truncated division, b not zero; either of quotient and remainder may be NULL. */
PrimStatus bignum_divide(Process *p, Value a, Value b, Value *quotient, Value *remainder);
PrimStatus bignum_pow(Process *p, Value base, uint64_t exponent, Value *out);
PrimStatus bignum_bits(Process *p, Value a, Value b, BitOperation operation, Value *out);
PrimStatus bignum_shift(Process *p, Value a, int64_t left, Value *out);
PrimStatus bignum_gcd(Process *p, Value a, Value b, Value *out);

int bignum_compare(Value a, Value b);
int bignum_compare_double(Value a, double d);
/* Nearest double, ties to even. False if out of range. */
bool bignum_to_double(Value v, double *out);
PrimStatus bignum_from_double(Process *p, double integral, Value *out);

PrimStatus bignum_from_digits(Process *p, const char *digits, size_t length, unsigned radix, bool negative,
                              Value *out);
/* The decimal text of a small one: ends with `digits`. */
enum { SMALL_DIGITS = 24 };
const char *small_digits(int64_t i, char digits[SMALL_DIGITS], size_t *length);
/* Appends the text of any Integer. t->failed if memory lacks. */
void integer_append_text(Text *t, Value v, unsigned radix);

#endif
