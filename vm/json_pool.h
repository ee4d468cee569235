/* The memory of one run of yajl, which does not check its allocations: one block, taken before it starts and
 * large enough for whatever it can ask for, so that none of its requests can fail. Owner: json.c. */
#ifndef BT_VM_JSON_POOL_H
#define BT_VM_JSON_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Memory Memory;
typedef struct JsonPool {
    const Memory *memory;
    char *block;
    size_t size, used, last; /* last: where the newest block begins */
} JsonPool;

/* For a text of these bytes; the reader stops at containers nested deeper than max_depth. False: no memory.
 */
bool json_pool_init(JsonPool *pool, const Memory *memory, const char *bytes, size_t length, size_t max_depth);
void json_pool_free(JsonPool *pool);

/* yajl_alloc_funcs with the pool as context. A block that is given back is not used again. */
void *json_pool_take(void *pool, size_t size);
void *json_pool_resize(void *pool, void *at, size_t size);
void json_pool_give(void *pool, void *at);

#endif
