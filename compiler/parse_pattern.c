/* Patterns: match arms, tuple assignment, and literals that turn out to be targets of `:=` (spec syntax.md 4
 * and 6). */
#include "compiler/parser_internal.h"

/* ---- simple patterns
 * -------------------------------------------------------------------------------------------- */

static Node *wild(Parser *p, uint32_t start) { return parser_finish(p, parser_node(p, AST_PAT_WILD, start)); }

static Node *literal_pattern(Parser *p, Node *literal) {
    if (literal->kind == AST_ERROR) return wild(p, literal->span.start);
    Node *node = parser_node(p, AST_PAT_LITERAL, literal->span.start);
    node->as.child = parser_adopt(node, literal);
    return parser_finish(p, node);
}

static bool at_minus(const Parser *p) { return token_is_binop(current(p), p->names.minus); }
static bool at_number(const Parser *p) { return at(p, TOK_INTEGER) || at(p, TOK_FLOAT); }

/* `-` and a number with white space between. */
static Node *negative_pattern(Parser *p) {
    uint32_t start = current(p)->start;
    advance(p);
    if (!at_number(p) || p->text[current(p)->start] == '-') {
        parser_error_here(p, "Expected number after '-' in pattern");
        return wild(p, start);
    }
    Node *literal = parse_literal(p);
    if (literal->kind == AST_INT) literal->as.integer = -literal->as.integer;
    if (literal->kind == AST_FLOAT) literal->as.real = -literal->as.real;
    literal->span.start = start;
    return literal_pattern(p, literal);
}

/* The variable or wildcard at the current IDENT. */
static Node *name_pattern(Parser *p) {
    const Token *token = current(p);
    bool is_wild = token->name == p->names.underscore;
    Node *node = parser_node(p, is_wild ? AST_PAT_WILD : AST_PAT_VAR, token->start);
    if (!is_wild) node->as.name = token->name;
    advance(p);
    return parser_finish(p, node);
}

static bool is_boolean(const Parser *p, const Token *token) {
    return token_is_word(token, p->names.true_word) || token_is_word(token, p->names.false_word);
}

/* Behind `name ::`, which is where the span of errors starts. `nil` may not be annotated. */
static Node *type_pattern(Parser *p, const Token *name) {
    bool nil = name->name == p->names.nil;
    advance(p);
    if (!at(p, TOK_IDENT)) {
        parser_error_here(p, "Expected a class name after '::' in a type pattern");
        if (token_is_literal(current(p))) advance(p);
        return wild(p, name->start);
    }
    Node *node = parser_node(p, AST_PAT_TYPE, name->start);
    node->as.pat_type.name = name->name;
    node->as.pat_type.class_name = current(p)->name;
    advance(p);
    bool generic = at(p, TOK_LPAREN) && !token_on_new_line(current(p));
    if (generic) {
        while (!at_end(p) && !at(p, TOK_SEMI) && !at(p, TOK_RBRACKET) && !at(p, TOK_RPAREN))
            parser_skip_token(p);
        accept(p, TOK_RPAREN);
        parser_error(p, span_make(name->start, p->last_end),
                     "generic type arguments are not supported in a type pattern yet");
    } else if (nil) {
        Diag *diag = parser_error(
            p, span_make(name->start, p->last_end),
            "a 'nil' pattern cannot have a type annotation ('nil :: ClassName' is not meaningful)");
        diag_set_help(diag, "write `nil` alone, or `name :: ClassName`");
    }
    return generic || nil ? wild(p, name->start) : parser_finish(p, node);
}

/* ---- constructor patterns
 * --------------------------------------------------------------------------------------- */

