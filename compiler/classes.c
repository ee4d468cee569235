/* The class table: classes of the unit and, asked by name, of the world. */
#include "compiler/analysis.h"
#include "vm/bytecode/similar.h"

#include <string.h>

static const struct {
    const char *name, *superclass;
    uint8_t kind, flags;
} KNOWN[] = {
#define KNOWN_CLASS(name, superclass, kind, abstract, sealed)                                                \
    {name, superclass, BC_KIND_##kind, (abstract ? CLASS_ABSTRACT : 0) | (sealed ? CLASS_SEALED : 0)},
#include "compiler/known_classes.def"
#undef KNOWN_CLASS
};

static bool ask_known(const char *name, CompilerClass *out) {
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (strcmp(KNOWN[i].name, name) != 0) continue;
        *out = (CompilerClass){
            .known = true, .superclass = KNOWN[i].superclass, .kind = KNOWN[i].kind, .flags = KNOWN[i].flags};
        return true;
    }
    return false;
}

static bool ask_world(Analysis *a, const char *name, CompilerClass *out) {
    const CompilerWorld *world = &a->options->world;
    memset(out, 0, sizeof *out);
    if (world->find_class && world->find_class(world->context, name, out)) return true;
    if (out->known) a->arena->failed = true;
    return (!world->find_class || a->options->stdlib) && ask_known(name, out);
}

static void fill_from_world(Analysis *a, ClassInfo *c) {
    CompilerClass w;
    if (!ask_world(a, c->name, &w)) return;
    c->known = true;
    c->super_name = w.superclass ? intern_cstring(a->intern, w.superclass) : NULL;
    c->kind = w.kind;
    c->flags = w.flags;
    c->has_class_vars = w.has_class_vars || w.class_var_count;
    for (uint32_t i = 0; i < w.field_count; i++)
        ptr_set_add(&c->fields, a->arena, intern_cstring(a->intern, w.fields[i]));
    class_slots_known(a, c, &w);
    for (uint32_t i = 0; i < w.class_var_count; i++)
        ptr_set_add(&c->class_vars, a->arena, intern_cstring(a->intern, w.class_vars[i]));
}

static ClassInfo *class_slot(Analysis *a, const char *name, bool *made) {
    void **slot = name_map_slot(&a->classes, a->arena, name);
    if (slot && *slot) return *slot;
    ClassInfo *c = ARENA_NEW(a->arena, ClassInfo);
    c->name = name;
    *made = true;
    if (slot) *slot = c;
    return c;
}

/* A TestCase has the slots that its methods assign to, whether it declares them or not. */
static void declare_assigned(Analysis *a, ClassInfo *c) {
    for (uint32_t i = 0; i < c->decl->assigned.count; i++) {
        const Node *field = c->decl->assigned.items[i];
        const char *name = field->as.field.name;
        if (ptr_set_has(&c->fields, name) || ptr_set_has(&c->class_vars, name)) continue;
        FieldDecl *f = ARENA_NEW(a->arena, FieldDecl);
        f->keyword = DECL_FIELD;
        f->name = name;
        f->span = f->name_span = field->span;
        arena_list_push(a->arena, &c->decl->fields, f);
        ptr_set_add(&c->fields, a->arena, name);
    }
}

/* What follows from the superclass, which is resolved. */
static void inherit(Analysis *a, ClassInfo *c) {
    ClassInfo *s = c->superclass;
    c->resolved = true;
    c->resolving = false;
    bool named_test = c->name == a->names.TestCase, named_exception = c->name == a->names.Exception;
    c->is_test_case = named_test || (s && s->is_test_case);
    c->is_exception = named_exception || (s && s->is_exception);
    if (!c->decl) return;
    c->kind = c->name == a->names.Value      ? BC_KIND_VALUE
              : c->name == a->names.Actor    ? BC_KIND_ACTOR
              : s && s->known                ? s->kind
              : c->decl->kind == CLASS_ACTOR ? BC_KIND_ACTOR
              : c->decl->kind == CLASS_VALUE ? BC_KIND_VALUE
                                             : BC_KIND_OBJECT;
    for (uint32_t i = 0; s && i < s->fields.count; i++) ptr_set_add(&c->fields, a->arena, s->fields.items[i]);
    c->inherited_fields = c->fields.count;
    for (uint32_t i = 0; i < c->decl->fields.count; i++)
        ptr_set_add(&c->fields, a->arena, c->decl->fields.items[i]->name);
    for (uint32_t i = 0; i < c->decl->class_vars.count; i++)
        ptr_set_add(&c->class_vars, a->arena, c->decl->class_vars.items[i]->name);
    c->has_class_vars = c->class_vars.count > 0;
    if (c->is_test_case) declare_assigned(a, c);
    class_slots_place(a, c);
}

static void report_cycle(Analysis *a, ClassInfo *c) {
    if (c->decl)
        diag_add(a->diags, DIAG_ERROR, "inheritance", c->decl->name_span,
                 "Class `%s` inherits from itself: cycle in class hierarchy", c->name);
}

void suggest_class(Analysis *a, Diag *d, const char *name) {
    const CompilerWorld *world = &a->options->world;
    const char *known = world->similar_class ? world->similar_class(world->context, name) : NULL;
    Nearest near;
    nearest_begin(&near, name, intern_length(name));
    if (known) nearest_try(&near, known, strlen(known));
    for (uint32_t i = 0; i < a->module->classes.count; i++) {
        const char *own = a->module->classes.items[i]->name;
        nearest_try(&near, own, intern_length(own));
    }
    static const char *const SHARED[] = {"Transcript", "Workspace", "Beamtalk"};
    for (size_t i = 0; i < sizeof SHARED / sizeof *SHARED; i++)
        nearest_try(&near, SHARED[i], strlen(SHARED[i]));
    if (near.best) diag_set_help(d, "did you mean `%s`?", near.best);
}

