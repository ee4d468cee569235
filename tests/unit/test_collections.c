/* Lists, arrays, tuples, dictionaries and sets against plain C models, with random operations. Every value
 * lives in a root, so that a collection at any reserve shows what was not rooted. */
#include "tests/unit/test_process.h"
#include "tests/unit/test_suite.h"
#include "vm/array.h"
#include "vm/compare.h"
#include "vm/dict.h"
#include "vm/hash.h"
#include "vm/list.h"
#include "vm/number.h"
#include "vm/tuple.h"

static Process *const p = &process;

/* What lives across a reserve. */
enum { A, B, C, SCRATCH, ROOT_COUNT };
static Value root[ROOT_COUNT];
static RootSpan root_span;

static void setup(void) {
    vm_init(&test_vm);
    process_init(&process, &test_vm);
    for (int i = 0; i < ROOT_COUNT; i++) root[i] = V_NIL;
    roots_push(p, &root_span, root, ROOT_COUNT);
}

/* A collection at every reserve. */
static void setup_stress(void) {
    setup();
    test_vm.gc_stress = true;
}

static void teardown(void) {
    roots_pop(p, &root_span);
    process_teardown();
}

/* Rounds, or elements, of a test: a tenth under stress. */
static size_t scaled(size_t n) { return test_vm.gc_stress ? n / 10 : n; }

static uint64_t seed = 20260801;
static uint32_t random_below(uint32_t bound) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)((seed >> 16) % bound);
}

static Value number(int64_t i) { return value_from_int(i); }
static bool same(Value a, Value b) { return value_equal_strict(&test_vm, a, b); }

/* --- lists --- */

static Value counted_list(size_t n) {
    Value list = V_EMPTY_LIST;
    for (size_t i = n; i-- > 0;) list = list_cons(p, number((int64_t)i), list);
    return list;
}

static void assert_counts(Value list, size_t n) {
    ck_assert_uint_eq(list_length(list), n);
    for (size_t i = 0; i < n; i++, list = CONS_TAIL(list)) ck_assert(CONS_HEAD(list) == number((int64_t)i));
    ck_assert(list == V_EMPTY_LIST);
}

START_TEST(test_lists) {
    static const size_t sizes[] = {0, 1, 10, 20, 30, 500, 5000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = scaled(sizes[k]), count;
        root[A] = counted_list(n);
        assert_counts(root[A], n);
        root[B] = list_reverse(p, root[A]);
        if (n) ck_assert(CONS_HEAD(root[B]) == number((int64_t)n - 1));
        assert_counts(list_reverse(p, root[B]), n);
        assert_counts(list_take(p, root[A], n / 2), n / 2);
        assert_counts(list_take(p, root[A], n + 1), n);
        ck_assert_uint_eq(list_length(list_drop(root[A], n / 3)), n - n / 3);
        root[B] = list_reverse(p, root[A]);
        root[B] = list_turn(p, root[B]);
        assert_counts(root[B], n);
        root[C] = V_EMPTY_LIST; /* cells of two ages */
        for (size_t i = 0; i < n; i++) {
            if (i == n / 2) ck_assert(heap_collect(p, 0, false));
            root[C] = list_cons(p, number((int64_t)i), root[C]);
        }
        root[C] = list_turn(p, root[C]);
        ck_assert(heap_collect(p, 0, false));
        assert_counts(root[C], n);
        root[B] = list_take(p, root[A], n / 2);
        root[B] = list_concat(p, root[B], list_drop(root[A], n / 2));
        assert_counts(root[B], n);
        ck_assert(same(root[A], root[B]));
        Value *buffer = list_to_buffer(&test_vm, root[A], &count);
        RootSpan span;
        roots_push(p, &span, buffer, count);
        assert_counts(list_from_array(p, buffer, count, V_EMPTY_LIST), n);
        roots_pop(p, &span);
        free(buffer);
    }
}
END_TEST

/* --- arrays --- */

static void assert_array(Value array, const int64_t *model, size_t n) {
    ck_assert_uint_eq(array_size(array), n);
    for (size_t i = 0; i < n; i++) ck_assert(array_at(array, i) == number(model[i]));
    size_t seen = 0;
    for (size_t i = 0, m; i < n; i += m) {
        const Value *at = array_chunk(array, i, &m);
        ck_assert_uint_ge(m, 1);
        for (size_t j = 0; j < m; j++, seen++) ck_assert(at[j] == number(model[seen]));
    }
    ck_assert_uint_eq(seen, n);
    ck_assert(object_kind(array) == (n <= ARRAY_FLAT_MAX ? KIND_ARRAY : KIND_ARRAY_TREE));
}

