/* Tokens and trivia; strings are in lexer_string.c. */
#include "compiler/lexer_internal.h"

#include <stdlib.h>
#include <string.h>

static const char SINGLE_QUOTED[] = "single-quoted strings are not supported, use double quotes";
static const char MISSING_CHARACTER[] = "expected a character after $";
static const char MISSING_DIRECTIVE[] =
    "expected directive name after '@' (@primitive, @intrinsic or @expect)";

/* ---- character classes
 * ------------------------------------------------------------------------------------------ */

enum { C_OTHER, C_LETTER, C_DIGIT, C_OPERATOR };

/* clang-format off */
static const uint8_t char_class[256] = {
    ['0' ... '9'] = C_DIGIT, ['A' ... 'Z'] = C_LETTER, ['a' ... 'z'] = C_LETTER, ['_'] = C_LETTER,
    ['+'] = C_OPERATOR, ['-'] = C_OPERATOR, ['*'] = C_OPERATOR, ['/'] = C_OPERATOR, ['<'] = C_OPERATOR,
    ['>'] = C_OPERATOR, ['='] = C_OPERATOR, ['~'] = C_OPERATOR, ['%'] = C_OPERATOR, ['&'] = C_OPERATOR,
    ['?'] = C_OPERATOR, ['\\'] = C_OPERATOR,
};
/* clang-format on */

static uint8_t class_at(const Lexer *lx, uint32_t at) {
    return at < lx->limit ? char_class[(unsigned char)lx->text[at]] : C_OTHER;
}
/* NUL past the end: no rule below takes a NUL for part of a token. */
static char char_at(const Lexer *lx, uint32_t at) { return at < lx->limit ? lx->text[at] : '\0'; }
static bool ident_char_at(const Lexer *lx, uint32_t at) {
    uint8_t class = class_at(lx, at);
    return class == C_LETTER || class == C_DIGIT;
}

static uint32_t skip_ident(const Lexer *lx, uint32_t at) {
    while (ident_char_at(lx, at)) at++;
    return at;
}

static uint32_t skip_digits(const Lexer *lx, uint32_t at) {
    while (class_at(lx, at) == C_DIGIT) at++;
    return at;
}

static uint32_t skip_operators(const Lexer *lx, uint32_t at) {
    while (class_at(lx, at) == C_OPERATOR) at++;
    return at;
}

static uint32_t skip_code_point(const Lexer *lx, uint32_t at) {
    at++;
    while (at < lx->limit && ((unsigned char)lx->text[at] & 0xc0) == 0x80) at++;
    return at;
}

/* ---- output
 * ----------------------------------------------------------------------------------------------------- */

static bool grow_tokens(Lexer *lx) {
    TokenList *list = lx->tokens;
    size_t capacity = list->capacity ? (size_t)list->capacity * 2 : (size_t)lx->length / 5 + 16;
    if (capacity > UINT32_MAX) capacity = UINT32_MAX;
    Token *items =
        capacity > list->count ? memory_realloc(list->memory, list->items, capacity * sizeof *items) : NULL;
    if (!items) {
        lx->intern->arena->failed = true;
        return false;
    }
    list->items = items;
    list->capacity = (uint32_t)capacity;
    return true;
}

void lexer_emit(Lexer *lx, TokenKind kind, uint32_t start, uint32_t end, const char *name) {
    TokenList *list = lx->tokens;
    if (list->count == list->capacity && !grow_tokens(lx)) return;
    uint8_t flags = lx->flags;
    if (start == lx->previous_end && list->count > 0) flags |= TOK_ADJACENT;
    list->items[list->count++] = (Token){start, end, lx->col, (uint8_t)kind, flags, name};
    lx->previous_end = end;
}

void lexer_flag_last(Lexer *lx, uint8_t flag) {
    if (lx->tokens->count > 0) lx->tokens->items[lx->tokens->count - 1].flags |= flag;
}

static void emit_named(Lexer *lx, TokenKind kind, uint32_t start, uint32_t end) {
    lexer_emit(lx, kind, start, end, intern_bytes(lx->intern, lx->text + start, end - start));
    lx->pos = end;
}

