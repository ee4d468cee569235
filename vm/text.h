/* Text: a growable native byte buffer, for building strings and output. Failure sticks: after an allocation
 * failure every append is a no-op and `failed` tells. Owner: whoever made it; text_free or text_take ends it.
 */
#ifndef BT_VM_TEXT_H
#define BT_VM_TEXT_H

#include <stdarg.h>
#include "vm/process.h"

typedef struct Text {
    const Memory *memory; /* of the bytes */
    char *bytes;
    size_t length, capacity;
    bool failed;
    size_t most; /* bytes that it may have; 0: as many as a String */
} Text;

#define TEXT_IN(where) ((Text){.memory = (where)})
#define TEXT_INIT TEXT_IN(NULL)
/* One for a String of this process: it never gets larger than the process's heap may be. */
Text text_for(const Process *p);
void text_free(Text *t);
void text_append(Text *t, const char *bytes, size_t length);
void text_append_cstring(Text *t, const char *cstring);
void text_append_char(Text *t, char c);
void text_append_codepoint(Text *t, uint32_t codepoint);
void text_appendf(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for `more` bytes at bytes + length; false on failure. */
bool text_reserve(Text *t, size_t more);
void text_truncate(Text *t, size_t length);
/* A String (or Binary) of the bytes; frees the buffer in every case. PRIM_RAISE (resource_error) if the
 * buffer had failed. MAY_GC. */
PrimStatus text_to_string(Process *p, Text *t, Value *out);
/* 0-15, -1 if it is no hexadecimal digit. */
static inline int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

#endif
