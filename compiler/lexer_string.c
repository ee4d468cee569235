/* Strings: `"..."` with `""`, `\{`, `\}` and interpolation (spec syntax.md 1.9).
 *
 * An interpolation is first searched for its closing brace, then lexed as tokens of its own. The search walks
 * nested strings with their interpolations, so it needs a stack; it is an array, not recursion.
 */
#include "compiler/lexer_internal.h"

#include <string.h>

static const char EMPTY_INTERPOLATION[] = "empty interpolation {} is not allowed, use \\{ for literal brace";
static const char DOUBLED_BRACES[] = "doubled {{ }} in string literal is not interpolation; use {expr} to "
                                     "interpolate, \\{ for a literal brace";
static const char UNESCAPED_BRACE[] =
    "unescaped { in string literal; use \\{ for a literal brace, or close the interpolation with }";
static const char TOO_DEEP[] = "string interpolation is nested too deeply";

typedef enum { SCAN_CLOSED, SCAN_OPEN, SCAN_TOO_DEEP } ScanResult;

typedef struct {
    ScanResult result;
    uint32_t end;         /* SCAN_CLOSED: the closing brace */
    uint32_t first_quote; /* the first `"` directly in the interpolation, UINT32_MAX if none */
} Scan;

static uint32_t min32(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t skip_line_comment(const Lexer *lx, uint32_t at) {
    const char *end = memchr(lx->text + at, '\n', lx->limit - at);
    return end ? (uint32_t)(end - lx->text) : lx->limit;
}

static uint32_t skip_block_comment(const Lexer *lx, uint32_t at) {
    for (at += 2; at + 1 < lx->limit; at++)
        if (lx->text[at] == '*' && lx->text[at + 1] == '/') return at + 2;
    return lx->limit;
}

/* Characters in `{...}` that hide braces and quotes: `$x`, comments, backslash pairs. Returns where to go on.
 */
static uint32_t skip_code_item(const Lexer *lx, uint32_t at) {
    char c = lx->text[at], next = at + 1 < lx->limit ? lx->text[at + 1] : '\0';
    if (c == '$') return min32(at + (next == '\\' ? 3 : 2), lx->limit);
    if (c == '\\') return min32(at + 2, lx->limit);
    if (c == '/' && next == '/') return skip_line_comment(lx, at);
    if (c == '/' && next == '*') return skip_block_comment(lx, at);
    return at + 1;
}

/* Finds the `}` for the `{` just before `at`. */
static Scan find_closing_brace(const Lexer *lx, uint32_t at) {
    uint32_t braces[LEXER_MAX_INTERPOLATION + 1]; /* open braces in the code of each nested interpolation */
    uint32_t level = 0;
    bool in_string = false;
    Scan scan = {SCAN_OPEN, 0, UINT32_MAX};
    braces[0] = 0;
    while (at < lx->limit) {
        char c = lx->text[at];
        if (in_string) {
            if (c == '"' && at + 1 < lx->limit && lx->text[at + 1] == '"')
                at++;
            else if (c == '"')
                in_string = false;
            else if (c == '\\')
                at++;
            else if (c == '{') {
                if (level + lx->interpolation_depth >= LEXER_MAX_INTERPOLATION)
                    return (Scan){SCAN_TOO_DEEP, 0, 0};
                braces[++level] = 0;
                in_string = false;
            }
            at++;
        } else if (c == '"') {
            in_string = true;
            if (level == 0 && scan.first_quote == UINT32_MAX) {
                scan.first_quote = at;
                if (lx->scan_budget == 0) return scan;
            }
            at++;
        } else if (c == '{') {
            braces[level]++;
            at++;
        } else if (c == '}') {
            if (braces[level] > 0) {
                braces[level]--;
            } else if (level > 0) {
                level--;
                in_string = true;
            } else {
                scan.result = SCAN_CLOSED;
                scan.end = at;
                return scan;
            }
            at++;
        } else {
            at = skip_code_item(lx, at);
        }
    }
    return scan;
}

static void charge_failed_scan(Lexer *lx, uint32_t from) {
    uint64_t cost = lx->limit - from;
    lx->scan_budget = cost < lx->scan_budget ? lx->scan_budget - cost : 0;
}

/* Where a string began in the output: a malformed one is taken back and becomes a single ERROR token. */
typedef struct {
    uint32_t quote, token_count;
    uint8_t flags;
    int32_t col;
    uint32_t previous_end;
} StringStart;

static void take_back(Lexer *lx, const StringStart *start, uint32_t end, const char *message, uint8_t flag) {
    lx->tokens->count = start->token_count;
    lx->flags = start->flags;
    lx->col = start->col;
    lx->previous_end = start->previous_end;
    lexer_emit(lx, TOK_ERROR, start->quote, end, message);
    if (flag) lexer_flag_last(lx, flag);
    lx->pos = end;
}

/* Between the STR_ tokens nothing is trivia: their layout facts say "same line, not adjacent". */
static void forget_trivia(Lexer *lx) {
    lx->flags = 0;
    lx->col = -1;
}

/* Lexes the code from `open` + 1 to the closing brace, or one ERROR token in its place. */
static void lex_interpolation(Lexer *lx, uint32_t open, uint32_t close) {
    uint32_t before = lx->tokens->count;
    lx->pos = open + 1;
    forget_trivia(lx);
    if (lx->text[open + 1] == '{') {
        lexer_emit(lx, TOK_ERROR, open, close + 1, DOUBLED_BRACES);
    } else {
        uint32_t limit = lx->limit;
        lx->limit = close;
        lx->interpolation_depth++;
        lexer_run_to_limit(lx);
        lx->interpolation_depth--;
        lx->limit = limit;
        forget_trivia(lx);
        if (lx->tokens->count == before) lexer_emit(lx, TOK_ERROR, open, close + 1, EMPTY_INTERPOLATION);
    }
    forget_trivia(lx);
    lx->pos = close + 1;
}

/* From lx->pos to the next `{` or `"` that ends a piece of text; lx->limit if there is none. */
static uint32_t skip_text(const Lexer *lx, bool *escaped) {
    uint32_t at = lx->pos;
    while (at < lx->limit) {
        char c = lx->text[at];
        if (c == '{') return at;
        if (c == '"') {
            if (at + 1 >= lx->limit || lx->text[at + 1] != '"') return at;
            *escaped = true;
            at++;
        } else if (c == '\\') {
            *escaped = true;
            at++;
        }
        at++;
    }
    return lx->limit;
}

/* One `{...}` whose brace is at `open`. False when the string could not be saved and was taken back. */
static bool lex_braces(Lexer *lx, const StringStart *start, uint32_t open) {
    if (lx->interpolation_depth >= LEXER_MAX_INTERPOLATION) {
        take_back(lx, start, lx->limit, TOO_DEEP, 0);
        return false;
    }
    Scan scan = find_closing_brace(lx, open + 1);
    if (scan.result == SCAN_CLOSED) {
        lex_interpolation(lx, open, scan.end);
        return true;
    }
    if (scan.result == SCAN_TOO_DEEP) {
        take_back(lx, start, lx->limit, TOO_DEEP, 0);
        return false;
    }
    charge_failed_scan(lx, open);
    if (scan.first_quote != UINT32_MAX)
        take_back(lx, start, scan.first_quote + 1, UNESCAPED_BRACE, 0);
    else
        take_back(lx, start, lx->limit, NULL, TOK_UNTERMINATED);
    return false;
}

void lexer_string(Lexer *lx) {
    StringStart start = {lx->pos, lx->tokens->count, lx->flags, lx->col, lx->previous_end};
    uint32_t piece = lx->pos++;
    TokenKind kind = TOK_STR_START;
    for (;;) {
        bool escaped = false;
        uint32_t at = skip_text(lx, &escaped);
        if (at >= lx->limit) {
            take_back(lx, &start, lx->limit, NULL, TOK_UNTERMINATED);
            return;
        }
        if (lx->text[at] == '"') {
            lexer_emit(lx, kind == TOK_STR_START ? TOK_STRING : TOK_STR_END, piece, at + 1, NULL);
            if (escaped) lexer_flag_last(lx, TOK_ESCAPED);
            lx->pos = at + 1;
            return;
        }
        lexer_emit(lx, kind, piece, at, NULL);
        if (escaped) lexer_flag_last(lx, TOK_ESCAPED);
        if (!lex_braces(lx, &start, at)) return;
        kind = TOK_STR_SEG;
        piece = lx->pos;
    }
}

Text lexer_string_text(const char *text, const Token *token, Arena *arena) {
    uint32_t start = token->start, end = token->end;
    if (token->kind == TOK_STRING || token->kind == TOK_STR_START) start++;
    if (token->kind == TOK_STRING || token->kind == TOK_STR_END) end--;
    if (!(token->flags & TOK_ESCAPED)) return (Text){text + start, end - start};
    char *decoded = arena_try_alloc(arena, end - start);
    if (!decoded) return (Text){"", 0};
    uint32_t used = 0;
    for (uint32_t at = start; at < end; at++) {
        char c = text[at];
        if (c == '"') {
            at++; /* doubled */
        } else if (c == '\\' && at + 1 < end) {
            char next = text[++at];
            if (next != '{' && next != '}') decoded[used++] = c; /* other escapes keep both characters */
            c = next;
        }
        decoded[used++] = c;
    }
    return (Text){decoded, used};
}
