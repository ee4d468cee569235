/* Serving: a message becomes an activation, an activation's end becomes an answer (semantics 3, 6.2, 10.3,
 * 15).
 *
 * Between messages a process has no frame. The base activation's end is the boundary at which a message
 * commits or reverts: an actor's state goes back to the record it had (rollback_state), a class's variables
 * to those at entry, when an error escapes; a foreign `^` out of a class method is relayed and keeps what was
 * written. Before its first message, and after a reload, a class process computes the initial values of its
 * variables, and an actor moves its state to the new layout; both are activations like any other
 * (serving_step). */
#include "vm/crash_report.h"
#include "vm/interp_internal.h"
#include "vm/limits.h"
#include "vm/stack.h"
#include "vm/string.h"
#include "vm/tracing.h"

/* What the base activation is, where that is not the message in p->serving. Kept in p->init_next for actors.
 */
enum { STEP_MESSAGE, STEP_MIGRATE };

#define MAX_ARGS 255

static Class *served_class(Process *p) {
    const ClassTable *t = p->vm->classes;
    if (value_is_class(p->self_ref)) return class_at(t, special_payload(p->self_ref));
    return value_is_kind(p->self_ref, KIND_ACTOR_REF) ? class_at(t, object_class(p->self_ref)) : NULL;
}

/* ---- how an activation has ended ---- */

static Value take_exception(Process *p) {
    Value exception = p->exception;
    p->exception = V_HOLE;
    return exception == V_HOLE ? error_out_of_memory(p->vm) : exception;
}

/* The ThrowError that stands for a `^` whose home cannot be reached from here (semantics 10.3). */
static Value stray_return(Process *p, const char *text) {
    Value exception = error_make(p, ERR_erlang_throw, V_NIL, V_NIL, text, NULL, V_NIL);
    if (exception == V_HOLE) exception = take_exception(p);
    p->exception = V_HOLE;
    return exception;
}

static const char *stray_text(Process *p) {
    bool dead =
        p->pending_pid == p->pid || !value_is_pid(p->pending_pid) || !process_is_alive(p->vm, p->pending_pid);
    return dead ? "non-local return from a method that has already returned"
                : "non-local return out of a process that is not its home";
}

static void forget_activation(Process *p) {
    p->pending = PENDING_NONE;
    p->pending_value = p->pending_pid = p->pending_serial = V_NIL;
    p->resume_value = V_NIL;
    p->exception = V_HOLE;
    p->carriers = V_HOLE;
    p->carrier_top = 0;
    p->rollback_state = V_HOLE;
}

static Value request_selector(Process *p, const Message *m) {
    return value_is_symbol(m->selector) || p->role != PROC_ACTOR ? m->selector : SYMBOL(handleInfo);
}

/* Answers the request, or logs the failure of one that nobody waits for. */
static void answer_failure(Process *p, const char *separator, Value exception) {
    Message *m = p->serving;
    if (!m) return;
    Class *c = served_class(p);
    if (m->kind != MSG_CALL)
        crash_report(p, c ? c->name : V_NIL, separator, request_selector(p, m), m, exception);
    p->exception = exception; /* a root while it is copied */
    call_reply(p, REPLY_ERROR, exception);
    p->exception = V_HOLE;
}

/* ---- plain processes ---- */

static Step plain_end(Process *p) {
    Value answer;
    switch (p->pending) {
    case PENDING_ERROR:
        answer = take_exception(p);
        p->link.exit_reason = value_is_exception(p->vm, answer) ? object_at(answer, EXC_KIND) : SYMBOL(error);
        p->exception = answer;
        if (!p->link.completion) crash_report(p, symbol_intern(p->vm, "process", 7), "", V_NIL, NULL, answer);
        process_complete(p, REPLY_ERROR, answer);
        break;
    case PENDING_NLR:
        answer = stray_return(p, stray_text(p));
        p->link.exit_reason = SYMBOL(error);
        p->exception = answer;
        process_complete(p, REPLY_NLR, answer);
        break;
    default: p->link.exit_reason = SYMBOL(normal); process_complete(p, REPLY_VALUE, p->resume_value);
    }
    bool more = p->link.timer && timer_body_may_follow(p);
    forget_activation(p);
    return more ? serve_next(p) : STEP_DONE;
}

