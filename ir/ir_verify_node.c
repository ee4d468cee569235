/* The verifier's reading of the tables: operations, constructs, closures. */
#include "ir/verify_internal.h"

bool const_is(const Verify *v, uint32_t index, BcConstKind kind) {
    return index < v->unit->const_count && v->unit->consts[index].kind == kind;
}

/* ---- operations ---- */

static bool operand_count_fits(const IrStmt *s) {
    if (op_is_call(s->op) || s->op == IR_CONSTAIL) return s->operand_count > 0;
    return s->op != IR_DICT || s->operand_count % 2 == 0;
}

static bool destruct_fits(const IrStmt *s) {
    IrAtom part = s->operands[1];
    if (s->imm == 2) return true;
    return s->imm <= 3 && part.kind == ATOM_INT && part.index >= 1 && part.index <= UINT16_MAX;
}

static bool number_fits(const Verify *v, const IrStmt *s) {
    switch (s->op) {
    case IR_CAPTURE: return s->imm < v->fn->capture_count;
    case IR_BINDING: return s->imm < v->unit->shell->binding_count && v->fn->kind == FN_SCRIPT;
    case IR_GETSLOT:
    case IR_SETSLOT: return s->imm <= UINT16_MAX;
    case IR_PATGET:
    case IR_PATSIZE: return s->imm <= 3;
    case IR_PATREST: return s->imm == 1 || s->imm == 3;
    case IR_DESTRUCT: return destruct_fits(s);
    case IR_PRIM: return const_is(v, s->imm, BC_SYMBOL);
    default: return true;
    }
}

static inline bool imm_fits(const Verify *v, const IrStmt *s) {
    char kind = IR_OPS[s->op].imm;
    if (kind == '-') return true;
    switch (kind) {
    case 'C': return s->imm < v->unit->const_count;
    case 'N':
    case 'T': return const_is(v, s->imm, BC_SYMBOL);
    case 'I': return number_fits(v, s);
    default: return true;
    }
}

static bool has_capture(const IrFunction *fn, BcCaptureKind kind, uint32_t name) {
    for (uint32_t i = 0; i < fn->capture_count; i++)
        if (fn->captures[i].kind == kind && fn->captures[i].name == name) return true;
    return false;
}

/* Actor state and class variables: only where such a home exists; a block knows a value for when it is away.
 */
static void verify_home_access(Verify *v, const IrStmt *s) {
    const IrFunction *fn = v->fn;
    bool state = s->op == IR_GETSTATE || s->op == IR_SETSTATE,
         write = s->op == IR_SETSTATE || s->op == IR_SETCV;
    if (state && (fn->class_side || fn->home_kind != FN_ACTOR_METHOD))
        finding(v, VERIFY_ActorStateInClassMethod, s, "there is no actor state here");
    if (!state && !fn->class_side)
        finding(v, VERIFY_MalformedNode, s, "a class variable outside the class side");
    if (!(s->flags & SITE_IN_BLOCK)) return;
    if (fn->kind != FN_BLOCK)
        finding(v, VERIFY_MalformedNode, s, "the access stands in no block");
    else if (!write && !has_capture(fn, state ? CAP_STATE : CAP_CLASS_VAR, s->imm))
        finding(v, VERIFY_MalformedNode, s, "the block has no capture to fall back on");
}

/* ---- closures ---- */

static bool capture_fits(Verify *v, const BcCapture *c) {
    const IrFunction *fn = v->fn;
    switch (c->kind) {
    case CAP_REGISTER: return true;
    case CAP_CAPTURE: return c->index < fn->capture_count;
    case CAP_CARRIER: return c->index < carriers_of_home(v, fn);
    case CAP_STATE:
    case CAP_CLASS_VAR:
        return const_is(v, c->name, BC_SYMBOL) &&
               (c->fallback == BC_NO_CAPTURE || c->fallback < fn->capture_count);
    default: return false;
    }
}

