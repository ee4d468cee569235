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

#define HOT static inline __attribute__((always_inline))

/* ---- reads ---- */

void verify_atom(Verify *v, const IrStmt *s, const IrAtom *atom) {
    uint32_t index = atom->index;
    bool plain;
    switch (atom->kind) {
    case ATOM_TEMP: plain = index < v->fn->temp_count && v->open[v->temps[index].scope]; break;
    case ATOM_LOCAL:
        plain = index < v->fn->local_count && v->locals[index].current == atom->version &&
                !(v->locals[index].flags & NO_OPERAND);
        break;
    case ATOM_SELF: plain = !v->self_replaced; break;
    default: plain = atom->kind <= ATOM_INT;
    }
    if (!plain) strange_atom(v, s, atom);
}

/* What the loop over the statements of a frame keeps at hand, instead of asking Verify for it at every atom.
 */
typedef struct {
    TempState *temps;
    LocalState *locals;
    const uint8_t *open;
    uint32_t temp_count, local_count;
} Hot;

static inline Hot hot_of(const Verify *v) {
    return (Hot){v->temps, v->locals, v->open, v->fn->temp_count, v->fn->local_count};
}

/* ---- operands: bound, newest, and in the order of their evaluation ---- */

/* The begin of an expression: its first construct, and the newest maker of what has been read so far. */
typedef struct {
    uint32_t first, made;
} Order;

/* Says of an atom what verify_atom says. */
HOT void verify_operand(Verify *v, Hot h, const IrStmt *s, const IrAtom *at, Order *o) {
    uint32_t index = at->index;
    if (at->kind == ATOM_TEMP && index < h.temp_count && h.open[h.temps[index].scope]) {
        uint32_t origin = h.temps[index].origin;
        if (!origin) return;
        if (origin & KEPT) {
            if ((origin & ~KEPT) > o->made) o->made = origin & ~KEPT;
            return;
        }
        if (origin <= o->made) out_of_order(v, s, origin, index);
        if (!o->first || origin < o->first) o->first = origin;
    } else if (at->kind == ATOM_LOCAL && index < h.local_count && h.locals[index].current == at->version &&
               !(h.locals[index].flags & NO_OPERAND)) {
        if (h.locals[index].maker > o->made) o->made = h.locals[index].maker;
    } else if (at->kind < ATOM_NIL || at->kind > ATOM_INT) {
        if (at->kind != ATOM_SELF || v->self_replaced) strange_atom(v, s, at);
    }
}

/* Answers the first construct in the expression (TempState.origin). */
HOT uint32_t verify_operands(Verify *v, Hot h, const IrStmt *s) {
    Order o = {0, 0};
    const IrAtom *at = s->operands;
    uint32_t count = s->operand_count;
    if (count) verify_operand(v, h, s, at, &o);
    if (count == 2) verify_operand(v, h, s, at + 1, &o);
    for (uint32_t i = 1; count > 2 && i < count; i++) verify_operand(v, h, s, at + i, &o);
    return o.first;
}

/* ---- what is bound ---- */

HOT void bind_temp(Verify *v, Hot h, const IrStmt *s, uint32_t temp, uint32_t origin) {
    if (temp < h.temp_count && h.temps[temp].scope < v->first_scope)
        h.temps[temp] = (TempState){v->scope, origin};
    else
        bad_temp(v, s, temp);
}

static inline void push_bound(Verify *v, uint32_t local) {
    if (v->depth == 1) return; /* what the body binds stays to the end */
    if (v->bound_count < v->bound_capacity ||
        verify_grow(v, &v->bound, &v->bound_capacity, sizeof *v->bound, v->bound_count + 1))
        v->bound[v->bound_count++] = local;
}

