/* Bump allocator for everything that lives as long as one compilation: nodes, lists, names, decoded strings.
 *
 * AGREED. One owner thread. Nothing is freed singly. Memory comes in chunks that double up to 256 KiB.
 *
 * Running out of memory (or over `limit_bytes`) never stops the program and needs no check at each node: the
 * arena is marked `failed`, and arena_alloc hands out parts of an emergency area (zeroed; from its beginning
 * again when it is used up). Whoever runs a pass checks arena_failed at its end and throws the result away;
 * walks check it at every node, so that they never need more than the area has. arena_try_alloc is for sizes
 * that depend on input: it returns NULL instead.
 */
#ifndef BT_COMPILER_ARENA_H
#define BT_COMPILER_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/bytecode/memory.h"

#define ARENA_ALIGN 8
#define ARENA_EMERGENCY_BYTES 512 /* the largest request that never fails */
#define ARENA_EMERGENCY_AREA 8192

typedef struct ArenaChunk ArenaChunk;

typedef struct Arena {
    const Memory *memory;
    char *next, *end; /* free part of the current chunk */
    ArenaChunk *chunks;
    size_t next_chunk_bytes;
    size_t used_bytes;  /* bytes got from the system */
    size_t limit_bytes; /* 0 = no limit */
    bool failed;
    size_t emergency_used;
    _Alignas(ARENA_ALIGN) char emergency[ARENA_EMERGENCY_AREA];
} Arena;

/* `memory`: where its chunks come from. */
void arena_init(Arena *arena, const Memory *memory);
void arena_free(Arena *arena);
static inline bool arena_failed(const Arena *arena) { return arena->failed; }

/* Zeroed memory, never NULL; size at most ARENA_EMERGENCY_BYTES. */
void *arena_alloc(Arena *arena, size_t size);
/* Zeroed memory of any size, or NULL (and the arena is marked failed). */
void *arena_try_alloc(Arena *arena, size_t size);
/* A NUL-terminated copy; "" when memory ran out. */
const char *arena_copy(Arena *arena, const char *bytes, size_t length);

#define ARENA_NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))

/* Appends `item` to a list {T **items; uint32_t count}. The capacity is the next power of two and is not
 * stored, so a list must only be grown by this function, from empty. False (list unchanged) when memory ran
 * out. */
bool arena_list_push(Arena *arena, void *list, void *item);

#endif
