/* How test results are shown: TAP 13, or the plain form of spec tooling 2.5 and 3.6. One thread reports; what
 * the programs under test print may come from any. */
#ifndef BT_CLI_REPORT_H
#define BT_CLI_REPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum { TEST_PASSED, TEST_FAILED, TEST_SKIPPED } TestOutcome;

typedef struct {
    const char *name; /* Class>>selector, or file:line and expression */
    TestOutcome outcome;
    const char *message; /* why it failed or was skipped; may be NULL */
    const char *stack;   /* lines, or NULL */
} TestReport;

typedef struct {
    bool tap, quiet;
    bool scripts;           /* the plain form of test-script: no heading, no time */
    bool discard;           /* what programs print is not shown */
    _Atomic bool line_open; /* a program has printed text without the end of its line */
    bool progress_shown;
    unsigned number, passed, failed, skipped;           /* of the whole run */
    unsigned group_passed, group_failed, group_skipped; /* of the class or script at hand */
    char *details;                                      /* plain form: failures, printed at the end */
    size_t details_length, details_capacity;
} Report;

void report_begin(Report *r);
void report_test(Report *r, const TestReport *test);
/* On a terminal: a line that says how far the run is, until something else is printed. */
void report_progress(Report *r, const char *text);
/* What a program under test prints (bt_config.output, from any thread): no result shares a line with it. */
void report_program_output(void *report, const char *bytes, size_t length);
/* Plain form: one line for the group. */
void report_group(Report *r, const char *name);
/* Summary; the exit status. */
int report_end(Report *r, unsigned files, double seconds);

#endif
