/* Functions of the host that evaluate, send and wait: in place, up to a depth, and what would never end is
 * refused. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/test_suite.h"
#include "beamtalk.h"

static const bt_eval_options PLAIN = {.size = sizeof PLAIN, .deadline_ms = 20000};
static bt_vm *vm;
static bt_session *session, *inner;

/* Evaluates the text, in a session of its own unless the context is one; answers the value, or raises what
 * the evaluation raised. */
static void evaluate(bt_call *call, void *context) {
    bt_value *text = bt_call_argument(call, 0);
    size_t length = 0;
    const char *source = bt_value_text(text, &length);
    bt_session *s = context ? *(bt_session **)context : bt_session_new(bt_call_vm(call));
    bt_result *r = NULL;
    bt_status status = bt_vm_eval(s, source, length, &PLAIN, &r);
    bt_value *v = bt_result_value(r);
    if (status == BT_OK)
        bt_call_answer(call, v);
    else
        bt_call_raise(call, bt_result_error_kind(r), bt_result_error_message(r), bt_result_error_hint(r));
    bt_value_release(v);
    bt_result_free(r);
    if (!context) bt_session_free(s);
    bt_value_release(text);
}

/* Sends `value` to the argument. */
static void ask(bt_call *call, void *context) {
    bt_value *receiver = bt_call_argument(call, 0);
    bt_session *s = bt_session_new(bt_call_vm(call));
    bt_result *r = NULL;
    (void)context;
    if (bt_send(s, receiver, "value", NULL, 0, &PLAIN, &r) == BT_OK) {
        bt_value *v = bt_result_value(r);
        bt_call_answer(call, v);
        bt_value_release(v);
    } else {
        bt_call_raise(call, bt_result_error_kind(r), bt_result_error_message(r), NULL);
    }
    bt_result_free(r);
    bt_session_free(s);
    bt_value_release(receiver);
}

static void evaluate_answer(bt_call *call, const bt_value *answer, void *state) {
    size_t length = 0;
    const char *source = bt_value_text(answer, &length);
    bt_session *s = bt_session_new(bt_call_vm(call));
    bt_result *r = NULL;
    (void)state;
    if (bt_vm_eval(s, source, length, &PLAIN, &r) == BT_OK) {
        bt_value *v = bt_result_value(r);
        bt_call_answer(call, v);
        bt_value_release(v);
    }
    bt_result_free(r);
    bt_session_free(s);
}

/* Calls the block, and evaluates in the continuation what it answers. */
static void evaluate_block(bt_call *call, void *context) {
    bt_value *block = bt_call_argument(call, 0);
    (void)context;
    bt_call_block(call, block, NULL, 0, evaluate_answer, NULL, NULL);
    bt_value_release(block);
}

/* Evaluates with a limit that the text exceeds. */
static void impatient(bt_call *call, void *context) {
    static const bt_eval_options SHORT = {.size = sizeof SHORT, .deadline_ms = 30};
    static const char LOOP[] = "[true] whileTrue: [nil]";
    bt_session *s = bt_session_new(bt_call_vm(call));
    bt_result *r = NULL;
    (void)context;
    bt_call_answer_int64(call, bt_vm_eval(s, LOOP, strlen(LOOP), &SHORT, &r));
    bt_result_free(r);
    bt_session_free(s);
}

static void late(bt_call *call, void *context) {
    bt_completion *completion = bt_call_later(call);
    bt_session *s = bt_session_new(bt_call_vm(call));
    bt_result *r = NULL;
    (void)context;
    bt_vm_eval(s, "40 + 2", 6, &PLAIN, &r);
    bt_value *v = bt_result_value(r);
    bt_complete(completion, v);
    bt_value_release(v);
    bt_result_free(r);
    bt_session_free(s);
}

static void frees(bt_call *call, void *context) {
    (void)context;
    bt_vm_free(bt_call_vm(call)); /* refused */
}

static bt_status hook_status;
static void hook(void *context, const char *bytes, size_t length) {
    (void)context, (void)bytes, (void)length;
    bt_result *r = NULL;
    if (!inner) return;
    hook_status = bt_vm_eval(inner, "1", 1, &PLAIN, &r);
    bt_result_free(r);
}

static void quiet(void *context, const char *bytes, size_t length) {
    (void)context, (void)bytes, (void)length;
}

