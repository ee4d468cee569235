/* From verified IR to a unit of bytecode: functions, frames, statements. See emit_internal.h. */
#include "ir/emit_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- atoms ---- */

/* The first carrier of a block that reaches further out says where the carriers around it begin. */
static uint32_t has_link(const IrFunction *fn) {
    return fn->kind == FN_BLOCK && (fn->flags & FN_HAS_CARRIERS) &&
           (fn->flags & (FN_WRITES_OUTER | FN_KEEPS));
}

static void code_carrier(Emit *e, Opcode own, Opcode outer, uint32_t reg, const IrLocal *local) {
    const IrFunction *owner = local->outer ? e->unit->functions[local->owner.function] : e->fn;
    if (local->level > UINT8_MAX) return code_fail(e, "its blocks are nested too deeply");
    code_abc(e, local->level || (e->fn->flags & FN_KEEPS) ? outer : own, local->level, reg,
             local->carrier + has_link(owner), 0);
}

void code_open_carriers(Emit *e) {
    uint32_t count = e->fn->carrier_count + has_link(e->fn);
    if (count > UINT8_MAX) return code_fail(e, "its blocks write too many of its variables");
    uint32_t mode = e->fn->flags & FN_KEEPS ? CARRIERS_KEPT
                    : has_link(e->fn)       ? CARRIERS_LINKED
                                            : CARRIERS_PLAIN;
    if (count) code_abc(e, OP_CARRYOPEN, count, mode, 0, 0);
}

void code_atom(Emit *e, IrAtom atom, uint32_t to) {
    switch (atom.kind) {
    case ATOM_TEMP: code_move(e, to, e->temps[atom.index].reg); break;
    case ATOM_LOCAL: {
        const IrLocal *local = &e->fn->locals[atom.index];
        if (local->mode == LOCAL_CARRIER)
            code_carrier(e, OP_CARRYGET, OP_OUTERGET, to, local);
        else
            code_move(e, to, e->locals[atom.index].reg);
        break;
    }
    case ATOM_SELF:
        if (e->fn->kind == FN_BLOCK || e->fn->kind == FN_SCRIPT)
            code_imm(e, OP_LOADSELF, 0, to, 0);
        else
            code_move(e, to, 0);
        break;
    case ATOM_NIL: code_imm(e, OP_LOADNIL, 0, to, 0); break;
    case ATOM_TRUE: code_imm(e, OP_LOADBOOL, 1, to, 0); break;
    case ATOM_FALSE: code_imm(e, OP_LOADBOOL, 0, to, 0); break;
    case ATOM_INT: code_imm(e, OP_LOADI, 0, to, atom.index); break;
    }
}

uint32_t atom_reg(const Emit *e, IrAtom atom) {
    if (atom.kind == ATOM_TEMP) return e->temps[atom.index].reg;
    if (atom.kind == ATOM_LOCAL) return e->locals[atom.index].reg;
    if (atom.kind == ATOM_SELF && e->fn->kind != FN_BLOCK && e->fn->kind != FN_SCRIPT) return 0;
    return NO_REG;
}

uint32_t operand_reg(Emit *e, IrAtom atom) {
    uint32_t reg = atom_reg(e, atom);
    if (reg != NO_REG) return reg;
    reg = reg_alloc(e);
    code_atom(e, atom, reg);
    return reg;
}

void operand_done(Emit *e, IrAtom atom, uint32_t reg) {
    if (atom.kind == ATOM_TEMP) {
        if (temp_last(e, &e->temps[atom.index]) <= e->position) temp_free(e, atom.index);
    } else if (atom_reg(e, atom) == NO_REG) {
        reg_free(e, reg);
    }
}

/* ---- leaving ---- */

/* What the instruction before has moved or added is answered by that instruction. The RETURN stays behind an
 * addition, which may have to be a message, and where something jumps to it. */
static bool returned_before(Emit *e, uint32_t reg) {
    if (!e->reachable || e->failed || e->ensures || !e->code_count) return false;
    Instr *last = &e->code[e->code_count - 1], i = *last;
    if (instr_a(i) != reg) return false;
    switch (instr_op(i)) {
    case OP_MOVE:
        if (e->label_pc == e->code_count) return false;
        return *last = instr_abc(OP_RETURN, 0, instr_b(i), 0, 0), true;
    case OP_ADD: *last = instr_abc(OP_ADDRET, 0, reg, instr_b(i), instr_c(i)); return false;
    case OP_ADDI: *last = instr_abc(OP_ADDIRET, 0, reg, instr_b(i), instr_c(i)); return false;
    default: return false;
    }
}

