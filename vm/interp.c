/* The interpreter's loop. See interp.h and interp_internal.h; the opcodes are in interp_ops.inc.
 *
 * One body of opcodes for two kinds of dispatch: a table of labels where the compiler has them (about a sixth
 * faster on the hosts measured), else, or with BT_DISPATCH_SWITCH, a switch. */
#include "vm/array.h"
#include "vm/compare.h"
#include "vm/dict.h"
#include "vm/interp_internal.h"
#include "vm/leaf.h"
#include "vm/list.h"
#include "vm/number.h"
#include "vm/string.h"

#if defined(__GNUC__) && !defined(BT_DISPATCH_SWITCH) && !defined(BT_DISPATCH_GOTO)
#define BT_DISPATCH_GOTO
#endif

static NOINLINE Step prim_missing(Process *p) {
    const Function *fn = p->frame->fn;
    (void)error_raise(p, ERR_internal_error, fn->class_name, fn->name, NULL,
                      "This VM has no primitive of that name", V_NIL);
    return unwind_error(p);
}

#define FRAME ((Frame *)(void *)R - 1)
#define FN (FRAME->fn)
/* The running instruction and its operands. Where the machine's order of bytes allows it, each operand is one
 * load from the code, which is cheaper than to shift it out of the word. */
#define INSTR (pc[-1])
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PART(type, offset) (*(const type *)(const void *)((const char *)pc - 8 + (offset)))
#define OPCODE PART(uint8_t, 0)
#define F ((unsigned)PART(uint8_t, 1))
#define A ((unsigned)PART(uint16_t, 2))
#define B ((unsigned)PART(uint16_t, 4))
#define C ((unsigned)PART(uint16_t, 6))
#define SB ((int)PART(int16_t, 4))
#define SC ((int)PART(int16_t, 6))
#define IMM PART(int32_t, 4)
#else
#define OPCODE instr_op(INSTR)
#define F instr_f(INSTR)
#define A instr_a(INSTR)
#define B instr_b(INSTR)
#define C instr_c(INSTR)
#define SB instr_sb(INSTR)
#define SC instr_sc(INSTR)
#define IMM instr_imm(INSTR)
#endif

#define SAVE() (FRAME->pc = pc, p->frame = FRAME, p->reductions = reds)
#define LOAD() (R = p->frame->regs, pc = p->frame->pc, reds = p->reductions, limit = p->segments->limit)
/* A slow path that may change frames. */
#define STEP(call)                                                                                           \
    do {                                                                                                     \
        SAVE();                                                                                              \
        step = (call);                                                                                       \
        goto stepped;                                                                                        \
    } while (0)
/* A slow path that computes a value into a register, or raises. */
#define VALUE(call)                                                                                          \
    do {                                                                                                     \
        SAVE();                                                                                              \
        if (UNLIKELY((call) != PRIM_OK)) goto raised;                                                        \
        reds = p->reductions;                                                                                \
        NEXT;                                                                                                \
    } while (0)
#define MAKE(call)                                                                                           \
    do {                                                                                                     \
        SAVE();                                                                                              \
        Value made_ = (call);                                                                                \
        if (UNLIKELY(made_ == V_HOLE)) goto raised;                                                          \
        R[A] = made_;                                                                                        \
        NEXT;                                                                                                \
    } while (0)
#define JUMP_BY(offset)                                                                                      \
    do {                                                                                                     \
        int32_t by_ = (offset);                                                                              \
        pc += by_;                                                                                           \
        if (by_ < 0 && UNLIKELY(--reds <= 0)) goto preempted;                                                \
    } while (0)
#define ARITH_SLOW(x, y)                                                                                     \
    do {                                                                                                     \
        SAVE();                                                                                              \
        PrimStatus status_ = slow_arith(p, INSTR, x, y, &R[A]);                                              \
        if (LIKELY(status_ == PRIM_OK)) {                                                                    \
            reds = p->reductions;                                                                            \
            NEXT;                                                                                            \
        }                                                                                                    \
        if (status_ != PRIM_SEND) goto raised;                                                               \
        step = send_operator(p, operator_selector((Opcode)OPCODE), x, y, 0);                                 \
        goto stepped;                                                                                        \
    } while (0)
