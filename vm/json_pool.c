/* See json_pool.h. What yajl 2.1 takes: its handle and its lexer (a few hundred bytes); two buffers, each of
 * which starts with BUFFER_FIRST bytes and doubles until its content fits, one token at a time; a stack of
 * one byte a level that grows by STACK_STEP. The last block grows where it is, any other moves and leaves its
 * place unused: a buffer takes at most twice its last size, and the stack moves only when a buffer has grown
 * since. */
#include "vm/json_pool.h"
#include <stdint.h>
#include <string.h>
#include "vm/bytecode/memory.h"

enum { FIXED = 2048, BUFFERS = 2, BUFFER_FIRST = 2048, STACK_STEP = 128, BLOCK_ALIGN = 16 };

static bool in_number(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* Bounds: bytes of the longest string or number, and how deep containers can nest. */
static void measure(const char *bytes, size_t length, size_t *longest, size_t *depth) {
    size_t run = 0;
    bool in_string = false;
    *longest = *depth = 0;
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        run++;
        if (c == '"') in_string = !in_string, run = 0;
        if (in_string && c == '\\') i++, run++; /* with what it escapes */
        if (!in_string && !in_number(c)) run = 0;
        if (!in_string && (c == '[' || c == '{')) ++*depth;
        if (run > *longest) *longest = run;
    }
}

bool json_pool_init(JsonPool *pool, const Memory *memory, const char *bytes, size_t length,
                    size_t max_depth) {
    size_t longest, depth, buffer = BUFFER_FIRST, growths = 1;
    measure(bytes, length, &longest, &depth);
    if (depth > max_depth) depth = max_depth + 1;
    for (; buffer <= longest + 1; buffer *= 2) growths++;
    size_t moves = BUFFERS * growths + 1, stack = depth + (size_t)2 * STACK_STEP;
    size_t headers = (4 + BUFFERS * growths + moves) * (size_t)(2 * BLOCK_ALIGN);
    pool->size = FIXED + (size_t)2 * BUFFERS * buffer + moves * stack + headers;
    pool->used = pool->last = 0;
    pool->memory = memory;
    pool->block = memory_alloc(memory, pool->size);
    return pool->block != NULL;
}

void json_pool_free(JsonPool *pool) { memory_free(pool->memory, pool->block); }

static size_t aligned(size_t size) { return (size + BLOCK_ALIGN - 1) & ~(size_t)(BLOCK_ALIGN - 1); }

/* A block is its size, in BLOCK_ALIGN bytes, and what the caller gets. */
void *json_pool_take(void *context, size_t size) {
    JsonPool *pool = context;
    if (size > pool->size || BLOCK_ALIGN + aligned(size) > pool->size - pool->used)
        return NULL; /* cannot be */
    pool->last = pool->used + BLOCK_ALIGN;
    pool->used = pool->last + aligned(size);
    memcpy(pool->block + pool->last - BLOCK_ALIGN, &size, sizeof size);
    return pool->block + pool->last;
}

void *json_pool_resize(void *context, void *at, size_t size) {
    JsonPool *pool = context;
    size_t old;
    if (!at) return json_pool_take(pool, size);
    memcpy(&old, (char *)at - BLOCK_ALIGN, sizeof old);
    if (at == pool->block + pool->last && size <= pool->size && aligned(size) <= pool->size - pool->last) {
        pool->used = pool->last + aligned(size);
        memcpy((char *)at - BLOCK_ALIGN, &size, sizeof size);
        return at;
    }
    void *moved = json_pool_take(pool, size);
    if (moved) memcpy(moved, at, old < size ? old : size);
    return moved;
}

void json_pool_give(void *context, void *at) { (void)context, (void)at; }
