/* Limits on memory: what one process may hold in its heap, how many messages may wait for it, what the whole
 * VM may take from the system. All are off unless asked for.
 *
 * A process that would go over its heap limit, or that asks for much while the VM is over its own, gets a
 * resource_error where it asked, and there is a line in the log. A mailbox over its limit ends its owner: the
 * reason is resource_error, its callers get actor_dead. */
#ifndef BT_VM_LIMITS_H
#define BT_VM_LIMITS_H

#include "vm/process.h"

/* The VM has a limit and was over it when last looked at. Any thread. */
bool limits_memory_is_short(BtVm *vm);
/* Looks at the resident set, at most once a millisecond; answers the same. Any thread. */
bool limits_look_at_memory(BtVm *vm);
/* What the system has given this process. */
size_t limits_resident_bytes(void);
/* Leaves a resource_error pending that says which limit, and logs it. Answers false. */
bool limits_raise_heap(Process *p);
bool limits_raise_memory(Process *p);
/* Ends the process whose mailbox is full. Any thread. */
void limits_end_for_mailbox(BtVm *vm, Value pid, uint32_t limit);
/* Pid and class of a process, for log lines. */
void process_title(BtVm *vm, Value pid, char *buffer, size_t size);

#endif
