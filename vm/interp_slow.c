/* Instructions that are more than a few lines. The loop has saved pc, frame and reductions before it comes
 * here. */
#include <stdio.h>
#include "vm/compare.h"
#include "vm/interp_internal.h"
#include "vm/list.h"
#include "vm/number.h"
#include "vm/string.h"
#include "vm/tuple.h"

static PrimStatus store(Value v, Value *slot) {
    if (v == V_HOLE) return PRIM_RAISE;
    return *slot = v, PRIM_OK;
}

/* ---- constants and classes ---- */

static PrimStatus load_class(Process *p, Value name, Value *out) {
    Class *c = class_by_name(p->vm, name);
    if (c) return *out = value_from_class(c->id), PRIM_OK;
    return error_raise(p, ERR_class_not_found, name, V_NIL, NULL, NULL, V_NIL);
}

NOINLINE PrimStatus slow_loadk(Process *p, Value *r, Instr i) {
    const CodeUnit *unit = p->frame->fn->unit;
    uint32_t k = (uint32_t)instr_imm(i);
    if (unit->bc->consts[k].kind == BC_CLASS) {
        BcText text = unit->bc->consts[k].u.text;
        return load_class(p, symbol_intern(p->vm, text.bytes, text.length), &r[instr_a(i)]);
    }
    /* a literal of an evaluation must not outlive its unit: each use gets a copy of its own */
    return store(term_copy_into(p, unit->consts[k]), &r[instr_a(i)]);
}

NOINLINE PrimStatus slow_loadclass(Process *p, Value *r, Instr i) {
    return load_class(p, p->frame->fn->unit->consts[(uint32_t)instr_imm(i)], &r[instr_a(i)]);
}

/* ---- arithmetic and order ---- */

WellKnownSymbol operator_selector(Opcode op) {
    static const WellKnownSymbol relations[] = {SYM_lt, SYM_le, SYM_gt, SYM_ge};
    if (is_order_jump(op)) return relations[order_relation(op)];
    switch (op) {
    case OP_ADD:
    case OP_ADDI:
    case OP_ADDRET:
    case OP_ADDIRET: return SYM_plus;
    case OP_SUB:
    case OP_SUBI: return SYM_minus;
    case OP_MUL: return SYM_times;
    case OP_DIV: return SYM_slash;
    case OP_MOD: return SYM_percent;
    case OP_POW: return SYM_power;
    case OP_CONCAT: return SYM_concat;
    case OP_GT: return SYM_gt;
    case OP_LE: return SYM_le;
    case OP_GE: return SYM_ge;
    default: return SYM_lt;
    }
}

/* What the interpreter's own way leaves out: a Float zero, a small integer beside a Float. */
static bool small_to_double(Value v, double *out) {
    if (value_is_int(v)) return *out = (double)value_to_int(v), true;
    return number_is_float(v) ? *out = number_float_value(v), true : false;
}

static bool small_arith(Opcode op, Value a, Value b, Value *out) {
    double x, y;
    if ((a & b & 1) || !small_to_double(a, &x) || !small_to_double(b, &y)) return false;
    switch (op) {
    case OP_ADD:
    case OP_ADDI:
    case OP_ADDRET:
    case OP_ADDIRET: return number_free_double(x + y, out);
    case OP_SUB:
    case OP_SUBI: return number_free_double(x - y, out);
    case OP_MUL: return number_free_double(x * y, out);
    case OP_DIV: return y != 0 && number_free_double(x / y, out);
    default: return false;
    }
}

static PrimStatus concat(Process *p, Value a, Value b, Value *out) {
    if (value_is_bytes(a) && value_is_bytes(b)) return string_concat(p, a, b, out);
    uint32_t dispatch_class = list_is(a) ? CLASS_ID_List : dispatch_class_of(a);
    const Method *m = selector_cached(p->vm->classes, SYMBOL(concat), dispatch_class);
    if (UNLIKELY(!m)) m = selector_lookup(p, SYMBOL(concat), dispatch_class);
    /* whoever has a method gets the message; for all others it is a concatenation of bytes gone wrong */
    if (!m) return error_argument(p, a, SYMBOL(concat), NULL);
    if (!list_is(a) || !list_is(b) || !m->fn->unit->stdlib) return PRIM_SEND;
    *out = list_concat(p, a, b); /* what List's own method does */
    return *out == V_HOLE ? PRIM_RAISE : PRIM_OK;
}

