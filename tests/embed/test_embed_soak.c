/* Long lives of VMs inside a program: many threads in one, many VMs side by side, and one session that never
 * ends. Memory must come back. EMBED_SECONDS (default 1): how long each of the first two takes; EMBED_TEXTS
 * (default 20,000): different texts that the session evaluates. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "beamtalk.h"
#include "tests/unit/test_suite.h"

static long setting(const char *name, long usual) {
    const char *text = getenv(name);
    return text ? atol(text) : usual;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long resident(void) {
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &size, &pages) != 2) pages = 0;
    if (f) fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Sanitizers keep freed memory for a while. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLACK = 512 << 20 };
#else
enum { SLACK = 8 << 20 };
#endif

static const bt_eval_options PLAIN = {.size = sizeof PLAIN};

static int64_t evaluate(bt_session *session, const char *text) {
    bt_result *r = NULL;
    int64_t n = -1;
    if (bt_vm_eval(session, text, strlen(text), &PLAIN, &r) == BT_OK) {
        bt_value *v = bt_result_value(r);
        (void)bt_value_int64(v, &n);
        bt_value_release(v);
    }
    bt_result_free(r);
    return n;
}

/* ---- threads in one VM ---- */

static bt_vm *shared;
static double end;
static _Atomic long wrong, rounds;

static void *evaluate_until_the_end(void *number) {
    char text[160];
    for (long i = 0; now() < end; i++) {
        bt_session *session = bt_session_new(shared);
        snprintf(text, sizeof text, "(1 to: %ld) inject: %ld into: [:s :k | s + k]", 1 + i % 50,
                 (long)(intptr_t)number);
        for (int k = 0; k < 20; k++)
            if (evaluate(session, text) != (long)(intptr_t)number + (1 + i % 50) * (2 + i % 50) / 2) wrong++;
        if (evaluate(session, "(nil foo; bar)") != -1) wrong++;
        if (evaluate(session, "a := Counted spawn. a tick. r := a tick. a stop. r") != 2) wrong++;
        bt_session_free(session);
        rounds++;
    }
    return NULL;
}

static void threads_for(double seconds) {
    pthread_t threads[8];
    end = now() + seconds;
    for (intptr_t i = 0; i < 8; i++) pthread_create(&threads[i], NULL, evaluate_until_the_end, (void *)i);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
}

START_TEST(eight_threads_in_one_vm) {
    static const char COUNTED[] = "Actor subclass: Counted\n  state: n = 0\n  tick => self.n := self.n + 1\n";
    double seconds = (double)setting("EMBED_SECONDS", 1);
    bt_config config = {.size = sizeof config, .schedulers = 4};
    shared = bt_vm_new(&config);
    bt_session *session = bt_session_new(shared);
    (void)evaluate(session, COUNTED);
    bt_session_free(session);
    threads_for(seconds / 2);
    long half = resident();
    threads_for(seconds / 2);
    long whole = resident();
    printf("  threads: %ld rounds, resident %ld, then %ld KB\n", rounds, half / 1024, whole / 1024);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_lt(whole, half + half / 10 + SLACK); /* caches of threads fill at their own pace */
    bt_vm_free(shared);
}
END_TEST

/* ---- VMs side by side ---- */

static void *keep_vms(void *unused) {
    bt_vm *vms[5] = {0};
    bt_session *sessions[5] = {0};
    for (long i = 0; now() < end || i < 10; i++) { /* at any time five of them live */
        int at = (int)(i % 5);
        bt_session_free(sessions[at]);
        bt_vm_free(vms[at]);
        bt_config config = {
            .size = sizeof config, .schedulers = 1 + (unsigned)(i % 2), .host_driven = i % 3 == 0};
        vms[at] = bt_vm_new(&config);
        sessions[at] = bt_session_new(vms[at]);
        for (int k = 0; k < 5; k++)
            if (sessions[k] && evaluate(sessions[k], "x := 20. (x + 1) * 2") != 42) wrong++;
        rounds++;
    }
    for (int i = 0; i < 5; i++) bt_session_free(sessions[i]), bt_vm_free(vms[i]);
    return unused;
}

static void fifty_vms_for(double seconds) {
    pthread_t threads[10];
    end = now() + seconds;
    for (int i = 0; i < 10; i++) pthread_create(&threads[i], NULL, keep_vms, NULL);
    for (int i = 0; i < 10; i++) pthread_join(threads[i], NULL);
}

START_TEST(fifty_vms_in_one_process) {
    double seconds = (double)setting("EMBED_SECONDS", 1);
    rounds = 0;
    fifty_vms_for(seconds / 2);
    long half = resident();
    fifty_vms_for(seconds / 2);
    long whole = resident();
    printf("  VMs: %ld made, resident after them %ld, then %ld KB\n", rounds, half / 1024, whole / 1024);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_lt(whole, half + half / 10 + SLACK);
}
END_TEST

/* ---- a session that never ends ---- */

/* No two of these texts are equal. */
static void text_of(long i, char *text, size_t size) {
    switch (i % 5) {
    case 0: snprintf(text, size, "%ld + 1", i); break;
    case 1:
        snprintf(text, size, "x := %ld. (\"text %ld\" size + ([:e | e * %ld] value: x)) - x", i, i, i);
        break;
    case 2: snprintf(text, size, "#(%ld, \"a%ld\", %ld.5) size", i, i, i); break;
    case 3: snprintf(text, size, "v%ld := [:n | n + %ld]. v%ld value: 1", i % 100, i, i % 100); break;
    default: snprintf(text, size, "[nil foo: %ld] on: Error do: [:e | e message size + %ld]", i, i);
    }
}

START_TEST(a_session_of_many_texts) {
    long texts = setting("EMBED_TEXTS", 20000), half = 0;
    bt_config config = {.size = sizeof config, .schedulers = 1};
    bt_vm *vm = bt_vm_new(&config);
    bt_session *session = bt_session_new(vm);
    for (long i = 0; i < texts; i++) {
        char text[200];
        text_of(i, text, sizeof text);
        ck_assert_msg(evaluate(session, text) >= 0, "%s", text);
        if (i == texts / 2) half = resident();
    }
    long whole = resident();
    printf("  texts: %ld, resident %ld, then %ld KB\n", texts, half / 1024, whole / 1024);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ck_assert_int_lt(whole, half + half / 100); /* sanitizers keep freed memory for a while */
#endif
    bt_session_free(session);
    bt_vm_free(vm);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {eight_threads_in_one_vm, fifty_vms_in_one_process, a_session_of_many_texts};
    Suite *s = suite_create("embed_soak");
    suite_case(s, "embed_soak", NULL, NULL, 3600, tests, COUNT_OF(tests));
    return suite_run(s);
}
