/* match: and destructuring assignment (semantics 13).
 *
 * An arm is a test, then its bindings and body in one branch, the arms behind it in the other. Pattern parts
 * are read by PATGET, which answers the hole instead of raising, so a test never fails otherwise than by
 * false. Long matches are cut into chains of MAX_CHAIN arms that hand on "nothing matched" in a local, so
 * that frames do not nest as deep as the source is long.
 */
#include "compiler/lower.h"

enum { MAX_CHAIN = 24 };
enum { PART_TUPLE, PART_ARRAY, PART_MAP, PART_RESULT };

static const PtrSet NO_THREADS = {0};

/* ---- tests ---- */

typedef IrAtom (*TestBody)(Lower *l, const Node *pattern, IrAtom value, const void *context);

/* test and: [body of the pattern], as a conditional. */
static IrAtom test_and(Lower *l, IrAtom test, TestBody body, const Node *pattern, IrAtom value,
                       const void *context) {
    if (test.kind == ATOM_TRUE) return body(l, pattern, lower_refresh(l, value), context);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, pattern->span);
    s->operands[0] = test;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &NO_THREADS);
    lower_frame_leave(l, &mark, body(l, pattern, lower_refresh(l, value), context));
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NO_THREADS);
    lower_frame_leave(l, &mark, ATOM(ATOM_FALSE, 0));
    return lower_construct_end(l, s, &NO_THREADS, POS_VALUE);
}

static IrAtom test_pattern(Lower *l, const Node *p, IrAtom value, const void *context);

static IrAtom part(Lower *l, IrAtom value, IrAtom key, uint32_t kind, Span span) {
    return lower_bind2(l, IR_PATGET, value, key, kind, span);
}

static bool is_open(const Node *p) { return p->kind == AST_PAT_WILD || p->kind == AST_PAT_VAR; }

static uint32_t sequence_part(const Node *p) { return p->kind == AST_PAT_TUPLE ? PART_TUPLE : PART_ARRAY; }

/* An earlier element of an array pattern with the same name, or -1. */
static int32_t repeated(const Node *p, uint32_t index) {
    const Node *element = p->as.pat_sequence.elements.items[index];
    if (p->kind != AST_PAT_ARRAY || element->kind != AST_PAT_VAR) return -1;
    for (uint32_t j = 0; j < index; j++) {
        const Node *other = p->as.pat_sequence.elements.items[j];
        if (other->kind == AST_PAT_VAR && other->as.name == element->as.name) return (int32_t)j;
    }
    return -1;
}

static IrAtom test_element(Lower *l, const Node *p, IrAtom value, const void *context) {
    uint32_t index = *(const uint32_t *)context;
    uint32_t kind = sequence_part(p);
    const Node *element = p->as.pat_sequence.elements.items[index];
    IrAtom item = part(l, value, atom_int((int32_t)index + 1), kind, element->span);
    int32_t other = repeated(p, index);
    if (other < 0) return test_pattern(l, element, item, NULL);
    IrAtom first = part(l, value, atom_int(other + 1), kind, element->span);
    return lower_bind2(l, IR_SEQ, item, first, 0, element->span);
}

static IrAtom test_sequence(Lower *l, const Node *p, IrAtom value) {
    NodeList elements = p->as.pat_sequence.elements;
    IrAtom size = lower_bind1(l, IR_PATSIZE, value, sequence_part(p), p->span);
    IrAtom want = atom_int((int32_t)elements.count);
    IrAtom test = p->as.pat_sequence.rest ? lower_bind2(l, IR_TLE, want, size, 0, p->span)
                                          : lower_bind2(l, IR_SEQ, size, want, 0, p->span);
    for (uint32_t i = 0; i < elements.count; i++) {
        if (is_open(elements.items[i]) && repeated(p, i) < 0) continue;
        test = test_and(l, test, test_element, p, value, &i);
    }
    return test;
}

