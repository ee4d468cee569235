/* The generator. Expressions are made to a wanted kind (integer, boolean, List, ..), so most programs get
 * far; now and then one is of another kind on purpose. Every construct is then put into one of the positions.
 */
#include "generate_internal.h"

static void begin_method(Gen *g, int index, int budget) {
    g->method = index;
    g->called = g->written = -1;
    g->budget = budget;
    g->visible_count = g->var_count = 0;
    g->write_floor = 0;
    g->no_state_writes = false;
}

static void add_initial(Gen *g, Node *seq) {
    for (int i = 0; i < PROG_INITIAL; i++) {
        int var = gen_fresh(g, 'i', true);
        node_append(g->pool, seq, gen_set_variable(g, var, node_leaf(g->pool, N_INT, i + 1)));
    }
}

static void end_method(Gen *g) {
    if (g->var_count > g->program->var_count) g->program->var_count = g->var_count;
}

/* b := [v := ..]. #(..) collect: [:x | b value. v] */
static void add_watched_call(Gen *g, Node *seq) {
    Node *made = gen_closure(g, "", TO_VARIABLE, 1);
    gen_write_first(g, made);
    int written = g->written, var = gen_fresh(g, 'B', false);
    if (var < 0 || written < 0) return;
    node_append(g->pool, seq, gen_set_variable(g, var, made));
    g->called = var;
    g->written = written;
    Node *watched = gen_watch_call(g);
    if (watched) node_append(g->pool, seq, watched);
}

/* A method of one focus, reached for certain, and some more. */
static void callee(Gen *g, int index, Focus focus) {
    Method *m = &g->program->methods[index];
    begin_method(g, index, 8 + gen_below(g, 12));
    m->param_count = 1 + gen_below(g, 2);
    g->method_takes_block[index] = gen_chance(g, 40);
    for (int i = 0; i < m->param_count; i++)
        m->params[i] = (int16_t)gen_fresh(g, i == 0 && g->method_takes_block[index] ? 'B' : 'i', false);
    Node *seq = node_new(g->pool, N_SEQ, 0);
    int var = gen_fresh(g, 'i', true);
    node_append(g->pool, seq, gen_set_variable(g, var, gen_literal_int(g)));
    if (gen_chance(g, 15)) gen_add_statement(g, seq, 2);
    gen_add_made(g, seq, (Wanted){focus.shape, focus.position, focus.outcome}, 3);
    if (focus.position != POS_METHOD_END && focus.position != POS_RETURNED) {
        if (gen_chance(g, 30)) gen_add_statement(g, seq, 3);
        Wanted last = {gen_any_shape(g), gen_chance(g, 60) ? POS_METHOD_END : POS_RETURNED,
                       gen_below(g, OUTCOME_COUNT)};
        gen_chance(g, 60) ? gen_add_made(g, seq, last, 2) : gen_add_value(g, seq, 'i', 2);
        if (g->program->context == CTX_ACTOR && gen_chance(g, 12)) add_watched_call(g, seq);
    }
    m->body = seq;
    end_method(g);
}

static void add_focus(Gen *g, Node *seq, Focus focus) {
    if (focus.shape < 0) return;
    gen_add_made(g, seq, (Wanted){focus.shape, focus.position, focus.outcome}, 4);
}

/* The same where a raise is caught, so that the program goes on. */
static Node *make_guarded(Gen *g, const void *what, int depth) {
    Node *body = node_new(g->pool, N_SEQ, 0);
    int mark = g->visible_count;
    gen_append_made(g, body, gen_make_wanted, what, depth);
    node_append(g->pool, body, gen_integer_leaf(g));
    Node *protected = node_with(g->pool, N_BLOCK, 0, 1, body);
    g->visible_count = mark;
    return node_with(g->pool, N_CONSTRUCT, SHAPE_ON_DO_0, 3, protected,
                     node_with(g->pool, N_CLASS, CLASS_ERROR, 0), gen_block(g, "", 'i', 1));
}

/* Constructs that are left by an error or end well, wherever; then the program goes on. */
static void add_guarded(Gen *g, Node *seq) {
    int position = gen_below(g, POS_COUNT);
    if (position == POS_METHOD_END || position == POS_RETURNED) position = POS_STATEMENT;
    Wanted wanted = {gen_any_shape(g), position, gen_chance(g, 70) ? OUTCOME_RAISED : OUTCOME_NORMAL};
    gen_append_made(g, seq, make_guarded, &wanted, 4);
}

