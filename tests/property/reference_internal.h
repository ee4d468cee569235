/* What the files of the reference interpretation share. */
#ifndef BT_TESTS_REFERENCE_INTERNAL_H
#define BT_TESTS_REFERENCE_INTERNAL_H

#include "reference.h"

/* ---- values ---- */

typedef enum {
    V_INT,
    V_NIL,
    V_BOOL,
    V_SYM,
    V_STR,
    V_LIST,
    V_DICT,
    V_BLOCK,
    V_OK,
    V_ERROR,
    V_EXCEPTION,
    V_CLASS
} ValueKind;
typedef struct Value Value;
typedef struct Closure Closure;
struct Value {
    ValueKind kind;
    int64_t number;         /* V_INT, V_BOOL, V_CLASS */
    const char *text;       /* V_SYM, V_STR; V_EXCEPTION: its kind */
    const char *class_name; /* V_EXCEPTION */
    int count;              /* V_LIST: elements; V_DICT: pairs, 2 * count values */
    Value **items;          /* V_OK, V_ERROR: one */
    Closure *closure;       /* V_BLOCK */
};

Value *value_int(Pool *pool, int64_t number);
Value *value_bool(bool truth);
Value *value_nil(void);
Value *value_text(Pool *pool, ValueKind kind, const char *text);
Value *value_list(Pool *pool, int count);
Value *value_dict(Pool *pool, int count);
Value *value_one(Pool *pool, ValueKind kind, Value *item);
Value *value_exception(Pool *pool, const char *kind);
/* 1 equal by =:=, 0 not, -1: nothing the rules fix. */
int value_same(const Value *a, const Value *b);
/* false: it has no printed form that the rules fix. */
bool value_print(const Value *value, ProgText *text);
bool value_display(const Value *value, ProgText *text);

/* ---- state ---- */

typedef enum { CELL_LOCAL, CELL_ACTOR, CELL_CLASS } CellKind;
typedef struct {
    CellKind kind;
    Value *value;
} Cell;

typedef struct {
    Cell *cell;
    Value *old;
} Undo;

typedef enum { PROC_MAIN, PROC_CLASS, PROC_HOP, PROC_ACTOR, PROC_BOX, PROC_COUNT } ProcessId;
typedef struct {
    ProcessId id;
    bool busy; /* it runs or waits in the chain of calls under way */
    Undo *log;
    size_t log_count, log_room;
} Process;

/* One activation of a method of the program (or its script). */
typedef struct {
    bool alive;
    Process *process;
} Activation;

/* Values that a block took along of states that it reads, for where it is not at home. */
typedef struct {
    Value *states[PROG_STATES];
} Capture;

typedef struct {
    Activation *home;
    Capture *capture; /* of the real closure that this runs in; NULL in a method's own text */
    Cell **cells; /* by variable number; those that came into being in an inner block are in that block's Env
                     only */
} Env;

struct Closure {
    const Node *block;
    Env env;
};

/* ---- the run ---- */

typedef struct {
    Outcome outcome;  /* why the last evaluation did not answer */
    Value *value;     /* OUTCOME_RAISED: the exception; OUTCOME_LEFT: what `^` answers */
    Activation *home; /* OUTCOME_LEFT: where it goes */
} Signal;

typedef struct {
    Pool pool;
    const Program *program;
    Coverage *coverage;
    Process processes[PROC_COUNT];
    Process *current;
    Cell states[PROG_STATES]; /* of the class or actor under test */
    Cell count;               /* class variable c0 of the class of the value or actor under test */
    Cell runs;                /* PropHop's class variable */
    Signal signal;
    bool gave_up;
    int steps, depth;
} Run;

/* All answer NULL when something else than a value came of it: run->signal, or run->gave_up. */
Value *ref_eval(Run *run, Env *env, const Node *node);
Value *ref_raise(Run *run, const char *kind);
Value *ref_give_up(Run *run);
Value *ref_construct(Run *run, Env *env, const Node *node);
Value *ref_send(Run *run, Env *env, const Node *node);
Value *ref_method(Run *run, Env *env, const Node *node);
/* A block in a construct's place. */
Value *ref_literal(Run *run, Env *env, const Node *block, int count, Value *const *arguments);
/* A block that is a value: the rules of semantics 4 and 8.3 on where it may run. */
Value *ref_call(Run *run, const Value *block, int count, Value *const *arguments);
Value *ref_method_body(Run *run, int method, Value *const *arguments);

/* Cells and regions of the current process. */
void ref_set(Run *run, Cell *cell, Value *value);
size_t ref_mark(const Run *run);
void ref_undo(Run *run, size_t mark); /* the error edge of a region */
void ref_undo_for_cleanup(
    Run *run, size_t mark); /* what the cleanup of a failing ensure: does not see: class variables stay */
Value *ref_state_read(Run *run, const Env *env, int state);
Value *ref_state_write(Run *run, int state, Value *value);
/* Did the last evaluation raise, and does the filter take it? */
bool ref_raised(const Run *run);
bool ref_catches(const Run *run, const Value *filter);
Value *ref_exception(Run *run); /* takes the signal's exception */

#endif
