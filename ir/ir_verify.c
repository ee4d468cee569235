/* The verifier: one linear pass over a unit, always on. Nothing is emitted that has not passed.
 *
 * It believes nothing: the unit may come from a text file, so every index is checked before it is used, and
 * what lowering says about a function (its flags, its versions, the owners of its carriers) is compared with
 * what stands in it.
 *
 * Here: findings, the unit, functions and their locals. ir_verify_frame.c walks the frames.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/verify_internal.h"

enum { MAX_FINDINGS = 20, STMT_TEXT = 200 };

/* ---- findings ---- */

static const char *frame_name(const Verify *v) {
    return v->frame && v->frame->kind < FRAME_KIND_COUNT ? IR_FRAME_NAMES[v->frame->kind] : "function";
}

void finding(Verify *v, IrVerifyError error, const IrStmt *s, const char *format, ...) {
    v->failed = true;
    if (v->findings >= MAX_FINDINGS) return;
    v->stop = ++v->findings == MAX_FINDINGS;
    char detail[240], text[STMT_TEXT] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    const IrFunction *fn = v->fn;
    if (s) ir_print_stmt(v->unit, fn, s, text, sizeof text);
    Span span = s ? s->span : fn ? fn->span : span_make(0, 0);
    Diag *d = diag_add(v->diags, DIAG_ERROR, "internal_verifier", span,
                       "internal error: %s%s%s%s, %s: %s: %s%s%s%s",
                       fn && fn->class_name ? fn->class_name : "", fn && fn->class_side ? " class" : "",
                       fn && fn->class_name ? ">>" : "", fn && fn->name ? fn->name : "unit", frame_name(v),
                       IR_ERROR_NAMES[error], detail, s ? " in `" : "", text, s ? "`" : "");
    if (d) diag_set_help(d, "%s: %s", IR_ERROR_NAMES[error], IR_ERROR_DOCS[error]);
}

const char *local_name(const Verify *v, uint32_t local) {
    const char *name = v->fn->locals[local].name;
    return name && *name ? name : "a nameless local";
}

/* ---- memory ---- */

/* `array` is the address of the pointer; new room is zeroed. */
bool verify_grow(Verify *v, void *array, uint32_t *capacity, size_t item, uint32_t needed) {
    uint32_t larger = *capacity ? *capacity * 2 : 64;
    while (larger < needed) larger *= 2;
    void *old;
    memcpy(&old, array, sizeof old);
    char *items = memory_realloc(ir_memory(v->unit), old, larger * item);
    if (!items) return v->no_memory = v->stop = true, false;
    memset(items + *capacity * item, 0, (larger - *capacity) * item);
    memcpy(array, &items, sizeof items);
    *capacity = larger;
    return true;
}

/* ---- locals ---- */

/* False: another local lies there. */
static bool take_carrier(Verify *v, uint32_t carrier) {
    uint8_t *taken = &v->taken[v->functions[v->fn_index].taken + carrier];
    if (*taken) return false;
    v->functions[v->fn_index].carriers++;
    *taken = 1;
    return true;
}

static bool open_carriers(Verify *v) {
    uint32_t count = v->fn->carrier_count, from = v->taken_count;
    if (count > MAX_TEMPS) {
        finding(v, VERIFY_MalformedNode, NULL, "%u carriers", count);
        return false;
    }
    if (from + count > v->taken_capacity &&
        !verify_grow(v, &v->taken, &v->taken_capacity, sizeof *v->taken, from + count))
        return false;
    v->functions[v->fn_index].taken = from;
    v->taken_count += count;
    return true;
}

static void verify_own_carrier(Verify *v, uint32_t i) {
    const IrLocal *local = &v->fn->locals[i];
    if (local->carrier >= v->fn->carrier_count)
        finding(v, VERIFY_LocalRebindModeMismatch, NULL, "%s lies in carrier %u, but its function opens %u",
                local_name(v, i), local->carrier, v->fn->carrier_count);
    else if (!take_carrier(v, local->carrier))
        finding(v, VERIFY_LocalRebindModeMismatch, NULL, "%s lies in carrier %u, and so does another local",
                local_name(v, i), local->carrier);
}

