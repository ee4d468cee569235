/* `ir`, `verify`, `disasm`: what the compiler makes of a file, without running it. */
#include <stdlib.h>
#include <string.h>
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
    diag_list_init(&s->diags, NULL);
    if (source_file_init(&s->file, path, s->text, s->length)) return true;
    free(s->text);
    return fail("out of memory"), false;
}

static void source_close(Source *s) {
    diag_list_free(&s->diags);
    source_file_free(&s->file);
    free(s->text);
}

static void source_report(Source *s) {
    diag_print_all(stderr, &s->diags, &s->file, DIAG_HINT, stderr_is_colored());
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
    if (vm && !text && !s.diags.count) fail("out of memory");
    int code = text ? 0 : 1;
    free(text);
    bt_vm_free(vm);
    source_close(&s);
    return code;
}

static char *render_ir(bt_vm *vm, const char *path, Source *s) {
    IrUnit *unit = front_compile_to_ir(vm, path, s->text, s->length, &s->diags);
    char *text = unit ? ir_print_with_source(unit, &s->file) : NULL;
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

/* What is a fault of the compiler in its own IR is the author's in a text that somebody wrote. */
static void blame_the_text(DiagList *diags) {
    static const char prefix[] = "internal error: ";
    for (uint32_t i = 0; i < diags->count; i++) {
        char *message = diags->items[i].message;
        size_t length = sizeof prefix - 1;
        if (message && !strncmp(message, prefix, length))
            memmove(message, message + length, strlen(message + length) + 1);
    }
}

static int verify_file(const char *path) {
    Source s;
    if (!source_open(&s, path)) return 1;
    IrUnit *unit = ir_parse(s.text, s.length, &s.diags);
    bool sound = unit && ir_verify(unit, &s.diags);
    blame_the_text(&s.diags);
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
