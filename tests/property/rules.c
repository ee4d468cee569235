/* One walk over a method: scopes, what blocks write, where they go. */
#include "rules.h"

#include <string.h>

typedef struct {
    const Program *program;
    Verdict verdict;
    uint64_t visible;
    uint8_t sets[PROG_VARS]; /* assignments to each variable in its method */
} Walk;

typedef struct {
    uint64_t reads, writes;
    uint8_t state_reads;
    bool writes_state;
} Use;

static uint64_t bit(int var) { return (uint64_t)1 << var; }

static void add(Use *use, Use more) {
    use->reads |= more.reads;
    use->writes |= more.writes;
    use->state_reads |= more.state_reads;
    use->writes_state |= more.writes_state;
}

static Use walk(Walk *w, Node *node, Position position);

/* ---- where a block goes ---- */

typedef enum {
    GOES_CONSTRUCT,
    GOES_VARIABLE,
    GOES_STATE,
    GOES_SELF_SEND,
    GOES_SEND,
    GOES_RETURNED,
    GOES_VALUE
} Goes;

static void judge(Walk *w, const Node *block, Goes goes, int variable) {
    bool actor = w->program->context == CTX_ACTOR;
    if (block->rules.writes && !actor) {
        bool tracked = goes == GOES_VARIABLE && w->sets[variable] == 1;
        if (goes == GOES_SELF_SEND || goes == GOES_SEND || tracked) w->verdict.no_channel++;
    }
    if (block->rules.writes_state && actor) {
        if (goes == GOES_VARIABLE || goes == GOES_RETURNED) w->verdict.state_stored++;
        if (goes == GOES_SEND) w->verdict.state_foreign++;
    }
}

static Use walk_block(Walk *w, Node *block, Goes goes, int variable) {
    uint64_t before = w->visible;
    for (int i = 0; i < block->param_count; i++) {
        if (before & bit(block->params[i])) w->verdict.ill_formed = true;
        w->visible |= bit(block->params[i]);
    }
    Use use = walk(w, block->kids[0], POS_BLOCK_END);
    use.reads &= before;
    use.writes &= before;
    w->visible = before;
    block->rules = (BlockRules){.reads = use.reads,
                                .writes = use.writes,
                                .state_reads = use.state_reads,
                                .writes_state = use.writes_state,
                                .literal = goes == GOES_CONSTRUCT};
    judge(w, block, goes, variable);
    return use;
}

static Use walk_kid(Walk *w, Node *kid, Position position, Goes goes, int variable) {
    return kid->kind == N_BLOCK ? walk_block(w, kid, goes, variable) : walk(w, kid, position);
}

static Use walk_kids(Walk *w, Node *node, int from, Position position, Goes goes) {
    Use use = {0};
    for (int i = from; i < node->kid_count; i++) add(&use, walk_kid(w, node->kids[i], position, goes, 0));
    return use;
}

/* ---- nodes ---- */

/* Is it a send to self? The others that mean self take no blocks. */
static bool to_self(int helper) {
    return HELPERS[helper].text[0] == 's' && strncmp(HELPERS[helper].text, "self class", 10) != 0;
}

static Use walk_binary(Walk *w, Node *node) {
    Use use = walk_kid(w, node->kids[0], POS_LEFT, GOES_VALUE, 0);
    bool of_var = node->kids[0]->kind == N_VAR;
    add(&use, walk_kid(w, node->kids[1], of_var ? POS_RIGHT_OF_VAR : POS_RIGHT, GOES_VALUE, 0));
    return use;
}

static Use walk_seq(Walk *w, Node *node, Position last) {
    Use use = {0};
    for (int i = 0; i < node->kid_count; i++) {
        bool end = i + 1 == node->kid_count;
        add(&use,
            walk_kid(w, node->kids[i], end ? last : POS_STATEMENT, end ? GOES_RETURNED : GOES_VALUE, 0));
    }
    return use;
}

static Use walk_set(Walk *w, Node *node) {
    Use use = walk_kid(w, node->kids[0], POS_ASSIGNED, GOES_VARIABLE, node->value);
    w->visible |= bit(node->value); /* the first assignment declares it here */
    use.writes |= bit(node->value);
    return use;
}

