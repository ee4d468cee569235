/* Laws of equality, order and hash over a pool of values of all kinds, the same contents made along different
 * paths. */
#include "tests/unit/test_process.h"
#include "tests/unit/test_suite.h"
#include "vm/array.h"
#include "vm/compare.h"
#include "vm/dict.h"
#include "vm/hash.h"
#include "vm/list.h"
#include "vm/number.h"
#include "vm/print.h"
#include "vm/string.h"
#include "vm/tuple.h"
#include "vm/wire.h"

#include <stdlib.h>

enum { POOL = 600 };
static Value pool[POOL];
static size_t pool_count;
static RootSpan span;

static void setup(void) {
    process_setup();
    for (int i = 0; i < POOL; i++) pool[i] = V_NIL;
    pool_count = 0;
    roots_push(&process, &span, pool, POOL);
}

static void teardown(void) {
    roots_pop(&process, &span);
    process_teardown();
}

static void add(Value v) {
    ck_assert(v != V_HOLE && pool_count < POOL);
    pool[pool_count++] = v;
}

static void add_number(double d) {
    Value v;
    ck_assert_int_eq(number_from_double(&process, d, &v), PRIM_OK);
    add(v);
}

static void add_integer(const char *text) {
    Value v;
    ck_assert_int_eq(number_parse_integer(&process, text, strlen(text), &v), PRIM_OK);
    add(v);
}

static void add_string(const char *text) {
    Value v;
    ck_assert_int_eq(string_new(&process, text, strlen(text), &v), PRIM_OK);
    add(v);
}

static void add_atoms(void) {
    static const char *const integers[] = {"0",
                                           "1",
                                           "-1",
                                           "7",
                                           "4611686018427387903",
                                           "4611686018427387904",
                                           "-4611686018427387905",
                                           "9007199254740993",
                                           "9007199254740992",
                                           "123456789012345678901234567890",
                                           "-5"};
    static const double floats[] = {0.0,    -0.0,
                                    1.0,    -1.0,
                                    0.5,    9007199254740992.0,
                                    1e300,  -1e300,
                                    5e-324, 123456789012345678901234567890.0};
    static const char *const strings[] = {
        "", "a", "ab", "b", "é", "a string that is longer than sixty-four bytes, so it lies off the heap"};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) add_integer(integers[i]);
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) add_number(floats[i]);
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) add_string(strings[i]);
    add(V_NIL);
    add(V_TRUE);
    add(V_FALSE);
    add(V_EMPTY_LIST);
    add(SYMBOL(value));
    add(SYMBOL(plus));
    add(symbol_intern(&test_vm, "nim", 3));
    add(value_from_pid(3, 1));
    add(value_from_pid(4, 0));
}

/* Compounds of `width` values from the pool, starting at `from`. */
static void add_compounds(size_t from, size_t width, size_t step) {
    Value parts[80];
    RootSpan parts_span;
    size_t limit = pool_count;
    for (size_t i = 0; i < width; i++) parts[i] = pool[(from + i * step) % limit];
    roots_push(&process, &parts_span, parts, width);
    add(array_from(&process, parts, width));
    add(set_from(&process, parts, width));
    add(dict_from_entries(&process, parts, parts, width));
    Value list = V_EMPTY_LIST;
    add(list);
    for (size_t i = width; i > 0; i--)
        pool[pool_count - 1] = list_cons(&process, parts[i - 1], pool[pool_count - 1]);
    add(tuple_from(&process, parts, width));
    roots_pop(&process, &parts_span);
}

static void fill_pool(void) {
    add_atoms();
    for (size_t width = 0; width < 4; width++) {
        for (size_t from = 0; from < 30; from += 5) add_compounds(from, width, 1 + from % 3);
    }
    add_compounds(0, 40, 1);
    add_compounds(0, 40, 1);
    add_compounds(3, 40, 3);
    add_compounds(40, 12, 7);
}

static int sign(int x) { return (x > 0) - (x < 0); }

