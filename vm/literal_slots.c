/* Literal slots of value and actor classes. See literal_slots.h. */
#include "vm/literal_slots.h"
#include "vm/class_internal.h"

/* What an instruction of a generated `__defaults` loads; V_HOLE: it does more than that. A string constant is
 * a literal of its unit, which lives as long as the class unless it is transient. */
static Value loaded_literal(const Function *fn, Instr i) {
    switch (instr_op(i)) {
    case OP_LOADNIL: return V_NIL;
    case OP_LOADI: return value_from_int(instr_imm(i));
    case OP_LOADBOOL: return value_from_bool(instr_f(i) != 0);
    case OP_LOADK: return fn->unit->transient ? V_HOLE : fn->unit->consts[(uint32_t)instr_imm(i)];
    default: return V_HOLE;
    }
}

/* Own slots: the function loads one register after the other and puts them into a Tuple. */
static bool own_literals(const Function *fn, Value *slots, uint32_t count) {
    const Instr *at = fn->code, *end = at + fn->bc->code_count;
    uint32_t loaded = 0;
    unsigned base = at < end ? instr_a(*at) : 0;
    for (; at < end && instr_op(*at) != OP_TUPLE; at++, loaded++) {
        Value v = loaded_literal(fn, *at);
        if (v == V_HOLE || loaded >= count || instr_a(*at) != base + loaded) return false;
        slots[loaded] = v;
    }
    return at < end && loaded == count && instr_b(*at) == base && instr_c(*at) == count;
}

/* An actor whose typed field has no value yet must be looked at after its initialize chain. */
static bool slots_may_be_nil(const Class *c) {
    for (uint32_t i = 0; i < c->bc->field_count; i++) {
        const BcField *f = &c->bc->fields[i];
        if (!f->has_default && !f->allows_nil && f->type.length) return false;
    }
    return true;
}

static const Value *compute(Class *c, Value *slots) {
    const Class *s = c->superclass;
    uint32_t inherited = s ? s->field_count : 0, own = c->bc->field_count;
    if (c->field_count != inherited + own || c->field_slot) return NULL;
    if (inherited && !s->literal_slots) return NULL;
    if (inherited) memcpy(slots, s->literal_slots, inherited * sizeof *slots);
    if (!own) return slots;
    if (c->kind == BC_KIND_ACTOR && !slots_may_be_nil(c)) return NULL;
    const Method *m = method_table_find(c->class_methods, SYMBOL(__defaults));
    if (!m || !(m->flags & METHOD_GENERATED)) return NULL;
    return own_literals(m->fn, slots + inherited, own) ? slots : NULL;
}

bool literal_slots_set(BtVm *vm, Class *c) {
    c->literal_slots = NULL;
    /* what the VM itself knows has other ways to be made, or none */
    if ((c->kind != BC_KIND_VALUE && c->kind != BC_KIND_ACTOR) || c->id < CLASS_ID_FIRST_FREE) return true;
    Value *slots = class_table_own(vm, (c->field_count + 1) * sizeof *slots);
    if (slots) c->literal_slots = compute(c, slots);
    return slots != NULL;
}