static void emit_fixed(Lexer *lx, TokenKind kind, uint32_t length) {
    lexer_emit(lx, kind, lx->pos, lx->pos + length, NULL);
    lx->pos += length;
}

static void emit_error(Lexer *lx, uint32_t start, uint32_t end, const char *message) {
    lexer_emit(lx, TOK_ERROR, start, end, message);
    lx->pos = end;
}

/* ---- white space and comments
 * ----------------------------------------------------------------------------------- */

typedef struct {
    uint32_t line_start; /* just after the last line break */
    bool broke;          /* there was a line break */
    bool fresh;          /* nothing but white space on this line so far */
    bool doc, lost_doc;
} Trivia;

static void white_space(Lexer *lx, Trivia *trivia) {
    unsigned breaks = 0;
    for (; lx->pos < lx->limit; lx->pos++) {
        char c = lx->text[lx->pos];
        if (c == '\n') {
            breaks++;
            trivia->line_start = lx->pos + 1;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            break;
        }
    }
    if (breaks == 0) return;
    trivia->broke = trivia->fresh = true;
    if (breaks < 2) return;
    if (trivia->doc) trivia->lost_doc = true;
    trivia->doc = false;
}

static void line_comment(Lexer *lx, Trivia *trivia) {
    const char *line_end = memchr(lx->text + lx->pos, '\n', lx->limit - lx->pos);
    uint32_t end = line_end ? (uint32_t)(line_end - lx->text) : lx->limit;
    bool three = char_at(lx, lx->pos + 2) == '/' && char_at(lx, lx->pos + 3) != '/';
    if (three && trivia->fresh) {
        trivia->doc = true;
        trivia->lost_doc = false;
    } else if (trivia->doc) {
        trivia->doc = false;
        trivia->lost_doc = true;
    }
    lx->pos = end;
}

/* False when the comment does not end; then nothing is consumed. */
static bool block_comment(Lexer *lx, Trivia *trivia) {
    uint32_t at = lx->pos + 2, line_start = 0;
    for (;; at++) {
        if (at + 1 >= lx->limit) return false;
        if (lx->text[at] == '\n') line_start = at + 1;
        if (lx->text[at] == '*' && lx->text[at + 1] == '/') break;
    }
    if (line_start) {
        trivia->broke = true;
        trivia->line_start = line_start;
    }
    if (trivia->doc) trivia->lost_doc = true;
    trivia->doc = trivia->fresh = false;
    lx->pos = at + 2;
    return true;
}

static void skip_trivia(Lexer *lx) {
    Trivia trivia = {.fresh = lx->tokens->count == 0};
    for (;;) {
        white_space(lx, &trivia);
        if (char_at(lx, lx->pos) != '/') break;
        char next = char_at(lx, lx->pos + 1);
        if (next == '/')
            line_comment(lx, &trivia);
        else if (next != '*' || !block_comment(lx, &trivia))
            break;
    }
    lx->flags = (uint8_t)((trivia.broke ? TOK_NL_BEFORE : 0) | (trivia.doc ? TOK_DOC : 0) |
                          (trivia.lost_doc ? TOK_LOST_DOC : 0));
    lx->col = trivia.broke ? (int32_t)(lx->pos - trivia.line_start) : -1;
}

/* Start of the line above `at` that belongs to the trivia, skipping its indentation; `*line_end` is its line
 * break. Equal to *line_end when there is no such line. */
