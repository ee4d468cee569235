/* Registers: when temps die, which frame a local belongs to, and who may have which register.
 *
 * One pass over the tree numbers the statements in program order and notes the last use of every temp. A use
 * in a loop of a temp from outside keeps it until the loop ends. The allocator then follows emission: lowest
 * free register first, so frames stay small. */
#include "ir/emit_internal.h"

#include <string.h>

/* ---- liveness ---- */

typedef struct {
    Emit *e;
    const IrFrame *frame;
    uint32_t position, regions;
} Walk;

/* The outermost of the loops around that began after the temp was bound, + 1. */
static uint32_t loop_between(const Emit *e, uint32_t def) {
    uint32_t found = 0;
    for (uint32_t at = e->loop; at && e->loops[at - 1].start > def; at = e->loops[at - 1].outer) found = at;
    return found;
}

static void use_atom(Walk *w, IrAtom atom, IrStmt *user, uint32_t operand) {
    if (atom.kind != ATOM_TEMP) return;
    TempInfo *t = &w->e->temps[atom.index];
    t->uses++;
    t->last = w->position;
    t->loop = loop_between(w->e, t->def);
    bool same = t->frame == w->frame->id;
    t->user = same ? user : NULL;
    t->user_operand = operand;
}

/* Read once more, later, by the construct itself. */
static void prolong(Walk *w, IrAtom atom) {
    if (atom.kind != ATOM_TEMP) return;
    w->e->temps[atom.index].last = w->position;
}

static void define(Walk *w, uint32_t temp) {
    w->e->temps[temp] = (TempInfo){.def = w->position, .frame = w->frame->id, .limit = UINT32_MAX};
}

/* Snaps of the local up to here keep what is overwritten now. */
static void write_local(Walk *w, uint32_t local) {
    LocalInfo *l = &w->e->locals[local];
    for (uint32_t t = l->snaps; t; t = w->e->temps[t - 1].next_snap) w->e->temps[t - 1].limit = w->position;
    l->snaps = 0;
}

static void bind_local(Walk *w, uint32_t local) {
    Emit *e = w->e;
    if (e->locals[local].bound || e->fn->locals[local].mode == LOCAL_CARRIER) return;
    e->locals[local].bound = true;
    if (GROW(e, e->bound, e->bound_capacity, e->bound_count + 1)) e->bound[e->bound_count++] = local;
}

static void walk_frame(Walk *w, IrFrame *frame, uint32_t index_local);

static bool is_loop(const IrStmt *s) {
    return s->construct_kind == CONSTRUCT_WHILE || s->construct_kind == CONSTRUCT_REPEAT ||
           construct_has_index(s->construct_kind);
}

static uint32_t loop_begin(Walk *w) {
    Emit *e = w->e;
    if (!GROW(e, e->loops, e->loop_capacity, e->loop_count + 1)) return 0;
    e->loops[e->loop_count] = (LoopInfo){.start = w->position, .end = UINT32_MAX, .outer = e->loop};
    return e->loop = ++e->loop_count;
}

static void walk_construct(Walk *w, IrStmt *s) {
    Emit *e = w->e;
    uint32_t loop = 0;
    bool region = s->construct_kind == CONSTRUCT_ONDO || s->construct_kind == CONSTRUCT_ENSURE;
    if (region && ++w->regions > e->row_max) e->row_max = w->regions;
    define(w, s->temp);
    if (is_loop(s)) {
        w->position++;
        loop = loop_begin(w);
    }
    for (uint32_t i = 0; i < s->frame_count && !e->failed; i++) {
        if (s->construct_kind == CONSTRUCT_ONDO && i == 1) {
            w->position++;
            prolong(w, s->operands[0]);
            define(w, s->exception);
            e->temps[s->exception].frame = e->frame_count; /* the handler's */
        }
        if (s->construct_kind == CONSTRUCT_HOME) {
            define(w, s->exception);
            e->temps[s->exception].frame = e->frame_count;
        }
        bool index = construct_has_index(s->construct_kind);
        w->position++;
        walk_frame(w, s->frames[i], index ? s->index_local : BC_NONE);
    }
    w->regions -= region;
    if (loop && !e->failed) {
        e->loops[loop - 1].end = w->position;
        e->loop = e->loops[loop - 1].outer;
    }
}

static void walk_captures(Walk *w, const IrStmt *s) {
    const IrFunction *block = w->e->unit->functions[s->imm];
    for (uint32_t i = 0; i < block->capture_count; i++)
        if (block->captures[i].kind == CAP_REGISTER) use_atom(w, block->capture_atoms[i], NULL, 0);
}

