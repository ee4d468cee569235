/* Protected regions. Locals that the body rebinds get shadow registers for its versions, so the homes keep
 * the entry versions for the error edge; leaving the body normally moves the shadows home (the Rebind).
 *
 *   on:do:    SNAPSHOT s; shadows; [body; shadows home]; JUMP done
 *             handler: RESTORE s; EXCMATCH; JFALSE other; handler; JUMP done; other: RERAISE; done:
 *             inside an ensure: also, for a ^ through it:  PENDING p; shadows home; RESUME p
 *   ensure:   SNAPSHOT s; shadows; [body; shadows home; NOPENDING p; JUMP common]
 *             entry: PENDING p; JPENDERR p error; shadows home; JUMP common; error: RESTORE2 s
 *             common: cleanup; RESUME p */
#include "ir/emit_internal.h"

typedef struct {
    const IrFrame *body;
    uint32_t snapshot, start, shadows, stubs; /* shadows: where Emit.saved begins */
} Region;

static bool has_shadow(const Emit *e, uint32_t local) { return e->fn->locals[local].mode != LOCAL_CARRIER; }

static void shadows_open(Emit *e, Region *r) {
    r->shadows = e->saved_count;
    for (uint32_t i = 0; i < r->body->thread_count; i++) {
        uint32_t local = r->body->threads[i];
        if (!has_shadow(e, local)) continue;
        if (!GROW(e, e->saved, e->saved_capacity, e->saved_count + 1)) return;
        uint32_t home = e->locals[local].reg, shadow = reg_alloc(e);
        e->saved[e->saved_count++] = home;
        e->locals[local].reg = shadow;
        code_move(e, shadow, home);
    }
}

/* From here on the homes count again; the shadows keep their registers until shadows_free. The homes are left
 * in Emit.saved, the shadows take their place there. */
static void shadows_close(Emit *e, const Region *r) {
    uint32_t at = r->shadows;
    for (uint32_t i = 0; i < r->body->thread_count && !e->failed; i++) {
        uint32_t local = r->body->threads[i];
        if (!has_shadow(e, local)) continue;
        uint32_t shadow = e->locals[local].reg;
        e->locals[local].reg = e->saved[at];
        e->saved[at++] = shadow;
    }
}

static void shadows_home(Emit *e, const Region *r) {
    uint32_t at = r->shadows;
    for (uint32_t i = 0; i < r->body->thread_count && !e->failed; i++)
        if (has_shadow(e, r->body->threads[i]))
            code_move(e, e->locals[r->body->threads[i]].reg, e->saved[at++]);
}

static void shadows_free(Emit *e, const Region *r) {
    while (e->saved_count > r->shadows) reg_free(e, e->saved[--e->saved_count]);
}

static Region region_open(Emit *e, const IrStmt *s) {
    Region r = {.body = s->frames[0], .snapshot = e->rows + 3 * e->row_depth++};
    code_imm(e, OP_SNAPSHOT, 0, r.snapshot, 0);
    shadows_open(e, &r);
    r.start = e->label_pc = e->code_count;
    r.stubs = e->stub_count;
    e->regions++;
    return r;
}

/* The region ends here; its handler follows. Inner regions have been noted before. */
static BcRegion *region_close(Emit *e, const Region *r, BcRegionKind kind) {
    stubs_flush(e, r->stubs);
    e->regions--;
    if (!GROW(e, e->region_table, e->region_capacity, e->region_count + 1)) return NULL;
    BcRegion *out = &e->region_table[e->region_count++];
    *out =
        (BcRegion){.start = r->start, .end = e->code_count, .handler = e->code_count, .kind = (uint8_t)kind};
    return out;
}

/* Where the answer of a protected body goes: a variable's own register holds its value until the whole answer
 * is known, since a rebind of it inside the body comes home after the body's answer was made. */
static Dest answer_open(Emit *e, Dest dest) {
    if (dest.kind == DEST_RETURN || (dest.kind == DEST_REG && !dest.fresh))
        return (Dest){.kind = DEST_REG, .reg = reg_alloc(e), .fresh = true};
    return dest;
}

static void answer_close(Emit *e, Dest inner, Dest dest) {
    if (dest.kind == DEST_REG) code_move(e, dest.reg, inner.reg);
    if (dest.kind == DEST_RETURN) code_return(e, inner.reg);
    if (inner.kind == DEST_REG && (dest.kind != DEST_REG || inner.reg != dest.reg)) reg_free(e, inner.reg);
}

/* ---- on:do: ---- */

static bool rebinds_follow(const Emit *e) {
    return e->index + 1 < e->frame->stmt_count && e->frame->stmts[e->index + 1]->kind == STMT_REBIND;
}

/* Is the exception one that the filter names? Answers the label for the others, or UINT32_MAX. */
static uint32_t code_filter(Emit *e, const IrStmt *s, uint32_t exception) {
    IrAtom filter = s->operands[0];
    if (filter.kind == ATOM_NIL) return UINT32_MAX;
    uint32_t match = reg_alloc(e), other = label_new(e);
    uint32_t reg = operand_reg(e, filter);
    code_abc(e, OP_EXCMATCH, 0, match, exception, reg);
    code_jump(e, OP_JFALSE, match, other);
    e->position = e->frames[s->frames[1]->id].start;
    operand_done(e, filter, reg);
    reg_free(e, match);
    return other;
}

