/* `bench`: runs workloads and prints what they measure. A workload is a program bench/NAME.bt of the package;
 * it runs in an operating-system process of its own, as `run` does it, checks its own answer and prints lines
 * `name<TAB>metric<TAB>value<TAB>unit`. One that prints no such line is timed as a whole, from the start of
 * its process to its end. Rounds are interleaved, so that a slow phase of the machine falls on all alike. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "vm/cli/bench_figures.h"
#include "vm/cli/cli.h"
#include "vm/cli/manifest.h"
#include "vm/cli/paths.h"

enum { ROUNDS_MAX = 100000, WHOLE_RUNS = 7 };
static const double WHOLE_MS = 2000; /* no further run of a program timed as a whole after so much */

typedef struct {
    PathList workloads;
    char **run_options; /* what stands behind `--`: options of `run` */
    int run_option_count;
    unsigned rounds;
    bool table;
    bool *failed; /* one a workload: it is not run again */
    Figures figures;
} Bench;

/* ---- which workloads ---- */

static bool is_directory(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_regular(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static char *joined(const char *directory, const char *name, const char *suffix) {
    char *path;
    const char *separator = directory[strlen(directory) - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s%s", directory, separator, name, suffix) < 0 ? NULL : path;
}

/* DIRECTORY/bench if there is one; NULL: none. Caller frees. */
static char *bench_of(const char *directory) {
    char *path = joined(directory, "bench", "");
    if (path && is_directory(path)) return path;
    return free(path), NULL;
}

/* Of the working directory, or of the package it lies in. */
static char *default_folder(void) {
    if (is_directory("bench")) return strdup("bench");
    char *package = manifest_directory_above("."), *found = package ? bench_of(package) : NULL;
    free(package);
    return found;
}

/* The programs in the folder itself; what lies in folders below are their helpers. */
static bool add_folder(PathList *list, const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir) return fail("cannot read directory %s: %s", folder, strerror(errno)), false;
    size_t first = list->count;
    bool good = true;
    for (struct dirent *entry; good && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || !has_suffix(entry->d_name, ".bt")) continue;
        char *path = joined(folder, entry->d_name, "");
        good = path ? !is_regular(path) || paths_add(list, path) : (fail("out of memory"), false);
        free(path);
    }
    closedir(dir);
    if (good && list->count == first)
        return fail("no workload in %s: write %s/NAME.bt", folder, folder), false;
    if (good) qsort(list->items + first, list->count - first, sizeof *list->items, by_name);
    return good;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void report_unknown(const char *name, const char *folder) {
    PathList all = {0};
    if (folder && add_folder(&all, folder)) {
        fail("no workload '%s' in %s; there are:", name, folder);
        for (size_t i = 0; i < all.count; i++) {
            const char *base = base_name(all.items[i]);
            fprintf(stderr, "  %.*s\n", (int)(strlen(base) - strlen(".bt")), base);
        }
    } else if (!folder) {
        fail("no workload '%s': there is no folder bench/ here", name);
    }
    paths_free(&all);
}

/* A name of the folder, a program, a folder, or a package. */
static bool add_operand(PathList *list, const char *folder, const char *operand) {
    char *named = folder && !strchr(operand, '/') ? joined(folder, operand, ".bt") : NULL;
    bool good;
    if (named && is_regular(named))
        good = paths_add(list, named);
    else if (*operand && is_directory(operand)) {
        char *inner = bench_of(operand);
        good = add_folder(list, inner ? inner : operand);
        free(inner);
    } else if (has_suffix(operand, ".bt")) {
        good = is_regular(operand) ? paths_add(list, operand) : (fail("file not found: %s", operand), false);
    } else {
        report_unknown(operand, folder);
        good = false;
    }
    free(named);
    return good;
}

/* ---- one run ---- */

typedef struct {
    char *text; /* standard output */
    size_t length;
    double ms;
    int status; /* of waitpid */
} RunOutcome;

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

_Noreturn static void become_program(const Bench *b, const char *path, int output) {
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* who ends `bench` ends its program */
    signal(SIGPIPE, SIG_DFL);
    dup2(output, STDOUT_FILENO);
    char **argv = calloc((size_t)b->run_option_count + 4, sizeof *argv), **at = argv;
    if (!argv) _exit(127);
    *at++ = "beamtalk", *at++ = "run";
    for (int i = 0; i < b->run_option_count; i++) *at++ = b->run_options[i];
    *at = (char *)(uintptr_t)path;
    execv("/proc/self/exe", argv);
    _exit(127);
}

static bool read_all(int fd, RunOutcome *o) {
    size_t capacity = 0;
    for (;;) {
        if (o->length + 1 >= capacity) {
            char *grown = realloc(o->text, capacity = capacity ? capacity * 2 : 4096);
            if (!grown) return false;
            o->text = grown;
        }
        ssize_t n = read(fd, o->text + o->length, capacity - o->length - 1);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return o->text[o->length] = 0, n == 0;
        o->length += (size_t)n;
    }
}

/* False: the program could not be started; a message was given. */
static bool run_once(const Bench *b, const char *path, RunOutcome *o) {
    int ends[2];
    *o = (RunOutcome){0};
    if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot run %s: %s", path, strerror(errno)), false;
    fflush(stdout);
    double start = now_ms();
    pid_t child = fork();
    if (child == 0) become_program(b, path, ends[1]);
    close(ends[1]);
    bool good = child > 0 && read_all(ends[0], o);
    if (child < 0) fail("cannot run %s: %s", path, strerror(errno));
    if (child > 0 && !good) fail("cannot read what %s prints", path);
    close(ends[0]);
    while (child > 0 && waitpid(child, &o->status, 0) < 0 && errno == EINTR) {
    }
    o->ms = now_ms() - start;
    if (!good) free(o->text);
    return good;
}

static bool ended_well(const char *path, const RunOutcome *o) {
    if (o->status == 0) return true;
    if (WIFSIGNALED(o->status))
        fail("%s was ended by signal %d (%s)", path, WTERMSIG(o->status), strsignal(WTERMSIG(o->status)));
    else
        fail("%s failed with exit status %d", path, WEXITSTATUS(o->status));
    return false;
}

/* ---- one workload ---- */

/* Figures are taken, other lines go to stderr. How many figures. */
static size_t take_lines(Bench *b, size_t program, char *text) {
    size_t taken = 0;
    for (char *line = text, *end; *line; line = end) {
        end = strchrnul(line, '\n');
        if (*end) *end++ = 0;
        if (figures_take_line(&b->figures, program, line))
            taken++;
        else if (*line)
            fprintf(stderr, "%s\n", line);
    }
    return taken;
}

/* The median of several whole runs, the first of which has been made. */
static bool time_whole(Bench *b, size_t program, double first_ms) {
    const char *path = b->workloads.items[program], *base = base_name(path);
    double runs[WHOLE_RUNS] = {first_ms}, spent = first_ms;
    size_t count = 1;
    for (; count < WHOLE_RUNS && spent < WHOLE_MS; count++) {
        RunOutcome o;
        if (!run_once(b, path, &o)) return false;
        free(o.text);
        if (!ended_well(path, &o)) return false;
        spent += runs[count] = o.ms;
    }
    char *name = strndup(base, strlen(base) - strlen(".bt"));
    bool good = name ? figures_add(&b->figures, program, name, "ms", median(runs, count), "ms")
                     : (fail("out of memory"), false);
    free(name);
    return good;
}

static bool run_workload(Bench *b, size_t program) {
    const char *path = b->workloads.items[program];
    RunOutcome o;
    if (!run_once(b, path, &o)) return false;
    bool printed = o.length > 0, good = ended_well(path, &o);
    size_t taken = good ? take_lines(b, program, o.text) : 0;
    if (!good) fputs(o.text, stderr);
    free(o.text);
    if (!good || taken) return good;
    if (!printed) return fail("%s prints nothing: neither a figure nor anything else", path), false;
    return time_whole(b, program, o.ms);
}

static int run_rounds(Bench *b) {
    int code = 0;
    for (unsigned round = 1; round <= b->rounds; round++) {
        for (size_t i = 0; i < b->workloads.count; i++) {
            size_t first = b->figures.count;
            if (b->failed[i]) continue;
            if (!run_workload(b, i)) b->failed[i] = true, code = 1;
            if (b->rounds == 1) figures_print(&b->figures, first, b->table);
        }
        if (b->rounds > 1) fprintf(stderr, "round %u of %u done\n", round, b->rounds);
    }
    if (b->rounds > 1) figures_print(&b->figures, 0, b->table);
    return code;
}

/* ---- the command ---- */

/* 0, or the exit status after a message. */
static int take_arguments(Bench *b, const Invocation *in, const char *folder) {
    bool any = false;
    for (int i = 1; i < in->argc; i++) {
        const char *a = in->argv[i];
        char *end = NULL;
        if (!strcmp(a, "--")) {
            b->run_options = in->argv + i + 1;
            b->run_option_count = in->argc - i - 1;
            break;
        }
        if (!strcmp(a, "--tsv")) {
            b->table = false;
        } else if (!strcmp(a, "--rounds")) {
            const char *number = i + 1 < in->argc ? in->argv[++i] : "";
            unsigned long n = strtoul(number, &end, 10);
            if (*number < '0' || *number > '9' || *end || n < 1 || n > ROUNDS_MAX)
                return usage_error("--rounds needs a number from 1 to %d", ROUNDS_MAX);
            b->rounds = (unsigned)n;
        } else if (a[0] == '-') {
            return usage_error("unknown option '%s'", a);
        } else {
            any = true;
            if (!add_operand(&b->workloads, folder, a)) return 1;
        }
    }
    if (any) return 0;
    if (!folder) return fail("there is no folder bench/ here: a workload is a program bench/NAME.bt");
    return add_folder(&b->workloads, folder) ? 0 : 1;
}

int command_bench(Invocation *in) {
    Bench b = {.rounds = 1, .table = isatty(STDOUT_FILENO)};
    char *folder = default_folder();
    int code = take_arguments(&b, in, folder);
    free(folder);
    if (code == 0) b.failed = calloc(b.workloads.count, sizeof *b.failed);
    if (code == 0) code = b.failed ? run_rounds(&b) : fail("out of memory");
    free(b.failed);
    figures_free(&b.figures);
    paths_free(&b.workloads);
    return code;
}