START_TEST(test_arrays_of_all_sizes) {
    static const size_t sizes[] = {0,    1,    31,   32,   33,   64,   65,    96,    97,    1024,
                                   1055, 1056, 1057, 1088, 1089, 5000, 32768, 32800, 32801, 70000};
    enum { MOST = 70000 };
    int64_t *model = malloc(MOST * sizeof *model);
    for (size_t i = 0; i < MOST; i++) model[i] = (int64_t)i;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        root[A] = counted_list(n);
        root[A] = array_from_list(p, root[A]);
        assert_array(root[A], model, n);
        assert_counts(array_to_list(p, root[A]), n);
        size_t from = n / 3;
        assert_array(array_slice_from(p, root[A], from), model + from, n - from);
        ck_assert_uint_eq(array_size(array_slice_from(p, root[A], n + 5)), 0);
        if (n == 0) continue;
        size_t index = random_below((uint32_t)n);
        root[B] = array_at_put(p, root[A], index, number(-1));
        ck_assert(array_at(root[A], index) == number((int64_t)index));
        model[index] = -1;
        assert_array(root[B], model, n);
        model[index] = (int64_t)index;
        ck_assert(!same(root[A], root[B]));
        root[B] = array_at_put(p, root[B], index, number((int64_t)index));
        ck_assert(same(root[A], root[B]));
        ck_assert(value_hash(&test_vm, root[A]) == value_hash(&test_vm, root[B]));
    }
    free(model);
}
END_TEST

START_TEST(test_array_append_and_put) {
    enum { MOST = 34000 };
    int64_t *model = malloc(MOST * sizeof *model);
    root[A] = array_from(p, NULL, 0);
    for (size_t n = 0; n < MOST; n++) {
        model[n] = (int64_t)n * 3;
        root[A] = array_append(p, root[A], number(model[n]));
        size_t i = random_below((uint32_t)n + 1);
        model[i] = (int64_t)random_below(1000000);
        root[A] = array_at_put(p, root[A], i, number(model[i]));
        if (n % 997 == 0 || n < 100) assert_array(root[A], model, n + 1);
    }
    assert_array(root[A], model, MOST);
    free(model);
}
END_TEST

START_TEST(test_tuples) {
    for (size_t n = 0; n < 40; n++) {
        root[A] = counted_list(n);
        root[A] = tuple_from_list(p, root[A]);
        ck_assert_uint_eq(tuple_size(root[A]), n);
        for (size_t i = 0; i < n; i++) ck_assert(tuple_at(root[A], i) == number((int64_t)i));
        assert_counts(tuple_to_list(p, root[A]), n);
        root[B] = tuple_from(p, &root[C], 1);
        root[B] = tuple_append(p, root[B], root[A]);
        ck_assert_uint_eq(tuple_size(root[B]), n + 1);
        ck_assert(tuple_at(root[B], 0) == root[C]);
        if (n) ck_assert(tuple_at(root[B], n) == number((int64_t)n - 1));
    }
}
END_TEST

/* --- dictionaries --- */

/* Keys by number: small integers, floats equal to them, tuples, and deep tuples whose hashes all collide. */
enum { KEYS = 400, COLLIDING = 60 };
static Value make_key(unsigned i) {
    if (i < 250) return number((int64_t)i - 100);
    Value v = V_HOLE;
    if (i < 300) {
        ck_assert(number_free_double((double)(i - 250), &v));
        return v;
    }
    root[SCRATCH] = number((int64_t)i);
    unsigned depth = i < KEYS - COLLIDING ? 2 : 25;
    bool stress = test_vm.gc_stress;
    test_vm.gc_stress = false;
    for (unsigned d = 0; d < depth; d++) root[SCRATCH] = tuple_from(p, &root[SCRATCH], 1);
    test_vm.gc_stress = stress;
    if (stress) process.heap.limit = process.heap.top; /* as a collection under stress leaves it */
    return root[SCRATCH];
}

typedef struct {
    bool present[KEYS];
    int64_t value[KEYS];
    size_t count;
} Model;

