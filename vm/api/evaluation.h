/* One evaluation or send of a session: what vm/api/session.c and vm/api/send.c share. */
#ifndef BT_API_EVALUATION_H
#define BT_API_EVALUATION_H

#include "vm/api/api_internal.h"

typedef struct {
    bt_session *session;
    const bt_eval_options *options; /* &own */
    bt_eval_options own;            /* the caller's, or the defaults */
    bt_result *result;
    CodeUnit *unit; /* of a text that was compiled */
} Evaluation;

/* Waits for the session. False: no memory, and nothing to end. options may be NULL. */
bool evaluation_begin(Evaluation *e, bt_session *session, const bt_eval_options *options);
/* Lets the session go and hands the result over; answers the status. */
bt_status evaluation_end(Evaluation *e, bt_status status, bt_result **result);

/* The VM has ended: an empty result that says so. */
bt_status evaluation_refused(bt_result **result);

RunLimits evaluation_limits(const Evaluation *e);
/* What a run was, for the host; sets the error fields of the result. */
bt_status evaluation_status(Evaluation *e, RanKind kind, const Kept *answer);
/* The result's value is `value`, which lies in the answer: takes the answer's memory over, and renders if the
 * options want that. */
void evaluation_answer(Evaluation *e, Kept *answer, Value value);

#endif
