/* Open-addressing table of names; entries lie in the arena. */
#include "compiler/intern.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_SLOTS = 256, FORMAT_MAX = 1000 };

static const struct {
    uint32_t hash, length;
    char text[1];
} empty_entry = {0, 0, ""};

static uint32_t hash_bytes(const char *bytes, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash ^ (hash >> 15);
}

bool intern_init(Intern *intern, Arena *arena) {
    *intern = (Intern){.arena = arena};
    intern->slots = memory_zalloc(arena->memory, FIRST_SLOTS * sizeof *intern->slots);
    if (!intern->slots) return false;
    intern->mask = FIRST_SLOTS - 1;
    return true;
}

void intern_free(Intern *intern) {
    if (intern->arena) memory_free(intern->arena->memory, intern->slots);
    *intern = (Intern){0};
}

/* Keeps the table at most half full. A table that cannot grow stays correct until it is full to the last slot
 * but one. */
static bool make_room(Intern *intern) {
    if (!intern->slots) return false;
    if (intern->count * 2 <= intern->mask) return true;
    size_t old_size = (size_t)intern->mask + 1;
    if (old_size > UINT32_MAX / 2) return intern->count < intern->mask;
    InternEntry **slots = memory_zalloc(intern->arena->memory, old_size * 2 * sizeof *slots);
    if (!slots) return intern->count < intern->mask;
    uint32_t mask = (uint32_t)(old_size * 2 - 1);
    for (size_t i = 0; i < old_size; i++) {
        InternEntry *entry = intern->slots[i];
        if (!entry) continue;
        uint32_t at = entry->hash & mask;
        while (slots[at]) at = (at + 1) & mask;
        slots[at] = entry;
    }
    memory_free(intern->arena->memory, intern->slots);
    intern->slots = slots;
    intern->mask = mask;
    return true;
}

const char *intern_bytes(Intern *intern, const char *bytes, size_t length) {
    if (!make_room(intern) || length >= UINT32_MAX) goto fail;
    uint32_t hash = hash_bytes(bytes, length);
    uint32_t at = hash & intern->mask;
    for (InternEntry *entry; (entry = intern->slots[at]); at = (at + 1) & intern->mask)
        if (entry->hash == hash && entry->length == length && memcmp(entry->text, bytes, length) == 0)
            return entry->text;
    InternEntry *entry = arena_try_alloc(intern->arena, sizeof *entry + length + 1);
    if (!entry) goto fail;
    entry->hash = hash;
    entry->length = (uint32_t)length;
    if (length) memcpy(entry->text, bytes, length);
    intern->slots[at] = entry;
    intern->count++;
    return entry->text;
fail:
    intern->arena->failed = true;
    return empty_entry.text;
}

const char *intern_cstring(Intern *intern, const char *text) {
    return intern_bytes(intern, text, strlen(text));
}

const char *intern_format(Intern *intern, const char *format, ...) {
    char buffer[FORMAT_MAX + 1];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    if (length < 0) length = 0;
    return intern_bytes(intern, buffer, length > FORMAT_MAX ? (size_t)FORMAT_MAX : (size_t)length);
}
