/* Image form of a unit: header, then every field in order, little-endian, arrays behind their counts, checked
 * by a checksum.
 *
 *   "BTIMAGE\n" | format version u32 | class_var_abi u32 | payload length u64 | checksum u64 | payload
 *
 * One description of the layout (visit_*) serves writing and reading, so the two cannot disagree. Decoding
 * trusts nothing: counts are bounded by what is left of the payload, and bc_check has the last word on the
 * code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vm/bytecode/bytecode.h"

static const char MAGIC[8] = {'B', 'T', 'I', 'M', 'A', 'G', 'E', '\n'};
enum { HEADER_BYTES = 8 + 4 + 4 + 8 + 8 };

typedef struct {
    bool writing, failed;
    uint8_t *bytes;
    size_t used, size; /* reading: used = position */
} Codec;

static bool room(Codec *c, size_t n) {
    if (c->failed) return false;
    if (c->size - c->used >= n) return true;
    if (!c->writing) return c->failed = true, false;
    size_t size = (c->size + n) * 2;
    uint8_t *grown = realloc(c->bytes, size);
    if (!grown) return c->failed = true, false;
    c->bytes = grown;
    c->size = size;
    return true;
}

static void visit_bytes(Codec *c, void *data, size_t n) {
    if (!room(c, n)) {
        if (!c->writing) memset(data, 0, n);
        return;
    }
    if (n == 0) return;
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
    if (!c->writing) {
        t->bytes = NULL;
        if (c->failed || t->length > c->size - c->used) {
            c->failed = true;
            t->length = 0;
            return;
        }
        if (t->length == 0) return;
        char *copy = malloc((size_t)t->length + 1);
        if (!copy) {
            c->failed = true;
            t->length = 0;
            return;
        }
        copy[t->length] = 0;
        t->bytes = copy;
    }
    visit_bytes(c, (char *)(uintptr_t)t->bytes, t->length);
}

/* An array of count items that take at least `least` bytes each in the image; false: nothing to visit. */
static bool visit_array(Codec *c, void *array, uint32_t *count, size_t item, size_t least) {
    visit_u32(c, count);
    if (c->writing) return *count > 0;
    void *fresh = NULL;
    if (!c->failed && *count > 0 && *count <= (c->size - c->used) / least) fresh = calloc(*count, item);
    if (!fresh && *count > 0) c->failed = true;
    if (!fresh) *count = 0;
    memcpy(array, &fresh, sizeof fresh);
    return fresh != NULL;
}

#define ARRAY(c, array, count, least) visit_array(c, &(array), &(count), sizeof *(array), least)

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

static void visit_site(Codec *c, BcSite *s) {
    visit_u32(c, &s->name);
    visit_u8(c, &s->argc);
    visit_u8(c, &s->flags);
    visit_u16(c, &s->capture);
}

static void visit_region(Codec *c, BcRegion *r) {
    visit_u32(c, &r->start);
    visit_u32(c, &r->end);
    visit_u32(c, &r->handler);
    visit_u16(c, &r->reg);
    visit_u8(c, &r->kind);
}

static void visit_capture(Codec *c, BcCapture *k) {
    visit_u8(c, &k->kind);
    visit_u16(c, &k->index);
    visit_u32(c, &k->name);
    visit_u16(c, &k->fallback);
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
    if (ARRAY(c, f->code, f->code_count, 8)) visit_bytes(c, f->code, f->code_count * sizeof *f->code);
    if (ARRAY(c, f->sites, f->site_count, 8))
        for (uint32_t i = 0; i < f->site_count; i++) visit_site(c, &f->sites[i]);
    if (ARRAY(c, f->regions, f->region_count, 15))
        for (uint32_t i = 0; i < f->region_count; i++) visit_region(c, &f->regions[i]);
    if (ARRAY(c, f->lines, f->line_count, 8))
        for (uint32_t i = 0; i < f->line_count; i++)
            visit_u32(c, &f->lines[i].pc), visit_u32(c, &f->lines[i].offset);
    if (ARRAY(c, f->captures, f->capture_count, 9))
        for (uint32_t i = 0; i < f->capture_count; i++) visit_capture(c, &f->captures[i]);
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
    visit_bytes(&c, header, sizeof header);
    visit_unit(&c, (BcUnit *)(uintptr_t)unit);
    if (c.failed) return free(c.bytes), NULL;
    uint64_t payload = c.used - HEADER_BYTES, sum = checksum(c.bytes + HEADER_BYTES, payload);
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

BcUnit *bc_decode(const uint8_t *bytes, size_t length, char *reason, size_t reason_size) {
    uint32_t version, abi;
    uint64_t payload, sum;
    if (length < HEADER_BYTES || memcmp(bytes, MAGIC, 8) != 0)
        return refuse(reason, reason_size, "not a Beamtalk image");
    memcpy(&version, bytes + 8, 4);
    memcpy(&abi, bytes + 12, 4);
    memcpy(&payload, bytes + 16, 8);
    memcpy(&sum, bytes + 24, 8);
    if (version != BC_FORMAT_VERSION)
        return refuse(reason, reason_size, "abi_mismatch: another image format; recompile");
    if (abi != BC_CLASS_VAR_ABI)
        return refuse(reason, reason_size, "abi_mismatch: another class_var_abi; recompile");
    if (payload != length - HEADER_BYTES) return refuse(reason, reason_size, "the image is truncated");
    if (checksum(bytes + HEADER_BYTES, payload) != sum)
        return refuse(reason, reason_size, "the image is damaged");
    BcUnit *unit = calloc(1, sizeof *unit);
    if (!unit) return refuse(reason, reason_size, "out of memory");
    unit->format_version = version;
    unit->class_var_abi = abi;
    Codec c = {.bytes = (uint8_t *)(uintptr_t)bytes, .used = HEADER_BYTES, .size = length};
    visit_unit(&c, unit);
    if (c.failed || c.used != length || !bc_check(unit, reason, reason_size)) {
        if (c.failed || c.used != length) refuse(reason, reason_size, "the image is malformed");
        bc_unit_free(unit);
        return NULL;
    }
    return unit;
}
