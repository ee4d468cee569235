/* Primitives of String: access, search, pieces. What changes text is in prim_string_build.c, bytes in
 * prim_binary.c. The receiver is valid UTF-8: anything else is a Binary and finds other methods. Arguments
 * may be Binaries. */
#define _GNU_SOURCE /* memmem */
#include "vm/number.h"
#include "vm/prims/prim_text.h"
#include "vm/prims/text_pieces.h"
#include "vm/unicode.h"

/* --- size and elements
 * ---------------------------------------------------------------------------------------------------- */

PRIM(prim_string_size) {
    (void)count;
    if (!string_is_simple(args[0])) process_charge(p, (uint32_t)(string_length(args[0]) >> 5));
    *result = value_from_int((int64_t)string_cluster_count(args[0]));
    return PRIM_OK;
}

PRIM(prim_string_is_empty) {
    (void)p, (void)count;
    *result = value_from_bool(string_length(args[0]) == 0);
    return PRIM_OK;
}

PRIM(prim_string_is_not_empty) {
    (void)p, (void)count;
    *result = value_from_bool(string_length(args[0]) != 0);
    return PRIM_OK;
}

static PrimStatus cluster_at(Process *p, Value *args, size_t offset, Value *result) {
    return string_slice(p, args[0], offset, string_next_cluster(args[0], offset) - offset, result);
}

PRIM(prim_string_at) {
    (void)count;
    if (!number_is_integer(args[1]))
        return prim_type_error(p, args[0], "at:", "The index must be an Integer");
    int64_t index = value_is_int(args[1])                            ? value_to_int(args[1])
                    : number_compare(args[1], value_from_int(0)) < 0 ? 0
                                                                     : INT64_MAX;
    if (index < 1)
        return prim_raise(p, ERR_index_out_of_bounds, args[0],
                          "at:", "Index must be >= 1 (1-based indexing)");
    if (string_length(args[0]) == 0) return prim_empty(p, args[0], "at:", EMPTY_TEXT_HINT);
    size_t offset = string_cluster_offset(args[0], (size_t)index - 1);
    if (offset == string_length(args[0])) {
        return prim_raise(p, ERR_index_out_of_bounds, args[0], "at:", "Index is beyond string length");
    }
    return cluster_at(p, args, offset, result);
}

PRIM(prim_string_first) {
    (void)count;
    if (string_length(args[0]) == 0) return prim_empty(p, args[0], "first", EMPTY_TEXT_HINT);
    return cluster_at(p, args, 0, result);
}

PRIM(prim_string_last) {
    (void)count;
    size_t length = string_length(args[0]), at = 0;
    if (length == 0) return prim_empty(p, args[0], "last", EMPTY_TEXT_HINT);
    if (string_is_simple(args[0])) return cluster_at(p, args, length - 1, result);
    for (size_t next = 0; next < length; next = string_next_cluster(args[0], next)) at = next;
    return cluster_at(p, args, at, result);
}

/* The cluster at a byte offset; iteration in Beamtalk goes on behind it. */
PRIM(prim_string_cluster_from) {
    (void)count;
    int64_t offset = value_is_int(args[1]) ? value_to_int(args[1]) : -1;
    if (offset < 0 || (size_t)offset >= string_length(args[0])) {
        return prim_raise(p, ERR_index_out_of_bounds, args[0], "__clusterFrom:", NULL);
    }
    return cluster_at(p, args, (size_t)offset, result);
}

PRIM(prim_string_as_list) {
    (void)count;
    Pieces pieces = PIECES_IN(p);
    size_t length = string_length(args[0]);
    for (size_t at = 0, next; at < length; at = next) {
        next = string_next_cluster(args[0], at);
        pieces_add(&pieces, at, next - at);
    }
    return pieces_to_list(p, args[0], &pieces, result);
}

/* --- searching
 * ------------------------------------------------------------------------------------------------------------
 */

typedef struct {
    const char *text, *pattern;
    size_t length, pattern_length;
} Search;

