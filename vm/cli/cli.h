/* The beamtalk command: one function per subcommand, a table of them, shared helpers.
 *
 * stdout carries program output and requested reports only; everything else goes to stderr. Exit status: 0
 * success, 1 failure reported by the tool, 2 wrong usage; `run` passes the program's own status through. */
#ifndef BT_CLI_H
#define BT_CLI_H

#include <stdbool.h>
#include <stdio.h>
#include "beamtalk.h"
#include "compiler/compiler.h"
#include "vm/cli/signals.h"

enum { EXIT_USAGE = 2 };

/* Options common to run, eval, repl and test, taken out of argv. */
typedef struct {
    unsigned schedulers;
    bool seeded, no_tail_calls, verbose;
    uint64_t seed;
    size_t heap_limit_bytes, stack_limit_bytes, memory_limit_bytes;
    uint32_t mailbox_limit;
    const char *profile_path; /* not an option: where to write a profile when the VM stops; NULL: none */
    void (*log)(void *context, const char *bytes, size_t length); /* not an option: log lines; NULL: stderr */
    bool shared;      /* not an option: programs cannot end the VM */
    Signals *signals; /* not an option: who stops the VM of this command; NULL: nobody */
} CommonOptions;

typedef struct {
    int argc; /* operands and options left, argv[0] is the subcommand */
    char **argv;
    CommonOptions common;
} Invocation;

typedef int (*CommandFn)(Invocation *invocation);
typedef struct {
    const char *name;
    CommandFn run;
    const char *operands, *summary;
    bool common_options;
} Command;

#define COMMAND(name, function, operands, summary, options) int function(Invocation *invocation);
#include "vm/cli/commands.def"
#undef COMMAND

/* command_profile.c: folded stacks to the file, a summary to stderr. */
void write_profile(bt_vm *vm, const char *path);
/* "Error: ..." on stderr; answers 1. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Colour is wanted on standard error: both outputs are terminals, and neither NO_COLOR, TERM=dumb nor
 * --no-color speaks against it. */
bool stderr_is_colored(void);
/* Takes --no-color out of the arguments; it holds for the whole command. */
void take_no_color(Invocation *invocation);
/* A whole file, "-" for standard input; NULL after an error message. Size limit: what a span can address.
 * Caller frees. */
char *read_source(const char *path, size_t *length);
bool has_suffix(const char *name, const char *suffix);
/* Makes the directories that `path` lies in; the text is the same again afterwards. */
bool make_parent_directories(char *path);
/* For qsort: an array of strings, by their bytes. */
int by_name(const void *a, const void *b);
/* A VM that prints to stdout, by the common options; signals stop it. NULL after a message. */
bt_vm *start_vm(const CommonOptions *options);
/* The same; what programs print goes to `output`, from any thread. */
bt_vm *start_vm_writing(const CommonOptions *options,
                        void (*output)(void *context, const char *bytes, size_t length), void *context);
/* A session of it. NULL after a message; of no VM, silently. */
bt_session *start_session(bt_vm *vm);
/* Every VM of the two above ends here. NULL is ignored. */
void stop_vm(const CommonOptions *options, bt_vm *vm);
/* Prints what went wrong in the form of `run` (message, Hint line) to stderr; answers the exit status. */
int report_failure(const bt_result *result, bool verbose);

/* command_run.c: runs "Class selector" of the classes that are there, as `run --entry` does. */
int run_entry_in(bt_vm *vm, bt_session *session, const char *entry, char **arguments, int count);

#endif
