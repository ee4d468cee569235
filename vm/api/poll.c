/* The host's event loop: bt_vm_poll and the descriptor it waits on. */
#include "vm/api/async.h"
#include "vm/api/gate.h"
#include "vm/io.h"
#include "vm/sched_internal.h"

#define DEFAULT_BUDGET_US 5000

bool async_is_polling(bt_vm *vm) {
    /* relaxed: a thread looks only for itself */
    return vm->async &&
           atomic_load_explicit(&vm->async->poller, memory_order_relaxed) == (uint64_t)pthread_self();
}

int bt_vm_poll_fd(bt_vm *vm) {
    if (!vm || !gate_enter(vm)) return -1;
    int fd = async_open_fd(vm) ? vm->async->fd.epoll : -1;
    gate_leave(vm);
    return fd;
}

static bool turn(bt_vm *vm, int64_t budget_us) {
    poll_fd_drain(&vm->async->fd);
    bool any = sched_run_here(vm->core, vm_clock_us() + budget_us);
    async_expire(vm);
    return async_finish_due(vm) || any;
}

/* Waits until somebody signals or a timer is due; what was due before has been done. */
static void wait_until(bt_vm *vm, int64_t end_us) {
    int64_t left = end_us < 0 ? -1 : end_us - vm_clock_us();
    if (end_us < 0 || left > 0) poll_fd_wait(&vm->async->fd, left < 0 ? -1 : (left + 999) / 1000);
}

static bt_status poll_inside(bt_vm *vm, int64_t wait_ms, int64_t budget_us) {
    uint64_t nobody = 0;
    if (sched_is_here(vm->core) || io_in_hook(vm->core) || async_is_polling(vm)) return BT_MISUSE;
    if (!async_open_fd(vm)) return BT_NO_MEMORY;
    if (!atomic_compare_exchange_strong(&vm->async->poller, &nobody, (uint64_t)pthread_self()))
        return BT_MISUSE;
    if (budget_us <= 0) budget_us = DEFAULT_BUDGET_US;
    if (wait_ms > INT64_MAX / 4000) wait_ms = -1;
    int64_t end_us = wait_ms < 0 ? -1 : vm_clock_us() + wait_ms * 1000;
    while (!turn(vm, budget_us) && !sched_is_stopping(vm->core) && (end_us < 0 || vm_clock_us() < end_us))
        wait_until(vm, end_us);
    atomic_store(&vm->async->poller, 0);
    return BT_OK;
}

bt_status bt_vm_poll(bt_vm *vm, int64_t wait_ms, int64_t budget_us) {
    if (!vm) return BT_MISUSE;
    if (!gate_enter(vm)) return BT_EXIT;
    bt_status status = poll_inside(vm, wait_ms, budget_us);
    gate_leave(vm);
    return status;
}
