/* bt_vm_free from any state: evaluations under way, processes that wait, timers, readers of stdin, host
 * functions that have not answered yet. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "beamtalk.h"
#include "tests/unit/test_suite.h"

enum { THREADS = 4 };

static const char *const ENDLESS[THREADS] = {
    "[true] whileTrue: [nil]", "Timer sleep: 3600000",
    "Timer every: 1 do: [nil]. (1 to: 50) do: [:i | Timer after: i do: [nil]]. Host never",
    "[true] whileTrue: [(1 to: 1000) collect: [:i | i printString]]"};

static bt_completion *pending[2 * THREADS];
static _Atomic unsigned pending_count;
static void never(bt_call *call, void *context) {
    (void)context;
    bt_completion *c = bt_call_later(call);
    unsigned at = __atomic_fetch_add((unsigned *)&pending_count, 1, __ATOMIC_RELAXED);
    if (at < COUNT_OF(pending)) pending[at] = c;
}

typedef struct {
    bt_session *session;
    const char *source;
    bt_status status;
} Work;

static void *work(void *argument) {
    Work *w = argument;
    bt_result *r = NULL;
    w->status = bt_vm_eval(w->session, w->source, strlen(w->source), NULL, &r);
    if (r && bt_result_status(r) != w->status) w->status = BT_MISUSE;
    bt_result_free(r);
    bt_vm_eval(w->session, "1", 1, NULL, &r); /* the VM may be gone already */
    if (r && bt_result_status(r) != BT_EXIT) w->status = BT_MISUSE;
    bt_result_free(r);
    bt_session_interrupt(w->session);
    bt_session_free(w->session);
    return NULL;
}

static void free_while_busy(const bt_config *config, useconds_t delay) {
    static const bt_method NEVER = {"never", never, NULL};
    pending_count = 0;
    bt_vm *vm = bt_vm_new(config);
    ck_assert_int_eq(bt_vm_define_class(vm, "Host", &NEVER, 1), BT_OK);
    Work works[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        works[i] = (Work){bt_session_new(vm), ENDLESS[i], BT_OK};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &works[i]), 0);
    }
    usleep(delay);
    bt_vm_free(vm);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(works[i].status, BT_EXIT);
    }
    for (unsigned i = 0; i < pending_count; i++) bt_complete(pending[i], NULL);
}

START_TEST(evaluations_under_way) {
    for (useconds_t i = 0; i < 20; i++) free_while_busy(NULL, i * 1500);
}
END_TEST

START_TEST(evaluations_of_one_scheduler) {
    const bt_config one = {.size = sizeof one, .schedulers = 1};
    for (useconds_t i = 0; i < 10; i++) free_while_busy(&one, i * 2000);
}
END_TEST

/* What an evaluation that is over has left behind. */
START_TEST(processes_left_behind) {
    static const char LEFT[] =
        "Actor subclass: Busy\n  state: n = 0\n  go =>\n    self.n := self.n + 1\n    self go!\n  wait => "
        "Timer sleep: "
        "3600000\n"
        "  end => Timer sleep: 1\n\n"
        "(1 to: 20) do: [:i | Busy spawn go!]. (1 to: 20) do: [:i | Busy spawn wait!].\n"
        "(1 to: 200) do: [:i | Timer after: i do: [Busy spawn]]. (1 to: 20) do: [:i | VmProcess start: "
        "[VmProcess "
        "receive]].\n"
        "Timer every: 1 do: [Transcript show: \"x\"]. 1";
    for (useconds_t i = 0; i < 10; i++) {
        bt_vm *vm = bt_vm_new(NULL);
        bt_session *session = bt_session_new(vm);
        bt_result *r = NULL;
        ck_assert_int_eq(bt_vm_eval(session, LEFT, sizeof LEFT - 1, NULL, &r), BT_OK);
        bt_result_free(r);
        usleep(i * 2000);
        if (i % 2) bt_session_free(session);
        bt_vm_free(vm);
        if (i % 2 == 0) bt_session_free(session); /* its VM has gone first */
    }
}
END_TEST

static void *read_line(void *session) {
    bt_result *r = NULL;
    (void)bt_vm_eval(session, "Console readLine", 16, NULL, &r);
    bt_status status = bt_result_status(r);
    bt_result_free(r);
    return (void *)(intptr_t)status;
}

START_TEST(a_reader_of_stdin) {
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    bt_vm *vm = bt_vm_new(NULL);
    bt_session *session = bt_session_new(vm);
    pthread_t thread;
    void *status;
    pthread_create(&thread, NULL, read_line, session);
    usleep(20000);
    bt_vm_free(vm);
    pthread_join(thread, &status);
    ck_assert_int_eq((int)(intptr_t)status, BT_EXIT);
    bt_session_free(session);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(a_vm_that_was_never_used) {
    for (int i = 0; i < 50; i++) bt_vm_free(bt_vm_new(NULL));
    bt_vm *vm = bt_vm_new(NULL);
    bt_session *session = bt_session_new(vm);
    bt_vm_stop(vm, 3);
    bt_vm_free(vm);
    ck_assert_ptr_null(bt_session_get(session, "x"));
    bt_session_clear(session);
    bt_session_free(session);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {evaluations_under_way, evaluations_of_one_scheduler, processes_left_behind,
                                  a_reader_of_stdin, a_vm_that_was_never_used};
    Suite *s = suite_create("free");
    suite_case(s, "free", NULL, NULL, 300, tests, COUNT_OF(tests));
    return suite_run(s);
}
