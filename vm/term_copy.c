/* Message copying: a term into one fragment. See heap.h.
 *
 * Small terms (the rule) are sized with a fixed stack and copied like Cheney's collector does, without any
 * table; what they share is copied twice. A term that unfolds to more than SMALL_WORDS gets a table from
 * address to place in the fragment, so that sharing is preserved and a graph that would unfold to exponential
 * size is not. Headers of the source are never marked: a host may copy one handle from several threads. */
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/gc.h"
#include "vm/vm.h"

#define SMALL_WORDS 64u

static bool travels(Value v) {
    return value_is_ptr(v) && v && !(header_flags(object_header(v)) & OBJ_LITERAL);
}

/* The part of an object that holds Values: [*first, answer). */
static size_t value_words(const uint64_t *object, size_t *first) {
    *first = OBJECT_FIRST_VALUE[header_kind(*object)];
    return *first < OBJECT_OFFHEAP ? header_size(*object) : *first;
}

/* ---- what a copied object takes along ---- */

static bool note_unit(const Memory *memory, Fragment *f, CodeUnit *unit) {
    for (uint32_t i = 0; i < f->unit_count; i++)
        if (f->units[i] == unit) return true;
    CodeUnit **units = memory_realloc(memory, f->units, (f->unit_count + 1) * sizeof *units);
    if (!units) return false;
    f->units = units;
    code_retain(unit);
    units[f->unit_count++] = unit;
    return true;
}

/* Copies the words; off-heap data and transient code get a count. */
static bool copy_object(const Memory *memory, Fragment *f, uint64_t *to, const uint64_t *from) {
    memcpy(to, from, header_size(*from) * sizeof *to);
    ObjectKind kind = header_kind(*from);
    if (OBJECT_FIRST_VALUE[kind] == OBJECT_OFFHEAP) {
        counted_retain((Counted *)(uintptr_t)to[2]);
        to[1] = (uint64_t)(uintptr_t)f->offheap;
        f->offheap = to;
    }
    if (kind != KIND_CLOSURE) return true;
    const Function *fn = (const Function *)(uintptr_t)to[CLOSURE_FN];
    return !(fn->flags & FN_TRANSIENT) || note_unit(memory, f, fn->unit);
}

static Fragment *fragment_new(const Memory *memory, size_t words) {
    Fragment *f = memory_alloc(memory, sizeof *f + words * sizeof(uint64_t));
    if (f) *f = (Fragment){.size_words = words};
    return f;
}

/* ---- small terms ---- */

/* Words of the unfolded term, or more than SMALL_WORDS if it is not small. */
static size_t small_size(const Value *roots, size_t count) {
    Value stack[SMALL_WORDS];
    size_t depth = 0, words = 0;
    for (size_t i = 0; i < count; i++) {
        if (!travels(roots[i])) continue;
        words += object_size(roots[i]);
        if (words > SMALL_WORDS) return words;
        stack[depth++] = roots[i];
        while (depth) {
            const uint64_t *object = object_words(stack[--depth]);
            size_t first, end = value_words(object, &first);
            for (size_t k = first; k < end; k++) {
                if (!travels(object[k])) continue;
                words += object_size(object[k]);
                if (words > SMALL_WORDS) return words;
                stack[depth++] = object[k]; /* each entry is at least one of the words counted */
            }
        }
    }
    return words;
}

static bool copy_slot(const Memory *memory, Fragment *f, uint64_t **top, Value *slot) {
    if (!travels(*slot)) return true;
    uint64_t *to = *top;
    *top += object_size(*slot);
    if (!copy_object(memory, f, to, object_words(*slot))) return false;
    *slot = value_from_object(to);
    return true;
}

static Fragment *copy_small(BtVm *vm, const Value *roots, size_t count, Value *copies, size_t words) {
    Fragment *f = fragment_new(vm->memory, words);
    if (!f) return NULL;
    uint64_t *top = f->words;
    bool done = true;
    for (size_t i = 0; i < count; i++) {
        copies[i] = roots[i];
        done = done && copy_slot(vm->memory, f, &top, &copies[i]);
    }
    for (uint64_t *at = f->words; done && at < top; at += header_size(*at)) {
        size_t first, end = value_words(at, &first);
        for (size_t k = first; done && k < end; k++) done = copy_slot(vm->memory, f, &top, &at[k]);
    }
    if (done) return f;
    fragment_free(vm, f);
    return NULL;
}

/* ---- large terms ---- */

/* The table: heap pages of PAGE_WORDS words, found by hash, each with one cell a word. Objects that were made
 * together lie together, so a walk stays in few pages. */
#define PAGE_WORDS 64u
#define PAGE_SHIFT 9u

typedef struct {
    uintptr_t page; /* address >> PAGE_SHIFT; 0 = free */
    uint32_t slab;
} Page;

typedef struct {
    const Memory *memory;
    Page *pages; /* open addressing */
    size_t page_capacity, page_count;
    uint32_t *slabs; /* PAGE_WORDS cells a page: place in the fragment + 1, 0 = not seen */
    size_t slab_capacity;
    Page last;              /* the page of the last look */
    const uint64_t **order; /* objects as found: queue of the walk, then list of what to copy */
    size_t order_capacity, count;
    size_t words;
} Walk;

