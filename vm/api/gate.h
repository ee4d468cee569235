/* Who is inside a VM, so that bt_vm_free may come at any time: it closes the gate, has the programs end, and
 * waits until the last call has left. Sessions and completions keep the bt_vm itself alive, so that their
 * calls find the gate closed and not freed memory. */
#ifndef BT_API_GATE_H
#define BT_API_GATE_H

#include "vm/api/api_internal.h"

/* False: the VM is gone, or going. Else gate_leave when done with vm->core. */
bool gate_enter(bt_vm *vm);
void gate_leave(bt_vm *vm);
/* No call enters any more; waits for those inside. False: it has been closed before. */
bool gate_close(bt_vm *vm);

/* Counts of the bt_vm: bt_vm_free gives back the first. */
void vm_keep(bt_vm *vm);
void vm_let_go(bt_vm *vm);

#endif
