/* Loading and dispatch: lookup order, caches against installs, what linking refuses, reload, the
 * class-variable home, regions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test_suite.h"
#include "vm/api/api_internal.h"
#include "vm/class_internal.h"
#include "vm/class_vars.h"
#include "vm/leaf.h"
#include "vm/region.h"

PrimStatus prim_live_install_block(Process *p, Value *args, unsigned count, Value *result);

static bt_vm *host;
static bt_session *session;
static BtVm *vm;

static void setup(void) {
    host = bt_vm_new(NULL);
    ck_assert_ptr_nonnull(host);
    session = bt_session_new(host);
    vm = host->core;
}

static void teardown(void) {
    bt_session_free(session);
    bt_vm_free(host);
}

/* What an input prints, or "!kind" of the error that ended it, or "?" if it does not compile. */
static const char *shown(const char *source) {
    static char text[4096];
    bt_eval_options options = {
        .size = sizeof options, .want_shown = 1, .ignore_link_exits = 1, .deadline_ms = 20000};
    bt_result *r = NULL;
    bt_status status = bt_vm_eval(session, source, strlen(source), &options, &r);
    const char *print = bt_result_print_string(r), *kind = bt_result_error_kind(r);
    if (status == BT_OK)
        snprintf(text, sizeof text, "%s", print ? print : "");
    else if (status == BT_RUNTIME_ERROR)
        snprintf(text, sizeof text, "!%s", kind ? kind : "");
    else
        snprintf(text, sizeof text, "?");
    bt_result_free(r);
    return text;
}

#define IS(source, answer) ck_assert_str_eq(shown(source), answer)

static Value name(const char *text) { return symbol_intern(vm, text, strlen(text)); }
static Class *class_named(const char *text) {
    Class *c = class_by_name(vm, name(text));
    ck_assert_ptr_nonnull(c);
    return c;
}
static Method *find(const char *class_name, bool class_side, const char *selector) {
    return class_lookup(vm, class_named(class_name)->id | (class_side ? DISPATCH_META : 0), name(selector));
}

/* ---- lookup ---- */

START_TEST(own_methods_come_before_extensions_and_both_before_inherited) {
    shown("Value subclass: Base1\n  m => 1\n  n => 2\nBase1 subclass: Sub1\n  m => 10");
    IS("Sub1 new m", "10");
    IS("Sub1 new n", "2");
    ck_assert_ptr_eq(find("Sub1", false, "n")->owner, class_named("Base1"));
    shown("Base1 >> extra => 5");
    IS("Sub1 new extra", "5");
    shown("Sub1 >> n => 20");
    IS("#(Sub1 new n, Base1 new n)", "#(20, 2)");
    IS("Sub1 removeSelector: #n. Sub1 new n", "2");
    IS("Integer >> timesTwo => self * 2", "");
    IS("4 timesTwo", "8");
}
END_TEST

START_TEST(class_side_lookup_ends_in_the_instance_protocol_of_class) {
    shown("Object subclass: K1\n  class own => #own\nK1 subclass: K2");
    IS("K2 own", "#own");
    IS("K2 name", "#K2");
    IS("K2 class class == K2 class", "true");
    ck_assert(!find("K2", true, "superclass")->class_side);
    ck_assert_ptr_null(find("K2", true, "zork"));
    IS("K2 zork", "!does_not_understand");
    IS("K2 class zork", "!does_not_understand");
}
END_TEST

START_TEST(an_install_reaches_warm_sites) {
    shown("Value subclass: Warm\n  m => 1\n  twice => #(1, 2) collect: [:x | self m]\nWarm subclass: Warmer");
    IS("Warm new twice", "#(1, 1)");
    IS("Warmer new twice", "#(1, 1)");
    shown("Warm >> m => 2");
    IS("Warm new twice", "#(2, 2)");
    shown("Warmer >> m => 3");
    IS("#(Warm new twice, Warmer new twice)", "#(#(2, 2), #(3, 3))");
    IS("Warmer removeSelector: #m. Warmer new twice", "#(2, 2)");
}
END_TEST

