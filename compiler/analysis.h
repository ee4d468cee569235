/* What the compiler finds out about a tree before lowering: names, blocks, classes.
 *
 * One Analysis is one compilation. classes.c fills the class table, facts.c resolves names and collects block
 * facts (and reports what is wrong with names), checks.c and stateful.c report the rest, lower*.c reads. All
 * of it lives in the arena.
 *
 * Who hangs what on Node.facts:
 *   IDENT, PARAM, PAT_VAR, PAT_TYPE (its binding), SPREAD-free targets   Var *
 *   BLOCK, ARM                                                           BlockFacts *
 *   SEND, PART                                                           const SelectorInfo *, NULL for an
 * unknown selector CLASS_REF                                                            ClassInfo *, NULL if
 * unresolved
 */
#ifndef BT_COMPILER_ANALYSIS_H
#define BT_COMPILER_ANALYSIS_H

#include "compiler/ast.h"
#include "compiler/compiler.h"
#include "compiler/name_map.h"

typedef enum {
    CTRL_NONE,
    CTRL_FOLD_DO, /* the folds, up to CTRL_THREADING */
    CTRL_FOLD_WITH_INDEX,
    CTRL_FOLD_COLLECT,
    CTRL_FOLD_SELECT,
    CTRL_FOLD_REJECT,
    CTRL_FOLD_INJECT,
    CTRL_FOLD_COUNT,
    CTRL_THREADING,
    CTRL_IF_TRUE,
    CTRL_IF_FALSE,
    CTRL_IF_TRUE_FALSE,
    CTRL_AND,
    CTRL_OR,
    CTRL_IF_NIL,
    CTRL_IF_NOT_NIL,
    CTRL_IF_NIL_NOT_NIL,
    CTRL_IF_NOT_NIL_NIL,
    CTRL_WHILE_TRUE,
    CTRL_WHILE_FALSE,
    CTRL_REPEAT,
    CTRL_TIMES,
    CTRL_TO_DO,
    CTRL_TO_BY_DO,
    CTRL_ON_DO,
    CTRL_ENSURE,
    CTRL_VALUE
} Construct;

typedef struct {
    const char *text;
    Construct construct;
    IrOp op;
    const char *blocks; /* see constructs.def */
} SelectorInfo;

typedef struct Var Var;
typedef struct BlockFacts BlockFacts;
typedef struct FnFacts FnFacts;
typedef struct ClassInfo ClassInfo;

typedef enum { VAR_LOCAL, VAR_PARAM, VAR_PATTERN, VAR_BINDING, VAR_SELF } VarKind;

/* A variable: belongs to the scope in which it is first assigned (semantics 4), and to the function whose
 * activation holds it. */
struct Var {
    const char *name;
    FnFacts *fn;
    uint8_t kind;      /* VarKind */
    bool carrier;      /* a real closure inside fn writes it */
    bool stored_write; /* one that is no literal of a construct does: whoever calls it writes */
    bool exists;       /* VAR_BINDING: known to be bound at entry */
    bool placed;       /* lowering: `atom` says where it is */
    uint32_t depth;    /* block depth of its scope */
    uint32_t writes;   /* assignments, the first included; binding a parameter or pattern does not count */
    Span span;         /* its first mention */
    BlockFacts *block; /* literal that its only assignment binds to it, or NULL */
    Span bound_span;   /* that assignment */
    const char *flows; /* selector of the first send that gets its value, or NULL */
    uint32_t binding;  /* VAR_BINDING: index in the unit's bindings */
    uint32_t carrier_index;
    uint32_t arrived; /* VAR_BINDING: the version in which the script gets it */
    IrAtom atom;      /* ATOM_LOCAL (version unused) or ATOM_TEMP, in terms of fn */
};

/* What happens to the value of a real closure: decides whether its writes have a way back (semantics 8.3, 9).
 */
