/* Tracing: what actors did, one event a message served, kept in a ring of the newest.
 *
 * Off, it costs one relaxed load a message. On, the serving process notes class, selector, mode, duration and
 * outcome under a lock: who traces has chosen to look, not to run fast. */
#ifndef BT_VM_TRACING_H
#define BT_VM_TRACING_H

#include "vm/process.h"
#include "vm/vm.h"

typedef enum { TRACE_OK, TRACE_ERROR } TraceOutcome;

typedef struct TraceEvent {
    int64_t at_us, duration_us; /* wall clock of the start; time it took */
    Value pid, class_name, selector, mode, outcome;
} TraceEvent;

bool tracing_new(BtVm *vm);
void tracing_free(BtVm *vm);
bool tracing_is_on(BtVm *vm);
void tracing_set(BtVm *vm, bool on);
/* Before and after p serves a message: p->traced_since is not 0 meanwhile. */
void tracing_begin(Process *p);
void tracing_end(Process *p, Value class_name, TraceOutcome outcome);
void tracing_clear(BtVm *vm);
/* How many events are kept at most; 0 only asks. Fewer than before drops all. */
size_t tracing_capacity(BtVm *vm, size_t capacity);
/* Copies at most `max` events, newest first; answers how many. */
size_t tracing_copy(BtVm *vm, TraceEvent *events, size_t max);

#endif
