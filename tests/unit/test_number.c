/* Numbers against mpz (GMP's integer layer) and strtod: random operands of all sizes around the limb and
 * 63-bit borders. */
#include "tests/unit/test_process.h"
#include "tests/unit/test_suite.h"
#include "vm/bignum.h"
#include "vm/error.h"
#include "vm/float_text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- values and mpz
 * ------------------------------------------------------------------------------------------------------- */

static Value value_of_mpz(const mpz_t z) {
    char *text = mpz_get_str(NULL, 10, z);
    Value v;
    ck_assert_int_eq(number_parse_integer(&process, text, strlen(text), &v), PRIM_OK);
    free(text);
    return v;
}

static void mpz_of_value(mpz_t z, Value v) {
    Text t = TEXT_INIT;
    integer_append_text(&t, v, 10);
    text_append_char(&t, '\0');
    ck_assert_int_eq(mpz_set_str(z, t.bytes, 10), 0);
    text_free(&t);
}

static bool is_normal(Value v) {
    if (value_is_int(v)) return true;
    Magnitude m;
    magnitude_of(v, &m);
    if (m.count == 0 || m.limbs[m.count - 1] == 0) return false;
    return m.count > 1 || m.limbs[0] > (mp_limb_t)SMALLINT_MAX + m.negative;
}

static void assert_is(Value v, const mpz_t expected) {
    mpz_t got;
    mpz_init(got);
    mpz_of_value(got, v);
    ck_assert_msg(mpz_cmp(got, expected) == 0, "wrong value");
    ck_assert_msg(is_normal(v), "not normal");
    mpz_clear(got);
}

typedef PrimStatus (*NumberBinaryFn)(Process *p, Value a, Value b, Value *out);

typedef struct {
    gmp_randstate_t random;
    mpz_t a, b, c;
    Value values[2];
    RootSpan span;
} Pair;

static void pair_init(Pair *x) {
    gmp_randinit_mt(x->random);
    gmp_randseed_ui(x->random, 20260801);
    mpz_inits(x->a, x->b, x->c, NULL);
    x->values[0] = x->values[1] = value_from_int(0);
    roots_push(&process, &x->span, x->values, 2);
}

static void pair_clear(Pair *x) {
    roots_pop(&process, &x->span);
    gmp_randclear(x->random);
    mpz_clears(x->a, x->b, x->c, NULL);
}

static void random_integer(Pair *x, mpz_t z) {
    static const unsigned sizes[] = {1, 8, 31, 32, 61, 62, 63, 64, 65, 127, 128, 129, 300, 1000, 5000, 33220};
    unsigned bits = sizes[gmp_urandomm_ui(x->random, sizeof sizes / sizeof sizes[0])];
    if (gmp_urandomm_ui(x->random, 2)) {
        mpz_urandomb(z, x->random, bits);
    } else {
        mpz_rrandomb(z, x->random, bits); /* long runs of equal bits */
    }
    if (gmp_urandomm_ui(x->random, 2)) mpz_neg(z, z);
}

static void pair_next(Pair *x) {
    random_integer(x, x->a);
    random_integer(x, x->b);
    x->values[0] = value_of_mpz(x->a);
    x->values[1] = value_of_mpz(x->b);
}

static Value apply(Pair *x, NumberBinaryFn fn) {
    Value out = V_HOLE;
    ck_assert_int_eq(fn(&process, x->values[0], x->values[1], &out), PRIM_OK);
    return out;
}

#define ROUNDS 4000

START_TEST(test_ring_operations) {
    Pair x;
    pair_init(&x);
    for (int i = 0; i < ROUNDS; i++) {
        pair_next(&x);
        mpz_add(x.c, x.a, x.b);
        assert_is(apply(&x, number_add), x.c);
        mpz_sub(x.c, x.a, x.b);
        assert_is(apply(&x, number_sub), x.c);
        mpz_mul(x.c, x.a, x.b);
        assert_is(apply(&x, number_mul), x.c);
        mpz_gcd(x.c, x.a, x.b);
        assert_is(apply(&x, number_gcd), x.c);
    }
    pair_clear(&x);
}
END_TEST