static IrAtom map_key(Lower *l, const Node *key) {
    if (key->kind == AST_PAT_LITERAL) key = key->as.child;
    return lower_literal(l, key);
}

/* A part that may be missing: false if it is the hole, else the test of the pattern inside. */
static IrAtom test_present(Lower *l, const Node *inner, IrAtom item) {
    IrAtom hole = lower_bind1(l, IR_ISHOLE, item, 0, inner->span);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, inner->span);
    s->operands[0] = hole;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &NO_THREADS);
    lower_frame_leave(l, &mark, ATOM(ATOM_FALSE, 0));
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NO_THREADS);
    lower_frame_leave(l, &mark, test_pattern(l, inner, item, NULL));
    return lower_construct_end(l, s, &NO_THREADS, POS_VALUE);
}

static IrAtom test_pair(Lower *l, const Node *pair, IrAtom value, const void *context) {
    (void)context;
    IrAtom item = part(l, value, map_key(l, pair->as.pair.key), PART_MAP, pair->span);
    return test_present(l, pair->as.pair.value, item);
}

static IrAtom test_map(Lower *l, const Node *p, IrAtom value) {
    IrAtom size = lower_bind1(l, IR_PATSIZE, value, PART_MAP, p->span);
    IrAtom test = lower_bind2(l, IR_TLE, atom_int(0), size, 0, p->span);
    for (uint32_t i = 0; i < p->as.list.count; i++)
        test = test_and(l, test, test_pair, p->as.list.items[i], value, NULL);
    return test;
}

/* `Result ok: p`: the part is named by the keyword without its colon. */
static IrAtom result_part(Lower *l, const Node *p, IrAtom value) {
    const Node *arg = p->as.pat_ctor.args.items[0];
    bool ok = arg->as.ctor_arg.keyword == l->a->names.ok_keyword;
    const char *name = ok ? l->a->names.ok : l->a->names.error;
    return part(l, value, lower_bind0(l, IR_CONST, lower_symbol(l, name), p->span), PART_RESULT, p->span);
}

/* ---- binary patterns: one message to the library (stdlib/BinaryPattern.bt) ---- */

/* The size of a segment as the library wants it: a number, -1 for none, -2 - k for the value of segment k. */
static IrAtom segment_size(Lower *l, const Node *p, uint32_t index) {
    const Node *size = p->as.list.items[index]->as.segment.size;
    if (!size) return atom_int(-1);
    if (size->kind != AST_IDENT) return lower_literal(l, size);
    for (uint32_t k = index; k-- > 0;) {
        const Node *value = p->as.list.items[k]->as.segment.value;
        if (value->kind == AST_PAT_VAR && value->facts == size->facts) return atom_int(-2 - (int32_t)k);
    }
    return size->facts ? lower_read(l, size->facts, size->span) : atom_int(-1);
}

static int32_t segment_type(uint8_t type) {
    return type == SEG_FLOAT ? 1 : type == SEG_BINARY ? 2 : type == SEG_UTF8 ? 3 : 0;
}

/* A Tuple of the segments' values, or nil. */
static IrAtom segment_values(Lower *l, const Node *p, IrAtom value, const void *context) {
    (void)context;
    uint32_t count = p->as.list.count;
    IrAtom *spec = lower_atoms(l, count * 3);
    for (uint32_t i = 0; i < count; i++) {
        const Node *s = p->as.list.items[i];
        bool little = s->as.segment.endian == SEG_LITTLE || s->as.segment.endian == SEG_NATIVE;
        spec[(size_t)i * 3] = atom_int(segment_type(s->as.segment.type));
        spec[i * 3 + 1] = segment_size(l, p, i);
        spec[i * 3 + 2] = atom_int((s->as.segment.sign == SEG_SIGNED) + (little ? 2 : 0));
    }
    IrAtom segments = lower_bind(l, IR_LIST, spec, count * 3, 0, 0, p->span);
    return lower_send2(l, IR_SEND, l->a->names.match_segments, value, segments, p->span);
}

