/* BUnit under `beamtalk test`: all files are one load; each test method runs as an evaluation, that is, in a
 * process of its own with a time limit. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "vm/cli/test_run.h"

enum { TEST_LIMIT_MS = 60000 };

typedef struct {
    TestRun *run;
    bt_vm *vm;
    bt_session *session;
} Bunit;

/* The files as one text: what others depend on may stand in any of them. */
static char *join_files(char **paths, size_t count, size_t *length) {
    char *joined = NULL;
    *length = 0;
    for (size_t i = count;
         i-- > 0;) { /* the first file is the one under test: last, so that its name covers the whole */
        size_t n;
        char *text = read_source(paths[i], &n);
        char *grown = text ? realloc(joined, *length + n + 2) : NULL;
        if (!grown) return free(text), free(joined), NULL;
        joined = grown;
        memcpy(joined + *length, text, n);
        *length += n;
        joined[(*length)++] = '\n';
        joined[*length] = 0;
        free(text);
    }
    return joined;
}

static bool load(Bunit *b, char **paths, size_t count) {
    size_t length;
    char *text = join_files(paths, count, &length);
    if (!text) return false;
    bt_eval_options options = {.size = sizeof options, .name = paths[0], .load_only = 1, .spoil_methods = 1};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(b->session, text, length, &options, &result);
    free(text);
    if (status != BT_OK || !b->run->report.tap) fputs(bt_result_diagnostics(result), stderr);
    if (status != BT_OK) report_failure(result, false);
    bt_result_free(result);
    return status == BT_OK;
}

/* Display text of an expression's value; NULL on failure (then *message says why, if wanted). Caller frees.
 */
static char *ask(Bunit *b, const char *source, char **message) {
    bt_eval_options options = {.size = sizeof options, .want_shown = 1, .deadline_ms = TEST_LIMIT_MS};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(b->session, source, strlen(source), &options, &result);
    char *text = status == BT_OK && bt_result_shown(result) ? strdup(bt_result_shown(result)) : NULL;
    if (!text && message) {
        const char *why = status == BT_TIMEOUT  ? "test timed out after 60 s"
                          : status == BT_KILLED ? "the test's process was killed"
                                                : bt_result_error_message(result);
        *message = strdup(why ? why : "no answer");
    }
    bt_result_free(result);
    return text;
}

/* The answer of TestRunner __outcome: "+" passed, "-why" skipped, anything else the message of a failure. */
static void run_test(Bunit *b, const char *class_name, const char *selector) {
    char *source, *name, *message = NULL;
    if (asprintf(&source, "TestRunner __outcome: %s selector: #%s fixture: __fixture", class_name, selector) <
        0)
        return;
    if (asprintf(&name, "%s>>%s", class_name, selector) < 0) return free(source);
    char *answer = ask(b, source, &message);
    if (!answer)
        report_test(&b->run->report, name, TEST_FAILED, message);
    else if (!strcmp(answer, "+"))
        report_test(&b->run->report, name, TEST_PASSED, NULL);
    else if (answer[0] == '-')
        report_test(&b->run->report, name, TEST_SKIPPED, answer + 1);
    else
        report_test(&b->run->report, name, TEST_FAILED, answer + 1);
    free(answer);
    free(message);
    free(source);
    free(name);
}

static void run_class(Bunit *b, char *line) {
    char *class_name = strsep(&line, " "), *source, *message = NULL;
    if (asprintf(&source, "__fixture := TestRunner __fixtureOf: %s", class_name) < 0) return;
    char *fixture = ask(b, source, &message);
    for (char *selector; (selector = strsep(&line, " "));)
        if (*selector) run_test(b, class_name, selector);
    free(source);
    free(fixture);
    free(message);
    if (asprintf(&source, "TestRunner __endOf: %s fixture: __fixture", class_name) >= 0) {
        free(ask(b, source, NULL));
        free(source);
    }
    report_group(&b->run->report, class_name);
}

int test_classes(TestRun *run, char **paths, size_t count) {
    Bunit b = {.run = run, .vm = start_test_vm(run)};
    b.session = bt_session_new(b.vm);
    int code = 1;
    if (b.session && load(&b, paths, count)) {
        char *plan = ask(&b, "TestRunner __plan", NULL), *lines = plan;
        for (char *line; lines && (line = strsep(&lines, "\n"));)
            if (*line) run_class(&b, line);
        free(plan);
        code = 0;
    }
    bt_session_free(b.session);
    stop_vm(&run->common, b.vm);
    return code;
}
