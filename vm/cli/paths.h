/* Lists of source files, from operands that name files and directories. */
#ifndef BT_CLI_PATHS_H
#define BT_CLI_PATHS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char **items;
    size_t count, capacity;
} PathList;

/* A copy of `path`. False: no memory. */
bool paths_add(PathList *list, const char *path);
/* A file is added as it is; of a directory, all .bt files below it (.btscript too, if `scripts`), sorted by
 * path; hidden ones, .git, target, node_modules and _build are left out. False after an error message. */
bool paths_collect(PathList *list, const char *path, bool scripts);
void paths_free(PathList *list);

#endif
