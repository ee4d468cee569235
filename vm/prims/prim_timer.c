/* Timers: a counted state that the handle and the timer's process share. The process waits and runs the
 * block; who wins the change from active decides whether a one-shot was cancelled or has fired. And the
 * random numbers. */
#include "vm/bytecode/memory.h"
#include "vm/hash.h"
#include "vm/number.h"
#include "vm/prims/prim_support.h"

enum { TIMER_ACTIVE, TIMER_FIRED, TIMER_CANCELLED };

typedef struct {
    Counted counted;
    _Atomic int state;
    _Atomic uint64_t pid;    /* of a repeating timer's process; V_NIL before it is known */
    _Atomic uint64_t record; /* of a one-shot: what timer_cancel knows it by, else 0 */
    Value owner;             /* of a one-shot: who made it, V_NIL otherwise */
} TimerState;

static void timer_drop(const Memory *memory, Counted *c) { memory_free(memory, c); }

static TimerState *timer_state(Value v) { return native_of(v, timer_drop); }

static TimerState *make(Process *p, Value class, Value owner, Value *result) {
    if (!heap_reserve(p, NATIVE_WORDS)) return NULL;
    TimerState *t = memory_zalloc(p->vm->memory, sizeof *t);
    if (!t) return error_resource(p, NULL), NULL;
    atomic_init(&t->pid, V_NIL);
    t->owner = owner;
    *result = native_new(p, special_payload(class), &t->counted, timer_drop, sizeof *t / sizeof(Value));
    return t;
}

PRIM(prim_timer_make) { return (void)count, make(p, args[0], V_NIL, result) ? PRIM_OK : PRIM_RAISE; }

/* A one-shot has no process before it fires. */
static PrimStatus start_once(Process *p, Value *args, int64_t us, Value *result) {
    TimerState *t = make(p, args[0], p->pid, result);
    if (!t) return PRIM_RAISE;
    Value arguments[3] = {*result, p->pid, args[2]};
    uint64_t id = timer_start_process(p, us, args[0], SYMBOL(__fired), arguments, 3);
    /* release: pairs with the acquire load of who cancels */
    atomic_store_explicit(&t->record, id, memory_order_release);
    return id ? PRIM_OK : error_resource(p, "The limit of timers or memory was reached");
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

static bool leave_active(TimerState *t, int to) {
    int expected = TIMER_ACTIVE;
    /* acq_rel: the two sides, timer process and canceller, agree on one winner */
    return atomic_compare_exchange_strong_explicit(&t->state, &expected, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

static bool is_pending(TimerState *t) {
    return atomic_load_explicit(&t->state, memory_order_acquire) == TIMER_ACTIVE;
}

PRIM(prim_timer_fire) {
    (void)p, (void)count;
    TimerState *t = timer_state(args[0]);
    return t ? (*result = value_from_bool(leave_active(t, TIMER_FIRED)), PRIM_OK) : PRIM_FAIL;
}

PRIM(prim_timer_is_pending) {
    (void)p, (void)count;
    TimerState *t = timer_state(args[0]);
    return t ? (*result = value_from_bool(is_pending(t)), PRIM_OK) : PRIM_FAIL;
}

/* Whether what is to fire it is still there. */
static bool may_fire(BtVm *vm, TimerState *t, Value pid) {
    if (t->owner != V_NIL) return process_is_alive(vm, t->owner);
    return pid == V_NIL || process_is_alive(vm, pid);
}

PRIM(prim_timer_is_active) {
    (void)count;
    TimerState *t = timer_state(args[0]);
    Value pid = t ? atomic_load_explicit(&t->pid, memory_order_acquire) : V_NIL;
    *result = value_from_bool(t && is_pending(t) && may_fire(p->vm, t, pid));
    return PRIM_OK;
}

/* Wakes the process of a repeating timer, which then ends by itself: a kill would reach the maker over the
 * link.
 */
PRIM(prim_timer_cancel) {
    (void)count;
    TimerState *t = timer_state(args[0]);
    Value pid = t ? atomic_load_explicit(&t->pid, memory_order_acquire) : V_NIL;
    bool stopped = t && may_fire(p->vm, t, pid) && leave_active(t, TIMER_CANCELLED);
    uint64_t record = t ? atomic_load_explicit(&t->record, memory_order_acquire) : 0;
    if (stopped && record) (void)timer_cancel(p->vm, record);
    if (stopped && pid != V_NIL) (void)raw_send(p->vm, p, pid, 0, SYMBOL(normal));
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
