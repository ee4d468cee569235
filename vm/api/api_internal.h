/* What the files of vm/api share. Not part of the public contract. */
#ifndef BT_API_INTERNAL_H
#define BT_API_INTERNAL_H

#include <pthread.h>
#include "beamtalk.h"
#include "compiler/compiler.h"
#include "vm/bytecode/memory.h"
#include "vm/vm.h"
#include "vm/workspace.h"

struct bt_vm {
    const Memory *memory; /* NULL, or `host_memory` */
    Memory host_memory;
    BtVm *core;
    int64_t deadline_ms;               /* of evaluations that name none; 0: none */
    _Atomic uint32_t inside, keepers;  /* vm/api/gate.h */
    _Atomic uint64_t evaluation_count; /* begun: evaluations and sends */
    struct Pool *pool;                 /* vm/api/pool.h */
    struct Async *async;               /* vm/api/async.h */
};

/* A structure of the host's as this library knows it: what an older header has not is zero. */
#define STRUCT_COPY(to, from)                                                                                \
    memcpy(&(to), (from), (from)->size && (from)->size < sizeof(to) ? (from)->size : sizeof(to))

/* A term that outlives its process: a fragment and the value in it. Immediates need no fragment. */
typedef struct {
    Fragment *fragment;
    Value value;
} Kept;

typedef enum { SESSION_FREE, SESSION_HELD, SESSION_HELD_ASYNC } SessionHolder;

typedef struct Job Job;

struct bt_session {
    bt_vm *vm;
    pthread_mutex_t lock; /* of `holder`; held for moments */
    pthread_cond_t free;
    SessionHolder holder; /* one evaluation at a time */
    Job *jobs;            /* wait for it */
    bool closing;         /* freed when its last job is over */
    Session *core;
    _Atomic uint64_t running; /* pid Value of the process that evaluates, else nil */
    _Atomic bool interrupted; /* bt_session_interrupt came during this evaluation */
};

struct bt_result {
    bt_status status;
    bt_vm *vm;
    SharedTerm *term; /* what keeps `value` alive; NULL: there is no value */
    Value value;
    char *print_string, *shown, *repl_text, *diagnostics;
    char *error_class, *error_kind, *error_message, *error_hint, *error_selector, *stack, *definitions;
    char *value_class;
    bt_diagnostic *diagnostic_items; /* their texts are owned */
    size_t diagnostic_count;
    int exit_status;
    int ran_expressions;
};

/* vm/api/world.c: answers the compiler's questions from the class table. */
typedef struct World World;
World *world_new(BtVm *vm);
void world_free(World *world);
CompilerWorld world_interface(World *world);

/* vm/api/session.c: what names_list answered, as the compiler takes it, in the memory of `texts`;
 * memory_free.
 */
BcText *binding_names(const Memory *memory, const char *texts, uint32_t count);

/* vm/api/result.c */
/* It keeps the VM's memory, and may be freed later than the VM. */
bt_result *result_new(bt_vm *vm, bt_status status);
char *text_dup(const Memory *memory, const char *bytes, size_t length);
/* The text of a String; NULL for anything else. */
char *string_dup(const Memory *memory, Value v);
/* Fills the diagnostics, and the error fields from the first error among them. */
void result_set_diagnostics(bt_result *result, const DiagList *diags, SourceFile *file);
/* Names of the classes, blank separated. memory_free. */
char *definition_names(const Memory *memory, const BcUnit *bc);
/* Fills the error fields from an exception instance. */
void result_set_error(bt_result *result, BtVm *vm, Value exception);

/* vm/api/run_process.c: runs a callable or a send in a process of its own and waits. */
typedef struct {
    bt_session *session; /* whose evaluation it is, or NULL */
    size_t heap_limit_words, stack_limit_words;
    uint64_t reductions_limit; /* 0: the VM's */
    int64_t deadline_ms;
    bool main_process;
} RunLimits;
typedef enum {
    RAN_VALUE,
    RAN_ERROR,
    RAN_NLR,
    RAN_KILLED,
    RAN_OUT_OF_REDUCTIONS,
    RAN_OUT_OF_OUTPUT,
    RAN_TIMEOUT,
    RAN_NO_MEMORY,
    RAN_TOO_DEEP,
    RAN_FORBIDDEN
} RanKind;
RanKind run_process(BtVm *vm, const RunLimits *limits, Value callable, Value selector, const Value *args,
                    unsigned argc, Kept *out);
/* The two halves of it for who does not wait: a process that has not begun, NULL without memory; and what it
 * came to, of a Completion that is done. */
Process *process_for_run(BtVm *vm, Scheduler *s, const RunLimits *limits, Completion *completion);
RanKind ran_kind_of(const Completion *completion);
void kept_free(BtVm *vm, Kept *kept);
/* The error of a run that was refused: RAN_TOO_DEEP or RAN_FORBIDDEN. */
void result_set_refusal(bt_result *result, RanKind kind);
/* An error that no program raised. */
void result_set_own_error(bt_result *result, const char *kind, const char *message, const char *hint);

#endif
