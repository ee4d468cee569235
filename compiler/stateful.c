/* Diagnostics about what a block may write from where it goes: outer locals (semantics 8.3), actor fields
 * (9), class variables abroad (6.5).
 */
#include "compiler/analysis.h"

static const char *class_name_of(const FnFacts *fn) { return fn->class_info ? fn->class_info->name : "?"; }

static void report_no_channel(Analysis *a, Span span, const BlockFacts *b, const char *selector) {
    const Var *var = b->closure->writes.items[0];
    const char *name = var->kind == VAR_SELF ? "self" : var->name;
    Diag *d = report(a, DIAG_ERROR, "stateful_block_no_return_channel", span,
                     "block writes outer local `%s`, but `%s` cannot return the write", name, selector);
    if (!d) return;
    diag_set_label(d, "`%s` is written here", name);
    diag_set_help(
        d,
        "return the new value from the block and assign it (`%s := …`), or use a control-flow message "
        "(`do:`, `inject:into:`, `on:do:`) that threads locals",
        name);
}

/* An outer write may leave a block only by a construct, or in an actor's own methods by the carriers of its
 * process. Which of them a block has is FnFacts.channel: lowering makes the others raise. */
static void check_outer_writes(Analysis *a, const BlockFacts *b) {
    if (!b->closure->writes.count) return;
    if (b->flow == FLOW_FOREIGN) {
        const Var *var = b->closure->writes.items[0];
        report(a, DIAG_WARNING, "unresolved_ffi", b->node->span,
               "block writes outer local `%s`, but a foreign function loses the write", var->name);
        return;
    }
    if (!b->closure->channel && (b->flow == FLOW_SEND || b->flow == FLOW_SELF_SEND))
        report_no_channel(a, b->node->span, b, b->flow_selector);
}

static void check_field_writes(Analysis *a, const BlockFacts *b) {
    if (!b->field_written || !facts_actor_instance(b->closure)) return;
    if (b->flow == FLOW_LOCAL || b->flow == FLOW_RETURNED) {
        report(a, DIAG_ERROR, "type", b->node->span, "Cannot assign to field '%s' inside a stored closure",
               b->field_written);
    } else if (b->flow == FLOW_SEND) {
        report(a, DIAG_ERROR, "type", b->node->span,
               "Cannot mutate Actor state inside a closure — `self.%s` is assigned inside a block passed to "
               "`%s` on "
               "Actor `%s`",
               b->field_written, b->flow_selector, class_name_of(b->closure));
    }
}

void check_closure(Analysis *a, BlockFacts *b) {
    check_limit(a, b->node->span, b->node->as.block.params.count, PARAMETERS_MAX, "parameters");
    if (b->closure) check_limit(a, b->node->span, b->closure->reads.count, PARTS_MAX, "variables in a block");
    check_outer_writes(a, b);
    check_field_writes(a, b);
}

/* ---- class variables abroad ---- */

static bool is_class_named(const Node *node, const char *name) {
    node = node ? ast_unparen((Node *)(uintptr_t)node) : NULL;
    return node && node->kind == AST_CLASS_REF && node->as.class_ref.name == name;
}

static bool asynchronous(const Analysis *a, const BlockFacts *b) {
    return b->flow_cast || is_class_named(b->flow_receiver, a->names.Timer) ||
           is_class_named(b->flow_receiver, a->names.Parallel);
}

/* A class-side send to another class that hops: it has class variables, or its method is not `class sealed`.
 */
static bool hops(Analysis *a, const BlockFacts *b, const FnFacts *home) {
    const Node *receiver = b->flow_receiver ? ast_unparen(b->flow_receiver) : NULL;
    if (!receiver || receiver->kind != AST_CLASS_REF) return false;
    ClassInfo *c = receiver->facts;
    if (!c || c == home->class_info) return false;
    uint8_t flags = 0;
    if (!class_has_method(a, c, b->flow_selector, true, &flags)) return false;
    if (flags & METHOD_DIRECT) return false;
    return c->has_class_vars || !(flags & METHOD_SEALED);
}

static bool reported_around(const FnFacts *fn) {
    for (; fn; fn = fn->parent)
        if (fn->abroad_reported) return true;
    return false;
}

static void check_abroad(Analysis *a, FnFacts *fn) {
    BlockFacts *b = fn->block;
    if (reported_around(fn)) return;
    bool stored = b->flow == FLOW_LOCAL || b->flow == FLOW_FIELD || b->flow == FLOW_RETURNED;
    if (fn->class_vars.count && (stored || asynchronous(a, b))) {
        fn->abroad_reported = true;
        report(a, DIAG_WARNING, "class_state_abroad", b->node->span,
               "outside an invocation of `%s`, this block reads the values that its class variables had when "
               "the "
               "block was made",
               class_name_of(fn));
    } else if (fn->writes_class_vars && hops(a, b, fn->home)) {
        fn->abroad_reported = true;
        report(a, DIAG_WARNING, "class_state_abroad", b->node->span,
               "this block writes class variables of `%s` and is run by another class: the write raises "
               "class_state_unreachable",
               class_name_of(fn));
    }
}

void check_abroad_from(Analysis *a, uint32_t first) {
    if (!a->fn->home->class_side) return;
    for (uint32_t i = a->closures.count; i-- > first;) /* outer before inner */
        check_abroad(a, (FnFacts *)(uintptr_t)a->closures.items[i]);
}

/* ---- at the end of a home ---- */

/* Is this binding the last thing of a script? Then the next input may meet the block (and raise when it calls
 * it). */
static bool ends_script(const Analysis *a, const Var *var) {
    const NodeList *statements = &a->module->statements;
    if (!var->fn->script || !statements->count) return false;
    return ast_unparen(statements->items[statements->count - 1])->span.start == var->bound_span.start;
}

/* A stateful block in a local, bound once. One that is bound again is not tracked: calling it raises. */
static void check_stored(Analysis *a, const Var *var) {
    const BlockFacts *b = var->block;
    if (var->writes != 1 || !b || !b->closure || !b->closure->writes.count || b->closure->channel) return;
    if (!var->flows && ends_script(a, var)) return;
    report_no_channel(a, var->bound_span, b, var->flows ? var->flows : "value");
}

void check_home(Analysis *a, FnFacts *home) {
    for (uint32_t i = 0; i < a->home_vars.count; i++) check_stored(a, a->home_vars.items[i]);
    if (home->is_default) check_abroad_from(a, 0); /* it has no statements */
}
