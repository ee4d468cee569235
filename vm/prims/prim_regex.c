/* Primitives of regular expressions. args[1]: handle on the compiled pattern, args[2]: the text. */
#include "vm/bytecode/memory.h"
#include "vm/prims/prim_support.h"
#include "vm/prims/text_pieces.h"
#include "vm/regex.h"
#include "vm/text.h"

typedef struct {
    Counted counted;
    Regex *regex;
} RegexHandle;

static void handle_drop(const Memory *memory, Counted *c) {
    regex_free(((RegexHandle *)c)->regex);
    memory_free(memory, c);
}

/* A handle, or the text of what is wrong with the pattern. */
PRIM(prim_regex_compile) {
    (void)count;
    if (!value_is_bytes(args[1]) || !value_is_int(args[2])) return PRIM_FAIL;
    size_t length;
    const char *pattern = string_bytes(args[1], &length);
    char reason[256];
    Regex *regex =
        regex_compile(p->vm->memory, pattern, length, (unsigned)value_to_int(args[2]), reason, sizeof reason);
    if (!regex) return string_from_cstring(p, reason, result);
    RegexHandle *handle = memory_alloc(p->vm->memory, sizeof *handle);
    if (!handle || !heap_reserve(p, NATIVE_WORDS)) {
        memory_free(p->vm->memory, handle);
        regex_free(regex);
        return error_resource(p, NULL);
    }
    *handle = (RegexHandle){.regex = regex};
    return *result = native_new(p, special_payload(args[0]), &handle->counted, handle_drop, 64), PRIM_OK;
}

/* ---- scanning ---- */

/* Nothing is made in the heap before the scan is closed, so the bytes of the subject stay where they are. */
static bool subject_open(Process *p, Value *args, RegexScan *scan) {
    size_t length;
    const char *bytes = string_bytes(args[2], &length);
    const RegexHandle *handle = native_of(args[1], handle_drop);
    if (regex_scan_open(scan, handle->regex, bytes, length)) return true;
    (void)error_resource(p, "There is no memory to match this text");
    return false;
}

static bool is_usable(const Value *args) {
    return native_of(args[1], handle_drop) && value_is_bytes(args[2]);
}

static PrimStatus scan_failed(Process *p, RegexStep step) {
    const char *hint = step == REGEX_LIMIT ? "The pattern needs too many steps on this text" : NULL;
    return error_resource(p, hint);
}

PRIM(prim_regex_first) {
    (void)count;
    RegexScan scan;
    if (!is_usable(args)) return PRIM_FAIL;
    if (!subject_open(p, args, &scan)) return PRIM_RAISE;
    RegexStep step = regex_scan_next(&scan);
    size_t from = 0, length = 0;
    if (step == REGEX_MATCH) from = scan.offsets[0], length = scan.offsets[1] - from;
    regex_scan_close(&scan);
    *result = V_NIL;
    if (step == REGEX_MATCH) return string_slice(p, args[2], from, length, result);
    return step == REGEX_END ? PRIM_OK : scan_failed(p, step);
}

static PrimStatus finish_pieces(Process *p, Value *args, RegexScan *scan, Pieces *pieces, RegexStep step,
                                Value *result) {
    (void)process_charge(p, (uint32_t)(2 * pieces->count + scan->length / 64));
    regex_scan_close(scan);
    if (step == REGEX_END || pieces->failed) return pieces_to_list(p, args[2], pieces, result);
    memory_free(p->vm->memory, pieces->items);
    return scan_failed(p, step);
}

PRIM(prim_regex_all) {
    (void)count;
    RegexScan scan;
    Pieces pieces = PIECES_IN(p);
    if (!is_usable(args)) return PRIM_FAIL;
    if (!subject_open(p, args, &scan)) return PRIM_RAISE;
    RegexStep step = REGEX_END;
    while (!pieces.failed && (step = regex_scan_next(&scan)) == REGEX_MATCH)
        pieces_add(&pieces, scan.offsets[0], scan.offsets[1] - scan.offsets[0]);
    return finish_pieces(p, args, &scan, &pieces, step, result);
}

/* What lies before the match, and its groups. */
static void split_match(const RegexScan *m, Pieces *pieces, size_t from) {
    pieces_add(pieces, from, m->offsets[0] - from);
    for (size_t group = 1; group < m->group_count; group++) {
        const size_t *at = m->offsets + 2 * group;
        bool set = at[0] != REGEX_UNSET;
        pieces_add(pieces, set ? at[0] : 0, set ? at[1] - at[0] : 0);
    }
}

PRIM(prim_regex_split) {
    (void)count;
    RegexScan scan;
    Pieces pieces = PIECES_IN(p);
    if (!is_usable(args)) return PRIM_FAIL;
    if (!subject_open(p, args, &scan)) return PRIM_RAISE;
    RegexStep step = REGEX_END;
    size_t from = 0;
    bool split = false;
    while (!pieces.failed && (step = regex_scan_next(&scan)) == REGEX_MATCH) {
        if (scan.offsets[0] == scan.offsets[1] && scan.offsets[0] == from)
            continue; /* would split off nothing */
        split = true;
        split_match(&scan, &pieces, from);
        from = scan.offsets[1];
    }
    pieces_add(&pieces, from, scan.length - from);
    while (split && pieces.count && pieces.items[pieces.count - 1].length == 0)
        pieces.count--; /* trailing empty pieces */
    return finish_pieces(p, args, &scan, &pieces, step, result);
}

/* ---- replacing ---- */

static void append_group(Text *t, const RegexScan *m, size_t group) {
    if (group >= m->group_count || m->offsets[2 * group] == REGEX_UNSET) return;
    text_append(t, m->bytes + m->offsets[2 * group], m->offsets[2 * group + 1] - m->offsets[2 * group]);
}

/* `&` and `\0` are the match, `\1` ... groups; a backslash takes the meaning of what follows. */
static void append_replacement(Text *t, const RegexScan *m, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '&') {
            append_group(t, m, 0);
        } else if (bytes[i] == '\\' && i + 1 < length && bytes[i + 1] >= '0' && bytes[i + 1] <= '9') {
            size_t group = 0;
            while (i + 1 < length && bytes[i + 1] >= '0' && bytes[i + 1] <= '9' && group < 1000)
                group = group * 10 + (size_t)(bytes[++i] - '0');
            append_group(t, m, group);
        } else {
            if (bytes[i] == '\\' && i + 1 < length && (bytes[i + 1] == '\\' || bytes[i + 1] == '&')) i++;
            text_append_char(t, bytes[i]);
        }
    }
}

PRIM(prim_regex_replace) {
    (void)count;
    RegexScan scan;
    if (!is_usable(args) || !value_is_bytes(args[3])) return PRIM_FAIL;
    if (!subject_open(p, args, &scan)) return PRIM_RAISE;
    size_t length, from = 0;
    const char *replacement = string_bytes(args[3], &length);
    Text t = text_for(p);
    RegexStep step;
    while ((step = regex_scan_next(&scan)) == REGEX_MATCH) {
        text_append(&t, scan.bytes + from, scan.offsets[0] - from);
        append_replacement(&t, &scan, replacement, length);
        from = scan.offsets[1];
        if (args[4] == V_TRUE) continue;
        step = REGEX_END;
        break;
    }
    text_append(&t, scan.bytes + from, scan.length - from);
    regex_scan_close(&scan);
    (void)process_charge(p, (uint32_t)(scan.length / 64));
    if (step == REGEX_END) return text_to_string(p, &t, result);
    text_free(&t);
    return scan_failed(p, step);
}
