/* Literals, names, blocks, collections, interpolation, directives: what stands without a message (spec
 * syntax.md 3.4 to 3.11). */
#define _GNU_SOURCE /* strtod_l */
#include "compiler/parser_internal.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers and other one-token literals
 * ----------------------------------------------------------------------- */

static unsigned digit_value(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'z') return (unsigned)(c - 'a') + 10;
    return (unsigned)(c - 'A') + 10;
}

/* Digits to a magnitude. False when it does not fit in 64 bits. */
static bool read_magnitude(const char *digits, uint32_t length, unsigned radix, uint64_t *value) {
    uint64_t result = 0;
    for (uint32_t i = 0; i < length; i++)
        if (__builtin_mul_overflow(result, radix, &result) ||
            __builtin_add_overflow(result, digit_value(digits[i]), &result))
            return false;
    *value = result;
    return true;
}

enum { SHOWN_DIGITS_MAX = 60 };

static int shown_digits(uint32_t length) {
    return length < SHOWN_DIGITS_MAX ? (int)length : SHOWN_DIGITS_MAX;
}

/* `radix r digits`; false after a diagnostic. */
static bool read_radix(Parser *p, const Token *token, const char *mark, uint64_t *value) {
    const char *text = p->text + token->start;
    uint32_t radix_length = (uint32_t)(mark - text), length = token->end - token->start - radix_length - 1;
    const char *digits = mark + 1;
    uint64_t radix = 0;
    if (!read_magnitude(text, radix_length, 10, &radix) || radix < 2 || radix > 36) {
        parser_error(p, token_span(token), "Radix must be between 2 and 36, got %.*s",
                     shown_digits(radix_length), text);
        return false;
    }
    bool good = length > 0;
    for (uint32_t i = 0; good && i < length; i++) good = digit_value(digits[i]) < radix;
    if (!good)
        parser_error(p, token_span(token), "Invalid digit for radix %u: %.*s", (unsigned)radix,
                     shown_digits(length), digits);
    else if (!read_magnitude(digits, length, (unsigned)radix, value) || *value > INT64_MAX)
        parser_error(p, token_span(token), "Invalid integer: %.*s", shown_digits(token->end - token->start),
                     text);
    else
        return true;
    return false;
}

static Node *parse_integer(Parser *p) {
    const Token *token = current(p);
    const char *text = p->text + token->start;
    uint32_t length = token->end - token->start;
    bool negative = text[0] == '-';
    const char *mark = memchr(text, 'r', length);
    uint64_t value = 0;
    bool good;
    if (mark) {
        good = read_radix(p, token, mark, &value);
    } else {
        good = read_magnitude(text + negative, length - negative, 10, &value) &&
               value <= (uint64_t)INT64_MAX + negative;
        if (!good) parser_error(p, token_span(token), "Invalid integer: %.*s", shown_digits(length), text);
    }
    advance(p);
    if (!good) return parser_error_node(p, token->start);
    Node *node = parser_node(p, AST_INT, token->start);
    node->as.integer = negative ? (int64_t)(0 - value) : (int64_t)value;
    return parser_finish(p, node);
}

/* strtod in the C locale, whatever the host program has set. */
static double read_double(const char *text) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return strtod(text, NULL);
    double value = strtod_l(text, NULL, plain);
    freelocale(plain);
    return value;
}

static Node *parse_float(Parser *p) {
    const Token *token = current(p);
    const char *text = p->text + token->start;
    uint32_t length = token->end - token->start;
    char local[64];
    char *copy = length < sizeof local
                     ? local
                     : memory_alloc(p->arena->memory, (size_t)length + 1); /* strtod wants a NUL */
    double value = 0;
    bool complete = text[length - 1] >= '0' && text[length - 1] <= '9'; /* not `1e`, `1e+` */
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
        value = read_double(copy);
        if (copy != local) memory_free(p->arena->memory, copy);
    } else {
        p->arena->failed = true;
    }
    if (!complete)
        parser_error(p, token_span(token), "Invalid float literal: %.*s", shown_digits(length), text);
    else if (!isfinite(value))
        parser_error(p, token_span(token), "Float literal out of range: %.*s", shown_digits(length), text);
    advance(p);
    if (!complete || !isfinite(value)) return parser_error_node(p, token->start);
    Node *node = parser_node(p, AST_FLOAT, token->start);
    node->as.real = value;
    return parser_finish(p, node);
}

