/* Sends: from a missed cache to an activation, a call to another process, or does_not_understand (semantics
 * 2, 3.1, 15.3).
 *
 * A hit in a site's cache always means "plain": a method that runs in this process, without looking at
 * anything but the receiver's dispatch class. Everything else comes here each time: class methods that hop to
 * their class's process, actor messages, metaclasses. */
#include <stdio.h>
#include "vm/interp_internal.h"
#include "vm/list.h"
#include "vm/registry.h"

#define CLASS_CALL_TIMEOUT_US INT64_C(60000000)
#define TEST_RUN_TIMEOUT_US INT64_C(300000000)
#define ACTOR_CALL_TIMEOUT_US INT64_C(5000000)

/* ---- activations ---- */

static bool frame_reusable(const Process *p, const Frame *f) {
    return !f->serial && !(f->flags & FRAME_CARRIERS) && !p->vm->no_tail_calls;
}

static void note_tail(Process *p, Frame *f) {
    uint32_t first = f->flags & FRAME_TAILED ? 0 : ELIDED_FIRST;
    f->flags |= FRAME_TAILED;
    if (f->fn->flags & FN_TRANSIENT) return; /* the ring must not outlive the code it names */
    process_note_elided(p, f->fn, (uint32_t)(f->pc - f->fn->code) - 1);
    if (p->elided_ring)
        p->elided_ring[(p->elided_count - 1) % ELIDED_CALLS].frame = trace_frame_tag(f) | first;
}

/* The running frame becomes the callee's, if its segment has room. */
static bool reuse_frame(Process *p, const Function *fn, const Value *window, unsigned argc) {
    Frame *f = p->frame;
    if (!frame_reusable(p, f) || !stack_can_retarget(p, fn) || f->regs + argc + 1 > p->segments->end)
        return false;
    note_tail(p, f);
    memmove(f->regs, window, (argc + 1) * sizeof *window);
    stack_retarget(p, fn, argc);
    return true;
}

/* False: no room, the error is pending. A primitive leaves its caller standing: whose self-send a perform: is
 * shows there. */
static bool activate(Process *p, const Function *fn, const Value *window, unsigned argc, unsigned mode) {
    if ((mode & SEND_TAIL) && p->frame && !fn->prim && reuse_frame(p, fn, window, argc)) return true;
    bool base = !p->frame;
    Frame *f = stack_push(p, fn, (Value *)(uintptr_t)window, argc);
    if (!f) return false;
    if (base)
        f->flags |= FRAME_BASE;
    else if (mode & (SEND_TAIL | SEND_RESUME))
        f->flags |= FRAME_RESUME;
    return true;
}

NOINLINE Step enter(Process *p, const Function *fn, const Value *window, unsigned argc, unsigned mode) {
    return activate(p, fn, window, argc, mode) ? STEP_NEXT : unwind_error(p);
}

/* ---- blocks ---- */

static Step raise_block_arity(Process *p, const Function *fn, unsigned argc) {
    Value symbols[2] = {symbol_intern(p->vm, "actual_args", 11), symbol_intern(p->vm, "expected_args", 13)};
    Value details = V_NIL;
    if (symbols[0] != V_HOLE && symbols[1] != V_HOLE && heap_reserve(p, 5)) {
        details = heap_new(p, KIND_DICT, CLASS_ID_Dictionary, 5);
        uint64_t *w = object_words(details);
        w[1] = symbols[0], w[2] = symbols[1];
        w[3] = value_from_int(argc), w[4] = value_from_int(fn->param_count);
    }
    char text[120];
    snprintf(text, sizeof text, "Wrong number of arguments: block expects %u but was called with %u",
             fn->param_count, argc);
    p->exception = V_HOLE;
    (void)error_raise(
        p, ERR_arity_mismatch, class_by_id(p->vm, CLASS_ID_Block)->name, V_NIL, text,
        "Check that your block has the right number of parameters (e.g., [:x | ...] for 1 argument)",
        details);
    return unwind_error(p);
}

static Step call_block(Process *p, const Value *window, unsigned argc, Value selector, unsigned mode) {
    const Function *fn = closure_function(window[0]);
    if (fn->param_count != argc) return raise_block_arity(p, fn, argc);
    if ((fn->flags & FN_WRITES_OUTER) && !carriers_at_home(p, window[0]))
        return (void)raise_stateful(p, selector), unwind_error(p);
    return enter(p, fn, window, argc, mode);
}

/* ---- primitives ---- */

static Step blocked_or_raised(Process *p, PrimStatus status) {
    switch (status) {
    case PRIM_BLOCK: return STEP_BLOCK;
    case PRIM_RAISE: return unwind_error(p);
    default: return (void)error_argument(p, V_NIL, V_NIL, NULL), unwind_error(p);
    }
}

