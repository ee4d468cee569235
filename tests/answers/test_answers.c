/* Runs answers.tsv: expressions with the answers that must hold (tests/answers/README.md). Rows named in
 * pending.txt do not hold yet; one of them that holds is a failure too (take it off the list). Usage:
 * test_answers [-v] [AREA]. Last line: `N passed, N failed`. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "beamtalk.h"

enum { ID, AREA, SETUP, EXPRESSION, SHOWN, PRINT, KIND, MESSAGE, RULING, COLUMNS };

static const char *const FIXTURES[] = {"Crate", "Gadget", "Gizmo",    "Doodad", "Ring",
                                       "Shelf", "Oops",   "DeepOops", "Probe"};

typedef struct {
    char name[32];
    int held, pending, failed;
} Area;

static Area areas[64];
static int area_count;
static char *pending;
static bool verbose;
static int part = -1, row_index; /* BT_TEST_PART: only every tenth row */

static Area *area_named(const char *name) {
    for (int i = 0; i < area_count; i++)
        if (!strcmp(areas[i].name, name)) return &areas[i];
    snprintf(areas[area_count].name, sizeof areas[0].name, "%s", name);
    return &areas[area_count++];
}

static char *read_file(const char *path) {
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

static bool load_fixtures(bt_vm *vm) {
    bt_session *session = bt_session_new(vm);
    bool ok = true;
    for (size_t i = 0; i < sizeof FIXTURES / sizeof *FIXTURES; i++) {
        char path[512];
        snprintf(path, sizeof path, TEST_DIR "/answers/fixtures/%s.bt", FIXTURES[i]);
        char *text = read_file(path);
        bt_result *result = NULL;
        if (!text || evaluate(session, text, &result) != BT_OK)
            ok = false, printf("FAIL fixture %s: %s\n", FIXTURES[i], bt_result_diagnostics(result));
        bt_result_free(result);
        free(text);
    }
    bt_session_free(session);
    return ok;
}

/* Texts of the table with \n \t \r \\ decoded, in place. */
static char *decode(char *text) {
    char *out = text;
    for (char *c = text; *c; c++) {
        if (*c == '\\' && c[1]) {
            c++;
            *out++ = *c == 'n' ? '\n' : *c == 't' ? '\t' : *c == 'r' ? '\r' : *c;
        } else
            *out++ = *c;
    }
    *out = 0;
    return text;
}

/* One of `a|b|c`; badarith and type_error are one kind. */
static bool kind_in(const char *kind, const char *list) {
    size_t n = strlen(kind);
    for (const char *at = list; (at = strstr(at, kind)); at += n)
        if ((at == list || at[-1] == '|') && (at[n] == 0 || at[n] == '|' || at[n] == ' ')) return true;
    return !strcmp(kind, "type_error") && strstr(list, "badarith");
}

static bool same(const char *a, const char *b) { return a && b && !strcmp(a, b); }

static const char *kind_of(bt_status status, const bt_result *r) {
    return status == BT_COMPILE_ERROR ? "compile_error"
           : bt_result_error_kind(r)  ? bt_result_error_kind(r)
                                      : "";
}

static bool answer_holds(char **row, bt_status status, const bt_result *r) {
    const char *ruling = row[RULING];
    if (!strncmp(ruling, "differs: free", 13)) return status != BT_TIMEOUT && status != BT_VM_FAILED;
    if (!strncmp(ruling, "differs: kind ", 14))
        return status != BT_OK && kind_in(kind_of(status, r), ruling + 14);
    if (!strncmp(ruling, "differs: value ", 15)) {
        char *want = strdup(ruling + 15), *end = strstr(want, " — ");
        if (end) *end = 0;
        bool ok = status == BT_OK && same(bt_result_print_string(r), decode(want));
        free(want);
        return ok;
    }
    if (*row[KIND]) return status != BT_OK && kind_in(kind_of(status, r), row[KIND]);
    if (status != BT_OK) return false;
    bool shown_free = !strncmp(ruling, "differs: shown", 14);
    if (*row[PRINT] && !same(bt_result_print_string(r), row[PRINT])) return false;
    return shown_free || same(bt_result_shown(r), row[SHOWN]);
}

static void report(char **row, bt_status status, const bt_result *r) {
    printf("FAIL %s [%s] %s\n   wanted %s%s%s%s got %s%s%s%s\n", row[ID], row[AREA], row[EXPRESSION],
           *row[KIND] ? "!" : "", row[KIND], row[PRINT], row[RULING], status == BT_OK ? "" : "!",
           status == BT_OK ? "" : kind_of(status, r),
           status == BT_OK ? (bt_result_print_string(r) ? bt_result_print_string(r) : "(none)") : " ",
           status == BT_OK ? (bt_result_shown(r) ? bt_result_shown(r) : "")
                           : (bt_result_error_message(r) ? bt_result_error_message(r) : ""));
}

static void run_row(bt_vm *vm, char **row) {
    Area *area = area_named(row[AREA]);
    char key[32];
    snprintf(key, sizeof key, "%s ", row[ID]);
    bool is_pending = pending && strstr(pending, key);
    decode(row[SHOWN]);
    decode(row[PRINT]);
    bt_session *session = bt_session_new(vm);
    bt_result *r = NULL;
    bt_status status = evaluate(session, row[EXPRESSION], &r);
    bool ok = answer_holds(row, status, r);
    if (ok && !is_pending)
        area->held++;
    else if (!ok && is_pending)
        area->pending++;
    else
        area->failed++;
    if (ok && is_pending) printf("FAIL %s holds now: take it off pending.txt\n", row[ID]);
    if (!ok && (!is_pending || verbose)) report(row, status, r);
    bt_result_free(r);
    bt_session_free(session);
}

int main(int argc, char **argv) {
    const char *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-v"))
            verbose = true;
        else
            only = argv[i];
    }
    const char *part_text = getenv("BT_TEST_PART");
    if (part_text && *part_text >= '0' && *part_text <= '9') part = atoi(part_text) % 10;
    pending = read_file(TEST_DIR "/answers/pending.txt");
    char *text = read_file(TEST_DIR "/answers/answers.tsv");
    bt_config config = {.size = sizeof config, .schedulers = 1};
    bt_vm *vm = bt_vm_new(&config);
    if (!text || !vm || !load_fixtures(vm)) return printf("0 passed, 1 failed\n"), 1;
    char *rest = text;
    strsep(&rest, "\n");
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        char *row[COLUMNS];
        int n = 0;
        while (n < COLUMNS && (row[n] = strsep(&line, "\t"))) n++;
        if (n < COLUMNS || (only && strcmp(only, row[AREA]) && strcmp(only, row[ID]))) continue;
        fflush(stdout);
        if (part < 0 || row_index++ % 10 == part) run_row(vm, row);
    }
    bt_vm_free(vm);
    free(text);
    free(pending);
    int held = 0, failed = 0;
    for (int i = 0; i < area_count; i++) {
        printf("%-14s %4d hold, %4d pending, %d failed\n", areas[i].name, areas[i].held, areas[i].pending,
               areas[i].failed);
        held += areas[i].held;
        failed += areas[i].failed;
    }
    printf("%d passed, %d failed\n", held, failed);
    return failed ? 1 : 0;
}
