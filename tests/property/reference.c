/* The reference interpretation, core: cells and regions, expressions, blocks, the run of a whole program. */
#include "reference_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 20000, MAX_DEPTH = 160, MAX_LIST = 64 };
static const int64_t MAX_NUMBER = INT64_C(1000000000000000);

const char *const OUTCOME_NAMES[OUTCOME_COUNT] = {"normal", "raise", "^"};

/* ---- cells and regions ---- */

void ref_set(Run *run, Cell *cell, Value *value) {
    Process *p = run->current;
    if (p->log_count == p->log_room) {
        p->log_room = p->log_room ? p->log_room * 2 : 64;
        p->log = realloc(p->log, p->log_room * sizeof *p->log);
        if (!p->log) exit(2);
    }
    p->log[p->log_count++] = (Undo){cell, cell->value};
    cell->value = value;
}

size_t ref_mark(const Run *run) { return run->current->log_count; }

void ref_undo(Run *run, size_t mark) {
    Process *p = run->current;
    while (p->log_count > mark) {
        const Undo *undo = &p->log[--p->log_count];
        undo->cell->value = undo->old;
    }
}

/* The entries stay: an outer region that fails as well goes through them again, down to its own mark. */
void ref_undo_for_cleanup(Run *run, size_t mark) {
    Process *p = run->current;
    for (size_t i = p->log_count; i-- > mark;)
        if (p->log[i].cell->kind != CELL_CLASS) p->log[i].cell->value = p->log[i].old;
}

/* ---- leaving ---- */

Value *ref_give_up(Run *run) {
    run->gave_up = true;
    return NULL;
}

Value *ref_raise(Run *run, const char *kind) {
    run->signal = (Signal){.outcome = OUTCOME_RAISED, .value = value_exception(&run->pool, kind)};
    return NULL;
}

bool ref_raised(const Run *run) { return !run->gave_up && run->signal.outcome == OUTCOME_RAISED; }

Value *ref_exception(Run *run) {
    run->signal.outcome = OUTCOME_NORMAL;
    return run->signal.value;
}

bool ref_catches(const Run *run, const Value *filter) {
    if (filter->kind == V_NIL) return true;
    const char *wanted = PROG_CLASSES[filter->number].catches;
    return !wanted || !strcmp(wanted, run->signal.value->class_name);
}

/* ---- state: class variables (semantics 6), actor state (9), fields of a value ---- */

static bool at_home(const Run *run) {
    switch (run->program->context) {
    case CTX_CLASS: return run->current->id == PROC_CLASS;
    case CTX_ACTOR: return run->current->id == PROC_ACTOR;
    default: return true;
    }
}

static Value *unreachable(Run *run) {
    return ref_raise(run, run->program->context == CTX_CLASS ? "class_state_unreachable"
                                                             : "stateful_block_dispatch");
}

Value *ref_state_read(Run *run, const Env *env, int state) {
    if (at_home(run)) return run->states[state].value;
    if (env && env->capture && env->capture->states[state]) return env->capture->states[state];
    return unreachable(run);
}

Value *ref_state_write(Run *run, int state, Value *value) {
    if (!at_home(run)) return unreachable(run);
    ref_set(run, &run->states[state], value);
    return value;
}

/* ---- blocks ---- */

static void bind_parameters(Run *run, Env *env, int count, const int16_t *variables,
                            Value *const *arguments) {
    for (int i = 0; i < count; i++) {
        Cell *cell = pool_get(&run->pool, sizeof *cell);
        cell->value = arguments[i];
        env->cells[variables[i]] = cell;
    }
}

static Env env_inside(Run *run, const Env *outer) {
    Env env = *outer;
    size_t bytes = (size_t)run->program->var_count * sizeof *env.cells;
    env.cells = pool_get(&run->pool, bytes);
    memcpy(env.cells, outer->cells, bytes);
    return env;
}

static Value *run_block(Run *run, const Env *outer, const Node *block, int count, Value *const *arguments) {
    if (count != block->param_count) return ref_raise(run, "arity_mismatch");
    Env env = env_inside(run, outer);
    bind_parameters(run, &env, count, block->params, arguments);
    return ref_eval(run, &env, block->kids[0]);
}

Value *ref_literal(Run *run, Env *env, const Node *block, int count, Value *const *arguments) {
    if (block->param_count < count)
        count = block->param_count; /* handlers and ifNotNil: may leave the value */
    return run_block(run, env, block, count, arguments);
}

