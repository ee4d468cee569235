/* The tree of a generated program: pool, nodes, tables. */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

enum { CHUNK_BYTES = 64 * 1024 };
struct PoolChunk {
    PoolChunk *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

void *pool_get(Pool *pool, size_t size) {
    size = (size + 15) & ~(size_t)15;
    PoolChunk *chunk = pool->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        chunk = malloc(sizeof *chunk + room);
        if (!chunk) exit(2);
        *chunk = (PoolChunk){.next = pool->chunks, .size = room};
        pool->chunks = chunk;
    }
    void *bytes = chunk->bytes + chunk->used;
    chunk->used += size;
    return memset(bytes, 0, size);
}

void pool_clear(Pool *pool) {
    while (pool->chunks) {
        PoolChunk *next = pool->chunks->next;
        free(pool->chunks);
        pool->chunks = next;
    }
}

void prog_text_add(ProgText *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char small[512];
    int n = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (text->length + (size_t)n + 1 > text->room) {
        text->room = (text->length + (size_t)n + 1) * 2;
        text->bytes = realloc(text->bytes, text->room);
        if (!text->bytes) exit(2);
    }
    if ((size_t)n < sizeof small) {
        memcpy(text->bytes + text->length, small, (size_t)n + 1);
    } else {
        va_start(arguments, format);
        vsnprintf(text->bytes + text->length, (size_t)n + 1, format, arguments);
        va_end(arguments);
    }
    text->length += (size_t)n;
}

void prog_text_free(ProgText *text) {
    free(text->bytes);
    *text = (ProgText){0};
}

/* ---- tables ---- */

const char *const CONTEXT_NAMES[CTX_COUNT] = {"class method", "value method", "actor method", "script"};
const char *const POSITION_NAMES[POS_COUNT] = {
#define POSITION(name) #name,
#include "positions.def"
#undef POSITION
};
const Shape SHAPES[SHAPES_PLAIN] = {
#define SHAPE(id, text, kids, result) {#id, text, kids, result},
#include "shapes.def"
#undef SHAPE
};
const Helper HELPERS[HELPER_COUNT] = {
#define HELPER(id, text, kids, result, contexts, selector) {text, kids, result, contexts, selector},
#include "helpers.def"
#undef HELPER
};
const char *const PROG_OPS[OP_COUNT] = {"+", "-", "<", "<=", "=:=", "++"};
const char *const PROG_UNARY[UN_COUNT] = {"isNil",      "size",    "not",   "isError",
                                          "valueOr: 6", "negated", "first", "last"};
const Raise PROG_RAISES[RAISE_COUNT] = {
    {"1 / 0", "type_error", "TypeError"},
    {"nil foo", "does_not_understand", "RuntimeError"},
    {"Error signal: \"u\"", "signal", "Error"}, /* `self error:` where there is a self; see program_text.c */
    {"#() at: 1", "empty_collection", "RuntimeError"},
    {"Error new signal", "signal", "Error"},
    {"TypeError signal: \"ty\"", "type_error", "TypeError"},
};
const ClassName PROG_CLASSES[CLASS_COUNT] = {
    {"Error", NULL}, {"Exception", NULL}, {"TypeError", "TypeError"}, {"RuntimeError", "RuntimeError"},
    {"nil", NULL},   {"Result", NULL},    {"PropTrier new", NULL}};
const char *const PROG_SYMBOLS[] = {
    "a", "b", "type_error", "does_not_understand", "signal", "empty_collection", "user_error"};

const char *shape_name(int shape) { return shape == SHAPE_MATCH ? "MATCH" : SHAPES[shape].name; }

/* ---- building ---- */

Node *node_new(Pool *pool, NodeKind kind, int kid_count) {
    Node *node = pool_get(pool, sizeof *node);
    node->kind = kind;
    node->kid_count = (uint16_t)kid_count;
    node->kids = pool_get(pool, (size_t)(kid_count ? kid_count : 1) * sizeof *node->kids);
    return node;
}

Node *node_leaf(Pool *pool, NodeKind kind, int value) {
    Node *node = node_new(pool, kind, 0);
    node->value = (int16_t)value;
    return node;
}

Node *node_with(Pool *pool, NodeKind kind, int op, int kid_count, ...) {
    Node *node = node_new(pool, kind, kid_count);
    node->op = (uint8_t)op;
    va_list kids;
    va_start(kids, kid_count);
    for (int i = 0; i < kid_count; i++) node->kids[i] = va_arg(kids, Node *);
    va_end(kids);
    return node;
}

void node_append(Pool *pool, Node *node, Node *kid) {
    Node **kids = pool_get(pool, (size_t)(node->kid_count + 1) * sizeof *kids);
    memcpy(kids, node->kids, node->kid_count * sizeof *kids);
    kids[node->kid_count++] = kid;
    node->kids = kids;
}

Node *node_copy(Pool *pool, const Node *node) {
    Node *copy = node_new(pool, node->kind, node->kid_count);
    Node **kids = copy->kids;
    *copy = *node;
    copy->kids = kids;
    for (int i = 0; i < node->kid_count; i++) kids[i] = node_copy(pool, node->kids[i]);
    return copy;
}

Program program_copy(Pool *pool, const Program *program) {
    Program copy = *program;
    copy.pool = pool;
    for (int i = 0; i < PROG_METHODS; i++)
        if (copy.methods[i].body) copy.methods[i].body = node_copy(pool, copy.methods[i].body);
    return copy;
}

static size_t node_size(const Node *node) {
    size_t size = 1;
    for (int i = 0; i < node->kid_count; i++) size += node_size(node->kids[i]);
    return size;
}

size_t program_size(const Program *program) {
    size_t size = 0;
    for (int i = 0; i < PROG_METHODS; i++)
        if (program->methods[i].body) size += node_size(program->methods[i].body);
    return size;
}
