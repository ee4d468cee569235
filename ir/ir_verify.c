/* The verifier: one linear pass over a unit, always on. Nothing is emitted that has not passed.
 *
 * A temp or version is in one of three states: not bound yet, visible, gone with its frame. `current` of a
 * local is the version that a read must name here; `access` is the depth of the frame that may write it: the
 * frame that bound it, or one that threads it, all frames in between threading it as well. See the version
 * rule in ir.h.
 *
 * The unit may come from a text file, so nothing in it is believed: every index is checked before it is used.
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
    char detail[200], text[STMT_TEXT] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    const IrFunction *fn = v->fn;
    if (s) ir_print_stmt(v->unit, fn, s, text, sizeof text);
    Span span = s ? s->span : fn ? fn->span : span_make(0, 0);
    diag_add(v->diags, DIAG_ERROR, "internal_verifier", span, "internal error: %s%s%s%s, %s: %s: %s%s%s%s",
             fn && fn->class_name ? fn->class_name : "", fn && fn->class_side ? " class" : "",
             fn && fn->class_name ? ">>" : "", fn && fn->name ? fn->name : "unit", frame_name(v),
             IR_ERROR_NAMES[error], detail, s ? " in `" : "", text, s ? "`" : "");
}

const char *local_name(const Verify *v, uint32_t local) {
    const char *name = v->fn->locals[local].name;
    return name && *name ? name : "a nameless local";
}

/* ---- versions ---- */

static bool valid_local(Verify *v, const IrStmt *s, uint32_t local) {
    if (local < v->fn->local_count) return true;
    finding(v, VERIFY_MalformedNode, s, "local %u of %u", local, v->fn->local_count);
    return false;
}

static void read_version(Verify *v, const IrStmt *s, uint32_t local, uint32_t version, bool operand_of_many) {
    LocalState *l = &v->locals[local];
    const char *name = local_name(v, local);
    if (l->current == version && !l->discarded) return;
    if (l->discarded)
        finding(v, VERIFY_StaleVersionRead, s, "%s@%u is read behind the discard of its rebinds", name,
                version);
    else if (l->current == UNBOUND || version > l->current)
        finding(v, VERIFY_UnboundVersion, s, "%s@%u is not bound here", name, version);
    else if (operand_of_many && l->by_rebind)
        finding(v, VERIFY_LocalReadAfterSiblingRebind, s,
                "%s@%u is an operand, but a sibling has rebound it as %s@%u; a snap before it is missing",
                name, version, name, l->current);
    else
        finding(v, VERIFY_StaleVersionRead, s, "%s@%u is read where %s@%u is the newest", name, version, name,
                l->current);
}

/* The next version of a local, by a Set or Rebind in the frame at hand. */
static void mint_version(Verify *v, const IrStmt *s, uint32_t local, uint32_t version) {
    LocalState *l = &v->locals[local];
    if (version != l->counter + 1)
        finding(v, VERIFY_NonLinearVersion, s, "%s@%u is bound, but its next version is %u",
                local_name(v, local), version, l->counter + 1);
    if (version > l->counter && version != UNBOUND) l->counter = version;
    if (l->current == UNBOUND) {
        l->access = v->depth;
        verify_push(v, &v->bound_locals, local);
    } else if (l->access != v->depth) {
        finding(v, VERIFY_ThreadedLocalDropped, s,
                "%s is written here, but a frame around does not thread it", local_name(v, local));
    }
    l->current = version;
    l->by_rebind = s->kind == STMT_REBIND;
}

bool verify_grow(Verify *v, VerifyStack *stack) {
    uint32_t capacity = stack->capacity ? stack->capacity * 2 : 64;
    uint32_t *items = realloc(stack->items, capacity * sizeof *items);
    if (!items) return v->no_memory = v->stop = true, false;
    stack->items = items;
    stack->capacity = capacity;
    return true;
}

/* ---- atoms and temps ---- */

