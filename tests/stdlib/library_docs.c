#define _GNU_SOURCE
#include "library_docs.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = calloc(1, (size_t)size + 1);
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size) text[0] = 0;
    fclose(f);
    return text;
}

static bt_status evaluate(bt_session *session, const char *source, bt_result **result) {
    bt_eval_options options = {.size = sizeof options, .want_shown = 1, .deadline_ms = 20000};
    return bt_vm_eval(session, source, strlen(source), &options, result);
}

char *ask(bt_vm *vm, const char *source) {
    bt_session *session = bt_session_new(vm);
    bt_result *r = NULL;
    bt_status status = evaluate(session, source, &r);
    char *answer = status == BT_OK && bt_result_shown(r) ? strdup(bt_result_shown(r)) : NULL;
    if (!answer)
        printf("FAIL the library could not be asked: %s%s\n", bt_result_diagnostics(r),
               status == BT_RUNTIME_ERROR ? bt_result_error_message(r) : "");
    bt_result_free(r);
    bt_session_free(session);
    return answer;
}

/* Fields end in 0x1f, entries in 0x1e. Selectors with two underscores are the library's own business; what
 * the compiler makes from fields needs no comment. */
static const char QUESTION[] =
    "field := String fromCodePoint: 31. end := String fromCodePoint: 30.\n"
    "made := [:class | names := class fieldNames collect: [:each | each asString].\n"
    "  names ++ (names collect: [:each | \"with\" ++ each capitalize ++ \":\"]) ++ #((names collect: [:each "
    "| each ++ \":\"]) join)].\n"
    "methods := [:side :made | ((side methods sort reject: [:each | (each asString startsWith: \"__\")\n"
    "    or: [(side >> each) doc isNil and: [made includes: each asString]]]) collect: [:each |\n"
    "  #(side name asString, field, each asString, field, ((side >> each) doc ifNil: [\"\"]), field, end) "
    "join]) join].\n"
    "((#(ProtoObject) ++ ProtoObject allSubclasses) collect: [:each |\n"
    "  #(each name asString, field, field, (each doc ifNil: [\"\"]), field, end, (methods value: each value: "
    "(made value: each)),\n"
    "    (methods value: each class value: (made value: each))) join]) join";

bool docs_read(bt_vm *vm, DocList *list) {
    *list = (DocList){.text = ask(vm, QUESTION)};
    char *rest = list->text, *row;
    while (rest && (row = strsep(&rest, "\x1e")) && *row) {
        list->items = realloc(list->items, (list->count + 1) * sizeof *list->items);
        if (!list->items) return false;
        DocEntry *e = &list->items[list->count++];
        *e = (DocEntry){.class_name = strsep(&row, "\x1f"), .selector = strsep(&row, "\x1f")};
        e->doc = strsep(&row, "\x1f");
    }
    return list->count > 0;
}

void docs_free(DocList *list) {
    free(list->items);
    free(list->text);
}

DocEntry *docs_find(const DocList *list, const char *class_name, const char *selector) {
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i].class_name, class_name) && !strcmp(list->items[i].selector, selector))
            return &list->items[i];
    return NULL;
}

/* ---- which selectors an expression sends ---- */

static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The word at its own borders, from `at` on: the text behind it, or NULL. */
static const char *find_word(const char *at, const char *word, size_t n) {
    bool letters = word_char(word[0]);
    for (bool quoted = false; *at; at++) {
        if (*at == '"') quoted = !quoted;
        if (quoted || strncmp(at, word, n)) continue;
        if (letters) {
            bool open_left = !word_char(at[-1]),
                 open_right = word[n - 1] == ':' || (!word_char(at[n]) && at[n] != ':');
            if (open_left && open_right) return at + n;
        } else if (!strchr("<>=+-*/%,:", at[-1]) && !strchr("<>=", at[n])) {
            return at + n;
        }
    }
    return NULL;
}

