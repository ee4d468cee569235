/* `doctor`: is this machine fit; `clean`: removes what `build` made; and the commands that this build has
 * not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vm/cli/cli.h"

/* ---- doctor ---- */

typedef enum { GOOD, WARN, BAD } Finding;

typedef struct {
    unsigned counts[BAD + 1];
} Doctor;

__attribute__((format(printf, 3, 4))) static void finding(Doctor *d, Finding f, const char *format, ...) {
    static const char *const marks[] = {"✅", "⚠️ ", "❌"};
    va_list arguments;
    d->counts[f]++;
    printf("%s ", marks[f]);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static bool evaluates(bt_vm *vm) {
    static const char source[] = "(#(1, 2, 3) collect: [:n | n * n]) printString";
    bt_session *session = bt_session_new(vm);
    bt_eval_options options = {.size = sizeof options, .want_shown = 1};
    bt_result *result = NULL;
    bool good = session && bt_vm_eval(session, source, sizeof source - 1, &options, &result) == BT_OK &&
                !strcmp(bt_result_repl_text(result), "#(1, 4, 9)");
    bt_result_free(result);
    bt_session_free(session);
    return good;
}

static void examine_library(Doctor *d, const CommonOptions *options) {
    bt_vm *vm = start_vm(options);
    if (vm && evaluates(vm))
        finding(d, GOOD, "Standard library loads and runs");
    else
        finding(d, BAD, "Standard library does not run: this binary is damaged");
    stop_vm(options, vm);
}

static void examine_temporary_directory(Doctor *d) {
    const char *directory = getenv("TMPDIR");
    if (!directory || !*directory) directory = "/tmp";
    char *path;
    if (asprintf(&path, "%s/beamtalk-doctor-XXXXXX", directory) < 0) return;
    int fd = mkstemp(path);
    if (fd < 0)
        finding(d, BAD, "Temporary directory %s cannot be written: %s", directory, strerror(errno));
    else
        finding(d, GOOD, "Temporary directory %s can be written", directory), close(fd), unlink(path);
    free(path);
}

static void *return_at_once(void *argument) { return argument; }

static void examine_threads(Doctor *d) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t thread;
    if (pthread_create(&thread, NULL, return_at_once, NULL) != 0)
        finding(d, BAD, "No thread can be started: %s", strerror(errno));
    else
        pthread_join(thread, NULL), finding(d, GOOD, "%ld scheduler thread(s), one per core", cores);
}

static void examine_terminal(Doctor *d) {
    const char *term = getenv("TERM");
    if (!isatty(STDIN_FILENO))
        finding(d, GOOD, "Standard input is not a terminal: the REPL reads plain lines");
    else if (!term || !strcmp(term, "dumb"))
        finding(d, WARN, "TERM is %s: the REPL has no colours and no line editing", term ? term : "not set");
    else
        finding(d, GOOD, "Terminal %s", term);
}

int command_doctor(Invocation *in) {
    if (in->argc > 2 || (in->argc == 2 && strcmp(in->argv[1], "--dev")))
        return usage_error("doctor takes no arguments");
    Doctor d = {0};
    finding(&d, GOOD, "beamtalk %s", BT_VERSION);
    examine_library(&d, &in->common);
    examine_temporary_directory(&d);
    examine_threads(&d);
    examine_terminal(&d);
    puts(d.counts[BAD]    ? "\nSome checks failed. See above for details."
         : d.counts[WARN] ? "\nAll required checks passed (with warnings)."
                          : "\nAll checks passed!");
    return d.counts[BAD] ? 1 : 0;
}

/* ---- clean ---- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status, (void)kind, (void)where;
    return remove(path);
}

int command_clean(Invocation *in) {
    bool all = false, dry = false;
    for (int i = 1; i < in->argc; i++) {
        if (!strcmp(in->argv[i], "--all") || !strcmp(in->argv[i], "--deps"))
            all = true;
        else if (!strcmp(in->argv[i], "--dry-run"))
            dry = true;
        else
            return usage_error("unknown argument '%s'", in->argv[i]);
    }
    const char *path = all ? "_build" : "_build/dev";
    struct stat status;
    if (lstat(path, &status) != 0) return puts("Nothing to clean"), 0;
    if (dry) return printf("Would remove %s/\n", path), 0;
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        return fail("cannot remove %s: %s", path, strerror(errno));
    printf("Removed %s/\n", path);
    return 0;
}

/* ---- the rest ---- */

int command_unavailable(Invocation *in) { return fail("'%s' is not available in this build", in->argv[0]); }
