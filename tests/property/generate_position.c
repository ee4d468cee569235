/* The generator: positions: a construct as operand, element, argument, ... */
#include "generate_internal.h"

#include <string.h>

/* ---- positions ---- */

Node *gen_set_variable(Gen *g, int var, Node *value) {
    Node *node = node_with(g->pool, N_SET_VAR, 0, 1, value);
    node->value = (int16_t)var;
    return node;
}

Node *gen_set_state(Gen *g, int state, Node *value) {
    Node *node = node_with(g->pool, N_SET_STATE, 0, 1, value);
    node->value = (int16_t)state;
    return node;
}

Node *gen_pair(Gen *g, NodeKind kind, int op, Node *a, Node *b) {
    return node_with(g->pool, kind, op, 2, a, b);
}

static Node *block_around(Gen *g, Node *last) {
    Node *node = gen_wrap_block(g, last);
    return node;
}

/* An operand beside the construct under way. */
static Node *beside(Gen *g) { return gen_chance(g, 60) ? gen_integer_leaf(g) : gen_value(g, 'i', 1); }

static Node *in_receiver(Gen *g, Node *e, char kind, char *now) {
    int op = kind == 'i'                  ? UN_NEGATED
             : kind == 'b'                ? UN_NOT
             : kind == 'l' || kind == 'd' ? UN_SIZE
             : kind == 'r'                ? UN_IS_ERROR
                                          : UN_IS_NIL;
    *now = op == UN_NEGATED || op == UN_SIZE ? 'i' : 'b';
    return node_with(g->pool, N_UNARY, op, 1, e);
}

/* As operand of another construct that takes such a value. */
static Node *as_operand(Gen *g, Node *e, char kind, char *now) {
    *now = 'i';
    if (kind == 'b')
        return node_with(g->pool, N_CONSTRUCT, SHAPE_IF_TRUE_FALSE, 3, e, gen_block(g, "", 'i', 1),
                         gen_block(g, "", 'i', 1));
    if (kind == 'n' || kind == '?')
        return node_with(g->pool, N_CONSTRUCT, SHAPE_IF_NIL_NOT_NIL, 3, e, gen_block(g, "", 'i', 1),
                         gen_block(g, "?", 'i', 1));
    if (kind == 'l' && gen_chance(g, 70))
        return node_with(g->pool, N_CONSTRUCT, SHAPE_INJECT, 3, e, beside(g), gen_block(g, "ii", 'i', 1));
    if (kind == 'd' && gen_chance(g, 70)) {
        *now = 'n';
        return node_with(g->pool, N_CONSTRUCT, SHAPE_DO_WITH_KEY, 2, e, gen_block(g, "??", 'i', 1));
    }
    return node_with(g->pool, N_CONSTRUCT, SHAPE_VALUE_1, 2, gen_block(g, kind == 'i' ? "i" : "?", 'i', 1),
                     e);
}

