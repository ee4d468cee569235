/* Statistics, as hosts see them. */
#include "vm/api/gate.h"
#include "vm/limits.h"
#include "vm/stats.h"

bt_status bt_vm_stats(bt_vm *vm, bt_stats *out) {
    if (!vm || !out || !out->size || !gate_enter(vm)) return BT_MISUSE;
    VmStats s = stats_of(vm->core);
    bt_stats all = {.size = out->size < sizeof all ? out->size : sizeof all,
                    .uptime_us = (uint64_t)s.uptime_us,
                    .schedulers = s.schedulers,
                    .processes = s.processes,
                    .timers = s.timers,
                    .evaluations = atomic_load_explicit(&vm->evaluation_count, memory_order_relaxed),
                    .reductions = s.reductions,
                    .messages = s.counts.messages,
                    .collections = s.counts.collections,
                    .full_collections = s.counts.full_collections,
                    .heap_bytes = s.counts.heap_words * sizeof(Value),
                    .resident_bytes = limits_resident_bytes()};
    gate_leave(vm);
    memcpy(out, &all, all.size);
    return BT_OK;
}
