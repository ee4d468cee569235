/* Protocols and type aliases (spec syntax.md 7.7 and 7.8). */
#include "compiler/parser_internal.h"

/* ---- protocols
 * -------------------------------------------------------------------------------------------------- */

/* A word that starts another declaration is no signature. */
static bool is_signature_name(const Parser *p, const Token *token) {
    return token->kind == TOK_IDENT && token->name != p->names.protocol && token->name != p->names.abstract &&
           token->name != p->names.sealed && token->name != p->names.typed;
}

static bool at_signature(const Parser *p) {
    const Token *token = current(p);
    return token->kind == TOK_KEYWORD || token_is_operator(token) || is_signature_name(p, token);
}

/* `class` is a modifier when a selector follows on its line. */
static bool at_class_side(const Parser *p) {
    const Token *next = peek(p);
    bool selector = next->kind == TOK_IDENT || next->kind == TOK_KEYWORD || next->kind == TOK_BINOP;
    return token_is_word(current(p), p->names.class_word) && selector && !token_on_new_line(next);
}

static void reject_implementation(Parser *p) {
    if (!at(p, TOK_FAT)) return;
    parser_error_here(p, "Protocol method signatures cannot have implementations ('=>')");
    do parser_skip_token(p);
    while (!at_end(p) && !at(p, TOK_PERIOD) && !token_on_new_line(current(p)));
}

static void parse_signature(Parser *p, ProtocolDecl *decl) {
    SignatureDecl *signature = ARENA_NEW(p->arena, SignatureDecl);
    signature->doc = parser_take_doc(p, p->pos);
    signature->span = token_span(current(p));
    bool class_side = at_class_side(p);
    if (class_side) advance(p);
    SelectorPattern pattern = parse_selector_pattern(p, true);
    signature->selector = pattern.selector;
    signature->selector_kind = pattern.kind;
    signature->params = pattern.params;
    if (at(p, TOK_DCOLON) && peek(p)->kind == TOK_ARROW) advance(p);
    if (at(p, TOK_ARROW) && !token_on_new_line(current(p))) {
        advance(p);
        signature->return_type = parse_type(p);
    }
    signature->span.end = p->last_end;
    reject_implementation(p);
    arena_list_push(p->arena, class_side ? &decl->class_signatures : &decl->signatures, signature);
}

/* The name behind define: or extending:. */
static const char *protocol_name(Parser *p, const char *keyword) {
    if (!at(p, TOK_IDENT)) {
        parser_error_here(p, "Expected protocol name after '%s'", keyword);
        return NULL;
    }
    const char *name = current(p)->name;
    advance(p);
    return name;
}

ProtocolDecl *parse_protocol(Parser *p) {
    ProtocolDecl *decl = ARENA_NEW(p->arena, ProtocolDecl);
    decl->doc = parser_take_doc(p, p->pos);
    decl->span = token_span(current(p));
    advance(p); /* Protocol */
    advance(p); /* define: */
    decl->name_span = token_span(current(p));
    decl->name = protocol_name(p, "Protocol define:");
    if (!decl->name) decl->name = p->names.error;
    if (at(p, TOK_LPAREN)) parse_type_parameters(p, &decl->type_params);
    if (token_is_keyword(current(p), p->names.extending)) {
        advance(p);
        decl->extending = protocol_name(p, "extending:");
    }
    for (;;) {
        decl->span.end = p->last_end;
        while (accept(p, TOK_PERIOD)) {
        }
        if (!at_signature(p) || layout_at_protocol(p) || layout_at_class(p) || layout_at_alias(p) ||
            layout_at_ext_method(p))
            break;
        parse_signature(p, decl);
    }
    return decl;
}

/* ---- type aliases
 * ----------------------------------------------------------------------------------------------- */

AliasDecl *parse_alias(Parser *p) {
    AliasDecl *decl = ARENA_NEW(p->arena, AliasDecl);
    decl->doc = parser_take_doc(p, p->pos);
    decl->span = token_span(current(p));
    if (current(p)->name == p->names.internal) {
        decl->is_internal = true;
        advance(p);
    }
    advance(p); /* type */
    decl->name = current(p)->name;
    decl->name_span = token_span(current(p));
    if (intern_length(decl->name) == 1)
        parser_error_here(p,
                          "single-letter type names are reserved for type parameters; choose a longer name");
    advance(p);
    advance(p); /* = */
    decl->type = parse_type(p);
    decl->span.end = p->last_end;
    return decl;
}