static Step plain_start(Process *p, Message *m) {
    Value window[MAX_ARGS + 1], selector = m->selector;
    unsigned argc = m->argc;
    window[0] = m->receiver;
    memcpy(window + 1, m->values, argc * sizeof *window);
    message_free(p->vm, m);
    if (value_is_symbol(selector)) return send_values(p, selector, window, argc, 0);
    if (value_is_closure(window[0]) && closure_function(window[0])->kind == FN_SCRIPT)
        return enter(p, closure_function(window[0]), window, argc, 0);
    static const WellKnownSymbol SELECTORS[] = {SYM_value, SYM_value_1, SYM_value_2, SYM_value_3};
    if (!value_is_closure(window[0]) || argc < 4)
        return send_values(p, value_from_symbol(SELECTORS[argc < 4 ? argc : 3]), window, argc < 4 ? argc : 3,
                           0);
    if (!carriers_at_home(p, window[0])) return (void)raise_stateful(p, SYMBOL(value)), unwind_error(p);
    return enter(p, closure_function(window[0]), window, argc, 0);
}

/* ---- actors ---- */

/* By an ordinary send, or (fn) by its method, where there is no stack yet or no room. */
static NOINLINE Step send_message(Process *p, const Function *fn, unsigned mode) {
    Value window[MAX_ARGS + 1];
    const Message *m = p->serving;
    window[0] = p->role == PROC_ACTOR ? p->self_ref : m->receiver;
    memcpy(window + 1, m->values, m->argc * sizeof *window);
    return fn ? enter(p, fn, window, m->argc, 0) : send_values(p, m->selector, window, m->argc, mode);
}

/* What the send would come to for an actor, since it is there already: the activation of its method is the
 * first on the stack, and mostly there is room for it. */
static Step dispatch_message(Process *p, unsigned mode) {
    const Message *m = p->serving;
    if (p->role != PROC_ACTOR) return send_message(p, NULL, mode);
    uint32_t class_id = object_class(p->self_ref);
    const Method *found = selector_cached(p->vm->classes, m->selector, class_id);
    if (UNLIKELY(!found)) found = selector_lookup(p, m->selector, class_id);
    if (UNLIKELY(!found || found->fn->param_count != m->argc)) return send_message(p, NULL, mode);
    Value *window = stack_base_window(p, found->fn);
    if (UNLIKELY(!window)) return send_message(p, found->fn, mode);
    window[0] = p->self_ref;
    for (unsigned i = 0; i < m->argc; i++) window[i + 1] = m->values[i];
    (void)stack_init_frame(p, window, found->fn, m->argc, FRAME_BASE);
    return STEP_NEXT;
}

/* What handleInfo: gets when a watched process has ended: {#DOWN, reference, #process, pid, reason}. V_HOLE:
 * no memory. */
static Value down_tuple(Process *p) {
    Value down = symbol_intern(p->vm, "DOWN", 4), process = symbol_intern(p->vm, "process", 7);
    if (down == V_HOLE || process == V_HOLE || !heap_reserve(p, 6)) return V_HOLE;
    Value tuple = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, 6);
    const Value words[] = {down, p->serving->values[0], process, p->serving->sender, p->serving->values[1]};
    memcpy(object_words(tuple) + 1, words, sizeof words);
    return tuple;
}

static Step actor_message(Process *p) {
    p->init_next = STEP_MESSAGE;
    p->rollback_state = p->state;
    records_share(p);
    Value info;
    switch (p->serving->kind) {
    case MSG_RAW: info = p->serving->values[0]; break;
    case MSG_DOWN: info = down_tuple(p); break;
    case MSG_TIMER: info = value_from_int((int64_t)(p->serving->call_id & (uint64_t)SMALLINT_MAX)); break;
    default: return dispatch_message(p, 0);
    }
    if (info == V_HOLE) return p->pending = PENDING_ERROR, STEP_BASE;
    Value window[2] = {p->self_ref, info};
    Method *m = selector_lookup(p, SYMBOL(handleInfo), object_class(p->self_ref));
    if (m) return enter(p, m->fn, window, 1, 0);
    p->resume_value = V_NIL; /* an actor without the hook drops it silently */
    p->pending = PENDING_NONE;
    return STEP_BASE;
}

