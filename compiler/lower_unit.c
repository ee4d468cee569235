/* From a module to a unit: functions of every method, and the shell that says which class has which.
 *
 * The shell is native memory, as bytecode.h has it; emit completes it. Generated methods
 * (METHOD_GENERATED) give way to methods of the same name in the source.
 */
#include "compiler/lower.h"

#include <stdlib.h>
#include <string.h>

/* ---- shell data ---- */

static BcText text_of(Arena *arena, const char *bytes, size_t length) {
    if (!bytes || !length || arena->failed) return (BcText){NULL, 0}; /* failed: it may go nowhere */
    char *copy = memory_alloc(arena->memory, length + 1);
    if (!copy) return arena->failed = true, (BcText){NULL, 0};
    memcpy(copy, bytes, length);
    copy[length] = 0;
    return (BcText){copy, (uint32_t)length};
}

typedef struct {
    Lower l;
    const char *source;
    size_t length;
    BcMethod *methods; /* of the class at hand */
    uint32_t count, capacity;
    BcMethod nowhere; /* what is added without memory: it owns nothing */
} UnitLower;

static BcText name_text(const UnitLower *u, const char *name) {
    return name ? text_of(u->l.a->arena, name, intern_length(name)) : (BcText){NULL, 0};
}

static BcText span_text(const UnitLower *u, Span span) {
    if (span.end > u->length || span.end <= span.start) return (BcText){NULL, 0};
    return text_of(u->l.a->arena, u->source + span.start, span.end - span.start);
}

static BcMethod *method_add(UnitLower *u, const char *selector, uint32_t function, uint8_t flags,
                            bool class_side) {
    if (u->count == u->capacity) {
        uint32_t capacity = u->capacity ? u->capacity * 2 : 16;
        BcMethod *grown = memory_realloc(u->l.a->arena->memory, u->methods, capacity * sizeof *grown);
        if (!grown) return u->l.a->arena->failed = true, &u->nowhere;
        u->methods = grown;
        u->capacity = capacity;
    }
    BcMethod *m = &u->methods[u->count++];
    *m = (BcMethod){
        .selector = name_text(u, selector), .function = function, .flags = flags, .class_side = class_side};
    return m;
}

/* ---- methods of the source ---- */

static uint32_t lower_spoiled(Lower *l, FnLower *fn, const char *text) {
    IrStmt *s = lower_stmt(l, STMT_FAIL, fn->ir->span);
    s->flags = FAIL_COMPILE_ERROR;
    s->imm = lower_text(l, text);
    l->fn->frame->ends = true;
    return lower_function_end(l, fn, NIL_ATOM);
}

static uint32_t lower_method(Lower *l, FnFacts *facts, NodeList params, NodeList body, Span span) {
    FunctionSpec spec = {
        .facts = facts, .kind = facts->kind, .name = facts->selector, .params = params, .span = span};
    FnLower *fn = lower_function_begin(l, &spec);
    if (facts->spoiled) return lower_spoiled(l, fn, facts->spoiled);
    return lower_function_end(l, fn, lower_statements(l, body, POS_LAST));
}

static uint8_t method_flags(const Lower *l, const MethodDecl *m, bool class_side) {
    const FnFacts *facts = m->facts;
    bool has_vars = facts->class_info && facts->class_info->has_class_vars;
    return (uint8_t)((m->is_sealed ? METHOD_SEALED : 0) | (m->is_internal ? METHOD_INTERNAL : 0) |
                     (class_side && ((l->a->options->stdlib && !has_vars) || m->is_generated) ? METHOD_DIRECT
                                                                                              : 0));
}

static BcMethod *add_source_method(UnitLower *u, const MethodDecl *m, bool class_side) {
    uint32_t function = lower_method(&u->l, m->facts, m->params, m->body, m->span);
    BcMethod *out = method_add(u, m->selector, function, method_flags(&u->l, m, class_side), class_side);
    out->doc = text_of(u->l.a->arena, m->doc.bytes, m->doc.length);
    out->source = span_text(u, m->span);
    return out;
}

