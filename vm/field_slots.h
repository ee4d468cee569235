/* Where the fields of value instances lie. An instance knows its class and its size, not the layout that its
 * class had when it was made, and compiled methods of subclasses hold positions: so a position, once given,
 * stays.
 *
 * A class that was never reloaded has its fields in order, the inherited ones first. At a reload a field
 * keeps its place; a new one lies behind everything that the class or a class below it has; the place of one
 * that is gone stays reserved for its name. compiler/class_slots.c computes the same for the code of the
 * unit.
 *
 * Owner: the class. Actors have their state by name (SlotLayout) and need none of this. */
#ifndef BT_VM_FIELD_SLOTS_H
#define BT_VM_FIELD_SLOTS_H

#include "vm/class.h"

/* Slots of the largest instances of the class and of those below it: a new field lies behind. */
uint32_t class_slot_limit(BtVm *vm, const Class *c);
/* Gives the fields with these names, `inherited` of them the superclass's, their slots. Before it names the
 * class has its old fields; *moved: one of them lies elsewhere now, so code that was compiled before is
 * wrong. Writer side of the class lock held. False: no memory. */
bool field_slots_set(BtVm *vm, Class *c, const Value *names, uint32_t count, uint32_t inherited, bool *moved);

#endif
