/* See text_diff.h. The greedy algorithm of Myers (1986) over lines; texts that differ in more places than it
 * is worth searching are shown as replaced from the first difference to the last. */
#include "vm/cli/text_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 3, EDITS_MAX = 2000 };

typedef struct {
    const char *bytes;
    size_t length;
} Line;

typedef struct {
    Line *lines;
    bool *changed; /* not in the other text */
    int32_t count;
} Text;

static bool text_split(Text *t, const char *bytes, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += bytes[i] == '\n';
    t->lines = malloc((count + 1) * sizeof *t->lines);
    t->changed = calloc(count + 1, sizeof *t->changed);
    if (!t->lines || !t->changed) return false;
    for (size_t start = 0; start < length;) {
        const char *end = memchr(bytes + start, '\n', length - start);
        size_t stop = end ? (size_t)(end - bytes) + 1 : length;
        t->lines[t->count++] = (Line){bytes + start, stop - start};
        start = stop;
    }
    return true;
}

static void text_free(Text *t) {
    free(t->lines);
    free(t->changed);
}

static bool same(const Text *a, int32_t i, const Text *b, int32_t j) {
    return a->lines[i].length == b->lines[j].length &&
           !memcmp(a->lines[i].bytes, b->lines[j].bytes, a->lines[i].length);
}

static void mark_all(Text *t, int32_t from, int32_t to) {
    for (int32_t i = from; i < to; i++) t->changed[i] = true;
}

/* Lines from..a_end of a and from..b_end of b, which differ at both ends. `trace` holds, for each number of
 * edits, the furthest x on each diagonal. */
static int32_t search(Text *a, Text *b, int32_t from, int32_t a_end, int32_t b_end, int32_t **trace) {
    int32_t n = a_end - from, m = b_end - from;
    for (int32_t d = 0; d <= EDITS_MAX; d++) {
        int32_t *now = malloc((size_t)(2 * d + 1) * sizeof *now);
        if (!now) return -1;
        trace[d] = now;
        const int32_t *before = d ? trace[d - 1] + d - 1 : NULL;
        for (int32_t k = -d; k <= d; k += 2) {
            int32_t x = 0;
            if (d) {
                bool down = k == -d || (k != d && before[k - 1] < before[k + 1]);
                x = down ? before[k + 1] : before[k - 1] + 1;
            }
            while (x < n && x - k < m && x - k >= 0 && same(a, from + x, b, from + x - k)) x++;
            now[k + d] = x;
            if (x >= n && x - k >= m) return d;
        }
    }
    return -1;
}

static void walk_back(Text *a, Text *b, int32_t from, int32_t x, int32_t y, int32_t edits, int32_t **trace) {
    for (int32_t d = edits; d > 0; d--) {
        const int32_t *before = trace[d - 1] + d - 1;
        int32_t k = x - y;
        bool down = k == -d || (k != d && before[k - 1] < before[k + 1]);
        int32_t before_k = down ? k + 1 : k - 1;
        x = before[before_k];
        y = x - before_k;
        if (down)
            b->changed[from + y] = true;
        else
            a->changed[from + x] = true;
    }
}

static bool compare(Text *a, Text *b) {
    int32_t from = 0, a_end = a->count, b_end = b->count;
    while (from < a_end && from < b_end && same(a, from, b, from)) from++;
    while (a_end > from && b_end > from && same(a, a_end - 1, b, b_end - 1)) a_end--, b_end--;
    int32_t **trace = calloc(EDITS_MAX + 1, sizeof *trace);
    if (!trace) return false;
    int32_t edits = search(a, b, from, a_end, b_end, trace);
    if (edits >= 0)
        walk_back(a, b, from, a_end - from, b_end - from, edits, trace);
    else
        mark_all(a, from, a_end), mark_all(b, from, b_end);
    for (int32_t d = 0; d <= EDITS_MAX; d++) free(trace[d]);
    free(trace);
    return true;
}

/* ---- printing ---- */

static void print_line(FILE *out, char mark, Line line) {
    fputc(mark, out);
    fwrite(line.bytes, 1, line.length, out);
    if (line.bytes[line.length - 1] != '\n') fputs("\n\\ No newline at end of file\n", out);
}

/* The hunk that starts with the change at (i, j): ends are set behind its last change. */
static void hunk_end(const Text *a, const Text *b, int32_t i, int32_t j, int32_t *a_end, int32_t *b_end) {
    for (int32_t same_lines = 0; same_lines <= 2 * CONTEXT && (i < a->count || j < b->count);) {
        bool changed = (i < a->count && a->changed[i]) || (j < b->count && b->changed[j]);
        while (i < a->count && a->changed[i]) i++;
        while (j < b->count && b->changed[j]) j++;
        if (changed) *a_end = i, *b_end = j, same_lines = 0;
        if (i < a->count) i++, j++, same_lines++;
    }
}

static void print_hunk(FILE *out, const Text *a, const Text *b, int32_t *i, int32_t *j) {
    int32_t a_end = *i, b_end = *j;
    hunk_end(a, b, *i, *j, &a_end, &b_end);
    int32_t lead = *i < *j ? *i : *j;
    if (lead > CONTEXT) lead = CONTEXT;
    int32_t tail = a->count - a_end < CONTEXT ? a->count - a_end : CONTEXT;
    int32_t x = *i - lead, y = *j - lead, a_stop = a_end + tail, b_stop = b_end + tail;
    fprintf(out, "@@ -%d,%d +%d,%d @@\n", a_stop > x ? x + 1 : x, a_stop - x, b_stop > y ? y + 1 : y,
            b_stop - y);
    while (x < a_stop || y < b_stop) {
        while (x < a_stop && a->changed[x]) print_line(out, '-', a->lines[x++]);
        while (y < b_stop && b->changed[y]) print_line(out, '+', b->lines[y++]);
        if (x < a_stop) print_line(out, ' ', a->lines[x++]), y++;
    }
    *i = a_stop;
    *j = b_stop;
}

static void print_hunks(FILE *out, const char *name, const Text *a, const Text *b) {
    bool header = false;
    for (int32_t i = 0, j = 0; i < a->count || j < b->count;) {
        if ((i < a->count && a->changed[i]) || (j < b->count && b->changed[j])) {
            if (!header) fprintf(out, "--- %s\n+++ %s\n", name, name);
            header = true;
            print_hunk(out, a, b, &i, &j);
        } else {
            i++, j++;
        }
    }
}

bool text_diff_print(FILE *out, const char *name, const char *old_text, size_t old_length,
                     const char *new_text, size_t new_length) {
    Text a = {0}, b = {0};
    bool good =
        text_split(&a, old_text, old_length) && text_split(&b, new_text, new_length) && compare(&a, &b);
    if (good) print_hunks(out, name, &a, &b);
    text_free(&a);
    text_free(&b);
    return good;
}