typedef enum {
    FLOW_NONE,      /* element, operand of a literal, discarded */
    FLOW_RETURNED,  /* ^ or last value of a method or block */
    FLOW_LOCAL,     /* := to a local */
    FLOW_FIELD,     /* := to a field or class variable */
    FLOW_THREADING, /* literal argument of a send that hands writes back */
    FLOW_SELF_SEND,
    FLOW_SEND,
    FLOW_FOREIGN /* argument of a foreign function */
} BlockFlow;

/* A block literal, or an arm of match:. */
struct BlockFacts {
    Node *node;
    FnFacts *fn;               /* the function in which its body runs */
    BlockFacts *outer;         /* the block around it, NULL at the root of a method */
    FnFacts *closure;          /* its own function, NULL if inlined; a home of its own for a builder block */
    Node *twin;                /* block of a send that may be inlined: a copy of it that is, or NULL */
    uint32_t depth;            /* 1 for a block at the root */
    bool writes_outer;         /* some local from outside, directly or through closures inside */
    const char *field_written; /* the first instance field that it or a block inside sets, or NULL */
    uint8_t flow;              /* BlockFlow */
    const char *flow_selector; /* FLOW_SEND, FLOW_SELF_SEND, FLOW_THREADING */
    Node *flow_receiver;       /* FLOW_SEND: receiver of that send, NULL in a cascade part */
    bool flow_cast;
    PtrSet writes; /* Var: locals from outside that it sets itself (not through closures), nested inlined
                      blocks included */
};

/* What becomes one IrFunction: a method, a script, a default, or a block that is a real closure. */
struct FnFacts {
    FnFacts *parent; /* the function that makes the closure, NULL for a home */
    FnFacts *home;
    BlockFacts *block;     /* NULL for a home */
    ClassInfo *class_info; /* class of the text, NULL in scripts */
    const char *selector;
    const char *class_name; /* of the text, NULL if unknown */
    BcFnKind kind;          /* of the home */
    bool class_side;
    bool script;
    bool is_default;     /* defaults of fields: no method that an error could spoil */
    bool nlr_home;       /* a home: some closure contains ^ */
    bool any_carrier;    /* a home: some variable in it is a carrier */
    bool opens_carriers; /* some variable of its own is a carrier */
    bool keeps_carriers; /* a block: one inside it that writes may be called when its activation is over */
    bool builder;        /* a home: ClassBuilder block compiled as a method */
    const char *receiver_name; /* of such a block: its name for the receiver, which is self too */
    bool has_return;           /* a closure: contains ^, nested closures included */
    bool test_self;            /* instance method of a TestCase: self is a variable */
    bool writes_state;         /* a closure: writes actor fields, nested closures included */
    bool writes_class_vars;
    bool channel;    /* a stateful closure whose writes have a way back; the others raise when called */
    bool only_reads; /* `writes` is not empty, but it reads those variables only (facts_share_writes) */
    bool lossy;      /* a closure for a foreign function: it writes copies (semantics 8.3) */
    bool abroad_reported;
    PtrSet reads;        /* Var: of functions around it, read by it or by closures in it */
    PtrSet writes;       /* Var: of functions around it, written by it or by closures in it */
    PtrSet class_vars;   /* names: class variables read by it or by closures in it */
    Var *self_var;       /* test_self */
    const char *spoiled; /* text of the first semantic error, under options->spoil_methods */
    void *lower;         /* lower.c */
};

/* A class of the unit or of the world. Names that nobody knows have known = false. */
struct ClassInfo {
    const char *name;
    const char *super_name; /* NULL for the root */
    ClassInfo *superclass;  /* NULL for the root or if unknown */
    ClassDecl *decl;        /* NULL for classes of the world */
    bool known, resolving, resolved;
    bool is_test_case, is_exception;
    bool subclassed;     /* by a class of the unit */
    uint8_t kind, flags; /* BcClassKind, CLASS_* */
    bool has_class_vars;
    PtrSet fields; /* names, inherited first */
    uint32_t inherited_fields;
    const uint32_t *slots;   /* of the fields (class_slots.c); NULL: in order */
    const char **slot_names; /* by slot, NULL where no field is or was; set together with slots */
    uint32_t slot_count;
    PtrSet class_vars;              /* own */
    NameMap methods, class_methods; /* unit: selector -> MethodDecl *, extensions included */
    PtrSet extensions;              /* unit: ExtMethod of the unit for this class */
    FnFacts *defaults;              /* unit: the method that answers the defaults of its fields */
};

