/* `build`: the images of a project under _build/dev, or one executable file (spec tooling 1.2).
 *
 * An image holds the source that it was made of, so a file is unchanged if its image loads and says the same
 * text. It is compiled again nevertheless if a class that it extends does not stand in an unchanged file or
 * in the library: where the fields of a class lie depends on its superclass. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "vm/cli/bundle.h"
#include "vm/cli/manifest.h"
#include "vm/cli/project.h"

typedef struct {
    const char *path, *output, *entry; /* NULL: not given */
    bool force, no_warnings;
} BuildOptions;

typedef struct {
    Project project;
    const char *root; /* what is built */
    char *directory;  /* where the images go */
    BcUnit **old;     /* units of images that are up to date so far, by file */
    size_t *order;    /* indexes of all good files, superclasses first */
    size_t order_count, unchanged;
} Build;

/* ---- images on disk ---- */

/* The image of a source: its path below the directory of images. Caller frees. */
static char *image_path(const Build *b, const char *source) {
    char *path = NULL;
    size_t root = strlen(b->root);
    if (!strncmp(source, b->root, root) && source[root] == '/') source += root;
    while (*source == '/' || !strncmp(source, "./", 2)) source++;
    return asprintf(&path, "%s/%.*s.btimage", b->directory, (int)(strlen(source) - strlen(".bt")), source) < 0
               ? NULL
               : path;
}

static uint8_t *read_image(const char *path, size_t *length) {
    FILE *in = fopen(path, "rb");
    if (!in) return NULL;
    uint8_t *bytes = NULL;
    if (fseek(in, 0, SEEK_END) == 0 && ftell(in) > 0) {
        *length = (size_t)ftell(in);
        rewind(in);
        bytes = malloc(*length);
    }
    if (bytes && fread(bytes, 1, *length, in) != *length) free(bytes), bytes = NULL;
    fclose(in);
    return bytes;
}

static bool write_image(const char *path, const ProjectFile *f) {
    char *whole = NULL, *parents = strdup(path);
    bool good = parents && make_parent_directories(parents) && asprintf(&whole, "%s.new", path) > 0;
    FILE *out = good ? fopen(whole, "wb") : NULL;
    good = out && fwrite(f->image, 1, f->image_length, out) == f->image_length;
    if (out) good = fclose(out) == 0 && good;
    good = good && rename(whole, path) == 0;
    if (!good) fail("cannot write %s: %s", path, strerror(errno));
    free(parents);
    free(whole);
    return good;
}

static void take_old_image(Build *b, size_t index) {
    ProjectFile *f = &b->project.files[index];
    char *path = image_path(b, f->path), reason[256];
    f->image = path && f->text ? read_image(path, &f->image_length) : NULL;
    BcUnit *unit = f->image ? bc_decode(NULL, f->image, f->image_length, reason, sizeof reason) : NULL;
    free(path);
    if (unit && unit->source.length == f->length &&
        (!f->length || !memcmp(unit->source.bytes, f->text, f->length))) {
        b->old[index] = unit;
        return;
    }
    if (unit) bc_unit_free(unit);
    free(f->image);
    f->image = NULL;
}

/* ---- what must be compiled again ---- */

static bool text_same(BcText a, BcText b) {
    return a.length == b.length && !memcmp(a.bytes, b.bytes, a.length);
}

static bool defined_by_old(const Build *b, BcText name) {
    for (size_t i = 0; i < b->project.count; i++)
        for (uint32_t k = 0; b->old[i] && k < b->old[i]->class_count; k++)
            if (text_same(b->old[i]->classes[k].name, name)) return true;
    return front_has_class(b->project.vm, name.bytes, name.length);
}

static bool stands_alone(const Build *b, const BcUnit *unit) {
    for (uint32_t k = 0; k < unit->class_count; k++)
        if (unit->classes[k].superclass.length && !defined_by_old(b, unit->classes[k].superclass))
            return false;
    for (uint32_t k = 0; k < unit->extension_count; k++)
        if (!defined_by_old(b, unit->extensions[k].class_name)) return false;
    return true;
}

static void drop_old(Build *b, size_t index) {
    bc_unit_free(b->old[index]);
    b->old[index] = NULL;
    free(b->project.files[index].image);
    b->project.files[index].image = NULL;
}

static void drop_dependents(Build *b) {
    for (bool dropped = true; dropped;) {
        dropped = false;
        for (size_t i = 0; i < b->project.count; i++)
            if (b->old[i] && !stands_alone(b, b->old[i])) drop_old(b, i), dropped = true;
    }
}

static bool ready(const Build *b, const BcUnit *unit) {
    for (uint32_t k = 0; k < unit->class_count; k++) {
        BcText super = unit->classes[k].superclass;
        bool own = false;
        for (uint32_t m = 0; m < unit->class_count; m++) own = own || text_same(unit->classes[m].name, super);
        if (super.length && !own && !front_has_class(b->project.vm, super.bytes, super.length)) return false;
    }
    for (uint32_t k = 0; k < unit->extension_count; k++)
        if (!front_has_class(b->project.vm, unit->extensions[k].class_name.bytes,
                             unit->extensions[k].class_name.length))
            return false;
    return true;
}

/* Files that are up to date become part of the world, superclasses first. What the VM refuses is compiled. */
static void define_old(Build *b) {
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t i = 0; i < b->project.count; i++) {
            char reason[512];
            if (!b->old[i] || !ready(b, b->old[i])) continue;
            bool good = front_define(b->project.vm, b->old[i], reason, sizeof reason);
            b->old[i] = NULL;
            b->project.files[i].settled = b->project.files[i].compiled = good;
            if (good) b->order[b->order_count++] = i, b->unchanged++;
            progress = true;
        }
    }
    for (size_t i = 0; i < b->project.count; i++)
        if (b->old[i]) drop_old(b, i);
}

