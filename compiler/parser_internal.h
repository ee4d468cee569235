/* What the parser's files share. Nobody else includes this.
 *
 * Recursive descent over the token array. Three counters keep hostile input off the C stack: `nesting`
 * (entries of expressions, limit PARSE_MAX_NESTING), `depth` (every other recursion, PARSE_MAX_DEPTH) and
 * Node.height. Every parse function returns a node, never NULL; what cannot be parsed gets a diagnostic and
 * becomes AST_ERROR.
 */
#ifndef BT_COMPILER_PARSER_INTERNAL_H
#define BT_COMPILER_PARSER_INTERNAL_H

#include "compiler/lexer.h"
#include "compiler/parser.h"

/* Where the current expression stands: decides where keyword messages and bodies end (spec 2 and 7.5). */
typedef enum {
    BODY_TOP,       /* top-level expression */
    BODY_CLASS,     /* default of a field declaration */
    BODY_METHOD,    /* method in a class */
    BODY_EXTENSION, /* extension method */
    BODY_SINGLE     /* the one method of parse_method: only the end of input ends it */
} BodyContext;

/* Set by the parser in Token.flags of the first token of each declaration. */
#define TOK_DECLARATION 128

typedef struct Parser {
    const char *text;
    Token *tokens;
    uint32_t count, pos; /* tokens[count - 1] is EOF and is never passed */
    uint32_t last_end;   /* end of the token consumed last */
    Arena *arena;
    Intern *intern;
    DiagList *diags;
    BodyContext context;
    ClassDecl *class_decl;       /* whose body is being read, or NULL */
    int32_t method_column;       /* H: column of the header of the current method */
    const char *method_selector; /* NULL outside a method body */
    uint32_t nesting, depth;
    bool limit_reported; /* a nesting or size limit was reported in this statement */
    bool quiet_at_end;   /* brackets were skipped: "expected ..." at the end of input would be noise */
    struct {
#define NAME(field, text) const char *field;
#include "compiler/parser_names.def"
#undef NAME
    } names;
} Parser;

/* ---- the token window (inline: the hot path) ---- */

static inline const Token *token_at(const Parser *p, uint32_t index) {
    return &p->tokens[index < p->count ? index : p->count - 1];
}
static inline const Token *current(const Parser *p) { return &p->tokens[p->pos]; }
static inline const Token *peek(const Parser *p) { return token_at(p, p->pos + 1); }
static inline bool at(const Parser *p, TokenKind kind) { return current(p)->kind == kind; }
static inline bool at_end(const Parser *p) { return at(p, TOK_EOF); }
static inline bool token_is_word(const Token *token, const char *word) {
    return token->kind == TOK_IDENT && token->name == word;
}
static inline bool token_is_keyword(const Token *token, const char *word) {
    return token->kind == TOK_KEYWORD && token->name == word;
}
static inline bool token_is_binop(const Token *token, const char *op) {
    return token->kind == TOK_BINOP && token->name == op;
}
static inline bool token_on_new_line(const Token *token) { return token->flags & TOK_NL_BEFORE; }
static inline bool token_is_upper(const Token *token) {
    return token->kind == TOK_IDENT && token->name[0] >= 'A' && token->name[0] <= 'Z';
}
static inline bool token_is_lower(const Token *token) {
    return token->kind == TOK_IDENT && token->name[0] >= 'a' && token->name[0] <= 'z';
}
static inline bool token_is_operator(const Token *token) {
    return token->kind == TOK_BINOP || token->kind == TOK_COMMA || token->kind == TOK_ARROW ||
           token->kind == TOK_GTGT;
}
static inline Span token_span(const Token *token) { return span_make(token->start, token->end); }

static inline void advance(Parser *p) {
    p->last_end = current(p)->end;
    if (!at_end(p)) p->pos++;
}
static inline bool accept(Parser *p, TokenKind kind) {
    if (!at(p, kind)) return false;
    advance(p);
    return true;
}

/* ---- parser.c ---- */