void code_return(Emit *e, uint32_t reg) {
    if (!returned_before(e, reg)) code_abc(e, e->ensures ? OP_UNWINDRETURN : OP_RETURN, 0, reg, 0, 0);
    e->reachable = false;
}

void code_return_atom(Emit *e, IrAtom atom) {
    if (atom.kind == ATOM_SELF && !e->ensures && e->fn->kind != FN_SCRIPT) {
        code_abc(e, OP_RETURNSELF, 0, 0, 0, 0);
        e->reachable = false;
        return;
    }
    uint32_t reg = operand_reg(e, atom);
    code_return(e, reg);
    operand_done(e, atom, reg);
}

static void emit_nonlocal(Emit *e, const IrStmt *s) {
    uint32_t reg = operand_reg(e, s->operands[0]);
    code_abc(e, OP_NONLOCAL, 0, reg, 0, 0);
    operand_done(e, s->operands[0], reg);
    e->reachable = false;
}

static void emit_failure(Emit *e, const IrStmt *s) {
    if (s->flags == FAIL_CASE_CLAUSE || s->flags == FAIL_BADMATCH) {
        IrAtom value = s->operand_count ? s->operands[0] : (IrAtom){ATOM_NIL, 0, 0};
        uint32_t reg = operand_reg(e, value);
        code_abc(e, OP_MATCHFAIL, s->flags == FAIL_BADMATCH, 0, reg, 0);
        operand_done(e, value, reg);
    } else {
        unsigned kind = s->flags == FAIL_COMPILE_ERROR ? BC_ERROR_compile_error : BC_ERROR_stateful_block;
        if (s->imm > UINT16_MAX) return code_fail(e, "the unit has too many constants");
        code_abc(e, OP_RAISE, kind, 0, s->imm, 0);
    }
    e->reachable = false;
}

/* ---- statements ---- */

static void emit_snap(Emit *e, const IrStmt *s) {
    TempInfo *t = &e->temps[s->temp];
    uint32_t home = e->locals[s->local].reg;
    if (!t->uses) return;
    if (home != NO_REG && temp_last(e, t) <= t->limit) { /* nobody writes the local before the temp dies */
        t->place = TEMP_ALIAS;
        t->reg = home;
        return;
    }
    uint32_t reg = temp_place(e, s->temp);
    code_atom(e, (IrAtom){ATOM_LOCAL, s->local, s->version}, reg);
}

static void emit_set(Emit *e, const IrStmt *s) {
    const IrLocal *local = &e->fn->locals[s->local];
    IrAtom value = s->operands[0];
    if (local->mode == LOCAL_CARRIER) {
        uint32_t reg = operand_reg(e, value);
        code_carrier(e, OP_CARRYPUT, OP_OUTERPUT, reg, local);
        operand_done(e, value, reg);
        return;
    }
    uint32_t home = e->locals[s->local].reg;
    if (value.kind == ATOM_TEMP && e->temps[value.index].place == TEMP_IN_TARGET &&
        e->temps[value.index].reg == home)
        return;
    code_atom(e, value, home);
    if (value.kind == ATOM_TEMP) operand_done(e, value, home);
}

static void emit_stmt(Emit *e, const IrStmt *s) {
    e->position = s->position;
    e->offset = s->span.start;
    switch (s->kind) {
    case STMT_BIND:
        if (!defer_condition(e, s)) code_bind(e, s);
        break;
    case STMT_SNAP: emit_snap(e, s); break;
    case STMT_SET: emit_set(e, s); break;
    case STMT_CONSTRUCT:
        if (!defer_condition(e, s)) code_construct(e, s);
        break;
    case STMT_REBIND: /* the construct has seen to it */
    case STMT_DISCARD: break;
    case STMT_RETURN: code_return_atom(e, s->operands[0]); break;
    case STMT_NONLOCAL: emit_nonlocal(e, s); break;
    case STMT_FAIL: emit_failure(e, s); break;
    }
}

