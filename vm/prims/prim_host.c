/* Primitives of host functions: the call by number, and the steps of one that calls blocks. */
#include "vm/bytecode/memory.h"
#include "vm/host.h"
#include "vm/prims/prim_support.h"

PRIM(prim_host_call) {
    (void)count;
    HostInvoke invoke;
    void *function;
    bool known = value_is_int(args[1]) && value_to_int(args[1]) >= 0 && value_to_int(args[1]) < UINT32_MAX &&
                 list_is(args[2]) && host_find(p->vm, (uint32_t)value_to_int(args[1]), &invoke, &function);
    if (!known) return error_type(p, args[0], V_NIL, "There is no host function with this number");
    return invoke(p, function, &args[2], result);
}

static HostStep *step_of(Value v) {
    if (!value_is_kind(v, KIND_TUPLE) || object_size(v) != STEP_WORDS) return NULL;
    return native_of(object_at(v, STEP_HANDLE), host_step_drop);
}

PRIM(prim_host_is_step) {
    (void)p, (void)count;
    return *result = value_from_bool(step_of(args[1]) != NULL), PRIM_OK;
}

static PrimStatus no_step(Process *p, Value receiver) {
    return error_type(p, receiver, V_NIL, "This is no step of a host function");
}

PRIM(prim_host_block_of) {
    (void)count;
    if (!step_of(args[1])) return no_step(p, args[0]);
    return *result = object_at(args[1], STEP_CALLEE), PRIM_OK;
}

PRIM(prim_host_arguments_of) {
    (void)count;
    if (!step_of(args[1])) return no_step(p, args[0]);
    return *result = object_at(args[1], STEP_ARGUMENTS), PRIM_OK;
}

PRIM(prim_host_resume) {
    (void)count;
    HostStep *step = step_of(args[1]);
    if (!step || !step->release) return no_step(p, args[0]); /* or it has gone on already */
    return step->resume(p, step, &args[2], result);
}