static const bt_method METHODS[] = {{"eval:", evaluate, NULL},
                                    {"evalHere:", evaluate, &session},
                                    {"ask:", ask, NULL},
                                    {"evalBlock:", evaluate_block, NULL},
                                    {"impatient", impatient, NULL},
                                    {"late", late, NULL},
                                    {"free", frees, NULL}};

static void open_vm(const bt_config *config) {
    vm = bt_vm_new(config);
    session = bt_session_new(vm);
    ck_assert_int_eq(bt_vm_define_class(vm, "Host", METHODS, COUNT_OF(METHODS)), BT_OK);
}

static void close_vm(void) {
    bt_session_free(session);
    bt_vm_free(vm);
    session = NULL;
}

static void answers(const char *source, const char *printed) {
    bt_eval_options options = PLAIN;
    bt_result *r = NULL;
    options.want_shown = 1;
    bt_status status = bt_vm_eval(session, source, strlen(source), &options, &r);
    ck_assert_msg(status == BT_OK, "%s: status %d, %s: %s", source, status, bt_result_error_kind(r),
                  bt_result_error_message(r));
    ck_assert_str_eq(bt_result_print_string(r), printed);
    bt_result_free(r);
}

static const char CELL[] = "Actor subclass: Cell\n  state: n = 0\n  value => self.n := self.n + 1\n"
                           "  viaHost => Host ask: self\n  viaOther: c => c askMe: self\n"
                           "  askMe: c => Host ask: c\n\nCell\n";

static void all_of_it(const bt_config *config) {
    open_vm(config);
    answers("Host eval: \"6 * 7\"", "42");
    answers("(Host eval: \"Host eval: (98 printString)\") + 1", "99");
    answers("[Host eval: \"nil foo\"] on: Error do: [:e | e kind]", "#does_not_understand");
    answers("Host evalBlock: [\"20 + 1\"]", "21");
    answers("Host late", "42");
    answers(CELL, "Cell");
    answers("Host ask: (c := Cell spawn)", "1");
    answers("(1 to: 50) inject: 0 into: [:s :i | s + (Host ask: c)]", "1325");
    /* The actor waits for the function, which waits for the actor. */
    answers("[c viaHost] on: Error do: [:e | e kind]", "#deadlock_detected");
    answers("[c viaOther: Cell spawn] on: Error do: [:e | e kind]", "#deadlock_detected");
    answers("c value", "52");
    answers("[Host evalHere: \"1\"] on: Error do: [:e | e kind]", "#deadlock_detected");
    answers("Host impatient", "4"); /* BT_TIMEOUT */
    answers("Host free. 5", "5");
    close_vm();
}

static bt_config configs[] = {{.schedulers = 1}, {.schedulers = 4}, {.seeded = 1, .seed = 7}, {0}};

START_TEST(functions_evaluate_in_place) {
    configs[_i].size = sizeof configs[_i];
    configs[_i].log = quiet;
    all_of_it(&configs[_i]);
}
END_TEST

/* Answers how deep it could go: it calls itself through the VM. */
static void sink(bt_call *call, void *context) {
    bt_session *s = bt_session_new(bt_call_vm(call));
    bt_result *r = NULL;
    bt_status status = bt_vm_eval(s, "Sink deeper + 1", 15, &PLAIN, &r);
    int64_t depth = 0;
    bt_value *v = bt_result_value(r);
    (void)bt_value_int64(v, &depth);
    if (status == BT_OK)
        bt_call_answer_int64(call, depth);
    else if (strcmp(bt_result_error_kind(r), "resource_error") == 0)
        bt_call_answer_int64(call, 0);
    bt_value_release(v);
    bt_result_free(r);
    bt_session_free(s);
    (void)context;
}

START_TEST(sixteen_waits_may_be_nested) {
    static const bt_method SINK = {"deeper", sink, NULL};
    configs[_i].size = sizeof configs[_i];
    open_vm(&configs[_i]);
    ck_assert_int_eq(bt_vm_define_class(vm, "Sink", &SINK, 1), BT_OK);
    if (configs[_i].schedulers == 1 || configs[_i].seeded)
        answers("Sink deeper", "16");
    else
        answers("Sink deeper >= 16", "true"); /* each thread has its own depth */
    close_vm();
}
END_TEST

START_TEST(hooks_may_not_wait) {
    bt_config config = {.size = sizeof config, .schedulers = 1, .output = hook};
    open_vm(&config);
    inner = bt_session_new(vm);
    answers("Transcript show: \"x\". (1 to: 10) do: [:i | Timer sleep: 5]. 3", "3");
    ck_assert_int_eq(hook_status, BT_RUNTIME_ERROR);
    bt_session_free(inner);
    inner = NULL;
    close_vm();
}
END_TEST