/* The binding behind a constructor keyword. */
static Node *constructor_binding(Parser *p) {
    const Token *token = current(p);
    if (is_boolean(p, token)) {
        parser_error_here(p,
                          "bare '%s' in a constructor pattern binding always matches — it binds any value; "
                          "use `true`/`false` in a guard",
                          token->name);
        advance(p);
        return wild(p, token->start);
    }
    if (token->kind == TOK_IDENT && peek(p)->kind == TOK_DCOLON) {
        advance(p);
        advance(p);
        if (at(p, TOK_IDENT)) advance(p);
        parser_error(p, span_make(token->start, p->last_end),
                     "type annotations are not supported in a constructor pattern binding position; bind the "
                     "name and match on it");
        return wild(p, token->start);
    }
    if (token_is_word(token, p->names.nil)) {
        advance(p);
        return parser_finish(p, parser_node(p, AST_PAT_NIL, token->start));
    }
    if (token->kind == TOK_IDENT) return name_pattern(p);
    if (token_is_literal(token)) return literal_pattern(p, parse_literal(p));
    if (at_minus(p)) return negative_pattern(p);
    parser_error_here(p, "Expected variable, '_', or literal after constructor keyword");
    return wild(p, token->start);
}

static bool at_constructor_keyword(const Parser *p) {
    return at(p, TOK_KEYWORD) && current(p)->name != p->names.when;
}

/* `Class kw: binding ...`, behind the class name. */
static Node *constructor_pattern(Parser *p, const Token *class_name) {
    Node *node = parser_node(p, AST_PAT_CTOR, class_name->start);
    node->as.pat_ctor.class_name = class_name->name;
    while (at_constructor_keyword(p)) {
        Node *arg = parser_node(p, AST_CTOR_ARG, current(p)->start);
        arg->as.ctor_arg.keyword = current(p)->name;
        advance(p);
        arg->as.ctor_arg.pattern = parser_adopt(arg, constructor_binding(p));
        parser_push(p, node, &node->as.pat_ctor.args, parser_finish(p, arg));
    }
    return parser_finish(p, node);
}

/* A pattern that starts with an identifier. */
static Node *identifier_pattern(Parser *p) {
    const Token *token = current(p), *next = peek(p);
    if (next->kind == TOK_DCOLON && token->name != p->names.underscore) {
        advance(p);
        return type_pattern(p, token);
    }
    if (token->name == p->names.nil) {
        advance(p);
        return parser_finish(p, parser_node(p, AST_PAT_NIL, token->start));
    }
    if (is_boolean(p, token)) {
        Diag *diag = parser_error_here(
            p, "bare '%s' in a match: pattern always matches — it binds any value instead of comparing",
            token->name);
        diag_set_help(diag, "use ifTrue:ifFalse:, or a type pattern such as `t :: %s`",
                      token->name == p->names.true_word ? "True" : "False");
        advance(p);
        return wild(p, token->start);
    }
    if (token_is_upper(token) && next->kind == TOK_KEYWORD && next->name != p->names.when) {
        advance(p);
        return constructor_pattern(p, token);
    }
    return name_pattern(p);
}

/* ---- composite patterns
 * ----------------------------------------------------------------------------------------- */

/* At `...`: a variable or `_` must follow. NULL, after a diagnostic, if not. */
static Node *rest_pattern(Parser *p) {
    advance(p);
    if (at(p, TOK_IDENT)) return name_pattern(p);
    parser_error_here(p, "Expected identifier after '...'");
    return NULL;
}

static Node *tuple_pattern(Parser *p) {
    Node *node = parser_node(p, AST_PAT_TUPLE, current(p)->start);
    advance(p);
    if (!at(p, TOK_RBRACE)) {
        do parser_push(p, node, &node->as.pat_sequence.elements, parse_pattern(p));
        while (accept(p, TOK_COMMA));
    }
    parser_expect(p, TOK_RBRACE, "Expected '}' to close tuple pattern");
    return parser_finish(p, node);
}

