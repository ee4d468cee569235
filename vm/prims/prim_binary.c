/* Primitives of Binary: bytes, and their text forms. The receiver may be any byte string. */
#include "vm/bytecode/memory.h"
#include "vm/list.h"
#include "vm/number.h"
#include "vm/prims/iolist.h"
#include "vm/prims/prim_text.h"
#include "vm/unicode.h"
#include "vm/wire.h"

/* --- nested lists
 * ---------------------------------------------------------------------------------------------------------
 */

static bool append_number(Text *t, Value v, IolistNumbers numbers) {
    if (!value_is_int(v)) return false;
    int64_t i = value_to_int(v);
    if (numbers == IOLIST_CODEPOINTS) {
        if (!unicode_is_scalar(i)) return false;
        text_append_codepoint(t, (uint32_t)i);
        return true;
    }
    if (i < 0 || i > 255) return false;
    text_append_char(t, (char)i);
    return true;
}

typedef struct {
    Value *cursors; /* rests of the lists that are open */
    size_t count, capacity;
} ListStack;

static bool stack_push_list(const Memory *memory, ListStack *s, Value list) {
    if (s->count == s->capacity) {
        Value *cursors = memory_grown(memory, s->cursors, &s->capacity, sizeof *cursors, 16);
        if (!cursors) return false;
        s->cursors = cursors;
    }
    s->cursors[s->count++] = list;
    return true;
}

static void append_bytes(Text *t, Value x) {
    size_t length;
    const char *bytes = string_bytes(x, &length);
    text_append(t, bytes, length);
}

bool iolist_append(Text *t, Value x, IolistNumbers numbers) {
    if (value_is_bytes(x)) { /* the most common: no list to walk */
        append_bytes(t, x);
        return !t->failed;
    }
    ListStack s = {NULL, 0, 0};
    bool ok = true;
    for (;;) {
        if (value_is_bytes(x)) {
            append_bytes(t, x);
        } else if (value_is_kind(x, KIND_CONS)) {
            if (!stack_push_list(t->memory, &s, x)) t->failed = true;
        } else if (x != V_EMPTY_LIST) {
            ok = append_number(t, x, numbers);
        }
        ok = ok && !t->failed;
        while (s.count > 0 && s.cursors[s.count - 1] == V_EMPTY_LIST) s.count--;
        if (!ok || s.count == 0) break;
        Value cell = s.cursors[s.count - 1];
        bool proper = value_is_kind(cell, KIND_CONS);
        s.cursors[s.count - 1] = proper ? CONS_TAIL(cell) : V_EMPTY_LIST;
        x = proper ? CONS_HEAD(cell) : cell;
    }
    memory_free(t->memory, s.cursors);
    return ok;
}

PRIM(prim_binary_from_bytes) {
    (void)count;
    Text t = text_for(p);
    Value at = args[1];
    while (value_is_kind(at, KIND_CONS) && append_number(&t, CONS_HEAD(at), IOLIST_BYTES)) at = CONS_TAIL(at);
    if (at == V_EMPTY_LIST) return text_to_string(p, &t, result);
    text_free(&t);
    return prim_type_error(p, args[0], "fromBytes:", "Expected a List of Integers from 0 to 255");
}

PRIM(prim_binary_from_iolist) {
    (void)count;
    Text t = text_for(p);
    if ((list_is(args[1]) || value_is_bytes(args[1])) &&
        (iolist_append(&t, args[1], IOLIST_BYTES) || t.failed)) {
        return text_to_string(p, &t, result);
    }
    text_free(&t);
    return prim_type_error(p, args[0],
                           "fromIolist:", "Expected a String or a nested List of Strings and bytes");
}

/* --- access
 * ---------------------------------------------------------------------------------------------------------------
 */

PRIM(prim_binary_size) {
    (void)p, (void)count;
    *result = value_from_int((int64_t)string_length(args[0]));
    return PRIM_OK;
}

static Value byte_value(Value s, size_t offset) {
    size_t length;
    return value_from_int((unsigned char)string_bytes(s, &length)[offset]);
}

