/* Recognising methods that need no activation, and the copy with another field. See leaf.h. */
#include "vm/leaf.h"
#include "vm/class_internal.h"

_Static_assert(MAX_METHODS * sizeof(Method) < SITE_PLACE, "a method's place fits into a site's word");

/* The Value that the instruction loads, if it can never be another one. */
static bool constant_of(const Function *fn, Instr i, Value *out) {
    switch (instr_op(i)) {
    case OP_LOADI: return *out = value_from_int(instr_imm(i)), true;
    case OP_LOADNIL: return *out = V_NIL, true;
    case OP_LOADBOOL: return *out = value_from_bool(instr_f(i) != 0), true;
    case OP_LOADK:
        *out = fn->consts[(uint32_t)instr_imm(i)];
        return *out != V_HOLE && !(value_is_ptr(*out) && (fn->flags & FN_TRANSIENT));
    default: return false;
    }
}

static bool is_copy(Instr i, unsigned to, unsigned from) {
    return instr_op(i) == OP_MOVE && instr_a(i) == to && instr_b(i) == from;
}

static bool answers(const Instr *at, const Instr *end, unsigned reg) {
    return end - at == 1 && instr_op(at[0]) == OP_RETURN && instr_a(at[0]) == reg;
}

/* t := argument; t := self with field := t; answer t. */
static bool is_with(const Instr *code, const Instr *end, unsigned *slot) {
    if (end - code < 3 || instr_op(code[1]) != OP_SELFVT) return false;
    unsigned reg = instr_a(code[1]);
    if (!is_copy(code[0], reg, 1) || reg < 2 || instr_b(code[1]) != 0 || !answers(code + 2, end, reg))
        return false;
    *slot = instr_c(code[1]) + 1;
    return true;
}

void leaf_recognise(Function *fn) {
    const Instr *code = fn->code, *end = code + fn->bc->code_count;
    unsigned slot;
    if (fn->prim) {
        fn->leaf = fn->prim == prim_object_new        ? LEAF_NEW
                   : fn->prim == prim_value_construct ? LEAF_CONSTRUCT
                                                      : LEAF_PRIM;
        return;
    }
    if (end - code < 2 || end - code > 4 || fn->kind == FN_BLOCK || fn->kind == FN_SCRIPT ||
        fn->bc->region_count)
        return;
    if (fn->param_count == 0 && answers(code + 1, end, instr_a(code[0]))) {
        if (constant_of(fn, code[0], &fn->leaf_value)) fn->leaf = LEAF_CONSTANT;
        if (instr_op(code[0]) == OP_GETSLOT && instr_b(code[0]) == 0 && instr_c(code[0]) < UINT16_MAX)
            fn->leaf = LEAF_FIELD, fn->leaf_slot = (uint16_t)(instr_c(code[0]) + 1);
    } else if (fn->param_count == 1 && is_with(code, end, &slot) && slot < UINT16_MAX) {
        fn->leaf = LEAF_WITH, fn->leaf_slot = (uint16_t)slot;
    }
}

/* At least one word. Four words a step; the last step ends with the object, and may repeat some. */
static inline void copy_words(uint64_t *to, const uint64_t *from, size_t count) {
    if (count < 4) {
        to[0] = from[0];
        if (count > 1) to[1] = from[1];
        if (count > 2) to[2] = from[2];
        return;
    }
    const uint64_t *last = from + count - 4;
    for (uint64_t *at = to; from < last; at += 4, from += 4) memcpy(at, from, 4 * sizeof *at);
    memcpy(to + count - 4, last, 4 * sizeof *to);
}

Value leaf_with(Process *p, unsigned slot, const Value *args) {
    Value self = args[0];
    if (!instance_has_slot(self, slot)) return V_HOLE;
    size_t words = object_size(self);
    if (!heap_has_room(p, words)) return V_HOLE;
    const uint64_t *from = object_words(self);
    uint64_t *made = heap_alloc(p, words);
    copy_words(made, from, words);
    made[0] &= ~(UINT64_C(0x1f) << 29); /* no flags */
    made[slot] = args[1];
    return value_from_object(made);
}

Value leaf_make(Process *p, const Function *fn, const Value *args, unsigned argc) {
    const Class *c = value_is_class(args[0]) ? class_at(p->vm->classes, special_payload(args[0])) : NULL;
    if (!c || !c->value_header) return V_HOLE;
    uint64_t header = c->value_header;
    size_t words = header_size(header);
    const Value *slots = fn->leaf == LEAF_NEW ? c->literal_slots : words == argc + 1 ? args + 1 : NULL;
    if (!slots || !heap_has_room(p, words)) return V_HOLE;
    uint64_t *made = heap_alloc(p, words);
    made[0] = header;
    if (words > 1) copy_words(made + 1, slots, words - 1);
    return value_from_object(made);
}
