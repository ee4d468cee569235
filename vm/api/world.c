/* Answers the compiler's questions about classes that exist already. Texts it hands out live until
 * world_free. */
#include "vm/api/api_internal.h"
#include "vm/field_slots.h"
#include "vm/suggest.h"

typedef struct Chunk {
    struct Chunk *next;
    const char *names[];
} Chunk;

struct World {
    BtVm *vm;
    Chunk *chunks;
};

World *world_new(BtVm *vm) {
    World *w = memory_zalloc(vm->memory, sizeof *w);
    if (w) w->vm = vm;
    return w;
}

void world_free(World *w) {
    if (!w) return;
    while (w->chunks) {
        Chunk *next = w->chunks->next;
        memory_free(w->vm->memory, w->chunks);
        w->chunks = next;
    }
    memory_free(w->vm->memory, w);
}

static const char *const *names_of(World *w, const Value *symbols, uint32_t count) {
    Chunk *c = memory_alloc(w->vm->memory, sizeof *c + count * sizeof(char *));
    if (!c) return NULL;
    c->next = w->chunks;
    w->chunks = c;
    for (uint32_t i = 0; i < count; i++)
        c->names[i] = symbols[i] == V_NIL ? NULL : symbol_text(w->vm, symbols[i], NULL);
    return c->names;
}

static Class *class_named(World *w, const char *name) {
    Value symbol = symbol_lookup(w->vm, name, strlen(name));
    return symbol == V_HOLE ? NULL : class_by_name(w->vm, symbol);
}

static bool find_class(void *context, const char *name, CompilerClass *out) {
    World *w = context;
    Class *c = class_named(w, name);
    if (!c) return false;
    *out = (CompilerClass){.known = true,
                           .superclass = c->superclass ? symbol_text(w->vm, c->superclass->name, NULL) : NULL,
                           .kind = c->kind,
                           .flags = c->flags,
                           .has_class_vars = c->class_var_count > 0,
                           .field_count = c->field_count,
                           .fields = names_of(w, c->field_names, c->field_count),
                           .slots = c->field_slot,
                           .slot_count = c->slot_count,
                           .slot_names = c->slot_names ? names_of(w, c->slot_names, c->slot_count) : NULL,
                           .class_var_count = c->class_var_count,
                           .class_vars = names_of(w, c->class_var_names, c->class_var_count)};
    return out->fields && out->class_vars && (out->slot_names || !c->slot_names);
}

static uint32_t slot_limit(void *context, const char *name) {
    World *w = context;
    const Class *c = class_named(w, name);
    return c ? class_slot_limit(w->vm, c) : 0;
}

static bool find_method(void *context, const char *class_name, const char *selector, bool class_side,
                        uint8_t *flags) {
    World *w = context;
    Class *c = class_named(w, class_name);
    Value symbol = symbol_lookup(w->vm, selector, strlen(selector));
    if (!c || symbol == V_HOLE) return false;
    Method *m = class_lookup(w->vm, c->id | (class_side ? DISPATCH_META : 0), symbol);
    if (!m || m->class_side != class_side) return false;
    *flags = m->flags;
    return true;
}

static bool program_has(void *context, const char *selector) {
    World *w = context;
    Value symbol = symbol_lookup(w->vm, selector, strlen(selector));
    return symbol != V_HOLE && class_program_has(w->vm, symbol);
}

static bool has_shared_name(void *context, const char *name) {
    World *w = context;
    SharedTerm *term = name_get(w->vm, WORKSPACE_GLOBALS, name, strlen(name), NULL);
    shared_term_release(w->vm, term);
    return term != NULL;
}

static const char *similar_class(void *context, const char *name) {
    World *w = context;
    return class_similar_name(w->vm, name, strlen(name));
}

CompilerWorld world_interface(World *w) {
    return (CompilerWorld){.context = w,
                           .find_class = find_class,
                           .find_method = find_method,
                           .slot_limit = slot_limit,
                           .program_has = program_has,
                           .has_shared_name = has_shared_name,
                           .similar_class = similar_class};
}
