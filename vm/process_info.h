/* What can be seen of a process from outside: for inspectors, health reports, state dumps and `top`. */
#ifndef BT_VM_PROCESS_INFO_H
#define BT_VM_PROCESS_INFO_H

#include "vm/process.h"

/* Words of the Tuple that process_describe answers, all immediates. */
enum {
    INFO_STATUS = 1, /* #idle, #waiting or #running */
    INFO_ROLE,       /* #actor, #class or #plain */
    INFO_CLASS,      /* class object of an actor, or the class served; nil */
    INFO_NAME,       /* registered name or nil */
    INFO_QUEUE,      /* messages waiting */
    INFO_REDUCTIONS,
    INFO_HEAP,     /* bytes in use, off-heap data included */
    INFO_MEMORY,   /* bytes taken: control block, heap, stack */
    INFO_AT_CLASS, /* class name and selector of the running activation; nil if idle */
    INFO_AT_SELECTOR,
    INFO_LINKS,
    INFO_MONITORS, /* it watches, or is watched by */
    INFO_WORDS
};

/* For system_signal: answers the Tuple. */
void process_describe(Process *target, void *context);
/* Fills words[0..INFO_WORDS), header included. The caller owns target. */
void process_describe_into(Process *target, uint64_t *words);
/* Reductions used on each scheduler so far; answers how many schedulers there are. Any thread. */
size_t scheduler_loads(BtVm *vm, Value *loads, size_t max);
/* Pids of all living processes, at most `max`; answers how many there are. Any thread. */
size_t process_list(BtVm *vm, Value *pids, size_t max);

#endif
