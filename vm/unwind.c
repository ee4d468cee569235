/* Leaving frames: answers, errors, non-local returns.
 *
 * Handler tables are searched only here. An error stops at catches and cleanups, a `^` at cleanups only; what
 * is in flight while a cleanup runs lies in four registers of its frame (PENDING, RESUME), so an error or a
 * `^` out of a cleanup simply replaces it. A token (process, activation serial) names the home of a `^`; a
 * process never takes another's token for one of its own frames. */
#include "vm/interp_internal.h"

/* ---- answers ---- */

void frame_pop(Process *p) {
    Frame *f = p->frame;
    if (f->flags & FRAME_CARRIERS) p->carrier_top -= (uint32_t)f->carriers + 1;
    stack_pop(p);
}

static Step base_answer(Process *p, Value value) {
    p->pending = PENDING_NONE;
    p->resume_value = value;
    return STEP_BASE;
}

/* A comparison that a jump was to decide has answered something else than a Boolean: the code for that stands
 * out of line. */
static void take_strange_answer(Frame *f, Value value) {
    const BcFunction *bc = f->fn->bc;
    uint32_t at = (uint32_t)(f->pc - f->fn->code) - 1;
    for (uint32_t i = 0; i < bc->region_count; i++) {
        const BcRegion *r = &bc->regions[i];
        if (r->kind != BC_ANSWER || r->start != at) continue;
        f->regs[r->reg] = value;
        f->pc = f->fn->code + r->handler;
        return;
    }
    if (!order_sense(instr_op(f->pc[-1]))) f->pc += instr_sc(f->pc[-1]); /* as if it were false */
}

/* The answer of a send: the register of the instruction, or the jump it decides. */
static Step take_answer(Frame *f, Instr i, Value value) {
    Opcode op = instr_op(i);
    if (!is_order_jump(op))
        f->regs[instr_a(i)] = value;
    else if (UNLIKELY(value != V_TRUE && value != V_FALSE))
        take_strange_answer(f, value);
    else if ((value == V_TRUE) == order_sense(op))
        f->pc += instr_sc(i);
    return STEP_NEXT;
}

/* Pops the running frame and hands its answer to whoever waits; goes on popping through frames that end with
 * their send. */
static Step leave_with(Process *p, Value value) {
    for (;;) {
        bool resume = (p->frame->flags & FRAME_RESUME) != 0;
        frame_pop(p);
        Frame *f = p->frame;
        if (!f) return base_answer(p, value);
        Instr i = f->pc[-1];
        if (!resume) return f->regs[instr_a(i)] = value, STEP_NEXT;
        switch (instr_op(i)) {
        case OP_TAILSEND:
        case OP_TAILSELF:
        case OP_TAILME:
        case OP_PRIM: break;
        default: return take_answer(f, i, value);
        }
    }
}

NOINLINE Step frame_return(Process *p, Value value) { return leave_with(p, value); }

NOINLINE Step deliver(Process *p, Value value) {
    Frame *f = p->frame;
    Instr i = f->pc[-1];
    switch (instr_op(i)) {
    case OP_TAILSEND:
    case OP_TAILSELF:
    case OP_TAILME:
    case OP_PRIM: return leave_with(p, value);
    default: return take_answer(f, i, value);
    }
}

/* ---- unwinding ---- */

static const BcRegion *find_region(const Frame *f, bool cleanups_only) {
    const BcFunction *bc = f->fn->bc;
    uint32_t at = (uint32_t)(f->pc - f->fn->code) - 1;
    for (uint32_t i = 0; i < bc->region_count; i++) {
        const BcRegion *r = &bc->regions[i];
        if (r->kind <= BC_ENSURE && at >= r->start && at < r->end && !(cleanups_only && r->kind == BC_CATCH))
            return r;
    }
    return NULL;
}

static void enter_handler(Process *p, const BcRegion *r) {
    Frame *f = p->frame;
    f->pc = f->fn->code + r->handler;
    if (r->kind != BC_CATCH)
        return; /* PENDING, the first instruction of a cleanup, takes what is in flight */
    f->regs[r->reg] = p->exception;
    p->exception = V_HOLE;
    p->pending = PENDING_NONE;
}

static bool is_home(const Process *p, const Frame *f) {
    return p->pending_pid == p->pid && f->serial && p->pending_serial == value_from_int(f->serial) &&
           f->fn->kind != FN_BLOCK;
}

/* The ^ of a block arrives at its script, which answers with its variables as they are now. */
static bool land(Frame *f, Value value) {
    const BcFunction *bc = f->fn->bc;
    for (uint32_t i = 0; i < bc->region_count; i++) {
        if (bc->regions[i].kind != BC_HOME) continue;
        f->regs[bc->regions[i].reg] = value;
        f->pc = f->fn->code + bc->regions[i].handler;
        return true;
    }
    return false;
}

NOINLINE Step unwind_pending(Process *p) {
    bool error = p->pending == PENDING_ERROR;
    for (Frame *f = p->frame; f; f = p->frame) {
        const BcRegion *r = find_region(f, !error);
        if (r) return enter_handler(p, r), STEP_NEXT;
        if (p->pending == PENDING_RETURN || (p->pending == PENDING_NLR && is_home(p, f))) {
            Value value = p->pending_value;
            bool lands = p->pending == PENDING_NLR && f->fn->kind == FN_SCRIPT && land(f, value);
            p->pending = PENDING_NONE;
            p->pending_value = V_NIL;
            return lands ? STEP_NEXT : leave_with(p, value);
        }
        frame_pop(p);
    }
    return STEP_BASE;
}

/* An exception raised by a primitive gets its trace here, where all of them pass. In place only while nothing
 * older can point to it. */
static void fill_trace(Process *p) {
    if (!value_is_exception(p->vm, p->exception) || object_at(p->exception, EXC_TRACE) != V_NIL ||
        (header_flags(object_header(p->exception)) & OBJ_LITERAL))
        return;
    Value exception = p->exception;
    RootSpan span;
    roots_push(p, &span, &exception, 1);
    p->exception = V_HOLE;
    Value trace = error_trace(p);
    roots_pop(p, &span);
    p->exception = exception;
    uint64_t *words = object_words(exception);
    if (words >= p->heap.young_mark && words < p->heap.top) words[EXC_TRACE] = trace;
}

NOINLINE Step unwind_error(Process *p) {
    if (p->exception == V_HOLE)
        (void)error_raise(p, ERR_internal_error, V_NIL, V_NIL, "an error was raised without an exception",
                          "please report", V_NIL);
    p->pending = PENDING_ERROR;
    if (p->frame) fill_trace(p);
    return unwind_pending(p);
}

NOINLINE Step unwind_return(Process *p, Value value) {
    p->pending = PENDING_RETURN;
    p->pending_value = value;
    return unwind_pending(p);
}

NOINLINE Step unwind_nonlocal(Process *p, Value closure, Value value) {
    p->pending = PENDING_NLR;
    p->pending_value = value;
    p->pending_pid = value_is_closure(closure) ? object_at(closure, CLOSURE_HOME_PID) : V_NIL;
    p->pending_serial = value_is_closure(closure) ? object_at(closure, CLOSURE_HOME_SERIAL) : V_NIL;
    return unwind_pending(p);
}
