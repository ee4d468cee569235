/* Opcode tables and the life of a BcUnit: pieces of native memory, each owned by the structure that points to
 * it. */
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

static void free_text(const Memory *m, BcText text) { memory_free(m, (char *)(uintptr_t)text.bytes); }

static void free_fields(const Memory *m, BcField *fields, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free_text(m, fields[i].name);
        free_text(m, fields[i].type);
    }
    memory_free(m, fields);
}

static void free_methods(const Memory *m, BcMethod *methods, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free_text(m, methods[i].selector);
        free_text(m, methods[i].doc);
        free_text(m, methods[i].source);
        free_text(m, methods[i].class_name);
    }
    memory_free(m, methods);
}

static void free_functions(const Memory *m, BcFunction *functions, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free_text(m, functions[i].class_name);
        memory_free(m, functions[i].code);
        memory_free(m, functions[i].sites);
        memory_free(m, functions[i].regions);
        memory_free(m, functions[i].lines);
        memory_free(m, functions[i].captures);
    }
    memory_free(m, functions);
}

static void free_classes(const Memory *m, BcClass *classes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free_text(m, classes[i].name);
        free_text(m, classes[i].superclass);
        free_text(m, classes[i].doc);
        free_text(m, classes[i].native_module);
        free_fields(m, classes[i].fields, classes[i].field_count);
        free_fields(m, classes[i].class_vars, classes[i].class_var_count);
        free_methods(m, classes[i].methods, classes[i].method_count);
    }
    memory_free(m, classes);
}

void bc_unit_free(BcUnit *unit) {
    if (!unit) return;
    const Memory *m = unit->memory;
    if (unit->decoded) {
        memory_free(m, unit->block);
        memory_free(m, unit->image);
        memory_free(m, unit);
        return;
    }
    free_text(m, unit->name);
    free_text(m, unit->source);
    for (uint32_t i = 0; i < unit->const_count; i++)
        if (unit->consts[i].kind != BC_INT && unit->consts[i].kind != BC_FLOAT)
            free_text(m, unit->consts[i].u.text);
    memory_free(m, unit->consts);
    free_functions(m, unit->functions, unit->function_count);
    free_classes(m, unit->classes, unit->class_count);
    free_methods(m, unit->extensions, unit->extension_count);
    for (uint32_t i = 0; i < unit->binding_count; i++) free_text(m, unit->bindings[i]);
    memory_free(m, unit->bindings);
    memory_free(m, unit);
}