/* The next version of a local, by a Set or Rebind in the frame at hand. */
HOT void mint_version(Verify *v, Hot h, const IrStmt *s, uint32_t local, uint32_t version, uint16_t by) {
    LocalState *l = &h.locals[local];
    if (l->current == UNBOUND) {
        l->access = (uint16_t)v->depth;
        push_bound(v, local);
        if (v->fn->locals[local].family == FAMILY_SELFVT) v->self_replaced = true;
    }
    if (version != l->counter + 1 || l->access != v->depth) bad_write(v, s, local, version);
    if (version > l->counter && version != UNBOUND) l->counter = version;
    l->current = version;
    l->maker = v->next_construct;
    l->flags = (uint16_t)((l->flags & ~BY_REBIND) | by);
}

/* ---- statements ---- */

static __attribute__((noinline)) void verify_set_self(Verify *v, const IrStmt *s) {
    const IrFunction *fn = v->fn;
    if (fn->class_side || fn->home_kind == FN_SCRIPT || fn->home_kind == FN_ACTOR_METHOD)
        finding(v, VERIFY_UncarriedFamily, s,
                "only instance methods of values have a self that can be replaced");
}

HOT void verify_set(Verify *v, Hot h, const IrStmt *s) {
    (void)verify_operands(v, h, s);
    if (s->operand_count != 1) malformed_set(v, s);
    if (!valid_local(v, s, s->local)) return;
    if (v->fn->locals[s->local].family != FAMILY_LOCAL) verify_set_self(v, s);
    mint_version(v, h, s, s->local, s->version, 0);
}

HOT void verify_snap(Verify *v, Hot h, const IrStmt *s) {
    uint32_t maker = 0;
    if (valid_local(v, s, s->local)) {
        const LocalState *l = &h.locals[s->local];
        if (l->current != s->version || (l->flags & DISCARDED)) stale_read(v, s, s->local, s->version, false);
        maker = l->maker;
    }
    bind_temp(v, h, s, s->temp, KEPT | maker);
}

static void verify_return(Verify *v, const IrStmt *s) {
    if (s->operand_count != 1)
        finding(v, VERIFY_MalformedNode, s, "%u values are returned", s->operand_count);
    bool block = v->fn->kind == FN_BLOCK, nonlocal = s->kind == STMT_NONLOCAL;
    if (block && !nonlocal)
        finding(
            v, VERIFY_EarlyExitGateSlotMismatch, s,
            "a ^ inside a block leaves the block instead of its home; the block's own answer is the value of "
            "its body");
    if (!block && nonlocal)
        finding(v, VERIFY_EarlyExitGateSlotMismatch, s,
                "a ^ of a method unwinds to a home that it does not have; the method itself returns");
    if (nonlocal) note_nonlocal(v);
}

static void verify_fail(Verify *v, const IrStmt *s) {
    if (s->flags > FAIL_STATEFUL_BLOCK || s->operand_count > 1)
        finding(v, VERIFY_MalformedNode, s, "failure %u with %u operands", s->flags, s->operand_count);
    else if (s->flags >= FAIL_COMPILE_ERROR && !const_is(v, s->imm, BC_STRING))
        finding(v, VERIFY_MalformedNode, s, "a failure without a text");
    if (s->flags == FAIL_STATEFUL_BLOCK && v->fn->kind == FN_BLOCK)
        v->functions[v->fn_index].needs |= FN_WRITES_OUTER;
}

static inline bool leaves(IrStmtKind kind) {
    return kind == STMT_RETURN || kind == STMT_NONLOCAL || kind == STMT_FAIL;
}

/* What ends a frame, and what should have been taken together with its construct. */
static void verify_leaving(Verify *v, const IrStmt *s, bool last) {
    if (leaves(s->kind) && !last)
        finding(v, VERIFY_MalformedNode, s, "it leaves the frame, but the frame goes on");
    switch (s->kind) {
    case STMT_RETURN:
    case STMT_NONLOCAL: verify_return(v, s); return;
    case STMT_FAIL: verify_fail(v, s); return;
    case STMT_REBIND:
        finding(v, VERIFY_StateEffectEscapesExpression, s,
                "the rebind does not stand behind c%u, whose effect it is", s->construct);
        return;
    case STMT_DISCARD:
        finding(v, VERIFY_StateEffectEscapesExpression, s, "the discard does not stand behind c%u",
                s->construct);
        return;
    default: finding(v, VERIFY_MalformedNode, NULL, "statement of kind %u", (unsigned)s->kind);
    }
}