NOINLINE PrimStatus slow_arith(Process *p, Instr i, Value a, Value b, Value *out) {
    Opcode op = instr_op(i);
    if (op == OP_CONCAT) return concat(p, a, b, out);
    if (small_arith(op, a, b, out)) return PRIM_OK;
    /* `%` and `**` are numeric only and raise; the others are messages to whatever is no number
     * (semantics 2.1) */
    if (op == OP_MOD) return number_mod(p, a, b, out);
    if (op == OP_POW) return number_pow(p, a, b, out);
    if (!number_is(a)) return PRIM_SEND;
    switch (op) {
    case OP_ADD:
    case OP_ADDI:
    case OP_ADDRET:
    case OP_ADDIRET: return number_add(p, a, b, out);
    case OP_SUB:
    case OP_SUBI: return number_sub(p, a, b, out);
    case OP_MUL: return number_mul(p, a, b, out);
    default: return number_div(p, a, b, out);
    }
}

static bool order_holds(Opcode op, int order) {
    switch (operator_selector(op)) {
    case SYM_gt: return order > 0;
    case SYM_le: return order <= 0;
    case SYM_ge: return order >= 0;
    default: return order < 0;
    }
}

NOINLINE PrimStatus slow_order(Process *p, Opcode op, Value a, Value b, bool *out) {
    if (number_is_float(a) && number_is_float(b)) { /* one of them is a zero */
        double x = number_float_value(a), y = number_float_value(b);
        return *out = order_holds(op, (x > y) - (x < y)), PRIM_OK;
    }
    if (value_orders_by_message(a)) return PRIM_SEND;
    int order = number_is(a) && number_is(b) ? number_compare(a, b) : value_compare(p->vm, a, b);
    return *out = order_holds(op, order), PRIM_OK;
}

/* R[a] current, R[a+1] stop, R[a+2] step. True in *again: R[b] is the index of the round to come. */
NOINLINE PrimStatus slow_for(Process *p, Value *r, Instr i, bool *again) {
    Value *loop = r + instr_a(i);
    for (int k = 0; k < 3; k++)
        if (!number_is(loop[k])) return error_arith(p);
    int sign = number_compare(loop[2], value_from_int(0));
    if (instr_op(i) == OP_FORSTEP) {
        PrimStatus status = number_add(p, loop[0], loop[2], &loop[0]);
        if (status != PRIM_OK) return status;
    }
    int order = number_compare(loop[0], loop[1]);
    *again = sign > 0 ? order <= 0 : sign < 0 ? order >= 0 : false;
    if (*again) r[instr_b(i)] = loop[0];
    return PRIM_OK;
}

/* ---- building ---- */

NOINLINE PrimStatus slow_list(Process *p, Value *r, Instr i) {
    Value *from = r + instr_b(i);
    unsigned n = instr_c(i);
    if (instr_op(i) == OP_LIST || n == 0)
        return store(list_from_array(p, from, n, V_EMPTY_LIST), &r[instr_a(i)]);
    if (!list_is(from[n - 1]))
        return error_raise(p, ERR_type_error, class_by_id(p->vm, CLASS_ID_List)->name, V_NIL, NULL,
                           "The tail of a List must be a List", V_NIL);
    return store(list_from_array(p, from, n - 1, from[n - 1]), &r[instr_a(i)]);
}

NOINLINE PrimStatus slow_tuple(Process *p, Value *r, Instr i) {
    return store(tuple_from(p, r + instr_b(i), instr_c(i)), &r[instr_a(i)]);
}

