/* Primitives of processes below actors: plain processes, links, monitors, raw messages. They serve the
 * library (timers, parallel evaluation, supervisors); programs see actors. */
#include "vm/dict.h"
#include "vm/list.h"
#include "vm/process_info.h"
#include "vm/prims/prim_support.h"

/* ---- plain processes ---- */

/* args[1]: a block without parameters, run in a process of its own. */
PRIM(prim_process_start) {
    (void)count;
    if (!value_is_kind(args[1], KIND_CLOSURE))
        return error_type(p, args[0], named(p, "start:"), "Expected a Block");
    SpawnOptions options = {.role = PROC_PLAIN, .self_ref = V_NIL, .parent = args[2] == V_TRUE ? p : NULL};
    Process *fresh = process_new(p->vm, &options);
    if (!fresh) return error_resource(p, "The limit of processes or memory was reached");
    Value pid = fresh->pid;
    if (!process_start(fresh, p, args[1], V_NIL, NULL, 0)) return error_resource(p, NULL);
    return *result = pid, PRIM_OK;
}

PRIM(prim_process_me) { return (void)args, (void)count, *result = p->pid, PRIM_OK; }

/* How many processes live. */
PRIM(prim_process_count) {
    return (void)args, (void)count, *result = value_from_int(process_count(p->vm)), PRIM_OK;
}

/* Limits of the running process: bytes of its heap, messages that may wait for it; 0 = none. */
PRIM(prim_process_limit_heap) {
    (void)count;
    int64_t bytes = value_is_int(args[1]) ? value_to_int(args[1]) : -1;
    if (bytes < 0) return error_type(p, args[0], named(p, "limitHeap:"), "Expected a number of bytes");
    p->heap.limit_words = (size_t)bytes / sizeof(Value);
    return *result = V_NIL, PRIM_OK;
}

PRIM(prim_process_limit_mailbox) {
    (void)count;
    int64_t most = value_is_int(args[1]) ? value_to_int(args[1]) : -1;
    if (most < 0 || most > UINT32_MAX)
        return error_type(p, args[0], named(p, "limitMailbox:"), "Expected a number of messages");
    process_limit_mailbox(p, (uint32_t)most);
    return *result = V_NIL, PRIM_OK;
}

/* The sender of the message this process serves, nil if it serves none. */
PRIM(prim_process_caller) {
    (void)args;
    (void)count;
    return *result = p->serving ? p->serving->sender : V_NIL, PRIM_OK;
}

PRIM(prim_process_link) {
    (void)count;
    Value pid = pid_of(p, args[1]);
    if (pid != V_NIL && pid != p->pid) process_link(p, pid);
    return *result = V_NIL, PRIM_OK;
}

PRIM(prim_process_unlink) {
    (void)count;
    Value pid = pid_of(p, args[1]);
    if (pid != V_NIL) process_unlink(p, pid);
    return *result = V_NIL, PRIM_OK;
}

PRIM(prim_process_monitor) {
    (void)count;
    Value reference = reference_new(p);
    if (reference == V_HOLE) return PRIM_RAISE;
    process_monitor(p, pid_of(p, args[1]), reference);
    return *result = reference, PRIM_OK;
}

/* The next raw message (any value), timer (its id) or end of a monitored process (the reason). */
PRIM(prim_process_receive) { return (void)args, (void)count, (void)result, process_receive(p, 0, -1); }

PRIM(prim_process_send) {
    (void)count;
    *result = V_NIL;
    Value pid = pid_of(p, args[2]);
    if (pid == V_NIL || raw_send(p->vm, p, pid, 0, args[1])) return PRIM_OK;
    return p->exception == V_HOLE ? PRIM_OK : PRIM_RAISE;
}

PRIM(prim_process_start_timer) {
    (void)count;
    int64_t us = value_is_int(args[1]) ? value_to_int(args[1]) : 0;
    uint64_t id = timer_start(p, p->pid, us < 0 ? 0 : us);
    if (!id) return error_resource(p, "The limit of timers or memory was reached");
    return *result = value_from_int((int64_t)(id & (uint64_t)SMALLINT_MAX)), PRIM_OK;
}

PRIM(prim_process_trap_exits) {
    (void)args, (void)count;
    p->link.trap_exit = true;
    return *result = V_NIL, PRIM_OK;
}

PRIM(prim_process_registered) {
    (void)count;
    *result = value_is_symbol(args[1]) ? registry_lookup(p->vm, args[1]) : V_NIL;
    return PRIM_OK;
}

/* ---- the process dictionary ---- */

PRIM(prim_process_dictionary_at) {
    (void)count;
    Value found = dict_is(p->dictionary) ? dict_get(p->vm, p->dictionary, args[1]) : V_HOLE;
    return *result = found == V_HOLE ? V_NIL : found, PRIM_OK;
}

