/* libbeamtalk: run Beamtalk inside a host program. The one public header.
 *
 * Threads: a bt_vm may be used from any thread, by several at once. Calls on one bt_session are serialised by
 * the library. A bt_result belongs to who received it, one thread at a time. Errors never cross this boundary
 * as signals, jumps or aborts: every call answers a status. Strings that a call answers are UTF-8, NUL
 * terminated, and live as long as the object asked.
 */
#ifndef BEAMTALK_H
#define BEAMTALK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BT_API __attribute__((visibility("default")))
#else
#define BT_API
#endif

typedef struct bt_vm bt_vm;
typedef struct bt_session bt_session;
typedef struct bt_result bt_result;

typedef enum {
    BT_OK = 0,
    BT_COMPILE_ERROR, /* nothing ran; bt_result_diagnostics says why */
    BT_RUNTIME_ERROR, /* an error reached the top; bt_result_error_* describe it */
    BT_EXIT,          /* the program asked to end (Program exit:); bt_result_exit_status */
    BT_TIMEOUT,       /* the deadline passed; the evaluation was stopped */
    BT_KILLED,        /* the evaluation's process was killed */
    BT_NO_MEMORY,
    BT_VM_FAILED,  /* the VM lost a structure it cannot do without and has stopped */
    BT_MISUSE,     /* an argument is NULL or out of range */
    BT_INTERRUPTED /* bt_session_interrupt stopped the evaluation */
} bt_status;

/* Zero means the default for every field. `size` is sizeof(bt_config), for versions to come. */
typedef struct bt_config {
    size_t size;
    unsigned schedulers; /* 0: one per core */
    int seeded;          /* non-zero: one scheduler, virtual time, every choice from `seed` */
    uint64_t seed;
    size_t heap_limit_bytes;  /* per process, 0: none */
    size_t stack_limit_bytes; /* per process, 0: 512 MB */
    int no_tail_calls;
    void (*output)(void *context, const char *bytes,
                   size_t length); /* program output; NULL: discarded unless use_stdout */
    void (*log)(void *context, const char *bytes, size_t length); /* log lines; NULL: standard error */
    void *context;
    int use_stdout;
    size_t memory_limit_bytes; /* resident set of the process, 0: none; who asks for much beyond it fails */
    uint32_t mailbox_limit;    /* messages that may wait for one process, 0: none; more end it */
} bt_config;

/* A VM with the library loaded. No thread starts before the first evaluation; no signal handler is installed.
 * NULL configuration: defaults. NULL answer: no memory, or the built-in library is damaged (reason on
 * standard error of debug builds). */
BT_API bt_vm *bt_vm_new(const bt_config *config);
/* Stops all processes and frees everything. No other call may be under way on this VM. NULL is ignored. */
BT_API void bt_vm_free(bt_vm *vm);
/* Stops all processes for good, as if a program had said `Program exit: status`: evaluations under way, and
 * all later ones, answer BT_EXIT. From any thread; does not wait. NULL is ignored. */
BT_API void bt_vm_stop(bt_vm *vm, int status);
/* Whether it runs in deterministic mode (bt_config.seeded). */
BT_API int bt_vm_is_seeded(const bt_vm *vm);

/* A session holds bindings from one evaluation to the next. Freed before its VM. */
BT_API bt_session *bt_session_new(bt_vm *vm);
BT_API void bt_session_free(bt_session *session);

typedef struct bt_eval_options {
    size_t size;
    const char *name;        /* for diagnostics; NULL: "eval" */
    int64_t deadline_ms;     /* 0: none */
    size_t heap_limit_bytes; /* of the evaluation's process, 0: the VM's */
    size_t stack_limit_bytes;
    int load_only;     /* definitions are installed, top-level expressions must not occur */
    int want_shown;    /* also render the display forms (bt_result_shown, bt_result_repl_text) */
    int spoil_methods; /* a semantic error inside one method body spoils that method only (test runners) */
    int ignore_link_exits; /* the end of an actor that it spawned does not end the evaluation */
    int main_process;      /* the evaluation is the program's main process (run): link exits are ignored */
} bt_eval_options;

/* Evaluates source text of `length` bytes as one input of the session: definitions are installed, expressions
 * run in a process of their own, names assigned stay bound (not after an error). The caller blocks; what the
 * program printed has been handed to the output function when it returns. *result is set (never NULL) unless
 * BT_NO_MEMORY or BT_MISUSE. */
BT_API bt_status bt_vm_eval(bt_session *session, const char *source, size_t length,
                            const bt_eval_options *options, bt_result **result);
BT_API void bt_result_free(bt_result *result);

BT_API bt_status bt_result_status(const bt_result *result);
BT_API const char *
bt_result_print_string(const bt_result *result); /* printString of the value; NULL if there is none */
BT_API const char *bt_result_shown(const bt_result *result); /* display form of scripts (spec tooling 3.3) */
BT_API const char *bt_result_repl_text(const bt_result *result); /* display form of the REPL */
BT_API const char *
bt_result_diagnostics(const bt_result *result); /* rendered errors and warnings, "" if none */
/* The same one by one, in the order of the text. */
typedef enum { BT_DIAG_ERROR, BT_DIAG_WARNING, BT_DIAG_HINT } bt_severity;
typedef struct bt_diagnostic {
    bt_severity severity;
    unsigned line, column;      /* from 1 */
    const char *message, *help; /* help may be NULL */
} bt_diagnostic;
BT_API int bt_result_diagnostic(const bt_result *result, size_t index, bt_diagnostic *out); /* 0: no more */
BT_API const char *bt_result_value_class(const bt_result *result); /* of the value; NULL if there is none */
BT_API const char *bt_result_error_class(const bt_result *result);
BT_API const char *bt_result_error_kind(const bt_result *result);
BT_API const char *bt_result_error_message(const bt_result *result);
BT_API const char *bt_result_error_hint(const bt_result *result); /* NULL if none */
BT_API const char *bt_result_error_selector(const bt_result *result);
BT_API const char *
bt_result_stack(const bt_result *result); /* one line per frame, innermost first; "" if none */
BT_API int bt_result_exit_status(const bt_result *result);
BT_API const char *
bt_result_definitions(const bt_result *result);                /* names of classes defined, blank separated */
BT_API int bt_result_ran_expressions(const bt_result *result); /* 1 if the input had top-level expressions */

/* Sends a unary or one-argument message to a class: the argument is a List of the strings given (main:). */
BT_API bt_status bt_vm_send_class(bt_session *session, const char *class_name, const char *selector,
                                  const char *const *arguments, size_t count, const bt_eval_options *options,
                                  bt_result **result);
/* Is there such a class-side method (inherited ones of the library excluded)? 1, 0. */
BT_API int bt_vm_class_responds(bt_vm *vm, const char *class_name, const char *selector);
/* Drops all bindings of a session. */
BT_API void bt_session_clear(bt_session *session);
/* Stops the evaluation that runs now, if any: its call answers BT_INTERRUPTED, the session lives on. The only
 * call that may come from another thread while an evaluation of this session is under way. */
BT_API void bt_session_interrupt(bt_session *session);

#ifdef __cplusplus
}
#endif
#endif
