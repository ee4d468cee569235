/* The constructs of semantics 5, each as its row says. A block in a construct's place runs in the scope where
 * it stands. */
#include "reference_internal.h"

#include <string.h>

typedef struct {
    Run *run;
    Env *env;
    const Node *node;
    Value *kids[4]; /* the values of what is no literal block */
    bool failed;    /* a region: its body raised */
} Construct;

static Value *call(Construct *c, int kid, Value *a, Value *b) {
    Value *arguments[3] = {a, b, NULL};
    int count = b ? 2 : a ? 1 : 0;
    if (c->kids[kid])
        return ref_call(c->run, c->kids[kid], count, arguments); /* no literal: a block from elsewhere */
    return ref_literal(c->run, c->env, c->node->kids[kid], count, arguments);
}

static Value *unknown(Construct *c) { return ref_raise(c->run, "does_not_understand"); }

/* A boolean answer of a block; -1 if there is none. */
static int truth(Construct *c, const Value *value) {
    if (!value) return -1;
    if (value->kind == V_BOOL) return (int)value->number;
    ref_give_up(c->run); /* what a predicate of another kind means is the library's affair */
    return -1;
}

/* An outer local or actor state: what makes an untaken arm answer nil and a predicate run over all elements.
 */
static bool writes(const Construct *c, int kid) {
    const BlockRules *rules = &c->node->kids[kid]->rules;
    return rules->writes || (rules->writes_state && c->run->program->context == CTX_ACTOR);
}

/* ---- choices ---- */

static Value *if_one(Construct *c, bool when) {
    if (c->kids[0]->kind != V_BOOL) return unknown(c);
    if ((c->kids[0]->number != 0) == when) return call(c, 1, NULL, NULL);
    return writes(c, 1) ? value_nil() : c->kids[0];
}

static Value *if_both(Construct *c, int when_true, int when_false) {
    if (c->kids[0]->kind != V_BOOL) return unknown(c);
    return call(c, c->kids[0]->number ? when_true : when_false, NULL, NULL);
}

static Value *and_or(Construct *c, bool decides) {
    if (c->kids[0]->kind != V_BOOL) return unknown(c);
    return (c->kids[0]->number != 0) == decides ? c->kids[0] : call(c, 1, NULL, NULL);
}

static Value *if_nil(Construct *c, int when_nil, int when_not) {
    Value *value = c->kids[0];
    if (value->kind == V_NIL) return when_nil ? call(c, when_nil, NULL, NULL) : value;
    return when_not ? call(c, when_not, value, NULL) : value;
}

/* ---- loops ---- */

static Value *while_loop(Construct *c, bool goes_on) {
    for (;;) {
        int go = truth(c, call(c, 0, NULL, NULL));
        if (go < 0) return NULL;
        if ((go != 0) != goes_on) return value_nil();
        if (!call(c, 1, NULL, NULL)) return NULL;
    }
}

static Value *repeat(Construct *c) {
    while (call(c, 0, NULL, NULL)) {
    }
    return NULL;
}

static Value *counted(Construct *c, int block, int64_t from, int64_t to, int64_t step) {
    if (step == 0) return value_nil();
    for (int64_t i = from; step > 0 ? i <= to : i >= to; i += step) {
        Value *index = block > 1 ? value_int(&c->run->pool, i) : NULL;
        if (!call(c, block, index, NULL)) return NULL;
    }
    return value_nil();
}

static Value *count_loop(Construct *c, int block) {
    if (c->kids[0]->kind != V_INT) return unknown(c);
    for (int i = 1; i < block; i++)
        if (c->kids[i]->kind != V_INT) return ref_give_up(c->run);
    if (block == 1) return counted(c, 1, 1, c->kids[0]->number, 1);
    return counted(c, block, c->kids[0]->number, c->kids[1]->number, block == 3 ? c->kids[2]->number : 1);
}

/* ---- regions ---- */

static Value *on_do(Construct *c) {
    size_t mark = ref_mark(c->run);
    Value *value = call(c, 0, NULL, NULL);
    if (value || !ref_raised(c->run)) return value;
    c->failed = true;
    ref_undo(c->run, mark); /* before the filter is asked */
    if (!ref_catches(c->run, c->kids[1])) return NULL;
    return call(c, 2, ref_exception(c->run), NULL);
}

