/* Folds: do:, collect:, inject:into: and kin with a literal block.
 *
 * Where the receiver is a List the loop stands in place, with the block's text inlined (its twin, a copy that
 * facts.c has visited as such); any other receiver gets the ordinary send with the block as a closure. Locals
 * that the block writes live in carriers, so both see the same. The loops do what stdlib/List.bt does, answer
 * and order of evaluation included.
 */
#include "compiler/lower.h"

typedef struct {
    Construct construct;
    Node *twin;
    IrAtom list, start; /* start: of inject:into: */
    Span span;
    PtrSet threads; /* of the block, and `result` */
    Var *result;    /* what the loop carries, NULL for do: */
    IrAtom element; /* in the loop */
} Fold;

static bool is_filter(Construct c) {
    return c == CTRL_FOLD_SELECT || c == CTRL_FOLD_REJECT || c == CTRL_FOLD_COUNT;
}

/* ---- what each round does with the block's answer ---- */

static void put_in_front(Lower *l, const Fold *f, IrAtom value) {
    IrAtom *operands = lower_atoms(l, 2);
    operands[0] = value;
    operands[1] = lower_read(l, f->result, f->span);
    lower_write(l, f->result, lower_bind(l, IR_CONSTAIL, operands, 2, 0, 0, f->span), f->span);
}

static void add_one(Lower *l, const Fold *f) {
    IrAtom sum = lower_bind2(l, IR_ADD, lower_read(l, f->result, f->span), atom_int(1), 0, f->span);
    lower_write(l, f->result, sum, f->span);
}

/* The element counts if the answer says so; what is no Boolean does not understand the question. */
static void keep_if(Lower *l, const Fold *f, IrAtom answer) {
    static const PtrSet NONE = {0};
    bool reject = f->construct == CTRL_FOLD_REJECT;
    PtrSet threads = {0};
    ptr_set_add(&threads, l->a->arena, f->result);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, f->span);
    s->operands[0] = answer;
    s->imm = lower_symbol(l, reject ? l->a->names.if_false : l->a->names.if_true);
    s->flags = 1;
    for (uint32_t arm = 0; arm < 2; arm++) {
        bool keeps = arm == (reject ? 1 : 0);
        FrameMark mark = lower_frame_enter(l, s, arm, FRAME_BranchArm, keeps ? &threads : &NONE);
        if (keeps && f->construct == CTRL_FOLD_COUNT) add_one(l, f);
        if (keeps && f->construct != CTRL_FOLD_COUNT) put_in_front(l, f, lower_refresh(l, f->element));
        lower_frame_leave(l, &mark, NIL_ATOM);
    }
    lower_construct_end(l, s, &threads, POS_VALUE);
}

static void lower_answered(Lower *l, const Fold *f, IrAtom answer) {
    if (is_filter(f->construct))
        keep_if(l, f, answer);
    else if (f->construct == CTRL_FOLD_COLLECT)
        put_in_front(l, f, answer);
    else if (f->construct == CTRL_FOLD_INJECT)
        lower_write(l, f->result, answer, f->span);
    else if (f->construct == CTRL_FOLD_WITH_INDEX)
        add_one(l, f);
}

/* ---- the loop ---- */

/* The parameter of the block that gets what the loop carries, NULL if none does. */
static Var *carried_param(const Fold *f) {
    NodeList params = f->twin->as.block.params;
    if (f->construct == CTRL_FOLD_INJECT) return params.items[0]->facts;
    return f->construct == CTRL_FOLD_WITH_INDEX ? params.items[1]->facts : NULL;
}

/* It is the parameter itself where nobody could tell. */
static Var *result_of(Lower *l, const Fold *f) {
    Var *param = carried_param(f);
    bool same = param && !param->carrier && (f->construct == CTRL_FOLD_INJECT || !param->writes);
    return same ? param : lower_hidden_var(l, l->a->names.empty);
}

static void bind_block(Lower *l, const Fold *f, Var *element, bool plain) {
    Var *param = carried_param(f);
    if (param && param != f->result) lower_param(l, param, lower_read(l, f->result, f->span), f->span);
    if (plain) lower_param(l, element, f->element, f->span);
}

