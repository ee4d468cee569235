/* Protected regions: see region.h. */
#include "vm/region.h"

void region_snapshot(Process *p, Value *slots) {
    slots[0] = class_vars_snapshot(p);
    slots[1] = p->state;
    slots[2] = p->carriers;
    record_share(slots[1]);
    record_share(slots[2]);
}

void region_restore(Process *p, const Value *slots) {
    class_vars_restore(p, slots[0]);
    region_restore_cleanup(p, slots);
}

void region_restore_cleanup(Process *p, const Value *slots) {
    p->state = slots[1];
    p->carriers = slots[2];
}