NOINLINE Step leaf_outcome(Process *p, const Function *fn, Value *window, unsigned argc, unsigned mode,
                           PrimStatus status) {
    switch (status) {
    case PRIM_FAIL:
        if (instr_f(fn->code[0]) == 0) break;
        if (!activate(p, fn, window, argc, mode)) return unwind_error(p);
        p->frame->pc = fn->code + 1;
        return STEP_NEXT;
    case PRIM_SEND: return send_described(p, mode);
    case PRIM_YIELD: return activate(p, fn, window, argc, mode) ? STEP_YIELD : unwind_error(p);
    default: break;
    }
    return blocked_or_raised(p, status);
}

/* As a hit of the site's cache would: the window lies in the running frame. */
static Step run_leaf(Process *p, const Function *fn, Value *window, unsigned argc, unsigned mode) {
    Value answer;
    PrimStatus status = fn->prim(p, window, argc, &answer);
    return status == PRIM_OK ? deliver(p, answer) : leaf_outcome(p, fn, window, argc, mode, status);
}

NOINLINE Step prim_outcome(Process *p, PrimStatus status) {
    switch (status) {
    case PRIM_FAIL:
        if (instr_f(current_instr(p)) == 0) break;
        return STEP_NEXT;
    case PRIM_SEND: return send_described(p, SEND_TAIL);
    case PRIM_YIELD: p->frame->pc--; return STEP_YIELD;
    default: break;
    }
    return blocked_or_raised(p, status);
}

/* ---- does_not_understand ---- */

static bool user_hook(const Method *m) {
    return m && !(m->fn->unit->stdlib &&
                  (m->owner->id == CLASS_ID_ProtoObject || m->owner->id == CLASS_ID_Object));
}

static const char *self_send_hint(Process *p, Value receiver, Value selector, char *buffer, size_t size) {
    Class *c = class_by_id(p->vm, special_payload(receiver));
    snprintf(buffer, size, "Class '%.200s' has no class method '%.200s' and no ancestor defines it",
             c ? symbol_text(p->vm, c->name, NULL) : "?", symbol_text(p->vm, selector, NULL));
    return buffer;
}

static Step not_understood(Process *p, Value selector, const Value *window, unsigned argc, unsigned mode) {
    Value values[3] = {window[0], selector, V_EMPTY_LIST};
    uint32_t dispatch_class = fast_dispatch_class(window[0]);
    char buffer[512];
    if (!user_hook(selector_lookup(p, SYMBOL(doesNotUnderstand), dispatch_class))) {
        bool class_self = (mode & SEND_SELF) && value_is_class(window[0]);
        (void)error_dnu(p, window[0], selector,
                        class_self ? self_send_hint(p, window[0], selector, buffer, sizeof buffer) : NULL);
        return unwind_error(p);
    }
    Value arguments[PRIM_SEND_MAX + 256];
    if (argc > sizeof arguments / sizeof *arguments) argc = sizeof arguments / sizeof *arguments;
    memcpy(arguments, window + 1, argc * sizeof *arguments);
    RootSpan receiver_span, argument_span;
    roots_push(p, &receiver_span, values, 1);
    roots_push(p, &argument_span, arguments, argc);
    values[2] = list_from_array(p, arguments, argc, V_EMPTY_LIST);
    roots_pop(p, &argument_span);
    roots_pop(p, &receiver_span);
    if (values[2] == V_HOLE) return unwind_error(p);
    return send_values(p, SYMBOL(doesNotUnderstand), values, 2, mode);
}

/* ---- which sends leave the process (semantics 3.1, 15.3) ---- */

/* Methods of the library's root classes sent to a reference run in the caller, with the reference as self;
 * birth and stop belong to the actor. References of classes that are no actors (supervisors, shared tables:
 * handles on a process of the library's) run all their methods in the caller. */
static bool runs_in_caller(const Method *m) {
    uint32_t owner = m->owner->id;
    if (owner != CLASS_ID_Object && owner != CLASS_ID_ProtoObject && owner != CLASS_ID_Actor) return false;
    return m->fn->unit->stdlib && m->selector != SYMBOL(__start) && m->selector != SYMBOL(__stop);
}

static bool class_send_is_plain(const Site *site, const Class *c, const Method *m) {
    if (!m->class_side || (m->flags & METHOD_DIRECT)) return true;
    if (!site || !(site->flags & SITE_LITERAL_CLASS) || !(m->flags & METHOD_SEALED)) return false;
    return c->class_var_count == 0 && m->owner->class_var_count == 0;
}

