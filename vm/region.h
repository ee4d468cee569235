/* Protected regions: the three-pointer snapshot (class variables, actor state, carriers) (architecture.md
 * section 3). */
#ifndef BT_VM_REGION_H
#define BT_VM_REGION_H

#include "vm/class_vars.h"

#define REGION_SNAPSHOT_WORDS 3
/* Writes the three pointers to slots[0..2] and marks the records shared. O(1). */
static inline void region_snapshot(Process *p, Value *slots) {
    class_vars_snapshot_homes(p, slots);
    records_share(p);
}
/* Puts all three back (an error crosses a catch). */
void region_restore(Process *p, const Value *slots);
/* Puts actor state and carriers back (cleanup of ensure: on the error path). */
void region_restore_cleanup(Process *p, const Value *slots);

#endif
