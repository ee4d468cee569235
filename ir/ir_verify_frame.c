/* The pass of the verifier over the frames of a function: versions, atoms, statements, constructs.
 *
 * `current` of a local is the version that a read must name here; `access` is the depth of the frame that may
 * write it: the frame that bound it, or one that threads it, all frames in between threading it as well. See
 * the version rule in ir.h.
 *
 * Most of what stands here runs once per atom: what is right takes the short way, what is strange is looked
 * at again to say why.
 */
#include "ir/verify_internal.h"

static inline bool valid_local(Verify *v, const IrStmt *s, uint32_t local) {
    if (local < v->fn->local_count) return true;
    finding(v, VERIFY_MalformedNode, s, "local %u of %u", local, v->fn->local_count);
    return false;
}

/* ---- reads ---- */

/* A read that does not name the newest version: what is wrong with it. */
static void stale_read(Verify *v, const IrStmt *s, uint32_t local, uint32_t version, bool operand_of_many) {
    const LocalState *l = &v->locals[local];
    const char *name = local_name(v, local);
    if (l->discarded)
        finding(v, VERIFY_StaleVersionRead, s,
                "%s@%u is read behind the discard of its rebinds; nothing may be read there", name, version);
    else if (l->current == UNBOUND)
        finding(
            v, VERIFY_UnboundVersion, s,
            "%s@%u is read, but %s is not bound here: it belongs to a frame that is over, or is set later",
            name, version, name);
    else if (version > l->current)
        finding(v, VERIFY_UnboundVersion, s, "%s@%u is read, but the newest version here is %s@%u", name,
                version, name, l->current);
    else if (operand_of_many && l->by_rebind)
        finding(v, VERIFY_LocalReadAfterSiblingRebind, s,
                "%s@%u is an operand, but a sibling has rebound it as %s@%u; a snap in front of the sibling "
                "is missing",
                name, version, name, l->current);
    else
        finding(v, VERIFY_StaleVersionRead, s,
                "%s@%u is read where %s@%u is the newest; only a snap in front of the write keeps it", name,
                version, name, l->current);
}

/* An atom that is not simply what is visible here: says what is wrong with it. */
static void strange_atom(Verify *v, const IrStmt *s, const IrAtom *at) {
    IrAtom atom = *at;
    switch (atom.kind) {
    case ATOM_TEMP:
        if (atom.index >= v->fn->temp_count)
            finding(v, VERIFY_MalformedNode, s, "temp t%u of %u", atom.index, v->fn->temp_count);
        else
            finding(v, VERIFY_UnboundVersion, s, "t%u is read, but nothing on the way here binds it",
                    atom.index);
        return;
    case ATOM_LOCAL: {
        if (!valid_local(v, s, atom.index)) return;
        if (v->fn->locals[atom.index].mode == LOCAL_CARRIER)
            finding(v, VERIFY_LocalRebindModeMismatch, s, "%s lies in a carrier and is read without a snap",
                    local_name(v, atom.index));
        bool operand =
            s && s->kind == STMT_BIND && at >= s->operands && at + 1 < s->operands + s->operand_count;
        const LocalState *l = &v->locals[atom.index];
        if (l->current != atom.version || l->discarded) stale_read(v, s, atom.index, atom.version, operand);
        return;
    }
    case ATOM_SELF:
        finding(v, VERIFY_StaleVersionRead, s, "the receiver is read where the local self has replaced it");
        return;
    default: finding(v, VERIFY_MalformedNode, s, "atom of kind %u", (unsigned)atom.kind);
    }
}

static inline bool atom_is_plain(const Verify *v, const IrAtom *atom) {
    uint32_t index = atom->index;
    switch (atom->kind) {
    case ATOM_TEMP: return index < v->fn->temp_count && v->open[v->temps[index].scope];
    case ATOM_LOCAL:
        return index < v->fn->local_count && v->locals[index].current == atom->version &&
               !v->locals[index].no_operand;
    case ATOM_SELF: return !v->self_replaced;
    default: return atom->kind <= ATOM_INT;
    }
}

void verify_atom(Verify *v, const IrStmt *s, const IrAtom *atom) {
    if (!atom_is_plain(v, atom)) strange_atom(v, s, atom);
}

/* ---- operands: bound, newest, and in the order of their evaluation ---- */

