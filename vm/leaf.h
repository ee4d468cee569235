/* Methods that need no activation: the whole body is one primitive, one constant, the read of a field or the
 * copy of the receiver with another value in a field. Recognised when code is linked; a send runs them where
 * it stands. Whatever is not as expected (an object made by an older layout, no room on the heap) goes the
 * ordinary way through the body, which knows how to raise and to collect.
 *
 * A site's cache says so too: what lies below the key (see SITE_LEAF) tells such methods from the others, and
 * of a read the field. */
#ifndef BT_VM_LEAF_H
#define BT_VM_LEAF_H

#include "vm/process.h"

/* LEAF_NEW and LEAF_CONSTRUCT are primitives as well: `new` and the keyword constructor of a value class. */
enum { LEAF_NONE, LEAF_PRIM, LEAF_NEW, LEAF_CONSTRUCT, LEAF_CONSTANT, LEAF_FIELD, LEAF_WITH };

/* The low half of a site's word: where the method stands in the table, in bytes; with SITE_FIELD or SITE_WITH
 * instead the word of the field that the method reads or changes. */
#define SITE_LEAF (UINT32_C(1) << 31)
#define SITE_FIELD (UINT32_C(1) << 30)
#define SITE_WITH (UINT32_C(1) << 29)
#define SITE_PLACE (SITE_WITH - 1)
static inline uint32_t site_target(const Method *m) {
    const Function *fn = m->fn;
    uint32_t place = m->index * (uint32_t)sizeof *m;
    if (!fn->leaf) return place;
    if (fn->leaf == LEAF_FIELD) return SITE_LEAF | SITE_FIELD | fn->leaf_slot;
    return SITE_LEAF | (fn->leaf == LEAF_WITH ? SITE_WITH | fn->leaf_slot : place);
}

/* Sets leaf, leaf_slot and leaf_value of a function whose code, primitive and constants are linked. */
void leaf_recognise(Function *fn);

/* Is it an instance that has the word `slot` (1: its first field)? */
static inline bool instance_has_slot(Value v, unsigned slot) {
    return value_is_kind(v, KIND_INSTANCE) && slot < object_size(v);
}
/* LEAF_WITH: the copy of args[0] that has args[1] in the word `slot`; V_HOLE: by the body. No collection. */
Value leaf_with(Process *p, unsigned slot, const Value *args);
/* LEAF_NEW, LEAF_CONSTRUCT: the instance of the class args[0]; V_HOLE: by the primitive. No collection. */
Value leaf_make(Process *p, const Function *fn, const Value *args, unsigned argc);

#endif
