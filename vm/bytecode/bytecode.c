/* Opcode tables and the life of a BcUnit: plain malloc'ed pieces, each owned by the structure that points to
 * it. */
#include <stdlib.h>
#include <string.h>
#include "vm/bytecode/bytecode.h"

static const struct {
    const char *name, *format, *effects;
} OPS[OPCODE_COUNT] = {
#define OP(name, format, effects, doc) {#name, format, effects},
#include "vm/bytecode/opcodes.def"
#undef OP
};

const char *opcode_name(Opcode op) { return op < OPCODE_COUNT ? OPS[op].name : "?"; }
const char *opcode_format(Opcode op) { return op < OPCODE_COUNT ? OPS[op].format : "----"; }
const char *opcode_effects(Opcode op) { return op < OPCODE_COUNT ? OPS[op].effects : ""; }

void instr_operands(Instr i, const char *format, int64_t out[4]) {
    bool wide = strlen(format) == 3;
    out[0] = instr_f(i);
    out[1] = instr_a(i);
    out[2] = wide ? instr_imm(i) : (int64_t)instr_b(i);
    out[3] = instr_c(i);
    if (!wide && (format[2] == 'i' || format[2] == 'j')) out[2] = instr_sb(i);
    if (!wide && (format[3] == 'i' || format[3] == 'j')) out[3] = instr_sc(i);
}

static void free_text(BcText text) { free((char *)(uintptr_t)text.bytes); }

static void free_fields(BcField *fields, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free_text(fields[i].name);
        free_text(fields[i].type);
    }
    free(fields);
}

static void free_methods(BcMethod *methods, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free_text(methods[i].selector);
        free_text(methods[i].doc);
        free_text(methods[i].source);
        free_text(methods[i].class_name);
    }
    free(methods);
}

static void free_functions(BcFunction *functions, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free_text(functions[i].class_name);
        free(functions[i].code);
        free(functions[i].sites);
        free(functions[i].regions);
        free(functions[i].lines);
        free(functions[i].captures);
    }
    free(functions);
}

static void free_classes(BcClass *classes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free_text(classes[i].name);
        free_text(classes[i].superclass);
        free_text(classes[i].doc);
        free_text(classes[i].native_module);
        free_fields(classes[i].fields, classes[i].field_count);
        free_fields(classes[i].class_vars, classes[i].class_var_count);
        free_methods(classes[i].methods, classes[i].method_count);
    }
    free(classes);
}

void bc_unit_free(BcUnit *unit) {
    if (!unit) return;
    if (unit->decoded) {
        free(unit->block);
        free(unit->image);
        free(unit);
        return;
    }
    free_text(unit->name);
    free_text(unit->source);
    for (uint32_t i = 0; i < unit->const_count; i++)
        if (unit->consts[i].kind != BC_INT && unit->consts[i].kind != BC_FLOAT)
            free_text(unit->consts[i].u.text);
    free(unit->consts);
    free_functions(unit->functions, unit->function_count);
    free_classes(unit->classes, unit->class_count);
    free_methods(unit->extensions, unit->extension_count);
    for (uint32_t i = 0; i < unit->binding_count; i++) free_text(unit->bindings[i]);
    free(unit->bindings);
    free(unit);
}
