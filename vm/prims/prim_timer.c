/* Timers: a counted state that the handle and the timer's process share. The process waits and runs the
 * block; who wins the change from active decides whether a one-shot was cancelled or has fired. And the
 * random numbers. */
#include "vm/alloc.h"
#include "vm/hash.h"
#include "vm/number.h"
#include "vm/prims/prim_support.h"

enum { TIMER_ACTIVE, TIMER_FIRED, TIMER_CANCELLED };

typedef struct {
    Counted counted;
    _Atomic int state;
    _Atomic uint64_t pid; /* of the timer's process; V_NIL before it is known */
} TimerState;

static void timer_drop(Counted *c) { mem_free(c); }

static TimerState *timer_state(Value v) { return native_of(v, timer_drop); }

PRIM(prim_timer_make) {
    (void)count;
    if (!heap_reserve(p, NATIVE_WORDS)) return PRIM_RAISE;
    TimerState *t = mem_zalloc(sizeof *t);
    if (!t) return error_resource(p, NULL);
    atomic_init(&t->pid, V_NIL);
    size_t words = sizeof *t / sizeof(Value);
    return *result = native_new(p, special_payload(args[0]), &t->counted, timer_drop, words), PRIM_OK;
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

PRIM(prim_timer_is_active) {
    (void)count;
    TimerState *t = timer_state(args[0]);
    Value pid = t ? atomic_load_explicit(&t->pid, memory_order_acquire) : V_NIL;
    *result = value_from_bool(t && is_pending(t) && (pid == V_NIL || process_is_alive(p->vm, pid)));
    return PRIM_OK;
}

/* Wakes the timer's process, which then ends by itself: a kill would reach the maker over the link. */
PRIM(prim_timer_cancel) {
    (void)count;
    TimerState *t = timer_state(args[0]);
    Value pid = t ? atomic_load_explicit(&t->pid, memory_order_acquire) : V_NIL;
    bool alive = pid == V_NIL || process_is_alive(p->vm, pid);
    bool stopped = t && leave_active(t, TIMER_CANCELLED) && alive;
    if (stopped && pid != V_NIL) (void)raw_send(p->vm, p, pid, 0, SYMBOL(normal));
    return *result = value_from_bool(stopped), PRIM_OK;
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
