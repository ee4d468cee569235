/* Running test classes, several at a time: each by one evaluation of TestRunner __records:, which gives every
 * test a process of its own; here are the host threads that wait for them. */
#ifndef BT_CLI_TEST_CLASS_H
#define BT_CLI_TEST_CLASS_H

#include "vm/cli/file_set.h"
#include "vm/cli/test_run.h"

typedef struct {
    char *name, **selectors;
    size_t count;
    bool serial; /* runs alone, after the others */
    /* set by who ran it */
    bool done;
    char *records; /* of TestRunner __records:, or NULL: */
    char *failure; /* why there are none */
} TestClass;

typedef struct {
    TestClass *items;
    size_t count;
} TestClassList;

/* test_bunit.c: the test classes of the files from index `first` on, in the order of the text. False after an
 * error message; free in both cases. */
bool test_classes_find(bt_vm *vm, const FileSet *set, size_t first, TestClassList *list);
void test_classes_free(TestClassList *list);
/* Reads fixtures, then files; a file found twice counts once. False after an error message. */
bool test_files_read(FileSet *set, const PathList *fixtures, const PathList *files);

/* Runs one class; fills what `done` announces. */
void test_class_run(const TestRun *run, bt_vm *vm, TestClass *c);
/* The next record of c->records, *at being its beginning at first; *at moves on. The texts become the
 * caller's. False: there is none, and c->failure says why; *outcome is then TEST_FAILED. */
bool test_record_read(char **at, TestOutcome *outcome, char **message, char **stack);
/* Runs them all and reports them in the order given. */
void test_classes_run(TestRun *run, bt_vm *vm, TestClass *classes, size_t count);

#endif
