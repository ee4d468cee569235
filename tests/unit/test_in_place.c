/* Writes that allocate nothing: fields of an actor, carriers and class variables are records that are written
 * in place while they are young and no snapshot has seen them; versions of locals share a register. The
 * allocation counter is the top of the process's nursery, between two collections: however often a loop runs,
 * it must not have moved. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test_suite.h"
#include "vm/api/api_internal.h"
#include "vm/class_internal.h"
#include "vm/sched.h"

static bt_vm *vm;
static bt_session *session;

static const char SOURCE[] =
    "Actor subclass: InPlace\n"
    "  state: f = 0\n"
    "  state: g = 0\n"
    "  fields: n => 1 to: n do: [:i | self.f := i. self.g := self.f + 1]\n"
    "  ap: b => b value\n"
    "  carriers: n =>\n"
    "    t := 0\n"
    "    b := [t := t + 1]\n"
    "    n timesRepeat: b\n"
    "    t\n"
    "  locals: n =>\n"
    "    t := 0\n"
    "    u := 0\n"
    "    1 to: n do: [:i | t := t + i. i > 3 ifTrue: [u := u + t] ifFalse: [t := t + 1]]\n"
    "    t + u\n"
    "  region: n =>\n"
    "    t := 0\n"
    "    1 to: n do: [:i | [t := t + i] on: Error do: [:e | t := 0]]\n"
    "    t\n"
    "  shared: n => 1 to: n do: [:i | [self.f := i] on: Error do: [:e | 0]]\n"
    "Object subclass: InPlaceVars\n"
    "  classState: v = 0\n"
    "  class run: n => 1 to: n do: [:i | self.v := self.v + i]\n"
    "a := InPlace spawn\n"
    "0\n";

static void evaluate(const char *source) {
    bt_eval_options options = {.size = sizeof options, .deadline_ms = 60000, .ignore_link_exits = 1};
    bt_result *r = NULL;
    bt_status status = bt_vm_eval(session, source, strlen(source), &options, &r);
    ck_assert_msg(status == BT_OK, "%s: %s%s", source, bt_result_diagnostics(r), bt_result_error_message(r));
    bt_result_free(r);
}

static void setup(void) {
    bt_config config = {.size = sizeof config, .seeded = 1, .seed = 3};
    vm = bt_vm_new(&config);
    session = bt_session_new(vm);
    ck_assert_ptr_nonnull(session);
    evaluate(SOURCE);
}

static void teardown(void) {
    bt_session_free(session);
    bt_vm_free(vm);
}

/* ---- what the process of a class or of its actor has allocated ---- */

typedef struct {
    uint32_t class_id;
    Process *found;
} Search;

static void visit(Value pid, uint32_t class_id, void *context) {
    Search *s = context;
    if (class_id == s->class_id) s->found = process_by_pid(vm->core, pid);
}

static Process *process_serving(const char *class_name) {
    Value symbol = symbol_intern(vm->core, class_name, strlen(class_name));
    Class *c = class_by_name(vm->core, symbol);
    ck_assert_ptr_nonnull(c);
    Search s = {.class_id = c->id};
    process_each(vm->core, visit, &s);
    ck_assert_ptr_nonnull(s.found);
    return s.found;
}

/* Words that a run allocates; tries again where a collection came between. */
static long words_of(const char *class_name, const char *send, long count) {
    char source[120];
    snprintf(source, sizeof source, "%s %ld. 0", send, count);
    Process *p = process_serving(class_name);
    for (int attempt = 0; attempt < 5; attempt++) {
        uint32_t collections = p->heap.minor_count;
        const uint64_t *top = p->heap.top;
        evaluate(source);
        if (p->heap.minor_count == collections && top) return p->heap.top - top;
    }
    ck_abort_msg("%s: collections in every run", send);
    return 0;
}

static void allocates_nothing_per_round(const char *class_name, const char *send) {
    (void)words_of(class_name, send, 10); /* records grow, caches fill */
    long few = words_of(class_name, send, 10), many = words_of(class_name, send, 10000);
    ck_assert_msg(few == many, "%s: %ld words for 10 rounds, %ld for 10000", send, few, many);
}

START_TEST(fields_are_written_in_place) { allocates_nothing_per_round("InPlace", "a fields:"); }
END_TEST
START_TEST(carriers_are_written_in_place) { allocates_nothing_per_round("InPlace", "a carriers:"); }
END_TEST
START_TEST(versions_share_registers) { allocates_nothing_per_round("InPlace", "a locals:"); }
END_TEST
START_TEST(a_region_around_a_local_allocates_nothing) { allocates_nothing_per_round("InPlace", "a region:"); }
END_TEST
START_TEST(class_variables_are_written_in_place) {
    allocates_nothing_per_round("InPlaceVars", "InPlaceVars run:");
}
END_TEST

/* The counter counts: a snapshot shares the record, and the write that follows copies it. */
START_TEST(a_shared_record_is_copied) {
    (void)words_of("InPlace", "a shared:", 10);
    long few = words_of("InPlace", "a shared:", 10), more = words_of("InPlace", "a shared:", 30);
    ck_assert_int_gt(more, few);
}
END_TEST

int main(void) {
    TTest const *const tests[] = {fields_are_written_in_place,
                                  carriers_are_written_in_place,
                                  versions_share_registers,
                                  a_region_around_a_local_allocates_nothing,
                                  class_variables_are_written_in_place,
                                  a_shared_record_is_copied};
    Suite *suite = suite_create("in place");
    suite_case(suite, "allocation", setup, teardown, 60, tests, COUNT_OF(tests));
    return suite_run(suite);
}
