/* A generated program: the property tests' own small tree, the text it prints as, and what the rules say of
 * it before it runs. Nothing here knows the compiler or the VM; generator (generate.h), rules (rules.h),
 * reference interpretation (reference.h) and shrinker work on this tree. A program lives in one Pool and dies
 * with it.
 */
#ifndef BT_TESTS_PROGRAM_H
#define BT_TESTS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- memory ---- */

typedef struct PoolChunk PoolChunk;
typedef struct {
    PoolChunk *chunks;
} Pool;
void *pool_get(Pool *pool, size_t size); /* zeroed */
void pool_clear(Pool *pool);

/* Text that grows. */
typedef struct {
    char *bytes;
    size_t length, room;
} ProgText;
void prog_text_add(ProgText *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void prog_text_free(ProgText *text);

/* ---- the tree ---- */

typedef enum {
    N_INT,       /* value */
    N_NIL,       /* */
    N_BOOL,      /* value: 0, 1 */
    N_SYM,       /* value: index into PROG_SYMBOLS */
    N_VAR,       /* value: variable */
    N_SET_VAR,   /* value: variable; kid 0 */
    N_STATE,     /* value: 0..STATES-1: `self.s0`, a class variable or field by context */
    N_SET_STATE, /* value, kid 0 */
    N_BIN,       /* op: index into PROG_OPS; kids 0, 1 */
    N_UNARY,     /* op: index into PROG_UNARY; kid 0 */
    N_LIST,      /* kids */
    N_DICT,      /* kid 0 under key #a, kid 1 (if any) under #b */
    N_INTERP,    /* kids, each an interpolated segment */
    N_CASCADE,   /* kid 0 receiver; kids 1..: `max: kid` messages */
    N_BETWEEN,   /* kid 0 between: kid 1 and: kid 2 */
    N_KEYED,     /* kid 0 max: kid 1; with one kid: kid 0 isKindOf: Integer */
    N_CONSTRUCT, /* op: index into SHAPES; kids in the order of its template */
    N_MATCH,  /* kid 0 scrutinee; kids 1..: arm values; the arms' patterns are 1, 2, .. and the last is `_` */
    N_RETURN, /* `^ kid 0`, a statement */
    N_RAISE,  /* op: index into PROG_RAISES */
    N_BLOCK,  /* params; kid 0 an N_SEQ */
    N_CALL,   /* kid 0 (a block value) value... kids 1.. */
    N_SEND,   /* op: index into HELPERS; kids: arguments */
    N_METHOD, /* value: method index of this program; kids: arguments: `self p1: ...` */
    N_ERROR_KIND, /* kid 0 kind (an exception's kind) */
    N_RERAISE,    /* kid 0 signal */
    N_CLASS,      /* op: index into PROG_CLASSES */
    N_SEQ         /* kids: statements */
} NodeKind;

enum { NODE_PARAMS = 3, PROG_STATES = 2, PROG_METHODS = 12, PROG_VARS = 64, PROG_INITIAL = 3 };

/* What the rules say of a block literal; filled by rules_check. */
typedef struct {
    uint64_t reads, writes; /* outer variables that it or a block in it reads or writes, by variable number */
    uint8_t state_reads;    /* states that it or a block in it reads */
    bool writes_state;      /* a state write stands in it */
    bool literal;           /* it stands in a construct's place: runs there, no closure of its own */
} BlockRules;

/* Where a construct stands; decided by its parent. */
typedef enum {
#define POSITION(name) POS_##name,
#include "positions.def"
#undef POSITION
    POS_COUNT
} Position;
extern const char *const POSITION_NAMES[POS_COUNT];

typedef struct Node Node;
struct Node {
    NodeKind kind;
    uint8_t op;
    uint8_t param_count;
    int16_t value;
    int16_t params[NODE_PARAMS];
    uint8_t position; /* Position, of a construct; filled by rules_check */
    uint16_t kid_count;
    Node **kids;
    BlockRules rules;
};

typedef enum { CTX_CLASS, CTX_VALUE, CTX_ACTOR, CTX_SCRIPT, CTX_COUNT } Context;
typedef enum { SPELL_OPEN, SPELL_SEALED, SPELL_SUBCLASS, SPELL_COUNT } Spelling;

typedef struct {
    int param_count;
    int16_t params[2];
    Node *body; /* N_SEQ; NULL: no such method */
} Method;

typedef struct {
    Pool *pool;
    Context context;
    Method methods[PROG_METHODS]; /* 0 is the entry `m`; the others `p1:` .. */
    int var_count;                /* of the method that has most; each numbers its own from 0 */
    int callers; /* CTX_CLASS: more than one process calls the entry at once; the answer is theirs, sorted by
                    text */
} Program;

extern const char *const CONTEXT_NAMES[CTX_COUNT];

/* ---- tables ---- */

/* A construct: how it is written, and what kind of thing stands where. */
typedef struct {
    const char *name;
    const char *text; /* %1 %2 ..: the kids, numbered from 1, in order of evaluation */
    const char *kids; /* one character a kid, see shapes.def */
    char result;      /* i integer, b boolean, n nil, l List, d Dictionary, r Result, ? any */
} Shape;
enum {
#define SHAPE(id, text, kids, result) SHAPE_##id,
#include "shapes.def"
#undef SHAPE
    SHAPES_PLAIN,
    SHAPE_MATCH = SHAPES_PLAIN, /* N_MATCH counts as a construct in tables */
    SHAPES_ALL
};
extern const Shape SHAPES[SHAPES_PLAIN];
const char *shape_name(int shape); /* of any of the SHAPES_ALL */

typedef enum { OP_ADD, OP_SUB, OP_LESS, OP_LESS_EQUAL, OP_SAME, OP_CONCAT, OP_COUNT } BinaryOp;
extern const char *const PROG_OPS[OP_COUNT];
typedef enum {
    UN_IS_NIL,
    UN_SIZE,
    UN_NOT,
    UN_IS_ERROR,
    UN_VALUE_OR,
    UN_NEGATED,
    UN_FIRST,
    UN_LAST,
    UN_COUNT
} UnaryOp;
extern const char *const PROG_UNARY[UN_COUNT];

typedef struct {
    const char *text, *kind;
    const char *class_name; /* of the exception */
} Raise;
enum { RAISE_DIVIDE, RAISE_UNKNOWN, RAISE_USER, RAISE_EMPTY, RAISE_SIGNAL, RAISE_TYPE, RAISE_COUNT };
extern const Raise PROG_RAISES[RAISE_COUNT];

extern const char *const PROG_SYMBOLS[];

/* Classes written as expressions: filters of on:do:, receivers of tryDo:. A script or method may also name a
 * receiver `PropTrier new`. */
typedef struct {
    const char *name;
    const char *catches; /* class of exceptions that it catches, NULL: all */
} ClassName;
enum {
    CLASS_ERROR,
    CLASS_EXCEPTION,
    CLASS_TYPE_ERROR,
    CLASS_RUNTIME_ERROR,
    CLASS_NIL,
    CLASS_RESULT,
    CLASS_TRIER,
    CLASS_COUNT
};
extern const ClassName PROG_CLASSES[CLASS_COUNT];

/* Methods that every program's class has, and those of the classes around it (prelude). */
typedef struct {
    const char *text; /* the send, %1 .. the arguments */
    const char *kids; /* as in shapes.def */
    char result;
    uint8_t contexts;     /* bit per Context in which it may be generated */
    const char *selector; /* what the diagnostic names */
} Helper;
enum {
#define HELPER(id, text, kids, result, contexts, selector) HELPER_##id,
#include "helpers.def"
#undef HELPER
    HELPER_COUNT
};
extern const Helper HELPERS[HELPER_COUNT];

/* ---- building ---- */

Node *node_new(Pool *pool, NodeKind kind, int kid_count);
Node *node_leaf(Pool *pool, NodeKind kind, int value);
Node *node_with(Pool *pool, NodeKind kind, int op, int kid_count, ...);
void node_append(Pool *pool, Node *node, Node *kid);
Node *node_copy(Pool *pool, const Node *node);
Program program_copy(Pool *pool, const Program *program);
size_t program_size(const Program *program); /* nodes */

/* ---- text ---- */

/* The classes that every program's helpers live in; loaded once a VM. */
const char *prelude_text(void);
/* The class under test (script: nothing), named `name`. */
void program_class_text(const Program *program, Spelling spelling, const char *name, ProgText *text);
/* The inputs to evaluate, one after another: the first `setup` ones make things, the next is the program's
 * answer, the last its final values. */
typedef struct {
    ProgText setup, answer, finals;
} Inputs;
void program_inputs(const Program *program, Spelling spelling, const char *name, Inputs *inputs);
void inputs_free(Inputs *inputs);
/* All of it, for a reader. */
void program_print(const Program *program, Spelling spelling, ProgText *text);

#endif
