/* How test results are shown: TAP 13, or the plain form of spec tooling 2.5 and 3.6. */
#ifndef BT_CLI_REPORT_H
#define BT_CLI_REPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum { TEST_PASSED, TEST_FAILED, TEST_SKIPPED } TestOutcome;

typedef struct {
    bool tap, quiet;
    _Atomic bool line_open;                   /* a program has printed text without the end of its line */
    unsigned number, passed, failed, skipped; /* of the whole run */
    unsigned group_passed, group_failed, group_skipped; /* of the class or script at hand */
    char *details;                                      /* plain form: failures, printed at the end */
} Report;

void report_begin(Report *r);
/* name: Class>>selector or file:line. message: reason of a failure or skip, may be NULL. */
void report_test(Report *r, const char *name, TestOutcome outcome, const char *message);
/* What a program under test prints (bt_config.output, from any thread): no result shares a line with it. */
void report_program_output(void *report, const char *bytes, size_t length);
/* Plain form: one line for the group. */
void report_group(Report *r, const char *name);
/* Summary; the exit status. */
int report_end(Report *r, unsigned files, double seconds);

#endif
