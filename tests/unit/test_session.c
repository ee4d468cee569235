/* Sessions as hosts see them: variables from one input to the next, and what the interface refuses. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/test_host_vm.h"

/* What an input prints, "!kind" of its error, or "?" and the first error if it does not compile. */
static const char *shown(const char *source) {
    static char text[1000];
    bt_eval_options options = {.size = sizeof options, .want_shown = 1, .deadline_ms = 20000};
    bt_result *r = NULL;
    bt_status status = bt_vm_eval(session, source, strlen(source), &options, &r);
    const char *print = bt_result_print_string(r), *kind = bt_result_error_kind(r);
    const char *message = bt_result_error_message(r);
    if (status == BT_OK)
        snprintf(text, sizeof text, "%s", print ? print : "");
    else if (status == BT_COMPILE_ERROR)
        snprintf(text, sizeof text, "?%s", message ? message : "");
    else
        snprintf(text, sizeof text, "!%s", kind ? kind : "");
    bt_result_free(r);
    return text;
}

#define IS(source, answer) ck_assert_str_eq(shown(source), answer)

static void variables_set(int count) {
    char source[40];
    for (int i = 0; i < count; i++) {
        snprintf(source, sizeof source, "x%d := %d", i, i * 7);
        (void)shown(source);
    }
}

static void variables_hold(int count) {
    char source[40], answer[20];
    for (int i = 0; i < count; i++) {
        snprintf(source, sizeof source, "x%d", i);
        snprintf(answer, sizeof answer, "%d", i * 7);
        IS(source, answer);
    }
}

/* `before` x0 + ... + x(count - 1) */
static char *sum_of(const char *before, int count) {
    char *source = malloc(strlen(before) + 20 * (size_t)count + 20), *at = source;
    at += sprintf(at, "%s 0", before);
    for (int i = 0; i < count; i++) at += sprintf(at, " + x%d", i);
    return source;
}

START_TEST(hundreds_of_variables_keep_their_values) {
    variables_set(300);
    variables_hold(300);
    IS("x299 := x0 - 1. x0", "0");
    IS("x299", "-1");
    IS("x299 := 299 * 7. [:k | x1 + k + x298] value: 1", "2094");
    variables_hold(300);
}
END_TEST

START_TEST(an_input_can_use_as_many_as_a_message_holds) {
    variables_set(300);
    char *most = sum_of("s :=", 255), *more = sum_of("x0 := 5. s :=", 260);
    IS(most, "226695"); /* 7 * (0 + ... + 254) */
    IS(more, "?this input uses 261 variables of the session; it can use 255 at most");
    free(most);
    free(more);
    IS("s", "226695");
    variables_hold(300);
}
END_TEST

START_TEST(a_refused_input_installs_nothing) {
    variables_set(256);
    char *source = sum_of("Object subclass: Refused\n  m => 1\n\nnil.", 256);
    ck_assert(strstr(shown(source), "256 variables of the session"));
    free(source);
    ck_assert_int_eq(shown("Refused new")[0] == '?' || shown("Refused new")[0] == '!', 1);
}
END_TEST

START_TEST(new_variables_of_one_input_are_not_limited) {
    IS("old := 5", "5");
    char *source = malloc(300 * 40), *at = source;
    for (int i = 0; i < 300; i++) at += sprintf(at, "x%d := %d.\n", i, i * 7);
    strcpy(at, "false ifTrue: [unset := 1].\nold");
    IS(source, "5");
    free(source);
    variables_hold(300);
    IS("unset", "?Undefined variable: unset");
}
END_TEST

START_TEST(a_return_out_of_a_block_keeps_variables_of_the_session) {
    IS("a := 1. b := 2", "2");
    IS("[:k | ^k] value: 3", "3");
    IS("#(a, b)", "#(1, 2)");
    IS("b := 20. [^a] value. b := 30", "1");
    IS("#(a, b)", "#(1, 20)");
}
END_TEST

static bt_status send(const char *selector, const char **printed) {
    static char text[200];
    const char *const arguments[] = {"one", "two"};
    bt_result *r = NULL;
    bt_status status = bt_vm_send_class(session, "Main", selector, arguments, 2, NULL, &r);
    snprintf(text, sizeof text, "%s", status == BT_OK ? bt_result_print_string(r) : "");
    *printed = text;
    ck_assert_int_eq(r == NULL, status == BT_MISUSE);
    bt_result_free(r);
    return status;
}

START_TEST(a_class_is_sent_at_most_one_argument) {
    const char *printed;
    shown(
        "Object subclass: Main\n  class main: list => list\n  class main => 3\n  class a: x b: y => #(x, y)");
    ck_assert_int_eq(send("main", &printed), BT_OK);
    ck_assert_str_eq(printed, "3");
    ck_assert_int_eq(send("main:", &printed), BT_OK);
    ck_assert_str_eq(printed, "#(\"one\", \"two\")");
    ck_assert_int_eq(send("a:b:", &printed), BT_MISUSE);
}
END_TEST

static void *interrupt_later(void *argument) {
    (void)argument;
    usleep(200000);
    bt_session_interrupt(session);
    return NULL;
}

static bt_status interrupted_status(const char *source) {
    pthread_t thread;
    bt_eval_options options = {.size = sizeof options, .want_shown = 1};
    bt_result *r = NULL;
    pthread_create(&thread, NULL, interrupt_later, NULL);
    bt_status status = bt_vm_eval(session, source, strlen(source), &options, &r);
    pthread_join(thread, NULL);
    bt_result_free(r);
    return status;
}

