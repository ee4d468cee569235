/* Heaps, the collector, frame stacks and message copying: random graphs against a native model. */
#include "tests/unit/test_process.h"
#include "tests/unit/test_suite.h"
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/gc.h"

#include <stdio.h>
#include <stdlib.h>

static Process other;

static double scale(void) {
    const char *text = getenv("BT_TEST_SCALE");
    return text ? atof(text) : 1.0;
}
static size_t scaled(size_t n) { return (size_t)((double)n * scale()) + 10; }

static void setup(void) {
    vm_init(&test_vm);
    process_init(&process, &test_vm);
    process_init(&other, &test_vm);
}

static void teardown(void) {
    stack_release(&other);
    heap_destroy(&other);
    process_teardown();
}

/* ---- building ---- */

static Value tuple_of(Process *p, const Value *values, size_t count) {
    ck_assert(heap_reserve(p, count + 1));
    Value t = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, count + 1);
    memcpy(object_words(t) + 1, values, count * sizeof(Value));
    return t;
}

/* Puts a cell in front of *list, which is rooted. */
static void push_cell(Process *p, Value head, Value *list) {
    ck_assert(heap_reserve(p, 3));
    Value cell = heap_new(p, KIND_CONS, CLASS_ID_List, 3);
    object_words(cell)[1] = head;
    object_words(cell)[2] = *list;
    *list = cell;
}

static void check_countdown(Value list, size_t n) {
    for (; n > 0; n--) {
        ck_assert(value_is_kind(list, KIND_CONS));
        ck_assert_int_eq(value_to_int(CONS_HEAD(list)), (int64_t)n);
        list = CONS_TAIL(list);
    }
    ck_assert_uint_eq(list, V_EMPTY_LIST);
}

/* ---- random graphs ---- */

#define ROOTS 40
#define CHILDREN 5

typedef struct Model {
    struct Model *next; /* of all, for freeing */
    unsigned child_count, stamp;
    struct Model *children[CHILDREN];
    int64_t id;
} Model;

typedef struct {
    Value values[ROOTS];
    Model *models[ROOTS]; /* NULL: nil */
    Model *all;
    uint32_t random;
    int64_t next_id;
    unsigned stamp;
} World;

static uint32_t draw(World *w, uint32_t bound) {
    w->random = w->random * 1664525u + 1013904223u;
    return (w->random >> 8) % bound;
}

static void make_node(Process *p, World *w, size_t at) {
    Model *m = calloc(1, sizeof *m);
    m->next = w->all;
    w->all = m;
    m->child_count = draw(w, CHILDREN + 1);
    m->id = w->next_id++;
    ck_assert(heap_reserve(p, m->child_count + 2));
    Value t = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, m->child_count + 2);
    object_words(t)[1] = value_from_int(m->id);
    for (unsigned i = 0; i < m->child_count; i++) {
        uint32_t from = draw(w, ROOTS);
        m->children[i] = w->models[from];
        object_words(t)[i + 2] = w->values[from];
    }
    w->values[at] = t;
    w->models[at] = m;
}

static void check_node(World *w, Value v, Model *m, unsigned depth) {
    if (!m) {
        ck_assert_uint_eq(v, V_NIL);
        return;
    }
    ck_assert(value_is_kind(v, KIND_TUPLE));
    ck_assert_uint_eq(object_size(v), m->child_count + 2);
    ck_assert_int_eq(value_to_int(object_at(v, 1)), m->id);
    if (m->stamp == w->stamp || depth == 0) return;
    m->stamp = w->stamp;
    for (unsigned i = 0; i < m->child_count; i++)
        check_node(w, object_at(v, i + 2), m->children[i], depth - 1);
}

static void check_world(World *w) {
    w->stamp++;
    for (size_t i = 0; i < ROOTS; i++) check_node(w, w->values[i], w->models[i], 60);
}

static void move_through_message(Process *p, World *w) {
    Value copies[ROOTS];
    Fragment *f = term_copy(&test_vm, w->values, ROOTS, copies);
    ck_assert_ptr_nonnull(f);
    heap_adopt(p, f);
    memcpy(w->values, copies, sizeof copies);
}