static bool always_plain(BtVm *v, const Site *s, uint32_t d, const Method *m) {
    return (void)v, (void)s, (void)d, m != NULL;
}

START_TEST(a_stale_method_is_not_filled_in) {
    shown("Value subclass: Stale\n  m => 1");
    Method *old = find("Stale", false, "m");
    shown("Stale >> m => 2");
    Site site = {.name = name("m")};
    site_fill(vm, &site, class_named("Stale")->id, old, always_plain);
    ck_assert_uint_eq(atomic_load(&site.word), 0);
    Method *now = find("Stale", false, "m");
    site_fill(vm, &site, class_named("Stale")->id, now, always_plain);
    ck_assert_uint_eq((uint32_t)atomic_load(&site.word), site_target(now));
}
END_TEST

/* Hostile code may let instructions of different kinds share a site. */
START_TEST(kinds_of_caches_do_not_mistake_each_other_at_one_site) {
    const char *selector = "performLocally:withArguments:";
    shown("Value subclass: Up\n  performLocally: s withArguments: a => 1\nUp subclass: Down\n  calls => 2\n"
          "Actor subclass: Laid\n  state: a = 1\n  classState: b = 2");
    Site site = {.name = name(selector)};
    site_fill(vm, &site, CLASS_ID_ProtoObject, find("ProtoObject", false, selector), always_plain);
    ck_assert_uint_ne(atomic_load(&site.word), 0);
    ck_assert_ptr_eq(super_lookup(vm, find("Down", false, "calls")->fn, &site), find("Up", false, selector));
    ck_assert_uint_gt(atomic_load(&site.word) >> 32, MAX_CLASS_ID | DISPATCH_META | DISPATCH_METACLASS);
    ck_assert_uint_ge(class_named("Laid")->state_layout->id, LAYOUT_ID_FIRST);
    ck_assert_uint_ge(class_named("Laid")->class_var_layout->id, LAYOUT_ID_FIRST);
}
END_TEST

START_TEST(super_is_late_bound_above_the_text) {
    shown("Value subclass: S1\n  m => 1\nS1 subclass: S2\n  m => super m + 10\nS2 subclass: S3\n  other => "
          "super m");
    IS("#(S2 new m, S3 new m, S3 new other)", "#(11, 11, 11)");
    shown("S1 >> m => 2");
    IS("S3 new m", "12");
    IS("ProtoObject superclass", "nil");
    shown("Value subclass: S4\n  lost => super lost");
    IS("S4 new lost", "!does_not_understand");
}
END_TEST

START_TEST(does_not_understand_can_be_answered) {
    shown("Value subclass: Any\n  doesNotUnderstand: s args: a => #(s, a)");
    IS("Any new foo: 1 bar: 2", "#(#foo:bar:, #(1, 2))");
    IS("Any new + 4", "#(#+, #(4))");
    IS("Any new perform: #zip", "#(#zip, #())");
    IS("3 perform: #max: withArguments: #()", "!arity_mismatch");
}
END_TEST

START_TEST(depth_of_hierarchies_is_limited) {
    char source[400];
    shown("Value subclass: L0\n  bottom => 1");
    for (int i = 1; i < 24; i++) {
        snprintf(source, sizeof source, "L%d subclass: L%d", i - 1, i);
        shown(source);
    }
    IS("L3 new bottom", "1");
    IS("L23 new bottom", "!does_not_understand");
    ck_assert(class_too_deep(class_named("L23")));
}
END_TEST

/* ---- installing ---- */

START_TEST(a_unit_is_installed_whole_or_not_at_all) {
    IS("Object subclass: Good1\n  m => 1\nNowhere subclass: Bad1", "?");
    ck_assert_ptr_null(class_by_name(vm, name("Good1")));
    IS("Object subclass: Integer", "?");
    IS("Integer subclass: Mine", "?");
    IS("Loop1 subclass: Loop2\nLoop2 subclass: Loop1", "?");
    shown("Object subclass: Up\nUp subclass: Down");
    IS("Down subclass: Up", "?");
    IS("Down superclass", "Up");
}
END_TEST

