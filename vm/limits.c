/* Limits on memory. See limits.h. */
#include "vm/limits.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "vm/error.h"
#include "vm/sched_internal.h"
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

/* ---- work and output ---- */

void limits_begin_process(Process *p) {
    const BtVm *vm = p->vm;
    p->link.reductions_ceiling = vm->reductions_limit ? vm->reductions_limit : UINT64_MAX;
    int64_t output = vm->output_limit_bytes && vm->output_limit_bytes < INT64_MAX
                         ? (int64_t)vm->output_limit_bytes
                         : INT64_MAX;
    atomic_store_explicit(&p->link.output_left, output, memory_order_relaxed); /* relaxed: as below */
}

/* What earlier messages have used of this slice is not in the total yet: it is not charged to this one. */
void limits_begin_message_slow(Process *p) {
    limits_begin_process(p);
    if (p->link.reductions_ceiling < UINT64_MAX / 2)
        p->link.reductions_ceiling += p->reductions_total + SLICE_REDUCTIONS;
}

static Value limit_reason(BtVm *vm) { return symbol_intern(vm, "resource_error", 14); }

static void log_end(BtVm *vm, Value pid, const char *why) {
    char title[256];
    process_title(vm, pid, title, sizeof title);
    vm_log(vm, "error: %s is ended: %s", title, why);
}

static void end_now(Process *p, const char *why) {
    log_end(p->vm, p->pid, why);
    p->link.exit_reason = limit_reason(p->vm);
    p->link.ending = p->link.killed = true;
}

bool limits_end_for_reductions(Process *p) {
    if (p->reductions_total <= p->link.reductions_ceiling) return false;
    end_now(p, "it has used up its reductions");
    return true;
}

/* Who serves a call (the Transcript, a logger) prints for its caller. relaxed: a counter, read by nobody else
 * to any purpose but its own. */
bool limits_charge_output(Process *p, size_t bytes) {
    static const char WHY[] = "it has printed as much as it may";
    if (!p->vm->output_limit_bytes) return true;
    Value caller = p->serving && p->serving->kind == MSG_CALL ? p->serving->sender : V_NIL;
    Process *payer = caller == V_NIL ? NULL : process_by_pid(p->vm, caller);
    if (!payer) payer = p;
    int64_t left = atomic_fetch_sub_explicit(&payer->link.output_left, (int64_t)bytes, memory_order_relaxed);
    if (left >= (int64_t)bytes) return true;
    if (payer == p) return end_now(p, WHY), false;
    if (left >= 0) log_end(p->vm, caller, WHY);
    process_exit_signal(p->vm, caller, limit_reason(p->vm), true);
    return false;
}

BrokenLimit limits_broken(Process *p) {
    if (p->link.exit_reason != limit_reason(p->vm)) return BROKEN_NONE;
    if (p->reductions_total > p->link.reductions_ceiling) return BROKEN_REDUCTIONS;
    return atomic_load_explicit(&p->link.output_left, memory_order_relaxed) < 0 ? BROKEN_OUTPUT : BROKEN_NONE;
}

/* ---- how many there may be ---- */

bool limits_allow_process(BtVm *vm) { return !vm->process_limit || process_count(vm) < vm->process_limit; }

bool limits_allow_timer(BtVm *vm) {
    if (!vm->timer_limit) return true;
    uint64_t count = 0;
    for (unsigned i = 0; i < vm->schedulers->count; i++) /* relaxed: a statistic */
        count += atomic_load_explicit(&vm->schedulers->list[i].timers.records, memory_order_relaxed);
    return count < vm->timer_limit;
}

void limits_end_for_mailbox(BtVm *vm, Value pid, uint32_t limit) {
    char title[256];
    process_title(vm, pid, title, sizeof title);
    vm_log(vm, "error: %s is ended: more than %u messages wait in its mailbox", title, limit);
    process_exit_signal(vm, pid, symbol_intern(vm, "resource_error", 14), true);
}
