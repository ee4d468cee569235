/* libFuzzer entry for the front end: lexer, parser, tree printer, diagnostics printer, input completeness.
 *
 * The last byte of the input chooses a memory limit, so that running out of memory is exercised too. With a
 * fuzzing engine: clang -fsanitize=fuzzer,address,undefined -I. tests/fuzz/fuzz_parser.c compiler/<front
 * end>.c vm/bytecode/diag.c -lm Without one, define FUZZ_STANDALONE: then the program mutates the files named
 * on its command line by itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiler/ast_print.h"
#include "compiler/input_complete.h"
#include "compiler/parser.h"

static void print_all(const Module *module, const MethodDecl *method, const DiagList *diags,
                      SourceFile *file) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return;
    if (module) ast_print_module(out, module);
    if (method) ast_print_method(out, method);
    diag_print_all(out, diags, file, DIAG_LINT, true);
    fclose(out);
    free(text);
}

static void parse_once(const char *text, size_t length, size_t limit, bool single) {
    SourceFile file;
    Arena arena;
    Intern intern;
    DiagList diags;
    arena_init(&arena, NULL);
    arena.limit_bytes = limit;
    diag_list_init(&diags, NULL);
    if (!intern_init(&intern, &arena) || !source_file_init(&file, "fuzz", text, length)) abort();
    ParseInput in = {&file, &arena, &intern, &diags};
    Module *module = single ? NULL : parse_module(&in);
    MethodDecl *method = single ? parse_method(&in) : NULL;
    if (!module && !method && !diag_has_errors(&diags)) abort(); /* nothing fails in silence */
    print_all(module, method, &diags, &file);
    source_file_free(&file);
    diag_list_free(&diags);
    intern_free(&intern);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size ? size : 1); /* exact size: reading past the end is caught */
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    size_t limit = size && data[size - 1] % 4 == 0 ? 4096 * (size_t)(1 + data[size - 1] / 4) : 0;
    parse_once(text, size, limit, false);
    parse_once(text, size, limit, true);
    input_state(text, size);
    free(text);
    return 0;
}

#ifdef FUZZ_STANDALONE
#include <time.h>

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Pieces that matter to the grammar; mutations insert them whole. */
static const char *const pieces[] = {"{",
                                     "}",
                                     "\"",
                                     "[",
                                     "]",
                                     "(",
                                     ")",
                                     "#(",
                                     "#[",
                                     "#{",
                                     "=>",
                                     "->",
                                     ":=",
                                     "::",
                                     "state: ",
                                     "match:",
                                     "[:x | ",
                                     "\\{",
                                     "$",
                                     "/*",
                                     "///",
                                     "\n  ",
                                     "\n",
                                     ".",
                                     "!",
                                     ";",
                                     "^",
                                     "<<",
                                     ">>",
                                     "|",
                                     "...",
                                     "@",
                                     "@expect ",
                                     "class ",
                                     "Object subclass: A",
                                     "-1",
                                     "16r",
                                     "1e",
                                     "\\",
                                     "&",
                                     "Protocol define: P",
                                     "type T = ",
                                     "Foo >> ",
                                     "#'",
                                     "'",
                                     "**",
                                     "when:",
                                     "when: [",
                                     "a: b ",
                                     ","};

static size_t mutate(uint8_t *data, size_t size, size_t capacity, uint64_t *random) {
    for (uint64_t changes = 1 + next_random(random) % 8; changes > 0; changes--) {
        size_t at = size ? next_random(random) % size : 0;
        const char *piece = pieces[next_random(random) % (sizeof pieces / sizeof *pieces)];
        size_t length = strlen(piece), cut = next_random(random) % 16;
        switch (next_random(random) % 5) {
        case 0:
            if (size) data[at] = (uint8_t)next_random(random);
            break;
        case 1:
            if (at + cut <= size) {
                memmove(data + at, data + at + cut, size - at - cut);
                size -= cut;
            }
            break;
        case 2:
            if (size + cut <= capacity && at + cut <= size) { /* doubles a stretch */
                memmove(data + at + cut, data + at, size - at);
                size += cut;
            }
            break;
        default:
            if (size + length <= capacity) {
                memmove(data + at + length, data + at, size - at);
                memcpy(data + at, piece, length);
                size += length;
            }
        }
    }
    return size;
}

/* fuzz_parser SECONDS SEED FILE... */
int main(int argc, char **argv) {
    enum { CAPACITY = 1 << 16 };
    static uint8_t buffer[CAPACITY]; /* a test program's own */
    if (argc < 4) return 2;
    time_t end = time(NULL) + atoi(argv[1]);
    uint64_t random = (uint64_t)atoll(argv[2]) * 2 + 1, runs = 0;
    while (time(NULL) < end) {
        FILE *in = fopen(argv[3 + next_random(&random) % (uint64_t)(argc - 3)], "rb");
        if (!in) continue;
        size_t size = fread(buffer, 1, CAPACITY / 2, in);
        fclose(in);
        for (int i = 0; i < 20; i++, runs++) {
            size = mutate(buffer, size, CAPACITY, &random);
            LLVMFuzzerTestOneInput(buffer, size);
        }
    }
    printf("%llu runs\n", (unsigned long long)runs);
    return 0;
}
#endif
