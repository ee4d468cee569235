#include "vm/number.h"
#include "vm/bignum.h"
#include "vm/error.h"
#include "vm/float_text.h"
#include "vm/vm.h"

#include <math.h>

/* --- boxes
 * ----------------------------------------------------------------------------------------------------------------
 */

PrimStatus number_from_int64(Process *p, int64_t i, Value *out) {
    if (int_fits_small(i)) {
        *out = value_from_int(i);
        return PRIM_OK;
    }
    if (!heap_reserve(p, 3)) return PRIM_RAISE;
    Value v = heap_new(p, KIND_BIGNUM, CLASS_ID_Integer, 3);
    object_words(v)[1] = (1u << 1) | (i < 0);
    object_words(v)[2] = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    *out = v;
    return PRIM_OK;
}

PrimStatus number_from_uint64(Process *p, uint64_t i, Value *out) {
    if (i <= INT64_MAX) return number_from_int64(p, (int64_t)i, out);
    if (!heap_reserve(p, 3)) return PRIM_RAISE;
    Value v = heap_new(p, KIND_BIGNUM, CLASS_ID_Integer, 3);
    object_words(v)[1] = 1u << 1;
    object_words(v)[2] = i;
    *out = v;
    return PRIM_OK;
}

#define ZERO_HEADER                                                                                          \
    ((uint64_t)CLASS_ID_Float << 40 | (uint64_t)KIND_FLOAT << 34 | (uint64_t)OBJ_LITERAL << 29 | 2u << 1)
const uint64_t FLOAT_ZEROS[2][2] = {{ZERO_HEADER, 0}, {ZERO_HEADER, (uint64_t)1 << 63}};

PrimStatus number_from_double(Process *p, double d, Value *out) {
    if (number_free_double(d, out)) return PRIM_OK;
    if (!isfinite(d)) return error_arith(p);
    if (!heap_reserve(p, 2)) return PRIM_RAISE;
    Value v = heap_new(p, KIND_FLOAT, CLASS_ID_Float, 2);
    memcpy(object_words(v) + 1, &d, sizeof d);
    *out = v;
    return PRIM_OK;
}

PrimStatus number_integer_from_double(Process *p, double integral, Value *out) {
    if (integral >= -0x1p62 && integral < 0x1p62) {
        *out = value_from_int((int64_t)integral);
        return PRIM_OK;
    }
    return bignum_from_double(p, integral, out);
}

bool number_to_double(Value v, double *out) {
    if (value_is_int(v)) {
        *out = (double)value_to_int(v);
        return true;
    }
    if (number_is_float(v)) {
        *out = number_float_value(v);
        return true;
    }
    return value_is_bignum(v) && bignum_to_double(v, out);
}

/* --- arithmetic
 * -----------------------------------------------------------------------------------------------------------
 */

static bool both_small(Value a, Value b) { return (a & b & 1) != 0; }
static bool both_integers(Value a, Value b) { return number_is_integer(a) && number_is_integer(b); }
static bool both_doubles(Value a, Value b, double *x, double *y) {
    return number_is(a) && number_is(b) && number_to_double(a, x) && number_to_double(b, y);
}

PrimStatus number_add(Process *p, Value a, Value b, Value *out) {
    double x, y;
    if (both_small(a, b)) return number_from_int64(p, value_to_int(a) + value_to_int(b), out);
    if (both_integers(a, b)) return bignum_add(p, a, b, false, out);
    return both_doubles(a, b, &x, &y) ? number_from_double(p, x + y, out) : error_arith(p);
}

PrimStatus number_sub(Process *p, Value a, Value b, Value *out) {
    double x, y;
    if (both_small(a, b)) return number_from_int64(p, value_to_int(a) - value_to_int(b), out);
    if (both_integers(a, b)) return bignum_add(p, a, b, true, out);
    return both_doubles(a, b, &x, &y) ? number_from_double(p, x - y, out) : error_arith(p);
}

PrimStatus number_mul(Process *p, Value a, Value b, Value *out) {
    double x, y;
    int64_t product;
    if (both_small(a, b) && !__builtin_mul_overflow(value_to_int(a), value_to_int(b), &product)) {
        return number_from_int64(p, product, out);
    }
    if (both_integers(a, b)) return bignum_mul(p, a, b, out);
    return both_doubles(a, b, &x, &y) ? number_from_double(p, x * y, out) : error_arith(p);
}

PrimStatus number_div(Process *p, Value a, Value b, Value *out) {
    double x, y;
    if (!both_doubles(a, b, &x, &y) || y == 0) return error_arith(p);
    return number_from_double(p, x / y, out);
}

PrimStatus number_quotient(Process *p, Value a, Value b, Value *out) {
    if (!both_integers(a, b) || b == value_from_int(0)) return error_arith(p);
    if (both_small(a, b)) return number_from_int64(p, value_to_int(a) / value_to_int(b), out);
    return bignum_divide(p, a, b, out, NULL);
}

PrimStatus number_mod(Process *p, Value a, Value b, Value *out) {
    if (!both_integers(a, b) || b == value_from_int(0)) return error_arith(p);
    if (both_small(a, b)) {
        *out = value_from_int(value_to_int(a) % value_to_int(b));
        return PRIM_OK;
    }
    return bignum_divide(p, a, b, NULL, out);
}

PrimStatus number_negate(Process *p, Value a, Value *out) {
    if (number_is_float(a)) return number_from_double(p, 0.0 - number_float_value(a), out);
    return number_sub(p, value_from_int(0), a, out);
}

/* --- powers
 * ---------------------------------------------------------------------------------------------------------------
 */