static void emit_value(Emit *e, const IrFrame *frame, Dest dest) {
    IrAtom value = frame->value;
    e->position = e->frames[frame->id].end;
    if (dest.kind == DEST_RETURN) {
        code_return_atom(e, value);
    } else if (dest.kind == DEST_REG) {
        bool there = value.kind == ATOM_TEMP && e->temps[value.index].place == TEMP_IN_TARGET &&
                     e->temps[value.index].reg == dest.reg;
        if (!there) code_atom(e, value, dest.reg);
    } else if (dest.kind == DEST_BRANCH) {
        return branch_on_atom(e, value, dest.branch);
    }
    if (value.kind == ATOM_TEMP) operand_done(e, value, 0);
}

static void drop_windows(Emit *e, uint32_t count) {
    while (e->window_count > count) {
        Window w = e->windows[--e->window_count];
        reg_free_row(e, w.base, w.count);
    }
}

void code_frame(Emit *e, const IrFrame *frame, Dest dest) {
    const IrFrame *outer = e->frame;
    uint32_t index = e->index, windows = e->window_count;
    Dest outer_dest = e->dest;
    e->frame = frame;
    e->dest = dest;
    frame_homes_open(e, frame);
    for (e->index = 0; e->index < frame->stmt_count && e->reachable && !e->failed; e->index++)
        emit_stmt(e, frame->stmts[e->index]);
    if (e->reachable && !frame->ends) emit_value(e, frame, dest);
    drop_windows(e, windows); /* of sends that are never reached */
    frame_temps_free(e, frame);
    frame_homes_close(e, frame);
    e->frame = outer;
    e->index = index;
    e->dest = outer_dest;
}

/* ---- functions ---- */

static BcText copy_text(Emit *e, const char *bytes, size_t length) {
    if (!length) return (BcText){NULL, 0};
    char *copy = memory_alloc(e->memory, length + 1);
    if (!copy) return code_fail(e, "there is not enough memory"), (BcText){NULL, 0};
    memcpy(copy, bytes, length);
    copy[length] = 0;
    return (BcText){copy, (uint32_t)length};
}

/* An exact copy of what a growing buffer holds. */
static void *copy_array(Emit *e, const void *from, uint32_t count, size_t item) {
    if (!count) return NULL;
    void *copy = memory_alloc(e->memory, count * item);
    if (!copy) return code_fail(e, "there is not enough memory"), NULL;
    return memcpy(copy, from, count * item);
}

#define COPY(e, array, count) copy_array(e, array, count, sizeof *(array))

static void begin_code(Emit *e) {
    e->code_count = e->line_count = e->site_count = e->region_count = e->patch_count = e->stub_count = 0;
    e->label_count = e->branch_count = e->saved_count = e->label_pc = 0;
    e->reachable = true;
    e->too_far = false;
    e->ensures = e->regions = e->chain = 0;
    e->frame = NULL;
    e->dest = (Dest){.kind = DEST_NONE};
    e->offset = e->fn->span.start;
}

/* A body that begins with a primitive keeps it first: such methods run without a frame. */
static bool begins_with_prim(const IrFunction *fn) {
    return fn->body->stmt_count && fn->body->stmts[0]->kind == STMT_BIND && fn->body->stmts[0]->op == IR_PRIM;
}

/* Session variables beyond what a message brings have no value yet: the hole, not nil. */
static void open_late_bindings(Emit *e) {
    for (uint32_t reg = BC_MAX_ARGS + 1; reg <= e->unit->shell->binding_count; reg++)
        code_abc(e, OP_PATGET, 0, reg, reg, reg); /* no Tuple: the hole */
}

static void emit_code(Emit *e) {
    const IrFunction *fn = e->fn;
    begin_code(e);
    if (fn->kind == FN_SCRIPT) open_late_bindings(e);
    if (!begins_with_prim(fn)) code_open_carriers(e);
    code_frame(e, fn->body, (Dest){.kind = DEST_RETURN});
    stubs_flush(e, 0);
}

static void finish_function(Emit *e, BcFunction *out) {
    const IrFunction *fn = e->fn;
    uint32_t params = fn->kind == FN_SCRIPT ? e->unit->shell->binding_count : fn->param_count;
    if (params + 1 > e->register_count) e->register_count = params + 1;
    out->name = ir_const_symbol(e->unit, fn->name ? fn->name : "", fn->name ? strlen(fn->name) : 0);
    if (fn->class_name) out->class_name = copy_text(e, fn->class_name, strlen(fn->class_name));
    out->kind = (uint8_t)fn->kind;
    out->home_kind = (uint8_t)fn->home_kind;
    out->flags = fn->flags;
    out->class_side = fn->class_side;
    out->param_count = (uint16_t)params;
    out->register_count = (uint16_t)e->register_count;
    out->span = fn->span;
    out->code = COPY(e, e->code, e->code_count);
    out->sites = COPY(e, e->sites, e->site_count);
    out->regions = COPY(e, e->region_table, e->region_count);
    out->lines = COPY(e, e->lines, e->line_count);
    if (out->code) out->code_count = e->code_count;
    if (out->sites) out->site_count = e->site_count;
    if (out->regions) out->region_count = e->region_count;
    if (out->lines) out->line_count = e->line_count;
}

