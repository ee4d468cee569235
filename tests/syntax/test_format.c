/* The formatter: the cases of format.txt, and properties of it on every .bt file of the project.
 *
 *   test_format [FILE or DIRECTORY...]   the properties on these instead
 *
 * For each file: the text is not left alone, formatting the result changes nothing, the comments are the same
 * ones in the same order, and the file with its blanks stretched comes out as the file itself does. (That the
 * tree stays the same is checked by format_source each time it runs.)
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/format.h"
#include "compiler/lexer.h"

#ifndef TEST_DIR
#define TEST_DIR "tests"
#endif

typedef struct {
    char *bytes;
    size_t length, capacity;
} Buffer;

static unsigned passed, failed;

static void text_add(Buffer *t, const char *bytes, size_t length) {
    if (t->capacity - t->length <= length) {
        t->capacity = (t->length + length + 1) * 2;
        t->bytes = realloc(t->bytes, t->capacity);
        if (!t->bytes) abort();
    }
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
    t->bytes[t->length] = 0;
}

static bool same(Buffer a, Buffer b) { return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length); }

/* bytes NULL: does not parse (length 0), or was left alone (length 1). */
static Buffer format(const char *name, Buffer source) {
    Buffer out = {0};
    DiagList diags;
    diag_list_init(&diags, NULL);
    out.bytes = format_source(name, source.bytes, source.length, &out.length, &diags);
    if (diags.counts[DIAG_WARNING])
        for (uint32_t i = 0; i < diags.count; i++)
            if (!strcmp(diags.items[i].category, "format")) {
                free(out.bytes);
                out = (Buffer){.length = 1};
            }
    diag_list_free(&diags);
    return out;
}

static void fail(const char *name, const char *what, Buffer a, Buffer b) {
    failed++;
    printf("FAIL %s: %s\n", name, what);
    if (a.bytes && a.length < 3000) printf("--- one\n%.*s\n", (int)a.length, a.bytes);
    if (b.bytes && b.length < 3000) printf("--- other\n%.*s\n", (int)b.length, b.bytes);
}

/* ---- the text between tokens ---- */

typedef struct {
    Arena arena;
    Intern intern;
    TokenList tokens;
} Lexed;

static void lexed_init(Lexed *l, Buffer source) {
    memset(l, 0, sizeof *l);
    arena_init(&l->arena, NULL);
    if (!intern_init(&l->intern, &l->arena)) abort();
    lexer_run(source.bytes, (uint32_t)source.length, &l->intern, &l->tokens);
}

static void lexed_free(Lexed *l) {
    lexer_free_tokens(&l->tokens);
    intern_free(&l->intern);
    arena_free(&l->arena);
}

static bool in_string(const Lexed *l, uint32_t index) {
    return l->tokens.items[index].kind == TOK_STR_SEG || l->tokens.items[index].kind == TOK_STR_END;
}

/* Calls visit for every comment and every run of white space between tokens, strings left out. */
static void each_gap(Buffer source,
                     void (*visit)(Buffer *out, const char *bytes, size_t length, bool comment),
                     void (*token)(Buffer *out, const char *bytes, size_t length), Buffer *out) {
    Lexed l;
    lexed_init(&l, source);
    uint32_t at = 0, depth = 0;
    for (uint32_t i = 0; i < l.tokens.count; i++) {
        const Token *t = &l.tokens.items[i];
        while (depth == 0 && !in_string(&l, i) && at < t->start) {
            bool comment = source.bytes[at] == '/', block = comment && source.bytes[at + 1] == '*';
            const char *end = block     ? strstr(source.bytes + at + 2, "*/") + 2
                              : comment ? strchrnul(source.bytes + at, '\n')
                                        : source.bytes + at + strspn(source.bytes + at, " \t\n");
            if (end == source.bytes + at) end++;
            visit(out, source.bytes + at, (size_t)(end - source.bytes) - at, comment);
            at = (uint32_t)(end - source.bytes);
        }
        depth += t->kind == TOK_STR_START;
        if (t->kind == TOK_STR_END) depth--;
        if (token) token(out, source.bytes + at, t->end - at);
        at = t->end;
    }
    lexed_free(&l);
}

static void take_comment(Buffer *out, const char *bytes, size_t length, bool comment) {
    if (!comment) return;
    while (length && strchr(" \t\r", bytes[length - 1])) length--;
    text_add(out, bytes, length);
    text_add(out, "\n", 1);
}

