/* Protected regions: see region.h. */
#include "vm/region.h"

void region_restore(Process *p, const Value *slots) {
    class_vars_restore(p, slots[0]);
    region_restore_cleanup(p, slots);
}

/* What stands in the registers need not come from a SNAPSHOT if the code is hostile: a record of another
 * shape must not get in where the fast paths trust the shape. */
static bool fits(Value now, Value snapshot) {
    if (now == snapshot) return true;
    if (!value_is_kind(snapshot, KIND_RECORD)) return false;
    return value_is_kind(now, KIND_RECORD) && object_size(now) == object_size(snapshot);
}

/* Those that frames have opened have to be there (carrier_own). */
static bool carriers_fit(const Process *p, Value snapshot) {
    if (snapshot == V_HOLE) return p->carrier_top == 0;
    return value_is_kind(snapshot, KIND_RECORD) && object_size(snapshot) > p->carrier_top;
}

void region_restore_cleanup(Process *p, const Value *slots) {
    if (fits(p->state, slots[1])) p->state = slots[1];
    if (carriers_fit(p, slots[2])) p->carriers = slots[2];
}