static bool is_actor_class(BtVm *vm, const Class *c) {
    const Class *actor = class_by_id(vm, CLASS_ID_Actor);
    return actor && class_inherits(c, actor);
}

/* True if a send of this method from this site never has to leave the process, whoever sends: then the site
 * may cache it. */
static bool plain_send(BtVm *vm, const Site *site, uint32_t dispatch_class, const Method *m) {
    if (dispatch_class & DISPATCH_METACLASS) return false;
    const Class *c = class_by_id(vm, dispatch_class & (DISPATCH_META - 1));
    if (!c) return false;
    if (dispatch_class & DISPATCH_META) return class_send_is_plain(site, c, m);
    return !is_actor_class(vm, c) || runs_in_caller(m);
}

/* The same for a self-send: class methods stay in the process whatever they are. But which class a class
 * names itself for, the frame says, once there are subclasses (own_class_self). */
static bool plain_self_send(BtVm *vm, const Site *site, uint32_t dispatch_class, const Method *m) {
    if (site->flags & SITE_OWN_CLASS && class_by_id(vm, dispatch_class & (DISPATCH_META - 1))->has_subclasses)
        return plain_send(vm, site, dispatch_class, m);
    return (dispatch_class & (DISPATCH_META | DISPATCH_OWN)) || plain_send(vm, site, dispatch_class, m);
}

/* `Base s` in a class method of Base is a send to self where it would else have to leave the process
 * (semantics 2.3): entered through a subclass, it is the subclass's message and its class variables. */
static bool own_class_self(Process *p, const Site *site, const Method *m, Value *receiver) {
    Value self = frame_self(p->frame);
    if (!(site->flags & SITE_OWN_CLASS) || self == *receiver || !value_is_class(self)) return false;
    if (class_send_is_plain(site, class_by_id(p->vm, special_payload(*receiver)), m)) return false;
    return *receiver = self, true;
}

/* ---- calls to other processes ---- */

static Step call_process(Process *p, Value pid, Value receiver, Value selector, const Value *arguments,
                         unsigned argc, int64_t timeout_us) {
    if (call_start(p, pid, receiver, selector, arguments, argc, timeout_us) == CALL_WAITING)
        return STEP_BLOCK;
    return unwind_error(p);
}

static Step own_class_reentry(Process *p, Value receiver, const Class *c, Value selector) {
    char hint[900];
    const char *name = symbol_text(p->vm, c->name, NULL), *text = symbol_text(p->vm, selector, NULL);
    if (value_is_meta(receiver))
        snprintf(hint, sizeof hint,
                 "`self class %.200s` inside one of %.200s's own class methods would deadlock: send the "
                 "message to self instead",
                 text, name);
    else
        snprintf(hint, sizeof hint,
                 "Sending '%.200s' to %.200s from inside one of %.200s's own class methods would deadlock; "
                 "usually a block passed to a class method is "
                 "messaging that class: read what you need first",
                 text, name, name);
    (void)error_raise(p, ERR_dispatch_error, c->name, selector, NULL, hint, V_NIL);
    return unwind_error(p);
}

static int64_t class_timeout(Process *p, Value selector, unsigned mode) {
    if (mode & SEND_TIMEOUT) return p->send->timeout_us;
    const char *text = symbol_text(p->vm, selector, NULL);
    bool runs_tests = !strcmp(text, "runAll") || !strcmp(text, "runAll:") || !strcmp(text, "run:") ||
                      !strcmp(text, "run:method:");
    return runs_tests ? TEST_RUN_TIMEOUT_US : CLASS_CALL_TIMEOUT_US;
}

/* STEP_BLOCK, or STEP_NEXT with the error pending. */
static Step try_class(Process *p, Class *c, Value selector, const Value *arguments, unsigned argc,
                      int64_t timeout) {
    for (int attempt = 0;; attempt++) {
        Value pid = class_process(p->vm, c);
        if (pid == V_HOLE) {
            (void)error_raise(p, ERR_class_not_found, c->name, selector, NULL,
                              "Class process crashed and could not be restarted", V_NIL);
            return STEP_NEXT;
        }
        if (call_start(p, pid, value_from_class(c->id), selector, arguments, argc, timeout) == CALL_WAITING)
            return STEP_BLOCK;
        if (attempt || process_is_alive(p->vm, pid)) return STEP_NEXT;
        p->exception = V_HOLE; /* it died between the two steps: made anew, tried once more (semantics 3.3) */
    }
}

/* The arguments may lie in a C array, and what says that the class is dead may collect before the second
 * attempt: they are roots meanwhile. (The receiver is an immediate. A process that waits is still ours until
 * the step is answered, so its roots may be taken back here.) */