static void verify_outer_carrier(Verify *v, uint32_t i) {
    const IrLocal *local = &v->fn->locals[i];
    if (v->fn->kind != FN_BLOCK || local->owner.function == v->fn_index)
        finding(v, VERIFY_LocalRebindModeMismatch, NULL,
                "%s is a carrier of a function around, but there is none", local_name(v, i));
    else if (!carrier_is_there(v, v->fn_index, (CarrierPlace){local->owner, local->carrier, local->level}))
        finding(
            v, VERIFY_LocalRebindModeMismatch, NULL,
            "%s lies in carrier %u at level %u, and the local of the function around that it names does not",
            local_name(v, i), local->carrier, local->level);
    else if (v->unit->functions[local->owner.function]->locals[local->owner.local].family != local->family)
        finding(v, VERIFY_UncarriedFamily, NULL, "%s is of another family than the local whose carrier it is",
                local_name(v, i));
}

static void verify_special_local(Verify *v, uint32_t i) {
    const IrFunction *fn = v->fn;
    const IrLocal *local = &fn->locals[i];
    if (local->family != FAMILY_LOCAL) {
        if (local->family > FAMILY_SELFVT)
            finding(v, VERIFY_MalformedNode, NULL, "local %u is of no family", i);
        if (!local->name || strcmp(local->name, "self") != 0)
            finding(v, VERIFY_UncarriedFamily, NULL, "%s is of the family of self, and is not self",
                    local_name(v, i));
        v->functions[v->fn_index].needs |= REPLACES_SELF;
    }
    if (local->outer && local->mode != LOCAL_CARRIER)
        finding(v, VERIFY_LocalRebindModeMismatch, NULL,
                "%s belongs to a function around, but lies in no carrier of it", local_name(v, i));
    if (local->mode == LOCAL_REGISTER) return;
    if (local->mode != LOCAL_CARRIER || local->outer) v->locals[i] = (LocalState){.access = 1};
    if (local->mode > LOCAL_BINDING || i < fn->param_count)
        finding(v, VERIFY_LocalRebindModeMismatch, NULL,
                "local %u is neither a parameter in a register, nor carrier, nor binding", i);
    else if (local->mode == LOCAL_CARRIER) {
        v->locals[i].flags |= NO_OPERAND;
        if (local->outer)
            verify_outer_carrier(v, i);
        else
            verify_own_carrier(v, i);
    } else if (fn->kind != FN_SCRIPT || local->binding >= v->unit->shell->binding_count)
        finding(v, VERIFY_LocalRebindModeMismatch, NULL, "%s is a session variable outside a script",
                local_name(v, i));
}

static inline void verify_locals(Verify *v) {
    static const LocalState UNBOUND_LOCAL = {.current = UNBOUND}, PARAMETER = {.access = 1};
    const IrFunction *fn = v->fn;
    LocalState *state = v->locals, *params = state + fn->param_count, *end = state + fn->local_count;
    for (const IrLocal *local = fn->locals; state < end; state++, local++) {
        *state = state < params ? PARAMETER : UNBOUND_LOCAL;
        if (local->mode != LOCAL_REGISTER || local->family != FAMILY_LOCAL || local->outer)
            verify_special_local(v, (uint32_t)(local - fn->locals));
    }
}

/* A write that got lost, or one too many. Only what is otherwise in order: it follows from most other
 * findings. */
static inline void verify_versions(Verify *v) {
    const IrFunction *fn = v->fn;
    const LocalState *state = v->locals, *end = state + fn->local_count;
    for (const IrLocal *local = fn->locals; state < end; state++, local++)
        if (state->counter != local->versions)
            finding(v, VERIFY_NonLinearVersion, NULL,
                    "%s has %u versions, but %u are bound: a write is missing or doubled",
                    local_name(v, (uint32_t)(local - fn->locals)), local->versions, state->counter);
}

/* ---- functions ---- */

/* Most functions: a method without carriers. */
static inline bool is_plain_method(const IrFunction *fn) {
    return fn->kind < FN_SCRIPT && fn->home_kind == fn->kind &&
           fn->class_side == (fn->kind == FN_CLASS_METHOD) && !(fn->flags & ~FN_NLR_HOME) &&
           !fn->carrier_count && !fn->capture_count && fn->body && fn->body->kind == FRAME_MethodBody &&
           !fn->body->thread_count && fn->param_count <= fn->local_count && fn->param_count <= MAX_PARAMS &&
           fn->temp_count <= MAX_TEMPS && fn->construct_count <= MAX_TEMPS;
}