Value *ref_call(Run *run, const Value *value, int count, Value *const *arguments) {
    if (value->kind == V_OK || value->kind == V_ERROR || value->kind == V_EXCEPTION) return ref_give_up(run);
    if (value->kind != V_BLOCK) return ref_raise(run, "does_not_understand");
    const Closure *c = value->closure;
    if (count != c->block->param_count) return ref_raise(run, "arity_mismatch");
    if (c->block->rules.writes) {
        bool actor = run->program->context == CTX_ACTOR;
        if (!actor || run->current != c->env.home->process || !c->env.home->alive)
            return ref_raise(run, "stateful_block_dispatch");
    }
    return run_block(run, &c->env, c->block, count, arguments);
}

/* A closure takes along the values of what it reads; what it or a block in it writes is shared with its home.
 */
static Value *make_closure(Run *run, const Env *env, const Node *block) {
    Closure *c = pool_get(&run->pool, sizeof *c);
    c->block = block;
    c->env = env_inside(run, env);
    for (int v = 0; v < run->program->var_count; v++) {
        if (!(block->rules.reads >> v & 1) || block->rules.writes >> v & 1 || !c->env.cells[v]) continue;
        Cell *cell = pool_get(&run->pool, sizeof *cell);
        cell->value = c->env.cells[v]->value;
        c->env.cells[v] = cell;
    }
    if (at_home(run)) {
        c->env.capture = pool_get(&run->pool, sizeof *c->env.capture);
        for (int s = 0; s < PROG_STATES; s++)
            if (block->rules.state_reads >> s & 1) c->env.capture->states[s] = run->states[s].value;
    }
    Value *value = pool_get(&run->pool, sizeof *value);
    value->kind = V_BLOCK;
    value->number = block->param_count;
    value->closure = c;
    return value;
}

/* ---- operators ---- */

static Value *number_op(Run *run, int op, const Value *a, const Value *b) {
    if (a->kind == V_EXCEPTION || a->kind == V_CLASS) return ref_give_up(run);
    if (a->kind != V_INT) return ref_raise(run, "does_not_understand");
    if (b->kind != V_INT) return ref_raise(run, "type_error");
    int64_t sum = op == OP_ADD ? a->number + b->number : a->number - b->number;
    if (sum > MAX_NUMBER || sum < -MAX_NUMBER) return ref_give_up(run);
    return value_int(&run->pool, sum);
}

static Value *binary(Run *run, int op, const Value *a, const Value *b) {
    switch (op) {
    case OP_ADD:
    case OP_SUB: return number_op(run, op, a, b);
    case OP_LESS:
    case OP_LESS_EQUAL:
        if (a->kind == V_INT && b->kind == V_INT)
            return value_bool(op == OP_LESS ? a->number < b->number : a->number <= b->number);
        if (a->kind == V_INT && (b->kind == V_NIL || b->kind == V_BOOL || b->kind == V_SYM))
            return value_bool(true);
        if (b->kind == V_INT && (a->kind == V_NIL || a->kind == V_BOOL || a->kind == V_SYM))
            return value_bool(false);
        return ref_give_up(run);
    case OP_SAME: {
        int same = value_same(a, b);
        return same < 0 ? ref_give_up(run) : value_bool(same);
    }
    default: break;
    }
    if (a->kind != V_LIST) return ref_give_up(run);
    if (b->kind != V_LIST) return ref_raise(run, "type_error");
    if (a->count + b->count > MAX_LIST) return ref_give_up(run);
    Value *list = value_list(&run->pool, a->count + b->count);
    memcpy(list->items, a->items, (size_t)a->count * sizeof *a->items);
    memcpy(list->items + a->count, b->items, (size_t)b->count * sizeof *b->items);
    return list;
}

static Value *unary(Run *run, int op, Value *a) {
    bool result = a->kind == V_OK || a->kind == V_ERROR;
    if (op == UN_IS_NIL) return value_bool(a->kind == V_NIL);
    if (a->kind == V_EXCEPTION || a->kind == V_CLASS || a->kind == V_BLOCK) return ref_give_up(run);
    switch (op) {
    case UN_SIZE:
        if (a->kind == V_LIST || a->kind == V_DICT) return value_int(&run->pool, a->count);
        if (a->kind == V_STR) return value_int(&run->pool, (int64_t)strlen(a->text));
        break;
    case UN_NOT:
        if (a->kind == V_BOOL) return value_bool(!a->number);
        break;
    case UN_IS_ERROR:
        if (result) return value_bool(a->kind == V_ERROR);
        break;
    case UN_VALUE_OR:
        if (result) return a->kind == V_OK ? a->items[0] : value_int(&run->pool, 6);
        break;
    case UN_FIRST:
    case UN_LAST:
        if (a->kind != V_LIST) return ref_give_up(run);
        if (!a->count) return ref_raise(run, "empty_collection");
        return a->items[op == UN_FIRST ? 0 : a->count - 1];
    case UN_NEGATED:
        if (a->kind == V_INT) return value_int(&run->pool, -a->number);
        break;
    default: break;
    }
    return ref_raise(run, "does_not_understand");
}

