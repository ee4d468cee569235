/* Type annotations, type arguments and parameters (spec syntax.md 8). */
#include "compiler/parser_internal.h"

/* What stands for a type that was reported: code that reads types need not know AST_ERROR. */
static Node *error_type(Parser *p) {
    Node *node = parser_node(p, AST_TYPE_NAME, current(p)->start);
    node->as.name = p->names.error;
    return node;
}

static Node *missing_type(Parser *p) {
    parser_error_here(p, "Expected type name");
    return error_type(p);
}

/* IDENT, with `class` or arguments. */
static Node *named_type(Parser *p) {
    const Token *token = current(p);
    Node *node = parser_node(p, AST_TYPE_NAME, token->start);
    bool is_self = token->name == p->names.self_type;
    node->as.name = token->name;
    advance(p);
    const Token *next = current(p);
    if (token_is_word(next, p->names.class_word) && !token_on_new_line(next)) {
        node->kind = is_self ? AST_TYPE_SELF_CLASS : AST_TYPE_CLASS_OF;
        advance(p);
    } else if (is_self) {
        node->kind = AST_TYPE_SELF;
    } else if (next->kind == TOK_LPAREN) {
        node->kind = AST_TYPE_GENERIC;
        node->as.type_generic.name = token->name;
        node->as.type_generic.args = (NodeList){0};
        parse_type_arguments(p, &node->as.type_generic.args, "Expected ')' after generic type parameters");
        for (uint32_t i = 0; i < node->as.type_generic.args.count && !arena_failed(p->arena); i++)
            parser_adopt(node, node->as.type_generic.args.items[i]);
    }
    return parser_finish(p, node);
}

Node *parse_type_atom(Parser *p) {
    if (at(p, TOK_IDENT)) return named_type(p);
    if (at(p, TOK_SYMBOL)) {
        Node *node = parser_node(p, AST_TYPE_SINGLETON, current(p)->start);
        node->as.name = current(p)->name;
        advance(p);
        return parser_finish(p, node);
    }
    if (!accept(p, TOK_LPAREN)) return missing_type(p);
    Node *node = parse_type(p);
    parser_expect(p, TOK_RPAREN, "Expected ')' to close grouping parentheses in type annotation");
    return node;
}

/* Atoms joined by `\` and `&`, to the left. */
static Node *parse_type_operators(Parser *p) {
    Node *left = parse_type_atom(p);
    AstKind kind = AST_KIND_COUNT; /* none yet */
    for (;;) {
        const Token *op = current(p);
        bool doubled = token_is_binop(op, p->names.double_backslash);
        bool diff = doubled || token_is_binop(op, p->names.backslash);
        if (!diff && !token_is_binop(op, p->names.ampersand)) return left;
        AstKind wanted = diff ? AST_TYPE_DIFF : AST_TYPE_AND;
        if (doubled)
            parser_error_here(p,
                              "Unexpected `\\\\` in type annotation; did you mean `\\` (type difference)?");
        if (kind == AST_KIND_COUNT)
            kind = wanted;
        else if (kind != wanted)
            parser_error_here(p, "Cannot mix `&` and `\\` in a type annotation without parentheses; "
                                 "parenthesise to disambiguate");
        Node *node = parser_node(p, kind, left->span.start);
        node->as.type_pair.left = parser_adopt(node, left);
        advance(p);
        node->as.type_pair.right = parser_adopt(node, parse_type_atom(p));
        left = parser_check_height(p, parser_finish(p, node));
        if (left->kind == AST_ERROR) left = error_type(p);
    }
}

/* A parenthesised union among the members is spliced in. */
static void push_member(Parser *p, Node *members, Node *member) {
    if (arena_failed(p->arena)) return;
    if (member->kind != AST_TYPE_UNION) {
        parser_push(p, members, &members->as.list, member);
        return;
    }
    for (uint32_t i = 0; i < member->as.list.count; i++)
        parser_push(p, members, &members->as.list, member->as.list.items[i]);
}

Node *parse_type(Parser *p) {
    if (!parser_descend(p)) return error_type(p);
    Node *type = parse_type_operators(p);
    if (at(p, TOK_PIPE)) {
        Node *members = parser_node(p, AST_TYPE_UNION, type->span.start);
        push_member(p, members, type);
        while (accept(p, TOK_PIPE)) push_member(p, members, parse_type_operators(p));
        type = parser_finish(p, members);
    }
    parser_ascend(p);
    return type;
}

void parse_type_arguments(Parser *p, NodeList *list, const char *missing_closer) {
    advance(p);
    while (!at(p, TOK_RPAREN) && !at_end(p)) {
        parser_push(p, NULL, list, parse_type(p));
        if (!accept(p, TOK_COMMA)) break;
    }
    parser_expect(p, TOK_RPAREN, missing_closer);
}

void parse_type_parameters(Parser *p, NodeList *list) {
    advance(p);
    while (!at(p, TOK_RPAREN)) {
        if (!at(p, TOK_IDENT)) {
            parser_error_here(p, "Expected type parameter name");
            break;
        }
        Node *param = parser_node(p, AST_TYPE_PARAM, current(p)->start);
        param->as.type_param.name = current(p)->name;
        advance(p);
        if (accept(p, TOK_DCOLON)) {
            if (at(p, TOK_IDENT)) {
                param->as.type_param.bound = current(p)->name;
                advance(p);
            } else {
                parser_error_here(p, "Expected type name");
            }
        }
        parser_push(p, NULL, list, parser_finish(p, param));
        if (!accept(p, TOK_COMMA)) break;
    }
    parser_expect(p, TOK_RPAREN, "Expected ')' after type parameters");
}
