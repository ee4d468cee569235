/* Functions of the host: what they get, answer, raise, call, and answer later. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/test_host_vm.h"

static int released;
static void count_release(void *state) {
    (void)state;
    released++;
}

static void add(bt_call *call, void *context) {
    int64_t a, b;
    (void)context;
    if (bt_call_int64(call, 0, &a) != BT_OK || bt_call_int64(call, 1, &b) != BT_OK) {
        bt_call_raise(call, "type_error", "two Integers are wanted", "see add:to:");
        return;
    }
    bt_call_answer_int64(call, a + b);
}

static void half(bt_call *call, void *context) {
    double d = 0;
    (void)context;
    (void)bt_call_double(call, 0, &d);
    bt_call_answer_double(call, d / 2);
}

static void context_text(bt_call *call, void *context) {
    bt_value *text = bt_string(bt_call_vm(call), context, strlen(context));
    bt_call_answer(call, text);
    bt_value_release(text);
}

static void silent(bt_call *call, void *context) { (void)call, (void)context; }

static void second_of(bt_call *call, void *context) {
    (void)context;
    bt_value *list = bt_call_argument(call, 0), *item = NULL;
    (void)bt_value_items(list, 1, &item, 1);
    bt_call_answer(call, item);
    bt_value_release(item);
    bt_value_release(list);
}

/* Calls the block with 1, 2, ... until it answers true; answers how often. */
typedef struct {
    bt_value *block;
    int64_t round;
} Asking;

static void asking_free(void *state) {
    Asking *a = state;
    bt_value_release(a->block);
    free(a);
    released++;
}

static void asked(bt_call *call, const bt_value *answer, void *state);

static void ask(bt_call *call, Asking *a) {
    bt_value *number = bt_integer(bt_call_vm(call), ++a->round);
    bt_call_block(call, a->block, &number, 1, asked, a, asking_free);
    bt_value_release(number);
}

static void asked(bt_call *call, const bt_value *answer, void *state) {
    Asking *a = state;
    int truth = 0;
    if (bt_value_boolean(answer, &truth) == BT_OK && truth) {
        bt_call_answer_int64(call, a->round);
        return;
    }
    Asking *next = malloc(sizeof *next);
    *next = (Asking){bt_value_retain(a->block), a->round};
    ask(call, next);
}

static void until(bt_call *call, void *context) {
    (void)context;
    Asking *a = malloc(sizeof *a);
    *a = (Asking){bt_call_argument(call, 0), 0};
    ask(call, a);
}

static void *complete_soon(void *completion) {
    usleep(20000);
    bt_value *v = bt_integer(vm, 99);
    bt_complete(completion, v);
    bt_value_release(v);
    return NULL;
}

static void *fail_soon(void *completion) {
    usleep(20000);
    bt_complete_error(completion, "io_error", "the line is cut", NULL);
    return NULL;
}

enum { MAX_THREADS = 100 };
static pthread_t threads[MAX_THREADS];
static _Atomic int thread_count;

static void later(bt_call *call, void *context) {
    bt_completion *c = bt_call_later(call);
    pthread_create(&threads[thread_count++], NULL, context ? fail_soon : complete_soon, c);
}

static void block_then_nothing(bt_call *call, void *context) {
    (void)context;
    bt_value *block = bt_call_argument(call, 0);
    bt_call_block(call, block, NULL, 0, asked, NULL, count_release);
    bt_value_release(block);
    bt_call_answer_int64(call, 5); /* what is said last counts */
}

static const bt_method METHODS[] = {{"add:to:", add, NULL},
                                    {"half:", half, NULL},
                                    {"name", context_text, (void *)"from the host"},
                                    {"silent", silent, NULL},
                                    {"secondOf:", second_of, NULL},
                                    {"until:", until, NULL},
                                    {"later", later, NULL},
                                    {"laterFails", later, (void *)"fails"},
                                    {"change:", block_then_nothing, NULL}};

static void define(void) {
    ck_assert_int_eq(bt_vm_define_class(vm, "Host", METHODS, COUNT_OF(METHODS)), BT_OK);
    released = 0;
}