static void assert_dict(Value dict, const Model *m) {
    ck_assert(dict_is_valid(&test_vm, dict));
    ck_assert_uint_eq(dict_size(dict), m->count);
    DictIter it;
    Value key, value, last = V_HOLE;
    size_t n = 0;
    dict_iter_init(&it, dict);
    for (; dict_iter_next(&it, &key, &value); n++) {
        ck_assert(dict_get(&test_vm, dict, key) == value);
        if (m->count <= DICT_FLAT_MAX && last != V_HOLE)
            ck_assert_int_lt(value_compare_keys(&test_vm, last, key), 0);
        last = key;
    }
    ck_assert_uint_eq(n, m->count);
}

/* The same content put together in one go, in another order, with doubles. */
static Value rebuilt(const Model *m) {
    Value *pairs = malloc(4 * KEYS * sizeof *pairs);
    for (size_t i = 0; i < 4 * KEYS; i++) pairs[i] = V_NIL;
    RootSpan span;
    roots_push(p, &span, pairs, 4 * KEYS);
    size_t n = 0;
    for (int round = 0; round < 2; round++)
        for (unsigned k = KEYS; k-- > 0;) {
            if (!m->present[k]) continue;
            pairs[2 * n] = make_key(k);
            pairs[2 * n++ + 1] = round ? number(m->value[k]) : V_TRUE;
        }
    Value dict = dict_from_pairs(p, pairs, n);
    roots_pop(p, &span);
    free(pairs);
    return dict;
}

static void random_edits(Model *m, unsigned rounds, unsigned keys, unsigned first, unsigned remove_of_ten) {
    for (unsigned i = 0; i < rounds; i++) {
        unsigned k = first + random_below(keys);
        root[B] = make_key(k);
        bool removes = random_below(10) < remove_of_ten;
        size_t before = m->count;
        root[C] = root[A];
        if (removes) {
            root[A] = dict_remove(p, root[A], root[B]);
            m->count -= m->present[k];
        } else {
            m->count += !m->present[k];
            m->value[k] = (int64_t)i;
            root[A] = dict_put(p, root[A], root[B], number(i));
        }
        ck_assert_uint_eq(dict_size(root[C]), before); /* the old version stays */
        m->present[k] = !removes;
        ck_assert_uint_eq(dict_size(root[A]), m->count);
        root[B] = make_key(first + random_below(keys));
        if (i % 40 == 0) assert_dict(root[A], m);
    }
    for (unsigned k = 0; k < KEYS; k++) {
        Value key = make_key(k), got = dict_get(&test_vm, root[A], key);
        ck_assert(got == (m->present[k] ? number(m->value[k]) : V_HOLE));
    }
    root[B] = rebuilt(m);
    assert_dict(root[B], m);
    ck_assert(same(root[A], root[B]));
    ck_assert(value_hash(&test_vm, root[A]) == value_hash(&test_vm, root[B]));
}

START_TEST(test_colliding_keys_collide) {
    root[A] = make_key(KEYS - 1);
    root[B] = make_key(KEYS - COLLIDING);
    ck_assert(!same(root[A], root[B]));
    ck_assert(value_hash(&test_vm, root[A]) == value_hash(&test_vm, root[B]));
}
END_TEST

START_TEST(test_dictionaries) {
    static const struct {
        unsigned keys, first;
    } ranges[] = {{10, 240}, {40, 230}, {36, KEYS - 36}, {COLLIDING, KEYS - COLLIDING}, {KEYS, 0}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        Model m = {.count = 0};
        root[A] = dict_empty(p);
        for (unsigned phase = 0; phase < 6; phase++) {
            static const unsigned removes[] = {2, 5, 9, 1, 5, 10};
            random_edits(&m, 600, ranges[r].keys, ranges[r].first, removes[phase]);
        }
    }
}
END_TEST

