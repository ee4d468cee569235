/* Primitives of Tracing, and the numbers of the whole system. */
#include "vm/prims/prim_support.h"
#include "vm/sched.h"
#include "vm/tracing.h"
#include "vm/limits.h"

PRIM(prim_tracing_is_on) {
    return (void)args, (void)count, *result = value_from_bool(tracing_is_on(p->vm)), PRIM_OK;
}

PRIM(prim_tracing_set) {
    (void)count;
    tracing_set(p->vm, args[1] == V_TRUE);
    return *result = V_NIL, PRIM_OK;
}

PRIM(prim_tracing_clear) {
    (void)args, (void)count;
    tracing_clear(p->vm);
    return *result = V_NIL, PRIM_OK;
}

PRIM(prim_tracing_capacity) {
    (void)count;
    int64_t wanted = value_is_int(args[1]) ? value_to_int(args[1]) : 0;
    if (wanted > 100000000) return error_argument(p, args[0], named(p, "maxEvents:"), "At most 100000000");
    *result = value_from_int((int64_t)tracing_capacity(p->vm, wanted < 0 ? 0 : (size_t)wanted));
    return PRIM_OK;
}

/* A List of Tuples {at, duration, pid, class name, selector, mode, outcome}, newest first. */
enum { EVENT_WORDS = 8 };

static PrimStatus list_of_events(Process *p, const TraceEvent *events, size_t n, Value *result) {
    Value list = V_EMPTY_LIST;
    RootSpan span;
    roots_push(p, &span, &list, 1);
    bool fine = true;
    for (size_t i = n; fine && i-- > 0;) {
        fine = heap_reserve(p, EVENT_WORDS + LIST_CELL_WORDS);
        if (!fine) break;
        Value tuple = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, EVENT_WORDS);
        const TraceEvent *e = &events[i];
        const Value words[] = {value_from_int(e->at_us),
                               value_from_int(e->duration_us),
                               e->pid,
                               e->class_name,
                               e->selector,
                               e->mode,
                               e->outcome};
        memcpy(object_words(tuple) + 1, words, sizeof words);
        list = list_cons_reserved(p, tuple, list);
    }
    roots_pop(p, &span);
    *result = list;
    return fine ? PRIM_OK : PRIM_RAISE;
}

PRIM(prim_tracing_events) {
    (void)args, (void)count;
    size_t room = tracing_capacity(p->vm, 0);
    TraceEvent *events = memory_alloc(p->vm->memory, room * sizeof *events);
    if (!events) return error_resource(p, NULL);
    size_t n = tracing_copy(p->vm, events, room);
    PrimStatus status = list_of_events(p, events, n, result);
    memory_free(p->vm->memory, events);
    return status;
}

/* {schedulers, processes, limit of processes, bytes resident, runnable processes, timers, names}. */
enum { SYSTEM_NUMBERS = 7 };
PRIM(prim_tracing_system) {
    (void)args, (void)count;
    SystemNumbers s = system_numbers(p->vm);
    if (!heap_reserve(p, 1 + SYSTEM_NUMBERS)) return PRIM_RAISE;
    Value tuple = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, 1 + SYSTEM_NUMBERS);
    const int64_t numbers[] = {s.schedulers, s.processes, s.process_limit, (int64_t)limits_resident_bytes(),
                               s.runnable,   s.timers,    s.names};
    for (size_t i = 0; i < SYSTEM_NUMBERS; i++) object_words(tuple)[i + 1] = value_from_int(numbers[i]);
    return *result = tuple, PRIM_OK;
}
