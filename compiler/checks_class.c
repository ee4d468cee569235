/* What is wrong with declarations: classes, fields, methods, and names used twice. */
#include "compiler/analysis.h"

#include <string.h>

static bool hidden_name(const Analysis *a, const char *name) {
    return !a->options->stdlib && name[0] == '_' && name[1] == '_';
}

/* ---- fields ---- */

static void check_keyword(Analysis *a, const ClassInfo *c, const FieldDecl *f) {
    if (a->options->stdlib || (c->superclass && !c->superclass->known)) return;
    const char *why = NULL;
    if (c->kind == BC_KIND_OBJECT)
        why = "Object subclass cannot have instance data declarations; use Value or Actor";
    else if (c->kind == BC_KIND_VALUE && f->keyword == DECL_STATE)
        why = "use 'field:' for Value subclasses, not 'state:'";
    else if (c->kind == BC_KIND_ACTOR && f->keyword == DECL_FIELD)
        why = "use 'state:' for Actor subclasses, not 'field:'";
    if (why) report(a, DIAG_ERROR, "type", f->span, "%s", why);
}

static void check_setters(Analysis *a, NameMap *setters, const FieldDecl *f) {
    const char *setter = setter_selector(a->intern, f->name);
    void **slot = name_map_slot(setters, a->arena, setter);
    if (!slot) return;
    const FieldDecl *other = *slot;
    if (other && other->name != f->name)
        report(a, DIAG_ERROR, "type", f->name_span, "fields `%s` and `%s` both produce the setter `%s`",
               other->name, f->name, setter);
    *slot = (void *)(uintptr_t)f;
}

static void check_fields(Analysis *a, const ClassInfo *c, FieldDeclList list, const char *what) {
    NameMap seen = {0}, setters = {0};
    for (uint32_t i = 0; i < list.count; i++) {
        const FieldDecl *f = list.items[i];
        uint32_t expects = a->expect_count;
        if (f->expect) expect_push(a, f->expect);
        void **slot = name_map_slot(&seen, a->arena, f->name);
        if (slot && *slot)
            report(a, DIAG_ERROR, "duplicate", f->name_span, "Duplicate %s `%s` in class `%s`", what, f->name,
                   c->name);
        if (slot) *slot = (void *)(uintptr_t)f;
        if (f->keyword != DECL_CLASS_STATE) {
            check_keyword(a, c, f);
            if (c->kind == BC_KIND_VALUE) check_setters(a, &setters, f);
        }
        expect_pop(a, expects);
    }
}

/* ---- methods ---- */

static bool is_equality(const char *s) {
    return strcmp(s, "==") == 0 || strcmp(s, "=:=") == 0 || strcmp(s, "/=") == 0 || strcmp(s, "=/=") == 0;
}

static bool has_pragma(const MethodDecl *m) {
    return m->body.count && m->body.items[0]->kind == AST_PRIMITIVE;
}

static bool body_is_empty(const MethodDecl *m) {
    for (uint32_t i = 0; i < m->body.count; i++)
        if (m->body.items[i]->kind != AST_EXPECT) return false;
    return true;
}

static void check_sealed_override(Analysis *a, const ClassInfo *c, const MethodDecl *m, bool class_side) {
    if (a->options->stdlib || !c->superclass) return;
    ClassInfo *owner = NULL;
    MethodDecl *above = class_unit_method(c->superclass, m->selector, class_side, &owner);
    uint8_t flags = 0;
    if (above ? !above->is_sealed
              : !class_has_method(a, c->superclass, m->selector, class_side, &flags) ||
                    !(flags & METHOD_SEALED))
        return;
    report(a, DIAG_ERROR, "inheritance", m->selector_span,
           "Cannot override sealed method `%s` from class `%s`", m->selector,
           owner ? owner->name : c->superclass->name);
}

void check_method(Analysis *a, const ClassInfo *c, const MethodDecl *m, bool class_side) {
    if (is_equality(m->selector) && !has_pragma(m) && !class_side)
        report(a, DIAG_ERROR, "type", m->selector_span,
               "`%s` cannot be overridden — this method can never be called", m->selector);
    if (body_is_empty(m)) {
        Diag *d = report(a, DIAG_ERROR, "type", m->header_span, "Method `%s` has an empty body", m->selector);
        if (d) diag_set_help(d, "use `self notImplemented` or `self subclassResponsibility`");
    }
    if (hidden_name(a, m->selector) && !m->is_generated)
        report(a, DIAG_ERROR, "type", m->selector_span,
               "names that begin with `__` belong to the library: `%s`", m->selector);
    check_limit(a, m->selector_span, m->params.count, PARAMETERS_MAX, "parameters");
    for (uint32_t i = 0; i < m->params.count; i++) {
        const Node *type = m->params.items[i]->as.param.type;
        if (type && type->kind == AST_TYPE_SELF)
            report(a, DIAG_ERROR, "type", type->span, "`Self` cannot be the type of a parameter");
    }
    if (c) check_sealed_override(a, c, m, class_side);
}

