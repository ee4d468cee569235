/* Small helpers that the primitive files share. */
#ifndef BT_PRIM_SUPPORT_H
#define BT_PRIM_SUPPORT_H

#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/list.h"
#include "vm/registry.h"
#include "vm/string.h"
#include "vm/vm.h"

#define PRIM(function) PrimStatus function(Process *p, Value *args, unsigned count, Value *result)

/* The Symbol spelled so. */
static inline Value named(Process *p, const char *text) { return symbol_intern(p->vm, text, strlen(text)); }
/* A pid, or what a reference (by pid or by name) stands for now; V_NIL if it stands for nothing. */
static inline Value pid_of(Process *p, Value v) {
    if (value_is_pid(v)) return v;
    if (!value_is_kind(v, KIND_ACTOR_REF)) return V_NIL;
    Value target = object_at(v, 1);
    return value_is_symbol(target) ? registry_lookup(p->vm, target) : target;
}
/* A reference of this class to a pid, or to whom a name stands for at each send. */
static inline PrimStatus reference_to(Process *p, uint32_t class_id, Value target, Value *result) {
    if (!heap_reserve(p, 2)) return PRIM_RAISE;
    Value reference = heap_new(p, KIND_ACTOR_REF, class_id, 2);
    object_words(reference)[1] = target;
    return *result = reference, PRIM_OK;
}
/* A handle on native state whose first member is `c`: it is filled in here, with one reference, the handle's.
 * The caller has reserved NATIVE_WORDS; offheap_words is what the state weighs for the collector. */
enum { NATIVE_WORDS = 3 };
static inline Value native_new(Process *p, uint32_t class_id, Counted *c, CountedDrop *drop,
                               size_t offheap_words) {
    c->drop = drop;
    atomic_init(&c->refs, 1);
    Value v = heap_new(p, KIND_NATIVE, class_id, NATIVE_WORDS);
    object_words(v)[2] = (uint64_t)(uintptr_t)c;
    heap_link_offheap(p, object_words(v), offheap_words);
    return v;
}
/* The bytes in native memory, NUL terminated, for memory_free; NULL: no memory. */
static inline char *native_text(Process *p, Value v, size_t *length) {
    const char *bytes = string_bytes(v, length);
    char *copy = memory_alloc(p->vm->memory, *length + 1);
    if (!copy) return NULL;
    memcpy(copy, bytes, *length);
    copy[*length] = 0;
    return copy;
}
/* The native object behind a handle, which `drop` tells from those of other sorts; NULL for anything else. */
static inline void *native_of(Value v, CountedDrop *drop) {
    if (!value_is_kind(v, KIND_NATIVE)) return NULL;
    Counted *native = (Counted *)(uintptr_t)object_at(v, 2);
    return native->drop == drop ? native : NULL;
}
/* A List of immediates. */
static inline PrimStatus list_of_immediates(Process *p, const Value *values, size_t n, Value *result) {
    *result = list_from_array(p, values, n, V_EMPTY_LIST);
    return *result == V_HOLE ? PRIM_RAISE : PRIM_OK;
}

#endif
