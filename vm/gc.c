/* The collector. See gc.h. */
#include "vm/gc.h"
#include "vm/bytecode/memory.h"
#include "vm/sched_internal.h"
#include "vm/spare_block.h"
#include "vm/stack.h"
#include "vm/vm.h"

#define NURSERY_FIRST_WORDS 32u
#define NURSERY_EAGER_WORDS 4096u /* a process that collects at all gets so much soon */
#define NURSERY_MAX_WORDS ((size_t)4 << 20)
#define OFFHEAP_LEAST_LIMIT ((size_t)1 << 17) /* words: 1 MB */
#define UNITS_LEAST_LIMIT 16u
#define TENURE_LEAST_WORDS ((size_t)1 << 15)
#define COMPACT_ABOVE_WORDS 4096u

const uint8_t OBJECT_FIRST_VALUE[KIND_COUNT] = {
#define NO_VALUES OBJECT_NO_VALUES
#define OFFHEAP OBJECT_OFFHEAP
#define KIND(name, first, what) first,
#include "vm/object_kinds.def"
#undef KIND
#undef NO_VALUES
#undef OFFHEAP
};

size_t gc_size_class(size_t words) {
    size_t size = NURSERY_FIRST_WORDS;
    while (size < words) {
        if (size < 1024)
            size *= 2;
        else if (size < ((size_t)1 << 20))
            size += size * 3 / 5;
        else
            size += size / 5;
    }
    return size;
}

/* ---- blocks ---- */

/* Of the scheduler that runs p; a process that a host thread makes or unmakes has none. */
static SpareBlocks *spares_of(Process *p) { return p->scheduler ? &p->scheduler->spares : NULL; }

static void free_block(Process *p, uint64_t *block, const uint64_t *end) {
    if (block) spare_give(p->vm->memory, spares_of(p), block, (size_t)(end - block));
}

void gc_free_blocks(Process *p) {
    free_block(p, p->heap.young, p->heap.young_end);
    free_block(p, p->heap.old, p->heap.old_limit);
}

/* ---- roots ---- */

static void each_field(Process *p, void (*visit)(void *context, Value *slots, size_t count), void *context) {
    Value *const fields[] = {&p->self_ref,         &p->state,
                             &p->carriers,         &p->class_vars.live,
                             &p->class_vars.entry, &p->class_vars.committed,
                             &p->class_vars.views, &p->exception,
                             &p->pending_value,    &p->pending_pid,
                             &p->pending_serial,   &p->resume_value,
                             &p->rollback_state,   &p->dictionary,
                             &p->link.exit_reason};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) visit(context, fields[i], 1);
    if (p->serving) {
        visit(context, &p->serving->receiver, 1);
        visit(context, &p->serving->selector, 1);
        visit(context, p->serving->values, p->serving->argc);
    }
}

void gc_each_root(Process *p, void (*visit)(void *context, Value *slots, size_t count), void *context) {
    each_field(p, visit, context);
    for (RootSpan *span = p->roots; span; span = span->next) visit(context, span->values, span->count);
    stack_each_root(p, visit, context);
}

/* ---- copying ---- */

typedef struct {
    const uint64_t *low, *high;
} Range;

static bool range_has(Range r, const uint64_t *at) { return at >= r.low && at < r.high; }

typedef struct {
    Heap *heap;
    bool full;
    Range stays;  /* minor: the old space, promotions included */
    Range aged;   /* minor: what is promoted */
    Range target; /* block that `to` fills: already moved */
    uint64_t *to, *to_top;
    uint64_t *promoted;    /* minor: where the promotions begin */
    uint32_t units_marked; /* full: heap->units[0..units_marked) are alive */
} Collector;

/* Puts the unit among the marked ones. */
static void mark_unit(Collector *c, CodeUnit *unit) {
    Heap *h = c->heap;
    for (uint32_t i = c->units_marked; i-- > 0;)
        if (h->units[i] == unit) return;
    for (uint32_t i = c->units_marked; i < h->unit_count; i++) {
        if (h->units[i] != unit) continue;
        h->units[i] = h->units[c->units_marked];
        h->units[c->units_marked++] = unit;
        return;
    }
}

