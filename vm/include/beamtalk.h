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

/* What a host may deny to programs (bt_config.denied). A refused program gets permission_denied with a hint
 * that names the host. */
enum {
    BT_DENY_FILES = 1,       /* File and its like */
    BT_DENY_ENVIRONMENT = 2, /* environment variables, name and process id of the machine */
    BT_DENY_EXIT = 4,        /* Program exit:, System halt: */
    BT_DENY_INPUT = 8,       /* reading the standard input of the host */
    BT_DENY_SUBPROCESS = 16, /* programs can start none today */
    BT_DENY_NETWORK = 32,    /* programs have none today */
    BT_DENY_ALL = 0x7fffffff /* these, and whatever later versions can deny */
};

/* Where a VM has its memory from: all three functions, or none for the library's own allocator. They are
 * called from any thread of the VM and of the host, several at once, and must not call the library. A block
 * is aligned as malloc's; sizes are never 0, blocks never NULL. A NULL answer means no memory, and reallocate
 * leaves the block as it was then: programs get resource_error, calls of the host BT_NO_MEMORY. */
typedef struct bt_allocator {
    void *(*allocate)(void *context, size_t size);
    void *(*reallocate)(void *context, void *block, size_t size);
    void (*release)(void *context, void *block);
    void *context; /* of these, not bt_config's; must live as long as the VM and what its calls answered */
} bt_allocator;

/* Zero means the default for every field: nothing denied, no limits, silence. `size` is sizeof(bt_config):
 * fields that a program's older header does not know have their defaults; 0 stands for the present size. */
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
    void (*log)(void *context, const char *bytes, size_t length); /* log lines; NULL: as error_output */
    void *context;
    int use_stdout;
    size_t memory_limit_bytes; /* resident set of the process, 0: none; who asks for much beyond it fails */
    int profile;               /* non-zero: bt_vm_profile has something to tell */
    uint32_t mailbox_limit;    /* messages that may wait for one process, 0: none; more end it */
    int shared;                /* as BT_DENY_EXIT, for programs that share a VM: they get `unsupported` */
    uint32_t denied;           /* BT_DENY_* */
    void (*error_output)(void *context, const char *bytes,
                         size_t length); /* what programs write by Console error:; NULL: discarded unless
                                            use_stderr */
    int use_stderr;
    /* Limits of one piece of work: the life of an evaluation, a send, or a plain process (a timer's block, a
     * worker), or one message that an actor or a class serves. What goes over ends at once, and no program
     * can prevent it: an evaluation with BT_RUNTIME_ERROR and resource_error, an actor's callers get
     * actor_dead. 0: none. */
    uint64_t reductions_limit;   /* about one per call or turn of a loop; counted by slices of 4,000 */
    uint64_t output_limit_bytes; /* printed */
    int64_t deadline_ms;         /* of evaluations and sends whose options name none */
    /* Of the VM; who asks for one more gets resource_error. 0: none. */
    uint32_t process_limit; /* living processes, the library's own few included */
    uint32_t timer_limit;   /* timers that have not fired */
    int host_driven;        /* no scheduler threads: bt_vm_poll runs the processes */
    bt_allocator allocator; /* copied */
} bt_config;

/* A VM with the library loaded. No thread starts before there is work for one; no signal handler is
 * installed. NULL configuration: defaults. NULL answer: no memory, an allocator without one of its functions,
 * or the built-in library is damaged (the log hook is told the last two). */
BT_API bt_vm *bt_vm_new(const bt_config *config);
/* Stops all processes and frees everything. Evaluations and sends that other threads have under way answer
 * BT_EXIT, and it waits for them; not from a function of the host. Values have been released before; sessions
 * may be freed, and completions completed, later. NULL is ignored. */
BT_API void bt_vm_free(bt_vm *vm);
/* Stops all processes for good, as if a program had said `Program exit: status`: evaluations under way, and
 * all later ones, answer BT_EXIT. From any thread; does not wait. NULL is ignored. */
