#include "vm/string.h"
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/rooted.h"
#include "vm/text.h"
#include "vm/unicode.h"
#include "vm/vm.h"

/* Word indexes of the two layouts (object_kinds.def). */
enum { INLINE_LENGTH = 1, INLINE_BYTES = 2 };
enum { REF_BUFFER = 2, REF_LENGTH = 3, REF_OFFSET = 4, REF_WORDS = 5 };

#define SYMBOL_MAX_CHARACTERS 255

/* Bytes off the heap. [0, used) is written and never changes; [used, capacity) is slack for whoever claims
 * it. */
typedef struct {
    Counted counted;
    size_t capacity;
    _Atomic size_t used;
    char bytes[];
} StringBuffer;

static void buffer_drop(const Memory *memory, Counted *c) { memory_free(memory, c); }

static StringBuffer *buffer_new(Process *p, size_t capacity, size_t used) {
    StringBuffer *b = memory_alloc(p->vm->memory, sizeof *b + capacity);
    if (!b) return NULL;
    atomic_init(&b->counted.refs, 1);
    b->counted.drop = buffer_drop;
    b->capacity = capacity;
    atomic_init(&b->used, used);
    return b;
}

static StringBuffer *ref_buffer(Value v) { return (StringBuffer *)(uintptr_t)object_words(v)[REF_BUFFER]; }

static PrimStatus too_long(Process *p) { return error_resource(p, "A string cannot have so many bytes."); }

/* The strings of one ASCII character, and the empty one, are made once for all: iterating over plain text
 * allocates none. */
#define ASCII_FLAGS(c) (STRING_UTF8_KNOWN | STRING_UTF8_VALID | ((c) == '\r' ? 0u : STRING_SIMPLE))
#define LITERAL_HEADER(words)                                                                                \
    (((uint64_t)CLASS_ID_String << 40) | ((uint64_t)KIND_STRING << 34) | ((uint64_t)OBJ_LITERAL << 29) |     \
     ((uint64_t)(words) << 1))
#define ASCII_1(c)                                                                                           \
    { LITERAL_HEADER(3), (1u << 8) | ASCII_FLAGS(c), (c) }
#define ASCII_4(c) ASCII_1(c), ASCII_1((c) + 1), ASCII_1((c) + 2), ASCII_1((c) + 3)
#define ASCII_16(c) ASCII_4(c), ASCII_4((c) + 4), ASCII_4((c) + 8), ASCII_4((c) + 12)
#define ASCII_64(c) ASCII_16(c), ASCII_16((c) + 16), ASCII_16((c) + 32), ASCII_16((c) + 48)
static const uint64_t ASCII_STRINGS[128][3] = {ASCII_64(0), ASCII_64(64)};
static const uint64_t EMPTY_STRING[2] = {LITERAL_HEADER(2), ASCII_FLAGS(0)};
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a character stands in the first byte of its word");

/* One of the strings above, or V_HOLE. */
static Value shared_string(const char *bytes, size_t length) {
    if (length == 0) return (Value)(uintptr_t)EMPTY_STRING;
    unsigned char c = (unsigned char)bytes[0];
    return length == 1 && c < 0x80 ? (Value)(uintptr_t)ASCII_STRINGS[c] : V_HOLE;
}

const char *string_bytes(Value v, size_t *length) {
    uint64_t *words = object_words(v);
    if (object_kind(v) == KIND_STRING) {
        *length = words[INLINE_LENGTH] >> 8;
        return (const char *)(words + INLINE_BYTES);
    }
    *length = words[REF_LENGTH] >> 8;
    return ref_buffer(v)->bytes + words[REF_OFFSET];
}

const char *string_stable_bytes(Value v, size_t *length, Text *copy) {
    const char *bytes = string_bytes(v, length);
    if (object_kind(v) != KIND_STRING || (header_flags(object_header(v)) & OBJ_LITERAL)) return bytes;
    text_append(copy, bytes, *length);
    return copy->failed ? NULL : *length ? copy->bytes : bytes;
}

