/* What the files of emission share. Private to ir/ir_regs.c and ir/ir_emit*.c.
 *
 * ir_regs.c             liveness of temps, homes of locals, the register allocator, send windows
 * ir_emit_code.c        instructions, labels, sites, lines, growing buffers
 * ir_emit.c             units, functions, statements
 * ir_emit_bind.c        operations of Bind statements
 * ir_emit_branch.c      conditions, jumps on them, code out of line
 * ir_emit_construct.c   conditionals and loops
 * ir_emit_region.c      on:do: and ensure:
 *
 * Registers. A local has one home register for as long as the frame that binds it (shadows of Protected
 * frames apart: LocalInfo.reg is the register of the newest version). A temp gets a register where it is
 * bound and gives it back at its last use; or none of its own: when its only reader is the next Set, the end
 * of its frame or a send of the same frame, it is computed into the home, the frame's target or the slot of
 * the window. A send overwrites everything from FRAME_WORDS below its window base on, so what lives across it
 * lies below; where that does not hold the operands move to a window further up.
 */
#ifndef BT_IR_EMIT_INTERNAL_H
#define BT_IR_EMIT_INTERNAL_H

#include "ir/ir_internal.h"

#define NO_REG UINT32_MAX
enum { REGISTER_WORDS = (BC_MAX_REGISTERS + 63) / 64 };

typedef enum {
    TEMP_NOWHERE,
    TEMP_OWN,       /* in a register that it gives back */
    TEMP_SLOT,      /* in the window of its reader */
    TEMP_ALIAS,     /* in a register that is not its own: the home of the local that a Snap kept */
    TEMP_IN_TARGET, /* where its reader wants it; the reader has nothing to do */
    TEMP_DEFERRED   /* a condition, left to the construct that tests it */
} TempPlace;

typedef struct {
    uint32_t last;  /* position of the last use, loops around it not counted */
    uint32_t loop;  /* outermost loop that has the last use but not the binding, + 1; 0 = none */
    uint32_t def;   /* position of the binding */
    uint32_t limit; /* SNAP: position of the next write of the local */
    uint32_t next_snap;
    uint32_t uses;
    IrStmt *user; /* the last reader; NULL: a frame's value, or a reader in another frame */
    uint32_t user_operand, frame;
    uint32_t reg;
    TempPlace place;
} TempInfo;

typedef struct {
    uint32_t reg;   /* of the newest version; NO_REG: carrier, or not bound here */
    uint32_t snaps; /* temps that keep the newest version, chained, + 1 */
    uint32_t sets;  /* Set statements */
    bool bound;
} LocalInfo;

typedef struct {
    uint32_t homes, home_count; /* in Emit.homes: locals that belong to the frame */
    uint32_t start, end;        /* positions; its value is read at the end */
} FrameInfo;

typedef struct {
    uint32_t start, end, outer; /* outer: + 1 */
} LoopInfo;

typedef struct {
    const IrStmt *stmt;
    uint32_t base, count;
} Window;

typedef struct {
    uint32_t pc, next;
    bool middle; /* the offset is operand b */
} Patch;
typedef struct {
    uint32_t patches; /* + 1 */
    uint32_t pc;
    bool bound, expected; /* expected: code out of line will jump here */
} Label;

/* Where the value of a frame goes. BRANCH: nowhere, it decides a jump; falling through stands for the label
 * that comes next. */
typedef enum { DEST_NONE, DEST_REG, DEST_RETURN, DEST_BRANCH } DestKind;
typedef struct {
    DestKind kind;
    uint32_t reg;    /* REG */
    uint32_t branch; /* BRANCH: index in Emit.branches */
    bool fresh;      /* REG: nobody reads it before it is written */
} Dest;

/* The condition of a construct: where it goes on either answer, and what becomes of any other answer, for
 * which the ordinary send is made out of line. */
