/* The generator: expressions to a wanted kind, and statements. */
#include "generate_internal.h"

#include <string.h>

/* ---- expressions ---- */

Node *gen_convert(Gen *g, Node *node, char from, char to) {
    if (from == to || from == 'x' || from == 't') return node;
    if (to == '?') return node;
    if (to == 'i') {
        if (from == 'l' || from == 'd') return node_with(g->pool, N_UNARY, UN_SIZE, 1, node);
        if (from == 'r') return node_with(g->pool, N_UNARY, UN_VALUE_OR, 1, node);
        Node *test = from == 'b' ? node : node_with(g->pool, N_UNARY, UN_IS_NIL, 1, node);
        return node_with(g->pool, N_CONSTRUCT, SHAPE_IF_TRUE_FALSE, 3, test, gen_block(g, "", 'i', 0),
                         gen_block(g, "", 'i', 0));
    }
    if (to == 'b') {
        if (from == 'i') return gen_pair(g, N_BIN, OP_LESS, node, gen_literal_int(g));
        if (from == 'r') return node_with(g->pool, N_UNARY, UN_IS_ERROR, 1, node);
        return node_with(g->pool, N_UNARY, UN_IS_NIL, 1, node);
    }
    return node;
}

static int shape_of_kind(Gen *g, char kind) {
    for (int tries = 0; tries < 40; tries++) {
        int shape = gen_below(g, SHAPES_ALL);
        if (gen_shape_result(shape) == kind && shape != SHAPE_REPEAT) return shape;
    }
    return -1;
}

/* A block that gets itself and a count, and calls itself while the count lasts, somewhere in its body. */
static Node *recursive_closure(Gen *g, Destination to, int depth) {
    Node *made = gen_closure(g, "Ri", to, depth);
    if (made->param_count < 2) return made;
    int own = made->params[0], count = made->params[1];
    Node *less = node_with(g->pool, N_BIN, OP_SUB, 2, gen_leaf(g, N_VAR, count), gen_leaf(g, N_INT, 1));
    Node *call = node_with(g->pool, N_CALL, 0, 3, gen_leaf(g, N_VAR, own), gen_leaf(g, N_VAR, own), less);
    Node *more = node_with(g->pool, N_BIN, OP_LESS, 2, gen_leaf(g, N_INT, 0), gen_leaf(g, N_VAR, count));
    Node *guard = node_with(g->pool, N_CONSTRUCT, SHAPE_IF_TRUE, 2, more, gen_wrap_block(g, call));
    Node *old = made->kids[0], *seq = made->kids[0] = node_new(g->pool, N_SEQ, 0);
    int at = gen_below(g, old->kid_count);
    for (int i = 0; i < old->kid_count; i++) {
        if (i == at) node_append(g->pool, seq, guard);
        node_append(g->pool, seq, old->kids[i]);
    }
    return made;
}

static Node *helper_send(Gen *g, int depth) {
    for (int tries = 0; tries < 20; tries++) {
        int helper = gen_below(g, HELPER_COUNT);
        const Helper *h = &HELPERS[helper];
        if (!(h->contexts >> g->program->context & 1)) continue;
        if (g->no_state_writes && (helper == HELPER_PUT || helper == HELPER_FAIL)) continue;
        Node *node = node_new(g->pool, N_SEND, 0);
        node->op = (uint8_t)helper;
        bool foreign = h->text[0] != 's' || !strncmp(h->text, "self class", 10);
        Destination to = foreign ? TO_OTHER : TO_SELF;
        for (const char *k = h->kids; *k; k++) {
            int bound = *k == '0' || *k == '1' ? gen_pick_variable(g, *k == '0' ? 'B' : 'C', false) : -1;
            Node *kid = bound >= 0 && gen_chance(g, 35) ? gen_leaf(g, N_VAR, bound)
                        : *k == '0'                     ? gen_closure(g, "", to, depth - 1)
                        : *k == '1'                     ? gen_closure(g, "i", to, depth - 1)
                        : *k == 'r'                     ? recursive_closure(g, to, depth - 1)
                                                        : gen_value(g, *k, depth - 1);
            node_append(g->pool, node, kid);
        }
        return node;
    }
    return gen_literal_int(g);
}