static Node *array_pattern(Parser *p) {
    Node *node = parser_node(p, AST_PAT_ARRAY, current(p)->start);
    advance(p);
    while (!at(p, TOK_RBRACKET) && !at_end(p)) {
        uint32_t start = current(p)->start;
        if (at(p, TOK_ELLIPSIS)) {
            Node *rest = rest_pattern(p);
            if (rest) node->as.pat_sequence.rest = parser_adopt(node, rest);
            if (at(p, TOK_COMMA) && peek(p)->kind != TOK_RBRACKET)
                parser_error(p, span_make(start, p->last_end),
                             "Rest pattern `...` must be the last element in an array pattern");
        } else {
            parser_push(p, node, &node->as.pat_sequence.elements, parse_pattern(p));
        }
        if (!accept(p, TOK_COMMA)) break;
    }
    parser_expect(p, TOK_RBRACKET, "Expected ']' to close array pattern");
    return parser_finish(p, node);
}

/* Value of a map pattern: name, `_`, literal, number with a sign. */
static Node *map_pattern_value(Parser *p) {
    if (at(p, TOK_IDENT) && !is_boolean(p, current(p)) && current(p)->name != p->names.nil)
        return identifier_pattern(p);
    if (at(p, TOK_IDENT)) return identifier_pattern(p);
    if (token_is_literal(current(p))) return literal_pattern(p, parse_literal(p));
    if (at_minus(p)) return negative_pattern(p);
    uint32_t start = current(p)->start;
    parser_error_here(p, "Map pattern value must be a variable, '_', or a literal");
    return wild(p, start);
}

static Node *map_pattern(Parser *p) {
    Node *node = parser_node(p, AST_PAT_MAP, current(p)->start);
    advance(p);
    while (!at(p, TOK_RBRACE) && !at_end(p)) {
        Node *pair = parser_node(p, AST_PAIR, current(p)->start);
        if (!at(p, TOK_SYMBOL) && !at(p, TOK_STRING)) {
            parser_error_here(p, "Map destructuring key must be a symbol or string literal");
            break;
        }
        pair->as.pair.key = parser_adopt(pair, parse_literal(p));
        if (!parser_expect(p, TOK_FAT, "Expected '=>' after map pattern key")) break;
        pair->as.pair.value = parser_adopt(pair, map_pattern_value(p));
        parser_push(p, node, &node->as.list, parser_finish(p, pair));
        if (!accept(p, TOK_COMMA)) break;
    }
    parser_expect(p, TOK_RBRACE, "Expected '}' to close map pattern");
    return parser_finish(p, node);
}

/* ---- binary patterns
 * -------------------------------------------------------------------------------------------- */

typedef struct {
    const char *word, *group;
    uint8_t member; /* of the union of groups below */
    uint8_t value;
} Specifier;

enum { SPEC_TYPE, SPEC_SIGN, SPEC_ENDIAN };

static const Specifier specifiers[] = {
    {"integer", "type", SPEC_TYPE, SEG_INTEGER},
    {"float", "type", SPEC_TYPE, SEG_FLOAT},
    {"binary", "type", SPEC_TYPE, SEG_BINARY},
    {"bytes", "type", SPEC_TYPE, SEG_BINARY},
    {"utf8", "type", SPEC_TYPE, SEG_UTF8},
    {"signed", "signedness", SPEC_SIGN, SEG_SIGNED},
    {"unsigned", "signedness", SPEC_SIGN, SEG_UNSIGNED},
    {"big", "endianness", SPEC_ENDIAN, SEG_BIG},
    {"little", "endianness", SPEC_ENDIAN, SEG_LITTLE},
    {"native", "endianness", SPEC_ENDIAN, SEG_NATIVE},
};

static bool same_word(const char *name, const char *word) {
    size_t i = 0;
    while (word[i] && name[i] == word[i]) i++;
    return name[i] == word[i];
}

