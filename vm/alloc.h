/* Native memory. mimalloc in release builds; libc with BT_ALLOC_LIBC (sanitizers, valgrind). NULL on failure,
 * always checked. */
#ifndef BT_VM_ALLOC_H
#define BT_VM_ALLOC_H
#include <stddef.h>
#ifdef BT_ALLOC_LIBC
#include <stdlib.h>
#define mem_alloc malloc
#define mem_zalloc(n) calloc(1, (n))
#define mem_realloc realloc
#define mem_free free
#else
#include <mimalloc.h>
#define mem_alloc mi_malloc
#define mem_zalloc(n) mi_zalloc(n)
#define mem_realloc mi_realloc
#define mem_free mi_free
#endif

/* The array moved to twice its capacity, `first` items if it had none. NULL: out of memory, all is as before.
 */
static inline void *mem_grown(void *items, size_t *capacity, size_t item_size, size_t first) {
    size_t wanted = *capacity ? *capacity * 2 : first;
    void *grown = mem_realloc(items, wanted * item_size);
    if (grown) *capacity = wanted;
    return grown;
}

#endif
