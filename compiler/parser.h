/* Entry points of the front end: text -> tree and diagnostics (spec syntax.md 5.1).
 *
 * AGREED. A parser keeps no state between calls. Any bytes are acceptable input: the result is a tree,
 * diagnostics of category "syntax" (errors, warnings) or "lint", and memory use linear in the input. Nothing
 * may be executed when diag_has_errors. Files: parser.c entry points and the token window, parse_expr.c,
 * parse_decl.c, parse_type.c, parse_pattern.c, layout.c (where things end).
 */
#ifndef BT_COMPILER_PARSER_H
#define BT_COMPILER_PARSER_H

#include "compiler/arena.h"
#include "compiler/ast.h"
#include "compiler/intern.h"
#include "vm/bytecode/diag.h"

/* Nested expression entries (statement, parenthesis, assignment value, block statement, interpolation,
 * pattern). */
#define PARSE_MAX_NESTING 64
/* All recursion of the parser, the above included. */
#define PARSE_MAX_DEPTH 256
/* Height of any expression tree; what is higher becomes an error. Long chains (`a b c ...`, `1 + 1 + ...`)
 * reach it. */
#define PARSE_MAX_HEIGHT 2000

typedef struct {
    SourceFile *source;
    Arena *arena;
    Intern *intern;
    DiagList *diags;
} ParseInput;

/* A whole file or one REPL input. NULL only when the text is not valid UTF-8, too long, or memory ran out (an
 * error diagnostic says which); otherwise a tree, perhaps with ERROR nodes. */
Module *parse_module(const ParseInput *in);

/* Exactly one method definition, without class prefix (`compile:source:`). NULL, with an error, for anything
 * else. */
MethodDecl *parse_method(const ParseInput *in);

#endif