static Value *ensure(Construct *c) {
    size_t mark = ref_mark(c->run);
    Value *value = call(c, 0, NULL, NULL);
    if (c->run->gave_up) return NULL;
    Signal in_flight = c->run->signal;
    if (!value && ref_raised(c->run)) ref_undo_for_cleanup(c->run, mark);
    /* What the session sees of such a cleanup's writes, once `^` has ended the input, is not fixed. */
    if (!value && !ref_raised(c->run) && c->run->program->context == CTX_SCRIPT && writes(c, 1))
        return ref_give_up(c->run);
    c->run->signal.outcome = OUTCOME_NORMAL;
    if (!call(c, 1, NULL, NULL)) return NULL; /* replaces what was in flight */
    if (!value) c->run->signal = in_flight;
    return value;
}

static Value *try_do(Construct *c) {
    const Value *receiver = c->kids[0];
    if (receiver->kind != V_CLASS) return receiver->kind == V_EXCEPTION ? ref_give_up(c->run) : unknown(c);
    if (receiver->number == CLASS_TRIER) return call(c, 1, NULL, NULL);
    if (receiver->number != CLASS_RESULT) return ref_give_up(c->run);
    size_t mark = ref_mark(c->run);
    Value *value = call(c, 1, NULL, NULL);
    if (value) return value_one(&c->run->pool, V_OK, value);
    if (!ref_raised(c->run)) return NULL;
    c->failed = true;
    ref_undo(c->run, mark);
    return value_one(&c->run->pool, V_ERROR, ref_exception(c->run));
}

/* ---- collections ---- */

typedef enum { KEEP_IF, DROP_IF, COUNT_IF, TAKE_WHILE, DROP_WHILE } Filter;

static Value *filtered(Construct *c, Filter how) {
    const Value *list = c->kids[0];
    Value *kept = value_list(&c->run->pool, list->count);
    kept->count = 0;
    bool dropping = true;
    for (int i = 0; i < list->count; i++) {
        if (how == DROP_WHILE && !dropping) {
            kept->items[kept->count++] = list->items[i];
            continue;
        }
        int yes = truth(c, call(c, 1, list->items[i], NULL));
        if (yes < 0) return NULL;
        if (how == TAKE_WHILE && !yes) break;
        dropping = yes;
        if (how == DROP_IF || how == DROP_WHILE ? !yes : yes) kept->items[kept->count++] = list->items[i];
    }
    return how == COUNT_IF ? value_int(&c->run->pool, kept->count) : kept;
}

/* The index of the first element for which the predicate answers `wanted`, or the count; -1 if it did not
 * answer. A predicate that writes what is threaded runs over all elements (not noneSatisfy:, which section 5
 * does not list). */
static int search(Construct *c, bool wanted, bool over_all) {
    const Value *list = c->kids[0];
    int found = list->count;
    for (int i = 0; i < list->count; i++) {
        int yes = truth(c, call(c, 1, list->items[i], NULL));
        if (yes < 0) return -1;
        if ((yes != 0) != wanted || found < list->count) continue;
        found = i;
        if (!over_all) break;
    }
    return found;
}

static Value *detect(Construct *c, int otherwise) {
    int at = search(c, true, writes(c, 1));
    if (at < 0) return NULL;
    if (at < c->kids[0]->count) return c->kids[0]->items[at];
    return otherwise ? call(c, otherwise, NULL, NULL) : ref_raise(c->run, "not_found");
}

static Value *satisfy(Construct *c, bool wanted, bool found_means, bool over_all) {
    int at = search(c, wanted, over_all);
    if (at < 0) return NULL;
    return value_bool((at < c->kids[0]->count) == found_means);
}

static Value *collect(Construct *c) {
    const Value *list = c->kids[0];
    Value *made = value_list(&c->run->pool, list->count);
    for (int i = 0; i < list->count; i++)
        if (!(made->items[i] = call(c, 1, list->items[i], NULL))) return NULL;
    return made;
}

static Value *flat_map(Construct *c) {
    const Value *list = c->kids[0];
    Value *made = value_list(&c->run->pool, 256);
    made->count = 0;
    for (int i = 0; i < list->count; i++) {
        Value *more = call(c, 1, list->items[i], NULL);
        if (!more) return NULL;
        if (more->kind != V_LIST) return ref_raise(c->run, "type_error");
        for (int k = 0; k < more->count; k++) {
            if (made->count == 256) return ref_give_up(c->run);
            made->items[made->count++] = more->items[k];
        }
    }
    return made;
}

