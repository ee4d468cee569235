/* A host thread that waits runs a scheduler itself (vm/sched_lend.c): no thread is started for what ends on
 * it, and nothing is lost when it leaves. */
#include <dirent.h>
#include <pthread.h>
#include <unistd.h>
#include "tests/unit/test_host_vm.h"

static unsigned threads_now(void) {
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    while (readdir(tasks)) count++;
    closedir(tasks);
    return count - 2; /* . and .. */
}

static int64_t number(const char *text) {
    int64_t n = -1;
    bt_value *v = eval(text);
    ck_assert_int_eq(bt_value_int64(v, &n), BT_OK);
    bt_value_release(v);
    return n;
}

START_TEST(no_thread_for_what_ends_here) {
    unsigned before = threads_now();
    ck_assert_int_eq(number("3 + 4"), 7);
    ck_assert_int_eq(number("Actor subclass: Echo\n  echo: x => x\n\ne := Echo spawn. (1 to: 100) inject: 0 "
                            "into: [:a :i | a + (e echo: "
                            "i)]"),
                     5050);
    ck_assert_uint_eq(threads_now(), before);
}
END_TEST

/* Its timer is left on the scheduler: somebody must come for it. */
START_TEST(a_timer_outlives_the_evaluation) {
    static const char MADE[] =
        "Actor subclass: Tick\n  state: n = 0\n  tick => self.n := self.n + 1\n  n => self.n\n"
        "  arm: ms => me := self. Timer after: ms do: [me tick]. 0\n\nt := Tick spawn. t arm: 20";
    ck_assert_int_eq(number(MADE), 0);
    usleep(400000);
    ck_assert_int_eq(number("t n"), 1);
    ck_assert_int_eq(number("t arm: 60000. t arm: 20"), 0);
    usleep(400000);
    ck_assert_int_eq(number("t n"), 2);
}
END_TEST

/* Processes that are still at work when the evaluation ends go on without it. */
START_TEST(work_goes_on_without_the_host) {
    static const char MADE[] = "Actor subclass: Count\n  state: n = 0\n  go: k => self.n := self.n + 1. k > "
                               "0 ifTrue: [self go: k - 1!]\n  "
                               "n => self.n\n\nc := Count spawn. c go: 20000!\n0";
    ck_assert_int_eq(number(MADE), 0);
    for (int i = 0; i < 200 && number("c n") < 20001; i++) usleep(10000);
    usleep(100000);
    ck_assert_int_eq(number("c n"), 20001);
}
END_TEST

typedef struct {
    bt_session *session;
    int64_t sum;
} Asker;

static void *ask(void *argument) {
    Asker *a = argument;
    for (int i = 0; i < 300; i++) {
        int64_t n = 0;
        bt_result *r = NULL;
        const char *text = i % 3 ? "total add: 1" : "Timer sleep: 1. total add: 1";
        if (bt_vm_eval(a->session, text, strlen(text), NULL, &r) == BT_OK) {
            bt_value *v = bt_result_value(r);
            if (bt_value_int64(v, &n) == BT_OK) a->sum++;
            bt_value_release(v);
        }
        bt_result_free(r);
    }
    return NULL;
}

/* More host threads than schedulers, which come and go. */
START_TEST(borrowers_meet) {
    enum { ASKERS = 6 };
    bt_value_release(
        eval("Actor subclass: Total\n  state: n = 0\n  add: k => self.n := self.n + k\n  n => self.n\n\n"
             "Workspace bind: Total spawn as: #total. 1"));
    pthread_t threads[ASKERS];
    Asker askers[ASKERS];
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (Asker){bt_session_new(vm), 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    int64_t sum = 0;
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], NULL);
        sum += askers[i].sum;
        bt_session_free(askers[i].session);
    }
    ck_assert_int_eq(sum, ASKERS * 300);
    ck_assert_int_eq(number("total n"), sum);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {no_thread_for_what_ends_here, a_timer_outlives_the_evaluation,
                                  work_goes_on_without_the_host, borrowers_meet};
    Suite *s = suite_create("lending");
    suite_case(s, "lending", setup, teardown, 120, tests, COUNT_OF(tests));
    return suite_run(s);
}