static void check_methods(Analysis *a, const ClassInfo *c, MethodList list, bool class_side) {
    NameMap seen = {0};
    for (uint32_t i = 0; i < list.count; i++) {
        const MethodDecl *m = list.items[i];
        uint32_t expects = a->expect_count;
        if (m->expect) expect_push(a, m->expect);
        void **slot = name_map_slot(&seen, a->arena, m->selector);
        if (slot && *slot)
            report(a, DIAG_ERROR, "duplicate", m->selector_span, "Duplicate method `%s` in class `%s`",
                   m->selector, c->name);
        if (slot) *slot = (void *)(uintptr_t)m;
        check_method(a, c, m, class_side);
        a->expect_count = expects; /* stale ones are reported with the body */
    }
}

void check_class(Analysis *a, ClassInfo *c) {
    const ClassDecl *d = c->decl;
    if (d->name == a->names.Self)
        report(a, DIAG_ERROR, "type", d->name_span, "a class cannot be named `Self`");
    if (hidden_name(a, d->name))
        report(a, DIAG_ERROR, "type", d->name_span, "names that begin with `__` belong to the library: `%s`",
               d->name);
    if (c->superclass && c->superclass->known && (c->superclass->flags & CLASS_SEALED) && !a->options->stdlib)
        report(a, DIAG_ERROR, "inheritance", d->super_span, "Cannot subclass sealed class `%s`",
               c->superclass->name);
    check_limit(a, d->name_span, c->fields.count, PARTS_MAX, "fields");
    check_limit(a, d->name_span, c->class_vars.count, PARTS_MAX, "class variables");
    check_fields(a, c, d->fields, "field");
    check_fields(a, c, d->class_vars, "class variable");
    check_methods(a, c, d->methods, false);
    check_methods(a, c, d->class_methods, true);
}

/* ---- names of a unit ---- */

static void check_once(Analysis *a, NameMap *seen, const char *name, Span span, const char *what) {
    void **slot = name_map_slot(seen, a->arena, name);
    if (!slot) return;
    if (*slot) report(a, DIAG_ERROR, "duplicate", span, "Duplicate %s `%s`", what, name);
    *slot = (void *)(uintptr_t)name;
}

/* ---- aliases that contain themselves ---- */

typedef struct {
    NameMap aliases; /* name -> AliasDecl *, facts: non-NULL once walked */
    const AliasDecl *start;
    uint32_t depth;
} AliasWalk;

static bool reaches_start(AliasWalk *w, const Node *type);

static bool alias_reaches_start(AliasWalk *w, const char *name) {
    AliasDecl *alias = name_map_get(&w->aliases, name);
    if (!alias) return false;
    if (alias == w->start) return true;
    if (alias->facts || w->depth > 200) return false;
    alias->facts = alias; /* each alias is walked once per start */
    w->depth++;
    bool found = reaches_start(w, alias->type);
    w->depth--;
    return found;
}

static bool any_reaches_start(AliasWalk *w, NodeList list) {
    for (uint32_t i = 0; i < list.count; i++)
        if (reaches_start(w, list.items[i])) return true;
    return false;
}

static bool reaches_start(AliasWalk *w, const Node *type) {
    if (!type) return false;
    switch ((AstKind)type->kind) {
    case AST_TYPE_NAME: return alias_reaches_start(w, type->as.name);
    case AST_TYPE_UNION: return any_reaches_start(w, type->as.list);
    case AST_TYPE_GENERIC: return any_reaches_start(w, type->as.type_generic.args);
    case AST_TYPE_DIFF:
    case AST_TYPE_AND:
        return reaches_start(w, type->as.type_pair.left) || reaches_start(w, type->as.type_pair.right);
    default: return false;
    }
}

static void check_aliases(Analysis *a) {
    Module *m = a->module;
    AliasWalk w = {0};
    for (uint32_t i = 0; i < m->aliases.count; i++) {
        void **slot = name_map_slot(&w.aliases, a->arena, m->aliases.items[i]->name);
        if (slot) *slot = m->aliases.items[i];
    }
    for (uint32_t i = 0; i < m->aliases.count && i < 500; i++) {
        for (uint32_t j = 0; j < m->aliases.count; j++) m->aliases.items[j]->facts = NULL;
        w.start = m->aliases.items[i];
        if (reaches_start(&w, w.start->type))
            report(a, DIAG_ERROR, "type", w.start->name_span, "Type alias `%s` contains itself",
                   w.start->name);
    }
}

void check_unit(Analysis *a) {
    Module *m = a->module;
    check_aliases(a);
    NameMap protocols = {0}, aliases = {0};
    for (uint32_t i = 0; i < m->protocols.count; i++)
        check_once(a, &protocols, m->protocols.items[i]->name, m->protocols.items[i]->name_span, "protocol");
    for (uint32_t i = 0; i < m->aliases.count; i++)
        check_once(a, &aliases, m->aliases.items[i]->name, m->aliases.items[i]->name_span, "type alias");
    for (uint32_t i = 0; i < m->classes.count; i++)
        if (m->classes.items[i]->facts) check_class(a, m->classes.items[i]->facts);
    for (uint32_t i = 0; i < m->ext_methods.count; i++)
        check_method(a, NULL, m->ext_methods.items[i]->method, m->ext_methods.items[i]->is_class_side);
}