NOINLINE PrimStatus slow_selfvt(Process *p, Value *r, Instr i) {
    Value instance = r[instr_b(i)];
    unsigned slot = instr_c(i) + 1;
    if (!value_is_kind(instance, KIND_INSTANCE) || slot >= object_size(instance))
        return error_raise(p, ERR_immutable_value, class_name_of(p->vm, instance), p->frame->fn->name, NULL,
                           NULL, V_NIL);
    size_t words = object_size(instance);
    if (!heap_reserve(p, words)) return PRIM_RAISE;
    uint64_t *copy = heap_alloc(p, words);
    memcpy(copy, object_words(r[instr_b(i)]), words * sizeof *copy);
    copy[0] = header_make(header_class(copy[0]), KIND_INSTANCE, 0, words);
    copy[slot] = r[instr_a(i)];
    r[instr_a(i)] = value_from_object(copy);
    return PRIM_OK;
}

/* Only instances have slots; what else gets here was called with a foreign self. */
NOINLINE PrimStatus slow_getslot(Process *p, Value *r, Instr i) {
    return error_raise(p, ERR_immutable_value, class_name_of(p->vm, r[instr_b(i)]), p->frame->fn->name,
                       "no such field", "The object was made before its class got this field", V_NIL);
}

/* ---- carriers of activations further out ---- */

NOINLINE PrimStatus slow_outer_get(Process *p, Value *r, Instr i) {
    int64_t slot = carrier_slot_outer(p, p->frame, instr_f(i), instr_b(i));
    if (slot < 0) return raise_stateful(p, SYMBOL(value));
    r[instr_a(i)] = object_at(p->carriers, (size_t)slot + 1);
    return PRIM_OK;
}

NOINLINE PrimStatus slow_outer_put(Process *p, Value *r, Instr i) {
    int64_t slot = carrier_slot_outer(p, p->frame, instr_f(i), instr_b(i));
    if (slot < 0) return raise_stateful(p, SYMBOL(value));
    return record_write(p, &p->carriers, (size_t)slot, r[instr_a(i)]) ? PRIM_OK : PRIM_RAISE;
}

/* ---- closures ---- */

/* What a new closure takes over from the activation that makes it. */
typedef struct {
    Value self, pid, serial, carriers, home_class;
} Home;

static Home home_of(Process *p, Frame *f) {
    Home h;
    if (f->fn->kind == FN_BLOCK && value_is_closure(f->regs[0])) {
        Value c = f->regs[0];
        h = (Home){object_at(c, CLOSURE_SELF), object_at(c, CLOSURE_HOME_PID),
                   object_at(c, CLOSURE_HOME_SERIAL), object_at(c, CLOSURE_CARRIERS),
                   object_at(c, CLOSURE_HOME_CLASS)};
    } else {
        if (!f->serial && (f->fn->flags & FN_NLR_HOME)) f->serial = ++p->next_serial;
        Value self = frame_self(f);
        h = (Home){self, p->pid, value_from_int(f->serial), V_NIL, f->fn->class_side ? self : V_NIL};
    }
    h.carriers = carriers_for_closure(p, f);
    return h;
}

static Value outer_capture(const Frame *f, const BcCapture *cap) {
    Value c = f->regs[0];
    if (f->fn->kind != FN_BLOCK || cap->fallback == BC_NO_CAPTURE || !value_is_closure(c)) return V_HOLE;
    size_t word = (size_t)CLOSURE_CAPTURES + cap->fallback;
    return word < object_size(c) ? object_at(c, word) : V_HOLE;
}

static Value capture_state(Process *p, const Frame *f, const BcCapture *cap, Value name) {
    bool home = f->fn->kind != FN_BLOCK || object_at(f->regs[0], CLOSURE_HOME_PID) == p->pid;
    int slot = home ? slot_layout_find(p->state_layout, name) : -1;
    if (slot < 0 || !value_is_kind(p->state, KIND_RECORD) || (size_t)slot + 1 >= object_size(p->state))
        return outer_capture(f, cap);
    return object_at(p->state, (size_t)slot + 1);
}