static Step call_class(Process *p, Class *c, Value receiver, Value selector, const Value *window,
                       unsigned argc, unsigned mode) {
    if (p->role == PROC_CLASS && p->self_ref == value_from_class(c->id))
        return own_class_reentry(p, receiver, c, selector);
    int64_t timeout =
        p->frame ? class_timeout(p, selector, mode) : -1; /* what starts a program has no limit */
    RootSpan span;
    roots_push(p, &span, (Value *)(uintptr_t)(window + 1), argc);
    Step step = try_class(p, c, selector, window + 1, argc, timeout);
    roots_pop(p, &span);
    return step == STEP_BLOCK ? step : unwind_error(p);
}

static Value reference_target(Process *p, Value reference) {
    Value target = object_at(reference, 1);
    return value_is_symbol(target) ? registry_lookup(p->vm, target) : target;
}

static Step raise_no_such_process(Process *p, Value reference, Value selector) {
    char hint[400];
    Value name = object_at(reference, 1);
    snprintf(hint, sizeof hint, "No process is currently registered under name '%.300s'",
             symbol_text(p->vm, name, NULL));
    Value class_name = class_name_of(p->vm, reference); /* the reference may move with the next step */
    Value details = error_detail(p, "name", name);
    if (details != V_HOLE)
        (void)error_raise(p, ERR_no_such_process, class_name, selector, NULL, hint, details);
    return unwind_error(p);
}

/* What starts a program has no limit, nor has the way to a proxy that brings its own (stdlib-system 2.3). */
static int64_t actor_timeout(Process *p, Value reference) {
    const Class *c = class_by_id(p->vm, object_class(reference));
    return !p->frame || (c && c->name == SYMBOL(TimeoutProxy)) ? -1 : ACTOR_CALL_TIMEOUT_US;
}

static Step call_actor(Process *p, Value selector, const Value *window, unsigned argc, unsigned mode,
                       const Method *m) {
    Value pid = reference_target(p, window[0]);
    if (!value_is_pid(pid)) return raise_no_such_process(p, window[0], selector);
    if (pid == p->pid)
        return m ? enter(p, m->fn, window, argc, mode) : not_understood(p, selector, window, argc, mode);
    int64_t timeout = mode & SEND_TIMEOUT ? p->send->timeout_us : actor_timeout(p, window[0]);
    return call_process(p, pid, window[0], selector, window + 1, argc, timeout);
}

/* ---- the send ---- */

/* Only perform: can send a selector with another number of arguments than it has colons. */
static Step raise_arity(Process *p, const Method *m, Value receiver) {
    (void)error_raise(p, ERR_arity_mismatch, class_name_of(p->vm, receiver), m->selector, NULL,
                      "The List must hold as many arguments as the selector takes", V_NIL);
    return unwind_error(p);
}

static Step dispatch(Process *p, Site *site, Value selector, const Value *window, unsigned argc,
                     unsigned mode) {
    Value receiver = window[0];
    if (value_is_closure(receiver) && selector_is_value_family(selector))
        return call_block(p, window, argc, selector, mode);
    uint32_t dispatch_class = fast_dispatch_class(receiver);
    Method *m = selector_lookup(p, selector, dispatch_class);
    if (value_is_kind(receiver, KIND_ACTOR_REF)) {
        if (m && site && m->fn->param_count == argc && (mode & SEND_OWN) && object_at(receiver, 1) == p->pid)
            site_fill(p->vm, site, dispatch_class | DISPATCH_OWN, m, plain_self_send);
        if ((!m || !runs_in_caller(m)) && is_actor_class(p->vm, class_by_id(p->vm, dispatch_class)))
            return call_actor(p, selector, window, argc, mode, m);
    }
    if (!m) return not_understood(p, selector, window, argc, mode);
    if (site && (mode & SEND_SELF) && own_class_self(p, site, m, (Value *)(uintptr_t)window))
        return dispatch(p, NULL, selector, window, argc, mode);
    if (m->fn->param_count != argc) return raise_arity(p, m, receiver);
    if (dispatch_class & (DISPATCH_META | DISPATCH_METACLASS)) {
        Class *c = class_by_id(p->vm, special_payload(receiver));
        bool meta = value_is_meta(receiver);
        /* `C class s` of a class method is a send to C (semantics 3.1) */
        if (meta && m->class_side && class_send_is_plain(NULL, c, m)) {
            Value moved[PRIM_SEND_MAX + 256];
            if (argc >= sizeof moved / sizeof *moved) return not_understood(p, selector, window, argc, mode);
            memcpy(moved, window, (argc + 1) * sizeof *moved);
            moved[0] = value_from_class(c->id);
            return enter(p, m->fn, moved, argc, mode);
        }
        if (meta && m->class_side) return call_class(p, c, receiver, selector, window, argc, mode);
        if (!(mode & SEND_SELF) && !class_send_is_plain(site, c, m))
            return call_class(p, c, receiver, selector, window, argc, mode);
    }
    if (site) site_fill(p->vm, site, dispatch_class, m, mode & SEND_SELF ? plain_self_send : plain_send);
    if (site && m->fn->prim) return run_leaf(p, m->fn, (Value *)(uintptr_t)window, argc, mode);
    return enter(p, m->fn, window, argc, mode);
}

