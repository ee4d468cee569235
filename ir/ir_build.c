/* Memory and small constructors of ThreadedIr.
 *
 * Owner: the IrUnit. Nothing is freed singly. Running out of memory needs no check at each node: the arena is
 * marked failed and hands out parts of an emergency area (zeroed; from its beginning again when it is used
 * up: lowering looks at ir_failed at every node, so it stops before); ir_verify refuses a unit whose arena
 * has failed, so nothing that was built in it is ever used. Only requests above EMERGENCY_BYTES can answer
 * NULL.
 */
#include "ir/ir_internal.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 256 * 1024, EMERGENCY_BYTES = 64 * 1024, FIRST_SLOTS = 64 };

typedef struct Chunk {
    struct Chunk *previous;
    size_t size;
    uint64_t data[];
} Chunk;

struct IrArena {
    const Memory *memory;
    char *next, *end;
    Chunk *chunks;
    size_t next_chunk;
    bool failed;
    size_t emergency_used;
    uint32_t *slots; /* open addressing over constants: index + 1, 0 = empty */
    uint32_t slot_count;
    uint64_t emergency[EMERGENCY_BYTES / sizeof(uint64_t)];
};

/* ---- arena ---- */

static void *emergency_part(IrArena *arena, size_t size) {
    if (size > EMERGENCY_BYTES) return NULL;
    if (size > EMERGENCY_BYTES - arena->emergency_used) arena->emergency_used = 0;
    char *part = (char *)arena->emergency + arena->emergency_used;
    arena->emergency_used += size;
    return memset(part, 0, size);
}

static void *alloc_slow(IrArena *arena, size_t size) {
    size_t bytes = arena->next_chunk;
    bool own = size > bytes / 4;
    if (own) bytes = size;
    Chunk *chunk = size > SIZE_MAX / 2 ? NULL : memory_alloc(arena->memory, sizeof *chunk + bytes);
    if (!chunk) {
        arena->failed = true;
        return emergency_part(arena, size);
    }
    chunk->size = bytes;
    chunk->previous = arena->chunks;
    arena->chunks = chunk;
    char *data = (char *)chunk->data;
    if (!own) {
        arena->next = data + size;
        arena->end = data + bytes;
        if (arena->next_chunk < LARGEST_CHUNK) arena->next_chunk *= 2;
    }
    return memset(data, 0, size);
}

void *ir_alloc(IrUnit *unit, size_t size) {
    IrArena *arena = unit->arena;
    size = (size + 7) & ~(size_t)7;
    if (size <= (size_t)(arena->end - arena->next)) {
        void *result = arena->next;
        arena->next += size;
        return memset(result, 0, size);
    }
    return alloc_slow(arena, size);
}

bool ir_failed(const IrUnit *unit) { return unit->arena->failed; }
void ir_fail(IrUnit *unit) { unit->arena->failed = true; }

char *ir_text(IrUnit *unit, const char *bytes, size_t length) {
    char *copy = ir_alloc(unit, length + 1);
    if (!copy) return ir_alloc(unit, 1);
    if (!unit->arena->failed && length) memcpy(copy, bytes, length);
    return copy;
}

void *ir_grow(IrUnit *unit, void *items, uint32_t count, uint32_t *capacity, size_t item_size) {
    if (count < *capacity) return items;
    if (count > UINT32_MAX / 2 - 4) {
        unit->arena->failed = true;
        return NULL;
    }
    uint32_t larger = *capacity ? *capacity * 2 : 4;
    void *grown = ir_alloc(unit, larger * item_size);
    if (unit->arena->failed || !grown) return NULL;
    if (count) memcpy(grown, items, count * item_size);
    *capacity = larger;
    return grown;
}

/* ---- unit ---- */

const Memory *ir_memory(const IrUnit *unit) { return unit->arena->memory; }

IrUnit *ir_unit_new(const Memory *memory) {
    IrUnit *unit = memory_zalloc(memory, sizeof *unit);
    IrArena *arena = memory_alloc(memory, sizeof *arena);
    BcUnit *shell = memory_zalloc(memory, sizeof *shell);
    if (!unit || !arena || !shell) {
        memory_free(memory, unit);
        memory_free(memory, arena);
        memory_free(memory, shell);
        return NULL;
    }
    arena->memory = shell->memory = memory;
    arena->next = arena->end = NULL; /* field by field: the emergency area stays untouched */
    arena->chunks = NULL;
    arena->next_chunk = FIRST_CHUNK;
    arena->failed = false;
    arena->emergency_used = 0;
    arena->slots = NULL;
    arena->slot_count = 0;
    shell->format_version = BC_FORMAT_VERSION;
    shell->class_var_abi = BC_CLASS_VAR_ABI;
    shell->script = BC_NONE;
    unit->arena = arena;
    unit->shell = shell;
    return unit;
}

void ir_unit_free(IrUnit *unit) {
    if (!unit) return;
    const Memory *memory = unit->arena->memory;
    for (Chunk *chunk = unit->arena->chunks; chunk;) {
        Chunk *previous = chunk->previous;
        memory_free(memory, chunk);
        chunk = previous;
    }
    memory_free(memory, unit->arena->slots);
    memory_free(memory, unit->arena);
    bc_unit_free(unit->shell);
    memory_free(memory, unit);
}

/* ---- constants, shared ---- */

