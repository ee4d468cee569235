/* Conditions and the jumps on them.
 *
 * A comparison whose only reader is the condition that follows is not computed into a register: the jump
 * makes it. So is an If (`and:`, `or:`) whose only reader is a condition: its arms jump where that condition
 * goes. What is deferred so stands directly before its reader, rebinds apart, so nothing happens in between.
 */
#include "ir/emit_internal.h"

enum { MAX_CHAIN = 32 }; /* of deferred constructs: each is a level of C recursion */

/* ---- jumps on conditions ---- */

/* ORDER order_jumps: + 4 negates, + 8 takes the second operand from the instruction. */
static Opcode order_jump(const Condition *c, bool sense) {
    int relation = c->op == IR_LT ? 0 : c->op == IR_LE ? 1 : c->op == IR_GT ? 2 : 3;
    return (Opcode)(OP_JLT + relation + (sense ? 0 : 4) + (c->immediate ? 8 : 0));
}

static bool test_opcode(const Condition *c, bool sense, Opcode *out) {
    switch (c->op) {
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE: *out = order_jump(c, sense); return true;
    case IR_EQ: *out = sense ? OP_JEQ : OP_JNE; return true;
    case IR_NE: *out = sense ? OP_JNE : OP_JEQ; return true;
    case IR_SEQ:
    case IR_SNE:
        sense = sense == (c->op == IR_SEQ);
        *out = c->immediate ? (sense ? OP_JSEQI : OP_JSNEI) : (sense ? OP_JSEQ : OP_JSNE);
        return true;
    case IR_ISNIL: *out = sense ? OP_JNIL : OP_JNNIL; return true;
    case IR_ISHOLE: *out = OP_JHOLE; return sense;
    case IR_ISINT: *out = OP_JNINT; return !sense;
    case IR_ISLIST: *out = OP_JNLIST; return !sense;
    case IR_ISBOOL: *out = OP_JNBOOL; return !sense;
    default: *out = sense ? OP_JTRUE : OP_JFALSE; return true; /* COPY */
    }
}

static void test_jump(Emit *e, Opcode op, const Condition *c, uint32_t label) {
    if (opcode_format(op)[3] == 'j')
        code_jump_near(e, op, c->a, c->b, label);
    else
        code_jump(e, op, c->a, label);
}

void condition_jump(Emit *e, const Condition *c, bool sense, uint32_t label) {
    Opcode op;
    if (c->op == IR_CONST) {
        if (c->truth == sense) code_jump(e, OP_JUMP, 0, label);
    } else if (test_opcode(c, sense, &op)) {
        test_jump(e, op, c, label);
    } else { /* only the other sense exists: over a jump */
        uint32_t over = label_new(e);
        (void)test_opcode(c, !sense, &op);
        test_jump(e, op, c, over);
        code_jump(e, OP_JUMP, 0, label);
        label_bind(e, over);
    }
}

/* ---- branches ---- */

uint32_t branch_new(Emit *e, const IrStmt *construct, Dest dest) {
    if (!GROW(e, e->branches, e->branch_capacity, e->branch_count + 1)) return 0;
    e->branches[e->branch_count] = (Branch){.yes = label_new(e),
                                            .no = label_new(e),
                                            .next_yes = true,
                                            .name = construct->imm,
                                            .argc = construct->flags,
                                            .base = reg_top(e) + FRAME_WORDS,
                                            .offset = construct->span.start,
                                            .dest = dest,
                                            .back = label_new(e)};
    return e->branch_count++;
}

