/* The tree as s-expressions, one top-level item after the other: the form of the test vectors (spec syntax.md
 * 16). */
#ifndef BT_COMPILER_AST_PRINT_H
#define BT_COMPILER_AST_PRINT_H

#include <stdio.h>
#include "compiler/ast.h"

/* Aliases, protocols, classes, extension methods, then statements, each on a line; methods of classes on
 * lines of their own. */
void ast_print_module(FILE *out, const Module *module);
void ast_print_method(FILE *out, const MethodDecl *method);
/* An expression, pattern, type or part. */
void ast_print_node(FILE *out, const Node *node);

#endif
