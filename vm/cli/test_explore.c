/* `beamtalk test --explore N [--seed S]`: each test under N interleavings (docs/exploration.md).
 *
 * Every round is a VM of its own with one seed, S to S + N - 1: one scheduler, virtual time, each choice of
 * who goes on and for how long drawn from the seed. So a round depends on nothing but the files, the test and
 * the seed, and `--explore 1` with the seed that failed repeats it exactly. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "vm/cli/test_run.h"

enum { ROUND_LIMIT_MS = 60000 }; /* of virtual time */

typedef struct {
    TestRun *run;
    char **paths;
    size_t count;
} Exploration;

typedef struct {
    bt_vm *vm;
    bt_session *session;
} Round;

/* All files, the first one last, as test_bunit.c loads them. */
static char *join(const Exploration *x, size_t *length) {
    char *all = NULL;
    *length = 0;
    for (size_t i = x->count; i-- > 0;) {
        size_t n;
        char *text = read_source(x->paths[i], &n), *grown = text ? realloc(all, *length + n + 1) : NULL;
        if (!grown) return free(text), free(all), NULL;
        all = grown;
        memcpy(all + *length, text, n);
        *length += n;
        all[(*length)++] = '\n';
        free(text);
    }
    return all;
}

static void round_end(Round *r) {
    bt_session_free(r->session);
    bt_vm_free(r->vm);
}

static void swallow(void *context, const char *bytes, size_t length) {
    (void)context, (void)bytes, (void)length;
}

/* A VM with this seed and the files loaded. False: they do not load; the reason is printed. Log lines of the
 * errors that a round provokes would drown the report; they are kept when one round is repeated. */
static bool round_begin(const Exploration *x, uint64_t seed, unsigned rounds, Round *r) {
    CommonOptions options = x->run->common;
    options.seeded = true;
    options.seed = seed;
    options.log = rounds > 1 ? swallow : NULL;
    options.signals = NULL;
    *r = (Round){.vm = start_vm_writing(&options, report_program_output, &x->run->report)};
    r->session = r->vm ? bt_session_new(r->vm) : NULL;
    size_t length;
    char *text = r->session ? join(x, &length) : NULL;
    bt_result *result = NULL;
    bt_status status = BT_NO_MEMORY;
    if (text) {
        bt_eval_options how = {.size = sizeof how, .name = x->paths[0], .load_only = 1, .spoil_methods = 1};
        status = bt_vm_eval(r->session, text, length, &how, &result);
        if (status != BT_OK) fputs(bt_result_diagnostics(result), stderr), report_failure(result, false);
        bt_result_free(result);
        free(text);
    }
    if (status != BT_OK) round_end(r);
    return status == BT_OK;
}

/* Display text of an expression; NULL with *why set if there is none. Caller frees both. */
static char *ask(const Round *r, const char *source, char **why) {
    bt_eval_options how = {.size = sizeof how, .want_shown = 1, .deadline_ms = ROUND_LIMIT_MS};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(r->session, source, strlen(source), &how, &result);
    char *text = status == BT_OK && bt_result_shown(result) ? strdup(bt_result_shown(result)) : NULL;
    const char *message = status == BT_TIMEOUT  ? "nothing can run any more, or 60 s of virtual time passed"
                          : status == BT_KILLED ? "the test's process was killed"
                                                : bt_result_error_message(result);
    if (!text) *why = strdup(message ? message : "no answer");
    bt_result_free(result);
    return text;
}

/* What TestRunner __outcome: answers: "+" passed, "-" skipped, "!" or else failed. Caller frees. */
static char *outcome_of(const Exploration *x, uint64_t seed, unsigned rounds, const char *class_name,
                        const char *selector) {
    Round r;
    char *source, *why = NULL, *answer = NULL;
    if (!round_begin(x, seed, rounds, &r)) return strdup("!the files do not load");
    if (asprintf(&source, "TestRunner __outcome: %s selector: #%s fixture: (TestRunner __fixtureOf: %s)",
                 class_name, selector, class_name) >= 0) {
        answer = ask(&r, source, &why);
        free(source);
    }
    round_end(&r);
    if (!answer && asprintf(&answer, "!%s", why ? why : "no answer") < 0) answer = NULL;
    free(why);
    return answer;
}

static void report_seed(const Exploration *x, const char *name, uint64_t seed, unsigned rounds,
                        const char *message) {
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (!to) return;
    fprintf(to, "seed %llu, interleaving %u: %s\n  repeat it: beamtalk test --explore 1 --seed %llu",
            (unsigned long long)seed, rounds, message, (unsigned long long)seed);
    for (size_t i = 0; i < x->count; i++) fprintf(to, " %s", x->paths[i]);
    fclose(to);
    report_test(&x->run->report, name, TEST_FAILED, text);
    free(text);
}

static void explore_test(const Exploration *x, const char *class_name, const char *selector) {
    const TestRun *run = x->run;
    uint64_t first = run->common.seeded ? run->common.seed : 1;
    char *name;
    if (asprintf(&name, "%s>>%s", class_name, selector) < 0) return;
    for (unsigned i = 0; i < run->explore; i++) {
        if (signals_received(run->common.signals)) break;
        char *answer = outcome_of(x, first + i, run->explore, class_name, selector);
        char verdict = answer ? answer[0] : '!';
        if (verdict == '-') report_test(&x->run->report, name, TEST_SKIPPED, answer + 1);
        if (verdict != '-' && verdict != '+')
            report_seed(x, name, first + i, i + 1, answer ? answer + (verdict == '!') : "no answer");
        if (verdict == '+' && i + 1 == run->explore) report_test(&x->run->report, name, TEST_PASSED, NULL);
        free(answer);
        if (verdict != '+') break;
    }
    free(name);
}

int test_explore(TestRun *run, char **paths, size_t count) {
    Exploration x = {run, paths, count};
    Round r;
    char *why = NULL;
    if (!round_begin(&x, 1, 1, &r)) return 1;
    char *plan = ask(&r, "TestRunner __plan", &why), *lines = plan;
    round_end(&r);
    for (char *line; lines && (line = strsep(&lines, "\n"));) {
        char *class_name = strsep(&line, " ");
        if (!*class_name) continue;
        for (char *selector; (selector = strsep(&line, " "));)
            if (*selector) explore_test(&x, class_name, selector);
        report_group(&run->report, class_name);
    }
    free(plan);
    free(why);
    return 0;
}
