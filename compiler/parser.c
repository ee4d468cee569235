/* Entry points, nodes, errors and recovery. */
#include "compiler/parser_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- diagnostics
 * ------------------------------------------------------------------------------------------------ */

static const char SYNTAX[] = "syntax";

enum { TEXT_MAX = 1024 };

static Diag *report(Parser *p, Span span, const char *format, va_list args) {
    char text[TEXT_MAX];
    vsnprintf(text, sizeof text, format, args);
    return diag_add(p->diags, DIAG_ERROR, SYNTAX, span, "%s", text);
}

Diag *parser_error(Parser *p, Span span, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag *diag = report(p, span, format, args);
    va_end(args);
    return diag;
}

Diag *parser_error_here(Parser *p, const char *format, ...) {
    if (p->quiet_at_end && at_end(p)) return NULL;
    va_list args;
    va_start(args, format);
    Diag *diag = report(p, token_span(current(p)), format, args);
    va_end(args);
    return diag;
}

bool parser_expect(Parser *p, TokenKind kind, const char *message) {
    if (accept(p, kind)) return true;
    parser_error_here(p, "%s", message);
    return false;
}

/* Copies text for a message: control characters as \xNN, cut at a code point with an ellipsis. */
static void show_text(char *out, size_t capacity, const char *bytes, size_t length) {
    static const char ellipsis[] = "…";
    size_t used = 0, room = capacity - sizeof ellipsis;
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)bytes[i];
        size_t step = 1;
        while (i + step < length && ((unsigned char)bytes[i + step] & 0xc0) == 0x80) step++;
        bool control = c < 0x20 || c == 0x7f;
        if (used + (control ? 4 : step) > room) {
            memcpy(out + used, ellipsis, sizeof ellipsis);
            return;
        }
        if (control) {
            used += (size_t)snprintf(out + used, 5, "\\x%02x", c);
        } else {
            memcpy(out + used, bytes + i, step);
            used += step;
        }
        i += step;
    }
    out[used] = '\0';
}

const char *parser_show_token(const Parser *p, const Token *token, char buffer[SHOWN_TOKEN_MAX]) {
    static const char prefix[] = "<error: ";
    if (token->kind == TOK_EOF) return strcpy(buffer, "<eof>");
    const char *text = p->text + token->start;
    size_t length = token->end - token->start;
    if (token->kind != TOK_ERROR) {
        show_text(buffer, SHOWN_TOKEN_MAX, text, length);
        return buffer;
    }
    memcpy(buffer, prefix, sizeof prefix);
    if (token->name)
        show_text(buffer + sizeof prefix - 1, SHOWN_TOKEN_MAX - sizeof prefix - 1, token->name,
                  strlen(token->name));
    else
        show_text(buffer + sizeof prefix - 1, SHOWN_TOKEN_MAX - sizeof prefix - 1, text, length);
    return strcat(buffer, ">");
}

void parser_warn_same_line(Parser *p, const Node *statement) {
    const Token *token = current(p);
    if (token_on_new_line(token) || statement->kind == AST_ERROR || statement->kind == AST_EXPECT) return;
    bool starts = token_is_literal(token) || token->kind == TOK_IDENT || token->kind == TOK_STR_START ||
                  token->kind == TOK_LPAREN || token->kind == TOK_LBRACKET || token->kind == TOK_LIST_OPEN ||
                  token->kind == TOK_ARRAY_OPEN || token->kind == TOK_MAP_OPEN;
    if (!starts || (token->kind == TOK_IDENT && (peek(p)->kind == TOK_FAT || layout_at_class(p)))) return;
    Diag *diag = diag_add(p->diags, DIAG_WARNING, "separator", token_span(token),
                          "two statements on one line without a separator");
    bool minus = (token->kind == TOK_INTEGER || token->kind == TOK_FLOAT) && p->text[token->start] == '-';
    diag_set_help(diag,
                  minus ? "`-` directly before a digit is a negative number; put a space after it to subtract"
                        : "write `.` between them, or start a new line");
}

/* ---- nodes
 * ------------------------------------------------------------------------------------------------------ */

Node *parser_node(Parser *p, AstKind kind, uint32_t start) {
    Node *node = ARENA_NEW(p->arena, Node);
    if (arena_failed(p->arena)) p->pos = p->count - 1; /* nodes are worthless from now on: unwind */
    node->kind = (uint16_t)kind;
    node->span = span_make(start, start);
    return node;
}

Node *parser_error_node(Parser *p, uint32_t start) {
    return parser_finish(p, parser_node(p, AST_ERROR, start));
}

