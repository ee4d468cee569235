/* The generator: chance and names, statements in blocks, blocks that are literals and blocks that are values.
 */
#include "generate_internal.h"

#include <string.h>

/* ---- chance ---- */

uint64_t gen_next(Gen *g) {
    uint64_t z = g->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
int gen_below(Gen *g, int limit) { return (int)(gen_next(g) % (uint64_t)limit); }
bool gen_chance(Gen *g, int percent) { return gen_below(g, 100) < percent; }

/* ---- names ---- */

bool gen_in_methods(const Gen *g) { return g->program->context != CTX_SCRIPT; }
bool gen_has_state(const Gen *g) {
    return g->program->context == CTX_CLASS || g->program->context == CTX_ACTOR;
}
static bool reads_state(const Gen *g) { return gen_in_methods(g); }

int gen_fresh(Gen *g, char kind, bool writable) {
    int limit = writable ? PROG_VARS - 20 : PROG_VARS; /* the last ones are for parameters */
    if (g->var_count >= limit || g->visible_count >= 96) return -1;
    int var = g->var_count++;
    g->visible[g->visible_count++] = (Visible){(int16_t)var, kind, writable};
    return var;
}

/* A visible variable of that kind, or -1. */
int gen_pick_variable(Gen *g, char kind, bool to_write) {
    int found = -1, seen = 0;
    for (int i = 0; i < g->visible_count; i++) {
        const Visible *v = &g->visible[i];
        if (v->kind != kind || (to_write && (!v->writable || i < g->write_floor))) continue;
        if (gen_below(g, ++seen) == 0) found = v->var;
    }
    return found;
}

/* ---- leaves ---- */

Node *gen_leaf(Gen *g, NodeKind kind, int value) {
    g->budget--;
    return node_leaf(g->pool, kind, value);
}
Node *gen_small(Gen *g) { return gen_leaf(g, N_INT, gen_below(g, 4)); }
Node *gen_literal_int(Gen *g) { return gen_leaf(g, N_INT, gen_below(g, 10)); }

Node *gen_integer_leaf(Gen *g) {
    int var = gen_chance(g, 65) ? gen_pick_variable(g, 'i', false) : -1;
    if (var >= 0) return gen_leaf(g, N_VAR, var);
    if (reads_state(g) && gen_chance(g, 40)) return gen_leaf(g, N_STATE, 0);
    return gen_literal_int(g);
}

/* ---- blocks ---- */

Node *gen_raise_node(Gen *g) {
    g->budget--;
    return node_with(g->pool, N_RAISE, gen_below(g, RAISE_COUNT), 0);
}

Node *gen_leaving(Gen *g, Outcome outcome) {
    if (outcome == OUTCOME_RAISED) return gen_raise_node(g);
    return node_with(g->pool, N_RETURN, 0, 1, gen_integer_leaf(g));
}

void gen_declare_before(Gen *g, Node *node) {
    if (g->pending_count < 8) g->pending[g->pending_count++] = node;
}

/* Appends what `make` makes, behind the declarations that it asks for. */
void gen_append_made(Gen *g, Node *seq, Node *(*make)(Gen *, const void *, int), const void *what,
                     int depth) {
    Node *saved[8];
    int saved_count = g->pending_count;
    memcpy(saved, g->pending, sizeof saved);
    g->pending_count = 0;
    Node *made = make(g, what, depth);
    for (int i = 0; i < g->pending_count; i++) node_append(g->pool, seq, g->pending[i]);
    node_append(g->pool, seq, made);
    memcpy(g->pending, saved, sizeof saved);
    g->pending_count = saved_count;
}

static Node *make_statement(Gen *g, const void *what, int depth) {
    (void)what;
    return gen_statement(g, depth);
}
void gen_add_statement(Gen *g, Node *seq, int depth) { gen_append_made(g, seq, make_statement, NULL, depth); }

/* The last expression of a block or method. */
static Node *make_value(Gen *g, const void *what, int depth) {
    return gen_value(g, *(const char *)what, depth);
}
void gen_add_value(Gen *g, Node *seq, char kind, int depth) {
    gen_append_made(g, seq, make_value, &kind, depth);
}

Node *gen_make_wanted(Gen *g, const void *what, int depth) {
    const Wanted *wanted = what;
    int force = g->force;
    g->force = wanted->outcome;
    Node *made = gen_placed(g, wanted->shape, (Position)wanted->position, depth);
    g->force = force;
    return made;
}
void gen_add_made(Gen *g, Node *seq, Wanted wanted, int depth) {
    gen_append_made(g, seq, gen_make_wanted, &wanted, depth);
}

/* A block that is to be left: from within a construct in it, or at once. */
static void add_leaving(Gen *g, Node *seq, Outcome outcome, int depth) {
    if (depth > 0 && g->budget > 0 && gen_chance(g, 65)) {
        int position = gen_below(g, POS_COUNT);
        if (position == POS_METHOD_END) position = POS_STATEMENT;
        static const uint8_t REGIONS[] = {SHAPE_ON_DO, SHAPE_ON_DO_0, SHAPE_ENSURE, SHAPE_TRY_DO};
        int shape = gen_chance(g, 25) ? REGIONS[gen_below(g, 4)] : gen_below(g, SHAPES_ALL);
        gen_add_made(g, seq, (Wanted){shape, position, outcome}, depth);
    }
    node_append(g->pool, seq, gen_leaving(g, outcome));
}

/* #(..) do: [:e | own := own + e. outer := outer + own] */
static Node *own_fold(Gen *g, int own) {
    int mark = g->visible_count, outer = gen_pick_variable(g, 'i', true), element = gen_fresh(g, 'i', false);
    g->visible_count = mark;
    if (element < 0) return gen_literal_int(g);
    Node *sum = node_with(g->pool, N_BIN, OP_ADD, 2, gen_leaf(g, N_VAR, own), gen_leaf(g, N_VAR, element));
    Node *block = gen_wrap_block(g, gen_set_variable(g, own, sum));
    block->params[block->param_count++] = (int16_t)element;
    if (outer >= 0 && outer != own) {
        sum = node_with(g->pool, N_BIN, OP_ADD, 2, gen_leaf(g, N_VAR, outer), gen_leaf(g, N_VAR, own));
        node_append(g->pool, block->kids[0], gen_set_variable(g, outer, sum));
    }
    Node *list = node_with(g->pool, N_LIST, 0, 2, gen_literal_int(g), gen_literal_int(g));
    return node_with(g->pool, N_CONSTRUCT, SHAPE_DO, 2, list, block);
}

/* A variable of the block's own, which a block in it will write. */
static int own_variable(Gen *g, Node *seq) {
    Node *first = gen_integer_leaf(g);
    int own = gen_fresh(g, 'i', true);
    if (own >= 0) node_append(g->pool, seq, gen_set_variable(g, own, first));
    return own;
}

Node *gen_block(Gen *g, const char *params, char value, int depth) {
    int mark = g->visible_count, force = g->force;
    g->force = -1;
    Node *node = node_new(g->pool, N_BLOCK, 1);
    for (; *params; params++) {
        int var = gen_fresh(g, *params, false);
        if (var >= 0) node->params[node->param_count++] = (int16_t)var;
    }
    Node *seq = node->kids[0] = node_new(g->pool, N_SEQ, 0);
    int count = depth <= 0 || g->budget <= 0 ? 0 : gen_below(g, 3);
    int own = count && gen_chance(g, 15) ? own_variable(g, seq) : -1;
    if (own >= 0) node_append(g->pool, seq, own_fold(g, own));
    while (count-- > 0) gen_add_statement(g, seq, depth - 1);
    if (own >= 0) node_append(g->pool, seq, own_fold(g, own));
    Node *call = g->program->context == CTX_ACTOR && gen_chance(g, 10) ? gen_block_call(g, 0) : NULL;
    if (call) node_append(g->pool, seq, call);
    if (call && force <= OUTCOME_NORMAL && value == 'i')
        node_append(g->pool, seq, gen_integer_leaf(g));
    else if (force > OUTCOME_NORMAL)
        add_leaving(g, seq, (Outcome)force, depth - 1);
    else if (own >= 0 && value == 'i')
        node_append(g->pool, seq, gen_leaf(g, N_VAR, own));
    else
        gen_add_value(g, seq, value, depth - 1);
    g->visible_count = mark;
    g->force = force;
    return node;
}

/* A write to something outside, first in its block. */
void gen_write_first(Gen *g, Node *in) {
    int var = gen_pick_variable(g, 'i', true);
    if (var < 0) return;
    g->written = var;
    Node *seq = in->kids[0], *old = node_new(g->pool, N_SEQ, 0);
    Node *sum = node_with(g->pool, N_BIN, OP_ADD, 2, gen_leaf(g, N_VAR, var), gen_literal_int(g));
    Node *set = node_with(g->pool, N_SET_VAR, 0, 1, sum);
    set->value = (int16_t)var;
    node_append(g->pool, old, set);
    for (int i = 0; i < seq->kid_count; i++) node_append(g->pool, old, seq->kids[i]);
    in->kids[0] = old;
}

/* What a cleanup sees of a variable goes where it can be seen afterwards. */
void gen_show_first(Gen *g, Node *cleanup) {
    int var = gen_pick_variable(g, 'i', true);
    if (var < 0 || !gen_has_state(g) || g->no_state_writes || gen_chance(g, 40)) return;
    Node *seq = node_with(g->pool, N_SEQ, 0, 1, gen_set_state(g, 0, gen_leaf(g, N_VAR, var)));
    const Node *old = cleanup->kids[0];
    for (int i = 0; i < old->kid_count; i++) node_append(g->pool, seq, old->kids[i]);
    cleanup->kids[0] = seq;
}

/* A block that is a value. Where nothing can bring an outer write back it mostly has none. */
Node *gen_closure(Gen *g, const char *params, Destination to, int depth) {
    int floor = g->write_floor, force = g->force;
    bool no_state = g->no_state_writes;
    bool actor = g->program->context == CTX_ACTOR;
    g->force = -1;
    bool writes = actor || gen_chance(g, 6);
    if (!writes) g->write_floor = g->visible_count;
    if (actor && to != TO_SELF && to != TO_STATE && !gen_chance(g, 2)) g->no_state_writes = true;
    Node *node = gen_block(g, params, 'i', depth < 3 ? depth : 3);
    if (writes && gen_chance(g, 50)) gen_write_first(g, node);
    g->write_floor = floor;
    g->no_state_writes = no_state;
    g->force = force;
    return node;
}
