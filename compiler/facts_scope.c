/* Scopes and variables: who a name is, and what reading or writing it means for the blocks and functions
 * around.
 *
 * Lookups cost one hash probe: each name has a slot that points to its innermost visible variable, and a
 * stack restores what a scope shadowed.
 */
#include "compiler/facts.h"
#include "vm/bytecode/similar.h"

#include <string.h>

/* ---- scopes ---- */

static NameSlot *slot_of(Analysis *a, const char *name) {
    void **at = name_map_slot(&a->slots, a->arena, name);
    if (!at) return ARENA_NEW(a->arena, NameSlot);
    if (!*at) *at = ARENA_NEW(a->arena, NameSlot);
    return *at;
}

static void scope_push(Analysis *a, NameSlot *slot, Var *var) {
    if (a->scope_count == a->scope_capacity) {
        uint32_t capacity = a->scope_capacity ? a->scope_capacity * 2 : 64;
        ScopeEntry *scope = arena_try_alloc(a->arena, capacity * sizeof *scope);
        if (!scope) return;
        if (a->scope_count) memcpy(scope, a->scope, a->scope_count * sizeof *scope);
        a->scope = scope;
        a->scope_capacity = capacity;
    }
    a->scope[a->scope_count++] = (ScopeEntry){slot, slot->var};
    slot->var = var;
}

void facts_scope_pop(Analysis *a, uint32_t mark) {
    while (a->scope_count > mark) {
        ScopeEntry *e = &a->scope[--a->scope_count];
        e->slot->var = e->shadowed;
    }
}

Var *facts_var_new(Analysis *a, const char *name, VarKind kind, Span span) {
    Var *var = ARENA_NEW(a->arena, Var);
    var->name = name;
    var->kind = (uint8_t)kind;
    var->fn = a->fn;
    var->depth = a->block ? a->block->depth : 0;
    var->span = span;
    return var;
}

Var *facts_declare(Analysis *a, const char *name, VarKind kind, Span span) {
    Var *var = facts_var_new(a, name, kind, span);
    scope_push(a, slot_of(a, name), var);
    return var;
}

static bool in_session(const Analysis *a, const char *name) {
    const CompileOptions *o = a->options;
    for (uint32_t i = 0; o->session && i < o->binding_count; i++)
        if (o->bindings[i].length == intern_length(name) &&
            memcmp(o->bindings[i].bytes, name, o->bindings[i].length) == 0)
            return true;
    return false;
}

bool facts_shared_name(const Analysis *a, const char *name) {
    const CompilerWorld *w = &a->options->world;
    return w->has_shared_name && w->has_shared_name(w->context, name);
}

/* Session variables have one root scope that no inner scope can end. */
Var *facts_declare_binding(Analysis *a, const char *name, Span span) {
    void **at = name_map_slot(&a->binding_map, a->arena, name);
    if (!at) return facts_declare(a, name, VAR_LOCAL, span);
    if (*at) return *at;
    Var *var = facts_var_new(a, name, VAR_BINDING, span);
    var->fn = a->script;
    var->depth = 0;
    var->exists = in_session(a, name);
    var->binding = a->bindings.count;
    ptr_set_add(&a->bindings, a->arena, var);
    return *at = var;
}

/* What the session has becomes a binding of the input where the input names it: the rest stays out of it. */
Var *facts_lookup(Analysis *a, const char *name) {
    NameSlot *slot = name_map_get(&a->slots, name);
    if (slot && slot->var) return slot->var;
    if (!a->fn->home->script) return NULL;
    Var *var = name_map_get(&a->binding_map, name);
    return var || !in_session(a, name) ? var : facts_declare_binding(a, name, span_make(0, 0));
}

/* ---- reads and writes ---- */

void facts_read(Analysis *a, Var *var) {
    for (FnFacts *f = a->fn; f && f != var->fn; f = f->parent)
        if (!ptr_set_add(&f->reads, a->arena, var)) return;
}

void facts_write(Analysis *a, Var *var) {
    if (!a->quiet || !var->writes) var->writes++; /* a twin writes nothing new */
    BlockFacts *b = a->block;
    if (!b || b->depth <= var->depth || ptr_set_has(&b->writes, var)) return;
    for (; b && b->depth > var->depth; b = b->outer) {
        b->writes_outer = true;
        if (b->fn == a->fn) ptr_set_add(&b->writes, a->arena, var);
    }
    for (FnFacts *f = a->fn; f && f != var->fn; f = f->parent) {
        ptr_set_add(&f->writes, a->arena, var);
        var->carrier = var->fn->opens_carriers = a->fn->home->any_carrier = true;
    }
}