/* Many at once, on few threads: each process of a Parallel evaluates. */
START_TEST(many_functions_wait_at_once) {
    configs[_i].size = sizeof configs[_i];
    open_vm(&configs[_i]);
    answers("(Parallel all: ((1 to: 12) asList collect: [:i | [Host eval: \"3 * \" ++ i printString]])) "
            "inject: 0 into: [:s :r | s + r unwrap]",
            "234");
    close_vm();
}
END_TEST

/* ---- functions that block ---- */

static void slow(bt_call *call, void *context) {
    (void)context;
    usleep(100000);
    bt_call_answer_int64(call, 7);
}

static void slow_failure(bt_call *call, void *context) {
    (void)context;
    bt_call_raise(call, "io_error", "no line", "try again");
}

static void slow_later(bt_call *call, void *context) {
    (void)context;
    bt_completion *c = bt_call_later(call);
    bt_value *v = bt_call_argument(call, 0);
    bt_complete(c, v);
    bt_value_release(v);
}

static int released;
static void count_release(void *state) {
    (void)state;
    released++;
}

static void slow_answer(bt_call *call, const bt_value *answer, void *state) {
    (void)state;
    usleep(1000);
    bt_call_answer(call, answer);
}

static void slow_block(bt_call *call, void *context) {
    (void)context;
    bt_value *block = bt_call_argument(call, 0);
    bt_call_block(call, block, NULL, 0, slow_answer, NULL, count_release);
    bt_value_release(block);
}

static const bt_method BLOCKING[] = {{"slow", slow, NULL},         {"fail", slow_failure, NULL},
                                     {"later:", slow_later, NULL}, {"block:", slow_block, NULL},
                                     {"eval:", evaluate, NULL},    {"deeper", sink, NULL}};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

START_TEST(functions_may_block) {
    const bt_class_definition definition = {
        .size = sizeof definition, .name = "Slow", .blocking = BLOCKING, .blocking_count = 5};
    const bt_class_definition two = {
        .size = sizeof two, .name = "Sink", .blocking = BLOCKING + 5, .blocking_count = 1};
    bt_class_definition bad = definition;
    bad.method_count = 1; /* and no methods */
    configs[_i].size = sizeof configs[_i];
    open_vm(&configs[_i]);
    released = 0;
    ck_assert_int_eq(bt_vm_define(vm, &bad), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define(vm, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define(vm, &definition), BT_OK);
    ck_assert_int_eq(bt_vm_define(vm, &definition), BT_COMPILE_ERROR);
    ck_assert_int_eq(bt_vm_define(vm, &two), BT_OK);
    double start = now();
    answers("(Parallel all: ((1 to: 10) asList collect: [:i | [Slow slow]])) inject: 0 into: [:s :r | s + r "
            "unwrap]",
            "70");
    if (!configs[_i].seeded) ck_assert(now() - start < 0.9); /* side by side, whatever the schedulers */
    answers("[Slow fail] on: Error do: [:e | #(e kind, e message, e hint)]",
            "#(#io_error, \"no line\", \"try again\")");
    answers("Slow later: #(1, 2)", "#(1, 2)");
    answers("Slow block: [3 + 4]", "7");
    answers("[Slow block: [nil foo]] on: Error do: [:e | e kind]", "#does_not_understand");
    ck_assert_int_eq(released, 2);
    answers("Slow eval: \"Slow eval: (6 * 7) printString\"", "42");
    if (!configs[_i].seeded) /* its process ends first */
        answers("(Parallel all: #([Slow slow]) timeout: 1) first isOk", "false");
    if (configs[_i].seeded) answers("Sink deeper", "16");
    close_vm();
}
END_TEST

int main(void) {
    Suite *s = suite_create("reentry");
    TCase *c = suite_case(s, "reentry", NULL, NULL, 120, NULL, 0);
    tcase_add_loop_test(c, functions_evaluate_in_place, 0, (int)COUNT_OF(configs));
    tcase_add_loop_test(c, sixteen_waits_may_be_nested, 0, (int)COUNT_OF(configs));
    tcase_add_loop_test(c, many_functions_wait_at_once, 0, (int)COUNT_OF(configs));
    tcase_add_loop_test(c, functions_may_block, 0, (int)COUNT_OF(configs));
    tcase_add_test(c, hooks_may_not_wait);
    return suite_run(s);
}
