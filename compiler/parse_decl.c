/* Classes, fields, methods, extension methods (spec syntax.md 7.1 to 7.6). */
#include "compiler/parser_internal.h"

/* ---- selector patterns
 * ------------------------------------------------------------------------------------------ */

static Node *parameter(Parser *p, const char *missing_name) {
    Node *param = parser_node(p, AST_PARAM, current(p)->start);
    param->as.param.name = p->names.error;
    if (!at(p, TOK_IDENT)) {
        parser_error_here(p, "%s", missing_name);
        return param;
    }
    param->as.param.name = current(p)->name;
    advance(p);
    if (at(p, TOK_COLON)) {
        parser_error_here(p, "Use `::` for type annotations, not `:`");
        advance(p);
        param->as.param.type = parser_adopt(param, parse_type(p));
    } else if (at(p, TOK_DCOLON) && peek(p)->kind != TOK_ARROW) { /* `:: ->` belongs to the return type */
        advance(p);
        param->as.param.type = parser_adopt(param, parse_type(p));
    }
    return parser_finish(p, param);
}

static void keyword_pattern(Parser *p, SelectorPattern *pattern, bool one_line) {
    SelectorBuffer buffer = {0};
    pattern->kind = SEL_KEYWORD;
    do {
        parser_selector_add(p, &buffer, current(p)->name);
        advance(p);
        parser_push(p, NULL, &pattern->params, parameter(p, "Expected parameter name after keyword"));
    } while (at(p, TOK_KEYWORD) && !(one_line && token_on_new_line(current(p))));
    pattern->selector = parser_selector_finish(p, &buffer);
}

SelectorPattern parse_selector_pattern(Parser *p, bool one_line) {
    const Token *token = current(p);
    SelectorPattern pattern = {.selector = token->name, .kind = SEL_UNARY, .span = token_span(token)};
    if (token->kind == TOK_KEYWORD) {
        keyword_pattern(p, &pattern, one_line);
        return pattern;
    }
    advance(p);
    if (token->kind == TOK_IDENT) return pattern;
    pattern.kind = SEL_BINARY;
    parser_push(p, NULL, &pattern.params, parameter(p, "Expected parameter name after binary selector"));
    return pattern;
}

/* ---- methods
 * ---------------------------------------------------------------------------------------------------- */

static void method_modifiers(Parser *p, MethodDecl *method) {
    for (; at(p, TOK_IDENT); advance(p)) {
        const char *word = current(p)->name;
        bool maybe = word == p->names.class_word || word == p->names.internal;
        if (word != p->names.sealed && (!maybe || layout_word_is_selector(p, p->pos))) return;
        if (word == p->names.sealed)
            method->is_sealed = true;
        else if (word == p->names.internal)
            method->is_internal = true;
        else
            method->is_class_side = true;
    }
}

static bool at_closer(const Parser *p) {
    return at(p, TOK_RPAREN) || at(p, TOK_RBRACKET) || at(p, TOK_RBRACE);
}

/* Behind a statement's `.`. */
static void lint_body_period(Parser *p, Span period) {
    if (layout_ends_body(p, true))
        diag_add(p->diags, DIAG_LINT, "lint", period, "unnecessary trailing `.` at end of method");
    else if (token_on_new_line(current(p)))
        diag_add(p->diags, DIAG_LINT, "lint", period,
                 "unnecessary `.` — the following newline already separates statements");
}

/* Statements until layout says that the body ends, or two of them have nothing between. */
static void method_body(Parser *p, MethodDecl *method) {
    for (bool begun = false; !layout_ends_body(p, begun); begun = true) {
        uint32_t before = p->pos;
        bool ended = false;
        Node *statement = parse_statement(p, &ended);
        parser_push(p, NULL, &method->body, statement);
        method->span.end = p->last_end;
        if (p->pos == before) return;
        if (ended) continue;
        bool bad = statement->kind == AST_ERROR && !at_end(p);
        if (bad) parser_synchronize(p);
        Span mark = token_span(current(p));
        if (accept(p, TOK_PERIOD))
            lint_body_period(p, mark);
        else if (!accept(p, TOK_BANG) && !token_on_new_line(current(p)) && !bad && !at_closer(p)) {
            parser_warn_same_line(p, statement);
            return;
        }
    }
}

/* [ "::" ] "->" Type */
static void return_type(Parser *p, MethodDecl *method) {
    if (at(p, TOK_DCOLON) && peek(p)->kind == TOK_ARROW) advance(p);
    if (accept(p, TOK_ARROW)) method->return_type = parse_type(p);
}