/* The code point of valid UTF-8. */
static uint32_t decode_code_point(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80) return at[0];
    if (at[0] < 0xe0) return (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
    if (at[0] < 0xf0) return (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    return (at[0] & 0x07u) << 18 | (at[1] & 0x3fu) << 12 | (at[2] & 0x3fu) << 6 | (at[3] & 0x3fu);
}

static uint32_t character_value(const char *text, uint32_t length) {
    if (text[1] != '\\' || length == 2) return decode_code_point(text + 1);
    switch (text[2]) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    default: return decode_code_point(text + 2);
    }
}

bool token_is_literal(const Token *token) {
    switch (token->kind) {
    case TOK_INTEGER:
    case TOK_FLOAT:
    case TOK_STRING:
    case TOK_CHAR:
    case TOK_SYMBOL: return true;
    default: return false;
    }
}

Node *parse_literal(Parser *p) {
    const Token *token = current(p);
    if (token->kind == TOK_INTEGER) return parse_integer(p);
    if (token->kind == TOK_FLOAT) return parse_float(p);
    Node *node = parser_node(p,
                             token->kind == TOK_STRING ? AST_STRING
                             : token->kind == TOK_CHAR ? AST_CHAR
                                                       : AST_SYMBOL,
                             token->start);
    if (token->kind == TOK_STRING)
        node->as.text = lexer_string_text(p->text, token, p->arena);
    else if (token->kind == TOK_CHAR)
        node->as.code_point = character_value(p->text + token->start, token->end - token->start);
    else
        node->as.name = token->name;
    advance(p);
    return parser_finish(p, node);
}

/* ---- strings with interpolation
 * --------------------------------------------------------------------------------- */

static void push_text(Parser *p, Node *interp, const Token *token) {
    Text text = lexer_string_text(p->text, token, p->arena);
    if (text.length == 0) return;
    Node *segment = parser_node(p, AST_STRING, token->start);
    segment->span.end = token->end;
    segment->as.text = text;
    parser_push(p, interp, &interp->as.list, segment);
}

/* To just after the STR_END of the string we are in. */
static void skip_to_string_end(Parser *p) {
    while (!at_end(p) && !at(p, TOK_STR_END)) parser_skip_token(p);
    accept(p, TOK_STR_END);
}

static Node *parse_interpolation(Parser *p) {
    const Token *start = current(p);
    Node *node = parser_node(p, AST_INTERP, start->start);
    push_text(p, node, start);
    for (;;) {
        advance(p);
        if (parser_enter(p)) {
            parser_push(p, node, &node->as.list, parse_keyword_level(p));
            parser_leave(p);
        }
        if (!at(p, TOK_STR_SEG) && !at(p, TOK_STR_END)) {
            if (!p->limit_reported) parser_error(p, token_span(start), "Unterminated string interpolation");
            skip_to_string_end(p);
            return parser_error_node(p, start->start);
        }
        push_text(p, node, current(p));
        if (accept(p, TOK_STR_END)) return parser_finish(p, node);
    }
}

/* ---- names
 * ------------------------------------------------------------------------------------------------------ */

/* IDENT [ AT IDENT ]: variable, class reference, or class reference with package. */
static Node *parse_identifier(Parser *p) {
    const Token *token = current(p);
    Node *node = parser_node(p, token_is_upper(token) ? AST_CLASS_REF : AST_IDENT, token->start);
    if (node->kind == AST_CLASS_REF)
        node->as.class_ref.name = token->name;
    else
        node->as.name = token->name;
    advance(p);
    if (!at(p, TOK_AT) || !token_is_lower(token)) return parser_finish(p, node);
    parser_finish(p, node);
    advance(p);
    if (!token_is_upper(current(p)) || !(current(p)->flags & TOK_ADJACENT)) {
        parser_error_here(p, "expected class name after '@' in qualified reference (e.g., json@Parser)");
        return node;
    }
    node->kind = AST_CLASS_REF;
    node->as.class_ref.package = token->name;
    node->as.class_ref.name = current(p)->name;
    advance(p);
    return parser_finish(p, node);
}

static Node *parse_name(Parser *p) {
    const Token *token = current(p);
    Node *node;
    if (token->name == p->names.super) {
        node = parser_node(p, AST_SUPER, token->start);
        advance(p);
        parser_finish(p, node);
    } else {
        node = parse_identifier(p);
    }
    while (at(p, TOK_PERIOD) && peek(p)->kind == TOK_IDENT && (peek(p)->flags & TOK_ADJACENT)) {
        Node *field = parser_node(p, AST_FIELD, node->span.start);
        field->as.field.base = parser_adopt(field, node);
        advance(p);
        field->as.field.name = current(p)->name;
        field->as.field.name_span = token_span(current(p));
        advance(p);
        node = parser_check_height(p, parser_finish(p, field));
    }
    return node;
}