static void evacuate(Collector *c, Value *slot) {
    Value v = *slot;
    if (!value_is_ptr(v) || !v) return;
    uint64_t *from = object_words(v);
    if (range_has(c->stays, from) || range_has(c->target, from)) return;
    uint64_t header = *from;
    if (header & 1) {
        *slot = header & ~(uint64_t)1;
        return;
    }
    if (header_flags(header) & OBJ_LITERAL) return;
    size_t size = header_size(header);
    uint64_t **top = range_has(c->aged, from) ? &c->heap->old_top : &c->to_top;
    uint64_t *copy = *top;
    *top += size;
    for (size_t i = 0; i < size; i++) copy[i] = from[i];
    if (c->full && header_kind(header) == KIND_CLOSURE) {
        const Function *fn = (const Function *)(uintptr_t)copy[CLOSURE_FN];
        if (fn->flags & FN_TRANSIENT) mark_unit(c, fn->unit);
    }
    *from = (uint64_t)(uintptr_t)copy | 1;
    *slot = value_from_object(copy);
}

static void visit_roots(void *context, Value *slots, size_t count) {
    for (size_t i = 0; i < count; i++) evacuate(context, &slots[i]);
}

static uint64_t *scan(Collector *c, uint64_t *at, uint64_t *const *end) {
    while (at < *end) {
        size_t size = header_size(*at), first = OBJECT_FIRST_VALUE[header_kind(*at)];
        if (first < OBJECT_OFFHEAP)
            for (size_t i = first; i < size; i++) evacuate(c, &at[i]);
        at += size;
    }
    return at;
}

/* Roots, then everything that they reach. */
static void trace(Collector *c, Process *p) {
    stack_clear_dead(p);
    gc_each_root(p, visit_roots, c);
    uint64_t *young_at = c->to, *old_at = c->promoted;
    while (young_at < c->to_top || old_at < c->heap->old_top) {
        young_at = scan(c, young_at, &c->to_top);
        old_at = scan(c, old_at, &c->heap->old_top);
    }
}

/* ---- off-heap data and transient units ---- */

size_t offheap_size(const uint64_t *object) {
    return header_kind(*object) == KIND_STRING_REF ? (size_t)(object[3] >> 8) / 8 : 16;
}

static void keep_offheap(Heap *h, uint64_t *object) {
    Range old = {h->old, h->old_top};
    bool is_old = range_has(old, object);
    uint64_t **list = is_old ? &h->old_offheap : &h->offheap;
    object[1] = (uint64_t)(uintptr_t)*list;
    *list = object;
    if (is_old) h->old_offheap_words += offheap_size(object);
}

/* Objects of a list that moved are kept at their new place, the others let go of their data. */
static void sweep_offheap(Process *p, uint64_t *list) {
    Heap *h = &p->heap;
    while (list) {
        uint64_t *next = (uint64_t *)(uintptr_t)list[1], header = *list;
        if (header & 1)
            keep_offheap(h, (uint64_t *)(uintptr_t)(header & ~(uint64_t)1));
        else
            counted_release(p->vm->memory, (Counted *)(uintptr_t)list[2]);
        list = next;
    }
}

static void sweep_units(Collector *c) {
    Heap *h = c->heap;
    for (uint32_t i = c->units_marked; i < h->unit_count; i++) code_release(h->units[i]);
    h->unit_count = c->units_marked;
    h->unit_limit = h->unit_count * 2 > UNITS_LEAST_LIMIT ? h->unit_count * 2 : 0;
}

static void free_fragments(Process *p) {
    Heap *h = &p->heap;
    while (h->fragments) {
        Fragment *next = h->fragments->next;
        memory_free(p->vm->memory, h->fragments);
        h->fragments = next;
    }
    h->fragment_words = 0;
}

/* ---- nursery ---- */

/* Free words that a collection must leave: half of what it scanned of the stack keeps deep recursion linear.
 */
static size_t free_words_after(const Process *p, size_t need) {
    size_t half_stack = stack_used_words(p) / 2;
    return need > half_stack ? need : half_stack;
}

