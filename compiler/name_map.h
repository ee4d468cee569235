/* Small hash tables of one compilation: by interned name, and sets of pointers in order of insertion.
 *
 * Memory is the arena's. When it runs out an insertion is lost and the arena is marked failed, so results are
 * thrown away by whoever runs the pass.
 */
#ifndef BT_COMPILER_NAME_MAP_H
#define BT_COMPILER_NAME_MAP_H

#include "compiler/intern.h"

typedef struct {
    const char *key; /* NULL = free */
    void *value;
} NameEntry;
typedef struct {
    NameEntry *entries; /* open addressing, power of two */
    uint32_t mask, count;
} NameMap;

/* The slot of `name`, made (with NULL) if there is none. NULL only when memory ran out. */
void **name_map_slot(NameMap *map, Arena *arena, const char *name);

static inline void *name_map_get(const NameMap *map, const char *name) {
    if (!map->count) return NULL;
    for (uint32_t i = intern_hash(name);; i++) {
        const NameEntry *e = &map->entries[i & map->mask];
        if (e->key == name) return e->value;
        if (!e->key) return NULL;
    }
}

/* Pointers without repetition, in order of insertion. */
typedef struct {
    const void **items;
    uint32_t count, capacity;
    uint32_t *table; /* index + 1, 0 = free; NULL while the set is small */
    uint32_t mask;
} PtrSet;

/* True if `item` was not in the set. */
bool ptr_set_add(PtrSet *set, Arena *arena, const void *item);
/* Index of `item`, or -1. */
int32_t ptr_set_index(const PtrSet *set, const void *item);
static inline bool ptr_set_has(const PtrSet *set, const void *item) { return ptr_set_index(set, item) >= 0; }

#endif