/* Puts e, whose value is of `kind`, into a position; *now is the kind of what comes of it. */
Node *gen_place(Gen *g, Position position, Node *e, char kind, char *now) {
    *now = kind;
    switch (position) {
    case POS_LEFT:
    case POS_RIGHT: {
        bool left = position == POS_LEFT;
        int op = kind == 'i' ? (gen_chance(g, 70) ? OP_ADD : OP_SUB) : kind == 'l' ? OP_CONCAT : OP_SAME;
        if (op == OP_SAME) *now = 'b';
        Node *other = kind == 'l' ? node_with(g->pool, N_LIST, 0, 1, beside(g)) : beside(g);
        if (!left && other->kind == N_VAR) other = gen_literal_int(g);
        return left ? gen_pair(g, N_BIN, op, e, other) : gen_pair(g, N_BIN, op, other, e);
    }
    case POS_RIGHT_OF_VAR: {
        int var = gen_pick_variable(g, 'i', false);
        if (var < 0) return e;
        if (kind != 'i') *now = 'b';
        return gen_pair(g, N_BIN, kind == 'i' ? OP_ADD : OP_SAME, gen_leaf(g, N_VAR, var), e);
    }
    case POS_RECEIVER: return in_receiver(g, e, kind, now);
    case POS_KEY_RECEIVER:
        if (kind == 'i' && gen_chance(g, 70)) return gen_pair(g, N_KEYED, 0, e, beside(g));
        *now = 'b';
        return node_with(g->pool, N_KEYED, 0, 1, e);
    case POS_ARGUMENT: *now = kind == 'i' ? 'i' : '?'; return gen_pair(g, N_KEYED, 0, beside(g), e);
    case POS_TWO_ARGUMENTS:
        *now = 'b';
        if (gen_chance(g, 50)) return node_with(g->pool, N_BETWEEN, 0, 3, beside(g), e, beside(g));
        return node_with(g->pool, N_BETWEEN, 0, 3, beside(g), beside(g), e);
    case POS_ELEMENT:
        *now = 'x';
        return gen_chance(g, 50) ? gen_pair(g, N_LIST, 0, e, beside(g))
                                 : node_with(g->pool, N_LIST, 0, 3, beside(g), e, beside(g));
    case POS_DICT_VALUE:
        *now = 'd';
        return gen_chance(g, 50) ? gen_pair(g, N_DICT, 0, beside(g), e)
                                 : gen_pair(g, N_DICT, 0, e, beside(g));
    case POS_INTERPOLATED: *now = 't'; return node_with(g->pool, N_INTERP, 0, 3, beside(g), e, beside(g));
    case POS_CASCADED:
        *now = kind == 'i' ? 'i' : '?';
        return node_with(g->pool, N_CASCADE, 0, 3, beside(g), beside(g), e);
    case POS_OPERAND: return as_operand(g, e, kind, now);
    case POS_SENT:
        *now = 'i';
        if (!gen_in_methods(g)) return node_with(g->pool, N_SEND, HELPER_HOP_PUT, 1, e);
        if (kind == 'i' && gen_has_state(g)) return node_with(g->pool, N_SEND, HELPER_PUT, 1, e);
        return node_with(g->pool, N_SEND, HELPER_APPLY_WITH, 2,
                         gen_closure(g, kind == 'i' ? "i" : "?", TO_SELF, 1), e);
    case POS_ARM:
        *now = '?';
        return node_with(g->pool, N_MATCH, 0, 3, gen_leaf(g, N_INT, gen_chance(g, 85) ? 1 : 2), e, beside(g));
    case POS_BLOCK_END:
        *now = '?';
        if (gen_chance(g, 50)) {
            if (kind == 'i') *now = 'i';
            return node_with(g->pool, N_CONSTRUCT, SHAPE_VALUE_0, 1, block_around(g, e));
        }
        return node_with(g->pool, N_CONSTRUCT, SHAPE_IF_TRUE, 2, gen_leaf(g, N_BOOL, 1), block_around(g, e));
    default: return e;
    }
}

/* A statement with a construct in that position. */
Node *gen_placed(Gen *g, int shape, Position position, int depth) {
    Node *e = gen_construct(g, shape, depth);
    char kind = gen_shape_result(shape);
    int force = g->force;
    g->force = -1;
    char now = kind;
    e = gen_place(g, position, e, kind, &now);
    g->force = force;
    switch (position) {
    case POS_STATEMENT:
    case POS_METHOD_END: return e;
    case POS_RETURNED: return node_with(g->pool, N_RETURN, 0, 1, e);
    case POS_STATE_WRITE:
        if (gen_has_state(g) && !g->no_state_writes) return gen_set_state(g, kind == 'i' ? 0 : 1, e);
        break;
    default: break;
    }
    int var = now == 'i' ? gen_pick_variable(g, 'i', true) : gen_pick_variable(g, '?', true);
    if (var >= 0) return gen_set_variable(g, var, e);
    var = gen_fresh(g, now == 'i' ? 'i' : '?', true);
    return var >= 0 ? gen_set_variable(g, var, e) : e;
}
