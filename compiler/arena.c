/* Chunked bump allocation; see arena.h for what happens without memory. */
#include "compiler/arena.h"

#include <string.h>

struct ArenaChunk {
    ArenaChunk *previous;
    size_t size; /* of the data */
    _Alignas(ARENA_ALIGN) char data[];
};

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 256 * 1024 };

void arena_init(Arena *arena, const Memory *memory) {
    memset(arena, 0, offsetof(Arena, emergency)); /* parts of the area are cleared when handed out */
    arena->memory = memory;
    arena->next_chunk_bytes = FIRST_CHUNK;
}

void arena_free(Arena *arena) {
    for (ArenaChunk *chunk = arena->chunks; chunk;) {
        ArenaChunk *previous = chunk->previous;
        memory_free(arena->memory, chunk);
        chunk = previous;
    }
    size_t limit = arena->limit_bytes;
    arena_init(arena, arena->memory);
    arena->limit_bytes = limit;
}

/* Gets a chunk for at least `size` bytes. Oversized requests get one of their own, behind the current chunk,
 * so that the free part of the current one is not lost. */
static void *allocate_slow(Arena *arena, size_t size) {
    size_t bytes = arena->next_chunk_bytes;
    bool own = size > bytes / 4;
    if (own) bytes = size;
    if (arena->limit_bytes && arena->used_bytes + bytes > arena->limit_bytes) goto fail;
    ArenaChunk *chunk = memory_alloc(arena->memory, sizeof *chunk + bytes);
    if (!chunk) goto fail;
    chunk->size = bytes;
    arena->used_bytes += bytes;
    if (own && arena->chunks) {
        chunk->previous = arena->chunks->previous;
        arena->chunks->previous = chunk;
    } else {
        chunk->previous = arena->chunks;
        arena->chunks = chunk;
        arena->next = chunk->data + size;
        arena->end = chunk->data + bytes;
    }
    if (!own && arena->next_chunk_bytes < LARGEST_CHUNK) arena->next_chunk_bytes *= 2;
    return memset(chunk->data, 0, size);
fail:
    arena->failed = true;
    return NULL;
}

void *arena_try_alloc(Arena *arena, size_t size) {
    if (size > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (size <= (size_t)(arena->end - arena->next)) {
        void *result = arena->next;
        arena->next += size;
        return memset(result, 0, size);
    }
    return allocate_slow(arena, size);
}

void *arena_alloc(Arena *arena, size_t size) {
    void *result = arena_try_alloc(arena, size);
    if (result) return result;
    size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (size > sizeof arena->emergency - arena->emergency_used) arena->emergency_used = 0;
    result = arena->emergency + arena->emergency_used;
    arena->emergency_used += size;
    return memset(result, 0, size);
}

const char *arena_copy(Arena *arena, const char *bytes, size_t length) {
    char *copy = arena_try_alloc(arena, length + 1);
    if (!copy) return "";
    if (length) memcpy(copy, bytes, length);
    return copy;
}

typedef struct {
    void **items;
    uint32_t count;
} AnyList;

bool arena_list_push(Arena *arena, void *list_pointer, void *item) {
    AnyList list;
    if (arena->failed)
        return false; /* the list may lie in the emergency area, where anything may have been written */
    memcpy(&list, list_pointer, sizeof list); /* the caller's type has the same layout, but is another type */
    if ((list.count & (list.count - 1)) == 0) {
        size_t used = list.count * sizeof(void *);
        size_t wanted = list.count ? 2 * used : sizeof(void *);
        if (used && (char *)(list.items + list.count) == arena->next &&
            used <= (size_t)(arena->end - arena->next)) {
            memset(arena->next, 0, used);
            arena->next += used; /* the list is the last thing in the chunk: it grows where it is */
        } else {
            void **items = arena_try_alloc(arena, wanted);
            if (!items) return false;
            if (used) memcpy(items, list.items, used);
            list.items = items;
        }
    }
    list.items[list.count++] = item;
    memcpy(list_pointer, &list, sizeof list);
    return true;
}
