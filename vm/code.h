/* Linked code: what the loader makes of a checked BcUnit. Immutable once published, but for the cache words
 * of the sites. Owner: the CodeUnit, which is reference counted by class tables, the loader, processes' heaps
 * and frames (see heap.h). */
#ifndef BT_VM_CODE_H
#define BT_VM_CODE_H

#include <stdatomic.h>
#include "vm/bytecode/bytecode.h"
#include "vm/object.h"
#include "vm/prim.h"

typedef struct BtVm BtVm;
typedef struct CodeUnit CodeUnit;
typedef struct Class Class;
typedef struct Method Method;
typedef struct Process Process;

/* One inline cache. word = key << 32 | what it found, 0 = empty; release store, acquire load; zeroed by
 * installs. Sends: dispatch class (also in word2) and site_target, or SUPER_KEY and the method's index. State
 * and class-variable sites: the layout's id, and slot + 1. The keys of these are disjoint: a check does not
 * keep instructions of different kinds from naming one site. */
typedef struct {
    Value name; /* selector, field, class variable or class name symbol */
    uint8_t argc, flags;
    uint16_t capture;
    _Atomic uint64_t word, word2;
} Site;

/* Flags of Function.flags beyond FN_*: set by code_link. */
enum { FN_TRANSIENT = 128 };

typedef struct Function {
    /* what a call reads stands together, in one cache line */
    const Instr *code;
    Site *sites;
    const Value *consts; /* the unit's */
    PrimStatus (*prim)(Process *p, Value *args, unsigned argc,
                       Value *result); /* of the PRIM the body begins with, or NULL */
    uint16_t param_count, register_count, capture_count;
    uint8_t kind, home_kind, flags;
    bool class_side;
    uint8_t leaf;       /* LEAF_* of leaf.h: no activation is needed */
    uint16_t leaf_slot; /* word of the field that it reads or writes */
    Value leaf_value;   /* what it always answers */
    CodeUnit *unit;
    const BcFunction *bc;       /* regions, lines, captures, spans */
    Value name;                 /* selector symbol */
    Value class_name;           /* symbol or nil */
    _Atomic uint64_t line_memo; /* the newest answer of function_line: instruction + 1, line */
} Function;

static inline const Function *closure_function(Value closure) {
    return (const Function *)(uintptr_t)object_at(closure, CLOSURE_FN);
}

/* Byte offsets of the lines of a unit's source. */
typedef struct {
    uint32_t count;
    uint32_t starts[];
} LineTable;

struct CodeUnit {
    _Atomic uint32_t refs;
    bool stdlib;               /* the library's own code: set by the loader before classes_install */
    CodeUnit *next, *previous; /* in the class table's list of units */
    bool transient; /* an evaluation: its closures are counted by heaps, its literals copied on use */
    BtVm *vm;
    BcUnit *bc;
    Value name; /* symbol: the module's name (file path), or nil */
    uint32_t function_count;
    Function *functions;
    Site *sites;   /* of all functions, one array */
    Value *consts; /* literals in unit memory, flagged OBJ_LITERAL */
    uint64_t *literal_words;
    LineTable *_Atomic lines; /* for function_line; NULL until it is first asked */
};

/* A method as found in a class's table. Lives in vm->methods by index (never reused while a cache may name
 * it). */
struct Method {
    Value selector;
    const Function *fn; /* kept alive by the class table's count on its unit */
    Class *owner;       /* class (or, for extensions, extended class) in which it was found */
    uint32_t index;
    uint8_t flags; /* METHOD_* of bytecode.h */
    bool class_side, extension;
    const char *_Atomic doc; /* or NULL; class_set_doc replaces it */
};

CodeUnit *
code_link(BtVm *vm, BcUnit *bc, bool transient, char *reason,
          size_t reason_size); /* checks, then takes bc over; NULL = refused, bc still the caller's */
void code_retain(CodeUnit *unit);
void code_release(CodeUnit *unit);
/* The primitive that a PRIM instruction names, NULL if this VM has none of that name. */
PrimFn code_prim(const Function *fn, Instr instr);
/* Source line (1-based) of an instruction, 0 if unknown. */
uint32_t function_line(const Function *fn, const Instr *pc);

#endif
