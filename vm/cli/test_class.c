/* See test_class.h. */
#define _GNU_SOURCE
#include "vm/cli/test_class.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MAX = 64, PROGRESS_MS = 500 };

typedef struct {
    TestRun *run;
    bt_vm *vm;
    TestClass *classes;
    size_t count;
    pthread_mutex_t lock; /* guards what follows, and `done` of the classes */
    pthread_cond_t changed;
    size_t next;    /* class to be taken */
    size_t running; /* taken and not done */
    bool serial;    /* what is taken now */
} Jobs;

/* ---- running one class ---- */

static const char *reason_of(bt_status status, const bt_result *result) {
    switch (status) {
    case BT_EXIT: return "the run was ended";
    case BT_KILLED: return "the process of the class was killed";
    case BT_NO_MEMORY:
    case BT_VM_FAILED: return "out of memory";
    default: break;
    }
    const char *message = bt_result_error_message(result);
    return message ? message : "no answer";
}

void test_class_run(const TestRun *run, bt_vm *vm, TestClass *c) {
    bt_session *session = bt_session_new(vm);
    const char **arguments = calloc(c->count + 2, sizeof *arguments);
    char limit[16];
    bt_result *result = NULL;
    if (session && arguments) {
        snprintf(limit, sizeof limit, "%u", run->limit_ms);
        arguments[0] = c->name;
        arguments[1] = limit;
        memcpy(arguments + 2, c->selectors, c->count * sizeof *arguments);
        bt_eval_options options = {.size = sizeof options, .want_shown = 1, .main_process = 1};
        bt_status status =
            bt_vm_send_class(session, "TestRunner", "__records:", arguments, c->count + 2, &options, &result);
        if (status == BT_OK && bt_result_shown(result))
            c->records = strdup(bt_result_shown(result));
        else
            c->failure = strdup(reason_of(status, result));
    }
    bt_result_free(result);
    bt_session_free(session);
    free(arguments);
}

/* ---- threads ---- */

static TestClass *take(Jobs *jobs) {
    while (jobs->next < jobs->count) {
        TestClass *c = &jobs->classes[jobs->next++];
        if (c->serial == jobs->serial) return c;
    }
    return NULL;
}

static void *work(void *argument) {
    Jobs *jobs = argument;
    pthread_mutex_lock(&jobs->lock);
    for (TestClass *c; !signals_received(jobs->run->common.signals) && (c = take(jobs));) {
        pthread_mutex_unlock(&jobs->lock);
        test_class_run(jobs->run, jobs->vm, c);
        pthread_mutex_lock(&jobs->lock);
        c->done = true;
        pthread_cond_signal(&jobs->changed);
    }
    jobs->running--;
    pthread_cond_signal(&jobs->changed);
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

/* ---- reporting ---- */

static TestOutcome outcome_called(const char *word) {
    return !strncmp(word, "passed ", 7)    ? TEST_PASSED
           : !strncmp(word, "skipped ", 8) ? TEST_SKIPPED
                                           : TEST_FAILED;
}

bool test_record_read(char **at, TestOutcome *outcome, char **message, char **stack) {
    char *numbers = *at ? strchr(*at, ' ') : NULL, *end;
    *outcome = TEST_FAILED;
    *message = *stack = NULL;
    if (!numbers) return false;
    size_t message_length = strtoul(numbers, &end, 10), stack_length = strtoul(end, &end, 10);
    if (*end != ' ' || strlen(end + 1) < message_length + stack_length) return false;
    *outcome = outcome_called(*at);
    *message = strndup(end + 1, message_length);
    *stack = strndup(end + 1 + message_length, stack_length);
    *at = end + 1 + message_length + stack_length;
    return true;
}

static void report_class(TestRun *run, TestClass *c) {
    char *at = c->records;
    for (size_t i = 0; i < c->count; i++) {
        char *message, *stack, *name;
        TestOutcome outcome;
        if (asprintf(&name, "%s>>%s", c->name, c->selectors[i]) < 0) return;
        bool read = test_record_read(&at, &outcome, &message, &stack);
        report_test(&run->report, &(TestReport){.name = name,
                                                .outcome = outcome,
                                                .message = read ? message : c->failure,
                                                .stack = stack});
        free(message);
        free(stack);
        free(name);
    }
    report_group(&run->report, c->name);
}

static void report_waiting(Jobs *jobs, size_t reported) {
    size_t done = 0;
    for (size_t i = 0; i < jobs->count; i++) done += jobs->classes[i].done;
    char text[160];
    snprintf(text, sizeof text, "  %zu of %zu classes done, waiting for %s", done, jobs->count,
             jobs->classes[reported].name);
    report_progress(&jobs->run->report, text);
}

/* Reports what is done, in order, until the workers have ended. Answers how many are reported. */
static size_t report_until_end(Jobs *jobs, size_t reported) {
    pthread_mutex_lock(&jobs->lock);
    for (;;) {
        while (reported < jobs->count && jobs->classes[reported].done) {
            pthread_mutex_unlock(&jobs->lock);
            report_class(jobs->run, &jobs->classes[reported++]);
            pthread_mutex_lock(&jobs->lock);
        }
        if (!jobs->running) break;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PROGRESS_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        bool quiet_for_long = pthread_cond_timedwait(&jobs->changed, &jobs->lock, &until) != 0;
        if (quiet_for_long && reported < jobs->count) report_waiting(jobs, reported);
    }
    pthread_mutex_unlock(&jobs->lock);
    return reported;
}

static size_t run_phase(Jobs *jobs, bool serial, unsigned threads, size_t reported) {
    pthread_t ids[JOBS_MAX];
    unsigned started = 0;
    jobs->serial = serial;
    jobs->next = 0;
    jobs->running = threads;
    while (started < threads && pthread_create(&ids[started], NULL, work, jobs) == 0) started++;
    pthread_mutex_lock(&jobs->lock);
    jobs->running -= threads - started;
    pthread_mutex_unlock(&jobs->lock);
    reported = report_until_end(jobs, reported);
    for (unsigned i = 0; i < started; i++) pthread_join(ids[i], NULL);
    return reported;
}

static unsigned thread_count(const TestRun *run, size_t classes) {
    if (run->common.seeded) return 1; /* several host threads would not be repeatable */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = run->jobs ? run->jobs : cores > 0 ? (size_t)cores : 1;
    if (threads > classes) threads = classes;
    return (unsigned)(threads > JOBS_MAX ? JOBS_MAX : threads);
}

void test_classes_run(TestRun *run, bt_vm *vm, TestClass *classes, size_t count) {
    Jobs jobs = {.run = run, .vm = vm, .classes = classes, .count = count};
    pthread_mutex_init(&jobs.lock, NULL);
    pthread_cond_init(&jobs.changed, NULL);
    size_t reported = run_phase(&jobs, false, thread_count(run, count), 0);
    reported = run_phase(&jobs, true, count ? 1 : 0, reported);
    for (; reported < count && !signals_received(run->common.signals); reported++)
        report_class(run, &classes[reported]);
    pthread_mutex_destroy(&jobs.lock);
    pthread_cond_destroy(&jobs.changed);
}
