/* A host's own allocator: all that a VM takes comes from it and goes back to it, to the one it came from;
 * when it has nothing left, programs and calls get their errors and nothing ends.
 *
 * The allocator of the tests writes in front of each block whose it is and how large: a block that is given
 * to another one, or twice, shows at once, and what is never given back when the VM has gone. */
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "beamtalk.h"
#include "compiler/compiler.h"
#include "tests/unit/test_suite.h"

/* ---- the allocator ---- */

typedef struct {
    _Atomic long calls, blocks, bytes, peak, strange;
    long fail_from, fail_until; /* these calls get nothing; 0: none */
    long most_bytes;            /* 0: no bound */
} Store;

typedef struct {
    Store *store;
    size_t size;
} Head;
_Static_assert(sizeof(Head) == 16, "blocks stay aligned");

static bool refuses(Store *s, size_t more) {
    long call = ++s->calls;
    if (s->fail_from && call >= s->fail_from && call < s->fail_until) return true;
    return s->most_bytes && s->bytes + (long)more > s->most_bytes;
}

static void *taken(Store *s, Head *head, size_t size) {
    if (!head) return NULL;
    *head = (Head){s, size};
    s->blocks++;
    long now = s->bytes += (long)size;
    if (now > s->peak) s->peak = now; /* nearly: of two threads at once one may be lost */
    return head + 1;
}

static void *store_allocate(void *context, size_t size) {
    Store *s = context;
    if (!size) s->strange++;
    if (refuses(s, size)) return NULL;
    Head *head = malloc(sizeof *head + size);
    if (head) memset(head + 1, 0xa5, size); /* nobody may count on zeros */
    return taken(s, head, size);
}

/* What stands in front of a block of this store; NULL: it is none. */
static Head *head_of(Store *s, void *block) {
    Head *head = block ? (Head *)block - 1 : NULL;
    if (head && head->store == s) return head;
    s->strange++;
    return NULL;
}

static void store_release(void *context, void *block) {
    Store *s = context;
    Head *head = head_of(s, block);
    if (!head) return;
    s->blocks--;
    s->bytes -= (long)head->size;
    memset(head + 1, 0xdd, head->size);
    head->store = NULL;
    free(head);
}

static void *store_reallocate(void *context, void *block, size_t size) {
    Store *s = context;
    Head *head = head_of(s, block);
    if (!size) s->strange++;
    if (!head || !size) return NULL;
    if (refuses(s, size)) return NULL;
    void *fresh = taken(s, malloc(sizeof *head + size), size);
    if (!fresh) return NULL;
    memcpy(fresh, block, head->size < size ? head->size : size);
    store_release(s, block);
    return fresh;
}

static bt_allocator allocator_on(Store *s) {
    return (bt_allocator){store_allocate, store_reallocate, store_release, s};
}

static bt_vm *vm_on(Store *s, unsigned schedulers) {
    const bt_config config = {
        .size = sizeof config, .schedulers = schedulers, .allocator = allocator_on(s), .profile = 1};
    return bt_vm_new(&config);
}

static void is_empty(const Store *s) {
    ck_assert_int_eq(s->strange, 0);
    ck_assert_int_eq(s->blocks, 0);
    ck_assert_int_eq(s->bytes, 0);
}

/* ---- what is run on it ---- */