static unsigned scan_flags(const char *bytes, size_t length) {
    if (utf8_is_simple(bytes, length)) return STRING_SIMPLE | STRING_UTF8_KNOWN | STRING_UTF8_VALID;
    return STRING_UTF8_KNOWN | (utf8_is_valid(bytes, length, NULL) ? STRING_UTF8_VALID : 0u);
}

/* The number of bytes and the flags. */
static uint64_t *length_word(Value v) {
    return object_words(v) + (object_kind(v) == KIND_STRING ? INLINE_LENGTH : REF_LENGTH);
}

unsigned string_flags(Value v) {
    uint64_t *word = length_word(v);
    if (*word & STRING_UTF8_KNOWN) return (unsigned)(*word & 0xff);
    size_t length;
    const char *bytes = string_bytes(v, &length);
    unsigned flags = scan_flags(bytes, length);
    /* Literals are made with their flags; all else belongs to the process that asks. */
    if (!(header_flags(object_header(v)) & OBJ_LITERAL)) *word |= flags;
    return flags;
}

/* --- making
 * ---------------------------------------------------------------------------------------------------------------
 */

/* Object words already reserved. The buffer's count goes to the object. */
static Value build_ref(Process *p, StringBuffer *buffer, size_t offset, size_t length, unsigned flags,
                       size_t charged_bytes) {
    Value v = heap_new(p, KIND_STRING_REF, CLASS_ID_String, REF_WORDS);
    uint64_t *words = object_words(v);
    words[REF_BUFFER] = (uint64_t)(uintptr_t)buffer;
    words[REF_LENGTH] = (length << 8) | flags;
    words[REF_OFFSET] = offset;
    heap_link_offheap(p, words, charged_bytes / 8);
    return v;
}

static Value build_inline_blank(Process *p, size_t length) {
    Value v = heap_new(p, KIND_STRING, CLASS_ID_String, string_inline_words(length));
    uint64_t *words = object_words(v);
    words[INLINE_LENGTH] = length << 8;
    if (length) words[string_inline_words(length) - 1] = 0;
    return v;
}

PrimStatus string_new_blank(Process *p, size_t length, char **bytes, Value *out) {
    if (length > STRING_MAX_BYTES) return too_long(p);
    if (length <= STRING_INLINE_MAX) {
        if (!heap_reserve(p, string_inline_words(length))) return PRIM_RAISE;
        *out = build_inline_blank(p, length);
        *bytes = (char *)(object_words(*out) + INLINE_BYTES);
        return PRIM_OK;
    }
    if (!heap_reserve_offheap(p, REF_WORDS, length / 8)) return PRIM_RAISE;
    StringBuffer *buffer = buffer_new(p, length, length);
    if (!buffer) return error_resource(p, "There is no memory for the bytes of a string.");
    *out = build_ref(p, buffer, 0, length, 0, length);
    *bytes = buffer->bytes;
    return PRIM_OK;
}

void string_seal(Value string) { (void)string_flags(string); }
void string_seal_as(Value string, unsigned flags) { *length_word(string) |= flags; }

PrimStatus string_new(Process *p, const char *bytes, size_t length, Value *out) {
    char *to;
    if ((*out = shared_string(bytes, length)) != V_HOLE) return PRIM_OK;
    PrimStatus status = string_new_blank(p, length, &to, out);
    if (status != PRIM_OK) return status;
    if (length) memcpy(to, bytes, length);
    string_seal(*out);
    return PRIM_OK;
}

PrimStatus string_from_cstring(Process *p, const char *cstring, Value *out) {
    return string_new(p, cstring, strlen(cstring), out);
}

PrimStatus string_from_codepoint(Process *p, uint32_t codepoint, Value *out) {
    char bytes[4];
    unsigned length = utf8_encode(codepoint, bytes);
    return string_new(p, bytes, length, out);
}

Value string_build_inline(Process *p, const char *bytes, size_t length) {
    Value v = shared_string(bytes, length);
    if (v != V_HOLE) return v;
    v = build_inline_blank(p, length);
    if (length) memcpy(object_words(v) + INLINE_BYTES, bytes, length);
    string_seal(v);
    return v;
}