Diag *parser_error(Parser *p, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* An error at the current token. */
Diag *parser_error_here(Parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Consumes `kind`, or reports `message` at the current token and consumes nothing. */
bool parser_expect(Parser *p, TokenKind kind, const char *message);

enum { SHOWN_TOKEN_MAX = 120 };
/* The token as messages show it, in `buffer`, which is returned. */
const char *parser_show_token(const Parser *p, const Token *token, char buffer[SHOWN_TOKEN_MAX]);

Node *parser_node(Parser *p, AstKind kind, uint32_t start);
/* An AST_ERROR from `start` to the last token consumed. */
Node *parser_error_node(Parser *p, uint32_t start);
/* Ends the node at the last token consumed. */
static inline Node *parser_finish(Parser *p, Node *node) {
    node->span.end = p->last_end > node->span.start ? p->last_end : node->span.start;
    return node;
}
/* Makes `child` a part of `parent`: keeps the heights right. Returns child. */
static inline Node *parser_adopt(Node *parent, Node *child) {
    if (child->height >= parent->height) parent->height = (uint16_t)(child->height + 1);
    return child;
}
void parser_push(Parser *p, Node *parent, NodeList *list, Node *child);
/* `node`, or an AST_ERROR with a diagnostic when the tree became too high. For nodes that loops stack up. */
Node *parser_check_height(Parser *p, Node *node);

/* Joins the parts of a keyword selector; the buffer starts zeroed and moves to the heap when it must. */
typedef struct {
    char *bytes;
    size_t used, capacity;
    char local[120];
} SelectorBuffer;
void parser_selector_add(Parser *p, SelectorBuffer *buffer, const char *part);
const char *parser_selector_finish(Parser *p, SelectorBuffer *buffer);

/* Enters a nested expression; false when that is one too many, then the limit was reported and the tokens up
 * to the closer of the surrounding bracket were skipped. */
bool parser_enter(Parser *p);
static inline void parser_leave(Parser *p) { p->nesting--; }
/* The same for the other recursions. */
bool parser_descend(Parser *p);
static inline void parser_ascend(Parser *p) { p->depth--; }

/* Skips one token, or a whole interpolated string. */
void parser_skip_token(Parser *p);
/* After a statement that is an AST_ERROR: to where the next one may start (spec 12). */
void parser_synchronize(Parser *p);
/* The doc block of the declaration that starts at the token; bytes NULL without one. */
Text parser_take_doc(Parser *p, uint32_t token_index);
/* After a `.` or `!`-less statement: warns when the next one starts on the same line (deviation D6). */
void parser_warn_same_line(Parser *p, const Node *statement);

/* ---- parse_expr.c: operators, messages, assignment, statements ---- */

/* An expression, or `@expect ...`; `*ended` is set when a `!` ended it. */
Node *parse_statement(Parser *p, bool *ended);
/* [ "^" ] Assign. */
Node *parse_expression(Parser *p);
Node *parse_keyword_level(Parser *p);
Node *parse_binary_level(Parser *p);
Node *parse_unary_level(Parser *p);

/* ---- parse_primary.c: literals, names, blocks, collections, directives ---- */

Node *parse_primary(Parser *p);
/* One literal token: number, string, character, symbol. */
Node *parse_literal(Parser *p);
bool token_is_literal(const Token *token);
Node *parse_expect(Parser *p);

/* ---- parse_pattern.c ---- */

Node *parse_pattern(Parser *p);
/* Arms of `value match: [...]`; at the `[`. */
Node *parse_match_arms(Parser *p, Node *value, bool exhaustive);
/* A list, array or map literal that turned out to be the target of `:=`. AST_ERROR, with a diagnostic, if it
 * cannot be one. */
Node *parse_literal_as_pattern(Parser *p, Node *literal);

/* ---- parse_type.c ---- */

Node *parse_type(Parser *p);
Node *parse_type_atom(Parser *p);
/* At the `(`. */
void parse_type_arguments(Parser *p, NodeList *list, const char *missing_closer);
void parse_type_parameters(Parser *p, NodeList *list);

/* ---- parse_decl.c (classes, methods), parse_protocol.c (protocols, aliases) ---- */

ClassDecl *parse_class(Parser *p);
ExtMethod *parse_ext_method(Parser *p);
/* At the header; `doc_token` is where a doc block may stand, `expect` may be NULL. */
MethodDecl *parse_method_definition(Parser *p, BodyContext context, uint32_t doc_token, Node *expect);
ProtocolDecl *parse_protocol(Parser *p);
AliasDecl *parse_alias(Parser *p);
/* The selector pattern of a method or signature. With `one_line` further keywords must be on the line of the
 * first. */
typedef struct {
    const char *selector;
    SelectorKind kind;
    NodeList params;
    Span span; /* of the first selector token */
} SelectorPattern;
SelectorPattern parse_selector_pattern(Parser *p, bool one_line);

/* ---- layout.c: lookahead, consumes nothing ---- */

bool layout_at_class(const Parser *p);
bool layout_at_protocol(const Parser *p);
bool layout_at_alias(const Parser *p);
bool layout_at_ext_method(const Parser *p);
bool layout_at_method(const Parser *p);
/* Is `class` or `internal` at this token a selector of its own (`class => ...`) rather than a modifier? */
bool layout_word_is_selector(const Parser *p, uint32_t index);
/* At a KEYWORD: does the message end before it? `continuation` is the column of the first keyword of this
 * message that stood on a new line, or -1. */
bool layout_ends_keywords(const Parser *p, bool first, int32_t continuation);
/* Does the body of the current method end here? */
bool layout_ends_body(const Parser *p, bool begun);

#endif
