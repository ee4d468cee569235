/* Primitives of String that make new text: case, reversal, padding, replacing, conversion. */
#define _GNU_SOURCE /* memmem */
#include "vm/number.h"
#include "vm/print.h"
#include "vm/prims/iolist.h"
#include "vm/prims/prim_text.h"
#include "vm/unicode.h"

/* --- class side
 * -----------------------------------------------------------------------------------------------------------
 */

PRIM(prim_string_from_code_point) {
    (void)count;
    if (!value_is_int(args[1]) || !unicode_is_scalar(value_to_int(args[1]))) {
        return prim_type_error(p, args[0], "fromCodePoint:", "Expected a Unicode code point");
    }
    return string_from_codepoint(p, (uint32_t)value_to_int(args[1]), result);
}

PRIM(prim_string_from_code_points) {
    (void)count;
    Text t = text_for(p);
    Value at = args[1];
    for (; value_is_kind(at, KIND_CONS); at = CONS_TAIL(at)) {
        Value c = CONS_HEAD(at);
        if (!value_is_int(c) || !unicode_is_scalar(value_to_int(c))) break;
        text_append_codepoint(&t, (uint32_t)value_to_int(c));
    }
    if (at == V_EMPTY_LIST) return text_to_string(p, &t, result);
    text_free(&t);
    return prim_type_error(p, args[0], "fromCodePoints:", "Expected a List of Unicode code points");
}

PRIM(prim_string_with_all) {
    (void)count;
    Text t = text_for(p);
    Value at = args[1];
    for (; value_is_kind(at, KIND_CONS) && value_is_bytes(CONS_HEAD(at)); at = CONS_TAIL(at)) {
        size_t length;
        const char *bytes = string_bytes(CONS_HEAD(at), &length);
        text_append(&t, bytes, length);
    }
    if (at == V_EMPTY_LIST) return text_to_string(p, &t, result);
    text_free(&t);
    return prim_type_error(p, args[0], "withAll:", "Expected a List of Strings");
}

/* Bytes if they are UTF-8, else the numbers are read as code points. */
PRIM(prim_string_from_iolist) {
    (void)count;
    Text t = text_for(p);
    if (value_is_string(args[1])) return *result = args[1], PRIM_OK;
    bool list = args[1] == V_EMPTY_LIST || value_is_kind(args[1], KIND_CONS) || value_is_bytes(args[1]);
    if (!list)
        return prim_type_error(
            p, args[0], "fromIolist:", "Expected a String or a nested List of Strings, bytes or code points");
    bool ok = iolist_append(&t, args[1], IOLIST_BYTES) && utf8_is_valid(t.bytes, t.length, NULL);
    if (!ok && !t.failed) {
        text_truncate(&t, 0);
        ok = iolist_append(&t, args[1], IOLIST_CODEPOINTS) && utf8_is_valid(t.bytes, t.length, NULL);
    }
    if (ok || t.failed) return text_to_string(p, &t, result);
    text_free(&t);
    return prim_type_error(
        p, args[0], "fromIolist:", "Expected a String or a nested List of Strings, bytes or code points");
}

/* What String>>collect: makes of the List of answers. */
PRIM(prim_string_collected) {
    (void)count;
    Text t = text_for(p);
    if (iolist_append(&t, args[1], IOLIST_BYTES) || t.failed) return text_to_string(p, &t, result);
    text_free(&t);
    return prim_raise(p, ERR_argument_error, args[0], "collect:", "The block must answer Strings");
}

/* --- concatenation and conversion
 * ----------------------------------------------------------------------------------------- */

PRIM(prim_string_concat) {
    (void)count;
    if (value_is_bytes(args[1])) return string_concat(p, args[0], args[1], result);
    return error_argument(p, args[0], SYMBOL(concat), NULL);
}

PRIM(prim_string_print_string) { return (void)count, value_print_string(p, args[0], result); }
PRIM(prim_string_as_atom) { return (void)count, string_to_symbol(p, args[0], result); }

PRIM(prim_string_as_integer) {
    (void)count;
    Text copy = text_for(p);
    size_t length;
    const char *bytes = string_stable_bytes(args[0], &length, &copy);
    PrimStatus status = bytes ? number_parse_integer(p, bytes, length, result) : error_resource(p, NULL);
    text_free(&copy);
    if (status != PRIM_FAIL) return status;
    return error_argument(p, args[0], prim_selector(p, "asInteger"), NULL);
}

