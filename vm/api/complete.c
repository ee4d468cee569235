/* See complete.h. One walk over the tokens before the last word, with a stack of open brackets. */
#include "vm/api/complete.h"
#include <ctype.h>
#include <stdlib.h>
#include "compiler/lexer.h"
#include "vm/api/api_internal.h"

#define UNKNOWN 0u /* no dispatch class: nothing is known of the receiver */
#define MAX_OPEN 256
#define MAX_WORDS 2000

typedef struct {
    BtVm *vm;
    bt_session *session;
    const char *prefix;
    size_t prefix_length;
    Completions *out;
    size_t capacity;
} Collect;

/* ---- collecting ---- */

static void add(Collect *c, const char *word, size_t length) {
    if (length < c->prefix_length || strncmp(word, c->prefix, c->prefix_length) != 0) return;
    if (length >= 2 && word[0] == '_' && word[1] == '_') return; /* the library's own business */
    if (c->out->count == c->capacity) {
        if (c->capacity >= MAX_WORDS) return;
        char **grown = memory_grown(c->session->vm->memory, c->out->words, &c->capacity, sizeof *grown, 64);
        if (!grown) return;
        c->out->words = grown;
    }
    char *copy = text_dup(c->session->vm->memory, word, length);
    if (copy) c->out->words[c->out->count++] = copy;
}

static void add_class(Class *class, void *context) {
    Collect *c = context;
    size_t length;
    const char *name = symbol_text(c->vm, class->name, &length);
    add(c, name, length);
}

static void add_table(Collect *c, uint64_t table) {
    uint32_t count;
    char *texts = names_list(c->vm, table, &count), *at = texts;
    for (uint32_t i = 0; i < count; i++, at += strlen(at) + 1) add(c, at, strlen(at));
    memory_free(c->session->vm->memory, texts);
}

static void add_names(Collect *c) {
    static const char *const always[] = {"Transcript", "Workspace", "Beamtalk", "true", "false", "nil"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) add(c, always[i], strlen(always[i]));
    add_table(c, c->session->core->id);
    add_table(c, WORKSPACE_GLOBALS);
    class_each(c->vm, add_class, c);
}

static void add_method(Method *m, void *context) {
    Collect *c = context;
    size_t length;
    const char *text = symbol_text(c->vm, m->selector, &length);
    if (isalpha((unsigned char)*text) || c->prefix_length == 0) add(c, text, length);
}

static void add_selectors(Collect *c, uint32_t dispatch) {
    bool meta = (dispatch & DISPATCH_META) != 0;
    for (Class *k = class_by_id(c->vm, dispatch & ~DISPATCH_META); k; k = k->superclass)
        class_each_method(c->vm, k, meta, add_method, c);
    for (Class *k = meta ? class_by_id(c->vm, CLASS_ID_Class) : NULL; k; k = k->superclass)
        class_each_method(c->vm, k, false, add_method, c);
}

