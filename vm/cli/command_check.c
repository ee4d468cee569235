/* `check` and `lint`: what the compiler has to say of the files of a project (spec tooling 1.2). */
#include <stdlib.h>
#include <string.h>
#include "vm/cli/cli.h"
#include "vm/cli/project.h"

typedef struct {
    DiagSeverity least; /* shown, down to this severity */
    bool json, warnings_as_errors;
} CheckOptions;

/* ---- JSON, one object a line ---- */

static void print_json_text(const char *text) {
    putchar('"');
    for (const char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            printf("\\%c", byte);
        else if (byte < 0x20)
            printf("\\u%04x", byte);
        else
            putchar(byte);
    }
    putchar('"');
}

static void print_json_diag(ProjectFile *f, const Diag *d) {
    SourcePosition at = source_position(&f->file, d->span.start);
    printf("{\"file\":");
    print_json_text(f->path);
    printf(",\"severity\":\"%s\",\"category\":\"%s\",\"message\":", diag_severity_name(d->severity),
           d->category);
    print_json_text(d->message ? d->message : "");
    printf(",\"line\":%u,\"column\":%u,\"span_start\":%u,\"span_end\":%u,\"hint\":", at.line, at.column,
           d->span.start, d->span.end);
    if (d->help)
        print_json_text(d->help);
    else
        printf("null");
    printf(",\"notes\":[");
    if (d->other_label) print_json_text(d->other_label);
    printf("]}\n");
}

typedef struct {
    const char *name;
    unsigned count;
} CategoryTotal;

enum { CATEGORIES_MAX = 64 };

static void print_category_totals(const Project *p, DiagSeverity least) {
    CategoryTotal totals[CATEGORIES_MAX];
    unsigned count = 0;
    for (size_t i = 0; i < p->count; i++)
        for (uint32_t k = 0; k < p->files[i].diags.count; k++) {
            const Diag *d = &p->files[i].diags.items[k];
            unsigned t = 0;
            if (d->severity > least) continue;
            while (t < count && strcmp(totals[t].name, d->category)) t++;
            if (t == CATEGORIES_MAX) continue;
            if (t == count) totals[count++] = (CategoryTotal){d->category, 0};
            totals[t].count++;
        }
    for (unsigned t = 0; t < count; t++) printf("%s\"%s\":%u", t ? "," : "", totals[t].name, totals[t].count);
}

static void print_json(Project *p, DiagSeverity least) {
    unsigned total = 0;
    for (size_t i = 0; i < p->count; i++)
        for (uint32_t k = 0; k < p->files[i].diags.count; k++)
            if (p->files[i].diags.items[k].severity <= least)
                print_json_diag(&p->files[i], &p->files[i].diags.items[k]);
    printf("{\"totals_by_severity\":{");
    for (DiagSeverity s = DIAG_ERROR; s <= least; s++) {
        printf("%s\"%s\":%u", s ? "," : "", diag_severity_name(s), project_count(p, s));
        total += project_count(p, s);
    }
    printf("},\"totals_by_category\":{");
    print_category_totals(p, least);
    printf("},\"files_checked\":%zu,\"total\":%u}\n", p->count, total);
}

/* ---- the commands ---- */

/* What remains of the arguments are paths. False: usage error, reported. */
static bool take_options(Invocation *in, CheckOptions *o) {
    int kept = 1;
    take_no_color(in);
    for (int i = 1; i < in->argc; i++) {
        const char *a = in->argv[i];
        if (!strcmp(a, "--warnings-as-errors"))
            o->warnings_as_errors = true;
        else if (!strcmp(a, "--format") && i + 1 < in->argc &&
                 (!strcmp(in->argv[i + 1], "json") || !strcmp(in->argv[i + 1], "text")))
            o->json = !strcmp(in->argv[++i], "json");
        else if (!strcmp(a, "--format"))
            return usage_error("--format is text or json"), false;
        else if (a[0] == '-' && a[1])
            return usage_error("unknown option '%s'", a), false;
        else
            in->argv[kept++] = in->argv[i];
    }
    in->argc = kept;
    return true;
}

/* Unreadable files are counted in *unread. */
static bool check_paths(Project *p, bt_vm *vm, const PathList *list, unsigned *unread) {
    if (!project_open(p, vm, list)) return false;
    project_compile(p);
    for (size_t i = 0; i < p->count; i++) *unread += !p->files[i].text;
    return true;
}

static int judge(const Project *p, const CheckOptions *o, unsigned unread) {
    if (o->least == DIAG_LINT && !project_count(p, DIAG_ERROR)) {
        unsigned lints = project_count(p, DIAG_LINT), files = 0;
        for (size_t i = 0; i < p->count; i++) files += p->files[i].diags.counts[DIAG_LINT] > 0;
        if (lints) fprintf(stderr, "%u lint diagnostics found in %u file(s)\n", lints, files);
        return lints || unread ? 1 : 0;
    }
    if (project_count(p, DIAG_ERROR) || unread) return 1;
    return o->warnings_as_errors && project_count(p, DIAG_WARNING) ? 1 : 0;
}

static int check(Invocation *in, CheckOptions o) {
    if (!take_options(in, &o)) return EXIT_USAGE;
    PathList list = {0};
    unsigned unread = 0;
    for (int i = 1; i < in->argc; i++) unread += !paths_collect(&list, in->argv[i], false);
    if (in->argc == 1) unread += !paths_collect(&list, ".", false);
    if (!list.count && !unread) fprintf(stderr, "no .bt files found\n");
    bt_vm *vm = start_vm(&in->common);
    Project p = {0};
    int code = 1;
    if (vm && check_paths(&p, vm, &list, &unread)) {
        if (o.json)
            print_json(&p, o.least);
        else
            project_report(&p, o.least);
        code = judge(&p, &o, unread);
    }
    project_close(&p);
    stop_vm(&in->common, vm);
    paths_free(&list);
    return code;
}

int command_check(Invocation *in) { return check(in, (CheckOptions){.least = DIAG_HINT}); }
int command_lint(Invocation *in) { return check(in, (CheckOptions){.least = DIAG_LINT}); }