void facts_read_field(Analysis *a, const char *name) {
    FnFacts *fn = a->fn;
    if (fn->home->class_side) {
        for (; fn->parent; fn = fn->parent) ptr_set_add(&fn->class_vars, a->arena, name);
    } else if (fn->home->test_self && !facts_actor_instance(fn)) {
        facts_read(a, fn->home->self_var);
    }
}

void facts_write_field(Analysis *a, const char *name) {
    FnFacts *fn = a->fn, *home = fn->home;
    if (home->class_side) {
        for (; fn->parent; fn = fn->parent) fn->writes_class_vars = true;
        return;
    }
    if (home->test_self) {
        facts_read(a, home->self_var);
        facts_write(a, home->self_var);
    }
    for (BlockFacts *b = a->block; b; b = b->outer)
        if (!b->field_written) b->field_written = name;
    for (; fn->parent; fn = fn->parent) fn->writes_state = true;
}

/* ---- literal blocks of constructs that read what is written while they run ---- */

static void read_carrier(Analysis *a, FnFacts *reader, const void *var) {
    if (!ptr_set_has(&reader->reads, var) || ptr_set_has(&reader->writes, var)) return;
    if (!reader->writes.count) reader->only_reads = true;
    ptr_set_add(&reader->writes, a->arena, (void *)(uintptr_t)var);
}

void facts_share_writes(Analysis *a, const FnFacts *writer, FnFacts *reader) {
    for (uint32_t v = 0; writer && reader && v < writer->writes.count; v++)
        read_carrier(a, reader, writer->writes.items[v]);
}

void facts_share_stored_writes(Analysis *a) {
    for (uint32_t i = a->closures.count; i-- > 0;) { /* outer before inner */
        FnFacts *fn = (FnFacts *)(uintptr_t)a->closures.items[i];
        if (fn->block->flow != FLOW_THREADING) continue;
        for (uint32_t v = 0; v < fn->reads.count; v++) {
            const Var *var = fn->reads.items[v];
            if (var->stored_write && (fn->parent == var->fn || ptr_set_has(&fn->parent->writes, var)))
                read_carrier(a, fn, var);
        }
    }
}

void facts_root_carriers(Analysis *a, FnFacts *home) {
    for (uint32_t i = 0; i < a->closures.count; i++) {
        FnFacts *fn = (FnFacts *)(uintptr_t)a->closures.items[i];
        fn->keeps_carriers = fn->keeps_carriers && fn->opens_carriers;
        if (fn->keeps_carriers) home->opens_carriers = home->any_carrier = true;
    }
}

/* ---- names ---- */

static bool is_field(const Analysis *a, const char *name) {
    const ClassInfo *c = a->fn->home->class_info;
    if (!c) return false;
    return ptr_set_has(a->fn->home->class_side ? &c->class_vars : &c->fields, name);
}

/* What people who know other languages write, and names that are nearly right. */
static void help_undefined(Analysis *a, Diag *d, const char *name) {
    static const char *const RETURNS[] = {"return", "let", "var", "this", "null"};
    static const char *const HELP[] = {
        "`^ value` returns from a method", "a variable exists once it is assigned to",
        "a variable exists once it is assigned to", "the receiver is `self`", "nothing is `nil`"};
    for (size_t i = 0; i < sizeof RETURNS / sizeof *RETURNS; i++)
        if (strcmp(RETURNS[i], name) == 0) {
            diag_set_help(d, "%s", HELP[i]);
            return;
        }
    if (is_field(a, name)) {
        diag_set_help(d, "a field is written `self.%s`", name);
        return;
    }
    Nearest near;
    nearest_begin(&near, name, intern_length(name));
    for (uint32_t i = a->scope_count; i-- > 0;) {
        const char *other = a->scope[i].slot->var ? a->scope[i].slot->var->name : NULL;
        if (other) nearest_try(&near, other, intern_length(other));
    }
    if (near.best) diag_set_help(d, "did you mean `%s`?", near.best);
}

void facts_undefined(Analysis *a, const char *name, Span span) {
    Diag *d = report(a, DIAG_ERROR, "undefined_variable", span, "Undefined variable: %s", name);
    if (d) help_undefined(a, d, name);
}
