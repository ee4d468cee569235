/* Protected regions: see region.h. */
#include "vm/region.h"

void region_restore(Process *p, const Value *slots) {
    class_vars_restore(p, slots[0]);
    region_restore_cleanup(p, slots);
}

/* What stands in the registers need not come from a SNAPSHOT if the code is hostile: a record of another
 * shape must not get in where the fast paths trust the shape. Carriers are checked at each access. */
static bool fits(Value now, Value snapshot) {
    if (now == snapshot) return true;
    if (!value_is_kind(snapshot, KIND_RECORD)) return false;
    return value_is_kind(now, KIND_RECORD) && object_size(now) == object_size(snapshot);
}

void region_restore_cleanup(Process *p, const Value *slots) {
    if (fits(p->state, slots[1])) p->state = slots[1];
    if (slots[2] == V_HOLE || value_is_kind(slots[2], KIND_RECORD)) p->carriers = slots[2];
}
