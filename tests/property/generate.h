/* Makes programs from seeds: the same seed, the same program. */
#ifndef BT_TESTS_GENERATE_H
#define BT_TESTS_GENERATE_H

#include "reference.h"

/* What a program is to contain for certain; -1: whatever comes. */
typedef struct {
    int context, shape, position, outcome;
} Focus;
#define FOCUS_NONE ((Focus){-1, -1, -1, -1})

Program generate(Pool *pool, uint64_t seed, Focus focus);
/* The program of an index: every construct x position x outcome x context comes up in turn. */
Program generate_indexed(Pool *pool, uint64_t seed, uint64_t index);
/* The matrix: a small program for one cell of context x construct x position x outcome. No body: there is no
 * such program. */
Program generate_cell(Pool *pool, uint64_t seed, Focus cell);

#endif