/* ---- blocks and parentheses
 * ------------------------------------------------------------------------------------- */

static void parse_block_parameters(Parser *p, Node *block) {
    while (accept(p, TOK_COLON)) {
        if (!at(p, TOK_IDENT)) {
            parser_error_here(p, "Expected parameter name after ':'");
            return;
        }
        Node *param = parser_node(p, AST_PARAM, current(p)->start);
        param->as.param.name = current(p)->name;
        advance(p);
        if (accept(p, TOK_DCOLON)) param->as.param.type = parser_adopt(param, parse_type_atom(p));
        parser_push(p, block, &block->as.block.params, parser_finish(p, param));
    }
    if (block->as.block.params.count == 0 || accept(p, TOK_PIPE)) return;
    Diag *diag = parser_error_here(p, "Expected '|' after block parameters");
    if (at(p, TOK_IDENT)) diag_set_help(diag, "each parameter has a colon of its own: [:a :b | …]");
}

/* After a statement's `.`: is it of use? */
static void lint_block_period(Parser *p, Span period) {
    if (at(p, TOK_RBRACKET))
        diag_add(p->diags, DIAG_LINT, "lint", period, "unnecessary trailing `.` before `]`");
    else if (token_on_new_line(current(p)))
        diag_add(p->diags, DIAG_LINT, "lint", period,
                 "unnecessary `.` — the following newline already separates statements");
}

static Node *parse_block(Parser *p) {
    Node *block = parser_node(p, AST_BLOCK, current(p)->start);
    advance(p);
    if (at(p, TOK_COLON)) parse_block_parameters(p, block);
    while (!at(p, TOK_RBRACKET) && !at_end(p)) {
        uint32_t before = p->pos;
        bool ended = false;
        parser_push(p, block, &block->as.block.body, parse_statement(p, &ended));
        if (p->pos == before) break;
        Span mark = token_span(current(p));
        if (ended) continue;
        if (accept(p, TOK_PERIOD))
            lint_block_period(p, mark);
        else if (!token_on_new_line(current(p)))
            break;
    }
    parser_expect(p, TOK_RBRACKET, "Expected ']' to close block");
    return parser_finish(p, block);
}

static Node *parse_parentheses(Parser *p) {
    Node *node = parser_node(p, AST_PAREN, current(p)->start);
    advance(p);
    Node *inner = parse_expression(p);
    if (at(p, TOK_BANG)) {
        parser_error(p, inner->span,
                     "Cast (!) has no return value and cannot be used in an expression. Use . for a "
                     "synchronous call.");
        advance(p);
    }
    node->as.child = parser_adopt(node, inner);
    parser_expect(p, TOK_RPAREN, "Expected ')' to close parentheses");
    return parser_finish(p, node);
}

/* ---- collections
 * ------------------------------------------------------------------------------------------------ */

static Node *parse_element(Parser *p) {
    uint32_t start = current(p)->start;
    if (!at(p, TOK_ELLIPSIS)) return parse_keyword_level(p);
    advance(p);
    if (!at(p, TOK_IDENT)) {
        parser_error_here(p, "Expected identifier after '...'");
        return parser_error_node(p, start);
    }
    Node *node = parser_node(p, AST_SPREAD, start);
    node->as.name = current(p)->name;
    advance(p);
    return parser_finish(p, node);
}

/* Reports a token that should have been a separator and consumes it. */
static void bad_separator(Parser *p, const char *expected, const char *place) {
    char shown[SHOWN_TOKEN_MAX];
    parser_error_here(p, "Expected %s in %s literal, found %s", expected, place,
                      parser_show_token(p, current(p), shown));
    parser_skip_token(p);
}

static void parse_elements(Parser *p, Node *node, TokenKind closer) {
    bool list = closer == TOK_RPAREN;
    while (!at(p, closer) && !at_end(p)) {
        parser_push(p, node, &node->as.sequence.elements, parse_element(p));
        if (accept(p, TOK_COMMA)) continue;
        if (at(p, closer) || at_end(p)) return;
        if (list && accept(p, TOK_PIPE)) {
            node->as.sequence.tail = parser_adopt(node, parse_unary_level(p));
            return;
        }
        bad_separator(p, list ? "',', '|', or ')'" : "',' or ']'", list ? "list" : "array");
    }
}

static Node *parse_sequence(Parser *p, AstKind kind, TokenKind closer, const char *missing_closer) {
    Node *node = parser_node(p, kind, current(p)->start);
    advance(p);
    parse_elements(p, node, closer);
    parser_expect(p, closer, missing_closer);
    return parser_check_height(p, parser_finish(p, node));
}

