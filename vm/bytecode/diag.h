/* Source files and diagnostics, shared by compiler, IR verifier, tools and API.
 *
 * AGREED. Owner: whoever created it; no locking, one thread at a time. A DiagList owns the texts of its
 * diagnostics; they do not depend on any arena, so a list outlives the compilation that filled it. It keeps
 * at most `limit` diagnostics and counts the rest, so hostile input cannot make it grow without bound. Losing
 * a text for lack of memory never loses the count: after a failed compilation error_count is above zero,
 * always.
 */
#ifndef BT_VM_BYTECODE_DIAG_H
#define BT_VM_BYTECODE_DIAG_H

#include <stddef.h>
#include <stdio.h>
#include "vm/bytecode/memory.h"
#include "vm/bytecode/span.h"

/* ORDER Severity: most severe first. */
typedef enum {
    DIAG_ERROR,   /* nothing is executed */
    DIAG_WARNING, /* shown, execution goes on */
    DIAG_HINT,    /* shown, never fails a build */
    DIAG_LINT     /* shown only by `lint` */
} DiagSeverity;
#define DIAG_SEVERITY_COUNT 4

/* A source text. Neither name nor text is owned unless the file came from source_file_load. Text need not end
 * in NUL. */
typedef struct SourceFile {
    const char *name;
    const char *text;
    uint32_t length;
    const Memory *memory;  /* of the line table; NULL after source_file_init, whoever has another sets it */
    uint32_t *line_starts; /* built by the first source_position call, NULL until then */
    uint32_t line_count;
    bool owns_text;
} SourceFile;

typedef struct {
    uint32_t line, column; /* 1-based; the column counts code points */
} SourcePosition;

/* Wraps text that the caller keeps alive. False when it is longer than SOURCE_MAX_BYTES. */
bool source_file_init(SourceFile *file, const char *name, const char *text, size_t length);
/* Reads a whole file. On failure returns false and stores a static or errno text in *why. */
bool source_file_load(SourceFile *file, const char *path, const char **why);
void source_file_free(SourceFile *file);
SourcePosition source_position(SourceFile *file, uint32_t offset);
/* Byte range of a 1-based line, without its line end. An empty span at the end of the text for lines that do
 * not exist. */
Span source_line(SourceFile *file, uint32_t line);
/* Offset of the first byte that is not valid UTF-8, or `length` when all is well. */
size_t utf8_first_invalid(const char *text, size_t length);

typedef struct Diag {
    const Memory *memory; /* of the texts: the list's */
    DiagSeverity severity;
    const char
        *category; /* static text: "syntax", "lint", "unused", "dnu", "type", ... (the names @expect uses) */
    Span span;
    char *message;     /* owned; NULL only when memory ran out */
    char *help;        /* owned, may be NULL: printed as `help: ...` */
    char *label;       /* owned, may be NULL: text after the ^^^ marker */
    Span other_span;   /* a second place that explains the first; valid when other_label is set */
    char *other_label; /* owned, may be NULL */
} Diag;

typedef struct DiagList {
    const Memory *memory; /* of items and texts */
    Diag *items;
    uint32_t count, capacity;
    uint32_t limit;                       /* at most so many kept; 0 = DIAG_DEFAULT_LIMIT */
    uint32_t counts[DIAG_SEVERITY_COUNT]; /* by severity, including those that were not kept */
    uint32_t dropped;                     /* not kept */
} DiagList;

#define DIAG_DEFAULT_LIMIT 1000u

void diag_list_init(DiagList *list, const Memory *memory);
void diag_list_free(DiagList *list);
static inline uint32_t diag_error_count(const DiagList *list) { return list->counts[DIAG_ERROR]; }
static inline bool diag_has_errors(const DiagList *list) { return list->counts[DIAG_ERROR] != 0; }

/* Appends. The result is valid until the next append and NULL when the diagnostic was not kept; the setters
 * below take NULL. A message that is longer than 4 KiB is cut. */
Diag *diag_add(DiagList *list, DiagSeverity severity, const char *category, Span span, const char *format,
               ...) __attribute__((format(printf, 5, 6)));
void diag_set_help(Diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_set_label(Diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_set_other(Diag *diag, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));

const char *diag_severity_name(DiagSeverity severity);
/* Prints one diagnostic as
 *     error: message
 *       --> file.bt:3:7
 *     source line
 *           ^^^ label
 *     help: ...
 * With a NULL file only the first and the last part. */
void diag_print(FILE *out, const Diag *diag, SourceFile *file, bool color);
/* Prints all, up to severity `least`, then one line about those that were not kept. */
void diag_print_all(FILE *out, const DiagList *list, SourceFile *file, DiagSeverity least, bool color);
/* The printed form as a malloc'ed string; NULL when memory ran out. */
char *diag_render_all(const DiagList *list, SourceFile *file, DiagSeverity least);

#endif
