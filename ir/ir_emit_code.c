/* Instructions and what goes with them: labels, sites, the line table. */
#include "ir/emit_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CODE = 1 << 28 };

bool code_grow(Emit *e, void *array, uint32_t *capacity, size_t item, uint32_t needed) {
    if (needed <= *capacity) return true;
    uint32_t larger = *capacity ? *capacity : 64;
    while (larger < needed) larger *= 2;
    void *old;
    memcpy(&old, array, sizeof old); /* array is a T **, whatever T is */
    void *grown = memory_realloc(e->memory, old, larger * item);
    if (!grown) return code_fail(e, "there is not enough memory"), false;
    memcpy(array, &grown, sizeof grown);
    *capacity = larger;
    return true;
}

void code_fail(Emit *e, const char *why) {
    if (!e->failed) e->failure = why;
    e->failed = true;
}

/* The source offset of an instruction is that of the statement it was made for; only changes are noted. */
static void note_line(Emit *e) {
    if (e->line_count && e->lines[e->line_count - 1].offset == e->offset) return;
    if (!GROW(e, e->lines, e->line_capacity, e->line_count + 1)) return;
    e->lines[e->line_count++] = (BcLine){e->code_count, e->offset};
}

void code_put(Emit *e, Instr i) {
    if (!e->reachable || e->failed) return;
    if (e->code_count >= MAX_CODE) return code_fail(e, "its code is too long");
    if (!GROW(e, e->code, e->code_capacity, e->code_count + 1)) return;
    note_line(e);
    e->code[e->code_count++] = i;
}

void code_abc(Emit *e, Opcode op, unsigned f, uint32_t a, uint32_t b, uint32_t c) {
    code_put(e, instr_abc(op, f, a, b, c));
}

void code_imm(Emit *e, Opcode op, unsigned f, uint32_t a, uint32_t imm) {
    code_put(e, instr_aimm(op, f, a, imm));
}

void code_move(Emit *e, uint32_t to, uint32_t from) {
    if (to != from) code_abc(e, OP_MOVE, 0, to, from, 0);
}

/* ---- labels ---- */

static bool is_near(Instr i) { return opcode_format(instr_op(i))[3] == 'j'; }

static void patch(Emit *e, uint32_t pc, bool middle, uint32_t target) {
    int64_t offset = (int64_t)target - (int64_t)pc - 1;
    bool near = middle || is_near(e->code[pc]);
    if (near && (offset < INT16_MIN || offset > INT16_MAX)) e->too_far = true;
    if (near)
        e->code[pc] |= (Instr)(uint16_t)offset << (middle ? 32 : 48);
    else
        e->code[pc] |= (Instr)(uint32_t)(int32_t)offset << 32;
}

uint32_t label_new(Emit *e) {
    if (!GROW(e, e->labels, e->label_capacity, e->label_count + 1)) return 0;
    e->labels[e->label_count] = (Label){0};
    return e->label_count++;
}

static void refer(Emit *e, uint32_t pc, bool middle, uint32_t label) {
    if (e->failed) return;
    Label *l = &e->labels[label];
    if (l->bound) return patch(e, pc, middle, l->pc);
    if (!GROW(e, e->patches, e->patch_capacity, e->patch_count + 1)) return;
    e->patches[e->patch_count++] = (Patch){pc, l->patches, middle};
    l->patches = e->patch_count;
}

static void jump_to(Emit *e, Instr i, uint32_t label) {
    if (!e->reachable || e->failed) return;
    uint32_t pc = e->code_count;
    code_put(e, i);
    refer(e, pc, false, label);
}

void code_jump_both(Emit *e, Opcode op, uint32_t a, uint32_t first, uint32_t second) {
    if (!e->reachable || e->failed) return;
    uint32_t pc = e->code_count;
    code_put(e, instr_abc(op, 0, a, 0, 0));
    refer(e, pc, true, first);
    refer(e, pc, false, second);
}

void code_jump(Emit *e, Opcode op, uint32_t a, uint32_t label) {
    jump_to(e, instr_aimm(op, 0, a, 0), label);
    if (op == OP_JUMP) e->reachable = false;
}

/* Functions with jumps that do not fit 16 bits are emitted again in the long form: over a jump that goes on,
 * to a jump that goes there. */
void code_jump_near(Emit *e, Opcode op, uint32_t a, uint32_t b, uint32_t label) {
    if (!e->long_jumps) return jump_to(e, instr_abc(op, 0, a, b, 0), label);
    code_put(e, instr_abc(op, 0, a, b, 1));
    code_put(e, instr_aimm(OP_JUMP, 0, 0, 1));
    jump_to(e, instr_aimm(OP_JUMP, 0, 0, 0), label);
}

void label_bind(Emit *e, uint32_t label) {
    if (e->failed) return;
    Label *l = &e->labels[label];
    l->bound = true;
    l->pc = e->label_pc = e->code_count;
    if (l->patches || l->expected) e->reachable = true;
    for (uint32_t p = l->patches; p; p = e->patches[p - 1].next)
        patch(e, e->patches[p - 1].pc, e->patches[p - 1].middle, l->pc);
}

/* ---- sites ---- */

uint32_t code_site(Emit *e, uint32_t name, uint32_t argc, uint32_t flags, uint32_t capture) {
    if (!e->reachable || e->failed) return 0;
    if (e->site_count > UINT16_MAX) return code_fail(e, "it has too many message sends"), 0;
    if (!GROW(e, e->sites, e->site_capacity, e->site_count + 1)) return 0;
    e->sites[e->site_count] =
        (BcSite){.name = name, .argc = (uint8_t)argc, .flags = (uint8_t)flags, .capture = (uint16_t)capture};
    return e->site_count++;
}
