/* Runs the acceptance vectors of semantics.txt through the public interface. Vectors named in pending.txt do
 * not hold yet: one of them that passes is a failure too (take it off the list). The last line is `N passed,
 * N failed`. */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "beamtalk.h"

enum { MAX_LINES = 40 };
typedef struct {
    char name[32], title[160], uses[64];
    char *definitions;
} Group;
typedef struct {
    char name[16];
    const Group *group;
    char *definitions;
    char *lines[MAX_LINES];
    int count;
} Vector;

static Group groups[32];
static int group_count;
static char *pending;
static int passed, failed, pending_count;
static bool verbose;
static int part = -1, vector_index; /* BT_TEST_PART: only every tenth vector */

static char *append(char *text, const char *more) {
    size_t n = text ? strlen(text) : 0;
    char *grown = realloc(text, n + strlen(more) + 2);
    if (!grown) exit(2);
    strcpy(grown + n, more);
    strcat(grown, "\n");
    return grown;
}

static const Group *group_named(const char *name) {
    for (int i = 0; i < group_count; i++)
        if (!strcmp(groups[i].name, name)) return &groups[i];
    return NULL;
}

/* ---- one run ---- */

typedef struct {
    bt_vm *vm;
    bt_session *session;
    bt_result *last;
    char why[1024];
} Run;

static bt_status evaluate(Run *r, const char *source) {
    bt_eval_options options = {
        .size = sizeof options, .want_shown = 1, .ignore_link_exits = 1, .deadline_ms = 20000};
    bt_result_free(r->last);
    r->last = NULL;
    return bt_vm_eval(r->session, source, strlen(source), &options, &r->last);
}

static bool start(Run *r) {
    bt_config config = {.size = sizeof config, .schedulers = 2};
    r->vm = bt_vm_new(&config);
    r->session = r->vm ? bt_session_new(r->vm) : NULL;
    return r->session != NULL;
}

static void stop(Run *r) {
    bt_result_free(r->last);
    bt_session_free(r->session);
    bt_vm_free(r->vm);
    r->last = NULL;
}

static bool load_group(Run *r, const Group *g) {
    char uses[64];
    strcpy(uses, g->uses);
    for (char *u = strtok(uses, " "); u; u = strtok(NULL, " ")) {
        const Group *used = group_named(u);
        if (used && used->definitions && evaluate(r, used->definitions) != BT_OK) return false;
    }
    return !g->definitions || evaluate(r, g->definitions) == BT_OK;
}

static void describe(Run *r, const char *wanted) {
    const bt_result *b = r->last;
    snprintf(r->why, sizeof r->why, "wanted %s, got status %d print %s kind %s message %s %s", wanted,
             b ? (int)bt_result_status(b) : -1,
             b && bt_result_print_string(b) ? bt_result_print_string(b) : "-",
             b && bt_result_error_kind(b) ? bt_result_error_kind(b) : "-",
             b && bt_result_error_message(b) ? bt_result_error_message(b) : "-",
             b ? bt_result_diagnostics(b) : "");
}

static bool has(const char *text, const char *piece) { return text && strstr(text, piece); }

static const struct {
    const char *name, *text;
} COMPILE_ERRORS[] = {{"stateful_block_no_return_channel", "cannot return the write"},
                      {"actor_new", "spawn"}};

static bool expected(Run *r, bt_status status, const char *line) {
    const bt_result *b = r->last;
    bool ok = false;
    if (line[0] == '=') {
        char want[1024], *w = want;
        for (const char *c = line + 2; *c && w < want + 1000; c++) {
            if (c[0] == '\\' && c[1] == 'n')
                *w++ = '\n', c++;
            else
                *w++ = *c;
        }
        *w = 0;
        ok = status == BT_OK && bt_result_print_string(b) && !strcmp(bt_result_print_string(b), want);
    } else if (line[0] == '!') {
        ok = status == BT_RUNTIME_ERROR && bt_result_error_kind(b) &&
             !strcmp(bt_result_error_kind(b), line + 2);
    } else if (line[0] == '?') {
        ok = status != BT_OK && has(bt_result_error_message(b), line + 2);
    } else if (!strncmp(line, "shown ", 6)) {
        ok = status == BT_OK && bt_result_shown(b) && !strcmp(bt_result_shown(b), line + 6);
    } else if (!strncmp(line, "CE ", 3)) {
        for (size_t i = 0; i < sizeof COMPILE_ERRORS / sizeof *COMPILE_ERRORS; i++)
            if (!strcmp(line + 3, COMPILE_ERRORS[i].name))
                ok = status == BT_COMPILE_ERROR && has(bt_result_diagnostics(b), COMPILE_ERRORS[i].text);
    }
    if (!ok) describe(r, line);
    return ok;
}

static const char *CONTEXTS[4][2] = {{"Object subclass: Ctx\n  class m =>\n    %s\n", "Ctx m"},
                                     {"Value subclass: Ctx\n  m =>\n    %s\n", "Ctx new m"},
                                     {"Actor subclass: Ctx\n  m =>\n    %s\n", "Ctx spawn m"},
                                     {NULL, NULL}};

static bt_status evaluate_in_context(Run *r, const char *body, int context) {
    if (!CONTEXTS[context][0]) return evaluate(r, body);
    char source[2048];
    snprintf(source, sizeof source, CONTEXTS[context][0], body);
    bt_status status = evaluate(r, source);
    return status == BT_OK ? evaluate(r, CONTEXTS[context][1]) : status;
}

