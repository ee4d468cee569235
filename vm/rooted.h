/* Keeping C locals and native buffers of Values alive while something may collect. */
#ifndef BT_VM_ROOTED_H
#define BT_VM_ROOTED_H

#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/process.h"
#include "vm/vm.h"

/* heap_reserve with a few locals as roots; they hold the moved Values afterwards. MAY_GC. */
static inline bool heap_reserve_rooted(Process *p, size_t words, Value *values, size_t count) {
    if (heap_has_room(p, words)) return true;
    RootSpan span;
    roots_push(p, &span, values, count);
    bool reserved = heap_reserve(p, words);
    roots_pop(p, &span);
    return reserved;
}

/* A native array of Values, all nil at first, rooted from open to close. Buffers close in LIFO order; none
 * moves in memory. */
typedef struct {
    Value *items;
    size_t capacity;
    RootSpan span;
} RootedBuffer;
/* False: a resource_error is pending, nothing is open. */
static inline bool rooted_open(Process *p, RootedBuffer *b, size_t capacity) {
    b->items = capacity < SIZE_MAX / 16
                   ? memory_alloc(p->vm->memory, (capacity ? capacity : 1) * sizeof *b->items)
                   : NULL;
    b->capacity = capacity;
    if (!b->items) {
        error_resource(p, "Not enough memory for a collection of this size");
        return false;
    }
    for (size_t i = 0; i < capacity; i++) b->items[i] = V_NIL;
    roots_push(p, &b->span, b->items, capacity);
    return true;
}
static inline void rooted_close(Process *p, RootedBuffer *b) {
    roots_pop(p, &b->span);
    memory_free(p->vm->memory, b->items);
}

#endif
