/* Image form of a unit: header, then every field in order, little-endian, arrays behind their counts, checked
 * by a checksum.
 *
 *   "BTIMAGE\n" | format version u32 | class_var_abi u32 | payload length u64 | checksum u64 | module name,
 * 64 bytes | payload
 *
 * The name stands in the header so that an image which cannot be read can still be named; the checksum is
 * that of what follows it.
 *
 * One description of the layout (visit_*) serves writing and reading, so the two cannot disagree. A decoded
 * unit points into its image: texts end in NUL there, and what instructions are made of lies there as it lies
 * in memory. The structures that hold pointers are carved from one block, whose size stands first in the
 * payload. Decoding trusts nothing: counts are bounded by what is left of the payload and of the block, and
 * bc_check has the last word on the code. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vm/bytecode/bytecode.h"

static const char MAGIC[8] = {'B', 'T', 'I', 'M', 'A', 'G', 'E', '\n'};
enum { NAME_AT = 8 + 4 + 4 + 8 + 8, NAME_BYTES = 64, HEADER_BYTES = NAME_AT + NAME_BYTES, WORD = 8 };
/* A structure is at most so many times larger in memory than in the image. */
enum { GROWTH_MAX = 16 };

typedef struct {
    bool writing, failed;
    uint8_t *bytes;
    size_t used, size; /* reading: used = position */
    char *block;
    size_t block_used, block_size; /* writing: what reading will need */
} Codec;

static bool room_slow(Codec *c, size_t n) {
    if (!c->writing) return c->failed = true, false;
    size_t size = (c->size + n) * 2;
    uint8_t *grown = realloc(c->bytes, size);
    if (!grown) return c->failed = true, false;
    c->bytes = grown;
    c->size = size;
    return true;
}

static inline bool room(Codec *c, size_t n) {
    if (c->failed) return false;
    return c->size - c->used >= n || room_slow(c, n);
}

/* Inline: with a known length it is one move. */
__attribute__((always_inline)) static inline void visit_bytes(Codec *c, void *data, size_t n) {
    if (!room(c, n)) {
        if (!c->writing) memset(data, 0, n);
        return;
    }
    if (c->writing)
        memcpy(c->bytes + c->used, data, n);
    else
        memcpy(data, c->bytes + c->used, n);
    c->used += n;
}

static void visit_u8(Codec *c, uint8_t *v) { visit_bytes(c, v, 1); }
static void visit_u16(Codec *c, uint16_t *v) { visit_bytes(c, v, 2); }
static void visit_u32(Codec *c, uint32_t *v) { visit_bytes(c, v, 4); }
static void visit_bool(Codec *c, bool *v) {
    uint8_t b = *v;
    visit_u8(c, &b);
    *v = b != 0;
}

static void visit_text(Codec *c, BcText *t) {
    visit_u32(c, &t->length);
    if (t->length == 0) {
        t->bytes = NULL;
        return;
    }
    if (!room(c, (size_t)t->length + 1)) {
        *t = (BcText){NULL, 0};
        return;
    }
    char *at = (char *)c->bytes + c->used;
    if (c->writing) {
        memcpy(at, t->bytes, t->length);
        at[t->length] = 0;
    } else {
        if (at[t->length] != 0) c->failed = true;
        t->bytes = at;
    }
    c->used += (size_t)t->length + 1;
}

/* An array of count structures that take at least `least` bytes each in the image; false: nothing to visit.
 */
static bool visit_array(Codec *c, void *array, uint32_t *count, size_t item, size_t least) {
    visit_u32(c, count);
    size_t bytes = (*count * item + WORD - 1) & ~(size_t)(WORD - 1);
    if (c->writing) return c->block_used += bytes, *count > 0;
    void *fresh = NULL;
    bool fits = !c->failed && *count <= (c->size - c->used) / least && bytes <= c->block_size - c->block_used;
    if (*count > 0 && fits) {
        fresh = c->block + c->block_used;
        c->block_used += bytes;
    }
    if (!fresh && *count > 0) c->failed = true;
    if (!fresh) *count = 0;
    memcpy(array, &fresh, sizeof fresh);
    return fresh != NULL;
}