#define ORDER_SLOW(x, y)                                                                                     \
    do {                                                                                                     \
        bool holds_;                                                                                         \
        SAVE();                                                                                              \
        if (LIKELY(slow_order(p, (Opcode)OPCODE, x, y, &holds_) == PRIM_OK)) {                               \
            R[A] = value_from_bool(holds_);                                                                  \
            NEXT;                                                                                            \
        }                                                                                                    \
        step = send_operator(p, operator_selector((Opcode)OPCODE), x, y, 0);                                 \
        goto stepped;                                                                                        \
    } while (0)
#define JUMP_ORDER_SLOW(x, y)                                                                                \
    do {                                                                                                     \
        bool holds_;                                                                                         \
        SAVE();                                                                                              \
        if (LIKELY(slow_order(p, (Opcode)OPCODE, x, y, &holds_) == PRIM_OK)) {                               \
            if (holds_ == order_sense((Opcode)OPCODE)) JUMP_BY(SC);                                          \
            NEXT;                                                                                            \
        }                                                                                                    \
        step = send_operator(p, operator_selector((Opcode)OPCODE), x, y, SEND_RESUME);                       \
        goto stepped;                                                                                        \
    } while (0)
/* The field is of the running actor's record as the site knows it: a method of it, or a block in its own
 * process. */
#define STATE_HIT(word)                                                                                      \
    (p->state_layout && (uint32_t)((word) >> 32) == p->state_layout->id &&                                   \
     (FN->kind != FN_BLOCK || object_at(R[0], CLOSURE_HOME_PID) == p->pid))

/* Sets `target` (site_target) to what the site has for the class, or does `miss`. acquire: pairs with the
 * fill; the method was complete then. */
#define SITE_HIT(site, dispatch_class, miss)                                                                 \
    uint64_t word_ = atomic_load_explicit(&(site)->word, memory_order_acquire);                              \
    if (UNLIKELY((uint32_t)(word_ >> 32) != (dispatch_class))) {                                             \
        word_ = atomic_load_explicit(&(site)->word2, memory_order_acquire);                                  \
        if ((uint32_t)(word_ >> 32) != (dispatch_class)) miss;                                               \
    }                                                                                                        \
    uint32_t target = (uint32_t)word_
#define TARGET_FN(target) (((const Method *)(const void *)((const char *)methods + (target)))->fn)

/* Eight words a step, the first without asking: the last may lie behind the frame, where a segment has as
 * many to spare. */
#define EIGHT_NIL(at) (at)[0] = (at)[1] = (at)[2] = (at)[3] = (at)[4] = (at)[5] = (at)[6] = (at)[7] = V_NIL
#define FILL_NIL(first, end)                                                                                 \
    Value *fill_ = (first);                                                                                  \
    EIGHT_NIL(fill_);                                                                                        \
    while (UNLIKELY((fill_ += STACK_SPARE_WORDS) < (end))) EIGHT_NIL(fill_)
#define PUSH_FRAME(fn_, window, argc)                                                                        \
    do {                                                                                                     \
        const Function *callee_ = (fn_);                                                                     \
        Value *regs_ = (window), *end_ = regs_ + callee_->register_count;                                    \
        FRAME->pc = pc;                                                                                      \
        if (UNLIKELY(end_ > limit)) {                                                                        \
            p->frame = FRAME, p->reductions = reds;                                                          \
            step = enter(p, callee_, regs_, argc, 0);                                                        \
            goto stepped;                                                                                    \
        }                                                                                                    \
        Frame *made_ = (Frame *)(void *)regs_ - 1;                                                           \
        made_->caller = FRAME;                                                                               \
        made_->fn = callee_;                                                                                 \
        memset(&made_->serial, 0, sizeof(Frame) - offsetof(Frame, serial)); /* one store */                  \
        FILL_NIL(regs_ + (argc) + 1, end_);                                                                  \
        R = regs_;                                                                                           \
        pc = callee_->code;                                                                                  \
        if (UNLIKELY(--reds <= 0)) goto preempted;                                                           \
        NEXT;                                                                                                \
    } while (0)

/* A primitive that is the whole of a method gets its arguments where they lie and needs no frame, unless it
 * does more than answer. */
#define LEAF_PRIM(fn_, window, argc, mode)                                                                   \
    Value v_;                                                                                                \
    SAVE();                                                                                                  \
    PrimStatus status_ = fn_->prim(p, window, argc, &v_);                                                    \
    if (UNLIKELY(status_ != PRIM_OK)) {                                                                      \
        step = leaf_outcome(p, fn_, window, argc, mode, status_);                                            \
        goto stepped;                                                                                        \
    }                                                                                                        \
    reds = p->reductions

