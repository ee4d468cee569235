/* bt_vm_stats: the numbers are those of what was done. */
#include "tests/unit/test_host_vm.h"

static bt_stats stats_now(void) {
    bt_stats s = {.size = sizeof s};
    ck_assert_int_eq(bt_vm_stats(vm, &s), BT_OK);
    ck_assert_uint_eq(s.size, sizeof s);
    return s;
}

START_TEST(counts_go_up_with_work) {
    bt_value_release(eval("1"));
    bt_stats before = stats_now();
    ck_assert_uint_ge(before.schedulers, 1);
    ck_assert_uint_eq(before.evaluations, 1);
    bt_value_release(eval(
        "Actor subclass: Echo\n  echo: x => x\n\ne := Echo spawn. (1 to: 1000) do: [:i | e echo: i]. 1"));
    bt_value_release(eval("(1 to: 20000) inject: #() into: [:l :i | l addFirst: i]"));
    bt_stats after = stats_now();
    ck_assert_uint_eq(after.evaluations, 3);
    ck_assert_uint_ge(after.messages - before.messages, 1000);
    ck_assert_uint_ge(after.reductions - before.reductions, 20000);
    ck_assert_uint_gt(after.collections, before.collections);
    ck_assert_uint_gt(after.uptime_us, before.uptime_us);
    ck_assert_uint_gt(after.resident_bytes, 1 << 20);
}
END_TEST

START_TEST(living_things_come_and_go) {
    bt_value_release(eval(
        "Actor subclass: Keeper\n  state: kept = nil\n  keep => self.kept := (1 to: 100000) asList. 1\n\n1"));
    bt_stats before = stats_now();
    bt_value_release(eval("all := (1 to: 10) collect: [:i | k := Keeper spawn. k keep. k]. 1"));
    bt_value_release(eval("t := Timer after: 3600000 do: [1]. 1"));
    bt_value_release(eval("1"));
    bt_stats full = stats_now();
    ck_assert_uint_ge(full.processes, before.processes + 10);
    ck_assert_uint_ge(full.heap_bytes, before.heap_bytes + 10 * 100000 * 24);
    ck_assert_uint_ge(full.timers, 1);
    bt_value_release(eval("all do: [:k | k stop]. all := nil. 1"));
    for (int i = 0; i < 20; i++) bt_value_release(eval("Timer sleep: 5. 1"));
    bt_stats done = stats_now();
    ck_assert_uint_le(done.processes, full.processes - 10);
    ck_assert_uint_le(done.heap_bytes, full.heap_bytes / 2);
}
END_TEST

/* A host of an older header gets what it knows, and nothing behind it is touched. */
START_TEST(older_hosts) {
    bt_stats s;
    memset(&s, 0x5a, sizeof s);
    s.size = offsetof(bt_stats, timers);
    ck_assert_int_eq(bt_vm_stats(vm, &s), BT_OK);
    ck_assert_uint_eq(s.size, offsetof(bt_stats, timers));
    ck_assert_uint_eq(s.timers, 0x5a5a5a5a5a5a5a5a);
    ck_assert_uint_ge(s.schedulers, 1);
    ck_assert_uint_lt(s.schedulers, 1000);
}
END_TEST

int main(void) {
    const TTest *const tests[] = {counts_go_up_with_work, living_things_come_and_go, older_hosts};
    Suite *s = suite_create("stats");
    suite_case(s, "stats", setup, teardown, 120, tests, COUNT_OF(tests));
    return suite_run(s);
}
