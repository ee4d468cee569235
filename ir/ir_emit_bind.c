/* Operations of Bind statements. Most map one to one onto an opcode; operands that are sent or collected go
 * into a window, all others into registers. */
#include "ir/emit_internal.h"

static const uint8_t OPCODES[IR_OP_COUNT] = {
    [IR_ADD] = OP_ADD,
    [IR_SUB] = OP_SUB,
    [IR_MUL] = OP_MUL,
    [IR_DIV] = OP_DIV,
    [IR_MOD] = OP_MOD,
    [IR_POW] = OP_POW,
    [IR_CONCAT] = OP_CONCAT,
    [IR_LT] = OP_LT,
    [IR_GT] = OP_GT,
    [IR_LE] = OP_LE,
    [IR_GE] = OP_GE,
    [IR_EQ] = OP_EQ,
    [IR_NE] = OP_NE,
    [IR_SEQ] = OP_SEQ,
    [IR_SNE] = OP_SNE,
    [IR_TLT] = OP_TLT,
    [IR_TLE] = OP_TLE,
    [IR_LIST] = OP_LIST,
    [IR_CONSTAIL] = OP_CONSTAIL,
    [IR_ARRAY] = OP_ARRAY,
    [IR_DICT] = OP_DICT,
    [IR_TUPLE] = OP_TUPLE,
    [IR_INTERP] = OP_INTERP,
    [IR_SEND] = OP_SEND,
    [IR_SENDSELF] = OP_SENDSELF,
    [IR_SENDSUPER] = OP_SENDSUPER,
    [IR_CALLBLOCK] = OP_CALLBLOCK,
    [IR_CAST] = OP_CAST,
    [IR_EXCMATCH] = OP_EXCMATCH,
    [IR_GETSTATE] = OP_GETSTATE,
    [IR_GETCV] = OP_GETCV,
    [IR_HASCV] = OP_HASCV,
    [IR_SETSTATE] = OP_SETSTATE,
    [IR_SETCV] = OP_SETCV,
    [IR_PATGET] = OP_PATGET,
    [IR_PATREST] = OP_PATREST,
};

/* ---- sends and collections ---- */

static bool may_tail(const Emit *e, const IrStmt *s) {
    return (s->flags & IR_TAIL) && (s->op == IR_SEND || s->op == IR_SENDSELF) && !e->ensures &&
           !(e->fn->flags & (FN_HAS_CARRIERS | FN_NLR_HOME)) && e->fn->kind != FN_BLOCK &&
           e->fn->kind != FN_SCRIPT && !e->regions && temp_is_returned(e, s->temp);
}

static void bind_send(Emit *e, const IrStmt *s) {
    uint32_t argc = s->operand_count - 1;
    if (argc > UINT8_MAX) return code_fail(e, "a message has more than 255 arguments");
    bool tail = may_tail(e, s);
    /* the instruction itself puts self into the window */
    bool me = s->op == IR_SENDSELF && s->operands[0].kind == ATOM_SELF && e->fn->kind != FN_BLOCK &&
              e->fn->kind != FN_SCRIPT;
    uint32_t from =
        atom_reg(e, s->operands[0]); /* a receiver in a register likewise, if nothing else is there */
    bool of = s->op == IR_SEND && !tail && argc == 0 && from <= UINT8_MAX;
    uint32_t base = window_fill(e, s, me || of);
    uint32_t site =
        code_site(e, s->imm, argc, s->flags & (SITE_LITERAL_CLASS | SITE_OWN_CLASS), BC_NO_CAPTURE);
    if (tail) {
        code_abc(e, me ? OP_TAILME : s->op == IR_SENDSELF ? OP_TAILSELF : OP_TAILSEND, argc, 0, base, site);
        e->reachable = false;
    } else if (s->op == IR_CAST) {
        code_abc(e, OP_CAST, argc, 0, base, site);
        if (temp_is_needed(e, s->temp)) code_imm(e, OP_LOADNIL, 0, temp_place(e, s->temp), 0);
    } else if (of && from != base) {
        code_abc(e, OP_SENDOF, from, temp_place(e, s->temp), base, site);
    } else {
        code_abc(e, me ? OP_SENDME : OPCODES[s->op], argc, temp_place(e, s->temp), base, site);
    }
}

static void bind_collection(Emit *e, const IrStmt *s) {
    uint32_t count = s->op == IR_DICT ? s->operand_count / 2 : s->operand_count;
    if (count > UINT16_MAX) return code_fail(e, "a literal has too many elements");
    uint32_t base = window_fill(e, s, false);
    code_abc(e, OPCODES[s->op], 0, temp_place(e, s->temp), base, count);
}

/* ---- operands in registers ---- */

static bool small_int(IrAtom atom, int32_t *out) {
    *out = (int32_t)atom.index;
    return atom.kind == ATOM_INT && *out >= INT16_MIN && *out <= INT16_MAX;
}

