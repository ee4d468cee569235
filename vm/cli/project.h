/* The source files of one check or build, compiled with each other's classes in view. */
#ifndef BT_CLI_PROJECT_H
#define BT_CLI_PROJECT_H

#include "vm/api/front.h"
#include "vm/cli/cli.h"
#include "vm/cli/paths.h"

typedef struct {
    const char *path;
    char *text; /* NULL: cannot be read, a message was given */
    size_t length;
    SourceFile file;
    DiagList diags;
    bool compiled;  /* without an error */
    bool settled;   /* project_compile need not look at it any more */
    uint8_t *image; /* if images are wanted; from project_compile, or put there by the caller */
    size_t image_length;
} ProjectFile;

typedef struct {
    bt_vm *vm;
    bool want_images;
    ProjectFile *files; /* one for each path, in the same order */
    size_t count;
    size_t *order; /* indexes of the compiled files, superclasses first */
    size_t order_count;
} Project;

/* Reads the files; `paths` outlives the project. False: no memory, a message was given. */
bool project_open(Project *p, bt_vm *vm, const PathList *paths);
/* Compiles every file that is not settled. */
void project_compile(Project *p);
void project_close(Project *p);
/* Diagnostics of one severity in all files. */
unsigned project_count(const Project *p, DiagSeverity severity);
/* Prints the diagnostics of all files to stderr. */
void project_report(Project *p, DiagSeverity least);

#endif
