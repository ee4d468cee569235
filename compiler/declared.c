/* See declared.h. */
#include "compiler/declared.h"
#include <stdlib.h>
#include <string.h>
#include "compiler/analysis.h"
#include "compiler/parser.h"

enum { PLACE_DEPTH = 200 };

typedef struct {
    const ClassDecl *decl;          /* NULL: a protocol */
    uint32_t text;                  /* that declares it */
    bool walked;                    /* by a walk up the chain: a cycle ends there */
    NameMap methods, class_methods; /* selector -> MethodDecl * */
} DeclaredClass;

typedef struct {
    Module *module; /* NULL: it could not be read */
    bool placed, placing;
} DeclaredText;

struct Declared {
    Arena arena;
    Intern intern;
    NameMap classes; /* name -> DeclaredClass * */
    struct {
        DeclaredText **items;
        uint32_t count;
    } texts;
    CompilerWorld below;
};

Declared *declared_new(const Memory *memory, CompilerWorld below) {
    Declared *d = memory_zalloc(memory, sizeof *d);
    if (!d) return NULL;
    d->below = below;
    arena_init(&d->arena, memory);
    if (intern_init(&d->intern, &d->arena)) return d;
    return declared_free(d), NULL;
}

void declared_free(Declared *d) {
    if (!d) return;
    intern_free(&d->intern);
    const Memory *memory = d->arena.memory;
    arena_free(&d->arena);
    memory_free(memory, d);
}

/* ---- noting ---- */

static void note_methods(Declared *d, NameMap *map, MethodList list) {
    for (uint32_t i = 0; i < list.count; i++) {
        void **slot = name_map_slot(map, &d->arena, list.items[i]->selector);
        if (slot) *slot = list.items[i];
    }
}

static void note_class(Declared *d, const char *name, const ClassDecl *decl) {
    void **slot = name_map_slot(&d->classes, &d->arena, name);
    if (!slot || *slot) return;
    DeclaredClass *c = ARENA_NEW(&d->arena, DeclaredClass);
    c->decl = decl;
    c->text = d->texts.count;
    if (decl) {
        note_methods(d, &c->methods, decl->methods);
        note_methods(d, &c->class_methods, decl->class_methods);
    }
    *slot = c;
}

void declared_add(Declared *d, const char *source, size_t length) {
    DeclaredText *text = ARENA_NEW(&d->arena, DeclaredText);
    SourceFile file;
    DiagList diags;
    diag_list_init(&diags, d->arena.memory);
    if (source_file_init(&file, "", source, length)) {
        text->module = parse_module(&(ParseInput){&file, &d->arena, &d->intern, &diags});
        source_file_free(&file);
    }
    const Module *m = text->module;
    for (uint32_t i = 0; m && i < m->classes.count; i++)
        note_class(d, m->classes.items[i]->name, m->classes.items[i]);
    for (uint32_t i = 0; m && i < m->protocols.count; i++) note_class(d, m->protocols.items[i]->name, NULL);
    diag_list_free(&diags);
    arena_list_push(&d->arena, &d->texts, text);
}

static DeclaredClass *find(const Declared *d, const char *name) {
    return name ? name_map_get(&d->classes, name) : NULL;
}

/* ---- order ---- */

typedef struct {
    Declared *declared;
    uint32_t *order, placed;
} Placing;

/* A chain of texts longer than the recursion goes is no program: hierarchies end at a depth of 20. */
static void place(Placing *p, uint32_t index, unsigned depth) {
    DeclaredText *t = p->declared->texts.items[index];
    if (t->placed || t->placing || depth > PLACE_DEPTH) return;
    t->placing = true;
    const Module *m = t->module;
    for (uint32_t i = 0; m && i < m->classes.count; i++) {
        const DeclaredClass *c = find(p->declared, m->classes.items[i]->super_name);
        if (c) place(p, c->text, depth + 1);
    }
    for (uint32_t i = 0; m && i < m->ext_methods.count; i++) {
        const DeclaredClass *c = find(p->declared, m->ext_methods.items[i]->class_name);
        if (c) place(p, c->text, depth + 1);
    }
    t->placing = false;
    t->placed = true;
    p->order[p->placed++] = index;
}

