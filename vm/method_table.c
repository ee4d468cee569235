/* See method_table.h. */
#include "vm/method_table.h"
#include "vm/process.h"
#include "vm/bytecode/memory.h"

static uint32_t slot_of(Value selector, uint32_t capacity) {
    return (value_to_symbol(selector) * 2654435769u >> 7) & (capacity - 1);
}

Method *method_table_find(const MethodTable *t, Value selector) {
    if (!t) return NULL;
    for (uint32_t i = slot_of(selector, t->capacity); t->slots[i]; i = (i + 1) & (t->capacity - 1))
        if (t->slots[i]->selector == selector) return t->slots[i];
    return NULL;
}

static void place(MethodTable *t, Method *m) {
    uint32_t i = slot_of(m->selector, t->capacity);
    while (t->slots[i] && t->slots[i]->selector != m->selector) i = (i + 1) & (t->capacity - 1);
    if (!t->slots[i]) t->count++;
    t->slots[i] = m;
}

static MethodTable *grow(const Memory *memory, MethodTable *old) {
    uint32_t capacity = old ? old->capacity * 2 : 8;
    MethodTable *t = memory_zalloc(memory, sizeof *t + capacity * sizeof(Method *));
    if (!t) return NULL;
    t->capacity = capacity;
    for (uint32_t i = 0; old && i < old->capacity; i++)
        if (old->slots[i]) place(t, old->slots[i]);
    memory_free(memory, old);
    return t;
}

bool method_table_put(const Memory *memory, MethodTable **table, Method *m) {
    if (!*table || (*table)->count * 4 >= (*table)->capacity * 3) {
        MethodTable *bigger = grow(memory, *table);
        if (!bigger) return false;
        *table = bigger;
    }
    place(*table, m);
    return true;
}

Method *method_table_remove(MethodTable *t, Value selector) {
    if (!t) return NULL;
    uint32_t mask = t->capacity - 1, i = slot_of(selector, t->capacity);
    while (t->slots[i] && t->slots[i]->selector != selector) i = (i + 1) & mask;
    Method *found = t->slots[i];
    if (!found) return NULL;
    t->slots[i] = NULL;
    t->count--;
    /* Close the gap: whatever follows in the same run is placed again. */
    for (i = (i + 1) & mask; t->slots[i]; i = (i + 1) & mask) {
        Method *m = t->slots[i];
        t->slots[i] = NULL;
        t->count--;
        place(t, m);
    }
    return found;
}

void method_table_free(const Memory *memory, MethodTable *t) { memory_free(memory, t); }

void method_table_each(const MethodTable *t, MethodVisitor visit, void *context) {
    for (uint32_t i = 0; t && i < t->capacity; i++)
        if (t->slots[i]) visit(t->slots[i], context);
}