PRIM(prim_string_as_float) {
    (void)count;
    size_t length;
    const char *bytes = string_bytes(args[0], &length);
    PrimStatus status = number_parse_float(p, bytes, length, result);
    if (status != PRIM_FAIL) return status;
    return error_argument(p, args[0], prim_selector(p, "asFloat"), NULL);
}

/* --- case
 * -----------------------------------------------------------------------------------------------------------------
 */

static void charge_bytes(Process *p, size_t bytes) {
    process_charge(p, bytes >> 6 > 100000 ? 100000u : (uint32_t)(bytes >> 6));
}

static PrimStatus map_simple(Process *p, Value *args, UnicodeCase to, Value *result) {
    char *out, from = to == UNICODE_TO_UPPER ? 'a' : 'A';
    size_t length = string_length(args[0]);
    PrimStatus status = string_new_blank(p, length, &out, result);
    if (status != PRIM_OK) return status;
    const char *bytes = string_bytes(args[0], &length);
    for (size_t i = 0; i < length; i++) {
        bool other = bytes[i] >= from && bytes[i] < from + 26;
        out[i] = (char)(other ? bytes[i] ^ 0x20 : bytes[i]);
    }
    string_seal(*result);
    return PRIM_OK;
}

static PrimStatus map_case(Process *p, Value *args, UnicodeCase to, Value *result) {
    charge_bytes(p, string_length(args[0]));
    if (string_is_simple(args[0])) return map_simple(p, args, to, result);
    Text t = text_for(p);
    size_t length;
    const char *bytes = string_bytes(args[0], &length);
    unicode_map_text(&t, bytes, length, to);
    return text_to_string(p, &t, result);
}

PRIM(prim_string_uppercase) { return (void)count, map_case(p, args, UNICODE_TO_UPPER, result); }
PRIM(prim_string_lowercase) { return (void)count, map_case(p, args, UNICODE_TO_LOWER, result); }

PRIM(prim_string_capitalize) {
    (void)count;
    Text t = text_for(p);
    size_t length, first = string_length(args[0]) ? string_next_cluster(args[0], 0) : 0;
    const char *bytes = string_bytes(args[0], &length);
    unicode_map_text(&t, bytes, first, UNICODE_TO_UPPER);
    text_append(&t, bytes + first, length - first);
    return text_to_string(p, &t, result);
}

PRIM(prim_string_reverse) {
    (void)count;
    char *out;
    size_t length = string_length(args[0]);
    charge_bytes(p, length);
    PrimStatus status = string_new_blank(p, length, &out, result);
    if (status != PRIM_OK) return status;
    const char *bytes = string_bytes(args[0], &length);
    for (size_t at = 0, next; at < length; at = next) {
        next = string_next_cluster(args[0], at);
        memcpy(out + length - next, bytes + at, next - at);
    }
    string_seal(*result);
    return PRIM_OK;
}

/* --- repetition and padding
 * ----------------------------------------------------------------------------------------------- */

/* before ++ (unit repeated) ++ after; NULL parts are empty. Strings lie in argument registers. */
static PrimStatus repeat_between(Process *p, const Value *before, const Value *unit, uint64_t times,
                                 const Value *after, Value *result) {
    size_t unit_length = string_length(*unit), head = before ? string_length(*before) : 0,
           tail = after ? string_length(*after) : 0;
    size_t total;
    char *out;
    if (__builtin_mul_overflow(unit_length, times, &total) ||
        __builtin_add_overflow(total, head + tail, &total) || total > STRING_MAX_BYTES) {
        return error_resource(p, "A string cannot have so many bytes.");
    }
    charge_bytes(p, total);
    PrimStatus status = string_new_blank(p, total, &out, result);
    if (status != PRIM_OK) return status;
    size_t length;
    if (before) memcpy(out, string_bytes(*before, &length), head);
    const char *bytes = string_bytes(*unit, &length);
    for (uint64_t i = 0; i < times; i++) memcpy(out + head + i * unit_length, bytes, unit_length);
    if (after) memcpy(out + total - tail, string_bytes(*after, &length), tail);
    string_seal(*result);
    return PRIM_OK;
}

