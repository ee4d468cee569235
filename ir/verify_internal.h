/* What the files of the verifier share. Private to ir/ir_verify*.c.
 *
 * ir_verify.c        findings, versions, frames, statements, functions
 * ir_verify_node.c   operations, constructs, closures: what the tables say of them */
#ifndef BT_IR_VERIFY_INTERNAL_H
#define BT_IR_VERIFY_INTERNAL_H

#include <stdarg.h>

#include "ir/ir_text.h"

#define UNBOUND UINT32_MAX
enum { MAX_BINDINGS = 60000, MAX_PARAMS = 255, MAX_TEMPS = 1 << 24 };

typedef struct {
    uint32_t current; /* newest visible version, UNBOUND = none */
    uint32_t counter; /* versions minted */
    uint32_t access;  /* depth of the frame that may write it */
    bool by_rebind, discarded;
    bool no_operand; /* a carrier, or discarded */
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
    uint32_t index;         /* of the statement at hand in its frame */
    uint32_t depth;         /* 1 = the body */
    uint32_t *temps;        /* number of the frame that binds it, 0 = not bound yet */
    uint8_t *open;          /* by number of a frame: are we inside it? */
    uint8_t *constructs;    /* have been seen */
    uint32_t scope, scopes; /* number of the frame at hand; frames so far */
    uint32_t open_capacity;
    LocalState *locals;
    uint32_t temp_capacity, local_capacity, construct_capacity;
    VerifyStack bound_locals, saved; /* saved: local, version, access of what frames thread */
    uint32_t *creators;              /* by function: who makes its closure, BC_NONE = nobody yet */
    uint32_t expected_rebinds;       /* that stand behind the last construct and have been compared with it */
    bool expected_discard;
    bool nonlocal; /* the function has a NONLOCAL */
    bool failed, no_memory, stop;
    uint32_t findings;
} Verify;

/* ---- ir_verify.c ---- */
void finding(Verify *v, IrVerifyError error, const IrStmt *s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *local_name(const Verify *v, uint32_t local);
bool verify_grow(Verify *v, VerifyStack *stack);
static inline void verify_push(Verify *v, VerifyStack *stack, uint32_t item) {
    if (stack->count < stack->capacity || verify_grow(v, stack)) stack->items[stack->count++] = item;
}
void verify_strange_atom(Verify *v, const IrStmt *s, const IrAtom *atom);
/* `atom` may be one of s's operands. */
static inline void verify_atom(Verify *v, const IrStmt *s, const IrAtom *atom) {
    uint32_t index = atom->index;
    if (atom->kind == ATOM_TEMP) {
        if (index < v->fn->temp_count && v->open[v->temps[index]]) return;
    } else if (atom->kind == ATOM_LOCAL) {
        if (index < v->fn->local_count && v->locals[index].current == atom->version &&
            !v->locals[index].no_operand)
            return;
    } else if (atom->kind <= ATOM_INT) {
        return;
    }
    verify_strange_atom(v, s, atom);
}
void verify_bind_temp(Verify *v, const IrStmt *s, uint32_t temp);
void verify_frame(Verify *v, const IrFrame *frame, const IrStmt *construct);

/* ---- ir_verify_node.c ---- */
bool const_is(const Verify *v, uint32_t index, BcConstKind kind);
void verify_bind(Verify *v, const IrStmt *s);
void verify_construct(Verify *v, const IrStmt *s);
/* Carriers that the locals of a function may name: its own, or those of the function around it. */
uint32_t carriers_of_home(const Verify *v, const IrFunction *fn);
/* A block with ^ has a home that its frames can be unwound to. */
void verify_home(Verify *v, uint32_t function);

#endif