static void search_of(Value text, Value pattern, Search *s) {
    s->text = string_bytes(text, &s->length);
    s->pattern = string_bytes(pattern, &s->pattern_length);
}

/* Offset of the first occurrence at or behind `from`, SIZE_MAX if there is none. */
static size_t search_next(const Search *s, size_t from) {
    const char *found = memmem(s->text + from, s->length - from, s->pattern, s->pattern_length);
    return found ? (size_t)(found - s->text) : SIZE_MAX;
}

PRIM(prim_string_includes_substring) {
    (void)count;
    if (!value_is_bytes(args[1])) return no_string(p, args[0], "includesSubstring:");
    Search s;
    search_of(args[0], args[1], &s);
    *result = value_from_bool(search_next(&s, 0) != SIZE_MAX);
    return PRIM_OK;
}

PRIM(prim_string_starts_with) {
    (void)count;
    if (!value_is_bytes(args[1])) return no_string(p, args[0], "startsWith:");
    Search s;
    search_of(args[0], args[1], &s);
    *result =
        value_from_bool(s.pattern_length <= s.length && memcmp(s.text, s.pattern, s.pattern_length) == 0);
    return PRIM_OK;
}

PRIM(prim_string_ends_with) {
    (void)count;
    if (!value_is_bytes(args[1])) return no_string(p, args[0], "endsWith:");
    Search s;
    search_of(args[0], args[1], &s);
    *result = value_from_bool(s.pattern_length <= s.length &&
                              memcmp(s.text + s.length - s.pattern_length, s.pattern, s.pattern_length) == 0);
    return PRIM_OK;
}

/* Does a cluster end at `end`? `at` is a boundary before it. */
static bool is_boundary(Value s, size_t at, size_t end) {
    while (at < end) at = string_next_cluster(s, at);
    return at == end;
}

PRIM(prim_string_index_of) {
    (void)count;
    if (!value_is_bytes(args[1])) return no_string(p, args[0], "indexOf:");
    Search s;
    search_of(args[0], args[1], &s);
    *result = V_NIL;
    size_t found = s.pattern_length ? search_next(&s, 0) : SIZE_MAX, at = 0;
    int64_t index = 1;
    while (found != SIZE_MAX) {
        if (string_is_simple(args[0])) {
            index = (int64_t)found + 1;
            at = found;
        }
        for (; at < found; index++) at = string_next_cluster(args[0], at);
        if (at == found && is_boundary(args[0], at, at + s.pattern_length)) {
            *result = value_from_int(index);
            return PRIM_OK;
        }
        found = search_next(&s, found + 1);
    }
    return PRIM_OK;
}

/* --- pieces
 * ---------------------------------------------------------------------------------------------------------------
 */

static PrimStatus split(Process *p, Value *args, Value *result) {
    Pieces pieces = PIECES_IN(p);
    Search s;
    search_of(args[0], args[1], &s);
    size_t from = 0;
    for (;;) {
        size_t found = search_next(&s, from);
        pieces_add(&pieces, from, (found == SIZE_MAX ? s.length : found) - from);
        if (found == SIZE_MAX) return pieces_to_list(p, args[0], &pieces, result);
        from = found + s.pattern_length;
    }
}

PRIM(prim_string_split) {
    (void)count;
    if (!value_is_bytes(args[1])) return no_string(p, args[0], "split:");
    if (string_length(args[1]) == 0) {
        return error_argument(p, args[0], prim_selector(p, "split:"), NULL);
    }
    return split(p, args, result);
}

PRIM(prim_string_split_on) {
    (void)count;
    if (!value_is_bytes(args[1])) return no_string(p, args[0], "splitOn:");
    if (string_length(args[1]) > 0) return split(p, args, result);
    Pieces pieces = PIECES_IN(p);
    pieces_add(&pieces, 0, string_length(args[0]));
    return pieces_to_list(p, args[0], &pieces, result);
}