static void out_of_order(Verify *v, const IrStmt *s, uint32_t origin, uint32_t temp) {
    finding(v, VERIFY_LocalReadAfterSiblingRebind, s,
            "an operand reads a version that was made behind the begin of c%u, but c%u is part of t%u, which "
            "stands to "
            "its right; a snap in front of c%u is missing",
            origin - 1, origin - 1, temp, origin - 1);
}

/* Answers the first construct in the expression (TempState.origin). */
static inline uint32_t verify_operands(Verify *v, const IrStmt *s) {
    uint32_t first = 0, made = 0; /* made: the newest maker of what the operands so far have read */
    for (const IrAtom *at = s->operands, *end = at + s->operand_count; at < end; at++) {
        if (!atom_is_plain(v, at)) {
            strange_atom(v, s, at);
        } else if (at->kind == ATOM_TEMP) {
            uint32_t origin = v->temps[at->index].origin;
            if (!origin) continue;
            if (origin & KEPT) {
                if ((origin & ~KEPT) > made) made = origin & ~KEPT;
                continue;
            }
            if (origin <= made && s->kind == STMT_BIND && !op_is_unordered(s->op))
                out_of_order(v, s, origin, at->index);
            if (!first || origin < first) first = origin;
        } else if (at->kind == ATOM_LOCAL && v->locals[at->index].maker > made) {
            made = v->locals[at->index].maker;
        }
    }
    return first;
}

/* ---- what is bound ---- */

static inline void bind_temp(Verify *v, const IrStmt *s, uint32_t temp, uint32_t origin) {
    if (temp >= v->fn->temp_count) {
        finding(v, VERIFY_MalformedNode, s, "temp t%u of %u", temp, v->fn->temp_count);
        return;
    }
    if (v->temps[temp].scope >= v->first_scope)
        finding(v, VERIFY_NonLinearVersion, s, "t%u is bound twice", temp);
    v->temps[temp] = (TempState){v->scope, origin};
}

static inline void push_bound(Verify *v, uint32_t local) {
    if (v->bound_count < v->bound_capacity ||
        verify_grow(v, &v->bound, &v->bound_capacity, sizeof *v->bound, v->bound_count + 1))
        v->bound[v->bound_count++] = local;
}

static void first_version(Verify *v, LocalState *l, uint32_t local) {
    l->access = v->depth;
    push_bound(v, local);
    if (v->fn->locals[local].family == FAMILY_SELFVT) v->self_replaced = true;
}

/* The next version of a local, by a Set or Rebind in the frame at hand. */
static inline void mint_version(Verify *v, const IrStmt *s, uint32_t local, uint32_t version) {
    LocalState *l = &v->locals[local];
    if (version != l->counter + 1)
        finding(v, VERIFY_NonLinearVersion, s,
                "%s@%u is bound, but its next version is %u: one is missing, doubled or out of place",
                local_name(v, local), version, l->counter + 1);
    if (version > l->counter && version != UNBOUND) l->counter = version;
    if (l->current == UNBOUND)
        first_version(v, l, local);
    else if (l->access != v->depth)
        finding(
            v, VERIFY_ThreadedLocalDropped, s,
            "%s is written here, but a frame around does not list it in its threads: the write would be lost",
            local_name(v, local));
    l->current = version;
    l->maker = v->next_construct;
    l->by_rebind = s->kind == STMT_REBIND;
}

/* ---- statements ---- */

static void verify_set(Verify *v, const IrStmt *s) {
    if (s->operand_count != 1)
        finding(v, VERIFY_MalformedNode, s, "an assignment of %u values", s->operand_count);
    if (!valid_local(v, s, s->local)) return;
    const IrFunction *fn = v->fn;
    if (fn->locals[s->local].family == FAMILY_SELFVT &&
        (fn->class_side || fn->home_kind == FN_SCRIPT || fn->home_kind == FN_ACTOR_METHOD))
        finding(v, VERIFY_UncarriedFamily, s,
                "only instance methods of values have a self that can be replaced");
    mint_version(v, s, s->local, s->version);
}

static void verify_snap(Verify *v, const IrStmt *s) {
    uint32_t maker = 0;
    if (valid_local(v, s, s->local)) {
        const LocalState *l = &v->locals[s->local];
        if (l->current != s->version || l->discarded) stale_read(v, s, s->local, s->version, false);
        maker = l->maker;
    }
    bind_temp(v, s, s->temp, KEPT | maker);
}

