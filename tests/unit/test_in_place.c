/* Writes that allocate nothing: fields of an actor, carriers and class variables are records that are written
 * in place while they are young and no snapshot has seen them; versions of locals share a register. What a
 * process allocates is counted by the collections that it needs: a word a round would need hundreds. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test_suite.h"
#include "vm/api/api_internal.h"
#include "vm/class_internal.h"
#include "vm/sched.h"

enum { ROUNDS = 200000 };

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

static uint32_t collections_of(const char *class_name, const char *send) {
    char source[120];
    snprintf(source, sizeof source, "%s %d. 0", send, ROUNDS);
    Process *p = process_serving(class_name);
    uint32_t before = p->heap.minor_count;
    evaluate(source);
    return p->heap.minor_count - before;
}

/* A message itself, and what the loop begins with, may need a collection or two. */
static void allocates_nothing_per_round(const char *class_name, const char *send) {
    uint32_t collections = collections_of(class_name, send);
    ck_assert_msg(collections <= 3, "%s: %u collections in %d rounds", send, collections, ROUNDS);
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
START_TEST(a_shared_record_is_copied) { ck_assert_uint_gt(collections_of("InPlace", "a shared:"), 10); }
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