START_TEST(test_division) {
    Pair x;
    pair_init(&x);
    for (int i = 0; i < ROUNDS; i++) {
        pair_next(&x);
        if (mpz_sgn(x.b) == 0) {
            Value out;
            ck_assert_int_eq(number_quotient(&process, x.values[0], x.values[1], &out), PRIM_RAISE);
            ck_assert_int_eq(number_mod(&process, x.values[0], x.values[1], &out), PRIM_RAISE);
            continue;
        }
        mpz_tdiv_q(x.c, x.a, x.b);
        assert_is(apply(&x, number_quotient), x.c);
        mpz_tdiv_r(x.c, x.a, x.b);
        assert_is(apply(&x, number_mod), x.c);
        Value both[2] = {value_from_int(0), value_from_int(0)};
        ck_assert_int_eq(bignum_divide(&process, x.values[0], x.values[1], &both[0], &both[1]), PRIM_OK);
        assert_is(both[1], x.c);
        mpz_tdiv_q(x.c, x.a, x.b);
        assert_is(both[0], x.c);
    }
    pair_clear(&x);
}
END_TEST

START_TEST(test_bit_operations) {
    Pair x;
    pair_init(&x);
    for (int i = 0; i < ROUNDS; i++) {
        pair_next(&x);
        mpz_and(x.c, x.a, x.b);
        assert_is(apply(&x, number_bit_and), x.c);
        mpz_ior(x.c, x.a, x.b);
        assert_is(apply(&x, number_bit_or), x.c);
        mpz_xor(x.c, x.a, x.b);
        assert_is(apply(&x, number_bit_xor), x.c);
        mpz_com(x.c, x.a);
        Value out;
        ck_assert_int_eq(number_bit_not(&process, x.values[0], &out), PRIM_OK);
        assert_is(out, x.c);
        unsigned by = (unsigned)gmp_urandomm_ui(x.random, 200);
        mpz_mul_2exp(x.c, x.a, by);
        ck_assert_int_eq(number_bit_shift(&process, x.values[0], value_from_int(by), &out), PRIM_OK);
        assert_is(out, x.c);
        mpz_fdiv_q_2exp(x.c, x.a, by);
        ck_assert_int_eq(number_bit_shift(&process, x.values[0], value_from_int(-(int64_t)by), &out),
                         PRIM_OK);
        assert_is(out, x.c);
    }
    pair_clear(&x);
}
END_TEST

START_TEST(test_comparison) {
    Pair x;
    pair_init(&x);
    for (int i = 0; i < ROUNDS; i++) {
        pair_next(&x);
        int expected = mpz_cmp(x.a, x.b);
        int got = number_compare(x.values[0], x.values[1]);
        ck_assert_int_eq((got > 0) - (got < 0), (expected > 0) - (expected < 0));
        ck_assert_int_eq(number_compare(x.values[0], x.values[0]), 0);
        double d = mpz_get_d(x.b);
        if (!isfinite(d)) continue;
        d += (double)(gmp_urandomm_ui(x.random, 3)) * 0.5;
        expected = mpz_cmp_d(x.a, d);
        Value number;
        ck_assert_int_eq(number_from_double(&process, d, &number), PRIM_OK);
        got = number_compare(x.values[0], number);
        ck_assert_int_eq((got > 0) - (got < 0), (expected > 0) - (expected < 0));
        ck_assert_int_eq(number_compare(number, x.values[0]), -got);
    }
    pair_clear(&x);
}
END_TEST

/* Nearest double by text: strtod rounds correctly. */
START_TEST(test_to_double) {
    Pair x;
    pair_init(&x);
    for (int i = 0; i < ROUNDS; i++) {
        pair_next(&x);
        char *text = mpz_get_str(NULL, 10, x.a);
        double expected = strtod(text, NULL), got = 0;
        free(text);
        ck_assert_int_eq(number_to_double(x.values[0], &got), isfinite(expected));
        if (isfinite(expected)) ck_assert(got == expected);
        if (!isfinite(expected) || fabs(expected) < 1) continue;
        Value back;
        ck_assert_int_eq(number_integer_from_double(&process, got, &back), PRIM_OK);
        mpz_set_d(x.c, got);
        assert_is(back, x.c);
    }
    pair_clear(&x);
}
END_TEST

START_TEST(test_powers) {
    mpz_t expected;
    mpz_init(expected);
    for (int base = -20; base <= 20; base++) {
        for (int exponent = 0; exponent <= 300; exponent += 1 + exponent / 20) {
            Value out;
            ck_assert_int_eq(number_pow(&process, value_from_int(base), value_from_int(exponent), &out),
                             PRIM_OK);
            mpz_set_si(expected, base);
            mpz_pow_ui(expected, expected, (unsigned)exponent);
            assert_is(out, expected);
        }
    }
    Value large, out;
    mpz_set_str(expected, "123456789012345678901234567890", 10);
    large = value_of_mpz(expected);
    ck_assert_int_eq(number_pow(&process, large, value_from_int(77), &out), PRIM_OK);
    mpz_pow_ui(expected, expected, 77);
    assert_is(out, expected);
    mpz_clear(expected);
}
END_TEST