/* The class was reloaded: the defaults of the new layout first, then the message (semantics 20.2). */
static Step actor_take(Process *p) {
    Class *c = served_class(p);
    if (!c || !p->state_layout || p->state_layout == c->state_layout) return actor_message(p);
    p->init_next = STEP_MIGRATE;
    Value window[1] = {value_from_class(c->id)};
    return send_values(p, SYMBOL(__defaults), window, 0, SEND_SELF);
}

static void migrate_state(Process *p, Class *c, Value defaults) {
    const SlotLayout *to = c->state_layout;
    Value roots[1] = {defaults};
    RootSpan span;
    roots_push(p, &span, roots, 1);
    Value record = record_new(p, to ? to->count : 0);
    roots_pop(p, &span);
    if (record == V_HOLE) return;
    for (uint32_t i = 0; to && i < to->count; i++) {
        int from = slot_layout_find(p->state_layout, to->names[i]);
        bool has_default = value_is_kind(roots[0], KIND_TUPLE) && i + 1 < object_size(roots[0]);
        object_words(record)[i + 1] = from >= 0     ? object_at(p->state, (size_t)from + 1)
                                      : has_default ? object_at(roots[0], i + 1)
                                                    : V_NIL;
    }
    p->state = record;
    p->state_layout = to;
}

static Step migration_end(Process *p) {
    Class *c = served_class(p);
    Value defaults = V_NIL;
    if (p->pending == PENDING_NONE)
        defaults = p->resume_value;
    else
        crash_report(p, c->name, " class>>", SYMBOL(__defaults), p->serving, take_exception(p));
    migrate_state(p, c, defaults);
    forget_activation(p);
    return actor_message(p);
}

static void actor_revert(Process *p) {
    p->state = p->rollback_state;
    if (p->state == V_HOLE) p->state_layout = NULL;
}

/* Where a fault is located: the actor's method that it came out of, which a self-send may have reached. */
static Value failed_method(Process *p, const Class *c, Value exception) {
    Value inner =
        value_is_exception(p->vm, exception) ? trace_method_of(object_at(exception, EXC_TRACE), c) : V_NIL;
    return inner == V_NIL ? p->serving->selector : inner;
}

static void actor_end(Process *p) {
    Class *c;
    Value answer;
    if (p->serving && p->traced_since) {
        c = served_class(p);
        tracing_end(p, c ? c->name : V_NIL, p->pending == PENDING_NONE ? TRACE_OK : TRACE_ERROR);
    }
    switch (p->pending) {
    case PENDING_ERROR:
        actor_revert(p);
        answer = take_exception(p);
        c = served_class(p);
        if (p->serving && p->serving->kind == MSG_CALL && c)
            answer = error_relabel(p, answer, c->name, failed_method(p, c, answer));
        answer_failure(p, ">>", answer);
        break;
    case PENDING_NLR:
        actor_revert(p);
        answer_failure(p, ">>", stray_return(p, "non-local return out of an actor message"));
        break;
    default:
        if (p->serving) call_reply(p, REPLY_VALUE, p->resume_value);
    }
}

/* ---- classes ---- */

/* Starts the computation of the next initial value. False: all are there. */
static bool class_initial_value(Process *p, Class *c, Step *step) {
    if (!class_vars_begin_layout(p, c->class_var_layout)) {
        p->exception = V_HOLE; /* no memory for the record: tried again at the next message */
        return false;
    }
    for (int i; (i = class_vars_next_unset(p)) >= 0;) {
        const BcField *field = c->bc && (uint32_t)i < c->bc->class_var_count ? &c->bc->class_vars[i] : NULL;
        if (field && field->function != BC_NONE && field->function < c->unit->function_count &&
            c->unit->functions[field->function].kind != FN_BLOCK) {
            Value window[1] = {value_from_class(c->id)};
            *step = enter(p, &c->unit->functions[field->function], window, 0, 0);
            return true;
        }
        if (!class_vars_set_initial(p, V_NIL)) return p->exception = V_HOLE, false;
    }
    return false;
}

