/* Native memory. Every structure that belongs to a VM takes its blocks from the VM's Memory and gives them
 * back to the same: a host may have supplied it (bt_allocator). NULL is the process's own: mimalloc, or libc
 * with BT_ALLOC_LIBC (sanitizers, valgrind, hosts with a malloc of their own), and costs a test more than
 * those.
 *
 * Owner: the bt_vm; it outlives whatever was taken from it. Any thread. NULL on failure, always checked. */
#ifndef BT_BYTECODE_MEMORY_H
#define BT_BYTECODE_MEMORY_H
#include <stddef.h>
#include <string.h>
#ifdef BT_ALLOC_LIBC
#include <stdlib.h>
#define own_alloc malloc
#define own_zalloc(size) calloc(1, (size))
#define own_realloc realloc
#define own_free free
#else
#include <mimalloc.h>
#define own_alloc mi_malloc
#define own_zalloc mi_zalloc
#define own_realloc mi_realloc
#define own_free mi_free
#endif

typedef struct Memory {
    void *(*allocate)(void *context, size_t size);
    void *(*reallocate)(void *context, void *block, size_t size); /* block is never NULL */
    void (*release)(void *context, void *block);                  /* nor here */
    void *context;
} Memory;

static inline void *memory_alloc(const Memory *m, size_t size) {
    return __builtin_expect(!m, 1) ? own_alloc(size) : m->allocate(m->context, size ? size : 1);
}

static inline void *memory_zalloc(const Memory *m, size_t size) {
    if (__builtin_expect(!m, 1)) return own_zalloc(size);
    void *block = memory_alloc(m, size);
    return block ? memset(block, 0, size) : NULL;
}

static inline void *memory_realloc(const Memory *m, void *block, size_t size) {
    if (__builtin_expect(!m, 1)) return own_realloc(block, size);
    return block ? m->reallocate(m->context, block, size ? size : 1) : memory_alloc(m, size);
}

static inline void memory_free(const Memory *m, void *block) {
    if (__builtin_expect(!m, 1))
        own_free(block);
    else if (block)
        m->release(m->context, block);
}

/* The array moved to twice its capacity, `first` items if it had none. NULL: out of memory, all is as before.
 */
static inline void *memory_grown(const Memory *m, void *items, size_t *capacity, size_t item_size,
                                 size_t first) {
    size_t wanted = *capacity ? *capacity * 2 : first;
    void *grown = memory_realloc(m, items, wanted * item_size);
    if (grown) *capacity = wanted;
    return grown;
}

#endif
