/* Heaps of processes: reserves, off-heap objects, records, fragments, life. See heap.h; the collector is
 * vm/gc.c. */
#include "vm/heap.h"
#include <stdio.h>
#include <stdlib.h>
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/gc.h"
#include "vm/limits.h"
#include "vm/sched_internal.h"
#include "vm/vm.h"

#define OFFHEAP_STEP_WORDS ((size_t)1 << 16) /* 512 KB of fresh off-heap data force a minor collection */
#define STRESS_FULL_EVERY 5u
#define MODEST_WORDS                                                                                         \
    ((size_t)1 << 17) /* a heap of up to a megabyte goes on when the VM is short of memory                   \
                       */
#define OFFHEAP_LOOK_WORDS ((size_t)1 << 12)

/* ---- statistics ---- */

static size_t block_words(const Heap *h) {
    return (size_t)(h->young_end - h->young) + (size_t)(h->old_limit - h->old);
}

/* The blocks were so large before. No scheduler: a process that a host thread makes and unmakes, or whose
 * first words are counted when a scheduler first changes them. */
static void count_blocks(Process *p, size_t before) {
    if (p->scheduler) p->scheduler->counts.heap_words += block_words(&p->heap) - before;
}

/* ---- reserving ---- */

void roots_push(Process *p, RootSpan *span, Value *values, size_t count) {
    *span = (RootSpan){p->roots, values, count};
    p->roots = span;
}

void roots_pop(Process *p, RootSpan *span) { p->roots = span->next; }

static bool no_memory(Process *p) {
    p->exception = error_out_of_memory(p->vm);
    return false;
}

static size_t accounted_words(const Heap *h) {
    return gc_used_words(h) + h->offheap_words + h->old_offheap_words;
}

static bool over_limit(const Process *p, size_t need) {
    const Heap *h = &p->heap;
    return h->limit_words && !p->raising_limit && accounted_words(h) + need > h->limit_words;
}

/* Whether the VM has run into its limit and this process asks for more than its few words. */
static bool memory_short_for(Process *p, size_t need) {
    if (!p->vm->memory_limit_bytes || p->raising_limit) return false;
    return accounted_words(&p->heap) + need >= MODEST_WORDS && limits_look_at_memory(p->vm);
}

/* Stress builds walk the heap after every collection: an old object that points to a younger one shows here,
 * not later. */
static void check_heap(Process *p) {
#ifdef BT_STRESS
    if (!p->vm->gc_stress || heap_is_valid(p)) return;
    fprintf(stderr, "heap_is_valid fails after collection %u\n", p->heap.minor_count);
    abort();
#else
    (void)p;
#endif
}

/* What survived has been copied, about a nanosecond a word. */
static void charge_words(Process *p, size_t words) {
    (void)process_charge(p, (uint32_t)(words >> 3 > INT16_MAX << 8 ? INT16_MAX << 8 : words >> 3));
}

static bool collect(Process *p, size_t need, bool full) {
    if (need > OBJECT_MAX_WORDS) return no_memory(p);
    full = full || gc_must_be_full(p);
    if (full && p->scheduler) p->scheduler->counts.full_collections++;
    if (!(full ? gc_full(p, need) : gc_minor(p, need))) return no_memory(p);
    charge_words(p, gc_used_words(&p->heap) - (full ? 0 : (size_t)(p->heap.old_top - p->heap.old)));
    check_heap(p);
    bool over = over_limit(p, need);
    if (!over && !memory_short_for(p, need)) return true;
    if (!full && !gc_full(p, need)) return no_memory(p);
    if (over) return over_limit(p, need) ? limits_raise_heap(p) : true;
    return memory_short_for(p, need) ? limits_raise_memory(p) : true;
}

bool heap_collect(Process *p, size_t need, bool full) {
    size_t before = block_words(&p->heap);
    if (p->scheduler) p->scheduler->counts.collections++;
    bool done = collect(p, need, full);
    count_blocks(p, before);
    return done;
}

