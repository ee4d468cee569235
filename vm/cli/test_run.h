/* One run of `beamtalk test`: what its parts share. */
#ifndef BT_CLI_TEST_RUN_H
#define BT_CLI_TEST_RUN_H

#include "vm/cli/cli.h"
#include "vm/cli/report.h"

typedef struct {
    CommonOptions common;
    Report report;
    unsigned explore; /* interleavings a test, 0: one ordinary run */
} TestRun;

/* command_test.c: a VM for the run, its output kept apart from the report; Transcript is kept but not shown.
 * NULL: could not start. */
bt_vm *start_test_vm(TestRun *run);
/* test_bunit.c: loads all files, then runs every TestCase class. 0, or 1 if the files do not load
 * (diagnostics printed). */
int test_classes(TestRun *run, char **paths, size_t count);
/* test_explore.c: each test under run->explore interleavings. As test_classes. */
int test_explore(TestRun *run, char **paths, size_t count);
/* test_script.c: one test per expectation. 0, or 1 if the file cannot be read. */
int test_script(TestRun *run, const char *path);

#endif