static void walk_stmt(Walk *w, IrStmt *s) {
    s->position = w->position;
    for (uint32_t i = 0; i < s->operand_count; i++) use_atom(w, s->operands[i], s, i);
    switch (s->kind) {
    case STMT_BIND:
        if (s->op == IR_CLOSURE) walk_captures(w, s);
        define(w, s->temp);
        break;
    case STMT_SNAP:
        define(w, s->temp);
        w->e->temps[s->temp].next_snap = w->e->locals[s->local].snaps;
        w->e->locals[s->local].snaps = s->temp + 1;
        break;
    case STMT_SET:
        write_local(w, s->local);
        w->e->locals[s->local].sets++;
        bind_local(w, s->local);
        break;
    case STMT_CONSTRUCT: walk_construct(w, s); break;
    default: break;
    }
}

static void walk_frame(Walk *w, IrFrame *frame, uint32_t index_local) {
    Emit *e = w->e;
    const IrFrame *outer = w->frame;
    uint32_t bound = e->bound_count;
    frame->id = e->frame_count;
    if (!GROW(e, e->frames, e->frame_capacity, e->frame_count + 1)) return;
    e->frames[e->frame_count++] = (FrameInfo){.start = w->position};
    w->frame = frame;
    if (index_local != BC_NONE) {
        write_local(w, index_local);
        bind_local(w, index_local);
    }
    for (uint32_t i = 0; i < frame->stmt_count && !e->failed; i++) {
        w->position++;
        walk_stmt(w, frame->stmts[i]);
    }
    w->position++;
    if (!frame->ends) use_atom(w, frame->value, NULL, 0);
    FrameInfo *info = &e->frames[frame->id];
    info->end = w->position;
    info->homes = e->home_count;
    info->home_count = e->bound_count - bound;
    if (GROW(e, e->homes, e->home_capacity, e->home_count + info->home_count))
        for (uint32_t i = 0; i < info->home_count; i++) {
            uint32_t local = e->bound[bound + i];
            e->locals[local].bound = false;
            e->homes[e->home_count++] = local;
        }
    e->bound_count = bound;
    w->frame = outer;
}

/* ---- registers ---- */

static void take(Emit *e, uint32_t reg) {
    if (reg >= BC_MAX_REGISTERS) return code_fail(e, "it needs too many registers");
    e->used[reg / 64] |= (uint64_t)1 << (reg % 64);
    if (reg / 64 >= e->used_words) e->used_words = reg / 64 + 1;
    if (reg >= e->register_count) e->register_count = reg + 1;
}

static bool is_used(const Emit *e, uint32_t reg) {
    return reg / 64 < e->used_words && (e->used[reg / 64] >> (reg % 64) & 1);
}

void reg_free(Emit *e, uint32_t reg) {
    if (reg >= BC_MAX_REGISTERS) return;
    e->used[reg / 64] &= ~((uint64_t)1 << (reg % 64));
    while (e->used_words && !e->used[e->used_words - 1]) e->used_words--;
}

void reg_free_row(Emit *e, uint32_t from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) reg_free(e, from + i);
}

uint32_t reg_top(const Emit *e) {
    if (!e->used_words) return 0;
    return e->used_words * 64 - (uint32_t)__builtin_clzll(e->used[e->used_words - 1]);
}

static uint32_t lowest_free(const Emit *e) {
    for (uint32_t i = 0; i < e->used_words; i++)
        if (~e->used[i]) return i * 64 + (uint32_t)__builtin_ctzll(~e->used[i]);
    return e->used_words * 64;
}

/* The lowest free one. Where that lies above the header of a window whose send comes before the last use, the
 * send will find its window too low and move it: rare, since what is bound between the operands of a send
 * mostly dies there. */
uint32_t reg_alloc(Emit *e) {
    uint32_t reg = lowest_free(e);
    take(e, reg);
    return e->failed ? 0 : reg;
}

uint32_t reg_alloc_row(Emit *e, uint32_t count) {
    uint32_t top = reg_top(e), from = lowest_free(e);
    for (; from < top; from++) {
        uint32_t n = 0;
        while (n < count && !is_used(e, from + n)) n++;
        if (n == count) break;
        from += n;
    }
    if (from + count > BC_MAX_REGISTERS) return code_fail(e, "it needs too many registers"), 0;
    for (uint32_t i = 0; i < count; i++) take(e, from + i);
    return from;
}

/* ---- homes ---- */

void frame_homes_open(Emit *e, const IrFrame *frame) {
    FrameInfo info = e->frames[frame->id];
    for (uint32_t i = 0; i < info.home_count; i++) {
        LocalInfo *l = &e->locals[e->homes[info.homes + i]];
        if (l->reg == NO_REG) l->reg = reg_alloc(e);
    }
}

