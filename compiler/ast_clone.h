/* A copy of a tree, for a block whose text is compiled twice. Owner: the arena. */
#ifndef BT_COMPILER_AST_CLONE_H
#define BT_COMPILER_AST_CLONE_H

#include "compiler/arena.h"
#include "compiler/ast.h"

/* Without facts: what passes found out about the original is not true of the copy. NULL: no memory, or more
 * than `limit` nodes. */
Node *ast_clone(Arena *arena, const Node *node, uint32_t limit);

#endif