#define ARRAY(c, array, count, least) visit_array(c, &(array), &(count), sizeof *(array), least)

/* An array that lies in the image as it does in memory. Answers where to write its bytes; NULL when reading
 * or when there are none. */
static void *visit_plain(Codec *c, void *array, uint32_t *count, size_t item) {
    visit_u32(c, count);
    if (!c->writing) memset(array, 0, sizeof(void *));
    if (*count == 0) return NULL;
    size_t pad = -c->used & (WORD - 1), bytes = *count * item;
    if (!room(c, pad + bytes)) return *count = 0, NULL;
    if (c->writing) memset(c->bytes + c->used, 0, pad + bytes);
    void *at = c->bytes + c->used + pad;
    c->used += pad + bytes;
    if (c->writing) return at;
    memcpy(array, &at, sizeof at);
    return NULL;
}

#define PLAIN(c, array, count) visit_plain(c, &(array), &(count), sizeof *(array))

static void visit_span(Codec *c, Span *s) {
    visit_u32(c, &s->start);
    visit_u32(c, &s->end);
}

static void visit_const(Codec *c, BcConst *k) {
    uint8_t kind = (uint8_t)k->kind;
    visit_u8(c, &kind);
    if (kind >= BC_CONST_COUNT) {
        c->failed = true;
        kind = BC_INT;
    }
    k->kind = (BcConstKind)kind;
    if (k->kind == BC_INT || k->kind == BC_FLOAT)
        visit_bytes(c, &k->u, sizeof k->u.i);
    else
        visit_text(c, &k->u.text);
}

_Static_assert(sizeof(BcSite) == 8 && sizeof(BcRegion) == 16 && sizeof(BcLine) == 8 &&
                   sizeof(BcCapture) == 12,
               "plain arrays of an image");

/* Written member by member, so that what lies between the members is zero. */
static void visit_code(Codec *c, BcFunction *f) {
    Instr *code = PLAIN(c, f->code, f->code_count);
    if (code) memcpy(code, f->code, f->code_count * sizeof *code);
    BcSite *sites = PLAIN(c, f->sites, f->site_count);
    if (sites) memcpy(sites, f->sites, f->site_count * sizeof *sites);
    BcLine *lines = PLAIN(c, f->lines, f->line_count);
    if (lines) memcpy(lines, f->lines, f->line_count * sizeof *lines);
    BcRegion *regions = PLAIN(c, f->regions, f->region_count);
    for (uint32_t i = 0; regions && i < f->region_count; i++) {
        regions[i].start = f->regions[i].start;
        regions[i].end = f->regions[i].end;
        regions[i].handler = f->regions[i].handler;
        regions[i].reg = f->regions[i].reg;
        regions[i].kind = f->regions[i].kind;
    }
    BcCapture *captures = PLAIN(c, f->captures, f->capture_count);
    for (uint32_t i = 0; captures && i < f->capture_count; i++) {
        captures[i].kind = f->captures[i].kind;
        captures[i].index = f->captures[i].index;
        captures[i].name = f->captures[i].name;
        captures[i].fallback = f->captures[i].fallback;
    }
}

static void visit_function(Codec *c, BcFunction *f) {
    visit_u32(c, &f->name);
    visit_text(c, &f->class_name);
    visit_u8(c, &f->kind);
    visit_u8(c, &f->home_kind);
    visit_u8(c, &f->flags);
    visit_bool(c, &f->class_side);
    visit_u16(c, &f->param_count);
    visit_u16(c, &f->register_count);
    visit_code(c, f);
    visit_span(c, &f->span);
}

static void visit_field(Codec *c, BcField *f) {
    visit_text(c, &f->name);
    visit_text(c, &f->type);
    visit_u32(c, &f->function);
    visit_bool(c, &f->has_default);
    visit_bool(c, &f->allows_nil);
}

