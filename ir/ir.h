/* ThreadedIr: the only road from source to bytecode.
 *
 * A unit is a list of functions (methods, blocks that are real closures, scripts). A function's body is a
 * tree of frames; a frame is a list of statements and the atom it yields. Every state effect on a local is
 * visible as a version:
 *
 *   Bind    t7 = ADD t3 count@2          computes into a temp; temps are bound once
 *   Snap    t8 = count@2                 SnapTemp: keeps a version for an operand left of a rebind (ADR 0131
 * section 1a) Set     count@3 = t7                 assignment: the next version of the local Construct c2 t9
 * = If|While|Count|OnDo|Ensure (frames...) threads [count] Rebind  count@4 = c2                 LocalRebind:
 * the local takes the version the construct hands out Discard c2                           DiscardLocals, at
 * the end of a MethodBody only Return / NonLocal / Fail
 *
 * Modes: a local lives in a register of its function, or (when a real closure writes it) in a carrier of the
 * home activation, process->carriers, read and written where it stands; `IrLocal.mode` says which, and the
 * lowering of Set and Rebind is a function of that mode and of membership in the frame's `threads`: register,
 * member of a Protected frame   body versions in a shadow register; the Rebind is the move back, the error
 * edge and the cleanup use the untouched home register (entry version) register, otherwise the home register
 * is written in place; the Rebind costs nothing carrier                                 CARRYPUT at the Set;
 * the Rebind costs nothing; regions revert by their snapshot binding (script root)                   as
 * register; the script's answer carries the final versions to the session Class variables and actor state are
 * homes, not families of versions: GETCV/SETCV/GETSTATE/SETSTATE act where they stand, and regions revert
 * them by snapshot. SelfVt (TestCase `self.x :=`) is the local named `self`.
 *
 * Owner: one compilation; everything lives in the arena-like IrUnit and goes with ir_unit_free.
 */
#ifndef BT_IR_H
#define BT_IR_H

#include "vm/bytecode/bytecode.h"
#include "vm/bytecode/diag.h"

typedef enum {
#define IROP(name, operands, imm, effects, doc) IR_##name,
#include "ir/ir_ops.def"
#undef IROP
    IR_OP_COUNT
} IrOp;

typedef enum {
#define FRAME(name, doc) FRAME_##name,
#include "ir/ir_frames.def"
#undef FRAME
    FRAME_KIND_COUNT
} IrFrameKind;

typedef enum {
#define VERIFY_ERROR(name, doc) VERIFY_##name,
#include "ir/verify_errors.def"
#undef VERIFY_ERROR
    VERIFY_ERROR_COUNT
} IrVerifyError;

typedef enum {
    ATOM_TEMP,
    ATOM_LOCAL,
    ATOM_SELF,
    ATOM_NIL,
    ATOM_TRUE,
    ATOM_FALSE,
    ATOM_INT /* index holds an int32 */
} IrAtomKind;
typedef struct {
    IrAtomKind kind;
    uint32_t index;
    uint32_t version;
} IrAtom;

typedef enum { LOCAL_REGISTER, LOCAL_CARRIER, LOCAL_BINDING } IrLocalMode;
typedef enum { FAMILY_LOCAL, FAMILY_SELFVT } IrFamily;
/* A local of another function: the one that a carrier belongs to. */
typedef struct {
    uint32_t function, local;
} IrOwner;
typedef struct {
    const char *name;
    IrLocalMode mode : 8;
    IrFamily family : 8;
    bool outer;        /* in a block: a carrier local of a function around it, version 0 exists at entry */
    uint32_t carrier;  /* LOCAL_CARRIER: number among those that its function opens */
    uint32_t level;    /* outer: how many functions between, this one included, open carriers too */
    uint32_t binding;  /* LOCAL_BINDING: index in IrUnit.bindings */
    uint32_t versions; /* minted in all: the last one's number. A write that got lost shows here */
    IrOwner owner; /* outer: whose carrier it is; says twice what `carrier` and `level` say, so that none can
                      go astray */
} IrLocal;

typedef struct IrFrame IrFrame;
typedef enum {
    STMT_BIND,
    STMT_SNAP,
    STMT_SET,
    STMT_CONSTRUCT,
    STMT_REBIND,
    STMT_DISCARD,
    STMT_RETURN,
    STMT_NONLOCAL,
    STMT_FAIL
} IrStmtKind;