/* The methods that count: the last of one name (a standalone definition replaces the one in the class body).
 */
static void add_source_methods(UnitLower *u, const ClassInfo *c) {
    const ClassDecl *d = c->decl;
    for (uint32_t i = 0; i < d->methods.count; i++)
        if (name_map_get(&c->methods, d->methods.items[i]->selector) == d->methods.items[i])
            add_source_method(u, d->methods.items[i], false);
    for (uint32_t i = 0; i < d->class_methods.count; i++)
        if (name_map_get(&c->class_methods, d->class_methods.items[i]->selector) == d->class_methods.items[i])
            add_source_method(u, d->class_methods.items[i], true);
}

/* ---- generated methods ---- */

static FnFacts *generated_facts(Lower *l, ClassInfo *c, const char *selector, bool class_side) {
    FnFacts *facts = ARENA_NEW(l->a->arena, FnFacts);
    facts->home = facts;
    facts->class_info = c;
    facts->class_name = c->name;
    facts->selector = selector;
    facts->class_side = class_side;
    facts->kind = method_kind(c, class_side);
    return facts;
}

static NodeList generated_params(Lower *l, uint32_t count) {
    NodeList params = {count ? arena_try_alloc(l->a->arena, count * sizeof *params.items) : NULL, count};
    if (!params.items) params.count = 0;
    for (uint32_t i = 0; i < params.count; i++) {
        params.items[i] = ARENA_NEW(l->a->arena, Node);
        params.items[i]->kind = AST_PARAM;
        params.items[i]->as.param.name = intern_format(l->a->intern, "p%u", i);
    }
    return params;
}

static FnLower *generated_begin(Lower *l, ClassInfo *c, const char *selector, bool class_side,
                                uint32_t params, Span span) {
    FnFacts *facts = generated_facts(l, c, selector, class_side);
    FunctionSpec spec = {.facts = facts,
                         .kind = facts->kind,
                         .name = selector,
                         .params = generated_params(l, params),
                         .span = span};
    return lower_function_begin(l, &spec);
}

static const IrAtom SELF = {ATOM_SELF, 0, 0};
static IrAtom param_atom(uint32_t i) { return (IrAtom){ATOM_LOCAL, i, 0}; }

/* Inherited slots, then these. */
static IrAtom append_slots(Lower *l, const ClassInfo *c, IrAtom own, Span span) {
    if (!c->superclass) return own;
    IrAtom inherited = lower_send1(l, IR_SENDSUPER, l->a->names.defaults, SELF, span);
    return lower_send2(l, IR_SEND, l->a->names.append, inherited, own, span);
}

static void add_defaults(UnitLower *u, ClassInfo *c) {
    Lower *l = &u->l;
    FieldDeclList fields = c->decl->fields;
    FunctionSpec spec = {
        .facts = c->defaults, .kind = FN_CLASS_METHOD, .name = l->a->names.defaults, .span = c->decl->span};
    FnLower *fn = lower_function_begin(l, &spec);
    IrAtom *operands = lower_atoms(l, fields.count);
    for (uint32_t i = 0; i < fields.count; i++) {
        Node *value = fields.items[i]->default_value;
        operands[i] = value ? lower_keep(l, lower_expr(l, value), fields.items[i]->span) : NIL_ATOM;
    }
    IrAtom own = lower_bind(l, IR_TUPLE, operands, fields.count, 0, 0, c->decl->span);
    uint32_t function = lower_function_end(l, fn, append_slots(l, c, own, c->decl->span));
    method_add(u, l->a->names.defaults, function, METHOD_GENERATED | METHOD_DIRECT, true);
}

static void add_reader(UnitLower *u, ClassInfo *c, const FieldDecl *f) {
    Lower *l = &u->l;
    if (name_map_get(&c->methods, f->name)) return;
    FnLower *fn = generated_begin(l, c, f->name, false, 0, f->span);
    IrAtom value;
    if (c->kind == BC_KIND_ACTOR)
        value = lower_bind0(l, IR_GETSTATE, lower_symbol(l, f->name), f->span);
    else
        value = lower_bind1(l, IR_GETSLOT, SELF, (uint32_t)class_slot_of(c, f->name), f->span);
    BcMethod *m = method_add(u, f->name, lower_function_end(l, fn, value), METHOD_GENERATED, false);
    m->doc = text_of(u->l.a->arena, f->doc.bytes, f->doc.length);
}

