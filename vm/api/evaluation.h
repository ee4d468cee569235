/* One evaluation or send of a session: what vm/api/session.c and vm/api/send.c share. */
#ifndef BT_API_EVALUATION_H
#define BT_API_EVALUATION_H

#include "vm/api/api_internal.h"

typedef struct {
    bt_vm *vm;
    bt_session *session;            /* NULL: an asynchronous send */
    const bt_eval_options *options; /* &own */
    bt_eval_options own;            /* the caller's, or the defaults */
    bt_result *result;
    CodeUnit *unit; /* of a text that was compiled */
} Evaluation;

/* Waits for the session. Not BT_OK: there is nothing to end; *result tells why, unless there is no memory.
 * options may be NULL. */
bt_status evaluation_begin(Evaluation *e, bt_session *session, const bt_eval_options *options,
                           bt_result **result);
/* Lets the session go and hands the result over; answers the status. */
bt_status evaluation_end(Evaluation *e, bt_status status, bt_result **result);

/* The VM has ended: an empty result that says so. */
bt_status evaluation_refused(bt_vm *vm, bt_result **result);

RunLimits evaluation_limits(const Evaluation *e);
/* What a run was, for the host; sets the error fields of the result. */
bt_status evaluation_status(Evaluation *e, RanKind kind, const Kept *answer);
/* The result's value is `value`, which lies in the answer: takes the answer's memory over, and renders if the
 * options want that. */
void evaluation_answer(Evaluation *e, Kept *answer, Value value);

/* ---- one input, in the steps that asynchronous evaluations take ---- */
/* The session variables of a unit as they were when it started, and the script's arguments. */
typedef struct {
    SharedTerm **terms;
    uint64_t *versions;
    Value *args;
} Script;
enum { SCRIPT_WORDS = CLOSURE_CAPTURES };
/* Compiles the text and installs what it defines. */
bt_status evaluation_prepare(Evaluation *e, const char *source, size_t length);
bool evaluation_has_script(const Evaluation *e);
/* What to run: a closure in `words`, with the first argc of script->args. False: no memory. Either way
 * script_close, which leaves one that was never opened alone. */
bool script_open(Evaluation *e, Script *script, uint64_t words[static SCRIPT_WORDS], unsigned *argc);
/* Takes the answer over: variables, value, error. */
bt_status script_answer(Evaluation *e, const Script *script, RanKind kind, Kept *answer);
void script_close(Evaluation *e, Script *script);
/* A message of the host's: the arguments in *values (memory_free), the selector's symbol. */
bt_status read_message(bt_vm *vm, const char *text, bt_value *const *arguments, size_t count, Value *selector,
                       Value **values);

#endif