/* The word at the current token into the segment. */
static void apply_specifier(Parser *p, Node *segment) {
    char shown[SHOWN_TOKEN_MAX];
    const char *word = parser_show_token(p, current(p), shown);
    for (size_t i = 0; at(p, TOK_IDENT) && i < sizeof specifiers / sizeof *specifiers; i++) {
        const Specifier *spec = &specifiers[i];
        if (!same_word(current(p)->name, spec->word)) continue;
        uint8_t *field = spec->member == SPEC_TYPE   ? &segment->as.segment.type
                         : spec->member == SPEC_SIGN ? &segment->as.segment.sign
                                                     : &segment->as.segment.endian;
        if (*field)
            parser_error_here(p, "Conflicting binary segment %s specifier '%s': one was already given",
                              spec->group, word);
        *field = spec->value;
        return;
    }
    parser_error_here(p, "Unknown binary segment specifier: '%s'", word);
}

/* `/spec-spec`, at the slash. The dashes may have been lexed together with nothing else: specs are letters.
 */
static void segment_specifiers(Parser *p, Node *segment) {
    do {
        advance(p);
        apply_specifier(p, segment);
        if (at(p, TOK_IDENT)) advance(p);
    } while (at_minus(p));
}

static void segment_size(Parser *p, Node *segment) {
    const Token *token = current(p);
    if (token->kind == TOK_INTEGER) {
        segment->as.segment.size = parser_adopt(segment, parse_literal(p));
    } else if (token->kind == TOK_IDENT) {
        Node *name = parser_node(p, AST_IDENT, token->start);
        name->as.name = token->name;
        advance(p);
        segment->as.segment.size = parser_adopt(segment, parser_finish(p, name));
    } else if (token_is_literal(token)) {
        parser_error_here(p, "Binary segment size must be an integer literal or variable name");
        advance(p);
    } else {
        parser_error_here(p, "Expected size expression after ':' in binary segment");
    }
}

/* name[:size][/spec-spec]. `name:` is one KEYWORD token when the colon touches the name. */
static Node *binary_segment(Parser *p) {
    const Token *token = current(p);
    Node *segment = parser_node(p, AST_SEGMENT, token->start);
    bool keyword = token->kind == TOK_KEYWORD;
    uint32_t length = token->end - token->start - keyword;
    const char *name = token->kind == TOK_IDENT ? token->name
                       : keyword                ? intern_bytes(p->intern, token->name, length)
                                                : NULL;
    bool is_wild = name == p->names.underscore || !name;
    Node *value = parser_node(p, is_wild ? AST_PAT_WILD : AST_PAT_VAR, token->start);
    if (name) {
        if (!is_wild) value->as.name = name;
        value->span.end = token->start + length;
        advance(p);
    } else {
        parser_error_here(p, "Expected variable name in binary segment");
    }
    segment->as.segment.value = parser_adopt(segment, value);
    if (name && (keyword || accept(p, TOK_COLON))) segment_size(p, segment);
    if (token_is_binop(current(p), p->names.slash)) segment_specifiers(p, segment);
    return parser_finish(p, segment);
}

static Node *binary_pattern(Parser *p) {
    Node *node = parser_node(p, AST_PAT_BINARY, current(p)->start);
    advance(p);
    while (!at(p, TOK_GTGT) && !at_end(p)) {
        uint32_t before = p->pos;
        parser_push(p, node, &node->as.list, binary_segment(p));
        if (p->pos == before) break;
        if (!at(p, TOK_COMMA)) break;
        if (peek(p)->kind == TOK_GTGT)
            parser_error_here(p, "Trailing comma is not allowed before '>>' in a binary pattern");
        advance(p);
    }
    parser_expect(p, TOK_GTGT, "Expected '>>' to close binary pattern");
    return parser_finish(p, node);
}

/* ---- any pattern
 * ------------------------------------------------------------------------------------------------ */

static bool ends_pattern(TokenKind kind) {
    switch (kind) {
    case TOK_EOF:
    case TOK_ARROW:
    case TOK_RBRACE:
    case TOK_RBRACKET:
    case TOK_RPAREN:
    case TOK_COMMA:
    case TOK_SEMI:
    case TOK_ASSIGN:
    case TOK_STR_SEG:
    case TOK_STR_END: return true;
    default: return false;
    }
}