/* A self-send stays in the process if it is made by the class's own code: by a class method, or a block in
 * one. Methods of the instance protocol of Class run in the caller for any class object; what they send to
 * self is sent to the class. */
static unsigned self_mode(const Frame *f) { return f->fn->class_side ? SEND_SELF : 0; }

NOINLINE Step send_slow(Process *p) {
    Frame *f = p->frame;
    Instr i = f->pc[-1];
    Site *site = &f->fn->sites[instr_c(i)];
    unsigned mode = 0;
    switch (instr_op(i)) {
    case OP_SENDSELF:
    case OP_SENDME: mode = SEND_OWN | self_mode(f); break;
    case OP_TAILSEND: mode = SEND_TAIL; break;
    case OP_TAILSELF:
    case OP_TAILME: mode = SEND_OWN | SEND_TAIL | self_mode(f); break;
    default: break;
    }
    unsigned argc = instr_op(i) == OP_SENDOF ? 0 : instr_f(i);
    return dispatch(p, site, site->name, f->regs + instr_b(i), argc, mode);
}

NOINLINE Step send_super(Process *p) {
    Frame *f = p->frame;
    Instr i = f->pc[-1];
    Site *site = &f->fn->sites[instr_c(i)];
    Value *window = f->regs + instr_b(i);
    Method *m = super_lookup(p->vm, f->fn, site);
    if (!m) {
        (void)error_dnu(p, window[0], site->name, "Method not found in superclass chain");
        return unwind_error(p);
    }
    return enter(p, m->fn, window, instr_f(i), 0);
}

NOINLINE Step send_values(Process *p, Value selector, const Value *window, unsigned argc, unsigned mode) {
    return dispatch(p, NULL, selector, window, argc, mode);
}

NOINLINE Step send_described(Process *p, unsigned mode) {
    Value window[PRIM_SEND_MAX + 1];
    unsigned argc = p->send->argc;
    window[0] = p->send->receiver;
    memcpy(window + 1, p->send->args, argc * sizeof *window);
    if (p->send->method) return enter(p, p->send->method->fn, window, argc, mode);
    if (p->send->call_block && value_is_closure(window[0]))
        return call_block(p, window, argc, p->send->selector, mode);
    /* perform: sent to self in a class method is a self-send (semantics 2.3) */
    const Frame *f = p->frame;
    if (f && instr_op(f->pc[-1]) == OP_PRIM) f = f->caller; /* the primitive had a frame of its own */
    if (f && f->fn->class_side && value_is_class(window[0]) && frame_self(f) == window[0]) mode |= SEND_SELF;
    return dispatch(p, NULL, p->send->selector, window, argc,
                    mode | (p->send->has_timeout ? SEND_TIMEOUT : 0));
}

NOINLINE Step send_operator(Process *p, WellKnownSymbol selector, Value receiver, Value argument,
                            unsigned mode) {
    Value window[2] = {receiver, argument};
    return dispatch(p, NULL, value_from_symbol(selector), window, 1, mode);
}

/* ---- casts ---- */

NOINLINE Step send_cast(Process *p) {
    Frame *f = p->frame;
    Instr i = f->pc[-1];
    Site *site = &f->fn->sites[instr_c(i)];
    Value *window = f->regs + instr_b(i), receiver = window[0], target = V_NIL;
    if (value_is_kind(receiver, KIND_ACTOR_REF)) target = reference_target(p, receiver);
    Class *c = value_is_class(receiver) ? class_by_id(p->vm, special_payload(receiver)) : NULL;
    if (c) {
        Method *m = selector_lookup(p, site->name, c->id | DISPATCH_META);
        if (m && m->class_side) target = class_process(p->vm, c);
    }
    if (value_is_pid(target)) (void)cast_send(p, target, receiver, site->name, window + 1, instr_f(i));
    if (p->exception != V_HOLE) return unwind_error(p);
    return STEP_NEXT;
}
