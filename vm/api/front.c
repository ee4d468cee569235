/* See front.h. */
#include "vm/api/front.h"
#include <stdio.h>
#include <stdlib.h>
#include "vm/api/api_internal.h"

static CompileOptions options_for(bt_vm *vm, World *world, const char *name) {
    return (CompileOptions){
        .memory = vm->memory, .name = name, .script = true, .world = world_interface(world)};
}

IrUnit *front_compile_to_ir(bt_vm *vm, const char *name, const char *source, size_t length, DiagList *diags) {
    World *world = world_new(vm->core);
    if (!world) return NULL;
    CompileOptions options = options_for(vm, world, name);
    IrUnit *unit = compile_to_ir(&options, source, length, diags);
    world_free(world);
    return unit;
}

BcUnit *front_compile(bt_vm *vm, const char *name, const char *source, size_t length, DiagList *diags) {
    World *world = world_new(vm->core);
    if (!world) return NULL;
    CompileOptions options = options_for(vm, world, name);
    BcUnit *unit = compile_source(&options, source, length, diags);
    world_free(world);
    return unit;
}

BcUnit *front_compile_spoiled(bt_vm *vm, const char *name, const char *source, size_t length,
                              DiagList *diags) {
    World *world = world_new(vm->core);
    if (!world) return NULL;
    CompileOptions options = options_for(vm, world, name);
    options.spoil_methods = true;
    BcUnit *unit = compile_source(&options, source, length, diags);
    world_free(world);
    return unit;
}

bool front_has_class(bt_vm *vm, const char *name, size_t length) {
    Value symbol = symbol_lookup(vm->core, name, length);
    return symbol != V_HOLE && class_by_name(vm->core, symbol) != NULL;
}

bool front_define(bt_vm *vm, BcUnit *bc, char *reason, size_t reason_size) {
    CodeUnit *unit = code_link(vm->core, bc, false, reason, reason_size);
    if (!unit) return bc_unit_free(bc), false;
    bool done = classes_install(vm->core, unit, false, reason, reason_size);
    code_release(unit);
    return done;
}

bool front_listing(bt_session *session, const char *source, size_t length, DiagList *diags, char **text) {
    BtVm *vm = session->vm->core;
    World *world = world_new(vm);
    uint32_t count;
    char *texts = names_list(vm, session->core->id, &count);
    BcText *names = binding_names(vm->memory, texts, count);
    *text = NULL;
    if (world && names) {
        CompileOptions options = {.memory = vm->memory,
                                  .name = "input",
                                  .script = true,
                                  .session = true,
                                  .bindings = names,
                                  .binding_count = count,
                                  .world = world_interface(world)};
        IrUnit *ir = compile_to_ir(&options, source, length, diags);
        BcUnit *bc = ir ? compile_source(&options, source, length, diags) : NULL;
        char *ir_text = ir ? ir_print(ir) : NULL, *bc_text = bc ? bc_disassemble(bc) : NULL;
        if (ir_text && bc_text && asprintf(text, "%s\n%s", ir_text, bc_text) < 0) *text = NULL;
        free(ir_text);
        free(bc_text);
        if (ir) ir_unit_free(ir);
        if (bc) bc_unit_free(bc);
    }
    memory_free(vm->memory, names);
    memory_free(vm->memory, texts);
    world_free(world);
    return *text != NULL;
}