MethodDecl *parse_method_definition(Parser *p, BodyContext context, uint32_t doc_token, Node *expect) {
    MethodDecl *method = ARENA_NEW(p->arena, MethodDecl);
    const Token *header = current(p);
    BodyContext outer_context = p->context;
    int32_t outer_column = p->method_column;
    method->doc = parser_take_doc(p, doc_token);
    if (!method->doc.bytes && p->pos != doc_token) method->doc = parser_take_doc(p, p->pos);
    method->expect = expect;
    method->span = span_make(header->start, header->start);
    p->context = context;
    p->method_column = token_on_new_line(header) ? header->col : 2;
    method_modifiers(p, method);
    SelectorPattern pattern = parse_selector_pattern(p, false);
    method->selector = pattern.selector;
    method->selector_kind = pattern.kind;
    method->selector_span = pattern.span;
    method->params = pattern.params;
    return_type(p, method);
    parser_expect(p, TOK_FAT, "Expected '=>' after method selector");
    method->header_span = span_make(header->start, p->last_end);
    method->span.end = p->last_end;
    p->method_selector = pattern.selector;
    method_body(p, method);
    p->method_selector = NULL;
    p->context = outer_context;
    p->method_column = outer_column;
    return method;
}

/* ---- fields
 * ----------------------------------------------------------------------------------------------------- */

static void field_type(Parser *p, FieldDecl *decl) {
    if (at(p, TOK_COLON))
        parser_error_here(p, "Use `::` for type annotations, not `:`");
    else if (!at(p, TOK_DCOLON))
        return;
    advance(p);
    decl->type = parse_type(p);
}

static FieldDecl *parse_field(Parser *p, uint32_t doc_token, Node *expect) {
    FieldDecl *decl = ARENA_NEW(p->arena, FieldDecl);
    const Token *keyword = current(p);
    decl->doc = parser_take_doc(p, doc_token);
    if (!decl->doc.bytes && p->pos != doc_token) decl->doc = parser_take_doc(p, p->pos);
    decl->expect = expect;
    decl->keyword = keyword->name == p->names.state   ? DECL_STATE
                    : keyword->name == p->names.field ? DECL_FIELD
                                                      : DECL_CLASS_STATE;
    advance(p);
    decl->name = p->names.error;
    decl->name_span = token_span(current(p));
    if (at(p, TOK_IDENT)) {
        decl->name = current(p)->name;
        advance(p);
    } else {
        parser_error_here(p, "Expected %s name after '%s'",
                          decl->keyword == DECL_CLASS_STATE ? "variable" : "field", keyword->name);
    }
    field_type(p, decl);
    if (token_is_binop(current(p), p->names.equals)) {
        advance(p);
        decl->default_value = parse_expression(p);
    }
    decl->span = span_make(keyword->start, p->last_end);
    return decl;
}

/* ---- classes
 * ---------------------------------------------------------------------------------------------------- */

static void class_modifiers(Parser *p, ClassDecl *decl) {
    for (;; advance(p)) {
        const char *word = current(p)->name; /* an IDENT: layout_at_class has seen it */
        if (word == p->names.abstract)
            decl->is_abstract = true;
        else if (word == p->names.sealed)
            decl->is_sealed = true;
        else if (word == p->names.typed)
            decl->is_typed = true;
        else if (word == p->names.internal)
            decl->is_internal = true;
        else
            return;
    }
}

static void superclass(Parser *p, ClassDecl *decl) {
    const Token *name = current(p);
    decl->super_span = token_span(name);
    decl->super_name = name->name;
    advance(p);
    if (accept(p, TOK_AT)) {
        decl->super_package = name->name;
        decl->super_name = current(p)->name;
        if (!token_is_upper(current(p))) parser_error_here(p, "Expected class name after '@'");
        advance(p);
        decl->super_span.end = p->last_end;
    }
    if (at(p, TOK_LPAREN))
        parse_type_arguments(p, &decl->super_type_args, "Expected ')' after superclass type arguments");
    if (!decl->super_package && decl->super_name == p->names.nil) decl->super_name = NULL;
    if (!decl->super_package && decl->super_name == p->names.actor) decl->kind = CLASS_ACTOR;
    if (!decl->super_package && decl->super_name == p->names.value) decl->kind = CLASS_VALUE;
}

