/* Primitives of Number, Integer, Float and Character, and the term order as a message. */
#include "vm/bignum.h"
#include "vm/compare.h"
#include "vm/print.h"
#include "vm/prims/prim_text.h"
#include "vm/unicode.h"

#include <math.h>

#define BINARY(name, operation)                                                                              \
    PRIM(name) { return (void)count, operation(p, args[0], args[1], result); }

BINARY(prim_number_add, number_add)
BINARY(prim_number_sub, number_sub)
BINARY(prim_number_mul, number_mul)
BINARY(prim_number_div, number_div)
BINARY(prim_number_mod, number_mod)
BINARY(prim_number_pow, number_pow)
BINARY(prim_number_raised, number_raised)
BINARY(prim_integer_div, number_quotient)
BINARY(prim_integer_gcd, number_gcd)
BINARY(prim_integer_bit_and, number_bit_and)
BINARY(prim_integer_bit_or, number_bit_or)
BINARY(prim_integer_bit_xor, number_bit_xor)
BINARY(prim_integer_bit_shift, number_bit_shift)

PRIM(prim_number_negated) { return (void)count, number_negate(p, args[0], result); }
PRIM(prim_integer_bit_not) { return (void)count, number_bit_not(p, args[0], result); }

PRIM(prim_number_print_string) {
    (void)count;
    char digits[SMALL_DIGITS];
    if (!value_is_int(args[0])) return value_print_string(p, args[0], result);
    size_t length;
    const char *from = small_digits(value_to_int(args[0]), digits, &length);
    if (!heap_reserve(p, string_inline_words(length))) return PRIM_RAISE;
    *result = string_build_inline(p, from, length);
    return PRIM_OK;
}

PRIM(prim_integer_as_float) {
    (void)count;
    double d;
    if (number_to_double(args[0], &d)) return number_from_double(p, d, result);
    return error_argument(p, args[0], prim_selector(p, "asFloat"), "The Integer is too large for a Float");
}

/* --- order
 * ----------------------------------------------------------------------------------------------------------------
 */

#define ORDER_TEST(name, relation)                                                                           \
    PRIM(name) {                                                                                             \
        (void)count;                                                                                         \
        *result = value_from_bool(value_compare(p->vm, args[0], args[1]) relation 0);                        \
        return PRIM_OK;                                                                                      \
    }

ORDER_TEST(prim_order_lt, <)
ORDER_TEST(prim_order_gt, >)
ORDER_TEST(prim_order_le, <=)
ORDER_TEST(prim_order_ge, >=)

/* --- functions of a double
 * ------------------------------------------------------------------------------------------------ */

/* A domain error gives NaN or an infinity, which number_from_double refuses. */
#define OF_DOUBLE(name, function)                                                                            \
    PRIM(name) {                                                                                             \
        (void)count;                                                                                         \
        double d;                                                                                            \
        return number_to_double(args[0], &d) ? number_from_double(p, function(d), result) : error_arith(p);  \
    }

OF_DOUBLE(prim_number_sqrt, sqrt)
OF_DOUBLE(prim_number_ln, log)
OF_DOUBLE(prim_number_log2, log2)
OF_DOUBLE(prim_number_log10, log10)
OF_DOUBLE(prim_number_exp, exp)
OF_DOUBLE(prim_float_sin, sin)
OF_DOUBLE(prim_float_cos, cos)
OF_DOUBLE(prim_float_tan, tan)
OF_DOUBLE(prim_float_asin, asin)
OF_DOUBLE(prim_float_acos, acos)
OF_DOUBLE(prim_float_atan, atan)
OF_DOUBLE(prim_float_sinh, sinh)
OF_DOUBLE(prim_float_cosh, cosh)
OF_DOUBLE(prim_float_tanh, tanh)

PRIM(prim_float_atan2) {
    (void)count;
    double y, x;
    if (!number_to_double(args[0], &y) || !number_to_double(args[1], &x)) return error_arith(p);
    return number_from_double(p, atan2(y, x), result);
}

#define TO_INTEGER(name, function)                                                                           \
    PRIM(name) {                                                                                             \
        (void)count;                                                                                         \
        double d;                                                                                            \
        return number_to_double(args[0], &d) ? number_integer_from_double(p, function(d), result)            \
                                             : error_arith(p);                                               \
    }

TO_INTEGER(prim_float_rounded, round)
TO_INTEGER(prim_float_ceiling, ceil)
TO_INTEGER(prim_float_floor, floor)
TO_INTEGER(prim_float_truncated, trunc)

/* --- code points
 * ----------------------------------------------------------------------------------------------------------
 */

#define IN_CLASS(name, which)                                                                                \
    PRIM(name) {                                                                                             \
        (void)p, (void)count;                                                                                \
        *result = value_from_bool(value_is_int(args[0]) && unicode_in_class(value_to_int(args[0]), which));  \
        return PRIM_OK;                                                                                      \
    }

IN_CLASS(prim_integer_is_letter, UNICODE_LETTER)
IN_CLASS(prim_integer_is_digit, UNICODE_DIGIT)
IN_CLASS(prim_integer_is_uppercase, UNICODE_UPPER)
IN_CLASS(prim_integer_is_lowercase, UNICODE_LOWER)
IN_CLASS(prim_integer_is_whitespace, UNICODE_SPACE)

static bool is_character(Value v) { return value_is_int(v) && unicode_is_scalar(value_to_int(v)); }

static PrimStatus no_character(Process *p, Value v, const char *selector) {
    return prim_type_error(p, v, selector,
                           "A character is a Unicode scalar value: 0 to 16r10FFFF without the surrogates");
}

PRIM(prim_character_value) {
    (void)count;
    if (!is_character(args[1])) return no_character(p, args[0], "value:");
    *result = args[1];
    return PRIM_OK;
}

PRIM(prim_character_as_integer) {
    (void)p, (void)count;
    *result = args[0];
    return PRIM_OK;
}

PRIM(prim_character_as_string) {
    (void)count;
    if (!is_character(args[0])) return no_character(p, args[0], "asString");
    return string_from_codepoint(p, (uint32_t)value_to_int(args[0]), result);
}

PRIM(prim_character_print_string) {
    (void)count;
    if (!is_character(args[0])) return no_character(p, args[0], "printString");
    char bytes[5] = {'$'};
    unsigned length = utf8_encode((uint32_t)value_to_int(args[0]), bytes + 1);
    return string_new(p, bytes, length + 1, result);
}

static PrimStatus map_character(Process *p, Value v, UnicodeCase to, const char *selector, Value *result) {
    if (!is_character(v)) return no_character(p, v, selector);
    uint32_t mapped[UNICODE_CASE_MAX];
    unicode_map_case((uint32_t)value_to_int(v), to, mapped);
    *result = value_from_int(mapped[0]);
    return PRIM_OK;
}

PRIM(prim_character_uppercase) {
    return (void)count, map_character(p, args[0], UNICODE_TO_UPPER, "uppercase", result);
}
PRIM(prim_character_lowercase) {
    return (void)count, map_character(p, args[0], UNICODE_TO_LOWER, "lowercase", result);
}