/* An atom that is not simply what is visible here: says what is wrong with it. */
void verify_strange_atom(Verify *v, const IrStmt *s, const IrAtom *at) {
    IrAtom atom = *at;
    if (atom.kind == ATOM_TEMP) {
        if (atom.index >= v->fn->temp_count)
            finding(v, VERIFY_MalformedNode, s, "temp t%u of %u", atom.index, v->fn->temp_count);
        else
            finding(v, VERIFY_UnboundVersion, s, "t%u is not bound here", atom.index);
    } else if (atom.kind == ATOM_LOCAL) {
        if (!valid_local(v, s, atom.index)) return;
        if (v->fn->locals[atom.index].mode == LOCAL_CARRIER)
            finding(v, VERIFY_LocalRebindModeMismatch, s, "%s lies in a carrier and is read without a snap",
                    local_name(v, atom.index));
        bool operand =
            s && s->kind == STMT_BIND && at >= s->operands && at + 1 < s->operands + s->operand_count;
        read_version(v, s, atom.index, atom.version, operand);
    } else if (atom.kind > ATOM_INT) {
        finding(v, VERIFY_MalformedNode, s, "atom of kind %u", (unsigned)atom.kind);
    }
}

void verify_bind_temp(Verify *v, const IrStmt *s, uint32_t temp) {
    if (temp >= v->fn->temp_count) {
        finding(v, VERIFY_MalformedNode, s, "temp t%u of %u", temp, v->fn->temp_count);
        return;
    }
    if (v->temps[temp]) finding(v, VERIFY_NonLinearVersion, s, "t%u is bound twice", temp);
    v->temps[temp] = v->scope;
}

static void verify_operands(Verify *v, const IrStmt *s) {
    for (const IrAtom *at = s->operands, *end = at + s->operand_count; at < end; at++) verify_atom(v, s, at);
}

/* ---- frames ---- */

/* The entry version of a threaded local. */
static void thread_local_in(Verify *v, const IrStmt *s, uint32_t local) {
    if (!valid_local(v, s, local)) return;
    LocalState *l = &v->locals[local];
    if (l->current == UNBOUND)
        finding(v, VERIFY_UnboundVersion, s, "%s is threaded but not bound", local_name(v, local));
    else if (l->access + 1 != v->depth)
        finding(v, VERIFY_ThreadedLocalDropped, s,
                l->access == v->depth ? "%s is threaded twice"
                                      : "%s is threaded by an inner frame, but not by the frame around it",
                local_name(v, local));
    verify_push(v, &v->saved, local);
    verify_push(v, &v->saved, l->current);
    verify_push(v, &v->saved, l->access);
    l->current = ++l->counter;
    l->access = v->depth;
    l->by_rebind = false;
}

static void bind_index(Verify *v, const IrStmt *s) {
    if (!valid_local(v, s, s->index_local)) return;
    LocalState *l = &v->locals[s->index_local];
    const IrLocal *local = &v->fn->locals[s->index_local];
    if (local->mode != LOCAL_REGISTER)
        finding(v, VERIFY_LocalRebindModeMismatch, s,
                "the index of a counted loop does not live in a register");
    if (local->family != FAMILY_LOCAL)
        finding(v, VERIFY_UncarriedFamily, s, "the index of a counted loop is no ordinary local");
    if (l->current != UNBOUND) {
        finding(v, VERIFY_ThreadedLocalDropped, s, "the index %s is a local from outside the loop",
                local_name(v, s->index_local));
        return;
    }
    l->current = ++l->counter;
    l->access = v->depth;
    l->by_rebind = false;
    verify_push(v, &v->bound_locals, s->index_local);
}

static void leave_frame(Verify *v, uint32_t locals, uint32_t saved) {
    while (v->bound_locals.count > locals) {
        LocalState *l = &v->locals[v->bound_locals.items[--v->bound_locals.count]];
        l->current = UNBOUND;
        l->access = UNBOUND;
    }
    while (v->saved.count > saved + 2) {
        v->saved.count -= 3;
        const uint32_t *entry = v->saved.items + v->saved.count;
        LocalState *l = &v->locals[entry[0]];
        l->current = entry[1];
        l->access = entry[2];
        l->by_rebind = false;
    }
}