static bool function_is_sound(Verify *v) {
    const IrFunction *fn = v->fn;
    bool block = fn->kind == FN_BLOCK, builder = fn->flags & FN_BUILDER;
    if (!fn->body || fn->kind > FN_BLOCK || fn->home_kind >= FN_BLOCK || fn->param_count > fn->local_count ||
        fn->param_count > (fn->kind == FN_SCRIPT ? 0 : MAX_PARAMS) || fn->temp_count > MAX_TEMPS ||
        fn->construct_count > MAX_TEMPS || fn->capture_count >= BC_NO_CAPTURE ||
        (fn->capture_count && !block && !builder))
        finding(v, VERIFY_MalformedNode, NULL, "the description of the function contradicts itself");
    else if ((!block && fn->home_kind != fn->kind) || fn->class_side != (fn->home_kind == FN_CLASS_METHOD))
        finding(v, VERIFY_MalformedNode, NULL, "it is a %s with a home that is a %s%s", IR_FN_KINDS[fn->kind],
                IR_FN_KINDS[fn->home_kind], fn->class_side ? " of the class side" : "");
    else if (fn->body->kind != (block ? FRAME_BlockBody : FRAME_MethodBody) &&
             !(builder && fn->body->kind == FRAME_BlockBody))
        finding(v, VERIFY_MalformedNode, NULL, "the body is a %s",
                fn->body->kind < FRAME_KIND_COUNT ? IR_FRAME_NAMES[fn->body->kind] : "?");
    else if (fn->body->thread_count)
        finding(v, VERIFY_MalformedNode, NULL, "the body threads locals");
    else if (!(fn->flags & FN_HAS_CARRIERS) != !fn->carrier_count)
        finding(v, VERIFY_LocalRebindModeMismatch, NULL, "it %s carriers, but has %u",
                fn->flags & FN_HAS_CARRIERS ? "opens" : "opens no", fn->carrier_count);
    else
        return true;
    return false;
}

static inline bool prepare(Verify *v) {
    const IrFunction *fn = v->fn;
    if (fn->temp_count > v->temp_capacity &&
        !verify_grow(v, &v->temps, &v->temp_capacity, sizeof *v->temps, fn->temp_count))
        return false;
    if (fn->local_count > v->local_capacity &&
        !verify_grow(v, &v->locals, &v->local_capacity, sizeof *v->locals, fn->local_count))
        return false;
    v->bound_count = v->saved_count = v->scope = v->next_construct = v->depth = 0;
    v->first_scope = v->scopes + 1;
    if (fn->carrier_count && !open_carriers(v)) return false;
    v->self_replaced = false;
    return true;
}

/* Does a block stand in a method whose self is a local? Then the receiver is not what it calls self. */
static bool home_replaces_self(const Verify *v) {
    uint32_t at = v->fn_index;
    while (at != BC_NONE && v->unit->functions[at]->kind == FN_BLOCK) at = creator_of(v, at);
    return at != BC_NONE && v->functions[at].needs & REPLACES_SELF;
}

static void verify_function(Verify *v, uint32_t index) {
    v->fn = v->unit->functions[index];
    v->fn_index = index;
    v->frame = NULL;
    uint32_t findings = v->findings;
    if (!(is_plain_method(v->fn) || function_is_sound(v)) || !prepare(v)) return;
    verify_locals(v);
    if (v->fn->kind == FN_BLOCK) v->self_replaced = home_replaces_self(v);
    verify_body(v);
    if (findings == v->findings && !v->stop) verify_versions(v);
}

/* What is kept is found through what is kept around it, up to the method. */
static bool keeps_rightly(const Verify *v, uint32_t index) {
    for (uint32_t at = index;;) {
        const IrFunction *fn = v->unit->functions[at];
        if (fn->kind != FN_BLOCK) return at != index && (fn->flags & FN_HAS_CARRIERS);
        if ((at == index || (fn->flags & FN_HAS_CARRIERS)) && !(fn->flags & FN_KEEPS)) return false;
        if (at == index && !(fn->flags & FN_HAS_CARRIERS)) return false;
        if ((at = creator_of(v, at)) == BC_NONE) return false;
    }
}

/* What the blocks of a function do must be in its flags: the VM acts on them before any of its code runs. */
static void wrong_flags(Verify *v, uint32_t index, uint8_t wrong) {
    const IrFunction *fn = v->unit->functions[index];
    uint32_t carriers = v->functions[index].carriers;
    v->fn = fn;
    v->frame = NULL;
    const char *is = (fn->flags & wrong) ? "is" : "is not";
    if (carriers != fn->carrier_count)
        finding(v, VERIFY_LocalRebindModeMismatch, NULL, "it opens %u carriers, and %u locals lie in them",
                fn->carrier_count, carriers);
    if (wrong & FN_NLR_HOME)
        finding(v, VERIFY_EarlyExitGateSlotMismatch, NULL, "it %s marked as home of a ^, and %s has one", is,
                fn->flags & FN_NLR_HOME ? "no block of it" : "a block of it");
    if (wrong & FN_WRITES_OUTER)
        finding(v, VERIFY_LocalRebindModeMismatch, NULL,
                "it %s marked as a block that reaches into carriers around it, and it %s", is,
                fn->flags & FN_WRITES_OUTER ? "does not" : "does");
    if (wrong & FN_ACTOR_FIELDS)
        finding(v, VERIFY_MalformedNode, NULL, "it %s marked as a block that writes actor state, and it %s",
                is, fn->flags & FN_ACTOR_FIELDS ? "does not" : "does");
}