static const char *const PROGRAM[] = {
    "Actor subclass: Cell\n  state: n = 0\n  add: k => self.n := self.n + k\n  boom => self error: \"x\"\n",
    "Object subclass: Tally\n  classState: c = 0\n  class bump => self.c := self.c + 1\n",
    "c := Cell spawn. c add: 3. (c add: 4) printString",
    "[c boom] on: Error do: [:e | e message]",
    "Tally bump. Tally bump",
    "\"a,b,c\" split: \",\"",
    "Json parse: (Json generate: #{\"a\" => #(1, 2.5, \"x\u00e9\", #{\"b\" => nil})})",
    "(1 to: 300) inject: 1 into: [:a :b | a * b]",
    "((1 to: 3000) collect: [:i | i printString]) size",
    "(((1 to: 3000) collect: [:i | i printString]) inject: \"\" into: [:s :t | s ++ t]) size",
    "((1 to: 2000) inject: #{} into: [:d :i | d at: i put: i * i]) size",
    "(((1 to: 500) collect: [:i | i * 7919 % 1009]) sort: [:a :b | a < b]) first",
    "(((1 to: 500) collect: [:i | i % 7]) unique) size",
    "\"caab\" matchesRegex: \"a+b\"",
    "big := (1 to: 20000) collect: [:i | #(i, i printString)]. big size",
    "(Cell spawn) stop. x := 1. x + 1",
    "Timer after: 1 do: [c add: 1]. Timer sleep: 5",
    "nil foo: 1 bar: 2",
    "1 +",
    "_error printString",
    "[:n | n] value: (1 / 0)",
    "fib := nil. Tally bump. Tally class printString",
    "Object subclass: Down\n  class down: n => n == 0 ifTrue: [0] ifFalse: [1 + (self down: n - 1)]\nDown "
    "down: 20000",
    "Workspace bind: big as: #keep. Workspace unbind: #keep",
    "\"straße ÄÖ\" uppercase",
    "(SystemNavigation default sendersOf: #add:) size",
    "Tally compile: #twice source: \"twice => 2\". Tally new twice",
};

/* Every answer is one that a host has to expect; answers how many were BT_OK. */
static int run_program(bt_vm *vm) {
    const bt_eval_options options = {
        .size = sizeof options, .want_shown = 1, .deadline_ms = 20000, .ignore_link_exits = 1};
    bt_session *session = bt_session_new(vm);
    int good = 0;
    for (size_t i = 0; session && i < COUNT_OF(PROGRAM); i++) {
        bt_result *r = NULL;
        bt_status status = bt_vm_eval(session, PROGRAM[i], strlen(PROGRAM[i]), &options, &r);
        good += status == BT_OK;
        bool known = status == BT_OK || status == BT_COMPILE_ERROR || status == BT_RUNTIME_ERROR ||
                     status == BT_NO_MEMORY || status == BT_VM_FAILED || status == BT_KILLED ||
                     status == BT_EXIT;
        ck_assert_msg(known, "%s: %d", PROGRAM[i], status);
        ck_assert_msg(r || status == BT_NO_MEMORY, "%s: no result, %d", PROGRAM[i], status);
        bt_value *v = bt_result_value(r);
        (void)bt_value_text(v, NULL);
        bt_value_release(v);
        bt_result_free(r);
    }
    bt_session_free(session);
    return good;
}
enum { BAD = 3 }; /* statements of it that are errors */

static void twice(bt_call *call, void *context) {
    (void)context;
    int64_t n = 0;
    (void)bt_call_int64(call, 0, &n);
    bt_call_answer_int64(call, 2 * n);
}

static void fails(bt_call *call, void *context) {
    (void)context;
    bt_call_raise(call, "type_error", "this fails", "always");
}

static void ended(void *context, bt_result *result) {
    ++*(int *)context;
    bt_result_free(result);
}

/* Of a class; in the memory of the tests. */
static uint8_t *make_image(size_t *length) {
    static const char TEXT[] = "Object subclass: Imaged\n  m: k => [:x | x + k]\n";
    const CompileOptions options = {.name = "imaged"};
    DiagList diags;
    diag_list_init(&diags, NULL);
    BcUnit *unit = compile_source(&options, TEXT, sizeof TEXT - 1, &diags);
    diag_list_free(&diags);
    uint8_t *image = bc_encode(unit, length);
    bc_unit_free(unit);
    return image;
}