static void add_setter(UnitLower *u, ClassInfo *c, const FieldDecl *f) {
    Lower *l = &u->l;
    const char *selector = setter_selector(l->a->intern, f->name);
    if (name_map_get(&c->methods, selector)) return;
    FnLower *fn = generated_begin(l, c, selector, false, 1, f->span);
    uint32_t slot = (uint32_t)class_slot_of(c, f->name);
    IrAtom value = lower_bind2(l, IR_SETSLOT, SELF, param_atom(0), slot, f->span);
    method_add(u, selector, lower_function_end(l, fn, value), METHOD_GENERATED, false);
}

static const char *constructor_selector(Lower *l, FieldDeclList fields) {
    size_t length = 0;
    for (uint32_t i = 0; i < fields.count; i++) length += intern_length(fields.items[i]->name) + 1;
    char *text = arena_try_alloc(l->a->arena, length + 1), *at = text;
    if (!text) return l->a->names.defaults;
    for (uint32_t i = 0; i < fields.count; i++) {
        size_t n = intern_length(fields.items[i]->name);
        memcpy(at, fields.items[i]->name, n);
        at[n] = ':';
        at += n + 1;
    }
    return intern_bytes(l->a->intern, text, length);
}

/* The slots that are no arguments hold their defaults. */
static IrAtom construct_by_defaults(Lower *l, const ClassInfo *c, Span span) {
    IrAtom all = lower_send1(l, IR_SENDSELF, l->a->names.defaults, SELF, span);
    IrAtom made = lower_send2(l, IR_SENDSELF, l->a->names.make, SELF, all, span);
    for (uint32_t i = 0; i < c->decl->fields.count; i++)
        made = lower_bind2(l, IR_SETSLOT, made, param_atom(i),
                           (uint32_t)class_slot_of(c, c->decl->fields.items[i]->name), span);
    return made;
}

/* Every slot is an argument, unless a subclass that adds some inherits the method: then the primitive fails.
 */
static IrAtom construct_whole(Lower *l, ClassInfo *c, Span span) {
    const char *primitive = intern_format(l->a->intern, "Value class>>__construct");
    (void)lower_bind0(l, IR_PRIM, lower_symbol(l, primitive), span);
    IrFrame *frame = l->fn->frame;
    if (frame->stmt_count)
        frame->stmts[frame->stmt_count - 1]->flags = 1; /* what follows is for its failure */
    return construct_by_defaults(l, c, span);
}

/* The class itself: inherited defaults, the arguments behind them. A subclass: its own defaults, with these
 * slots replaced. */
static IrAtom construct_behind(Lower *l, ClassInfo *c, Span span) {
    static const PtrSet NONE = {0};
    uint32_t count = c->decl->fields.count;
    IrAtom name = lower_bind0(l, IR_CLASS, lower_symbol(l, c->name), span);
    IrAtom exact = lower_bind2(l, IR_SEQ, SELF, name, 0, span);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, span);
    s->operands[0] = exact;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &NONE);
    IrAtom *operands = lower_atoms(l, count);
    for (uint32_t i = 0; i < count; i++) operands[i] = param_atom(i);
    IrAtom slots = append_slots(l, c, lower_bind(l, IR_TUPLE, operands, count, 0, 0, span), span);
    lower_frame_leave(l, &mark, lower_send2(l, IR_SENDSELF, l->a->names.make, SELF, slots, span));
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NONE);
    lower_frame_leave(l, &mark, construct_by_defaults(l, c, span));
    return lower_construct_end(l, s, &NONE, POS_VALUE);
}