PRIM(prim_binary_at) {
    (void)count;
    size_t length = string_length(args[0]);
    if (!number_is_integer(args[1]))
        return prim_type_error(p, args[0], "at:", "The index must be an Integer");
    if (number_compare(args[1], value_from_int(1)) < 0) {
        return prim_raise(p, ERR_index_out_of_bounds, args[0],
                          "at:", "Index must be >= 1 (1-based indexing)");
    }
    if (length == 0) return prim_empty(p, args[0], "at:", EMPTY_TEXT_HINT);
    if (number_compare(args[1], value_from_int((int64_t)length)) > 0) {
        return prim_raise(p, ERR_index_out_of_bounds, args[0], "at:", "Index is beyond the last byte");
    }
    *result = byte_value(args[0], (size_t)value_to_int(args[1]) - 1);
    return PRIM_OK;
}

PRIM(prim_binary_byte_at) {
    (void)count;
    if (!number_is_integer(args[1]))
        return prim_type_error(p, args[0], "byteAt:", "The offset must be an Integer");
    if (!value_is_int(args[1]) || value_to_int(args[1]) < 0 ||
        (uint64_t)value_to_int(args[1]) >= string_length(args[0])) {
        return prim_raise(p, ERR_index_out_of_bounds, args[0], "byteAt:", "Offsets of bytes count from 0");
    }
    *result = byte_value(args[0], (size_t)value_to_int(args[1]));
    return PRIM_OK;
}

PRIM(prim_binary_part) {
    (void)count;
    if (!number_is_integer(args[1]) || !number_is_integer(args[2])) {
        return prim_type_error(p, args[0], "part:size:", "Offset and size must be Integers");
    }
    size_t length = string_length(args[0]);
    int64_t from = value_is_int(args[1]) ? value_to_int(args[1]) : -1,
            size = value_is_int(args[2]) ? value_to_int(args[2]) : -1;
    if (from < 0 || size < 0 || (size_t)from > length || (size_t)size > length - (size_t)from) {
        return prim_raise(p, ERR_index_out_of_bounds, args[0],
                          "part:size:", "The part reaches beyond the bytes");
    }
    return string_slice(p, args[0], (size_t)from, (size_t)size, result);
}

PRIM(prim_binary_concat) {
    (void)count;
    if (!value_is_bytes(args[1]))
        return prim_type_error(p, args[0], "concat:", "Expected a Binary or a String");
    return string_concat(p, args[0], args[1], result);
}

PRIM(prim_binary_to_bytes) {
    (void)count;
    size_t length = string_length(args[0]);
    if (!heap_reserve(p, length * LIST_CELL_WORDS)) return PRIM_RAISE;
    const char *bytes = string_bytes(args[0], &length);
    Value list = V_EMPTY_LIST;
    for (size_t i = length; i > 0; i--) {
        list = list_cons_reserved(p, value_from_int((unsigned char)bytes[i - 1]), list);
    }
    *result = list;
    return PRIM_OK;
}

static Value pair(Process *p, Value first, Value second) {
    Value tuple = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, 3);
    object_words(tuple)[1] = first;
    object_words(tuple)[2] = second;
    return tuple;
}

/* UTF-8: the receiver; else {#error, {#invalid_utf8, offset}}. */
PRIM(prim_binary_as_string) {
    (void)count;
    size_t length, bad;
    const char *bytes = string_bytes(args[0], &length);
    if (utf8_is_valid(bytes, length, &bad)) {
        *result = args[0];
        return PRIM_OK;
    }
    Value reason = prim_selector(p, "invalid_utf8");
    if (!heap_reserve(p, 6)) return PRIM_RAISE;
    *result = pair(p, SYMBOL(error), pair(p, reason, value_from_int((int64_t)bad)));
    return PRIM_OK;
}

/* --- base 16
 * --------------------------------------------------------------------------------------------------------------
 */