static void stretch(Buffer *out, const char *bytes, size_t length, bool comment) {
    size_t breaks = 0;
    for (size_t i = 0; i < length && !comment; i++) breaks += bytes[i] == '\n';
    if (breaks > 1) text_add(out, "\n", 1);
    for (size_t i = 0; i < length; i++) {
        text_add(out, bytes + i, 1);
        if (!comment && bytes[i] == ' ') text_add(out, "  ", 2);
    }
}

static void keep(Buffer *out, const char *bytes, size_t length) { text_add(out, bytes, length); }

static Buffer comments_of(Buffer source) {
    Buffer out = {0};
    text_add(&out, "", 0);
    each_gap(source, take_comment, NULL, &out);
    return out;
}

static Buffer stretched(Buffer source) {
    Buffer out = {0};
    text_add(&out, "", 0);
    each_gap(source, stretch, keep, &out);
    return out;
}

/* ---- properties ---- */

static void check_properties(const char *name, Buffer source) {
    Buffer once = format(name, source), twice = once.bytes ? format(name, once) : (Buffer){0};
    if (!once.bytes) {
        if (once.length || !strstr(name, "broken"))
            fail(name, "does not parse or is left alone", source, once);
        return;
    }
    text_add(&once, "", 0);
    Buffer before = comments_of(source), after = comments_of(once);
    /* trailing comments keep their distance, so what is stretched is the canonical text */
    Buffer wide = stretched(once), again = format(name, wide), narrow = {0};
    if (again.bytes) narrow = again;
    if (!twice.bytes || !same(once, twice))
        fail(name, "a second run changes something", once, twice);
    else if (!same(before, after))
        fail(name, "comments differ", before, after);
    else if (!strstr(once.bytes, " //") && !strstr(once.bytes, " /*") &&
             (!narrow.bytes || !same(once, narrow)))
        fail(name, "stretched blanks show", wide, narrow);
    else if (!narrow.bytes)
        fail(name, "the stretched text is left alone", wide, narrow);
    else
        passed++;
    free(once.bytes);
    free(twice.bytes);
    free(before.bytes);
    free(after.bytes);
    free(wide.bytes);
    free(again.bytes);
}

static Buffer load(const char *path) {
    Buffer text = {0};
    char buffer[1 << 14];
    FILE *in = fopen(path, "rb");
    if (!in) return text;
    text_add(&text, "", 0);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, in)) > 0;) text_add(&text, buffer, n);
    fclose(in);
    return text;
}

static int visit_file(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status, (void)where;
    size_t length = strlen(path);
    if (kind != FTW_F || length < 3 || strcmp(path + length - 3, ".bt") != 0) return 0;
    Buffer source = load(path);
    check_properties(path, source);
    free(source.bytes);
    return 0;
}

/* ---- cases: `@ name`, `> source`, `= result` ---- */

static void check_case(const char *name, Buffer *source, Buffer *expected) {
    if (name) {
        text_add(source, "", 0);
        text_add(expected, "", 0);
        Buffer out = format(name, *source);
        if (!out.bytes || !same(out, *expected))
            fail(name, "result", *expected, out);
        else
            check_properties(name, *source);
        free(out.bytes);
    }
    free(source->bytes);
    free(expected->bytes);
    *source = *expected = (Buffer){0};
}

static void check_cases(char *text) {
    const char *name = NULL;
    Buffer source = {0}, expected = {0};
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (line[0] == '@') {
            check_case(name, &source, &expected);
            name = line + 2;
        } else if (line[0] == '>' || line[0] == '=') {
            Buffer *target = line[0] == '>' ? &source : &expected;
            const char *rest = line[1] == ' ' ? line + 2 : line + 1;
            text_add(target, rest, strlen(rest));
            text_add(target, "\n", 1);
        }
    }
    check_case(name, &source, &expected);
}

int main(int argc, char **argv) {
    static const char *const ours[] = {TEST_DIR, TEST_DIR "/../stdlib", TEST_DIR "/../examples",
                                       TEST_DIR "/../bench"};
    for (int i = 1; i < argc; i++) nftw(argv[i], visit_file, 16, 0);
    if (argc == 1) {
        Buffer cases = load(TEST_DIR "/syntax/format.txt");
        if (!cases.bytes) return fprintf(stderr, "no format.txt\n"), 2;
        check_cases(cases.bytes);
        free(cases.bytes);
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) nftw(ours[i], visit_file, 16, 0);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
