/* A VM with symbols and classes but no schedulers, and one process on it: enough for what allocates and
 * raises. */
#ifndef BT_TEST_PROCESS_H
#define BT_TEST_PROCESS_H

#include "vm/class_internal.h"
#include "vm/class_vars.h"
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/stack.h"

#include <check.h>
#include <stdlib.h>

static BtVm test_vm;
static Process process;

static void vm_init(BtVm *vm) {
    memset(vm, 0, sizeof *vm);
    vm->exit_status = -1;
    vm->max_symbols = 1u << 20;
    vm->symbols = symbols_new(NULL);
    ck_assert_ptr_nonnull(vm->symbols);
    ck_assert(error_kinds_init(vm));
    ck_assert_ptr_nonnull(class_table_new(vm));
}

static void process_init(Process *p, BtVm *vm) {
    memset(p, 0, sizeof *p);
    p->vm = vm;
    p->pid = value_from_pid(1, 1);
    p->self_ref = p->pending_value = p->pending_pid = p->pending_serial = p->resume_value = V_NIL;
    p->dictionary = p->link.exit_reason = V_NIL;
    p->state = p->carriers = p->exception = p->rollback_state = V_HOLE;
    class_vars_init(p);
    p->reductions = INT32_MAX;
}

static inline void process_setup(void) {
    vm_init(&test_vm);
    test_vm.gc_stress = getenv("BT_GC_STRESS") != NULL;
    process_init(&process, &test_vm);
}

static void process_teardown(void) {
    stack_release(&process);
    heap_destroy(&process);
    class_table_free(&test_vm);
    symbols_free(test_vm.symbols);
    memory_free(NULL, test_vm.error_kinds);
}

#endif
