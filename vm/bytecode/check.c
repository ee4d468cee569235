/* The loader's check: one linear pass over every function (after Janet's janet_verify). What passes cannot
 * make the interpreter leave its frame, its constants, its sites or its code.
 *
 * Snapshots hold records of the process, which no value of the language is. So their registers belong to
 * snapshots alone, all through the function: nothing else reads or writes them, no callee's frame reaches
 * them, and a restore names what a snapshot names. Carriers are opened at most once, at the start. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "vm/bytecode/bytecode.h"

typedef struct {
    const BcUnit *unit;
    const BcFunction *fn;
    uint32_t index, pc;
    uint64_t rows[BC_MAX_REGISTERS / 64 + 1]; /* registers that hold snapshots */
    uint32_t rows_end;                        /* behind the highest of them, 0 = none */
    uint32_t first_target;                    /* jumps go there or beyond: not before CARRYOPEN */
    char *reason;
    size_t size;
    bool ok;
} Check;

static void refuse(Check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refuse(Check *c, const char *format, ...) {
    if (!c->ok) return;
    c->ok = false;
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(c->reason, c->size, "function %u, instruction %u: %s", c->index, c->pc, text);
}

static bool is_symbol(const BcUnit *u, uint32_t k) {
    return k < u->const_count && u->consts[k].kind == BC_SYMBOL;
}

/* What a CLOSURE may make: a block, or a ClassBuilder block that is compiled as a method. */
static bool is_block(const BcFunction *f) { return f->kind == FN_BLOCK || (f->flags & FN_BUILDER); }

static bool is_row(const Check *c, uint32_t r) { return c->rows[r / 64] >> (r % 64) & 1; }

static void check_register(Check *c, int64_t r, unsigned count) {
    if (r < 0 || r + count > c->fn->register_count) {
        refuse(c, "register %lld of %u", (long long)r, c->fn->register_count);
        return;
    }
    for (int64_t at = r; at < r + count && at < c->rows_end; at++)
        if (is_row(c, (uint32_t)at)) refuse(c, "register %lld is a snapshot's", (long long)at);
}

static bool is_region_op(Opcode op) { return op == OP_SNAPSHOT || op == OP_RESTORE || op == OP_RESTORE2; }

/* Notes the registers of all snapshots of the function. */
static void find_rows(Check *c) {
    const BcFunction *f = c->fn;
    if (c->rows_end) memset(c->rows, 0, sizeof c->rows);
    c->rows_end = 0;
    for (c->pc = 0; c->pc < f->code_count && c->ok; c->pc++) {
        Instr i = f->code[c->pc];
        unsigned a = instr_a(i);
        if (!is_region_op(instr_op(i))) continue;
        if (a + 3 > f->register_count || a <= f->param_count || (a - f->param_count - 1) % 3 != 0) {
            refuse(c, "register %u cannot hold a snapshot", a);
            return;
        }
        for (unsigned k = a; k < a + 3; k++) c->rows[k / 64] |= (uint64_t)1 << (k % 64);
        if (a + 3 > c->rows_end) c->rows_end = a + 3;
    }
}

static bool is_send(Opcode op) {
    return op == OP_SEND || op == OP_SENDOF || op == OP_SENDSELF || op == OP_SENDME || op == OP_SENDSUPER ||
           op == OP_TAILSEND || op == OP_TAILSELF || op == OP_TAILME || op == OP_CALLBLOCK || op == OP_CAST;
}

static unsigned send_argc(Instr i) { return instr_op(i) == OP_SENDOF ? 0 : instr_f(i); }

/* Instructions that use more registers than one behind an operand. */
static unsigned registers_used(Opcode op, char kind, Instr i) {
    if (kind == 'd' || kind == 'r') {
        if (op == OP_PENDING || op == OP_NOPENDING || op == OP_RESUME || op == OP_JPENDERR) return 4;
        return 1;
    }
    if (is_send(op)) return send_argc(i) + 1;
    return op == OP_DICT ? 2 * instr_c(i) : instr_c(i);
}

static void check_window(Check *c, Opcode op, Instr i, int64_t base) {
    unsigned used = registers_used(op, 'w', i);
    bool data = op == OP_LIST || op == OP_CONSTAIL || op == OP_ARRAY || op == OP_DICT || op == OP_TUPLE ||
                op == OP_INTERP;
    if (!data && base < FRAME_WORDS + (int64_t)c->rows_end)
        refuse(c, "window at register %lld leaves no room for a frame", (long long)base);
    if (used) check_register(c, base, used);
}

static void check_jump(Check *c, int64_t offset) {
    int64_t target = (int64_t)c->pc + 1 + offset;
    if (target < c->first_target || target >= c->fn->code_count) refuse(c, "jump to %lld", (long long)target);
}

static void check_operand(Check *c, Instr i, char kind, int64_t v) {
    Opcode op = instr_op(i);
    switch (kind) {
    case 'd':
    case 'r':
        if (!is_region_op(op)) check_register(c, v, registers_used(op, kind, i));
        break;
    case 'w': check_window(c, op, i, v); break;
    case 'K':
        if (v < 0 || v >= c->unit->const_count)
            refuse(c, "constant %lld", (long long)v);
        else if (op == OP_LOADCLASS && !is_symbol(c->unit, (uint32_t)v))
            refuse(c, "class name is no symbol");
        break;
    case 'S':
        if (v < 0 || v >= c->fn->site_count) refuse(c, "site %lld", (long long)v);
        break;
    case 'F':
        if (v < 0 || v >= c->unit->function_count || !is_block(&c->unit->functions[v]))
            refuse(c, "block function %lld", (long long)v);
        break;
    case 'J':
    case 'j': check_jump(c, v); break;
    default: break;
    }
}

static void check_instr(Check *c) {
    Instr i = c->fn->code[c->pc];
    Opcode op = instr_op(i);
    if (op >= OPCODE_COUNT) {
        refuse(c, "unknown opcode %u", (unsigned)op);
        return;
    }
    const char *format = opcode_format(op);
    int64_t values[4];
    instr_operands(i, format, values);
    for (size_t n = 0; format[n]; n++) check_operand(c, i, format[n], values[n]);
    if (op == OP_FORSTEP || op == OP_FORPREP) check_register(c, instr_a(i), 3);
    if ((op == OP_SENDME || op == OP_TAILME) && c->fn->kind == FN_BLOCK)
        refuse(c, "a block's register 0 is not self");
    if (is_send(op)) {
        if (instr_c(i) < c->fn->site_count && c->fn->sites[instr_c(i)].argc != send_argc(i))
            refuse(c, "argument count differs from the site's");
    }
    if (op == OP_GETCAP && (c->fn->kind != FN_BLOCK || instr_b(i) >= c->fn->capture_count))
        refuse(c, "capture %u", instr_b(i));
    if (op == OP_CARRYOPEN && (c->pc != 0 && !(c->pc == 1 && instr_op(c->fn->code[0]) == OP_PRIM)))
        refuse(c, "carriers are opened in the middle of the code");
    if (op == OP_ADDRET || op == OP_ADDIRET) {
        Instr next = c->pc + 1 < c->fn->code_count ? c->fn->code[c->pc + 1] : 0;
        if (instr_op(next) != OP_RETURN || instr_a(next) != instr_a(i))
            refuse(c, "no RETURN of what is added");
    }
    if (op == OP_CONSTAIL && instr_c(i) == 0) refuse(c, "cons of nothing");
    if (op == OP_PRIM && !is_symbol(c->unit, instr_c(i))) refuse(c, "primitive without a name");
}

/* The register of the snapshot that stands before a region (behind it, moves of locals that the region's body
 * rebinds), or -1. */
static int32_t snapshot_before(const BcFunction *f, uint32_t start) {
    uint32_t at = start;
    while (at > 0 && instr_op(f->code[at - 1]) == OP_MOVE) at--;
    return at > 0 && instr_op(f->code[at - 1]) == OP_SNAPSHOT ? (int32_t)instr_a(f->code[at - 1]) : -1;
}

/* Whoever made the code: an error that is caught, in whatever method, takes back what the region wrote before
 * anything else happens (ADR 0130, section 4). */
static void check_restore(Check *c, const BcRegion *g) {
    int32_t snapshot = snapshot_before(c->fn, g->start);
    Instr first = c->fn->code[g->handler];
    if (snapshot < 0) refuse(c, "a region without a snapshot");
    if (g->kind == BC_CATCH && (instr_op(first) != OP_RESTORE || (int32_t)instr_a(first) != snapshot))
        refuse(c, "a handler that does not begin by restoring");
    if (g->kind == BC_ENSURE && instr_op(first) != OP_PENDING)
        refuse(c, "a cleanup that does not take what is in flight");
}

static void check_regions(Check *c) {
    const BcFunction *f = c->fn;
    for (uint32_t r = 0; r < f->region_count; r++) {
        const BcRegion *g = &f->regions[r];
        if (g->handler < c->first_target || g->start > g->end || g->end > f->code_count ||
            g->handler >= f->code_count || g->kind > BC_HOME)
            refuse(c, "region %u", r);
        else if (g->kind != BC_ENSURE)
            check_register(c, g->reg, 1);
        if (c->ok && g->kind <= BC_ENSURE) check_restore(c, g);
    }
}

static void check_captures(Check *c) {
    for (uint32_t i = 0; i < c->fn->capture_count; i++) {
        const BcCapture *k = &c->fn->captures[i];
        bool named = k->kind == CAP_STATE || k->kind == CAP_CLASS_VAR;
        if (k->kind > CAP_CLASS_VAR || (named && !is_symbol(c->unit, k->name))) refuse(c, "capture %u", i);
    }
}

/* A CLOSURE fills the block's captures from this function's registers and captures. */
static void check_closure_sources(Check *c, Instr i) {
    const BcFunction *block = &c->unit->functions[instr_imm(i)];
    for (uint32_t k = 0; k < block->capture_count; k++) {
        const BcCapture *from = &block->captures[k];
        if (from->kind == CAP_REGISTER) check_register(c, from->index, 1);
        bool from_capture =
            from->kind == CAP_CAPTURE ||
            ((from->kind == CAP_STATE || from->kind == CAP_CLASS_VAR) && from->fallback != BC_NO_CAPTURE);
        uint16_t index = from->kind == CAP_CAPTURE ? from->index : from->fallback;
        if (from_capture && (c->fn->kind != FN_BLOCK || index >= c->fn->capture_count))
            refuse(c, "captured capture %u", index);
    }
}

/* Captures are read from register 0 of a block without a look at what lies there, so nothing may be written
 * over the closure. */
static void check_keeps_closure(Check *c, Instr i) {
    Opcode op = instr_op(i);
    const char *format = opcode_format(op);
    bool written = format[1] == 'd' && instr_a(i) == 0;
    bool loop = op == OP_FORPREP || op == OP_FORSTEP || op == OP_EACHPREP || op == OP_EACHSTEP;
    if (loop && (instr_a(i) == 0 || instr_b(i) == 0)) written = true;
    if (format[2] == 'w' && format[3] == 'S' && instr_b(i) <= FRAME_WORDS) written = true;
    if (written) refuse(c, "a block overwrites its closure");
}

static void check_function(Check *c) {
    const BcFunction *f = c->fn;
    c->pc = 0;
    if (f->kind > FN_BLOCK || f->code_count == 0 || !is_symbol(c->unit, f->name) ||
        f->register_count > BC_MAX_REGISTERS || (uint32_t)f->param_count + 1 > f->register_count ||
        f->capture_count > UINT16_MAX)
        refuse(c, "malformed function");
    for (uint32_t s = 0; c->ok && s < f->site_count; s++) {
        if (!is_symbol(c->unit, f->sites[s].name)) refuse(c, "site %u without a name", s);
        if (f->sites[s].capture != BC_NO_CAPTURE &&
            (f->kind != FN_BLOCK || f->sites[s].capture >= f->capture_count))
            refuse(c, "site %u's capture", s);
    }
    if (c->ok) find_rows(c);
    c->first_target = 0;
    for (uint32_t i = 0; i < 2 && i < f->code_count; i++)
        if (instr_op(f->code[i]) == OP_CARRYOPEN) c->first_target = i + 1;
    for (c->pc = 0; c->ok && c->pc < f->code_count; c->pc++) {
        check_instr(c);
        if (c->ok && instr_op(f->code[c->pc]) == OP_CLOSURE) check_closure_sources(c, f->code[c->pc]);
        if (c->ok && f->kind == FN_BLOCK) check_keeps_closure(c, f->code[c->pc]);
    }
    if (c->ok) {
        c->pc = f->code_count - 1;
        Opcode last = instr_op(f->code[c->pc]);
        if (!strchr(opcode_effects(last), 'T') && last != OP_JUMP) refuse(c, "the code runs off its end");
        if (last == OP_RESUME) refuse(c, "the code runs off its end");
    }
    if (c->ok) check_regions(c);
    if (c->ok) check_captures(c);
}

static void check_methods(Check *c, const BcMethod *methods, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (methods[i].function >= c->unit->function_count || methods[i].selector.length == 0)
            refuse(c, "method %u", i);
}

static void check_fields(Check *c, const BcField *fields, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if ((fields[i].function != BC_NONE && fields[i].function >= c->unit->function_count) ||
            fields[i].name.length == 0)
            refuse(c, "field %u", i);
}

bool bc_check(const BcUnit *unit, char *reason, size_t reason_size) {
    Check c = {.unit = unit, .reason = reason, .size = reason_size, .ok = true};
    for (c.index = 0; c.ok && c.index < unit->function_count; c.index++) {
        c.fn = &unit->functions[c.index];
        check_function(&c);
    }
    c.index = c.pc = 0;
    for (uint32_t i = 0; c.ok && i < unit->class_count; i++) {
        const BcClass *k = &unit->classes[i];
        if (k->name.length == 0 || k->kind > BC_KIND_ACTOR) refuse(&c, "class %u", i);
        check_fields(&c, k->fields, k->field_count);
        check_fields(&c, k->class_vars, k->class_var_count);
        check_methods(&c, k->methods, k->method_count);
    }
    if (c.ok) check_methods(&c, unit->extensions, unit->extension_count);
    if (c.ok && unit->script != BC_NONE &&
        (unit->script >= unit->function_count || unit->functions[unit->script].kind != FN_SCRIPT))
        refuse(&c, "script function");
    return c.ok;
}
