/* Primitives of Behaviour, Metaclass and CompiledMethod: reflection on the class table. */
#define _GNU_SOURCE
#include <stdlib.h>
#include "vm/bytecode/memory.h"
#include "vm/prims/prim_support.h"

/* The class that a class object or metaclass stands for; NULL for anything else. */
static Class *described(Process *p, Value v) {
    return value_is_class(v) || value_is_meta(v) ? class_by_id(p->vm, special_payload(v)) : NULL;
}

static PrimStatus not_a_class(Process *p, Value receiver, const char *selector) {
    return error_type(p, receiver, symbol_intern(p->vm, selector, strlen(selector)),
                      "Receiver is not a class object");
}

#define DESCRIBED(c, selector)                                                                               \
    Class *c = described(p, args[0]);                                                                        \
    (void)count;                                                                                             \
    if (!c) return not_a_class(p, args[0], selector)

static Value side_value(Value like, uint32_t class_id) {
    return value_is_meta(like) ? value_from_meta(class_id) : value_from_class(class_id);
}

/* `Counter` or `Counter class`. */
PRIM(prim_class_name) {
    DESCRIBED(c, "name");
    bool meta = value_is_meta(args[0]);
    *result = meta ? class_name_of(p->vm, args[0]) : c->name;
    return meta && *result == c->name ? error_resource(p, NULL) : PRIM_OK;
}

/* The root's metaclass is grounded at Class. */
PRIM(prim_class_superclass) {
    DESCRIBED(c, "superclass");
    if (c->superclass)
        *result = side_value(args[0], c->superclass->id);
    else
        *result = value_is_meta(args[0]) ? value_from_class(CLASS_ID_Class) : V_NIL;
    return PRIM_OK;
}

PRIM(prim_class_is_abstract) {
    DESCRIBED(c, "isAbstract");
    return *result = value_from_bool((c->flags & CLASS_ABSTRACT) != 0), PRIM_OK;
}

PRIM(prim_class_inherits_from) {
    DESCRIBED(c, "inheritsFrom:");
    Class *other = described(p, args[1]);
    bool meta = value_is_meta(args[0]), other_meta = value_is_meta(args[1]);
    bool below = false;
    if (other && meta == other_meta)
        below = c != other && class_inherits(c, other);
    else if (other && meta)
        below = class_id_inherits(p->vm, CLASS_ID_Class, other->id);
    *result = value_from_bool(below);
    return PRIM_OK;
}

/* ---- lists of symbols and classes, gathered off the heap ---- */

typedef struct {
    const Memory *memory;
    Value *items;
    size_t count, capacity;
    const Class *of;
    bool failed, generated, meta;
} Gather;

static void gather_add(Gather *g, Value v) {
    for (size_t i = 0; i < g->count; i++)
        if (g->items[i] == v) return;
    if (g->count == g->capacity) {
        Value *grown = memory_grown(g->memory, g->items, &g->capacity, sizeof *grown, 32);
        if (!grown) {
            g->failed = true;
            return;
        }
        g->items = grown;
    }
    g->items[g->count++] = v;
}

typedef struct {
    Gather *gather;
    BtVm *vm;
} GatherMethods;

static void gather_method(Method *m, void *context) {
    GatherMethods *g = context;
    size_t length;
    const char *text = symbol_text(g->vm, m->selector, &length);
    if (length >= 2 && text[0] == '_' && text[1] == '_') return;
    gather_add(g->gather, m->selector);
}

static void gather_side(Process *p, Gather *g, const Class *c, bool meta) {
    GatherMethods m = {g, p->vm};
    class_each_method(p->vm, c, meta, gather_method, &m);
}

typedef struct {
    BtVm *vm;
} SortContext;

static int by_text(const void *a, const void *b, void *context) {
    SortContext *s = context;
    return strcmp(symbol_text(s->vm, *(const Value *)a, NULL), symbol_text(s->vm, *(const Value *)b, NULL));
}

static PrimStatus gather_finish(Process *p, Gather *g, bool sort, Value *result) {
    if (g->failed) return memory_free(p->vm->memory, g->items), error_resource(p, NULL);
    SortContext context = {p->vm};
    if (sort && g->count) qsort_r(g->items, g->count, sizeof *g->items, by_text, &context);
    PrimStatus status = list_of_immediates(p, g->items, g->count, result);
    memory_free(p->vm->memory, g->items);
    return status;
}