/* One `@expect` in force. */
typedef struct {
    const char *category;
    Span span;
    bool used;
} Expect;

typedef struct {
    Var *var; /* innermost visible, NULL if none */
} NameSlot;

typedef struct {
    NameSlot *slot;
    Var *shadowed;
} ScopeEntry;

typedef struct Analysis {
    const CompileOptions *options;
    Arena *arena;
    Intern *intern;
    DiagList *diags;
    Module *module;
    NameMap selectors; /* -> SelectorInfo */
    NameMap own;       /* selector of a construct -> does a class of the program have such a method? */
    NameMap classes;   /* -> ClassInfo */
    NameMap slots;     /* -> NameSlot */
    struct WellKnown {
#define WELL_KNOWN(field, text) const char *field;
#include "compiler/well_known.def"
#undef WELL_KNOWN
    } names;

    /* the walk */
    FnFacts *fn;
    BlockFacts *block;
    uint32_t twins;    /* folds around, in whose inlined copies the walk is */
    bool plain;        /* in the closure of a fold that has a twin: folds in it have none */
    bool quiet;        /* in a twin: its text has been reported on */
    ScopeEntry *scope; /* visible names, innermost last */
    uint32_t scope_count, scope_capacity;
    Expect expects[8];
    uint32_t expect_count;
    PtrSet home_vars;         /* Var: locals of the current home that were bound to a block */
    PtrSet closures;          /* FnFacts: closures of the current home, inner before outer */
    const char *builder_name; /* `name: #N` of the ClassBuilder cascade being visited */
    /* results */
    PtrSet bindings;     /* Var: session variables of the script, in order of their index */
    NameMap binding_map; /* name -> Var: the same */
    FnFacts *script;
} Analysis;

/* ---- constructs.c ---- */
bool constructs_init(Analysis *a);
const SelectorInfo *selector_info(const Analysis *a, const char *selector);
/* Is this send compiled inline? Looks at the literal blocks only. */
bool send_is_inlined(const SelectorInfo *info, const Node *send);
/* Is it a fold over what may be a List, with a literal block that has as many parameters as it gets
 * arguments? */
bool send_is_fold(const Analysis *a, const SelectorInfo *info, const Node *send);
/* The inlined copy of a fold's block, NULL for all other sends. */
Node *fold_twin(const Analysis *a, const Node *send);
/* A construct whose receiver may be an instance of a class of the program that has such a method: it is
 * compiled as both, like a fold. */
bool send_may_be_own(Analysis *a, const SelectorInfo *info, const Node *send);
/* The same selector where it is an ordinary message. */
const SelectorInfo *selector_sent(const SelectorInfo *info);
/* The block that is inlined for an argument of a construct: its twin, if it has one. */
Node *inlined_block(Node *argument);
/* May argument `index` (0 = receiver) be a block that hands its writes back? */
bool selector_threads(const SelectorInfo *info, const char *selector, uint32_t index);
/* The literal block behind parentheses, or NULL. */
static inline Node *literal_block(Node *node) {
    node = ast_unparen(node);
    return node && node->kind == AST_BLOCK ? node : NULL;
}

/* ---- classes.c ---- */
/* Builds the table of the unit's classes, resolves kinds and fields, reports what is wrong with the
 * hierarchy. */
void classes_resolve(Analysis *a);
/* Never NULL; `known` says whether there is such a class. */
ClassInfo *class_find(Analysis *a, const char *name);
/* A method of the unit's own classes up the chain; NULL if only the world could know. */
MethodDecl *class_unit_method(const ClassInfo *c, const char *selector, bool class_side, ClassInfo **owner);
/* Does the chain define it anywhere? flags may be NULL. */
bool class_has_method(Analysis *a, const ClassInfo *c, const char *selector, bool class_side, uint8_t *flags);