static Node *pattern_inside(Parser *p) {
    const Token *token = current(p);
    if (token_is_literal(token)) return literal_pattern(p, parse_literal(p));
    if (at_minus(p)) return negative_pattern(p);
    switch (token->kind) {
    case TOK_IDENT: return identifier_pattern(p);
    case TOK_LBRACE: return tuple_pattern(p);
    case TOK_ARRAY_OPEN: return array_pattern(p);
    case TOK_MAP_OPEN: return map_pattern(p);
    case TOK_LTLT: return binary_pattern(p);
    default: break;
    }
    char shown[SHOWN_TOKEN_MAX];
    parser_error_here(p, "Unexpected token in pattern: expected identifier, literal, '_', or '{', found %s",
                      parser_show_token(p, token, shown));
    if (!ends_pattern(token->kind)) parser_skip_token(p);
    return wild(p, token->start);
}

Node *parse_pattern(Parser *p) {
    uint32_t start = current(p)->start;
    if (!parser_enter(p)) return wild(p, start);
    Node *pattern = pattern_inside(p);
    parser_leave(p);
    return pattern;
}

/* ---- match
 * ------------------------------------------------------------------------------------------------------ */

/* Keyword level, `^` keyword level, or one assignment. */
static Node *arm_body(Parser *p) {
    uint32_t start = current(p)->start;
    if (accept(p, TOK_CARET)) {
        Node *node = parser_node(p, AST_RETURN, start);
        node->as.child = parser_adopt(node, parse_keyword_level(p));
        return parser_finish(p, node);
    }
    Node *left = parse_keyword_level(p);
    if (!at(p, TOK_ASSIGN)) return left;
    bool good = left->kind == AST_IDENT || left->kind == AST_FIELD;
    if (!good && left->kind != AST_ERROR)
        parser_error(p, left->span, "Assignment target must be an identifier or field access");
    advance(p);
    Node *value = parse_keyword_level(p);
    if (!good) return parser_error_node(p, start);
    Node *node = parser_node(p, AST_ASSIGN, start);
    node->as.assign.target = parser_adopt(node, left);
    node->as.assign.value = parser_adopt(node, value);
    return parser_finish(p, node);
}

static Node *guard(Parser *p) {
    advance(p);
    if (!parser_expect(p, TOK_LBRACKET, "Expected '[' after when:"))
        return parser_error_node(p, current(p)->start);
    Node *condition = parse_expression(p);
    parser_expect(p, TOK_RBRACKET, "Expected ']' to close guard expression");
    return condition;
}

static Node *parse_arm(Parser *p) {
    Node *arm = parser_node(p, AST_ARM, current(p)->start);
    arm->as.arm.pattern = parser_adopt(arm, parse_pattern(p));
    if (token_is_keyword(current(p), p->names.when)) arm->as.arm.guard = parser_adopt(arm, guard(p));
    bool arrow = parser_expect(p, TOK_ARROW, "Expected '->' after pattern in match arm");
    arm->as.arm.body = parser_adopt(arm, arrow ? arm_body(p) : parser_error_node(p, current(p)->start));
    return parser_finish(p, arm);
}

Node *parse_match_arms(Parser *p, Node *value, bool exhaustive) {
    Node *node = parser_node(p, AST_MATCH, value->span.start);
    node->as.match.value = parser_adopt(node, value);
    node->as.match.exhaustive = exhaustive;
    if (!parser_descend(p)) return parser_error_node(p, value->span.start);
    advance(p);
    while (!at(p, TOK_RBRACKET) && !at_end(p)) {
        uint32_t before = p->pos;
        parser_push(p, node, &node->as.match.arms, parse_arm(p));
        if (p->pos == before) break;
        if (!accept(p, TOK_SEMI) && !token_on_new_line(current(p))) break;
    }
    parser_expect(p, TOK_RBRACKET, "Expected ']' to close match");
    parser_ascend(p);
    return parser_check_height(p, parser_finish(p, node));
}