PRIM(prim_process_dictionary_put) {
    if (!dict_is(p->dictionary)) p->dictionary = dict_empty(p);
    if (p->dictionary == V_HOLE) return p->dictionary = V_NIL, PRIM_RAISE;
    Value fresh = args[2] == V_NIL ? dict_remove(p, p->dictionary, args[1])
                                   : dict_put(p, p->dictionary, args[1], args[2]);
    if (fresh == V_HOLE) return PRIM_RAISE;
    PrimStatus status = prim_process_dictionary_at(p, args, count, result); /* the old value */
    p->dictionary = fresh;
    return status;
}

/* ---- supervisors: references of the supervisor's class to its engine's process ---- */

/* Of the class args[0] to the process behind args[1]; nil if that names nothing. The engine gets its own from
 * a supervisor's. */
PRIM(prim_supervisor_reference) {
    (void)count;
    Value pid = pid_of(p, args[1]);
    if (pid == V_NIL || !value_is_class(args[0])) return *result = V_NIL, PRIM_OK;
    return reference_to(p, special_payload(args[0]), pid, result);
}

/* The running supervisor of class args[0] under the registered name, or nil. */
PRIM(prim_supervisor_registered) {
    (void)count;
    Value pid = value_is_symbol(args[1]) ? registry_lookup(p->vm, args[1]) : V_NIL;
    if (pid == V_NIL) return *result = V_NIL, PRIM_OK;
    return reference_to(p, special_payload(args[0]), pid, result);
}

/* ---- clock and log ---- */

PRIM(prim_time_monotonic_us) {
    return (void)args, (void)count, *result = value_from_int(vm_now_us(p->vm)), PRIM_OK;
}

PRIM(prim_logger_write) {
    (void)count;
    if (!value_is_bytes(args[1])) return error_type(p, args[0], named(p, "info:"), "Expected a String");
    size_t length;
    const char *bytes = string_bytes(args[1], &length);
    vm_log(p->vm, "%.*s", (int)(length > 65536 ? 65536 : length), bytes);
    return *result = V_NIL, PRIM_OK;
}

/* ---- looking into a process ---- */

#define LOOK_LIMIT_US 1000000 /* no snapshot waits longer for a process that reaches no safepoint */

/* The Tuple of vm/process_info.h; raises actor_dead or timeout. */
PRIM(prim_process_info) {
    (void)count, (void)result;
    Value pid = pid_of(p, args[1]);
    if (pid == V_NIL) return error_raise(p, ERR_actor_dead, V_NIL, V_NIL, NULL, NULL, V_NIL);
    return system_signal_within(p, pid, process_describe, NULL, LOOK_LIMIT_US);
}

/* Reductions used on each scheduler, a List. */
PRIM(prim_process_schedulers) {
    (void)args, (void)count;
    Value loads[256];
    size_t n = scheduler_loads(p->vm, loads, 256);
    return list_of_immediates(p, loads, n < 256 ? n : 256, result);
}

/* Pids of all processes, the oldest slots first. */
PRIM(prim_process_all) {
    (void)args, (void)count;
    size_t room = process_list(p->vm, NULL, 0) + 64;
    Value *pids = memory_alloc(p->vm->memory, room * sizeof *pids);
    if (!pids) return error_resource(p, NULL);
    size_t found = process_list(p->vm, pids, room);
    PrimStatus status = list_of_immediates(p, pids, found < room ? found : room, result);
    memory_free(p->vm->memory, pids);
    return status;
}

static void answer_state(Process *target, void *context) {
    (void)context;
    system_answer(target, target->state == V_HOLE ? V_NIL : target->state);
}

/* A copy of the state of another process's actor, taken at its next safepoint; nil if it has none. */
PRIM(prim_inspector_record) {
    (void)count;
    *result = V_NIL;
    Value pid = pid_of(p, args[1]);
    if (pid == V_NIL) return PRIM_OK;
    if (pid != p->pid) return system_signal_within(p, pid, answer_state, NULL, LOOK_LIMIT_US);
    if (p->state == V_HOLE) return PRIM_OK;
    records_share(p);
    return *result = p->state, PRIM_OK;
}

/* A Dictionary of field names and what the record holds for them; nil if args[1] is no record. */
PRIM(prim_inspector_fields) {
    (void)count;
    Class *c = value_is_class(args[2]) ? class_by_id(p->vm, special_payload(args[2])) : NULL;
    if (!value_is_kind(args[1], KIND_RECORD)) return *result = V_NIL, PRIM_OK;
    size_t slots = object_size(args[1]) - 1;
    const SlotLayout *layout = c ? c->state_layout : NULL;
    *result = dict_empty(p);
    for (size_t i = 0; layout && *result != V_HOLE && i < slots && i < layout->count; i++) {
        Value v = object_at(args[1], i + 1);
        *result = dict_put(p, *result, layout->names[i], v == V_HOLE ? V_NIL : v);
    }
    return *result == V_HOLE ? PRIM_RAISE : PRIM_OK;
}