static void code_handler(Emit *e, const IrStmt *s, BcRegion *region, uint32_t snapshot, Dest dest) {
    uint32_t exception = reg_alloc(e);
    if (region) region->reg = (uint16_t)exception;
    e->temps[s->exception].reg = exception;
    e->temps[s->exception].place = TEMP_OWN;
    e->reachable = true;
    e->offset = s->span.start;
    code_imm(e, OP_RESTORE, 0, snapshot, 0);
    e->row_depth--;
    uint32_t other = code_filter(e, s, exception), done = label_new(e);
    code_frame(e, s->frames[1], dest);
    code_jump(e, OP_JUMP, 0, done);
    if (other != UINT32_MAX) {
        label_bind(e, other);
        code_imm(e, OP_RERAISE, 0, exception, 0);
        e->reachable = false;
    }
    label_bind(e, done);
    temp_free(e, s->exception);
}

/* A ^ that leaves the body on its way to a cleanup further out takes the newest versions along. */
static void code_leaving(Emit *e, const Region *r, uint32_t end) {
    if (!GROW(e, e->region_table, e->region_capacity, e->region_count + 1)) return;
    e->region_table[e->region_count++] =
        (BcRegion){.start = r->start, .end = end, .handler = e->code_count, .kind = BC_ENSURE};
    uint32_t pending = reg_alloc_row(e, 4);
    e->reachable = true;
    code_imm(e, OP_PENDING, 0, pending, 0);
    shadows_home(e, r);
    code_imm(e, OP_RESUME, 0, pending, 0);
    reg_free_row(e, pending, 4);
}

void code_ondo(Emit *e, const IrStmt *s, Dest dest) {
    Dest inner = answer_open(e, dest);
    bool move = rebinds_follow(e);
    uint32_t done = label_new(e);
    Region r = region_open(e, s);
    code_frame(e, r.body, inner);
    shadows_close(e, &r);
    if (move && dest.kind != DEST_RETURN) shadows_home(e, &r);
    code_jump(e, OP_JUMP, 0, done);
    BcRegion *region = region_close(e, &r, BC_CATCH);
    uint32_t end = region ? region->end : 0;
    bool to_cleanup = e->ensures && e->saved_count > r.shadows;
    if (!to_cleanup) shadows_free(e, &r);
    code_handler(e, s, region, r.snapshot, inner);
    if (to_cleanup) {
        code_jump(e, OP_JUMP, 0, done);
        code_leaving(e, &r, end);
        shadows_free(e, &r);
    }
    label_bind(e, done);
    answer_close(e, inner, dest);
}

/* ---- ensure: ---- */

static void code_cleanup_entry(Emit *e, const Region *r, uint32_t pending, uint32_t common) {
    uint32_t error = label_new(e);
    e->reachable = true;
    code_imm(e, OP_PENDING, 0, pending, 0);
    code_jump(e, OP_JPENDERR, pending, error);
    shadows_home(e, r);
    code_jump(e, OP_JUMP, 0, common);
    label_bind(e, error);
    code_imm(e, OP_RESTORE2, 0, r->snapshot, 0);
    label_bind(e, common);
}

void code_ensure(Emit *e, const IrStmt *s, Dest dest) {
    Dest inner = answer_open(e, dest);
    Region r = region_open(e, s);
    e->ensures++;
    code_frame(e, r.body, inner);
    shadows_close(e, &r);
    shadows_home(e, &r);
    uint32_t pending = reg_alloc_row(e, 4), common = label_new(e);
    code_imm(e, OP_NOPENDING, 0, pending, 0);
    code_jump(e, OP_JUMP, 0, common);
    (void)region_close(e, &r, BC_ENSURE);
    e->ensures--;
    code_cleanup_entry(e, &r, pending, common);
    shadows_free(e, &r);
    e->row_depth--;
    code_frame(e, s->frames[1], (Dest){.kind = DEST_NONE});
    code_imm(e, OP_RESUME, 0, pending, 0);
    reg_free_row(e, pending, 4);
    answer_close(e, inner, dest);
}

/* ---- where a ^ arrives ---- */

/* The region is the whole function: it is looked for by kind. */
void code_home(Emit *e, const IrStmt *s) {
    uint32_t over = label_new(e), value = reg_alloc(e);
    code_jump(e, OP_JUMP, 0, over);
    if (!GROW(e, e->region_table, e->region_capacity, e->region_count + 1)) return;
    e->region_table[e->region_count++] =
        (BcRegion){.handler = e->code_count, .reg = (uint16_t)value, .kind = BC_HOME};
    e->temps[s->exception].reg = value;
    e->temps[s->exception].place = TEMP_OWN;
    e->reachable = true;
    code_frame(e, s->frames[0], (Dest){.kind = DEST_NONE});
    label_bind(e, over);
    temp_free(e, s->exception);
}