typedef struct {
    uint32_t yes, no; /* labels */
    bool next_yes;    /* `yes` comes next, else `no` */
    uint32_t name;    /* selector of the ordinary send, BC_NONE: it is a Boolean for certain */
    uint32_t argc, base, offset;
    Dest dest;     /* of the construct: what the ordinary send gives */
    uint32_t back; /* label behind the construct */
} Branch;

/* A condition as a jump can have it: a register with a value (IR_COPY), a known answer (IR_CONST), or a test.
 */
typedef struct {
    IrOp op;
    uint32_t a, b;
    bool immediate; /* b is a small integer, 16 bits of it */
    bool truth;
} Condition;

/* Code out of line. region: + 1, of the ANSWER that leads here. */
typedef struct {
    uint32_t entry, condition, branch, region;
} Stub;

typedef struct {
    const Memory *memory;
    IrUnit *unit;
    DiagList *diags;
    IrFunction *fn;
    BcFunction *functions; /* of the unit that is made */

    /* ir_regs.c */
    TempInfo *temps;
    LocalInfo *locals;
    FrameInfo *frames;
    LoopInfo *loops;
    uint32_t *homes, *bound;
    uint32_t temp_capacity, local_capacity, frame_capacity, loop_capacity, home_capacity, bound_capacity;
    uint32_t frame_count, loop_count, home_count, bound_count;
    uint32_t loop;     /* innermost at the moment, + 1 */
    uint32_t position; /* of the statement at hand */
    uint64_t used[REGISTER_WORDS];
    uint32_t used_words; /* words at and above are zero */
    uint32_t register_count;
    Window *windows;
    uint32_t window_count, window_capacity;

    /* ir_emit_code.c */
    Instr *code;
    BcLine *lines;
    BcSite *sites;
    BcRegion *region_table;
    Patch *patches;
    Label *labels;
    Branch *branches;
    Stub *stubs;
    uint32_t label_pc; /* where a label has last been bound, or a region begun */
    uint32_t code_count, code_capacity, line_count, line_capacity, site_count, site_capacity;
    uint32_t region_count, region_capacity, patch_count, patch_capacity, stub_count, stub_capacity;
    uint32_t label_count, label_capacity, branch_count, branch_capacity;
    uint32_t offset; /* source offset of the statement at hand */
    bool reachable, failed, long_jumps, too_far;
    const char *failure;               /* why the function cannot be emitted */
    uint32_t ensures, regions;         /* ensure: bodies, all protected bodies around */
    uint32_t rows, row_depth, row_max; /* registers of snapshots: where they begin, in use, needed at once */
    uint32_t chain;                    /* deferred constructs in a row */
    uint32_t *saved;                   /* homes of locals that have a shadow at the moment, a stack */
    uint32_t saved_count, saved_capacity;

    /* the frame at hand */
    const IrFrame *frame;
    uint32_t index;
    Dest dest;
} Emit;

/* ---- ir_regs.c ---- */
bool regs_begin(Emit *e); /* liveness of e->fn; parameters and bindings get their registers */
uint32_t reg_alloc(Emit *e);
uint32_t reg_alloc_row(Emit *e, uint32_t count); /* neighbours */
void reg_free(Emit *e, uint32_t reg);
void reg_free_row(Emit *e, uint32_t from, uint32_t count);
uint32_t reg_top(const Emit *e); /* 1 + the highest that is in use */
/* Homes of the locals of a frame. */
void frame_homes_open(Emit *e, const IrFrame *frame);
void frame_homes_close(Emit *e, const IrFrame *frame);
uint32_t temp_last(const Emit *e, const TempInfo *t);
/* The register into which temp t is to be computed by the statement at hand. */
uint32_t temp_place(Emit *e, uint32_t t);
void temp_free(Emit *e, uint32_t t); /* at a last use, or at the end of its frame */
void frame_temps_free(Emit *e, const IrFrame *frame);
bool temp_is_needed(const Emit *e, uint32_t t);
bool temp_is_returned(const Emit *e, uint32_t t); /* its only reader is the return that comes next */
/* It is the value of the frame at hand, and nothing but rebinds comes behind the statement at hand. */
bool temp_ends_frame(const Emit *e, uint32_t t);
const IrStmt *next_stmt(const Emit *e); /* behind the one at hand, rebinds apart */
bool op_has_window(IrOp op);
/* Base of the window of a Bind whose operands are now moved there; everything its operands held is free. */
uint32_t window_fill(Emit *e, const IrStmt *s, bool but_first); /* but_first: the first slot is left alone */