/* Values, sessions, functions of the host, work without waiting, statistics. */
static void run_calls(bt_vm *vm) {
    const bt_method methods[] = {{"twice:", twice, NULL}, {"fails", fails, NULL}};
    const bt_class_definition d = {.size = sizeof d,
                                   .name = "Hosted",
                                   .methods = methods,
                                   .method_count = 2,
                                   .blocking = &(bt_method){"slowly:", twice, NULL},
                                   .blocking_count = 1};
    (void)bt_vm_define(vm, &d);
    bt_session *session = bt_session_new(vm);
    static const char TEXT[] = "(Hosted twice: 4) + (Hosted slowly: 5)";
    bt_result *r = NULL;
    (void)bt_vm_eval(session, TEXT, strlen(TEXT), NULL, &r);
    bt_result_free(r);
    r = NULL;
    (void)bt_vm_eval(session, "Hosted fails", 12, NULL, &r);
    bt_result_free(r);
    static const bt_source SOURCES[] = {{"down.bt", "Up subclass: Below\n  m => 1\n", 28},
                                        {"up.bt", "Object subclass: Up\n  n => 2\n", 29},
                                        {"bad.bt", "Object subclass: Bad\n  n => [\n", 30}};
    bt_result *results[3] = {0};
    (void)bt_vm_load(vm, SOURCES, 2, NULL, results);
    for (int i = 0; i < 2; i++) bt_result_free(results[i]);
    memset(results, 0, sizeof results);
    (void)bt_vm_load(vm, SOURCES, 3, NULL, results);
    for (int i = 0; i < 3; i++) bt_result_free(results[i]);
    r = NULL;
    size_t length;
    uint8_t *image = make_image(&length);
    for (size_t cut = 0; cut < 2; cut++) { /* whole, then damaged */
        (void)bt_vm_load_image(vm, image, length - cut, &r);
        bt_result_free(r);
    }
    free(image);
    bt_value *items[] = {bt_integer(vm, 7), bt_string(vm, "seven", 5),
                         bt_integer_from_text(vm, "123456789012345678901234567890")};
    bt_value *list = bt_list(vm, items, 3), *map = bt_dictionary(vm, items, 1);
    if (list) (void)bt_session_set(session, "given", list);
    (void)bt_value_text(items[2], NULL);
    r = NULL;
    if (list) (void)bt_send(session, list, "printString", NULL, 0, NULL, &r);
    bt_result_free(r);
    for (size_t i = 0; i < COUNT_OF(items); i++) bt_value_release(items[i]);
    bt_value_release(list);
    bt_value_release(map);
    int done = 0, begun = 0;
    if (session) begun = bt_eval_async(session, "given size", 10, NULL, ended, &done) == BT_OK;
    for (int i = 0; i < 400 && done < begun; i++)
        if (bt_vm_poll(vm, 10, 0) != BT_OK) break;
    bt_session_free(session);
}

/* ---- tests ---- */

START_TEST(everything_goes_through_it_and_comes_back) {
    Store store = {0};
    bt_vm *vm = vm_on(&store, 2);
    ck_assert_ptr_nonnull(vm);
    long at_start = store.calls;
    ck_assert_int_gt(store.blocks, 0);
    ck_assert_int_eq(run_program(vm), (int)COUNT_OF(PROGRAM) - BAD);
    ck_assert_int_gt(store.calls, at_start + 100);
    run_calls(vm);
    bt_vm_free(vm);
    is_empty(&store);
}
END_TEST

static void evaluate(bt_session *session, const char *text, bt_status wanted, const char *kind) {
    bt_result *r = NULL;
    bt_status status = bt_vm_eval(session, text, strlen(text), NULL, &r);
    ck_assert_msg(status == wanted, "%s: %d %s", text, status, bt_result_error_message(r));
    if (kind) ck_assert_str_eq(bt_result_error_kind(r), kind);
    bt_result_free(r);
}