static IrAtom segments_fit(Lower *l, const Node *p, IrAtom value, const void *context) {
    IrAtom missing = lower_bind1(l, IR_ISNIL, segment_values(l, p, value, context), 0, p->span);
    return lower_bind2(l, IR_SEQ, missing, ATOM(ATOM_FALSE, 0), 0, p->span);
}

static IrAtom test_binary(Lower *l, const Node *p, IrAtom value) {
    IrAtom bytes = lower_bind1(l, IR_TYPETEST, value, lower_symbol(l, l->a->names.Binary), p->span);
    return test_and(l, bytes, segments_fit, p, value, NULL);
}

static IrAtom test_literal(Lower *l, const Node *p, IrAtom value) {
    const Node *literal = p->as.child;
    return lower_bind2(l, IR_SEQ, value, lower_literal(l, literal), 0, p->span);
}

static IrAtom test_pattern(Lower *l, const Node *p, IrAtom value, const void *context) {
    (void)context;
    switch ((AstKind)p->kind) {
    case AST_PAT_NIL: return lower_bind1(l, IR_ISNIL, value, 0, p->span);
    case AST_PAT_LITERAL: return test_literal(l, p, value);
    case AST_PAT_TYPE:
        return lower_bind1(l, IR_TYPETEST, value, lower_symbol(l, p->as.pat_type.class_name), p->span);
    case AST_PAT_TUPLE:
    case AST_PAT_ARRAY: return test_sequence(l, p, value);
    case AST_PAT_MAP: return test_map(l, p, value);
    case AST_PAT_BINARY: return test_binary(l, p, value);
    case AST_PAT_CTOR:
        return test_present(l, p->as.pat_ctor.args.items[0]->as.ctor_arg.pattern, result_part(l, p, value));
    default: return ATOM(ATOM_TRUE, 0);
    }
}

/* ---- bindings ---- */

static bool binds(const Node *p) {
    switch ((AstKind)p->kind) {
    case AST_PAT_VAR:
    case AST_PAT_TYPE: return true;
    case AST_PAT_TUPLE:
    case AST_PAT_ARRAY:
        if (p->as.pat_sequence.rest && binds(p->as.pat_sequence.rest)) return true;
        for (uint32_t i = 0; i < p->as.pat_sequence.elements.count; i++)
            if (binds(p->as.pat_sequence.elements.items[i])) return true;
        return false;
    case AST_PAT_MAP:
        for (uint32_t i = 0; i < p->as.list.count; i++)
            if (binds(p->as.list.items[i]->as.pair.value)) return true;
        return false;
    case AST_PAT_CTOR: return binds(p->as.pat_ctor.args.items[0]->as.ctor_arg.pattern);
    case AST_PAT_BINARY:
        for (uint32_t i = 0; i < p->as.list.count; i++)
            if (binds(p->as.list.items[i]->as.segment.value)) return true;
        return false;
    default: return false;
    }
}

/* For a guard the variables are just names for the parts; for a body they are variables. */
static void bind_name(Lower *l, const Node *p, IrAtom value, bool for_guard) {
    Var *var = p->facts;
    if (!var) return;
    if (!for_guard) {
        lower_param(l, var, value, p->span);
        return;
    }
    var->atom = lower_lasting(l, value, p->span);
    var->placed = true;
}

static void bind_pattern(Lower *l, const Node *p, IrAtom value, bool for_guard);

