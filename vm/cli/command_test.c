/* `beamtalk test`: BUnit classes (spec tooling 2) and scripts (3). */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "vm/cli/cli.h"
#include "vm/cli/test_run.h"

typedef struct {
    char **paths;
    size_t count, capacity;
} PathList;

static bool path_add(PathList *list, const char *path) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        char **grown = realloc(list->paths, capacity * sizeof *grown);
        if (!grown) return false;
        list->paths = grown;
        list->capacity = capacity;
    }
    char *copy = strdup(path);
    if (!copy) return false;
    list->paths[list->count++] = copy;
    return true;
}

/* Files of a directory tree, sorted by path; `fixtures` folders are left out. */
static void collect(PathList *list, const char *path, unsigned depth) {
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char *inner;
        if (e->d_name[0] == '.' || !strcmp(e->d_name, "fixtures") ||
            asprintf(&inner, "%s/%s", path, e->d_name) < 0)
            continue;
        struct stat status;
        bool directory = stat(inner, &status) == 0 && S_ISDIR(status.st_mode);
        if (directory && depth < 32)
            collect(list, inner, depth + 1);
        else if (has_suffix(inner, ".bt") || has_suffix(inner, ".btscript"))
            path_add(list, inner);
        free(inner);
    }
    if (dir) closedir(dir);
    if (depth == 0 && list->count) qsort(list->paths, list->count, sizeof *list->paths, by_name);
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bt_vm *start_test_vm(TestRun *run) {
    bt_vm *vm = start_vm_writing(&run->common, report_program_output, &run->report);
    bt_session *session = vm ? bt_session_new(vm) : NULL;
    static const char hide[] = "TranscriptStream __hide";
    bt_eval_options options = {.size = sizeof options};
    bt_result *result = NULL;
    if (session) (void)bt_vm_eval(session, hide, sizeof hide - 1, &options, &result);
    bt_result_free(result);
    bt_session_free(session);
    return vm;
}

static int run_paths(TestRun *run, PathList *list) {
    int code = 0;
    PathList classes = {0};
    for (size_t i = 0; i < list->count && code == 0; i++) {
        if (has_suffix(list->paths[i], ".btscript"))
            code = test_script(run, list->paths[i]);
        else
            path_add(&classes, list->paths[i]);
    }
    int (*test)(TestRun *, char **, size_t) = run->explore ? test_explore : test_classes;
    if (code == 0 && classes.count) code = test(run, classes.paths, classes.count);
    for (size_t i = 0; i < classes.count; i++) free(classes.paths[i]);
    free(classes.paths);
    return code;
}

int command_test(Invocation *in) {
    TestRun run = {.common = in->common};
    PathList list = {0};
    for (int i = 1; i < in->argc; i++) {
        const char *a = in->argv[i];
        struct stat status;
        if (!strcmp(a, "--format") && i + 1 < in->argc)
            run.report.tap = !strcmp(in->argv[++i], "tap");
        else if (!strcmp(a, "-q") || !strcmp(a, "--quiet"))
            run.report.quiet = true;
        else if ((!strcmp(a, "-j") || !strcmp(a, "--jobs")) && i + 1 < in->argc)
            i++;
        else if (!strcmp(a, "--explore") && i + 1 < in->argc && atoi(in->argv[i + 1]) > 0)
            run.explore = (unsigned)atoi(in->argv[++i]);
        else if (a[0] == '-')
            return usage_error("unknown option '%s'", a);
        else if (stat(a, &status) != 0)
            return fail("Test path '%s' not found", a);
        else if (S_ISDIR(status.st_mode))
            collect(&list, a, 0);
        else
            path_add(&list, a);
    }
    if (!list.count) collect(&list, "test", 0);
    double start = seconds_now();
    report_begin(&run.report);
    int code = run_paths(&run, &list);
    int reported = report_end(&run.report, (unsigned)list.count, seconds_now() - start);
    for (size_t i = 0; i < list.count; i++) free(list.paths[i]);
    free(list.paths);
    return code ? code : reported;
}