/* Help for a name that no class has: the nearest one that a class has. d may be NULL. */
void suggest_class(Analysis *a, Diag *d, const char *name);

/* `withName:` for a field `name`: the method that answers a copy of a value with that field set. */
const char *setter_selector(Intern *intern, const char *field);

/* ---- class_slots.c ---- */
/* The slot of a field in instances; -1: the class has no such field. */
int32_t class_slot_of(const ClassInfo *c, const char *field);
uint32_t class_slots(const ClassInfo *c);
/* For a class of the unit whose fields are known, and for one of the world. */
void class_slots_place(Analysis *a, ClassInfo *c);
void class_slots_known(Analysis *a, ClassInfo *c, const CompilerClass *w);

/* ---- protocols.c ---- */
/* Adds the class of every protocol to the module, before classes_resolve. */
void protocols_to_classes(Analysis *a);

/* ---- facts.c ---- */
/* Does this code run as an instance method of an actor? */
static inline bool facts_actor_instance(const FnFacts *fn) { return fn->home->kind == FN_ACTOR_METHOD; }
/* `self` itself, not a variable of that name. */
static inline bool is_self_name(const Analysis *a, const Node *node) {
    return node->kind == AST_IDENT && node->as.name == a->names.self && !node->facts;
}
/* The kind of a method of this class; NULL: a class that is not known. */
BcFnKind method_kind(const ClassInfo *c, bool class_side);
FnFacts *facts_of_method(Analysis *a, ClassInfo *c, MethodDecl *method, bool class_side);
FnFacts *facts_of_script(Analysis *a, const NodeList *statements);
/* The default of a class variable, as a class-side method without parameters. */
FnFacts *facts_of_default(Analysis *a, ClassInfo *c, const char *name, Node *value);
/* The defaults of all fields that the class declares, as one such method. */
FnFacts *facts_of_defaults(Analysis *a, ClassInfo *c);
/* The locals that a construct (or one of its blocks) threads: what lowering hands out and what the
 * stateful-block diagnostic calls a way back (ADR 0131 section 1). Empty for anything that is no construct.
 */
void threaded_locals_of(Analysis *a, const Node *construct, PtrSet *out);

/* ---- checks.c, checks_class.c, checks_pattern.c, stateful.c ---- */
/* What fits the fields of an instruction, and what no text written by people comes near. */
enum { PARAMETERS_MAX = 255, PARTS_MAX = 10000 };
/* An error when there are more than `limit`. */
void check_limit(Analysis *a, Span span, uint32_t count, uint32_t limit, const char *what);
void check_unit(Analysis *a);
void check_class(Analysis *a, ClassInfo *c);
void check_method(Analysis *a, const ClassInfo *c, const MethodDecl *m, bool class_side);
void check_send(Analysis *a, Node *node, Node *receiver);
void check_field(Analysis *a, Node *node, bool write);
void check_match(Analysis *a, Node *match);
void check_pattern(Analysis *a, Node *pattern, bool in_arm);
void check_closure(Analysis *a, BlockFacts *block);
/* class_state_abroad, of the closures made since there were `first` of them. */
void check_abroad_from(Analysis *a, uint32_t first);
void check_home(Analysis *a, FnFacts *home);

/* ---- report.c ---- */
/* An error in a body spoils the method under options->spoil_methods; elsewhere it stops the unit. NULL:
 * suppressed or not kept. */
Diag *report(Analysis *a, DiagSeverity severity, const char *category, Span span, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void expect_push(Analysis *a, const Node *expect);
void expect_pop(Analysis *a, uint32_t count);

/* Has the workspace given this name to a value (`Workspace bind:as:`)? */
bool facts_shared_name(const Analysis *a, const char *name);

#endif