void parser_push(Parser *p, Node *parent, NodeList *list, Node *child) {
    if (parent) parser_adopt(parent, child);
    arena_list_push(p->arena, list, child);
}

Node *parser_check_height(Parser *p, Node *node) {
    if (node->height <= PARSE_MAX_HEIGHT) return node;
    if (!p->limit_reported) {
        Diag *diag = parser_error(p, node->span, "Expression is too large (more than %d nested parts)",
                                  PARSE_MAX_HEIGHT);
        diag_set_help(diag, "assign a part of it to a variable first");
    }
    p->limit_reported = true;
    return parser_error_node(p, node->span.start);
}

/* ---- keyword selectors
 * ------------------------------------------------------------------------------------------ */

void parser_selector_add(Parser *p, SelectorBuffer *buffer, const char *part) {
    size_t length = intern_length(part);
    if (!buffer->bytes) {
        buffer->bytes = buffer->local;
        buffer->capacity = sizeof buffer->local;
    }
    if (buffer->used + length > buffer->capacity) {
        size_t capacity = (buffer->used + length) * 2;
        char *bytes = memory_alloc(p->arena->memory, capacity);
        if (!bytes) {
            p->arena->failed = true;
            return;
        }
        memcpy(bytes, buffer->bytes, buffer->used);
        if (buffer->bytes != buffer->local) memory_free(p->arena->memory, buffer->bytes);
        buffer->bytes = bytes;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->used, part, length);
    buffer->used += length;
}

const char *parser_selector_finish(Parser *p, SelectorBuffer *buffer) {
    const char *selector = intern_bytes(p->intern, buffer->bytes, buffer->used);
    if (buffer->bytes != buffer->local) memory_free(p->arena->memory, buffer->bytes);
    return selector;
}

/* ---- limits and recovery
 * ---------------------------------------------------------------------------------------- */

void parser_skip_token(Parser *p) {
    uint32_t open = 0;
    do {
        if (at(p, TOK_STR_START))
            open++;
        else if (at(p, TOK_STR_END) && open > 0)
            open--;
        advance(p);
    } while (open > 0 && !at_end(p));
}

static int bracket_step(TokenKind kind) {
    switch (kind) {
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_LBRACE:
    case TOK_LIST_OPEN:
    case TOK_ARRAY_OPEN:
    case TOK_MAP_OPEN:
    case TOK_STR_START: return 1;
    case TOK_RPAREN:
    case TOK_RBRACKET:
    case TOK_RBRACE:
    case TOK_STR_END: return -1;
    default: return 0;
    }
}

/* To the closer of the bracket around the current token. */
static void skip_to_closer(Parser *p) {
    uint32_t open = 0;
    while (!at_end(p)) {
        int step = bracket_step(current(p)->kind);
        if (open == 0 && (step < 0 || at(p, TOK_STR_SEG))) return;
        open = step > 0 ? open + 1 : step < 0 ? open - 1 : open;
        advance(p);
    }
    p->quiet_at_end = true;
}

static bool limit_reached(Parser *p, unsigned limit) {
    if (!p->limit_reported) parser_error_here(p, "Expression nesting is too deep (maximum %u levels)", limit);
    p->limit_reported = true;
    skip_to_closer(p);
    return false;
}

bool parser_enter(Parser *p) {
    if (p->nesting >= PARSE_MAX_NESTING) return limit_reached(p, PARSE_MAX_NESTING);
    if (p->nesting == 0) p->limit_reported = false;
    p->nesting++;
    return true;
}

bool parser_descend(Parser *p) {
    if (p->depth >= PARSE_MAX_DEPTH) return limit_reached(p, PARSE_MAX_DEPTH);
    p->depth++;
    return true;
}

void parser_synchronize(Parser *p) {
    bool in_method = p->method_selector != NULL;
    if (in_method && token_on_new_line(current(p))) return;
    parser_skip_token(p);
    for (; !at_end(p); parser_skip_token(p)) {
        if (in_method && token_on_new_line(current(p))) return;
        switch (current(p)->kind) {
        case TOK_PERIOD:
        case TOK_BANG:
        case TOK_RBRACKET:
        case TOK_RPAREN:
        case TOK_RBRACE:
        case TOK_SEMI:
        case TOK_CARET: return;
        default: break;
        }
    }
}

/* ---- doc comments
 * ----------------------------------------------------------------------------------------------- */

Text parser_take_doc(Parser *p, uint32_t index) {
    Token *token = &p->tokens[index];
    token->flags |= TOK_DECLARATION;
    if (!(token->flags & TOK_DOC)) return (Text){NULL, 0};
    token->flags &= (uint8_t)~TOK_DOC;
    return lexer_doc_text(p->text, index ? p->tokens[index - 1].end : 0, token->start, p->arena);
}

