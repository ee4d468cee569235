/* Helpers of the subcommands: messages, files, a VM with the usual wiring. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vm/cli/cli.h"

static void message(const char *prefix, const char *format, va_list arguments) {
    fflush(stdout);
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    message("Error: ", format, arguments);
    va_end(arguments);
    return 1;
}

int usage_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    message("beamtalk: ", format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'beamtalk --help'.\n");
    return EXIT_USAGE;
}

bool stderr_is_colored(void) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color) return false;
    return isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void take_no_color(Invocation *in) {
    int kept = 1;
    for (int i = 1; i < in->argc; i++)
        if (strcmp(in->argv[i], "--no-color"))
            in->argv[kept++] = in->argv[i];
        else
            setenv("NO_COLOR", "1", 1);
    in->argc = kept;
}

bool has_suffix(const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && !strcmp(name + n - m, suffix);
}

int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

bool make_parent_directories(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool good = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!good) return false;
    }
    return true;
}

static char *read_stream(FILE *f, size_t *length) {
    size_t capacity = 1 << 16, used = 0;
    char *text = malloc(capacity);
    while (text) {
        used += fread(text + used, 1, capacity - used, f);
        if (used < capacity || used >= SOURCE_MAX_BYTES) break;
        char *grown = realloc(text, capacity *= 2);
        if (!grown) free(text);
        text = grown;
    }
    *length = used;
    return text;
}

char *read_source(const char *path, size_t *length) {
    bool standard_input = !strcmp(path, "-");
    struct stat status;
    if (!standard_input && stat(path, &status) != 0) {
        if (errno == ENOENT)
            fail("file not found: %s", path);
        else
            fail("cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    if (!standard_input && S_ISDIR(status.st_mode)) return fail("%s is a directory, not a file", path), NULL;
    FILE *f = standard_input ? stdin : fopen(path, "rb");
    if (!f) return fail("cannot read %s: %s", path, strerror(errno)), NULL;
    char *text = read_stream(f, length);
    bool broken = ferror(f) != 0;
    if (!standard_input) fclose(f);
    if (!text || broken) return free(text), fail("cannot read %s", path), NULL;
    if (*length >= SOURCE_MAX_BYTES)
        return free(text),
               fail("%s is too large for a source file (at most %u MiB)", path, SOURCE_MAX_BYTES >> 20), NULL;
    return text;
}

bt_vm *start_vm(const CommonOptions *o) { return start_vm_writing(o, NULL, NULL); }

bt_vm *start_vm_writing(const CommonOptions *o,
                        void (*output)(void *context, const char *bytes, size_t length), void *context) {
    bt_config config = {.size = sizeof config,
                        .schedulers = o->schedulers,
                        .seeded = o->seeded,
                        .seed = o->seed,
                        .heap_limit_bytes = o->heap_limit_bytes,
                        .stack_limit_bytes = o->stack_limit_bytes,
                        .memory_limit_bytes = o->memory_limit_bytes,
                        .mailbox_limit = o->mailbox_limit,
                        .no_tail_calls = o->no_tail_calls,
                        .log = o->log,
                        .profile = o->profile_path != NULL,
                        .shared = o->shared,
                        .output = output,
                        .context = context,
                        .use_stdout = !output,
                        .use_stderr = 1};
    bt_vm *vm = bt_vm_new(&config);
    if (!vm) fail("the virtual machine could not start");
    signals_watch(o->signals, vm);
    return vm;
}

bt_session *start_session(bt_vm *vm) {
    bt_session *session = vm ? bt_session_new(vm) : NULL;
    if (vm && !session) fail("out of memory");
    return session;
}

void stop_vm(const CommonOptions *o, bt_vm *vm) {
    signals_watch(o->signals, NULL);
    if (vm && o->profile_path) write_profile(vm, o->profile_path);
    bt_vm_free(vm);
}

static void print_text(const char *text) {
    fputs(text, stderr);
    fputc('\n', stderr);
}

int report_failure(const bt_result *result, bool verbose) {
    fflush(stdout);
    switch (bt_result_status(result)) {
    case BT_OK: return 0;
    case BT_EXIT: return bt_result_exit_status(result);
    case BT_COMPILE_ERROR:
        if (*bt_result_diagnostics(result)) return 1; /* printed already */
        break;
    case BT_KILLED: return print_text("killed"), 1;
    case BT_NO_MEMORY:
    case BT_VM_FAILED: return fail("out of memory");
    case BT_TIMEOUT: return fail("the time limit passed");
    case BT_INTERRUPTED: return print_text("Interrupted"), 1;
    case BT_MISUSE: return fail("internal error: misuse of the interface");
    case BT_RUNTIME_ERROR: break;
    }
    const char *text = bt_result_error_message(result), *hint = bt_result_error_hint(result);
    print_text(text ? text : "out of memory: the error could not be described");
    if (hint) fputs("Hint: ", stderr), print_text(hint);
    if (verbose && *bt_result_stack(result)) fputs(bt_result_stack(result), stderr);
    return 1;
}
