#include "vm/text.h"
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/string.h"
#include "vm/unicode.h"
#include "vm/vm.h"

#include <stdio.h>

void text_free(Text *t) {
    memory_free(t->memory, t->bytes);
    *t = TEXT_IN(t->memory);
}

Text text_for(const Process *p) {
    size_t words = p->heap.limit_words;
    return (Text){.memory = p->vm->memory,
                  .most = words && words < STRING_MAX_BYTES / sizeof(Value) ? words * sizeof(Value) : 0};
}

bool text_reserve(Text *t, size_t more) {
    if (t->failed) return false;
    if (more <= t->capacity - t->length) return true;
    size_t most = t->most ? t->most : STRING_MAX_BYTES;
    if (more > most || t->length > most - (t->most ? more : 0)) {
        t->failed = true;
        return false;
    }
    size_t capacity = t->capacity < 64 ? 64 : t->capacity;
    while (capacity - t->length < more) capacity += capacity / 2;
    char *bytes = memory_realloc(t->memory, t->bytes, capacity);
    if (!bytes) {
        t->failed = true;
        return false;
    }
    t->bytes = bytes;
    t->capacity = capacity;
    return true;
}

void text_append(Text *t, const char *bytes, size_t length) {
    if (length == 0 || !text_reserve(t, length)) return;
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
}

void text_append_cstring(Text *t, const char *cstring) { text_append(t, cstring, strlen(cstring)); }

void text_append_char(Text *t, char c) { text_append(t, &c, 1); }

void text_append_codepoint(Text *t, uint32_t codepoint) {
    char bytes[4];
    unsigned length = utf8_encode(codepoint, bytes);
    text_append(t, bytes, length);
}

void text_appendf(Text *t, const char *format, ...) {
    char small[256];
    va_list arguments;
    va_start(arguments, format);
    int needed = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (needed < 0) return;
    if ((size_t)needed < sizeof small) {
        text_append(t, small, (size_t)needed);
        return;
    }
    if (!text_reserve(t, (size_t)needed + 1)) return;
    va_start(arguments, format);
    vsnprintf(t->bytes + t->length, (size_t)needed + 1, format, arguments);
    va_end(arguments);
    t->length += (size_t)needed;
}

void text_truncate(Text *t, size_t length) {
    if (length < t->length) t->length = length;
}

PrimStatus text_to_string(Process *p, Text *t, Value *out) {
    PrimStatus status = t->failed
                            ? error_resource(p, t->most ? "The text would be larger than the heap of this "
                                                          "process may be"
                                                        : "The text does not fit in memory.")
                            : string_new(p, t->bytes, t->length, out);
    text_free(t);
    return status;
}
