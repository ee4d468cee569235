/* Strings and binaries: immutable byte strings, inline up to STRING_INLINE_MAX bytes, longer ones off the
 * heap in a counted buffer that slices and appended strings share. String or Binary is a property of the
 * bytes (valid UTF-8 or not), kept in flags.
 *
 * Owner: the process (heap part); buffers are shared by processes. A buffer has slack behind its used part:
 * whoever claims the tail (compare-and-swap on `used`) may append in place, so building a string by appending
 * is amortised O(1). Elements are extended grapheme clusters; indexes in clusters are 1-based, byte offsets
 * 0-based.
 */
#ifndef BT_VM_STRING_H
#define BT_VM_STRING_H

#include "vm/process.h"

#define STRING_INLINE_MAX 64u
#define STRING_MAX_BYTES ((size_t)1 << 31)

/* Low byte of the length word. */
enum {
    STRING_SIMPLE = 1,     /* all ASCII and no CR: one byte is one cluster */
    STRING_UTF8_KNOWN = 2, /* STRING_UTF8_VALID says the truth */
    STRING_UTF8_VALID = 4
};

static inline bool value_is_bytes(Value v) {
    return value_is_ptr(v) && (object_kind(v) == KIND_STRING || object_kind(v) == KIND_STRING_REF);
}
static inline size_t string_length(Value v) { /* bytes */
    return (size_t)(object_words(v)[object_kind(v) == KIND_STRING ? 1 : 3] >> 8);
}
/* The bytes and their number. Inline bytes move with the object: take them again after any reserve. Not NUL
 * terminated. */
const char *string_bytes(Value v, size_t *length);
/* The bytes where no collection moves them: in the buffer or literal, else copied to `copy` (the caller frees
 * it). NULL: no memory. v itself must stay rooted. */
typedef struct Text Text;
const char *string_stable_bytes(Value v, size_t *length, Text *copy);
/* Flags, with UTF8_KNOWN settled (scans once if need be; owner of the heap only). */
unsigned string_flags(Value v);
static inline bool string_is_simple(Value v) { return (string_flags(v) & STRING_SIMPLE) != 0; }
/* True for String, false for Binary. v must be bytes. */
static inline bool string_is_text(Value v) { return (string_flags(v) & STRING_UTF8_VALID) != 0; }
static inline bool value_is_string(Value v) { return value_is_bytes(v) && string_is_text(v); }

/* Making. MAY_GC. The bytes must not lie in the process's heap (they might move): see string_slice,
 * string_concat. */
PrimStatus string_new(Process *p, const char *bytes, size_t length, Value *out);
PrimStatus string_from_cstring(Process *p, const char *cstring, Value *out);
PrimStatus string_from_codepoint(Process *p, uint32_t codepoint, Value *out);
/* Uninitialised string of a length to be filled at *bytes before the next reserve, then settled by
 * string_seal. */
PrimStatus string_new_blank(Process *p, size_t length, char **bytes, Value *out);
void string_seal(Value string);
/* The same where the flags are known. */
void string_seal_as(Value string, unsigned flags);
/* Bytes [from, from + length) of s; shares the buffer if that is worth it. */
PrimStatus string_slice(Process *p, Value s, size_t from, size_t length, Value *out);
/* left ++ right; uses the slack of left's buffer when its tail is free. Both must be bytes. */
PrimStatus string_concat(Process *p, Value left, Value right, Value *out);
/* Concatenation of count strings (interpolation): one allocation. The values must be rooted (frame
 * registers). */
PrimStatus string_concat_many(Process *p, const Value *parts, size_t count, Value *out);
/* Text of a symbol as a String. */
PrimStatus string_from_symbol(Process *p, Value symbol, Value *out);
/* The symbol spelled s, counted against the VM's bound; "nil", "true", "false" answer those values. */
PrimStatus string_to_symbol(Process *p, Value s, Value *out);

/* Words that reserve-first builders must reserve for a string of this length that string_build_inline makes
 * (length <= STRING_INLINE_MAX); it cannot fail. */
static inline size_t string_inline_words(size_t length) { return 2 + (length + 7) / 8; }
Value string_build_inline(Process *p, const char *bytes, size_t length);
/* An inline string of any length in memory that the caller owns (literals): string_inline_words(length)
 * words, flags settled. */
Value string_make_literal(uint64_t *words, const char *bytes, size_t length);

/* Bytewise order, equality. */
int string_compare(Value a, Value b);
bool string_equal_cstring(Value s, const char *cstring);

/* Clusters. Offsets are bytes at a cluster boundary. */
size_t string_cluster_count(Value s);
size_t string_next_cluster(Value s, size_t offset); /* offset of the cluster behind the one at offset */
/* Byte offset of the cluster with this 0-based number, or the length if there are fewer. */
size_t string_cluster_offset(Value s, size_t number);

#endif
