/* Statements, assignment, cascades, keyword, binary and unary messages (spec syntax.md 3 and 4). */
#include "compiler/parser_internal.h"

/* ---- binary operators
 * ------------------------------------------------------------------------------------------- */

typedef struct {
    uint8_t left, right; /* left 0: no infix operator */
} Power;

/* By text, since most operators have one or two characters. */
static Power binding_power(const Token *token) {
    if (!token_is_operator(token)) return (Power){0, 0};
    const char *op = token->name;
    uint32_t length = token->end - token->start;
    if (length == 1) {
        switch (op[0]) {
        case '*':
        case '/':
        case '%': return (Power){40, 41};
        case '+':
        case '-': return (Power){30, 31};
        case '<':
        case '>': return (Power){20, 21};
        default: return (Power){0, 0};
        }
    }
    if (length == 2) {
        switch (op[0] << 8 | op[1]) {
        case '*' << 8 | '*': return (Power){51, 50};
        case '+' << 8 | '+': return (Power){30, 31};
        case '<' << 8 | '=':
        case '>' << 8 | '=': return (Power){20, 21};
        case '=' << 8 | '=':
        case '/' << 8 | '=': return (Power){10, 11};
        case '>' << 8 | '>': return (Power){5, 6};
        case '-' << 8 | '>': return (Power){3, 4};
        default: return (Power){0, 0};
        }
    }
    bool strict = length == 3 && op[0] == '=' && (op[1] == ':' || op[1] == '/') && op[2] == '=';
    return strict ? (Power){10, 11} : (Power){0, 0};
}

static Node *new_send(Parser *p, Node *receiver, const Token *selector, SelectorKind kind) {
    Node *send = parser_node(p, AST_SEND, receiver->span.start);
    send->as.send.receiver = parser_adopt(send, receiver);
    send->as.send.selector = selector->name;
    send->as.send.selector_kind = (uint8_t)kind;
    send->as.send.selector_start = selector->start;
    return send;
}

static Node *pratt(Parser *p, unsigned least) {
    Node *left = parse_unary_level(p);
    for (;;) {
        const Token *op = current(p);
        Power power = binding_power(op);
        if (power.left == 0 || power.left < least) return left;
        if (token_on_new_line(op) && layout_at_method(p)) return left;
        bool right_assoc = power.right < power.left; /* the only operand that can recurse without bound */
        if (right_assoc && !parser_descend(p)) return left;
        Node *send = new_send(p, left, op, SEL_BINARY);
        advance(p);
        parser_push(p, send, &send->as.send.args, pratt(p, power.right));
        if (right_assoc) parser_ascend(p);
        left = parser_check_height(p, parser_finish(p, send));
    }
}

Node *parse_binary_level(Parser *p) { return pratt(p, 0); }

/* ---- unary and keyword messages
 * --------------------------------------------------------------------------------- */

Node *parse_unary_level(Parser *p) {
    Node *node = parse_primary(p);
    while (at(p, TOK_IDENT) && !token_on_new_line(current(p))) {
        Node *send = new_send(p, node, current(p), SEL_UNARY);
        advance(p);
        node = parser_check_height(p, parser_finish(p, send));
    }
    return node;
}

/* Parts `kw: arg ...` into `send`, which may be a SEND or a cascade's PART; at the first keyword. */
static void keyword_parts(Parser *p, Node *send) {
    const char *first = current(p)->name;
    SelectorBuffer buffer = {0};
    int32_t continuation = -1;
    uint32_t count = 0;
    do {
        const Token *keyword = current(p);
        if (continuation < 0 && token_on_new_line(keyword)) continuation = keyword->col;
        if (count++ > 0) {
            if (count == 2) parser_selector_add(p, &buffer, first);
            parser_selector_add(p, &buffer, keyword->name);
        }
        advance(p);
        parser_push(p, send, &send->as.send.args, parse_binary_level(p));
    } while (at(p, TOK_KEYWORD) && !layout_ends_keywords(p, false, continuation));
    send->as.send.selector = count == 1 ? first : parser_selector_finish(p, &buffer);
    send->as.send.selector_kind = SEL_KEYWORD;
}

Node *parse_keyword_level(Parser *p) {
    Node *left = parse_binary_level(p);
    const Token *keyword = current(p);
    if (keyword->kind != TOK_KEYWORD) return left;
    bool exhaustive = keyword->name == p->names.match_exhaustive;
    if ((exhaustive || keyword->name == p->names.match) && peek(p)->kind == TOK_LBRACKET) {
        advance(p);
        return parse_match_arms(p, left, exhaustive);
    }
    if (layout_ends_keywords(p, true, -1)) return left;
    Node *send = new_send(p, left, keyword, SEL_KEYWORD);
    keyword_parts(p, send);
    return parser_check_height(p, parser_finish(p, send));
}

/* ---- cascades
 * --------------------------------------------------------------------------------------------------- */

/* One message after a `;`. */
static Node *cascade_part(Parser *p) {
    const Token *token = current(p);
    Node *part = parser_node(p, AST_PART, token->start);
    part->as.send.selector = token->name;
    part->as.send.selector_start = token->start;
    if (token->kind == TOK_IDENT) {
        part->as.send.selector_kind = SEL_UNARY;
        advance(p);
    } else if (token->kind == TOK_KEYWORD) {
        keyword_parts(p, part);
    } else if (token_is_operator(token)) {
        part->as.send.selector_kind = SEL_BINARY;
        advance(p);
        parser_push(p, part, &part->as.send.args, parse_unary_level(p));
    } else {
        parser_error_here(p, "Expected message selector in cascade");
        part->kind = AST_ERROR;
        return part;
    }
    return parser_finish(p, part);
}