Node *gen_send_to_method(Gen *g, int index, int depth) {
    const Method *m = &g->program->methods[index];
    Node *node = gen_leaf(g, N_METHOD, index);
    for (int i = 0; i < m->param_count; i++) {
        bool takes_block = i == 0 && g->method_takes_block[index];
        int bound = takes_block ? gen_pick_variable(g, 'B', false) : -1;
        node_append(g->pool, node,
                    bound >= 0 && gen_chance(g, 40) ? gen_leaf(g, N_VAR, bound)
                    : takes_block                   ? gen_closure(g, "", TO_SELF, depth - 1)
                                                    : gen_value(g, 'i', depth - 1));
    }
    return node;
}

static Node *method_send(Gen *g, int depth) {
    if (!gen_in_methods(g) || g->method + 1 >= PROG_METHODS) return NULL;
    int index = g->method + 1 + gen_below(g, PROG_METHODS - g->method - 1);
    return g->program->methods[index].body ? gen_send_to_method(g, index, depth) : NULL;
}

Node *gen_block_call(Gen *g, int depth) {
    if (gen_has_state(g) && gen_chance(g, 30))
        return node_with(g->pool, N_CALL, 0, 1, gen_leaf(g, N_STATE, 1));
    int var = gen_pick_variable(g, gen_chance(g, 50) ? 'B' : 'C', false);
    if (var < 0) return NULL;
    char kind = 'B';
    for (int i = 0; i < g->visible_count; i++)
        if (g->visible[i].var == var) kind = g->visible[i].kind;
    Node *node = node_with(g->pool, N_CALL, 0, 1, gen_leaf(g, N_VAR, var));
    if (kind == 'C') node_append(g->pool, node, gen_value(g, 'i', depth - 1));
    return node;
}

static Node *integer(Gen *g, int depth) {
    int which = gen_below(g, 100);
    Node *made = NULL;
    if (which < 22)
        return gen_pair(g, N_BIN, gen_chance(g, 60) ? OP_ADD : OP_SUB, gen_value(g, 'i', depth - 1),
                        gen_value(g, 'i', depth - 1));
    if (which < 62) {
        int shape = gen_below(g, SHAPES_ALL), position = gen_below(g, POS_COUNT);
        if (shape == SHAPE_REPEAT && gen_chance(g, 85)) shape = SHAPE_IF_TRUE_FALSE;
        char kind = gen_shape_result(shape), now;
        Node *e = gen_construct(g, shape, depth);
        e = gen_place(g, (Position)position, e, kind, &now);
        if (now == 'x') return gen_convert(g, e, 'l', 'i');
        if (now == 't') return node_with(g->pool, N_UNARY, UN_SIZE, 1, e);
        return gen_chance(g, 97) ? gen_convert(g, e, now, 'i') : e;
    }
    if (which < 74) made = helper_send(g, depth);
    if (which >= 74 && which < 80) made = method_send(g, depth);
    if (which >= 80 && which < 87) made = gen_block_call(g, depth);
    if (which >= 87 && which < 91) {
        int var = gen_pick_variable(g, 'i', true);
        if (var >= 0) made = gen_set_variable(g, var, gen_value(g, 'i', depth - 1));
    }
    if (which >= 91 && which < 93 && gen_has_state(g) && !g->no_state_writes)
        made = gen_set_state(g, 0, gen_value(g, 'i', depth - 1));
    return made ? made : gen_integer_leaf(g);
}