static void step(Process *p, World *w) {
    uint32_t what = draw(w, 1000);
    size_t at = draw(w, ROOTS);
    if (what < 960)
        make_node(p, w, at);
    else if (what < 980)
        w->values[at] = V_NIL, w->models[at] = NULL;
    else if (what < 990)
        ck_assert(heap_collect(p, draw(w, 200), false));
    else if (what < 993)
        ck_assert(heap_collect(p, 0, true));
    else if (what < 995)
        heap_shrink_idle(p);
    else if (what < 997)
        move_through_message(p, w);
    else {
        ck_assert(heap_is_valid(p));
        check_world(w);
    }
}

static void run_world(uint32_t seed, size_t steps) {
    World w = {.random = seed};
    for (size_t i = 0; i < ROOTS; i++) w.values[i] = V_NIL;
    RootSpan span;
    roots_push(&process, &span, w.values, ROOTS);
    for (size_t i = 0; i < steps; i++) step(&process, &w);
    check_world(&w);
    ck_assert(heap_is_valid(&process));
    roots_pop(&process, &span);
    while (w.all) {
        Model *next = w.all->next;
        free(w.all);
        w.all = next;
    }
}

START_TEST(random_graphs_survive) { run_world((uint32_t)_i + 1, scaled(20000)); }
END_TEST

START_TEST(random_graphs_survive_stress) {
    test_vm.gc_stress = true;
    run_world((uint32_t)_i + 77, scaled(3000));
}
END_TEST

START_TEST(garbage_is_given_back) {
    Value list = V_EMPTY_LIST;
    RootSpan span;
    roots_push(&process, &span, &list, 1);
    for (size_t round = 0; round < 20; round++) {
        list = V_EMPTY_LIST;
        size_t n = scaled(50000);
        for (size_t i = 1; i <= n; i++) push_cell(&process, value_from_int((int64_t)i), &list);
        check_countdown(list, n);
    }
    list = V_EMPTY_LIST;
    ck_assert(heap_collect(&process, 0, true));
    const Heap *h = &process.heap;
    ck_assert_uint_eq((size_t)(h->old_top - h->old), 0);
    heap_shrink_idle(&process);
    ck_assert_ptr_null(h->young);
    ck_assert_ptr_null(h->old);
    roots_pop(&process, &span);
}
END_TEST

/* Where most survives, a collection promotes all of it and goes on in the same block; where most dies, it
 * ages first. */
START_TEST(promotion_follows_survival) {
    enum { CELLS = 1000000 };
    Value list = V_EMPTY_LIST;
    RootSpan span;
    Heap *h = &process.heap;
    roots_push(&process, &span, &list, 1);
    for (int64_t i = 1; i <= CELLS; i++) push_cell(&process, value_from_int(i), &list);
    ck_assert(h->tenures);
    ck_assert_uint_gt((size_t)(h->old_top - h->old), (size_t)CELLS);
    ck_assert_ptr_eq(h->young_mark, h->young);
    check_countdown(list, CELLS);
    ck_assert(heap_is_valid(&process));
    for (uint32_t i = 0; h->tenures || i < 3 * CELLS; i++) {
        Value garbage = V_EMPTY_LIST;
        push_cell(&process, V_NIL, &garbage);
        ck_assert_uint_lt(i, 100 * CELLS);
    }
    check_countdown(list, CELLS);
    ck_assert(heap_is_valid(&process));
    roots_pop(&process, &span);
}
END_TEST

START_TEST(limit_is_an_error_of_the_process) {
    process.heap.limit_words = 20000;
    Value list = V_EMPTY_LIST;
    RootSpan span;
    roots_push(&process, &span, &list, 1);
    size_t n = 0;
    while (heap_reserve(&process, 3)) push_cell(&process, value_from_int((int64_t)++n), &list);
    ck_assert_uint_ge(n, 3000);
    ck_assert_uint_le(n, 20000);
    ck_assert_uint_ne(process.exception, V_HOLE);
    ck_assert_str_eq(symbol_text(&test_vm, object_at(process.exception, EXC_KIND), NULL), "resource_error");
    check_countdown(list, n);
    process.exception = V_HOLE;
    list = V_EMPTY_LIST;
    for (size_t i = 1; i <= 1000; i++) push_cell(&process, value_from_int((int64_t)i), &list);
    check_countdown(list, 1000);
    ck_assert(!heap_reserve(&process, OBJECT_MAX_WORDS + 1));
    roots_pop(&process, &span);
}
END_TEST

