/* Text -> tokens, in one pass over valid UTF-8 (spec syntax.md 1).
 *
 * All tokens of a source lie in one array that ends with an EOF token; the tokens of `{...}` in a string
 * stand between its STR_ tokens with their own offsets. The lexer reports nothing: what is no token becomes
 * an ERROR token. White space and comments make no tokens; where lines break is recorded in the tokens.
 * Running out of memory marks the arena failed and ends the array early.
 *
 * Differences from the reference: `,` is always a token of its own (deviation D1); a byte order mark and a
 * `#!` line at the start are skipped.
 */
#ifndef BT_COMPILER_LEXER_H
#define BT_COMPILER_LEXER_H

#include "compiler/ast.h"
#include "compiler/intern.h"

typedef enum {
#define TOKEN(name, what) TOK_##name,
#include "compiler/tokens.def"
#undef TOKEN
} TokenKind;

/* Token.flags */
enum {
    TOK_NL_BEFORE = 1,    /* a line break in the white space or in a block comment before it */
    TOK_ADJACENT = 2,     /* nothing between the previous token and this one */
    TOK_DOC = 4,          /* a doc block stands directly before it (lexer_doc_text) */
    TOK_LOST_DOC = 8,     /* a doc block before it was cut off by an empty line or another comment */
    TOK_ESCAPED = 16,     /* string text with something to decode */
    TOK_UNTERMINATED = 32 /* ERROR: a literal or comment that the end of input cut off */
};

typedef struct {
    uint32_t start, end;
    int32_t col;  /* bytes since the last line break; -1 without TOK_NL_BEFORE */
    uint8_t kind; /* TokenKind */
    uint8_t flags;
    const char *name; /* IDENT, KEYWORD, SYMBOL, operators: interned; ERROR: see tokens.def; others NULL */
} Token;

typedef struct {
    const Memory *memory; /* of the items: the arena's */
    Token *items;
    uint32_t count, capacity;
} TokenList;

/* The list is empty (count 0) only when memory ran out at once. Free with lexer_free_tokens. */
void lexer_run(const char *text, uint32_t length, Intern *intern, TokenList *tokens);
void lexer_free_tokens(TokenList *tokens);

/* The doc block in front of a token that has TOK_DOC, without slashes and blanks at the ends of lines;
 * `previous_end` is where the token before it ends. */
Text lexer_doc_text(const char *text, uint32_t previous_end, uint32_t token_start, Arena *arena);
/* The text of a string token (STRING, STR_START, STR_SEG, STR_END) without quotes and escapes. Points into
 * `text` if it can. */
Text lexer_string_text(const char *text, const Token *token, Arena *arena);

static inline bool lexer_is_ident_char(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

#endif