static Value *inject(Construct *c) {
    Value *sum = c->kids[1];
    for (int i = 0; i < c->kids[0]->count && sum; i++) sum = call(c, 2, sum, c->kids[0]->items[i]);
    return sum;
}

static Value *do_each(Construct *c, bool with_index, int separator) {
    const Value *list = c->kids[0];
    for (int i = 0; i < list->count; i++) {
        if (separator && i && !call(c, separator, NULL, NULL)) return NULL;
        if (!call(c, 1, list->items[i], with_index ? value_int(&c->run->pool, i + 1) : NULL)) return NULL;
    }
    return value_nil();
}

static Value *partition(Construct *c) {
    const Value *list = c->kids[0];
    Value *in = value_list(&c->run->pool, list->count), *out = value_list(&c->run->pool, list->count);
    in->count = out->count = 0;
    for (int i = 0; i < list->count; i++) {
        int yes = truth(c, call(c, 1, list->items[i], NULL));
        if (yes < 0) return NULL;
        Value *side = yes ? in : out;
        side->items[side->count++] = list->items[i];
    }
    Value *dict = value_dict(&c->run->pool, 2);
    dict->items[0] = value_text(&c->run->pool, V_STR, "matching");
    dict->items[1] = in;
    dict->items[2] = value_text(&c->run->pool, V_STR, "nonMatching");
    dict->items[3] = out;
    return dict;
}

static Value *group_by(Construct *c) {
    const Value *list = c->kids[0];
    Value *dict = value_dict(&c->run->pool, list->count);
    dict->count = 0;
    for (int i = 0; i < list->count; i++) {
        Value *key = call(c, 1, list->items[i], NULL);
        if (!key) return NULL;
        int at = 0, same = 0;
        for (; at < dict->count && !(same = value_same(dict->items[2 * at], key)); at++) {
        }
        if (same < 0) return ref_give_up(c->run);
        if (at == dict->count) {
            dict->items[2 * at] = key;
            dict->items[2 * at + 1] = value_list(&c->run->pool, list->count);
            dict->items[2 * at + 1]->count = 0;
            dict->count++;
        }
        Value *group = dict->items[2 * at + 1];
        group->items[group->count++] = list->items[i];
    }
    return dict;
}

/* Stable; the block says whether its first argument may stay before the second. */
static Value *sort(Construct *c) {
    const Value *list = c->kids[0];
    Value *sorted = value_list(&c->run->pool, list->count);
    for (int i = 0; i < list->count; i++) {
        int at = i;
        for (; at > 0; at--) {
            int stays = truth(c, call(c, 1, sorted->items[at - 1], list->items[i]));
            if (stays < 0) return NULL;
            if (stays) break;
            sorted->items[at] = sorted->items[at - 1];
        }
        sorted->items[at] = list->items[i];
    }
    return sorted;
}

static Value *each_pair(Construct *c) {
    const Value *dict = c->kids[0];
    if (dict->kind != V_DICT) return ref_give_up(c->run);
    for (int i = 0; i < dict->count; i++)
        if (!call(c, 1, dict->items[2 * i], dict->items[2 * i + 1])) return NULL;
    return value_nil();
}

static Value *at_if_absent(Construct *c) {
    const Value *dict = c->kids[0];
    if (dict->kind != V_DICT) return ref_give_up(c->run);
    for (int i = 0; i < dict->count; i++)
        if (value_same(dict->items[2 * i], c->kids[1]) == 1) return dict->items[2 * i + 1];
    return call(c, 2, NULL, NULL);
}