/* What needs no activation is done here, and `answer` says what then happens to v_; else control goes on
 * behind. An older layout and a full heap are seen to by send_slow, which runs the body. */
#define LEAF_METHOD(target, window, argc, mode, answer)                                                      \
    if ((int32_t)(target) < 0) {                                                                             \
        if (LIKELY((target)&SITE_FIELD)) {                                                                   \
            unsigned slot_ = (target)&SITE_PLACE;                                                            \
            if (UNLIKELY(!instance_has_slot((window)[0], slot_))) STEP(send_slow(p));                        \
            Value v_ = object_at((window)[0], slot_);                                                        \
            answer;                                                                                          \
        }                                                                                                    \
        if ((target)&SITE_WITH) {                                                                            \
            Value v_ = leaf_with(p, (target)&SITE_PLACE, window);                                            \
            if (UNLIKELY(v_ == V_HOLE)) STEP(send_slow(p));                                                  \
            answer;                                                                                          \
        }                                                                                                    \
        const Function *leaf_ = TARGET_FN((target)&SITE_PLACE);                                              \
        if (leaf_->leaf == LEAF_CONSTANT) {                                                                  \
            Value v_ = leaf_->leaf_value;                                                                    \
            answer;                                                                                          \
        }                                                                                                    \
        if (leaf_->leaf != LEAF_PRIM) {                                                                      \
            Value v_ = leaf_make(p, leaf_, window, argc);                                                    \
            if (LIKELY(v_ != V_HOLE)) {                                                                      \
                answer;                                                                                      \
            }                                                                                                \
        }                                                                                                    \
        LEAF_PRIM(leaf_, window, argc, mode);                                                                \
        answer;                                                                                              \
    }
#define ENTER_METHOD(window, argc, mode)                                                                     \
    LEAF_METHOD(target, window, argc, mode, R[A] = v_; NEXT);                                                \
    PUSH_FRAME(TARGET_FN(target), window, argc)

/* The frame becomes the callee's. What the short way does not see to (code of an evaluation, no ring yet, no
 * room, a frame that must stay) goes by enter(). */
#define TAIL_METHOD(window, argc)                                                                            \
    do {                                                                                                     \
        LEAF_METHOD(target, window, argc, SEND_TAIL, LEAVE(v_));                                             \
        const Function *callee_ = TARGET_FN(target);                                                         \
        Frame *f_ = FRAME;                                                                                   \
        Value *end_ = R + callee_->register_count;                                                           \
        if (UNLIKELY(f_->serial || (f_->flags & FRAME_CARRIERS) || (f_->fn->flags & FN_TRANSIENT) ||         \
                     !p->elided_ring || end_ > limit || p->vm->no_tail_calls)) {                             \
            SAVE();                                                                                          \
            step = enter(p, callee_, window, argc, SEND_TAIL);                                               \
            goto stepped;                                                                                    \
        }                                                                                                    \
        uint32_t first_ = f_->flags & FRAME_TAILED ? 0 : ELIDED_FIRST;                                       \
        f_->flags |= FRAME_TAILED;                                                                           \
        p->elided_ring[p->elided_count++ % ELIDED_CALLS] =                                                   \
            (ElidedCall){f_->fn, (uint32_t)(pc - f_->fn->code) - 1, trace_frame_tag(f_) | first_};           \
        const Value *from_ = (window);                                                                       \
        for (unsigned k_ = 0; k_ <= (argc); k_++) R[k_] = from_[k_];                                         \
        FILL_NIL(R + (argc) + 1, end_);                                                                      \
        f_->fn = callee_;                                                                                    \
        pc = callee_->code;                                                                                  \
        if (UNLIKELY(--reds <= 0)) goto preempted;                                                           \
        NEXT;                                                                                                \
    } while (0)

/* Back to the caller. The header words become Values again: they lie in the caller's registers. */
#define LEAVE(answer)                                                                                        \
    do {                                                                                                     \
        Frame *left_ = FRAME;                                                                                \
        if (UNLIKELY(left_->flags & (FRAME_NEW_SEGMENT | FRAME_CARRIERS | FRAME_BASE | FRAME_RESUME))) {     \
            SAVE();                                                                                          \
            step = frame_return(p, answer);                                                                  \
            goto stepped;                                                                                    \
        }                                                                                                    \
        Frame *caller_ = left_->caller;                                                                      \
        Value *header_ = (Value *)(void *)left_;                                                             \
        header_[0] = header_[1] = header_[2] = header_[3] = V_NIL;                                           \
        R = caller_->regs;                                                                                   \
        pc = caller_->pc;                                                                                    \
        R[instr_a(pc[-1])] = (answer);                                                                       \
        NEXT;                                                                                                \
    } while (0)