START_TEST(reload_keeps_state_by_name) {
    shown("Actor subclass: Act\n  state: n = 1\n  state: gone = 2\n  inc => self.n := self.n + 1\n  all => "
          "#(self.n)");
    IS("a := Act spawn. a inc. a all", "#(2)");
    shown("Act subclass: ActSub\n  state: own = 9\n  mine => #(self.n, self.own)");
    IS("b := ActSub spawn. b mine", "#(1, 9)");
    shown("Actor subclass: Act\n  state: first = 5 + 1\n  state: n = 100\n  inc => self.n := self.n + 10\n  "
          "all => #(self.first, self.n)");
    IS("a all", "#(6, 2)");
    IS("a inc. a all", "#(6, 12)");
    IS("b mine", "#(1, 9)");
    shown("Object subclass: Cv\n  classState: x = 1\n  class bump => self.x := self.x + 1\n  class all => "
          "#(self.x)");
    IS("Cv bump. Cv all", "#(2)");
    shown("Object subclass: Cv\n  classState: y = #(1, 2) size\n  classState: x = 50\n  class all => "
          "#(self.y, self.x)");
    IS("Cv all", "#(2, 2)");
    IS("Cv bump", "!does_not_understand");
}
END_TEST

START_TEST(a_killed_class_comes_back_with_its_declared_values) {
    shown("Object subclass: Ph\n  classState: x = 1\n  class bump => self.x := self.x + 1\n  class pid => "
          "Erlang erlang self");
    IS("Ph bump", "2");
    IS("p := Ph pid. p kill. Ph bump", "2");
}
END_TEST

/* ---- hostile units ---- */

#define TEXT(s) ((BcText){s, sizeof(s) - 1})

/* A unit of one function, a block or a script, with these instructions; NULL if linking refuses it. */
static CodeUnit *link_code(BcFnKind kind, const Instr *code, uint32_t count, char *reason) {
    BcUnit *u = memory_zalloc(NULL, sizeof *u);
    u->format_version = BC_FORMAT_VERSION;
    u->class_var_abi = BC_CLASS_VAR_ABI;
    u->script = BC_NONE;
    u->const_count = 1;
    u->consts = memory_zalloc(NULL, sizeof *u->consts);
    char *text = memory_alloc(NULL, 4);
    memcpy(text, "name", 4);
    u->consts[0] = (BcConst){BC_SYMBOL, {.text = {text, 4}}};
    u->function_count = 1;
    u->functions = memory_zalloc(NULL, sizeof *u->functions);
    BcFunction *f = u->functions;
    f->kind = (uint8_t)kind;
    f->register_count = 12;
    f->code_count = count;
    f->code = memory_alloc(NULL, count * sizeof *code);
    memcpy(f->code, code, count * sizeof *code);
    f->site_count = 1;
    f->sites = memory_zalloc(NULL, sizeof *f->sites);
    f->sites[0].capture = BC_NO_CAPTURE;
    if (kind != FN_BLOCK) u->script = 0;
    CodeUnit *unit = code_link(vm, u, true, reason, 256);
    if (!unit) bc_unit_free(u);
    return unit;
}

static bool links(BcFnKind kind, const Instr *code, uint32_t count) {
    char reason[256] = "";
    CodeUnit *unit = link_code(kind, code, count, reason);
    if (unit)
        code_release(unit);
    else
        ck_assert_str_ne(reason, "");
    return unit != NULL;
}

START_TEST(linking_refuses_code_that_could_leave_its_bounds) {
    const Instr end = instr_abc(OP_RETURN, 0, 1, 0, 0);
    const Instr good[] = {instr_aimm(OP_LOADI, 0, 1, 7), end};
    const Instr over_closure[] = {instr_aimm(OP_LOADI, 0, 0, 7), end};
    const Instr frame_over_closure[] = {instr_abc(OP_SEND, 0, 1, 4, 0), end};
    const Instr frame_above[] = {instr_abc(OP_SEND, 0, 1, 5, 0), end};
    ck_assert(links(FN_BLOCK, good, 2));
    ck_assert(!links(FN_BLOCK, over_closure, 2));
    ck_assert(links(FN_SCRIPT, over_closure, 2));
    ck_assert(!links(FN_BLOCK, frame_over_closure, 2));
    ck_assert(links(FN_BLOCK, frame_above, 2));
    ck_assert(!links(FN_CLASS_METHOD, good, 2)); /* as the script of a unit */
}
END_TEST