static void bind_binary(Emit *e, const IrStmt *s, unsigned f) {
    int32_t small;
    bool immediate = (s->op == IR_ADD || s->op == IR_SUB) && small_int(s->operands[1], &small);
    uint32_t a = operand_reg(e, s->operands[0]);
    uint32_t b = immediate ? 0 : operand_reg(e, s->operands[1]);
    operand_done(e, s->operands[0], a);
    if (!immediate) operand_done(e, s->operands[1], b);
    uint32_t to = temp_place(e, s->temp);
    if (immediate)
        code_abc(e, s->op == IR_ADD ? OP_ADDI : OP_SUBI, 0, to, a, (uint16_t)(int16_t)small);
    else
        code_abc(e, OPCODES[s->op], f, to, a, b);
}

static void bind_destruct(Emit *e, const IrStmt *s) {
    uint32_t value = operand_reg(e, s->operands[0]), part = s->operands[1].index;
    bool by_key = s->imm == 2;
    if (by_key) part = operand_reg(e, s->operands[1]);
    if (part > UINT16_MAX) return code_fail(e, "a pattern has too many elements");
    operand_done(e, s->operands[0], value);
    if (by_key) operand_done(e, s->operands[1], part);
    code_abc(e, OP_DESTRUCT, s->imm, temp_place(e, s->temp), value, part);
}

static void bind_unary(Emit *e, const IrStmt *s) {
    uint32_t a = operand_reg(e, s->operands[0]);
    operand_done(e, s->operands[0], a);
    uint32_t to = temp_place(e, s->temp);
    if (s->op == IR_COPY)
        code_move(e, to, a);
    else if (s->op == IR_GETSLOT)
        code_abc(e, OP_GETSLOT, 0, to, a, s->imm);
    else if (s->op == IR_HEAD || s->op == IR_REST)
        code_abc(e, s->op == IR_HEAD ? OP_HEAD : OP_REST, 0, to, a, 0);
    else if (s->op == IR_PATSIZE)
        code_abc(e, OP_PATSIZE, s->imm, to, a, 0);
    else
        code_abc(e, OP_TYPETEST, 0, to, a, code_site(e, s->imm, 0, 0, BC_NO_CAPTURE));
}

/* SELFVT takes the new slot value in the register that gets the copy, which must not be that of the instance.
 */
static void bind_setslot(Emit *e, const IrStmt *s) {
    uint32_t self = operand_reg(e, s->operands[0]), work = reg_alloc(e);
    code_atom(e, s->operands[1], work);
    code_abc(e, OP_SELFVT, 0, work, self, s->imm);
    operand_done(e, s->operands[0], self);
    if (s->operands[1].kind == ATOM_TEMP) operand_done(e, s->operands[1], 0);
    code_move(e, temp_place(e, s->temp), work);
    reg_free(e, work);
}

/* ---- homes ---- */

static uint32_t home_site(Emit *e, const IrStmt *s) {
    bool class_var = s->op == IR_GETCV || s->op == IR_SETCV || s->op == IR_HASCV;
    uint32_t capture = BC_NO_CAPTURE;
    for (uint32_t i = 0; i < e->fn->capture_count && (s->flags & SITE_IN_BLOCK); i++) {
        const BcCapture *c = &e->fn->captures[i];
        if (c->kind == (class_var ? CAP_CLASS_VAR : CAP_STATE) && c->name == s->imm) capture = i;
    }
    return code_site(e, s->imm, 0, s->flags & SITE_IN_BLOCK, capture);
}

static void bind_home_write(Emit *e, const IrStmt *s) {
    IrAtom value = s->operands[0];
    uint32_t reg = operand_reg(e, value);
    code_imm(e, OPCODES[s->op], 0, reg, home_site(e, s));
    if (temp_is_needed(e, s->temp)) code_move(e, temp_place(e, s->temp), reg);
    operand_done(e, value, reg);
}

/* ---- without operands ---- */

static void bind_binding(Emit *e, const IrStmt *s) {
    const BcUnit *shell = e->unit->shell;
    BcText name = s->imm < shell->binding_count ? shell->bindings[s->imm] : (BcText){"?", 1};
    uint32_t text = ir_const_string(e->unit, name.bytes, name.length);
    if (text > UINT16_MAX) return code_fail(e, "the unit has too many constants");
    uint32_t missing = label_new(e), there = label_new(e);
    code_jump(e, OP_JHOLE, s->imm + 1, missing);
    code_jump(e, OP_JUMP, 0, there);
    label_bind(e, missing);
    code_abc(e, OP_RAISE, BC_ERROR_undefined_variable, 0, text, 0);
    e->reachable = false;
    label_bind(e, there);
    if (temp_is_needed(e, s->temp)) code_move(e, temp_place(e, s->temp), s->imm + 1);
}

