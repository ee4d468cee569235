/* Slots of the fields of a class of the unit: in order, unless the class, or one below it, has been loaded
 * before (vm/field_slots.h, whose rules these are). */
#include "compiler/analysis.h"

/* What is known of the class as it was loaded before. */
typedef struct {
    const char **names; /* by slot, interned; NULL where there is none */
    uint32_t count, limit;
} Before;

static bool read_before(Analysis *a, const CompilerClass *w, const char *name, Before *out) {
    const CompilerWorld *world = &a->options->world;
    out->count = w->slot_names ? w->slot_count : w->field_count;
    out->limit = world->slot_limit ? world->slot_limit(world->context, name) : out->count;
    out->names = arena_try_alloc(a->arena, (out->count + 1) * sizeof *out->names);
    for (uint32_t i = 0; out->names && i < out->count; i++) {
        const char *text = w->slot_names ? w->slot_names[i] : w->fields[i];
        out->names[i] = text ? intern_cstring(a->intern, text) : NULL;
    }
    return out->names != NULL;
}

static const char *slot_name(const ClassInfo *c, uint32_t slot) {
    if (!c) return NULL;
    if (c->slot_names) return slot < c->slot_count ? c->slot_names[slot] : NULL;
    return slot < c->fields.count ? c->fields.items[slot] : NULL;
}

uint32_t class_slots(const ClassInfo *c) { return c->slot_names ? c->slot_count : c->fields.count; }

int32_t class_slot_of(const ClassInfo *c, const char *field) {
    int32_t index = ptr_set_index(&c->fields, field);
    return index >= 0 && c->slots ? (int32_t)c->slots[index] : index;
}

static bool keeps_slot(const ClassInfo *c, const Before *before, const char *name, uint32_t *slot) {
    for (uint32_t i = 0; i < before->count; i++)
        if (before->names[i] == name && !slot_name(c->superclass, i)) return *slot = i, true;
    return false;
}

static void place(Analysis *a, ClassInfo *c, const Before *before) {
    const ClassInfo *s = c->superclass;
    uint32_t limit = s && class_slots(s) > before->limit ? class_slots(s) : before->limit;
    const char **by_slot = arena_try_alloc(a->arena, (limit + c->fields.count + 1) * sizeof *by_slot);
    uint32_t *slots = arena_try_alloc(a->arena, (c->fields.count + 1) * sizeof *slots);
    if (!by_slot || !slots) return;
    for (uint32_t i = 0; i < limit; i++) {
        by_slot[i] = slot_name(s, i);
        if (!by_slot[i] && i < before->count) by_slot[i] = before->names[i];
    }
    for (uint32_t i = 0; i < c->fields.count; i++) {
        if (i < c->inherited_fields) {
            slots[i] = s->slots ? s->slots[i] : i;
        } else if (!keeps_slot(c, before, c->fields.items[i], &slots[i])) {
            by_slot[limit] = c->fields.items[i];
            slots[i] = limit++;
        }
    }
    while (limit && !by_slot[limit - 1]) limit--;
    c->slots = slots;
    c->slot_names = by_slot;
    c->slot_count = limit;
}

void class_slots_place(Analysis *a, ClassInfo *c) {
    const CompilerWorld *world = &a->options->world;
    CompilerClass w = {0};
    Before before = {0};
    bool known = !a->options->stdlib && world->find_class && world->find_class(world->context, c->name, &w);
    if (c->kind == BC_KIND_ACTOR || (!known && !(c->superclass && c->superclass->slots))) return;
    if (!known || read_before(a, &w, c->name, &before)) place(a, c, &before);
}

void class_slots_known(Analysis *a, ClassInfo *c, const CompilerClass *w) {
    if (!w->slots || !w->slot_names) return;
    uint32_t *slots = arena_try_alloc(a->arena, (w->field_count + 1) * sizeof *slots);
    const char **names = arena_try_alloc(a->arena, (w->slot_count + 1) * sizeof *names);
    if (!slots || !names) return;
    for (uint32_t i = 0; i < w->field_count; i++) slots[i] = w->slots[i];
    for (uint32_t i = 0; i < w->slot_count; i++)
        names[i] = w->slot_names[i] ? intern_cstring(a->intern, w->slot_names[i]) : NULL;
    c->slots = slots;
    c->slot_names = names;
    c->slot_count = w->slot_count;
}