static Value *max(Run *run, Value *a, Value *b) {
    if (a->kind == V_EXCEPTION || a->kind == V_CLASS) return ref_give_up(run);
    if (a->kind != V_INT) return ref_raise(run, "does_not_understand");
    if (b->kind != V_INT) return b; /* numbers are the smallest of all */
    return a->number > b->number ? a : b;
}

static Value *between(Run *run, const Value *a, const Value *low, const Value *high) {
    if (a->kind != V_INT) return ref_give_up(run);
    bool reached = low->kind == V_INT && a->number >= low->number; /* numbers are the smallest of all */
    return value_bool(reached && (high->kind != V_INT || a->number <= high->number));
}

/* ---- expressions ---- */

enum { MAX_KIDS = 12 };

/* Left to right; false if one did not answer. */
static bool eval_kids(Run *run, Env *env, const Node *node, Value **values) {
    if (node->kid_count > MAX_KIDS) return ref_give_up(run) != NULL;
    for (int i = 0; i < node->kid_count; i++)
        if (!(values[i] = ref_eval(run, env, node->kids[i]))) return false;
    return true;
}

static Value *interpolate(Run *run, int count, Value *const *values) {
    ProgText text = {0};
    bool fixed = true;
    prog_text_add(&text, "%s", "");
    for (int i = 0; i < count; i++) {
        fixed = fixed && value_display(values[i], &text);
        prog_text_add(&text, "-");
    }
    if (text.length > 200) fixed = false;
    Value *value =
        fixed && !strchr(text.bytes, '"') ? value_text(&run->pool, V_STR, text.bytes) : ref_give_up(run);
    prog_text_free(&text);
    return value;
}

static Value *compound(Run *run, Env *env, const Node *node) {
    Value *values[MAX_KIDS];
    if (!eval_kids(run, env, node, values)) return NULL;
    switch (node->kind) {
    case N_BIN: return binary(run, node->op, values[0], values[1]);
    case N_UNARY: return unary(run, node->op, values[0]);
    case N_KEYED:
        if (node->kid_count == 2) return max(run, values[0], values[1]);
        return values[0]->kind == V_CLASS || values[0]->kind == V_BLOCK
                   ? ref_give_up(run)
                   : value_bool(values[0]->kind == V_INT);
    case N_BETWEEN: return between(run, values[0], values[1], values[2]);
    case N_INTERP: return interpolate(run, node->kid_count, values);
    case N_CALL: return ref_call(run, values[0], node->kid_count - 1, values + 1);
    case N_LIST: {
        Value *list = value_list(&run->pool, node->kid_count);
        memcpy(list->items, values, node->kid_count * sizeof *values);
        return list;
    }
    case N_DICT: {
        Value *dict = value_dict(&run->pool, node->kid_count);
        for (int i = 0; i < node->kid_count; i++) {
            dict->items[2 * i] = value_text(&run->pool, V_SYM, PROG_SYMBOLS[i]);
            dict->items[2 * i + 1] = values[i];
        }
        return dict;
    }
    case N_ERROR_KIND:
        return values[0]->kind == V_EXCEPTION ? value_text(&run->pool, V_SYM, values[0]->text)
                                              : ref_give_up(run);
    case N_RERAISE:
        if (values[0]->kind != V_EXCEPTION) return ref_give_up(run);
        run->signal = (Signal){.outcome = OUTCOME_RAISED, .value = values[0]};
        return NULL;
    default: return ref_give_up(run);
    }
}

/* The receiver once, then each message, sent before the next one's argument is evaluated. */
static Value *cascade(Run *run, Env *env, const Node *node) {
    Value *receiver = ref_eval(run, env, node->kids[0]), *answer = receiver;
    for (int i = 1; i < node->kid_count && answer; i++) {
        Value *argument = ref_eval(run, env, node->kids[i]);
        answer = argument ? max(run, receiver, argument) : NULL;
    }
    return answer;
}