static bool capture_value(Process *p, Frame *f, const BcCapture *cap, Value self, Value *out) {
    const Value *consts = f->fn->unit->consts;
    int64_t slot;
    switch (cap->kind) {
    case CAP_REGISTER: *out = cap->index < f->fn->register_count ? f->regs[cap->index] : V_NIL; return true;
    case CAP_CAPTURE: {
        BcCapture same = {.fallback = cap->index};
        *out = outer_capture(f, &same);
        return true;
    }
    case CAP_CARRIER:
        slot = carrier_slot_outer(p, f, cap->fallback, cap->index);
        if (slot < 0) return false;
        *out = object_at(p->carriers, (size_t)slot + 1);
        return true;
    case CAP_STATE: *out = capture_state(p, f, cap, consts[cap->name]); return true;
    default: *out = class_vars_capture(p, self, consts[cap->name], outer_capture(f, cap)); return true;
    }
}

NOINLINE PrimStatus slow_closure(Process *p, Value *r, Instr i) {
    Frame *f = p->frame;
    const Function *fn = &f->fn->unit->functions[(uint32_t)instr_imm(i)];
    size_t captures_end = (size_t)CLOSURE_CAPTURES + fn->capture_count;
    bool carriers = (f->flags & FRAME_CARRIERS) || (f->fn->kind == FN_BLOCK && value_is_closure(f->regs[0]) &&
                                                    object_at(f->regs[0], CLOSURE_CARRIERS) != V_NIL);
    size_t words = captures_end + (carriers ? CLOSURE_CARRIER_WORDS : 0);
    if (!heap_reserve(p, words)) return PRIM_RAISE;
    if ((fn->flags & FN_TRANSIENT) && !heap_keep_unit(p, fn->unit)) return error_resource(p, NULL);
    Home h = home_of(p, f);
    Value closure = heap_new(p, KIND_CLOSURE, CLASS_ID_Block, words);
    uint64_t *w = object_words(closure);
    w[CLOSURE_FN] = (uint64_t)(uintptr_t)fn;
    w[CLOSURE_SELF] = h.self;
    w[CLOSURE_HOME_PID] = h.pid;
    w[CLOSURE_HOME_SERIAL] = h.serial;
    w[CLOSURE_CARRIERS] = h.carriers;
    w[CLOSURE_HOME_CLASS] = h.home_class;
    for (size_t k = 0; k < fn->capture_count; k++) w[CLOSURE_CAPTURES + k] = V_NIL;
    if (carriers) carriers_tell(p, f, w + captures_end);
    for (size_t k = 0; k < fn->capture_count; k++)
        if (!capture_value(p, f, &fn->bc->captures[k], h.self, &w[CLOSURE_CAPTURES + k])) return PRIM_RAISE;
    r[instr_a(i)] = closure;
    return PRIM_OK;
}

/* ---- actor state ---- */

/* At home: the running code is a method of this actor, or a block made in its process. */
static bool state_at_home(const Process *p) {
    const Frame *f = p->frame;
    return value_is_kind(p->state, KIND_RECORD) &&
           (f->fn->kind != FN_BLOCK || object_at(f->regs[0], CLOSURE_HOME_PID) == p->pid);
}

static int state_slot(Process *p, Site *site) {
    int slot = slot_layout_find(p->state_layout, site->name);
    if (slot < 0 || (size_t)slot + 1 >= object_size(p->state)) return -1;
    atomic_store_explicit(&site->word, (uint64_t)p->state_layout->id << 32 | (uint32_t)(slot + 1),
                          memory_order_release);
    return slot;
}

static PrimStatus raise_no_field(Process *p, Value name) {
    return error_raisef(
        p, ERR_internal_error, p->frame->fn->class_name, p->frame->fn->name,
        "The class was reloaded while this code was running, or the code runs outside its actor",
        "the actor has no field %.200s", symbol_text(p->vm, name, NULL));
}