/* A block is made in one place, after the function around it: so creators form trees. */
static void verify_closure(Verify *v, const IrStmt *s) {
    if (s->imm >= v->unit->function_count || s->imm <= v->fn_index) {
        finding(v, VERIFY_MalformedNode, s, "function %u cannot be a block here", s->imm);
        return;
    }
    const IrFunction *block = v->unit->functions[s->imm];
    if (block->kind != FN_BLOCK && !(block->flags & FN_BUILDER)) {
        finding(v, VERIFY_MalformedNode, s, "function %u is no block", s->imm);
        return;
    }
    if (v->creators[s->imm] != BC_NONE)
        finding(v, VERIFY_MalformedNode, s, "the closures of block %u are made in two places", s->imm);
    v->creators[s->imm] = v->fn_index;
    for (uint32_t i = 0; i < block->capture_count; i++) {
        if (!capture_fits(v, &block->captures[i]))
            finding(v, VERIFY_MalformedNode, s, "capture %u of the block names nothing", i);
        else if (block->captures[i].kind == CAP_REGISTER)
            verify_atom(v, s, &block->capture_atoms[i]);
    }
}

uint32_t carriers_of_home(const Verify *v, const IrFunction *fn) {
    uint32_t at = v->fn_index;
    while (fn->kind == FN_BLOCK && !(fn->flags & FN_HAS_CARRIERS)) {
        at = v->creators[at];
        if (at == BC_NONE) return 0;
        fn = v->unit->functions[at];
    }
    return fn->flags & FN_HAS_CARRIERS ? fn->carrier_count : 0;
}

void verify_home(Verify *v, uint32_t function) {
    const IrFunction *fn = v->fn;
    while (fn->kind == FN_BLOCK) {
        function = v->creators[function];
        if (function == BC_NONE) return; /* nobody makes it */
        fn = v->unit->functions[function];
    }
    if (!(fn->flags & FN_NLR_HOME))
        finding(v, VERIFY_EarlyExitGateSlotMismatch, NULL,
                "a block has a ^ to %s, which is not marked as its home", fn->name ? fn->name : "a function");
}

void verify_bind(Verify *v, const IrStmt *s) {
    if (s->op >= IR_OP_COUNT)
        finding(v, VERIFY_MalformedNode, NULL, "operation %u", (unsigned)s->op);
    else if (IR_OPS[s->op].operands != (int)s->operand_count &&
             (IR_OPS[s->op].operands != OPERANDS_ANY || !operand_count_fits(s)))
        finding(v, VERIFY_MalformedNode, s, "%u operands", s->operand_count);
    else if (!imm_fits(v, s))
        finding(v, VERIFY_MalformedNode, s, "its immediate operand names nothing");
    else if (s->op == IR_CLOSURE)
        verify_closure(v, s);
    else if (s->op >= IR_GETSTATE && s->op <= IR_HASCV)
        verify_home_access(v, s);
    verify_bind_temp(v, s, s->temp);
}

/* ---- constructs ---- */

static bool construct_is_sound(Verify *v, const IrStmt *s) {
    if (s->construct_kind >= CONSTRUCT_KIND_COUNT) {
        finding(v, VERIFY_MalformedNode, NULL, "construct of kind %u", (unsigned)s->construct_kind);
        return false;
    }
    const IrConstructInfo *info = &IR_CONSTRUCTS[s->construct_kind];
    bool sound = s->operand_count == info->operands && s->frame_count == info->frame_count;
    for (uint32_t i = 0; sound && i < s->frame_count; i++)
        sound = s->frames[i] && s->frames[i]->kind == info->frames[i];
    if (!sound) finding(v, VERIFY_MalformedNode, s, "operands or frames are not those of a %s", info->name);
    if (s->construct >= v->fn->construct_count || v->constructs[s->construct]) {
        finding(v, VERIFY_MalformedNode, s, "construct c%u is there twice, or not counted", s->construct);
        return false;
    }
    v->constructs[s->construct] = 1;
    if (s->imm != BC_NONE && !const_is(v, s->imm, BC_SYMBOL))
        finding(v, VERIFY_MalformedNode, s, "the selector is no symbol");
    return sound;
}