/* `recv m1` before the first `;` gives the receiver and the first part; anything else is the receiver itself.
 */
static Node *begin_cascade(Parser *p, Node *first) {
    Node *cascade = parser_node(p, AST_CASCADE, first->span.start);
    if (first->kind != AST_SEND) {
        cascade->as.cascade.receiver = parser_adopt(cascade, first);
        return cascade;
    }
    cascade->as.cascade.receiver = parser_adopt(cascade, first->as.send.receiver);
    Node *part = first; /* the send becomes the part: its receiver moves up */
    part->kind = AST_PART;
    part->as.send.receiver = NULL;
    part->span.start = part->as.send.selector_start;
    parser_push(p, cascade, &cascade->as.cascade.parts, part);
    return cascade;
}

static Node *parse_cascade(Parser *p) {
    Node *left = parse_keyword_level(p);
    if (!at(p, TOK_SEMI)) return left;
    Node *cascade = begin_cascade(p, left);
    while (accept(p, TOK_SEMI)) parser_push(p, cascade, &cascade->as.cascade.parts, cascade_part(p));
    return parser_check_height(p, parser_finish(p, cascade));
}

/* ---- assignment
 * ------------------------------------------------------------------------------------------------- */

static Node *parse_assign(Parser *p);

static Node *parse_assigned_value(Parser *p) {
    if (!parser_enter(p)) return parser_error_node(p, current(p)->start);
    Node *value = parse_assign(p);
    parser_leave(p);
    return value;
}

static Node *new_destructure(Parser *p, Node *pattern, uint32_t start) {
    Node *value = parse_assigned_value(p);
    if (pattern->kind == AST_ERROR) return parser_error_node(p, start);
    Node *node = parser_node(p, AST_DESTRUCTURE, start);
    node->as.destructure.pattern = parser_adopt(node, pattern);
    node->as.destructure.value = parser_adopt(node, value);
    return parser_check_height(p, parser_finish(p, node));
}

/* `{a, b} := value`; a brace starts nothing else. */
static Node *tuple_assignment(Parser *p) {
    uint32_t start = current(p)->start;
    Node *pattern = parse_pattern(p);
    if (accept(p, TOK_ASSIGN)) return new_destructure(p, pattern, start);
    if (pattern->kind != AST_ERROR && !p->limit_reported)
        parser_error(p, span_make(start, p->last_end),
                     "Tuple literals are not valid expressions; use `{a, b} := expr` for destructuring");
    return parser_error_node(p, start);
}

static Node *new_assign(Parser *p, Node *target, Node *type) {
    Node *node = parser_node(p, AST_ASSIGN, target->span.start);
    node->as.assign.target = parser_adopt(node, target);
    if (type) node->as.assign.type = parser_adopt(node, type);
    node->as.assign.value = parser_adopt(node, parse_assigned_value(p));
    if (target->kind == AST_FIELD && p->class_decl)
        arena_list_push(p->arena, &p->class_decl->assigned, target);
    return parser_check_height(p, parser_finish(p, node));
}

/* At `::` behind `left`. */
static Node *typed_assignment(Parser *p, Node *left) {
    bool good = left->kind == AST_IDENT;
    if (!good && left->kind != AST_ERROR)
        parser_error_here(p, "Type annotations on destructuring assignments are not yet supported");
    advance(p);
    Node *type = parse_type(p);
    if (!accept(p, TOK_ASSIGN)) {
        if (good) parser_error_here(p, "Expected ':=' after type annotation in assignment");
        return parser_error_node(p, left->span.start);
    }
    if (good) return new_assign(p, left, type);
    parse_assigned_value(p);
    return parser_error_node(p, left->span.start);
}

static Node *parse_assign(Parser *p) {
    if (at(p, TOK_LBRACE)) return tuple_assignment(p);
    Node *left = parse_cascade(p);
    if (at(p, TOK_DCOLON)) return typed_assignment(p, left);
    if (!at(p, TOK_ASSIGN)) return left;
    switch (left->kind) {
    case AST_IDENT:
    case AST_FIELD: advance(p); return new_assign(p, left, NULL);
    case AST_LIST:
    case AST_ARRAY:
    case AST_MAP: {
        Node *pattern = parse_literal_as_pattern(p, left);
        advance(p);
        return new_destructure(p, pattern, left->span.start);
    }
    default:
        if (left->kind != AST_ERROR)
            parser_error(p, left->span, "Assignment target must be an identifier or field access");
        advance(p);
        parse_assigned_value(p);
        return parser_error_node(p, left->span.start);
    }
}

/* ---- statements
 * ------------------------------------------------------------------------------------------------- */

Node *parse_expression(Parser *p) {
    uint32_t start = current(p)->start;
    if (!parser_enter(p)) return parser_error_node(p, start);
    Node *node;
    if (accept(p, TOK_CARET)) {
        node = parser_node(p, AST_RETURN, start);
        node->as.child = parser_adopt(node, parse_assign(p));
        node = parser_check_height(p, parser_finish(p, node));
    } else {
        node = parse_assign(p);
    }
    parser_leave(p);
    return node;
}

/* At a `!`: marks the send before it as a cast, or reports. */
static void cast_mark(Parser *p, Node *node) {
    advance(p);
    if (node->kind == AST_SEND)
        node->as.send.is_cast = true;
    else if (node->kind != AST_ERROR)
        parser_error(p, node->span,
                     "Cast (!) has no return value and cannot be used in an expression. Use . for a "
                     "synchronous call.");
}

Node *parse_statement(Parser *p, bool *ended) {
    if (at(p, TOK_AT_EXPECT)) return parse_expect(p);
    Node *node = parse_expression(p);
    *ended = at(p, TOK_BANG);
    if (*ended) cast_mark(p, node);
    return node;
}
