/* See paths.h. */
#define _GNU_SOURCE
#include "vm/cli/paths.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "vm/cli/cli.h"

enum { DEPTH_MAX = 64 }; /* of directories: links may form a cycle */

bool paths_add(PathList *list, const char *path) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        char **grown = realloc(list->items, capacity * sizeof *grown);
        if (!grown) return fail("out of memory"), false;
        list->items = grown;
        list->capacity = capacity;
    }
    char *copy = strdup(path);
    if (!copy) return fail("out of memory"), false;
    list->items[list->count++] = copy;
    return true;
}

static bool is_skipped(const char *name) {
    return name[0] == '.' || !strcmp(name, "target") || !strcmp(name, "node_modules") ||
           !strcmp(name, "_build");
}

static bool collect_directory(PathList *list, const char *path, bool scripts, unsigned depth) {
    DIR *dir = opendir(path);
    if (!dir) return fail("cannot read directory %s: %s", path, strerror(errno)), false;
    bool good = true;
    const char *separator = path[strlen(path) - 1] == '/' ? "" : "/";
    for (struct dirent *entry; (entry = readdir(dir)) && good;) {
        char *inner = NULL;
        struct stat status;
        if (is_skipped(entry->d_name)) continue;
        if (asprintf(&inner, "%s%s%s", path, separator, entry->d_name) < 0)
            good = !fail("out of memory");
        else if (stat(inner, &status) == 0 && S_ISDIR(status.st_mode))
            good = depth >= DEPTH_MAX || collect_directory(list, inner, scripts, depth + 1);
        else if (has_suffix(inner, ".bt") || (scripts && has_suffix(inner, ".btscript")))
            good = paths_add(list, inner);
        free(inner);
    }
    closedir(dir);
    return good;
}

bool paths_collect(PathList *list, const char *path, bool scripts) {
    struct stat status;
    if (stat(path, &status) != 0) {
        fail(errno == ENOENT ? "file not found: %s" : "cannot read %s", path);
        return false;
    }
    if (!S_ISDIR(status.st_mode)) return paths_add(list, path);
    size_t first = list->count;
    bool good = collect_directory(list, path, scripts, 0);
    if (list->count > first) qsort(list->items + first, list->count - first, sizeof *list->items, by_name);
    return good;
}

void paths_free(PathList *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
    *list = (PathList){0};
}
