/* Methods that need no activation: the whole body is one primitive, one constant, the read of a field or the
 * copy of the receiver with another value in a field. Recognised when code is linked; a send runs them where
 * it stands. Whatever is not as expected (an object made by an older layout, no room on the heap) goes the
 * ordinary way through the body, which knows how to raise and to collect. */
#ifndef BT_VM_LEAF_H
#define BT_VM_LEAF_H

#include "vm/process.h"

enum { LEAF_NONE, LEAF_PRIM, LEAF_CONSTANT, LEAF_FIELD, LEAF_WITH };

/* Sets leaf, leaf_slot and leaf_value of a function whose code, primitive and constants are linked. */
void leaf_recognise(Function *fn);

/* Is it an instance that has the word `slot` (1: its first field)? */
static inline bool instance_has_slot(Value v, unsigned slot) {
    return value_is_kind(v, KIND_INSTANCE) && slot < object_size(v);
}
/* LEAF_WITH: the copy of args[0] that has args[1] in the slot; V_HOLE: by the body. No collection. */
Value leaf_with(Process *p, const Function *fn, const Value *args);

#endif
