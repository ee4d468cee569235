/* What format.c and format_marks.c share. */
#ifndef BT_COMPILER_FORMAT_INTERNAL_H
#define BT_COMPILER_FORMAT_INTERNAL_H

#include "compiler/lexer.h"

/* One byte for each token: what the tree says about it. */
enum {
    MARK_TOP = 1,       /* starts a top-level item: column 0, on a line of its own */
    MARK_MEMBER = 2,    /* starts a member of a class or protocol: column 2, on a line of its own */
    MARK_STATEMENT = 4, /* with MARK_TOP: an expression, not a declaration */
    MARK_ELEMENT = 8,   /* starts a statement, an arm, an element of a literal */
    MARK_GLUED = 16,    /* no blank before it */
    MARK_DROPPED = 32   /* a `.` that separates nothing */
};

/* Fills marks[token], zeroed by the caller. */
void format_mark(const Module *module, const TokenList *tokens, uint8_t *marks);

/* Index of the first token that starts at `offset` or behind it; the EOF token if there is none. */
uint32_t format_token_from(const TokenList *tokens, uint32_t offset);

#endif