START_TEST(heaps_are_counted) {
    Store store = {0};
    bt_vm *vm = vm_on(&store, 1);
    bt_session *session = bt_session_new(vm);
    long before = store.bytes;
    evaluate(session, "big := (1 to: 200000) collect: [:i | i]", BT_OK, NULL);
    ck_assert_int_gt(store.bytes, before + 200000 * 8);
    evaluate(session, "big := \"x\" repeat: 5000000", BT_OK, NULL);
    ck_assert_int_gt(store.bytes, before + 5000000);
    evaluate(session, "big := nil", BT_OK, NULL);
    ck_assert_int_lt(store.bytes, before + 1000000);
    bt_session_free(session);
    bt_vm_free(vm);
    is_empty(&store);
}
END_TEST

/* Trees, IR and bytecode of a large text. */
START_TEST(compilations_are_counted) {
    enum { ITEMS = 50000 };
    Store store = {0};
    bt_vm *vm = vm_on(&store, 1);
    bt_session *session = bt_session_new(vm);
    char *text = malloc(3 * ITEMS + 16), *at = text;
    at += sprintf(text, "x := #(");
    for (int i = 0; i < ITEMS; i++) at += sprintf(at, "1, ");
    strcpy(at - 2, ") +");
    long before = store.bytes;
    evaluate(session, text, BT_COMPILE_ERROR, NULL);
    ck_assert_int_gt(store.peak, before + ITEMS * 40);
    ck_assert_int_lt(store.bytes, before + 10000);
    free(text);
    bt_session_free(session);
    bt_vm_free(vm);
    is_empty(&store);
}
END_TEST

START_TEST(a_bound_is_an_error_of_the_program) {
    Store store = {0};
    bt_vm *vm = vm_on(&store, 1);
    bt_session *session = bt_session_new(vm);
    evaluate(session, "1 + 1", BT_OK, NULL);
    store.most_bytes = store.bytes + (16 << 20);
    static const char HOG[] = "((1 to: 100000000) collect: [:i | i]) size";
    static const char TEXT_HOG[] = "s := \"xyz\". 1 to: 60 do: [:i | s := s ++ s]. s size";
    for (int i = 0; i < 3; i++) {
        evaluate(session, HOG, BT_RUNTIME_ERROR, "resource_error");
        evaluate(session, TEXT_HOG, BT_RUNTIME_ERROR, "resource_error");
        evaluate(session, "6 * 7", BT_OK, NULL);
    }
    bt_session_free(session);
    bt_vm_free(vm);
    is_empty(&store);
}
END_TEST

/* `many` calls, or (0) all from one on, get nothing. */
static void fail_some(long from, long many) {
    Store store = {.fail_from = from, .fail_until = many ? from + many : LONG_MAX};
    bt_vm *vm = vm_on(&store, 1);
    if (vm) {
        (void)run_program(vm);
        run_calls(vm);
    }
    bt_vm_free(vm);
    ck_assert_msg(store.strange == 0 && store.blocks == 0 && store.bytes == 0,
                  "from call %ld, %ld: %ld strange, %ld blocks, %ld bytes", from, many, (long)store.strange,
                  (long)store.blocks, (long)store.bytes);
}

static long rounds(void) {
    const char *text = getenv("ALLOCATOR_ROUNDS");
    return text ? atol(text) : 24;
}

START_TEST(failing_calls_are_errors) {
    Store store = {0};
    bt_vm *vm = vm_on(&store, 1);
    long made = store.calls;
    (void)run_program(vm);
    run_calls(vm);
    bt_vm_free(vm);
    long all = store.calls, step = made / rounds() + 1;
    for (long n = 1; n <= made; n += step) fail_some(n, 1), fail_some(n, 0);
    step = (all - made) / rounds() + 1;
    for (long n = made + 1; n <= all; n += step) fail_some(n, 1), fail_some(n, 0), fail_some(n, 3);
}
END_TEST

static void *run_side_by_side(void *store) {
    bt_vm *vm = vm_on(store, 2);
    int good = run_program(vm);
    bt_vm_free(vm);
    return (void *)(intptr_t)good;
}

START_TEST(vms_keep_their_own) {
    Store stores[3] = {0};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, run_side_by_side, &stores[i]);
    for (int i = 0; i < 3; i++) {
        void *good;
        pthread_join(threads[i], &good);
        ck_assert_int_eq((intptr_t)good, (intptr_t)COUNT_OF(PROGRAM) - BAD);
    }
    for (int i = 0; i < 3; i++) is_empty(&stores[i]);
}
END_TEST

