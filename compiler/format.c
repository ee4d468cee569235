/* See format.h. One pass over the tokens; what stands between two of them (blanks, comments) is read again
 * from the text, because the lexer does not keep it. */
#include "compiler/format.h"

#include <stdlib.h>
#include <string.h>
#include "compiler/ast_print.h"
#include "compiler/format_internal.h"
#include "compiler/parser.h"

enum { STEP = 2 };

/* Where lines inside a bracket, or inside an item outside of all brackets, are indented to. */
typedef struct {
    uint32_t base;                      /* of the line that opened it; its closer returns there */
    uint32_t content;                   /* of its statements or elements */
    uint32_t opener_line, element_line; /* where it was opened, where its current element began */
    bool keyword_lines;                 /* keywords of the current element start lines */
} Frame;

typedef struct {
    const char *text;
    const TokenList *tokens;
    const uint8_t *marks;
    char *out;
    size_t used, capacity;
    bool failed;
    Frame *frames; /* frames[0]: the item */
    uint32_t depth, frame_capacity;
    uint32_t line, line_indent; /* of the output: number of the line at hand, its indentation */
    const Token *previous;      /* the last token written, NULL at the start */
    uint32_t member_column;     /* in the source, of the last member header */
    bool line_open;             /* something stands on the line at hand */
} Formatter;

/* ---- output ---- */

static void put(Formatter *f, const char *bytes, size_t length) {
    if (!length) return;
    if (f->capacity - f->used < length) {
        size_t capacity = (f->used + length) * 2;
        char *grown = realloc(f->out, capacity);
        if (!grown) {
            f->failed = true;
            return;
        }
        f->out = grown;
        f->capacity = capacity;
    }
    memcpy(f->out + f->used, bytes, length);
    f->used += length;
}

static void put_blanks(Formatter *f, uint32_t count) {
    static const char blanks[] = "                                ";
    for (; count > sizeof blanks - 1; count -= (uint32_t)sizeof blanks - 1) put(f, blanks, sizeof blanks - 1);
    put(f, blanks, count);
}

static void start_line(Formatter *f, uint32_t line_breaks, uint32_t indent) {
    if (f->used > 0) put(f, "\n\n", line_breaks > 1 ? 2 : 1);
    put_blanks(f, indent);
    f->line++;
    f->line_indent = indent;
}

/* ---- indentation ---- */

static Frame *top(Formatter *f) { return &f->frames[f->depth]; }

static void push_frame(Formatter *f) {
    if (f->depth + 1 == f->frame_capacity) {
        uint32_t capacity = f->frame_capacity * 2;
        Frame *grown = realloc(f->frames, capacity * sizeof *grown);
        if (!grown) {
            f->failed = true;
            return;
        }
        f->frames = grown;
        f->frame_capacity = capacity;
    }
    f->frames[++f->depth] = (Frame){f->line_indent, f->line_indent + STEP, f->line, f->line, false};
}

/* The lines of a declaration behind its first, a method's body among them, are indented; the lines of an
 * expression are, too, but its first line is its content. */
static void begin_item(Formatter *f, uint8_t marks) {
    uint32_t base = marks & MARK_MEMBER ? STEP : 0;
    f->depth = 0;
    f->frames[0] = (Frame){base, marks & MARK_STATEMENT ? 0 : base + STEP, f->line, f->line, false};
    if (marks & MARK_STATEMENT) f->frames[0].opener_line = 0;
}

static bool is_operator(uint8_t kind) { return kind == TOK_BINOP || kind == TOK_ARROW || kind == TOK_GTGT; }

static bool is_opener(uint8_t kind) {
    return kind == TOK_LPAREN || kind == TOK_LBRACKET || kind == TOK_LBRACE || kind == TOK_LIST_OPEN ||
           kind == TOK_ARRAY_OPEN || kind == TOK_MAP_OPEN || kind == TOK_LTLT;
}

/* `>>` is a closer behind a binary pattern, where the marks glue it. */
static bool is_closer(uint8_t kind, uint8_t marks) {
    return kind == TOK_RPAREN || kind == TOK_RBRACKET || kind == TOK_RBRACE ||
           (kind == TOK_GTGT && marks & MARK_GLUED);
}

