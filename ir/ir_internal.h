/* What the files of ir/ share beyond the contract in ir.h. Private to ir/. */
#ifndef BT_IR_INTERNAL_H
#define BT_IR_INTERNAL_H

#include "ir/ir.h"

/* ---- ir_build.c ---- */
void ir_fail(IrUnit *unit);
/* Room for one more item of an array {items, count, capacity}; the old array stays in the arena. NULL: no
 * memory, the unit has failed. */
const Memory *ir_memory(const IrUnit *unit); /* where it takes its blocks */
void *ir_grow(IrUnit *unit, void *items, uint32_t count, uint32_t *capacity, size_t item_size);
uint32_t ir_const_add(IrUnit *unit, BcConst k); /* shared; text is copied */

static inline bool op_is_call(IrOp op) {
    return op == IR_SEND || op == IR_SENDSELF || op == IR_SENDSUPER || op == IR_CALLBLOCK || op == IR_CAST;
}

/* Operands that need not stand in the order of their evaluation: > is < the other way round, and a field is
 * stored into the self that is newest when the value is there. */
static inline bool op_is_unordered(IrOp op) { return op == IR_TLT || op == IR_TLE || op == IR_SETSLOT; }

/* What ir_verify hands to ir_emit; lives in the unit's memory. */
struct IrVerified {
    IrUnit *unit;
};

#endif