static void malformed_op(Verify *v, const IrStmt *s) {
    if (s->op >= IR_OP_COUNT)
        finding(v, VERIFY_MalformedNode, NULL, "operation %u", (unsigned)s->op);
    else if (!operand_count_fits(s))
        finding(v, VERIFY_MalformedNode, s, "%u operands", s->operand_count);
    else
        finding(v, VERIFY_MalformedNode, s, "its immediate operand names nothing");
}

/* What is to be looked at in an operation beyond its operands: nothing if there are so many of them; SEND:
 * that its selector is one; ODD: the tables. */
enum { CHECK_SEND = 1 << 30, CHECK_ODD };
static const uint32_t OP_CHECKS[IR_OP_COUNT] = {
#define V OPERANDS_ANY
#define IROP(name, operands, imm, effects, doc)                                                              \
    [IR_##name] = (operands) == OPERANDS_ANY ? ((imm) == 'N' ? CHECK_SEND : CHECK_ODD)                       \
                                             : ((imm) == '-' ? (uint32_t)(operands) : CHECK_ODD),
#include "ir/ir_ops.def"
#undef IROP
#undef V
};

static __attribute__((noinline)) void verify_odd_op(Verify *v, const IrStmt *s) {
    if (s->op >= IR_OP_COUNT || !operand_count_fits(s) || !imm_fits(v, s))
        malformed_op(v, s);
    else if (s->op == IR_CLOSURE)
        verify_closure(v, s);
    else if (s->op >= IR_GETSTATE && s->op <= IR_HASCV)
        verify_home_access(v, s);
}

HOT void verify_bind(Verify *v, Hot h, const IrStmt *s) {
    uint32_t origin = verify_operands(v, h, s), check = s->op < IR_OP_COUNT ? OP_CHECKS[s->op] : CHECK_ODD;
    bool plain = check == s->operand_count ||
                 (check == CHECK_SEND && s->operand_count && const_is(v, s->imm, BC_SYMBOL));
    if (!plain) verify_odd_op(v, s);
    bind_temp(v, h, s, s->temp, origin);
}

/* ---- constructs ---- */

/* Its description in the tables; NULL: it is not worth a second look. */
static inline const IrConstructInfo *construct_info(Verify *v, const IrStmt *s) {
    const IrConstructInfo *info =
        s->construct_kind < CONSTRUCT_KIND_COUNT ? &IR_CONSTRUCTS[s->construct_kind] : NULL;
    bool sound = info && s->operand_count == info->operands && s->frame_count == info->frame_count &&
                 s->construct < v->fn->construct_count && s->construct >= v->next_construct &&
                 (s->imm == BC_NONE || const_is(v, s->imm, BC_SYMBOL));
    for (uint32_t i = 0; sound && i < s->frame_count; i++)
        sound = s->frames[i] && s->frames[i]->kind == info->frames[i];
    if (sound) {
        v->next_construct = s->construct + 1;
        return info;
    }
    unsound_construct(v, s, info);
    return NULL;
}

static bool threads_has(const IrStmt *s, uint32_t local) {
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (s->threads[i] == local) return true;
    return false;
}

/* What a frame writes of the world outside must be handed on by the construct; loops hand round all of it. */
static inline void verify_threads(Verify *v, const IrStmt *s, const IrConstructInfo *info) {
    for (uint32_t f = 0; f < s->frame_count; f++) {
        const IrFrame *frame = s->frames[f];
        for (uint32_t i = 0; i < frame->thread_count; i++)
            if ((i >= s->thread_count || s->threads[i] != frame->threads[i]) &&
                !threads_has(s, frame->threads[i]))
                dropped_thread(v, s, frame, frame->threads[i]);
        if (info->loop && frame->thread_count != s->thread_count)
            finding(v, VERIFY_MalformedNode, s, "its %s does not thread all that the loop does",
                    IR_FRAME_NAMES[frame->kind]);
    }
}

static void verify_discard(Verify *v, const IrStmt *s, IrStmt *const *at) {
    const IrFrame *frame = v->frame;
    bool last = at + 2 == frame->stmts + frame->stmt_count || at[2]->kind == STMT_RETURN;
    if (frame->kind != FRAME_MethodBody || !last)
        finding(
            v, VERIFY_DiscardOutsideMethodBody, at[1],
            frame->kind != FRAME_MethodBody
                ? "a %s hands its locals on; only the last expression of a method may drop what it rebinds"
                : "more of the %s follows; only its last expression may drop what it rebinds",
            IR_FRAME_NAMES[frame->kind]);
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (s->threads[i] < v->fn->local_count) v->locals[s->threads[i]].flags |= DISCARDED | NO_OPERAND;
}

/* The rebinds behind a construct, one for each thread in order, or one discard. Answers how many statements
 * that is. `at`: the construct. */
HOT uint32_t verify_rebinds(Verify *v, Hot h, const IrStmt *s, const IrConstructInfo *info,
                            IrStmt *const *at) {
    IrStmt *const *end = v->frame->stmts + v->frame->stmt_count, *const *next = at + 1;
    if (next < end && (*next)->kind == STMT_DISCARD && (*next)->construct == s->construct) {
        verify_discard(v, s, at);
        return 1;
    }
    for (uint32_t i = 0; i < s->thread_count; i++, next++) {
        uint32_t local = s->threads[i];
        if (local >= h.local_count) return i; /* reported where the frames list it */
        if (!(info->carries & 1u << v->fn->locals[local].family)) uncarried(v, s, info, local);
        const IrStmt *rebind = next < end ? *next : s;
        if (rebind->kind != STMT_REBIND || rebind->construct != s->construct || rebind->local != local) {
            missing_rebind(v, s, local);
            return i;
        }
        mint_version(v, h, rebind, local, rebind->version, BY_REBIND);
    }
    return s->thread_count;
}

static void verify_frame(Verify *v, const IrFrame *frame, const IrStmt *construct);

/* An arm without statements that answers nil, a Boolean or a number: nothing in it could be wrong. */
static inline bool is_constant(const IrFrame *frame) {
    return frame->kind == FRAME_BranchArm && !frame->stmt_count && !frame->thread_count && !frame->ends &&
           frame->value.kind >= ATOM_NIL && frame->value.kind <= ATOM_INT;
}

/* Answers how many statements behind it belong to it. */
static uint32_t verify_construct(Verify *v, Hot h, const IrStmt *s, IrStmt *const *at) {
    uint32_t origin = s->construct + 1;
    const IrConstructInfo *info = construct_info(v, s);
    if (!info) return 0;
    uint32_t first = verify_operands(v, h, s);
    if (first && first < origin) origin = first;
    if (!(s->snapshot && s->restore) &&
        (s->construct_kind == CONSTRUCT_ONDO || s->construct_kind == CONSTRUCT_ENSURE))
        unprotected(v, s);
    uint32_t threads = s->thread_count;
    for (uint32_t i = 0; i < s->frame_count; i++) {
        const IrFrame *frame = s->frames[i];
        threads |= frame->thread_count;
        if (!is_constant(frame)) verify_frame(v, frame, s);
    }
    bind_temp(v, h, s, s->temp, origin);
    if (s->construct_kind == CONSTRUCT_HOME) verify_landing(v, s);
    if (!threads) return 0;
    verify_threads(v, s, info);
    return verify_rebinds(v, h, s, info, at);
}

/* ---- frames ---- */

/* The entry version of a threaded local. */
static void thread_local_in(Verify *v, const IrStmt *s, uint32_t local) {
    if (!valid_local(v, s, local)) return;
    LocalState *l = &v->locals[local];
    if (l->current == UNBOUND)
        finding(v, VERIFY_UnboundVersion, s, "%s is threaded but not bound in front of the construct",
                local_name(v, local));
    else if (l->access + 1u != v->depth)
        finding(v, VERIFY_ThreadedLocalDropped, s,
                l->access == v->depth ? "%s is threaded twice"
                                      : "%s is threaded by an inner frame, but not by the frame around it",
                local_name(v, local));
    if (v->saved_count == v->saved_capacity &&
        !verify_grow(v, &v->saved, &v->saved_capacity, sizeof *v->saved, v->saved_count + 1))
        return;
    v->saved[v->saved_count++] = (SavedLocal){local, *l};
    l->current = ++l->counter;
    l->access = (uint16_t)v->depth;
    l->maker = v->next_construct;
    l->flags &= (uint16_t)~BY_REBIND;
}

static void bind_index(Verify *v, const IrStmt *s) {
    if (!valid_local(v, s, s->index_local)) return;
    LocalState *l = &v->locals[s->index_local];
    const IrLocal *local = &v->fn->locals[s->index_local];
    if (local->mode != LOCAL_REGISTER)
        finding(v, VERIFY_LocalRebindModeMismatch, s, "the index of a loop does not live in a register");
    if (local->family != FAMILY_LOCAL)
        finding(v, VERIFY_UncarriedFamily, s, "the index of a loop is no ordinary local");
    if (l->current != UNBOUND) {
        finding(v, VERIFY_ThreadedLocalDropped, s, "the index %s is a local from outside the loop",
                local_name(v, s->index_local));
        return;
    }
    l->current = ++l->counter;
    l->access = (uint16_t)v->depth;
    l->maker = v->next_construct;
    l->flags &= (uint16_t)~BY_REBIND;
    push_bound(v, s->index_local);
}

/* What a frame gets from its construct: the index of a counted loop, the exception of a handler. */
static void bind_arrival(Verify *v, const IrFrame *frame, const IrStmt *construct) {
    if (frame->kind == FRAME_Handler || frame->kind == FRAME_Landing)
        bind_temp(v, hot_of(v), construct, construct->exception, 0);
    if (construct_has_index(construct->construct_kind)) bind_index(v, construct);
}

static inline void leave_frame(Verify *v, uint32_t bound, uint32_t saved) {
    while (v->bound_count > bound) {
        LocalState *l = &v->locals[v->bound[--v->bound_count]];
        l->current = UNBOUND;
        l->access = 0;
    }
    while (v->saved_count > saved) {
        const SavedLocal *s = &v->saved[--v->saved_count];
        LocalState *l = &v->locals[s->local];
        uint32_t counter = l->counter;
        *l = s->state;
        l->counter = counter;
    }
}

HOT void verify_statements(Verify *v, const IrFrame *frame) {
    Hot h = hot_of(v);
    IrStmt *const *stmts = frame->stmts, *const *end = stmts + frame->stmt_count;
    for (IrStmt *const *at = stmts; at < end; at++) {
        const IrStmt *s = *at;
        if (s->kind == STMT_BIND) {
            verify_bind(v, h, s);
        } else if (s->kind == STMT_SET) {
            verify_set(v, h, s);
        } else if (s->kind == STMT_CONSTRUCT) {
            at += verify_construct(v, h, s, at);
            h.open = v->open; /* it may have grown */
        } else if (s->kind == STMT_SNAP) {
            verify_snap(v, h, s);
        } else {
            bool last = at + 1 == end && frame->ends;
            (void)verify_operands(v, h, s);
            if (s->kind != STMT_RETURN || !last || s->operand_count != 1 || v->fn->kind == FN_BLOCK)
                verify_leaving(v, s, last);
        }
    }
    if (!frame->ends) {
        Order none = {0, 0};
        verify_operand(v, h, NULL, &frame->value, &none);
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
    if (construct) {
        for (uint32_t i = 0; i < frame->thread_count; i++) thread_local_in(v, construct, frame->threads[i]);
        if (frame->kind != FRAME_BranchArm) bind_arrival(v, frame, construct);
    }
    verify_statements(v, frame);
    leave_frame(v, bound, saved);
    v->open[v->scope] = 0;
    v->scope = scope;
    v->frame = outer;
    v->depth--;
}

void verify_body(Verify *v) { verify_frame(v, v->fn->body, NULL); }
