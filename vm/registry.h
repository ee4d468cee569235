/* Registered names: one name a process, one process a name. Any thread, under one lock. A dying process gives
 * its name up before anyone can see it dead, and a dead one cannot get a name. */
#ifndef BT_VM_REGISTRY_H
#define BT_VM_REGISTRY_H

#include "vm/bytecode/memory.h"
#include "vm/value.h"

typedef struct BtVm BtVm;
typedef struct Registry Registry;

Registry *registry_new(const Memory *memory);
void registry_free(Registry *r);
/* False: the name is taken, the process has one already or is dead, or there is no memory. */
bool registry_register(BtVm *vm, Value name, Value pid);
/* False if the process does not have this name. */
bool registry_unregister(BtVm *vm, Value name, Value pid);
Value registry_lookup(BtVm *vm, Value name); /* pid or V_NIL */
Value registry_name_of(BtVm *vm, Value pid); /* symbol or V_NIL */
/* Calls visit under the lock, in order of registration; visit must not come back here. */
void registry_each(BtVm *vm, void (*visit)(void *context, Value name, Value pid), void *context);

#endif