bool heap_reserve_offheap(Process *p, size_t words, size_t offheap_words) {
    size_t need = words + offheap_words;
    bool much = offheap_words >= OFFHEAP_LOOK_WORDS;
    if (much && over_limit(p, need)) {
        if (!heap_collect(p, words, true)) return false;
        if (over_limit(p, need)) return limits_raise_heap(p);
    }
    if (much && memory_short_for(p, need)) return limits_raise_memory(p);
    if (much) charge_words(p, offheap_words); /* they will be filled */
    return heap_reserve(p, words);
}

static bool new_nursery(Process *p, size_t words) {
    size_t before = block_words(&p->heap);
    bool made = gc_new_nursery(p, words);
    count_blocks(p, before);
    return made;
}

bool heap_reserve_slow(Process *p, size_t words) {
    Heap *h = &p->heap;
    bool untouched = !h->young && !h->fragments;
    if (untouched && words <= OBJECT_MAX_WORDS && !over_limit(p, words))
        return new_nursery(p, words) || no_memory(p);
    return heap_collect(p, words, p->vm->gc_stress && h->since_full >= STRESS_FULL_EVERY);
}

uint64_t *heap_begin(Process *p, size_t words) {
    Heap *h = &p->heap;
    h->old = memory_alloc(p->vm->memory, words * sizeof *h->old);
    if (!h->old) return NULL;
    h->old_top = h->old_limit = h->old + words;
    count_blocks(p, 0);
    return h->old;
}

void heap_shrink_idle(Process *p) {
    Heap *h = &p->heap;
    size_t young = (size_t)(h->young_end - h->young), old = (size_t)(h->old_limit - h->old);
    size_t used = gc_used_words(h);
    bool small = young + old + h->fragment_words <= 4096;
    bool exact = !young && !h->fragments && h->old_top == h->old_limit;
    if (exact || (!small && used > (young + old) / 4 && h->fragment_words < old)) return;
    size_t before = block_words(h);
    if (gc_compact(p) && h->old_top == h->old) {
        memory_free(p->vm->memory, h->old);
        h->old = h->old_top = h->old_limit = NULL;
    }
    count_blocks(p, before);
}

static void release_all(const Memory *memory, uint64_t *list) {
    while (list) {
        uint64_t *next = (uint64_t *)(uintptr_t)list[1];
        counted_release(memory, (Counted *)(uintptr_t)list[2]);
        list = next;
    }
}

void heap_destroy(Process *p) {
    Heap *h = &p->heap;
    release_all(p->vm->memory, h->offheap);
    release_all(p->vm->memory, h->old_offheap);
    while (h->fragments) {
        Fragment *f = h->fragments;
        h->fragments = f->next;
        f->offheap = NULL; /* stood in the heap's list */
        fragment_free(p->vm, f);
    }
    for (uint32_t i = 0; i < h->unit_count; i++) code_release(h->units[i]);
    memory_free(p->vm->memory, h->units);
    gc_free_blocks(p);
    size_t limit_words = h->limit_words, before = block_words(h);
    *h = (Heap){.limit_words = limit_words};
    count_blocks(p, before);
}

/* ---- counted memory ---- */

void counted_retain(Counted *c) {
    /* relaxed: the holder of a count makes another; it cannot reach zero meanwhile */
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
}

void counted_release(const Memory *memory, Counted *c) {
    /* release: what this holder did comes before the drop; acquire: pairs with the releases of the others,
     * seen by whoever drops. No fence of its own: the race detector knows none. */
    if (atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1) c->drop(memory, c);
}

void heap_link_offheap(Process *p, uint64_t *object, size_t virtual_words) {
    Heap *h = &p->heap;
    object[1] = (uint64_t)(uintptr_t)h->offheap;
    h->offheap = object;
    h->offheap_words += virtual_words;
    if (h->offheap_words >= OFFHEAP_STEP_WORDS && h->limit > h->top)
        h->limit = h->top; /* the next reserve collects */
}