static void initial_value_end(Process *p, Class *c) {
    Value v = V_NIL;
    if (p->pending == PENDING_NONE)
        v = p->resume_value;
    else if (p->pending == PENDING_ERROR)
        crash_report(p, c->name, " classState: ", c->class_var_names[class_vars_next_unset(p)], NULL,
                     p->exception);
    p->exception = V_HOLE;
    p->pending = PENDING_NONE;
    if (!class_vars_set_initial(p, v)) p->exception = V_HOLE;
}

static Step class_message(Process *p, Class *c) {
    if (class_vars_install(p, c) != PRIM_OK) return p->pending = PENDING_ERROR, STEP_BASE;
    return dispatch_message(p, SEND_SELF);
}

static void class_end(Process *p, Class *c) {
    bool mine = class_vars_in_invocation(p, c->id);
    if (mine) class_vars_uninstall(p, p->pending != PENDING_ERROR);
    switch (p->pending) {
    case PENDING_ERROR: answer_failure(p, " class>>", take_exception(p)); break;
    case PENDING_NLR:
        if (p->pending_pid == p->pid) p->pending_pid = V_NIL; /* it has passed where its home was */
        if (p->serving->kind == MSG_CALL)
            call_reply(p, REPLY_NLR, p->pending_value);
        else
            answer_failure(p, " class>>", stray_return(p, stray_text(p)));
        break;
    default: call_reply(p, REPLY_VALUE, p->resume_value);
    }
}

/* ---- the two entries ---- */

static bool is_request(const Process *p, const Message *m) {
    if (p->role == PROC_PLAIN) return false;
    bool for_actors = m->kind == MSG_RAW || m->kind == MSG_DOWN || m->kind == MSG_TIMER;
    return m->kind == MSG_CALL || m->kind == MSG_CAST || (for_actors && p->role == PROC_ACTOR);
}

/* Messages come in blocks of their own; who serves many without allocating must give them back too. */
static void collect_if_due(Process *p) {
    if (heap_wants_collection(&p->heap) && !heap_collect(p, 0, false)) p->exception = V_HOLE;
}

Step serve_next(Process *p) {
    Class *c = p->role == PROC_CLASS ? served_class(p) : NULL;
    Step step;
    if (c && class_initial_value(p, c, &step)) return step;
    for (;;) {
        if (p->link.ending) return STEP_DONE;
        /* one that has nothing left to do must not stand in a queue when its next message comes */
        if (p->reductions <= 0 && mailbox_has_more(p)) return STEP_YIELD;
        collect_if_due(p);
        Message *m = mailbox_take(p);
        if (!m) return p->link.ending || p->link.timer ? STEP_DONE : STEP_IDLE;
        p->reductions--;
        if (m->kind == MSG_START && (!m->waiter || timer_body_begin(p, m))) return plain_start(p, m);
        if (is_request(p, m) && (c || p->role == PROC_ACTOR)) {
            p->serving = m;
            limits_begin_message(p);
            if (p->role == PROC_ACTOR && tracing_is_on(p->vm)) tracing_begin(p);
            return c ? class_message(p, c) : actor_take(p);
        }
        message_free(p->vm, m);
    }
}

Step serve_end(Process *p) {
    Class *c;
    switch (p->role) {
    case PROC_PLAIN: return plain_end(p);
    case PROC_ACTOR:
        if (p->init_next == STEP_MIGRATE) return migration_end(p);
        actor_end(p);
        break;
    case PROC_CLASS:
        c = served_class(p);
        if (!p->serving) {
            initial_value_end(p, c);
        } else {
            class_end(p, c);
        }
        break;
    }
    p->serving = NULL;
    forget_activation(p);
    return serve_next(p);
}
