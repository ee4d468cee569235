/* What the files of the verifier share. Private to ir/ir_verify*.c.
 *
 * ir_verify.c        findings, versions, frames, statements, functions
 * ir_verify_node.c   operations, constructs, closures: what the tables say of them */
#ifndef BT_IR_VERIFY_INTERNAL_H
#define BT_IR_VERIFY_INTERNAL_H

#include <stdarg.h>

#include "ir/ir_text.h"

#define UNBOUND UINT32_MAX
enum { MAX_BINDINGS = 60000, MAX_PARAMS = 255 };
enum { TEMP_UNBOUND, TEMP_VISIBLE, TEMP_GONE };

typedef struct {
    uint32_t current; /* newest visible version, UNBOUND = none */
    uint32_t counter; /* versions minted */
    uint32_t access;  /* depth of the frame that may write it */
    bool by_rebind, discarded;
} LocalState;

typedef struct {
    uint32_t *items;
    uint32_t count, capacity;
} VerifyStack;

typedef struct {
    IrUnit *unit;
    DiagList *diags;
    const IrFunction *fn;
    uint32_t fn_index;
    const IrFrame *frame;
    uint32_t index; /* of the statement at hand in its frame */
    uint32_t depth; /* 1 = the body */
    uint8_t *temps, *constructs;
    LocalState *locals;
    uint32_t temp_capacity, local_capacity, construct_capacity;
    VerifyStack bound_temps, bound_locals, saved; /* saved: local, version, access of what frames thread */
    uint32_t *creators;        /* by function: who makes its closure, BC_NONE = nobody yet */
    uint32_t expected_rebinds; /* that stand behind the last construct and have been compared with it */
    bool expected_discard;
    bool nonlocal; /* the function has a NONLOCAL */
    bool failed, no_memory;
    uint32_t findings;
} Verify;

/* ---- ir_verify.c ---- */
void finding(Verify *v, IrVerifyError error, const IrStmt *s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *local_name(const Verify *v, uint32_t local);
void verify_push(Verify *v, VerifyStack *stack, uint32_t item);
void verify_atom(Verify *v, const IrStmt *s, IrAtom atom, bool operand_of_many);
void verify_bind_temp(Verify *v, const IrStmt *s, uint32_t temp);
void verify_frame(Verify *v, const IrFrame *frame, const IrStmt *construct);
void verify_stmt(Verify *v, const IrStmt *s);

/* ---- ir_verify_node.c ---- */
bool const_is(const Verify *v, uint32_t index, BcConstKind kind);
void verify_bind(Verify *v, const IrStmt *s);
void verify_construct(Verify *v, const IrStmt *s);
/* Carriers that the locals of a function may name: its own, or those of the function around it. */
uint32_t carriers_of_home(const Verify *v, const IrFunction *fn);
/* A block with ^ has a home that its frames can be unwound to. */
void verify_home(Verify *v, uint32_t function);

#endif