static bool units_have(const Heap *h, const CodeUnit *unit) {
    for (uint32_t i = h->unit_count; i-- > 0;)
        if (h->units[i] == unit) return true;
    return false;
}

static bool units_make_room(Process *p) {
    Heap *h = &p->heap;
    if (h->unit_count < h->unit_capacity) return true;
    uint32_t capacity = h->unit_capacity ? h->unit_capacity * 2 : 4;
    CodeUnit **units = memory_realloc(p->vm->memory, h->units, capacity * sizeof *units);
    if (!units) return false;
    h->units = units;
    h->unit_capacity = capacity;
    return true;
}

bool heap_keep_unit(Process *p, CodeUnit *unit) {
    Heap *h = &p->heap;
    if (!unit->transient || units_have(h, unit)) return true;
    if (!units_make_room(p)) return no_memory(p);
    code_retain(unit);
    h->units[h->unit_count++] = unit;
    return true;
}

void heap_take_fragment_units(Process *p) {
    Heap *h = &p->heap;
    for (Fragment *f = h->fragments; f; f = f->next) {
        for (uint32_t i = 0; i < f->unit_count; i++) {
            if (units_have(h, f->units[i]))
                code_release(f->units[i]);
            else if (units_make_room(p))
                h->units[h->unit_count++] = f->units[i];
            /* else the count is never given back: a leak is better than code that goes away in use */
        }
        memory_free(p->vm->memory, f->units);
        f->units = NULL;
        f->unit_count = 0;
    }
}

/* ---- records ---- */

bool record_write_slow(Process *p, Value *home, size_t index, Value value) {
    size_t size = object_size(*home);
    if (!heap_has_room(p, size)) {
        RootSpan span;
        roots_push(p, &span, &value, 1);
        bool done = heap_reserve_slow(p, size);
        roots_pop(p, &span);
        if (!done) return false;
    }
    Value copy = heap_new(p, KIND_RECORD, object_class(*home), size);
    for (size_t i = 1; i < size; i++) object_words(copy)[i] = object_words(*home)[i];
    object_words(copy)[index + 1] = value;
    *home = copy;
    return true;
}

/* A record has a class like any object: programs can get hold of one (a view of class variables, the state an
 * inspector reads), and class 0 is what an empty inline cache seems to hold. */
Value record_new(Process *p, size_t slots) {
    if (!heap_reserve(p, slots + 1)) return V_HOLE;
    Value record = heap_new(p, KIND_RECORD, CLASS_ID_Object, slots + 1);
    for (size_t i = 1; i <= slots; i++) object_words(record)[i] = V_HOLE;
    return record;
}

/* ---- fragments ---- */

void heap_adopt(Process *p, Fragment *fragment) {
    if (!fragment) return;
    Heap *h = &p->heap;
    uint64_t *object = fragment->offheap;
    while (object) {
        uint64_t *next = (uint64_t *)(uintptr_t)object[1];
        object[1] = (uint64_t)(uintptr_t)h->offheap;
        h->offheap = object;
        h->offheap_words += offheap_size(object);
        object = next;
    }
    fragment->offheap = NULL;
    fragment->next = h->fragments;
    h->fragments = fragment;
    h->fragment_words += fragment->size_words;
    bool much = h->offheap_words >= OFFHEAP_STEP_WORDS || heap_wants_collection(h);
    if (much && h->limit > h->top) h->limit = h->top; /* the next reserve collects */
}

void fragment_free(BtVm *vm, Fragment *fragment) {
    if (!fragment) return;
    release_all(vm->memory, fragment->offheap);
    for (uint32_t i = 0; i < fragment->unit_count; i++) code_release(fragment->units[i]);
    memory_free(vm->memory, fragment->units);
    memory_free(vm->memory, fragment);
}