START_TEST(linking_refuses_another_abi) {
    BcUnit u = {
        .format_version = BC_FORMAT_VERSION, .class_var_abi = 0, .name = TEXT("old.bt"), .script = BC_NONE};
    char reason[256] = "";
    ck_assert_ptr_null(code_link(vm, &u, false, reason, sizeof reason));
    ck_assert_ptr_nonnull(strstr(reason, "abi_mismatch"));
    ck_assert_ptr_nonnull(strstr(reason, "old.bt"));
}
END_TEST

/* ---- the class-variable home ---- */

static Process *idle_process(void) {
    SpawnOptions options = {.role = PROC_PLAIN, .self_ref = V_NIL};
    Process *p = process_new(vm, &options);
    ck_assert_ptr_nonnull(p);
    return p;
}

START_TEST(invocations_do_not_nest) {
    shown("Object subclass: H1\n  classState: x = 1\nObject subclass: H2\n  classState: x = 1");
    Process *p = idle_process();
    Class *a = class_named("H1"), *b = class_named("H2");
    ck_assert(class_vars_begin_layout(p, a->class_var_layout));
    ck_assert_int_eq(class_vars_next_unset(p), 0);
    ck_assert(class_vars_set_initial(p, value_from_int(1)));
    ck_assert_int_eq(class_vars_next_unset(p), -1);
    ck_assert_int_eq(class_vars_install(p, a), PRIM_OK);
    ck_assert_int_eq(class_vars_install(p, b), PRIM_RAISE);
    ck_assert(value_is_exception(vm, p->exception));
    p->exception = V_HOLE;
    ck_assert(class_vars_present(p, a->id));
    ck_assert(!class_vars_present(p, b->id));
    Site site = {.name = name("x"), .capture = BC_NO_CAPTURE};
    Value self = value_from_class(a->id), out = V_NIL;
    ck_assert_int_eq(class_vars_put(p, &site, self, value_from_int(5)), PRIM_OK);
    ck_assert_int_eq(class_vars_get(p, &site, self, V_HOLE, &out), PRIM_OK);
    ck_assert_int_eq(value_to_int(out), 5);
    class_vars_uninstall(p, false);
    ck_assert_int_eq(class_vars_install(p, a), PRIM_OK);
    ck_assert_int_eq(class_vars_get(p, &site, self, V_HOLE, &out), PRIM_OK);
    ck_assert_int_eq(value_to_int(out), 1);
    class_vars_uninstall(p, true);
    ck_assert_int_eq(class_vars_get(p, &site, self, value_from_int(77), &out), PRIM_OK);
    ck_assert_int_eq(value_to_int(out), 77); /* abroad: the capture */
    ck_assert_int_eq(class_vars_get(p, &site, self, V_HOLE, &out), PRIM_RAISE);
    p->exception = V_HOLE;
    ck_assert_int_eq(class_vars_put(p, &site, self, value_from_int(1)), PRIM_RAISE);
    p->exception = V_HOLE;
}
END_TEST

START_TEST(a_block_is_no_method_whatever_its_flags) {
    shown("Object subclass: Target");
    const Instr code[] = {instr_aimm(OP_LOADI, 0, 1, 7), instr_abc(OP_RETURN, 0, 1, 0, 0)};
    char reason[256] = "";
    CodeUnit *unit = link_code(FN_BLOCK, code, 2, reason);
    ck_assert_ptr_nonnull(unit);
    unit->functions[0].flags |= FN_BUILDER;
    Process *p = idle_process();
    ck_assert(heap_reserve(p, CLOSURE_CAPTURES) && heap_keep_unit(p, unit));
    Value closure = heap_new(p, KIND_CLOSURE, CLASS_ID_Block, CLOSURE_CAPTURES), out;
    for (size_t i = 1; i < CLOSURE_CAPTURES; i++) object_words(closure)[i] = V_NIL;
    object_words(closure)[CLOSURE_FN] = (uint64_t)(uintptr_t)unit->functions;
    Value args[] = {V_NIL, closure, name("seven"), value_from_class(class_named("Target")->id), V_FALSE};
    ck_assert_int_eq(prim_live_install_block(p, args, 4, &out), PRIM_FAIL);
    ck_assert_ptr_null(find("Target", false, "seven"));
    code_release(unit);
}
END_TEST