static uint32_t line_above(const char *text, uint32_t previous_end, uint32_t at, uint32_t *line_end) {
    while (at > previous_end && text[at - 1] != '\n') at--;
    if (at == previous_end) return *line_end = at;
    *line_end = --at;
    while (at > previous_end && text[at - 1] != '\n') at--;
    if (at == previous_end && previous_end > 0) return *line_end = at; /* shares its line with a token */
    while (at < *line_end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r')) at++;
    return at;
}

Text lexer_doc_text(const char *text, uint32_t previous_end, uint32_t token_start, Arena *arena) {
    char *doc = arena_try_alloc(arena, token_start - previous_end);
    if (!doc) return (Text){"", 0};
    uint32_t begin = token_start; /* of the first line of the block: walk up while there are doc lines */
    for (;;) {
        uint32_t line_end, at = line_above(text, previous_end, begin, &line_end);
        uint32_t length = line_end - at;
        if (length < 3 || memcmp(text + at, "///", 3) != 0 || (length > 3 && text[at + 3] == '/')) break;
        begin = at;
    }
    uint32_t used = 0;
    bool first = true;
    for (uint32_t at = begin; at < token_start;) {
        while (at < token_start && text[at] != '/') at++;
        if (at >= token_start) break;
        at += 3;
        if (at < token_start && text[at] == ' ') at++;
        if (!first) doc[used++] = '\n';
        first = false;
        uint32_t line = used;
        while (at < token_start && text[at] != '\n') doc[used++] = text[at++];
        while (used > line && strchr(" \t\r", doc[used - 1])) used--; /* CRLF, and blanks that nobody sees */
    }
    return (Text){doc, used};
}

/* ---- numbers, names, symbols
 * ------------------------------------------------------------------------------------ */

/* `start` may be at a `-` that is followed by a digit. */
static void number(Lexer *lx, uint32_t start) {
    bool negative = lx->text[start] == '-';
    uint32_t at = skip_digits(lx, start + negative);
    TokenKind kind = TOK_INTEGER;
    if (!negative && char_at(lx, at) == 'r') {
        at++;
        while (ident_char_at(lx, at) && lx->text[at] != '_') at++;
    } else {
        if (char_at(lx, at) == '.' && class_at(lx, at + 1) == C_DIGIT) {
            kind = TOK_FLOAT;
            at = skip_digits(lx, at + 1);
        }
        if (char_at(lx, at) == 'e' || char_at(lx, at) == 'E') {
            kind = TOK_FLOAT;
            at++;
            if (char_at(lx, at) == '+' || char_at(lx, at) == '-') at++;
            at = skip_digits(lx, at);
        }
    }
    lexer_emit(lx, kind, start, at, NULL);
    lx->pos = at;
}

static void identifier(Lexer *lx) {
    uint32_t end = skip_ident(lx, lx->pos + 1);
    if (char_at(lx, end) == ':' && char_at(lx, end + 1) != ':' && char_at(lx, end + 1) != '=')
        emit_named(lx, TOK_KEYWORD, lx->pos, end + 1);
    else
        emit_named(lx, TOK_IDENT, lx->pos, end);
}

/* #name #at:put: - a colon is taken unless `=` follows. */
static void named_symbol(Lexer *lx) {
    uint32_t start = lx->pos, at = skip_ident(lx, start + 2);
    while (char_at(lx, at) == ':' && char_at(lx, at + 1) != '=') {
        at++;
        if (class_at(lx, at) != C_LETTER) break;
        at = skip_ident(lx, at);
    }
    lexer_emit(lx, TOK_SYMBOL, start, at, intern_bytes(lx->intern, lx->text + start + 1, at - start - 1));
    lx->pos = at;
}

/* #'any text', where '' is one quote. */
static void quoted_symbol(Lexer *lx) {
    uint32_t start = lx->pos, at = start + 2, doubled = 0;
    for (; at < lx->limit; at++) {
        if (lx->text[at] != '\'') continue;
        if (char_at(lx, at + 1) != '\'') break;
        doubled++;
        at++;
    }
    if (at >= lx->limit) {
        emit_error(lx, start, lx->limit, NULL);
        lexer_flag_last(lx, TOK_UNTERMINATED);
        return;
    }
    const char *bytes = lx->text + start + 2;
    uint32_t length = at - start - 2;
    if (doubled) {
        char *plain = arena_try_alloc(lx->intern->arena, length);
        uint32_t used = 0;
        for (uint32_t i = 0; plain && i < length; i++) {
            plain[used++] = bytes[i];
            if (bytes[i] == '\'') i++;
        }
        bytes = plain ? plain : "";
        length = used;
    }
    lexer_emit(lx, TOK_SYMBOL, start, at + 1, intern_bytes(lx->intern, bytes, length));
    lx->pos = at + 1;
}

static void hash(Lexer *lx) {
    char next = char_at(lx, lx->pos + 1);
    uint8_t class = class_at(lx, lx->pos + 1);
    if (class == C_LETTER) {
        named_symbol(lx);
    } else if (next == '\'') {
        quoted_symbol(lx);
    } else if (class == C_OPERATOR || next == ',') {
        uint32_t start = lx->pos, end = start + 1; /* a comma is an operator character here: `#+,` */
        while (class_at(lx, end) == C_OPERATOR || char_at(lx, end) == ',') end++;
        lexer_emit(lx, TOK_SYMBOL, start, end,
                   intern_bytes(lx->intern, lx->text + start + 1, end - start - 1));
        lx->pos = end;
    } else if (next == '{') {
        emit_fixed(lx, TOK_MAP_OPEN, 2);
    } else if (next == '(') {
        emit_fixed(lx, TOK_LIST_OPEN, 2);
    } else if (next == '[') {
        emit_fixed(lx, TOK_ARRAY_OPEN, 2);
    } else {
        emit_fixed(lx, TOK_HASH, 1);
    }
}

static void character(Lexer *lx) {
    uint32_t start = lx->pos, at = start + 1;
    if (char_at(lx, at) == '\\' && at < lx->limit) at++;
    if (at >= lx->limit) {
        emit_error(lx, start, lx->limit, MISSING_CHARACTER);
        return;
    }
    uint32_t end = skip_code_point(lx, at);
    lexer_emit(lx, TOK_CHAR, start, end, NULL);
    lx->pos = end;
}

/* ---- directives and errors
 * -------------------------------------------------------------------------------------- */

/* Texts of user input go into messages only up to this length. */
enum { SHOWN_WORD_MAX = 60 };

static void directive(Lexer *lx) {
    uint32_t start = lx->pos, end = skip_ident(lx, start + 1);
    const char *word = lx->text + start + 1;
    int length = (int)(end - start - 1), shown = length < SHOWN_WORD_MAX ? length : SHOWN_WORD_MAX;
    if (start > 0 && lexer_is_ident_char((unsigned char)lx->text[start - 1])) {
        emit_fixed(lx, TOK_AT, 1);
    } else if (class_at(lx, start + 1) != C_LETTER) {
        emit_error(lx, start, start + 1, MISSING_DIRECTIVE);
    } else if (length == 9 && memcmp(word, "primitive", 9) == 0) {
        emit_fixed(lx, TOK_AT_PRIMITIVE, 10);
    } else if (length == 9 && memcmp(word, "intrinsic", 9) == 0) {
        emit_fixed(lx, TOK_AT_INTRINSIC, 10);
    } else if (length == 6 && memcmp(word, "expect", 6) == 0) {
        emit_fixed(lx, TOK_AT_EXPECT, 7);
    } else if (word[0] >= 'A' && word[0] <= 'Z') {
        emit_error(lx, start, end,
                   intern_format(lx->intern, "missing package name before '@' in '@%.*s' (e.g., json@Parser)",
                                 shown, word));
    } else {
        emit_error(
            lx, start, end,
            intern_format(
                lx->intern,
                "unknown directive '@%.*s', only '@primitive', '@intrinsic', and '@expect' are supported",
                shown, word));
    }
}

static void single_quoted(Lexer *lx) {
    uint32_t at = lx->pos + 1;
    for (; at < lx->limit && lx->text[at] != '\''; at++)
        if (lx->text[at] == '\\') at++;
    emit_error(lx, lx->pos, at < lx->limit ? at + 1 : lx->limit, SINGLE_QUOTED);
}

/* ---- the token table
 * -------------------------------------------------------------------------------------------- */

/* At a character of class C_OPERATOR. The order of the tests is that of spec 1.4. */
static void operator_token(Lexer *lx) {
    uint32_t at = lx->pos;
    char c = lx->text[at], next = char_at(lx, at + 1);
    if (c == '=' && next == '>') {
        emit_fixed(lx, TOK_FAT, 2);
    } else if (c == '=' && (next == ':' || next == '/') && char_at(lx, at + 2) == '=') {
        emit_named(lx, TOK_BINOP, at, at + 3);
    } else if (c == '-' && next == '>') {
        emit_named(lx, TOK_ARROW, at, at + 2);
    } else if (c == '<' && next == '<') {
        emit_named(lx, TOK_LTLT, at, at + 2);
    } else if (c == '>' && next == '>') {
        emit_named(lx, TOK_GTGT, at, at + 2);
    } else if (c == '/' && next == '*') { /* only reached when the comment does not end */
        emit_error(lx, at, lx->limit, NULL);
        lexer_flag_last(lx, TOK_UNTERMINATED);
    } else if (c == '-' && class_at(lx, at + 1) == C_DIGIT) {
        number(lx, at);
    } else {
        emit_named(lx, TOK_BINOP, at, skip_operators(lx, at + 1));
    }
}

static void colon(Lexer *lx) {
    char next = char_at(lx, lx->pos + 1);
    if (next == ':')
        emit_fixed(lx, TOK_DCOLON, 2);
    else if (next == '=')
        emit_fixed(lx, TOK_ASSIGN, 2);
    else
        emit_fixed(lx, TOK_COLON, 1);
}

static void period(Lexer *lx) {
    bool three = char_at(lx, lx->pos + 1) == '.' && char_at(lx, lx->pos + 2) == '.';
    emit_fixed(lx, three ? TOK_ELLIPSIS : TOK_PERIOD, three ? 3 : 1);
}

static void punctuation(Lexer *lx) {
    switch (lx->text[lx->pos]) {
    case '"': lexer_string(lx); break;
    case '#': hash(lx); break;
    case '$': character(lx); break;
    case '\'': single_quoted(lx); break;
    case '(': emit_fixed(lx, TOK_LPAREN, 1); break;
    case ')': emit_fixed(lx, TOK_RPAREN, 1); break;
    case '[': emit_fixed(lx, TOK_LBRACKET, 1); break;
    case ']': emit_fixed(lx, TOK_RBRACKET, 1); break;
    case '{': emit_fixed(lx, TOK_LBRACE, 1); break;
    case '}': emit_fixed(lx, TOK_RBRACE, 1); break;
    case '^': emit_fixed(lx, TOK_CARET, 1); break;
    case ';': emit_fixed(lx, TOK_SEMI, 1); break;
    case '!': emit_fixed(lx, TOK_BANG, 1); break;
    case '|': emit_fixed(lx, TOK_PIPE, 1); break;
    case '.': period(lx); break;
    case ':': colon(lx); break;
    case ',': emit_named(lx, TOK_COMMA, lx->pos, lx->pos + 1); break;
    case '@': directive(lx); break;
    default: emit_error(lx, lx->pos, skip_code_point(lx, lx->pos), NULL); break;
    }
}

void lexer_run_to_limit(Lexer *lx) {
    for (;;) {
        skip_trivia(lx);
        if (lx->pos >= lx->limit || arena_failed(lx->intern->arena)) return;
        switch (class_at(lx, lx->pos)) {
        case C_LETTER: identifier(lx); break;
        case C_DIGIT: number(lx, lx->pos); break;
        case C_OPERATOR: operator_token(lx); break;
        default: punctuation(lx); break;
        }
    }
}

/* Byte order mark and `#!` line. */
static void skip_prologue(Lexer *lx) {
    if (lx->limit >= 3 && memcmp(lx->text, "\xef\xbb\xbf", 3) == 0) lx->pos = 3;
    if (char_at(lx, lx->pos) != '#' || char_at(lx, lx->pos + 1) != '!') return;
    const char *line_end = memchr(lx->text + lx->pos, '\n', lx->limit - lx->pos);
    lx->pos = line_end ? (uint32_t)(line_end - lx->text) : lx->limit;
}

void lexer_run(const char *text, uint32_t length, Intern *intern, TokenList *tokens) {
    *tokens = (TokenList){.memory = intern->arena->memory};
    Lexer lx = {.text = text, .limit = length, .length = length, .intern = intern, .tokens = tokens};
    lx.scan_budget = 8 * (uint64_t)length + (1 << 20);
    skip_prologue(&lx);
    lexer_run_to_limit(&lx);
    lexer_emit(&lx, TOK_EOF, length, length, NULL);
    if (tokens->count == 0) return;
    Token *last = &tokens->items[tokens->count - 1];
    if (last->kind == TOK_EOF) return;
    lexer_free_tokens(tokens); /* the array could not grow: the arena is marked failed */
}

void lexer_free_tokens(TokenList *tokens) {
    memory_free(tokens->memory, tokens->items);
    *tokens = (TokenList){0};
}
