/* Every function of beamtalk.h with arguments that are missing or wrong: reported, and nothing breaks. That
 * no function is forgotten is looked at by tests/library/run.sh. */
#include <math.h>
#include <stdlib.h>
#include "tests/unit/test_host_vm.h"

static bt_result *r;
static int64_t i64;
static double real;
static int truth;
static bt_value *items[2];

START_TEST(nothing_for_a_vm) {
    ck_assert_ptr_null(bt_session_new(NULL));
    bt_vm_free(NULL);
    bt_vm_stop(NULL, 1);
    bt_vm_profile(NULL, NULL, NULL);
    bt_vm_profile(vm, NULL, NULL);
    ck_assert_int_eq(bt_vm_is_seeded(NULL), 0);
    bt_stats stats = {0};
    ck_assert_int_eq(bt_vm_stats(vm, &stats), BT_MISUSE); /* no size */
    ck_assert_int_eq(bt_vm_stats(vm, NULL), BT_MISUSE);
    stats.size = sizeof stats;
    ck_assert_int_eq(bt_vm_stats(NULL, &stats), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define_class(NULL, "A", NULL, 0), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define_class(vm, NULL, NULL, 0), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define_class(vm, "A", NULL, 1), BT_MISUSE);
    static const bt_method NONE = {NULL, NULL, NULL};
    ck_assert_int_eq(bt_vm_define_class(vm, "A", &NONE, 1), BT_MISUSE);
    const bt_class_definition nothing = {.size = sizeof nothing};
    ck_assert_int_eq(bt_vm_define(NULL, &nothing), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define(vm, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define(vm, &nothing), BT_MISUSE);
    ck_assert_int_eq(bt_vm_poll_fd(NULL), -1);
    ck_assert_int_eq(bt_vm_poll(NULL, 0, 0), BT_MISUSE);
    ck_assert_int_eq(bt_eval_async(NULL, "1", 1, NULL, NULL, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_send_async(NULL, NULL, "a", NULL, 0, NULL, NULL, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_send_async(vm, NULL, "a", NULL, 0, NULL, NULL, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_vm_class_responds(NULL, "A", "a"), 0);
    ck_assert_int_eq(bt_vm_class_responds(vm, NULL, "a"), 0);
    ck_assert_int_eq(bt_vm_class_responds(vm, "Object", NULL), 0);
    const bt_config small = {.size = 1}, large = {.size = 100000};
    bt_vm *other = bt_vm_new(&small);
    ck_assert_ptr_nonnull(other);
    bt_vm_free(other);
    other = bt_vm_new(&large); /* of a newer header */
    ck_assert_ptr_nonnull(other);
    bt_vm_free(other);
}
END_TEST

static void never(void *context, bt_result *result) {
    (void)context, (void)result;
    ck_abort_msg("called back for what was refused");
}

START_TEST(nothing_to_begin) {
    bt_value *one = bt_integer(vm, 1);
    const bt_class_definition nameless = {.size = sizeof nameless},
                              empty = {.size = sizeof empty, .name = "A", .blocking_count = 1};
    ck_assert_int_eq(bt_eval_async(NULL, "1", 1, NULL, never, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_eval_async(session, NULL, 1, NULL, never, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_eval_async(session, "1", 1, NULL, NULL, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_send_async(NULL, one, "abs", NULL, 0, NULL, never, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_send_async(vm, NULL, "abs", NULL, 0, NULL, never, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_send_async(vm, one, NULL, NULL, 0, NULL, never, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_send_async(vm, one, "+", NULL, 1, NULL, never, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_send_async(vm, one, "abs", NULL, 0, NULL, NULL, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_vm_poll(NULL, 0, 0), BT_MISUSE);
    ck_assert_int_eq(bt_vm_poll(vm, 0, -1), BT_OK); /* a budget that is none: the usual one */
    ck_assert_int_eq(bt_vm_poll_fd(NULL), -1);
    ck_assert_int_eq(bt_vm_define(NULL, &empty), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define(vm, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define(vm, &nameless), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define(vm, &empty), BT_MISUSE);
    bt_value_release(one);
}
END_TEST

START_TEST(nothing_to_load) {
    static const bt_source NAMELESS = {NULL, "1", 1}, TEXTLESS = {"a", NULL, 1};
    ck_assert_int_eq(bt_vm_load(NULL, &NAMELESS, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_load(vm, NULL, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_load(vm, &NAMELESS, 1, NULL, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_vm_load(vm, &NAMELESS, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_load(vm, &TEXTLESS, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_load(vm, NULL, 0, NULL, &r), BT_OK);
    ck_assert_int_eq(bt_vm_load_image(NULL, "", 0, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_load_image(vm, NULL, 0, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_load_image(vm, "", 0, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_vm_load_image(vm, "nonsense", 8, &r), BT_COMPILE_ERROR);
    ck_assert_str_eq(bt_result_error_kind(r), "image_invalid");
    bt_result_free(r);
}
END_TEST

START_TEST(nothing_to_evaluate) {
    bt_value *one = bt_integer(vm, 1);
    static const char *const HOLE[] = {NULL};
    ck_assert_int_eq(bt_vm_eval(NULL, "1", 1, NULL, &r), BT_MISUSE);
    ck_assert_ptr_null(r);
    ck_assert_int_eq(bt_vm_eval(session, NULL, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_eval(session, "1", 1, NULL, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_vm_send_class(NULL, "Object", "name", NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_send_class(session, NULL, "name", NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_send_class(session, "Nothing", "name", NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_send_class(session, "Object", NULL, NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_send_class(session, "Object", "main:", NULL, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_send_class(session, "Object", "main:", HOLE, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_vm_send_class(session, "Object", "name", NULL, 0, NULL, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_send(NULL, one, "abs", NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, NULL, "abs", NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, NULL, NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, "+", NULL, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, "+", items, 1, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, "+", NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, "+", &one, 1000, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, "abs", NULL, 0, NULL, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_cast(NULL, one, "abs", NULL, 0), BT_MISUSE);
    ck_assert_int_eq(bt_cast(vm, one, "abs", NULL, 0), BT_MISUSE); /* no actor */
    ck_assert_int_eq(bt_cast(vm, NULL, "abs", NULL, 0), BT_MISUSE);
    bt_value_release(one);
}
END_TEST

START_TEST(nothing_for_a_session) {
    bt_session_free(NULL);
    bt_session_clear(NULL);
    bt_session_interrupt(NULL);
    bt_value *one = bt_integer(vm, 1);
    ck_assert_ptr_null(bt_session_get(NULL, "a"));
    ck_assert_ptr_null(bt_session_get(session, NULL));
    ck_assert_ptr_null(bt_session_get(session, "unbound"));
    ck_assert_int_eq(bt_session_set(NULL, "a", one), BT_MISUSE);
    ck_assert_int_eq(bt_session_set(session, NULL, one), BT_MISUSE);
    ck_assert_int_eq(bt_session_set(session, "a", NULL), BT_MISUSE);
    ck_assert_int_eq(bt_session_set(session, "no name", one), BT_MISUSE);
    bt_value_release(one);
}
END_TEST

START_TEST(nothing_for_a_result) {
    bt_diagnostic diagnostic;
    bt_result_free(NULL);
    ck_assert_int_eq(bt_result_status(NULL), BT_MISUSE);
    ck_assert_ptr_null(bt_result_print_string(NULL));
    ck_assert_ptr_null(bt_result_shown(NULL));
    ck_assert_ptr_null(bt_result_repl_text(NULL));
    ck_assert_str_eq(bt_result_diagnostics(NULL), "");
    ck_assert_int_eq(bt_result_diagnostic(NULL, 0, &diagnostic), 0);
    ck_assert_ptr_null(bt_result_value_class(NULL));
    ck_assert_ptr_null(bt_result_error_class(NULL));
    ck_assert_ptr_null(bt_result_error_kind(NULL));
    ck_assert_ptr_null(bt_result_error_message(NULL));
    ck_assert_ptr_null(bt_result_error_hint(NULL));
    ck_assert_ptr_null(bt_result_error_selector(NULL));
    ck_assert_str_eq(bt_result_stack(NULL), "");
    ck_assert_int_eq(bt_result_exit_status(NULL), 0);
    ck_assert_str_eq(bt_result_definitions(NULL), "");
    ck_assert_int_eq(bt_result_ran_expressions(NULL), 0);
    ck_assert_ptr_null(bt_result_value(NULL));
    ck_assert_int_eq(bt_vm_eval(session, "3 +", 3, NULL, &r), BT_COMPILE_ERROR);
    ck_assert_int_eq(bt_result_diagnostic(r, 0, NULL), 0);
    ck_assert_int_eq(bt_result_diagnostic(r, SIZE_MAX, &diagnostic), 0);
    ck_assert_ptr_null(bt_result_value(r));
    bt_result_free(r);
}
END_TEST

START_TEST(nothing_for_a_value) {
    bt_value *one = bt_integer(vm, 1);
    ck_assert_ptr_null(bt_value_retain(NULL));
    bt_value_release(NULL);
    ck_assert_int_eq(bt_value_kind(NULL), BT_KIND_NONE);
    ck_assert_ptr_null(bt_value_class(NULL));
    ck_assert_int_eq(bt_value_equal(NULL, one), 0);
    ck_assert_int_eq(bt_value_equal(one, NULL), 0);
    ck_assert_int_eq(bt_value_boolean(NULL, &truth), BT_MISUSE);
    ck_assert_int_eq(bt_value_boolean(one, &truth), BT_MISUSE);
    ck_assert_int_eq(bt_value_int64(NULL, &i64), BT_MISUSE);
    ck_assert_int_eq(bt_value_int64(one, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_value_double(NULL, &real), BT_MISUSE);
    ck_assert_int_eq(bt_value_double(one, NULL), BT_MISUSE);
    ck_assert_ptr_null(bt_value_text(NULL, NULL));
    ck_assert_uint_eq(bt_value_size(NULL), 0);
    ck_assert_uint_eq(bt_value_size(one), 0);
    ck_assert_uint_eq(bt_value_items(NULL, 0, items, 2), 0);
    ck_assert_uint_eq(bt_value_items(one, 0, items, 2), 0);
    bt_value *list = bt_list(vm, &one, 1);
    ck_assert_uint_eq(bt_value_items(list, 0, NULL, 2), 0);
    ck_assert_uint_eq(bt_value_items(list, SIZE_MAX, items, 2), 0);
    ck_assert_ptr_null(bt_value_lookup(NULL, one));
    ck_assert_ptr_null(bt_value_lookup(list, one));
    ck_assert_ptr_null(bt_value_field(NULL, "a"));
    ck_assert_ptr_null(bt_value_field(one, "a"));
    ck_assert_ptr_null(bt_value_field(one, NULL));
    bt_value_release(list);
    bt_value_release(one);
}
END_TEST

START_TEST(nothing_to_make) {
    ck_assert_ptr_null(bt_nil(NULL));
    ck_assert_ptr_null(bt_boolean(NULL, 1));
    ck_assert_ptr_null(bt_integer(NULL, 1));
    ck_assert_ptr_null(bt_integer_from_text(NULL, "1"));
    ck_assert_ptr_null(bt_integer_from_text(vm, NULL));
    ck_assert_ptr_null(bt_integer_from_text(vm, ""));
    ck_assert_ptr_null(bt_integer_from_text(vm, "12x"));
    ck_assert_ptr_null(bt_float(NULL, 1));
    ck_assert_ptr_null(bt_float(vm, INFINITY));
    ck_assert_ptr_null(bt_string(NULL, "a", 1));
    ck_assert_ptr_null(bt_string(vm, NULL, 1));
    ck_assert_ptr_null(bt_string(vm, "a", SIZE_MAX));
    ck_assert_ptr_null(bt_symbol(NULL, "a"));
    ck_assert_ptr_null(bt_symbol(vm, NULL));
    ck_assert_ptr_null(bt_class(NULL, "Object"));
    ck_assert_ptr_null(bt_class(vm, NULL));
    ck_assert_ptr_null(bt_class(vm, "Nothing"));
    static bt_value *(*const MAKERS[])(bt_vm *, bt_value *const *, size_t) = {bt_list, bt_array, bt_tuple,
                                                                              bt_set, bt_dictionary};
    for (size_t i = 0; i < COUNT_OF(MAKERS); i++) {
        ck_assert_ptr_null(MAKERS[i](NULL, NULL, 0));
        ck_assert_ptr_null(MAKERS[i](vm, NULL, 1));
        ck_assert_ptr_null(MAKERS[i](vm, items, 1)); /* its elements are NULL */
        ck_assert_ptr_null(MAKERS[i](vm, items, SIZE_MAX));
        ck_assert_ptr_null(MAKERS[i](vm, items, SIZE_MAX / 16));
    }
}
END_TEST

START_TEST(nothing_for_a_call) {
    ck_assert_ptr_null(bt_call_vm(NULL));
    ck_assert_uint_eq(bt_call_count(NULL), 0);
    ck_assert_ptr_null(bt_call_argument(NULL, 0));
    ck_assert_int_eq(bt_call_int64(NULL, 0, &i64), BT_MISUSE);
    ck_assert_int_eq(bt_call_double(NULL, 0, &real), BT_MISUSE);
    bt_call_answer(NULL, NULL);
    bt_call_answer_int64(NULL, 1);
    bt_call_answer_double(NULL, 1);
    bt_call_raise(NULL, NULL, NULL, NULL);
    bt_call_block(NULL, NULL, NULL, 0, NULL, NULL, NULL);
    ck_assert_ptr_null(bt_call_later(NULL));
    bt_complete(NULL, NULL);
    bt_complete_error(NULL, NULL, NULL, NULL);
}
END_TEST

/* ---- values of another VM ---- */

static bt_value *foreign;
static void answer_foreign(bt_call *call, void *context) {
    (void)context;
    ck_assert_ptr_null(bt_call_argument(call, 7));
    ck_assert_int_eq(bt_call_int64(call, 7, &i64), BT_MISUSE);
    ck_assert_int_eq(bt_call_double(call, 0, NULL), BT_MISUSE);
    bt_call_answer(call, foreign);
}
static void call_foreign(bt_call *call, void *context) {
    (void)context;
    bt_call_block(call, foreign, NULL, 0, NULL, NULL, NULL);
}
static void complete_foreign(bt_call *call, void *context) {
    (void)context;
    bt_complete(bt_call_later(call), foreign);
}

START_TEST(a_value_of_another_vm_is_refused) {
    static const bt_method METHODS[] = {
        {"answer:", answer_foreign, NULL}, {"block", call_foreign, NULL}, {"later", complete_foreign, NULL}};
    static const char *const CALLS[] = {"Host answer: 1", "Host block", "Host later"};
    bt_vm *other = bt_vm_new(NULL);
    foreign = bt_integer(other, 1);
    bt_value *one = bt_integer(vm, 1);
    ck_assert_int_eq(bt_value_equal(foreign, one), 0);
    ck_assert_ptr_null(bt_list(vm, &foreign, 1));
    ck_assert_int_eq(bt_session_set(session, "a", foreign), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, foreign, "abs", NULL, 0, NULL, &r), BT_MISUSE);
    ck_assert_int_eq(bt_send(session, one, "+", &foreign, 1, NULL, &r), BT_MISUSE);
    bt_value *pair[] = {one, one}, *dictionary = bt_dictionary(vm, pair, 1);
    ck_assert_ptr_null(bt_value_lookup(dictionary, foreign));
    ck_assert_int_eq(bt_vm_define_class(vm, "Host", METHODS, 3), BT_OK);
    for (size_t i = 0; i < COUNT_OF(CALLS); i++) {
        ck_assert_int_eq(bt_vm_eval(session, CALLS[i], strlen(CALLS[i]), &QUICK, &r), BT_RUNTIME_ERROR);
        ck_assert_str_eq(bt_result_error_kind(r), "argument_error");
        bt_result_free(r);
    }
    bt_value_release(dictionary);
    bt_value_release(one);
    bt_value_release(foreign);
    bt_vm_free(other);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {nothing_for_a_vm,      nothing_to_begin,
                                  nothing_to_load,       nothing_to_evaluate,
                                  nothing_for_a_session, nothing_for_a_result,
                                  nothing_for_a_value,   nothing_to_make,
                                  nothing_for_a_call,    a_value_of_another_vm_is_refused};
    Suite *s = suite_create("misuse");
    suite_case(s, "misuse", setup, teardown, 120, tests, COUNT_OF(tests));
    return suite_run(s);
}