/* At `handleScope:`; NULL when the symbol is missing. */
static const char *handle_scope(Parser *p) {
    advance(p);
    if (!at(p, TOK_SYMBOL)) {
        parser_error_here(p, "Expected a symbol (e.g. #process or #node) after 'handleScope:'");
        return NULL;
    }
    const char *scope = current(p)->name;
    advance(p);
    return scope;
}

static void class_header(Parser *p, ClassDecl *decl) {
    class_modifiers(p, decl);
    superclass(p, decl);
    parser_expect(p, TOK_KEYWORD, "Expected 'subclass:' after superclass name");
    decl->name = p->names.error;
    decl->name_span = token_span(current(p));
    if (at(p, TOK_IDENT)) {
        decl->name = current(p)->name;
        advance(p);
    } else {
        parser_error_here(p, "Expected class name");
    }
    if (at(p, TOK_LPAREN)) parse_type_parameters(p, &decl->type_params);
    if (token_is_keyword(current(p), p->names.native)) {
        advance(p);
        if (at(p, TOK_IDENT) && !token_on_new_line(current(p))) {
            decl->native_module = current(p)->name;
            advance(p);
        } else {
            parser_error_here(p, "Expected Erlang module name after 'native:'");
        }
    }
    if (token_is_keyword(current(p), p->names.handle_scope)) decl->handle_scope = handle_scope(p);
}

static bool at_field(const Parser *p) {
    return token_is_keyword(current(p), p->names.state) || token_is_keyword(current(p), p->names.field) ||
           token_is_keyword(current(p), p->names.class_state);
}

/* One member behind its `@expect`; false when the class body ends here. */
static bool class_member(Parser *p, ClassDecl *decl, uint32_t doc_token, Node *expect) {
    if (at_field(p)) {
        FieldDecl *field = parse_field(p, doc_token, expect);
        arena_list_push(p->arena, field->keyword == DECL_CLASS_STATE ? &decl->class_vars : &decl->fields,
                        field);
    } else if (layout_at_method(p)) {
        MethodDecl *method = parse_method_definition(p, BODY_METHOD, doc_token, expect);
        arena_list_push(p->arena, method->is_class_side ? &decl->class_methods : &decl->methods, method);
    } else if (token_is_keyword(current(p), p->names.handle_scope)) {
        parser_error_here(
            p, "'handleScope:' must appear in the class header, before state or method declarations");
        advance(p);
        accept(p, TOK_SYMBOL);
    } else {
        if (expect)
            parser_error(p, expect->span,
                         "@expect in a class body must precede a state/field or method declaration");
        return false;
    }
    return true;
}

static void class_body(Parser *p, ClassDecl *decl) {
    BodyContext outer = p->context;
    p->context = BODY_CLASS;
    for (;;) {
        decl->span.end = p->last_end;
        while (accept(p, TOK_PERIOD)) {
        }
        if (at_end(p) || layout_at_class(p) || layout_at_protocol(p) || layout_at_alias(p) ||
            layout_at_ext_method(p))
            break;
        uint32_t doc_token = p->pos;
        Node *expect = at(p, TOK_AT_EXPECT) ? parse_expect(p) : NULL;
        if (!class_member(p, decl, doc_token, expect)) break;
    }
    p->context = outer;
}

ClassDecl *parse_class(Parser *p) {
    ClassDecl *decl = ARENA_NEW(p->arena, ClassDecl);
    decl->doc = parser_take_doc(p, p->pos);
    decl->span = token_span(current(p));
    class_header(p, decl);
    p->class_decl = decl;
    class_body(p, decl);
    p->class_decl = NULL;
    return decl;
}

/* ---- extension methods
 * ------------------------------------------------------------------------------------------ */

ExtMethod *parse_ext_method(Parser *p) {
    ExtMethod *ext = ARENA_NEW(p->arena, ExtMethod);
    uint32_t first = p->pos;
    ext->span = token_span(current(p));
    if (peek(p)->kind == TOK_AT) {
        ext->package = current(p)->name;
        advance(p);
        advance(p);
    }
    ext->class_name = current(p)->name;
    advance(p);
    if (token_is_word(current(p), p->names.class_word)) {
        ext->is_class_side = true;
        advance(p);
    }
    advance(p); /* >> */
    ext->method = parse_method_definition(p, BODY_EXTENSION, first, NULL);
    ext->is_class_side |= ext->method->is_class_side;
    ext->method->is_class_side = ext->is_class_side;
    ext->span.end = ext->method->span.end;
    return ext;
}
