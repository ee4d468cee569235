/* heap_is_valid: walks every object of a heap and every root. For tests and stress builds only. */
#include "vm/bytecode/memory.h"
#include "vm/gc.h"

typedef struct {
    const uint64_t *low, *high;
    uint8_t *starts; /* one byte per word: an object begins here */
    unsigned age;    /* 0 = not collected yet, 1 = survived, 2 = old */
} Region;

typedef struct {
    Region *regions;
    size_t count;
    bool valid;
} Check;

static const Region *region_of(const Check *c, const uint64_t *at) {
    for (size_t i = 0; i < c->count; i++)
        if (at >= c->regions[i].low && at < c->regions[i].high) return &c->regions[i];
    return NULL;
}

/* A pointer must name the start of an object that is at least as old, or a literal. */
static bool slot_is_valid(const Check *c, Value v, unsigned age) {
    if (!value_is_ptr(v) || !v) return true;
    const uint64_t *object = object_words(v);
    const Region *r = region_of(c, object);
    if (!r) return (header_flags(*object) & OBJ_LITERAL) != 0;
    return r->starts[object - r->low] && r->age >= age;
}

static bool mark_starts(Region *r) {
    const uint64_t *at = r->low;
    while (at < r->high) {
        if ((*at & 1) || header_kind(*at) >= KIND_COUNT || !header_size(*at)) return false;
        r->starts[at - r->low] = 1;
        at += header_size(*at);
    }
    return at == r->high;
}

static bool region_is_valid(const Check *c, const Region *r) {
    for (const uint64_t *at = r->low; at < r->high; at += header_size(*at)) {
        size_t first = OBJECT_FIRST_VALUE[header_kind(*at)];
        for (size_t i = first; first < OBJECT_OFFHEAP && i < header_size(*at); i++)
            if (!slot_is_valid(c, at[i], r->age)) return false;
    }
    return true;
}

static void check_roots(void *context, Value *slots, size_t count) {
    Check *c = context;
    for (size_t i = 0; i < count; i++)
        if (!slot_is_valid(c, slots[i], 0)) c->valid = false;
}

static bool lists_are_valid(const Check *c, const Heap *h) {
    for (const uint64_t *at = h->offheap; at; at = (const uint64_t *)(uintptr_t)at[1]) {
        const Region *r = region_of(c, at);
        if (!r || r->age == 2 || OBJECT_FIRST_VALUE[header_kind(*at)] != OBJECT_OFFHEAP) return false;
    }
    for (const uint64_t *at = h->old_offheap; at; at = (const uint64_t *)(uintptr_t)at[1]) {
        const Region *r = region_of(c, at);
        if (!r || r->age != 2 || OBJECT_FIRST_VALUE[header_kind(*at)] != OBJECT_OFFHEAP) return false;
    }
    return true;
}

static size_t fragment_count(const Heap *h) {
    size_t n = 0;
    for (const Fragment *f = h->fragments; f; f = f->next) n++;
    return n;
}

static bool add_region(Check *c, const uint64_t *low, const uint64_t *high, unsigned age) {
    if (low == high) return true;
    uint8_t *starts = memory_zalloc(NULL, (size_t)(high - low));
    if (!starts) return false;
    c->regions[c->count++] = (Region){low, high, starts, age};
    return true;
}

static bool add_regions(Check *c, const Heap *h) {
    bool done = add_region(c, h->young, h->young_mark, 1) && add_region(c, h->young_mark, h->top, 0) &&
                add_region(c, h->old, h->old_top, 2);
    for (const Fragment *f = h->fragments; done && f; f = f->next)
        done = add_region(c, f->words, f->words + f->size_words, 0);
    return done;
}

bool heap_is_valid(Process *p) {
    Heap *h = &p->heap;
    Check c = {.valid = true};
    c.regions = memory_zalloc(NULL, (3 + fragment_count(h)) * sizeof *c.regions);
    if (c.regions && add_regions(&c, h)) { /* without memory there is nothing to say */
        for (size_t i = 0; c.valid && i < c.count; i++) c.valid = mark_starts(&c.regions[i]);
        for (size_t i = 0; c.valid && i < c.count; i++) c.valid = region_is_valid(&c, &c.regions[i]);
        if (c.valid) gc_each_root(p, check_roots, &c);
        c.valid = c.valid && lists_are_valid(&c, h);
    }
    for (size_t i = 0; i < c.count; i++) memory_free(NULL, c.regions[i].starts);
    memory_free(NULL, c.regions);
    return c.valid;
}
