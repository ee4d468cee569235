/* The generator. Expressions are made to a wanted kind (integer, boolean, List, ..), so most programs get
 * far; now and then one is of another kind on purpose. Every construct is then put into one of the positions.
 */
#include "generate.h"

#include <string.h>

typedef struct {
    int16_t var;
    char kind;     /* i integer, ? anything, e exception, B block without parameters, C block with one */
    bool writable; /* false: loop counters, parameters */
} Visible;

typedef struct {
    Pool *pool;
    Program *program;
    uint64_t random;
    int budget; /* nodes still to be made */
    int method; /* the one under way: it calls later ones only */
    Visible visible[96];
    int visible_count, var_count;
    int write_floor; /* variables below this index are not written (a block that has no way back) */
    bool no_state_writes;
    Node *pending[8]; /* declarations that must stand before the statement under way */
    int pending_count;
    int force; /* Outcome to bring about in the blocks of the construct under way, or -1 */
    bool method_takes_block[PROG_METHODS];
} Gen;

/* ---- chance ---- */

static uint64_t next(Gen *g) {
    uint64_t z = g->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
static int below(Gen *g, int limit) { return (int)(next(g) % (uint64_t)limit); }
static bool chance(Gen *g, int percent) { return below(g, 100) < percent; }

/* ---- names ---- */

static bool in_methods(const Gen *g) { return g->program->context != CTX_SCRIPT; }
static bool has_state(const Gen *g) {
    return g->program->context == CTX_CLASS || g->program->context == CTX_ACTOR;
}
static bool reads_state(const Gen *g) { return in_methods(g); }

static int fresh(Gen *g, char kind, bool writable) {
    int limit = writable ? PROG_VARS - 20 : PROG_VARS; /* the last ones are for parameters */
    if (g->var_count >= limit || g->visible_count >= 96) return -1;
    int var = g->var_count++;
    g->visible[g->visible_count++] = (Visible){(int16_t)var, kind, writable};
    return var;
}

/* A visible variable of that kind, or -1. */
static int pick_variable(Gen *g, char kind, bool to_write) {
    int found = -1, seen = 0;
    for (int i = 0; i < g->visible_count; i++) {
        const Visible *v = &g->visible[i];
        if (v->kind != kind || (to_write && (!v->writable || i < g->write_floor))) continue;
        if (below(g, ++seen) == 0) found = v->var;
    }
    return found;
}

/* ---- leaves ---- */

static Node *leaf(Gen *g, NodeKind kind, int value) {
    g->budget--;
    return node_leaf(g->pool, kind, value);
}
static Node *small(Gen *g) { return leaf(g, N_INT, below(g, 4)); }
static Node *literal_int(Gen *g) { return leaf(g, N_INT, below(g, 10)); }

static Node *integer_leaf(Gen *g) {
    int var = chance(g, 65) ? pick_variable(g, 'i', false) : -1;
    if (var >= 0) return leaf(g, N_VAR, var);
    if (reads_state(g) && chance(g, 40)) return leaf(g, N_STATE, 0);
    return literal_int(g);
}

static Node *gen(Gen *g, char kind, int depth);
static Node *statement(Gen *g, int depth);
static Node *construct(Gen *g, int shape, int depth);
static Node *placed(Gen *g, int shape, Position position, int depth);
static Node *block(Gen *g, const char *params, char value, int depth);
static Node *convert(Gen *g, Node *node, char from, char to);

/* ---- blocks ---- */

static Node *raise_node(Gen *g) {
    g->budget--;
    return node_with(g->pool, N_RAISE, below(g, RAISE_COUNT), 0);
}

static Node *leaving(Gen *g, Outcome outcome) {
    if (outcome == OUTCOME_RAISED) return raise_node(g);
    return node_with(g->pool, N_RETURN, 0, 1, integer_leaf(g));
}

static void declare_before(Gen *g, Node *node) {
    if (g->pending_count < 8) g->pending[g->pending_count++] = node;
}

/* Appends what `make` makes, behind the declarations that it asks for. */
static void append_made(Gen *g, Node *seq, Node *(*make)(Gen *, const void *, int), const void *what,
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
    return statement(g, depth);
}
static void add_statement(Gen *g, Node *seq, int depth) { append_made(g, seq, make_statement, NULL, depth); }

/* The last expression of a block or method. */
static Node *make_value(Gen *g, const void *what, int depth) { return gen(g, *(const char *)what, depth); }
static void add_value(Gen *g, Node *seq, char kind, int depth) {
    append_made(g, seq, make_value, &kind, depth);
}

/* A construct of some shape in some position that ends in some way. */
typedef struct {
    int shape, position, outcome;
} Wanted;
static Node *make_wanted(Gen *g, const void *what, int depth) {
    const Wanted *wanted = what;
    int force = g->force;
    g->force = wanted->outcome;
    Node *made = placed(g, wanted->shape, (Position)wanted->position, depth);
    g->force = force;
    return made;
}
static void add_made(Gen *g, Node *seq, Wanted wanted, int depth) {
    append_made(g, seq, make_wanted, &wanted, depth);
}

/* The same where a raise is caught, so that the program goes on. */
static Node *make_guarded(Gen *g, const void *what, int depth) {
    Node *body = node_new(g->pool, N_SEQ, 0);
    int mark = g->visible_count;
    append_made(g, body, make_wanted, what, depth);
    node_append(g->pool, body, integer_leaf(g));
    Node *protected = node_with(g->pool, N_BLOCK, 0, 1, body);
    g->visible_count = mark;
    return node_with(g->pool, N_CONSTRUCT, SHAPE_ON_DO_0, 3, protected,
                     node_with(g->pool, N_CLASS, CLASS_ERROR, 0), block(g, "", 'i', 1));
}

/* A block that is to be left: from within a construct in it, or at once. */
static void add_leaving(Gen *g, Node *seq, Outcome outcome, int depth) {
    if (depth > 0 && g->budget > 0 && chance(g, 65)) {
        int position = below(g, POS_COUNT);
        if (position == POS_METHOD_END) position = POS_STATEMENT;
        Wanted wanted = {below(g, SHAPES_ALL), position, outcome};
        add_made(g, seq, wanted, depth);
    }
    node_append(g->pool, seq, leaving(g, outcome));
}

static Node *block(Gen *g, const char *params, char value, int depth) {
    int mark = g->visible_count, force = g->force;
    g->force = -1;
    Node *node = node_new(g->pool, N_BLOCK, 1);
    for (; *params; params++) {
        int var = fresh(g, *params, false);
        if (var >= 0) node->params[node->param_count++] = (int16_t)var;
    }
    Node *seq = node->kids[0] = node_new(g->pool, N_SEQ, 0);
    int count = depth <= 0 || g->budget <= 0 ? 0 : below(g, 3);
    while (count-- > 0) add_statement(g, seq, depth - 1);
    if (force > OUTCOME_NORMAL)
        add_leaving(g, seq, (Outcome)force, depth - 1);
    else
        add_value(g, seq, value, depth - 1);
    g->visible_count = mark;
    g->force = force;
    return node;
}

/* A write to something outside, first in its block. */
static void write_first(Gen *g, Node *in) {
    int var = pick_variable(g, 'i', true);
    if (var < 0) return;
    Node *seq = in->kids[0], *old = node_new(g->pool, N_SEQ, 0);
    Node *sum = node_with(g->pool, N_BIN, OP_ADD, 2, leaf(g, N_VAR, var), literal_int(g));
    Node *set = node_with(g->pool, N_SET_VAR, 0, 1, sum);
    set->value = (int16_t)var;
    node_append(g->pool, old, set);
    for (int i = 0; i < seq->kid_count; i++) node_append(g->pool, old, seq->kids[i]);
    in->kids[0] = old;
}

/* A block that is a value. Where nothing can bring an outer write back it mostly has none. */
typedef enum { TO_VARIABLE, TO_SELF, TO_OTHER } Destination;
static Node *closure(Gen *g, const char *params, Destination to, int depth) {
    int floor = g->write_floor, force = g->force;
    bool no_state = g->no_state_writes;
    bool actor = g->program->context == CTX_ACTOR;
    g->force = -1;
    bool writes = actor || chance(g, 6);
    if (!writes) g->write_floor = g->visible_count;
    if (actor && to != TO_SELF && !chance(g, 2)) g->no_state_writes = true;
    Node *node = block(g, params, 'i', depth < 3 ? depth : 3);
    if (writes && chance(g, 50)) write_first(g, node);
    g->write_floor = floor;
    g->no_state_writes = no_state;
    g->force = force;
    return node;
}

/* ---- constructs ---- */

static int counter(Gen *g) {
    int var = fresh(g, 'i', false);
    if (var < 0) return -1;
    Node *set = node_with(g->pool, N_SET_VAR, 0, 1, node_leaf(g->pool, N_INT, 0));
    set->value = (int16_t)var;
    declare_before(g, set);
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
    Node *node = block(g, "", 'b', depth);
    Node *seq = node_new(g->pool, N_SEQ, 0), *old = node->kids[0];
    node_append(g->pool, seq, step_counter(g, var));
    for (int i = 0; i + 1 < old->kid_count; i++) node_append(g->pool, seq, old->kids[i]);
    Node *k = node_leaf(g->pool, N_VAR, var), *limit = node_leaf(g->pool, N_INT, 1 + below(g, 3));
    Node *end = goes_on ? node_with(g->pool, N_BIN, OP_LESS, 2, k, limit)
                        : node_with(g->pool, N_BIN, OP_LESS, 2, limit, k);
    Node *last = old->kids[old->kid_count - 1];
    bool leaves = last->kind == N_RAISE || last->kind == N_RETURN;
    node_append(g->pool, seq, leaves ? last : end);
    node->kids[0] = seq;
    return node;
}

static Node *wrap_block(Gen *g, Node *statement_node) {
    Node *node = node_new(g->pool, N_BLOCK, 1);
    node->kids[0] = node_with(g->pool, N_SEQ, 0, 1, statement_node);
    return node;
}

/* [k := k + 1. (2 < k) ifTrue: [^k]. ...]: leaves sooner or later. */
static Node *repeat_body(Gen *g, int depth) {
    int var = counter(g);
    if (var < 0) return NULL;
    Outcome outcome = g->force > 0 ? (Outcome)g->force : chance(g, 50) ? OUTCOME_RAISED : OUTCOME_LEFT;
    int force = g->force;
    g->force = -1;
    Node *node = block(g, "", 'i', depth);
    g->force = force;
    Node *late = node_with(g->pool, N_BIN, OP_LESS, 2, small(g), node_leaf(g->pool, N_VAR, var));
    Node *leave = node_with(g->pool, N_CONSTRUCT, SHAPE_IF_TRUE, 2, late, wrap_block(g, leaving(g, outcome)));
    Node *seq = node_with(g->pool, N_SEQ, 0, 2, step_counter(g, var), leave);
    Node *old = node->kids[0];
    for (int i = 0; i < old->kid_count; i++) node_append(g->pool, seq, old->kids[i]);
    node->kids[0] = seq;
    return node;
}

/* How often a sort block runs is not ours to say, so what it does must be the same once and often. */
static Node *sort_block(Gen *g) {
    Node *node = node_new(g->pool, N_BLOCK, 1);
    int a = fresh(g, 'i', false), b = fresh(g, 'i', false);
    if (b < 0) return NULL;
    node->param_count = 2;
    node->params[0] = (int16_t)a;
    node->params[1] = (int16_t)b;
    Node *seq = node->kids[0] = node_new(g->pool, N_SEQ, 0);
    int var = pick_variable(g, 'i', true);
    if (var >= 0 && chance(g, 70)) {
        Node *set = node_with(g->pool, N_SET_VAR, 0, 1, literal_int(g));
        set->value = (int16_t)var;
        node_append(g->pool, seq, set);
    }
    Node *order = node_with(g->pool, N_BIN, OP_LESS_EQUAL, 2, node_leaf(g->pool, N_VAR, a),
                            node_leaf(g->pool, N_VAR, b));
    node_append(g->pool, seq, g->force > 0 ? leaving(g, (Outcome)g->force) : order);
    g->visible_count -= 2;
    return node;
}

static Node *error_class(Gen *g) {
    int which = chance(g, 60) ? CLASS_ERROR : below(g, CLASS_NIL + 1);
    return node_with(g->pool, N_CLASS, which, 0);
}

/* The handler of an error that was forced does its own thing. */
static Node *handler(Gen *g, const char *params, int depth) {
    int force = g->force;
    g->force = -1;
    Node *node = block(g, params, 'i', depth);
    if (node->param_count && chance(g, 15))
        node->kids[0]->kids[node->kids[0]->kid_count - 1] =
            node_with(g->pool, chance(g, 60) ? N_ERROR_KIND : N_RERAISE, 0, 1,
                      node_leaf(g->pool, N_VAR, node->params[0]));
    g->force = force;
    return node;
}

/* The receiver that makes the construct under way run the block that is to be left. */
static Node *decisive(Gen *g, int shape) {
    switch (shape) {
    case SHAPE_IF_FALSE:
    case SHAPE_OR: return leaf(g, N_BOOL, 0);
    case SHAPE_IF_NIL: return leaf(g, N_NIL, 0);
    case SHAPE_IF_NOT_NIL:
    case SHAPE_IF_NOT_NIL_0: return literal_int(g);
    case SHAPE_IF_NIL_NOT_NIL:
    case SHAPE_IF_NOT_NIL_NIL: return chance(g, 50) ? leaf(g, N_NIL, 0) : literal_int(g);
    case SHAPE_IF_TRUE_FALSE: return leaf(g, N_BOOL, below(g, 2));
    default: return leaf(g, N_BOOL, 1);
    }
}

static Node *construct_kid(Gen *g, int shape, char what, int depth) {
    switch (what) {
    case 'i': return gen(g, 'i', depth);
    case 'b': return g->force > 0 ? decisive(g, shape) : gen(g, 'b', depth);
    case 's':
        return chance(g, 80) ? leaf(g, N_INT, g->force > 0 ? 2 : below(g, 4))
                             : gen(g, 'l', depth > 1 ? 1 : 0);
    case 'k': return leaf(g, N_INT, 1 + below(g, 2));
    case 'm':
        if (g->force > 0) return decisive(g, shape);
        return chance(g, 40) ? leaf(g, N_NIL, 0) : gen(g, chance(g, 30) ? '?' : 'i', depth);
    case 'l': return gen(g, 'l', depth);
    case 'd': return gen(g, 'd', depth);
    case 'y': return leaf(g, N_SYM, g->force > 0 ? 1 : below(g, 2));
    case 'F': return error_class(g);
    case 'R': return node_with(g->pool, N_CLASS, chance(g, 85) ? CLASS_RESULT : CLASS_TRIER, 0);
    case '0': return block(g, "", 'i', depth);
    case '1': return block(g, "i", 'i', depth);
    case '2': return block(g, "ii", 'i', depth);
    case '3': return block(g, "iii", 'i', depth);
    case 'K': return block(g, "?i", 'i', depth);
    case 'B': return block(g, "", 'b', depth);
    case 'P': return block(g, "i", 'b', depth);
    case 'L': return block(g, "i", 'l', depth);
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
    node_append(g->pool, node, gen(g, 'i', depth));
    int arms = 2 + below(g, 2);
    for (int i = 0; i < arms; i++) {
        Node *arm = gen(g, 'i', depth);
        if (force > 0) {
            g->force = force;
            arm = construct(g, SHAPE_VALUE_0, depth);
            g->force = -1;
        } else if (chance(g, 40)) {
            int var = pick_variable(g, 'i', true);
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

/* A construct; blocks of most write something outside. NULL: out of variables. */
static Node *construct(Gen *g, int shape, int depth) {
    g->budget -= 2;
    if (shape == SHAPE_MATCH) return match_node(g, depth - 1);
    const char *kids = SHAPES[shape].kids;
    Node *node = node_new(g->pool, N_CONSTRUCT, 0);
    node->op = (uint8_t)shape;
    for (; *kids; kids++) {
        Node *kid = construct_kid(g, shape, *kids, depth - 1);
        if (!kid) return leaf(g, N_INT, 1);
        kid = fix_count(g, kid, *kids);
        if (kid->kind == N_BLOCK && *kids != 'S' && chance(g, 55)) write_first(g, kid);
        node_append(g->pool, node, kid);
    }
    return node;
}

/* REPEAT is left in one way or the other only: rarer, so that programs go on. */
static int any_shape(Gen *g) {
    int shape = below(g, SHAPES_ALL);
    return shape == SHAPE_REPEAT && chance(g, 60) ? SHAPE_ON_DO : shape;
}

static char shape_result(int shape) { return shape == SHAPE_MATCH ? 'i' : SHAPES[shape].result; }

/* ---- positions ---- */

static Node *set_variable(Gen *g, int var, Node *value) {
    Node *node = node_with(g->pool, N_SET_VAR, 0, 1, value);
    node->value = (int16_t)var;
    return node;
}

static Node *set_state(Gen *g, int state, Node *value) {
    Node *node = node_with(g->pool, N_SET_STATE, 0, 1, value);
    node->value = (int16_t)state;
    return node;
}

static Node *pair(Gen *g, NodeKind kind, int op, Node *a, Node *b) {
    return node_with(g->pool, kind, op, 2, a, b);
}

static Node *block_around(Gen *g, Node *last) {
    Node *node = wrap_block(g, last);
    return node;
}

/* An operand beside the construct under way. */
static Node *beside(Gen *g) { return chance(g, 60) ? integer_leaf(g) : gen(g, 'i', 1); }

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
        return node_with(g->pool, N_CONSTRUCT, SHAPE_IF_TRUE_FALSE, 3, e, block(g, "", 'i', 1),
                         block(g, "", 'i', 1));
    if (kind == 'n' || kind == '?')
        return node_with(g->pool, N_CONSTRUCT, SHAPE_IF_NIL_NOT_NIL, 3, e, block(g, "", 'i', 1),
                         block(g, "?", 'i', 1));
    if (kind == 'l' && chance(g, 70))
        return node_with(g->pool, N_CONSTRUCT, SHAPE_INJECT, 3, e, beside(g), block(g, "ii", 'i', 1));
    if (kind == 'd' && chance(g, 70)) {
        *now = 'n';
        return node_with(g->pool, N_CONSTRUCT, SHAPE_DO_WITH_KEY, 2, e, block(g, "??", 'i', 1));
    }
    return node_with(g->pool, N_CONSTRUCT, SHAPE_VALUE_1, 2, block(g, kind == 'i' ? "i" : "?", 'i', 1), e);
}

/* Puts e, whose value is of `kind`, into a position; *now is the kind of what comes of it. */
static Node *place(Gen *g, Position position, Node *e, char kind, char *now) {
    *now = kind;
    switch (position) {
    case POS_LEFT:
    case POS_RIGHT: {
        bool left = position == POS_LEFT;
        int op = kind == 'i' ? (chance(g, 70) ? OP_ADD : OP_SUB) : kind == 'l' ? OP_CONCAT : OP_SAME;
        if (op == OP_SAME) *now = 'b';
        Node *other = kind == 'l' ? node_with(g->pool, N_LIST, 0, 1, beside(g)) : beside(g);
        if (!left && other->kind == N_VAR) other = literal_int(g);
        return left ? pair(g, N_BIN, op, e, other) : pair(g, N_BIN, op, other, e);
    }
    case POS_RIGHT_OF_VAR: {
        int var = pick_variable(g, 'i', false);
        if (var < 0) return e;
        if (kind != 'i') *now = 'b';
        return pair(g, N_BIN, kind == 'i' ? OP_ADD : OP_SAME, leaf(g, N_VAR, var), e);
    }
    case POS_RECEIVER: return in_receiver(g, e, kind, now);
    case POS_KEY_RECEIVER:
        if (kind == 'i' && chance(g, 70)) return pair(g, N_KEYED, 0, e, beside(g));
        *now = 'b';
        return node_with(g->pool, N_KEYED, 0, 1, e);
    case POS_ARGUMENT: *now = kind == 'i' ? 'i' : '?'; return pair(g, N_KEYED, 0, beside(g), e);
    case POS_TWO_ARGUMENTS:
        *now = 'b';
        if (chance(g, 50)) return node_with(g->pool, N_BETWEEN, 0, 3, beside(g), e, beside(g));
        return node_with(g->pool, N_BETWEEN, 0, 3, beside(g), beside(g), e);
    case POS_ELEMENT:
        *now = 'x';
        return chance(g, 50) ? pair(g, N_LIST, 0, e, beside(g))
                             : node_with(g->pool, N_LIST, 0, 3, beside(g), e, beside(g));
    case POS_DICT_VALUE:
        *now = 'd';
        return chance(g, 50) ? pair(g, N_DICT, 0, beside(g), e) : pair(g, N_DICT, 0, e, beside(g));
    case POS_INTERPOLATED: *now = 't'; return node_with(g->pool, N_INTERP, 0, 3, beside(g), e, beside(g));
    case POS_CASCADED:
        *now = kind == 'i' ? 'i' : '?';
        return node_with(g->pool, N_CASCADE, 0, 3, beside(g), beside(g), e);
    case POS_OPERAND: return as_operand(g, e, kind, now);
    case POS_SENT:
        *now = 'i';
        if (!in_methods(g)) return node_with(g->pool, N_SEND, HELPER_HOP_PUT, 1, e);
        if (kind == 'i' && has_state(g)) return node_with(g->pool, N_SEND, HELPER_PUT, 1, e);
        return node_with(g->pool, N_SEND, HELPER_APPLY_WITH, 2,
                         closure(g, kind == 'i' ? "i" : "?", TO_SELF, 1), e);
    case POS_ARM:
        *now = '?';
        return node_with(g->pool, N_MATCH, 0, 3, leaf(g, N_INT, chance(g, 85) ? 1 : 2), e, beside(g));
    case POS_BLOCK_END:
        *now = '?';
        if (chance(g, 50)) {
            if (kind == 'i') *now = 'i';
            return node_with(g->pool, N_CONSTRUCT, SHAPE_VALUE_0, 1, block_around(g, e));
        }
        return node_with(g->pool, N_CONSTRUCT, SHAPE_IF_TRUE, 2, leaf(g, N_BOOL, 1), block_around(g, e));
    default: return e;
    }
}

/* A statement with a construct in that position. */
static Node *placed(Gen *g, int shape, Position position, int depth) {
    Node *e = construct(g, shape, depth);
    char kind = shape_result(shape);
    int force = g->force;
    g->force = -1;
    char now = kind;
    e = place(g, position, e, kind, &now);
    g->force = force;
    switch (position) {
    case POS_STATEMENT:
    case POS_METHOD_END: return e;
    case POS_RETURNED: return node_with(g->pool, N_RETURN, 0, 1, e);
    case POS_STATE_WRITE:
        if (has_state(g) && !g->no_state_writes) return set_state(g, kind == 'i' ? 0 : 1, e);
        break;
    default: break;
    }
    int var = now == 'i' ? pick_variable(g, 'i', true) : pick_variable(g, '?', true);
    if (var >= 0) return set_variable(g, var, e);
    var = fresh(g, now == 'i' ? 'i' : '?', true);
    return var >= 0 ? set_variable(g, var, e) : e;
}

/* ---- expressions ---- */

static Node *convert(Gen *g, Node *node, char from, char to) {
    if (from == to || from == 'x' || from == 't') return node;
    if (to == '?') return node;
    if (to == 'i') {
        if (from == 'l' || from == 'd') return node_with(g->pool, N_UNARY, UN_SIZE, 1, node);
        if (from == 'r') return node_with(g->pool, N_UNARY, UN_VALUE_OR, 1, node);
        Node *test = from == 'b' ? node : node_with(g->pool, N_UNARY, UN_IS_NIL, 1, node);
        return node_with(g->pool, N_CONSTRUCT, SHAPE_IF_TRUE_FALSE, 3, test, block(g, "", 'i', 0),
                         block(g, "", 'i', 0));
    }
    if (to == 'b') {
        if (from == 'i') return pair(g, N_BIN, OP_LESS, node, literal_int(g));
        if (from == 'r') return node_with(g->pool, N_UNARY, UN_IS_ERROR, 1, node);
        return node_with(g->pool, N_UNARY, UN_IS_NIL, 1, node);
    }
    return node;
}

static int shape_of_kind(Gen *g, char kind) {
    for (int tries = 0; tries < 40; tries++) {
        int shape = below(g, SHAPES_ALL);
        if (shape_result(shape) == kind && shape != SHAPE_REPEAT) return shape;
    }
    return -1;
}

static Node *helper_send(Gen *g, int depth) {
    for (int tries = 0; tries < 20; tries++) {
        int helper = below(g, HELPER_COUNT);
        const Helper *h = &HELPERS[helper];
        if (!(h->contexts >> g->program->context & 1)) continue;
        if (g->no_state_writes && (helper == HELPER_PUT || helper == HELPER_FAIL)) continue;
        Node *node = node_new(g->pool, N_SEND, 0);
        node->op = (uint8_t)helper;
        Destination to = h->text[0] == 's' ? TO_SELF : TO_OTHER;
        for (const char *k = h->kids; *k; k++) {
            int bound = *k == '0' || *k == '1' ? pick_variable(g, *k == '0' ? 'B' : 'C', false) : -1;
            Node *kid = bound >= 0 && chance(g, 35) ? leaf(g, N_VAR, bound)
                        : *k == '0'                 ? closure(g, "", to, depth - 1)
                        : *k == '1'                 ? closure(g, "i", to, depth - 1)
                                                    : gen(g, *k, depth - 1);
            node_append(g->pool, node, kid);
        }
        return node;
    }
    return literal_int(g);
}

static Node *send_to_method(Gen *g, int index, int depth) {
    const Method *m = &g->program->methods[index];
    Node *node = leaf(g, N_METHOD, index);
    for (int i = 0; i < m->param_count; i++) {
        bool takes_block = i == 0 && g->method_takes_block[index];
        int bound = takes_block ? pick_variable(g, 'B', false) : -1;
        node_append(g->pool, node,
                    bound >= 0 && chance(g, 40) ? leaf(g, N_VAR, bound)
                    : takes_block               ? closure(g, "", TO_SELF, depth - 1)
                                                : gen(g, 'i', depth - 1));
    }
    return node;
}

static Node *method_send(Gen *g, int depth) {
    if (!in_methods(g) || g->method + 1 >= PROG_METHODS) return NULL;
    int index = g->method + 1 + below(g, PROG_METHODS - g->method - 1);
    return g->program->methods[index].body ? send_to_method(g, index, depth) : NULL;
}

static Node *block_call(Gen *g, int depth) {
    int var = pick_variable(g, chance(g, 50) ? 'B' : 'C', false);
    if (var < 0) return NULL;
    char kind = 'B';
    for (int i = 0; i < g->visible_count; i++)
        if (g->visible[i].var == var) kind = g->visible[i].kind;
    Node *node = node_with(g->pool, N_CALL, 0, 1, leaf(g, N_VAR, var));
    if (kind == 'C') node_append(g->pool, node, gen(g, 'i', depth - 1));
    return node;
}

static Node *integer(Gen *g, int depth) {
    int which = below(g, 100);
    Node *made = NULL;
    if (which < 22)
        return pair(g, N_BIN, chance(g, 60) ? OP_ADD : OP_SUB, gen(g, 'i', depth - 1),
                    gen(g, 'i', depth - 1));
    if (which < 62) {
        int shape = below(g, SHAPES_ALL), position = below(g, POS_COUNT);
        if (shape == SHAPE_REPEAT && chance(g, 85)) shape = SHAPE_IF_TRUE_FALSE;
        char kind = shape_result(shape), now;
        Node *e = construct(g, shape, depth);
        e = place(g, (Position)position, e, kind, &now);
        if (now == 'x') return convert(g, e, 'l', 'i');
        if (now == 't') return node_with(g->pool, N_UNARY, UN_SIZE, 1, e);
        return chance(g, 97) ? convert(g, e, now, 'i') : e;
    }
    if (which < 74) made = helper_send(g, depth);
    if (which >= 74 && which < 80) made = method_send(g, depth);
    if (which >= 80 && which < 87) made = block_call(g, depth);
    if (which >= 87 && which < 91) {
        int var = pick_variable(g, 'i', true);
        if (var >= 0) made = set_variable(g, var, gen(g, 'i', depth - 1));
    }
    if (which >= 91 && which < 93 && has_state(g) && !g->no_state_writes)
        made = set_state(g, 0, gen(g, 'i', depth - 1));
    return made ? made : integer_leaf(g);
}

static Node *boolean(Gen *g, int depth) {
    int which = below(g, 100), shape;
    if (which < 45)
        return pair(g, N_BIN, chance(g, 60) ? OP_LESS : OP_SAME, gen(g, 'i', depth - 1),
                    gen(g, 'i', depth - 1));
    if (which < 60 && (shape = shape_of_kind(g, 'b')) >= 0) return construct(g, shape, depth);
    if (which < 70)
        return node_with(g->pool, N_BETWEEN, 0, 3, integer_leaf(g), gen(g, 'i', depth - 1), integer_leaf(g));
    if (which < 80) return node_with(g->pool, N_UNARY, UN_IS_NIL, 1, gen(g, '?', depth - 1));
    if (which < 90) return node_with(g->pool, N_UNARY, UN_NOT, 1, gen(g, 'b', depth - 1));
    return leaf(g, N_BOOL, below(g, 2));
}

static Node *list(Gen *g, int depth) {
    int shape;
    if (depth > 0 && g->budget > 0 && g->force <= 0 && chance(g, 25) && (shape = shape_of_kind(g, 'l')) >= 0)
        return construct(g, shape, depth);
    Node *node = node_new(g->pool, N_LIST, 0);
    int count = g->force > 0 ? 2 : chance(g, 10) ? 0 : 1 + below(g, 3);
    while (count-- > 0) node_append(g->pool, node, chance(g, 75) ? literal_int(g) : gen(g, 'i', depth - 1));
    return node;
}

static Node *anything(Gen *g, int depth) {
    int var = chance(g, 40) ? pick_variable(g, '?', false) : -1;
    if (var >= 0) return leaf(g, N_VAR, var);
    int shape = chance(g, 50) ? shape_of_kind(g, '?') : shape_of_kind(g, 'n');
    return shape >= 0 ? construct(g, shape, depth) : leaf(g, N_NIL, 0);
}

static Node *gen(Gen *g, char kind, int depth) {
    int force = g->force;
    g->force = -1;
    bool small_left = depth <= 0 || g->budget <= 0;
    Node *node;
    switch (kind) {
    case 'b':
        node = small_left ? pair(g, N_BIN, OP_LESS, integer_leaf(g), literal_int(g)) : boolean(g, depth);
        break;
    case 'l':
        g->force = force;
        node = list(g, depth);
        break;
    case 'd': {
        node = node_with(g->pool, N_DICT, 0, 1, gen(g, 'i', depth - 1));
        if (chance(g, force > 0 ? 10 : 50)) node_append(g->pool, node, gen(g, 'i', depth - 1));
        break;
    }
    case '?': node = small_left ? leaf(g, N_NIL, 0) : anything(g, depth); break;
    default: node = small_left ? integer_leaf(g) : integer(g, depth); break;
    }
    g->force = force;
    return node;
}

/* ---- statements ---- */

static Node *guarded(Gen *g, Outcome outcome, int depth) {
    Node *test = gen(g, 'b', depth - 1);
    return node_with(g->pool, N_CONSTRUCT, chance(g, 50) ? SHAPE_IF_TRUE : SHAPE_IF_FALSE, 2, test,
                     wrap_block(g, leaving(g, outcome)));
}

static Node *bind_closure(Gen *g, int depth) {
    bool one = chance(g, 35);
    Node *made = closure(g, one ? "i" : "", TO_VARIABLE, depth - 1);
    int var = fresh(g, one ? 'C' : 'B', false);
    return var >= 0 ? set_variable(g, var, made) : raise_node(g);
}

static Node *statement(Gen *g, int depth) {
    int which = below(g, 100), var;
    Node *made = NULL;
    if (depth <= 0 || g->budget <= 0) which = which % 26;
    if (which < 16) {
        var = pick_variable(g, 'i', true);
        if (var >= 0) made = set_variable(g, var, gen(g, 'i', depth - 1));
    } else if (which < 23) {
        if (has_state(g) && !g->no_state_writes) made = set_state(g, 0, gen(g, 'i', depth - 1));
    } else if (which < 26) {
        Node *value = gen(g, 'i', depth - 1);
        var = fresh(g, 'i', true);
        if (var >= 0) made = set_variable(g, var, value);
    } else if (which < 66) {
        int shape = below(g, SHAPES_ALL), position = below(g, POS_COUNT);
        if (position == POS_RETURNED || position == POS_METHOD_END) position = POS_STATEMENT;
        if (shape == SHAPE_REPEAT && chance(g, 70)) shape = SHAPE_ON_DO;
        made = placed(g, shape, (Position)position, depth);
    } else if (which < 71) {
        made = guarded(g, OUTCOME_RAISED, depth);
    } else if (which < 74) {
        made = guarded(g, OUTCOME_LEFT, depth);
    } else if (which < 75) {
        made = raise_node(g);
    } else if (which < 86) {
        made = bind_closure(g, depth);
    } else if (which < 92) {
        made = block_call(g, depth);
    } else if (which < 97) {
        made = helper_send(g, depth);
    } else {
        made = method_send(g, depth);
    }
    return made ? made : integer_leaf(g);
}

/* ---- methods and programs ---- */

static void begin_method(Gen *g, int index, int budget) {
    g->method = index;
    g->budget = budget;
    g->visible_count = g->var_count = 0;
    g->write_floor = 0;
    g->no_state_writes = false;
}

static void add_initial(Gen *g, Node *seq) {
    for (int i = 0; i < PROG_INITIAL; i++) {
        int var = fresh(g, 'i', true);
        node_append(g->pool, seq, set_variable(g, var, node_leaf(g->pool, N_INT, i + 1)));
    }
}

static void end_method(Gen *g) {
    if (g->var_count > g->program->var_count) g->program->var_count = g->var_count;
}

/* A method of one focus, reached for certain, and some more. */
static void callee(Gen *g, int index, Focus focus) {
    Method *m = &g->program->methods[index];
    begin_method(g, index, 8 + below(g, 12));
    m->param_count = 1 + below(g, 2);
    g->method_takes_block[index] = chance(g, 40);
    for (int i = 0; i < m->param_count; i++)
        m->params[i] = (int16_t)fresh(g, i == 0 && g->method_takes_block[index] ? 'B' : 'i', false);
    Node *seq = node_new(g->pool, N_SEQ, 0);
    int var = fresh(g, 'i', true);
    node_append(g->pool, seq, set_variable(g, var, literal_int(g)));
    if (chance(g, 15)) add_statement(g, seq, 2);
    add_made(g, seq, (Wanted){focus.shape, focus.position, focus.outcome}, 3);
    if (focus.position != POS_METHOD_END && focus.position != POS_RETURNED) {
        if (chance(g, 30)) add_statement(g, seq, 3);
        Wanted last = {any_shape(g), chance(g, 60) ? POS_METHOD_END : POS_RETURNED, below(g, OUTCOME_COUNT)};
        chance(g, 60) ? add_made(g, seq, last, 2) : add_value(g, seq, 'i', 2);
    }
    m->body = seq;
    end_method(g);
}

static void add_focus(Gen *g, Node *seq, Focus focus) {
    if (focus.shape < 0) return;
    add_made(g, seq, (Wanted){focus.shape, focus.position, focus.outcome}, 4);
}

/* Constructs that are left by an error or end well, wherever; then the program goes on. */
static void add_guarded(Gen *g, Node *seq) {
    int position = below(g, POS_COUNT);
    if (position == POS_METHOD_END || position == POS_RETURNED) position = POS_STATEMENT;
    Wanted wanted = {any_shape(g), position, chance(g, 70) ? OUTCOME_RAISED : OUTCOME_NORMAL};
    append_made(g, seq, make_guarded, &wanted, 4);
}

/* A call of a method of the program, mostly where an error of it is caught. */
static Node *make_method_send(Gen *g, const void *what, int depth) {
    Node *send = send_to_method(g, *(const int *)what, depth);
    if (chance(g, 97))
        send = node_with(g->pool, N_CONSTRUCT, SHAPE_ON_DO_0, 3, wrap_block(g, send),
                         node_with(g->pool, N_CLASS, CLASS_ERROR, 0), block(g, "", 'i', 0));
    int var = fresh(g, '?', true);
    return var >= 0 ? set_variable(g, var, send) : send;
}

/* What is visible at the end, in a List: most of a program's answer. */
static Node *summary(Gen *g) {
    Node *node = node_new(g->pool, N_LIST, 0);
    for (int i = 0; i < g->visible_count && node->kid_count < 10; i++)
        if (g->visible[i].kind == 'i' || g->visible[i].kind == '?')
            node_append(g->pool, node, leaf(g, N_VAR, g->visible[i].var));
    return node;
}

static void entry(Gen *g, Focus focus) {
    Node *seq = node_new(g->pool, N_SEQ, 0);
    begin_method(g, 0, 30 + below(g, 90));
    add_initial(g, seq);
    int count = 1 + below(g, 4);
    for (int i = 1; i < PROG_METHODS; i++)
        if (g->program->methods[i].body) append_made(g, seq, make_method_send, &i, chance(g, 80) ? 0 : 2);
    for (int i = 1 + below(g, 4); i > 0; i--) {
        g->budget = g->budget > 12 ? g->budget : 12;
        add_guarded(g, seq);
    }
    g->budget = g->budget > 20 ? g->budget : 20;
    if (focus.position != POS_METHOD_END) add_focus(g, seq, focus);
    while (count-- > 0) add_statement(g, seq, 2 + below(g, 5));
    if (focus.position == POS_METHOD_END && focus.shape >= 0) {
        focus.position = POS_STATEMENT;
        add_focus(g, seq, focus);
    } else if (chance(g, 88)) {
        node_append(g->pool, seq, summary(g));
    } else {
        add_value(g, seq, 'i', 3);
    }
    g->program->methods[0].body = seq;
    end_method(g);
}

enum { CELLS = SHAPES_ALL * POS_COUNT * OUTCOME_COUNT };

static Focus focus_of_cell(uint64_t cell) {
    Focus focus = {
        .context = -1, .shape = (int)(cell % SHAPES_ALL), .position = (int)(cell / SHAPES_ALL % POS_COUNT)};
    focus.outcome = (int)(cell / SHAPES_ALL / POS_COUNT % OUTCOME_COUNT);
    return focus;
}

static Program program_new(Gen *g, Pool *pool, uint64_t seed, Focus focus) {
    Program program = {.pool = pool};
    *g = (Gen){.pool = pool, .random = seed, .force = -1};
    program.context = focus.context >= 0 ? (Context)focus.context : (Context)below(g, CTX_COUNT);
    return program;
}

Program generate(Pool *pool, uint64_t seed, Focus focus) {
    Gen g;
    Program program = program_new(&g, pool, seed, focus);
    g.program = &program;
    if (in_methods(&g))
        for (int i = PROG_METHODS - 1; i > 0; i--)
            if (chance(&g, 60)) callee(&g, i, focus_of_cell(next(&g) % CELLS));
    entry(&g, focus);
    return program;
}

/* The constructs x positions x outcomes come up in turn, one a method, in the contexts that have such. */
Program generate_indexed(Pool *pool, uint64_t seed, uint64_t index) {
    uint64_t cell = index * PROG_METHODS * 1009 % CELLS; /* 1009: neighbours differ in everything */
    Focus focus = focus_of_cell(cell);
    /* Every cell in every context; fewer scripts, they have no methods. */
    focus.context = (int)((index + index / (CELLS / PROG_METHODS)) % 7 / 2);
    Gen g;
    Program program = program_new(&g, pool, seed * UINT64_C(1000003) + index, focus);
    g.program = &program;
    for (int i = PROG_METHODS - 1; in_methods(&g) && i > 0; i--) {
        Focus own = focus_of_cell((cell + (uint64_t)i * 1009) % CELLS);
        if (own.position == POS_STATE_WRITE && !has_state(&g)) own.position = POS_RETURNED;
        if (own.position == POS_ASSIGNED && has_state(&g) && chance(&g, 40))
            own.position = POS_STATE_WRITE; /* assigned are many anyway */
        callee(&g, i, own);
    }
    entry(&g, focus);
    return program;
}

Program generate_cell(Pool *pool, uint64_t seed, Focus cell) {
    Gen g;
    Program program = program_new(&g, pool, seed, cell);
    g.program = &program;
    begin_method(&g, 0, 10);
    Node *seq = node_new(pool, N_SEQ, 0);
    add_initial(&g, seq);
    if (cell.position == POS_STATE_WRITE && !has_state(&g)) return program;
    add_made(&g, seq, (Wanted){cell.shape, cell.position, cell.outcome}, 2);
    if (cell.position != POS_METHOD_END) node_append(pool, seq, summary(&g));
    program.methods[0].body = seq;
    end_method(&g);
    return program;
}