static void bind_sequence(Lower *l, const Node *p, IrAtom value, bool for_guard) {
    NodeList elements = p->as.pat_sequence.elements;
    for (uint32_t i = 0; i < elements.count; i++) {
        if (!binds(elements.items[i])) continue;
        IrAtom item = part(l, value, atom_int((int32_t)i + 1), sequence_part(p), elements.items[i]->span);
        bind_pattern(l, elements.items[i], item, for_guard);
    }
    const Node *rest = p->as.pat_sequence.rest;
    if (!rest || rest->kind != AST_PAT_VAR) return;
    IrAtom from = atom_int((int32_t)elements.count + 1);
    bind_name(l, rest, lower_bind2(l, IR_PATREST, value, from, PART_ARRAY, rest->span), for_guard);
}

static void bind_segments(Lower *l, const Node *p, IrAtom value, bool for_guard) {
    IrAtom values = segment_values(l, p, value, NULL);
    for (uint32_t i = 0; i < p->as.list.count; i++) {
        const Node *name = p->as.list.items[i]->as.segment.value;
        if (!binds(name)) continue;
        IrAtom item = part(l, values, atom_int((int32_t)i + 1), PART_TUPLE, name->span);
        bind_pattern(l, name, item, for_guard);
    }
}

static void bind_pattern(Lower *l, const Node *p, IrAtom value, bool for_guard) {
    if (!binds(p)) return;
    switch ((AstKind)p->kind) {
    case AST_PAT_VAR:
    case AST_PAT_TYPE: bind_name(l, p, value, for_guard); return;
    case AST_PAT_TUPLE:
    case AST_PAT_ARRAY: bind_sequence(l, p, value, for_guard); return;
    case AST_PAT_BINARY: bind_segments(l, p, value, for_guard); return;
    case AST_PAT_MAP:
        for (uint32_t i = 0; i < p->as.list.count; i++) {
            const Node *pair = p->as.list.items[i];
            if (!binds(pair->as.pair.value)) continue;
            IrAtom item = part(l, value, map_key(l, pair->as.pair.key), PART_MAP, pair->span);
            bind_pattern(l, pair->as.pair.value, item, for_guard);
        }
        return;
    case AST_PAT_CTOR:
        bind_pattern(l, p->as.pat_ctor.args.items[0]->as.ctor_arg.pattern, result_part(l, p, value),
                     for_guard);
        return;
    default: return;
    }
}

/* ---- guards ---- */

static bool compares(const Node *node) {
    node = ast_unparen((Node *)(uintptr_t)node);
    if (node->kind != AST_SEND || !node->facts) return false;
    const SelectorInfo *info = node->facts;
    return info->op >= IR_LT && info->op <= IR_SNE;
}

static IrAtom guard_body(Lower *l, const Node *pattern, IrAtom value, const void *context) {
    Node *guard = (Node *)(uintptr_t)context;
    bind_pattern(l, pattern, value, true);
    bool outer = l->guard;
    l->guard = true;
    Node *block = literal_block(guard);
    NodeList body = block ? block->as.block.body : (NodeList){&guard, 1};
    IrAtom g = lower_statements(l, body, POS_VALUE);
    l->guard = outer;
    if (body.count && compares(body.items[body.count - 1])) return g;
    return lower_bind2(l, IR_SEQ, g, ATOM(ATOM_TRUE, 0), 0, guard->span);
}

/* ---- arms ---- */

typedef struct {
    IrStmt *construct;
    FrameMark mark;
    PtrSet threads;
} OpenArm;

static IrAtom lower_body(Lower *l, const Node *arm, IrAtom value, Position pos) {
    bind_pattern(l, arm->as.arm.pattern, lower_refresh(l, value), false);
    return lower_at(l, arm->as.arm.body, pos);
}

static IrAtom arm_test(Lower *l, const Node *arm, IrAtom value) {
    const Node *pattern = arm->as.arm.pattern;
    IrAtom test = test_pattern(l, pattern, lower_refresh(l, value), NULL);
    if (!arm->as.arm.guard) return test;
    return test_and(l, test, guard_body, pattern, value, arm->as.arm.guard);
}

