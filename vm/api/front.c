/* See front.h. */
#include "vm/api/front.h"
#include "vm/api/api_internal.h"

static CompileOptions options_for(World *world, const char *name) {
    return (CompileOptions){.name = name, .script = true, .world = world_interface(world)};
}

IrUnit *front_compile_to_ir(bt_vm *vm, const char *name, const char *source, size_t length, DiagList *diags) {
    World *world = world_new(vm->core);
    if (!world) return NULL;
    CompileOptions options = options_for(world, name);
    IrUnit *unit = compile_to_ir(&options, source, length, diags);
    world_free(world);
    return unit;
}

BcUnit *front_compile(bt_vm *vm, const char *name, const char *source, size_t length, DiagList *diags) {
    World *world = world_new(vm->core);
    if (!world) return NULL;
    CompileOptions options = options_for(world, name);
    BcUnit *unit = compile_source(&options, source, length, diags);
    world_free(world);
    return unit;
}
