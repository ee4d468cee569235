/* One run of `beamtalk test`, `test-script` or `test-docs`: what its parts share. */
#ifndef BT_CLI_TEST_RUN_H
#define BT_CLI_TEST_RUN_H

#include "vm/cli/cli.h"
#include "vm/cli/paths.h"
#include "vm/cli/report.h"

typedef struct {
    CommonOptions common;
    Report report;
    unsigned explore;  /* interleavings a test, 0: one ordinary run */
    unsigned jobs;     /* classes at a time, 0: as many as there are processors */
    unsigned limit_ms; /* wall clock, of one test */
    bool warnings_as_errors, no_warnings;
    size_t warnings;
} TestRun;

/* command_test.c: a VM for the run, its output kept apart from the report; Transcript is kept but not shown.
 * NULL: could not start. */
bt_vm *start_test_vm(TestRun *run, const CommonOptions *common);
/* test_bunit.c: loads the package's src, then all the files together; runs the TestCase classes of `files`,
 * not those of `fixtures`. 0, or 1 if nothing could be run (diagnostics printed). */
int test_classes(TestRun *run, const PathList *fixtures, const PathList *files);
/* test_explore.c: each test under run->explore interleavings. As test_classes. */
int test_explore(TestRun *run, const PathList *fixtures, const PathList *files);
/* test_script.c: one test per expectation. 0, or 1 if the file cannot be read. */
int test_script(TestRun *run, const char *path);

#endif