BT_API void bt_vm_stop(bt_vm *vm, int status);
/* Where the time of its processes went so far, with bt_config.profile: each stack of methods, outermost
 * first, parts joined by `;`, with its microseconds. The call-back must not call the library. Any thread. */
BT_API void bt_vm_profile(bt_vm *vm, void (*line)(void *context, const char *stack, uint64_t microseconds),
                          void *context);
/* What the VM has done since bt_vm_new, and holds. The counts of a scheduler that is busy are those of its
 * last slice. */
typedef struct bt_stats {
    size_t size; /* set it to sizeof(bt_stats); it comes back as what the library has filled */
    uint64_t uptime_us;
    uint32_t schedulers, processes; /* processes: alive, those of classes and of the library included */
    uint64_t timers;                /* that have not fired */
    uint64_t evaluations;           /* and sends from the host, begun */
    uint64_t reductions, messages;
    uint64_t collections, full_collections;
    uint64_t heap_bytes;     /* blocks of all processes' heaps; long strings lie outside them */
    uint64_t resident_bytes; /* of the host, as the system sees it */
} bt_stats;
BT_API bt_status bt_vm_stats(bt_vm *vm, bt_stats *out);
/* Whether it runs in deterministic mode (bt_config.seeded). */
BT_API int bt_vm_is_seeded(const bt_vm *vm);

/* A session holds bindings from one evaluation to the next. */
BT_API bt_session *bt_session_new(bt_vm *vm);
BT_API void bt_session_free(bt_session *session);

typedef struct bt_eval_options {
    size_t size;
    const char *name;        /* for diagnostics; NULL: "eval" */
    int64_t deadline_ms;     /* 0: the VM's; negative: none */
    size_t heap_limit_bytes; /* of the evaluation's process, 0: the VM's */
    size_t stack_limit_bytes;
    int load_only;     /* definitions are installed, top-level expressions must not occur */
    int want_shown;    /* also render the display forms (bt_result_shown, bt_result_repl_text) */
    int spoil_methods; /* a semantic error inside one method body spoils that method only (test runners) */
    int ignore_link_exits; /* the end of an actor that it spawned does not end the evaluation */
    int main_process;      /* the evaluation is the program's main process (run): link exits are ignored */
    uint64_t reductions_limit; /* of the evaluation's process, 0: the VM's. bt_config has more about it */
} bt_eval_options;

/* Evaluates source text of `length` bytes as one input of the session: definitions are installed, expressions
 * run in a process of their own, names assigned stay bound (not after an error). The caller blocks; what the
 * program printed has been handed to the output function when it returns. *result is set (never NULL) unless
 * BT_NO_MEMORY or BT_MISUSE. */
BT_API bt_status bt_vm_eval(bt_session *session, const char *source, size_t length,
                            const bt_eval_options *options, bt_result **result);
BT_API void bt_result_free(bt_result *result);

typedef struct bt_source {
    const char *name, *text; /* name: for diagnostics and stack lines */
    size_t length;
} bt_source;
/* Installs the definitions of several texts; each may use the classes of the others, whatever their order.
 * results: room for `count`; each tells of its text, free them all. Top-level expressions are not run. If a
 * text has an error, nothing is installed; with spoil_methods, all other texts are. Answers the first status
 * that is not BT_OK. */
BT_API bt_status bt_vm_load(bt_vm *vm, const bt_source *sources, size_t count, const bt_eval_options *options,
                            bt_result **results);

/* Installs the definitions of an image that `beamtalk build` has made, its superclasses first as with texts.
 * It is verified whole, whoever made it: BT_COMPILE_ERROR, and bt_result_error_kind is abi_mismatch if
 * another version made it, image_invalid if it is damaged or no image. The bytes may go after the call.
 * *result is set as by bt_vm_eval. */
BT_API bt_status bt_vm_load_image(bt_vm *vm, const void *bytes, size_t length, bt_result **result);

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
/* Stops the evaluation that runs now, if any: its call answers BT_INTERRUPTED, the session lives on. From any
 * thread; does not wait. */
