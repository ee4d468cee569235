/* AST and facts -> ThreadedIr. Internal to the lower*.c files.
 *
 * lower.c        functions, versions, variables, statements
 * lower_expr.c   expressions, sends, literals
 * lower_flow.c   inlined constructs
 * lower_fold.c   folds over what may be a List
 * lower_match.c  match: and destructuring
 * lower_unit.c   classes, extensions, generated methods, scripts
 *
 * An expression lowers to statements of the current frame (its prelude) and an atom (its value): the
 * ThreadedValue of ADR 0131. An atom that names a local must be read where it was made; whoever lowers
 * siblings calls lower_operands_settle afterwards, which puts a Snap where a later sibling rebound it
 * (section 1a).
 */
#ifndef BT_COMPILER_LOWER_H
#define BT_COMPILER_LOWER_H

#include "compiler/analysis.h"

/* Where the value of an expression goes. */
typedef enum {
    POS_VALUE,
    POS_TAIL, /* it is the function's answer: a send may be a tail send */
    POS_LAST  /* the same, directly in the MethodBody: rebinds may be discarded */
} Position;
/* Of what stands in a frame inside: it may be a tail, but not directly in the MethodBody. */
static inline Position position_inside(Position pos) { return pos == POS_LAST ? POS_TAIL : pos; }

typedef struct FnLower {
    struct FnLower *parent;
    FnFacts *facts;
    IrFunction *ir;
    uint32_t index;
    IrFrame *frame;
    uint32_t *current; /* newest visible version by local */
    uint32_t *counter; /* versions minted so far by local */
    uint32_t capacity;
    uint32_t regions;  /* protected regions around */
    bool dead;         /* what is lowered now goes nowhere */
    Position position; /* of the expression that is lowered next; it takes it and leaves POS_VALUE */
    bool tail_calls;
    PtrSet captured; /* Var, or names of class variables or fields: index = capture */
    PtrSet outers;   /* Var: carriers of functions around this one */
    uint32_t *outer_locals;
    uint32_t outer_capacity;
} FnLower;

typedef struct Lower {
    Analysis *a;
    IrUnit *unit;
    FnLower *fn;
    NameMap symbols; /* name -> constant index + 1 */
    NameMap texts;   /* name -> the same text in the memory of the IR */
    bool guard;      /* comparisons go by term order (semantics 13) */
} Lower;

/* ---- lower.c ---- */
#define ATOM(kind_, index_) ((IrAtom){kind_, index_, 0})
#define NIL_ATOM ATOM(ATOM_NIL, 0)
static inline IrAtom atom_int(int32_t i) { return ATOM(ATOM_INT, (uint32_t)i); }

uint32_t lower_symbol(Lower *l, const char *name);
uint32_t lower_text(Lower *l, const char *text);
/* A statement at the end of the current frame. After the frame has ended it goes nowhere. */
IrStmt *lower_stmt(Lower *l, IrStmtKind kind, Span span);
/* t = op operands; `operands` is kept. */
IrAtom lower_bind(Lower *l, IrOp op, IrAtom *operands, uint32_t count, uint32_t imm, uint8_t flags,
                  Span span);
IrAtom lower_bind0(Lower *l, IrOp op, uint32_t imm, Span span);
IrAtom lower_bind1(Lower *l, IrOp op, IrAtom x, uint32_t imm, Span span);
IrAtom lower_bind2(Lower *l, IrOp op, IrAtom x, IrAtom y, uint32_t imm, Span span);
IrAtom *lower_atoms(Lower *l, uint32_t count);
/* Sends that the source does not spell: no flags. */
IrAtom lower_send_named(Lower *l, IrOp op, const char *selector, IrAtom *operands, uint32_t count, Span span);
IrAtom lower_send1(Lower *l, IrOp op, const char *selector, IrAtom receiver, Span span);
IrAtom lower_send2(Lower *l, IrOp op, const char *selector, IrAtom receiver, IrAtom argument, Span span);
/* The same variable now: the newest version, if the atom names a local. Only where nothing wrote it since. */
IrAtom lower_refresh(Lower *l, IrAtom atom);
/* A temp that keeps the value of an atom. */
IrAtom lower_keep(Lower *l, IrAtom atom, Span span);

/* Operands in evaluation order; `at` holds the frame position at which each was read. */
typedef struct {
    IrAtom *atoms;
    uint32_t *at;
    uint32_t count;
    uint32_t small[6];
} Operands;
void lower_operands_begin(Lower *l, Operands *o, uint32_t capacity);
void lower_operands_add(Lower *l, Operands *o, IrAtom atom);
void lower_operands_settle(Lower *l, Operands *o, Span span);