Value string_make_literal(uint64_t *words, const char *bytes, size_t length) {
    size_t size = string_inline_words(length);
    words[0] = header_make(CLASS_ID_String, KIND_STRING, OBJ_LITERAL, size);
    words[INLINE_LENGTH] = (length << 8) | scan_flags(bytes, length);
    if (length) {
        words[size - 1] = 0;
        memcpy(words + INLINE_BYTES, bytes, length);
    }
    return value_from_object(words);
}

/* --- slices and concatenation
 * --------------------------------------------------------------------------------------------- */

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Flags of bytes [from, from + length) of s, without looking at more than the ends of a long slice. */
static unsigned slice_flags(Value s, const char *bytes, size_t total, size_t from, size_t length) {
    unsigned flags = string_flags(s);
    if (flags & STRING_SIMPLE) return flags;
    if (length <= 1024) return scan_flags(bytes + from, length);
    bool whole =
        !is_continuation(bytes[from]) && (from + length == total || !is_continuation(bytes[from + length]));
    return (flags & STRING_UTF8_VALID) && whole ? STRING_UTF8_KNOWN | STRING_UTF8_VALID : 0;
}

static PrimStatus slice_copied(Process *p, Value s, size_t from, size_t length, Value *out) {
    RootSpan span;
    char *to;
    roots_push(p, &span, &s, 1);
    PrimStatus status = string_new_blank(p, length, &to, out);
    roots_pop(p, &span);
    if (status != PRIM_OK) return status;
    size_t total;
    const char *bytes = string_bytes(s, &total);
    memcpy(to, bytes + from, length);
    string_seal(*out);
    return PRIM_OK;
}

PrimStatus string_slice(Process *p, Value s, size_t from, size_t length, Value *out) {
    size_t total;
    const char *bytes = string_bytes(s, &total);
    if (from == 0 && length == total) {
        *out = s;
        return PRIM_OK;
    }
    if (length <= STRING_INLINE_MAX || object_kind(s) == KIND_STRING)
        return slice_copied(p, s, from, length, out);
    StringBuffer *buffer = ref_buffer(s);
    /* A small slice must not keep a big buffer alive. */
    if (length < buffer->capacity / 8) return slice_copied(p, s, from, length, out);
    unsigned flags = slice_flags(s, bytes, total, from, length);
    size_t offset = object_words(s)[REF_OFFSET] + from;
    if (!heap_reserve_rooted(p, REF_WORDS, &s, 1)) return PRIM_RAISE;
    counted_retain(&buffer->counted);
    *out = build_ref(p, buffer, offset, length, flags, 0);
    return PRIM_OK;
}

/* Flags of left ++ right from those of the parts; 0 = must be scanned when asked. */
static unsigned concat_flags(unsigned left, Value left_value, unsigned right) {
    if (left & right & STRING_SIMPLE) return left;
    if (left & STRING_UTF8_VALID) return STRING_UTF8_KNOWN | (right & STRING_UTF8_VALID);
    /* Bytes behind can mend an incomplete tail, but nothing before it. */
    size_t length, bad;
    const char *bytes = string_bytes(left_value, &length);
    if (!utf8_is_valid(bytes, length, &bad) && bad + 4 <= length) return STRING_UTF8_KNOWN;
    return 0;
}

/* Claims `more` bytes behind v in its own buffer; NULL if v is no tail or there is no room. */
static char *claim_tail(Value v, size_t more) {
    if (object_kind(v) != KIND_STRING_REF) return NULL;
    StringBuffer *buffer = ref_buffer(v);
    size_t length;
    const char *bytes = string_bytes(v, &length);
    size_t end = (size_t)(bytes - buffer->bytes) + length;
    if (more > buffer->capacity - end) return NULL;
    /* Relaxed: the bytes behind `end` reach another process only by a message, which orders them. */
    if (!atomic_compare_exchange_strong_explicit(&buffer->used, &end, end + more, memory_order_relaxed,
                                                 memory_order_relaxed)) {
        return NULL;
    }
    return buffer->bytes + end;
}

