/* Primitives: C functions behind `@primitive "name"` methods of the library.
 *
 * Calling convention: args[0] is the receiver, args[1..argc] the arguments; they are the registers of the
 * primitive's own frame, so they are roots and stay valid across heap_reserve (frames never move; the
 * collector updates them in place). The answer goes into *result. A primitive must not run long without
 * charging reductions (process_charge) and never recurses on user-controlled depth. It never calls back into
 * Beamtalk: code that calls blocks is written in Beamtalk, or asks the interpreter for one send by PRIM_SEND.
 *
 * primitives live in vm/prims/prim_*.c; each file lists its own in vm/prims/prim_*.def rows PRIMITIVE(name,
 * c_function, argc). The whole table is vm/prims/primitives.def (it includes the others). The name is what
 * the library's .bt source says.
 */
#ifndef BT_VM_PRIM_H
#define BT_VM_PRIM_H

#include "vm/heap.h"

typedef enum {
    PRIM_OK,    /* *result is the answer */
    PRIM_RAISE, /* process->exception is pending */
    PRIM_FAIL,  /* run the Beamtalk code behind the @primitive (or argument_error if there is none) */
    PRIM_SEND,  /* the answer is that of the send described in process->send (prim_send) */
    PRIM_BLOCK, /* the process waits (a call, a timer, I/O): when it runs again, process->resume_value is the
                   answer, or process->exception if set */
    PRIM_YIELD  /* give the processor to others, then run the same primitive again */
} PrimStatus;

typedef PrimStatus (*PrimFn)(Process *p, Value *args, unsigned argc, Value *result);

typedef struct {
    const char *name;
    PrimFn fn;
    int argc; /* -1: any */
} PrimEntry;
extern const PrimEntry PRIM_TABLE[];
extern const unsigned PRIM_COUNT;
/* Index in PRIM_TABLE or -1. */
int prim_find(const char *name, size_t length);

/* Known by name to leaf.c, which does in place what they do in the common case. */
PrimStatus prim_object_new(Process *p, Value *args, unsigned argc, Value *result);
PrimStatus prim_value_construct(Process *p, Value *args, unsigned argc, Value *result);

/* Fills process->send: receiver, selector, arguments (copied, at most PRIM_SEND_MAX). Answers PRIM_SEND. */
#define PRIM_SEND_MAX 16
PrimStatus prim_send(Process *p, Value receiver, Value selector, const Value *args, unsigned argc);

#endif