START_TEST(a_region_takes_back_records_of_its_own_shape_only) {
    Process *p = idle_process();
    p->state = record_new(p, 3);
    Value slots[REGION_SNAPSHOT_WORDS];
    region_snapshot(p, slots);
    ck_assert_uint_eq(slots[0], V_HOLE);
    ck_assert(record_write(p, &p->state, 1, value_from_int(4)));
    ck_assert_uint_eq(object_at(slots[1], 2), V_HOLE); /* the snapshot's record is not the one written */
    region_restore(p, slots);
    ck_assert_uint_eq(p->state, slots[1]);
    Value kept = p->state,
          forged[REGION_SNAPSHOT_WORDS] = {value_from_int(1), record_new(p, 1), value_from_int(2)};
    kept = p->state;
    region_restore(p, forged);
    ck_assert_uint_eq(p->state, kept);
    p->state = V_HOLE;
}
END_TEST

/* ---- leaving frames ---- */

START_TEST(what_crosses_a_cleanup_and_what_replaces_it) {
    shown("Value subclass: Un\n"
          "  a => [^1] ensure: [nil]\n"
          "  b => [1 / 0] ensure: [^2]\n"
          "  c => [^1] ensure: [1 foo]\n"
          "  d => [[^1] ensure: [nil]] on: Error do: [:e | 3]\n"
          "  each: xs => xs do: [:x | [^x] ensure: [nil]]\n"
          "  deep: n => n =:= 0 ifTrue: [1 foo] ifFalse: [[self deep: n - 1] ensure: [nil]]");
    IS("Un new a", "1");
    IS("Un new b", "2");
    IS("Un new c", "!does_not_understand");
    IS("Un new d", "1");
    IS("Un new each: #(4, 5)", "4");
    IS("[Un new deep: 10000] on: Error do: [:e | e selector]", "#foo");
    IS("[:x :y | x] value: 1", "!arity_mismatch");
}
END_TEST

START_TEST(elided_callers_stand_in_traces) {
    shown("Value subclass: Tr\n  down: n => n =:= 0 ifTrue: [1 foo] ifFalse: [self down: n - 1]\n  top => "
          "(self down: 100) + 1");
    IS("[Tr new top] on: Error do: [:e | (e stackTrace at: 1) method]", "#down:");
    IS("[Tr new top] on: Error do: [:e | e stackTrace size > 16]", "true");
    IS("[Tr new top] on: Error do: [:e | (e stackTrace select: [:f | f method =:= #top]) size]", "1");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("dispatch");
    TTest const *const tests[] = {own_methods_come_before_extensions_and_both_before_inherited,
                                  class_side_lookup_ends_in_the_instance_protocol_of_class,
                                  an_install_reaches_warm_sites,
                                  a_stale_method_is_not_filled_in,
                                  kinds_of_caches_do_not_mistake_each_other_at_one_site,
                                  super_is_late_bound_above_the_text,
                                  does_not_understand_can_be_answered,
                                  depth_of_hierarchies_is_limited,
                                  a_unit_is_installed_whole_or_not_at_all,
                                  reload_keeps_state_by_name,
                                  a_killed_class_comes_back_with_its_declared_values,
                                  linking_refuses_code_that_could_leave_its_bounds,
                                  linking_refuses_another_abi,
                                  invocations_do_not_nest,
                                  a_block_is_no_method_whatever_its_flags,
                                  a_region_takes_back_records_of_its_own_shape_only,
                                  what_crosses_a_cleanup_and_what_replaces_it,
                                  elided_callers_stand_in_traces};
    suite_case(suite, "dispatch", setup, teardown, 120, tests, COUNT_OF(tests));
    return suite_run(suite);
}