BT_API void bt_session_interrupt(bt_session *session);

/* ---- values ----
 *
 * A handle holds one immutable value, alive as long as the handle, whatever becomes of the process that made
 * it. Any thread may use it. Every call that answers a handle gives the caller a count, to be given back by
 * bt_value_release before the VM is freed. A NULL handle is accepted everywhere: it has the kind BT_KIND_NONE
 * and no content. Makers answer NULL without memory or if an argument is not what they say. */
typedef struct bt_value bt_value;

typedef enum {
    BT_KIND_NONE, /* no handle */
    BT_KIND_NIL,
    BT_KIND_BOOLEAN,
    BT_KIND_INTEGER,
    BT_KIND_FLOAT,
    BT_KIND_STRING, /* valid UTF-8 */
    BT_KIND_BINARY, /* any other bytes */
    BT_KIND_SYMBOL,
    BT_KIND_LIST,
    BT_KIND_ARRAY,
    BT_KIND_TUPLE,
    BT_KIND_DICTIONARY,
    BT_KIND_SET,
    BT_KIND_BLOCK,
    BT_KIND_CLASS,
    BT_KIND_ACTOR,
    BT_KIND_OBJECT /* an instance of any other class */
} bt_kind;

BT_API bt_value *bt_value_retain(bt_value *value); /* answers it */
BT_API void bt_value_release(bt_value *value);
BT_API bt_kind bt_value_kind(const bt_value *value);
/* Name of the value's class, e.g. "Integer"; lives as long as the VM. NULL of no handle. */
BT_API const char *bt_value_class(const bt_value *value);
/* By `=:=`: same class and content. 1, 0. */
BT_API int bt_value_equal(const bt_value *a, const bt_value *b);

/* Contents. BT_MISUSE: of another kind, or an Integer that does not fit. */
BT_API bt_status bt_value_boolean(const bt_value *value, int *out);
BT_API bt_status bt_value_int64(const bt_value *value, int64_t *out);
BT_API bt_status bt_value_double(const bt_value *value, double *out); /* of any number, nearest */
/* Bytes of a String, Binary or Symbol, decimal digits of an Integer; a NUL stands behind them. They live as
 * long as the handle. *length may be asked for or not. NULL: another kind, or no memory. */
BT_API const char *bt_value_text(const bt_value *value, size_t *length);

/* Collections: elements of a List, Array, Tuple or Set; a Dictionary's are key, value, key, value ... in its
 * own order. */
BT_API size_t bt_value_size(const bt_value *value); /* 0 of everything else */
/* Handles on up to `count` elements from 0-based `first` on; answers how many. Reading a whole collection by
 * one call takes time in proportion to it. */
BT_API size_t bt_value_items(const bt_value *value, size_t first, bt_value **items, size_t count);
/* What a Dictionary has under a key. NULL: nothing, or no Dictionary. */
BT_API bt_value *bt_value_lookup(const bt_value *dictionary, const bt_value *key);
/* The field of an instance. NULL: no such field. */
BT_API bt_value *bt_value_field(const bt_value *object, const char *name);

BT_API bt_value *bt_nil(bt_vm *vm);
BT_API bt_value *bt_boolean(bt_vm *vm, int truth);
BT_API bt_value *bt_integer(bt_vm *vm, int64_t integer);
BT_API bt_value *bt_integer_from_text(bt_vm *vm, const char *digits);    /* [+-]?[0-9]+ of any length */
BT_API bt_value *bt_float(bt_vm *vm, double number);                     /* finite */
BT_API bt_value *bt_string(bt_vm *vm, const char *bytes, size_t length); /* a Binary, if it is no UTF-8 */
BT_API bt_value *bt_symbol(bt_vm *vm, const char *text);
BT_API bt_value *bt_list(bt_vm *vm, bt_value *const *items, size_t count);
BT_API bt_value *bt_array(bt_vm *vm, bt_value *const *items, size_t count);
BT_API bt_value *bt_tuple(bt_vm *vm, bt_value *const *items, size_t count);
BT_API bt_value *bt_set(bt_vm *vm, bt_value *const *items, size_t count);
/* key, value, key, value ...: `pairs` of them; of equal keys the last counts. */
BT_API bt_value *bt_dictionary(bt_vm *vm, bt_value *const *items, size_t pairs);
BT_API bt_value *bt_class(bt_vm *vm, const char *name); /* NULL: no such class */

