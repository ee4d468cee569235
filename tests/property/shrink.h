/* Makes a failing program smaller while it goes on failing. */
#ifndef BT_TESTS_SHRINK_H
#define BT_TESTS_SHRINK_H

#include "program.h"

typedef bool (*StillFails)(void *context, Program *candidate);
/* At most `tries` candidates are asked. The answer lives in `pool`. */
Program shrink(Pool *pool, const Program *program, int tries, StillFails still_fails, void *context);

#endif
