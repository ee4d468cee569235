/* Inlined constructs: conditionals, loops, regions, values of literal blocks (semantics 5).
 *
 * Each is a producer in the sense of ADR 0131: a construct statement, one REBIND per threaded local behind it
 * in the same frame, and a temp with its value.
 */
#include "compiler/lower.h"

/* ---- branches ---- */

/* One arm: a literal block whose parameter, if any, gets `argument`; or just a value. */
typedef struct {
    Node *block;
    IrAtom value, argument;
} Arm;

static Arm arm_of(Node *block) { return (Arm){.block = inlined_block(block)}; }
static Arm arm_value(IrAtom value) { return (Arm){.value = value}; }

static void lower_arm(Lower *l, IrStmt *construct, uint32_t index, IrFrameKind kind, Arm arm, Position pos) {
    PtrSet threads = {0};
    if (arm.block) threaded_locals_of(l->a, arm.block, &threads);
    FrameMark mark = lower_frame_enter(l, construct, index, kind, &threads);
    IrAtom value = NIL_ATOM;
    if (arm.block) {
        NodeList params = arm.block->as.block.params;
        if (params.count)
            lower_param(l, params.items[0]->facts, lower_refresh(l, arm.argument), arm.block->span);
        value = lower_statements(l, arm.block->as.block.body, pos);
    } else {
        value = lower_refresh(l, arm.value);
    }
    lower_frame_leave(l, &mark, value);
}

/* `imm`: selector of the send for a condition that is no Boolean, BC_NONE if it is one for certain. */
static IrAtom lower_if(Lower *l, Span span, IrAtom condition, uint32_t imm, uint8_t argc, Arm yes, Arm no,
                       Position pos) {
    PtrSet threads = {0};
    if (yes.block) threaded_locals_of(l->a, yes.block, &threads);
    if (no.block) threaded_locals_of(l->a, no.block, &threads);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, span);
    s->operands[0] = condition;
    s->imm = imm;
    s->flags = argc;
    lower_arm(l, s, 0, FRAME_BranchArm, yes, position_inside(pos));
    lower_arm(l, s, 1, FRAME_BranchArm, no, position_inside(pos));
    return lower_construct_end(l, s, &threads, pos);
}

static bool is_boolean(const Lower *l, const Node *node) {
    node = ast_unparen((Node *)(uintptr_t)node);
    if (node->kind == AST_IDENT)
        return !node->facts && (node->as.name == l->a->names.true_ || node->as.name == l->a->names.false_);
    if (node->kind != AST_SEND || !node->facts) return false;
    const SelectorInfo *info = node->facts;
    return info->op == IR_EQ || info->op == IR_NE || info->op == IR_SEQ || info->op == IR_SNE;
}

/* Untaken, such an arm answers nil rather than the receiver (semantics 5). */
static IrAtom untaken(const Node *block, IrAtom receiver) {
    const BlockFacts *b = inlined_block((Node *)(uintptr_t)block)->facts;
    return b->writes_outer || b->field_written ? NIL_ATOM : receiver;
}

/* Is the message compiled too, for receivers of a class that has such a method? */
static bool is_also_sent(const Node *node) {
    NodeList args = node->as.send.args;
    const BlockFacts *last = literal_block(args.items[args.count - 1])->facts;
    return last->twin;
}

static IrAtom lower_on_boolean(Lower *l, Node *node, const SelectorInfo *info, IrAtom condition, uint32_t imm,
                               Position pos) {
    Node **args = node->as.send.args.items;
    uint8_t argc = (uint8_t)node->as.send.args.count;
    const IrAtom yes_atom = ATOM(ATOM_TRUE, 0), no_atom = ATOM(ATOM_FALSE, 0);
    Arm yes, no;
    switch (info->construct) {
    case CTRL_IF_TRUE:
        yes = arm_of(args[0]);
        no = arm_value(untaken(args[0], no_atom));
        break;
    case CTRL_IF_FALSE:
        yes = arm_value(untaken(args[0], yes_atom));
        no = arm_of(args[0]);
        break;
    case CTRL_AND:
        yes = arm_of(args[0]);
        no = arm_value(no_atom);
        break;
    case CTRL_OR:
        yes = arm_value(yes_atom);
        no = arm_of(args[0]);
        break;
    default:
        yes = arm_of(args[0]);
        no = arm_of(args[1]);
        break;
    }
    return lower_if(l, node->span, condition, imm, argc, yes, no, pos);
}