static Value *over_list(Construct *c) {
    const Value *list = c->kids[0];
    if (list->kind == V_INT || list->kind == V_NIL || list->kind == V_BOOL) return unknown(c);
    if (list->kind != V_LIST) return ref_give_up(c->run);
    switch (c->node->op) {
    case SHAPE_DO: return do_each(c, false, 0);
    case SHAPE_EACH_WITH_INDEX: return do_each(c, true, 0);
    case SHAPE_DO_SEPARATED: return do_each(c, false, 2);
    case SHAPE_COLLECT: return collect(c);
    case SHAPE_SELECT: return filtered(c, KEEP_IF);
    case SHAPE_REJECT: return filtered(c, DROP_IF);
    case SHAPE_FLAT_MAP: return flat_map(c);
    case SHAPE_INJECT: return inject(c);
    case SHAPE_COUNT: return filtered(c, COUNT_IF);
    case SHAPE_DETECT: return detect(c, 0);
    case SHAPE_DETECT_IF_NONE: return detect(c, 2);
    case SHAPE_ANY: return satisfy(c, true, true, writes(c, 1));
    case SHAPE_ALL: return satisfy(c, false, false, writes(c, 1));
    case SHAPE_NONE: return satisfy(c, true, false, false);
    case SHAPE_TAKE_WHILE: return filtered(c, TAKE_WHILE);
    case SHAPE_DROP_WHILE: return filtered(c, DROP_WHILE);
    case SHAPE_PARTITION: return partition(c);
    case SHAPE_GROUP_BY: return group_by(c);
    case SHAPE_SORT: return sort(c);
    default: return ref_give_up(c->run);
    }
}

/* ---- one construct ---- */

static Value *match(Run *run, Env *env, const Node *node) {
    Value *value = ref_eval(run, env, node->kids[0]);
    if (!value) return NULL;
    int last = node->kid_count - 1;
    for (int i = 1; i < last; i++)
        if (value->kind == V_INT && value->number == i) return ref_eval(run, env, node->kids[i]);
    return ref_eval(run, env, node->kids[last]);
}

static Value *apply(Construct *c) {
    switch (c->node->op) {
    case SHAPE_IF_TRUE: return if_one(c, true);
    case SHAPE_IF_FALSE: return if_one(c, false);
    case SHAPE_IF_TRUE_FALSE: return if_both(c, 1, 2);
    case SHAPE_AND: return and_or(c, false);
    case SHAPE_OR: return and_or(c, true);
    case SHAPE_IF_NIL: return if_nil(c, 1, 0);
    case SHAPE_IF_NOT_NIL:
    case SHAPE_IF_NOT_NIL_0: return if_nil(c, 0, 1);
    case SHAPE_IF_NIL_NOT_NIL: return if_nil(c, 1, 2);
    case SHAPE_IF_NOT_NIL_NIL: return if_nil(c, 2, 1);
    case SHAPE_WHILE_TRUE: return while_loop(c, true);
    case SHAPE_WHILE_FALSE: return while_loop(c, false);
    case SHAPE_REPEAT: return repeat(c);
    case SHAPE_TIMES: return count_loop(c, 1);
    case SHAPE_TO_DO: return count_loop(c, 2);
    case SHAPE_TO_BY_DO: return count_loop(c, 3);
    case SHAPE_ON_DO:
    case SHAPE_ON_DO_0: return on_do(c);
    case SHAPE_ENSURE: return ensure(c);
    case SHAPE_VALUE_0: return call(c, 0, NULL, NULL);
    case SHAPE_VALUE_1:
    case SHAPE_VALUE_2:
    case SHAPE_VALUE_3:
        return ref_literal(c->run, c->env, c->node->kids[0], c->node->kid_count - 1, c->kids + 1);
    case SHAPE_DO_WITH_KEY:
    case SHAPE_KEYS_AND_VALUES: return each_pair(c);
    case SHAPE_AT_IF_ABSENT: return at_if_absent(c);
    case SHAPE_TRY_DO: return try_do(c);
    default: return over_list(c);
    }
}

static Value *evaluate(Construct *c) {
    const Node *node = c->node;
    if (node->kind == N_MATCH) return match(c->run, c->env, node);
    for (int i = 0; i < node->kid_count; i++)
        if (node->kids[i]->kind != N_BLOCK && !(c->kids[i] = ref_eval(c->run, c->env, node->kids[i])))
            return NULL;
    return apply(c);
}

/* A region counts as raising also when it took the error itself. */
Value *ref_construct(Run *run, Env *env, const Node *node) {
    int shape = node->kind == N_MATCH ? SHAPE_MATCH : node->op;
    Construct c = {.run = run, .env = env, .node = node};
    Value *value = evaluate(&c);
    if (run->gave_up) return NULL;
    Outcome outcome = !value ? run->signal.outcome : c.failed ? OUTCOME_RAISED : OUTCOME_NORMAL;
    if (run->coverage) run->coverage->hits[shape][node->position][outcome]++;
    return value;
}
