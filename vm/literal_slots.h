/* Classes whose slots all start as literals: `new` of a value class and `spawn` of an actor class copy them
 * instead of running `__defaults`.
 *
 * Owner: the class; computed by every install that lays its fields out. */
#ifndef BT_VM_LITERAL_SLOTS_H
#define BT_VM_LITERAL_SLOTS_H

#include "vm/class.h"

/* Sets c->literal_slots to field_count immediates or literals of loaded code; NULL if c is no value class or
 * a default must be computed. Writer side of the class lock held; superclass first. False: no memory. */
bool literal_slots_set(BtVm *vm, Class *c);

#endif