static void visit_method(Codec *c, BcMethod *m) {
    visit_text(c, &m->selector);
    visit_text(c, &m->doc);
    visit_text(c, &m->source);
    visit_text(c, &m->class_name);
    visit_u32(c, &m->function);
    visit_u8(c, &m->flags);
    visit_bool(c, &m->class_side);
}

static void visit_class(Codec *c, BcClass *k) {
    visit_text(c, &k->name);
    visit_text(c, &k->superclass);
    visit_text(c, &k->doc);
    visit_text(c, &k->native_module);
    visit_u8(c, &k->flags);
    visit_u8(c, &k->kind);
    if (ARRAY(c, k->fields, k->field_count, 14))
        for (uint32_t i = 0; i < k->field_count; i++) visit_field(c, &k->fields[i]);
    if (ARRAY(c, k->class_vars, k->class_var_count, 14))
        for (uint32_t i = 0; i < k->class_var_count; i++) visit_field(c, &k->class_vars[i]);
    if (ARRAY(c, k->methods, k->method_count, 22))
        for (uint32_t i = 0; i < k->method_count; i++) visit_method(c, &k->methods[i]);
    visit_span(c, &k->span);
}

static void visit_unit(Codec *c, BcUnit *u) {
    visit_text(c, &u->name);
    visit_text(c, &u->source);
    if (ARRAY(c, u->consts, u->const_count, 5))
        for (uint32_t i = 0; i < u->const_count; i++) visit_const(c, &u->consts[i]);
    if (ARRAY(c, u->functions, u->function_count, 40))
        for (uint32_t i = 0; i < u->function_count; i++) visit_function(c, &u->functions[i]);
    if (ARRAY(c, u->classes, u->class_count, 38))
        for (uint32_t i = 0; i < u->class_count; i++) visit_class(c, &u->classes[i]);
    if (ARRAY(c, u->extensions, u->extension_count, 22))
        for (uint32_t i = 0; i < u->extension_count; i++) visit_method(c, &u->extensions[i]);
    visit_u32(c, &u->script);
    if (ARRAY(c, u->bindings, u->binding_count, 4))
        for (uint32_t i = 0; i < u->binding_count; i++) visit_text(c, &u->bindings[i]);
}

/* FNV-1a over 64-bit words (Fowler, Noll, Vo), the tail bytewise. */
static uint64_t checksum(const uint8_t *bytes, size_t length) {
    uint64_t h = 0xcbf29ce484222325ull, word;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        memcpy(&word, bytes + i, 8);
        h = (h ^ word) * 0x100000001b3ull;
    }
    for (; i < length; i++) h = (h ^ bytes[i]) * 0x100000001b3ull;
    return h;
}

uint8_t *bc_encode(const BcUnit *unit, size_t *length) {
    Codec c = {.writing = true};
    uint8_t header[HEADER_BYTES] = {0};
    uint64_t block = 0;
    visit_bytes(&c, header, sizeof header);
    visit_bytes(&c, &block, sizeof block);
    visit_unit(&c, (BcUnit *)(uintptr_t)unit);
    if (c.failed) return free(c.bytes), NULL;
    block = c.block_used;
    memcpy(c.bytes + HEADER_BYTES, &block, sizeof block);
    uint32_t name = unit->name.length < NAME_BYTES ? unit->name.length : NAME_BYTES;
    if (name) memcpy(c.bytes + NAME_AT, unit->name.bytes, name);
    uint64_t payload = c.used - HEADER_BYTES, sum = checksum(c.bytes + NAME_AT, NAME_BYTES + payload);
    memcpy(c.bytes, MAGIC, 8);
    memcpy(c.bytes + 8, &unit->format_version, 4);
    memcpy(c.bytes + 12, &unit->class_var_abi, 4);
    memcpy(c.bytes + 16, &payload, 8);
    memcpy(c.bytes + 24, &sum, 8);
    *length = c.used;
    return c.bytes;
}

static BcUnit *refuse(char *reason, size_t size, const char *text) {
    snprintf(reason, size, "%s", text);
    return NULL;
}