NOINLINE PrimStatus slow_getstate(Process *p, Value *r, Instr i) {
    Frame *f = p->frame;
    Site *site = &f->fn->sites[(uint32_t)instr_imm(i)];
    if (state_at_home(p)) {
        int slot = state_slot(p, site);
        if (slot < 0) return raise_no_field(p, site->name);
        return r[instr_a(i)] = object_at(p->state, (size_t)slot + 1), PRIM_OK;
    }
    BcCapture from = {.fallback = site->capture};
    Value captured = outer_capture(f, &from);
    if (captured == V_HOLE) return raise_no_field(p, site->name);
    r[instr_a(i)] = captured;
    return PRIM_OK;
}

NOINLINE PrimStatus slow_setstate(Process *p, Value *r, Instr i) {
    Site *site = &p->frame->fn->sites[(uint32_t)instr_imm(i)];
    if (!state_at_home(p)) return raise_stateful(p, SYMBOL(value));
    int slot = state_slot(p, site);
    if (slot < 0) return raise_no_field(p, site->name);
    return record_write(p, &p->state, (size_t)slot, r[instr_a(i)]) ? PRIM_OK : PRIM_RAISE;
}

/* ---- class variables ---- */

NOINLINE PrimStatus slow_class_var(Process *p, Value *r, Instr i) {
    Frame *f = p->frame;
    Site *site = &f->fn->sites[(uint32_t)instr_imm(i)];
    Value self = frame_self(f);
    if (instr_op(i) == OP_SETCV) return class_vars_put(p, site, self, r[instr_a(i)]);
    BcCapture from = {.fallback = site->capture};
    Value captured = site->flags & SITE_IN_BLOCK ? outer_capture(f, &from) : V_HOLE;
    if (instr_op(i) == OP_HASCV) return class_vars_has(p, site, self, captured, &r[instr_a(i)]);
    return class_vars_get(p, site, self, captured, &r[instr_a(i)]);
}

/* ---- exceptions ---- */

NOINLINE PrimStatus slow_excmatch(Process *p, Value *r, Instr i) {
    Value exception = r[instr_b(i)], filter = r[instr_c(i)];
    bool matches =
        true; /* nil, and whatever is neither class nor symbol, matches everything (semantics 11.3) */
    Class *c = NULL;
    if (value_is_class(filter))
        c = class_by_id(p->vm, special_payload(filter));
    else if (value_is_symbol(filter))
        c = class_by_name(p->vm, filter);
    if (c) matches = value_is_ptr(exception) && class_id_inherits(p->vm, object_class(exception), c->id);
    r[instr_a(i)] = value_from_bool(matches);
    return PRIM_OK;
}

PrimStatus raise_match_failure(Process *p, Value v, bool badmatch) {
    Value details = error_detail(p, "reason", v);
    if (details == V_HOLE) return PRIM_RAISE;
    return error_raise(p, ERR_internal_error, V_NIL, V_NIL,
                       badmatch ? "internal error (badmatch) - this is a bug in Beamtalk"
                                : "internal error (case_clause) - this is a bug in Beamtalk",
                       "please report", details);
}

NOINLINE PrimStatus slow_matchfail(Process *p, Value *r, Instr i) {
    return raise_match_failure(p, r[instr_b(i)], instr_f(i) != 0);
}

NOINLINE PrimStatus slow_raise(Process *p, Instr i) {
    const Function *fn = p->frame->fn;
    const BcConst *k = &fn->unit->bc->consts[instr_b(i)];
    unsigned kind = instr_f(i);
    char text[1024];
    bool has_text = k->kind == BC_STRING || k->kind == BC_SYMBOL;
    snprintf(text, sizeof text, "%.*s",
             has_text ? (int)(k->u.text.length < 1000 ? k->u.text.length : 1000) : 0,
             has_text ? k->u.text.bytes : "");
    if (kind >= ERROR_KIND_COUNT) kind = ERR_internal_error;
    bool is_name = kind == ERR_undefined_variable;
    return error_raisef(p, (ErrorKind)kind, fn->class_name, fn->name, NULL,
                        is_name ? "Undefined variable: %s" : "%s", text);
}
