/* bt_vm_poll, its descriptor, and what is begun without waiting: in VMs that the host drives, in those that
 * have threads, and in deterministic ones. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "beamtalk.h"
#include "tests/unit/test_suite.h"

static bt_vm *vm;
static bt_session *session;
static bt_config configs[] = {{.host_driven = 1}, {.schedulers = 2}, {.seeded = 1, .seed = 3}};
enum { DRIVEN, THREADED, SEEDED };

static void open_vm(int kind) {
    configs[kind].size = sizeof configs[kind];
    vm = bt_vm_new(&configs[kind]);
    ck_assert_ptr_nonnull(vm);
    session = bt_session_new(vm);
}

static void close_vm(void) {
    bt_session_free(session);
    bt_vm_free(vm);
}

static int ready(int wait_ms) {
    struct pollfd fd = {.fd = bt_vm_poll_fd(vm), .events = POLLIN};
    return poll(&fd, 1, wait_ms);
}

typedef struct {
    int count;
    bt_status status;
    char text[64]; /* the texts of the answers, one behind the other */
} Seen;

static void done(void *context, bt_result *result) {
    Seen *seen = context;
    bt_value *v = bt_result_value(result);
    const char *text = bt_value_text(v, NULL);
    seen->count++;
    seen->status = bt_result_status(result);
    if (text) snprintf(seen->text + strlen(seen->text), 64 - strlen(seen->text), "%s ", text);
    if (bt_result_error_kind(result))
        snprintf(seen->text, sizeof seen->text, "%s", bt_result_error_kind(result));
    bt_value_release(v);
    bt_result_free(result);
}

static const bt_eval_options PLAIN = {.size = sizeof PLAIN};

static void begin(const char *source, Seen *seen) {
    ck_assert_int_eq(bt_eval_async(session, source, strlen(source), &PLAIN, done, seen), BT_OK);
}

/* As an event loop does it: nothing is polled for that the descriptor does not tell. */
static void run_until(const Seen *seen, int count) {
    for (int i = 0; i < 100000 && seen->count < count; i++) {
        ck_assert_int_eq(ready(10000), 1);
        ck_assert_int_eq(bt_vm_poll(vm, 0, 0), BT_OK);
    }
    ck_assert_int_eq(seen->count, count);
}

static bt_value *value_of(const char *source) {
    bt_result *r = NULL;
    ck_assert_int_eq(bt_vm_eval(session, source, strlen(source), &PLAIN, &r), BT_OK);
    bt_value *v = bt_result_value(r);
    bt_result_free(r);
    return v;
}

START_TEST(evaluations_follow_one_another) {
    open_vm(_i);
    Seen seen = {0};
    begin("x := 1", &seen);
    begin("x := x + 1", &seen);
    begin("x := x * 21", &seen);
    begin("x", &seen);
    run_until(&seen, 4);
    ck_assert_str_eq(seen.text, "1 2 42 42 ");
    begin("nil fooBar", &seen);
    run_until(&seen, 5);
    ck_assert_str_eq(seen.text, "does_not_understand");
    begin("3 +", &seen);
    run_until(&seen, 6);
    ck_assert_int_eq(seen.status, BT_COMPILE_ERROR);
    begin("Object subclass: Later\n  class seven => 7\n", &seen);
    run_until(&seen, 7);
    ck_assert_int_eq(seen.status, BT_OK);
    bt_value_release(value_of("Later seven"));
    close_vm();
}
END_TEST

