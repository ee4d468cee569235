/* Bytecode as readable text, driven by the formats of opcodes.def. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vm/bytecode/bytecode.h"

typedef struct {
    char *text;
    size_t used, size;
} Out;

static void put(Out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Out *o, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n > 0 && o->used + (size_t)n + 1 > o->size) {
        size_t size = (o->used + (size_t)n + 1) * 2;
        char *grown = realloc(o->text, size);
        if (grown)
            o->text = grown, o->size = size;
        else
            n = -1;
    }
    if (n > 0) {
        vsnprintf(o->text + o->used, o->size - o->used, format, again);
        o->used += (size_t)n;
    }
    va_end(again);
}

static void put_const(Out *o, const BcUnit *u, uint32_t k) {
    if (k >= u->const_count) {
        put(o, "K%u", k);
        return;
    }
    const BcConst *c = &u->consts[k];
    switch (c->kind) {
    case BC_INT: put(o, "%" PRId64, c->u.i); break;
    case BC_FLOAT: put(o, "%.17g", c->u.f); break;
    case BC_STRING: put(o, "\"%.*s\"", (int)c->u.text.length, c->u.text.bytes ? c->u.text.bytes : ""); break;
    case BC_SYMBOL: put(o, "#%.*s", (int)c->u.text.length, c->u.text.bytes ? c->u.text.bytes : ""); break;
    case BC_BIGINT:
    case BC_CLASS:
    case BC_CONST_COUNT: put(o, "%.*s", (int)c->u.text.length, c->u.text.bytes ? c->u.text.bytes : ""); break;
    }
}

static void put_operand(Out *o, const BcUnit *u, const BcFunction *f, uint32_t pc, char kind, int64_t v) {
    switch (kind) {
    case 'd':
    case 'r': put(o, " r%" PRId64, v); break;
    case 'w': put(o, " [r%" PRId64 "]", v); break;
    case 'K': put(o, " "), put_const(o, u, (uint32_t)v); break;
    case 'S':
        put(o, " ");
        if (v < f->site_count) put_const(o, u, f->sites[v].name);
        break;
    case 'F': put(o, " fn%" PRId64, v); break;
    case 'J':
    case 'j': put(o, " -> %" PRId64, (int64_t)pc + 1 + v); break;
    case '-': break;
    default: put(o, " %" PRId64, v);
    }
}

static void put_instr(Out *o, const BcUnit *u, const BcFunction *f, uint32_t pc) {
    Instr i = f->code[pc];
    Opcode op = instr_op(i);
    const char *format = opcode_format(op);
    put(o, "  %4u  %-12s", pc, opcode_name(op));
    int64_t values[4];
    instr_operands(i, format, values);
    for (size_t n = 1; format[n]; n++) put_operand(o, u, f, pc, format[n], values[n]);
    if (format[0] == 'r')
        put_operand(o, u, f, pc, 'r', values[0]);
    else if (format[0] != '-')
        put(o, " /%" PRId64, values[0]);
    put(o, "\n");
}

static void put_function(Out *o, const BcUnit *u, uint32_t index) {
    const BcFunction *f = &u->functions[index];
    put(o, "fn%u %.*s%s>>", index, (int)f->class_name.length, f->class_name.bytes ? f->class_name.bytes : "",
        f->class_side ? " class" : "");
    put_const(o, u, f->name);
    put(o, "%s  %u parameters, %u registers\n",
        f->kind == FN_BLOCK    ? " block"
        : f->kind == FN_SCRIPT ? " script"
                               : "",
        f->param_count, f->register_count);
    for (uint32_t pc = 0; pc < f->code_count; pc++) put_instr(o, u, f, pc);
    static const char *const KINDS[] = {"catch", "ensure", "answer", "home"};
    for (uint32_t r = 0; r < f->region_count; r++)
        put(o, "  %s %u..%u -> %u r%u\n", KINDS[f->regions[r].kind & 3], f->regions[r].start,
            f->regions[r].end, f->regions[r].handler, f->regions[r].reg);
    put(o, "\n");
}

char *bc_disassemble(const BcUnit *unit) {
    Out o = {.text = calloc(1, 256), .size = 256};
    if (!o.text) return NULL;
    for (uint32_t i = 0; i < unit->function_count; i++) put_function(&o, unit, i);
    return o.text;
}