/* Room for the window of the send, and the labels to which its answer may lead. */
static void expect_answer(Emit *e, uint32_t branch, uint32_t condition) {
    for (;;) {
        Branch *b = &e->branches[branch];
        if (b->base <= condition) b->base = condition + 1;
        if (b->base + b->argc >= BC_MAX_REGISTERS) return code_fail(e, "it needs too many registers");
        if (b->base + b->argc >= e->register_count) e->register_count = b->base + b->argc + 1;
        if (b->dest.kind == DEST_NONE || b->dest.kind == DEST_REG) e->labels[b->back].expected = true;
        if (b->dest.kind != DEST_BRANCH) return;
        condition = b->base;
        branch = b->dest.branch;
        b = &e->branches[branch];
        e->labels[b->yes].expected = e->labels[b->no].expected = true;
        if (b->name == BC_NONE) return;
    }
}

/* A value that need not be a Boolean: on, to the other label, or to the stub that makes the ordinary send. */
static void branch_on_value(Emit *e, uint32_t reg, uint32_t branch) {
    if (!e->reachable || !GROW(e, e->stubs, e->stub_capacity, e->stub_count + 1)) return;
    expect_answer(e, branch, reg);
    Branch b = e->branches[branch];
    uint32_t entry = label_new(e), other = b.next_yes ? b.no : b.yes;
    if (e->failed) return;
    if (e->long_jumps) {
        code_jump(e, b.next_yes ? OP_JFALSE : OP_JTRUE, reg, other);
        code_jump(e, b.next_yes ? OP_JNTRUE : OP_JNFALSE, reg, entry);
    } else {
        code_jump_both(e, b.next_yes ? OP_JBOOL : OP_JNBOOL2, reg, other, entry);
    }
    e->stubs[e->stub_count++] = (Stub){.entry = entry, .condition = reg, .branch = branch};
}

/* A comparison of what need not be numbers is a send, whose answer need not be a Boolean. */
static void expect_strange_answer(Emit *e, uint32_t pc, uint32_t branch) {
    if (e->failed || !GROW(e, e->stubs, e->stub_capacity, e->stub_count + 1) ||
        !GROW(e, e->region_table, e->region_capacity, e->region_count + 1))
        return;
    expect_answer(e, branch, 0);
    uint32_t reg = e->branches[branch].base;
    e->region_table[e->region_count++] =
        (BcRegion){.start = pc, .end = pc + 1, .reg = (uint16_t)reg, .kind = BC_ANSWER};
    e->stubs[e->stub_count++] =
        (Stub){.entry = label_new(e), .condition = reg, .branch = branch, .region = e->region_count};
    e->labels[e->stubs[e->stub_count - 1].entry].expected = true;
}

void code_branch(Emit *e, const Condition *c, uint32_t branch) {
    Branch b = e->branches[branch];
    if (c->op == IR_COPY && b.name != BC_NONE)
        branch_on_value(e, c->a, branch);
    else {
        uint32_t pc = e->code_count;
        bool reachable = e->reachable;
        condition_jump(e, c, !b.next_yes, b.next_yes ? b.no : b.yes);
        if (c->op >= IR_LT && c->op <= IR_GE && b.name != BC_NONE && reachable)
            expect_strange_answer(e, pc, branch);
    }
}

/* ---- what is deferred ---- */

static const IrStmt *previous_stmt(const Emit *e, uint32_t *index) {
    for (uint32_t i = e->index; i-- > 0;)
        if (e->frame->stmts[i]->kind != STMT_REBIND) return *index = i, e->frame->stmts[i];
    return NULL;
}

/* Emits what was deferred as the jump it was left for. */
static void code_deferred(Emit *e, const IrStmt *s, uint32_t index, uint32_t branch) {
    uint32_t here = e->index, position = e->position;
    e->index = index;
    e->position = s->position;
    if (s->kind == STMT_BIND) {
        Condition c = test_condition(e, s);
        code_branch(e, &c, branch);
    } else {
        code_if(e, s, (Dest){.kind = DEST_BRANCH, .branch = branch});
    }
    e->index = here;
    e->position = position;
}

