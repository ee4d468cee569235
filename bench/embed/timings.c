/* What embedding costs, against its bounds: medians of seven. Built by `ninja -C build bench_embed`; meant
 * for an idle machine. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "beamtalk.h"

enum { ROUNDS = 7, EVALUATIONS = 2000, CALLS = 1000000 };

static const bt_eval_options PLAIN = {.size = sizeof PLAIN};

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void evaluate(bt_session *session, const char *text) {
    bt_result *r = NULL;
    if (bt_vm_eval(session, text, strlen(text), &PLAIN, &r) != BT_OK) {
        fprintf(stderr, "%s: failed\n", text);
        exit(1);
    }
    bt_result_free(r);
}

static void answer_one(bt_call *call, void *context) {
    (void)context;
    bt_call_answer_int64(call, 1);
}

static double warm_evaluation(bt_session *session) {
    double start = now_us();
    for (int i = 0; i < EVALUATIONS; i++) evaluate(session, "3 + 4");
    return (now_us() - start) / EVALUATIONS;
}

static double loop_us(bt_session *session, const char *body) {
    char text[120];
    snprintf(text, sizeof text, "1 to: %d do: [:i | %s]", CALLS, body);
    double start = now_us();
    evaluate(session, text);
    return (now_us() - start) / CALLS;
}

static double host_call(bt_session *session) { return loop_us(session, "Host one") - loop_us(session, "i"); }

static double first_answer(bt_session *session) {
    (void)session;
    double start = now_us();
    bt_vm *vm = bt_vm_new(NULL);
    bt_session *s = bt_session_new(vm);
    evaluate(s, "3 + 4");
    double taken = now_us() - start;
    bt_session_free(s);
    bt_vm_free(vm);
    return taken;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *what, double (*work)(bt_session *), bt_session *session, double bound_us) {
    double taken[ROUNDS];
    (void)work(session); /* warms up */
    for (int i = 0; i < ROUNDS; i++) taken[i] = work(session);
    qsort(taken, ROUNDS, sizeof *taken, by_size);
    printf("%-48s %10.3f us, at best %.3f, bound %g\n", what, taken[ROUNDS / 2], taken[0], bound_us);
}

int main(void) {
    static const bt_method ONE = {"one", answer_one, NULL};
    const bt_config driven = {.size = sizeof driven, .host_driven = 1},
                    threads = {.size = sizeof threads, .schedulers = 1};
    const bt_config *configs[] = {&threads, &driven};
    static const char *const NAMES[] = {"warm evaluation, a scheduler thread",
                                        "warm evaluation, host-driven"};
    for (int i = 0; i < 2; i++) {
        bt_vm *vm = bt_vm_new(configs[i]);
        bt_session *session = bt_session_new(vm);
        bt_vm_define_class(vm, "Host", &ONE, 1);
        measure(NAMES[i], warm_evaluation, session, 10);
        if (i == 1) measure("host function called in a loop", host_call, session, 0.1);
        bt_session_free(session);
        bt_vm_free(vm);
    }
    measure("bt_vm_new to the first answer", first_answer, NULL, 3000);
    return 0;
}