/* ---- records ---- */

START_TEST(records_are_written_in_place_only_while_young_and_unshared) {
    Process *p = &process;
    p->state = record_new(p, 4);
    Value first = p->state;
    ck_assert(record_write(p, &p->state, 2, value_from_int(1)));
    ck_assert_uint_eq(p->state, first);
    records_share(p);
    ck_assert(record_write(p, &p->state, 2, value_from_int(2)));
    ck_assert_uint_ne(p->state, first);
    ck_assert_int_eq(value_to_int(object_at(first, 3)), 1);
    ck_assert_int_eq(value_to_int(object_at(p->state, 3)), 2);
    Value second = p->state;
    ck_assert(record_write(p, &p->state, 0, V_TRUE));
    ck_assert_uint_eq(p->state, second); /* the copy is not shared */
    ck_assert(heap_collect(p, 20, false));
    second = p->state;
    ck_assert(record_write(p, &p->state, 1, V_FALSE));
    ck_assert_uint_ne(p->state, second); /* not young any more */
    ck_assert_uint_eq(object_at(p->state, 1), V_TRUE);
    ck_assert_uint_eq(object_at(p->state, 2), V_FALSE);
    ck_assert_uint_eq(object_at(p->state, 4), V_HOLE);
}
END_TEST

START_TEST(records_hold_fresh_values_under_stress) {
    Process *p = &process;
    test_vm.gc_stress = _i == 1;
    p->state = record_new(p, 8);
    int64_t expected[8] = {0};
    for (size_t i = 0; i < scaled(20000); i++) {
        size_t slot = (i * 7) % 8;
        Value v = value_from_int((int64_t)i);
        ck_assert(record_write(p, &p->state, slot, tuple_of(p, &v, 1)));
        expected[slot] = (int64_t)i;
        if (i % 13 == 0) records_share(p);
        if (i % 1001 == 0) ck_assert(heap_collect(p, 0, i % 2 == 0));
    }
    for (size_t i = 0; i < 8; i++)
        ck_assert_int_eq(value_to_int(object_at(object_at(p->state, i + 1), 1)), expected[i]);
    ck_assert(heap_is_valid(p));
}
END_TEST

/* ---- off-heap data ---- */

typedef struct {
    Counted counted;
    int *alive;
} Handle;

static void handle_drop(const Memory *memory, Counted *c) {
    (void)memory;
    --*((Handle *)c)->alive;
    free(c);
}

static Value native_new(Process *p, int *alive) {
    ck_assert(heap_reserve(p, 3));
    Handle *h = malloc(sizeof *h);
    *h = (Handle){.counted = {.drop = handle_drop}, .alive = alive};
    atomic_init(&h->counted.refs, 1);
    ++*alive;
    Value v = heap_new(p, KIND_NATIVE, CLASS_ID_Object, 3);
    object_words(v)[2] = (uint64_t)(uintptr_t)h;
    heap_link_offheap(p, object_words(v), 16);
    return v;
}

START_TEST(offheap_counts_return_to_zero) {
    int alive = 0;
    Value kept[10];
    for (size_t i = 0; i < 10; i++) kept[i] = V_NIL;
    RootSpan span;
    roots_push(&process, &span, kept, 10);
    for (size_t i = 0; i < scaled(20000); i++) {
        kept[i % 10] = native_new(&process, &alive);
        if (i % 500 == 0) ck_assert(heap_collect(&process, 0, i % 1000 == 0));
        if (i % 700 == 0) {
            Value copies[10];
            Fragment *f = term_copy(&test_vm, kept, 10, copies);
            if (i % 1400 == 0)
                heap_adopt(&other, f);
            else
                fragment_free(&test_vm, f);
        }
    }
    ck_assert(heap_is_valid(&process));
    ck_assert_int_ge(alive, 10);
    ck_assert(heap_collect(&process, 0, true));
    ck_assert(heap_collect(&other, 0, true));
    ck_assert_int_eq(alive, 10);
    roots_pop(&process, &span);
    ck_assert(heap_collect(&process, 0, true));
    ck_assert_int_eq(alive, 0);
}
END_TEST

