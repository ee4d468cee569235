/* Limits on memory. See limits.h. */
#include "vm/limits.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "vm/error.h"
#include "vm/sched.h"
#include "vm/symbol.h"
#include "vm/vm.h"

#define LOOK_EVERY_US 1000

size_t limits_resident_bytes(void) {
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return 0;
    text[n] = 0;
    char *second = strchr(text, ' ');
    return second ? (size_t)strtoull(second, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

bool limits_memory_is_short(BtVm *vm) {
    /* relaxed: a hint, seen in time */
    return vm->memory_limit_bytes && atomic_load_explicit(&vm->memory_short, memory_order_relaxed);
}

bool limits_look_at_memory(BtVm *vm) {
    if (!vm->memory_limit_bytes) return false;
    /* relaxed: whoever looks, looks at the same system; a look too many does no harm */
    int64_t now = vm_clock_us(), last = atomic_load_explicit(&vm->memory_looked_us, memory_order_relaxed);
    if (now - last >= LOOK_EVERY_US) {
        atomic_store_explicit(&vm->memory_looked_us, now, memory_order_relaxed);
        bool is_short = limits_resident_bytes() > vm->memory_limit_bytes;
        atomic_store_explicit(&vm->memory_short, is_short, memory_order_relaxed);
    }
    return limits_memory_is_short(vm);
}

static void title_of(BtVm *vm, Value pid, uint32_t class_id, char *buffer, size_t size) {
    Class *c = class_id ? class_by_id(vm, class_id) : NULL;
    snprintf(buffer, size, "%.200s 0.%u.%u", c ? symbol_text(vm, c->name, NULL) : "process", pid_slot(pid),
             pid_generation(pid));
}

void process_title(BtVm *vm, Value pid, char *buffer, size_t size) {
    uint32_t class_id = 0;
    (void)process_class_of(vm, pid, &class_id);
    title_of(vm, pid, class_id, buffer, size);
}

/* The error itself needs a little memory: the limit does not count while it is made. */
static bool raise_limit(Process *p, const char *hint) {
    if (p->raising_limit) return p->exception = error_out_of_memory(p->vm), false;
    char title[256];
    /* relaxed: its own */
    title_of(p->vm, p->pid, atomic_load_explicit(&p->link.class_id, memory_order_relaxed), title,
             sizeof title);
    const Function *fn = p->frame ? p->frame->fn : NULL;
    const char *method = fn && value_is_symbol(fn->name) ? symbol_text(p->vm, fn->name, NULL) : "";
    vm_log(p->vm, "error: %s ran into a limit%s%s: %s", title, *method ? " in " : "", method, hint);
    p->raising_limit = true;
    (void)error_resource(p, hint);
    p->raising_limit = false;
    return false;
}

bool limits_raise_heap(Process *p) {
    char hint[160];
    snprintf(hint, sizeof hint, "The heap of this process would be larger than its limit of %zu bytes",
             p->heap.limit_words * sizeof(Value));
    return raise_limit(p, hint);
}

bool limits_raise_memory(Process *p) {
    char hint[160];
    snprintf(hint, sizeof hint, "The virtual machine has reached its memory limit of %zu bytes",
             p->vm->memory_limit_bytes);
    return raise_limit(p, hint);
}

void limits_end_for_mailbox(BtVm *vm, Value pid, uint32_t limit) {
    char title[256];
    process_title(vm, pid, title, sizeof title);
    vm_log(vm, "error: %s is ended: more than %u messages wait in its mailbox", title, limit);
    process_exit_signal(vm, pid, symbol_intern(vm, "resource_error", 14), true);
}
