/* The corridor: parse, analyse, lower, verify, emit. */
#include <string.h>

#include "compiler/lower.h"
#include "compiler/parser.h"

typedef struct {
    Arena arena;
    Intern intern;
    SourceFile file;
    Analysis a;
    ParseInput input;
    uint32_t errors_before;
} Compilation;

static bool compilation_begin(Compilation *c, const CompileOptions *options, const char *source,
                              size_t length, DiagList *diags) {
    memset(c, 0, sizeof *c);
    c->errors_before = diag_error_count(diags);
    arena_init(&c->arena, options->memory);
    c->a = (Analysis){.options = options, .arena = &c->arena, .intern = &c->intern, .diags = diags};
    c->input = (ParseInput){&c->file, &c->arena, &c->intern, diags};
    if (!source_file_init(&c->file, options->name ? options->name : "", source, length)) {
        diag_add(diags, DIAG_ERROR, "syntax", span_make(0, 0), "Source text is too long");
        intern_init(&c->intern, &c->arena);
        return false;
    }
    c->file.memory = options->memory;
    return intern_init(&c->intern, &c->arena) && constructs_init(&c->a);
}

static void compilation_end(Compilation *c) {
    if (arena_failed(&c->arena) && diag_error_count(c->a.diags) == c->errors_before)
        diag_add(c->a.diags, DIAG_ERROR, "syntax", span_make(0, 0), "Out of memory while compiling");
    source_file_free(&c->file);
    intern_free(&c->intern);
    arena_free(&c->arena);
}

static bool failed(const Compilation *c) {
    return arena_failed(&c->arena) || diag_error_count(c->a.diags) != c->errors_before;
}

/* ---- analysis of everything ---- */

static void analyse_methods(Analysis *a, ClassInfo *c, MethodList list, bool class_side) {
    for (uint32_t i = 0; i < list.count; i++)
        list.items[i]->facts = facts_of_method(a, c, list.items[i], class_side);
}

static void analyse_class(Analysis *a, ClassInfo *c) {
    ClassDecl *d = c->decl;
    c->defaults = d->fields.count ? facts_of_defaults(a, c) : NULL;
    for (uint32_t i = 0; i < d->class_vars.count; i++) {
        FieldDecl *f = d->class_vars.items[i];
        if (f->default_value) f->facts = facts_of_default(a, c, f->name, f->default_value);
    }
    analyse_methods(a, c, d->methods, false);
    analyse_methods(a, c, d->class_methods, true);
}

static void analyse_script(Analysis *a) {
    NodeList *statements = &a->module->statements;
    if (!statements->count) return;
    if (!a->options->script) {
        report(a, DIAG_ERROR, "syntax", statements->items[0]->span,
               "Expressions are not allowed at the top level here");
        return;
    }
    facts_of_script(a, statements);
}

static void analyse(Analysis *a) {
    Module *m = a->module;
    protocols_to_classes(a);
    classes_resolve(a);
    check_unit(a);
    for (uint32_t i = 0; i < m->classes.count; i++)
        if (m->classes.items[i]->facts) analyse_class(a, m->classes.items[i]->facts);
    for (uint32_t i = 0; i < m->ext_methods.count; i++) {
        ExtMethod *e = m->ext_methods.items[i];
        e->method->facts = facts_of_method(a, class_find(a, e->class_name), e->method, e->is_class_side);
    }
    analyse_script(a);
}

static bool module_is_empty(const Module *m) {
    return !m->statements.count && !m->classes.count && !m->ext_methods.count && !m->protocols.count &&
           !m->aliases.count;
}

/* A module, lowered; NULL with an error. */
static IrUnit *lower_source(Compilation *c, const char *source, size_t length) {
    c->a.module = parse_module(&c->input);
    if (!c->a.module || failed(c)) return NULL;
    if (c->a.options->refuse_empty && module_is_empty(c->a.module))
        report(&c->a, DIAG_ERROR, "syntax", span_make(0, 0), "No expressions to compile");
    analyse(&c->a);
    if (failed(c)) return NULL;
    return lower_module(&c->a, source, length);
}

/* `compile:source:`: one method, as an extension of a class that exists. */
static IrUnit *lower_method_source(Compilation *c, const char *class_name, bool class_side,
                                   const char *source, size_t length) {
    Analysis *a = &c->a;
    MethodDecl *method = parse_method(&c->input);
    if (!method || failed(c)) return NULL;
    a->module = ARENA_NEW(&c->arena, Module);
    class_side = class_side || method->is_class_side;
    ClassInfo *info = class_find(a, intern_cstring(&c->intern, class_name));
    check_method(a, info, method, class_side);
    method->facts = facts_of_method(a, info, method, class_side);
    if (failed(c)) return NULL;
    return lower_single_method(a, info, method, class_side, source, length);
}

/* ---- entries ---- */

/* IR stands alone: the tree is gone before it is verified, so a compilation never holds tree, IR and bytecode
 * at once. */
static IrUnit *lowered(const CompileOptions *options, const char *source, size_t length, DiagList *diags) {
    Compilation c;
    IrUnit *unit = NULL;
    if (compilation_begin(&c, options, source, length, diags)) unit = lower_source(&c, source, length);
    compilation_end(&c);
    return unit;
}

static IrVerified *verified(IrUnit *unit, DiagList *diags) { return unit ? ir_verify(unit, diags) : NULL; }

static BcUnit *emit_unit(IrUnit *unit, DiagList *diags) {
    IrVerified *good = verified(unit, diags);
    BcUnit *out = good ? ir_emit(good, diags) : NULL;
    ir_unit_free(unit);
    return out;
}

BcUnit *compile_source(const CompileOptions *options, const char *source, size_t length, DiagList *diags) {
    return emit_unit(lowered(options, source, length, diags), diags);
}

IrUnit *compile_to_ir(const CompileOptions *options, const char *source, size_t length, DiagList *diags) {
    IrUnit *unit = lowered(options, source, length, diags);
    if (verified(unit, diags)) return unit;
    ir_unit_free(unit);
    return NULL;
}

BcUnit *compile_method_source(const CompileOptions *options, const char *class_name, bool class_side,
                              const char *source, size_t length, DiagList *diags) {
    Compilation c;
    IrUnit *unit = NULL;
    if (compilation_begin(&c, options, source, length, diags))
        unit = lower_method_source(&c, class_name, class_side, source, length);
    compilation_end(&c);
    return emit_unit(unit, diags);
}