START_TEST(arguments_and_answers) {
    define();
    prints(eval("Host add: 3 to: 4"), "7");
    prints(eval("Host add: (2 ** 62) to: 5"), "4611686018427387909");
    prints(eval("Host half: 5"), "2.5");
    prints(eval("Host name"), "\"from the host\"");
    prints(eval("Host silent"), "nil");
    prints(eval("Host secondOf: #(1, #(\"deep\"), 3)"), "#(\"deep\")");
    prints(eval("n := 0. 1000 timesRepeat: [n := Host add: n to: 2]. n"), "2000");
}
END_TEST

START_TEST(errors_are_structured) {
    define();
    prints(eval("[Host add: 1 to: #x] on: Error do: [:e | #(e kind, e message, e hint)]"),
           "#(#type_error, \"two Integers are wanted\", \"see add:to:\")");
    prints(eval("[HostFunction call: 100000 with: #()] on: Error do: [:e | e kind]"), "#type_error");
    prints(eval("[HostFunction call: -1 with: #()] on: Error do: [:e | e kind]"), "#type_error");
    prints(eval("[HostFunction call: nil with: nil] on: Error do: [:e | e kind]"), "#type_error");
}
END_TEST

START_TEST(blocks_are_called_at_home) {
    define();
    prints(eval("Host until: [:n | n * n > 50]"), "8");
    ck_assert_int_eq(released, 8);
    prints(eval("Object subclass: Caller\n  class find: limit =>\n    Host until: [:n | n > 3 ifTrue: [^n * "
                "100]. false]\n    0\n\n"
                "Caller find: 3"),
           "400");
    prints(eval("[Host until: [:n | n > 2 ifTrue: [n error: \"stop\"]. false]] on: Error do: [:e | e "
                "message]"),
           "\"stop\"");
    prints(eval("Host change: [1]"), "5");
}
END_TEST

START_TEST(answers_may_come_later) {
    define();
    prints(eval("Host later + 1"), "100");
    prints(eval("[Host laterFails] on: Error do: [:e | #(e kind, e message)]"),
           "#(#io_error, \"the line is cut\")");
    prints(eval("(Parallel all: ((1 to: 20) asList collect: [:i | [Host later]])) inject: 0 into: [:s :r | s "
                "+ r unwrap]"),
           "1980");
    prints(eval("(Parallel all: #([Host later]) timeout: 1) first isOk"), "false");
    for (int i = 0; i < thread_count; i++) pthread_join(threads[i], NULL); /* also the one nobody waits for */
}
END_TEST

START_TEST(definitions_that_are_refused) {
    define();
    static const bt_method NO_FUNCTION = {"x", NULL, NULL};
    static const bt_method BAD[] = {{"a b", silent, NULL}, {"", silent, NULL},  {"Up:", silent, NULL},
                                    {"x:y", silent, NULL}, {"+", silent, NULL}, {":", silent, NULL},
                                    {NULL, silent, NULL},  {"x)", silent, NULL}};
    ck_assert_int_eq(bt_vm_define_class(vm, "Host", METHODS, 1), BT_COMPILE_ERROR);
    ck_assert_int_eq(bt_vm_define_class(vm, "Integer", METHODS, 1), BT_COMPILE_ERROR);
    ck_assert_int_eq(bt_vm_define_class(vm, "lower", METHODS, 1), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define_class(vm, "No Name", METHODS, 1), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define_class(vm, "Other", &NO_FUNCTION, 1), BT_MISUSE);
    for (size_t i = 0; i < COUNT_OF(BAD); i++)
        ck_assert_int_eq(bt_vm_define_class(vm, "Other", &BAD[i], 1), BT_MISUSE);
    ck_assert_int_eq(bt_vm_define_class(vm, "Empty", NULL, 0), BT_OK);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {arguments_and_answers, errors_are_structured, blocks_are_called_at_home,
                                  answers_may_come_later, definitions_that_are_refused};
    Suite *s = suite_create("host");
    suite_case(s, "host", setup, teardown, 120, tests, COUNT_OF(tests));
    return suite_run(s);
}