START_TEST(an_interrupt_ends_the_evaluation_only) {
    IS("kept := 3", "3");
    ck_assert_int_eq(interrupted_status("kept := 4. [true] whileTrue: [nil]"), BT_INTERRUPTED);
    ck_assert_int_eq(interrupted_status("Timer sleep: 100000"), BT_INTERRUPTED);
    shown("Object subclass: Slow\n  printString => [true] whileTrue: [nil]");
    ck_assert_int_eq(interrupted_status("Slow new"), BT_INTERRUPTED);
    /* A class, and an actor, that the evaluation waits for: they go on serving, with the state they had. */
    shown("Object subclass: Busy\n  classState: n = 5\n  class loop => [true] whileTrue: [self.n := self.n + "
          "1]\n"
          "  class n => self.n\n  class through: actor => actor loop\n"
          "Actor subclass: BusyActor\n  state: n = 7\n"
          "  loop => [true] whileTrue: [self.n := self.n + 1]\n  n => self.n");
    IS("Busy n", "5");
    ck_assert_int_eq(interrupted_status("Busy loop"), BT_INTERRUPTED);
    IS("Busy n", "5");
    shown("actor := BusyActor spawn");
    ck_assert_int_eq(interrupted_status("actor loop"), BT_INTERRUPTED);
    IS("actor n", "7");
    ck_assert_int_eq(interrupted_status("Busy through: actor"), BT_INTERRUPTED);
    IS("#(actor n, Busy n)", "#(7, 5)");
    IS("kept", "3");
    bt_session_interrupt(session); /* nothing runs */
    bt_session_interrupt(NULL);
    IS("kept + 1", "4");
}
END_TEST

START_TEST(diagnostics_one_by_one) {
    static const char source[] = "x := Nowhere.\ny := missing.\nz := gone";
    bt_result *r = NULL;
    bt_diagnostic d;
    ck_assert_int_eq(bt_vm_eval(session, source, strlen(source), NULL, &r), BT_COMPILE_ERROR);
    ck_assert_int_eq(bt_result_diagnostic(r, 0, &d), 1);
    ck_assert_int_eq(d.severity, BT_DIAG_WARNING);
    ck_assert_int_eq(bt_result_diagnostic(r, 1, &d), 1);
    ck_assert_int_eq(d.severity, BT_DIAG_ERROR);
    ck_assert_str_eq(d.message, "Undefined variable: missing");
    ck_assert_int_eq(d.line, 2);
    ck_assert_int_eq(d.column, 6);
    ck_assert_int_eq(bt_result_diagnostic(r, 2, &d), 1);
    ck_assert_int_eq(d.line, 3);
    ck_assert_int_eq(bt_result_diagnostic(r, 3, &d), 0);
    ck_assert_int_eq(bt_result_diagnostic(NULL, 0, &d), 0);
    bt_result_free(r);
}
END_TEST

START_TEST(a_session_replaces_methods_of_loaded_classes) {
    shown("Object subclass: Patched\n  a => 1\n  class b => 2");
    IS("Patched new a", "1");
    shown("Patched >> a => 10");
    IS("Patched new a", "10");
    shown("Patched class >> b => 20");
    IS("Patched b", "20");
    shown("Patched >> c => 30");
    IS("Patched new c", "30");
}
END_TEST

/* A ^ out of a block ends the input wherever it stands; the variables are kept as they are then. */
START_TEST(variables_after_a_return_out_of_a_block) {
    IS("Object subclass: SessionFar\n  class ap: b => b value\n0", "0");
    IS("v := 2\nb := [^3]\nv := 7\nb value\nv := 8", "3");
    IS("v", "7");
    IS("u := 1\n[u := 5. #(1) do: [:x | u := u + x. ^u]] on: Error do: [:e | 0]\nu := 99", "6");
    IS("u", "6");
    IS("w := 1\nSessionFar ap: [^w + 1]\nw := 9", "2");
    IS("w", "1");
    IS("q := 0\nb := [^q]\n[q := 3. b value] ensure: [q := q + 10]", "0");
    IS("q", "13");
    IS("q := 20\nt := q + ([q := 21. #(4) do: [:x | ^x]] on: Error do: [:e | 0])\nq := 22", "4");
    IS("q", "21");
    IS("b := [^1]\nsessionLate\nsessionLate := 3", "!undefined_variable");
    IS("b := [^1]\nfirst := 4\nb value\nsecond := 5", "1");
    IS("first", "4");
    IS("second", "?Undefined variable: second");
}
END_TEST

int main(void) {
    Suite *s = suite_create("session");
    TCase *t = tcase_create("session");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, hundreds_of_variables_keep_their_values);
    tcase_add_test(t, an_input_can_use_as_many_as_a_message_holds);
    tcase_add_test(t, a_refused_input_installs_nothing);
    tcase_add_test(t, new_variables_of_one_input_are_not_limited);
    tcase_add_test(t, a_return_out_of_a_block_keeps_variables_of_the_session);
    tcase_add_test(t, variables_after_a_return_out_of_a_block);
    tcase_add_test(t, a_class_is_sent_at_most_one_argument);
    tcase_add_test(t, an_interrupt_ends_the_evaluation_only);
    tcase_add_test(t, diagnostics_one_by_one);
    tcase_add_test(t, a_session_replaces_methods_of_loaded_classes);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
