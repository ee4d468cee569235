/* The verifier's reading of the tables, and of what one function says of another: operations, closures,
 * carriers. */
#include "ir/verify_internal.h"

/* ---- operations ---- */

bool operand_count_fits(const IrStmt *s) {
    if (IR_OPS[s->op].operands != OPERANDS_ANY) return IR_OPS[s->op].operands == (int)s->operand_count;
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

bool imm_fits(const Verify *v, const IrStmt *s) {
    switch (IR_OPS[s->op].imm) {
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

/* A flag of the block at hand and of all blocks around it. */
static void note_blocks(Verify *v, uint32_t at, uint32_t end, uint8_t flag) {
    for (; at != BC_NONE && at != end && v->unit->functions[at]->kind == FN_BLOCK; at = creator_of(v, at))
        v->functions[at].needs |= flag;
}

/* Actor state and class variables: only where such a home exists; a block knows a value for when it is away.
 */
void verify_home_access(Verify *v, const IrStmt *s) {
    const IrFunction *fn = v->fn;
    bool state = s->op == IR_GETSTATE || s->op == IR_SETSTATE,
         write = s->op == IR_SETSTATE || s->op == IR_SETCV;
    if (state && (fn->class_side || fn->home_kind != FN_ACTOR_METHOD))
        finding(v, VERIFY_ActorStateInClassMethod, s, "the method is no instance method of an actor");
    if (!state && !fn->class_side)
        finding(v, VERIFY_MalformedNode, s, "a class variable outside the class side");
    bool block = fn->kind == FN_BLOCK;
    if (block != ((s->flags & SITE_IN_BLOCK) != 0))
        finding(v, VERIFY_MalformedNode, s,
                block ? "a block may be away from home, and the access does not say that it stands in one"
                      : "the access stands in no block");
    else if (block && !write && !has_capture(fn, state ? CAP_STATE : CAP_CLASS_VAR, s->imm))
        finding(v, VERIFY_MalformedNode, s, "the block has no capture to fall back on");
    if (s->op == IR_SETSTATE) note_blocks(v, v->fn_index, BC_NONE, FN_ACTOR_FIELDS);
}

/* ---- carriers ---- */

bool carrier_is_there(Verify *v, uint32_t function, CarrierPlace place) {
    uint32_t level = 0, at = function;
    note_blocks(v, function, place.owner.function, FN_WRITES_OUTER);
    while (at != place.owner.function) {
        if (at == BC_NONE || v->unit->functions[at]->kind != FN_BLOCK) return false;
        level += (v->unit->functions[at]->flags & FN_HAS_CARRIERS) != 0;
        at = creator_of(v, at);
    }
    const IrFunction *fn = v->unit->functions[at];
    if (level != place.level || place.owner.local >= fn->local_count) return false;
    const IrLocal *local = &fn->locals[place.owner.local];
    return local->mode == LOCAL_CARRIER && !local->outer && local->carrier == place.carrier;
}

/* ---- closures ---- */

static void verify_capture(Verify *v, const IrStmt *s, const IrFunction *block, uint32_t i) {
    const BcCapture *c = &block->captures[i];
    bool fits = true;
    switch (c->kind) {
    case CAP_REGISTER: verify_atom(v, s, &block->capture_atoms[i]); break;
    case CAP_CAPTURE: fits = c->index < v->fn->capture_count; break;
    case CAP_CARRIER:
        if (!carrier_is_there(v, v->fn_index,
                              (CarrierPlace){block->capture_owners[i], c->index, c->fallback}))
            finding(v, VERIFY_LocalRebindModeMismatch, s,
                    "capture %u of the block takes carrier %u, and the local it names does not lie there", i,
                    c->index);
        break;
    case CAP_STATE:
    case CAP_CLASS_VAR:
        fits = const_is(v, c->name, BC_SYMBOL) &&
               (c->fallback == BC_NO_CAPTURE || c->fallback < v->fn->capture_count);
        break;
    default: fits = false;
    }
    if (!fits) finding(v, VERIFY_MalformedNode, s, "capture %u of the block names nothing", i);
}

/* A block is made in one place, after the function around it: so creators form trees. */
void verify_closure(Verify *v, const IrStmt *s) {
    if (s->imm >= v->unit->function_count || s->imm <= v->fn_index) {
        finding(v, VERIFY_MalformedNode, s, "function %u cannot be a block here", s->imm);
        return;
    }
    const IrFunction *block = v->unit->functions[s->imm];
    bool builder = block->flags & FN_BUILDER;
    if (block->kind != FN_BLOCK && !builder) {
        finding(v, VERIFY_MalformedNode, s, "function %u is no block", s->imm);
        return;
    }
    if (!builder && (block->home_kind != v->fn->home_kind || block->class_side != v->fn->class_side))
        finding(v, VERIFY_MalformedNode, s, "block %u has another home than the function that makes it",
                s->imm);
    if (creator_of(v, s->imm) != BC_NONE)
        finding(v, VERIFY_MalformedNode, s, "the closures of block %u are made in two places", s->imm);
    v->functions[s->imm].maker = v->fn_index + 1;
    for (uint32_t i = 0; i < block->capture_count; i++) verify_capture(v, s, block, i);
}

void note_nonlocal(Verify *v) {
    uint32_t at = v->fn_index;
    while (at != BC_NONE && v->unit->functions[at]->kind == FN_BLOCK) at = creator_of(v, at);
    if (at != BC_NONE) v->functions[at].needs |= FN_NLR_HOME;
}

void verify_landing(Verify *v, const IrStmt *s) {
    const IrFrame *frame = s->frames[0];
    if (v->fn->kind != FN_SCRIPT || v->depth != 1)
        finding(v, VERIFY_EarlyExitGateSlotMismatch, s, "only a script itself has a place where a ^ arrives");
    if (!frame->ends) finding(v, VERIFY_EarlyExitGateSlotMismatch, s, "the script would go on behind a ^");
    for (uint32_t i = 0; i < frame->stmt_count; i++)
        for (uint32_t k = 0; k < frame->stmts[i]->operand_count; k++) {
            IrAtom atom = frame->stmts[i]->operands[k];
            if (atom.kind == ATOM_LOCAL && atom.index < v->fn->local_count &&
                v->fn->locals[atom.index].versions)
                finding(v, VERIFY_StaleVersionRead, frame->stmts[i],
                        "%s is written later, and lies in no carrier: a ^ would find an older version",
                        local_name(v, atom.index));
        }
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (s->threads[i] < v->fn->local_count && v->fn->locals[s->threads[i]].mode != LOCAL_CARRIER)
            finding(v, VERIFY_LocalRebindModeMismatch, s, "%s lies in no carrier",
                    local_name(v, s->threads[i]));
}