/* Constructs and their frames, in order:
 *   If      operand 0 = condition; frames[0] taken if it is true, frames[1] if it is false (both BranchArm).
 * If it is neither, the ordinary send of selector `imm` (symbol constant, `flags` arguments, each the class
 * InlinedBlock, which raises an error whatever it is asked) gives the value (does_not_understand, mostly);
 * imm = BC_NONE: the condition is a Boolean for certain While frames[0] Condition (yields the test),
 * frames[1] Loop; `negate` for whileFalse:; yields nil; a test that is no Boolean: as If Repeat  frames[0]
 * Loop Count   operands start, stop, step (numbers, tested before by ISINT or known); frames[0] Loop, whose
 * index arrives in local `index_local` as a new version Each operand the List (tested before by ISLIST;
 * anything else has no elements); frames[0] Loop, as that of Count with the element OnDo frames[0] Protected,
 * frames[1] Handler; operand 0 = filter; the exception arrives in temp `exception` Ensure frames[0]
 * Protected, frames[1] Cleanup Home    frames[0] Landing, at the begin of a script whose blocks have a ^: it
 * is passed over, and run when such a ^ arrives, from wherever; its value comes in temp `exception`. So it
 * may read carriers and what is never written. Result tryDo: with a literal block is an OnDo whose filter is
 * nil (matches everything). */
typedef enum {
    CONSTRUCT_IF,
    CONSTRUCT_WHILE,
    CONSTRUCT_REPEAT,
    CONSTRUCT_COUNT,
    CONSTRUCT_EACH,
    CONSTRUCT_ONDO,
    CONSTRUCT_ENSURE,
    CONSTRUCT_HOME,
    CONSTRUCT_KIND_COUNT
} IrConstructKind;
/* Loops that bring a local of their own into each round. */
static inline bool construct_has_index(IrConstructKind kind) {
    return kind == CONSTRUCT_COUNT || kind == CONSTRUCT_EACH;
}

/* Packed: a unit is walked several times, and what that costs is memory. */
typedef struct IrStmt {
    IrStmtKind kind : 8;
    IrOp op : 8; /* BIND */
    IrConstructKind construct_kind : 8;
    uint8_t
        flags; /* BIND sends: SITE_*; IR_TAIL if the send stands in tail position and its frame allows it */
    uint32_t temp; /* BIND, SNAP, CONSTRUCT: the temp bound */
    uint32_t imm;  /* BIND: constant, function, integer or name (constant index) as the op's row says; FAIL:
                      see  opcode RAISE/MATCHFAIL */
    uint32_t operand_count;
    IrAtom *operands; /* BIND, CONSTRUCT; RETURN, NONLOCAL: one; SET: one (the value); FAIL: at most one */
    uint32_t local, version; /* SNAP (source), SET, REBIND (target) */
    uint32_t construct;      /* CONSTRUCT: own id; REBIND, DISCARD: the construct read */
    uint32_t position;       /* emit's own: place in program order */
    Span span;
    uint32_t thread_count, frame_count;
    uint32_t *threads; /* CONSTRUCT: locals it hands out */
    IrFrame **frames;
    uint32_t index_local; /* COUNT, EACH */
    uint32_t exception;   /* ONDO: temp that holds the exception in the handler */
    bool negate, snapshot,
        restore; /* ONDO, ENSURE: the two halves of the region; always true in well-formed IR */
} IrStmt;
enum { IR_TAIL = 0x80 };
/* FAIL: which one stands in `flags`; operand 0 is the value for the first two, imm the constant (string) with
 * the text for the others. FAIL_STATEFUL_BLOCK raises stateful_block_dispatch (RAISE of errors.def): the body
 * of a block that writes outer locals and has no return channel (semantics 8.3). */
enum {
    FAIL_CASE_CLAUSE = 0,
    FAIL_BADMATCH = 1,
    FAIL_COMPILE_ERROR = 2 /* imm = constant with the text */,
    FAIL_STATEFUL_BLOCK = 3
};

/* The version rule, as lowering produces it and the verifier checks it.
 *
 * Each local has one counter per function. Version 0 exists at entry for parameters, `outer` carriers and
 * bindings; every other local begins with the first version that is minted. Minting takes the counter + 1, in
 * program order (statements as they stand, the frames of a construct in order before what follows the
 * construct), so that versions are unique in a function and strictly increasing. These mint:
 *   - SET and REBIND, their target;
 *   - the entry of every frame of a construct: one entry version for each local of frame->threads, in the
 * order of `threads` (Condition and Loop: the loop-carried value; Handler, and Cleanup on the error path: the
 * value of region entry);
 *   - the entry of a Count's or an Each's Loop frame, after its threads: `index_local`.
 * A read names the newest version visible where it stands. Inside a frame that is the newest one minted on
 * the way down; when a frame ends, what was visible at the construct is visible again, and the REBIND that
 * follows makes the next one. A local that was not bound before the frame belongs to the frame and is gone
 * with it; a sibling frame may bind it anew (SET first). Threads: the frames of If, OnDo and Ensure list the
 * locals from outside that they write (nested constructs included); both frames of While, and those of Repeat
 * and Count, list all threads of the construct (what the condition reads is loop-carried too). The
 * construct's threads are the union. REBINDs follow directly behind the construct, one for each thread in
 * order; those of a construct whose value is the last thing of a MethodBody may be one DISCARD instead. The
 * value of a frame is read at its end. Temps are visible in the frame that binds them and in the frames
 * nested behind.
 *
 * Order of evaluation (ADR 0131 section 1a). A temp is a place in an expression: whatever has a name in the
 * source (parameters, pattern variables, the value of a match:) is a local. So the operands of a Bind tell
 * the order in which they were evaluated: no operand reads a version that a construct inside an operand to
 * its right made (but see op_is_unordered).
 *
 * Carriers. Each activation of a function whose own locals are written by real closures inside it opens
 * carriers for them (FN_HAS_CARRIERS, carrier_count > 0). A block reaches those of the functions around it
 * through its closure: `level` says how many activations further out than the nearest that has any (for a
 * capture of kind CAP_CARRIER `fallback` says it, seen from who makes the closure). Reads of carriers are
 * SNAPs where they stand.
 *
 * The body of a block yields its answer as a value (`-> t3`); a block has no RETURN, its ^ is a NONLOCAL.
 *
 * Captures. GETSTATE, GETCV and HASCV in a block have flags SITE_IN_BLOCK; the fallback is the function's
 * capture of kind CAP_STATE or CAP_CLASS_VAR with the same name. PRIM: imm is the constant (symbol) with the
 * name of the primitive, resolved when the unit is linked. */