static void verify_leaving(Verify *v, const IrStmt *s) {
    if (v->index + 1 < v->frame->stmt_count || !v->frame->ends)
        finding(v, VERIFY_MalformedNode, s, "it leaves the frame, but the frame goes on");
}

static void verify_return(Verify *v, const IrStmt *s) {
    verify_leaving(v, s);
    if (s->operand_count != 1)
        finding(v, VERIFY_MalformedNode, s, "%u values are returned", s->operand_count);
    bool block = v->fn->kind == FN_BLOCK, nonlocal = s->kind == STMT_NONLOCAL;
    if (block && !nonlocal)
        finding(v, VERIFY_EarlyExitGateSlotMismatch, s,
                "a ^ inside a block leaves the block instead of its home; the block's own answer is the "
                "value of its body");
    if (!block && nonlocal)
        finding(v, VERIFY_EarlyExitGateSlotMismatch, s,
                "a ^ of a method unwinds to a home that it does not have; the method itself returns");
    if (nonlocal) note_nonlocal(v);
}

static void verify_fail(Verify *v, const IrStmt *s) {
    verify_leaving(v, s);
    if (s->flags > FAIL_STATEFUL_BLOCK || s->operand_count > 1)
        finding(v, VERIFY_MalformedNode, s, "failure %u with %u operands", s->flags, s->operand_count);
    else if (s->flags >= FAIL_COMPILE_ERROR && !const_is(v, s->imm, BC_STRING))
        finding(v, VERIFY_MalformedNode, s, "a failure without a text");
    if (s->flags == FAIL_STATEFUL_BLOCK && v->fn->kind == FN_BLOCK)
        v->functions[v->fn_index].needs |= FN_WRITES_OUTER;
}

static void malformed_op(Verify *v, const IrStmt *s) {
    if (s->op >= IR_OP_COUNT)
        finding(v, VERIFY_MalformedNode, NULL, "operation %u", (unsigned)s->op);
    else if (!operand_count_fits(s))
        finding(v, VERIFY_MalformedNode, s, "%u operands", s->operand_count);
    else
        finding(v, VERIFY_MalformedNode, s, "its immediate operand names nothing");
}

static inline void verify_bind(Verify *v, const IrStmt *s) {
    uint32_t origin = s->operand_count ? verify_operands(v, s) : 0;
    bool sound = s->op < IR_OP_COUNT;
    if (sound) {
        const IrOpInfo *op = &IR_OPS[s->op];
        sound = op->operands == (int)s->operand_count || operand_count_fits(s);
        if (op->imm != '-') sound = sound && imm_fits(v, s);
    }
    if (!sound)
        malformed_op(v, s);
    else if (s->op == IR_CLOSURE)
        verify_closure(v, s);
    else if (s->op >= IR_GETSTATE && s->op <= IR_HASCV)
        verify_home_access(v, s);
    bind_temp(v, s, s->temp, origin);
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
    if (s->construct >= v->fn->construct_count || s->construct < v->next_construct) {
        finding(v, VERIFY_MalformedNode, s, "construct c%u is there twice, out of order, or not counted",
                s->construct);
        return false;
    }
    v->next_construct = s->construct + 1;
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
            if (!threads_has(s, frame->threads[i], i) && valid_local(v, s, frame->threads[i]))
                finding(v, VERIFY_ThreadedLocalDropped, s,
                        "its %s threads %s, but the construct does not hand it on",
                        IR_FRAME_NAMES[frame->kind], local_name(v, frame->threads[i]));
        if (info->loop && frame->thread_count != s->thread_count)
            finding(v, VERIFY_MalformedNode, s, "its %s does not thread all that the loop does",
                    IR_FRAME_NAMES[frame->kind]);
    }
    for (uint32_t i = 0; i < s->thread_count; i++) {
        uint32_t local = s->threads[i];
        if (local < v->fn->local_count && !(info->carries & 1u << v->fn->locals[local].family))
            finding(v, VERIFY_UncarriedFamily, s, "a %s does not declare that it carries the family of %s",
                    info->name, local_name(v, local));
    }
}

