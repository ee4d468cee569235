/* See project.h. A file whose superclass stands in another one is compiled after it: rounds, until nothing
 * moves. What then still fails is compiled with its errors spoiling single methods only, so that an error in
 * one file is not followed by complaints about its classes from all others. At last every file that had
 * something to complain about is compiled again, with all classes in view. */
#include "vm/cli/project.h"

#include <stdlib.h>
#include <string.h>

bool project_open(Project *p, bt_vm *vm, const PathList *paths) {
    *p = (Project){.vm = vm, .count = paths->count};
    p->files = calloc(paths->count + 1, sizeof *p->files);
    p->order = calloc(paths->count + 1, sizeof *p->order);
    if (!p->files || !p->order) {
        fail("out of memory");
        return false;
    }
    for (size_t i = 0; i < p->count; i++) {
        ProjectFile *f = &p->files[i];
        f->path = paths->items[i];
        diag_list_init(&f->diags, NULL);
        f->text = read_source(f->path, &f->length);
        f->settled = !f->text;
        if (f->text)
            (void)source_file_init(&f->file, f->path, f->text, f->length); /* read_source has the limit */
    }
    return true;
}

void project_close(Project *p) {
    for (size_t i = 0; p->files && i < p->count; i++) {
        ProjectFile *f = &p->files[i];
        diag_list_free(&f->diags);
        source_file_free(&f->file);
        free(f->text);
        free(f->image);
    }
    free(p->files);
    free(p->order);
}

/* The unit becomes part of the world of the others. */
static void define(Project *p, ProjectFile *f, BcUnit *unit) {
    char reason[512];
    if (front_define(p->vm, unit, reason, sizeof reason)) return;
    diag_add(&f->diags, DIAG_ERROR, "inheritance", span_make(0, 0), "%s", reason);
    f->compiled = false;
}

static BcUnit *compile(Project *p, ProjectFile *f) {
    diag_list_free(&f->diags);
    BcUnit *unit = front_compile(p->vm, f->path, f->text, f->length, &f->diags);
    f->compiled = unit != NULL;
    free(f->image);
    f->image = NULL;
    if (unit && p->want_images) {
        f->image = bc_encode(unit, &f->image_length);
        if (!f->image) f->compiled = false, fail("out of memory");
    }
    return unit;
}

/* One round; did any file become part of the world? */
static bool define_what_compiles(Project *p, bool *defined) {
    bool progress = false;
    for (size_t i = 0; i < p->count; i++) {
        ProjectFile *f = &p->files[i];
        if (f->settled || defined[i]) continue;
        BcUnit *unit = compile(p, f);
        if (!unit) continue;
        define(p, f, unit);
        defined[i] = progress = true;
        p->order[p->order_count++] = i;
    }
    return progress;
}

static bool define_what_is_spoiled(Project *p, bool *defined, bool *spoiled) {
    for (size_t i = 0; i < p->count; i++) {
        ProjectFile *f = &p->files[i];
        DiagList ignored;
        char reason[512];
        if (f->settled || defined[i] || spoiled[i]) continue;
        spoiled[i] = true;
        diag_list_init(&ignored, NULL);
        BcUnit *unit = front_compile_spoiled(p->vm, f->path, f->text, f->length, &ignored);
        diag_list_free(&ignored);
        if (unit && front_define(p->vm, unit, reason, sizeof reason)) return true;
    }
    return false;
}

void project_compile(Project *p) {
    bool *defined = calloc(2 * p->count + 1, sizeof *defined), *spoiled = defined + p->count;
    if (!defined) {
        fail("out of memory");
        return;
    }
    while (define_what_compiles(p, defined) || define_what_is_spoiled(p, defined, spoiled)) {
    }
    for (size_t i = 0; i < p->count; i++) {
        ProjectFile *f = &p->files[i];
        if (f->settled || !f->diags.count) continue;
        if (defined[i] && !f->compiled) continue; /* refused when it was defined: the reason stands */
        BcUnit *unit = compile(p, f);
        if (unit) bc_unit_free(unit);
    }
    free(defined);
}

unsigned project_count(const Project *p, DiagSeverity severity) {
    unsigned count = 0;
    for (size_t i = 0; i < p->count; i++) count += p->files[i].diags.counts[severity];
    return count;
}

void project_report(Project *p, DiagSeverity least) {
    for (size_t i = 0; i < p->count; i++)
        diag_print_all(stderr, &p->files[i].diags, &p->files[i].file, least, stderr_is_colored());
}