PRIM(prim_class_methods) {
    DESCRIBED(c, "methods");
    Gather g = {.memory = p->vm->memory};
    gather_side(p, &g, c, value_is_meta(args[0]));
    return gather_finish(p, &g, true, result);
}

PRIM(prim_class_all_methods) {
    DESCRIBED(c, "allMethods");
    Gather g = {.memory = p->vm->memory};
    for (const Class *k = c; k; k = k->superclass) gather_side(p, &g, k, value_is_meta(args[0]));
    if (value_is_meta(args[0]))
        for (const Class *k = class_by_id(p->vm, CLASS_ID_Class); k; k = k->superclass)
            gather_side(p, &g, k, false);
    return gather_finish(p, &g, true, result);
}

PRIM(prim_metaclass_class_methods) {
    DESCRIBED(c, "classMethods");
    Gather g = {.memory = p->vm->memory};
    for (const Class *k = c; k; k = k->superclass) gather_side(p, &g, k, true);
    return gather_finish(p, &g, true, result);
}

static void gather_subclass(Class *c, void *context) {
    Gather *g = context;
    if (c->superclass == g->of) gather_add(g, g->meta ? value_from_meta(c->id) : value_from_class(c->id));
}

PRIM(prim_class_subclasses) {
    DESCRIBED(c, "subclasses");
    Gather g = {.memory = p->vm->memory, .of = c, .meta = value_is_meta(args[0])};
    class_each(p->vm, gather_subclass, &g);
    return gather_finish(p, &g, false, result);
}

static Method *own_method(Process *p, Class *c, bool meta, Value selector) {
    Method *m = class_own_method(p->vm, c, meta, selector);
    return m ? m : class_own_extension(p->vm, c, meta, selector);
}

PRIM(prim_class_includes_selector) {
    DESCRIBED(c, "includesSelector:");
    *result = value_from_bool(own_method(p, c, value_is_meta(args[0]), args[1]) != NULL);
    return PRIM_OK;
}

PRIM(prim_class_field_names) {
    DESCRIBED(c, "fieldNames");
    Gather g = {.memory = p->vm->memory};
    for (uint32_t i = 0; i < c->field_count && !value_is_meta(args[0]); i++)
        if (c->field_owner[i] == c) gather_add(&g, c->field_names[i]);
    return gather_finish(p, &g, false, result);
}

PRIM(prim_class_all_field_names) {
    DESCRIBED(c, "allFieldNames");
    return list_of_immediates(p, c->field_names, value_is_meta(args[0]) ? 0 : c->field_count, result);
}

PRIM(prim_class_variable_names) {
    DESCRIBED(c, "classVarNames");
    return list_of_immediates(p, c->class_var_names, c->class_var_count, result);
}

static PrimStatus text_or_nil(Process *p, const char *bytes, size_t length, Value *result) {
    if (bytes && length) return string_new(p, bytes, length, result);
    *result = V_NIL;
    return PRIM_OK;
}

static PrimStatus doc_or_nil(Process *p, const char *_Atomic *doc, Value *result) {
    const char *text = doc ? atomic_load_explicit(doc, memory_order_acquire) : NULL;
    return text_or_nil(p, text, text ? strlen(text) : 0, result);
}

PRIM(prim_class_doc) {
    DESCRIBED(c, "doc");
    return doc_or_nil(p, &c->doc, result);
}

static Method *method_on(Process *p, Class *c, bool meta, Value selector) {
    return class_lookup(p->vm, c->id | (meta ? DISPATCH_META : 0), selector);
}

PRIM(prim_class_method_doc) {
    DESCRIBED(c, "docForMethod:");
    Method *m = value_is_symbol(args[1]) ? method_on(p, c, value_is_meta(args[0]), args[1]) : NULL;
    return doc_or_nil(p, m ? &m->doc : NULL, result);
}

/* Sets the text that args[text_at] is, a String or nil. */
static PrimStatus set_doc(Process *p, Value *args, unsigned text_at, Class *c, Method *m,
                          const char *selector, Value *result) {
    size_t length = 0;
    char *text = NULL;
    if (value_is_string(args[text_at]))
        text = native_text(p, args[text_at], &length);
    else if (args[text_at] != V_NIL)
        return error_type(p, args[0], named(p, selector), "Documentation is a String or nil");
    bool ok = (text || args[text_at] == V_NIL) && class_set_doc(p->vm, c, m, text, length);
    memory_free(p->vm->memory, text);
    *result = args[0];
    return ok ? PRIM_OK : error_resource(p, NULL);
}