static Node *boolean(Gen *g, int depth) {
    int which = gen_below(g, 100), shape;
    if (which < 45)
        return gen_pair(g, N_BIN, gen_chance(g, 60) ? OP_LESS : OP_SAME, gen_value(g, 'i', depth - 1),
                        gen_value(g, 'i', depth - 1));
    if (which < 60 && (shape = shape_of_kind(g, 'b')) >= 0) return gen_construct(g, shape, depth);
    if (which < 70)
        return node_with(g->pool, N_BETWEEN, 0, 3, gen_integer_leaf(g), gen_value(g, 'i', depth - 1),
                         gen_integer_leaf(g));
    if (which < 80) return node_with(g->pool, N_UNARY, UN_IS_NIL, 1, gen_value(g, '?', depth - 1));
    if (which < 90) return node_with(g->pool, N_UNARY, UN_NOT, 1, gen_value(g, 'b', depth - 1));
    return gen_leaf(g, N_BOOL, gen_below(g, 2));
}

static Node *list(Gen *g, int depth) {
    int shape;
    if (depth > 0 && g->budget > 0 && g->force <= 0 && gen_chance(g, 25) &&
        (shape = shape_of_kind(g, 'l')) >= 0)
        return gen_construct(g, shape, depth);
    Node *node = node_new(g->pool, N_LIST, 0);
    int count = g->force > 0 ? 2 : gen_chance(g, 10) ? 0 : 1 + gen_below(g, 3);
    while (count-- > 0)
        node_append(g->pool, node, gen_chance(g, 75) ? gen_literal_int(g) : gen_value(g, 'i', depth - 1));
    return node;
}

static Node *anything(Gen *g, int depth) {
    int var = gen_chance(g, 40) ? gen_pick_variable(g, '?', false) : -1;
    if (var >= 0) return gen_leaf(g, N_VAR, var);
    int shape = gen_chance(g, 50) ? shape_of_kind(g, '?') : shape_of_kind(g, 'n');
    return shape >= 0 ? gen_construct(g, shape, depth) : gen_leaf(g, N_NIL, 0);
}

Node *gen_value(Gen *g, char kind, int depth) {
    int force = g->force;
    g->force = -1;
    bool small_left = depth <= 0 || g->budget <= 0;
    Node *node;
    switch (kind) {
    case 'b':
        node = small_left ? gen_pair(g, N_BIN, OP_LESS, gen_integer_leaf(g), gen_literal_int(g))
                          : boolean(g, depth);
        break;
    case 'l':
        g->force = force;
        node = list(g, depth);
        break;
    case 'd': {
        node = node_with(g->pool, N_DICT, 0, 1, gen_value(g, 'i', depth - 1));
        if (gen_chance(g, force > 0 ? 10 : 50)) node_append(g->pool, node, gen_value(g, 'i', depth - 1));
        break;
    }
    case '?': node = small_left ? gen_leaf(g, N_NIL, 0) : anything(g, depth); break;
    default: node = small_left ? gen_integer_leaf(g) : integer(g, depth); break;
    }
    g->force = force;
    return node;
}

/* ---- statements ---- */

static Node *guarded(Gen *g, Outcome outcome, int depth) {
    Node *test = gen_value(g, 'b', depth - 1);
    return node_with(g->pool, N_CONSTRUCT, gen_chance(g, 50) ? SHAPE_IF_TRUE : SHAPE_IF_FALSE, 2, test,
                     gen_wrap_block(g, gen_leaving(g, outcome)));
}

/* A block variable of this very block or method, to be assigned once more; -1: none. */
static int pick_local_closure(Gen *g) {
    for (int i = g->visible_count; i-- > g->write_floor;)
        if (g->visible[i].kind == 'B') return g->visible[i].var;
    return -1;
}

