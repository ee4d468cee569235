/* What is wrong with a send or a field access, seen where it stands. */
#include "compiler/analysis.h"

#include <string.h>

void check_limit(Analysis *a, Span span, uint32_t count, uint32_t limit, const char *what) {
    if (count > limit)
        report(a, DIAG_ERROR, "limit", span, "Too many %s: there are %u, and at most %u can be", what, count,
               limit);
}

/* ---- literal blocks of the wrong arity ---- */

static bool arity_is_checked(const SelectorInfo *info, char want) {
    switch (info->construct) {
    case CTRL_IF_TRUE:
    case CTRL_IF_FALSE:
    case CTRL_IF_TRUE_FALSE:
    case CTRL_TIMES:
    case CTRL_TO_DO:
    case CTRL_TO_BY_DO: return true;
    case CTRL_IF_NOT_NIL:
    case CTRL_IF_NIL_NOT_NIL:
    case CTRL_IF_NOT_NIL_NIL: return want == '?';
    default: return false;
    }
}

static void check_arity(Analysis *a, const Node *node, const SelectorInfo *info) {
    if (send_may_be_own(a, info, node)) return;
    bool inject = strcmp(info->text, "inject:into:") == 0;
    for (uint32_t i = 1; info->blocks[i]; i++) {
        char want = inject && i == 2 ? '2' : info->blocks[i];
        if (want == '-' || (!inject && !arity_is_checked(info, want))) continue;
        const Node *block = literal_block(node->as.send.args.items[i - 1]);
        if (!block) continue;
        uint32_t got = block->as.block.params.count;
        if (want == '?' ? got <= 1 : got == (uint32_t)(want - '0')) continue;
        const char *expected = want == '?'   ? "0 or 1 parameters"
                               : want == '0' ? "0 parameters"
                               : want == '1' ? "1 parameter"
                                             : "2 parameters";
        report(a, DIAG_ERROR, "arity_mismatch", block->span, "`%s` expects a block with %s, but got %u",
               info->text, expected, got);
    }
}

/* ---- new ---- */

static bool is_primitive_class(const char *name) {
    static const char *const NAMES[] = {
        "Integer", "Float",          "String",    "Symbol", "True", "False",    "UndefinedObject",
        "Block",   "CompiledMethod", "Character", "Binary", "Pid",  "Reference"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(NAMES[i], name) == 0) return true;
    return strcmp(name, "Number") == 0 || strcmp(name, "Boolean") == 0 || strcmp(name, "Collection") == 0;
}

static void check_new(Analysis *a, const Node *node, const ClassInfo *c) {
    const char *selector = node->as.send.selector;
    if (a->options->stdlib || class_unit_method(c, selector, true, NULL)) return;
    if (c->kind == BC_KIND_ACTOR) {
        Diag *d = report(a, DIAG_ERROR, "actor_new", node->span,
                         "Actor class `%s` must use `spawn` instead of `%s`", c->name, selector);
        if (d)
            diag_set_help(d, "write `%s %s`", c->name, selector == a->names.new_ ? "spawn" : "spawnWith: …");
    } else if (is_primitive_class(c->name)) {
        report(a, DIAG_WARNING, "type", node->span, "Cannot instantiate primitive class `%s`", c->name);
    } else if (c->flags & CLASS_ABSTRACT) {
        report(a, DIAG_WARNING, "type", node->span,
               "Cannot instantiate abstract class `%s`. Subclass it first.", c->name);
    } else if (c->kind == BC_KIND_OBJECT && c->decl && !c->is_exception) {
        report(a, DIAG_HINT, "type", node->span,
               "Object-kind class `%s` cannot be instantiated with `%s`; use `Value subclass:` for data",
               c->name, selector);
    }
}

/* ---- casts ---- */

static bool is_static_value(const Analysis *a, const Node *node) {
    node = ast_unparen((Node *)(uintptr_t)node);
    switch ((AstKind)node->kind) {
    case AST_INT:
    case AST_FLOAT:
    case AST_STRING:
    case AST_SYMBOL:
    case AST_CHAR:
    case AST_INTERP:
    case AST_LIST:
    case AST_ARRAY:
    case AST_MAP: return true;
    case AST_IDENT:
        if (is_self_name(a, node)) return a->fn->home->kind == FN_VALUE_METHOD && !a->fn->home->test_self;
        return node->as.name == a->names.true_ || node->as.name == a->names.false_ ||
               node->as.name == a->names.nil;
    case AST_SEND: {
        const Node *base = ast_unparen(node->as.send.receiver);
        if (base->kind != AST_CLASS_REF || !base->facts) return false;
        const ClassInfo *c = base->facts;
        return c->kind == BC_KIND_VALUE &&
               (node->as.send.selector == a->names.new_ || node->as.send.selector == a->names.new_with);
    }
    default: return false;
    }
}

void check_send(Analysis *a, Node *node, Node *receiver) {
    const SelectorInfo *info = node->facts;
    if (info && info->construct != CTRL_NONE) check_arity(a, node, info);
    const char *selector = node->as.send.selector;
    if ((selector == a->names.new_ || selector == a->names.new_with) && receiver->kind == AST_CLASS_REF &&
        receiver->facts)
        check_new(a, node, receiver->facts);
    if (node->kind == AST_SEND && node->as.send.is_cast && receiver->kind != AST_SUPER &&
        is_static_value(a, receiver))
        report(a, DIAG_ERROR, "type", node->span, "Cannot use ! (cast) on value type");
}

/* ---- fields ---- */

static void check_value_write(Analysis *a, const Node *node, const char *name) {
    const char *setter = setter_selector(a->intern, name);
    Diag *d = report(a, DIAG_ERROR, "type", node->span,
                     "Cannot assign to slot `%s` on value type — use `self %s newValue`", name, setter);
    if (d) diag_set_help(d, "values do not change; `self %s newValue` answers a copy", setter);
}

void check_field(Analysis *a, Node *node, bool write) {
    const FnFacts *home = a->fn->home;
    const ClassInfo *c = home->class_info;
    const char *name = node->as.field.name;
    if (!c) return;
    if (home->class_side) {
        if (c->known && !ptr_set_has(&c->class_vars, name))
            report(a, DIAG_ERROR, "undefined_class_variable", node->span,
                   "Undefined class variable `%s` on class `%s`", name, c->name);
        return;
    }
    bool guessed = c->superclass && !c->superclass->known; /* its kind is reported as unknown already */
    if (write && home->kind != FN_ACTOR_METHOD && !home->test_self && !guessed)
        check_value_write(a, node, name);
}
