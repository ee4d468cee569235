/* The gate. See gate.h. */
#include "vm/api/gate.h"
#include "vm/sched_internal.h"

#define CLOSED ((uint32_t)1 << 31)

bool gate_enter(bt_vm *vm) {
    /* acquire: what enters sees the VM whole; seq_cst against gate_close: one of the two sees the other */
    if (!(atomic_fetch_add(&vm->inside, 1) & CLOSED)) return true;
    gate_leave(vm);
    return false;
}

void gate_leave(bt_vm *vm) {
    /* release: the core is freed after what was done inside */
    if (atomic_fetch_sub_explicit(&vm->inside, 1, memory_order_release) == (CLOSED | 1))
        futex_wake(&vm->inside, 1);
}

bool gate_close(bt_vm *vm) {
    if (atomic_fetch_or(&vm->inside, CLOSED) & CLOSED) return false;
    vm_request_exit(vm->core, 0);
    uint32_t inside;
    /* acquire: pairs with gate_leave */
    while ((inside = atomic_load_explicit(&vm->inside, memory_order_acquire)) != CLOSED)
        futex_wait_until(&vm->inside, inside, DEADLINE_NONE);
    return true;
}

void vm_keep(bt_vm *vm) {
    atomic_fetch_add_explicit(&vm->keepers, 1, memory_order_relaxed); /* relaxed: by who is kept itself */
}

void vm_let_go(bt_vm *vm) {
    /* acq_rel: who frees sees what every keeper did before */
    if (atomic_fetch_sub_explicit(&vm->keepers, 1, memory_order_acq_rel) != 1) return;
    Memory memory = vm->host_memory; /* goes with it */
    memory_free(vm->memory ? &memory : NULL, vm);
}
