/* .btscript files: expressions with `// => ` expectations (spec tooling 3). Both dialects: an expression goes
 * on over following lines while the input is incomplete. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/input_complete.h"
#include "vm/cli/meta.h"
#include "vm/cli/test_run.h"

typedef struct {
    TestRun *run;
    bt_session *session;
    Meta meta;
    const char *path;
    char *rest;    /* lines not read yet */
    unsigned line; /* number of the line read last */
} Script;

static char *trim(char *s) {
    while (isspace((unsigned char)*s)) s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1])) s[--n] = 0;
    return s;
}

static char *next_line(Script *s) {
    char *line = s->rest ? strsep(&s->rest, "\n") : NULL;
    if (line) s->line++;
    return line;
}

/* ---- comparing ---- */

static bool is_wildcard(const char *text, const char *at) {
    if (*at != '_') return false;
    bool left = at > text && isalnum((unsigned char)at[-1]), right = isalnum((unsigned char)at[1]);
    return !(left && right);
}

/* Pieces between wildcards, first anchored at the start, last at the end. */
static bool text_matches(const char *pattern, const char *text) {
    const char *piece = pattern, *at = text;
    bool first = true;
    for (;;) {
        const char *end = piece;
        while (*end && !is_wildcard(pattern, end)) end++;
        size_t n = (size_t)(end - piece);
        bool last = *end == 0;
        if (first && last) return !strcmp(pattern, text);
        if (first) {
            if (strncmp(at, piece, n)) return false;
            at += n;
        } else if (last) {
            size_t left = strlen(at);
            return left >= n && !strcmp(at + left - n, piece);
        } else {
            const char *found = n ? memmem(at, strlen(at), piece, n) : at;
            if (!found) return false;
            at = found + n;
        }
        first = false;
        piece = end + 1;
    }
}

/* \n \t \\ \" decoded, for the dialect that has them. */
static char *decoded(const char *text) {
    char *copy = strdup(text), *out = copy;
    for (const char *c = text; copy && *c; c++) {
        bool escape = *c == '\\' && c[1] && strchr("nt\\\"", c[1]);
        if (!escape)
            *out++ = *c;
        else
            *out++ = *++c == 'n' ? '\n' : *c == 't' ? '\t' : *c;
    }
    if (copy) *out = 0;
    return copy;
}

/* What an expression or a meta command came to. */
typedef struct {
    bt_status status;
    const char *shown, *kind, *message, *diagnostics;
} Outcome;

static Outcome outcome_of(bt_status status, const bt_result *r) {
    return (Outcome){.status = status,
                     .shown = bt_result_shown(r),
                     .kind = bt_result_error_kind(r),
                     .message = bt_result_error_message(r),
                     .diagnostics = bt_result_diagnostics(r)};
}

static bool error_matches(const Outcome *o, const char *wanted) {
    const char *kind = o->kind, *message = o->message;
    if (!*wanted) return true;
    if (kind && !strcmp(kind, wanted)) return true;
    if (kind && !strcmp(kind, "type_error") && !strcmp(wanted, "badarith")) return true;
    if (kind && !strcmp(kind, "argument_error") && !strcmp(wanted, "badarg")) return true;
    if (o->status == BT_COMPILE_ERROR && !strcmp(wanted, "compile_error")) return true;
    return (message && strstr(message, wanted)) || strstr(o->diagnostics, wanted);
}

/* One of the items of a comma-separated list. */
static bool includes(const char *list, const char *item) {
    size_t n = strlen(item);
    for (; *list; list += strspn(list, ", ")) {
        size_t length = strcspn(list, ",");
        if (length == n && !strncmp(list, item, n)) return true;
        list += length;
    }
    return n == 0;
}

static bool holds(const Outcome *o, const char *expected) {
    bt_status status = o->status;
    if (!strncmp(expected, "ERROR:", 6))
        return status != BT_OK && error_matches(o, expected + 6 + strspn(expected + 6, " "));
    if (!strncmp(expected, "WARNING:", 8))
        return status == BT_OK && strstr(o->diagnostics, expected + 8 + strspn(expected + 8, " "));
    if (!strncmp(expected, "NO-WARNING:", 11))
        return status == BT_OK && !strstr(o->diagnostics, expected + 11 + strspn(expected + 11, " "));
    if (status != BT_OK) return false;
    if (!strcmp(expected, "_")) return true;
    const char *shown = o->shown ? o->shown : "";
    if (!strncmp(expected, "INCLUDES:", 9)) return includes(shown, expected + 9 + strspn(expected + 9, " "));
    char *got = strdup(shown), *plain = decoded(expected);
    bool ok = got && plain && (text_matches(expected, trim(got)) || text_matches(plain, shown));
    free(got);
    free(plain);
    return ok;
}

/* ---- running ---- */

static void report_one(Script *s, const char *name, bool passed, const char *message) {
    report_test(
        &s->run->report,
        &(TestReport){.name = name, .outcome = passed ? TEST_PASSED : TEST_FAILED, .message = message});
}

