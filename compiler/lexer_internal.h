/* Shared by lexer.c (tokens, trivia) and lexer_string.c (strings and interpolation). Nobody else includes
 * this. */
#ifndef BT_COMPILER_LEXER_INTERNAL_H
#define BT_COMPILER_LEXER_INTERNAL_H

#include "compiler/lexer.h"

/* Strings in `{...}` in strings in ...: deeper ones become one ERROR token, so recursion is bounded. */
#define LEXER_MAX_INTERPOLATION 64

typedef struct {
    const char *text;
    uint32_t pos;
    uint32_t limit; /* end of the text, or of the `{...}` being lexed */
    uint32_t length;
    Intern *intern;
    TokenList *tokens;
    uint32_t interpolation_depth;
    uint64_t
        scan_budget; /* bytes that searches for a missing `}` may still cost: keeps hostile input linear */
    /* What the trivia before the next token left behind. */
    uint8_t flags;
    int32_t col;
    uint32_t previous_end;
} Lexer;

/* Appends a token that reaches from `start` to `end`, with the layout facts gathered by the trivia before it.
 */
void lexer_emit(Lexer *lx, TokenKind kind, uint32_t start, uint32_t end, const char *name);
/* Adds a flag to the token emitted last. */
void lexer_flag_last(Lexer *lx, uint8_t flag);
/* Lexes up to lx->limit. */
void lexer_run_to_limit(Lexer *lx);
/* At `"`. */
void lexer_string(Lexer *lx);

#endif