static bool starts_item(uint8_t marks) { return marks & (MARK_TOP | MARK_MEMBER | MARK_STATEMENT); }
static uint32_t item_indent(uint8_t marks) { return marks & MARK_MEMBER ? STEP : 0; }

static uint32_t line_indent_for(Formatter *f, uint32_t index) {
    const Frame *frame = top(f);
    uint8_t marks = f->marks[index];
    if (starts_item(marks)) return item_indent(marks);
    if (is_closer(f->tokens->items[index].kind, marks)) return frame->base;
    bool plain = marks & MARK_ELEMENT || frame->element_line == frame->opener_line;
    uint32_t indent = plain ? frame->content : frame->content + STEP;
    return frame->keyword_lines && is_operator(f->tokens->items[index].kind) ? indent + STEP : indent;
}

/* ---- comments ---- */

/* Bytes between the last line break and `at`. */
static uint32_t source_column(const Formatter *f, uint32_t at) {
    uint32_t start = at;
    while (start > 0 && f->text[start - 1] != '\n') start--;
    return at - start;
}

/* A comment on lines of its own belongs to what follows, or, in front of a declaration or the end, to
 * whatever its author had aligned it with: the declaration, the members before it, or the body before it. */
static uint32_t comment_indent(Formatter *f, uint32_t next, uint32_t comment_start) {
    const Token *token = &f->tokens->items[next];
    uint8_t marks = f->marks[next];
    if (token->kind != TOK_EOF && !starts_item(marks))
        return is_closer(token->kind, marks) ? top(f)->content : line_indent_for(f, next);
    uint32_t column = source_column(f, comment_start);
    uint32_t item_column = token->kind == TOK_EOF ? 0
                           : token->col >= 0      ? (uint32_t)token->col
                                                  : item_indent(marks);
    if (column <= item_column || !f->previous) return item_indent(marks);
    if (f->frames[0].base == STEP && column <= f->member_column) return STEP;
    return f->frames[0].content;
}

static uint32_t comment_end(const Formatter *f, uint32_t at, uint32_t limit) {
    bool block = f->text[at] == '/' && f->text[at + 1] == '*';
    const char *end =
        block ? memmem(f->text + at + 2, limit - at - 2, "*/", 2) : memchr(f->text + at, '\n', limit - at);
    if (!end) return limit;
    return (uint32_t)(end - f->text) + (block ? 2 : 0);
}

/* The end without blanks before a line break. */
static uint32_t trimmed_end(const Formatter *f, uint32_t start, uint32_t end) {
    while (end > start && (f->text[end - 1] == ' ' || f->text[end - 1] == '\t' || f->text[end - 1] == '\r'))
        end--;
    return end;
}

typedef struct {
    uint32_t line_breaks, blanks; /* since the last token or comment */
    bool comment;                 /* there was one */
    bool line_comment;            /* the last one was, or is, to the end of its line */
} Gap;

static void put_comment(Formatter *f, const Gap *gap, uint32_t next, uint32_t start, uint32_t end) {
    if (f->used == 0 || gap->line_breaks)
        start_line(f, gap->line_breaks, comment_indent(f, next, start));
    else
        put_blanks(f, gap->blanks ? gap->blanks : 1);
    put(f, f->text + start, trimmed_end(f, start, end) - start);
}

/* Writes the comments in front of token `next`; answers what separates it from the last thing written. */
static Gap put_gap(Formatter *f, uint32_t next, uint32_t from, uint32_t to) {
    Gap gap = {0};
    for (uint32_t at = from; at < to;) {
        char c = f->text[at];
        if (c == '/' || c == '#') { /* `#` only in a #! line */
            uint32_t end = comment_end(f, at, to);
            put_comment(f, &gap, next, at, end);
            gap = (Gap){.comment = true, .line_comment = c == '#' || f->text[at + 1] == '/'};
            at = end;
        } else {
            gap.line_breaks += c == '\n';
            gap.blanks += c == ' ' || c == '\t';
            at++;
        }
    }
    return gap;
}

