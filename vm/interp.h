/* The bytecode interpreter and the serving of messages.
 *
 * interp_run executes p until its slice ends, it waits, it has served all it can, or it ends. No C recursion
 * for Beamtalk calls; all state is in the process and its frames; safepoints are calls, returns and back
 * edges. */
#ifndef BT_VM_INTERP_H
#define BT_VM_INTERP_H

#include "vm/sched.h"

RunOutcome interp_run(Process *p);
/* Renders the process's current stack (elided callers included) as a List of StackFrame instances. V_HOLE =
 * resource_error. MAY_GC. */
Value interp_stack_trace(Process *p);
/* The same for the raw trace in an exception's EXC_TRACE (nil and Lists are answered as they are). */
Value interp_render_trace(Process *p, Value raw);
/* Appends the innermost frames of a raw trace, a line each, to a log entry. */
struct Text;
void trace_append(BtVm *vm, struct Text *t, Value raw);
/* vm/stack.c (inline fast path: vm/stack.h): frames. NULL = stack limit reached (resource_error pending). */
Frame *stack_push(Process *p, const Function *fn, Value *window, unsigned argc);
void stack_pop(Process *p);
void stack_release(Process *p);
void stack_trim_idle(Process *p);
/* Visits every register and frame Value that is a root: the collector's view of the stack. */
void stack_each_root(Process *p, void (*visit)(void *context, Value *slots, size_t count), void *context);

#endif
