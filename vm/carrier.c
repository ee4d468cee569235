/* Carriers: locals that real closures write, in one record of the process (architecture.md section 2).
 *
 * An activation that opens n carriers takes n + 1 slots at carrier_top: the serial of the home that its
 * closures carry, then the values. While a frame runs, everything opened further in is closed again, so its
 * own block is the topmost. A closure finds its block by base and believes it only if the process is its
 * home's and the serial there is still the one it carries. */
#include "vm/interp_internal.h"

static bool carriers_grow(Process *p, size_t needed) {
    size_t size = p->carriers == V_HOLE ? 0 : object_size(p->carriers) - 1;
    if (needed <= size) return true;
    Value bigger = record_new(p, needed < 8 ? 8 : needed * 2);
    if (bigger == V_HOLE) return false;
    for (size_t i = 0; i < size && i < p->carrier_top; i++)
        object_words(bigger)[i + 1] = object_at(p->carriers, i + 1);
    p->carriers = bigger;
    return true;
}

bool carriers_open(Process *p, Frame *frame, unsigned count) {
    size_t base = p->carrier_top;
    if (base > UINT32_MAX / 4 || !carriers_grow(p, base + count + 1))
        return p->exception != V_HOLE ? false : (error_resource(p, NULL), false);
    Value serial;
    if (frame->fn->kind == FN_BLOCK && value_is_closure(frame->regs[0])) {
        serial = object_at(frame->regs[0], CLOSURE_HOME_SERIAL);
    } else {
        if (!frame->serial) frame->serial = ++p->next_serial;
        serial = value_from_int(frame->serial);
    }
    if (!record_write(p, &p->carriers, base, serial)) return false;
    for (size_t i = 0; i < count; i++)
        if (!record_write(p, &p->carriers, base + 1 + i, V_NIL)) return false;
    frame->carriers = (uint16_t)count;
    frame->flags |= FRAME_CARRIERS;
    p->carrier_top = (uint32_t)(base + count + 1);
    return true;
}

PrimStatus raise_stateful(Process *p, Value selector) {
    return error_raise(p, ERR_stateful_block_dispatch, class_by_id(p->vm, CLASS_ID_Block)->name, selector,
                       NULL,
                       "A block that writes a variable of the method around it can be used only by that "
                       "method while it runs, in its own process",
                       V_NIL);
}
