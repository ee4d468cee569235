/* Sends to the methods that stand around a generated program: what helpers.def names and program_text.c
 * writes as text, here by the rules: which process a method runs in (semantics 3.1), what its region restores
 * (6.3, 8.2), what a hop relays (10.3).
 */
#include <stdlib.h>
#include "reference_internal.h"

#include <string.h>

static Value *number(Run *run, int64_t value) { return value_int(&run->pool, value); }

static Value *plus(Run *run, const Value *a, const Value *b) {
    if (a->kind == V_EXCEPTION || b->kind == V_EXCEPTION) return ref_give_up(run);
    if (a->kind != V_INT) return ref_raise(run, "does_not_understand");
    if (b->kind != V_INT) return ref_raise(run, "type_error");
    if (a->number > INT64_C(1000000000000) || a->number < -INT64_C(1000000000000)) return ref_give_up(run);
    return number(run, a->number + b->number);
}

/* ---- the method bodies ---- */

static Value *put(Run *run, Value *x) {
    const Value *old = ref_state_read(run, NULL, 0);
    Value *sum = old ? plus(run, old, x) : NULL;
    return sum ? ref_state_write(run, 0, sum) : NULL;
}

static Value *fail(Run *run, Value *x) { return put(run, x) ? ref_raise(run, "user_error") : NULL; }

static Value *put_super(Run *run, Value *x) {
    Value *more = plus(run, x, number(run, 10));
    Value *sum = more ? put(run, more) : NULL;
    return sum ? plus(run, sum, number(run, 1)) : NULL;
}

/* [block value] on: Error do: [:e | caught] */
static Value *guard(Run *run, const Value *block, int64_t caught) {
    size_t mark = ref_mark(run);
    Value *value = ref_call(run, block, 0, NULL);
    if (value || !ref_raised(run)) return value;
    ref_undo(run, mark);
    ref_exception(run);
    return number(run, caught);
}

static Value *over(Run *run, const Value *list, const Value *block, int64_t answer) {
    if (list->kind != V_LIST)
        return list->kind == V_INT || list->kind == V_NIL ? ref_raise(run, "does_not_understand")
                                                          : ref_give_up(run);
    for (int i = 0; i < list->count; i++)
        if (!ref_call(run, block, 1, &list->items[i])) return NULL;
    return number(run, answer);
}

/* ---- another class's process, another actor ---- */

static Value *bump(Run *run, Cell *cell, const Value *by) {
    Value *sum = plus(run, cell->value, by);
    if (sum) ref_set(run, cell, sum);
    return sum;
}
static Value *bump_runs(Run *run, const Value *by) { return bump(run, &run->runs, by); }

static Value *hop_guard(Run *run, const Value *block) {
    bump_runs(run, number(run, 1));
    size_t mark = ref_mark(run);
    Value *value = bump_runs(run, number(run, 10)) ? ref_call(run, block, 0, NULL) : NULL;
    if (value || !ref_raised(run)) return value;
    ref_undo(run, mark);
    ref_exception(run);
    return run->runs.value;
}

static Value *hop_over(Run *run, const Value *list, const Value *block) {
    bump_runs(run, number(run, 1));
    if (!over(run, list, block, 0)) return NULL;
    return bump_runs(run, number(run, 100));
}

static Value *hop_body(Run *run, int helper, Value *const *arguments) {
    switch (helper) {
    case HELPER_HOP: return hop_over(run, arguments[0], arguments[1]);
    case HELPER_HOP_GUARD: return hop_guard(run, arguments[0]);
    case HELPER_HOP_PUT: return bump_runs(run, arguments[0]);
    case HELPER_CLASS_PUT: return bump(run, &run->count, arguments[0]);
    case HELPER_CLASS_FAIL: return bump(run, &run->count, arguments[0]) ? ref_raise(run, "user_error") : NULL;
    case HELPER_CLASS_RUN:
        return bump(run, &run->count, number(run, 1)) ? ref_call(run, arguments[0], 0, NULL) : NULL;
    default: return bump_runs(run, arguments[0]) ? ref_raise(run, "user_error") : NULL;
    }
}

/* The send that closes a cycle raises at once. An invocation left by an error is undone whole, one left by
 * `^` is kept and the `^` relayed; an actor's message that a `^` would leave fails. */