static void emit_fail(Lower *l, uint8_t kind, IrAtom value, Span span) {
    IrStmt *s = lower_stmt(l, STMT_FAIL, span);
    s->flags = kind;
    s->imm = BC_NONE;
    s->operands = lower_atoms(l, 1);
    s->operands[0] = lower_refresh(l, value);
    s->operand_count = 1;
    l->fn->frame->ends = true;
}

/* Everything that the arms from `from` on write, and the local that says nothing matched. */
static PtrSet writes_from(Lower *l, NodeList arms, uint32_t from, Var *miss) {
    PtrSet set = {0};
    for (uint32_t i = from; i < arms.count; i++) threaded_locals_of(l->a, arms.items[i], &set);
    if (miss) ptr_set_add(&set, l->a->arena, miss);
    return set;
}

static IrAtom lower_chain(Lower *l, Node *match, NodeList arms, IrAtom value, Var *miss, Position pos) {
    OpenArm open[MAX_CHAIN];
    uint32_t depth = 0, i = 0;
    Position inner = position_inside(pos);
    IrAtom answer = NIL_ATOM;
    for (; i < arms.count; i++) {
        const Node *arm = arms.items[i];
        IrAtom test = arm_test(l, arm, value);
        if (test.kind == ATOM_TRUE) {
            answer = lower_body(l, arm, value, depth ? inner : pos);
            break;
        }
        OpenArm *o = &open[depth++];
        o->threads = writes_from(l, arms, i, miss);
        o->construct = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, arm->span);
        o->construct->operands[0] = test;
        PtrSet own = {0}, rest = writes_from(l, arms, i + 1, miss);
        threaded_locals_of(l->a, arm, &own);
        o->mark = lower_frame_enter(l, o->construct, 0, FRAME_BranchArm, &own);
        lower_frame_leave(l, &o->mark, lower_body(l, arm, value, inner));
        o->mark = lower_frame_enter(l, o->construct, 1, FRAME_BranchArm, &rest);
    }
    if (i == arms.count) {
        if (miss)
            lower_write(l, miss, ATOM(ATOM_TRUE, 0), match->span);
        else
            emit_fail(l, FAIL_CASE_CLAUSE, value, match->span);
    }
    while (depth) {
        OpenArm *o = &open[--depth];
        lower_frame_leave(l, &o->mark, answer);
        answer = lower_construct_end(l, o->construct, &o->threads, depth ? inner : pos);
    }
    return answer;
}

Var *lower_hidden_var(Lower *l, const char *name) {
    Var *var = ARENA_NEW(l->a->arena, Var);
    var->name = name;
    var->fn = l->fn->facts;
    var->writes = 1;
    return var;
}

static IrAtom lower_long_match(Lower *l, Node *match, IrAtom value) {
    NodeList arms = match->as.match.arms;
    Var *miss = lower_hidden_var(l, l->a->names.miss), *result = lower_hidden_var(l, l->a->names.matched);
    Span span = match->span;
    lower_write(l, miss, ATOM(ATOM_TRUE, 0), span);
    lower_write(l, result, NIL_ATOM, span);
    for (uint32_t from = 0; from < arms.count; from += MAX_CHAIN) {
        uint32_t count = arms.count - from < MAX_CHAIN ? arms.count - from : MAX_CHAIN;
        NodeList chain = {arms.items + from, count};
        PtrSet threads = writes_from(l, chain, 0, miss);
        ptr_set_add(&threads, l->a->arena, result);
        IrAtom missing = lower_read(l, miss, span);
        IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, span);
        s->operands[0] = missing;
        FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &threads);
        lower_write(l, miss, ATOM(ATOM_FALSE, 0), span);
        lower_write(l, result, lower_chain(l, match, chain, value, miss, POS_VALUE), span);
        lower_frame_leave(l, &mark, NIL_ATOM);
        mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NO_THREADS);
        lower_frame_leave(l, &mark, NIL_ATOM);
        lower_construct_end(l, s, &threads, POS_VALUE);
    }
    IrAtom missing = lower_read(l, miss, span);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, span);
    s->operands[0] = missing;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &NO_THREADS);
    emit_fail(l, FAIL_CASE_CLAUSE, value, span);
    lower_frame_leave(l, &mark, NIL_ATOM);
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NO_THREADS);
    lower_frame_leave(l, &mark, NIL_ATOM);
    lower_construct_end(l, s, &NO_THREADS, POS_VALUE);
    return lower_read(l, result, span);
}

