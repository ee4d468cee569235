/* What is wrong with an atom, a write, a statement that the pass found strange. Nothing here runs for a unit
 * that is in order.
 */
#include "ir/verify_internal.h"

void no_such_local(Verify *v, const IrStmt *s, uint32_t local) {
    finding(v, VERIFY_MalformedNode, s, "local %u of %u", local, v->fn->local_count);
}

/* A read that does not name the newest version: what is wrong with it. */
void stale_read(Verify *v, const IrStmt *s, uint32_t local, uint32_t version, bool operand_of_many) {
    const LocalState *l = &v->locals[local];
    const char *name = local_name(v, local);
    if (l->flags & DISCARDED)
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
    else if (operand_of_many && (l->flags & BY_REBIND))
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
void strange_atom(Verify *v, const IrStmt *s, const IrAtom *at) {
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
        if (l->current != atom.version || (l->flags & DISCARDED))
            stale_read(v, s, atom.index, atom.version, operand);
        return;
    }
    case ATOM_SELF:
        finding(v, VERIFY_StaleVersionRead, s, "the receiver is read where the local self has replaced it");
        return;
    default: finding(v, VERIFY_MalformedNode, s, "atom of kind %u", (unsigned)atom.kind);
    }
}

void out_of_order(Verify *v, const IrStmt *s, uint32_t origin, uint32_t temp) {
    if (s->kind != STMT_BIND || op_is_unordered(s->op)) return;
    finding(v, VERIFY_LocalReadAfterSiblingRebind, s,
            "an operand reads a version that was made behind the begin of c%u, but c%u is part of t%u, which "
            "stands to "
            "its right; a snap in front of c%u is missing",
            origin - 1, origin - 1, temp, origin - 1);
}

void bad_temp(Verify *v, const IrStmt *s, uint32_t temp) {
    if (temp >= v->fn->temp_count)
        finding(v, VERIFY_MalformedNode, s, "temp t%u of %u", temp, v->fn->temp_count);
    else
        finding(v, VERIFY_NonLinearVersion, s, "t%u is bound twice", temp);
}

/* A local is written that is not simply the next version of one that the frame at hand may write. */
void bad_write(Verify *v, const IrStmt *s, uint32_t local, uint32_t version) {
    LocalState *l = &v->locals[local];
    if (version != l->counter + 1)
        finding(v, VERIFY_NonLinearVersion, s,
                "%s@%u is bound, but its next version is %u: one is missing, doubled or out of place",
                local_name(v, local), version, l->counter + 1);
    if (l->access != v->depth)
        finding(
            v, VERIFY_ThreadedLocalDropped, s,
            "%s is written here, but a frame around does not list it in its threads: the write would be lost",
            local_name(v, local));
}

void malformed_set(Verify *v, const IrStmt *s) {
    finding(v, VERIFY_MalformedNode, s, "an assignment of %u values", s->operand_count);
}

void unsound_construct(Verify *v, const IrStmt *s, const IrConstructInfo *info) {
    if (!info)
        finding(v, VERIFY_MalformedNode, NULL, "construct of kind %u", (unsigned)s->construct_kind);
    else if (s->construct >= v->fn->construct_count || s->construct < v->next_construct)
        finding(v, VERIFY_MalformedNode, s, "construct c%u is there twice, out of order, or not counted",
                s->construct);
    else if (s->imm != BC_NONE && !const_is(v, s->imm, BC_SYMBOL))
        finding(v, VERIFY_MalformedNode, s, "the selector is no symbol");
    else
        finding(v, VERIFY_MalformedNode, s, "operands or frames are not those of a %s", info->name);
}

void dropped_thread(Verify *v, const IrStmt *s, const IrFrame *frame, uint32_t local) {
    if (valid_local(v, s, local))
        finding(v, VERIFY_ThreadedLocalDropped, s, "its %s threads %s, but the construct does not hand it on",
                IR_FRAME_NAMES[frame->kind], local_name(v, local));
}

void uncarried(Verify *v, const IrStmt *s, const IrConstructInfo *info, uint32_t local) {
    finding(v, VERIFY_UncarriedFamily, s, "a %s does not declare that it carries the family of %s",
            info->name, local_name(v, local));
}

void missing_rebind(Verify *v, const IrStmt *s, uint32_t local) {
    finding(v, VERIFY_ThreadedLocalDropped, s,
            "%s is threaded, but the statement behind is not its rebind from c%u", local_name(v, local),
            s->construct);
}

void unprotected(Verify *v, const IrStmt *s) {
    finding(v, VERIFY_CatchWithoutClassVarRestore, s,
            "%s is missing: class variables, state and carriers of the failed body would stay",
            s->snapshot ? "the restore of the error edge" : "the snapshot at the entry");
}