static void verify_discard(Verify *v, const IrStmt *s, uint32_t index) {
    const IrFrame *frame = v->frame;
    bool last = index + 2 == frame->stmt_count || frame->stmts[index + 2]->kind == STMT_RETURN;
    if (frame->kind != FRAME_MethodBody || !last)
        finding(
            v, VERIFY_DiscardOutsideMethodBody, frame->stmts[index + 1],
            frame->kind != FRAME_MethodBody
                ? "a %s hands its locals on; only the last expression of a method may drop what it rebinds"
                : "more of the %s follows; only its last expression may drop what it rebinds",
            IR_FRAME_NAMES[frame->kind]);
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (s->threads[i] < v->fn->local_count)
            v->locals[s->threads[i]].discarded = v->locals[s->threads[i]].no_operand = true;
}

/* The rebinds behind a construct, one for each thread in order, or one discard. Answers how many statements
 * that is. */
static uint32_t verify_rebinds(Verify *v, const IrStmt *s, uint32_t index) {
    IrStmt **at = v->frame->stmts + index + 1, **end = v->frame->stmts + v->frame->stmt_count;
    if (at < end && (*at)->kind == STMT_DISCARD && (*at)->construct == s->construct) {
        verify_discard(v, s, index);
        return 1;
    }
    for (uint32_t i = 0; i < s->thread_count; i++, at++) {
        uint32_t local = s->threads[i];
        if (local >= v->fn->local_count) return i; /* reported where the frames list it */
        if (at >= end || (*at)->kind != STMT_REBIND || (*at)->construct != s->construct ||
            (*at)->local != local) {
            finding(v, VERIFY_ThreadedLocalDropped, s,
                    "%s is threaded, but the statement behind is not its rebind from c%u",
                    local_name(v, local), s->construct);
            return i;
        }
        v->index++;
        mint_version(v, *at, local, (*at)->version);
    }
    return s->thread_count;
}

static void verify_frame(Verify *v, const IrFrame *frame, const IrStmt *construct);

static void verify_construct(Verify *v, const IrStmt *s) {
    uint32_t index = v->index, origin = s->construct + 1;
    if (!construct_is_sound(v, s)) return;
    if (s->operand_count) {
        uint32_t first = verify_operands(v, s);
        if (first && first < origin) origin = first;
    }
    bool region = s->construct_kind == CONSTRUCT_ONDO || s->construct_kind == CONSTRUCT_ENSURE;
    if (region && (!s->snapshot || !s->restore))
        finding(v, VERIFY_CatchWithoutClassVarRestore, s,
                "%s is missing: class variables, state and carriers of the failed body would stay",
                s->snapshot ? "the restore of the error edge" : "the snapshot at the entry");
    for (uint32_t i = 0; i < s->frame_count; i++) verify_frame(v, s->frames[i], s);
    v->index = index;
    bind_temp(v, s, s->temp, origin);
    if (!s->thread_count && !s->frames[0]->thread_count && !s->frames[s->frame_count - 1]->thread_count)
        return;
    verify_threads(v, s);
    v->index = index + verify_rebinds(v, s, index);
}

static void verify_stmt(Verify *v, const IrStmt *s) {
    switch (s->kind) {
    case STMT_BIND: verify_bind(v, s); return;
    case STMT_SNAP: verify_snap(v, s); break;
    case STMT_SET:
        if (s->operand_count) (void)verify_operands(v, s);
        verify_set(v, s);
        return;
    case STMT_CONSTRUCT: verify_construct(v, s); return;
    case STMT_REBIND:
        finding(v, VERIFY_StateEffectEscapesExpression, s,
                "the rebind does not stand behind c%u, whose effect it is", s->construct);
        break;
    case STMT_DISCARD:
        finding(v, VERIFY_StateEffectEscapesExpression, s, "the discard does not stand behind c%u",
                s->construct);
        break;
    case STMT_RETURN:
    case STMT_NONLOCAL: verify_return(v, s); break;
    case STMT_FAIL: verify_fail(v, s); break;
    default: finding(v, VERIFY_MalformedNode, NULL, "statement of kind %u", (unsigned)s->kind); break;
    }
    if (s->operand_count) (void)verify_operands(v, s);
}

/* ---- frames ---- */

