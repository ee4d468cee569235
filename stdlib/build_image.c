/* Build-time tool: compiles the library's sources, together, as one unit, and writes its image.
 *
 *   stdlib_image OUT FILE.bt...
 *   stdlib_image --ir FILE.bt...         prints the ThreadedIr (--disasm: the bytecode) instead
 *
 * The sources are one text to the compiler (classes may stand in any order), so a diagnostic's line is mapped
 * back to its file here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/compiler.h"

typedef struct {
    char *bytes;
    size_t length, capacity;
} Buffer;

/* Where each file's text begins in the joined source. */
typedef struct {
    size_t start;
    const char *path;
} Part;

static void buffer_add(Buffer *b, const char *bytes, size_t length) {
    if (b->length + length + 1 > b->capacity) {
        b->capacity = (b->length + length + 1) * 2;
        b->bytes = realloc(b->bytes, b->capacity);
        if (!b->bytes) exit(2);
    }
    memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
    b->bytes[b->length] = 0;
}

static bool add_file(Buffer *b, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    char chunk[65536];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) buffer_add(b, chunk, n);
    fclose(f);
    buffer_add(b, "\n", 1);
    return true;
}

static const Part *part_at(const Part *parts, int count, size_t offset) {
    int i = count - 1;
    while (i > 0 && parts[i].start > offset) i--;
    return &parts[i];
}

static void report(const DiagList *diags, const Part *parts, int count, const Buffer *source) {
    for (uint32_t i = 0; i < diags->count; i++) {
        Diag d = diags->items[i];
        if (d.severity == DIAG_LINT) continue;
        const Part *part = part_at(parts, count, d.span.start);
        SourceFile file;
        source_file_init(&file, part->path, source->bytes + part->start, source->length - part->start);
        d.span.start -= (uint32_t)part->start;
        d.span.end -= (uint32_t)part->start;
        if (d.other_label)
            d.other_span.start -= (uint32_t)part->start, d.other_span.end -= (uint32_t)part->start;
        diag_print(stderr, &d, &file, false);
        source_file_free(&file);
    }
}

static bool find_no_class(void *context, const char *name, CompilerClass *out) {
    (void)context, (void)name, (void)out;
    return false;
}
static bool find_no_method(void *context, const char *class_name, const char *selector, bool class_side,
                           uint8_t *flags) {
    (void)context, (void)class_name, (void)selector, (void)class_side, (void)flags;
    return false;
}

/* The unit as text, on standard output. */
static int print_form(const char *form, const CompileOptions *options, const Buffer *source,
                      DiagList *diags) {
    bool ir = strcmp(form, "--ir") == 0;
    IrUnit *unit = ir ? compile_to_ir(options, source->bytes, source->length, diags) : NULL;
    BcUnit *code = ir ? NULL : compile_source(options, source->bytes, source->length, diags);
    SourceFile file;
    bool named = source_file_init(&file, options->name, source->bytes, source->length);
    char *text = unit && named ? ir_print_with_source(unit, &file) : code ? bc_disassemble(code) : NULL;
    if (text) fputs(text, stdout);
    free(text);
    if (named) source_file_free(&file);
    if (unit) ir_unit_free(unit);
    if (code) bc_unit_free(code);
    return text ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: stdlib_image OUT FILE.bt...\n"), 2;
    Buffer source = {0};
    Part *parts = calloc((size_t)argc, sizeof *parts);
    if (!parts) return 2;
    for (int i = 2; i < argc; i++) {
        parts[i - 2] = (Part){.start = source.length, .path = argv[i]};
        if (!add_file(&source, argv[i])) return fprintf(stderr, "cannot read %s\n", argv[i]), 2;
    }
    CompileOptions options = {.name = "stdlib",
                              .stdlib = true,
                              .world = {.find_class = find_no_class, .find_method = find_no_method}};
    DiagList diags;
    diag_list_init(&diags, NULL);
    if (strncmp(argv[1], "--", 2) == 0) return print_form(argv[1], &options, &source, &diags);
    BcUnit *unit = compile_source(&options, source.bytes, source.length, &diags);
    report(&diags, parts, argc - 2, &source);
    if (!unit) return 1;
    size_t length;
    char reason[256]; /* checked here, once and for all: the program trusts what it contains */
    if (!bc_check(unit, reason, sizeof reason)) return fprintf(stderr, "stdlib: %s\n", reason), 1;
    uint8_t *image = bc_encode(unit, &length);
    FILE *out = fopen(argv[1], "wb");
    bool written = image && out && fwrite(image, 1, length, out) == length;
    if (!out || fclose(out) != 0 || !written) return fprintf(stderr, "cannot write %s\n", argv[1]), 2;
    free(image);
    bc_unit_free(unit);
    diag_list_free(&diags);
    free(parts);
    free(source.bytes);
    return 0;
}
