/* The generator: constructs with all that stands in them. */
#include "generate_internal.h"

#include <string.h>

/* ---- constructs ---- */

static int counter(Gen *g) {
    int var = gen_fresh(g, 'i', false);
    if (var < 0) return -1;
    Node *set = node_with(g->pool, N_SET_VAR, 0, 1, node_leaf(g->pool, N_INT, 0));
    set->value = (int16_t)var;
    gen_declare_before(g, set);
    return var;
}

static Node *step_counter(Gen *g, int var) {
    Node *sum =
        node_with(g->pool, N_BIN, OP_ADD, 2, node_leaf(g->pool, N_VAR, var), node_leaf(g->pool, N_INT, 1));
    Node *set = node_with(g->pool, N_SET_VAR, 0, 1, sum);
    set->value = (int16_t)var;
    return set;
}

/* [k := k + 1. ... k < 3] or its opposite: the loop ends whatever the rest does. */
static Node *condition(Gen *g, bool goes_on, int depth) {
    int var = counter(g);
    if (var < 0) return NULL;
    Node *node = gen_block(g, "", 'b', depth);
    Node *seq = node_new(g->pool, N_SEQ, 0), *old = node->kids[0];
    node_append(g->pool, seq, step_counter(g, var));
    for (int i = 0; i + 1 < old->kid_count; i++) node_append(g->pool, seq, old->kids[i]);
    Node *k = node_leaf(g->pool, N_VAR, var), *limit = node_leaf(g->pool, N_INT, 1 + gen_below(g, 3));
    Node *end = goes_on ? node_with(g->pool, N_BIN, OP_LESS, 2, k, limit)
                        : node_with(g->pool, N_BIN, OP_LESS, 2, limit, k);
    Node *last = old->kids[old->kid_count - 1];
    bool leaves = last->kind == N_RAISE || last->kind == N_RETURN;
    node_append(g->pool, seq, leaves ? last : end);
    node->kids[0] = seq;
    return node;
}

Node *gen_wrap_block(Gen *g, Node *statement_node) {
    Node *node = node_new(g->pool, N_BLOCK, 1);
    node->kids[0] = node_with(g->pool, N_SEQ, 0, 1, statement_node);
    return node;
}

/* [k := k + 1. (2 < k) ifTrue: [^k]. ...]: leaves sooner or later. */
static Node *repeat_body(Gen *g, int depth) {
    int var = counter(g);
    if (var < 0) return NULL;
    Outcome outcome = g->force > 0 ? (Outcome)g->force : gen_chance(g, 50) ? OUTCOME_RAISED : OUTCOME_LEFT;
    int force = g->force;
    g->force = -1;
    Node *node = gen_block(g, "", 'i', depth);
    g->force = force;
    Node *late = node_with(g->pool, N_BIN, OP_LESS, 2, gen_small(g), node_leaf(g->pool, N_VAR, var));
    Node *leave =
        node_with(g->pool, N_CONSTRUCT, SHAPE_IF_TRUE, 2, late, gen_wrap_block(g, gen_leaving(g, outcome)));
    Node *seq = node_with(g->pool, N_SEQ, 0, 2, step_counter(g, var), leave);
    Node *old = node->kids[0];
    for (int i = 0; i < old->kid_count; i++) node_append(g->pool, seq, old->kids[i]);
    node->kids[0] = seq;
    return node;
}

/* How often a sort block runs is not ours to say, so what it does must be the same once and often. */
static Node *sort_block(Gen *g) {
    Node *node = node_new(g->pool, N_BLOCK, 1);
    int a = gen_fresh(g, 'i', false), b = gen_fresh(g, 'i', false);
    if (b < 0) return NULL;
    node->param_count = 2;
    node->params[0] = (int16_t)a;
    node->params[1] = (int16_t)b;
    Node *seq = node->kids[0] = node_new(g->pool, N_SEQ, 0);
    int var = gen_pick_variable(g, 'i', true);
    if (var >= 0 && gen_chance(g, 70)) {
        Node *set = node_with(g->pool, N_SET_VAR, 0, 1, gen_literal_int(g));
        set->value = (int16_t)var;
        node_append(g->pool, seq, set);
    }
    Node *order = node_with(g->pool, N_BIN, OP_LESS_EQUAL, 2, node_leaf(g->pool, N_VAR, a),
                            node_leaf(g->pool, N_VAR, b));
    node_append(g->pool, seq, g->force > 0 ? gen_leaving(g, (Outcome)g->force) : order);
    g->visible_count -= 2;
    return node;
}

static Node *error_class(Gen *g) {
    int which = gen_chance(g, 60) ? CLASS_ERROR : gen_below(g, CLASS_NIL + 1);
    return node_with(g->pool, N_CLASS, which, 0);
}

/* The handler of an error that was forced does its own thing. */
static Node *handler(Gen *g, const char *params, int depth) {
    int force = g->force;
    g->force = -1;
    Node *node = gen_block(g, params, 'i', depth);
    if (node->param_count && gen_chance(g, 15))
        node->kids[0]->kids[node->kids[0]->kid_count - 1] =
            node_with(g->pool, gen_chance(g, 60) ? N_ERROR_KIND : N_RERAISE, 0, 1,
                      node_leaf(g->pool, N_VAR, node->params[0]));
    g->force = force;
    return node;
}