/* ---- literals as targets
 * ---------------------------------------------------------------------------------------- */

/* Gives the node the span of what it came from; conversion happens behind it. */
static Node *spanned(Node *node, Span span) {
    node->span = span;
    return node;
}

static Node *name_target(Parser *p, const char *name, Span span) {
    bool is_wild = name == p->names.underscore;
    Node *node = parser_node(p, is_wild ? AST_PAT_WILD : AST_PAT_VAR, span.start);
    if (!is_wild) node->as.name = name;
    return spanned(node, span);
}

/* NULL when the element is no identifier, `_` or literal. */
static Node *element_target(Parser *p, Node *element) {
    switch (element->kind) {
    case AST_IDENT: return name_target(p, element->as.name, element->span);
    case AST_INT:
    case AST_FLOAT:
    case AST_STRING:
    case AST_CHAR:
    case AST_SYMBOL: {
        Node *node = parser_node(p, AST_PAT_LITERAL, element->span.start);
        node->as.child = parser_adopt(node, element);
        return spanned(node, element->span);
    }
    default: return NULL;
    }
}

static Node *bad_target(Parser *p, Node *literal) {
    return spanned(parser_node(p, AST_ERROR, literal->span.start), literal->span);
}

static Node *sequence_target(Parser *p, Node *literal) {
    bool list = literal->kind == AST_LIST;
    NodeList elements = literal->as.sequence.elements;
    if (literal->as.sequence.tail) {
        parser_error(p, literal->span,
                     "Cons syntax `#(head | tail)` is not supported in destructuring patterns; use `#(head, "
                     "...tail)`");
        return bad_target(p, literal);
    }
    Node *node = parser_node(p, list ? AST_PAT_LIST : AST_PAT_ARRAY, literal->span.start);
    for (uint32_t i = 0; i < elements.count; i++) {
        Node *element = elements.items[i];
        if (element->kind == AST_ERROR) return bad_target(p, literal);
        if (element->kind == AST_SPREAD) {
            node->as.pat_sequence.rest = parser_adopt(node, name_target(p, element->as.name, element->span));
            if (i + 1 == elements.count) break;
            parser_error(p, element->span, "Rest pattern `...` must be the last element in %s pattern",
                         list ? "a list" : "an array");
            break;
        }
        Node *target = element_target(p, element);
        if (!target) {
            parser_error(p, element->span,
                         "Destructuring patterns may only contain identifiers, '_', or literals");
            return bad_target(p, literal);
        }
        parser_push(p, node, &node->as.pat_sequence.elements, target);
    }
    return spanned(node, literal->span);
}

static Node *map_target(Parser *p, Node *literal) {
    Node *node = parser_node(p, AST_PAT_MAP, literal->span.start);
    for (uint32_t i = 0; i < literal->as.list.count; i++) {
        Node *pair = literal->as.list.items[i], *key = pair->as.pair.key, *value = pair->as.pair.value;
        if (key->kind == AST_ERROR || value->kind == AST_ERROR) return bad_target(p, literal);
        bool good_key = key->kind == AST_SYMBOL || key->kind == AST_STRING;
        if (!good_key || value->kind != AST_IDENT) {
            parser_error(p, good_key ? value->span : key->span,
                         "Map destructuring: keys must be symbols or string literals, values must be "
                         "identifiers or '_'");
            return bad_target(p, literal);
        }
        Node *entry = parser_node(p, AST_PAIR, pair->span.start);
        entry->as.pair.key = parser_adopt(entry, key);
        entry->as.pair.value = parser_adopt(entry, name_target(p, value->as.name, value->span));
        parser_push(p, node, &node->as.list, spanned(entry, pair->span));
    }
    return spanned(node, literal->span);
}

Node *parse_literal_as_pattern(Parser *p, Node *literal) {
    return literal->kind == AST_MAP ? map_target(p, literal) : sequence_target(p, literal);
}