/* The value of an evaluation or send that went well, else NULL. */
BT_API bt_value *bt_result_value(const bt_result *result);
/* Variables of a session. NULL, BT_MISUSE: not bound, no name. */
BT_API bt_value *bt_session_get(bt_session *session, const char *name);
BT_API bt_status bt_session_set(bt_session *session, const char *name, const bt_value *value);
/* A message to any value: a class, an actor, a number. In a process of its own, as an evaluation; the caller
 * blocks until the answer or options->deadline_ms. `count` arguments, as many as the selector takes. */
BT_API bt_status bt_send(bt_session *session, const bt_value *receiver, const char *selector,
                         bt_value *const *arguments, size_t count, const bt_eval_options *options,
                         bt_result **result);
/* An asynchronous message to an actor: does not wait, answers BT_OK also if the actor is dead. */
BT_API bt_status bt_cast(bt_vm *vm, const bt_value *actor, const char *selector, bt_value *const *arguments,
                         size_t count);

/* ---- without waiting ----
 *
 * For event loops. What bt_eval_async and bt_send_async begin ends in bt_vm_poll: it calls `done`, in the
 * thread that polls, so no call-back runs on a thread of the VM's. bt_vm_poll_fd is readable whenever there
 * is something for bt_vm_poll to do; it is one descriptor for the life of the VM, -1 if there is none to be
 * had; wait on it by poll, epoll, libuv's uv_poll, level-triggered, and do not read it.
 *
 * A VM with bt_config.host_driven has no scheduler threads: processes run inside bt_vm_poll, and inside calls
 * that wait (bt_vm_eval, bt_send), and nowhere else; timers are part of the descriptor. */
typedef void (*bt_done)(void *context, bt_result *result); /* the result is the call-back's, to be freed */
BT_API int bt_vm_poll_fd(bt_vm *vm);
/* Finishes what has ended; in a host-driven VM runs processes first, for about budget_us (0: 5,000), at least
 * a slice. If there is nothing to do, waits for it, wait_ms (0: not at all, negative: for ever). `done` may
 * call anything but bt_vm_poll and bt_vm_free. BT_MISUSE: from inside `done`, a function of the host or a
 * hook, or while another thread polls. BT_NO_MEMORY: no descriptors. */
BT_API bt_status bt_vm_poll(bt_vm *vm, int64_t wait_ms, int64_t budget_us);
/* As bt_vm_eval, without print strings (want_shown counts for nothing). Evaluations of a session follow one
 * another in the order of the calls; bt_vm_eval of a session that has some left answers BT_RUNTIME_ERROR with
 * deadlock_detected. The text is copied. BT_OK: `done` is called once, at the latest by bt_vm_free; else
 * never. A session freed meanwhile goes when its last one is over. deadline_ms counts from its start, and is
 * kept by bt_vm_poll. Any thread. */
BT_API bt_status bt_eval_async(bt_session *session, const char *source, size_t length,
                               const bt_eval_options *options, bt_done done, void *context);
/* As bt_send, but of no session, so that any number may be under way. */
BT_API bt_status bt_send_async(bt_vm *vm, const bt_value *receiver, const char *selector,
                               bt_value *const *arguments, size_t count, const bt_eval_options *options,
                               bt_done done, void *context);