/* Is what would be lowered now never reached? */
static inline bool lower_is_dead(const Lower *l) { return l->fn->dead || l->fn->frame->ends; }
IrAtom lower_read(Lower *l, Var *var, Span span);
/* A local that the source does not name. */
Var *lower_hidden_var(Lower *l, const char *name);
/* Assignment: the next version. Answers an atom with the value. */
IrAtom lower_write(Lower *l, Var *var, IrAtom value, Span span);
/* A parameter or pattern variable gets its value. */
void lower_param(Lower *l, Var *var, IrAtom value, Span span);
/* A value that is read behind whatever comes next: the version of a local is kept, a temp becomes a nameless
 * local. */
IrAtom lower_lasting(Lower *l, IrAtom value, Span span);
IrAtom lower_self(Lower *l, Span span);
void lower_answer(Lower *l, IrAtom value, Span span); /* ^ */
/* A setUp that rebinds self: what the test gets as its receiver (semantics 1.1), the answer if that is an
 * instance of the class, else the rebound self. */
bool lower_sets_up_self(const Lower *l, const FnFacts *facts);
IrAtom lower_instance_or_self(Lower *l, IrAtom value, Span span);
uint32_t lower_capture_name(Lower *l, FnLower *fn, const char *name, BcCaptureKind kind);

/* Frames of constructs. */
typedef struct {
    IrFrame *outer, *frame;
    uint32_t *saved;
    bool dead;
} FrameMark;
IrStmt *lower_construct_begin(Lower *l, IrConstructKind kind, uint32_t operand_count, uint32_t frames,
                              Span span);
FrameMark lower_frame_enter(Lower *l, IrStmt *construct, uint32_t index, IrFrameKind kind,
                            const PtrSet *threads);
void lower_frame_leave(Lower *l, FrameMark *mark, IrAtom value);
/* Threads, and a REBIND for each (a DISCARD at the end of a MethodBody). Answers the construct's temp. */
IrAtom lower_construct_end(Lower *l, IrStmt *construct, const PtrSet *threads, Position pos);
uint32_t lower_local(Lower *l, Var *var);
uint32_t lower_mint(Lower *l, uint32_t local);
/* A register local for a value that the construct brings (a loop index); NULL var: nameless. */
uint32_t lower_local_plain(Lower *l, const char *name);

/* A function with its own body; `body` lowers it (the frame is open) and answers the value, or ends the
 * frame. */
typedef struct {
    FnFacts *facts;
    BcFnKind kind;
    const char *name;
    uint8_t flags;
    NodeList params;
    Span span;
} FunctionSpec;
FnLower *lower_function_begin(Lower *l, const FunctionSpec *spec);
uint32_t lower_function_end(Lower *l, FnLower *fn, IrAtom value);
IrAtom lower_closure(Lower *l, Node *block);

/* ---- lower_expr.c ---- */
IrAtom lower_expr(Lower *l, Node *node);
IrAtom lower_at(Lower *l, Node *node, Position pos);
/* Statements; the value of the last, nil if there is none. */
IrAtom lower_statements(Lower *l, NodeList body, Position pos);

/* A send whose operands are evaluated: `receiver` as the source spells it. */
IrAtom lower_finish_send(Lower *l, Node *send, const Node *receiver, Operands *o, Position pos);

/* ---- lower_flow.c, lower_fold.c, lower_match.c ---- */
IrAtom lower_construct(Lower *l, Node *node, const SelectorInfo *info, Position pos);
/* The message itself, where the construct does not apply: the operands in front of the blocks are evaluated.
 */
IrAtom lower_sent(Lower *l, Node *node, const Operands *evaluated);
/* `twin`: the copy of its block that is inlined. */
IrAtom lower_fold(Lower *l, Node *node, Node *twin, Position pos);
IrAtom lower_match(Lower *l, Node *node, Position pos);
IrAtom lower_destructure(Lower *l, Node *node);
IrAtom lower_literal(Lower *l, const Node *node);

/* ---- lower_unit.c ---- */
/* The whole module, analysed and without errors. NULL: no memory. */
IrUnit *lower_module(Analysis *a, const char *source, size_t length);
IrUnit *lower_single_method(Analysis *a, ClassInfo *c, MethodDecl *method, bool class_side,
                            const char *source, size_t length);

#endif
