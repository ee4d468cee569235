/* What a host program pays, in the form of the benchmark table: a new VM, an evaluation, a message. Built by
 * `ninja -C build bench_host`. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "beamtalk.h"

enum { REPETITIONS = 3, EVALUATIONS = 2000, MESSAGES = 20000, MACHINES = 20 };

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void fail(const char *what) {
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

static void expect_integer(bt_result *result, int64_t wanted, const char *what) {
    int64_t n = 0;
    bt_value *value = bt_result_value(result);
    if (bt_value_int64(value, &n) != BT_OK || n != wanted) fail(what);
    bt_value_release(value);
    bt_result_free(result);
}

static void evaluate(bt_session *session, bt_vm *vm) {
    static const char source[] = "3 + 4";
    bt_result *result = NULL;
    (void)vm;
    if (bt_vm_eval(session, source, sizeof source - 1, NULL, &result) != BT_OK) fail("evaluation");
    expect_integer(result, 7, "evaluation");
}

static void send(bt_session *session, bt_vm *vm) {
    bt_value *three = bt_integer(vm, 3), *four = bt_integer(vm, 4);
    bt_result *result = NULL;
    if (bt_send(session, three, "+", &four, 1, NULL, &result) != BT_OK) fail("message");
    expect_integer(result, 7, "message");
    bt_value_release(three);
    bt_value_release(four);
}

static void make_vm(bt_session *session, bt_vm *vm) {
    (void)session, (void)vm;
    bt_vm *other = bt_vm_new(NULL);
    if (!other) fail("a new VM");
    bt_vm_free(other);
}

typedef void (*Work)(bt_session *session, bt_vm *vm);

/* Microseconds of one, the smallest of several repetitions. */
static void measure(const char *name, Work work, unsigned times, bt_session *session, bt_vm *vm) {
    double best = 0;
    for (int r = 0; r <= REPETITIONS; r++) {
        double start = now_us();
        for (unsigned i = 0; i < times; i++) work(session, vm);
        double taken = (now_us() - start) / times;
        if (r == 1 || (r > 1 && taken < best)) best = taken; /* the first warms up */
    }
    printf("%s\tus_per_op\t%.4g\tus\n", name, best);
}

int main(void) {
    bt_vm *vm = bt_vm_new(NULL);
    bt_session *session = vm ? bt_session_new(vm) : NULL;
    if (!session) fail("start");
    measure("host_new_vm", make_vm, MACHINES, session, vm);
    measure("host_eval", evaluate, EVALUATIONS, session, vm);
    measure("host_send", send, MESSAGES, session, vm);
    bt_session_free(session);
    bt_vm_free(vm);
    return 0;
}
