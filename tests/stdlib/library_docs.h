/* The library's documentation as the test programs of this folder read it: one entry per documented or public
 * method, taken from the running library, not from its sources. */
#ifndef BT_TEST_LIBRARY_DOCS_H
#define BT_TEST_LIBRARY_DOCS_H

#include <stdbool.h>
#include <stddef.h>
#include "beamtalk.h"

typedef struct {
    char *class_name; /* "Integer", "Integer class" */
    char *selector;   /* "" for the comment of the class itself */
    char *doc;        /* "" if there is none */
    int examples;     /* expectations that were run and held */
    int sends;        /* those among them whose expression sends the selector */
    int failed;
} DocEntry;

typedef struct {
    DocEntry *items;
    size_t count;
    char *text; /* what the entries point into */
} DocList;

bool docs_read(bt_vm *vm, DocList *list);
void docs_free(DocList *list);
DocEntry *docs_find(const DocList *list, const char *class_name, const char *selector);

/* Runs the fenced `beamtalk` blocks of one comment in a session of their own. Failures are printed. */
void docs_run_examples(bt_vm *vm, DocEntry *entry);
/* Does the expression hold a send of the selector? By its words, outside of strings. */
bool expression_sends(const char *expression, const char *selector);

/* Evaluates and answers the display form, NULL on failure (reported). Caller frees. */
char *ask(bt_vm *vm, const char *source);
char *read_text(const char *path);

#endif
