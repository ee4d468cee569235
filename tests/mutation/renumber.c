/* See renumber.h. */
#include "tests/mutation/renumber.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    IrUnit *unit;
    IrFunction *fn;
    uint32_t *current, *counter;
} Renumber;

static void read_atom(Renumber *r, IrAtom *atom) {
    if (atom->kind == ATOM_LOCAL && atom->index < r->fn->local_count) atom->version = r->current[atom->index];
}

static void mint(Renumber *r, IrStmt *s) {
    if (s->local < r->fn->local_count) s->version = r->current[s->local] = ++r->counter[s->local];
}

static void number_frame(Renumber *r, IrFrame *frame, const IrStmt *construct);

static void number_captures(Renumber *r, const IrStmt *s) {
    if (s->op != IR_CLOSURE || s->imm >= r->unit->function_count) return;
    IrFunction *block = r->unit->functions[s->imm];
    for (uint32_t i = 0; i < block->capture_count; i++)
        if (block->captures[i].kind == CAP_REGISTER) read_atom(r, &block->capture_atoms[i]);
}

static void number_stmt(Renumber *r, IrStmt *s) {
    for (uint32_t i = 0; i < s->operand_count; i++) read_atom(r, &s->operands[i]);
    switch (s->kind) {
    case STMT_BIND: number_captures(r, s); break;
    case STMT_SNAP:
        if (s->local < r->fn->local_count) s->version = r->current[s->local];
        break;
    case STMT_SET:
    case STMT_REBIND: mint(r, s); break;
    case STMT_CONSTRUCT:
        for (uint32_t i = 0; i < s->frame_count; i++) number_frame(r, s->frames[i], s);
        break;
    default: break;
    }
}

static void number_frame(Renumber *r, IrFrame *frame, const IrStmt *construct) {
    uint32_t size = r->fn->local_count * (uint32_t)sizeof *r->current;
    uint32_t *saved = malloc(size + 1);
    if (!saved) abort();
    if (size) memcpy(saved, r->current, size);
    for (uint32_t i = 0; i < frame->thread_count; i++)
        r->current[frame->threads[i]] = ++r->counter[frame->threads[i]];
    if (construct && construct_has_index(construct->construct_kind))
        r->current[construct->index_local] = ++r->counter[construct->index_local];
    for (uint32_t i = 0; i < frame->stmt_count; i++) number_stmt(r, frame->stmts[i]);
    if (!frame->ends) read_atom(r, &frame->value);
    if (size) memcpy(r->current, saved, size);
    free(saved);
}

void renumber(IrUnit *unit, IrFunction *fn) {
    Renumber r = {unit, fn, calloc(fn->local_count + 1, sizeof(uint32_t)),
                  calloc(fn->local_count + 1, sizeof(uint32_t))};
    if (!r.current || !r.counter) abort();
    number_frame(&r, fn->body, NULL);
    free(r.current);
    free(r.counter);
}