/* The registers of captured values are settled here, where the closure is made. */
static void bind_closure(Emit *e, const IrStmt *s) {
    IrFunction *block = e->unit->functions[s->imm];
    for (uint32_t i = 0; i < block->capture_count; i++)
        if (block->captures[i].kind == CAP_REGISTER)
            block->captures[i].index = (uint16_t)operand_reg(e, block->capture_atoms[i]);
    for (uint32_t i = 0; i < block->capture_count; i++)
        if (block->captures[i].kind == CAP_REGISTER)
            operand_done(e, block->capture_atoms[i], block->captures[i].index);
    code_imm(e, OP_CLOSURE, 0, temp_place(e, s->temp), s->imm);
}

static void bind_primitive(Emit *e, const IrStmt *s) {
    if (s->imm > UINT16_MAX) return code_fail(e, "the unit has too many constants");
    bool first = !e->code_count;
    code_abc(e, OP_PRIM, s->flags & 1, 0, 0, s->imm);
    if (!(s->flags & 1)) { /* it answers or raises */
        code_abc(e, OP_RETURNSELF, 0, 0, 0, 0);
        e->reachable = false;
        return;
    }
    if (first) code_open_carriers(e);
    if (temp_is_needed(e, s->temp)) code_imm(e, OP_LOADNIL, 0, temp_place(e, s->temp), 0);
}

static void bind_load(Emit *e, const IrStmt *s) {
    uint32_t to = temp_place(e, s->temp);
    switch (s->op) {
    case IR_CONST: code_imm(e, OP_LOADK, 0, to, s->imm); break;
    case IR_CLASS: code_imm(e, OP_LOADCLASS, 0, to, s->imm); break;
    case IR_CAPTURE: code_abc(e, OP_GETCAP, 0, to, s->imm, 0); break;
    default: code_imm(e, OPCODES[s->op], 0, to, home_site(e, s)); break;
    }
}

/* ---- tests ---- */

bool op_is_test(IrOp op) {
    return (op >= IR_LT && op <= IR_SNE) || op == IR_ISNIL || op == IR_ISHOLE || op == IR_ISINT ||
           op == IR_ISLIST || op == IR_ISBOOL;
}

Condition test_condition(Emit *e, const IrStmt *s) {
    Condition c = {.op = s->op};
    e->offset = s->span.start;
    c.a = operand_reg(e, s->operands[0]);
    int32_t small;
    c.immediate =
        s->operand_count > 1 && s->op != IR_EQ && s->op != IR_NE && small_int(s->operands[1], &small);
    if (c.immediate)
        c.b = (uint16_t)(int16_t)small;
    else if (s->operand_count > 1)
        c.b = operand_reg(e, s->operands[1]);
    operand_done(e, s->operands[0], c.a);
    if (s->operand_count > 1 && !c.immediate) operand_done(e, s->operands[1], c.b);
    return c;
}

/* A test whose answer is kept. The operand is read before the answer is written: it may be the same register.
 */
static void bind_test(Emit *e, const IrStmt *s) {
    Condition c = test_condition(e, s);
    uint32_t to = temp_place(e, s->temp);
    uint32_t holds = label_new(e), end = label_new(e);
    condition_jump(e, &c, true, holds);
    code_imm(e, OP_LOADBOOL, 0, to, 0);
    code_jump(e, OP_JUMP, 0, end);
    label_bind(e, holds);
    code_imm(e, OP_LOADBOOL, 1, to, 0);
    label_bind(e, end);
}

void code_bind(Emit *e, const IrStmt *s) {
    switch (s->op) {
    case IR_CONST:
    case IR_CAPTURE:
        if (temp_is_needed(e, s->temp)) bind_load(e, s);
        break;
    case IR_CLASS:
    case IR_GETSTATE:
    case IR_GETCV:
    case IR_HASCV: bind_load(e, s); break;
    case IR_BINDING: bind_binding(e, s); break;
    case IR_CLOSURE: bind_closure(e, s); break;
    case IR_PRIM: bind_primitive(e, s); break;
    case IR_SETSTATE:
    case IR_SETCV: bind_home_write(e, s); break;
    case IR_SETSLOT: bind_setslot(e, s); break;
    case IR_COPY:
    case IR_GETSLOT:
    case IR_HEAD:
    case IR_REST:
    case IR_PATSIZE:
    case IR_TYPETEST: bind_unary(e, s); break;
    case IR_PATGET:
    case IR_PATREST: bind_binary(e, s, s->imm); break;
    case IR_DESTRUCT: bind_destruct(e, s); break;
    case IR_ISNIL:
    case IR_ISHOLE:
    case IR_ISINT:
    case IR_ISLIST:
    case IR_ISBOOL: bind_test(e, s); break;
    default:
        if (op_is_call(s->op))
            bind_send(e, s);
        else if (op_has_window(s->op))
            bind_collection(e, s);
        else
            bind_binary(e, s, 0);
    }
}