static void report_missing(Analysis *a, ClassInfo *c) {
    ClassInfo *s = c->superclass;
    if (!s || s->known || !c->decl || (a->options->stdlib && !a->options->world.find_class)) return;
    suggest_class(a,
                  diag_add(a->diags, DIAG_ERROR, "unresolved_class", c->decl->super_span,
                           "Unknown superclass `%s`", s->name),
                  s->name);
}

/* Walks up to a resolved class (a list, not recursion: chains are as long as the source), then comes down. */
static void resolve(Analysis *a, ClassInfo *c) {
    PtrSet chain = {0};
    for (ClassInfo *k = c; k && !k->resolved; k = k->superclass) {
        if (k->resolving) {
            report_cycle(a, k);
            break;
        }
        k->resolving = true;
        ptr_set_add(&chain, a->arena, k);
        bool made = false;
        if (!k->super_name) continue;
        k->superclass = class_slot(a, k->super_name, &made);
        if (made) fill_from_world(a, k->superclass);
        if (k->decl) k->superclass->subclassed = true;
    }
    for (uint32_t i = chain.count; i-- > 0;) {
        ClassInfo *k = (ClassInfo *)(uintptr_t)chain.items[i];
        if (k->superclass && !k->superclass->resolved) k->superclass = NULL; /* the cycle is cut here */
        report_missing(a, k);
        inherit(a, k);
    }
}

ClassInfo *class_find(Analysis *a, const char *name) {
    bool made = false;
    ClassInfo *c = class_slot(a, name, &made);
    if (made) fill_from_world(a, c);
    if (!c->resolved) resolve(a, c);
    return c;
}

const char *setter_selector(Intern *intern, const char *field) {
    char first = field[0] >= 'a' && field[0] <= 'z' ? (char)(field[0] - 'a' + 'A') : field[0];
    return intern_format(intern, "with%c%.900s:", first, first ? field + 1 : "");
}

static void add_method(Analysis *a, NameMap *map, MethodDecl *m) {
    void **slot = name_map_slot(map, a->arena, m->selector);
    if (slot) *slot = m;
}

static uint8_t flags_of(const Analysis *a, const ClassDecl *d) {
    return (uint8_t)((d->is_abstract ? CLASS_ABSTRACT : 0) | (d->is_sealed ? CLASS_SEALED : 0) |
                     (d->is_typed ? CLASS_TYPED : 0) | (d->is_internal ? CLASS_INTERNAL : 0) |
                     (a->options->stdlib ? CLASS_STDLIB : 0));
}

static void enter_class(Analysis *a, ClassDecl *d) {
    bool made = false;
    ClassInfo *c = class_slot(a, d->name, &made);
    if (c->decl) {
        diag_add(a->diags, DIAG_ERROR, "duplicate", d->name_span, "Duplicate class `%s`", d->name);
        return;
    }
    c->decl = d;
    c->known = true;
    c->super_name = d->super_name;
    c->flags = flags_of(a, d);
    d->facts = c;
    for (uint32_t i = 0; i < d->methods.count; i++) add_method(a, &c->methods, d->methods.items[i]);
    for (uint32_t i = 0; i < d->class_methods.count; i++)
        add_method(a, &c->class_methods, d->class_methods.items[i]);
}

void classes_resolve(Analysis *a) {
    Module *m = a->module;
    for (uint32_t i = 0; i < m->classes.count; i++) enter_class(a, m->classes.items[i]);
    for (uint32_t i = 0; i < m->ext_methods.count; i++) {
        ExtMethod *e = m->ext_methods.items[i];
        ClassInfo *c = name_map_get(&a->classes, e->class_name);
        if (!c || !c->decl) continue;
        add_method(a, e->is_class_side ? &c->class_methods : &c->methods, e->method);
        ptr_set_add(&c->extensions, a->arena, e);
    }
    for (uint32_t i = 0; i < m->classes.count; i++) {
        ClassInfo *c = m->classes.items[i]->facts;
        if (c && !c->resolved) resolve(a, c);
    }
}

MethodDecl *class_unit_method(const ClassInfo *c, const char *selector, bool class_side, ClassInfo **owner) {
    for (; c && c->decl; c = c->superclass) {
        MethodDecl *m = name_map_get(class_side ? &c->class_methods : &c->methods, selector);
        if (!m) continue;
        if (owner) *owner = (ClassInfo *)(uintptr_t)c;
        return m;
    }
    return NULL;
}

bool class_has_method(Analysis *a, const ClassInfo *c, const char *selector, bool class_side,
                      uint8_t *flags) {
    const CompilerWorld *world = &a->options->world;
    for (; c; c = c->superclass) {
        MethodDecl *m = c->decl ? name_map_get(class_side ? &c->class_methods : &c->methods, selector) : NULL;
        if (m) {
            if (flags) *flags = m->is_sealed ? METHOD_SEALED : 0;
            return true;
        }
        uint8_t got = 0;
        if (c->decl || !world->find_method) continue;
        bool found = world->find_method(world->context, c->name, selector, class_side, &got);
        if (flags) *flags = got;
        return found; /* the world looks up its chain itself */
    }
    return false;
}
