/* Values as hosts see them: made, read, sent to and fro, and what the interface refuses. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include "tests/unit/test_host_vm.h"

START_TEST(kinds_are_told_apart) {
    static const struct {
        const char *source;
        bt_kind kind;
        const char *class_name;
    } ROWS[] = {{"nil", BT_KIND_NIL, "UndefinedObject"},
                {"3 > 2", BT_KIND_BOOLEAN, "True"},
                {"7", BT_KIND_INTEGER, "Integer"},
                {"2 ** 100", BT_KIND_INTEGER, "Integer"},
                {"2.5", BT_KIND_FLOAT, "Float"},
                {"\"text\"", BT_KIND_STRING, "String"},
                {"#name", BT_KIND_SYMBOL, "Symbol"},
                {"#()", BT_KIND_LIST, "List"},
                {"#(1, 2)", BT_KIND_LIST, "List"},
                {"#[1]", BT_KIND_ARRAY, "Array"},
                {"#{#a => 1}", BT_KIND_DICTIONARY, "Dictionary"},
                {"Set new add: 3", BT_KIND_SET, "Set"},
                {"[:x | x]", BT_KIND_BLOCK, "Block"},
                {"Integer", BT_KIND_CLASS, "Integer class"},
                {"Result ok: 1", BT_KIND_OBJECT, "Result"}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        bt_value *v = eval(ROWS[i].source);
        ck_assert_msg(bt_value_kind(v) == ROWS[i].kind, "%s", ROWS[i].source);
        ck_assert_str_eq(bt_value_class(v), ROWS[i].class_name);
        bt_value_release(v);
    }
    ck_assert_int_eq(bt_value_kind(NULL), BT_KIND_NONE);
}
END_TEST

START_TEST(integers_go_both_ways) {
    static const int64_t NUMBERS[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX / 2, INT64_MAX / 2 + 1};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        bt_value *v = bt_integer(vm, NUMBERS[i]);
        int64_t back = 42;
        ck_assert_int_eq(bt_value_int64(v, &back), BT_OK);
        ck_assert(back == NUMBERS[i]);
        bt_value_release(v);
    }
    bt_value *big = bt_integer_from_text(vm, "123456789012345678901234567890");
    int64_t out;
    ck_assert_int_eq(bt_value_int64(big, &out), BT_MISUSE);
    ck_assert_str_eq(bt_value_text(big, NULL), "123456789012345678901234567890");
    prints(big, "123456789012345678901234567890");
    ck_assert_ptr_null(bt_integer_from_text(vm, "12x"));
}
END_TEST

START_TEST(floats_and_booleans) {
    double d = 0;
    int truth = -1;
    bt_value *v = bt_float(vm, 1e300);
    ck_assert_int_eq(bt_value_double(v, &d), BT_OK);
    ck_assert(d == 1e300);
    bt_value_release(v);
    ck_assert_ptr_null(bt_float(vm, NAN));
    v = eval("7");
    ck_assert_int_eq(bt_value_double(v, &d), BT_OK);
    ck_assert(d == 7.0);
    ck_assert_int_eq(bt_value_boolean(v, &truth), BT_MISUSE);
    bt_value_release(v);
    v = bt_boolean(vm, 5);
    ck_assert_int_eq(bt_value_boolean(v, &truth), BT_OK);
    ck_assert_int_eq(truth, 1);
    bt_value_release(v);
}
END_TEST

START_TEST(text_has_its_length) {
    size_t length = 0;
    bt_value *v = bt_string(vm, "a\0b", 3);
    ck_assert_int_eq(memcmp(bt_value_text(v, &length), "a\0b", 4), 0);
    ck_assert_uint_eq(length, 3);
    bt_value_release(v);
    v = bt_string(vm, "\xff\xfe", 2);
    ck_assert_int_eq(bt_value_kind(v), BT_KIND_BINARY);
    bt_value_release(v);
    static char large[100000];
    memset(large, 'x', sizeof large - 1);
    v = bt_string(vm, large, sizeof large - 1);
    ck_assert_str_eq(bt_value_text(v, NULL), large);
    bt_value *size = sent(v, "size", NULL, 0);
    prints(size, "99999");
    bt_value_release(v);
    v = bt_symbol(vm, "at:put:");
    ck_assert_str_eq(bt_value_text(v, NULL), "at:put:");
    prints(v, "#at:put:");
    v = bt_nil(vm);
    ck_assert_ptr_null(bt_value_text(v, NULL));
    bt_value_release(v);
}
END_TEST

START_TEST(collections_are_made_and_read) {
    enum { N = 1000 };
    static bt_value *items[N], *back[N + 1];
    for (int i = 0; i < N; i++) items[i] = bt_integer(vm, i);
    bt_value *(*const makers[])(bt_vm *, bt_value *const *, size_t) = {bt_list, bt_array, bt_tuple, bt_set};
    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++) {
        bt_value *whole = makers[m](vm, items, N);
        ck_assert_uint_eq(bt_value_size(whole), N);
        ck_assert_uint_eq(bt_value_items(whole, 0, back, N + 1), N);
        int64_t sum = 0, one;
        for (int i = 0; i < N; i++) {
            ck_assert_int_eq(bt_value_int64(back[i], &one), BT_OK);
            sum += one;
            bt_value_release(back[i]);
        }
        ck_assert(sum == (int64_t)N * (N - 1) / 2);
        ck_assert_uint_eq(bt_value_items(whole, N - 2, back, N), 2);
        bt_value_release(back[0]);
        bt_value_release(back[1]);
        ck_assert_uint_eq(bt_value_items(whole, N + 5, back, N), 0);
        bt_value_release(whole);
    }
    bt_value *map = bt_dictionary(vm, items, N / 2), *found = bt_value_lookup(map, items[10]);
    ck_assert(bt_value_equal(found, items[11]));
    ck_assert_ptr_null(bt_value_lookup(map, items[11]));
    ck_assert_uint_eq(bt_value_size(map), N);
    bt_value_release(found);
    bt_value_release(map);
    for (int i = 0; i < N; i++) bt_value_release(items[i]);
}
END_TEST

START_TEST(elements_outlive_their_collection) {
    bt_value *inner[2] = {bt_string(vm, "left", 4), bt_string(vm, "right", 5)}, *part;
    bt_value *list = bt_list(vm, inner, 2), *outer = bt_array(vm, &list, 1);
    bt_value_release(inner[0]);
    bt_value_release(inner[1]);
    bt_value_release(list);
    ck_assert_uint_eq(bt_value_items(outer, 0, &list, 1), 1);
    bt_value_release(outer);
    ck_assert_uint_eq(bt_value_items(list, 1, &part, 1), 1);
    bt_value_release(list);
    ck_assert_str_eq(bt_value_text(part, NULL), "right");
    bt_value_release(part);
}
END_TEST

START_TEST(deep_values_are_safe) {
    bt_value *v = bt_nil(vm);
    for (int i = 0; i < 2000; i++) {
        bt_value *outer = bt_array(vm, &v, 1);
        bt_value_release(v);
        v = outer;
    }
    bt_value *deep = eval("a := nil. 1000000 timesRepeat: [a := #[a]]. a"),
             *again = sent(deep, "yourself", NULL, 0);
    ck_assert(bt_value_equal(deep, again));
    bt_value_release(again);
    bt_value_release(deep);
    bt_value_release(v);
}
END_TEST

START_TEST(fields_of_instances) {
    bt_value *p = eval("Value subclass: Spot\n  field: x = 1\n  field: y = \"two\"\n\nSpot new");
    bt_value *y = bt_value_field(p, "y");
    ck_assert_str_eq(bt_value_text(y, NULL), "two");
    ck_assert_ptr_null(bt_value_field(p, "z"));
    ck_assert_ptr_null(bt_value_field(y, "y"));
    bt_value_release(y);
    bt_value_release(p);
}
END_TEST

START_TEST(messages_to_actors) {
    bt_value *actor = eval(
        "Actor subclass: Till\n  state: sum = 0\n  add: n => self.sum := self.sum + n\n  sum => self.sum\n"
        "  fail => self error: \"no\"\n\nTill spawn");
    ck_assert_int_eq(bt_value_kind(actor), BT_KIND_ACTOR);
    bt_value *five = bt_integer(vm, 5);
    for (int i = 0; i < 100; i++) ck_assert_int_eq(bt_cast(vm, actor, "add:", &five, 1), BT_OK);
    prints(sent(actor, "add:", &five, 1), "505");
    bt_result *r = NULL;
    ck_assert_int_eq(bt_send(session, actor, "fail", NULL, 0, &QUICK, &r), BT_RUNTIME_ERROR);
    ck_assert_str_eq(bt_result_error_message(r), "no");
    ck_assert_ptr_null(bt_result_value(r));
    bt_result_free(r);
    ck_assert_int_eq(bt_cast(vm, five, "add:", &five, 1), BT_MISUSE);
    bt_value_release(sent(actor, "stop", NULL, 0));
    ck_assert_int_eq(bt_cast(vm, actor, "add:", &five, 1), BT_OK);
    bt_value_release(five);
    bt_value_release(actor);
}
END_TEST

START_TEST(variables_of_sessions) {
    bt_value *seven = bt_integer(vm, 7);
    ck_assert_int_eq(bt_session_set(session, "seven", seven), BT_OK);
    ck_assert_int_eq(bt_session_set(session, "Seven", seven), BT_MISUSE);
    ck_assert_int_eq(bt_session_set(session, "", seven), BT_MISUSE);
    ck_assert_int_eq(bt_session_set(session, "a b", seven), BT_MISUSE);
    prints(eval("y := seven * 6"), "42");
    prints(bt_session_get(session, "y"), "42");
    ck_assert_ptr_null(bt_session_get(session, "z"));
    bt_value_release(seven);
}
END_TEST

START_TEST(misuse_is_reported) {
    bt_value *one = bt_integer(vm, 1), *none = NULL;
    bt_result *r = NULL;
    ck_assert_int_eq(bt_send(session, NULL, "foo", NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, "+", NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, "+", &none, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, NULL, NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_ptr_null(r);
    ck_assert_ptr_null(bt_list(vm, &none, 1));
    ck_assert_ptr_null(bt_list(vm, NULL, 1));
    ck_assert_ptr_null(bt_class(vm, "Nowhere"));
    ck_assert_uint_eq(bt_value_size(NULL), 0);
    bt_value_release(NULL);
    bt_value_release(one);
}
END_TEST

static void *read_text(void *value) {
    for (int i = 0; i < 100; i++) ck_assert_str_eq(bt_value_text(value, NULL), "18446744073709551616");
    return NULL;
}

START_TEST(threads_share_a_handle) {
    pthread_t threads[4];
    bt_value *v = eval("2 ** 64");
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, read_text, v);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    bt_value_release(v);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {kinds_are_told_apart,
                                  integers_go_both_ways,
                                  floats_and_booleans,
                                  text_has_its_length,
                                  collections_are_made_and_read,
                                  elements_outlive_their_collection,
                                  deep_values_are_safe,
                                  fields_of_instances,
                                  messages_to_actors,
                                  variables_of_sessions,
                                  misuse_is_reported,
                                  threads_share_a_handle};
    Suite *s = suite_create("value");
    suite_case(s, "value", setup, teardown, 120, tests, COUNT_OF(tests));
    return suite_run(s);
}