/* ---- functions of the host ----
 *
 * A host class is a sealed class whose class methods are C functions. A function runs on the thread of the
 * process that called it and should return soon. It may evaluate and send, in a session of its own: the
 * thread runs other processes of the VM meanwhile, up to 16 such waits one inside the other; one more answers
 * BT_RUNTIME_ERROR with resource_error, a session that is evaluating already deadlock_detected, and a message
 * back to the actor or class that called the function raises deadlock_detected. A wait ends only after those
 * that began on the same thread later: give them a deadline_ms. So it is in continuations; the output and log
 * hooks may not wait for the VM at all (`unsupported`), and bt_vm_free is refused in all of these.
 * It answers nil unless it says something else; what it says last counts. A bt_call is good until the
 * function returns. Blocks are called after that: in the process that called the function, where they are at
 * home. */
typedef struct bt_call bt_call;
typedef struct bt_completion bt_completion;

typedef void (*bt_function)(bt_call *call, void *context);
typedef struct bt_method {
    const char *selector; /* unary or keywords */
    bt_function function;
    void *context; /* handed to the function; must live as long as the VM */
} bt_method;
/* Defines the class. BT_MISUSE: a name or selector is none. BT_COMPILE_ERROR: the class exists already. */
BT_API bt_status bt_vm_define_class(bt_vm *vm, const char *name, const bt_method *methods, size_t count);

/* The same, and more. Functions under `blocking`, and their continuations, may take as long as they like:
 * each runs on a thread of its own, of up to 256, while the process that called it waits and all others go on
 * (with bt_config.seeded: in place). They may do all that others may, and wait for the VM to any depth.
 * bt_vm_free waits until they have returned. */
typedef struct bt_class_definition {
    size_t size; /* sizeof(bt_class_definition) */
    const char *name;
    const bt_method *methods;
    size_t method_count;
    const bt_method *blocking;
    size_t blocking_count;
} bt_class_definition;
BT_API bt_status bt_vm_define(bt_vm *vm, const bt_class_definition *definition);

BT_API bt_vm *bt_call_vm(const bt_call *call);
BT_API size_t bt_call_count(const bt_call *call);
/* Argument by 0-based index: a handle for the caller (NULL: no such, or no memory), or its content straight
 * away, as bt_value_int64 and bt_value_double have it. */
BT_API bt_value *bt_call_argument(const bt_call *call, size_t index);
BT_API bt_status bt_call_int64(const bt_call *call, size_t index, int64_t *out);
BT_API bt_status bt_call_double(const bt_call *call, size_t index, double *out);

BT_API void bt_call_answer(bt_call *call, const bt_value *value); /* keeps a count of its own until then */
BT_API void bt_call_answer_int64(bt_call *call, int64_t integer);
BT_API void bt_call_answer_double(bt_call *call, double number);
/* The caller gets an error of this kind, e.g. "type_error". hint may be NULL. The texts are copied. */
BT_API void bt_call_raise(bt_call *call, const char *kind, const char *message, const char *hint);
/* Calls a block with these arguments, then the continuation with its answer; that may answer, raise or call
 * again. If the block does not answer (it raises, leaves by ^, its process ends), the continuation does not
 * run. release(state), which may be NULL, is called once, when nothing needs the state any more. */
typedef void (*bt_continuation)(bt_call *call, const bt_value *answer, void *state);
BT_API void bt_call_block(bt_call *call, const bt_value *block, bt_value *const *arguments, size_t count,
                          bt_continuation continuation, void *state, void (*release)(void *state));
/* The answer comes later, by one of bt_complete and bt_complete_error, from any thread, once, if need be
 * after the VM has gone; the calling process waits meanwhile, and no thread does. NULL: no memory, the call
 * raises. */
BT_API bt_completion *bt_call_later(bt_call *call);
BT_API void bt_complete(bt_completion *completion, const bt_value *value); /* NULL: nil */
BT_API void bt_complete_error(bt_completion *completion, const char *kind, const char *message,
                              const char *hint);

#ifdef __cplusplus
}
#endif
#endif