START_TEST(offheap_data_force_collections) {
    int alive = 0;
    for (size_t i = 0; i < 1000; i++) {
        Value v = native_new(&process, &alive);
        process.heap.offheap_words += 4096; /* as if it were 32 KB */
        (void)v;
    }
    ck_assert_int_lt(alive, 200);
    heap_destroy(&process);
    ck_assert_int_eq(alive, 0);
}
END_TEST

/* ---- transient code ---- */

static Value closure_over(Process *p, const Function *fn) {
    ck_assert(heap_keep_unit(p, fn->unit));
    ck_assert(heap_reserve(p, CLOSURE_CAPTURES));
    Value v = heap_new(p, KIND_CLOSURE, CLASS_ID_Block, CLOSURE_CAPTURES);
    object_words(v)[CLOSURE_FN] = (uint64_t)(uintptr_t)fn;
    for (size_t i = CLOSURE_SELF; i < CLOSURE_CAPTURES; i++) object_words(v)[i] = V_NIL;
    return v;
}

START_TEST(units_live_as_long_as_their_closures) {
    CodeUnit unit = {.transient = true, .vm = &test_vm};
    atomic_init(&unit.refs, 1);
    Function fn = {.unit = &unit, .flags = FN_TRANSIENT};
    Value closure = closure_over(&process, &fn);
    RootSpan span;
    roots_push(&process, &span, &closure, 1);
    ck_assert_uint_eq(unit.refs, 2);
    for (int i = 0; i < 3; i++) ck_assert(heap_collect(&process, 0, i == 2));
    ck_assert_uint_eq(unit.refs, 2);
    Value copy;
    Fragment *f = term_copy(&test_vm, &closure, 1, &copy);
    ck_assert_uint_eq(unit.refs, 3);
    heap_adopt(&other, f);
    ck_assert(heap_collect(&other, 0, true));
    ck_assert_uint_eq(unit.refs, 2);
    closure = V_NIL;
    ck_assert(heap_collect(&process, 0, true));
    ck_assert_uint_eq(unit.refs, 1);
    roots_pop(&process, &span);
}
END_TEST

/* ---- message copying ---- */

START_TEST(copy_preserves_sharing) {
    Value v = value_from_int(7);
    ck_assert(heap_reserve(&process, 60 * 3));
    for (int i = 0; i < 60; i++) {
        Value t = heap_new(&process, KIND_TUPLE, CLASS_ID_Tuple, 3);
        object_words(t)[1] = object_words(t)[2] = v;
        v = t;
    }
    Value copy;
    Fragment *f = term_copy(&test_vm, &v, 1, &copy);
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_le(f->size_words, 61 * 3);
    for (int i = 0; i < 59; i++) {
        ck_assert_uint_ne(copy, v);
        ck_assert_uint_eq(object_at(copy, 1), object_at(copy, 2));
        copy = object_at(copy, 1);
        v = object_at(v, 2);
    }
    fragment_free(&test_vm, f);
}
END_TEST

START_TEST(copy_of_a_deep_list) {
    Value list = V_EMPTY_LIST;
    RootSpan span;
    roots_push(&process, &span, &list, 1);
    size_t n = scaled(1000000);
    for (size_t i = 1; i <= n; i++) push_cell(&process, value_from_int((int64_t)i), &list);
    Value copy = term_copy_into(&other, list), nested = V_EMPTY_LIST;
    check_countdown(copy, n);
    other.dictionary = copy;
    ck_assert(heap_collect(&other, 0, false));
    check_countdown(other.dictionary, n);
    list = V_EMPTY_LIST;
    RootSpan nested_span;
    roots_push(&process, &nested_span, &nested, 1);
    for (size_t i = 1; i <= n; i++) {
        ck_assert(heap_reserve(&process, 3));
        list = V_EMPTY_LIST;
        push_cell(&process, nested, &list); /* deep in the head */
        nested = list;
    }
    copy = term_copy_into(&other, nested);
    for (size_t i = 0; i < n; i++) copy = CONS_HEAD(copy);
    ck_assert_uint_eq(copy, V_EMPTY_LIST);
    roots_pop(&process, &nested_span);
    roots_pop(&process, &span);
}
END_TEST