PRIM(prim_string_repeat) {
    (void)count;
    if (!number_is_integer(args[1]) || number_compare(args[1], value_from_int(0)) < 0) {
        return prim_type_error(p, args[0], "repeat:", "The count must be an Integer that is not negative");
    }
    uint64_t times = value_is_int(args[1]) ? (uint64_t)value_to_int(args[1]) : UINT64_MAX;
    return repeat_between(p, NULL, &args[0], string_length(args[0]) ? times : 0, NULL, result);
}

static PrimStatus pad(Process *p, Value *args, bool left, Value *result) {
    const char *selector = left ? "padLeft:with:" : "padRight:with:";
    if (!number_is_integer(args[1]))
        return prim_type_error(p, args[0], selector, "The width must be an Integer");
    if (!value_is_bytes(args[2])) return no_string(p, args[0], selector);
    int64_t size = (int64_t)string_cluster_count(args[0]);
    if (number_compare(args[1], value_from_int(size)) <= 0 || string_length(args[2]) == 0) {
        *result = args[0];
        return PRIM_OK;
    }
    uint64_t times = value_is_int(args[1]) ? (uint64_t)(value_to_int(args[1]) - size) : UINT64_MAX;
    return repeat_between(p, left ? NULL : &args[0], &args[2], times, left ? &args[0] : NULL, result);
}

PRIM(prim_string_pad_left) { return (void)count, pad(p, args, true, result); }
PRIM(prim_string_pad_right) { return (void)count, pad(p, args, false, result); }

/* --- replacing
 * ------------------------------------------------------------------------------------------------------------
 */

static PrimStatus replace(Process *p, Value *args, const char *selector, bool all, Value *result) {
    if (!value_is_bytes(args[1]) || !value_is_bytes(args[2])) return no_string(p, args[0], selector);
    size_t length, old_length, new_length, from = 0;
    const char *bytes = string_bytes(args[0], &length), *old = string_bytes(args[1], &old_length),
               *new = string_bytes(args[2], &new_length);
    if (old_length == 0) return error_argument(p, args[0], prim_selector(p, selector), NULL);
    Text t = text_for(p);
    const char *found;
    while ((found = memmem(bytes + from, length - from, old, old_length))) {
        text_append(&t, bytes + from, (size_t)(found - bytes) - from);
        text_append(&t, new, new_length);
        from = (size_t)(found - bytes) + old_length;
        if (!all || t.failed) break;
    }
    if (from == 0) {
        *result = args[0];
        return PRIM_OK;
    }
    text_append(&t, bytes + from, length - from);
    charge_bytes(p, t.length);
    return text_to_string(p, &t, result);
}

PRIM(prim_string_replace_all) { return (void)count, replace(p, args, "replaceAll:with:", true, result); }
PRIM(prim_string_replace_first) { return (void)count, replace(p, args, "replaceFirst:with:", false, result); }

/* --- percent coding
 * ------------------------------------------------------------------------------------------------------- */

static bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

PRIM(prim_string_url_encoded) {
    (void)count;
    Text t = text_for(p);
    size_t length;
    const char *bytes = string_bytes(args[0], &length);
    for (size_t i = 0; i < length; i++) {
        if (is_unreserved(bytes[i])) {
            text_append_char(&t, bytes[i]);
        } else {
            text_appendf(&t, "%%%02X", (unsigned)(unsigned char)bytes[i]);
        }
    }
    return text_to_string(p, &t, result);
}

/* An escape that the text cuts off stays as it is. */
PRIM(prim_string_url_decoded) {
    (void)count;
    Text t = text_for(p);
    size_t length;
    const char *bytes = string_bytes(args[0], &length);
    bool ok = true;
    for (size_t i = 0; i < length && ok; i++) {
        if (bytes[i] != '%' || length - i < 3) {
            text_append_char(&t, bytes[i]);
            continue;
        }
        int high = hex_digit(bytes[i + 1]), low = hex_digit(bytes[i + 2]);
        ok = high >= 0 && low >= 0;
        text_append_char(&t, (char)(high * 16 + low));
        i += 2;
    }
    if (t.failed || (ok && utf8_is_valid(t.bytes, t.length, NULL))) return text_to_string(p, &t, result);
    text_free(&t);
    return prim_raise(p, ERR_parse_error, args[0], "urlDecoded", "Expected %XX escapes that give UTF-8 text");
}