struct IrFrame {
    IrFrameKind kind;
    uint32_t thread_count;
    uint32_t
        *threads; /* locals of outer frames that this frame writes (directly or through nested constructs) */
    uint32_t stmt_count, stmt_capacity;
    IrStmt **stmts;
    IrAtom value; /* what the frame yields; meaningless if `ends` */
    bool ends;    /* last statement is Return, NonLocal or Fail */
    uint32_t id;  /* emit's own: number in program order */
};

typedef struct {
    BcFnKind kind, home_kind;
    const char *name;       /* selector of the method (of the home method, for a block) */
    const char *class_name; /* or NULL */
    bool class_side;
    uint8_t flags;        /* FN_* */
    uint32_t param_count; /* locals 0 .. param_count-1 at version 0 */
    uint32_t local_count, local_capacity;
    IrLocal *locals;
    uint32_t temp_count, construct_count, carrier_count;
    uint32_t capture_count, capture_capacity;
    BcCapture *captures;     /* CAP_REGISTER: `index` is resolved by emit from capture_atoms[i] */
    IrAtom *capture_atoms;   /* parallel to captures: in terms of the *creating* function, at the CLOSURE
                                statement's position */
    IrOwner *capture_owners; /* parallel to captures: CAP_CARRIER, whose carrier it is */
    IrFrame *body;
    Span span;
} IrFunction;

typedef struct IrArena IrArena;
typedef struct {
    IrArena *arena;
    uint32_t function_count, function_capacity;
    IrFunction **functions;
    uint32_t const_count, const_capacity;
    BcConst *consts; /* BcText bytes live in the arena */
    BcUnit *shell;   /* classes, extensions, script, bindings, names: filled by lowering, completed by emit;
                        owned until emit takes it */
} IrUnit;

/* ir/ir_build.c: allocation and small constructors; all memory belongs to the unit. */
IrUnit *ir_unit_new(const Memory *memory);
void ir_unit_free(IrUnit *unit);
void *ir_alloc(IrUnit *unit, size_t size); /* zeroed */
char *ir_text(IrUnit *unit, const char *bytes, size_t length);
uint32_t ir_const_int(IrUnit *unit, int64_t i); /* constants are shared within a unit */
uint32_t ir_const_float(IrUnit *unit, double d);
uint32_t ir_const_string(IrUnit *unit, const char *bytes, size_t length);
uint32_t ir_const_symbol(IrUnit *unit, const char *bytes, size_t length);
/* The name of the class that stands for a block without code of its own (stdlib/Block.bt). */
uint32_t ir_const_inlined_block(IrUnit *unit);
IrFunction *ir_function_new(IrUnit *unit, uint32_t *index);
uint32_t ir_local_new(IrUnit *unit, IrFunction *fn, const char *name, IrLocalMode mode);
bool ir_failed(const IrUnit *unit); /* memory ran out while the unit was built: it must not be used */
IrFrame *ir_frame_new(IrUnit *unit, IrFrameKind kind);
IrStmt *ir_stmt_add(IrUnit *unit, IrFrame *frame, IrStmtKind kind, Span span);

/* ir/ir_print.c, ir/ir_parse.c: text form; ir_parse(ir_print(u)) equals u. */
char *ir_print(const IrUnit *unit);
/* For a reader: with the lines of the source between the statements that come from them. */
char *ir_print_with_source(const IrUnit *unit, SourceFile *source);
IrUnit *ir_parse(const char *text, size_t length, DiagList *diags);

/* ir/ir_verify.c: up to 20 findings appended to diags (category internal_verifier); true if none. One linear
 * pass. */
typedef struct IrVerified IrVerified; /* a unit that passed; only ir_verify makes one */
IrVerified *ir_verify(IrUnit *unit, DiagList *diags);

/* ir/ir_emit.c: takes verified IR and nothing else. NULL (with a diagnostic) if a function is too large. */
BcUnit *ir_emit(IrVerified *verified, DiagList *diags);

#endif
