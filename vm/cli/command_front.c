/* `check`, `ir`, `verify`, `disasm`: what the compiler thinks of a file, without running it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "vm/api/front.h"
#include "vm/cli/cli.h"

typedef struct {
    char *text;
    size_t length;
    SourceFile file;
    DiagList diags;
} Source;

static bool source_open(Source *s, const char *path) {
    memset(s, 0, sizeof *s);
    s->text = read_source(path, &s->length);
    if (!s->text) return false;
    diag_list_init(&s->diags);
    return source_file_init(&s->file, path, s->text, s->length);
}

static void source_close(Source *s) {
    diag_list_free(&s->diags);
    source_file_free(&s->file);
    free(s->text);
}

static void source_report(Source *s) { diag_print_all(stderr, &s->diags, &s->file, DIAG_HINT, false); }

/* ---- check ---- */

typedef struct {
    bt_vm *vm;
    unsigned files, failed;
} Check;

static void check_file(Check *c, const char *path) {
    Source s;
    c->files++;
    if (!source_open(&s, path)) {
        c->failed++;
        return;
    }
    BcUnit *unit = front_compile(c->vm, path, s.text, s.length, &s.diags);
    source_report(&s);
    if (!unit)
        c->failed++;
    else
        bc_unit_free(unit);
    source_close(&s);
}

static void check_path(Check *c, const char *path, unsigned depth);

static void check_directory(Check *c, const char *path, unsigned depth) {
    DIR *dir = opendir(path);
    if (!dir) {
        c->failed++;
        fail("cannot read directory %s", path);
        return;
    }
    char **names = NULL;
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        char **grown = realloc(names, (count + 1) * sizeof *names);
        if (!grown) break;
        names = grown;
        if (asprintf(&names[count], "%s/%s", path, entry->d_name) < 0) break;
        count++;
    }
    closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        bool directory = stat(names[i], &status) == 0 && S_ISDIR(status.st_mode);
        if (directory || has_suffix(names[i], ".bt")) check_path(c, names[i], depth + 1);
        free(names[i]);
    }
    free(names);
}

static void check_path(Check *c, const char *path, unsigned depth) {
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        if (depth < 64) check_directory(c, path, depth);
    } else
        check_file(c, path);
}

int command_check(Invocation *in) {
    Check c = {.vm = start_vm(&in->common)};
    if (!c.vm) return 1;
    for (int i = 1; i < in->argc; i++) check_path(&c, in->argv[i], 0);
    if (in->argc == 1) check_path(&c, ".", 0);
    bt_vm_free(c.vm);
    if (c.files == 0 && c.failed == 0) fprintf(stderr, "no .bt files found\n");
    return c.failed ? 1 : 0;
}

/* ---- ir, disasm ---- */

static int print_form(Invocation *in, char *(*render)(bt_vm *vm, const char *path, Source *s)) {
    if (in->argc != 2) return usage_error("%s needs one file", in->argv[0]);
    Source s;
    if (!source_open(&s, in->argv[1])) return 1;
    bt_vm *vm = start_vm(&in->common);
    char *text = vm ? render(vm, in->argv[1], &s) : NULL;
    source_report(&s);
    if (text) fputs(text, stdout);
    int code = text ? 0 : 1;
    free(text);
    bt_vm_free(vm);
    source_close(&s);
    return code;
}

static char *render_ir(bt_vm *vm, const char *path, Source *s) {
    IrUnit *unit = front_compile_to_ir(vm, path, s->text, s->length, &s->diags);
    char *text = unit ? ir_print(unit) : NULL;
    ir_unit_free(unit);
    return text;
}

static char *render_bytecode(bt_vm *vm, const char *path, Source *s) {
    BcUnit *unit = front_compile(vm, path, s->text, s->length, &s->diags);
    char *text = unit ? bc_disassemble(unit) : NULL;
    if (unit) bc_unit_free(unit);
    return text;
}

int command_ir(Invocation *in) { return print_form(in, render_ir); }
int command_disasm(Invocation *in) { return print_form(in, render_bytecode); }

/* ---- verify ---- */

static int verify_file(const char *path) {
    Source s;
    if (!source_open(&s, path)) return 1;
    IrUnit *unit = ir_parse(s.text, s.length, &s.diags);
    bool sound = unit && ir_verify(unit, &s.diags);
    source_report(&s);
    if (sound) printf("%s: verified\n", path);
    ir_unit_free(unit);
    source_close(&s);
    return sound ? 0 : 1;
}

int command_verify(Invocation *in) {
    if (in->argc < 2) return usage_error("verify needs a file");
    int code = 0;
    for (int i = 1; i < in->argc; i++) code |= verify_file(in->argv[i]);
    return code;
}
