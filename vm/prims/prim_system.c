/* Primitives of the clock, the console, the program and the machine. */
#include <stdlib.h>
#include <time.h>
#include "vm/bytecode/memory.h"
#include "vm/io.h"
#include "vm/limits.h"
#include "vm/number.h"
#include "vm/prims/prim_support.h"

/* Wall clock; under --seed the virtual clock counts from the epoch. */
PRIM(prim_time_now_us) {
    (void)args, (void)count;
    if (p->vm->seeded) return *result = value_from_int(vm_now_us(p->vm)), PRIM_OK;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *result = value_from_int((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    return PRIM_OK;
}

static PrimStatus write_text(Process *p, Value *args, bool error, Value *result) {
    if (!value_is_bytes(args[1])) return error_type(p, args[0], named(p, "print:"), "Expected a String");
    size_t length;
    const char *bytes = string_bytes(args[1], &length);
    *result = V_NIL;
    if (!limits_charge_output(p, length)) return p->link.killed ? PRIM_YIELD : PRIM_OK;
    if (error)
        io_error_write(p->vm, bytes, length);
    else
        io_console_write(p->vm, bytes, length);
    (void)process_charge(p, (uint32_t)(1 + length / 64));
    return PRIM_OK;
}

PRIM(prim_console_write) { return (void)count, write_text(p, args, false, result); }
PRIM(prim_console_write_error) { return (void)count, write_text(p, args, true, result); }
PRIM(prim_console_flush) {
    (void)args, (void)count;
    io_console_flush(p->vm);
    return *result = V_NIL, PRIM_OK;
}
PRIM(prim_console_read_line) { return (void)args, (void)count, (void)result, io_read_line(p); }

PRIM(prim_timer_sleep) {
    (void)count, (void)result;
    double ms = value_is_int(args[1])      ? (double)value_to_int(args[1])
                : value_is_flonum(args[1]) ? flonum_decode(args[1])
                                           : -1;
    if (!(ms >= 0))
        return error_type(p, args[0], named(p, "sleep:"),
                          "Delay must be a non-negative Integer or a non-negative Duration");
    if (ms > 1e15) ms = 1e15;
    return process_sleep(p, (int64_t)(ms * 1000), V_NIL);
}

PRIM(prim_program_version) {
    (void)args, (void)count;
    return string_new(p, BT_VERSION, strlen(BT_VERSION), result);
}

/* Program exit:, and System halt:. */
PRIM(prim_program_exit) {
    (void)count;
    Value class_name = class_name_of(p->vm, args[0]);
    bool halt = class_name == symbol_lookup(p->vm, "System class", 12);
    Value selector = named(p, halt ? "halt:" : "exit:");
    if (!value_is_int(args[1])) return error_type(p, args[0], selector, "Exit status must be an Integer");
    int64_t status = value_to_int(args[1]);
    if (status < 0 || status > 255)
        return error_raise(p, ERR_invalid_argument, class_name_of(p->vm, args[0]), selector, NULL,
                           "Exit status must be in 0..255", V_NIL);
    if (p->vm->shared)
        return error_raise_symbol(p, named(p, "unsupported"), class_name, selector, NULL,
                                  halt ? "Other programs run in this VM; use Program exit:"
                                       : "Other programs run in this VM",
                                  V_NIL);
    vm_request_exit(p->vm, (int)status);
    process_exit_signal(p->vm, p->pid, SYMBOL(killed), true);
    *result = V_NIL;
    return PRIM_YIELD;
}

PRIM(prim_system_get_env) {
    (void)count;
    if (!value_is_string(args[1])) return error_type(p, args[0], named(p, "getEnv:"), "Expected a String");
    size_t length;
    const char *bytes = string_bytes(args[1], &length);
    char name[256];
    *result = V_NIL;
    if (length >= sizeof name) return PRIM_OK;
    memcpy(name, bytes, length);
    name[length] = 0;
    const char *value = getenv(name);
    return value ? string_from_cstring(p, value, result) : PRIM_OK;
}

PRIM(prim_system_unique_id) {
    (void)args, (void)count;
    Value reference = reference_new(p);
    if (reference == V_HOLE) return PRIM_RAISE;
    return *result = value_from_int((int64_t)reference_serial(reference)), PRIM_OK;
}
