/* Capabilities. See capabilities.h. */
#include "vm/capabilities.h"
#include "vm/error.h"
#include "vm/vm.h"

#define NEEDS(capability, function)                                                                          \
    PrimStatus function(Process *p, Value *args, unsigned count, Value *result);
#include "vm/capabilities.def"
#undef NEEDS

#define CAPABILITY(name, bit, what)                                                                          \
    static PrimStatus refuse_##name(Process *p, Value *args, unsigned count, Value *result) {                \
        (void)count, (void)result;                                                                           \
        return error_raise(p, ERR_permission_denied, class_name_of(p->vm, args[0]), V_NIL, NULL,             \
                           "The host does not allow programs to " what, V_NIL);                              \
    }
#include "vm/capabilities.def"
#undef CAPABILITY

enum {
#define CAPABILITY(name, bit, what) BIT_##name = bit,
#include "vm/capabilities.def"
#undef CAPABILITY
};

typedef struct {
    PrimFn prim, refusal;
    uint32_t bit;
} Need;

static const Need NEEDED[] = {
#define NEEDS(capability, function) {function, refuse_##capability, BIT_##capability},
#include "vm/capabilities.def"
#undef NEEDS
};

static const Need *need_of(PrimFn prim) {
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++)
        if (NEEDED[i].prim == prim) return &NEEDED[i];
    return NULL;
}

PrimFn capability_checked(const BtVm *vm, PrimFn prim) {
    const Need *need = vm->denied ? need_of(prim) : NULL;
    return need && (vm->denied & need->bit) ? need->refusal : prim;
}

uint32_t capability_needed(PrimFn prim) {
    const Need *need = need_of(prim);
    return need ? need->bit : 0;
}