static Node *parse_map_key(Parser *p) {
    const Token *token = current(p);
    if (!token_is_lower(token) || peek(p)->kind != TOK_FAT) return parse_unary_level(p);
    parser_error_here(p, "bare word '%.*s' is not a valid map key; did you mean '#%.*s'?",
                      shown_digits(token->end - token->start), token->name,
                      shown_digits(token->end - token->start), token->name);
    advance(p);
    return parser_error_node(p, token->start);
}

/* A key without `=>`: on to the next pair. */
static void skip_map_pair(Parser *p) {
    uint32_t open = 0;
    for (; !at_end(p); parser_skip_token(p)) {
        if (at(p, TOK_LBRACE) || at(p, TOK_MAP_OPEN)) open++;
        if (at(p, TOK_RBRACE) && open-- == 0) return;
        if (open == 0 && accept(p, TOK_COMMA)) return;
    }
}

static Node *parse_map(Parser *p) {
    Node *node = parser_node(p, AST_MAP, current(p)->start);
    advance(p);
    while (!at(p, TOK_RBRACE) && !at_end(p)) {
        Node *pair = parser_node(p, AST_PAIR, current(p)->start);
        pair->as.pair.key = parser_adopt(pair, parse_map_key(p));
        if (!parser_expect(p, TOK_FAT, "Expected '=>' after map key")) {
            skip_map_pair(p);
            continue;
        }
        pair->as.pair.value = parser_adopt(pair, parse_keyword_level(p));
        parser_push(p, node, &node->as.list, parser_finish(p, pair));
        if (accept(p, TOK_COMMA)) continue;
        if (at(p, TOK_RBRACE) || at_end(p)) break;
        bad_separator(p, "',' or '}'", "map");
    }
    parser_expect(p, TOK_RBRACE, "Expected '}' to close map literal");
    return parser_check_height(p, parser_finish(p, node));
}

/* The three collections recurse without a nested expression entry, so they count for themselves. */
static Node *parse_collection(Parser *p) {
    uint32_t start = current(p)->start;
    if (!parser_descend(p)) return parser_error_node(p, start);
    Node *node;
    if (at(p, TOK_LIST_OPEN))
        node = parse_sequence(p, AST_LIST, TOK_RPAREN, "Expected ')' to close list literal");
    else if (at(p, TOK_ARRAY_OPEN))
        node = parse_sequence(p, AST_ARRAY, TOK_RBRACKET, "Expected ']' to close array literal");
    else
        node = parse_map(p);
    parser_ascend(p);
    return node;
}

/* ---- directives
 * ------------------------------------------------------------------------------------------------- */

static Node *parse_pragma(Parser *p) {
    const Token *directive = current(p);
    bool intrinsic = directive->kind == TOK_AT_INTRINSIC;
    const char *word = intrinsic ? "intrinsic" : "primitive";
    Node *node = parser_node(p, AST_PRIMITIVE, directive->start);
    advance(p);
    const Token *name = current(p);
    bool named = (name->kind == TOK_STRING || name->kind == TOK_IDENT) && !token_on_new_line(name);
    if (named) advance(p);
    if (!p->method_selector) {
        parser_error(p, token_span(directive), "@%s can only appear inside a method body (after =>)", word);
        return parser_error_node(p, directive->start);
    }
    if (!named && intrinsic) {
        parser_error(p, token_span(directive),
                     "@intrinsic must be followed by a quoted selector or identifier");
        return parser_error_node(p, directive->start);
    }
    node->as.primitive.quoted = named && name->kind == TOK_STRING;
    node->as.primitive.intrinsic = intrinsic || (named && name->kind == TOK_IDENT);
    node->as.primitive.inferred = !named;
    if (node->as.primitive.quoted) {
        Text text = lexer_string_text(p->text, name, p->arena);
        node->as.primitive.name = intern_bytes(p->intern, text.bytes, text.length);
    } else {
        node->as.primitive.name = named ? name->name : p->method_selector;
    }
    return parser_finish(p, node);
}

#define EXPECT_CATEGORIES                                                                                    \
    "dnu, type, unused, dead_assignment, deprecation, actor_new, visibility, unresolved_class, "             \
    "unresolved_ffi, arity_mismatch, "                                                                       \
    "shadowed_class, type_annotation, inheritance, sendability, class_state_abroad, stored_closure, all"