static void report(Emit *e, const IrFunction *fn) {
    const char *name = fn->name && *fn->name ? fn->name : "This text";
    diag_add(e->diags, DIAG_ERROR, "limit", fn->span, "%s%s%s cannot be compiled: %s",
             fn->class_name ? fn->class_name : "", fn->class_name ? ">>" : "", name,
             e->failure ? e->failure : "it is too large");
}

static void emit_function(Emit *e, uint32_t index) {
    e->fn = e->unit->functions[index];
    e->long_jumps = false;
    for (int round = 0; round < 2; round++) {
        if (regs_begin(e)) emit_code(e);
        if (e->failed || !e->too_far) break;
        e->long_jumps = true;
    }
    if (!e->failed) finish_function(e, &e->functions[index]);
    if (e->failed) report(e, e->fn);
}

/* ---- units ---- */

static void copy_captures(Emit *e) {
    for (uint32_t i = 0; i < e->unit->function_count && !e->failed; i++) {
        const IrFunction *fn = e->unit->functions[i];
        BcCapture *captures = COPY(e, fn->captures, fn->capture_count);
        e->functions[i].captures = captures;
        if (captures) e->functions[i].capture_count = fn->capture_count;
        for (uint32_t k = 0; captures && k < fn->capture_count; k++)
            if (captures[k].kind == CAP_CARRIER)
                captures[k].index += (uint16_t)has_link(e->unit->functions[fn->capture_owners[k].function]);
    }
}

static BcConst *copy_consts(Emit *e) {
    const IrUnit *unit = e->unit;
    BcConst *consts = COPY(e, unit->consts, unit->const_count);
    for (uint32_t i = 0; consts && i < unit->const_count; i++)
        if (consts[i].kind != BC_INT && consts[i].kind != BC_FLOAT)
            consts[i].u.text = copy_text(e, consts[i].u.text.bytes, consts[i].u.text.length);
    return consts;
}

static void free_buffers(Emit *e) {
    void *buffers[] = {e->temps,   e->locals, e->frames,   e->loops, e->homes,        e->bound,
                       e->windows, e->code,   e->lines,    e->sites, e->region_table, e->patches,
                       e->stubs,   e->labels, e->branches, e->saved};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) memory_free(e->memory, buffers[i]);
    memory_free(e->memory, e);
}

static bool emit_unit(Emit *e, BcUnit *out) {
    const IrUnit *unit = e->unit;
    e->functions =
        unit->function_count ? memory_zalloc(e->memory, unit->function_count * sizeof *e->functions) : NULL;
    if (unit->function_count && !e->functions) return false;
    out->functions = e->functions;
    out->function_count = unit->function_count;
    for (uint32_t i = 0; i < unit->function_count && !e->failed; i++) emit_function(e, i);
    if (!e->failed) copy_captures(e);
    if (!e->failed) out->consts = copy_consts(e);
    if (out->consts) out->const_count = unit->const_count;
    return !e->failed && !ir_failed(unit);
}

BcUnit *ir_emit(IrVerified *verified, DiagList *diags) {
    IrUnit *unit = verified->unit;
    BcUnit *out = unit->shell;
    const Memory *memory = ir_memory(unit);
    Emit *e = memory_zalloc(memory, sizeof *e);
    if (!e || !out) {
        memory_free(memory, e);
        diag_add(diags, DIAG_ERROR, "limit", span_make(0, 0), "Out of memory while compiling");
        return NULL;
    }
    e->memory = memory;
    e->unit = unit;
    e->diags = diags;
    bool ok = emit_unit(e, out);
    if (!ok && !e->failed)
        diag_add(diags, DIAG_ERROR, "limit", span_make(0, 0), "Out of memory while compiling");
    free_buffers(e);
    if (!ok) return NULL; /* the shell stays the IR's, and goes with it */
    unit->shell = NULL;
    return out;
}
