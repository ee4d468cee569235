/* Where things begin and end: lookahead over tokens that consumes nothing (spec syntax.md 2, 7.1, 7.4
 * to 7.8).
 *
 * Each question may look at LOOK_MAX tokens at most; a definition header that is longer is not recognised.
 * Without that bound a file of half-finished headers would cost quadratic time.
 */
#include "compiler/parser_internal.h"

enum { LOOK_MAX = 2048 };

typedef struct {
    const Parser *p;
    uint32_t pos, limit;
} Look;

static Look look_from(const Parser *p, uint32_t pos) { return (Look){p, pos, pos + LOOK_MAX}; }
/* Past the limit there is only the end of input. */
static const Token *look(const Look *look) {
    return token_at(look->p, look->pos < look->limit ? look->pos : look->p->count - 1);
}
static const Token *look_next(const Look *look) { return token_at(look->p, look->pos + 1); }

/* ---- types
 * ------------------------------------------------------------------------------------------------------ */

/* At a `(`: to behind its `)`. */
static bool skip_parentheses(Look *at_look) {
    uint32_t open = 0;
    do {
        const Token *token = look(at_look);
        if (token->kind == TOK_EOF) return false;
        if (token->kind == TOK_LPAREN || token->kind == TOK_LIST_OPEN) open++;
        if (token->kind == TOK_RPAREN) open--;
        at_look->pos++;
    } while (open > 0);
    return true;
}

static bool skip_type_atom(Look *at_look) {
    const Token *token = look(at_look);
    if (token->kind == TOK_LPAREN) return skip_parentheses(at_look);
    if (token->kind != TOK_IDENT && token->kind != TOK_SYMBOL) return false;
    at_look->pos++;
    if (token->kind == TOK_SYMBOL) return true;
    if (look(at_look)->kind == TOK_LPAREN) return skip_parentheses(at_look);
    const Token *next = look(at_look);
    if (token_is_word(next, at_look->p->names.class_word) && !token_on_new_line(next)) at_look->pos++;
    return true;
}

static bool is_type_operator(const Parser *p, const Token *token) {
    return token->kind == TOK_PIPE || token_is_binop(token, p->names.backslash) ||
           token_is_binop(token, p->names.ampersand) || token_is_binop(token, p->names.double_backslash);
}

/* Atoms joined by | \ &. */
static bool skip_type_chain(Look *at_look) {
    for (;;) {
        if (!skip_type_atom(at_look)) return false;
        if (!is_type_operator(at_look->p, look(at_look))) return true;
        at_look->pos++;
    }
}

/* RET FAT: `-> Type =>`, or `-> =>` so that the parser can complain about the missing type. */
static bool at_return_type(Look at_look) {
    if (look(&at_look)->kind != TOK_ARROW) return false;
    at_look.pos++;
    if (look(&at_look)->kind == TOK_FAT) return true;
    return skip_type_chain(&at_look) && look(&at_look)->kind == TOK_FAT;
}

/* What ends a method header: FAT, RET FAT or `::` RET FAT. */
static bool at_header_end(Look at_look) {
    if (look(&at_look)->kind == TOK_FAT) return true;
    if (look(&at_look)->kind == TOK_DCOLON) at_look.pos++;
    return at_return_type(at_look);
}

/* ---- method headers
 * --------------------------------------------------------------------------------------------- */

bool layout_word_is_selector(const Parser *p, uint32_t index) {
    Look next = look_from(p, index + 1);
    return look(&next)->kind == TOK_FAT || (!token_on_new_line(look(&next)) && at_return_type(next));
}

/* IDENT with its type, behind an operator or keyword. `*sure` is set when nothing but a method can look like
 * this. */
static bool skip_parameter(Look *at_look, bool keyword, bool *sure) {
    if (look(at_look)->kind != TOK_IDENT) return false;
    at_look->pos++;
    Look type = *at_look;
    type.pos++;
    if (look(at_look)->kind == TOK_DCOLON) {
        if (look(&type)->kind == TOK_ARROW) return true; /* `:: -> T`, looked at by at_header_end */
        if (!skip_type_chain(&type)) return *sure = true;
        *at_look = type;
    } else if (keyword && look(at_look)->kind == TOK_COLON) {
        if (!skip_type_chain(&type)) return false;
        *at_look = type;
    }
    return true;
}

static bool at_selector_pattern(Look at_look, bool arrows_are_selectors) {
    const Token *token = look(&at_look);
    bool sure = false;
    if (token->kind == TOK_IDENT) {
        at_look.pos++;
        /* D5: an arrow on the next line is a method named `->`. */
        if (look(&at_look)->kind == TOK_ARROW && token_on_new_line(look(&at_look))) return false;
        return at_header_end(at_look);
    }
    if (token->kind == TOK_KEYWORD) {
        while (look(&at_look)->kind == TOK_KEYWORD) {
            at_look.pos++;
            if (!skip_parameter(&at_look, true, &sure)) return false;
            if (sure) return true;
        }
        return at_header_end(at_look);
    }
    bool op = arrows_are_selectors ? token_is_operator(token)
                                   : token->kind == TOK_BINOP || token->kind == TOK_COMMA;
    if (!op) return false;
    at_look.pos++;
    return skip_parameter(&at_look, false, &sure) && (sure || at_header_end(at_look));
}

