/* Structured errors: builds exception instances and leaves them pending in the process.
 *
 * Every function that raises sets process->exception and answers PRIM_RAISE (or false / V_HOLE, where said),
 * so callers write `return error_raise(...)`. Source of messages: errors.def (spec errors.md section 3). */
#ifndef BT_VM_ERROR_H
#define BT_VM_ERROR_H

#include "vm/prim.h"

struct Class;
struct Text;

typedef enum {
#define ERROR_KIND(name, class_name, with_selector, without) ERR_##name,
#include "vm/errors.def"
#undef ERROR_KIND
    ERROR_KIND_COUNT
} ErrorKind;

/* class_name and selector: Symbols or nil. text NULL: the template's message. hint may be NULL. details: a
 * Dictionary or nil (rooted by the callee). If the exception itself cannot be allocated, a preallocated
 * resource_error takes its place. MAY_GC. */
PrimStatus error_raise(Process *p, ErrorKind kind, Value class_name, Value selector, const char *text,
                       const char *hint, Value details);
/* The message is a String of the program's, rooted by the callee. */
PrimStatus error_raise_message(Process *p, ErrorKind kind, Value class_name, Value message);
/* printf-like message text (UTF-8). */
PrimStatus error_raisef(Process *p, ErrorKind kind, Value class_name, Value selector, const char *hint,
                        const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The usual ones. */
PrimStatus error_type(Process *p, Value receiver, Value selector, const char *hint);
PrimStatus error_arith(Process *p); /* type_error "bad arithmetic operation" */
PrimStatus error_argument(Process *p, Value receiver, Value selector, const char *hint);
PrimStatus error_resource(Process *p, const char *hint);
PrimStatus error_dnu(Process *p, Value receiver, Value selector,
                     const char *hint); /* hint NULL: the usual one */
/* Raises with a kind given as text (unlisted kinds use the generic template). Exception class by the kind
 * table. */
PrimStatus error_raise_symbol(Process *p, Value kind_symbol, Value class_name, Value selector,
                              const char *text, const char *hint, Value details);

/* Interns the names of the kinds. vm_new; false: no memory. */
bool error_kinds_init(BtVm *vm);
/* Builds the exception without raising it. V_HOLE = pending resource_error. MAY_GC. */
Value error_make(Process *p, ErrorKind kind, Value class_name, Value selector, const char *text,
                 const char *hint, Value details);
/* The exception that stands for "no memory": a literal of the VM, never allocated. For heap_reserve and its
 * like. */
Value error_out_of_memory(BtVm *vm);
/* Dictionary of one Symbol key, for details. V_HOLE = pending resource_error. MAY_GC. */
Value error_detail(Process *p, const char *key, Value value);
/* A raw fault (no class, no selector) that leaves an actor message gets the place: `Class>>selector: core`
 * (errors.md 3.1); anything else is answered as it is. MAY_GC. */
Value error_relabel(Process *p, Value exception, Value class_name, Value selector);
/* Where the process is now, as a raw trace (Tuple of immediates; interp.h renders it). nil without memory.
 * MAY_GC. */
Value error_trace(Process *p);
/* The pending exception came from another process: the frames that waited for its answer go behind its own.
 * MAY_GC. */
void error_extend_trace(Process *p);
/* Of a raw trace: one line per frame, `  at Class>>selector (file:line)`, innermost first. */
void trace_append_text(BtVm *vm, Value raw, struct Text *out);
/* Of a raw trace: selector of the innermost instance method that the class or one between it and Actor
 * defines; V_NIL if there is none. */
Value trace_method_of(Value raw, const struct Class *c);

/* True if v is an instance of Exception or below. */
bool value_is_exception(BtVm *vm, Value v);

#endif
