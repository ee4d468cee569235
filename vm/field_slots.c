/* See field_slots.h. */
#include "vm/field_slots.h"
#include "vm/class_internal.h"

/* Which field has, or had, this slot; V_NIL: none of this class. */
static Value slot_name(const Class *c, uint32_t slot) {
    if (!c || slot >= c->slot_count) return V_NIL;
    return c->slot_names ? c->slot_names[slot] : c->field_names[slot];
}

uint32_t class_slot_limit(BtVm *vm, const Class *c) {
    uint32_t most = c->slot_count,
             limit = atomic_load_explicit(&vm->classes->class_limit, memory_order_relaxed);
    if (!c->has_subclasses || c->kind == BC_KIND_ACTOR) return most;
    for (uint32_t id = 1; id < limit; id++) {
        const Class *below = class_by_id(vm, id);
        if (below && below->slot_count > most && class_inherits(below, c)) most = below->slot_count;
    }
    return most;
}

/* The slot that a field of this name had and may keep: no field of the superclass lies there. */
static bool keeps_slot(const Class *c, Value name, uint32_t *slot) {
    for (uint32_t i = 0; i < c->slot_count; i++)
        if (slot_name(c, i) == name && slot_name(c->superclass, i) == V_NIL) return *slot = i, true;
    return false;
}

static bool has_moved(const Class *c, const Value *names, const uint32_t *slots, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < c->field_count; k++)
            if (c->field_names[k] == names[i] && class_field_slot(c, k) != slots[i]) return true;
    return false;
}

static bool in_order(const uint32_t *slots, uint32_t count, uint32_t slot_count) {
    for (uint32_t i = 0; i < count; i++)
        if (slots[i] != i) return false;
    return count == slot_count;
}

bool field_slots_set(BtVm *vm, Class *c, const Value *names, uint32_t count, uint32_t inherited,
                     bool *moved) {
    *moved = false;
    if (c->kind == BC_KIND_ACTOR) {
        c->field_slot = NULL;
        c->slot_names = NULL;
        c->slot_count = count;
        return true;
    }
    const Class *s = c->superclass;
    uint32_t limit = class_slot_limit(vm, c);
    if (s && s->slot_count > limit) limit = s->slot_count;
    Value *by_slot = class_table_own(vm, (limit + count + 1) * sizeof *by_slot);
    uint32_t *slots = class_table_own(vm, (count + 1) * sizeof *slots);
    if (!by_slot || !slots) return false;
    for (uint32_t i = 0; i < limit; i++) {
        by_slot[i] = slot_name(s, i);
        if (by_slot[i] == V_NIL) by_slot[i] = slot_name(c, i);
    }
    for (uint32_t i = 0; i < inherited; i++) slots[i] = class_field_slot(s, i);
    for (uint32_t i = inherited; i < count; i++) {
        if (keeps_slot(c, names[i], &slots[i])) continue;
        by_slot[limit] = names[i];
        slots[i] = limit++;
    }
    while (limit && by_slot[limit - 1] == V_NIL) limit--; /* what only classes below have */
    *moved = has_moved(c, names, slots, count);
    bool ordered = in_order(slots, count, limit);
    c->field_slot = ordered ? NULL : slots;
    c->slot_names = ordered ? NULL : by_slot;
    c->slot_count = limit;
    return true;
}