/* What the blocks of a function do must be in its flags: the VM acts on them before any of its code runs. */
static inline void verify_flags(Verify *v, uint32_t index) {
    const IrFunction *fn = v->unit->functions[index];
    const FunctionState *state = &v->functions[index];
    uint8_t wrong = (state->needs ^ fn->flags) & (FN_NLR_HOME | FN_WRITES_OUTER | FN_ACTOR_FIELDS);
    if (wrong || state->carriers != fn->carrier_count) wrong_flags(v, index, wrong);
    if ((fn->flags & FN_KEEPS) && !keeps_rightly(v, index)) {
        v->fn = fn;
        finding(v, VERIFY_LocalRebindModeMismatch, NULL,
                "its carriers are to last as long as its method, and those around it do not");
    }
}

/* ---- the unit ---- */

static void verify_methods(Verify *v, const BcClass *c) {
    BcFnKind instance = c->kind == BC_KIND_ACTOR    ? FN_ACTOR_METHOD
                        : c->kind == BC_KIND_OBJECT ? FN_OBJECT_METHOD
                                                    : FN_VALUE_METHOD;
    for (uint32_t i = 0; i < c->method_count; i++) {
        const BcMethod *m = &c->methods[i];
        const IrFunction *fn = m->function < v->unit->function_count ? v->unit->functions[m->function] : NULL;
        BcFnKind want = m->class_side ? FN_CLASS_METHOD : instance;
        if (!fn || fn->kind != want)
            finding(v, VERIFY_MalformedNode, NULL, "method %.*s of %.*s is no %s", (int)m->selector.length,
                    m->selector.bytes, (int)c->name.length, c->name.bytes, IR_FN_KINDS[want]);
    }
}

static void verify_shell(Verify *v) {
    const BcUnit *shell = v->unit->shell;
    v->fn = NULL;
    v->frame = NULL;
    if (!shell) {
        finding(v, VERIFY_MalformedNode, NULL, "no shell");
        return;
    }
    uint32_t count = v->unit->function_count;
    if (shell->script != BC_NONE &&
        (shell->script >= count || v->unit->functions[shell->script]->kind != FN_SCRIPT))
        finding(v, VERIFY_MalformedNode, NULL, "script function %u", shell->script);
    if (shell->binding_count > MAX_BINDINGS)
        finding(v, VERIFY_MalformedNode, NULL, "%u session variables", shell->binding_count);
    for (uint32_t i = 0; i < shell->class_count; i++) verify_methods(v, &shell->classes[i]);
}

static void verify_unit(Verify *v) {
    uint32_t count = v->unit->function_count;
    verify_shell(v);
    if (!v->unit->shell) return;
    for (uint32_t i = 0; i < count && !v->stop; i++) verify_function(v, i);
    for (uint32_t i = 0; i < count && !v->stop; i++) verify_flags(v, i);
}

static void verify_end(Verify *v) {
    const Memory *memory = ir_memory(v->unit);
    memory_free(memory, v->temps);
    memory_free(memory, v->locals);
    memory_free(memory, v->functions);
    memory_free(memory, v->open);
    memory_free(memory, v->bound);
    memory_free(memory, v->saved);
    memory_free(memory, v->taken);
}

IrVerified *ir_verify(IrUnit *unit, DiagList *diags) {
    Verify v = {.unit = unit, .diags = diags};
    if (unit->function_count)
        v.functions = memory_zalloc(ir_memory(unit), unit->function_count * sizeof *v.functions);
    v.no_memory = ir_failed(unit) || (unit->function_count && !v.functions);
    if (!v.no_memory) verify_unit(&v);
    verify_end(&v);
    if (v.no_memory && !v.failed)
        diag_add(diags, DIAG_ERROR, "internal_verifier", span_make(0, 0), "Out of memory while compiling");
    if (v.no_memory || v.failed) return NULL;
    IrVerified *verified = ir_alloc(unit, sizeof *verified);
    verified->unit = unit;
    return ir_failed(unit) ? NULL : verified;
}