static Use walk(Walk *w, Node *node, Position position) {
    node->position = (uint8_t)position;
    Use use = {0};
    switch (node->kind) {
    case N_INT:
    case N_NIL:
    case N_BOOL:
    case N_SYM:
    case N_CLASS:
    case N_RAISE: return use;
    case N_VAR:
        if (!(w->visible & bit(node->value))) w->verdict.ill_formed = true;
        use.reads = bit(node->value);
        return use;
    case N_SET_VAR: return walk_set(w, node);
    case N_STATE: use.state_reads = (uint8_t)(1 << node->value); return use;
    case N_SET_STATE:
        use = walk_kid(w, node->kids[0], POS_STATE_WRITE, GOES_STATE, 0);
        use.writes_state = true;
        return use;
    case N_BIN: return walk_binary(w, node);
    case N_UNARY:
    case N_ERROR_KIND:
    case N_RERAISE: return walk_kids(w, node, 0, POS_RECEIVER, GOES_VALUE);
    case N_LIST: return walk_kids(w, node, 0, POS_ELEMENT, GOES_VALUE);
    case N_DICT: return walk_kids(w, node, 0, POS_DICT_VALUE, GOES_VALUE);
    case N_INTERP: return walk_kids(w, node, 0, POS_INTERPOLATED, GOES_VALUE);
    case N_BETWEEN:
    case N_CASCADE:
    case N_KEYED:
        use = walk_kid(w, node->kids[0], POS_KEY_RECEIVER, GOES_VALUE, 0);
        add(&use, walk_kids(w, node, 1,
                            node->kind == N_BETWEEN   ? POS_TWO_ARGUMENTS
                            : node->kind == N_CASCADE ? POS_CASCADED
                                                      : POS_ARGUMENT,
                            GOES_SEND));
        return use;
    case N_CONSTRUCT: return walk_kids(w, node, 0, POS_OPERAND, GOES_CONSTRUCT);
    case N_MATCH:
        use = walk_kid(w, node->kids[0], POS_OPERAND, GOES_VALUE, 0);
        add(&use, walk_kids(w, node, 1, POS_ARM, GOES_VALUE));
        return use;
    case N_RETURN: return walk_kids(w, node, 0, POS_RETURNED, GOES_RETURNED);
    case N_BLOCK: return walk_block(w, node, GOES_VALUE, 0);
    case N_CALL:
        use = walk(w, node->kids[0], POS_RECEIVER);
        add(&use, walk_kids(w, node, 1, POS_SENT, GOES_SEND));
        return use;
    case N_SEND: return walk_kids(w, node, 0, POS_SENT, to_self(node->op) ? GOES_SELF_SEND : GOES_SEND);
    case N_METHOD:
        if (!w->program->methods[node->value].body) w->verdict.ill_formed = true;
        return walk_kids(w, node, 0, POS_SENT, GOES_SELF_SEND);
    case N_SEQ: return walk_seq(w, node, position);
    }
    return use;
}

static void count_sets(Walk *w, const Node *node) {
    if (node->kind == N_SET_VAR && w->sets[node->value] < 200) w->sets[node->value]++;
    for (int i = 0; i < node->kid_count; i++) count_sets(w, node->kids[i]);
}

/* A script begins with its session variables and has something to answer. */
static bool is_script(const Node *body) {
    for (int i = 0; i < PROG_INITIAL; i++)
        if (i >= body->kid_count || body->kids[i]->kind != N_SET_VAR || body->kids[i]->value != i ||
            body->kids[i]->kids[0]->kind != N_INT)
            return false;
    return body->kid_count > PROG_INITIAL;
}

Verdict rules_check(Program *program) {
    Walk w = {.program = program};
    w.verdict.ill_formed = program->context == CTX_SCRIPT && !is_script(program->methods[0].body);
    for (int i = 0; i < PROG_METHODS; i++) {
        const Method *m = &program->methods[i];
        if (!m->body) continue;
        w.visible = 0;
        memset(w.sets, 0, sizeof w.sets);
        count_sets(&w, m->body);
        for (int k = 0; k < m->param_count; k++) w.visible |= bit(m->params[k]);
        walk(&w, m->body, POS_METHOD_END);
    }
    return w.verdict;
}
