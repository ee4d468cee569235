/* Primitives of regular expressions. args[1]: handle on the compiled pattern, args[2]: the text. */
#include "vm/alloc.h"
#include "vm/list.h"
#include "vm/prims/prim_support.h"
#include "vm/regex.h"
#include "vm/text.h"

typedef struct {
    Counted counted;
    Regex *regex;
} RegexHandle;

static void handle_drop(Counted *c) {
    regex_free(((RegexHandle *)c)->regex);
    mem_free(c);
}

/* A handle, or the text of what is wrong with the pattern. */
PRIM(prim_regex_compile) {
    (void)count;
    if (!value_is_bytes(args[1]) || !value_is_int(args[2])) return PRIM_FAIL;
    size_t length;
    const char *pattern = string_bytes(args[1], &length);
    char reason[256];
    Regex *regex = regex_compile(pattern, length, (unsigned)value_to_int(args[2]), reason, sizeof reason);
    if (!regex) return string_from_cstring(p, reason, result);
    RegexHandle *handle = mem_alloc(sizeof *handle);
    if (!handle || !heap_reserve(p, NATIVE_WORDS)) {
        mem_free(handle);
        regex_free(regex);
        return error_resource(p, NULL);
    }
    *handle = (RegexHandle){.regex = regex};
    return *result = native_new(p, special_payload(args[0]), &handle->counted, handle_drop, 64), PRIM_OK;
}

/* ---- scanning ---- */

/* The subject lies in native memory while values are made of it. */
typedef struct {
    RegexScan scan;
    char *bytes;
    size_t length;
} Subject;

static bool subject_open(Process *p, Value *args, Subject *s) {
    const char *bytes = string_bytes(args[2], &s->length);
    const RegexHandle *handle = native_of(args[1], handle_drop);
    s->bytes = mem_alloc(s->length + 1);
    if (s->bytes) memcpy(s->bytes, bytes, s->length);
    if (s->bytes && regex_scan_open(&s->scan, handle->regex, s->bytes, s->length)) return true;
    mem_free(s->bytes);
    (void)error_resource(p, "There is no memory to match this text");
    return false;
}

static void subject_close(Subject *s) {
    regex_scan_close(&s->scan);
    mem_free(s->bytes);
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
    Subject s;
    if (!is_usable(args)) return PRIM_FAIL;
    if (!subject_open(p, args, &s)) return PRIM_RAISE;
    RegexStep step = regex_scan_next(&s.scan);
    PrimStatus status = PRIM_OK;
    *result = V_NIL;
    if (step == REGEX_MATCH)
        status = string_new(p, s.bytes + s.scan.offsets[0], s.scan.offsets[1] - s.scan.offsets[0], result);
    else if (step != REGEX_END)
        status = scan_failed(p, step);
    subject_close(&s);
    return status;
}

/* Pieces of the subject, collected natively: pairs of start and end. */
typedef struct {
    size_t *offsets;
    size_t count, capacity;
} Pieces;

static bool pieces_add(Pieces *q, size_t start, size_t end) {
    if (q->count + 2 > q->capacity) {
        size_t capacity = q->capacity ? q->capacity * 2 : 32;
        size_t *offsets = mem_realloc(q->offsets, capacity * sizeof *offsets);
        if (!offsets) return false;
        q->offsets = offsets;
        q->capacity = capacity;
    }
    q->offsets[q->count++] = start;
    q->offsets[q->count++] = end;
    return true;
}

static PrimStatus pieces_to_list(Process *p, const Subject *s, const Pieces *q, Value *result) {
    Value roots[2] = {V_EMPTY_LIST, V_NIL};
    RootSpan span;
    roots_push(p, &span, roots, 2);
    PrimStatus status = PRIM_OK;
    for (size_t i = q->count; status == PRIM_OK && i > 0; i -= 2) {
        status =
            string_new(p, s->bytes + q->offsets[i - 2], q->offsets[i - 1] - q->offsets[i - 2], &roots[1]);
        if (status != PRIM_OK) break;
        roots[0] = list_cons(p, roots[1], roots[0]);
        if (roots[0] == V_HOLE) status = PRIM_RAISE;
    }
    roots_pop(p, &span);
    *result = roots[0];
    return status;
}