/* Survival decides how large the next nursery is; a small one grows in any case, since its owner is at work.
 * Where most survives, to copy it twice before it is promoted would be in vain. */
static void adapt(Heap *h, size_t used, size_t survived) {
    size_t target = h->young_target;
    if (target < NURSERY_EAGER_WORDS || survived * 2 > used)
        target = gc_size_class(target + 1);
    else if (survived * 16 < used && target > NURSERY_EAGER_WORDS)
        target = target / 2 + 1;
    h->young_target = target > NURSERY_MAX_WORDS ? NURSERY_MAX_WORDS : target;
    h->tenures = used >= TENURE_LEAST_WORDS && survived * (h->tenures ? 4 : 2) > used;
}

/* Sets how far the nursery may be filled; in stress mode nothing is free but for what is asked for now. */
static void set_limit(Process *p, size_t need) {
    Heap *h = &p->heap;
    size_t used = (size_t)(h->top - h->young), size = (size_t)(h->young_end - h->young);
    size_t least = used + free_words_after(p, need);
    size_t wanted = h->young_target > least ? h->young_target : least;
    h->limit = h->young + (wanted < size ? wanted : size);
    if (p->vm->gc_stress) h->limit = h->top + need;
}

bool gc_new_nursery(Process *p, size_t need) {
    Heap *h = &p->heap;
    if (!h->young_target) h->young_target = NURSERY_FIRST_WORDS;
    size_t least = free_words_after(p, need);
    size_t size = gc_size_class(least > h->young_target ? least : h->young_target);
    uint64_t *block = spare_take(p->vm->memory, spares_of(p), &size);
    if (!block) return false;
    h->young = h->top = h->young_mark = h->record_mark = block;
    h->young_end = block + size;
    set_limit(p, need);
    return true;
}

static void drop_nursery(Process *p) {
    Heap *h = &p->heap;
    free_block(p, h->young, h->young_end);
    h->young = h->top = h->limit = h->young_mark = h->record_mark = h->young_end = NULL;
}

/* ---- minor ---- */

static size_t promotable_words(const Heap *h) {
    return h->tenures ? gc_young_words(h) : (size_t)(h->young_mark - h->young);
}

bool gc_must_be_full(const Process *p) {
    const Heap *h = &p->heap;
    size_t offheap_limit = h->old_offheap_limit ? h->old_offheap_limit : OFFHEAP_LEAST_LIMIT;
    if (h->old_offheap_words > offheap_limit) return true;
    if (h->unit_count > (h->unit_limit ? h->unit_limit : UNITS_LEAST_LIMIT)) return true;
    return h->old && (size_t)(h->old_limit - h->old_top) < promotable_words(h);
}

static bool ensure_old(Process *p) {
    Heap *h = &p->heap;
    size_t words = promotable_words(h);
    if (h->old || !words) return true;
    size_t size = gc_size_class(words * 2);
    h->old = h->old_top = spare_take(p->vm->memory, spares_of(p), &size);
    h->old_limit = h->old ? h->old + size : NULL;
    return h->old != NULL;
}

/* Roots and all that they reach in the nursery and in fragments; what they held off the heap is let go of. */
static void move_young(Process *p, Collector *c) {
    Heap *h = &p->heap;
    heap_take_fragment_units(p);
    trace(c, p);
    uint64_t *list = h->offheap;
    h->offheap = NULL;
    h->offheap_words = 0;
    sweep_offheap(p, list);
    free_fragments(p);
}

static void minor_done(Process *p, size_t used, size_t survived, size_t need) {
    Heap *h = &p->heap;
    h->young_mark = h->record_mark = h->top;
    adapt(h, used, survived);
    h->minor_count++;
    h->since_full++;
    if (p->vm->gc_stress) h->tenures = h->minor_count % 3 == 0;
    set_limit(p, need);
}