static void add_constructor(UnitLower *u, ClassInfo *c) {
    Lower *l = &u->l;
    const char *selector = constructor_selector(l, c->decl->fields);
    if (name_map_get(&c->class_methods, selector)) return;
    Span span = c->decl->span;
    FnLower *fn = generated_begin(l, c, selector, true, c->decl->fields.count, span);
    bool whole = !c->inherited_fields && c->superclass && c->superclass->known;
    IrAtom value = whole ? construct_whole(l, c, span) : construct_behind(l, c, span);
    method_add(u, selector, lower_function_end(l, fn, value), METHOD_GENERATED | METHOD_DIRECT, true);
}

static void add_generated(UnitLower *u, ClassInfo *c) {
    FieldDeclList fields = c->decl->fields;
    if (!fields.count) return;
    if (!name_map_get(&c->class_methods, u->l.a->names.defaults)) add_defaults(u, c);
    for (uint32_t i = 0; i < fields.count; i++) {
        add_reader(u, c, fields.items[i]);
        if (c->kind == BC_KIND_VALUE) add_setter(u, c, fields.items[i]);
    }
    if (c->kind == BC_KIND_VALUE && fields.count <= 200) add_constructor(u, c);
}

/* ---- classes ---- */

/* May a field of this type be nil? */
static bool allows_nil(const Node *type) {
    if (!type) return true;
    switch ((AstKind)type->kind) {
    case AST_TYPE_NAME:
        return strcmp(type->as.name, "Nil") == 0 || strcmp(type->as.name, "nil") == 0 ||
               strcmp(type->as.name, "UndefinedObject") == 0 || strcmp(type->as.name, "Dynamic") == 0 ||
               strcmp(type->as.name, "Object") == 0;
    case AST_TYPE_UNION:
        for (uint32_t i = 0; i < type->as.list.count; i++)
            if (allows_nil(type->as.list.items[i])) return true;
        return false;
    case AST_TYPE_DIFF: return allows_nil(type->as.type_pair.left);
    default: return false;
    }
}

static uint32_t lower_default(Lower *l, FieldDecl *f) {
    FnFacts *facts = f->facts;
    FunctionSpec spec = {.facts = facts, .kind = FN_CLASS_METHOD, .name = facts->selector, .span = f->span};
    FnLower *fn = lower_function_begin(l, &spec);
    return lower_function_end(l, fn, lower_expr(l, f->default_value));
}

static BcField *fields_of(UnitLower *u, FieldDeclList list, bool class_side) {
    BcField *fields = list.count ? memory_zalloc(u->l.a->arena->memory, list.count * sizeof *fields) : NULL;
    if (list.count && !fields) u->l.a->arena->failed = true;
    for (uint32_t i = 0; fields && i < list.count; i++) {
        FieldDecl *f = list.items[i];
        fields[i].name = name_text(u, f->name);
        if (f->type) fields[i].type = span_text(u, f->type->span);
        fields[i].allows_nil = allows_nil(f->type);
        fields[i].has_default = f->default_value != NULL;
        fields[i].function = class_side && f->default_value ? lower_default(&u->l, f) : BC_NONE;
    }
    return fields;
}

static void lower_class(UnitLower *u, ClassInfo *c, BcClass *out) {
    const ClassDecl *d = c->decl;
    out->name = name_text(u, d->name);
    out->superclass = name_text(u, d->super_name);
    out->doc = text_of(u->l.a->arena, d->doc.bytes, d->doc.length);
    out->native_module = name_text(u, d->native_module);
    out->flags = c->flags;
    out->kind = c->kind;
    out->span = d->span;
    out->fields = fields_of(u, d->fields, false);
    out->field_count = out->fields ? d->fields.count : 0;
    out->class_vars = fields_of(u, d->class_vars, true);
    out->class_var_count = out->class_vars ? d->class_vars.count : 0;
    u->methods = NULL;
    u->count = u->capacity = 0;
    add_source_methods(u, c);
    for (uint32_t i = 0; i < c->extensions.count; i++) {
        const ExtMethod *e = c->extensions.items[i];
        const NameMap *methods = e->is_class_side ? &c->class_methods : &c->methods;
        if (name_map_get(methods, e->method->selector) == e->method)
            add_source_method(u, e->method, e->is_class_side);
    }
    add_generated(u, c);
    out->methods = u->methods;
    out->method_count = u->count;
}