static void copy_parts(char *to, const Value *parts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *bytes = string_bytes(parts[i], &length);
        memcpy(to, bytes, length);
        to += length;
    }
}

/* parts[0] ++ the rest, in parts[0]'s own buffer. Words are reserved. False if that cannot be. */
static bool append_in_place(Process *p, const Value *parts, size_t count, size_t total, Value *out) {
    Value left = parts[0];
    size_t left_length = string_length(left);
    char *tail = claim_tail(left, total - left_length);
    if (!tail) return false;
    copy_parts(tail, parts + 1, count - 1);
    unsigned right = STRING_SIMPLE | STRING_UTF8_KNOWN | STRING_UTF8_VALID;
    for (size_t i = 1; i < count; i++) right &= string_flags(parts[i]);
    unsigned flags =
        count == 2 || (right & STRING_UTF8_VALID) ? concat_flags(string_flags(left), left, right) : 0;
    StringBuffer *buffer = ref_buffer(left);
    counted_retain(&buffer->counted);
    *out = build_ref(p, buffer, object_words(left)[REF_OFFSET], total, flags, total - left_length);
    return true;
}

/* Room behind a string that was made by appending: the next appends go there. */
static size_t slack_for(size_t total) { return total / 2 + 32; }

/* simple: the flags if they are known to be those of plain text, else 0. */
static PrimStatus concat_long(Process *p, const Value *parts, size_t count, size_t total, unsigned simple,
                              Value *out) {
    if (!heap_reserve_offheap(p, REF_WORDS, total / 8)) return PRIM_RAISE;
    if (append_in_place(p, parts, count, total, out)) return PRIM_OK;
    StringBuffer *buffer = buffer_new(p, total + slack_for(total), total);
    if (!buffer) buffer = buffer_new(p, total, total);
    if (!buffer) return error_resource(p, "There is no memory for the bytes of a string.");
    copy_parts(buffer->bytes, parts, count);
    if (!simple) simple = scan_flags(buffer->bytes, total);
    *out = build_ref(p, buffer, 0, total, simple, buffer->capacity);
    return PRIM_OK;
}

PrimStatus string_concat_many(Process *p, const Value *parts, size_t count, Value *out) {
    size_t total = 0;
    unsigned simple = STRING_SIMPLE | STRING_UTF8_KNOWN | STRING_UTF8_VALID;
    for (size_t i = 0; i < count; i++) {
        uint64_t word = *length_word(parts[i]);
        total += word >> 8;
        simple &= (unsigned)word;
        if (total > STRING_MAX_BYTES) return too_long(p);
    }
    if (!(simple & STRING_SIMPLE)) simple = 0; /* plain text behind plain text is plain: no scan */
    if (total > STRING_INLINE_MAX) return concat_long(p, parts, count, total, simple, out);
    if (!heap_reserve(p, string_inline_words(total))) return PRIM_RAISE;
    Value joined = build_inline_blank(p, total); /* out may be one of the parts */
    copy_parts((char *)(object_words(joined) + INLINE_BYTES), parts, count);
    object_words(joined)[INLINE_LENGTH] |= simple;
    string_seal(joined);
    *out = joined;
    return PRIM_OK;
}

#define QUICK_MAX_BYTES 1024u

/* Plain text behind plain text, short or into the slack of left's buffer, while there is room for the object:
 * nothing is scanned, reserved or rooted. False: not so. */