/* ---- the build ---- */

static void announce(const Build *b) {
    size_t count = b->project.count, left = count - b->unchanged;
    if (left == 0)
        fprintf(stderr, "All %zu files unchanged — nothing to compile\n", count);
    else if (b->unchanged)
        fprintf(stderr, "Compiling %zu of %zu files (%zu unchanged)\n", left, count, b->unchanged);
    else
        fprintf(stderr, "Compiling %zu files\n", count);
}

static void summarise(const Project *p) {
    static const char *const plural[] = {"errors", "warnings", "hints", "lints"};
    bool any = false;
    for (DiagSeverity s = DIAG_ERROR; s <= DIAG_HINT; s++) {
        unsigned count = project_count(p, s);
        if (count)
            fprintf(stderr, "%s%u %s", any ? ", " : "", count,
                    count == 1 ? diag_severity_name(s) : plural[s]);
        any = any || count;
    }
    if (any) fputc('\n', stderr);
}

static bool write_images(Build *b) {
    bool good = true;
    for (size_t k = 0; k < b->project.order_count; k++) {
        ProjectFile *f = &b->project.files[b->project.order[k]];
        if (!f->compiled || !f->image) continue;
        b->order[b->order_count++] = b->project.order[k];
        char *path = image_path(b, f->path);
        good = path && write_image(path, f) && good;
        free(path);
    }
    return good;
}

/* --entry, or the class-side main: or run of a class Main. */
static const char *entry_of(const Build *b, const BuildOptions *o) {
    if (o->entry) return o->entry;
    if (bt_vm_class_responds(b->project.vm, "Main", "main:")) return "Main main:";
    if (bt_vm_class_responds(b->project.vm, "Main", "run")) return "Main run";
    return NULL;
}

static bool entry_exists(const Build *b, const char *entry) {
    char *class_name = strdup(entry), *selector = class_name ? strchr(class_name, ' ') : NULL;
    if (selector) *selector++ = 0;
    bool good = selector && bt_vm_class_responds(b->project.vm, class_name, selector);
    free(class_name);
    return good;
}

static bool write_program(const Build *b, const BuildOptions *o) {
    const char *entry = entry_of(b, o);
    if (!entry)
        return fail("there is no class Main with run or main:; say --entry \"Class selector\""), false;
    if (!entry_exists(b, entry)) return fail("no class has the entry '%s'", entry), false;
    BundleModule *modules = calloc(b->order_count + 1, sizeof *modules);
    if (!modules) return fail("out of memory"), false;
    for (size_t k = 0; k < b->order_count; k++) {
        const ProjectFile *f = &b->project.files[b->order[k]];
        modules[k] = (BundleModule){f->path, f->image, f->image_length};
    }
    bool good = bundle_write(o->output, entry, modules, b->order_count);
    free(modules);
    return good;
}

static int build(Build *b, const BuildOptions *o) {
    Project *p = &b->project;
    p->want_images = true;
    for (size_t i = 0; i < p->count && !o->force; i++) take_old_image(b, i);
    drop_dependents(b);
    define_old(b);
    announce(b);
    project_compile(p);
    bool good = write_images(b);
    project_report(p, o->no_warnings ? DIAG_ERROR : DIAG_HINT);
    if (!o->no_warnings || project_count(p, DIAG_ERROR)) summarise(p);
    for (size_t i = 0; i < p->count; i++) good = good && p->files[i].compiled;
    if (good && o->output) good = write_program(b, o);
    return good ? 0 : 1;
}

static bool is_directory(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A package is built from its src; anything else from what it is. */
static bool find_sources(const char *path, PathList *list) {
    char *source = NULL;
    bool package = is_directory(path) && manifest_exists(path) && asprintf(&source, "%s/src", path) > 0;
    bool good = paths_collect(list, package ? source : path, false);
    free(source);
    return good;
}

static int build_path(Invocation *in, const BuildOptions *o) {
    PathList list = {0};
    Build b = {.root = o->path};
    bt_vm *vm = find_sources(o->path, &list) ? start_vm(&in->common) : NULL;
    int code = 1;
    if (vm && asprintf(&b.directory, "%s/_build/dev", is_directory(o->path) ? o->path : ".") < 0)
        b.directory = NULL;
    b.old = calloc(list.count + 1, sizeof *b.old);
    b.order = calloc(list.count + 1, sizeof *b.order);
    bool ready = b.directory && b.old && b.order;
    if (vm && !ready) fail("out of memory");
    if (vm && ready && project_open(&b.project, vm, &list)) code = build(&b, o);
    project_close(&b.project);
    free(b.directory);
    free(b.old);
    free(b.order);
    stop_vm(&in->common, vm);
    paths_free(&list);
    return code;
}

int command_build(Invocation *in) {
    BuildOptions o = {0};
    take_no_color(in);
    for (int i = 1; i < in->argc; i++) {
        const char *a = in->argv[i];
        if (!strcmp(a, "--force"))
            o.force = true;
        else if (!strcmp(a, "--no-warnings"))
            o.no_warnings = true;
        else if (!strcmp(a, "--escript"))
            continue; /* what -o makes */
        else if (!strcmp(a, "-o") && i + 1 < in->argc)
            o.output = in->argv[++i];
        else if (!strcmp(a, "--entry") && i + 1 < in->argc)
            o.entry = in->argv[++i];
        else if (a[0] == '-')
            return usage_error("unknown option '%s', or its value is missing", a);
        else if (o.path)
            return usage_error("build takes one path");
        else
            o.path = a;
    }
    if (o.entry && !o.output) return usage_error("--entry needs -o FILE");
    if (!o.path) o.path = ".";
    return build_path(in, &o);
}