static void lower_each(Lower *l, Fold *f) {
    NodeList params = f->twin->as.block.params;
    Var *element = params.items[f->construct == CTRL_FOLD_INJECT ? 1 : 0]->facts;
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_EACH, 1, 1, f->span);
    s->operands[0] = f->list;
    bool plain = element->carrier || (element->writes && is_filter(f->construct));
    s->index_local = plain ? lower_local_plain(l, element->name) : lower_local(l, element);
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_Loop, &f->threads);
    lower_mint(l, s->index_local);
    f->element = (IrAtom){ATOM_LOCAL, s->index_local, l->fn->current[s->index_local]};
    bind_block(l, f, element, plain);
    IrAtom answer = lower_statements(l, f->twin->as.block.body, POS_VALUE);
    if (!lower_is_dead(l)) lower_answered(l, f, answer);
    lower_frame_leave(l, &mark, NIL_ATOM);
    lower_construct_end(l, s, &f->threads, POS_VALUE);
}

static IrAtom first_result(Lower *l, const Fold *f) {
    switch (f->construct) {
    case CTRL_FOLD_INJECT: return f->start;
    case CTRL_FOLD_COUNT: return atom_int(0);
    case CTRL_FOLD_WITH_INDEX: return atom_int(1);
    default: return lower_bind(l, IR_LIST, NULL, 0, 0, 0, f->span);
    }
}

static IrAtom lower_over_list(Lower *l, Fold *f) {
    if (f->construct != CTRL_FOLD_DO) {
        f->result = result_of(l, f);
        lower_write(l, f->result, first_result(l, f), f->span);
        ptr_set_add(&f->threads, l->a->arena, f->result);
    }
    lower_each(l, f);
    switch (f->construct) {
    case CTRL_FOLD_DO:
    case CTRL_FOLD_WITH_INDEX: return NIL_ATOM;
    case CTRL_FOLD_INJECT:
    case CTRL_FOLD_COUNT: return lower_read(l, f->result, f->span);
    default: return lower_send1(l, IR_SEND, l->a->names.turned, lower_read(l, f->result, f->span), f->span);
    }
}

IrAtom lower_sent(Lower *l, Node *node, const Operands *evaluated) {
    NodeList args = node->as.send.args;
    Operands o;
    lower_operands_begin(l, &o, args.count + 1);
    for (uint32_t i = 0; i < evaluated->count; i++)
        lower_operands_add(l, &o, lower_refresh(l, evaluated->atoms[i]));
    for (uint32_t i = evaluated->count - 1; i < args.count; i++)
        lower_operands_add(l, &o, lower_closure(l, literal_block(args.items[i])));
    return lower_finish_send(l, node, node->as.send.receiver, &o, POS_VALUE);
}

IrAtom lower_fold(Lower *l, Node *node, Node *twin, Position pos) {
    static const PtrSet NONE = {0};
    const SelectorInfo *info = node->facts;
    NodeList args = node->as.send.args;
    Operands o;
    lower_operands_begin(l, &o, args.count);
    lower_operands_add(l, &o, lower_expr(l, node->as.send.receiver));
    for (uint32_t i = 0; i + 1 < args.count; i++) lower_operands_add(l, &o, lower_expr(l, args.items[i]));
    lower_operands_settle(l, &o, node->span);
    PtrSet threads = {0};
    threaded_locals_of(l->a, twin, &threads);
    IrAtom test = lower_bind1(l, IR_ISLIST, lower_refresh(l, o.atoms[0]), 0, node->span);
    IrStmt *s = lower_construct_begin(l, CONSTRUCT_IF, 1, 2, node->span);
    s->operands[0] = test;
    FrameMark mark = lower_frame_enter(l, s, 0, FRAME_BranchArm, &threads);
    Fold f = {.construct = info->construct, .twin = twin, .span = twin->span};
    threaded_locals_of(l->a, twin, &f.threads);
    f.list = lower_refresh(l, o.atoms[0]);
    f.start = o.count > 1 ? lower_refresh(l, o.atoms[1]) : NIL_ATOM;
    lower_frame_leave(l, &mark, lower_over_list(l, &f));
    mark = lower_frame_enter(l, s, 1, FRAME_BranchArm, &NONE);
    lower_frame_leave(l, &mark, lower_sent(l, node, &o));
    return lower_construct_end(l, s, &threads, pos);
}
