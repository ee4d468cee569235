/* Lowering and compile-time diagnostics: each section of tests/lower/*.bt is compiled, and what came out is
 * compared.
 *
 *   //// name [script] [session] [stdlib] [spoil] [bindings: a b]      starts a section; its source follows
 *   //= count WHAT N        statements, operations, constructs, captures, flags of all functions of the unit
 * (see count_*)
 *   //= error LINE text     a diagnostic of that severity, on that line of the section, whose message has the
 * text
 *   //= warning LINE text   (hint LINE text) likewise
 *   //= none                no error and no warning
 * A section with errors must list them all, and each comes once; one without must compile, verify and emit.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"

#ifndef TEST_DIR
#define TEST_DIR "tests"
#endif

static int passed, failed;

/* ---- counting ---- */

static const char *const OP_NAMES[] = {
#define IROP(name, operands, imm, effects, doc) #name,
#include "ir/ir_ops.def"
#undef IROP
};
static const char *const STMT_NAMES[] = {"BIND",    "SNAP",   "SET",      "CONSTRUCT", "REBIND",
                                         "DISCARD", "RETURN", "NONLOCAL", "FAIL"};
static const char *const CONSTRUCT_NAMES[] = {
#define CONSTRUCT(name, operands, frames, first, second, loop, families, doc) #name,
#include "ir/ir_constructs.def"
#undef CONSTRUCT
};
static const char *const CAPTURE_NAMES[] = {"CAP_REGISTER", "CAP_CAPTURE", "CAP_CARRIER", "CAP_STATE",
                                            "CAP_CLASS_VAR"};
static const struct {
    const char *name;
    int flag;
} FLAGS[] = {{"NLR_HOME", FN_NLR_HOME},
             {"HAS_CARRIERS", FN_HAS_CARRIERS},
             {"WRITES_OUTER", FN_WRITES_OUTER},
             {"ACTOR_FIELDS", FN_ACTOR_FIELDS},
             {"BUILDER", FN_BUILDER}};

static long count_frame(const IrFrame *frame, const char *what) {
    long n = 0;
    for (uint32_t i = 0; i < frame->stmt_count; i++) {
        const IrStmt *s = frame->stmts[i];
        if (strcmp(what, STMT_NAMES[s->kind]) == 0) n++;
        if (s->kind == STMT_BIND && strcmp(what, OP_NAMES[s->op]) == 0) n++;
        if (s->kind == STMT_BIND && (s->flags & IR_TAIL) && strcmp(what, "TAIL") == 0) n++;
        if (s->kind != STMT_CONSTRUCT) continue;
        if (strcmp(what, CONSTRUCT_NAMES[s->construct_kind]) == 0) n++;
        if (strcmp(what, "THREADS") == 0) n += s->thread_count;
        for (uint32_t f = 0; f < s->frame_count; f++) n += count_frame(s->frames[f], what);
    }
    return n;
}

static long count_unit(const IrUnit *unit, const char *what) {
    long n = 0;
    if (strcmp(what, "FUNCTIONS") == 0) return unit->function_count;
    for (uint32_t i = 0; i < unit->function_count; i++) {
        const IrFunction *fn = unit->functions[i];
        n += count_frame(fn->body, what);
        if (strcmp(what, "CARRIERS") == 0) n += fn->carrier_count;
        for (uint32_t c = 0; c < fn->capture_count; c++)
            if (strcmp(what, CAPTURE_NAMES[fn->captures[c].kind]) == 0) n++;
        for (size_t f = 0; f < sizeof FLAGS / sizeof *FLAGS; f++)
            if ((fn->flags & FLAGS[f].flag) && strcmp(what, FLAGS[f].name) == 0) n++;
    }
    return n;
}

/* ---- sections ---- */

typedef struct {
    char name[64];
    bool script, session, stdlib, spoil;
    BcText bindings[16];
    uint32_t binding_count;
    const char *file;
    char *text;
    size_t length, capacity;
    char *expect[32];
    uint32_t expect_count;
} Section;

static void complain(const Section *s, const char *format, const char *detail) {
    printf("FAIL %s: %s: ", s->file, s->name);
    printf(format, detail);
    putchar('\n');
}

static const char *severity_word(DiagSeverity s) {
    return s == DIAG_ERROR ? "error" : s == DIAG_WARNING ? "warning" : "hint";
}

static bool diag_expected(const Section *s, SourceFile *file, const Diag *d) {
    for (uint32_t i = 0; i < s->expect_count; i++) {
        char word[16];
        unsigned line;
        int at = 0;
        if (sscanf(s->expect[i], "%15s %u %n", word, &line, &at) < 2 ||
            strcmp(word, severity_word(d->severity)) != 0)
            continue;
        if (source_position(file, d->span.start).line == line && strstr(d->message, s->expect[i] + at))
            return true;
    }
    return false;
}

static bool reported_before(const DiagList *diags, uint32_t index) {
    const Diag *d = &diags->items[index];
    for (uint32_t i = 0; i < index; i++)
        if (diags->items[i].span.start == d->span.start && strcmp(diags->items[i].message, d->message) == 0)
            return true;
    return false;
}

