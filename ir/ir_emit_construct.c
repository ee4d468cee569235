/* Conditionals and loops. Versions of a local share its home register here, so rebinds cost nothing. */
#include "ir/emit_internal.h"

/* Where the value of a construct goes. */
static Dest construct_dest(Emit *e, const IrStmt *s) {
    if (temp_is_returned(e, s->temp)) return (Dest){.kind = DEST_RETURN};
    if (!temp_is_needed(e, s->temp)) return (Dest){.kind = DEST_NONE};
    TempInfo *t = &e->temps[s->temp];
    if (e->dest.kind == DEST_BRANCH && s->construct_kind == CONSTRUCT_IF && temp_ends_frame(e, s->temp)) {
        t->place = TEMP_IN_TARGET;
        return e->dest;
    }
    Dest dest = {.kind = DEST_REG, .reg = temp_place(e, s->temp)};
    dest.fresh =
        t->place != TEMP_IN_TARGET || (e->dest.kind == DEST_REG && e->dest.reg == dest.reg && e->dest.fresh);
    return dest;
}

/* ---- conditionals ---- */

static bool is_constant(const IrFrame *arm) {
    return !arm->stmt_count && (arm->value.kind == ATOM_TRUE || arm->value.kind == ATOM_FALSE);
}

/* No code at all: nothing to do and nothing to answer. */
static bool is_empty(const IrFrame *arm, Dest dest) { return !arm->stmt_count && dest.kind == DEST_NONE; }

static void leave_arm(Emit *e, Dest dest, uint32_t end) {
    if (dest.kind == DEST_BRANCH) {
        const Branch *outer = &e->branches[dest.branch];
        end = outer->next_yes ? outer->yes : outer->no;
    }
    code_jump(e, OP_JUMP, 0, end);
}

/* An arm that only answers true or false to a branch is the label there. */
static bool short_cut(Emit *e, const IrFrame *arm, Dest dest, uint32_t *label) {
    if (dest.kind != DEST_BRANCH || !is_constant(arm)) return false;
    const Branch *outer = &e->branches[dest.branch];
    *label = arm->value.kind == ATOM_TRUE ? outer->yes : outer->no;
    return true;
}

void code_if(Emit *e, const IrStmt *s, Dest dest) {
    const IrFrame *yes = s->frames[0], *no = s->frames[1];
    uint32_t branch = branch_new(e, s, dest);
    if (e->failed) return;
    Branch *b = &e->branches[branch];
    bool no_is_label = short_cut(e, no, dest, &b->no);
    bool yes_is_label = !no_is_label && short_cut(e, yes, dest, &b->yes);
    bool skip_yes = yes_is_label || (!no_is_label && is_empty(yes, dest));
    bool skip_no = no_is_label || is_empty(no, dest);
    b->next_yes = !skip_yes;
    Branch at = *b;
    code_condition(e, s, branch);
    if (!skip_yes) {
        label_bind(e, at.yes);
        code_frame(e, yes, dest);
        if (!skip_no && e->reachable) leave_arm(e, dest, at.back);
    }
    if (!no_is_label) label_bind(e, at.no);
    if (!skip_no) code_frame(e, no, dest);
    if (skip_yes && !yes_is_label) label_bind(e, at.yes);
    label_bind(e, at.back);
}

/* ---- loops ---- */

static const Dest NOWHERE = {.kind = DEST_NONE};

static void code_while(Emit *e, const IrStmt *s) {
    uint32_t branch = branch_new(e, s, NOWHERE), condition = label_new(e), body = label_new(e);
    if (e->failed) return;
    Branch *b = &e->branches[branch];
    b->next_yes = s->negate;
    if (s->negate)
        b->no = body, b->yes = b->back;
    else
        b->yes = body, b->no = b->back;
    uint32_t back = b->back;
    code_jump(e, OP_JUMP, 0, condition);
    label_bind(e, body);
    e->reachable = true;
    code_frame(e, s->frames[1], NOWHERE);
    label_bind(e, condition);
    code_frame(e, s->frames[0], (Dest){.kind = DEST_BRANCH, .branch = branch});
    label_bind(e, back);
}

static void code_repeat(Emit *e, const IrStmt *s) {
    uint32_t body = label_new(e);
    label_bind(e, body);
    code_frame(e, s->frames[0], NOWHERE);
    code_jump(e, OP_JUMP, 0, body);
}

/* Three neighbours hold index, stop and step. The index of the source is the first of them, unless the body
 * assigns to it. */
static void code_count(Emit *e, const IrStmt *s) {
    uint32_t row = reg_alloc_row(e, 3), body = label_new(e), end = label_new(e);
    for (uint32_t i = 0; i < 3; i++) code_atom(e, s->operands[i], row + i);
    for (uint32_t i = 0; i < 3; i++)
        if (s->operands[i].kind == ATOM_TEMP) operand_done(e, s->operands[i], 0);
    bool own = e->locals[s->index_local].sets != 0;
    uint32_t index = own ? reg_alloc(e) : row;
    e->locals[s->index_local].reg = index;
    code_jump_near(e, OP_FORPREP, row, index, end);
    label_bind(e, body);
    code_frame(e, s->frames[0], NOWHERE);
    code_jump_near(e, OP_FORSTEP, row, index, body);
    label_bind(e, end);
    reg_free_row(e, row, 3);
    if (own) reg_free(e, index);
}

/* The List still to come and the element are two registers: the element may be assigned to. */
static void code_each(Emit *e, const IrStmt *s) {
    uint32_t rest = reg_alloc(e), element = reg_alloc(e), body = label_new(e), end = label_new(e);
    code_atom(e, s->operands[0], rest);
    if (s->operands[0].kind == ATOM_TEMP) operand_done(e, s->operands[0], 0);
    e->locals[s->index_local].reg = element;
    code_jump_near(e, OP_EACHPREP, rest, element, end);
    label_bind(e, body);
    code_frame(e, s->frames[0], NOWHERE);
    code_jump_near(e, OP_EACHSTEP, rest, element, body);
    label_bind(e, end);
    reg_free(e, element);
    reg_free(e, rest);
}

static void code_loop(Emit *e, const IrStmt *s, Dest dest) {
    uint32_t position = e->position;
    if (s->construct_kind == CONSTRUCT_WHILE)
        code_while(e, s);
    else if (s->construct_kind == CONSTRUCT_REPEAT)
        code_repeat(e, s);
    else if (s->construct_kind == CONSTRUCT_EACH)
        code_each(e, s);
    else
        code_count(e, s);
    e->position = position;
    if (dest.kind == DEST_REG) code_imm(e, OP_LOADNIL, 0, dest.reg, 0);
    if (dest.kind == DEST_RETURN) code_return_atom(e, (IrAtom){ATOM_NIL, 0, 0});
}

void code_construct(Emit *e, const IrStmt *s) {
    Dest dest = construct_dest(e, s);
    switch (s->construct_kind) {
    case CONSTRUCT_IF: code_if(e, s, dest); break;
    case CONSTRUCT_ONDO: code_ondo(e, s, dest); break;
    case CONSTRUCT_ENSURE: code_ensure(e, s, dest); break;
    case CONSTRUCT_HOME: code_home(e, s); break;
    default: code_loop(e, s, dest); break;
    }
}