static Value *set_variable(Run *run, Env *env, const Node *node) {
    Value *value = ref_eval(run, env, node->kids[0]);
    if (!value) return NULL;
    if (!env->cells[node->value]) env->cells[node->value] = pool_get(&run->pool, sizeof(Cell));
    ref_set(run, env->cells[node->value], value);
    return value;
}

static Value *sequence(Run *run, Env *env, const Node *node) {
    Value *value = value_nil();
    for (int i = 0; i < node->kid_count && value; i++) value = ref_eval(run, env, node->kids[i]);
    return value;
}

static Value *leave(Run *run, Env *env, const Node *node) {
    /* Which assignments the session keeps of an input that a stored block ends is not modelled. */
    if (run->program->context == CTX_SCRIPT && env->capture) return ref_give_up(run);
    Value *value = ref_eval(run, env, node->kids[0]);
    if (value) run->signal = (Signal){.outcome = OUTCOME_LEFT, .value = value, .home = env->home};
    return NULL;
}

static Value *eval(Run *run, Env *env, const Node *node) {
    switch (node->kind) {
    case N_INT: return value_int(&run->pool, node->value);
    case N_NIL: return value_nil();
    case N_BOOL: return value_bool(node->value);
    case N_SYM: return value_text(&run->pool, V_SYM, PROG_SYMBOLS[node->value]);
    case N_VAR: return env->cells[node->value] ? env->cells[node->value]->value : ref_give_up(run);
    case N_SET_VAR: return set_variable(run, env, node);
    case N_STATE: return ref_state_read(run, env, node->value);
    case N_SET_STATE: {
        Value *value = ref_eval(run, env, node->kids[0]);
        return value ? ref_state_write(run, node->value, value) : NULL;
    }
    case N_CASCADE: return cascade(run, env, node);
    case N_CONSTRUCT:
    case N_MATCH: return ref_construct(run, env, node);
    case N_RETURN: return leave(run, env, node);
    case N_RAISE: return ref_raise(run, PROG_RAISES[node->op].kind);
    case N_BLOCK: return make_closure(run, env, node);
    case N_SEND: return ref_send(run, env, node);
    case N_METHOD: return ref_method(run, env, node);
    case N_CLASS:
        if (node->op == CLASS_NIL) return value_nil();
        Value *value = value_int(&run->pool, node->op);
        value->kind = V_CLASS;
        return value;
    case N_SEQ: return sequence(run, env, node);
    default: return compound(run, env, node);
    }
}

Value *ref_eval(Run *run, Env *env, const Node *node) {
    if (run->gave_up || ++run->steps > MAX_STEPS || run->depth >= MAX_DEPTH) return ref_give_up(run);
    run->depth++;
    Value *value = eval(run, env, node);
    run->depth--;
    return run->gave_up ? NULL : value;
}

/* ---- methods and the whole program ---- */

Value *ref_method_body(Run *run, int index, Value *const *arguments) {
    const Method *m = &run->program->methods[index];
    Activation *home = pool_get(&run->pool, sizeof *home);
    *home = (Activation){.alive = true, .process = run->current};
    Env env = {.home = home};
    env.cells = pool_get(&run->pool, (size_t)run->program->var_count * sizeof *env.cells);
    bind_parameters(run, &env, m->param_count, m->params, arguments);
    Value *value = ref_eval(run, &env, m->body);
    home->alive = false;
    if (!value && !run->gave_up && run->signal.outcome == OUTCOME_LEFT && run->signal.home == home) {
        run->signal.outcome = OUTCOME_NORMAL;
        return run->signal.value;
    }
    return value;
}

/* A script: its variables outlive it, at their initial values if it fails. */
static Value *run_script(Run *run, Value **finals) {
    const Node *body = run->program->methods[0].body;
    Activation home = {.alive = true, .process = run->current};
    Env env = {.home = &home};
    env.cells = pool_get(&run->pool, (size_t)run->program->var_count * sizeof *env.cells);
    Value *value = value_nil();
    size_t mark = 0;
    for (int i = 0; i < body->kid_count && value; i++) {
        if (i == PROG_INITIAL) mark = ref_mark(run);
        value = ref_eval(run, &env, body->kids[i]);
    }
    if (!value && !run->gave_up && run->signal.outcome == OUTCOME_LEFT) value = run->signal.value;
    if (!value && !run->gave_up) ref_undo(run, mark);
    for (int i = 0; i < PROG_INITIAL; i++) finals[i] = env.cells[i] ? env.cells[i]->value : value_nil();
    return value;
}

