/* Limits: what one process may hold in its heap, how many messages may wait for it, how much work it may do
 * and print, how many processes and timers there may be, what the whole VM may take from the system. All are
 * off unless asked for.
 *
 * A process that would go over its heap limit, or that asks for much while the VM is over its own, gets a
 * resource_error where it asked, and there is a line in the log. A mailbox over its limit ends its owner: the
 * reason is resource_error, its callers get actor_dead. So do a limit on reductions and one on output, which
 * hold for one piece of work: the life of a plain process (an evaluation, a timer's block), or one message of
 * an actor or a class. A program cannot catch them. */
#ifndef BT_VM_LIMITS_H
#define BT_VM_LIMITS_H

#include "vm/vm.h"

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
/* Which limit has ended a process. */
typedef enum { BROKEN_NONE, BROKEN_REDUCTIONS, BROKEN_OUTPUT } BrokenLimit;
/* The limits of a piece of work begin to count: at a process's birth, and with each message served. */
void limits_begin_process(Process *p);
void limits_begin_message_slow(Process *p);
static inline void limits_begin_message(Process *p) {
    if (p->vm->reductions_limit || p->vm->output_limit_bytes) limits_begin_message_slow(p);
}
/* The running process has used up what it may: it ends now. False: it has not. */
bool limits_end_for_reductions(Process *p);
/* Takes the bytes off what the running process, or the caller it serves, may print. False: too many; who has
 * to pay for them ends (the running process at its next yield: PRIM_YIELD). */
bool limits_charge_output(Process *p, size_t bytes);
/* Of a process that ends: the limit that did it. */
BrokenLimit limits_broken(Process *p);
/* May there be one more? Exact enough: schedulers that ask at once may each get one. */
bool limits_allow_process(BtVm *vm);
bool limits_allow_timer(BtVm *vm);
/* Pid and class of a process, for log lines. */
void process_title(BtVm *vm, Value pid, char *buffer, size_t size);

#endif
