/* Functions of the host program that programs call by number: `HostFunction call:with:`.
 *
 * Owner: the VM. Entries are added by vm/api/host.c and never removed while the VM lives, so that a call
 * needs no lock. */
#ifndef BT_VM_HOST_H
#define BT_VM_HOST_H

#include "vm/prim.h"

/* Runs `function` for the running process: as a primitive, with arguments[0] a List that is a root. */
typedef PrimStatus (*HostInvoke)(Process *p, void *function, Value *arguments, Value *result);
/* What a function answers that wants a block called: #(handle on this, block, List of arguments). Freed with
 * the handle; the state is released then, or once it has gone on. */
typedef struct HostStep HostStep;
struct HostStep {
    Counted counted;
    PrimStatus (*resume)(Process *p, HostStep *step, Value *answer, Value *result); /* answer: a root */
    void (*continuation)(void); /* the host's own function, as `resume` knows it */
    void *owner;                /* whose VM it is, for `resume` */
    void *state;
    void (*release)(void *state); /* or NULL */
};
enum { STEP_HANDLE = 1, STEP_CALLEE, STEP_ARGUMENTS, STEP_WORDS };
void host_step_drop(const Memory *memory, Counted *c);
/* Sets the state free, once. */
void host_step_release(HostStep *step);

typedef struct HostTable HostTable;

/* Number of the entry, or UINT32_MAX without memory. drop(function) is called when the VM goes. Any thread.
 */
uint32_t host_add(BtVm *vm, HostInvoke invoke, void *function,
                  void (*drop)(const Memory *memory, void *function));
/* False: no such number. Any thread. */
bool host_find(BtVm *vm, uint32_t number, HostInvoke *invoke, void **function);
/* vm_new and vm_free. */
bool host_new(BtVm *vm);
void host_free(BtVm *vm);

#endif
