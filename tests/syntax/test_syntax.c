/* Runs vectors through lexer, parser and tree printer: test_syntax [FILE]; without a file,
 * TEST_DIR/syntax/vectors.txt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/ast_print.h"
#include "compiler/input_complete.h"
#include "compiler/parser.h"

#ifndef TEST_DIR
#define TEST_DIR "tests"
#endif

enum { LINES_MAX = 64 };

typedef struct {
    char *name;
    char *source; /* malloc'ed */
    size_t source_length;
    char *tree; /* malloc'ed; lines with LF */
    char *diags[LINES_MAX];
    unsigned diag_count;
    bool has_source, has_tree, open_end;
    const char *state;
} Vector;

static void *must(void *memory) {
    if (!memory) abort();
    return memory;
}

static void append(char **text, size_t *length, const char *more) {
    size_t size = strlen(more);
    *text = must(realloc(*text, *length + size + 1));
    memcpy(*text + *length, more, size + 1);
    *length += size;
}

static char *print_result(const Module *module, const MethodDecl *method) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = must(open_memstream(&text, &length));
    if (module) ast_print_module(out, module);
    if (method) {
        ast_print_method(out, method);
        fputc('\n', out);
    }
    fclose(out);
    return text;
}

/* The diagnostic in the notation of the vectors, in a buffer of its own. */
static char *describe(const Diag *diag) {
    size_t size = strlen(diag->message) + 80;
    char *text = must(malloc(size));
    snprintf(text, size, "%s %u..%u %s", diag_severity_name(diag->severity), diag->span.start, diag->span.end,
             diag->message);
    return text;
}

static bool matches(const char *expected, const char *actual) {
    static const char ellipsis[] = "…";
    size_t length = strlen(expected), tail = sizeof ellipsis - 1;
    if (length >= tail && strcmp(expected + length - tail, ellipsis) == 0)
        return strncmp(expected, actual, length - tail) == 0;
    return strcmp(expected, actual) == 0;
}

static bool fail(const Vector *vector, const char *what, const char *expected, const char *actual) {
    printf("FAIL %s: %s\n  expected: %s\n  actual:   %s\n", vector->name, what, expected, actual);
    return false;
}

static bool check_diags(const Vector *vector, const DiagList *list) {
    bool separators = strncmp(vector->name, "d6-", 3) == 0, good = true;
    unsigned expected = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (!separators && strcmp(list->items[i].category, "separator") == 0) continue;
        char *actual = describe(&list->items[i]);
        if (expected < vector->diag_count) {
            if (!matches(vector->diags[expected], actual))
                good = fail(vector, "diagnostic", vector->diags[expected], actual);
        } else if (!vector->open_end) {
            good = fail(vector, "diagnostic", "(none)", actual);
        }
        expected++;
        free(actual);
    }
    for (; expected < vector->diag_count; expected++)
        good = fail(vector, "diagnostic", vector->diags[expected], "(none)");
    return good;
}

static bool check_parse(const Vector *vector) {
    SourceFile file;
    Arena arena;
    Intern intern;
    DiagList diags;
    arena_init(&arena, NULL);
    diag_list_init(&diags, NULL);
    if (!intern_init(&intern, &arena) ||
        !source_file_init(&file, vector->name, vector->source, vector->source_length))
        abort();
    ParseInput in = {&file, &arena, &intern, &diags};
    bool single = strncmp(vector->name, "method-", 7) == 0;
    Module *module = single ? NULL : parse_module(&in);
    MethodDecl *method = single ? parse_method(&in) : NULL;
    char *tree = print_result(module, method);
    bool good = check_diags(vector, &diags);
    bool compare = vector->has_tree || (vector->diag_count == 0 && !vector->open_end);
    const char *expected = vector->tree ? vector->tree : "";
    if (compare && strcmp(expected, tree) != 0) good = fail(vector, "tree", expected, tree);
    free(tree);
    free(diag_render_all(&diags, &file, DIAG_LINT)); /* printing must cope with any span */
    source_file_free(&file);
    diag_list_free(&diags);
    intern_free(&intern);
    arena_free(&arena);
    return good;
}

static bool check_state(const Vector *vector) {
    static const char *const names[] = {"complete", "incomplete", "open"};
    const char *actual = names[input_state(vector->source, vector->source_length)];
    return strcmp(vector->state, actual) == 0 || fail(vector, "completeness", vector->state, actual);
}

static void make_depth_source(Vector *vector) {
    free(vector->source);
    vector->source = must(malloc(142));
    memset(vector->source, '(', 70);
    vector->source[70] = '1';
    memset(vector->source + 71, ')', 70);
    vector->source[141] = '\0';
    vector->source_length = 141;
}

typedef struct {
    unsigned passed, failed;
} Score;

static void run_vector(Vector *vector, Score *score) {
    if (vector->name) {
        if (!vector->source) vector->source = must(calloc(1, 1));
        if (strcmp(vector->name, "err-depth") == 0) make_depth_source(vector);
        bool good = vector->state ? check_state(vector) : check_parse(vector);
        if (good)
            score->passed++;
        else
            score->failed++;
    }
    free(vector->source);
    free(vector->tree);
    *vector = (Vector){0};
}

/* Text behind the mark and its space; "" for a bare mark. */
static char *payload(char *line) { return line[1] == ' ' ? line + 2 : line + 1; }

static void take_line(Vector *vector, char *line, size_t *tree_length) {
    switch (line[0]) {
    case '>':
        if (vector->has_source) append(&vector->source, &vector->source_length, "\n");
        vector->has_source = true;
        append(&vector->source, &vector->source_length, payload(line));
        break;
    case '=':
        vector->has_tree = true;
        append(&vector->tree, tree_length, payload(line));
        append(&vector->tree, tree_length, "\n");
        break;
    case '!':
        if (strcmp(payload(line), "...") == 0)
            vector->open_end = true;
        else if (vector->diag_count < LINES_MAX)
            vector->diags[vector->diag_count++] = payload(line);
        break;
    case '?': vector->state = payload(line); break;
    default: break;
    }
}

static Score run_file(char *text) {
    Score score = {0, 0};
    Vector vector = {0};
    size_t tree_length = 0;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        if (line[0] == '@') {
            run_vector(&vector, &score);
            vector.name = payload(line);
            tree_length = 0;
        } else {
            take_line(&vector, line, &tree_length);
        }
    }
    run_vector(&vector, &score);
    return score;
}

int main(int argc, char **argv) {
    SourceFile file;
    const char *why = "";
    const char *path = argc > 1 ? argv[1] : TEST_DIR "/syntax/vectors.txt";
    if (!source_file_load(&file, path, &why)) {
        fprintf(stderr, "%s: %s\n", path, why);
        return 2;
    }
    char *text = must(malloc((size_t)file.length + 1));
    memcpy(text, file.text, file.length);
    text[file.length] = '\0';
    source_file_free(&file);
    Score score = run_file(text);
    free(text);
    printf("%u passed, %u failed\n", score.passed, score.failed);
    return score.failed ? 1 : 0;
}
