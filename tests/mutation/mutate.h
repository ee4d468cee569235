/* Breaks verified ThreadedIr on purpose: see mutations.def. */
#ifndef BT_TEST_MUTATE_H
#define BT_TEST_MUTATE_H

#include "ir/ir.h"

typedef enum {
#define MUTATION(name, doc) MUTATE_##name,
#include "tests/mutation/mutations.def"
#undef MUTATION
    MUTATION_COUNT
} Mutation;

extern const char *const MUTATION_NAMES[MUTATION_COUNT];
extern const char *const MUTATION_DOCS[MUTATION_COUNT];

/* Number of places of the unit where this mutation applies. */
uint32_t mutate_count(IrUnit *unit, Mutation mutation);
/* Applies it to place `index`; `second` chooses among what it may put there. False: it would change nothing.
 */
bool mutate_apply(IrUnit *unit, Mutation mutation, uint32_t index, uint32_t second);

#endif
