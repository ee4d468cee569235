/* Methods of host classes: what vm/api/host.c runs and vm/api/host_class.c defines. */
#ifndef BT_API_HOST_METHOD_H
#define BT_API_HOST_METHOD_H

#include "vm/api/api_internal.h"
#include "vm/host.h"

/* One function of the host, as vm/host.h's table holds it. */
typedef struct {
    bt_vm *vm;
    bt_function function;
    void *context;
} HostMethod;

/* On the thread of the process that calls. */
PrimStatus host_invoke(Process *p, void *method, Value *arguments, Value *result);
/* On a thread of the pool, while the process waits; in seeded mode, where threads would be a choice that the
 * seed does not make, as host_invoke. */
PrimStatus host_invoke_blocking(Process *p, void *method, Value *arguments, Value *result);

#endif