/* ---- tokens ---- */

static bool is_operator_symbol(const Formatter *f, const Token *token) {
    char last = f->text[token->end - 1];
    return token->kind == TOK_SYMBOL && last != '\'' && last != ':' &&
           !lexer_is_ident_char((unsigned char)last);
}

static bool wants_blank(const Formatter *f, const Token *before, const Token *token, uint8_t marks) {
    if (marks & MARK_GLUED || token->kind == TOK_AT || before->kind == TOK_AT) return false;
    switch (token->kind) {
    case TOK_COMMA: /* `#+,` would be one symbol, `+ , x` is a method's header */
        return (is_operator_symbol(f, before) && !(token->flags & TOK_ADJACENT));
    case TOK_SEMI:
    case TOK_BANG:
    case TOK_PERIOD:
    case TOK_RPAREN:
    case TOK_RBRACKET:
    case TOK_RBRACE: return false;
    default: break;
    }
    return !is_opener(before->kind) && before->kind != TOK_CARET && before->kind != TOK_ELLIPSIS &&
           before->kind != TOK_COLON;
}

static void place_token(Formatter *f, uint32_t index, const Gap *gap) {
    const Token *token = &f->tokens->items[index];
    uint8_t marks = f->marks[index];
    uint32_t breaks = gap->line_breaks;
    bool declaration = marks & (MARK_TOP | MARK_MEMBER);
    if (!breaks && (f->used == 0 || gap->line_comment || (declaration && !gap->comment))) breaks = 1;
    bool behind_opener = f->previous && !gap->comment && is_opener(f->previous->kind);
    if (breaks > 1 && !gap->comment && (behind_opener || is_closer(token->kind, marks))) breaks = 1;
    if (breaks) {
        start_line(f, breaks, line_indent_for(f, index));
        if (token->kind == TOK_KEYWORD) top(f)->keyword_lines = true;
    } else if (gap->comment ? token->kind != TOK_PERIOD : wants_blank(f, f->previous, token, marks))
        put_blanks(f, 1);
}

static void put_token(Formatter *f, uint32_t index, const Gap *gap) {
    const Token *token = &f->tokens->items[index];
    uint8_t marks = f->marks[index];
    bool closer = is_closer(token->kind, marks);
    place_token(f, index, gap);
    if (starts_item(marks)) begin_item(f, marks);
    if (marks & MARK_MEMBER) f->member_column = token->col >= 0 ? (uint32_t)token->col : STEP;
    if (closer && f->depth > 0) f->depth--;
    if (marks & MARK_ELEMENT) top(f)->element_line = f->line, top(f)->keyword_lines = false;
    put(f, f->text + token->start, token->end - token->start);
    if (is_opener(token->kind)) push_frame(f);
    f->previous = token;
}

/* An interpolated string is one thing: its expressions stay as they are written. */
static uint32_t put_interpolation(Formatter *f, uint32_t index) {
    uint32_t start = f->tokens->items[index].end, depth = 1;
    while (depth > 0 && index + 1 < f->tokens->count) {
        uint8_t kind = f->tokens->items[++index].kind;
        depth += kind == TOK_STR_START;
        depth -= kind == TOK_STR_END;
    }
    f->previous = &f->tokens->items[index];
    put(f, f->text + start, f->previous->end - start);
    return index;
}

static void format_tokens(Formatter *f) {
    uint32_t from = 0;
    if (f->tokens->items[0].start >= 3 && !memcmp(f->text, "\xef\xbb\xbf", 3)) from = 3;
    for (uint32_t i = 0; i < f->tokens->count && !f->failed; i++) {
        const Token *token = &f->tokens->items[i];
        Gap gap = put_gap(f, i, from, token->start);
        if (token->kind == TOK_EOF) break;
        if (!(f->marks[i] & MARK_DROPPED)) put_token(f, i, &gap);
        if (token->kind == TOK_STR_START) i = put_interpolation(f, i);
        from = f->tokens->items[i].end;
    }
    if (f->used > 0) put(f, "\n", 1);
}