void frame_homes_close(Emit *e, const IrFrame *frame) {
    FrameInfo info = e->frames[frame->id];
    for (uint32_t i = 0; i < info.home_count; i++) {
        LocalInfo *l = &e->locals[e->homes[info.homes + i]];
        if (l->reg != NO_REG) reg_free(e, l->reg);
        l->reg = NO_REG;
    }
}

/* ---- temps ---- */

uint32_t temp_last(const Emit *e, const TempInfo *t) {
    if (!t->loop) return t->last;
    uint32_t end = e->loops[t->loop - 1].end;
    return end > t->last ? end : t->last;
}

void temp_free(Emit *e, uint32_t t) {
    TempInfo *x = &e->temps[t];
    if (x->place == TEMP_OWN) reg_free(e, x->reg);
    x->place = TEMP_NOWHERE;
}

void frame_temps_free(Emit *e, const IrFrame *frame) {
    for (uint32_t i = 0; i < frame->stmt_count; i++) {
        const IrStmt *s = frame->stmts[i];
        if (s->kind == STMT_BIND || s->kind == STMT_SNAP || s->kind == STMT_CONSTRUCT) temp_free(e, s->temp);
    }
}

/* The statement after the one at hand, rebinds of a construct apart. */
const IrStmt *next_stmt(const Emit *e) {
    uint32_t i = e->index + 1;
    while (i < e->frame->stmt_count && e->frame->stmts[i]->kind == STMT_REBIND) i++;
    return i < e->frame->stmt_count ? e->frame->stmts[i] : NULL;
}

static bool is_frame_value(const Emit *e, uint32_t t) {
    return !e->frame->ends && e->frame->value.kind == ATOM_TEMP && e->frame->value.index == t &&
           e->temps[t].uses == 1 && e->temps[t].frame == e->frame->id;
}

bool temp_is_needed(const Emit *e, uint32_t t) {
    return e->temps[t].uses && !(e->dest.kind == DEST_NONE && is_frame_value(e, t));
}

bool temp_ends_frame(const Emit *e, uint32_t t) { return is_frame_value(e, t) && !next_stmt(e); }

bool temp_is_returned(const Emit *e, uint32_t t) {
    if (e->temps[t].uses != 1) return false;
    const IrStmt *next = next_stmt(e);
    if (next && next->kind == STMT_DISCARD && e->index + 2 < e->frame->stmt_count)
        next = e->frame->stmts[e->index + 2];
    if (next) return next->kind == STMT_RETURN && next == e->temps[t].user;
    return e->dest.kind == DEST_RETURN && is_frame_value(e, t);
}

/* Can the value be computed where the Set that follows wants it? */
static bool set_target(const Emit *e, const TempInfo *t, uint32_t *reg) {
    const IrStmt *next = next_stmt(e), *s = e->frame->stmts[e->index];
    if (!next || next != t->user || next->kind != STMT_SET) return false;
    *reg = e->locals[next->local].reg;
    if (*reg == NO_REG) return false;
    if (s->kind != STMT_CONSTRUCT) return true;
    if (s->construct_kind == CONSTRUCT_ENSURE) return false; /* the cleanup may read the old version */
    for (uint32_t i = 0; i < s->thread_count && s->construct_kind == CONSTRUCT_ONDO; i++)
        if (s->threads[i] == next->local) return false; /* the rebind would overwrite it */
    return true;
}

static Window *window_open(Emit *e, const IrStmt *s) {
    for (uint32_t i = e->window_count; i-- > 0;)
        if (e->windows[i].stmt == s) return &e->windows[i];
    if (!GROW(e, e->windows, e->window_capacity, e->window_count + 1)) return NULL;
    Window *w = &e->windows[e->window_count++];
    *w = (Window){
        .stmt = s, .base = reg_top(e) + (op_is_call(s->op) ? FRAME_WORDS : 0), .count = s->operand_count};
    if (w->base + w->count > BC_MAX_REGISTERS) return code_fail(e, "it needs too many registers"), NULL;
    for (uint32_t i = 0; i < w->count; i++) take(e, w->base + i);
    return w;
}

uint32_t temp_place(Emit *e, uint32_t t) {
    TempInfo *x = &e->temps[t];
    if (!temp_is_needed(e, t)) {
        uint32_t reg = reg_alloc(e);
        reg_free(e, reg);
        x->place = TEMP_NOWHERE;
        return reg;
    }
    x->place = TEMP_IN_TARGET;
    if (x->uses == 1) {
        if (e->dest.kind == DEST_REG && temp_ends_frame(e, t)) return x->reg = e->dest.reg;
        if (set_target(e, x, &x->reg)) return x->reg;
        if (x->user && x->user->kind == STMT_BIND && op_has_window(x->user->op)) {
            Window *w = window_open(e, x->user);
            if (w) {
                x->place = TEMP_SLOT;
                return x->reg = w->base + x->user_operand;
            }
        }
    }
    x->place = TEMP_OWN;
    return x->reg = reg_alloc(e);
}

