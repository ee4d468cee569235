/* What is wrong with patterns and with a match: as a whole. */
#include "compiler/analysis.h"

#include <string.h>

/* ---- names ---- */

/* In tuples and maps a name stands once; in arrays of arms a repeated one is a test of equality. */
static void check_repeats(Analysis *a, Node *pattern, NameMap *seen) {
    switch ((AstKind)pattern->kind) {
    case AST_PAT_VAR: {
        void **slot = name_map_slot(seen, a->arena, pattern->as.name);
        if (slot && *slot)
            report(a, DIAG_ERROR, "type", pattern->span, "Variable `%s` is bound twice in one pattern",
                   pattern->as.name);
        if (slot) *slot = pattern;
        return;
    }
    case AST_PAT_TUPLE:
        for (uint32_t i = 0; i < pattern->as.pat_sequence.elements.count; i++)
            check_repeats(a, pattern->as.pat_sequence.elements.items[i], seen);
        return;
    case AST_PAT_MAP:
        for (uint32_t i = 0; i < pattern->as.list.count; i++)
            check_repeats(a, pattern->as.list.items[i]->as.pair.value, seen);
        return;
    case AST_PAT_CTOR:
        for (uint32_t i = 0; i < pattern->as.pat_ctor.args.count; i++)
            check_repeats(a, pattern->as.pat_ctor.args.items[i]->as.ctor_arg.pattern, seen);
        return;
    default: return;
    }
}

/* ---- destructuring ---- */

static void check_flat(Analysis *a, const Node *element, const char *what) {
    switch ((AstKind)element->kind) {
    case AST_PAT_VAR:
    case AST_PAT_WILD:
    case AST_PAT_LITERAL:
    case AST_PAT_NIL: return;
    default:
        report(a, DIAG_ERROR, "type", element->span, "Nested patterns in %s destructuring are not supported",
               what);
    }
}

static void check_destructuring(Analysis *a, const Node *p) {
    if (p->kind == AST_PAT_BINARY) {
        report(a, DIAG_ERROR, "type", p->span, "Binary patterns cannot be the target of an assignment");
    } else if (p->kind == AST_PAT_MAP) {
        for (uint32_t i = 0; i < p->as.list.count; i++)
            check_flat(a, p->as.list.items[i]->as.pair.value, "map");
    } else if (p->kind == AST_PAT_TUPLE || p->kind == AST_PAT_ARRAY || p->kind == AST_PAT_LIST) {
        const char *what = p->kind == AST_PAT_TUPLE ? "tuple" : p->kind == AST_PAT_ARRAY ? "array" : "list";
        for (uint32_t i = 0; i < p->as.pat_sequence.elements.count; i++)
            check_flat(a, p->as.pat_sequence.elements.items[i], what);
    } else {
        report(a, DIAG_ERROR, "type", p->span, "This pattern cannot be the target of an assignment");
    }
}

/* ---- arms ---- */

static void check_type(Analysis *a, const Node *p) {
    static const char *const ROOTS[] = {"ProtoObject", "Object", "Value",  "Actor",
                                        "Exception",   "Error",  "Number", "Collection"};
    const char *name = p->as.pat_type.class_name;
    ClassInfo *c = class_find(a, name);
    const char *why = NULL;
    if (name == a->names.Character) why = "Characters are Integers at run time";
    for (size_t i = 0; i < sizeof ROOTS / sizeof *ROOTS; i++)
        if (strcmp(ROOTS[i], name) == 0) why = "a type pattern needs a class without subclasses";
    if (!why && c->known && (c->flags & CLASS_ABSTRACT) && strcmp(name, "Boolean") != 0)
        why = "a type pattern needs a class without subclasses, and this one is abstract";
    if (!why && c->subclassed) why = "a type pattern needs a class without subclasses";
    if (why)
        report(a, DIAG_ERROR, "type", p->span, "Type pattern on `%s`: %s", name, why);
    else if (!c->known && a->options->world.find_class && strcmp(name, "Nil") != 0)
        suggest_class(a, report(a, DIAG_WARNING, "unresolved_class", p->span, "Unresolved class `%s`", name),
                      name);
}

