/* Preloaded when instructions are counted: the allocator of libc in place of mimalloc, whose counts depend on
 * the machine. */
#include <stdlib.h>

void *mi_malloc(size_t size);
void *mi_zalloc(size_t size);
void *mi_realloc(void *old, size_t size);
void mi_free(void *old);

void *mi_malloc(size_t size) { return malloc(size); }
void *mi_zalloc(size_t size) { return calloc(1, size); }
void *mi_realloc(void *old, size_t size) { return realloc(old, size); }
void mi_free(void *old) { free(old); }