static IrAtom lower_conditional(Lower *l, Node *node, const SelectorInfo *info, Position pos) {
    static const PtrSet NONE = {0};
    Node *receiver = node->as.send.receiver;
    IrAtom condition = lower_expr(l, receiver);
    if (is_boolean(l, receiver) || !is_also_sent(node)) {
        uint32_t imm = is_boolean(l, receiver) ? BC_NONE : lower_symbol(l, node->as.send.selector);
        return lower_on_boolean(l, node, info, condition, imm, pos);
    }
    Operands o;
    lower_operands_begin(l, &o, 1);
    lower_operands_add(l, &o, condition);
    PtrSet threads = {0};
    threaded_locals_of(l->a, node, &threads);
    IrAtom test = lower_bind1(l, IR_ISBOOL, condition, 0, node->span);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, node->span);
    s->operands[0] = test;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &threads);
    IrAtom value =
        lower_on_boolean(l, node, info, lower_refresh(l, condition), BC_NONE, position_inside(pos));
    lower_frame_leave(l, &mark, value);
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NONE);
    lower_frame_leave(l, &mark, lower_sent(l, node, &o));
    return lower_construct_end(l, s, &threads, pos);
}

static IrAtom lower_nil_test(Lower *l, Node *node, const SelectorInfo *info, Position pos) {
    Node **args = node->as.send.args.items;
    IrAtom value = lower_expr(l, node->as.send.receiver);
    Arm nil_arm = arm_value(NIL_ATOM), other = arm_value(value);
    switch (info->construct) {
    case CTRL_IF_NIL: nil_arm = arm_of(args[0]); break;
    case CTRL_IF_NOT_NIL: other = arm_of(args[0]); break;
    case CTRL_IF_NIL_NOT_NIL:
        nil_arm = arm_of(args[0]);
        other = arm_of(args[1]);
        break;
    default:
        nil_arm = arm_of(args[1]);
        other = arm_of(args[0]);
        break;
    }
    other.argument = value;
    IrAtom test = lower_bind1(l, IR_ISNIL, value, 0, node->span);
    return lower_if(l, node->span, test, BC_NONE, 0, nil_arm, other, pos);
}

/* ---- loops ---- */

static void lower_loop_frame(Lower *l, IrStmt *s, uint32_t index, IrFrameKind kind, Node *block,
                             const PtrSet *threads) {
    FrameMark mark = lower_frame_enter(l, s, index, kind, threads);
    IrAtom value = lower_statements(l, literal_block(block)->as.block.body, POS_VALUE);
    lower_frame_leave(l, &mark, value);
}

static IrAtom lower_while(Lower *l, Node *node, const SelectorInfo *info, Position pos) {
    PtrSet threads = {0};
    threaded_locals_of(l->a, node, &threads);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_WHILE, 0, 2, node->span);
    NodeList condition = literal_block(node->as.send.receiver)->as.block.body;
    bool certain = condition.count && is_boolean(l, condition.items[condition.count - 1]);
    s->negate = info->construct == CTRL_WHILE_FALSE;
    s->imm = certain ? BC_NONE : lower_symbol(l, node->as.send.selector);
    s->flags = 1;
    lower_loop_frame(l, s, 0, FRAME_Condition, node->as.send.receiver, &threads);
    lower_loop_frame(l, s, 1, FRAME_Loop, node->as.send.args.items[0], &threads);
    lower_construct_end(l, s, &threads, pos);
    return NIL_ATOM;
}