/* Is the word one of the list above? */
static bool is_category(const char *word) {
    size_t length = intern_length(word);
    for (const char *at = EXPECT_CATEGORIES; *at;) {
        size_t end = strcspn(at, ",");
        if (end == length && memcmp(at, word, length) == 0) return true;
        at += end;
        at += strspn(at, ", ");
    }
    return false;
}

Node *parse_expect(Parser *p) {
    const Token *directive = current(p);
    Node *node = parser_node(p, AST_EXPECT, directive->start);
    node->as.expect.category = p->names.all;
    advance(p);
    if (!at(p, TOK_IDENT) || token_on_new_line(current(p))) {
        parser_error(p, token_span(directive), "@expect must be followed by a category name (%s)",
                     EXPECT_CATEGORIES);
        return parser_finish(p, node);
    }
    const Token *word = current(p);
    if (is_category(word->name))
        node->as.expect.category = word->name;
    else
        parser_error(p, span_make(directive->start, word->end),
                     "unknown @expect category '%.*s', valid categories are: %s",
                     shown_digits(word->end - word->start), word->name, EXPECT_CATEGORIES);
    advance(p);
    if (at(p, TOK_STRING) && !token_on_new_line(current(p))) {
        node->as.expect.reason = lexer_string_text(p->text, current(p), p->arena);
        advance(p);
    }
    bool alone = token_on_new_line(current(p)) || at(p, TOK_EOF) || at(p, TOK_PERIOD) || at(p, TOK_BANG) ||
                 at(p, TOK_RBRACKET) || at(p, TOK_RPAREN);
    if (!alone) parser_error_here(p, "Expected a line break after @expect and its category");
    return parser_finish(p, node);
}

/* ---- the rest
 * --------------------------------------------------------------------------------------------------- */

/* What people who know other languages write. */
static void help_unexpected(const Parser *p, const Token *token, Diag *diag) {
    static const struct {
        const char *text, *help;
    } HELP[] = {
        {"=", "use `=:=` or `==` to compare, `:=` to assign"},
        {"&&", "write `a and: [b]`"},
        {"&", "write `a and: [b]`"},
        {"|", "variables are not declared, they exist once they are assigned to; for `or` write `a or: [b]`"},
        {"-", "the negative of a variable is `x negated`"},
        {"!=", "`/=` and `=/=` say that things differ"},
    };
    const char *text = p->text + token->start;
    size_t length = token->end - token->start;
    if (token->kind == TOK_BINOP && length == 1 && *text == '=' && token->start > 0 && text[-1] == '!')
        text--, length++;
    for (size_t i = 0; i < sizeof HELP / sizeof *HELP; i++)
        if (strlen(HELP[i].text) == length && memcmp(HELP[i].text, text, length) == 0)
            diag_set_help(diag, "%s", HELP[i].help);
    if (token->kind != TOK_ERROR) return;
    bool open = token->flags & TOK_UNTERMINATED;
    if (*text == '\'') diag_set_help(diag, "a String is written \"…\", a Symbol #name or #'…'");
    if (*text == '"' && open) diag_set_help(diag, "the string that begins here is not closed");
    if (*text == '/' && open) diag_set_help(diag, "the comment that begins here is not closed");
}

static Node *unexpected_token(Parser *p) {
    const Token *token = current(p);
    char shown[SHOWN_TOKEN_MAX];
    if (token->kind == TOK_HASH) {
        parser_error_here(p, "Unexpected '#': expected '#(' for a list, '#[' for an array, '#{' for a map, "
                             "or a symbol such as #name");
    } else {
        Diag *diag = parser_error_here(p, "Unexpected token: expected expression, found %s",
                                       parser_show_token(p, token, shown));
        help_unexpected(p, token, diag);
    }
    advance(p);
    return parser_error_node(p, token->start);
}

Node *parse_primary(Parser *p) {
    switch (current(p)->kind) {
    case TOK_INTEGER:
    case TOK_FLOAT:
    case TOK_STRING:
    case TOK_CHAR:
    case TOK_SYMBOL: return parse_literal(p);
    case TOK_STR_START: return parse_interpolation(p);
    case TOK_IDENT: return parse_name(p);
    case TOK_LBRACKET: return parse_block(p);
    case TOK_LPAREN: return parse_parentheses(p);
    case TOK_LIST_OPEN:
    case TOK_ARRAY_OPEN:
    case TOK_MAP_OPEN: return parse_collection(p);
    case TOK_AT_PRIMITIVE:
    case TOK_AT_INTRINSIC: return parse_pragma(p);
    case TOK_AT_EXPECT: return parse_expect(p);
    default: return unexpected_token(p);
    }
}