/* A call of a method of the program, mostly where an error of it is caught. */
static Node *make_method_send(Gen *g, const void *what, int depth) {
    Node *send = gen_send_to_method(g, *(const int *)what, depth);
    if (gen_chance(g, 97))
        send = node_with(g->pool, N_CONSTRUCT, SHAPE_ON_DO_0, 3, gen_wrap_block(g, send),
                         node_with(g->pool, N_CLASS, CLASS_ERROR, 0), gen_block(g, "", 'i', 0));
    int var = gen_fresh(g, '?', true);
    return var >= 0 ? gen_set_variable(g, var, send) : send;
}

/* What is visible at the end, in a List: most of a program's answer. */
static Node *summary(Gen *g) {
    Node *node = node_new(g->pool, N_LIST, 0);
    for (int i = 0; i < g->visible_count && node->kid_count < 10; i++)
        if (g->visible[i].kind == 'i' || g->visible[i].kind == '?')
            node_append(g->pool, node, gen_leaf(g, N_VAR, g->visible[i].var));
    return node;
}

static void entry(Gen *g, Focus focus) {
    Node *seq = node_new(g->pool, N_SEQ, 0);
    begin_method(g, 0, 30 + gen_below(g, 90));
    add_initial(g, seq);
    int count = 1 + gen_below(g, 4);
    for (int i = 1; i < PROG_METHODS; i++)
        if (g->program->methods[i].body)
            gen_append_made(g, seq, make_method_send, &i, gen_chance(g, 80) ? 0 : 2);
    for (int i = 1 + gen_below(g, 4); i > 0; i--) {
        g->budget = g->budget > 12 ? g->budget : 12;
        add_guarded(g, seq);
    }
    g->budget = g->budget > 20 ? g->budget : 20;
    if (focus.position != POS_METHOD_END) add_focus(g, seq, focus);
    while (count-- > 0) gen_add_statement(g, seq, 2 + gen_below(g, 5));
    if (focus.position == POS_METHOD_END && focus.shape >= 0) {
        focus.position = POS_STATEMENT;
        add_focus(g, seq, focus);
    } else if (gen_chance(g, 88)) {
        node_append(g->pool, seq, summary(g));
    } else {
        gen_add_value(g, seq, 'i', 3);
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
    program.context = focus.context >= 0 ? (Context)focus.context : (Context)gen_below(g, CTX_COUNT);
    return program;
}

Program generate(Pool *pool, uint64_t seed, Focus focus) {
    Gen g;
    Program program = program_new(&g, pool, seed, focus);
    g.program = &program;
    if (gen_in_methods(&g))
        for (int i = PROG_METHODS - 1; i > 0; i--)
            if (gen_chance(&g, 60)) callee(&g, i, focus_of_cell(gen_next(&g) % CELLS));
    entry(&g, focus);
    return program;
}

/* The constructs x positions x outcomes come up in turn, one a method, in the contexts that have such. */
Program generate_indexed(Pool *pool, uint64_t seed, uint64_t index) {
    uint64_t round =
        index / (CELLS / PROG_METHODS); /* each has every cell once, in another method than the last */
    uint64_t cell = (index * PROG_METHODS + round) * 1009 % CELLS; /* neighbours differ in everything */
    Focus focus = focus_of_cell(cell);
    /* Every cell in every context; fewer scripts, they have no methods. */
    focus.context = (int)((index + round) % 7 / 2);
    Gen g;
    Program program = program_new(&g, pool, seed * UINT64_C(1000003) + index, focus);
    g.program = &program;
    for (int i = PROG_METHODS - 1; gen_in_methods(&g) && i > 0; i--) {
        Focus own = focus_of_cell((cell + (uint64_t)i * 1009) % CELLS);
        if (own.position == POS_STATE_WRITE && !gen_has_state(&g)) own.position = POS_RETURNED;
        if (own.position == POS_ASSIGNED && gen_has_state(&g) && gen_chance(&g, 40))
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
    if (cell.position == POS_STATE_WRITE && !gen_has_state(&g)) return program;
    gen_add_made(&g, seq, (Wanted){cell.shape, cell.position, cell.outcome}, 2);
    if (cell.position != POS_METHOD_END) node_append(pool, seq, summary(&g));
    program.methods[0].body = seq;
    end_method(&g);
    return program;
}