PRIM(prim_string_lines) {
    (void)count;
    Pieces pieces = PIECES_IN(p);
    size_t length, from = 0;
    const char *bytes = string_bytes(args[0], &length);
    for (;;) {
        const char *end = memchr(bytes + from, '\n', length - from);
        size_t to = end ? (size_t)(end - bytes) : length;
        bool cr = end && to > from && bytes[to - 1] == '\r';
        pieces_add(&pieces, from, to - from - cr);
        if (!end) return pieces_to_list(p, args[0], &pieces, result);
        from = to + 1;
    }
}

static bool is_word_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

PRIM(prim_string_words) {
    (void)count;
    Pieces pieces = PIECES_IN(p);
    size_t length, at = 0;
    const char *bytes = string_bytes(args[0], &length);
    while (at < length) {
        size_t start = at;
        while (at < length && !is_word_space(bytes[at])) at++;
        if (at > start) pieces_add(&pieces, start, at - start);
        while (at < length && is_word_space(bytes[at])) at++;
    }
    return pieces_to_list(p, args[0], &pieces, result);
}

/* Byte offset behind the first n clusters. */
static size_t offset_behind(Value s, Value n) {
    if (number_compare(n, value_from_int(0)) <= 0) return 0;
    return value_is_int(n) ? string_cluster_offset(s, (size_t)value_to_int(n)) : string_length(s);
}

PRIM(prim_string_take) {
    (void)count;
    if (!number_is_integer(args[1]))
        return prim_type_error(p, args[0], "take:", "The count must be an Integer");
    return string_slice(p, args[0], 0, offset_behind(args[0], args[1]), result);
}

PRIM(prim_string_drop) {
    (void)count;
    if (!number_is_integer(args[1]))
        return prim_type_error(p, args[0], "drop:", "The count must be an Integer");
    size_t from = offset_behind(args[0], args[1]);
    return string_slice(p, args[0], from, string_length(args[0]) - from, result);
}

/* --- trimming and classes
 * ------------------------------------------------------------------------------------------------- */

/* A cluster of pattern white space: one such code point, or CR LF. */
static bool is_space_cluster(const char *bytes, size_t length) {
    uint32_t codepoint;
    unsigned n = utf8_decode(bytes, &codepoint);
    return unicode_is_pattern_space(codepoint) &&
           (n == length || (length == 2 && bytes[0] == '\r' && bytes[1] == '\n'));
}

static PrimStatus trim(Process *p, Value *args, bool left, bool right, Value *result) {
    Value s = args[0];
    size_t length, start = 0, at, end;
    const char *bytes = string_bytes(s, &length);
    while (left && start < length) {
        size_t next = string_next_cluster(s, start);
        if (!is_space_cluster(bytes + start, next - start)) break;
        start = next;
    }
    for (at = end = start; right && at < length;) { /* end: behind the last cluster that is no space */
        size_t next = string_next_cluster(s, at);
        if (!is_space_cluster(bytes + at, next - at)) end = next;
        at = next;
    }
    return string_slice(p, s, start, (right ? end : length) - start, result);
}

PRIM(prim_string_trim) { return (void)count, trim(p, args, true, true, result); }
PRIM(prim_string_trim_left) { return (void)count, trim(p, args, true, false, result); }
PRIM(prim_string_trim_right) { return (void)count, trim(p, args, false, true, result); }

static bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static Value all_bytes(Value s, bool (*test)(char)) {
    size_t length;
    const char *bytes = string_bytes(s, &length);
    for (size_t i = 0; i < length; i++) {
        if (!test(bytes[i])) return V_FALSE;
    }
    return value_from_bool(length > 0);
}

PRIM(prim_string_is_digit) {
    (void)p, (void)count;
    *result = all_bytes(args[0], is_ascii_digit);
    return PRIM_OK;
}

PRIM(prim_string_is_alpha) {
    (void)p, (void)count;
    *result = all_bytes(args[0], is_ascii_letter);
    return PRIM_OK;
}
