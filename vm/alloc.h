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
#endif