void declared_order(Declared *d, uint32_t *order) {
    Placing p = {.declared = d, .order = order};
    for (uint32_t i = 0; i < d->texts.count; i++) place(&p, i, 0);
}

/* ---- the world ---- */

static bool ask_below(const Declared *d, const char *name, CompilerClass *out) {
    return d->below.find_class && d->below.find_class(d->below.context, name, out);
}

static const char *const *names_of(Declared *d, FieldDeclList fields, const char *const *inherited,
                                   uint32_t inherited_count) {
    const char **names = arena_try_alloc(&d->arena, (inherited_count + fields.count + 1) * sizeof *names);
    if (!names) return NULL;
    for (uint32_t i = 0; i < inherited_count; i++) names[i] = inherited[i];
    for (uint32_t i = 0; i < fields.count; i++) names[inherited_count + i] = fields.items[i]->name;
    return names;
}

/* What a class adds to what its superclass is. */
static bool describe(Declared *d, const DeclaredClass *c, CompilerClass *out) {
    const ClassDecl *decl = c->decl;
    *out = (CompilerClass){
        .known = true,
        .superclass = decl->super_name,
        .kind = out->known                  ? out->kind
                : decl->kind == CLASS_ACTOR ? BC_KIND_ACTOR
                : decl->kind == CLASS_VALUE ? BC_KIND_VALUE
                                            : BC_KIND_OBJECT,
        .flags = (uint8_t)((decl->is_abstract ? CLASS_ABSTRACT : 0) | (decl->is_sealed ? CLASS_SEALED : 0) |
                           (decl->is_typed ? CLASS_TYPED : 0) | (decl->is_internal ? CLASS_INTERNAL : 0)),
        .has_class_vars = decl->class_vars.count > 0,
        .field_count = out->field_count + decl->fields.count,
        .fields = names_of(d, decl->fields, out->fields, out->field_count),
        .class_var_count = decl->class_vars.count,
        .class_vars = names_of(d, decl->class_vars, NULL, 0)};
    return out->fields && out->class_vars;
}

static bool find_class(void *context, const char *name, CompilerClass *out) {
    Declared *d = context;
    struct {
        DeclaredClass **items;
        uint32_t count;
    } chain = {NULL, 0};
    DeclaredClass *c = find(d, intern_cstring(&d->intern, name));
    if (!c) return ask_below(d, name, out);
    if (!c->decl) {
        *out =
            (CompilerClass){.known = true, .superclass = "Protocol", .flags = CLASS_ABSTRACT | CLASS_SEALED};
        return true;
    }
    const char *top = NULL;
    for (; c && c->decl && !c->walked; c = find(d, top)) {
        c->walked = true;
        if (!arena_list_push(&d->arena, &chain, c)) break;
        top = c->decl->super_name;
    }
    memset(out, 0, sizeof *out);
    if (top && !ask_below(d, top, out)) memset(out, 0, sizeof *out);
    bool known = true;
    for (uint32_t i = chain.count; i-- > 0;) {
        chain.items[i]->walked = false;
        known = known && describe(d, chain.items[i], out);
    }
    return known;
}

static bool find_method(void *context, const char *class_name, const char *selector, bool class_side,
                        uint8_t *flags) {
    Declared *d = context;
    const char *name = intern_cstring(&d->intern, class_name), *wanted = intern_cstring(&d->intern, selector);
    for (uint32_t steps = 0; steps <= d->classes.count; steps++) {
        const DeclaredClass *c = find(d, name);
        if (!c || !c->decl)
            return d->below.find_method &&
                   d->below.find_method(d->below.context, c ? "Protocol" : name, selector, class_side, flags);
        const MethodDecl *m = name_map_get(class_side ? &c->class_methods : &c->methods, wanted);
        if (m) return *flags = m->is_sealed ? METHOD_SEALED : 0, true;
        if (!(name = c->decl->super_name)) return false;
    }
    return false; /* the chain is a circle */
}

CompilerWorld declared_world(Declared *d) {
    return (CompilerWorld){.context = d, .find_class = find_class, .find_method = find_method};
}