/* Integer base, Integer exponent >= 0: exact. */
static PrimStatus exact_power(Process *p, Value base, Value exponent, Value *out) {
    if (value_is_int(exponent)) return bignum_pow(p, base, (uint64_t)value_to_int(exponent), out);
    /* Beyond 63 bits only -1, 0 and 1 have a power; parity decides for -1. */
    Magnitude m;
    magnitude_of(exponent, &m);
    return bignum_pow(p, base, (UINT64_MAX - 1) | (m.limbs[0] & 1), out);
}

static bool has_exact_power(Value base, Value exponent) {
    return both_integers(base, exponent) && number_compare(exponent, value_from_int(0)) >= 0;
}

PrimStatus number_pow(Process *p, Value a, Value b, Value *out) {
    double x, y;
    if (has_exact_power(a, b)) return exact_power(p, a, b, out);
    if (!both_doubles(a, b, &x, &y)) return error_arith(p);
    double power = pow(x, y);
    return isfinite(power) ? number_integer_from_double(p, round(power), out) : error_arith(p);
}

PrimStatus number_raised(Process *p, Value a, Value b, Value *out) {
    double x, y;
    if (has_exact_power(a, b)) return exact_power(p, a, b, out);
    return both_doubles(a, b, &x, &y) ? number_from_double(p, pow(x, y), out) : error_arith(p);
}

/* --- bits
 * -----------------------------------------------------------------------------------------------------------------
 */

PrimStatus number_bit_and(Process *p, Value a, Value b, Value *out) {
    if (both_small(a, b)) {
        *out = a & b;
        return PRIM_OK;
    }
    return both_integers(a, b) ? bignum_bits(p, a, b, BIT_AND, out) : error_arith(p);
}

PrimStatus number_bit_or(Process *p, Value a, Value b, Value *out) {
    if (both_small(a, b)) {
        *out = a | b;
        return PRIM_OK;
    }
    return both_integers(a, b) ? bignum_bits(p, a, b, BIT_OR, out) : error_arith(p);
}

PrimStatus number_bit_xor(Process *p, Value a, Value b, Value *out) {
    if (both_small(a, b)) {
        *out = (a ^ b) | 1u;
        return PRIM_OK;
    }
    return both_integers(a, b) ? bignum_bits(p, a, b, BIT_XOR, out) : error_arith(p);
}

PrimStatus number_bit_not(Process *p, Value a, Value *out) {
    return number_sub(p, value_from_int(-1), a, out);
}

PrimStatus number_bit_shift(Process *p, Value a, Value b, Value *out) {
    if (!both_integers(a, b)) return error_arith(p);
    if (!value_is_int(b)) {
        return bignum_shift(p, a, number_compare(b, value_from_int(0)) > 0 ? INT64_MAX : INT64_MIN + 1, out);
    }
    int64_t left = value_to_int(b);
    if (value_is_int(a) && left <= 0) {
        *out = value_from_int(value_to_int(a) >> (left < -62 ? 63 : -left));
        return PRIM_OK;
    }
    return bignum_shift(p, a, left, out);
}

PrimStatus number_gcd(Process *p, Value a, Value b, Value *out) {
    if (!both_integers(a, b)) return error_arith(p);
    if (!both_small(a, b)) return bignum_gcd(p, a, b, out);
    int64_t ia = value_to_int(a), ib = value_to_int(b);
    uint64_t x = ia < 0 ? 0 - (uint64_t)ia : (uint64_t)ia, y = ib < 0 ? 0 - (uint64_t)ib : (uint64_t)ib;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return number_from_uint64(p, x, out);
}

/* --- comparing
 * ------------------------------------------------------------------------------------------------------------
 */

static int compare_doubles(double x, double y) { return (x > y) - (x < y); }

#define EXACT_IN_DOUBLE ((int64_t)1 << 53)

static int compare_integer_double(Value integer, double d) {
    if (value_is_int(integer)) {
        int64_t i = value_to_int(integer);
        if (i >= -EXACT_IN_DOUBLE && i <= EXACT_IN_DOUBLE) return compare_doubles((double)i, d);
    }
    return bignum_compare_double(integer, d);
}

int number_compare(Value a, Value b) {
    if (both_small(a, b)) return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    bool a_float = number_is_float(a), b_float = number_is_float(b);
    if (a_float && b_float) return compare_doubles(number_float_value(a), number_float_value(b));
    if (b_float) return compare_integer_double(a, number_float_value(b));
    if (a_float) return -compare_integer_double(b, number_float_value(a));
    return bignum_compare(a, b);
}

/* --- text
 * -----------------------------------------------------------------------------------------------------------------
 */

#define SMALL_DIGITS 18

PrimStatus number_from_digits(Process *p, const char *digits, size_t length, unsigned radix, bool negative,
                              Value *out) {
    if (radix != 10 || length > SMALL_DIGITS)
        return bignum_from_digits(p, digits, length, radix, negative, out);
    int64_t i = 0;
    for (size_t at = 0; at < length; at++) i = i * 10 + (digits[at] - '0');
    *out = value_from_int(negative ? -i : i);
    return PRIM_OK;
}

PrimStatus number_parse_integer(Process *p, const char *text, size_t length, Value *out) {
    bool negative = length > 0 && text[0] == '-';
    size_t start = length > 0 && (text[0] == '-' || text[0] == '+');
    if (start == length) return PRIM_FAIL;
    for (size_t i = start; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return PRIM_FAIL;
    }
    return number_from_digits(p, text + start, length - start, 10, negative, out);
}

PrimStatus number_parse_float(Process *p, const char *text, size_t length, Value *out) {
    double d;
    return float_parse(p->vm->memory, text, length, &d) ? number_from_double(p, d, out) : PRIM_FAIL;
}