static Node *bind_closure(Gen *g, int depth) {
    bool one = gen_chance(g, 35);
    if (gen_has_state(g) && !g->no_state_writes && gen_chance(g, 35))
        return gen_set_state(g, 1, gen_closure(g, "", TO_STATE, depth - 1));
    int again = gen_chance(g, 8) ? pick_local_closure(g) : -1;
    if (again >= 0) return gen_set_variable(g, again, gen_closure(g, "", TO_VARIABLE, depth - 1));
    g->written = -1;
    Node *made = gen_closure(g, one ? "i" : "", TO_VARIABLE, depth - 1);
    int written = g->written, var = gen_fresh(g, one ? 'C' : 'B', false);
    g->called = one || written < 0 ? -1 : var;
    g->written = written;
    return var >= 0 ? gen_set_variable(g, var, made) : gen_raise_node(g);
}

static bool is_visible(const Gen *g, int var) {
    for (int i = 0; i < g->visible_count; i++)
        if (g->visible[i].var == var) return true;
    return false;
}

/* #(..) collect: [:x | b value. v] where b writes v. */
Node *gen_watch_call(Gen *g) {
    int called = g->called, written = g->written;
    g->called = -1;
    if (called < 0 || written < 0 || !is_visible(g, called) || !is_visible(g, written)) return NULL;
    static const uint8_t SHAPES_WATCHED[] = {SHAPE_COLLECT, SHAPE_GROUP_BY, SHAPE_TIMES, SHAPE_VALUE_0};
    int shape = SHAPES_WATCHED[gen_below(g, 4)];
    bool element = shape == SHAPE_COLLECT || shape == SHAPE_GROUP_BY;
    int mark = g->visible_count;
    Node *body = gen_wrap_block(g, node_with(g->pool, N_CALL, 0, 1, gen_leaf(g, N_VAR, called)));
    node_append(g->pool, body->kids[0], gen_leaf(g, N_VAR, written));
    int param = element ? gen_fresh(g, 'i', false) : -1;
    g->visible_count = mark;
    if (element && param < 0) return NULL;
    if (element) body->params[body->param_count++] = (int16_t)param;
    Node *made = node_with(g->pool, N_CONSTRUCT, shape, 0);
    if (shape != SHAPE_VALUE_0)
        node_append(g->pool, made, element ? gen_value(g, 'l', 0) : gen_leaf(g, N_INT, 2));
    node_append(g->pool, made, body);
    int var = gen_fresh(g, '?', true);
    return var >= 0 ? gen_set_variable(g, var, made) : made;
}

Node *gen_statement(Gen *g, int depth) {
    int which = gen_below(g, 100), var;
    Node *made = g->called >= 0 && gen_chance(g, 60) ? gen_watch_call(g) : NULL;
    if (made) return made;
    if (depth <= 0 || g->budget <= 0) which = which % 26;
    if (which < 16) {
        var = gen_pick_variable(g, 'i', true);
        if (var >= 0) made = gen_set_variable(g, var, gen_value(g, 'i', depth - 1));
    } else if (which < 23) {
        if (gen_has_state(g) && !g->no_state_writes) made = gen_set_state(g, 0, gen_value(g, 'i', depth - 1));
    } else if (which < 26) {
        Node *value = gen_value(g, 'i', depth - 1);
        var = gen_fresh(g, 'i', true);
        if (var >= 0) made = gen_set_variable(g, var, value);
    } else if (which < 66) {
        int shape = gen_below(g, SHAPES_ALL), position = gen_below(g, POS_COUNT);
        if (position == POS_RETURNED || position == POS_METHOD_END) position = POS_STATEMENT;
        if (shape == SHAPE_REPEAT && gen_chance(g, 70)) shape = SHAPE_ON_DO;
        made = gen_placed(g, shape, (Position)position, depth);
    } else if (which < 71) {
        made = guarded(g, OUTCOME_RAISED, depth);
    } else if (which < 74) {
        made = guarded(g, OUTCOME_LEFT, depth);
    } else if (which < 75) {
        made = gen_raise_node(g);
    } else if (which < 86) {
        made = bind_closure(g, depth);
    } else if (which < 92) {
        made = gen_block_call(g, depth);
    } else if (which < 97) {
        made = helper_send(g, depth);
    } else {
        made = method_send(g, depth);
    }
    return made ? made : gen_integer_leaf(g);
}