/* The entry version of a threaded local. */
static void thread_local_in(Verify *v, const IrStmt *s, uint32_t local) {
    if (!valid_local(v, s, local)) return;
    LocalState *l = &v->locals[local];
    if (l->current == UNBOUND)
        finding(v, VERIFY_UnboundVersion, s, "%s is threaded but not bound in front of the construct",
                local_name(v, local));
    else if (l->access + 1 != v->depth)
        finding(v, VERIFY_ThreadedLocalDropped, s,
                l->access == v->depth ? "%s is threaded twice"
                                      : "%s is threaded by an inner frame, but not by the frame around it",
                local_name(v, local));
    if (v->saved_count == v->saved_capacity &&
        !verify_grow(v, &v->saved, &v->saved_capacity, sizeof *v->saved, v->saved_count + 1))
        return;
    v->saved[v->saved_count++] = (SavedLocal){local, l->current, l->access, l->maker, l->by_rebind};
    l->current = ++l->counter;
    l->access = v->depth;
    l->maker = v->next_construct;
    l->by_rebind = false;
}

static void bind_index(Verify *v, const IrStmt *s) {
    if (!valid_local(v, s, s->index_local)) return;
    LocalState *l = &v->locals[s->index_local];
    const IrLocal *local = &v->fn->locals[s->index_local];
    if (local->mode != LOCAL_REGISTER)
        finding(v, VERIFY_LocalRebindModeMismatch, s,
                "the index of a counted loop does not live in a register");
    if (local->family != FAMILY_LOCAL)
        finding(v, VERIFY_UncarriedFamily, s, "the index of a counted loop is no ordinary local");
    if (l->current != UNBOUND) {
        finding(v, VERIFY_ThreadedLocalDropped, s, "the index %s is a local from outside the loop",
                local_name(v, s->index_local));
        return;
    }
    l->current = ++l->counter;
    l->access = v->depth;
    l->maker = v->next_construct;
    l->by_rebind = false;
    push_bound(v, s->index_local);
}

static inline void leave_frame(Verify *v, uint32_t bound, uint32_t saved) {
    while (v->bound_count > bound) {
        LocalState *l = &v->locals[v->bound[--v->bound_count]];
        l->current = l->access = UNBOUND;
    }
    while (v->saved_count > saved) {
        const SavedLocal *s = &v->saved[--v->saved_count];
        LocalState *l = &v->locals[s->local];
        l->current = s->current;
        l->access = s->access;
        l->maker = s->maker;
        l->by_rebind = s->by_rebind;
    }
}

static bool leaves(IrStmtKind kind) {
    return kind == STMT_RETURN || kind == STMT_NONLOCAL || kind == STMT_FAIL;
}

static inline void verify_statements(Verify *v, const IrFrame *frame) {
    for (v->index = 0; v->index < frame->stmt_count && !v->stop; v->index++)
        verify_stmt(v, frame->stmts[v->index]);
    if (!frame->ends) {
        verify_atom(v, NULL, &frame->value);
    } else if (!frame->stmt_count || !leaves(frame->stmts[frame->stmt_count - 1]->kind)) {
        finding(v, VERIFY_MalformedNode, NULL, "a frame that ends without leaving");
    }
}

static inline bool open_scope(Verify *v) {
    v->scope = ++v->scopes;
    if (v->scope >= v->open_capacity && !verify_grow(v, &v->open, &v->open_capacity, 1, v->scope + 1))
        return false;
    v->open[v->scope] = 1;
    return true;
}

/* `construct` is NULL for the body of a function. */
static void verify_frame(Verify *v, const IrFrame *frame, const IrStmt *construct) {
    if (v->depth == IR_MAX_DEPTH) {
        finding(v, VERIFY_MalformedNode, construct, "frames nest deeper than %d", IR_MAX_DEPTH);
        return;
    }
    const IrFrame *outer = v->frame;
    uint32_t bound = v->bound_count, saved = v->saved_count, scope = v->scope;
    if (!open_scope(v)) return;
    v->depth++;
    v->frame = frame;
    for (uint32_t i = 0; i < frame->thread_count; i++) thread_local_in(v, construct, frame->threads[i]);
    if (construct && construct->construct_kind == CONSTRUCT_COUNT) bind_index(v, construct);
    if (frame->kind == FRAME_Handler && construct) bind_temp(v, construct, construct->exception, 0);
    verify_statements(v, frame);
    leave_frame(v, bound, saved);
    v->open[v->scope] = 0;
    v->scope = scope;
    v->frame = outer;
    v->depth--;
}

void verify_body(Verify *v) { verify_frame(v, v->fn->body, NULL); }
