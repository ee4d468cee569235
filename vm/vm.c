/* Making and freeing a VM: order matters, each part may use those before it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/host.h"
#include "vm/io.h"
#include "vm/profile.h"
#include "vm/sched.h"
#include "vm/tracing.h"
#include "vm/vm.h"
#include "vm/workspace.h"

#define DEFAULT_MAX_SYMBOLS 1000000u
#define DEFAULT_STACK_LIMIT_WORDS (((size_t)512 << 20) / sizeof(Value))

/* Stress builds read these once; release builds ignore them. */
static void read_stress_switches(BtVm *vm) {
#ifdef BT_STRESS
    vm->gc_stress = getenv("BT_GC_STRESS") != NULL;
    vm->yield_stress = getenv("BT_YIELD_STRESS") != NULL;
    vm->segment_stress = getenv("BT_SEG_STRESS") != NULL;
#else
    (void)vm;
#endif
}

BtVm *vm_new(const VmConfig *config) {
    BtVm *vm = memory_zalloc(config->memory, sizeof *vm);
    if (!vm) return NULL;
    vm->memory = config->memory;
    atomic_store_explicit(&vm->exit_status, -1, memory_order_relaxed); /* relaxed: alone */
    vm->max_symbols = DEFAULT_MAX_SYMBOLS;
    vm->default_heap_limit_words = config->heap_limit_words;
    vm->default_stack_limit_words =
        config->stack_limit_words ? config->stack_limit_words : DEFAULT_STACK_LIMIT_WORDS;
    vm->memory_limit_bytes = config->memory_limit_bytes;
    vm->mailbox_limit = config->mailbox_limit;
    vm->process_limit = config->process_limit;
    vm->timer_limit = config->timer_limit;
    vm->reductions_limit = config->reductions_limit;
    vm->output_limit_bytes = config->output_limit_bytes;
    vm->denied = config->denied;
    if (config->profile) vm->profile = profile_new(vm->memory);
    vm->no_tail_calls = config->no_tail_calls;
    vm->shared = config->shared;
    vm->seeded = config->seeded;
    vm->seed = config->seed;
    vm->api = config->api;
    vm->driven = config->poll != NULL;
    atomic_store_explicit(&vm->poll, config->poll, memory_order_relaxed); /* relaxed: alone */
    vm->out = config->out;
    vm->error_out = config->error_out;
    vm->log = config->log;
    vm->io_context = config->io_context;
    vm->started_us = vm_clock_us();
    read_stress_switches(vm);
    vm->symbols = symbols_new(vm->memory);
    bool whole = vm->symbols && error_kinds_init(vm) && class_table_new(vm) && workspace_new(vm) &&
                 tracing_new(vm) && io_new(vm) && host_new(vm) &&
                 sched_init(vm, config->schedulers, config->seeded, config->seed);
    if (!whole) return vm_free(vm), NULL;
    return vm;
}

void vm_free(BtVm *vm) {
    if (!vm) return;
    sched_stop(vm); /* nobody runs any more ... */
    io_stop(vm);    /* ... and no completion is on its way, before memory goes */
    sched_shutdown(vm);
    io_free(vm);
    tracing_free(vm);
    profile_free(vm->profile);
    workspace_free(vm);
    host_free(vm);
    if (vm->classes) class_table_free(vm);
    if (vm->symbols) symbols_free(vm->symbols);
    memory_free(vm->memory, vm->error_kinds);
    memory_free(vm->memory, vm);
}

void vm_log(BtVm *vm, const char *format, ...) {
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    size_t size = (size_t)length < sizeof line - 2 ? (size_t)length : sizeof line - 2;
    line[size++] = '\n';
    if (vm->log)
        vm->log(vm->io_context, line, size);
    else
        io_error_write(vm, line, size);
}