/* Runs all lines of a vector; `context` is used for body lines only. */
static bool run_lines(Run *r, const Vector *v, int context) {
    bt_status status = BT_OK;
    if (v->definitions) status = evaluate(r, v->definitions);
    for (int i = 0; i < v->count; i++) {
        const char *l = v->lines[i];
        if (l[0] == '>')
            status = evaluate(r, l[1] == '>' ? l + 3 : l + 2);
        else if (!strncmp(l, "body> ", 6))
            status = evaluate_in_context(r, l + 6, context);
        else if (!expected(r, status, l))
            return false;
    }
    return true;
}

static bool has_body(const Vector *v) {
    for (int i = 0; i < v->count; i++)
        if (!strncmp(v->lines[i], "body> ", 6)) return true;
    return false;
}

static void run_vector(const Vector *v) {
    char key[24];
    snprintf(key, sizeof key, "%s ", v->name);
    bool is_pending = pending && strstr(pending, key), ok = true;
    Run r = {0};
    for (int context = 0; ok && context < (has_body(v) ? 4 : 1); context++) {
        if (!start(&r))
            snprintf(r.why, sizeof r.why, "no VM"), ok = false;
        else if (!load_group(&r, v->group))
            describe(&r, "definitions to load"), ok = false;
        else
            ok = run_lines(&r, v, context);
        stop(&r);
        if (!ok && has_body(v)) printf("  (context %d)\n", context);
    }
    if (verbose) printf("%s %s\n", ok ? "ok" : "no", v->name);
    if (is_pending) {
        pending_count++;
        if (!ok) return;
        snprintf(r.why, sizeof r.why, "holds now: take it off pending.txt");
    }
    if (ok && !is_pending)
        passed++;
    else
        failed++, printf("FAIL %s (%s): %s\n", v->name, v->group->name, r.why);
}

/* ---- reading ---- */

static void finish_vector(Vector *v, const char *only) {
    if (v->name[0] && v->group && (!only || !strcmp(only, v->name) || !strcmp(only, v->group->name))) {
        fflush(stdout);
        if (part < 0 || vector_index++ % 10 == part) run_vector(v);
    }
    free(v->definitions);
    memset(v, 0, sizeof *v);
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = calloc(1, 1 << 20);
    if (text) text[fread(text, 1, (1 << 20) - 1, f)] = 0;
    fclose(f);
    return text;
}

/* Two passes: groups (for `uses`), then vectors. */
static void read_line(char *line, Vector *v, Group **group, bool vectors, const char *only) {
    if (!strncmp(line, "@@ ", 3)) {
        finish_vector(v, only);
        if (vectors) {
            char name[32];
            sscanf(line + 3, "%31s", name);
            *group = (Group *)group_named(name);
            return;
        }
        *group = &groups[group_count++];
        sscanf(line + 3, "%31s", (*group)->name);
    } else if (!strncmp(line, "uses ", 5)) {
        if (!vectors) snprintf((*group)->uses, sizeof(*group)->uses, "%s", line + 5);
    } else if (!strncmp(line, "@ ", 2)) {
        finish_vector(v, only);
        if (vectors)
            snprintf(v->name, sizeof v->name, "%s", line + 2), v->group = *group;
        else
            snprintf(v->name, sizeof v->name, "-");
    } else if (line[0] == '|') {
        const char *text = line[1] ? line + 2 : "";
        if (v->name[0])
            v->definitions = append(v->definitions, text);
        else if (!vectors)
            (*group)->definitions = append((*group)->definitions, text);
    } else if (line[0] && line[0] != ';' && line[0] != '#' && v->count < MAX_LINES)
        v->lines[v->count++] = line;
}

/* ---- a folder of its own for the files that vectors write ---- */

static bool enter_scratch(char *path, size_t size) {
    const char *parent = getenv("TMPDIR");
    snprintf(path, size, "%s/vectors.XXXXXX", parent && *parent ? parent : "/tmp");
    return mkdtemp(path) && chdir(path) == 0;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at) {
    return (void)info, (void)type, (void)at, remove(path);
}

static bool leave_scratch(const char *path) {
    return chdir("/") == 0 && nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0;
}

int main(int argc, char **argv) {
    const char *only = argc > 1 ? argv[1] : NULL;
    verbose = argc > 2;
    const char *part_text = getenv("BT_TEST_PART");
    if (part_text && *part_text >= '0' && *part_text <= '9') part = atoi(part_text) % 10;
    pending = read_file(TEST_DIR "/vectors/pending.txt");
    char scratch[512];
    if (!enter_scratch(scratch, sizeof scratch)) return fprintf(stderr, "no scratch folder\n"), 2;
    for (int pass = 0; pass < 2; pass++) {
        char *text = read_file(TEST_DIR "/vectors/semantics.txt");
        if (!text) return (void)leave_scratch(scratch), fprintf(stderr, "no semantics.txt\n"), 2;
        Vector v = {0};
        Group *group = NULL;
        char *rest = text;
        for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
            read_line(line, &v, &group, pass == 1, pass == 1 ? only : "none");
        finish_vector(&v, pass == 1 ? only : "none");
        free(text);
    }
    for (int i = 0; i < group_count; i++) free(groups[i].definitions);
    free(pending);
    if (!leave_scratch(scratch)) return fprintf(stderr, "cannot remove %s\n", scratch), 2;
    printf("%d vectors pending\n%d passed, %d failed\n", pending_count, passed, failed);
    return failed ? 1 : 0;
}
