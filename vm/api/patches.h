/* Methods given as `C >> s => ...` in an input of a session: they replace C's own, where in a file they would
 * only add to what C lacks, and go into the log of changes with what they replaced. */
#ifndef BT_API_PATCHES_H
#define BT_API_PATCHES_H

#include "vm/api/api_internal.h"

typedef struct Patches Patches;
/* What the unit's methods will replace, taken down before it is installed. NULL: it has none, or no memory.
 */
Patches *patches_of(BtVm *vm, const BcUnit *bc);
/* After classes_install. False: no memory. */
bool patches_install(BtVm *vm, CodeUnit *unit, const RunLimits *limits, const Patches *patches);
void patches_free(BtVm *vm, Patches *patches); /* NULL is ignored */

#endif
