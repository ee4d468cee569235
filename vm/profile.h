/* Sampling profiler: where the time of processes goes, by stack of classes and selectors.
 *
 * A process whose slice is used up is looked at by its own scheduler, and the time that has passed in slices
 * there since the last look is charged to its stack. No signal and no other thread interrupts anything;
 * slices are shorter while profiling, so that looks are many. */
#ifndef BT_VM_PROFILE_H
#define BT_VM_PROFILE_H

#include "vm/vm.h"

enum { PROFILE_SLICE_REDUCTIONS = 500 };

typedef struct Profile Profile;
Profile *profile_new(const Memory *memory);
void profile_free(Profile *profile);
/* p's frames are at rest: charges so many nanoseconds to its stack. Any scheduler thread. */
void profile_charge(Profile *profile, Process *p, uint64_t nanoseconds);
/* Calls `line` with each stack, outermost first, parts joined by `;`, and its microseconds; sorted by stack.
 * Any thread; the profile goes on meanwhile. False: no memory. */
bool profile_each(Profile *profile, void (*line)(void *context, const char *stack, uint64_t microseconds),
                  void *context);

#endif