PRIM(prim_class_set_doc) {
    DESCRIBED(c, "doc:");
    return set_doc(p, args, 1, c, NULL, "doc:", result);
}

PRIM(prim_class_set_method_doc) {
    DESCRIBED(c, "setDocForMethod:to:");
    Method *m = value_is_symbol(args[1]) ? own_method(p, c, value_is_meta(args[0]), args[1]) : NULL;
    if (!m)
        return error_raise(p, ERR_selector_not_found, c->name, named(p, "setDocForMethod:to:"), NULL,
                           "The class itself must define the selector", V_NIL);
    return set_doc(p, args, 2, c, m, "setDocForMethod:to:", result);
}

PRIM(prim_class_source_file) {
    DESCRIBED(c, "sourceFile");
    const BcText *name = c->unit ? &c->unit->bc->name : NULL;
    *result = V_NIL; /* typed in, or made by a builder */
    if ((c->flags & CLASS_STDLIB) || !name || name->length < 4 ||
        memcmp(name->bytes + name->length - 3, ".bt", 3))
        return PRIM_OK;
    return text_or_nil(p, name->bytes, name->length, result);
}

PRIM(prim_class_remove_selector) {
    DESCRIBED(c, "removeSelector:");
    Value selector = symbol_intern(p->vm, "removeSelector:", 15);
    if (!value_is_symbol(args[1])) return error_type(p, args[0], selector, "The selector must be a Symbol");
    if (!class_remove_method(p->vm, c, value_is_meta(args[0]), args[1])) {
        char text[300];
        snprintf(text, sizeof text, "%s does not define #%s locally (or as an extension)",
                 symbol_text(p->vm, c->name, NULL), symbol_text(p->vm, args[1], NULL));
        return error_raise(p, ERR_selector_not_found, c->name, selector, text,
                           "Use includesSelector: or whichClassIncludesSelector: to check first, or "
                           "removeSelector:ifAbsent: to supply a fallback.",
                           V_NIL);
    }
    *result = args[0];
    return PRIM_OK;
}

PRIM(prim_metaclass_this_class) {
    DESCRIBED(c, "thisClass");
    *result = value_from_class(c->id);
    return PRIM_OK;
}

/* ---- methods as objects ---- */

PRIM(prim_class_method_at) {
    DESCRIBED(c, ">>");
    Method *m = value_is_symbol(args[1]) ? method_on(p, c, value_is_meta(args[0]), args[1]) : NULL;
    *result = V_NIL;
    if (!m) return PRIM_OK;
    if (!heap_reserve(p, 4)) return PRIM_RAISE;
    Value made = heap_new(p, KIND_METHOD, CLASS_ID_CompiledMethod, 4);
    object_words(made)[1] = (uint64_t)(uintptr_t)m;
    object_words(made)[2] = args[0];
    object_words(made)[3] = m->selector;
    *result = made;
    return PRIM_OK;
}

static Method *method_of(Value v) {
    return value_is_kind(v, KIND_METHOD) ? (Method *)(uintptr_t)object_at(v, 1) : NULL;
}

PRIM(prim_method_selector) { return (void)p, (void)count, *result = object_at(args[0], 3), PRIM_OK; }
PRIM(prim_method_argument_count) {
    (void)count;
    return *result = value_from_int(symbol_arity(p->vm, object_at(args[0], 3))), PRIM_OK;
}
PRIM(prim_method_source) {
    (void)count;
    const Method *m = method_of(args[0]);
    const BcText *source = m ? &m->fn->unit->bc->source : NULL;
    Span span = m ? m->fn->bc->span : (Span){0, 0};
    if (!source || span.end > source->length || span.start >= span.end) return string_new(p, "", 0, result);
    return string_new(p, source->bytes + span.start, span.end - span.start, result);
}
PRIM(prim_method_doc) {
    (void)count;
    Method *m = method_of(args[0]);
    return doc_or_nil(p, m ? &m->doc : NULL, result);
}