/* The name need not be one: what does not print is shown as `?`. */
static BcUnit *refuse_abi(char *reason, size_t size, const uint8_t *bytes, const char *what) {
    char name[NAME_BYTES + 1] = "";
    for (unsigned i = 0; i < NAME_BYTES && bytes[NAME_AT + i]; i++)
        name[i] = bytes[NAME_AT + i] >= ' ' && bytes[NAME_AT + i] < 0x7f ? (char)bytes[NAME_AT + i] : '?';
    snprintf(reason, size, "abi_mismatch: module '%s' has another %s; recompile it", name, what);
    return NULL;
}

/* False, with the reason, when the header is not in order. */
static bool check_header(const uint8_t *bytes, size_t length, bool trusted, char *reason, size_t size) {
    uint32_t version, abi;
    uint64_t payload, sum;
    if (length < HEADER_BYTES || memcmp(bytes, MAGIC, 8) != 0)
        return refuse(reason, size, "not a Beamtalk image");
    memcpy(&version, bytes + 8, 4);
    memcpy(&abi, bytes + 12, 4);
    memcpy(&payload, bytes + 16, 8);
    memcpy(&sum, bytes + 24, 8);
    if (version != BC_FORMAT_VERSION) return refuse_abi(reason, size, bytes, "image format");
    if (abi != BC_CLASS_VAR_ABI) return refuse_abi(reason, size, bytes, "class_var_abi");
    if (payload != length - HEADER_BYTES) return refuse(reason, size, "the image is truncated");
    if (!trusted && checksum(bytes + NAME_AT, NAME_BYTES + payload) != sum)
        return refuse(reason, size, "the image is damaged");
    return true;
}

/* The unit's own fields and pieces; false: malformed, or no memory. */
static bool decode_payload(BcUnit *unit, const uint8_t *bytes, size_t length) {
    Codec c = {.bytes = (uint8_t *)(uintptr_t)bytes, .used = HEADER_BYTES, .size = length};
    uint64_t block = 0;
    visit_bytes(&c, &block, sizeof block);
    if (c.failed || block / GROWTH_MAX > length) return false;
    c.block = unit->block = memory_zalloc(unit->memory, block + 1);
    c.block_size = block;
    if (!c.block) return false;
    visit_unit(&c, unit);
    return !c.failed && c.used == length && c.block_used == block;
}

static BcUnit *decode(const Memory *memory, const uint8_t *bytes, size_t length, bool trusted, char *reason,
                      size_t reason_size) {
    BcUnit *unit = memory_zalloc(memory, sizeof *unit);
    if (!unit) {
        if (!trusted) memory_free(memory, (uint8_t *)(uintptr_t)bytes);
        return refuse(reason, reason_size, "out of memory");
    }
    *unit = (BcUnit){.format_version = BC_FORMAT_VERSION,
                     .class_var_abi = BC_CLASS_VAR_ABI,
                     .decoded = true,
                     .memory = memory,
                     .image = trusted ? NULL : (uint8_t *)(uintptr_t)bytes};
    if (!decode_payload(unit, bytes, length))
        refuse(reason, reason_size, "the image is malformed");
    else if (trusted || bc_check(unit, reason, reason_size))
        return unit->checked = true, unit;
    bc_unit_free(unit);
    return NULL;
}

BcUnit *bc_decode(const Memory *memory, const uint8_t *bytes, size_t length, char *reason,
                  size_t reason_size) {
    if (!check_header(bytes, length, false, reason, reason_size)) return NULL;
    uint8_t *copy = memory_alloc(memory, length);
    if (!copy) return refuse(reason, reason_size, "out of memory");
    memcpy(copy, bytes, length);
    return decode(memory, copy, length, false, reason, reason_size);
}

BcUnit *bc_decode_trusted(const Memory *memory, const uint8_t *bytes, size_t length, char *reason,
                          size_t reason_size) {
    if (!check_header(bytes, length, true, reason, reason_size)) return NULL;
    return decode(memory, bytes, length, true, reason, reason_size);
}