static void report(Script *s, const char *expression, const char *expected, const Outcome *o) {
    char *name, *message = NULL;
    if (asprintf(&name, "%s:%u `%s`", s->path, s->line, expression) < 0) return;
    for (char *c = name; *c; c++)
        if (*c == '\n' || *c == '#') *c = ' ';
    bool fine = o->status == BT_OK;
    const char *got = fine ? o->shown : o->message, *kind = fine ? NULL : o->kind;
    bool ok = holds(o, expected);
    if (!ok && asprintf(&message, "  expected: %s\n  %s %s%s%s", expected, fine ? "got:     " : "crashed: ",
                        got ? got : "(no text)", kind ? " / " : "", kind ? kind : "") < 0)
        message = NULL;
    report_one(s, name, ok, message);
    free(name);
    free(message);
}

static bt_status evaluate(Script *s, const char *source, bt_result **r) {
    bt_eval_options options = {.size = sizeof options, .want_shown = 1, .deadline_ms = 60000};
    return bt_vm_eval(s->session, source, strlen(source), &options, r);
}

static bt_status load_path(Script *s, const char *path, bt_result **r) {
    size_t length;
    char *text = read_source(path, &length);
    if (!text) return BT_MISUSE;
    bt_eval_options options = {.size = sizeof options, .name = path, .load_only = 1};
    bt_status status = bt_vm_eval(s->session, text, length, &options, r);
    free(text);
    return status;
}

/* `// @load PATH`, `// @load-error PATH => TEXT` */
static void directive(Script *s, char *line) {
    bool error = !strncmp(line, "@load-error", 11);
    char *path = trim(line + (error ? 11 : 5)), *wanted = error ? strstr(path, "=>") : NULL;
    if (wanted) *wanted = 0, wanted = trim(wanted + 2), path = trim(path);
    bt_result *r = NULL;
    bt_status status = load_path(s, path, &r);
    Outcome o = outcome_of(status, r);
    if (error)
        report_one(s, path, status != BT_OK && r && error_matches(&o, wanted ? wanted : ""),
                   "loading did not fail as expected");
    else if (status != BT_OK)
        fprintf(stderr, "%s: cannot load %s\n%s", s->path, path, bt_result_diagnostics(r));
    else
        fputs(bt_result_diagnostics(r), stderr); /* warnings, as of every file that is loaded */
    bt_result_free(r);
}

static char *expectation_in(char *line) {
    char *t = line + strspn(line, " \t");
    if (strncmp(t, "//", 2)) return NULL;
    t += 2 + strspn(t + 2, " \t");
    return !strncmp(t, "=>", 2) ? trim(t + 2) : NULL;
}

static void run_command(Script *s, const char *command) {
    char *line = next_line(s), *expected = line ? expectation_in(line) : NULL;
    if (!expected) {
        report_one(s, command, false, "missing // => assertion");
        return;
    }
    MetaReply reply = meta_run(&s->meta, command);
    Outcome o = {.status = reply.failed ? BT_RUNTIME_ERROR : BT_OK,
                 .shown = reply.text,
                 .message = reply.text,
                 .kind = bt_result_error_kind(reply.result),
                 .diagnostics = bt_result_diagnostics(reply.result)};
    report(s, command, expected, &o);
    meta_reply_free(&reply);
}

static void run_expression(Script *s, char *first) {
    if (meta_is_command(first)) {
        run_command(s, first);
        return;
    }
    char *source = strdup(trim(first));
    char *line = NULL;
    while (source && (line = next_line(s)) && *trim(line) && strncmp(trim(line), "//", 2) &&
           !input_complete(source, strlen(source))) {
        char *longer;
        if (asprintf(&longer, "%s\n%s", source, line) < 0) break;
        free(source);
        source = longer;
    }
    char *expected = line ? expectation_in(line) : NULL;
    if (!source) return;
    bt_result *r = NULL;
    if (expected) {
        bt_status status = evaluate(s, source, &r);
        Outcome o = outcome_of(status, r);
        report(s, source, expected, &o);
    } else {
        report_one(s, source, false, "missing // => assertion");
    }
    bt_result_free(r);
    free(source);
}

int test_script(TestRun *run, const char *path) {
    size_t length;
    char *text = read_source(path, &length);
    if (!text) return 1;
    char *copy = strndup(text, length);
    free(text);
    if (!copy) return fail("out of memory");
    Script s = {.run = run, .path = path, .rest = copy};
    bt_vm *vm = start_test_vm(run, &run->common);
    s.session = start_session(vm);
    s.meta = (Meta){.vm = vm, .session = s.session, .protocol = true};
    for (char *line; s.session && (line = next_line(&s));) {
        char *t = trim(line);
        if (!strncmp(t, "//", 2)) {
            char *word = t + 2 + strspn(t + 2, " \t");
            if (!strncmp(word, "@load", 5)) directive(&s, word);
        } else if (*t)
            run_expression(&s, t);
    }
    int code = s.session ? 0 : 1;
    report_group(&run->report, path);
    meta_free(&s.meta);
    bt_session_free(s.session);
    stop_vm(&run->common, vm);
    free(copy);
    return code;
}