/* ---- windows ---- */

bool op_has_window(IrOp op) {
    return op_is_call(op) || op == IR_LIST || op == IR_CONSTAIL || op == IR_ARRAY || op == IR_DICT ||
           op == IR_TUPLE || op == IR_INTERP;
}

static bool dies_here(const Emit *e, IrAtom atom) {
    return atom.kind == ATOM_TEMP && temp_last(e, &e->temps[atom.index]) <= e->position;
}

/* Takes the window of s off the list; its base, or NO_REG. Slots are free afterwards. */
static uint32_t window_take(Emit *e, const IrStmt *s) {
    for (uint32_t i = e->window_count; i-- > 0;) {
        if (e->windows[i].stmt != s) continue;
        Window w = e->windows[i];
        reg_free_row(e, w.base, w.count);
        memmove(e->windows + i, e->windows + i + 1, (e->window_count - i - 1) * sizeof *e->windows);
        e->window_count--;
        return w.base;
    }
    return NO_REG;
}

/* Would filling slots from left to right overwrite an operand that is still to be moved? */
static bool overlaps(const Emit *e, const IrStmt *s, uint32_t base) {
    for (uint32_t i = 0; i < s->operand_count; i++) {
        uint32_t from = atom_reg(e, s->operands[i]);
        if (from != NO_REG && from >= base && from < base + s->operand_count && from != base + i) return true;
    }
    return false;
}

static uint32_t above_operands(const Emit *e, const IrStmt *s) {
    uint32_t top = reg_top(e);
    for (uint32_t i = 0; i < s->operand_count; i++) {
        uint32_t from = atom_reg(e, s->operands[i]);
        if (from != NO_REG && from >= top) top = from + 1;
    }
    return top;
}

uint32_t window_fill(Emit *e, const IrStmt *s, bool but_first) {
    uint32_t header = op_is_call(s->op) ? FRAME_WORDS : 0, base = window_take(e, s);
    for (uint32_t i = 0; i < s->operand_count; i++)
        if (dies_here(e, s->operands[i])) temp_free(e, s->operands[i].index);
    if (base == NO_REG || (header && reg_top(e) + header > base)) {
        base = reg_top(e) + header;
        if (overlaps(e, s, base)) base = above_operands(e, s) + header;
    }
    if (base + s->operand_count > BC_MAX_REGISTERS) return code_fail(e, "it needs too many registers"), 0;
    for (uint32_t i = but_first; i < s->operand_count; i++) code_atom(e, s->operands[i], base + i);
    if (base + s->operand_count > e->register_count) e->register_count = base + s->operand_count;
    return base;
}

/* ---- functions ---- */

static bool prepare(Emit *e) {
    const IrFunction *fn = e->fn;
    if (!GROW(e, e->temps, e->temp_capacity, fn->temp_count) ||
        !GROW(e, e->locals, e->local_capacity, fn->local_count))
        return false;
    if (fn->temp_count) memset(e->temps, 0, fn->temp_count * sizeof *e->temps);
    for (uint32_t i = 0; i < fn->local_count; i++) e->locals[i] = (LocalInfo){.reg = NO_REG};
    memset(e->used, 0, e->used_words * sizeof *e->used);
    e->used_words = e->register_count = 0;
    e->frame_count = e->loop_count = e->home_count = e->bound_count = e->window_count = 0;
    e->loop = e->position = e->row_depth = e->row_max = 0;
    return true;
}

static void place_params(Emit *e) {
    const IrFunction *fn = e->fn;
    take(e, 0);
    for (uint32_t i = 0; i < fn->param_count; i++) {
        take(e, i + 1);
        e->locals[i].reg = i + 1;
        e->locals[i].bound = true;
    }
    for (uint32_t i = 0; i < fn->local_count; i++) {
        if (fn->locals[i].mode != LOCAL_BINDING) continue;
        take(e, fn->locals[i].binding + 1);
        e->locals[i].reg = fn->locals[i].binding + 1;
        e->locals[i].bound = true;
    }
    if (fn->kind == FN_SCRIPT) /* all session variables arrive, those that have no local too */
        for (uint32_t i = 0; i < e->unit->shell->binding_count; i++) take(e, i + 1);
}

bool regs_begin(Emit *e) {
    if (!prepare(e)) return false;
    place_params(e);
    Walk w = {.e = e, .frame = e->fn->body};
    if (!e->failed) walk_frame(&w, e->fn->body, BC_NONE);
    e->rows = reg_top(e);
    for (uint32_t i = 0; i < 3 * e->row_max && !e->failed; i++) take(e, e->rows + i);
    return !e->failed;
}