/* ---- ir_emit_code.c ---- */
/* Room for `needed` items in a growing array of Emit. */
#define GROW(e, array, capacity, needed) code_grow(e, &(array), &(capacity), sizeof *(array), needed)
bool code_grow(Emit *e, void *array, uint32_t *capacity, size_t item, uint32_t needed);
void code_fail(Emit *e, const char *why);
void code_put(Emit *e, Instr i);
void code_abc(Emit *e, Opcode op, unsigned f, uint32_t a, uint32_t b, uint32_t c);
void code_imm(Emit *e, Opcode op, unsigned f, uint32_t a, uint32_t imm);
void code_move(Emit *e, uint32_t to, uint32_t from);
uint32_t label_new(Emit *e);
void label_bind(Emit *e, uint32_t label);
void code_jump(Emit *e, Opcode op, uint32_t a, uint32_t label);                       /* 32-bit offset */
void code_jump_near(Emit *e, Opcode op, uint32_t a, uint32_t b, uint32_t label);      /* 16-bit offset */
void code_jump_both(Emit *e, Opcode op, uint32_t a, uint32_t first, uint32_t second); /* two of them */
uint32_t code_site(Emit *e, uint32_t name, uint32_t argc, uint32_t flags, uint32_t capture);

/* ---- ir_emit.c ---- */
void code_atom(Emit *e, IrAtom atom, uint32_t to);
/* At the beginning of a function that has carriers, otherwise nothing. */
void code_open_carriers(Emit *e);
/* The register in which the atom lies by itself, or NO_REG. */
uint32_t atom_reg(const Emit *e, IrAtom atom);
/* Register that holds the atom, perhaps a scratch one; operand_done gives it back. */
uint32_t operand_reg(Emit *e, IrAtom atom);
void operand_done(Emit *e, IrAtom atom, uint32_t reg);
void code_return(Emit *e, uint32_t reg);
void code_return_atom(Emit *e, IrAtom atom);
/* The statements of a frame and its value. */
void code_frame(Emit *e, const IrFrame *frame, Dest dest);

/* ---- ir_emit_bind.c ---- */
void code_bind(Emit *e, const IrStmt *s);
bool op_is_test(IrOp op); /* a jump can make this comparison itself */
Condition test_condition(Emit *e, const IrStmt *s);

/* ---- ir_emit_branch.c ---- */
uint32_t branch_new(Emit *e, const IrStmt *construct, Dest dest);
void condition_jump(Emit *e, const Condition *c, bool sense, uint32_t label);
/* Goes where the branch says, from the value of a register, a test or a constant. */
void code_branch(Emit *e, const Condition *c, uint32_t branch);
void branch_on_atom(Emit *e, IrAtom atom, uint32_t branch);
/* Is this statement left to the construct or branch that tests it? Notes that it is. */
bool defer_condition(Emit *e, const IrStmt *s);
/* The condition of an If: what was deferred, or its operand. */
void code_condition(Emit *e, const IrStmt *construct, uint32_t branch);
/* Places the stubs from `mark` on here, where no code runs into them: at the end of the region they belong
 * to, or of the function. */
void stubs_flush(Emit *e, uint32_t mark);

/* ---- ir_emit_construct.c, ir_emit_region.c ---- */
void code_construct(Emit *e, const IrStmt *s);
void code_if(Emit *e, const IrStmt *s, Dest dest);
void code_ondo(Emit *e, const IrStmt *s, Dest dest);
void code_ensure(Emit *e, const IrStmt *s, Dest dest);
void code_home(Emit *e, const IrStmt *s);

#endif