/* One thread that works for VMs in turn, one of them without an allocator of its own. */
START_TEST(one_thread_serves_several) {
    Store stores[2] = {0};
    bt_vm *vms[3] = {vm_on(&stores[0], 1), vm_on(&stores[1], 1), bt_vm_new(NULL)};
    bt_session *sessions[3];
    for (int i = 0; i < 3; i++) sessions[i] = bt_session_new(vms[i]);
    for (int round = 0; round < 50; round++)
        for (int i = 0; i < 3; i++) {
            long other = stores[(i + 1) % 2].calls, own = stores[i % 2].calls;
            evaluate(sessions[i], "x := ((1 to: 100) collect: [:k | k printString]) size", BT_OK, NULL);
            if (i < 2) ck_assert_int_gt(stores[i].calls, own);
            if (i < 2) ck_assert_int_eq(stores[1 - i].calls, other);
        }
    for (int i = 0; i < 3; i++) bt_vm_free(vms[i]);
    for (int i = 0; i < 3; i++) bt_session_free(sessions[i]); /* later than their VMs */
    for (int i = 0; i < 2; i++) is_empty(&stores[i]);
}
END_TEST

/* A result without a value may outlive its VM, and what it says lies in the allocator's memory. */
START_TEST(results_outlive_the_vm) {
    Store store = {0};
    bt_vm *vm = vm_on(&store, 1);
    bt_session *session = bt_session_new(vm);
    bt_result *r = NULL;
    ck_assert_int_eq(bt_vm_eval(session, "nil foo", 7, NULL, &r), BT_RUNTIME_ERROR);
    bt_session_free(session);
    bt_vm_free(vm);
    ck_assert_int_gt(store.blocks, 0);
    ck_assert_str_eq(bt_result_error_kind(r), "does_not_understand");
    bt_result_free(r);
    is_empty(&store);
}
END_TEST

static char said[256];
static void on_log(void *context, const char *bytes, size_t length) {
    (void)context;
    snprintf(said, sizeof said, "%.*s", (int)length, bytes);
}

START_TEST(a_part_of_one_is_misuse) {
    for (unsigned given = 1; given < 7; given++) {
        Store store = {0};
        bt_config config = {.size = sizeof config, .log = on_log, .allocator = allocator_on(&store)};
        if (!(given & 1)) config.allocator.allocate = NULL;
        if (!(given & 2)) config.allocator.reallocate = NULL;
        if (!(given & 4)) config.allocator.release = NULL;
        said[0] = 0;
        ck_assert_ptr_null(bt_vm_new(&config));
        ck_assert_ptr_nonnull(strstr(said, "reallocate"));
        ck_assert_int_eq(store.calls, 0);
    }
}
END_TEST

/* A program built with a header that did not know of it. */
START_TEST(an_older_config_has_none) {
    Store store = {0};
    bt_config config = {.size = offsetof(bt_config, allocator), .allocator = allocator_on(&store)};
    bt_vm *vm = bt_vm_new(&config);
    ck_assert_ptr_nonnull(vm);
    bt_vm_free(vm);
    ck_assert_int_eq(store.calls, 0);
}
END_TEST

int main(void) {
    TTest const *const tests[] = {everything_goes_through_it_and_comes_back,
                                  heaps_are_counted,
                                  compilations_are_counted,
                                  a_bound_is_an_error_of_the_program,
                                  failing_calls_are_errors,
                                  vms_keep_their_own,
                                  one_thread_serves_several,
                                  results_outlive_the_vm,
                                  a_part_of_one_is_misuse,
                                  an_older_config_has_none};
    Suite *suite = suite_create("allocator");
    suite_case(suite, "allocator", NULL, NULL, 600, tests, COUNT_OF(tests));
    return suite_run(suite);
}
