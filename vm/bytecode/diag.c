/* Diagnostics: collecting and printing; source files: loading, line table. */
#include "vm/bytecode/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MAX = 4096, SHOWN_LINE_MAX = 160 };

/* ---- source files
 * ---------------------------------------------------------------------------------------------- */

bool source_file_init(SourceFile *file, const char *name, const char *text, size_t length) {
    *file = (SourceFile){.name = name, .text = text};
    if (length > SOURCE_MAX_BYTES) return false;
    file->length = (uint32_t)length;
    return true;
}

static char *read_stream(FILE *in, size_t *length, const char **why) {
    size_t used = 0, capacity = (size_t)16 * 1024;
    char *text = malloc(capacity);
    *why = "out of memory";
    while (text) {
        used += fread(text + used, 1, capacity - used, in);
        if (used < capacity) break;
        if (capacity > SOURCE_MAX_BYTES) {
            *why = "file is too large";
            goto fail;
        }
        char *more = realloc(text, capacity * 2);
        if (!more) goto fail;
        text = more;
        capacity *= 2;
    }
    if (text && ferror(in)) {
        *why = strerror(errno);
        goto fail;
    }
    *length = used;
    return text;
fail:
    free(text);
    return NULL;
}

bool source_file_load(SourceFile *file, const char *path, const char **why) {
    *file = (SourceFile){.name = path};
    FILE *in = fopen(path, "rb");
    if (!in) {
        *why = strerror(errno);
        return false;
    }
    size_t length = 0;
    char *text = read_stream(in, &length, why);
    fclose(in);
    if (!text) return false;
    if (!source_file_init(file, path, text, length)) {
        free(text);
        *why = "file is too large";
        return false;
    }
    file->owns_text = true;
    return true;
}

void source_file_free(SourceFile *file) {
    memory_free(file->memory, file->line_starts);
    if (file->owns_text) free((void *)(uintptr_t)file->text);
    *file = (SourceFile){0};
}

static bool build_line_table(SourceFile *file) {
    uint32_t lines = 1;
    for (uint32_t i = 0; i < file->length; i++) lines += file->text[i] == '\n';
    file->line_starts = memory_alloc(file->memory, lines * sizeof *file->line_starts);
    if (!file->line_starts) return false;
    file->line_count = lines;
    uint32_t line = 0;
    file->line_starts[line++] = 0;
    for (uint32_t i = 0; i < file->length; i++)
        if (file->text[i] == '\n') file->line_starts[line++] = i + 1;
    return true;
}

static uint32_t count_code_points(const char *text, uint32_t length) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < length; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

SourcePosition source_position(SourceFile *file, uint32_t offset) {
    if (!file->line_starts && !build_line_table(file)) return (SourcePosition){1, 1};
    if (offset > file->length) offset = file->length;
    uint32_t line = line_index(file->line_starts, file->line_count, offset), start = file->line_starts[line];
    return (SourcePosition){line + 1, count_code_points(file->text + start, offset - start) + 1};
}

Span source_line(SourceFile *file, uint32_t line) {
    if (!file->line_starts && !build_line_table(file)) return span_make(file->length, file->length);
    if (line == 0 || line > file->line_count) return span_make(file->length, file->length);
    uint32_t start = file->line_starts[line - 1];
    uint32_t end = line < file->line_count ? file->line_starts[line] - 1 : file->length;
    if (end > start && file->text[end - 1] == '\r') end--;
    return span_make(start, end);
}

/* Length of the UTF-8 sequence at `at`, 0 when it is not valid (overlong, surrogate, above U+10FFFF, cut
 * off). */
static size_t sequence_length(const unsigned char *at, size_t left) {
    unsigned char lead = at[0];
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xc2 && lead < 0xe0 ? 2
                    : (lead & 0xf0) == 0xe0       ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if (length < 3) return length;
    unsigned char second = at[1];
    bool bad = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
               (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90);
    return bad ? 0 : length;
}