static void report_lost_docs(Parser *p) {
    for (uint32_t i = 0; i + 1 < p->count; i++) {
        const Token *token = &p->tokens[i];
        if (token->flags & TOK_DOC)
            diag_add(p->diags, DIAG_WARNING, "lint", token_span(token),
                     "doc comment not attached to any declaration (/// only attaches to class, method, or "
                     "state declarations)");
        else if ((token->flags & TOK_LOST_DOC) && (token->flags & TOK_DECLARATION))
            diag_add(
                p->diags, DIAG_WARNING, "lint", token_span(token),
                "doc comment not attached to any declaration (blank line or // comment breaks attachment)");
    }
}

/* ---- modules
 * ---------------------------------------------------------------------------------------------------- */

static void top_level_statement(Parser *p, Module *module) {
    bool ended = false;
    Node *statement = parse_statement(p, &ended);
    arena_list_push(p->arena, &module->statements, statement);
    if (ended) return;
    if (statement->kind == AST_ERROR && !at_end(p)) parser_synchronize(p);
    if (!accept(p, TOK_PERIOD) && !accept(p, TOK_BANG)) parser_warn_same_line(p, statement);
}

static void top_level_item(Parser *p, Module *module) {
    if (layout_at_alias(p))
        arena_list_push(p->arena, &module->aliases, parse_alias(p));
    else if (layout_at_protocol(p))
        arena_list_push(p->arena, &module->protocols, parse_protocol(p));
    else if (layout_at_class(p))
        arena_list_push(p->arena, &module->classes, parse_class(p));
    else if (layout_at_ext_method(p))
        arena_list_push(p->arena, &module->ext_methods, parse_ext_method(p));
    else
        top_level_statement(p, module);
}

static bool out_of_memory(Parser *p) {
    if (!arena_failed(p->arena)) return false;
    diag_add(p->diags, DIAG_ERROR, "resource", span_make(0, 0), "out of memory while parsing");
    return true;
}

/* Checks the text and lexes it. */
static bool begin(Parser *p, const ParseInput *in, TokenList *tokens) {
    SourceFile *source = in->source;
    *p = (Parser){.text = source->text,
                  .arena = in->arena,
                  .intern = in->intern,
                  .diags = in->diags,
                  .method_column = 2};
    size_t invalid = utf8_first_invalid(source->text, source->length);
    if (invalid < source->length) {
        uint32_t offset = (uint32_t)invalid;
        diag_add(p->diags, DIAG_ERROR, SYNTAX, span_make(offset, offset + 1),
                 "source is not valid UTF-8 (byte 0x%02x at offset %u)", (unsigned char)source->text[offset],
                 offset);
        return false;
    }
#define NAME(field, text) p->names.field = intern_cstring(p->intern, text);
#include "compiler/parser_names.def"
#undef NAME
    lexer_run(source->text, source->length, in->intern, tokens);
    if (out_of_memory(p) || tokens->count == 0) {
        lexer_free_tokens(tokens);
        return false;
    }
    p->tokens = tokens->items;
    p->count = tokens->count;
    return true;
}

Module *parse_module(const ParseInput *in) {
    Parser parser;
    TokenList tokens = {0};
    if (!begin(&parser, in, &tokens)) return NULL;
    Module *module = ARENA_NEW(in->arena, Module);
    module->span = span_make(0, in->source->length);
    while (!at_end(&parser) && !arena_failed(in->arena)) top_level_item(&parser, module);
    report_lost_docs(&parser);
    lexer_free_tokens(&tokens);
    return out_of_memory(&parser) ? NULL : module;
}

MethodDecl *parse_method(const ParseInput *in) {
    Parser parser;
    TokenList tokens = {0};
    if (!begin(&parser, in, &tokens)) return NULL;
    MethodDecl *method = NULL;
    uint32_t errors = diag_error_count(in->diags);
    if (!layout_at_method(&parser)) {
        parser_error_here(&parser, "expected a method definition");
    } else {
        method = parse_method_definition(&parser, BODY_SINGLE, 0, NULL);
        if (!at_end(&parser) && diag_error_count(in->diags) == errors)
            parser_error_here(
                &parser, "expected a single method definition, found trailing tokens after the method body");
        report_lost_docs(&parser);
    }
    lexer_free_tokens(&tokens);
    return out_of_memory(&parser) || diag_error_count(in->diags) > errors ? NULL : method;
}
