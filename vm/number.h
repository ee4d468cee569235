/* Numbers: integers of any size (63-bit immediates and bignums) and finite doubles (immediate or boxed).
 *
 * Owner: the process whose heap gets the answers. Invariants: an integer that fits 63 bits is immediate, a
 * bignum has no leading zero limb; no NaN and no infinity is ever made. Slow paths below take any operands: a
 * non-number raises type_error "bad arithmetic operation", an integer beyond INTEGER_MAX_BITS raises
 * resource_error. The interpreter tries the inline forms first. Operands may be plain C locals: every
 * function roots them itself.
 */
#ifndef BT_VM_NUMBER_H
#define BT_VM_NUMBER_H

#include "vm/process.h"

#define INTEGER_MAX_BITS ((uint64_t)1 << 26)

static inline bool value_is_bignum(Value v) { return value_is_kind(v, KIND_BIGNUM); }
static inline bool number_is_integer(Value v) { return value_is_int(v) || value_is_bignum(v); }
static inline bool number_is_float(Value v) { return value_is_flonum(v) || value_is_kind(v, KIND_FLOAT); }
static inline bool number_is(Value v) {
    return value_is_int(v) || value_is_flonum(v) ||
           (value_is_ptr(v) && (object_kind(v) == KIND_FLOAT || object_kind(v) == KIND_BIGNUM));
}
/* The double of a Float value (immediate or boxed). */
static inline double number_float_value(Value v) {
    if (value_is_flonum(v)) return flonum_decode(v);
    double d;
    memcpy(&d, object_words(v) + 1, sizeof d);
    return d;
}

/* The two zeros: literals of the VM itself. */
extern const uint64_t FLOAT_ZEROS[2][2];
static inline Value number_zero(double zero) {
    return (Value)(uintptr_t)FLOAT_ZEROS[__builtin_signbit(zero) ? 1 : 0];
}
/* A double that needs no memory of a process's. */
static inline bool number_free_double(double d, Value *out) {
    if (flonum_encode(d, out)) return true;
    return d == 0 ? *out = number_zero(d), true : false;
}

/* Arithmetic. All: MAY_GC; PRIM_OK with *out, or PRIM_RAISE. */
PrimStatus number_add(Process *p, Value a, Value b, Value *out);
PrimStatus number_sub(Process *p, Value a, Value b, Value *out);
PrimStatus number_mul(Process *p, Value a, Value b, Value *out);
PrimStatus number_div(Process *p, Value a, Value b, Value *out);      /* `/`: always a Float */
PrimStatus number_quotient(Process *p, Value a, Value b, Value *out); /* `div:`: integers, toward zero */
PrimStatus number_mod(Process *p, Value a, Value b,
                      Value *out); /* `%`: sign of the dividend, integers only */
PrimStatus number_pow(Process *p, Value a, Value b, Value *out);    /* `**`: always an Integer */
PrimStatus number_raised(Process *p, Value a, Value b, Value *out); /* raisedTo: */
PrimStatus number_negate(Process *p, Value a, Value *out);          /* Floats: 0.0 - a */
PrimStatus number_bit_and(Process *p, Value a, Value b, Value *out);
PrimStatus number_bit_or(Process *p, Value a, Value b, Value *out);
PrimStatus number_bit_xor(Process *p, Value a, Value b, Value *out);
PrimStatus number_bit_not(Process *p, Value a, Value *out);
PrimStatus number_bit_shift(Process *p, Value a, Value b, Value *out);
PrimStatus number_gcd(Process *p, Value a, Value b, Value *out);

/* Exact comparison of two numbers by mathematical value: <0, 0, >0. No allocation; both must be numbers. */
int number_compare(Value a, Value b);

/* Boxes. MAY_GC. number_from_double refuses what is not finite with type_error. */
PrimStatus number_from_int64(Process *p, int64_t i, Value *out);
PrimStatus number_from_uint64(Process *p, uint64_t i, Value *out);
PrimStatus number_from_double(Process *p, double d, Value *out);
/* Integer of an integral finite double (exact, any size). */
PrimStatus number_integer_from_double(Process *p, double integral, Value *out);
/* Nearest double of a number, ties to even. False if not a number or out of range. */
bool number_to_double(Value v, double *out);

/* Text to numbers; the caller has checked the syntax (digits of the radix, 2 to 36; no sign, no separators).
 */
PrimStatus number_from_digits(Process *p, const char *digits, size_t length, unsigned radix, bool negative,
                              Value *out);
/* [+-]?[0-9]+ of any length, else PRIM_FAIL. */
PrimStatus number_parse_integer(Process *p, const char *text, size_t length, Value *out);
/* Nearest double of [+-]?[0-9]+.[0-9]+([eE][+-]?[0-9]+)?, else PRIM_FAIL; overflow is PRIM_FAIL too. */
PrimStatus number_parse_float(Process *p, const char *text, size_t length, Value *out);

/* Words an integer of this decimal text may need as a BIGNUM (0 if it is immediate), and the making of one in
 * memory that the caller owns (literals of a code unit, which have no process). False: over the limit or out
 * of memory. */
size_t number_literal_words(const char *digits, size_t length, unsigned radix);
bool number_literal_make(const Memory *memory, uint64_t *words, const char *digits, size_t length,
                         unsigned radix, bool negative, Value *out, size_t *used_words);

#endif