static bool threads_has(const IrStmt *s, uint32_t local, uint32_t hint) {
    if (hint < s->thread_count && s->threads[hint] == local) return true;
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (s->threads[i] == local) return true;
    return false;
}

/* What a frame writes of the world outside must be handed on by the construct; loops hand round all of it. */
static void verify_threads(Verify *v, const IrStmt *s) {
    const IrConstructInfo *info = &IR_CONSTRUCTS[s->construct_kind];
    for (uint32_t f = 0; f < s->frame_count; f++) {
        const IrFrame *frame = s->frames[f];
        for (uint32_t i = 0; i < frame->thread_count; i++)
            if (!threads_has(s, frame->threads[i], i))
                finding(v, VERIFY_ThreadedLocalDropped, s, "a frame threads local %u, its construct does not",
                        frame->threads[i]);
        if (info->loop && frame->thread_count != s->thread_count)
            finding(v, VERIFY_MalformedNode, s, "a frame of a loop does not thread what the loop does");
    }
    for (uint32_t i = 0; i < s->thread_count; i++) {
        uint32_t local = s->threads[i];
        if (local < v->fn->local_count && !(info->carries & 1u << v->fn->locals[local].family))
            finding(v, VERIFY_UncarriedFamily, s, "a %s cannot carry what %s belongs to", info->name,
                    local_name(v, local));
    }
}

/* ---- behind a construct ---- */

static const IrStmt *stmt_at(const Verify *v, uint32_t index) {
    return index < v->frame->stmt_count ? v->frame->stmts[index] : NULL;
}

static void verify_discard(Verify *v, const IrStmt *s, uint32_t index) {
    v->expected_discard = true;
    const IrStmt *next = stmt_at(v, index + 2);
    if (v->frame->kind != FRAME_MethodBody || (next && next->kind != STMT_RETURN))
        finding(v, VERIFY_DiscardOutsideMethodBody, stmt_at(v, index + 1),
                "only the last expression of a method may drop what it rebinds");
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (s->threads[i] < v->fn->local_count)
            v->locals[s->threads[i]].discarded = v->locals[s->threads[i]].no_operand = true;
}

static void verify_rebinds(Verify *v, const IrStmt *s, uint32_t index) {
    const IrStmt *next = stmt_at(v, index + 1);
    if (next && next->kind == STMT_DISCARD && next->construct == s->construct) {
        verify_discard(v, s, index);
        return;
    }
    for (uint32_t i = 0; i < s->thread_count; i++) {
        next = stmt_at(v, index + 1 + i);
        bool fits = next && next->kind == STMT_REBIND && next->construct == s->construct &&
                    next->local == s->threads[i] && next->local < v->fn->local_count;
        if (!fits) {
            if (s->threads[i] < v->fn->local_count)
                finding(v, VERIFY_ThreadedLocalDropped, s, "%s is threaded, but no rebind picks it up",
                        local_name(v, s->threads[i]));
            break;
        }
        v->expected_rebinds++;
    }
}

void verify_construct(Verify *v, const IrStmt *s) {
    if (!construct_is_sound(v, s)) return;
    for (uint32_t i = 0; i < s->operand_count; i++) verify_atom(v, s, &s->operands[i]);
    bool region = s->construct_kind == CONSTRUCT_ONDO || s->construct_kind == CONSTRUCT_ENSURE;
    if (region && (!s->snapshot || !s->restore))
        finding(v, VERIFY_CatchWithoutClassVarRestore, s, "%s is missing",
                s->snapshot ? "the restore of the error edge" : "the snapshot at the entry");
    verify_threads(v, s);
    uint32_t index = v->index;
    for (uint32_t i = 0; i < s->frame_count; i++) verify_frame(v, s->frames[i], s);
    v->index = index;
    verify_bind_temp(v, s, s->temp);
    verify_rebinds(v, s, index);
}