START_TEST(test_inexact_powers) {
    static const struct {
        double base, exponent;
        int64_t expected;
    } cases[] = {{2, -1, 1}, {2, -2, 0}, {5, -3, 0}, {-2, -1, -1}, {2.5, 2, 6}, {2, 0.5, 1}, {-1.5, 3, -3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Value base, exponent, out;
        ck_assert_int_eq(number_from_double(&process, cases[i].base, &base), PRIM_OK);
        ck_assert_int_eq(number_from_double(&process, cases[i].exponent, &exponent), PRIM_OK);
        ck_assert_int_eq(number_pow(&process, base, exponent, &out), PRIM_OK);
        ck_assert(out == value_from_int(cases[i].expected));
    }
}
END_TEST

/* --- limits and errors
 * ---------------------------------------------------------------------------------------------------- */

START_TEST(test_limits_are_fast_errors) {
    Value out, huge = V_NIL;
    RootSpan span;
    roots_push(&process, &span, &huge, 1);
    ck_assert_int_eq(number_bit_shift(&process, value_from_int(1), value_from_int(100000000000), &out),
                     PRIM_RAISE);
    ck_assert_int_eq(number_pow(&process, value_from_int(3), value_from_int(INT64_C(1) << 50), &out),
                     PRIM_RAISE);
    ck_assert_int_eq(number_pow(&process, value_from_int(10), value_from_int(100000000), &out), PRIM_RAISE);
    ck_assert_int_eq(
        number_bit_shift(&process, value_from_int(1), value_from_int(INTEGER_MAX_BITS - 1), &huge), PRIM_OK);
    ck_assert_int_eq(number_mul(&process, huge, value_from_int(2), &out), PRIM_RAISE);
    ck_assert_int_eq(number_bit_shift(&process, value_from_int(1), value_from_int(100), &huge), PRIM_OK);
    ck_assert_int_eq(number_bit_shift(&process, value_from_int(1), huge, &out), PRIM_RAISE);
    ck_assert_int_eq(number_bit_shift(&process, value_from_int(0), huge, &out), PRIM_OK);
    ck_assert(out == value_from_int(0));
    ck_assert_int_eq(number_pow(&process, value_from_int(-1), huge, &out), PRIM_OK);
    ck_assert(out == value_from_int(1));
    roots_pop(&process, &span);
}
END_TEST

START_TEST(test_faults) {
    static const NumberBinaryFn all[] = {number_add,      number_sub,    number_mul,     number_div,
                                         number_quotient, number_mod,    number_pow,     number_raised,
                                         number_bit_and,  number_bit_or, number_bit_xor, number_bit_shift,
                                         number_gcd};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        Value out;
        ck_assert_int_eq(all[i](&process, value_from_int(3), V_NIL, &out), PRIM_RAISE);
        ck_assert_int_eq(all[i](&process, SYMBOL(value), value_from_int(3), &out), PRIM_RAISE);
    }
    Value out, large;
    ck_assert_int_eq(number_div(&process, value_from_int(3), value_from_int(0), &out), PRIM_RAISE);
    ck_assert_int_eq(number_from_double(&process, 1.0e308, &large), PRIM_OK);
    ck_assert_int_eq(number_add(&process, large, large, &out), PRIM_RAISE);
    ck_assert_int_eq(number_from_double(&process, HUGE_VAL, &out), PRIM_RAISE);
}
END_TEST

/* --- floats
 * ---------------------------------------------------------------------------------------------------------------
 */

START_TEST(test_float_round_trip) {
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        double d;
        memcpy(&d, &state, sizeof d);
        if (!isfinite(d)) continue;
        char text[FLOAT_TEXT_MAX];
        size_t length = float_print(d, text);
        double back;
        ck_assert_msg(float_parse(NULL, text, length, &back), "%s", text);
        ck_assert_msg(memcmp(&d, &back, sizeof d) == 0, "%s", text);
        Value v;
        ck_assert_int_eq(number_from_double(&process, d, &v), PRIM_OK);
        ck_assert(number_float_value(v) == d && number_is_float(v));
    }
}
END_TEST

