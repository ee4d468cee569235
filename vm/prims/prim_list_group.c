/* Primitives of List that bring equal elements together: unique, groupBy:. Equal keys get one number by way
 * of a native hash table. */
#include "vm/prims/prim_collection.h"
#include "vm/compare.h"
#include "vm/dict.h"
#include "vm/hash.h"

typedef struct {
    uint32_t *group; /* of each key */
    uint32_t *first; /* index of the first key of each group */
    uint32_t count;
} Groups;

typedef struct {
    uint64_t *hashes; /* of the key that took the slot */
    uint32_t *slots;  /* group + 1, 0 = free */
    size_t mask;
} GroupTable;

static void groups_free(Process *p, Groups *g) {
    memory_free(p->vm->memory, g->group);
    memory_free(p->vm->memory, g->first);
}

static uint32_t group_of(BtVm *vm, GroupTable *t, Groups *g, const Value *keys, uint32_t index) {
    uint64_t hash = value_hash(vm, keys[index]);
    for (size_t at = hash & t->mask;; at = (at + 1) & t->mask) {
        if (t->slots[at] == 0) {
            t->slots[at] = ++g->count;
            t->hashes[at] = hash;
            g->first[g->count - 1] = index;
            return g->count - 1;
        }
        uint32_t group = t->slots[at] - 1;
        if (t->hashes[at] == hash && value_equal_strict(vm, keys[g->first[group]], keys[index])) return group;
    }
}

/* False: a resource_error is pending. No collection. */
static bool groups_number(Process *p, Groups *g, const Value *keys, size_t n) {
    const Memory *memory = p->vm->memory;
    size_t size = 16;
    while (size < 2 * n) size *= 2;
    GroupTable t = {memory_alloc(memory, size * sizeof *t.hashes),
                    memory_zalloc(memory, size * sizeof *t.slots), size - 1};
    *g = (Groups){memory_alloc(memory, (n + 1) * sizeof *g->group),
                  memory_alloc(memory, (n + 1) * sizeof *g->first), 0};
    bool made = n < UINT32_MAX && t.hashes && t.slots && g->group && g->first;
    for (uint32_t i = 0; made && i < n; i++) g->group[i] = group_of(p->vm, &t, g, keys, i);
    memory_free(memory, t.hashes);
    memory_free(memory, t.slots);
    charge_elements(p, 4 * n);
    if (made) return true;
    groups_free(p, g);
    error_resource(p, "Not enough memory for a collection of this size");
    return false;
}

PRIM(prim_list_unique) {
    (void)count;
    size_t n = list_length(args[0]);
    RootedBuffer b;
    Groups g;
    if (n < 2) return answered(args[0], result);
    if (!rooted_open(p, &b, 2 * n)) return PRIM_RAISE;
    buffer_fill(b.items, args[0]);
    Value unique = V_HOLE;
    if (groups_number(p, &g, b.items, n)) {
        for (uint32_t i = 0; i < g.count; i++) b.items[i] = b.items[g.first[i]]; /* the firsts are in order */
        values_sort(p, b.items, b.items + n, g.count);
        unique = list_from_array(p, b.items, g.count, V_EMPTY_LIST);
        groups_free(p, &g);
    }
    rooted_close(p, &b);
    return made(unique, result);
}

/* keys and elements lie in the buffer, n of each; the keys of the groups move to its front. */
static Value grouped(Process *p, RootedBuffer *b, const Groups *g, size_t n) {
    RootedBuffer lists;
    if (!rooted_open(p, &lists, g->count)) return V_HOLE;
    Value dict = V_HOLE, *keys = b->items, *elements = b->items + n;
    for (uint32_t i = 0; i < g->count; i++) lists.items[i] = V_EMPTY_LIST;
    if (heap_reserve(p, n * LIST_CELL_WORDS)) {
        for (size_t i = n; i-- > 0;) {
            Value *list = &lists.items[g->group[i]];
            *list = list_cons_reserved(p, elements[i], *list);
        }
        for (uint32_t i = 0; i < g->count; i++) keys[i] = keys[g->first[i]];
        dict = dict_from_entries(p, keys, lists.items, g->count);
    }
    rooted_close(p, &lists);
    return dict;
}

/* The receiver's elements by the keys in the argument, a List of the same length. */
PRIM(prim_list_grouped_by) {
    (void)count;
    size_t n = list_length(args[0]);
    if (!list_is(args[1]) || list_length(args[1]) != n) return error_argument(p, args[0], V_NIL, NULL);
    RootedBuffer b;
    Groups g;
    if (!rooted_open(p, &b, 2 * n)) return PRIM_RAISE;
    buffer_fill(b.items, args[1]);
    buffer_fill(b.items + n, args[0]);
    Value dict = V_HOLE;
    if (groups_number(p, &g, b.items, n)) {
        dict = grouped(p, &b, &g, n);
        groups_free(p, &g);
    }
    rooted_close(p, &b);
    return made(dict, result);
}