static bool concat_quickly(Process *p, Value left, Value right, Value *out) {
    uint64_t left_word = *length_word(left), right_word = *length_word(right);
    size_t length = right_word >> 8, total = (left_word >> 8) + length, unused;
    bool is_inline = total <= STRING_INLINE_MAX;
    if (!(left_word & right_word & STRING_SIMPLE) || length > QUICK_MAX_BYTES) return false;
    if (!heap_has_room(p, is_inline ? string_inline_words(total) : REF_WORDS)) return false;
    if (is_inline) {
        Value joined = build_inline_blank(p, total);
        char *to = (char *)(object_words(joined) + INLINE_BYTES);
        memcpy(to, string_bytes(left, &unused), total - length);
        memcpy(to + total - length, string_bytes(right, &unused), length);
        object_words(joined)[INLINE_LENGTH] |= left_word & 0xff;
        return *out = joined, true;
    }
    char *tail = claim_tail(left, length);
    if (!tail) return false;
    memcpy(tail, string_bytes(right, &unused), length);
    StringBuffer *buffer = ref_buffer(left);
    counted_retain(&buffer->counted);
    return *out = build_ref(p, buffer, object_words(left)[REF_OFFSET], total, left_word & 0xff, length), true;
}

PrimStatus string_concat(Process *p, Value left, Value right, Value *out) {
    if (string_length(right) == 0 || string_length(left) == 0) {
        *out = string_length(right) == 0 ? left : right;
        return PRIM_OK;
    }
    if (concat_quickly(p, left, right, out)) return PRIM_OK;
    Value parts[2] = {left, right};
    RootSpan span;
    roots_push(p, &span, parts, 2);
    PrimStatus status = string_concat_many(p, parts, 2, out);
    roots_pop(p, &span);
    return status;
}

/* --- symbols
 * --------------------------------------------------------------------------------------------------------------
 */

PrimStatus string_from_symbol(Process *p, Value symbol, Value *out) {
    size_t length;
    const char *text = symbol_text(p->vm, symbol, &length);
    return string_new(p, text, length, out);
}

static size_t count_codepoints(const char *bytes, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += !is_continuation(bytes[i]);
    return count;
}

PrimStatus string_to_symbol(Process *p, Value s, Value *out) {
    size_t length;
    const char *bytes = string_bytes(s, &length);
    if (string_equal_cstring(s, "nil")) {
        *out = V_NIL;
    } else if (string_equal_cstring(s, "true")) {
        *out = V_TRUE;
    } else if (string_equal_cstring(s, "false")) {
        *out = V_FALSE;
    } else {
        if (count_codepoints(bytes, length) > SYMBOL_MAX_CHARACTERS) {
            return error_resource(p, "A symbol has at most 255 characters.");
        }
        *out = symbol_intern_counted(p->vm, bytes, length);
        if (*out == V_HOLE) return error_resource(p, "The table of symbols is full.");
    }
    return PRIM_OK;
}

/* --- comparing and clusters
 * ----------------------------------------------------------------------------------------------- */

int string_compare(Value a, Value b) {
    size_t a_length, b_length;
    const char *a_bytes = string_bytes(a, &a_length), *b_bytes = string_bytes(b, &b_length);
    int order = memcmp(a_bytes, b_bytes, a_length < b_length ? a_length : b_length);
    if (order != 0) return order < 0 ? -1 : 1;
    return (a_length > b_length) - (a_length < b_length);
}

bool string_equal_cstring(Value s, const char *cstring) {
    size_t length;
    const char *bytes = string_bytes(s, &length);
    return length == strlen(cstring) && memcmp(bytes, cstring, length) == 0;
}

size_t string_next_cluster(Value s, size_t offset) {
    if (string_is_simple(s)) return offset + 1;
    size_t length;
    const char *bytes = string_bytes(s, &length);
    return unicode_cluster_end(bytes, length, offset);
}

size_t string_cluster_offset(Value s, size_t number) {
    size_t length, at = 0;
    const char *bytes = string_bytes(s, &length);
    if (string_is_simple(s)) return number < length ? number : length;
    for (; number > 0 && at < length; number--) at = unicode_cluster_end(bytes, length, at);
    return at;
}

size_t string_cluster_count(Value s) {
    size_t length, count = 0;
    const char *bytes = string_bytes(s, &length);
    if (string_is_simple(s)) return length;
    for (size_t at = 0; at < length; count++) at = unicode_cluster_end(bytes, length, at);
    return count;
}