static void check_ctor(Analysis *a, const Node *p) {
    bool known = p->as.pat_ctor.class_name == a->names.Result && p->as.pat_ctor.args.count == 1 &&
                 (p->as.pat_ctor.args.items[0]->as.ctor_arg.keyword == a->names.ok_keyword ||
                  p->as.pat_ctor.args.items[0]->as.ctor_arg.keyword == a->names.error_keyword);
    if (!known)
        report(a, DIAG_ERROR, "type", p->span,
               "Constructor patterns are `Result ok: p` and `Result error: p`; `%s` has none",
               p->as.pat_ctor.class_name);
}

static void check_arm_pattern(Analysis *a, const Node *p) {
    switch ((AstKind)p->kind) {
    case AST_PAT_TYPE: check_type(a, p); return;
    case AST_PAT_CTOR: check_ctor(a, p); return;
    case AST_PAT_TUPLE:
    case AST_PAT_ARRAY:
        for (uint32_t i = 0; i < p->as.pat_sequence.elements.count; i++)
            check_arm_pattern(a, p->as.pat_sequence.elements.items[i]);
        return;
    case AST_PAT_MAP:
        for (uint32_t i = 0; i < p->as.list.count; i++)
            check_arm_pattern(a, p->as.list.items[i]->as.pair.value);
        return;
    case AST_PAT_LIST:
        report(a, DIAG_ERROR, "type", p->span,
               "List patterns `#(…)` are not supported in match: arms; use `#[…]`");
        return;
    default: return;
    }
}

void check_pattern(Analysis *a, Node *pattern, bool in_arm) {
    if (pattern->kind == AST_PAT_TUPLE || pattern->kind == AST_PAT_ARRAY || pattern->kind == AST_PAT_LIST)
        check_limit(a, pattern->span, pattern->as.pat_sequence.elements.count, PARTS_MAX,
                    "elements in a pattern");
    if (!in_arm) {
        check_destructuring(a, pattern);
        return;
    }
    NameMap seen = {0};
    check_repeats(a, pattern, &seen);
    check_arm_pattern(a, pattern);
}

/* ---- exhaustiveness ---- */

static bool is_catch_all(const Node *arm) {
    const Node *p = arm->as.arm.pattern;
    return !arm->as.arm.guard && (p->kind == AST_PAT_WILD || p->kind == AST_PAT_VAR);
}

/* Which side of Result an arm handles whole: 1 ok, 2 error, 0 neither. */
static int result_side(const Analysis *a, const Node *arm, bool *any) {
    const Node *p = arm->as.arm.pattern;
    if (p->kind != AST_PAT_CTOR || p->as.pat_ctor.args.count != 1) return 0;
    *any = true;
    const Node *arg = p->as.pat_ctor.args.items[0];
    const Node *inner = arg->as.ctor_arg.pattern;
    if (arm->as.arm.guard || (inner->kind != AST_PAT_WILD && inner->kind != AST_PAT_VAR)) return 0;
    return arg->as.ctor_arg.keyword == a->names.ok_keyword ? 1 : 2;
}

/* Without types, a match on symbols, nil or types is taken at its word. */
static bool is_closed_set(const Node *p) {
    if (p->kind == AST_PAT_LITERAL) return p->as.child->kind == AST_SYMBOL;
    return p->kind == AST_PAT_NIL || p->kind == AST_PAT_TYPE || p->kind == AST_PAT_TUPLE;
}

void check_match(Analysis *a, Node *match) {
    NodeList arms = match->as.match.arms;
    bool catch_all = false, any_result = false, closed = true;
    int sides = 0;
    if (!arms.count) report(a, DIAG_ERROR, "type", match->span, "match: needs at least one arm");
    for (uint32_t i = 0; i < arms.count; i++) {
        if (arms.items[i]->kind != AST_ARM) return;
        check_pattern(a, arms.items[i]->as.arm.pattern, true);
        if (is_catch_all(arms.items[i])) catch_all = true;
        sides |= result_side(a, arms.items[i], &any_result);
        closed = closed && !arms.items[i]->as.arm.guard && is_closed_set(arms.items[i]->as.arm.pattern);
    }
    if (catch_all || !arms.count) return;
    if (any_result && sides != 3)
        report(a, DIAG_ERROR, "type", match->span, "non-exhaustive match: `Result %s` is not handled",
               sides & 1 ? "error: _" : "ok: _");
    else if (!any_result && match->as.match.exhaustive && !closed)
        report(a, DIAG_ERROR, "type", match->span, "non-exhaustive match: `_` is not handled");
}