/* ---- statements ---- */

static void verify_set(Verify *v, const IrStmt *s) {
    if (s->operand_count != 1)
        finding(v, VERIFY_MalformedNode, s, "an assignment of %u values", s->operand_count);
    if (!valid_local(v, s, s->local)) return;
    const IrFunction *fn = v->fn;
    if (fn->locals[s->local].family == FAMILY_SELFVT &&
        (fn->class_side || fn->home_kind == FN_SCRIPT || fn->home_kind == FN_ACTOR_METHOD))
        finding(v, VERIFY_UncarriedFamily, s, "only methods of values have a self that can be replaced");
    mint_version(v, s, s->local, s->version);
}

static void verify_snap(Verify *v, const IrStmt *s) {
    if (valid_local(v, s, s->local)) read_version(v, s, s->local, s->version, false);
    verify_bind_temp(v, s, s->temp);
}

static void verify_leaving(Verify *v, const IrStmt *s) {
    if (v->index + 1 < v->frame->stmt_count || !v->frame->ends)
        finding(v, VERIFY_MalformedNode, s, "it leaves the frame, but the frame goes on");
}

static void verify_return(Verify *v, const IrStmt *s) {
    verify_leaving(v, s);
    if (s->operand_count != 1)
        finding(v, VERIFY_MalformedNode, s, "%u values are returned", s->operand_count);
    bool block = v->fn->kind == FN_BLOCK;
    if (s->kind == STMT_RETURN && block && v->depth > 1)
        finding(v, VERIFY_EarlyExitGateSlotMismatch, s,
                "a ^ inside a block leaves the block instead of its home");
    if (s->kind != STMT_NONLOCAL) return;
    v->nonlocal = true;
    if (!block)
        finding(v, VERIFY_EarlyExitGateSlotMismatch, s,
                "a ^ of a method unwinds to a home that it does not have");
}

static void verify_fail(Verify *v, const IrStmt *s) {
    verify_leaving(v, s);
    if (s->flags > FAIL_STATEFUL_BLOCK || s->operand_count > 1)
        finding(v, VERIFY_MalformedNode, s, "failure %u with %u operands", s->flags, s->operand_count);
    else if (s->flags >= FAIL_COMPILE_ERROR && !const_is(v, s->imm, BC_STRING))
        finding(v, VERIFY_MalformedNode, s, "a failure without a text");
}

static inline void verify_stmt(Verify *v, const IrStmt *s) {
    if (s->operand_count && s->kind != STMT_CONSTRUCT) verify_operands(v, s);
    switch (s->kind) {
    case STMT_BIND: verify_bind(v, s); break;
    case STMT_SNAP: verify_snap(v, s); break;
    case STMT_SET: verify_set(v, s); break;
    case STMT_CONSTRUCT: verify_construct(v, s); break;
    case STMT_REBIND:
        if (v->expected_rebinds) {
            v->expected_rebinds--;
            mint_version(v, s, s->local, s->version);
        } else {
            finding(v, VERIFY_StateEffectEscapesExpression, s,
                    "the rebind does not stand behind its construct");
        }
        break;
    case STMT_DISCARD:
        if (!v->expected_discard)
            finding(v, VERIFY_StateEffectEscapesExpression, s,
                    "the discard does not stand behind its construct");
        v->expected_discard = false;
        break;
    case STMT_RETURN:
    case STMT_NONLOCAL: verify_return(v, s); break;
    case STMT_FAIL: verify_fail(v, s); break;
    default: finding(v, VERIFY_MalformedNode, NULL, "statement of kind %u", (unsigned)s->kind); break;
    }
}

/* ---- bodies of frames ---- */

static bool leaves(IrStmtKind kind) {
    return kind == STMT_RETURN || kind == STMT_NONLOCAL || kind == STMT_FAIL;
}

