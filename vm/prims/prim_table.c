/* The table of primitives, and its index by name. */
#include "vm/process.h"
#include <string.h>

#define PRIMITIVE(name, function, argc)                                                                      \
    PrimStatus function(Process *p, Value *args, unsigned count, Value *result);
#include "vm/prims/primitives.def"
#undef PRIMITIVE

const PrimEntry PRIM_TABLE[] = {
#define PRIMITIVE(name, function, argc) {name, function, argc},
#include "vm/prims/primitives.def"
#undef PRIMITIVE
};
const unsigned PRIM_COUNT = sizeof PRIM_TABLE / sizeof *PRIM_TABLE;

/* Apart from the table, so that a search reads little. */
static const uint8_t LENGTHS[] = {
#define PRIMITIVE(name, function, argc) sizeof(name) - 1,
#include "vm/prims/primitives.def"
#undef PRIMITIVE
};

int prim_find(const char *name, size_t length) {
    for (unsigned i = 0; i < PRIM_COUNT; i++)
        if (LENGTHS[i] == length && PRIM_TABLE[i].name[0] == name[0] &&
            memcmp(PRIM_TABLE[i].name, name, length) == 0)
            return (int)i;
    return -1;
}