START_TEST(test_large_dictionary) {
    enum { MOST = 20000 };
    root[A] = dict_empty(p);
    for (int64_t i = 0; i < MOST; i++) root[A] = dict_put(p, root[A], number(i * 7), number(i));
    ck_assert_uint_eq(dict_size(root[A]), MOST);
    ck_assert(dict_is_valid(&test_vm, root[A]));
    root[B] = dict_keys(p, root[A]);
    root[C] = dict_values(p, root[A]);
    ck_assert_uint_eq(list_length(root[B]), MOST);
    for (Value k = root[B], v = root[C]; k != V_EMPTY_LIST; k = CONS_TAIL(k), v = CONS_TAIL(v))
        ck_assert_int_eq(value_to_int(CONS_HEAD(k)), value_to_int(CONS_HEAD(v)) * 7);
    for (int64_t i = 0; i < MOST; i += 2) root[A] = dict_remove(p, root[A], number(i * 7));
    ck_assert_uint_eq(dict_size(root[A]), MOST / 2);
    ck_assert(dict_is_valid(&test_vm, root[A]));
    for (int64_t i = 1; i < MOST - 40; i += 2) root[A] = dict_remove(p, root[A], number(i * 7));
    ck_assert(object_kind(root[A]) == KIND_DICT);
    ck_assert(dict_get(&test_vm, root[A], number((MOST - 1) * 7)) == number(MOST - 1));
}
END_TEST

START_TEST(test_merge) {
    for (size_t round = 0; round < scaled(60); round++) {
        Model m = {.count = 0};
        static const unsigned sizes[] = {0, 1, 5, 20, 33, 100, 300};
        unsigned counts[2] = {sizes[random_below(7)], sizes[random_below(7)]};
        for (int side = 0; side < 2; side++) {
            root[side] = dict_empty(p);
            for (unsigned i = 0; i < counts[side]; i++) {
                unsigned k = random_below(KEYS);
                root[C] = make_key(k);
                m.count += !m.present[k];
                m.present[k] = true;
                m.value[k] = side * 1000 + i;
                root[side] = dict_put(p, root[side], root[C], number(m.value[k]));
            }
        }
        root[C] = dict_merge(p, root[A], root[B]);
        assert_dict(root[C], &m);
        root[B] = rebuilt(&m);
        ck_assert(same(root[B], root[C]));
    }
}
END_TEST

/* --- sets --- */

static Value random_set(bool *present) {
    static const unsigned sizes[] = {0, 1, 10, 31, 34, 120};
    unsigned n = sizes[random_below(6)];
    root[C] = V_EMPTY_LIST;
    for (unsigned i = 0; i < n; i++) {
        unsigned k = random_below(KEYS);
        present[k] = true;
        Value key = make_key(k);
        root[C] = list_cons(p, key, root[C]);
    }
    return set_from_list(p, root[C]);
}

static void assert_set(Value set, const bool *present) {
    root[C] = set;
    ck_assert(dict_is_valid(&test_vm, set_dict(root[C])));
    size_t n = 0;
    for (unsigned k = 0; k < KEYS; k++) {
        n += present[k];
        Value key = make_key(k);
        ck_assert(set_has(&test_vm, root[C], key) == present[k]);
    }
    ck_assert_uint_eq(set_size(root[C]), n);
    ck_assert_uint_eq(list_length(set_to_list(p, root[C])), n);
}

START_TEST(test_sets) {
    for (size_t round = 0; round < scaled(60); round++) {
        bool a[KEYS] = {0}, b[KEYS] = {0}, both[KEYS], either[KEYS], only_a[KEYS], within = true;
        root[A] = random_set(a);
        root[B] = random_set(b);
        for (unsigned k = 0; k < KEYS; k++) {
            both[k] = a[k] && b[k];
            either[k] = a[k] || b[k];
            only_a[k] = a[k] && !b[k];
            within = within && !only_a[k];
        }
        assert_set(root[A], a);
        assert_set(set_union(p, root[A], root[B]), either);
        assert_set(set_intersection(p, root[A], root[B]), both);
        assert_set(set_difference(p, root[A], root[B]), only_a);
        ck_assert(set_is_subset(&test_vm, root[A], root[B]) == within);
        unsigned k = random_below(KEYS);
        root[C] = make_key(k);
        root[A] = set_add(p, root[A], root[C]);
        a[k] = true;
        assert_set(root[A], a);
        root[C] = make_key(k);
        root[A] = set_remove(p, root[A], root[C]);
        a[k] = false;
        assert_set(root[A], a);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("collections");
    TTest const *const plain[] = {test_arrays_of_all_sizes, test_array_append_and_put,
                                  test_colliding_keys_collide, test_dictionaries, test_large_dictionary};
    TTest const *const stressed[] = {test_lists, test_tuples, test_merge, test_sets};
    suite_case(suite, "all", setup, teardown, 120, plain, COUNT_OF(plain));
    suite_case(suite, "stress", setup_stress, teardown, 120, stressed, COUNT_OF(stressed));
    return suite_run(suite);
}