START_TEST(sends_run_side_by_side) {
    open_vm(_i);
    bt_value *actor =
        value_of("Actor subclass: Adder\n  state: sum = 0\n  add: n => self.sum := self.sum + n\n\n"
                 "Adder spawn");
    Seen seen = {0};
    for (int i = 0; i < 1000; i++) {
        bt_value *n = bt_integer(vm, i);
        ck_assert_int_eq(bt_send_async(vm, actor, "add:", &n, 1, NULL, done, &seen), BT_OK);
        bt_value_release(n);
    }
    run_until(&seen, 1000);
    seen.text[0] = 0;
    bt_value *zero = bt_integer(vm, 0);
    bt_send_async(vm, actor, "add:", &zero, 1, NULL, done, &seen);
    run_until(&seen, 1001);
    ck_assert_str_eq(seen.text, "499500 ");
    ck_assert_int_eq(bt_send_async(vm, actor, "add:", NULL, 0, NULL, done, &seen), BT_MISUSE);
    ck_assert_int_eq(bt_send_async(vm, NULL, "x", NULL, 0, NULL, done, &seen), BT_MISUSE);
    ck_assert_int_eq(bt_send_async(vm, actor, "x", NULL, 0, NULL, NULL, NULL), BT_MISUSE);
    bt_value_release(zero);
    bt_value_release(actor);
    close_vm();
}
END_TEST

START_TEST(timers_and_limits_are_in_the_descriptor) {
    open_vm(_i);
    Seen seen = {0};
    begin("Timer sleep: 30. 5", &seen);
    run_until(&seen, 1);
    ck_assert_str_eq(seen.text, "5 ");
    static const bt_eval_options SHORT = {.size = sizeof SHORT, .deadline_ms = 40};
    static const char LOOP[] = "[true] whileTrue: [nil]";
    bt_eval_async(session, LOOP, strlen(LOOP), &SHORT, done, &seen);
    run_until(&seen, 2);
    ck_assert_int_eq(seen.status, BT_TIMEOUT);
    bt_session_interrupt(session); /* nothing runs: nothing happens */
    close_vm();
}
END_TEST

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

START_TEST(an_idle_vm_leaves_its_host_alone) {
    open_vm(_i);
    Seen seen = {0};
    begin("1", &seen);
    run_until(&seen, 1);
    while (ready(0)) ck_assert_int_eq(bt_vm_poll(vm, 0, 0), BT_OK);
    double before = cpu_seconds();
    ck_assert_int_eq(bt_vm_poll(vm, 200, 0), BT_OK); /* there is nothing to wait for but the time */
    ck_assert_int_eq(ready(50), 0);
    ck_assert(cpu_seconds() - before < 0.1);
    close_vm();
}
END_TEST

static void poll_inside(void *context, bt_result *result) {
    *(bt_status *)context = bt_vm_poll(vm, 0, 0);
    bt_vm_free(vm); /* refused */
    bt_result_free(result);
}

static bt_status inside_function;
static void polls(bt_call *call, void *context) {
    (void)context;
    inside_function = bt_vm_poll(bt_call_vm(call), 0, 0);
}

static void quiet(void *context, const char *bytes, size_t length) {
    (void)context, (void)bytes, (void)length;
}

