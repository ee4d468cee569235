/* What several source texts declare: so that each can be compiled on its own, whatever the order, knowing the
 * classes of the others. A world in front of another world.
 *
 * Owner: the caller; one thread. The texts may go after declared_add; names handed out live until
 * declared_free.
 */
#ifndef BT_COMPILER_DECLARED_H
#define BT_COMPILER_DECLARED_H

#include "compiler/compiler.h"

typedef struct Declared Declared;

/* `below` is asked for classes that no text declares. NULL: no memory. */
Declared *declared_new(const Memory *memory, CompilerWorld below);
void declared_free(Declared *declared);
/* Notes the classes, protocols and extensions of the next text. Diagnostics are dropped: compiling it finds
 * them again. */
void declared_add(Declared *declared, const char *source, size_t length);
/* The order in which the texts can be installed: what a text needs (superclasses, classes it extends) comes
 * before it, otherwise as they were added. order: room for as many numbers as texts. Texts that need each
 * other in a circle come in some order. */
void declared_order(Declared *declared, uint32_t *order);
CompilerWorld declared_world(Declared *declared);

#endif