static bool expectation_met(const Section *s, SourceFile *file, const DiagList *diags, const IrUnit *unit,
                            const char *expect) {
    char word[16], what[32];
    long want;
    unsigned line;
    int at = 0;
    if (strcmp(expect, "none") == 0) return !diags->counts[DIAG_ERROR] && !diags->counts[DIAG_WARNING];
    if (sscanf(expect, "count %31s %ld", what, &want) == 2) {
        long got = unit ? count_unit(unit, what) : -1;
        if (got != want) printf("  %s: %s is %ld\n", s->name, what, got);
        return got == want;
    }
    if (sscanf(expect, "%15s %u %n", word, &line, &at) < 2) return false;
    for (uint32_t i = 0; i < diags->count; i++) {
        const Diag *d = &diags->items[i];
        if (strcmp(word, severity_word(d->severity)) == 0 &&
            source_position(file, d->span.start).line == line && strstr(d->message, expect + at))
            return true;
    }
    return false;
}

static void run(const Section *s) {
    DiagList diags;
    diag_list_init(&diags, NULL);
    SourceFile file;
    source_file_init(&file, s->name, s->text, s->length);
    CompileOptions options = {.name = s->name,
                              .stdlib = s->stdlib,
                              .script = s->script,
                              .session = s->session,
                              .spoil_methods = s->spoil,
                              .bindings = s->bindings,
                              .binding_count = s->binding_count};
    IrUnit *unit = compile_to_ir(&options, s->text, s->length, &diags);
    bool ok = true;
    for (uint32_t i = 0; i < s->expect_count; i++) {
        if (expectation_met(s, &file, &diags, unit, s->expect[i])) continue;
        ok = false;
        complain(s, "not met: %s", s->expect[i]);
    }
    for (uint32_t i = 0; i < diags.count; i++) {
        if (diags.items[i].severity != DIAG_ERROR) continue;
        bool again = reported_before(&diags, i);
        if (!again && diag_expected(s, &file, &diags.items[i])) continue;
        ok = false;
        complain(s, again ? "reported twice: %s" : "unexpected error: %s", diags.items[i].message);
    }
    if (!ok && unit) {
        char *text = ir_print(unit);
        if (text) fputs(text, stdout);
        free(text);
    }
    if (unit) ir_unit_free(unit);
    if (ok && !diag_error_count(&diags)) {
        BcUnit *bc = compile_source(&options, s->text, s->length, &diags);
        if (!bc) ok = false, complain(s, "%s", "does not emit");
        char reason[256];
        if (bc && !bc_check(bc, reason, sizeof reason)) ok = false, complain(s, "bytecode check: %s", reason);
        if (bc) bc_unit_free(bc);
    }
    if (ok)
        passed++;
    else
        failed++;
    source_file_free(&file);
    diag_list_free(&diags);
}

/* ---- reading ---- */

static void section_clear(Section *s) {
    for (uint32_t i = 0; i < s->expect_count; i++) free(s->expect[i]);
    for (uint32_t i = 0; i < s->binding_count; i++) free((char *)(uintptr_t)s->bindings[i].bytes);
    free(s->text);
    memset(s, 0, sizeof *s);
}

static void section_head(Section *s, char *line) {
    bool bindings = false, first = true;
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"), first = false) {
        if (first)
            snprintf(s->name, sizeof s->name, "%s", word);
        else if (bindings && s->binding_count < 16)
            s->bindings[s->binding_count++] = (BcText){strdup(word), (uint32_t)strlen(word)};
        else if (strcmp(word, "script") == 0)
            s->script = true;
        else if (strcmp(word, "session") == 0)
            s->script = s->session = true;
        else if (strcmp(word, "stdlib") == 0)
            s->stdlib = true;
        else if (strcmp(word, "spoil") == 0)
            s->spoil = true;
        else if (strcmp(word, "bindings:") == 0)
            bindings = true;
    }
}

static void section_line(Section *s, const char *line) {
    size_t n = strlen(line);
    if (s->length + n + 1 > s->capacity) {
        s->capacity = (s->length + n + 1) * 2;
        s->text = realloc(s->text, s->capacity);
        if (!s->text) exit(2);
    }
    memcpy(s->text + s->length, line, n + 1);
    s->length += n;
}

static void run_file(const char *path) {
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("FAIL cannot read %s\n", path);
        failed++;
        return;
    }
    Section s = {0};
    char line[2048];
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "//// ", 5) == 0) {
            if (s.text) run(&s);
            section_clear(&s);
            s.file = strrchr(path, '/') + 1;
            section_head(&s, line + 5);
        } else if (strncmp(line, "//= ", 4) == 0 && s.expect_count < 32) {
            line[strcspn(line, "\n")] = 0;
            s.expect[s.expect_count++] = strdup(line + 4);
        } else {
            section_line(&s, line);
        }
    }
    if (s.text) run(&s);
    section_clear(&s);
    fclose(f);
}

static int is_case(const struct dirent *e) {
    size_t n = strlen(e->d_name);
    return n > 3 && strcmp(e->d_name + n - 3, ".bt") == 0;
}

int main(int argc, char **argv) {
    const char *dir = TEST_DIR "/lower";
    struct dirent **names;
    int count = argc > 1 ? 0 : scandir(dir, &names, is_case, alphasort);
    for (int i = 1; i < argc; i++) run_file(argv[i]);
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", dir, names[i]->d_name);
        run_file(path);
        free(names[i]);
    }
    if (count > 0) free(names);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