void branch_on_atom(Emit *e, IrAtom atom, uint32_t branch) {
    Condition c = {.op = IR_COPY};
    uint32_t index;
    const IrStmt *deferred = NULL;
    if (atom.kind == ATOM_TEMP) {
        TempPlace place = e->temps[atom.index].place;
        if (place == TEMP_IN_TARGET) return; /* the construct has jumped already */
        if (place == TEMP_DEFERRED) deferred = previous_stmt(e, &index);
    }
    if (deferred) return code_deferred(e, deferred, index, branch);
    if (atom.kind == ATOM_TRUE || atom.kind == ATOM_FALSE) {
        c = (Condition){.op = IR_CONST, .truth = atom.kind == ATOM_TRUE};
        code_branch(e, &c, branch);
        return;
    }
    c.a = operand_reg(e, atom);
    code_branch(e, &c, branch);
    operand_done(e, atom, c.a);
}

void code_condition(Emit *e, const IrStmt *construct, uint32_t branch) {
    branch_on_atom(e, construct->operands[0], branch);
}

static bool is_test_of(const IrStmt *next, uint32_t temp) {
    return next && next->kind == STMT_CONSTRUCT && next->construct_kind == CONSTRUCT_IF &&
           next->operands[0].kind == ATOM_TEMP && next->operands[0].index == temp;
}

bool defer_condition(Emit *e, const IrStmt *s) {
    bool test = s->kind == STMT_BIND && op_is_test(s->op);
    bool flow = s->kind == STMT_CONSTRUCT && s->construct_kind == CONSTRUCT_IF;
    if (!test && !flow) return false;
    TempInfo *t = &e->temps[s->temp];
    if (t->uses != 1) return false;
    bool read = is_test_of(next_stmt(e), s->temp);
    if (test && !read) read = e->dest.kind == DEST_BRANCH && temp_ends_frame(e, s->temp);
    if (!read) return false;
    if (flow) {
        IrAtom inner = s->operands[0];
        bool chained = inner.kind == ATOM_TEMP && e->temps[inner.index].place == TEMP_DEFERRED;
        e->chain = chained ? e->chain + 1 : 1;
        if (e->chain > MAX_CHAIN) return false;
    }
    t->place = TEMP_DEFERRED;
    return true;
}

/* ---- code out of line ---- */

static uint32_t result_reg(const Branch *b) { return b->dest.kind == DEST_REG ? b->dest.reg : b->base; }

/* The ordinary send for a condition that is no Boolean; where that is again a condition, on to the next. */
static void code_stub(Emit *e, const Stub *s) {
    uint32_t value = s->condition;
    Branch b = e->branches[s->branch];
    label_bind(e, s->entry);
    if (s->region) {
        e->region_table[s->region - 1].handler = e->code_count;
    }
    for (;;) {
        e->offset = b.offset;
        code_move(e, b.base, value);
        for (uint32_t i = 1; i <= b.argc; i++)
            code_imm(e, OP_LOADCLASS, 0, b.base + i, ir_const_inlined_block(e->unit));
        value = result_reg(&b);
        code_abc(e, OP_SEND, b.argc, value, b.base, code_site(e, b.name, b.argc, 0, BC_NO_CAPTURE));
        if (b.dest.kind != DEST_BRANCH) break;
        b = e->branches[b.dest.branch];
        code_jump(e, OP_JTRUE, value, b.yes);
        code_jump(e, b.name == BC_NONE ? OP_JUMP : OP_JFALSE, value, b.no);
        if (b.name == BC_NONE) return;
    }
    if (b.dest.kind == DEST_RETURN)
        code_return(e, value);
    else
        code_jump(e, OP_JUMP, 0, b.back);
}

void stubs_flush(Emit *e, uint32_t mark) {
    bool reachable = e->reachable;
    uint32_t offset = e->offset;
    while (e->stub_count > mark && !e->failed) {
        Stub stub = e->stubs[--e->stub_count];
        e->reachable = false;
        code_stub(e, &stub);
    }
    e->reachable = reachable;
    e->offset = offset;
}