/* Immediate is exactly what lies from 2^-127 to below 2^129, and comes back bit for bit. */
START_TEST(test_immediate_floats) {
    const double borders[] = {0.0, ldexp(1, -127), ldexp(1, 129), ldexp(1, -128), ldexp(1, 128),
                              1,   DBL_MIN,        DBL_MAX,       DBL_TRUE_MIN};
    for (size_t i = 0; i < COUNT_OF(borders) * 6; i++) {
        double d = borders[i / 6];
        if (i % 3 == 1) d = nextafter(d, HUGE_VAL);
        if (i % 3 == 2) d = nextafter(d, 0);
        if (i % 6 >= 3) d = -d;
        if (isinf(d)) continue;
        Value v = V_NIL;
        bool immediate = fabs(d) >= ldexp(1, -127) && fabs(d) < ldexp(1, 129);
        ck_assert_int_eq(flonum_encode(d, &v), immediate);
        if (!immediate) continue;
        double back = flonum_decode(v), scaled = flonum_scaled(v);
        ck_assert(value_is_flonum(v) && memcmp(&back, &d, sizeof d) == 0 && scaled == ldexp(d, 128));
        ck_assert(both_flonums(v, v) && !both_flonums(v, value_from_int(4)) && !both_flonums(V_NIL, v));
    }
}
END_TEST

/* Zeros are the same two objects wherever they come from. */
START_TEST(test_float_zeros) {
    const double zeros[] = {0.0, -0.0};
    for (size_t i = 0; i < COUNT_OF(zeros); i++) {
        Value made, computed;
        ck_assert_int_eq(number_from_double(&process, zeros[i], &made), PRIM_OK);
        ck_assert_int_eq(
            number_mul(&process, made, made == number_zero(0.0) ? made : number_zero(0.0), &computed),
            PRIM_OK);
        ck_assert(made == number_zero(zeros[i]) && computed == made && number_is_float(made));
        ck_assert(number_float_value(made) == 0 && signbit(number_float_value(made)) == signbit(zeros[i]));
    }
}
END_TEST

START_TEST(test_float_text) {
    static const struct {
        double d;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {100, "100.0"},
                 {1000, "1.0e3"},
                 {12000, "1.2e4"},
                 {99999, "99999.0"},
                 {1234567, "1234567.0"},
                 {0.001, "0.001"},
                 {0.0001, "0.0001"},
                 {0.00001, "1.0e-5"},
                 {0.00015, "1.5e-4"},
                 {1e22, "1.0e22"},
                 {9007199254740992.0, "9.007199254740992e15"},
                 {9007199254740991.0, "9007199254740991.0"},
                 {1000000000000000.5, "1000000000000000.5"},
                 {5e-324, "5.0e-324"},
                 {-0.0, "-0.0"},
                 {0.0, "0.0"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {0.0005, "0.0005"},
                 {0.00123, "0.00123"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[FLOAT_TEXT_MAX];
        float_print(cases[i].d, text);
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

START_TEST(test_float_syntax) {
    static const char *const good[] = {"1.5",    "-1.5",  "+0.0",   "1.5e3",
                                       "1.5E-3", "007.5", "1.0e+5", "1.0e-400"};
    static const char *const bad[] = {"",     "1",     "1e5", ".5",  "1.",    "1.5 ",    " 1.5",
                                      "1.5e", "1.5e+", "inf", "nan", "0x1.8", "1.0e400", "--1.0"};
    double d;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        ck_assert_msg(float_parse(NULL, good[i], strlen(good[i]), &d), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(!float_parse(NULL, bad[i], strlen(bad[i]), &d), "%s", bad[i]);
}
END_TEST

/* --- text of integers
 * ----------------------------------------------------------------------------------------------------- */

START_TEST(test_literals) {
    uint64_t words[64];
    Value v;
    size_t used;
    ck_assert(number_literal_words("123456789012345678901234567890", 30, 10) <= 64);
    ck_assert(number_literal_make(NULL, words, "123456789012345678901234567890", 30, 10, true, &v, &used));
    mpz_t expected;
    mpz_init_set_str(expected, "-123456789012345678901234567890", 10);
    assert_is(v, expected);
    ck_assert(object_size(v) == used);
    ck_assert(number_literal_make(NULL, words, "00ff", 4, 16, false, &v, &used));
    ck_assert(v == value_from_int(255) && used == 0);
    ck_assert(number_literal_make(NULL, words, "4611686018427387904", 19, 10, true, &v, &used));
    ck_assert(v == value_from_int(SMALLINT_MIN) && used == 0);
    mpz_clear(expected);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("number");
    TTest const *const tests[] = {
        test_ring_operations, test_division,         test_bit_operations,   test_comparison,
        test_to_double,       test_powers,           test_inexact_powers,   test_limits_are_fast_errors,
        test_faults,          test_float_round_trip, test_immediate_floats, test_float_zeros,
        test_float_text,      test_float_syntax,     test_literals};
    suite_case(suite, "number", process_setup, process_teardown, 60, tests, COUNT_OF(tests));
    return suite_run(suite);
}
