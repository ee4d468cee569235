/* Finds what a method mentions (vm/bytecode/uses.h). */
#ifndef BT_COMPILER_USES_H
#define BT_COMPILER_USES_H

#include "vm/bytecode/memory.h"
#include "vm/bytecode/uses.h"

/* Parses one method and shows each use, in the order of the text. False: it is no method. */
bool method_uses(const Memory *memory, const char *source, size_t length, UseVisitor visit, void *context);

#endif