bool expression_sends(const char *expression, const char *selector) {
    char *copy;
    if (asprintf(&copy, " %s ", expression) < 0) return false;
    const char *at = copy;
    for (const char *word = selector; at && *word;) {
        const char *colon = word_char(*word) ? strchr(word, ':') : NULL;
        size_t n = colon ? (size_t)(colon - word) + 1 : strlen(word);
        at = find_word(at == copy ? at + 1 : at, word, n);
        word += n;
    }
    bool found = at != NULL;
    free(copy);
    return found;
}

/* ---- examples ---- */

static char *trim(char *s) {
    while (isspace((unsigned char)*s)) s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1])) s[--n] = 0;
    return s;
}

static bool as_expected(bt_status status, const bt_result *r, const char *expected) {
    if (!strncmp(expected, "ERROR: ", 7)) {
        const char *kind = status == BT_COMPILE_ERROR ? "compile_error" : bt_result_error_kind(r);
        return status != BT_OK && kind && !strcmp(kind, expected + 7);
    }
    if (status != BT_OK || !bt_result_shown(r)) return false;
    char *shown = strdup(bt_result_shown(r));
    bool ok = !strcmp(expected, "_") || !strcmp(trim(shown), expected);
    free(shown);
    return ok;
}

static void run_example(bt_session *session, DocEntry *entry, const char *expression, const char *expected) {
    bt_result *r = NULL;
    bt_status status = evaluate(session, expression, &r);
    if (as_expected(status, r, expected)) {
        entry->examples++;
        if (*entry->selector && expression_sends(expression, entry->selector)) entry->sends++;
    } else {
        entry->failed++;
        printf("FAIL %s>>%s: %s\n  expected %s\n  got      %s %s\n", entry->class_name, entry->selector,
               expression, expected,
               status == BT_OK           ? bt_result_shown(r)
               : bt_result_error_kind(r) ? bt_result_error_kind(r)
                                         : "",
               status == BT_OK              ? ""
               : status == BT_COMPILE_ERROR ? bt_result_diagnostics(r)
                                            : bt_result_error_message(r));
    }
    bt_result_free(r);
}

/* Where `// =>` begins outside of a string, or NULL. */
static char *arrow_in(char *line) {
    bool quoted = false;
    for (char *c = line; *c; c++) {
        if (*c == '"') quoted = !quoted;
        if (!quoted && !strncmp(c, "// =>", 5)) return c;
    }
    return NULL;
}

/* An expression may take several lines; its expectation stands at the end of the last or on a line of its
 * own. */
static void run_block(bt_session *session, DocEntry *entry, char *block) {
    char *source = strdup("");
    for (char *line; (line = strsep(&block, "\n"));) {
        char *arrow = arrow_in(line), *longer;
        if (arrow) *arrow = 0;
        if (asprintf(&longer, "%s%s%s", source, *source ? "\n" : "", line) < 0) break;
        free(source);
        source = longer;
        if (!arrow) continue;
        run_example(session, entry, trim(source), trim(arrow + 5));
        *source = 0;
    }
    if (*trim(source)) {
        entry->failed++;
        printf("FAIL %s>>%s: an example without an expectation: %s\n", entry->class_name, entry->selector,
               source);
    }
    free(source);
}

void docs_run_examples(bt_vm *vm, DocEntry *entry) {
    bt_session *session = bt_session_new(vm);
    char *copy = strdup(entry->doc);
    for (char *at = copy, *fence; (fence = strstr(at, "```beamtalk\n"));) {
        char *block = fence + strlen("```beamtalk\n"), *end = strstr(block, "```");
        if (!end) break;
        *end = 0;
        at = end + 3;
        size_t n = strlen(block);
        if (n && block[n - 1] == '\n') block[n - 1] = 0;
        run_block(session, entry, block);
    }
    free(copy);
    bt_session_free(session);
}