static PrimStatus finish_pieces(Process *p, Subject *s, Pieces *q, RegexStep step, Value *result) {
    PrimStatus status = step == REGEX_END ? pieces_to_list(p, s, q, result) : scan_failed(p, step);
    (void)process_charge(p, (uint32_t)(q->count + s->length / 64));
    mem_free(q->offsets);
    subject_close(s);
    return status;
}

PRIM(prim_regex_all) {
    (void)count;
    Subject s;
    Pieces q = {0};
    if (!is_usable(args)) return PRIM_FAIL;
    if (!subject_open(p, args, &s)) return PRIM_RAISE;
    RegexStep step;
    while ((step = regex_scan_next(&s.scan)) == REGEX_MATCH)
        if (!pieces_add(&q, s.scan.offsets[0], s.scan.offsets[1])) {
            step = REGEX_NO_MEMORY;
            break;
        }
    return finish_pieces(p, &s, &q, step, result);
}

/* What lies before the match, and its groups. */
static bool split_match(const RegexScan *m, Pieces *q, size_t from) {
    if (!pieces_add(q, from, m->offsets[0])) return false;
    for (size_t group = 1; group < m->group_count; group++) {
        bool set = m->offsets[2 * group] != REGEX_UNSET;
        if (!pieces_add(q, set ? m->offsets[2 * group] : 0, set ? m->offsets[2 * group + 1] : 0))
            return false;
    }
    return true;
}

PRIM(prim_regex_split) {
    (void)count;
    Subject s;
    Pieces q = {0};
    if (!is_usable(args)) return PRIM_FAIL;
    if (!subject_open(p, args, &s)) return PRIM_RAISE;
    RegexStep step;
    size_t from = 0;
    bool split = false;
    while ((step = regex_scan_next(&s.scan)) == REGEX_MATCH) {
        if (s.scan.offsets[0] == s.scan.offsets[1] && s.scan.offsets[0] == from)
            continue; /* would split off nothing */
        split = true;
        if (!split_match(&s.scan, &q, from)) {
            step = REGEX_NO_MEMORY;
            break;
        }
        from = s.scan.offsets[1];
    }
    if (step == REGEX_END && !pieces_add(&q, from, s.length)) step = REGEX_NO_MEMORY;
    while (split && q.count && q.offsets[q.count - 1] == q.offsets[q.count - 2])
        q.count -= 2; /* trailing empty pieces */
    return finish_pieces(p, &s, &q, step, result);
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
    Subject s;
    if (!is_usable(args) || !value_is_bytes(args[3])) return PRIM_FAIL;
    if (!subject_open(p, args, &s)) return PRIM_RAISE;
    size_t length, from = 0;
    const char *replacement = string_bytes(args[3], &length);
    Text t = TEXT_INIT;
    RegexStep step;
    while ((step = regex_scan_next(&s.scan)) == REGEX_MATCH) {
        text_append(&t, s.bytes + from, s.scan.offsets[0] - from);
        append_replacement(&t, &s.scan, replacement, length);
        from = s.scan.offsets[1];
        if (args[4] == V_TRUE) continue;
        step = REGEX_END;
        break;
    }
    text_append(&t, s.bytes + from, s.length - from);
    PrimStatus status = PRIM_OK;
    if (step != REGEX_END) {
        text_free(&t);
        status = scan_failed(p, step);
    } else {
        status = text_to_string(p, &t, result);
    }
    (void)process_charge(p, (uint32_t)(s.length / 64));
    subject_close(&s);
    return status;
}