static void lower_classes(UnitLower *u) {
    Module *m = u->l.a->module;
    BcUnit *shell = u->l.unit->shell;
    if (!m->classes.count) return;
    shell->classes = memory_zalloc(shell->memory, m->classes.count * sizeof *shell->classes);
    if (!shell->classes) u->l.a->arena->failed = true;
    for (uint32_t i = 0; shell->classes && i < m->classes.count; i++)
        lower_class(u, m->classes.items[i]->facts, &shell->classes[shell->class_count++]);
}

/* ---- extensions and scripts ---- */

static void add_extension(UnitLower *u, const char *class_name, const MethodDecl *method, bool class_side) {
    BcMethod *m = add_source_method(u, method, class_side);
    m->class_name = name_text(u, class_name);
}

static void take_extensions(UnitLower *u) {
    u->l.unit->shell->extensions = u->methods;
    u->l.unit->shell->extension_count = u->count;
}

static void lower_extensions(UnitLower *u) {
    Module *m = u->l.a->module;
    u->methods = NULL;
    u->count = u->capacity = 0;
    for (uint32_t i = 0; i < m->ext_methods.count; i++) {
        ExtMethod *e = m->ext_methods.items[i];
        if (!class_find(u->l.a, e->class_name)->decl)
            add_extension(u, e->class_name, e->method, e->is_class_side);
    }
    take_extensions(u);
}

static void lower_script(UnitLower *u) {
    Lower *l = &u->l;
    BcUnit *shell = l->unit->shell;
    const PtrSet *bindings = &l->a->bindings;
    if (!l->a->script) return;
    FunctionSpec spec = {.facts = l->a->script, .kind = FN_SCRIPT, .span = l->a->module->span};
    FnLower *fn = lower_function_begin(l, &spec);
    shell->script = lower_function_end(l, fn, lower_statements(l, l->a->module->statements, POS_VALUE));
    shell->bindings =
        bindings->count ? memory_zalloc(shell->memory, bindings->count * sizeof *shell->bindings) : NULL;
    for (uint32_t i = 0; shell->bindings && i < bindings->count; i++)
        shell->bindings[shell->binding_count++] = name_text(u, ((const Var *)bindings->items[i])->name);
    if (shell->binding_count != bindings->count) l->a->arena->failed = true;
}

/* ---- entry ---- */

static bool unit_begin(UnitLower *u, Analysis *a, const char *source, size_t length) {
    *u = (UnitLower){
        .l = {.a = a, .unit = ir_unit_new(a->options->memory)}, .source = source, .length = length};
    if (!u->l.unit) return false;
    BcUnit *shell = u->l.unit->shell;
    shell->name = text_of(u->l.a->arena, a->options->name, a->options->name ? strlen(a->options->name) : 0);
    shell->source = text_of(u->l.a->arena, source, length);
    return true;
}

static IrUnit *unit_end(UnitLower *u, bool begun) {
    if (begun && !arena_failed(u->l.a->arena)) return u->l.unit;
    if (u->l.unit) ir_unit_free(u->l.unit);
    return NULL;
}

IrUnit *lower_module(Analysis *a, const char *source, size_t length) {
    UnitLower u;
    bool begun = unit_begin(&u, a, source, length);
    if (begun) {
        lower_classes(&u);
        lower_extensions(&u);
        lower_script(&u);
    }
    return unit_end(&u, begun);
}

IrUnit *lower_single_method(Analysis *a, ClassInfo *c, MethodDecl *method, bool class_side,
                            const char *source, size_t length) {
    UnitLower u;
    bool begun = unit_begin(&u, a, source, length);
    if (begun) {
        add_extension(&u, c->name, method, class_side);
        take_extensions(&u);
    }
    return unit_end(&u, begun);
}