static IrAtom lower_repeat(Lower *l, Node *node, Position pos) {
    PtrSet threads = {0};
    threaded_locals_of(l->a, node, &threads);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_REPEAT, 0, 1, node->span);
    lower_loop_frame(l, s, 0, FRAME_Loop, node->as.send.receiver, &threads);
    lower_construct_end(l, s, &threads, pos);
    return NIL_ATOM;
}

/* The counting itself; `index` NULL for timesRepeat:. */
static void lower_count(Lower *l, Node *block, Var *index, const IrAtom range[3], const PtrSet *threads,
                        Position pos) {
    Span span = block->span;
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_COUNT, 3, 1, span);
    for (int i = 0; i < 3; i++) s->operands[i] = lower_refresh(l, range[i]);
    bool plain = !index || index->carrier;
    s->index_local =
        plain ? lower_local_plain(l, index ? index->name : l->a->names.empty) : lower_local(l, index);
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_Loop, threads);
    lower_mint(l, s->index_local);
    if (index && plain)
        lower_param(l, index, (IrAtom){ATOM_LOCAL, s->index_local, l->fn->current[s->index_local]}, span);
    IrAtom value = lower_statements(l, block->as.block.body, POS_VALUE);
    lower_frame_leave(l, &mark, value);
    lower_construct_end(l, s, threads, pos);
}

/* true if all of the range that is not literal is an Integer. */
static IrAtom test_integers(Lower *l, const IrAtom *range, uint32_t count, Span span) {
    static const PtrSet NONE = {0};
    while (count && range[0].kind == ATOM_INT) range++, count--;
    if (!count) return ATOM(ATOM_TRUE, 0);
    IrAtom test = lower_bind1(l, IR_ISINT, lower_refresh(l, range[0]), 0, span);
    bool more = false;
    for (uint32_t i = 1; i < count; i++) more = more || range[i].kind != ATOM_INT;
    if (!more) return test;
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, span);
    s->operands[0] = test;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &NONE);
    lower_frame_leave(l, &mark, test_integers(l, range + 1, count - 1, span));
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NONE);
    lower_frame_leave(l, &mark, ATOM(ATOM_FALSE, 0));
    return lower_construct_end(l, s, &NONE, POS_VALUE);
}

/* Anything but Integers gets the ordinary send (does_not_understand, mostly). Its block has no code of its
 * own: what stands for it says so when it is used. */
static IrAtom lower_ordinary(Lower *l, Node *node, const Operands *o) {
    if (is_also_sent(node)) return lower_sent(l, node, o);
    IrAtom *operands = lower_atoms(l, o->count + 1);
    for (uint32_t i = 0; i < o->count; i++) operands[i] = lower_refresh(l, o->atoms[i]);
    operands[o->count] = lower_bind0(l, IR_CLASS, ir_const_inlined_block(l->unit), node->span);
    return lower_send_named(l, IR_SEND, node->as.send.selector, operands, o->count + 1, node->span);
}

static IrAtom lower_counted(Lower *l, Node *node, const SelectorInfo *info, Position pos) {
    NodeList args = node->as.send.args;
    Node *block = inlined_block(args.items[args.count - 1]);
    Var *index = block->as.block.params.count ? block->as.block.params.items[0]->facts : NULL;
    Operands o;
    lower_operands_begin(l, &o, 3);
    lower_operands_add(l, &o, lower_expr(l, node->as.send.receiver));
    for (uint32_t i = 0; i + 1 < args.count; i++) lower_operands_add(l, &o, lower_expr(l, args.items[i]));
    lower_operands_settle(l, &o, node->span);
    bool times = info->construct == CTRL_TIMES;
    IrAtom range[3] = {times ? atom_int(1) : o.atoms[0], times ? o.atoms[0] : o.atoms[1],
                       o.count == 3 ? o.atoms[2] : atom_int(1)};
    PtrSet threads = {0};
    threaded_locals_of(l->a, node, &threads);
    IrAtom test = test_integers(l, o.atoms, o.count, node->span);
    if (test.kind == ATOM_TRUE) {
        lower_count(l, block, index, range, &threads, pos);
        return NIL_ATOM;
    }
    static const PtrSet NONE = {0};
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, node->span);
    s->operands[0] = test;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &threads);
    lower_count(l, block, index, range, &threads, POS_VALUE);
    lower_frame_leave(l, &mark, NIL_ATOM);
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NONE);
    lower_frame_leave(l, &mark, lower_ordinary(l, node, &o));
    return lower_construct_end(l, s, &threads, pos);
}

