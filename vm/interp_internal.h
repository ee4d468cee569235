/* What the files of the interpreter share. Private to vm/interp*.c, vm/unwind.c, vm/carrier.c and vm/serve.c.
 *
 * Between instructions the loop keeps pc, the register base and the reductions in C locals; a slow path is
 * entered with all three saved (frame->pc behind the instruction, p->frame, p->reductions) and answers a
 * Step; the loop then takes them from the process again. */
#ifndef BT_VM_INTERP_INTERNAL_H
#define BT_VM_INTERP_INTERNAL_H

#include "vm/class_internal.h"
#include "vm/error.h"
#include "vm/interp.h"
#include "vm/region.h"
#include "vm/stack.h"

typedef enum {
    STEP_NEXT,  /* go on at p->frame, frame->pc */
    STEP_YIELD, /* slice used up */
    STEP_BLOCK, /* waits; the wait is published, the process is not ours any more */
    STEP_BASE,  /* the base activation has ended: p->frame is NULL; p->pending says how, a plain answer is in
                   resume_value */
    STEP_IDLE,  /* nothing to serve */
    STEP_DONE   /* the process has ended */
} Step;

#define NOINLINE __attribute__((noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* How a send is to be made. */
enum {
    SEND_SELF = 1,    /* in this process whatever the receiver's class, if the receiver is the running self */
    SEND_TAIL = 2,    /* the present frame ends with it */
    SEND_RESUME = 4,  /* its answer is not simply for register a of the waiting instruction: see deliver */
    SEND_TIMEOUT = 8, /* p->send->timeout_us limits a call to another process */
    SEND_OWN = 16     /* written as a send to self */
};

/* ---- interp_send.c ---- */
/* The send that stands behind p->frame->pc: SEND, SENDSELF, TAILSEND, TAILSELF, CALLBLOCK, after the caches
 * have missed. */
Step send_slow(Process *p);
Step send_super(Process *p);
Step send_cast(Process *p);
/* A send from C: receiver and arguments in window[0..argc], anywhere (copied before anything moves). */
Step send_values(Process *p, Value selector, const Value *window, unsigned argc, unsigned mode);
/* The send a primitive has described in p->send. */
Step send_described(Process *p, unsigned mode);
/* Enters a method or block with the arguments in window. */
Step enter(Process *p, const Function *fn, const Value *window, unsigned argc, unsigned mode);
/* What a primitive said that was not PRIM_OK: run without a frame of its own (leaf, by a send) or by its PRIM
 * instruction. */
Step leaf_outcome(Process *p, const Function *fn, Value *window, unsigned argc, unsigned mode,
                  PrimStatus status);
Step prim_outcome(Process *p, PrimStatus status);
/* Operator on operands that are no numbers: the ordinary send. */
Step send_operator(Process *p, WellKnownSymbol selector, Value receiver, Value argument, unsigned mode);

/* ---- unwind.c ---- */
/* An error is pending in p->exception: looks for its handler from the instruction before p->frame->pc
 * outward. */
Step unwind_error(Process *p);
/* Goes on with what p->pending says. */
Step unwind_pending(Process *p);
Step unwind_return(Process *p, Value value);                  /* ^ out of a region of the running frame */
Step unwind_nonlocal(Process *p, Value closure, Value value); /* ^ in a block */
/* Leaves the running frame with an answer; deliver hands an answer to the frame that waits for it. */
Step frame_return(Process *p, Value value);
Step deliver(Process *p, Value value);
/* Leaves the running frame without an answer: carriers closed, segment given back, its header words made
 * Values again. */
void frame_pop(Process *p);

/* ---- carrier.c ---- */
/* mode: CARRIERS_*. false = pending error. MAY_GC */
bool carriers_open(Process *p, Frame *frame, unsigned count, unsigned mode);
/* As carrier_slot, `level` activations further out; also for frames whose carriers are kept. */
int64_t carrier_slot_outer(const Process *p, const Frame *frame, unsigned level, unsigned index);
/* The carriers that a closure made by this frame reaches into: word CLOSURE_CARRIERS, V_NIL if there are
 * none. */
Value carriers_for_closure(const Process *p, const Frame *f);
/* As carriers_base, of carriers that are kept. */
int64_t carriers_kept_base(const Process *p, Value closure);
/* The last two words of a closure that frame f makes: who opened the carriers that it reaches into. */
void carriers_tell(const Process *p, const Frame *f, uint64_t *words);
PrimStatus raise_stateful(Process *p, Value selector);

/* ---- interp_slow.c: instructions that are more than a few lines; p->frame and pc are saved ---- */
PrimStatus slow_loadk(Process *p, Value *r, Instr i);
PrimStatus slow_loadclass(Process *p, Value *r, Instr i);
PrimStatus slow_arith(Process *p, Instr i, Value a, Value b,
                      Value *out); /* PRIM_SEND: an ordinary send is to be made */
