/* What the files of the verifier share. Private to ir/ir_verify*.c.
 *
 * ir_verify.c         findings, locals, functions, the unit
 * ir_verify_frame.c   versions, atoms, statements, constructs, frames: the pass itself
 * ir_verify_wrong.c   what is wrong with an atom or a statement that the pass found strange
 * ir_verify_node.c    operations, closures, carriers: what the tables and other functions say of a statement
 */
#ifndef BT_IR_VERIFY_INTERNAL_H
#define BT_IR_VERIFY_INTERNAL_H

#include <stdarg.h>

#include "ir/ir_text.h"

#define UNBOUND UINT32_MAX
enum { MAX_BINDINGS = 60000, MAX_PARAMS = 255, MAX_TEMPS = 1 << 24 };

typedef struct {
    uint32_t current; /* newest visible version, UNBOUND = none */
    uint32_t counter; /* versions minted */
    uint32_t maker;   /* constructs begun when the newest version was made */
    uint16_t access;  /* depth of the frame that may write it */
    uint16_t flags;
} LocalState;
enum {
    BY_REBIND = 1,
    NO_OPERAND = 2, /* a carrier, or discarded */
    DISCARDED = 4
};

/* scope: number of the frame that binds the temp; those of earlier functions are lower than first_scope.
 * origin: number + 1 of the first construct in the expression that its value was computed from, 0 = none; for
 * a snap KEPT | maker of the version it keeps. */
typedef struct {
    uint32_t scope, origin;
} TempState;
#define KEPT 0x80000000u

/* What the other functions say of one. */
typedef struct {
    uint32_t maker;    /* number + 1 of the function that makes its closure, 0 = nobody yet */
    uint32_t carriers; /* locals so far that lie in a carrier of its */
    uint32_t taken;    /* index in Verify.taken of its first carrier */
    uint8_t needs;     /* the flags that it must have; REPLACES_SELF */
} FunctionState;

typedef struct {
    uint32_t local;
    LocalState state;
} SavedLocal; /* a threaded local as it was in front of the frame */

typedef struct {
    IrUnit *unit;
    DiagList *diags;
    const IrFunction *fn;
    uint32_t fn_index;
    const IrFrame *frame;
    uint32_t depth; /* 1 = the body */
    TempState *temps;
    LocalState *locals;
    uint8_t *open;                       /* by number of a frame: are we inside it? */
    uint32_t scope, scopes, first_scope; /* number of the frame at hand; frames so far; of this function */
    uint32_t next_construct;             /* constructs are numbered in program order */
    uint32_t open_capacity, temp_capacity, local_capacity;
    SavedLocal *saved;
    uint32_t *bound; /* locals that the open frames bind */
    uint8_t *taken;  /* by carrier: does a local lie there? */
    uint32_t taken_count, taken_capacity;
    uint32_t saved_count, saved_capacity, bound_count, bound_capacity;
    FunctionState *functions;
    bool self_replaced; /* the receiver is no longer the newest self */
    bool failed, no_memory, stop;
    uint32_t findings;
} Verify;
enum { REPLACES_SELF = 0x80 };

/* BC_NONE if nobody makes it. */
static inline uint32_t creator_of(const Verify *v, uint32_t function) {
    return v->functions[function].maker - 1;
}

/* ---- ir_verify.c ---- */
void finding(Verify *v, IrVerifyError error, const IrStmt *s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *local_name(const Verify *v, uint32_t local);
/* Room for one more item; false: no memory. */
bool verify_grow(Verify *v, void *array, uint32_t *capacity, size_t item, uint32_t needed);

/* ---- ir_verify_frame.c ---- */
void verify_body(Verify *v);
void verify_atom(Verify *v, const IrStmt *s, const IrAtom *atom);

/* ---- ir_verify_wrong.c: say what is wrong ---- */
void no_such_local(Verify *v, const IrStmt *s, uint32_t local);
static inline bool valid_local(Verify *v, const IrStmt *s, uint32_t local) {
    if (local < v->fn->local_count) return true;
    no_such_local(v, s, local);
    return false;
}
void stale_read(Verify *v, const IrStmt *s, uint32_t local, uint32_t version, bool operand_of_many);
void strange_atom(Verify *v, const IrStmt *s, const IrAtom *at);
void out_of_order(Verify *v, const IrStmt *s, uint32_t origin, uint32_t temp);
void bad_temp(Verify *v, const IrStmt *s, uint32_t temp);
void bad_write(Verify *v, const IrStmt *s, uint32_t local, uint32_t version);
void malformed_set(Verify *v, const IrStmt *s);
void unsound_construct(Verify *v, const IrStmt *s, const IrConstructInfo *info);
void dropped_thread(Verify *v, const IrStmt *s, const IrFrame *frame, uint32_t local);
void uncarried(Verify *v, const IrStmt *s, const IrConstructInfo *info, uint32_t local);
void missing_rebind(Verify *v, const IrStmt *s, uint32_t local);
void unprotected(Verify *v, const IrStmt *s);

/* ---- ir_verify_node.c ---- */
static inline bool const_is(const Verify *v, uint32_t index, BcConstKind kind) {
    return index < v->unit->const_count && v->unit->consts[index].kind == kind;
}
/* Number of operands and immediate, where the tables alone do not decide. */
bool operand_count_fits(const IrStmt *s);
bool imm_fits(const Verify *v, const IrStmt *s);
void verify_home_access(Verify *v, const IrStmt *s);
void verify_closure(Verify *v, const IrStmt *s);
/* Where a function finds a carrier of one around it (or its own). */
typedef struct {
    IrOwner owner;
    uint32_t carrier, level;
} CarrierPlace;
/* Does the owner lie there? Notes in the flags of the blocks on the way that they are stateful. */
bool carrier_is_there(Verify *v, uint32_t function, CarrierPlace place);
/* A ^ may arrive anywhere: what is read then must be where it is always. */
void verify_landing(Verify *v, const IrStmt *s);
/* A block with ^: its home must be one. */
void note_nonlocal(Verify *v);

#endif
