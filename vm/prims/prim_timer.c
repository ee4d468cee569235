/* Timers. The handle of a one-shot is the number that the scheduler knows it by. A repeating one has a
 * counted state that the handle and the timer's process share: the process waits and runs the block, and who
 * cancels changes the state. And the random numbers. */
#include "vm/bytecode/memory.h"
#include "vm/hash.h"
#include "vm/number.h"
#include "vm/prims/prim_support.h"

typedef struct {
    Counted counted;
    _Atomic bool cancelled;
    _Atomic uint64_t pid; /* of its process; V_NIL before it is known */
} TimerState;

static void timer_drop(const Memory *memory, Counted *c) { memory_free(memory, c); }

static TimerState *timer_state(Value v) { return native_of(v, timer_drop); }

PRIM(prim_timer_make) {
    (void)count;
    if (!heap_reserve(p, NATIVE_WORDS)) return PRIM_RAISE;
    TimerState *t = memory_zalloc(p->vm->memory, sizeof *t);
    if (!t) return error_resource(p, NULL);
    atomic_init(&t->pid, V_NIL);
    *result = native_new(p, special_payload(args[0]), &t->counted, timer_drop, sizeof *t / sizeof(Value));
    return PRIM_OK;
}

/* A one-shot has no process before it fires: then one starts that sends the maker's pid `__fired:`. */
static PrimStatus start_once(Process *p, Value *args, int64_t us, Value *result) {
    if (!heap_reserve(p, 2)) return PRIM_RAISE;
    uint64_t id = timer_start_process(p, us, p->pid, SYMBOL(__fired), &args[2], 1);
    if (!id) return error_resource(p, "The limit of timers or memory was reached");
    *result = heap_new(p, KIND_TIMER, special_payload(args[0]), 2);
    object_words(*result)[1] = id;
    return PRIM_OK;
}

/* Milliseconds as an Integer and a block without parameters; the Beamtalk code behind it does the rest. */
PRIM(prim_timer_after_ms) {
    (void)count;
    int64_t ms = value_is_int(args[1]) ? value_to_int(args[1]) : -1;
    bool plain = value_is_kind(args[2], KIND_CLOSURE) &&
                 ((const Function *)(uintptr_t)object_at(args[2], CLOSURE_FN))->param_count == 0;
    if (ms < 0 || ms > INT64_MAX / 4000 || !plain) return PRIM_FAIL;
    return start_once(p, args, ms * 1000, result);
}

PRIM(prim_timer_after_us) {
    (void)count;
    int64_t us = value_is_int(args[1]) ? value_to_int(args[1]) : INT64_MAX / 4;
    return start_once(p, args, us > INT64_MAX / 4 ? INT64_MAX / 4 : us, result);
}

PRIM(prim_timer_attach) {
    (void)p, (void)count;
    TimerState *t = timer_state(args[0]);
    if (!t) return PRIM_FAIL;
    /* release: pairs with the acquire loads of who asks or cancels */
    atomic_store_explicit(&t->pid, args[1], memory_order_release);
    return *result = V_NIL, PRIM_OK;
}

static bool is_cancelled(TimerState *t) {
    return atomic_load_explicit(&t->cancelled, memory_order_acquire); /* pairs with the exchange below */
}

PRIM(prim_timer_is_pending) {
    (void)p, (void)count;
    TimerState *t = timer_state(args[0]);
    return t ? (*result = value_from_bool(!is_cancelled(t)), PRIM_OK) : PRIM_FAIL;
}

/* Its process is there, or has not been told to it yet. */
static bool may_repeat(BtVm *vm, TimerState *t) {
    Value pid = atomic_load_explicit(&t->pid, memory_order_acquire); /* pairs with prim_timer_attach */
    return !is_cancelled(t) && (pid == V_NIL || process_is_alive(vm, pid));
}

PRIM(prim_timer_is_active) {
    (void)count;
    TimerState *t = timer_state(args[0]);
    bool active = t                                    ? may_repeat(p->vm, t)
                  : value_is_kind(args[0], KIND_TIMER) ? timer_is_pending(p->vm, object_at(args[0], 1))
                                                       : false;
    *result = value_from_bool(active);
    return PRIM_OK;
}

/* Wakes the process of a repeating timer, which then ends by itself: a kill would reach the maker over the
 * link. */
static bool cancel_repeating(Process *p, TimerState *t) {
    /* acq_rel: one of two who cancel is told that it was he */
    if (!may_repeat(p->vm, t) || atomic_exchange_explicit(&t->cancelled, true, memory_order_acq_rel))
        return false;
    Value pid = atomic_load_explicit(&t->pid, memory_order_acquire); /* pairs with prim_timer_attach */
    if (pid != V_NIL) (void)raw_send(p->vm, p, pid, 0, SYMBOL(normal));
    return true;
}

PRIM(prim_timer_cancel) {
    (void)count;
    bool stopped = false;
    TimerState *t = timer_state(args[0]);
    if (t) {
        stopped = cancel_repeating(p, t);
    } else if (value_is_kind(args[0], KIND_TIMER)) {
        uint64_t id = object_at(args[0], 1);
        stopped = timer_is_pending(p->vm, id) && timer_cancel(p->vm, id);
    }
    *result = value_from_bool(stopped);
    return p->exception == V_HOLE ? PRIM_OK : PRIM_RAISE;
}

PRIM(prim_timer_sleep_us) {
    (void)count, (void)result;
    int64_t us = value_is_int(args[1]) ? value_to_int(args[1]) : INT64_MAX / 4;
    if (us > INT64_MAX / 4) us = INT64_MAX / 4;
    return process_sleep(p, us < 0 ? 0 : us, V_NIL);
}

/* ---- random numbers ---- */

#define RANDOM_MASK (((uint64_t)1 << 62) - 1)

PRIM(prim_random_entropy) {
    (void)args, (void)count;
    return *result = value_from_int((int64_t)(vm_random(p->vm) & RANDOM_MASK)), PRIM_OK;
}

/* 62 well-mixed bits that depend on nothing but the argument. */
PRIM(prim_random_mix) {
    (void)count;
    uint64_t mixed = hash_mix(value_hash(p->vm, args[1]) + 0x9e3779b97f4a7c15u);
    return *result = value_from_int((int64_t)(mixed & RANDOM_MASK)), PRIM_OK;
}

/* Of 62 bits the float in [0, 1). */
PRIM(prim_random_float) {
    (void)count;
    uint64_t bits = value_is_int(args[1]) ? (uint64_t)value_to_int(args[1]) & RANDOM_MASK : 0;
    return number_from_double(p, (double)(bits >> 9) * 0x1p-53, result);
}