static Value *run_entry(Run *run) {
    static const ProcessId WHERE[CTX_COUNT] = {PROC_CLASS, PROC_MAIN, PROC_ACTOR, PROC_MAIN};
    run->processes[PROC_MAIN].busy = true;
    run->current = &run->processes[WHERE[run->program->context]];
    run->current->busy = true;
    Value *value = ref_method_body(run, 0, NULL);
    if (!value && !run->gave_up) ref_undo(run, 0); /* an error leaves the invocation or the message */
    run->current = &run->processes[PROC_MAIN];
    return value;
}

static const char *printed(Value *value, ProgText *text) {
    text->length = 0;
    return value_print(value, text) ? text->bytes : NULL;
}

/* Sorted by text, as the callers' answers are. */
static bool insert_sorted(Value *list, Value *value) {
    ProgText new = {0}, old = {0};
    bool fixed = printed(value, &new) != NULL;
    int at = list->count++;
    for (; fixed && at > 0 && strcmp(printed(list->items[at - 1], &old), new.bytes) > 0; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = value;
    prog_text_free(&new);
    prog_text_free(&old);
    return fixed;
}

/* Each invocation runs by itself from what the one before it left. */
static Value *run_crowd(Run *run) {
    Value *answers = value_list(&run->pool, run->program->callers);
    answers->count = 0;
    for (int i = 0; i < run->program->callers; i++) {
        run->current = &run->processes[PROC_MAIN];
        for (int k = 0; k < PROC_COUNT; k++) run->processes[k].log_count = 0;
        Value *value = run_entry(run);
        if (run->gave_up || (!value && !ref_raised(run))) return ref_give_up(run);
        if (!value) value = value_text(&run->pool, V_SYM, ref_exception(run)->text);
        if (!insert_sorted(answers, value)) return ref_give_up(run);
    }
    return answers;
}

static int final_values(Run *run, Value **finals) {
    if (run->program->context == CTX_SCRIPT) return PROG_INITIAL;
    if (run->program->context == CTX_VALUE) return 0;
    for (int i = 0; i < PROG_STATES; i++) finals[i] = run->states[i].value;
    return PROG_STATES;
}

RefAnswer reference_run(const Program *program, Coverage *coverage) {
    Run *run = calloc(1, sizeof *run);
    if (!run) exit(2);
    run->program = program;
    run->coverage = coverage;
    for (int i = 0; i < PROC_COUNT; i++) run->processes[i].id = (ProcessId)i;
    for (int i = 0; i < PROG_STATES; i++)
        run->states[i] =
            (Cell){program->context == CTX_CLASS ? CELL_CLASS : CELL_ACTOR, value_int(&run->pool, i + 1)};
    run->count = (Cell){CELL_CLASS, value_int(&run->pool, 1)};
    run->runs = (Cell){CELL_CLASS, value_int(&run->pool, 0)};
    run->current = &run->processes[PROC_MAIN];
    Value *finals[PROG_STATES + PROG_INITIAL + 2];
    RefAnswer answer = {.known = true};
    Value *value = program->context == CTX_SCRIPT ? run_script(run, finals)
                   : program->callers > 1         ? run_crowd(run)
                                                  : run_entry(run);
    if (run->gave_up) {
        answer.known = false;
    } else if (value) {
        answer.known = value->kind != V_BLOCK && value_print(value, &answer.answer);
    } else if (run->signal.outcome == OUTCOME_RAISED) {
        answer.raised = true;
        prog_text_add(&answer.answer, "%s", run->signal.value->text);
    } else {
        answer.known = false; /* a `^` whose home is gone: nothing that a caller can catch */
    }
    int count = run->gave_up ? 0 : final_values(run, finals);
    if (!run->gave_up) {
        if (program->context == CTX_VALUE || program->context == CTX_ACTOR)
            finals[count++] = run->count.value;
        finals[count++] = run->runs.value;
        Value *list = value_list(&run->pool, count);
        memcpy(list->items, finals, (size_t)count * sizeof *finals);
        answer.known = value_print(list, &answer.finals) && answer.known;
    }
    for (int i = 0; i < PROC_COUNT; i++) free(run->processes[i].log);
    pool_clear(&run->pool);
    free(run);
    return answer;
}

void reference_free(RefAnswer *answer) {
    prog_text_free(&answer->answer);
    prog_text_free(&answer->finals);
}