size_t utf8_first_invalid(const char *text, size_t length) {
    size_t i = 0;
    while (i < length) {
        uint64_t word;
        while (length - i >= sizeof word) { /* eight ASCII bytes at a time */
            memcpy(&word, text + i, sizeof word);
            if (word & 0x8080808080808080u) break;
            i += sizeof word;
        }
        if (i == length) break;
        size_t step = sequence_length((const unsigned char *)text + i, length - i);
        if (step == 0) return i;
        i += step;
    }
    return length;
}

/* ---- collecting
 * ------------------------------------------------------------------------------------------------ */

void diag_list_init(DiagList *list, const Memory *memory) { *list = (DiagList){.memory = memory}; }

static void free_texts(Diag *diag) {
    memory_free(diag->memory, diag->message);
    memory_free(diag->memory, diag->help);
    memory_free(diag->memory, diag->label);
    memory_free(diag->memory, diag->other_label);
}

void diag_list_free(DiagList *list) {
    for (uint32_t i = 0; i < list->count; i++) free_texts(&list->items[i]);
    memory_free(list->memory, list->items);
    diag_list_init(list, list->memory);
}

/* A cut text ends before the code point that did not fit. */
static char *format_text(const Memory *memory, const char *format, va_list args) {
    char buffer[MESSAGE_MAX];
    int length = vsnprintf(buffer, sizeof buffer, format, args);
    if (length < 0) return NULL;
    size_t end = (size_t)length < sizeof buffer ? (size_t)length : sizeof buffer - 1;
    if (end == sizeof buffer - 1)
        while (end > 0 && ((unsigned char)buffer[end - 1] & 0xc0) == 0x80) end--;
    if (end > 0 && end < (size_t)length && ((unsigned char)buffer[end - 1] & 0xc0) == 0xc0) end--;
    char *text = memory_alloc(memory, end + 1);
    if (!text) return NULL;
    memcpy(text, buffer, end);
    text[end] = '\0';
    return text;
}

static bool make_room(DiagList *list) {
    uint32_t limit = list->limit ? list->limit : DIAG_DEFAULT_LIMIT;
    if (list->count >= limit) return false;
    if (list->count < list->capacity) return true;
    uint32_t capacity = list->capacity ? list->capacity * 2 : 8;
    Diag *items = memory_realloc(list->memory, list->items, capacity * sizeof *items);
    if (!items) return false;
    list->items = items;
    list->capacity = capacity;
    return true;
}

Diag *diag_add(DiagList *list, DiagSeverity severity, const char *category, Span span, const char *format,
               ...) {
    list->counts[severity]++;
    if (!make_room(list)) {
        list->dropped++;
        return NULL;
    }
    Diag *diag = &list->items[list->count++];
    *diag = (Diag){.memory = list->memory, .severity = severity, .category = category, .span = span};
    va_list args;
    va_start(args, format);
    diag->message = format_text(diag->memory, format, args);
    va_end(args);
    return diag;
}

void diag_set_help(Diag *diag, const char *format, ...) {
    if (!diag) return;
    va_list args;
    va_start(args, format);
    memory_free(diag->memory, diag->help);
    diag->help = format_text(diag->memory, format, args);
    va_end(args);
}

void diag_set_label(Diag *diag, const char *format, ...) {
    if (!diag) return;
    va_list args;
    va_start(args, format);
    memory_free(diag->memory, diag->label);
    diag->label = format_text(diag->memory, format, args);
    va_end(args);
}

void diag_set_other(Diag *diag, Span span, const char *format, ...) {
    if (!diag) return;
    va_list args;
    va_start(args, format);
    memory_free(diag->memory, diag->other_label);
    diag->other_span = span;
    diag->other_label = format_text(diag->memory, format, args);
    va_end(args);
}

/* ---- printing
 * -------------------------------------------------------------------------------------------------- */