/* The receiver that makes the construct under way run the block that is to be left. */
static Node *decisive(Gen *g, int shape) {
    switch (shape) {
    case SHAPE_IF_FALSE:
    case SHAPE_OR: return gen_leaf(g, N_BOOL, 0);
    case SHAPE_IF_NIL: return gen_leaf(g, N_NIL, 0);
    case SHAPE_IF_NOT_NIL:
    case SHAPE_IF_NOT_NIL_0: return gen_literal_int(g);
    case SHAPE_IF_NIL_NOT_NIL:
    case SHAPE_IF_NOT_NIL_NIL: return gen_chance(g, 50) ? gen_leaf(g, N_NIL, 0) : gen_literal_int(g);
    case SHAPE_IF_TRUE_FALSE: return gen_leaf(g, N_BOOL, gen_below(g, 2));
    default: return gen_leaf(g, N_BOOL, 1);
    }
}

static Node *construct_kid(Gen *g, int shape, char what, int depth) {
    switch (what) {
    case 'i': return gen_value(g, 'i', depth);
    case 'b': return g->force > 0 ? decisive(g, shape) : gen_value(g, 'b', depth);
    case 's':
        return gen_chance(g, 80) ? gen_leaf(g, N_INT, g->force > 0 ? 2 : gen_below(g, 4))
                                 : gen_value(g, 'l', depth > 1 ? 1 : 0);
    case 'k': return gen_leaf(g, N_INT, 1 + gen_below(g, 2));
    case 'm':
        if (g->force > 0) return decisive(g, shape);
        return gen_chance(g, 40) ? gen_leaf(g, N_NIL, 0) : gen_value(g, gen_chance(g, 30) ? '?' : 'i', depth);
    case 'l': return gen_value(g, 'l', depth);
    case 'd': return gen_value(g, 'd', depth);
    case 'y': return gen_leaf(g, N_SYM, g->force > 0 ? 1 : gen_below(g, 2));
    case 'F': return error_class(g);
    case 'R': return node_with(g->pool, N_CLASS, gen_chance(g, 85) ? CLASS_RESULT : CLASS_TRIER, 0);
    case '0': return gen_block(g, "", 'i', depth);
    case '1': return gen_block(g, "i", 'i', depth);
    case '2': return gen_block(g, "ii", 'i', depth);
    case '3': return gen_block(g, "iii", 'i', depth);
    case 'K': return gen_block(g, "?i", 'i', depth);
    case 'B': return gen_block(g, "", 'b', depth);
    case 'P': return gen_block(g, "i", 'b', depth);
    case 'L': return gen_block(g, "i", 'l', depth);
    case 'W': return condition(g, true, depth);
    case 'w': return condition(g, false, depth);
    case 'N': return repeat_body(g, depth);
    case 'S': return sort_block(g);
    case 'H': return handler(g, "e", depth);
    case 'h': return handler(g, "", depth);
    default: return NULL;
    }
}

static Node *fix_count(Gen *g, Node *kid, char what) {
    return what == 's' && kid->kind != N_INT ? node_with(g->pool, N_UNARY, UN_SIZE, 1, kid) : kid;
}

static Node *match_node(Gen *g, int depth) {
    Node *node = node_new(g->pool, N_MATCH, 0);
    int force = g->force;
    g->force = -1;
    node_append(g->pool, node, gen_value(g, 'i', depth));
    int arms = 2 + gen_below(g, 2);
    for (int i = 0; i < arms; i++) {
        Node *arm = gen_value(g, 'i', depth);
        if (force > 0) {
            g->force = force;
            arm = gen_construct(g, SHAPE_VALUE_0, depth);
            g->force = -1;
        } else if (gen_chance(g, 40)) {
            int var = gen_pick_variable(g, 'i', true);
            if (var >= 0) {
                arm = node_with(g->pool, N_SET_VAR, 0, 1, arm);
                arm->value = (int16_t)var;
            }
        }
        node_append(g->pool, node, arm);
    }
    g->force = force;
    return node;
}

/* Some constructs also take a block from elsewhere: then they are ordinary sends. */
static Node *stored_instead(Gen *g, int shape, Node *literal) {
    char kind = shape == SHAPE_DO || shape == SHAPE_COLLECT ? 'C' : shape == SHAPE_TIMES ? 'B' : 0;
    int var = kind ? gen_pick_variable(g, kind, false) : -1;
    return var >= 0 ? gen_leaf(g, N_VAR, var) : literal;
}

/* A construct; blocks of most write something outside. NULL: out of variables. */
Node *gen_construct(Gen *g, int shape, int depth) {
    g->budget -= 2;
    if (shape == SHAPE_MATCH) return match_node(g, depth - 1);
    const char *kids = SHAPES[shape].kids;
    Node *node = node_new(g->pool, N_CONSTRUCT, 0);
    node->op = (uint8_t)shape;
    for (; *kids; kids++) {
        Node *kid = construct_kid(g, shape, *kids, depth - 1);
        if (!kid) return gen_leaf(g, N_INT, 1);
        if (kid->kind == N_BLOCK && g->force <= 0 && gen_chance(g, 12)) kid = stored_instead(g, shape, kid);
        kid = fix_count(g, kid, *kids);
        if (kid->kind == N_BLOCK && *kids != 'S' && gen_chance(g, 55)) gen_write_first(g, kid);
        if (kid->kind == N_BLOCK && shape == SHAPE_ENSURE && node->kid_count == 1) gen_show_first(g, kid);
        node_append(g->pool, node, kid);
    }
    return node;
}

/* REPEAT is left in one way or the other only: rarer, so that programs go on. */
int gen_any_shape(Gen *g) {
    int shape = gen_below(g, SHAPES_ALL);
    return shape == SHAPE_REPEAT && gen_chance(g, 60) ? SHAPE_ON_DO : shape;
}

char gen_shape_result(int shape) { return shape == SHAPE_MATCH ? 'i' : SHAPES[shape].result; }