static void verify_statements(Verify *v, const IrFrame *frame) {
    for (uint32_t i = 0; i < frame->stmt_count && !v->stop; i++) {
        const IrStmt *s = frame->stmts[i];
        v->index = i;
        verify_stmt(v, s);
    }
    if (frame->ends && (!frame->stmt_count || !leaves(frame->stmts[frame->stmt_count - 1]->kind)))
        finding(v, VERIFY_MalformedNode, NULL, "a frame that ends without leaving");
}

static bool open_scope(Verify *v) {
    v->scope = ++v->scopes;
    if (v->scope >= v->open_capacity) {
        uint32_t capacity = v->open_capacity ? v->open_capacity * 2 : 256;
        uint8_t *open = realloc(v->open, capacity);
        if (!open) return v->no_memory = v->stop = true, false;
        v->open = open;
        v->open_capacity = capacity;
    }
    v->open[0] = 0; /* of temps that are not bound yet */
    v->open[v->scope] = 1;
    return true;
}

/* `construct` is NULL for the body of a function. */
void verify_frame(Verify *v, const IrFrame *frame, const IrStmt *construct) {
    if (++v->depth > IR_MAX_DEPTH) {
        finding(v, VERIFY_MalformedNode, construct, "frames nest deeper than %d", IR_MAX_DEPTH);
        v->depth--;
        return;
    }
    const IrFrame *outer = v->frame;
    uint32_t locals = v->bound_locals.count, saved = v->saved.count, scope = v->scope;
    v->frame = frame;
    if (!open_scope(v)) return;
    for (uint32_t i = 0; i < frame->thread_count; i++) thread_local_in(v, construct, frame->threads[i]);
    if (construct && construct->construct_kind == CONSTRUCT_COUNT) bind_index(v, construct);
    if (frame->kind == FRAME_Handler && construct) verify_bind_temp(v, construct, construct->exception);
    verify_statements(v, frame);
    if (!frame->ends) verify_atom(v, NULL, &frame->value);
    leave_frame(v, locals, saved);
    v->open[v->scope] = 0;
    v->scope = scope;
    v->frame = outer;
    v->depth--;
}

/* ---- functions ---- */

static bool prepare(Verify *v) {
    const IrFunction *fn = v->fn;
    if (fn->temp_count > v->temp_capacity) {
        free(v->temps);
        v->temps = malloc(fn->temp_count * sizeof *v->temps);
        v->temp_capacity = v->temps ? fn->temp_count : 0;
    }
    if (fn->local_count > v->local_capacity) {
        free(v->locals);
        v->locals = malloc(fn->local_count * sizeof *v->locals);
        v->local_capacity = v->locals ? fn->local_count : 0;
    }
    if (fn->construct_count > v->construct_capacity) {
        free(v->constructs);
        v->constructs = malloc(fn->construct_count);
        v->construct_capacity = v->constructs ? fn->construct_count : 0;
    }
    v->no_memory = fn->temp_count > v->temp_capacity || fn->local_count > v->local_capacity ||
                   fn->construct_count > v->construct_capacity;
    if (v->no_memory) return false;
    if (fn->temp_count) memset(v->temps, 0, fn->temp_count * sizeof *v->temps);
    if (fn->construct_count) memset(v->constructs, 0, fn->construct_count);
    v->bound_locals.count = v->saved.count = 0;
    v->scope = v->scopes = 0;
    v->expected_rebinds = v->depth = v->index = 0;
    v->expected_discard = v->nonlocal = false;
    v->frame = NULL;
    return true;
}