const char *diag_severity_name(DiagSeverity severity) {
    static const char *const names[DIAG_SEVERITY_COUNT] = {"error", "warning", "hint", "lint"};
    return names[severity];
}

static const char *severity_color(DiagSeverity severity) {
    static const char *const colors[DIAG_SEVERITY_COUNT] = {"\033[1;31m", "\033[1;33m", "\033[1;36m",
                                                            "\033[1;34m"};
    return colors[severity];
}

/* Control characters in source lines must not reach a terminal. Tabs stay, they align the marker. */
static void print_clean(FILE *out, const char *text, uint32_t length) {
    for (uint32_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        fputc((c < 0x20 && c != '\t') || c == 0x7f ? '?' : c, out);
    }
}

/* The window of a line that is shown: lines longer than SHOWN_LINE_MAX are cut around the marker, at code
 * points. */
static Span shown_part(const SourceFile *file, Span line, uint32_t focus) {
    if (span_length(line) <= SHOWN_LINE_MAX) return line;
    uint32_t start = focus > line.start + SHOWN_LINE_MAX / 2 ? focus - SHOWN_LINE_MAX / 2 : line.start;
    uint32_t end = line.end - start > SHOWN_LINE_MAX ? start + SHOWN_LINE_MAX : line.end;
    while (start < end && ((unsigned char)file->text[start] & 0xc0) == 0x80) start++;
    while (end < line.end && end > start && ((unsigned char)file->text[end] & 0xc0) == 0x80) end--;
    return span_make(start, end);
}

static void print_marker(FILE *out, const SourceFile *file, Span shown, Span span, const char *label,
                         const char *color) {
    for (uint32_t i = shown.start; i < span.start && i < shown.end; i++) {
        unsigned char c = (unsigned char)file->text[i];
        if ((c & 0xc0) != 0x80) fputc(c == '\t' ? '\t' : ' ', out);
    }
    uint32_t end = span.end < shown.end ? span.end : shown.end;
    uint32_t width = end > span.start ? count_code_points(file->text + span.start, end - span.start) : 0;
    if (color) fputs(color, out);
    do fputc('^', out);
    while (width > 1 && --width);
    if (label) fprintf(out, " %s", label);
    if (color) fputs("\033[0m", out);
    fputc('\n', out);
}

static void print_place(FILE *out, SourceFile *file, Span span, const char *label, const char *color) {
    if (span.start > file->length) span.start = file->length;
    SourcePosition position = source_position(file, span.start);
    fprintf(out, "  --> %s:%u:%u\n", file->name ? file->name : "<input>", position.line, position.column);
    Span shown = shown_part(file, source_line(file, position.line), span.start);
    print_clean(out, file->text + shown.start, span_length(shown));
    fputc('\n', out);
    print_marker(out, file, shown, span, label, color);
}

void diag_print(FILE *out, const Diag *diag, SourceFile *file, bool color) {
    const char *paint = color ? severity_color(diag->severity) : NULL;
    fprintf(out, "%s%s%s: ", paint ? paint : "", diag_severity_name(diag->severity), paint ? "\033[0m" : "");
    fprintf(out, "%s\n", diag->message ? diag->message : "out of memory");
    if (file) {
        print_place(out, file, diag->span, diag->label, paint);
        if (diag->other_label) print_place(out, file, diag->other_span, diag->other_label, paint);
    }
    if (diag->help) fprintf(out, "help: %s\n", diag->help);
}

void diag_print_all(FILE *out, const DiagList *list, SourceFile *file, DiagSeverity least, bool color) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].severity <= least) diag_print(out, &list->items[i], file, color);
    if (list->dropped) fprintf(out, "note: %u more diagnostics are not shown\n", list->dropped);
}

char *diag_render_all(const DiagList *list, SourceFile *file, DiagSeverity least) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return NULL;
    diag_print_all(out, list, file, least, false);
    bool ok = !ferror(out);
    if (fclose(out) != 0) ok = false;
    if (ok) return text;
    free(text);
    return NULL;
}
