/* Primitives of Collection: checks of arguments, elements that cross processes, Intervals. Those of the
 * concrete classes are in prim_list*.c, prim_array.c and prim_dictionary.c. */
#include "vm/prims/prim_collection.h"
#include "vm/compare.h"

#include <stdio.h>

/* --- callables --- */

static const char *shape_name(int64_t arity) {
    return arity == 0 ? "zero-argument block" : arity == 1 ? "unary function" : "binary function";
}

/* receiver __check: block arity: n for: selector. Raises the type_error of stdlib-core R6 unless it is a
 * Block of n parameters. */
PRIM(prim_collection_check) {
    (void)count;
    int64_t want = value_is_int(args[2]) ? value_to_int(args[2]) : 0;
    char hint[160];
    if (value_is_kind(args[1], KIND_CLOSURE)) {
        const Function *fn = closure_function(args[1]);
        if (fn->param_count == want) return answered(V_NIL, result);
        snprintf(hint, sizeof hint, "Block must be a %s (arity %d), got a %u-argument block",
                 shape_name(want), (int)want, fn->param_count);
    } else {
        size_t length;
        const char *name = symbol_text(p->vm, class_name_of(p->vm, args[1]), &length);
        snprintf(hint, sizeof hint, "Block must be a %s (arity %d), got a value of class %.60s",
                 shape_name(want), (int)want, name);
    }
    return error_raise(p, ERR_type_error, prim_fault_class(p, args[0]), args[3], NULL, hint, V_NIL);
}

PRIM(prim_collection_equals_by_message) {
    (void)p, (void)count;
    return answered(value_from_bool(value_equals_by_message(args[1])), result);
}

/* `++` is for Lists and byte strings. */
PRIM(prim_collection_concat) {
    (void)count, (void)result;
    return prim_raise(p, ERR_argument_error, args[0], "++", "Both operands of ++ must be Lists or Strings");
}

/* --- gathering what a do: of the user's own visits ---
 *
 * do: may run its block in another process (a class method drives it), where a block cannot write a local of
 * the method that waits here. So the elements go, copied, into a native object that both processes can hold.
 */

typedef struct {
    size_t count, capacity, words;
    Value *values;
    Fragment **fragments; /* of values[i], NULL if it travels free */
} Elements;

typedef struct {
    Counted counted;
    BtVm *vm;
    _Atomic bool busy; /* a lock, held for a few instructions */
    Elements elements;
} Gathered;

static void elements_free(const Memory *memory, Elements *e) {
    memory_free(memory, e->values);
    memory_free(memory, e->fragments);
}

static void elements_drop(BtVm *vm, Elements *e) {
    for (size_t i = 0; i < e->count; i++)
        if (e->fragments[i]) fragment_free(vm, e->fragments[i]);
    elements_free(vm->memory, e);
}

static void gathered_drop(const Memory *memory, Counted *counted) {
    Gathered *g = (Gathered *)counted;
    elements_drop(g->vm, &g->elements);
    memory_free(memory, g);
}

PRIM(prim_collection_gather_new) {
    (void)args, (void)count;
    if (!heap_reserve(p, NATIVE_WORDS)) return PRIM_RAISE;
    Gathered *g = memory_zalloc(p->vm->memory, sizeof *g);
    if (!g) return error_resource(p, NULL);
    g->vm = p->vm;
    return answered(native_new(p, CLASS_ID_Object, &g->counted, gathered_drop, sizeof *g / 8), result);
}

static bool elements_grow(const Memory *memory, Elements *e) {
    if (e->count < e->capacity) return true;
    size_t capacity = e->capacity ? 2 * e->capacity : 16;
    Value *values = memory_realloc(memory, e->values, capacity * sizeof *values);
    if (values) e->values = values;
    Fragment **fragments = memory_realloc(memory, e->fragments, capacity * sizeof(Fragment *));
    if (fragments) e->fragments = fragments;
    if (!values || !fragments) return false;
    e->capacity = capacity;
    return true;
}

static void gathered_lock(Gathered *g) {
    while (atomic_exchange_explicit(&g->busy, true, memory_order_acquire)) {
    } /* pairs with the release of gathered_unlock */
}
static void gathered_unlock(Gathered *g) { atomic_store_explicit(&g->busy, false, memory_order_release); }

PRIM(prim_collection_gather) {
    (void)count;
    Gathered *g = native_of(args[1], gathered_drop);
    if (!g) return error_argument(p, args[0], V_NIL, NULL);
    Value copy = args[2];
    Fragment *fragment = NULL;
    if (value_is_ptr(copy) && !(fragment = term_copy(p->vm, &args[2], 1, &copy)))
        return error_resource(p, NULL);
    size_t words = fragment ? fragment->size_words : 1, limit = p->heap.limit_words;
    gathered_lock(g);
    Elements *e = &g->elements;
    bool fits = (limit == 0 || e->words + words <= limit) && elements_grow(p->vm->memory, e);
    if (fits) {
        e->values[e->count] = copy;
        e->fragments[e->count++] = fragment;
        e->words += words;
    }
    gathered_unlock(g);
    if (fits) return answered(V_NIL, result);
    if (fragment) fragment_free(p->vm, fragment);
    return error_resource(p, "Too many elements");
}

/* The elements as a List; the handle is empty afterwards. They are taken out first: other processes may
 * still gather while the List is made. */
PRIM(prim_collection_gathered) {
    (void)count;
    Gathered *g = native_of(args[1], gathered_drop);
    if (!g) return error_argument(p, args[0], V_NIL, NULL);
    gathered_lock(g);
    Elements e = g->elements;
    g->elements = (Elements){0};
    gathered_unlock(g);
    if (!heap_reserve(p, e.count * LIST_CELL_WORDS)) return elements_drop(p->vm, &e), PRIM_RAISE;
    Value list = V_EMPTY_LIST;
    for (size_t i = e.count; i-- > 0;) {
        if (e.fragments[i]) heap_adopt(p, e.fragments[i]);
        list = list_cons_reserved(p, e.values[i], list);
    }
    elements_free(p->vm->memory, &e);
    return answered(list, result);
}

/* --- Intervals --- */

/* Interval __from: start step: step count: n. The List, if everything in it is a small Integer. */
PRIM(prim_interval_as_list) {
    (void)count;
    if (!value_is_int(args[1]) || !value_is_int(args[2]) || !value_is_int(args[3])) return PRIM_FAIL;
    int64_t from = value_to_int(args[1]), step = value_to_int(args[2]), n = value_to_int(args[3]), last;
    if (n < 1) return answered(V_EMPTY_LIST, result);
    if (__builtin_mul_overflow(step, n - 1, &last) || __builtin_add_overflow(last, from, &last) ||
        !int_fits_small(last))
        return PRIM_FAIL;
    if ((uint64_t)n > OBJECT_MAX_WORDS * 16) return error_resource(p, "Too many elements for a List");
    if (!heap_reserve(p, (size_t)n * LIST_CELL_WORDS)) return PRIM_RAISE;
    Value list = V_EMPTY_LIST;
    for (int64_t i = 0; i < n; i++, last -= step) list = list_cons_reserved(p, value_from_int(last), list);
    charge_elements(p, (size_t)n);
    return answered(list, result);
}