static void add_selectors_of(Class *class, void *context) {
    Collect *c = context;
    class_each_method(c->vm, class, false, add_method, c);
    class_each_method(c->vm, class, true, add_method, c);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void sort_unique(Completions *c) {
    if (!c->count) return;
    qsort(c->words, c->count, sizeof *c->words, by_text);
    size_t kept = 1;
    for (size_t i = 1; i < c->count; i++) {
        if (strcmp(c->words[i], c->words[kept - 1]))
            c->words[kept++] = c->words[i];
        else
            memory_free(c->memory, c->words[i]);
    }
    c->count = kept;
}

/* ---- what the text before the word answers ---- */

typedef struct {
    uint8_t opener; /* TokenKind */
    uint32_t class; /* of the last operand inside */
} Open;

typedef struct {
    Collect *c;
    bool operand_due, type_due;
    uint32_t class; /* dispatch class of the last operand, UNKNOWN */
    Open open[MAX_OPEN];
    uint32_t depth;
} Walk;

static Class *class_called(BtVm *vm, const char *name, size_t length) {
    Value symbol = symbol_lookup(vm, name, length);
    return symbol == V_HOLE ? NULL : class_by_name(vm, symbol);
}

static uint32_t class_of_name(Collect *c, const char *name, size_t length) {
    const uint64_t tables[] = {c->session->core->id, WORKSPACE_GLOBALS};
    for (size_t i = 0; i < 2; i++) {
        SharedTerm *term = name_get(c->vm, tables[i], name, length, NULL);
        uint32_t found = UNKNOWN;
        if (term && value_is_class(term->value))
            found = special_payload(term->value) | DISPATCH_META;
        else if (term)
            found = dispatch_class_of(term->value);
        shared_term_release(c->vm, term);
        if (found != UNKNOWN) return found;
    }
    Class *class = class_called(c->vm, name, length);
    if (class) return class->id | DISPATCH_META;
    static const char *const globals[][2] = {{"Transcript", "TranscriptStream"},
                                             {"Workspace", "WorkspaceInterface"},
                                             {"Beamtalk", "BeamtalkInterface"},
                                             {"true", "True"},
                                             {"false", "False"},
                                             {"nil", "UndefinedObject"}};
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
        if (strlen(globals[i][0]) == length && !strncmp(globals[i][0], name, length)) {
            class = class_called(c->vm, globals[i][1], strlen(globals[i][1]));
            return class ? class->id : UNKNOWN;
        }
    return UNKNOWN;
}

/* The class that the head of a method says it answers (`size -> Integer =>`). */
static uint32_t class_answered(Collect *c, uint32_t receiver, const char *selector, size_t length) {
    if (receiver == UNKNOWN) return UNKNOWN;
    Value symbol = symbol_lookup(c->vm, selector, length);
    Method *m = symbol == V_HOLE ? NULL : class_lookup(c->vm, receiver, symbol);
    if (!m) return UNKNOWN;
    bool makes = (receiver & DISPATCH_META) && (!strcmp(symbol_text(c->vm, symbol, NULL), "new") ||
                                                !strcmp(symbol_text(c->vm, symbol, NULL), "spawn"));
    if (makes) return receiver & ~DISPATCH_META;
    const BcText *source = &m->fn->unit->bc->source;
    Span span = m->fn->bc->span;
    if (span.end > source->length || span.start >= span.end) return UNKNOWN;
    const char *at = source->bytes + span.start, *end = source->bytes + span.end;
    const char *body = memmem(at, (size_t)(end - at), "=>", 2);
    const char *arrow = body ? memmem(at, (size_t)(body - at), "->", 2) : NULL;
    if (!arrow) return UNKNOWN;
    for (arrow += 2; arrow < body && *arrow == ' '; arrow++) {
    }
    const char *stop = arrow;
    while (stop < body && isalnum((unsigned char)*stop)) stop++;
    Class *class = class_called(c->vm, arrow, (size_t)(stop - arrow));
    return class ? class->id : UNKNOWN;
}

static uint32_t class_of_literal(TokenKind kind) {
    switch (kind) {
    case TOK_INTEGER:
    case TOK_CHAR: return CLASS_ID_Integer;
    case TOK_FLOAT: return CLASS_ID_Float;
    case TOK_STRING:
    case TOK_STR_END: return CLASS_ID_String;
    case TOK_SYMBOL: return CLASS_ID_Symbol;
    default: return UNKNOWN;
    }
}

static void operand(Walk *w, uint32_t class) {
    w->class = class;
    w->operand_due = false;
}

static void open_bracket(Walk *w, TokenKind kind) {
    if (w->depth < MAX_OPEN) w->open[w->depth] = (Open){.opener = (uint8_t)kind, .class = w->class};
    w->depth++;
    w->operand_due = true;
}

static void close_bracket(Walk *w) {
    if (!w->depth) return;
    w->depth--;
    TokenKind opener = w->depth < MAX_OPEN ? (TokenKind)w->open[w->depth].opener : TOK_EOF;
    switch (opener) {
    case TOK_LPAREN: w->operand_due = false; break; /* what is inside is what it answers */
    case TOK_LBRACKET: operand(w, CLASS_ID_Block); break;
    case TOK_LIST_OPEN: operand(w, CLASS_ID_List); break;
    case TOK_ARRAY_OPEN: operand(w, CLASS_ID_Array); break;
    case TOK_MAP_OPEN: operand(w, CLASS_ID_Dictionary); break;
    case TOK_LBRACE: operand(w, CLASS_ID_Tuple); break;
    default: operand(w, UNKNOWN); break;
    }
}

static void step(Walk *w, const Token *token, const char *text) {
    const char *at = text + token->start;
    size_t length = token->end - token->start;
    w->type_due = token->kind == TOK_DCOLON;
    switch (token->kind) {
    case TOK_IDENT:
        operand(w, w->operand_due ? class_of_name(w->c, at, length)
                                  : class_answered(w->c, w->class, at, length));
        break;
    case TOK_INTEGER:
    case TOK_CHAR:
    case TOK_FLOAT:
    case TOK_STRING:
    case TOK_STR_END:
    case TOK_SYMBOL: operand(w, class_of_literal((TokenKind)token->kind)); break;
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_LIST_OPEN:
    case TOK_ARRAY_OPEN:
    case TOK_MAP_OPEN:
    case TOK_LBRACE: open_bracket(w, (TokenKind)token->kind); break;
    case TOK_RPAREN:
    case TOK_RBRACKET:
    case TOK_RBRACE: close_bracket(w); break;
    case TOK_SEMI: w->operand_due = false; break;
    default: w->operand_due = true; break;
    }
}

static bool in_word(char ch) { return lexer_is_ident_char((unsigned char)ch) || ch == ':'; }

static void walk(Walk *w, const char *text, uint32_t length) {
    Arena arena;
    Intern intern;
    TokenList tokens = {0};
    arena_init(&arena, w->c->session->vm->memory);
    if (intern_init(&intern, &arena)) lexer_run(text, length, &intern, &tokens);
    for (uint32_t i = 0; i < tokens.count && tokens.items[i].kind != TOK_EOF; i++)
        step(w, &tokens.items[i], text);
    lexer_free_tokens(&tokens);
    intern_free(&intern);
    arena_free(&arena);
}

Completions complete_text(bt_session *session, const char *text, size_t length) {
    Completions out = {0};
    size_t start = length;
    if (!session || length > SOURCE_MAX_BYTES) return out;
    out.memory = session->vm->memory;
    while (start > 0 && in_word(text[start - 1])) start--;
    while (start < length && text[start] == ':') start++; /* of `::`, or a block parameter */
    out.prefix = length - start;
    Collect c = {.vm = session->vm->core,
                 .session = session,
                 .prefix = text + start,
                 .prefix_length = out.prefix,
                 .out = &out};
    Walk w = {.c = &c, .operand_due = true};
    walk(&w, text, (uint32_t)start);
    if (w.type_due)
        class_each(c.vm, add_class, &c);
    else if (w.operand_due)
        add_names(&c);
    else if (w.class != UNKNOWN)
        add_selectors(&c, w.class);
    else if (out.prefix > 1)
        class_each(c.vm, add_selectors_of, &c);
    sort_unique(&out);
    return out;
}

void completions_free(Completions *c) {
    for (size_t i = 0; i < c->count; i++) memory_free(c->memory, c->words[i]);
    memory_free(c->memory, c->words);
    *c = (Completions){0};
}