/* Modifiers, then a selector pattern. */
static bool at_method_header(Look at_look, bool arrows_are_selectors) {
    const Parser *p = at_look.p;
    for (;; at_look.pos++) {
        const Token *token = look(&at_look);
        if (token->kind != TOK_IDENT) break;
        bool maybe = token->name == p->names.class_word || token->name == p->names.internal;
        if (token->name != p->names.sealed && !(maybe && !layout_word_is_selector(p, at_look.pos))) break;
    }
    return at_selector_pattern(at_look, arrows_are_selectors);
}

/* Tokens that a method header can start with and that the next token does not rule out at once. */
static bool may_start_method(const Parser *p) {
    switch (current(p)->kind) {
    case TOK_IDENT: {
        TokenKind next = peek(p)->kind;
        return next == TOK_FAT || next == TOK_ARROW || next == TOK_DCOLON ||
               current(p)->name == p->names.class_word || current(p)->name == p->names.sealed ||
               current(p)->name == p->names.internal;
    }
    case TOK_KEYWORD:
    case TOK_BINOP:
    case TOK_COMMA:
    case TOK_ARROW:
    case TOK_GTGT: return peek(p)->kind == TOK_IDENT;
    default: return false;
    }
}

bool layout_at_method(const Parser *p) {
    return may_start_method(p) && at_method_header(look_from(p, p->pos), true);
}

/* ---- other definitions
 * ------------------------------------------------------------------------------------------ */

bool layout_at_class(const Parser *p) {
    if (!at(p, TOK_IDENT)) return false;
    TokenKind kind = peek(p)->kind;
    if (kind != TOK_KEYWORD && kind != TOK_IDENT && kind != TOK_AT && kind != TOK_LPAREN) return false;
    Look at_look = look_from(p, p->pos);
    for (;; at_look.pos++) {
        const char *name = look(&at_look)->kind == TOK_IDENT ? look(&at_look)->name : NULL;
        bool modifier = name == p->names.abstract || name == p->names.sealed || name == p->names.typed ||
                        name == p->names.internal;
        if (!name || !modifier) break;
    }
    if (look(&at_look)->kind != TOK_IDENT) return false;
    at_look.pos++;
    if (look(&at_look)->kind == TOK_AT) {
        if (look_next(&at_look)->kind != TOK_IDENT) return false;
        at_look.pos += 2;
    }
    if (look(&at_look)->kind == TOK_LPAREN && !skip_parentheses(&at_look)) return false;
    return token_is_keyword(look(&at_look), p->names.subclass);
}

bool layout_at_protocol(const Parser *p) {
    return token_is_word(current(p), p->names.protocol) && token_is_keyword(peek(p), p->names.define);
}

bool layout_at_alias(const Parser *p) {
    if (!at(p, TOK_IDENT)) return false;
    uint32_t pos = p->pos;
    if (current(p)->name == p->names.internal) pos++;
    return token_is_word(token_at(p, pos), p->names.type_word) && token_is_upper(token_at(p, pos + 1)) &&
           token_is_binop(token_at(p, pos + 2), p->names.equals);
}

bool layout_at_ext_method(const Parser *p) {
    Look at_look = look_from(p, p->pos);
    if (token_is_upper(look(&at_look))) {
        at_look.pos++;
    } else {
        if (!token_is_lower(look(&at_look)) || look_next(&at_look)->kind != TOK_AT) return false;
        at_look.pos += 2;
        if (!token_is_upper(look(&at_look))) return false;
        at_look.pos++;
    }
    if (token_is_word(look(&at_look), p->names.class_word)) at_look.pos++;
    if (look(&at_look)->kind != TOK_GTGT) return false;
    at_look.pos++;
    return at_method_header(at_look, false);
}

/* ---- ends
 * ------------------------------------------------------------------------------------------------------- */

/* Keywords that open a declaration and hence end the default of the one before (D3). */
static bool is_declaration_keyword(const Parser *p, const Token *token) {
    return token->kind == TOK_KEYWORD &&
           (token->name == p->names.state || token->name == p->names.field ||
            token->name == p->names.class_state || token->name == p->names.handle_scope);
}

bool layout_ends_keywords(const Parser *p, bool first, int32_t continuation) {
    const Token *token = current(p);
    if (!token_on_new_line(token)) return false;
    switch (p->context) {
    case BODY_METHOD:
        return token->col <= (p->method_column > 2 ? p->method_column : 2) || token->col < continuation;
    case BODY_CLASS: return first || is_declaration_keyword(p, token) || layout_at_method(p);
    case BODY_SINGLE: return false;
    default: return layout_at_method(p);
    }
}

bool layout_ends_body(const Parser *p, bool begun) {
    const Token *token = current(p);
    if (token->kind == TOK_EOF) return true;
    if (p->context == BODY_SINGLE) return false;
    bool in_class = p->context == BODY_METHOD;
    bool at_margin = token->col <= p->method_column; /* also true on the line of the token before */
    if (token->col == 0 && (in_class || begun)) return true;
    switch (token->kind) {
    case TOK_AT_EXPECT: return in_class && at_margin;
    case TOK_KEYWORD:
        if (is_declaration_keyword(p, token) && token->name != p->names.handle_scope) return true;
        return (!in_class || at_margin) && layout_at_method(p);
    case TOK_IDENT:
        if (layout_at_class(p) || layout_at_protocol(p) || layout_at_ext_method(p)) return true;
        return (!in_class || at_margin) && (layout_at_alias(p) || layout_at_method(p));
    default: return (!in_class || at_margin) && layout_at_method(p);
    }
}