static void verify_local(Verify *v, uint32_t i) {
    const IrFunction *fn = v->fn;
    const IrLocal *local = &fn->locals[i];
    bool bound = i < fn->param_count || local->mode == LOCAL_BINDING || local->outer;
    v->locals[i] = (LocalState){.current = bound ? 0 : UNBOUND,
                                .access = bound ? 1 : UNBOUND,
                                .no_operand = local->mode == LOCAL_CARRIER};
    if (local->mode > LOCAL_BINDING || local->family > FAMILY_SELFVT ||
        (i < fn->param_count && local->mode != LOCAL_REGISTER))
        finding(v, VERIFY_MalformedNode, NULL, "local %u is neither register, carrier nor binding", i);
    else if (local->mode == LOCAL_BINDING &&
             (fn->kind != FN_SCRIPT || local->binding >= v->unit->shell->binding_count))
        finding(v, VERIFY_LocalRebindModeMismatch, NULL, "%s is a session variable outside a script",
                local_name(v, i));
    else if (local->outer && (local->mode != LOCAL_CARRIER || fn->kind != FN_BLOCK))
        finding(v, VERIFY_LocalRebindModeMismatch, NULL, "%s is no carrier of a home", local_name(v, i));
    else if (local->mode == LOCAL_CARRIER && local->carrier >= carriers_of_home(v, fn))
        finding(v, VERIFY_LocalRebindModeMismatch, NULL, "%s lies in carrier %u of %u", local_name(v, i),
                local->carrier, carriers_of_home(v, fn));
}

static bool function_is_sound(Verify *v) {
    const IrFunction *fn = v->fn;
    if (!fn->body || fn->kind > FN_BLOCK || fn->home_kind > FN_BLOCK || fn->param_count > fn->local_count ||
        fn->param_count > (fn->kind == FN_SCRIPT ? 0 : MAX_PARAMS) || fn->temp_count > MAX_TEMPS ||
        fn->construct_count > MAX_TEMPS || fn->capture_count >= BC_NO_CAPTURE ||
        (fn->capture_count && fn->kind != FN_BLOCK))
        finding(v, VERIFY_MalformedNode, NULL, "the description of the function contradicts itself");
    else if (fn->body->kind != (fn->kind == FN_BLOCK ? FRAME_BlockBody : FRAME_MethodBody) &&
             !((fn->flags & FN_BUILDER) && fn->body->kind == FRAME_BlockBody))
        finding(v, VERIFY_MalformedNode, NULL, "the body is a %s",
                fn->body->kind < FRAME_KIND_COUNT ? IR_FRAME_NAMES[fn->body->kind] : "?");
    else if (fn->body->thread_count)
        finding(v, VERIFY_MalformedNode, NULL, "the body threads locals");
    else
        return true;
    return false;
}

static void verify_function(Verify *v, uint32_t index) {
    v->fn = v->unit->functions[index];
    v->fn_index = index;
    v->frame = NULL;
    if (!function_is_sound(v) || !prepare(v)) return;
    for (uint32_t i = 0; i < v->fn->local_count; i++) verify_local(v, i);
    verify_frame(v, v->fn->body, NULL);
    if (v->nonlocal) verify_home(v, index);
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
}

static void verify_end(Verify *v) {
    free(v->temps);
    free(v->locals);
    free(v->constructs);
    free(v->creators);
    free(v->open);
    free(v->bound_locals.items);
    free(v->saved.items);
}

IrVerified *ir_verify(IrUnit *unit, DiagList *diags) {
    Verify v = {.unit = unit, .diags = diags};
    if (unit->function_count) v.creators = malloc(unit->function_count * sizeof *v.creators);
    v.no_memory = ir_failed(unit) || (unit->function_count && !v.creators);
    if (!v.no_memory) {
        for (uint32_t i = 0; i < unit->function_count; i++) v.creators[i] = BC_NONE;
        verify_shell(&v);
        for (uint32_t i = 0; i < unit->function_count && unit->shell && !v.no_memory; i++)
            verify_function(&v, i);
    }
    verify_end(&v);
    if (v.no_memory && !v.failed)
        diag_add(diags, DIAG_ERROR, "internal_verifier", span_make(0, 0), "Out of memory while compiling");
    if (v.no_memory || v.failed) return NULL;
    IrVerified *verified = ir_alloc(unit, sizeof *verified);
    verified->unit = unit;
    return ir_failed(unit) ? NULL : verified;
}
