/* What the host denies to programs. A denied primitive is replaced when code is linked, so that calls of the
 * allowed ones cost nothing: one that is refused raises permission_denied, with the host named in the hint.
 * The table is capabilities.def; new primitives that reach out of the VM get a row there. */
#ifndef BT_VM_CAPABILITIES_H
#define BT_VM_CAPABILITIES_H

#include "vm/prim.h"

/* The primitive, or what refuses it in this VM. */
PrimFn capability_checked(const BtVm *vm, PrimFn prim);
/* Bit of the capability that the primitive needs, 0: none. */
uint32_t capability_needed(PrimFn prim);

#endif
