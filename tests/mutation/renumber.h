/* Numbers the versions of a function anew, as lowering would have minted them: every mutant that leaves out
 * or moves a write is consistent in its versions, so that only what the mutation broke is wrong. */
#ifndef BT_TEST_RENUMBER_H
#define BT_TEST_RENUMBER_H

#include "ir/ir.h"

void renumber(IrUnit *unit, IrFunction *fn);

#endif