PRIM(prim_binary_as_hex) {
    (void)count;
    char *out;
    size_t length = string_length(args[0]);
    PrimStatus status = string_new_blank(p, 2 * length, &out, result);
    if (status != PRIM_OK) return status;
    const char *bytes = string_bytes(args[0], &length);
    for (size_t i = 0; i < length; i++) {
        out[2 * i] = "0123456789abcdef"[(unsigned char)bytes[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    string_seal(*result);
    return PRIM_OK;
}

/* The byte string, or nil for malformed text. */
PRIM(prim_binary_from_hex) {
    (void)count;
    if (!value_is_bytes(args[1])) return prim_type_error(p, args[0], "fromHex:", "Expected a String");
    Text t = text_for(p);
    size_t length;
    const char *bytes = string_bytes(args[1], &length);
    bool ok = length % 2 == 0;
    for (size_t i = 0; i < length && ok; i += 2) {
        int high = hex_digit(bytes[i]), low = hex_digit(bytes[i + 1]);
        ok = high >= 0 && low >= 0;
        text_append_char(&t, (char)(high * 16 + low));
    }
    if (ok) return text_to_string(p, &t, result);
    text_free(&t);
    *result = V_NIL;
    return PRIM_OK;
}

/* --- base 64
 * --------------------------------------------------------------------------------------------------------------
 */

static const char BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char BASE64_URL[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static PrimStatus encode_base64(Process *p, Value *args, const char *alphabet, Value *result) {
    char *out;
    size_t length = string_length(args[0]);
    PrimStatus status = string_new_blank(p, (length + 2) / 3 * 4, &out, result);
    if (status != PRIM_OK) return status;
    const unsigned char *in = (const unsigned char *)string_bytes(args[0], &length);
    for (size_t i = 0; i < length; i += 3, out += 4) {
        unsigned group = (unsigned)in[i] << 16;
        if (i + 1 < length) group |= (unsigned)in[i + 1] << 8;
        if (i + 2 < length) group |= in[i + 2];
        out[0] = alphabet[group >> 18];
        out[1] = alphabet[(group >> 12) & 63];
        out[2] = i + 1 < length ? alphabet[(group >> 6) & 63] : '=';
        out[3] = i + 2 < length ? alphabet[group & 63] : '=';
    }
    string_seal(*result);
    return PRIM_OK;
}

PRIM(prim_binary_as_base64) { return (void)count, encode_base64(p, args, BASE64, result); }
PRIM(prim_binary_as_base64_url) { return (void)count, encode_base64(p, args, BASE64_URL, result); }

static bool decode_base64(Text *t, const char *bytes, size_t length, bool url) {
    const char *alphabet = url ? BASE64_URL : BASE64;
    size_t padding = 0;
    while (padding < 2 && padding < length && bytes[length - 1 - padding] == '=') padding++;
    if ((padding > 0 || !url) && length % 4 != 0) return false;
    length -= padding;
    if (length % 4 == 1) return false;
    unsigned group = 0, bits = 0;
    for (size_t i = 0; i < length; i++) {
        const char *digit = bytes[i] ? strchr(alphabet, bytes[i]) : NULL;
        if (!digit) return false;
        group = (group << 6) | (unsigned)(digit - alphabet);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        text_append_char(t, (char)(group >> bits));
        group &= (1u << bits) - 1;
    }
    return group == 0; /* bits that no byte uses must not be set */
}

/* args: text, true for the URL alphabet. The byte string, or nil for malformed text. */
PRIM(prim_binary_from_base64) {
    (void)count;
    bool url = args[2] == V_TRUE;
    if (!value_is_bytes(args[1])) {
        return prim_type_error(p, args[0], url ? "fromBase64Url:" : "fromBase64:", "Expected a String");
    }
    Text t = text_for(p);
    size_t length;
    const char *bytes = string_bytes(args[1], &length);
    if (decode_base64(&t, bytes, length, url)) return text_to_string(p, &t, result);
    text_free(&t);
    *result = V_NIL;
    return PRIM_OK;
}

/* --- any value as bytes
 * --------------------------------------------------------------------------------------------------- */

PRIM(prim_binary_serialize) {
    (void)count;
    Text t = text_for(p);
    if (wire_write(p->vm, &t, args[1]) || t.failed) return text_to_string(p, &t, result);
    text_free(&t);
    return prim_type_error(
        p, args[0], "serialize:", "Blocks, actors, exceptions and native handles cannot be serialized");
}

/* The Tuple {value, bytes used}. */
PRIM(prim_binary_deserialize) {
    (void)count;
    Text copy = text_for(p);
    size_t length, used;
    PrimStatus status = PRIM_FAIL;
    if (value_is_bytes(args[1])) {
        const char *bytes = string_stable_bytes(args[1], &length, &copy);
        Value read = V_NIL;
        status = bytes ? wire_read(p, bytes, length, &read, &used) : error_resource(p, NULL);
        text_free(&copy);
        if (status == PRIM_OK) args[1] = read;
    }
    if (status == PRIM_FAIL) {
        return prim_type_error(p, args[0], "deserialize:", "Expected the bytes that serialize: made");
    }
    if (status != PRIM_OK || !heap_reserve(p, 3)) return PRIM_RAISE;
    *result = pair(p, args[1], value_from_int((int64_t)used));
    return PRIM_OK;
}
