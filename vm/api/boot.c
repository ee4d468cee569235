/* A VM as hosts see it: structures from vm_new, the library from the embedded image, the compiler behind its
 * table. */
#include <stdio.h>
#include "compiler/uses.h"
#include "vm/api/async.h"
#include "vm/api/gate.h"
#include "vm/api/pool.h"
#include "vm/io.h"
#include "vm/profile.h"
#include "vm/sched.h"

extern const uint8_t stdlib_image_bytes[], stdlib_image_end[];

static BcUnit *service_compile(BtVm *vm, const char *name, const char *source, size_t length,
                               DiagList *diags) {
    World *world = world_new(vm);
    if (!world) return NULL;
    CompileOptions options = {.memory = vm->memory, .name = name, .world = world_interface(world)};
    BcUnit *unit = compile_source(&options, source, length, diags);
    world_free(world);
    return unit;
}

static BcUnit *service_compile_method(BtVm *vm, const char *class_name, bool class_side, const char *source,
                                      size_t length, DiagList *diags) {
    World *world = world_new(vm);
    if (!world) return NULL;
    CompileOptions options = {.memory = vm->memory, .name = class_name, .world = world_interface(world)};
    BcUnit *unit = compile_method_source(&options, class_name, class_side, source, length, diags);
    world_free(world);
    return unit;
}

static bool load_library(BtVm *vm) {
    char reason[256] = "";
    size_t length = (size_t)(stdlib_image_end - stdlib_image_bytes);
    BcUnit *bc = bc_decode_trusted(vm->memory, stdlib_image_bytes, length, reason, sizeof reason);
    CodeUnit *unit = bc ? code_link(vm, bc, false, reason, sizeof reason) : NULL;
    if (unit && classes_install(vm, unit, true, reason, sizeof reason)) return true;
    vm_log(vm, "the built-in library cannot be loaded: %s", reason);
    if (bc && !unit) bc_unit_free(bc);
    return false;
}

static void write_stdout(void *context, const char *bytes, size_t length) {
    (void)context;
    io_write_stdout(bytes, length);
}

static void discard(void *context, const char *bytes, size_t length) {
    (void)context, (void)bytes, (void)length;
}

/* An allocator has all of its functions or none. */
static bool allocator_is_whole(const bt_allocator *a) {
    int given = (a->allocate != NULL) + (a->reallocate != NULL) + (a->release != NULL);
    return given == 0 || given == 3;
}

static void refuse_allocator(const bt_config *config) {
    static const char LINE[] = "bt_vm_new: an allocator has allocate, reallocate and release, or none\n";
    void (*tell)(void *, const char *, size_t) = config->log ? config->log : config->error_output;
    if (tell)
        tell(config->context, LINE, sizeof LINE - 1);
    else if (config->use_stderr)
        fputs(LINE, stderr);
}

bt_vm *bt_vm_new(const bt_config *config) {
    bt_config own = {.size = sizeof own};
    if (config) STRUCT_COPY(own, config);
    config = &own;
    if (!allocator_is_whole(&config->allocator)) return refuse_allocator(config), NULL;
    VmConfig core = {.schedulers = config->schedulers,
                     .seeded = config->seeded != 0,
                     .seed = config->seed,
                     .no_tail_calls = config->no_tail_calls != 0,
                     .shared = config->shared != 0,
                     .heap_limit_words = config->heap_limit_bytes / sizeof(Value),
                     .stack_limit_words = config->stack_limit_bytes / sizeof(Value),
                     .memory_limit_bytes = config->memory_limit_bytes,
                     .mailbox_limit = config->mailbox_limit,
                     .profile = config->profile != 0,
                     .out = config->output       ? config->output
                            : config->use_stdout ? write_stdout
                                                 : discard,
                     .error_out = config->error_output ? config->error_output
                                  : config->use_stderr ? NULL
                                                       : discard,
                     .log = config->log,
                     .denied = config->denied,
                     .reductions_limit = config->reductions_limit,
                     .output_limit_bytes = config->output_limit_bytes,
                     .process_limit = config->process_limit,
                     .timer_limit = config->timer_limit,
                     .io_context = config->context};
    Memory memory = {.allocate = config->allocator.allocate,
                     .reallocate = config->allocator.reallocate,
                     .release = config->allocator.release,
                     .context = config->allocator.context};
    bt_vm *vm = memory_zalloc(config->allocator.allocate ? &memory : NULL, sizeof *vm);
    if (!vm) return NULL;
    vm->host_memory = memory;
    vm->memory = memory.allocate ? &vm->host_memory : NULL;
    core.memory = vm->memory;
    vm_keep(vm);
    core.api = vm;
    vm->pool = pool_new(vm->memory);
    bool open = vm->pool && async_new(vm) && (!config->host_driven || async_open_fd(vm));
    core.poll = open && config->host_driven ? &vm->async->fd : NULL;
    vm->deadline_ms = config->deadline_ms > 0 ? config->deadline_ms : 0;
    vm->core = open ? vm_new(&core) : NULL;
    if (vm->core)
        vm->core->compiler = (CompileService){
            .compile = service_compile, .compile_method = service_compile_method, .uses = method_uses};
    if (!vm->core || !load_library(vm->core)) {
        pool_free(vm->pool);
        async_free(vm);
        vm_free(vm->core);
        return vm_let_go(vm), NULL;
    }
    return vm;
}

/* Would this thread wait for itself? */
static bool vm_is_busy_here(bt_vm *vm) {
    return vm->core && (sched_is_here(vm->core) || io_in_hook(vm->core) || async_is_polling(vm));
}

void bt_vm_free(bt_vm *vm) {
    if (!vm) return;
    if (vm_is_busy_here(vm)) {
        vm_log(vm->core, "bt_vm_free: refused inside a function, hook or call-back of the VM's own");
        return;
    }
    if (!gate_close(vm)) return;
    pool_free(vm->pool);
    sched_stop(vm->core);
    async_free(vm);
    vm_free(vm->core);
    vm->core = NULL;
    vm_let_go(vm);
}

void bt_vm_profile(bt_vm *vm, void (*line)(void *context, const char *stack, uint64_t microseconds),
                   void *context) {
    if (vm && line && vm->core->profile) (void)profile_each(vm->core->profile, line, context);
}

int bt_vm_is_seeded(const bt_vm *vm) { return vm && vm->core->seeded; }

void bt_vm_stop(bt_vm *vm, int status) {
    if (vm) vm_request_exit(vm->core, status);
}