START_TEST(misuse_is_reported) {
    static const bt_method METHOD = {"poll", polls, NULL};
    configs[_i].log = quiet;
    open_vm(_i);
    bt_status inside = BT_OK;
    ck_assert_int_eq(bt_vm_define_class(vm, "Host", &METHOD, 1), BT_OK);
    ck_assert_int_eq(bt_eval_async(session, "1", 1, NULL, poll_inside, &inside), BT_OK);
    for (int i = 0; i < 1000 && inside == BT_OK; i++) bt_vm_poll(vm, 100, 0);
    ck_assert_int_eq(inside, BT_MISUSE);
    bt_value_release(value_of("Host poll. 1"));
    ck_assert_int_eq(inside_function, BT_MISUSE);
    ck_assert_int_eq(bt_vm_poll(NULL, 0, 0), BT_MISUSE);
    ck_assert_int_eq(bt_vm_poll_fd(NULL), -1);
    ck_assert_int_eq(bt_eval_async(NULL, "1", 1, NULL, done, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_eval_async(session, NULL, 1, NULL, done, NULL), BT_MISUSE);
    ck_assert_int_eq(bt_eval_async(session, "1", 1, NULL, NULL, NULL), BT_MISUSE);
    /* A session whose asynchronous evaluations are not over takes no others. */
    Seen seen = {0};
    bt_result *r = NULL;
    begin("1", &seen);
    ck_assert_int_eq(bt_vm_eval(session, "1", 1, NULL, &r), BT_RUNTIME_ERROR);
    ck_assert_str_eq(bt_result_error_kind(r), "deadlock_detected");
    bt_result_free(r);
    run_until(&seen, 1);
    close_vm();
}
END_TEST

START_TEST(what_is_under_way_ends_with_the_vm) {
    open_vm(_i);
    Seen seen = {0}, others = {0};
    bt_session *other = bt_session_new(vm);
    begin("[true] whileTrue: [Timer sleep: 1]", &seen);
    begin("2", &seen);
    bt_eval_async(other, "3", 1, NULL, done, &others);
    bt_session_free(other);
    for (int i = 0; i < 20; i++) bt_vm_poll(vm, 5, 0);
    ck_assert_int_eq(others.count, 1);
    ck_assert_int_eq(seen.count, 0);
    close_vm();
    ck_assert_int_eq(seen.count, 2);
    ck_assert_int_eq(seen.status, BT_EXIT);
}
END_TEST

START_TEST(exit_ends_all) {
    open_vm(_i);
    Seen seen = {0};
    begin("Timer sleep: 100000", &seen);
    Seen exits = {0};
    bt_session *other = bt_session_new(vm);
    bt_eval_async(other, "Program exit: 3", 15, NULL, done, &exits);
    run_until(&exits, 1);
    for (int i = 0; i < 100 && seen.count == 0; i++) bt_vm_poll(vm, 10, 0);
    ck_assert_int_eq(seen.count, 1);
    ck_assert_int_eq(seen.status, BT_EXIT);
    bt_session_free(other);
    close_vm();
}
END_TEST

START_TEST(interrupts_reach_it) {
    open_vm(_i);
    Seen seen = {0};
    begin("[true] whileTrue: [Timer sleep: 1]", &seen);
    for (int i = 0; i < 20; i++) bt_vm_poll(vm, 2, 0);
    bt_session_interrupt(session);
    run_until(&seen, 1);
    ck_assert_int_eq(seen.status, BT_INTERRUPTED);
    close_vm();
}
END_TEST

static _Atomic int stop_polling;
static void *poll_for_ever(void *unused) {
    while (!stop_polling) bt_vm_poll(vm, 20, 0);
    return unused;
}

static void *evaluate_much(void *sum) {
    bt_session *s = bt_session_new(vm);
    for (int i = 0; i < 300; i++) {
        bt_result *r = NULL;
        if (bt_vm_eval(s, "6 * 7", 5, &PLAIN, &r) == BT_OK) {
            bt_value *v = bt_result_value(r);
            int64_t n = 0;
            bt_value_int64(v, &n);
            *(int64_t *)sum += n;
            bt_value_release(v);
        }
        bt_result_free(r);
    }
    bt_session_free(s);
    return NULL;
}

/* Threads that wait run the scheduler when nobody else does, and leave it to each other. */
START_TEST(threads_share_a_driven_vm) {
    pthread_t threads[4], poller;
    int64_t sums[4] = {0};
    open_vm(_i);
    stop_polling = 0;
    if (_i != SEEDED) pthread_create(&poller, NULL, poll_for_ever, NULL);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, evaluate_much, &sums[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    stop_polling = 1;
    if (_i != SEEDED) pthread_join(poller, NULL);
    for (int i = 0; i < 4; i++) ck_assert_int_eq(sums[i], 300 * 42);
    close_vm();
}
END_TEST

int main(void) {
    const TTest *const tests[] = {evaluations_follow_one_another,
                                  sends_run_side_by_side,
                                  timers_and_limits_are_in_the_descriptor,
                                  an_idle_vm_leaves_its_host_alone,
                                  misuse_is_reported,
                                  what_is_under_way_ends_with_the_vm,
                                  exit_ends_all,
                                  interrupts_reach_it,
                                  threads_share_a_driven_vm};
    Suite *s = suite_create("event_loop");
    TCase *c = suite_case(s, "event_loop", NULL, NULL, 60, NULL, 0);
    for (size_t i = 0; i < COUNT_OF(tests); i++) tcase_add_loop_test(c, tests[i], 0, 3);
    return suite_run(s);
}