START_TEST(test_pairs) {
    fill_pool();
    for (size_t i = 0; i < pool_count; i++) {
        for (size_t j = 0; j < pool_count; j++) {
            Value a = pool[i], b = pool[j];
            bool strict = value_equal_strict(&test_vm, a, b), loose = value_equal(&test_vm, a, b);
            int order = value_compare(&test_vm, a, b), keys = value_compare_keys(&test_vm, a, b);
            ck_assert_msg(i != j || strict, "a value differs from itself");
            ck_assert_int_eq(strict, value_equal_strict(&test_vm, b, a));
            ck_assert_int_eq(loose, value_equal(&test_vm, b, a));
            ck_assert_msg(!strict || loose, "strict without loose");
            ck_assert_int_eq(sign(order), -sign(value_compare(&test_vm, b, a)));
            ck_assert_int_eq(sign(keys), -sign(value_compare_keys(&test_vm, b, a)));
            ck_assert_msg(strict == (keys == 0), "order of keys and strict equality: %zu %zu", i, j);
            ck_assert_msg(loose == (order == 0), "order and loose equality: %zu %zu", i, j);
            if (strict) ck_assert_uint_eq(value_hash(&test_vm, a), value_hash(&test_vm, b));
        }
    }
}
END_TEST

START_TEST(test_order_is_transitive) {
    fill_pool();
    for (size_t i = 0; i < pool_count; i++) {
        for (size_t j = 0; j < pool_count; j++) {
            if (value_compare_keys(&test_vm, pool[i], pool[j]) > 0) continue;
            for (size_t k = j % 5; k < pool_count; k += 5) {
                if (value_compare_keys(&test_vm, pool[j], pool[k]) > 0) continue;
                ck_assert_msg(value_compare_keys(&test_vm, pool[i], pool[k]) <= 0, "%zu %zu %zu", i, j, k);
            }
        }
    }
}
END_TEST

START_TEST(test_ranks) {
    /* number < symbol < pid < tuple < dictionary < list < string */
    add_number(1e300);
    add(V_NIL);
    add(value_from_pid(1, 1));
    add(tuple_from(&process, pool, 2));
    add(dict_empty(&process));
    add(V_EMPTY_LIST);
    add_string("");
    for (size_t i = 0; i + 1 < pool_count; i++) {
        ck_assert_int_lt(value_compare(&test_vm, pool[i], pool[i + 1]), 0);
    }
}
END_TEST

START_TEST(test_numbers_at_depth) {
    Value one = value_from_int(1), one_float;
    ck_assert_int_eq(number_from_double(&process, 1.0, &one_float), PRIM_OK);
    add(list_cons(&process, one, V_EMPTY_LIST));
    add(list_cons(&process, one_float, V_EMPTY_LIST));
    ck_assert(value_equal(&test_vm, pool[0], pool[1]));
    ck_assert(!value_equal_strict(&test_vm, pool[0], pool[1]));
    ck_assert_int_eq(value_compare(&test_vm, pool[0], pool[1]), 0);
    ck_assert_int_lt(value_compare_keys(&test_vm, pool[0], pool[1]), 0);
    /* Keys stay strict. */
    add(dict_from_entries(&process, &one, &one, 1));
    add(dict_from_entries(&process, &one_float, &one, 1));
    add(dict_from_entries(&process, &one, &one_float, 1));
    ck_assert(!value_equal(&test_vm, pool[2], pool[3]));
    ck_assert(value_equal(&test_vm, pool[2], pool[4]));
}
END_TEST

START_TEST(test_deep_terms) {
    const char *scale = getenv("BT_TEST_SCALE");
    const size_t depth = (size_t)(200000 * (scale ? atof(scale) : 1.0)) + 100;
    for (int which = 0; which < 2; which++) {
        add(V_EMPTY_LIST);
        for (size_t i = 0; i < depth; i++) {
            Value nested = list_cons(&process, pool[which], V_EMPTY_LIST);
            ck_assert(nested != V_HOLE);
            pool[which] = nested;
        }
    }
    ck_assert(value_equal_strict(&test_vm, pool[0], pool[1]));
    ck_assert_int_eq(value_compare(&test_vm, pool[0], pool[1]), 0);
    ck_assert_uint_eq(value_hash(&test_vm, pool[0]), value_hash(&test_vm, pool[1]));
    Value text;
    ck_assert_int_eq(value_print_string(&process, pool[0], &text), PRIM_OK);
    ck_assert_uint_eq(string_length(text), 3 * depth + 3);
}
END_TEST

