/* `beamtalk test`: BUnit classes (spec tooling 2) and scripts (3). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "vm/cli/cli.h"
#include "vm/cli/manifest.h"
#include "vm/cli/test_run.h"

enum { TEST_LIMIT_MS = 60000 };
/* Of one process; a test that wants more is an error of its own rather than the end of the run. */
#define TEST_HEAP_BYTES ((size_t)512 << 20)

typedef struct {
    PathList fixtures, classes, scripts;
} TestFiles;

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bt_vm *start_test_vm(TestRun *run, const CommonOptions *common) {
    CommonOptions options = *common;
    if (!options.heap_limit_bytes) options.heap_limit_bytes = TEST_HEAP_BYTES;
    options.shared = true;
    bt_vm *vm = start_vm_writing(&options, report_program_output, &run->report);
    bt_session *session = vm ? bt_session_new(vm) : NULL;
    static const char hide[] = "TranscriptStream __hide";
    bt_eval_options evaluation = {.size = sizeof evaluation};
    bt_result *result = NULL;
    if (session) (void)bt_vm_eval(session, hide, sizeof hide - 1, &evaluation, &result);
    bt_result_free(result);
    bt_session_free(session);
    return vm;
}

/* ---- files ---- */

static bool is_fixture(const char *path, size_t below) {
    const char *at = strstr(path + below, "fixtures/");
    return at && (at == path + below || at[-1] == '/');
}

/* `// @load PATH` at the beginning of a line, as older test files have it. */
static bool add_loaded(TestFiles *files, const char *path) {
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    bool good = true, noted = false;
    while (f && good && getline(&line, &capacity, f) > 0) {
        char *at = line + strspn(line, " \t");
        if (strncmp(at, "//", 2)) continue;
        at += 2 + strspn(at + 2, " \t");
        if (strncmp(at, "@load ", 6)) continue;
        at += 6 + strspn(at + 6, " \t");
        at[strcspn(at, " \t\r\n")] = 0;
        if (!noted)
            fprintf(stderr, "note: %s: @load is deprecated; src/ and fixtures/ are loaded by themselves\n",
                    path);
        noted = true;
        struct stat status;
        good =
            stat(at, &status) == 0 ? paths_add(&files->fixtures, at) : !fail("%s: cannot load %s", path, at);
    }
    free(line);
    if (f) fclose(f);
    return good;
}

static bool add_file(TestFiles *files, const char *path, size_t below) {
    if (has_suffix(path, ".btscript")) return is_fixture(path, below) || paths_add(&files->scripts, path);
    if (is_fixture(path, below)) return paths_add(&files->fixtures, path);
    return paths_add(&files->classes, path) && add_loaded(files, path);
}

/* A file also brings the fixtures folder beside it, if it lies in a package. */
static bool add_fixtures_beside(TestFiles *files, const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder, *package;
    struct stat status;
    if (asprintf(&folder, "%.*sfixtures", slash ? (int)(slash + 1 - path) : 0, path) < 0)
        return fail("out of memory"), false;
    bool good = true;
    if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode) && (package = manifest_directory_above(path))) {
        good = paths_collect(&files->fixtures, folder, false);
        free(package);
    }
    free(folder);
    return good;
}

static bool add_operand(TestFiles *files, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return fail("Test path '%s' not found", path), false;
    if (!S_ISDIR(status.st_mode))
        return add_file(files, path, strlen(path)) && add_fixtures_beside(files, path);
    PathList found = {0};
    bool good = paths_collect(&found, path, true);
    for (size_t i = 0; good && i < found.count; i++) good = add_file(files, found.items[i], strlen(path));
    paths_free(&found);
    return good;
}

/* The same file by two ways counts once, and what is a test is no fixture. */
static void drop_repeated(PathList *list, const PathList *before) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        char *whole = realpath(list->items[i], NULL);
        bool repeated = false;
        for (size_t k = 0; whole && !repeated && k < kept + before->count; k++) {
            char *other = realpath(k < kept ? list->items[k] : before->items[k - kept], NULL);
            repeated = other && !strcmp(whole, other);
            free(other);
        }
        free(whole);
        if (repeated)
            free(list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static int run_files(TestRun *run, TestFiles *files) {
    int code = 0;
    static const PathList none = {0};
    drop_repeated(&files->classes, &none);
    drop_repeated(&files->fixtures, &files->classes);
    for (size_t i = 0; i < files->scripts.count && code == 0 && !signals_received(run->common.signals); i++)
        code = test_script(run, files->scripts.items[i]);
    int (*test)(TestRun *, const PathList *, const PathList *) = run->explore ? test_explore : test_classes;
    if (code == 0 && files->classes.count) code = test(run, &files->fixtures, &files->classes);
    return code;
}

/* ---- the command ---- */

static bool take_count(Invocation *in, int *i, unsigned *out) {
    char *end;
    if (*i + 1 >= in->argc) return false;
    unsigned long n = strtoul(in->argv[++*i], &end, 10);
    *out = (unsigned)n;
    return in->argv[*i][0] >= '0' && in->argv[*i][0] <= '9' && !*end && n <= 1000000;
}

/* 0: go on. */
static int take_options(Invocation *in, TestRun *run, TestFiles *files) {
    unsigned operands = 0;
    for (int i = 1; i < in->argc; i++) {
        const char *a = in->argv[i];
        bool good = true;
        if (!strcmp(a, "--format")) {
            if (i + 1 >= in->argc || strcmp(in->argv[++i], "tap"))
                return usage_error("--format: only tap is known");
            run->report.tap = true;
        } else if (!strcmp(a, "-q") || !strcmp(a, "--quiet")) {
            run->report.quiet = true;
        } else if (!strcmp(a, "--warnings-as-errors")) {
            run->warnings_as_errors = true;
        } else if (!strcmp(a, "--no-warnings")) {
            run->no_warnings = true;
        } else if (!strcmp(a, "-j") || !strcmp(a, "--jobs")) {
            good = take_count(in, &i, &run->jobs);
        } else if (!strcmp(a, "--explore")) {
            good = take_count(in, &i, &run->explore) && run->explore > 0;
        } else if (!strcmp(a, "--timeout")) {
            good = take_count(in, &i, &run->limit_ms);
        } else if (a[0] == '-') {
            return usage_error("unknown option '%s'", a);
        } else if (operands++, !add_operand(files, a)) {
            return 1;
        }
        if (!good) return usage_error("%s needs a number", a);
    }
    return !operands && !add_operand(files, "test");
}

int command_test(Invocation *in) {
    TestRun run = {.common = in->common, .limit_ms = TEST_LIMIT_MS};
    TestFiles files = {0};
    double start = seconds_now();
    int code = take_options(in, &run, &files);
    if (code == 0) {
        report_begin(&run.report);
        code = run_files(&run, &files);
        int reported = report_end(&run.report, (unsigned)(files.classes.count + files.scripts.count),
                                  seconds_now() - start);
        if (code == 0) code = reported;
        if (code == 0 && run.warnings_as_errors && run.warnings) code = fail("%zu warning(s)", run.warnings);
    }
    paths_free(&files.classes);
    paths_free(&files.fixtures);
    paths_free(&files.scripts);
    return code;
}