IrAtom lower_match(Lower *l, Node *match, Position pos) {
    IrAtom value = lower_lasting(l, lower_expr(l, match->as.match.value), match->span);
    if (match->as.match.arms.count > MAX_CHAIN) return lower_long_match(l, match, value);
    return lower_chain(l, match, match->as.match.arms, value, NULL, pos);
}

/* ---- destructuring ---- */

static void fail_unless(Lower *l, IrAtom test, IrAtom value, const Node *p, bool tuple) {
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, p->span);
    s->operands[0] = test;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &NO_THREADS);
    lower_frame_leave(l, &mark, NIL_ATOM);
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NO_THREADS);
    if (tuple)
        lower_bind2(l, IR_DESTRUCT, lower_refresh(l, value), atom_int(1), PART_TUPLE,
                    p->span); /* raises for what is no Tuple */
    emit_fail(l, FAIL_BADMATCH, value, p->span);
    lower_frame_leave(l, &mark, NIL_ATOM);
    lower_construct_end(l, s, &NO_THREADS, POS_VALUE);
}

static void assign_element(Lower *l, const Node *element, IrAtom item, IrAtom whole) {
    if (element->kind == AST_PAT_VAR)
        lower_write(l, element->facts, item, element->span);
    else if (element->kind == AST_PAT_LITERAL)
        fail_unless(l, test_literal(l, element, item), whole, element, false);
    else if (element->kind == AST_PAT_NIL)
        fail_unless(l, lower_bind1(l, IR_ISNIL, item, 0, element->span), whole, element, false);
}

static void assign_sequence(Lower *l, const Node *p, IrAtom value) {
    NodeList elements = p->as.pat_sequence.elements;
    uint32_t kind = sequence_part(p);
    if (kind == PART_TUPLE) {
        IrAtom size = lower_bind1(l, IR_PATSIZE, value, PART_TUPLE, p->span);
        fail_unless(l, lower_bind2(l, IR_SEQ, size, atom_int((int32_t)elements.count), 0, p->span), value, p,
                    true);
    }
    for (uint32_t i = 0; i < elements.count; i++) {
        IrAtom item =
            lower_bind2(l, IR_DESTRUCT, value, atom_int((int32_t)i + 1), kind, elements.items[i]->span);
        assign_element(l, elements.items[i], item, value);
    }
    const Node *rest = p->as.pat_sequence.rest;
    if (!rest || rest->kind != AST_PAT_VAR) return;
    IrAtom from = atom_int((int32_t)elements.count + 1);
    lower_write(l, rest->facts, lower_bind2(l, IR_PATREST, value, from, PART_ARRAY, rest->span), rest->span);
}

IrAtom lower_destructure(Lower *l, Node *node) {
    const Node *p = node->as.destructure.pattern;
    IrAtom value = lower_keep(l, lower_expr(l, node->as.destructure.value), node->span);
    if (p->kind != AST_PAT_MAP) {
        assign_sequence(l, p, value);
        return NIL_ATOM;
    }
    for (uint32_t i = 0; i < p->as.list.count; i++) {
        const Node *pair = p->as.list.items[i];
        IrAtom key = map_key(l, pair->as.pair.key);
        IrAtom item = lower_bind2(l, IR_DESTRUCT, value, key, PART_MAP, pair->span);
        assign_element(l, pair->as.pair.value, item, value);
    }
    return NIL_ATOM;
}