START_TEST(test_edit_history_does_not_matter) {
    add(array_from(&process, pool, 0));
    add(dict_empty(&process));
    for (int i = 0; i < 100; i++) {
        pool[0] = array_append(&process, pool[0], value_from_int(i));
        pool[1] = dict_put(&process, pool[1], value_from_int((i * 37) % 100), value_from_int(i));
        pool[1] = dict_put(&process, pool[1], value_from_int((i * 37) % 100), V_NIL);
    }
    Value numbers[100];
    for (int i = 0; i < 100; i++) numbers[i] = value_from_int(i);
    pool[2] = array_from(&process, numbers, 100);
    pool[3] = dict_from_entries(&process, numbers, NULL, 100);
    for (int i = 0; i < 2; i++) {
        ck_assert(value_equal_strict(&test_vm, pool[i], pool[i + 2]));
        ck_assert(value_hash(&test_vm, pool[i]) == value_hash(&test_vm, pool[i + 2]));
    }
}
END_TEST

START_TEST(test_printing) {
    Value parts[4] = {value_from_int(10), value_from_int(9), SYMBOL(plus), V_NIL}, text;
    add_string("a \"q\"");
    parts[3] = pool[0];
    RootSpan parts_span;
    roots_push(&process, &parts_span, parts, 4);
    add(tuple_from(&process, parts, 4));
    ck_assert_int_eq(value_print_string(&process, pool[1], &text), PRIM_OK);
    ck_assert(string_equal_cstring(text, "{10, 9, #+, \"a \"\"q\"\"\"}"));
    add(dict_from_entries(&process, parts, parts, 3));
    ck_assert_int_eq(value_print_string(&process, pool[2], &text), PRIM_OK);
    ck_assert(string_equal_cstring(text, "#{#+ => #+, 10 => 10, 9 => 9}"));
    add(set_from(&process, parts, 3));
    ck_assert_int_eq(value_print_string(&process, pool[3], &text), PRIM_OK);
    ck_assert(string_equal_cstring(text, "Set(9, 10, #+)"));
    ck_assert_int_eq(value_display_string(&process, pool[0], &text), PRIM_OK);
    ck_assert(string_equal_cstring(text, "a \"q\""));
    roots_pop(&process, &parts_span);
}
END_TEST

START_TEST(test_wire_round_trip) {
    fill_pool();
    for (size_t i = 0; i < pool_count; i++) {
        Text t = TEXT_INIT;
        Value back;
        size_t used;
        ck_assert(wire_write(&test_vm, &t, pool[i]));
        ck_assert_int_eq(wire_read(&process, t.bytes, t.length, &back, &used), PRIM_OK);
        ck_assert_uint_eq(used, t.length);
        ck_assert_msg(value_equal_strict(&test_vm, pool[i], back), "%zu", i);
        for (size_t cut = 0; cut < t.length; cut += 1 + cut / 8) {
            ck_assert_int_eq(wire_read(&process, t.bytes, cut, &back, &used), PRIM_FAIL);
        }
        text_free(&t);
    }
}
END_TEST

/* Flipped bytes give another value or PRIM_FAIL, never a fault. */
START_TEST(test_wire_survives_damage) {
    fill_pool();
    uint32_t random = 12345;
    for (size_t i = 0; i < pool_count; i++) {
        Text t = TEXT_INIT;
        ck_assert(wire_write(&test_vm, &t, pool[i]));
        for (int round = 0; round < 50; round++) {
            random = random * 1664525 + 1013904223;
            size_t at = (random >> 8) % t.length, used;
            char kept = t.bytes[at];
            Value back;
            t.bytes[at] = (char)(random >> 24);
            if (wire_read(&process, t.bytes, t.length, &back, &used) == PRIM_RAISE)
                process.exception = V_HOLE;
            t.bytes[at] = kept;
        }
        text_free(&t);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("compare");
    TTest const *const tests[] = {test_pairs,
                                  test_order_is_transitive,
                                  test_ranks,
                                  test_numbers_at_depth,
                                  test_deep_terms,
                                  test_edit_history_does_not_matter,
                                  test_printing,
                                  test_wire_round_trip,
                                  test_wire_survives_damage};
    suite_case(suite, "compare", setup, teardown, 60, tests, COUNT_OF(tests));
    return suite_run(suite);
}
