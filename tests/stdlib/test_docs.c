/* The library's documentation: its examples are run, and docs/stdlib-table.md, made from it and from
 * selectors.txt, is compared with the committed one. A P0 or P1 selector that is absent, undocumented or
 * without an example that sends it is a failure, and so is a public method of the core classes without a
 * comment. Usage: test_docs [--write] [CLASS]; --write renews the table. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "library_docs.h"

#define TABLE_PATH TEST_DIR "/../docs/stdlib-table.md"

static int passed, failed;

static void check(bool ok, const char *what, const char *class_name, const char *selector) {
    if (ok)
        passed++;
    else
        failed++, printf("FAIL %s>>%s %s\n", class_name, selector, what);
}

/* One row of selectors.txt. */
typedef struct {
    char *class_name, *selector;
    char priority;
    char *owner; /* where the library defines it; "" if nowhere */
} Wanted;

typedef struct {
    Wanted *items;
    size_t count;
    char *text, *owners;
} WantedList;

static void read_wanted(WantedList *list) {
    list->text = read_text(TEST_DIR "/stdlib/selectors.txt");
    char *rest = list->text, *line, *class_name = "";
    while (rest && (line = strsep(&rest, "\n"))) {
        if (!*line || *line == '#') continue;
        if (line[0] != 'P' || !strchr("012", line[1]) || line[2] != ' ') {
            class_name = line;
            continue;
        }
        char priority = line[1], *words = line + 3, *word;
        while ((word = strsep(&words, " "))) {
            list->items = realloc(list->items, (list->count + 1) * sizeof *list->items);
            list->items[list->count++] = (Wanted){class_name, word, priority, ""};
        }
    }
}

/* Asks the library where each selector is defined. */
static bool find_owners(bt_vm *vm, WantedList *list) {
    char *source;
    size_t size;
    FILE *out = open_memstream(&source, &size);
    fputs("((", out);
    for (size_t i = 0; i < list->count; i++)
        fprintf(out, "%s#(%s, \"%s\")", i ? ", " : "#(", list->items[i].class_name, list->items[i].selector);
    fputs(") collect: [:each | owner := each first whichClassIncludesSelector: (each at: 2) asAtom.\n"
          "owner isNil ifTrue: [\"\"] ifFalse: [owner name asString]]) join: \",\")",
          out);
    fclose(out);
    list->owners = ask(vm, source);
    free(source);
    char *rest = list->owners;
    for (size_t i = 0; rest && i < list->count; i++) list->items[i].owner = strsep(&rest, ",");
    return list->owners != NULL;
}

static void print_name(FILE *out, const char *selector) {
    fputs("`", out);
    for (const char *c = selector; *c; c++) fprintf(out, *c == '|' ? "\\|" : "%c", *c);
    fputs("`", out);
}

static void write_row(FILE *out, const DocList *docs, const Wanted *w) {
    const DocEntry *e = *w->owner ? docs_find(docs, w->owner, w->selector) : NULL;
    bool documented = e && *e->doc;
    fputs("| ", out);
    print_name(out, w->selector);
    fprintf(out, " | P%c | %s | %s | %d |\n", w->priority,
            !*w->owner                             ? "**no**"
            : strcmp(w->owner, w->class_name) != 0 ? w->owner
                                                   : "yes",
            documented ? "yes" : "**no**", e ? e->sends : 0);
    if (w->priority == '2') return;
    check(*w->owner != 0, "is missing", w->class_name, w->selector);
    check(documented, "is not documented", w->class_name, w->selector);
    check(e && e->sends > 0, "has no example that sends it", w->class_name, w->selector);
}

static char *table_text(const DocList *docs, const WantedList *list) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs("# The core library, selector by selector\n\n"
          "Made by `test_docs --write` from the library itself and `tests/stdlib/selectors.txt`; the suite "
          "fails when it is stale.\n"
          "*Present*: the class itself has it (yes), or the class named, from which it is inherited. "
          "*Documented*: its method has a\n"
          "comment. *Tested*: examples of that comment that send the selector, ran and held.\n",
          out);
    const char *class_name = "";
    for (size_t i = 0; i < list->count; i++) {
        const Wanted *w = &list->items[i];
        if (strcmp(w->class_name, class_name) != 0) {
            class_name = w->class_name;
            fprintf(
                out,
                "\n## %s\n\n| selector | priority | present | documented | tested |\n|---|---|---|---|---|\n",
                class_name);
        }
        write_row(out, docs, w);
    }
    fclose(out);
    return text;
}

/* Of the classes that selectors.txt names, every public method has a comment. */
static void check_comments(const DocList *docs, const WantedList *list) {
    for (size_t i = 0; i < docs->count; i++) {
        const DocEntry *e = &docs->items[i];
        bool core = false;
        for (size_t k = 0; k < list->count && !core; k++) {
            size_t n = strlen(list->items[k].class_name);
            core = !strncmp(e->class_name, list->items[k].class_name, n) &&
                   (!e->class_name[n] || !strcmp(e->class_name + n, " class"));
        }
        if (core && !*e->doc) check(false, "has no comment", e->class_name, e->selector);
    }
}

int main(int argc, char **argv) {
    bool write = false;
    const char *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--write"))
            write = true;
        else
            only = argv[i];
    }
    bt_config config = {.size = sizeof config, .schedulers = 1};
    bt_vm *vm = bt_vm_new(&config);
    DocList docs;
    WantedList wanted = {0};
    if (!vm || !docs_read(vm, &docs)) return printf("0 passed, 1 failed\n"), 1;
    for (size_t i = 0; i < docs.count; i++) {
        if (only && strncmp(docs.items[i].class_name, only, strlen(only)) != 0) continue;
        docs_run_examples(vm, &docs.items[i]);
        passed += docs.items[i].examples;
        failed += docs.items[i].failed;
    }
    read_wanted(&wanted);
    if (!only && find_owners(vm, &wanted)) {
        check_comments(&docs, &wanted);
        char *table = table_text(&docs, &wanted), *committed = read_text(TABLE_PATH);
        bool same = committed && !strcmp(table, committed);
        if (write && !same) {
            FILE *out = fopen(TABLE_PATH, "wb");
            if (out) fputs(table, out), same = fclose(out) == 0;
        }
        check(same, "is stale: run test_docs --write", "docs", "stdlib-table.md");
        free(table);
        free(committed);
    }
    bt_vm_free(vm);
    docs_free(&docs);
    free(wanted.items);
    free(wanted.text);
    free(wanted.owners);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
