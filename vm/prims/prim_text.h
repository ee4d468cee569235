/* Errors that the number and text primitives raise, by selector text. */
#ifndef BT_PRIM_TEXT_H
#define BT_PRIM_TEXT_H

#include "vm/prims/prim_support.h"

static inline Value prim_selector(Process *p, const char *selector) {
    Value symbol = symbol_intern(p->vm, selector, strlen(selector));
    return symbol == V_HOLE ? V_NIL : symbol;
}
/* Name of the class that an error names: of a class object its own name. */
static inline Value prim_fault_class(Process *p, Value receiver) {
    if (!value_is_class(receiver)) return class_name_of(p->vm, receiver);
    Class *c = class_by_id(p->vm, special_payload(receiver));
    return c ? c->name : V_NIL;
}
static inline PrimStatus prim_raise(Process *p, ErrorKind kind, Value receiver, const char *selector,
                                    const char *hint) {
    return error_raise(p, kind, prim_fault_class(p, receiver), prim_selector(p, selector), NULL, hint, V_NIL);
}
static inline PrimStatus prim_type_error(Process *p, Value receiver, const char *selector, const char *hint) {
    return prim_raise(p, ERR_type_error, receiver, selector, hint);
}
static inline PrimStatus no_string(Process *p, Value receiver, const char *selector) {
    return prim_type_error(p, receiver, selector, "Expected a String");
}

/* The hint of what needs at least one element: `C is empty; ` and what to do about it. */
#define EMPTY_TEXT_HINT "guard with `isEmpty` before indexing"
PrimStatus prim_empty(Process *p, Value receiver, const char *selector, const char *advice);
/* `text` and the value's printString, cut to the buffer at a character; text alone if there is no memory.
 * MAY_GC. */
void prim_hint_with(Process *p, char *hint, size_t size, const char *text, Value value);

#endif