#ifdef BT_DISPATCH_GOTO
#define OP(name) label_##name:
#define NEXT                                                                                                 \
    do {                                                                                                     \
        pc++;                                                                                                \
        goto *labels[OPCODE];                                                                                \
    } while (0)
#else
#define OP(name) case OP_##name:
#define NEXT goto next
#endif

static Step execute(Process *p) {
#ifdef BT_DISPATCH_GOTO
    static const void *const LABELS[256] = {
#define OP_LABEL(name) &&label_##name,
#undef OP
#define OP(name, format, effects, doc) &&label_##name,
#include "vm/bytecode/opcodes.def"
#undef OP
#define OP(name) label_##name:
    };
#endif
    const ClassTable *const classes = p->vm->classes;
    const Method *const methods = classes->methods;
    const Instr *pc;
    Value *R, *limit;
    int32_t reds;
    Step step;
    LOAD();
#ifdef BT_DISPATCH_GOTO
    const void *const *labels = LABELS;
    __asm__("" : "+r"(labels)); /* kept in a register, not made anew from the pc by each instruction */
    NEXT;
#include "vm/interp_ops.inc"
#else
next:
    pc++;
    switch (OPCODE) {
#include "vm/interp_ops.inc"
    default: __builtin_unreachable(); /* bc_check has seen every opcode */
    }
#endif
raised:
    p->frame = FRAME;
    step = unwind_error(p);
stepped:
    if (step != STEP_NEXT) return step;
    LOAD();
    /* Recursion through slow paths must be preempted too, but not on the way to a cleanup, while what unwinds
     * is still the process's. */
    if (UNLIKELY(--reds <= 0) && p->pending == PENDING_NONE) goto preempted;
    NEXT;
preempted:
    SAVE();
    return STEP_YIELD;
}

/* ---- running a process ---- */

/* The callee was dead before it saw the request. A class has a new process by now (semantics 3.3); of an
 * actor the second try says that it is dead. The instruction that waits is run again: its operands are where
 * they were. */
static Step send_again(Process *p) {
    p->call_retried = true;
    p->exception = V_HOLE;
    p->frame->pc--;
    return STEP_NEXT;
}

/* What a process that has waited got. */
static Step resume(Process *p) {
    WaitKind wait = p->link.wait;
    p->link.wait = WAIT_NONE;
    Value answer = V_NIL;
    ReplyKind kind;
    switch (wait) {
    case WAIT_NONE:
        if (!p->frame) return serve_next(p);
        return p->exception == V_HOLE ? STEP_NEXT : unwind_error(p); /* process_interrupt */
    case WAIT_CALL:
        kind = call_take_reply(p, &answer);
        if (kind == REPLY_DEAD && answer == SYMBOL(noproc) && p->frame && !p->call_retried)
            return send_again(p);
        p->call_retried = false;
        switch (kind) {
        case REPLY_VALUE: break;
        case REPLY_NLR: p->pending = PENDING_NLR; return unwind_pending(p);
        default: return unwind_error(p);
        }
        break;
    default: /* the scheduler has left the answer, or an exception */
        if (p->exception != V_HOLE) return unwind_error(p);
        answer = p->resume_value;
        p->resume_value = V_NIL;
    }
    if (p->frame) return deliver(p, answer);
    p->pending = PENDING_NONE;
    p->resume_value = answer;
    return STEP_BASE;
}

RunOutcome interp_run(Process *p) {
    if (process_has_signals(p) && !process_poll_signals(p)) return RUN_DONE;
    Step step = resume(p);
    for (;;) {
        switch (step) {
        case STEP_NEXT: step = execute(p); break;
        case STEP_BASE: step = serve_end(p); break;
        case STEP_YIELD: return RUN_YIELDED;
        case STEP_BLOCK: return RUN_BLOCKED;
        case STEP_IDLE: return RUN_SERVED;
        case STEP_DONE: return RUN_DONE;
        }
    }
}