static Page *find_page(const Walk *w, uintptr_t page) {
    uint64_t hash = (uint64_t)page * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(hash >> 32) & (w->page_capacity - 1);
    while (w->pages[i].page && w->pages[i].page != page) i = (i + 1) & (w->page_capacity - 1);
    return &w->pages[i];
}

static bool grow_pages(Walk *w) {
    Page *old = w->pages;
    size_t old_capacity = w->page_capacity;
    Page *fresh = memory_zalloc(w->memory, (old_capacity ? old_capacity * 2 : 64) * sizeof *fresh);
    if (!fresh) return false;
    w->pages = fresh;
    w->page_capacity = old_capacity ? old_capacity * 2 : 64;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].page) *find_page(w, old[i].page) = old[i];
    memory_free(w->memory, old);
    return true;
}

static bool grow_slabs(Walk *w) {
    size_t capacity = w->slab_capacity ? w->slab_capacity * 2 : 16;
    uint32_t *slabs = memory_realloc(w->memory, w->slabs, capacity * PAGE_WORDS * sizeof *slabs);
    if (!slabs) return false;
    w->slabs = slabs;
    w->slab_capacity = capacity;
    return true;
}

static bool add_page(Walk *w, uintptr_t page) {
    if (w->page_count * 2 >= w->page_capacity && !grow_pages(w)) return false;
    if (w->page_count == w->slab_capacity && !grow_slabs(w)) return false;
    memset(w->slabs + w->page_count * PAGE_WORDS, 0, PAGE_WORDS * sizeof *w->slabs);
    w->last = *find_page(w, page) = (Page){page, (uint32_t)w->page_count++};
    return true;
}

/* The cell of an object, whose page is made if it is new; NULL: no memory. */
static uint32_t *cell_of(Walk *w, const uint64_t *object) {
    uintptr_t page = (uintptr_t)object >> PAGE_SHIFT;
    if (w->last.page != page) {
        const Page *found = w->page_capacity ? find_page(w, page) : NULL;
        if (found && found->page)
            w->last = *found;
        else if (!add_page(w, page))
            return NULL;
    }
    return w->slabs + (size_t)w->last.slab * PAGE_WORDS + (((uintptr_t)object >> 3) & (PAGE_WORDS - 1));
}

static bool walk_grow_order(Walk *w) {
    size_t capacity = w->order_capacity ? w->order_capacity * 2 : 128;
    const uint64_t **order = memory_realloc(w->memory, (void *)w->order, capacity * sizeof *order);
    if (!order) return false;
    w->order = order;
    w->order_capacity = capacity;
    return true;
}

static bool walk_note(Walk *w, Value v) {
    if (!travels(v)) return true;
    const uint64_t *object = object_words(v);
    uint32_t *cell = cell_of(w, object);
    if (!cell) return false;
    if (*cell) return true;
    size_t words = w->words + header_size(*object);
    if (words >= UINT32_MAX || (w->count == w->order_capacity && !walk_grow_order(w))) return false;
    *cell = (uint32_t)w->words + 1;
    w->words = words;
    w->order[w->count++] = object;
    return true;
}

static bool walk_all(Walk *w, const Value *roots, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!walk_note(w, roots[i])) return false;
    for (size_t next = 0; next < w->count; next++) {
        const uint64_t *object = w->order[next];
        size_t first, end = value_words(object, &first);
        for (size_t k = first; k < end; k++)
            if (!walk_note(w, object[k])) return false;
    }
    return true;
}

static Value moved(Walk *w, Fragment *f, Value v) {
    if (!travels(v)) return v;
    return value_from_object(f->words + *cell_of(w, object_words(v)) - 1); /* the walk has made the page */
}

static bool copy_walked(Walk *w, Fragment *f) {
    uint64_t *to = f->words;
    for (size_t i = 0; i < w->count; i++) {
        if (!copy_object(w->memory, f, to, w->order[i])) return false;
        size_t first, end = value_words(to, &first);
        for (size_t k = first; k < end; k++) to[k] = moved(w, f, to[k]);
        to += header_size(*to);
    }
    return true;
}

static Fragment *copy_large(BtVm *vm, const Value *roots, size_t count, Value *copies) {
    Walk w = {.memory = vm->memory};
    Fragment *f = NULL;
    if (walk_all(&w, roots, count)) f = fragment_new(w.memory, w.words);
    if (f && !copy_walked(&w, f)) {
        fragment_free(vm, f);
        f = NULL;
    }
    for (size_t i = 0; f && i < count; i++) copies[i] = moved(&w, f, roots[i]);
    memory_free(w.memory, w.pages);
    memory_free(w.memory, w.slabs);
    memory_free(w.memory, (void *)w.order);
    return f;
}

Fragment *term_copy(BtVm *vm, const Value *roots, size_t count, Value *copies) {
    size_t words = small_size(roots, count);
    return words <= SMALL_WORDS ? copy_small(vm, roots, count, copies, words)
                                : copy_large(vm, roots, count, copies);
}

Value term_copy_into(Process *p, Value term) {
    if (!travels(term)) return term;
    Value copy;
    Fragment *f = term_copy(p->vm, &term, 1, &copy);
    if (!f) {
        p->exception = error_out_of_memory(p->vm);
        return V_HOLE;
    }
    heap_adopt(p, f);
    return copy;
}