/* ---- the whole ---- */

typedef struct {
    Arena arena;
    Intern intern;
    SourceFile file;
    Module *module;
} Parsed;

static void parsed_free(Parsed *p) {
    intern_free(&p->intern);
    source_file_free(&p->file);
    arena_free(&p->arena);
}

/* Parses; module is NULL when there were errors. */
static void parse(Parsed *p, const char *name, const char *text, size_t length, DiagList *diags) {
    uint32_t errors = diag_error_count(diags);
    memset(p, 0, sizeof *p);
    arena_init(&p->arena, NULL);
    diags->limit = UINT32_MAX; /* redundant periods are found in the lints */
    if (!intern_init(&p->intern, &p->arena) || !source_file_init(&p->file, name, text, length)) {
        diag_add(diags, DIAG_ERROR, "syntax", span_make(0, 0), "the text is too long");
        return;
    }
    p->module = parse_module(&(ParseInput){&p->file, &p->arena, &p->intern, diags});
    if (diag_error_count(diags) > errors) p->module = NULL;
}

static char *tree_text(const Module *module, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out) return NULL;
    ast_print_module(out, module);
    bool good = !ferror(out);
    return fclose(out) == 0 && good ? text : (free(text), NULL);
}

static bool same_tree(const Module *module, const char *name, const char *text, size_t length) {
    Parsed again;
    DiagList diags;
    size_t one_length = 0, other_length = 0;
    diag_list_init(&diags, NULL);
    parse(&again, name, text, length, &diags);
    char *one = tree_text(module, &one_length);
    char *other = again.module ? tree_text(again.module, &other_length) : NULL;
    bool same = one && other && one_length == other_length && !memcmp(one, other, one_length);
    free(one);
    free(other);
    parsed_free(&again);
    diag_list_free(&diags);
    return same;
}

static void mark_dropped(const DiagList *diags, const TokenList *tokens, uint8_t *marks) {
    for (uint32_t i = 0; i < diags->count; i++) {
        if (diags->items[i].severity != DIAG_LINT) continue;
        uint32_t index = format_token_from(tokens, diags->items[i].span.start);
        if (tokens->items[index].kind == TOK_PERIOD) marks[index] |= MARK_DROPPED;
    }
}

static char *format_parsed(Parsed *p, const DiagList *diags, size_t *out_length) {
    TokenList tokens = {0};
    lexer_run(p->file.text, p->file.length, &p->intern, &tokens);
    uint8_t *marks = tokens.count ? calloc(tokens.count, 1) : NULL;
    Formatter f = {.text = p->file.text, .tokens = &tokens, .marks = marks, .frame_capacity = 16};
    f.frames = malloc(f.frame_capacity * sizeof *f.frames);
    f.failed = !marks || !f.frames || arena_failed(&p->arena);
    if (!f.failed) {
        begin_item(&f, MARK_STATEMENT);
        format_mark(p->module, &tokens, marks);
        mark_dropped(diags, &tokens, marks);
        format_tokens(&f);
    }
    lexer_free_tokens(&tokens);
    free(marks);
    free(f.frames);
    if (f.failed) return free(f.out), NULL;
    if (!f.out) f.out = calloc(1, 1);
    *out_length = f.used;
    return f.out;
}

static char *copy_of(const char *text, size_t length) {
    char *copy = malloc(length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

char *format_source(const char *name, const char *text, size_t length, size_t *out_length, DiagList *diags) {
    Parsed p;
    parse(&p, name, text, length, diags);
    char *out = p.module ? format_parsed(&p, diags, out_length) : NULL;
    if (out && !same_tree(p.module, name, out, *out_length)) {
        free(out);
        out = copy_of(text, *out_length = length);
        diag_add(diags, DIAG_WARNING, "format", span_make(0, 0),
                 "the layout of this text is left as it is: another one would change its meaning");
    }
    if (!out && !diag_has_errors(diags))
        diag_add(diags, DIAG_ERROR, "resource", span_make(0, 0), "out of memory");
    parsed_free(&p);
    return out;
}