static uint64_t hash_bytes(uint64_t h, const char *bytes, size_t length) {
    uint64_t word = 0;
    for (; length >= 8; bytes += 8, length -= 8) {
        memcpy(&word, bytes, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    word = 0;
    memcpy(&word, bytes, length);
    h = (h ^ word ^ ((uint64_t)length << 56)) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
}

static uint64_t hash_const(const BcConst *k) {
    uint64_t seed = (uint64_t)k->kind * 0x2545f4914f6cdd1du + 1;
    if (k->kind == BC_INT || k->kind == BC_FLOAT) return hash_bytes(seed, (const char *)&k->u.i, 8);
    return hash_bytes(seed, k->u.text.length ? k->u.text.bytes : "", k->u.text.length);
}

static bool same_const(const BcConst *a, const BcConst *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == BC_INT || a->kind == BC_FLOAT) return memcmp(&a->u.i, &b->u.i, 8) == 0;
    return a->u.text.length == b->u.text.length &&
           (a->u.text.length == 0 || memcmp(a->u.text.bytes, b->u.text.bytes, a->u.text.length) == 0);
}

static bool grow_slots(IrUnit *unit) {
    IrArena *arena = unit->arena;
    uint32_t count = arena->slot_count ? arena->slot_count * 2 : FIRST_SLOTS;
    uint32_t *slots = memory_zalloc(arena->memory, count * sizeof *slots);
    if (!slots) return arena->failed = true, false;
    for (uint32_t i = 0; i < unit->const_count; i++) {
        uint32_t at = (uint32_t)hash_const(&unit->consts[i]) & (count - 1);
        while (slots[at]) at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    memory_free(arena->memory, arena->slots);
    arena->slots = slots;
    arena->slot_count = count;
    return true;
}

uint32_t ir_const_add(IrUnit *unit, BcConst k) {
    IrArena *arena = unit->arena;
    if (unit->const_count >= arena->slot_count / 2 && !grow_slots(unit)) return 0;
    uint32_t at = (uint32_t)hash_const(&k) & (arena->slot_count - 1);
    for (; arena->slots[at]; at = (at + 1) & (arena->slot_count - 1))
        if (same_const(&unit->consts[arena->slots[at] - 1], &k)) return arena->slots[at] - 1;
    BcConst *consts =
        ir_grow(unit, unit->consts, unit->const_count, &unit->const_capacity, sizeof *unit->consts);
    if (!consts) return 0;
    unit->consts = consts;
    if (k.kind != BC_INT && k.kind != BC_FLOAT)
        k.u.text.bytes = ir_text(unit, k.u.text.bytes, k.u.text.length);
    arena->slots[at] = unit->const_count + 1;
    unit->consts[unit->const_count] = k;
    return unit->const_count++;
}

uint32_t ir_const_int(IrUnit *unit, int64_t i) {
    return ir_const_add(unit, (BcConst){.kind = BC_INT, .u.i = i});
}

uint32_t ir_const_float(IrUnit *unit, double d) {
    return ir_const_add(unit, (BcConst){.kind = BC_FLOAT, .u.f = d});
}

static uint32_t const_text(IrUnit *unit, BcConstKind kind, const char *bytes, size_t length) {
    if (length > SOURCE_MAX_BYTES) return ir_fail(unit), 0;
    return ir_const_add(unit, (BcConst){.kind = kind, .u.text = {bytes, (uint32_t)length}});
}

uint32_t ir_const_string(IrUnit *unit, const char *bytes, size_t length) {
    return const_text(unit, BC_STRING, bytes, length);
}

uint32_t ir_const_symbol(IrUnit *unit, const char *bytes, size_t length) {
    return const_text(unit, BC_SYMBOL, bytes, length);
}

uint32_t ir_const_inlined_block(IrUnit *unit) {
    static const char NAME[] = "InlinedBlock";
    return ir_const_symbol(unit, NAME, sizeof NAME - 1);
}

/* ---- nodes ---- */

IrFunction *ir_function_new(IrUnit *unit, uint32_t *index) {
    IrFunction *fn = ir_alloc(unit, sizeof *fn);
    *index = 0;
    IrFunction **functions = ir_grow(unit, unit->functions, unit->function_count, &unit->function_capacity,
                                     sizeof *unit->functions);
    if (!functions) return fn;
    unit->functions = functions;
    *index = unit->function_count;
    unit->functions[unit->function_count++] = fn;
    return fn;
}

uint32_t ir_local_new(IrUnit *unit, IrFunction *fn, const char *name, IrLocalMode mode) {
    IrLocal *locals = ir_grow(unit, fn->locals, fn->local_count, &fn->local_capacity, sizeof *fn->locals);
    if (!locals) { /* callers index what they have just made */
        if (!fn->locals) fn->locals = ir_alloc(unit, sizeof *locals);
        return 0;
    }
    fn->locals = locals;
    fn->locals[fn->local_count] = (IrLocal){.name = name, .mode = mode};
    return fn->local_count++;
}

IrFrame *ir_frame_new(IrUnit *unit, IrFrameKind kind) {
    IrFrame *frame = ir_alloc(unit, sizeof *frame);
    frame->kind = kind;
    frame->value = (IrAtom){ATOM_NIL, 0, 0};
    return frame;
}

IrStmt *ir_stmt_add(IrUnit *unit, IrFrame *frame, IrStmtKind kind, Span span) {
    IrStmt *stmt = ir_alloc(unit, sizeof *stmt);
    stmt->kind = kind;
    stmt->span = span;
    IrStmt **stmts =
        ir_grow(unit, frame->stmts, frame->stmt_count, &frame->stmt_capacity, sizeof *frame->stmts);
    if (!stmts) return stmt;
    frame->stmts = stmts;
    frame->stmts[frame->stmt_count++] = stmt;
    return stmt;
}