START_TEST(literals_travel_free) {
    uint64_t literal[2] = {header_make(CLASS_ID_Tuple, KIND_TUPLE, OBJ_LITERAL, 2), V_NIL};
    Value values[2] = {value_from_object(literal), V_TRUE}, copies[2];
    ck_assert(values_travel_free(values, 2));
    Fragment *f = term_copy(&test_vm, values, 2, copies);
    ck_assert_uint_eq(f->size_words, 0);
    ck_assert_uint_eq(copies[0], values[0]);
    fragment_free(&test_vm, f);
    Value t = tuple_of(&process, values, 2);
    ck_assert(!values_travel_free(&t, 1));
    process.dictionary = t;
    for (int i = 0; i < 4; i++) ck_assert(heap_collect(&process, 0, i == 3));
    ck_assert_uint_eq(object_at(process.dictionary, 1), values[0]);
    ck_assert(heap_is_valid(&process));
}
END_TEST

/* ---- frames ---- */

static const Instr no_code[1];
static const BcFunction no_function;
static CodeUnit no_unit = {.name = V_NIL};

static Function function_of(unsigned registers) {
    return (Function){.unit = &no_unit,
                      .code = no_code,
                      .bc = &no_function,
                      .name = V_NIL,
                      .class_name = V_NIL,
                      .register_count = (uint16_t)registers};
}

/* Recursion with the window at the end of the caller's registers; each frame keeps a tuple of its depth. */
static void descend(Process *p, const Function *fns, size_t depth, bool fast) {
    Value window[3] = {value_from_int(0), V_TRUE, V_FALSE};
    ck_assert_ptr_nonnull(stack_push(p, &fns[0], window, 2));
    for (size_t i = 1; i <= depth; i++) {
        Value number = value_from_int((int64_t)i);
        p->frame->regs[1] = tuple_of(p, &number, 1);
        const Function *next = &fns[i % 3];
        Value *out = p->frame->regs + p->frame->fn->register_count - 3;
        ck_assert_uint_eq(out[0], V_NIL); /* nil-filled, and nothing written over it */
        out[0] = value_from_int((int64_t)i);
        out[1] = p->frame->regs[1];
        out[2] = V_TRUE;
        Frame *f = fast ? stack_push_fast(p, next, out, 2) : stack_push(p, next, out, 2);
        ck_assert_ptr_nonnull(f);
        ck_assert_int_eq(value_to_int(f->regs[0]), (int64_t)i);
    }
}

static void ascend(Process *p, size_t depth, bool fast) {
    for (size_t i = depth; i > 0; i--) {
        ck_assert_int_eq(value_to_int(p->frame->regs[0]), (int64_t)i);
        if (fast)
            stack_pop_fast(p);
        else
            stack_pop(p);
        ck_assert_int_eq(value_to_int(object_at(p->frame->regs[1], 1)), (int64_t)i);
        if (i % 97 == 0) {
            Value junk = V_NIL;
            tuple_of(p, &junk, 1);
        }
    }
    stack_pop(p);
    ck_assert_ptr_null(p->frame);
}

START_TEST(frames_keep_their_values) {
    test_vm.segment_stress = _i == 1;
    Function fns[3] = {function_of(12), function_of(30), function_of(11)};
    size_t depth = scaled(30000);
    for (int round = 0; round < 3; round++) {
        descend(&process, fns, depth, round % 2 == 0);
        ck_assert(heap_is_valid(&process));
        ck_assert(heap_collect(&process, 0, round == 1));
        ck_assert(heap_is_valid(&process));
        ascend(&process, depth, round % 2 == 0);
    }
    stack_trim_idle(&process);
    ck_assert_ptr_null(process.segments);
    ck_assert_uint_eq(process.stack_words, 0);
}
END_TEST

/* A collection between a deep call and the next one must not leave stale words where callees were. */
START_TEST(popped_frames_leave_nothing_stale) {
    Process *p = &process;
    Function wide = function_of(60), small = function_of(8);
    Value receiver = V_NIL;
    ck_assert_ptr_nonnull(stack_push(p, &wide, &receiver, 0));
    for (int round = 0; round < 200; round++) {
        p->frame->regs[10] = V_TRUE;
        Value *out = p->frame->regs + 10;
        for (int depth = 0; depth < 5; depth++) {
            ck_assert_ptr_nonnull(stack_push_fast(p, &small, out, 0));
            Value v = value_from_int(depth);
            p->frame->regs[1] = tuple_of(p, &v, 1);
            out = p->frame->regs + 6;
            out[0] = p->frame->regs[1];
        }
        while (p->frame->caller->caller) stack_pop_fast(p);
        ck_assert(heap_collect(p, 0, round % 3 == 0)); /* two frames left */
        stack_pop_fast(p);
        ck_assert(heap_is_valid(p));
        ck_assert(heap_collect(p, 0, false));
    }
    stack_pop(p);
}
END_TEST