/* What has survived before is promoted, the rest moves to a fresh block. */
static bool minor_aging(Process *p, size_t need) {
    Heap *h = &p->heap;
    size_t used = gc_young_words(h), size = used - promotable_words(h) + free_words_after(p, need);
    size = gc_size_class(size > h->young_target ? size : h->young_target);
    uint64_t *block = spare_take(p->vm->memory, spares_of(p), &size);
    if (!block) return false;
    Collector c = {.heap = h,
                   .stays = {h->old, h->old_limit},
                   .aged = {h->young, h->young_mark},
                   .target = {block, block + size},
                   .to = block,
                   .to_top = block,
                   .promoted = h->old_top};
    move_young(p, &c);
    free_block(p, h->young, h->young_end);
    h->young = block;
    h->young_end = block + size;
    h->top = c.to_top;
    minor_done(p, used, (size_t)(c.to_top - block) + (size_t)(h->old_top - c.promoted), need);
    return true;
}

/* All that survives is promoted, and the block is used again unless a larger one is wanted. */
static bool minor_tenuring(Process *p, size_t need) {
    Heap *h = &p->heap;
    size_t used = gc_young_words(h), least = free_words_after(p, need);
    size_t size = (size_t)(h->young_end - h->young),
           wanted = least > h->young_target ? least : h->young_target;
    uint64_t *block = h->young;
    if (size < wanted) {
        size = gc_size_class(wanted);
        block = spare_take(p->vm->memory, spares_of(p), &size);
        if (!block) return false;
    }
    Collector c = {.heap = h,
                   .stays = {h->old, h->old_limit},
                   .aged = {NULL, (const uint64_t *)UINTPTR_MAX},
                   .promoted = h->old_top};
    move_young(p, &c);
    if (block != h->young) free_block(p, h->young, h->young_end);
    h->young = h->top = block;
    h->young_end = block + size;
    minor_done(p, used, (size_t)(h->old_top - c.promoted), need);
    return true;
}

bool gc_minor(Process *p, size_t need) {
    if (!ensure_old(p)) return false;
    return p->heap.tenures ? minor_tenuring(p, need) : minor_aging(p, need);
}

/* ---- full ---- */

/* Everything live into a fresh old space of `size` words, which must hold all that is used; without spares,
 * of exactly so many. */
static bool move_all(Process *p, size_t size, SpareBlocks *spares) {
    Heap *h = &p->heap;
    uint64_t *block = spare_take(p->vm->memory, spares, &size), *from = h->old, *from_end = h->old_limit;
    if (!block) return false;
    heap_take_fragment_units(p);
    Collector c = {.heap = h, .full = true, .target = {block, block + size}, .to = block, .to_top = block};
    c.promoted = h->old_top; /* nothing is promoted: both ends of that range stay equal */
    trace(&c, p);
    uint64_t *young_list = h->offheap, *old_list = h->old_offheap;
    h->old = block;
    h->old_top = c.to_top;
    h->old_limit = block + size;
    h->offheap = h->old_offheap = NULL;
    h->offheap_words = h->old_offheap_words = 0;
    sweep_offheap(p, young_list);
    sweep_offheap(p, old_list);
    sweep_units(&c);
    free_fragments(p);
    free_block(p, from, from_end);
    drop_nursery(p);
    h->since_full = 0;
    h->old_offheap_limit = h->old_offheap_words * 2 > OFFHEAP_LEAST_LIMIT ? h->old_offheap_words * 2 : 0;
    return true;
}

bool gc_full(Process *p, size_t need) {
    Heap *h = &p->heap;
    size_t used = gc_used_words(h), size = gc_size_class(used + used / 2);
    if (!move_all(p, size, spares_of(p))) return false;
    size_t live = gc_used_words(h);
    /* The block was sized for the worst case: do not keep it for little. Without memory for a second round it
     * stays. */
    if (size > COMPACT_ABOVE_WORDS && live < used / 4) move_all(p, gc_size_class(live * 2), spares_of(p));
    return gc_new_nursery(p, need);
}

bool gc_compact(Process *p) {
    Heap *h = &p->heap;
    size_t used = gc_used_words(h);
    if (!move_all(p, used, NULL)) return false;
    h->young_target = 0;
    size_t live = gc_used_words(h);
    if (live == used || live > used - used / 8) return true;
    return move_all(p, live, NULL);
}