static Value *send_hop(Run *run, ProcessId to, int helper, Value *const *arguments) {
    Process *caller = run->current, *hop = &run->processes[to];
    if (hop->busy) return ref_raise(run, "dispatch_error");
    hop->busy = true;
    run->current = hop;
    size_t mark = ref_mark(run);
    Value *value = hop_body(run, helper, arguments);
    if (!value && ref_raised(run)) ref_undo(run, mark);
    hop->busy = false;
    run->current = caller;
    return value;
}

static Value *send_box(Run *run, Value *const *arguments) {
    Process *caller = run->current, box = {.id = PROC_BOX, .busy = true};
    Process saved = run->processes[PROC_BOX];
    run->processes[PROC_BOX] = box; /* a new actor each time */
    run->current = &run->processes[PROC_BOX];
    Value *value = ref_call(run, arguments[0], 0, NULL);
    if (!value && !run->gave_up) {
        ref_undo(run, 0);
        if (run->signal.outcome == OUTCOME_LEFT) ref_raise(run, "erlang_throw");
    }
    free(run->processes[PROC_BOX].log); /* its own: a box that waits keeps what it has done so far */
    run->processes[PROC_BOX] = saved;
    run->current = caller;
    return value;
}

/* ---- self ---- */

/* A block of an actor that runs elsewhere sends to an actor that waits for it. */
static bool self_is_waiting(Run *run) {
    if (run->program->context != CTX_ACTOR || run->current->id == PROC_ACTOR) return false;
    ref_raise(run, "deadlock_detected");
    return true;
}

static Value *send_self(Run *run, int helper, Value *const *arguments) {
    if (helper == HELPER_OWN_VALUE) return ref_raise(run, "dispatch_error"); /* it waits for this very code */
    if (self_is_waiting(run)) return NULL;
    switch (helper) {
    case HELPER_PUT:
    case HELPER_OWN_NAME: /* in its own class's methods the name of a class is self */
    case HELPER_ALIAS:
    case HELPER_PERFORM: return put(run, arguments[0]);
    case HELPER_GET: return ref_state_read(run, NULL, 0);
    case HELPER_FAIL: return fail(run, arguments[0]);
    case HELPER_SUPER: return put_super(run, arguments[0]);
    case HELPER_APPLY: return ref_call(run, arguments[0], 0, NULL);
    case HELPER_APPLY_WITH: return ref_call(run, arguments[0], 1, arguments + 1);
    case HELPER_RECUR: return ref_call(run, arguments[0], 2, (Value *[]){arguments[0], number(run, 2)});
    case HELPER_GUARD: return guard(run, arguments[0], 70);
    default: return ref_call(run, arguments[0], 0, NULL) ? ref_raise(run, "user_error") : NULL;
    }
}

Value *ref_send(Run *run, Env *env, const Node *node) {
    Value *arguments[2] = {NULL, NULL};
    for (int i = 0; i < node->kid_count; i++)
        if (!(arguments[i] = ref_eval(run, env, node->kids[i]))) return NULL;
    switch (node->op) {
    case HELPER_WALK: return over(run, arguments[0], arguments[1], 5);
    case HELPER_WALK_GUARD: return guard(run, arguments[0], 71);
    case HELPER_EACH: return over(run, arguments[0], arguments[1], 6);
    case HELPER_EACH_GUARD: return guard(run, arguments[0], 72);
    case HELPER_HOP:
    case HELPER_HOP_GUARD:
    case HELPER_HOP_PUT:
    case HELPER_HOP_FAIL: return send_hop(run, PROC_HOP, node->op, arguments);
    case HELPER_CLASS_PUT:
    case HELPER_CLASS_FAIL:
    case HELPER_CLASS_RUN: return send_hop(run, PROC_CLASS, node->op, arguments);
    case HELPER_BOX: return send_box(run, arguments);
    default: return send_self(run, node->op, arguments);
    }
}

Value *ref_method(Run *run, Env *env, const Node *node) {
    Value *arguments[2] = {NULL, NULL};
    for (int i = 0; i < node->kid_count; i++)
        if (!(arguments[i] = ref_eval(run, env, node->kids[i]))) return NULL;
    return self_is_waiting(run) ? NULL : ref_method_body(run, node->value, arguments);
}