PrimStatus slow_order(Process *p, Opcode op, Value a, Value b, bool *out);
WellKnownSymbol operator_selector(Opcode op);
PrimStatus slow_list(Process *p, Value *r, Instr i);
PrimStatus slow_tuple(Process *p, Value *r, Instr i);
PrimStatus slow_closure(Process *p, Value *r, Instr i);
PrimStatus slow_outer_get(Process *p, Value *r, Instr i);
PrimStatus slow_outer_put(Process *p, Value *r, Instr i);
PrimStatus slow_selfvt(Process *p, Value *r, Instr i);
PrimStatus slow_getslot(Process *p, Value *r, Instr i);
PrimStatus slow_getstate(Process *p, Value *r, Instr i);
PrimStatus slow_setstate(Process *p, Value *r, Instr i);
PrimStatus slow_class_var(Process *p, Value *r, Instr i);
PrimStatus slow_excmatch(Process *p, Value *r, Instr i);
PrimStatus slow_for(Process *p, Value *r, Instr i, bool *again);
PrimStatus slow_matchfail(Process *p, Value *r, Instr i);
/* No arm takes the value, or (badmatch) a destructuring assignment does not. */
PrimStatus raise_match_failure(Process *p, Value v, bool badmatch);
PrimStatus slow_raise(Process *p, Instr i);
/* ---- interp_match.c ---- */
void match_typetest(Process *p, Value *r, Instr i);
PrimStatus match_get(Process *p, Value *r, Instr i);
void match_size(Process *p, Value *r, Instr i);
PrimStatus match_rest(Process *p, Value *r, Instr i);
PrimStatus match_destruct(Process *p, Value *r, Instr i);

/* ---- serve.c ---- */
/* The base activation has ended (STEP_BASE): answers, commits or reverts. */
Step serve_end(Process *p);
/* Takes the next message and makes its activation; handles those that end at once. */
Step serve_next(Process *p);

/* ---- small shared things ---- */
static inline bool value_is_closure(Value v) { return value_is_kind(v, KIND_CLOSURE); }
/* self of the running activation. */
static inline Value frame_self(const Frame *f) {
    if (f->fn->kind == FN_BLOCK)
        return value_is_closure(f->regs[0]) ? object_at(f->regs[0], CLOSURE_SELF) : V_NIL;
    return f->fn->kind == FN_SCRIPT ? V_NIL : f->regs[0];
}
/* Where the carriers begin that a closure reaches into; -1: not in this process, or not any more. */
static inline int64_t carriers_base(const Process *p, Value closure) {
    Value base = object_at(closure, CLOSURE_CARRIERS);
    size_t end = object_size(closure);
    if (!value_is_int(base) || p->carriers == V_HOLE || object_at(closure, end - 2) != p->pid) return -1;
    size_t at = (size_t)value_to_int(base);
    if (at >= p->carrier_top || at + 1 >= object_size(p->carriers)) return carriers_kept_base(p, closure);
    return object_at(p->carriers, at + 1) == object_at(closure, end - 1) ? (int64_t)at : -1;
}
/* The home of a stateful block is alive and in this process. */
static inline bool carriers_at_home(const Process *p, Value closure) {
    return object_at(closure, CLOSURE_CARRIERS) == V_NIL || carriers_base(p, closure) >= 0;
}
/* The frame has opened it. Then the record has its slot: carriers_open makes room, and region.c lets no
 * record in that has less. */
static inline bool carrier_is_own(const Frame *frame, unsigned index) { return index < frame->carriers; }
static inline size_t carrier_own(const Process *p, const Frame *frame, unsigned index) {
    return p->carrier_top - frame->carriers + index;
}
/* Slot of carrier `index` of the running activation in p->carriers, or -1: then raise_stateful is due. A
 * block that reaches out was let in because its home lives here (carriers_at_home), so it need not be asked
 * again; register 0 of a block is its closure, the check of bytecode sees to it. */
static inline int64_t carrier_slot(const Process *p, const Frame *frame, unsigned index) {
    size_t slot = carrier_own(p, frame, index);
    if (!(frame->flags & FRAME_CARRIERS)) {
        if (frame->fn->kind != FN_BLOCK) return -1;
        Value base = object_at(frame->regs[0], CLOSURE_CARRIERS);
        if (!value_is_int(base)) return -1;
        if (value_to_int(base) < 0) return carrier_slot_outer(p, frame, 0, index);
        slot = (size_t)value_to_int(base) + 1 + index;
    }
    return p->carriers != V_HOLE && slot + 1 < object_size(p->carriers) ? (int64_t)slot : -1;
}
/* Dispatch class with class objects on the fast path: class-side self-sends are as hot as any. */
static inline uint32_t fast_dispatch_class(Value v) {
    if (value_is_class(v)) return special_payload(v) | DISPATCH_META;
    return dispatch_class_of(v);
}
/* A self-send to an actor's reference in the actor's own process: a key of its own, so that a site may cache
 * it. */
#define DISPATCH_OWN (1u << 25)
_Static_assert(DISPATCH_OWN * 2 <= SUPER_KEY && SUPER_KEY < LAYOUT_ID_FIRST, "keys of sites are disjoint");
static inline uint32_t self_dispatch_class(const Process *p, Value v) {
    if (LIKELY(value_is_class(v))) return special_payload(v) | DISPATCH_META;
    if (value_is_kind(v, KIND_ACTOR_REF))
        return object_class(v) | (object_at(v, 1) == p->pid ? DISPATCH_OWN : 0);
    return dispatch_class_of(v);
}
/* ORDER order_jumps of opcodes.def. */
static inline bool is_order_jump(Opcode op) { return op >= OP_JLT && op <= OP_JNGEI; }
/* 0 <, 1 <=, 2 >, 3 >= */
static inline unsigned order_relation(Opcode op) { return (unsigned)(op - OP_JLT) % 4; }
static inline bool order_sense(Opcode op) { return (unsigned)(op - OP_JLT) / 4 % 2 == 0; }
static inline Instr current_instr(const Process *p) { return p->frame->pc[-1]; }
static inline uint32_t trace_frame_tag(const Frame *frame) {
    return (uint32_t)((uintptr_t)frame >> 3) & ELIDED_FRAME_MASK;
}

#endif