/* ---- regions ---- */

static IrAtom lower_on_do(Lower *l, Node *node, Position pos) {
    Node *body = literal_block(node->as.send.receiver), *handler = literal_block(node->as.send.args.items[1]);
    IrAtom filter = lower_expr(l, node->as.send.args.items[0]);
    PtrSet threads = {0};
    threaded_locals_of(l->a, node, &threads);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_ONDO, 1, 2, node->span);
    s->operands[0] = filter;
    s->exception = l->fn->ir->temp_count++;
    l->fn->regions++;
    lower_arm(l, s, 0, FRAME_Protected, arm_of(body), POS_VALUE);
    lower_arm(l, s, 1, FRAME_Handler, (Arm){.block = handler, .argument = ATOM(ATOM_TEMP, s->exception)},
              POS_VALUE);
    l->fn->regions--;
    return lower_construct_end(l, s, &threads, pos);
}

static IrAtom lower_ensure(Lower *l, Node *node, Position pos) {
    PtrSet threads = {0};
    threaded_locals_of(l->a, node, &threads);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_ENSURE, 0, 2, node->span);
    l->fn->regions++;
    lower_arm(l, s, 0, FRAME_Protected, arm_of(node->as.send.receiver), POS_VALUE);
    lower_arm(l, s, 1, FRAME_Cleanup, arm_of(node->as.send.args.items[0]), POS_VALUE);
    l->fn->regions--;
    return lower_construct_end(l, s, &threads, pos);
}

/* ---- value of a literal block ---- */

static IrAtom lower_value(Lower *l, Node *node, Position pos) {
    Node *block = literal_block(node->as.send.receiver);
    NodeList params = block->as.block.params, args = node->as.send.args;
    Operands o;
    lower_operands_begin(l, &o, args.count);
    for (uint32_t i = 0; i < args.count; i++) lower_operands_add(l, &o, lower_expr(l, args.items[i]));
    lower_operands_settle(l, &o, node->span);
    for (uint32_t i = 0; i < params.count; i++)
        lower_param(l, params.items[i]->facts, o.atoms[i], node->span);
    return lower_statements(l, block->as.block.body, pos);
}

IrAtom lower_construct(Lower *l, Node *node, const SelectorInfo *info, Position pos) {
    switch (info->construct) {
    case CTRL_IF_NIL:
    case CTRL_IF_NOT_NIL:
    case CTRL_IF_NIL_NOT_NIL:
    case CTRL_IF_NOT_NIL_NIL: return lower_nil_test(l, node, info, pos);
    case CTRL_WHILE_TRUE:
    case CTRL_WHILE_FALSE: return lower_while(l, node, info, pos);
    case CTRL_REPEAT: return lower_repeat(l, node, pos);
    case CTRL_TIMES:
    case CTRL_TO_DO:
    case CTRL_TO_BY_DO: return lower_counted(l, node, info, pos);
    case CTRL_ON_DO: return lower_on_do(l, node, pos);
    case CTRL_ENSURE: return lower_ensure(l, node, pos);
    case CTRL_VALUE: return lower_value(l, node, pos);
    default: return lower_conditional(l, node, info, pos);
    }
}