START_TEST(endless_recursion_meets_the_limit) {
    Process *p = &process;
    p->stack_limit_words = 100000;
    Function fn = function_of(20);
    Value receiver = V_NIL;
    Frame *f = stack_push(p, &fn, &receiver, 0);
    size_t depth = 0;
    while (f && ++depth < 1000000) f = stack_push_fast(p, &fn, p->frame->regs + 15, 0);
    ck_assert_uint_lt(depth, 100000);
    ck_assert_uint_gt(depth, 1000);
    ck_assert_uint_ne(p->exception, V_HOLE);
    stack_release(p);
}
END_TEST

START_TEST(a_frame_larger_than_any_segment) {
    Process *p = &process;
    Function fn = function_of(BC_MAX_REGISTERS);
    Value window[2] = {V_TRUE, V_FALSE};
    ck_assert_ptr_nonnull(stack_push(p, &fn, window, 1));
    p->frame->regs[BC_MAX_REGISTERS - 2] = value_from_int(5);
    ck_assert_ptr_nonnull(stack_push_fast(p, &fn, p->frame->regs + BC_MAX_REGISTERS - 2, 1));
    ck_assert_int_eq(value_to_int(p->frame->regs[0]), 5);
    stack_pop(p);
    stack_pop(p);
}
END_TEST

/* ---- symbols ---- */

START_TEST(symbols_are_interned) {
    Value a = symbol_intern(&test_vm, "at:put:", 7), b = symbol_intern(&test_vm, "at:put:", 7);
    ck_assert_uint_eq(a, b);
    ck_assert_uint_eq(symbol_arity(&test_vm, a), 2);
    ck_assert_uint_eq(symbol_arity(&test_vm, SYMBOL(plus)), 1);
    ck_assert_uint_eq(symbol_arity(&test_vm, SYMBOL(value)), 0);
    ck_assert_uint_eq(symbol_lookup(&test_vm, "neverSeen", 9), V_HOLE);
    test_vm.max_symbols = 3000;
    Value last = V_NIL;
    char text[32];
    int made = 0;
    for (; made < 5000 && last != V_HOLE; made++)
        last = symbol_intern_counted(&test_vm, text, (size_t)snprintf(text, sizeof text, "s%d", made));
    ck_assert_int_eq(made, 3001);
    ck_assert_uint_ne(symbol_intern(&test_vm, "uncounted", 9), V_HOLE);
    size_t length;
    ck_assert_str_eq(symbol_text(&test_vm, symbol_lookup(&test_vm, "s2999", 5), &length), "s2999");
    ck_assert_uint_eq(length, 5);
    ck_assert_str_eq(symbol_text(&test_vm, SYMBOL(spawnWith), &length), "spawnWith:");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("heap");
    TTest const *const tests[] = {garbage_is_given_back,
                                  promotion_follows_survival,
                                  limit_is_an_error_of_the_process,
                                  records_are_written_in_place_only_while_young_and_unshared,
                                  offheap_counts_return_to_zero,
                                  offheap_data_force_collections,
                                  units_live_as_long_as_their_closures,
                                  copy_preserves_sharing,
                                  copy_of_a_deep_list,
                                  literals_travel_free,
                                  popped_frames_leave_nothing_stale,
                                  endless_recursion_meets_the_limit,
                                  a_frame_larger_than_any_segment,
                                  symbols_are_interned};
    TCase *c = suite_case(suite, "heap", setup, teardown, 120, tests, COUNT_OF(tests));
    tcase_add_loop_test(c, random_graphs_survive, 0, 6);
    tcase_add_loop_test(c, random_graphs_survive_stress, 0, 3);
    tcase_add_loop_test(c, records_hold_fresh_values_under_stress, 0, 2);
    tcase_add_loop_test(c, frames_keep_their_values, 0, 2);
    return suite_run(suite);
}
