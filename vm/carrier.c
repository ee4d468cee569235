/* Carriers: locals that real closures write, in one record of the process (architecture.md section 2).
 *
 * An activation that opens n carriers takes n + 1 slots at carrier_top: a serial, then the values. While a
 * frame runs, everything opened further in is closed again, so its own slots are the topmost. A closure finds
 * them by base, and believes them only in the process that opened them and if the serial there is still the
 * one it carries: both stand behind its captures. That is the activation that opened the carriers, not the
 * home of its ^: a block with carriers of its own may run in a process that never saw its method. */
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
    if (!record_write(p, &p->carriers, base, value_from_int(++p->next_serial))) return false;
    for (size_t i = 0; i < count; i++)
        if (!record_write(p, &p->carriers, base + 1 + i, V_NIL)) return false;
    frame->carriers = (uint16_t)count;
    frame->flags |= FRAME_CARRIERS;
    p->carrier_top = (uint32_t)(base + count + 1);
    return true;
}

void carriers_tell(const Process *p, const Frame *f, uint64_t *words) {
    if (f->flags & FRAME_CARRIERS) {
        size_t at = p->carrier_top - f->carriers; /* behind the header: the serial */
        words[0] = p->pid;
        words[1] =
            p->carriers != V_HOLE && at < object_size(p->carriers) ? object_at(p->carriers, at) : V_NIL;
    } else {
        size_t end = object_size(f->regs[0]);
        words[0] = object_at(f->regs[0], end - 2);
        words[1] = object_at(f->regs[0], end - 1);
    }
}

PrimStatus raise_stateful(Process *p, Value selector) {
    return error_raise(p, ERR_stateful_block_dispatch, class_by_id(p->vm, CLASS_ID_Block)->name, selector,
                       NULL,
                       "A block that writes a variable of the method around it can be used only by that "
                       "method while it runs, in its own process",
                       V_NIL);
}
