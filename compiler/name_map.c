/* Hash tables of one compilation. */
#include "compiler/name_map.h"

#include <string.h>

enum { FIRST_CAPACITY = 8, SMALL_SET = 8 };

static bool map_grow(NameMap *map, Arena *arena) {
    uint32_t capacity = map->entries ? (map->mask + 1) * 2 : 16;
    NameEntry *entries = arena_try_alloc(arena, capacity * sizeof *entries);
    if (!entries) return false;
    uint32_t mask = capacity - 1;
    for (uint32_t i = 0; map->entries && i <= map->mask; i++) {
        if (!map->entries[i].key) continue;
        uint32_t at = intern_hash(map->entries[i].key) & mask;
        while (entries[at].key) at = (at + 1) & mask;
        entries[at] = map->entries[i];
    }
    map->entries = entries;
    map->mask = mask;
    return true;
}

void **name_map_slot(NameMap *map, Arena *arena, const char *name) {
    if ((!map->entries || map->count * 4 >= (map->mask + 1) * 3) && !map_grow(map, arena)) return NULL;
    uint32_t at = intern_hash(name) & map->mask;
    while (map->entries[at].key) {
        if (map->entries[at].key == name) return &map->entries[at].value;
        at = (at + 1) & map->mask;
    }
    map->entries[at].key = name;
    map->count++;
    return &map->entries[at].value;
}

static uint32_t pointer_hash(const void *p) {
    uint64_t h = (uint64_t)(uintptr_t)p * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

static void set_index_all(PtrSet *set, Arena *arena) {
    uint32_t capacity = set->capacity * 2;
    uint32_t *table = arena_try_alloc(arena, capacity * sizeof *table);
    set->table = table;
    if (!table) return;
    set->mask = capacity - 1;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t at = pointer_hash(set->items[i]) & set->mask;
        while (table[at]) at = (at + 1) & set->mask;
        table[at] = i + 1;
    }
}

int32_t ptr_set_index(const PtrSet *set, const void *item) {
    if (!set->table) {
        for (uint32_t i = 0; i < set->count; i++)
            if (set->items[i] == item) return (int32_t)i;
        return -1;
    }
    for (uint32_t at = pointer_hash(item) & set->mask; set->table[at]; at = (at + 1) & set->mask)
        if (set->items[set->table[at] - 1] == item) return (int32_t)(set->table[at] - 1);
    return -1;
}

static bool set_grow(PtrSet *set, Arena *arena) {
    uint32_t capacity = set->capacity ? set->capacity * 2 : FIRST_CAPACITY;
    const void **items = arena_try_alloc(arena, capacity * sizeof *items);
    if (!items) return false;
    if (set->count) memcpy(items, set->items, set->count * sizeof *items);
    set->items = items;
    set->capacity = capacity;
    if (capacity > SMALL_SET) set_index_all(set, arena);
    return true;
}

bool ptr_set_add(PtrSet *set, Arena *arena, const void *item) {
    if (ptr_set_has(set, item)) return false;
    if (set->count == set->capacity && !set_grow(set, arena)) return false;
    set->items[set->count++] = item;
    if (set->table) {
        uint32_t at = pointer_hash(item) & set->mask;
        while (set->table[at]) at = (at + 1) & set->mask;
        set->table[at] = set->count;
    }
    return true;
}
