/* Primitives of Block. The sends value, value:, ... are an instruction (CALLBLOCK); these are what perform:
 * and PRIM_SEND reach. */
#include "vm/list.h"
#include "vm/prims/prim_support.h"

static const Function *block_function(Value v) {
    return value_is_kind(v, KIND_CLOSURE) ? closure_function(v) : NULL;
}

static PrimStatus call(Process *p, Value block, const Value *values, unsigned argc) {
    static const WellKnownSymbol SELECTORS[] = {SYM_value, SYM_value_1, SYM_value_2, SYM_value_3};
    WellKnownSymbol selector = argc < 4 ? SELECTORS[argc] : SYM_valueWithArguments;
    PrimStatus status = prim_send(p, block, value_from_symbol(selector), values, argc);
    p->send->call_block = true;
    return status;
}

PRIM(prim_block_value) { return (void)result, call(p, args[0], args + 1, count); }

PRIM(prim_block_value_with) {
    (void)count, (void)result;
    if (!list_is(args[1])) return error_argument(p, args[0], SYMBOL(valueWithArguments), NULL);
    size_t argc = list_length(args[1]);
    if (argc > PRIM_SEND_MAX)
        return error_argument(p, args[0], SYMBOL(valueWithArguments), "Too many arguments");
    Value values[PRIM_SEND_MAX], list = args[1];
    for (size_t i = 0; i < argc; i++, list = CONS_TAIL(list)) values[i] = CONS_HEAD(list);
    return call(p, args[0], values, (unsigned)argc);
}

PRIM(prim_block_arity) {
    (void)p, (void)count;
    const Function *fn = block_function(args[0]);
    return *result = value_from_int(fn ? fn->param_count : 0), PRIM_OK;
}

PRIM(prim_block_writes_outer) {
    (void)p, (void)count;
    const Function *fn = block_function(args[0]);
    bool local = fn && (fn->flags & (FN_WRITES_OUTER | FN_ONLY_READS)) == FN_WRITES_OUTER;
    return *result = value_from_bool(local || (fn && (fn->flags & FN_ACTOR_FIELDS))), PRIM_OK;
}
