/* The compiler's front door: source text to a verified, emitted unit.
 *
 * The corridor: parse -> analyse (names, block facts, class table, checks) -> lower -> ir_verify -> ir_emit.
 */
#ifndef BT_COMPILER_H
#define BT_COMPILER_H

#include "ir/ir.h"

/* What the compiler must know of classes that exist already (library, loaded modules): asked by name,
 * answered by the caller. */
typedef struct {
    bool known;
    const char *superclass; /* NULL for the root */
    uint8_t kind, flags;    /* BcClassKind, CLASS_* */
    bool has_class_vars;
    uint32_t field_count;
    const char *const *fields; /* all, inherited included */
    const uint32_t *slots;     /* of the fields in instances; NULL: in order */
    uint32_t slot_count;
    const char *const *slot_names; /* by slot, NULL where no field is or was; NULL with slots */
    uint32_t class_var_count;
    const char *const *class_vars; /* own */
} CompilerClass;
typedef struct {
    void *context;
    /* False: there is no such class, or, with out->known, no memory to describe it. */
    bool (*find_class)(void *context, const char *name, CompilerClass *out);
    /* Does the class (or its chain) define this selector on this side? flags: METHOD_*. */
    bool (*find_method)(void *context, const char *class_name, const char *selector, bool class_side,
                        uint8_t *flags);
    /* How many slots have the largest instances of this class and of those below it? */
    uint32_t (*slot_limit)(void *context, const char *name);
    /* Has a class of the program, on either side, a method of its own with this selector? Methods of the
     * library do not count. NULL: none has. */
    bool (*program_has)(void *context, const char *selector);
    /* Is it a name that the workspace shares (`Workspace bind:as:`)? NULL: there are none. */
    bool (*has_shared_name)(void *context, const char *name);
    /* The class whose name is nearest to one that nobody knows; NULL: none is near. May be NULL. */
    const char *(*similar_class)(void *context, const char *name);
} CompilerWorld;

typedef struct {
    const char *name;     /* file name for diagnostics */
    bool stdlib;          /* pragmas allowed; classes flagged CLASS_STDLIB, class methods METHOD_DIRECT */
    bool script;          /* top-level expressions allowed (run, eval, REPL) */
    bool session;         /* unknown names are looked up in the session at run time rather than an error */
    bool spoil_methods;   /* beamtalk test: a semantic error in one method body spoils that method only */
    bool refuse_empty;    /* a text without expression or definition is an error */
    const Memory *memory; /* of the compilation and of the unit that it makes */
    const BcText *bindings;
    uint32_t binding_count; /* names that exist in the session */
    CompilerWorld world;
} CompileOptions;

/* NULL if any diagnostic is an error. Diagnostics go to diags in either case. No global state; any thread. */
BcUnit *compile_source(const CompileOptions *options, const char *source, size_t length, DiagList *diags);
/* The same, stopping at verified IR (beamtalk ir). */
IrUnit *compile_to_ir(const CompileOptions *options, const char *source, size_t length, DiagList *diags);
/* One method definition for an existing class. */
BcUnit *compile_method_source(const CompileOptions *options, const char *class_name, bool class_side,
                              const char *source, size_t length, DiagList *diags);

#endif
