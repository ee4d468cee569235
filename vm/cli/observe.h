/* A running VM seen and told from outside its program: state dumps, and an orderly end. Each is an evaluation
 * in a session of its own, so it runs beside the program as one more process. Any thread; within some
 * seconds. A VM in deterministic mode is left alone: it has one thread, and that is not ours. */
#ifndef BT_CLI_OBSERVE_H
#define BT_CLI_OBSERVE_H

#include "beamtalk.h"

/* Processes, schedulers, memory and supervisors, to standard error. */
void observe_dump(bt_vm *vm);
/* Ends all supervisors, the last one started first; their children end before them. */
void observe_stop_supervisors(bt_vm *vm);

#endif
