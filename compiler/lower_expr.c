/* Expressions: literals, names, sends, assignments, statements. */
#include "compiler/lower.h"

#include <string.h>

/* ---- literals ---- */

static IrAtom lower_int(Lower *l, const Node *node) {
    int64_t i = node->as.integer;
    if (i >= INT32_MIN && i <= INT32_MAX) return atom_int((int32_t)i);
    return lower_bind0(l, IR_CONST, ir_const_int(l->unit, i), node->span);
}

IrAtom lower_literal(Lower *l, const Node *node) {
    switch ((AstKind)node->kind) {
    case AST_INT: return lower_int(l, node);
    case AST_FLOAT: return lower_bind0(l, IR_CONST, ir_const_float(l->unit, node->as.real), node->span);
    case AST_STRING:
        return lower_bind0(l, IR_CONST, ir_const_string(l->unit, node->as.text.bytes, node->as.text.length),
                           node->span);
    case AST_SYMBOL: return lower_bind0(l, IR_CONST, lower_symbol(l, node->as.name), node->span);
    case AST_CHAR: return atom_int((int32_t)node->as.code_point);
    default: return NIL_ATOM;
    }
}

/* Elements left to right, then one operation over them. */
static IrAtom lower_elements(Lower *l, IrOp op, NodeList list, Node *tail, Span span) {
    Operands o;
    lower_operands_begin(l, &o, list.count + (tail ? 1 : 0));
    for (uint32_t i = 0; i < list.count; i++) lower_operands_add(l, &o, lower_expr(l, list.items[i]));
    if (tail) lower_operands_add(l, &o, lower_expr(l, tail));
    lower_operands_settle(l, &o, span);
    return lower_bind(l, op, o.atoms, o.count, 0, 0, span);
}

static IrAtom lower_map(Lower *l, const Node *node) {
    NodeList pairs = node->as.list;
    Operands o;
    lower_operands_begin(l, &o, pairs.count * 2);
    for (uint32_t i = 0; i < pairs.count; i++) {
        lower_operands_add(l, &o, lower_expr(l, pairs.items[i]->as.pair.key));
        lower_operands_add(l, &o, lower_expr(l, pairs.items[i]->as.pair.value));
    }
    lower_operands_settle(l, &o, node->span);
    return lower_bind(l, IR_DICT, o.atoms, o.count, 0, 0, node->span);
}

static IrAtom lower_segment(Lower *l, Node *segment) {
    if (segment->kind == AST_STRING) return lower_literal(l, segment);
    return lower_send1(l, IR_SEND, l->a->names.display_string, lower_expr(l, segment), segment->span);
}

static IrAtom lower_interp(Lower *l, const Node *node) {
    NodeList list = node->as.list;
    Operands o;
    lower_operands_begin(l, &o, list.count);
    for (uint32_t i = 0; i < list.count; i++) lower_operands_add(l, &o, lower_segment(l, list.items[i]));
    lower_operands_settle(l, &o, node->span);
    return lower_bind(l, IR_INTERP, o.atoms, o.count, 0, 0, node->span);
}

/* ---- names and fields ---- */

static IrAtom lower_class_name(Lower *l, const char *name, Span span) {
    return lower_bind0(l, IR_CLASS, lower_symbol(l, name), span);
}

/* Names of the workspace that are no classes: each is what its class answers to `__global`. */
static const char *global_class(const Lower *l, const char *name) {
    const struct WellKnown *n = &l->a->names;
    return name == n->Transcript  ? n->TranscriptStream
           : name == n->Workspace ? n->WorkspaceInterface
           : name == n->Beamtalk  ? n->BeamtalkInterface
                                  : NULL;
}

/* A name that `Workspace bind:as:` made: looked up each time. */
static IrAtom lower_shared_name(Lower *l, const char *name, Span span) {
    IrAtom *operands = lower_atoms(l, 2);
    operands[0] = lower_class_name(l, l->a->names.WorkspaceInterface, span);
    operands[1] = lower_bind0(l, IR_CONST, lower_symbol(l, name), span);
    return lower_bind(l, IR_SEND, operands, 2, lower_symbol(l, l->a->names.named), SITE_LITERAL_CLASS, span);
}

static bool is_class_name(const Lower *l, const Node *ref) {
    const char *name = ref->as.class_ref.name;
    return ref->facts || !(global_class(l, name) || facts_shared_name(l->a, name));
}

static IrAtom lower_class_ref(Lower *l, const Node *node) {
    const char *name = node->as.class_ref.name, *keeper = global_class(l, name);
    if (is_class_name(l, node)) return lower_class_name(l, name, node->span);
    if (!keeper) return lower_shared_name(l, name, node->span);
    IrAtom *operands = lower_atoms(l, 1);
    operands[0] = lower_class_name(l, keeper, node->span);
    return lower_bind(l, IR_SEND, operands, 1, lower_symbol(l, l->a->names.global), SITE_LITERAL_CLASS,
                      node->span);
}

static IrAtom lower_ident(Lower *l, const Node *node) {
    if (node->facts) return lower_read(l, node->facts, node->span);
    const char *name = node->as.name;
    const struct WellKnown *n = &l->a->names;
    if (name == n->self || name == l->fn->facts->home->receiver_name) return lower_self(l, node->span);
    if (name == n->true_) return ATOM(ATOM_TRUE, 0);
    if (name == n->false_) return ATOM(ATOM_FALSE, 0);
    if (name == n->nil || !facts_shared_name(l->a, name)) return NIL_ATOM;
    return lower_shared_name(l, name, node->span);
}

/* A home that blocks may be away from: actor state or a class variable. */
static IrAtom bind_home(Lower *l, IrOp op, const char *name, const IrAtom *value, BcCaptureKind kind,
                        Span span) {
    bool in_block = l->fn->facts->parent != NULL;
    for (FnLower *fn = l->fn; op == IR_SETSTATE && !lower_is_dead(l) && fn->facts->parent; fn = fn->parent)
        fn->ir->flags |= FN_ACTOR_FIELDS;
    if (in_block && !value) lower_capture_name(l, l->fn, name, kind);
    IrAtom *operands = lower_atoms(l, value ? 1 : 0);
    if (value) operands[0] = *value;
    return lower_bind(l, op, operands, value ? 1 : 0, lower_symbol(l, name), in_block ? SITE_IN_BLOCK : 0,
                      span);
}

static int32_t slot_of_field(const Lower *l, const char *name) {
    const ClassInfo *c = l->fn->facts->home->class_info;
    return c ? class_slot_of(c, name) : -1;
}

static IrAtom lower_field(Lower *l, const Node *node) {
    const FnFacts *home = l->fn->facts->home;
    const char *name = node->as.field.name;
    Span span = node->span;
    if (home->class_side) return bind_home(l, IR_GETCV, name, NULL, CAP_CLASS_VAR, span);
    if (home->kind == FN_ACTOR_METHOD) return bind_home(l, IR_GETSTATE, name, NULL, CAP_STATE, span);
    int32_t slot = slot_of_field(l, name);
    if (slot >= 0) return lower_bind1(l, IR_GETSLOT, lower_self(l, span), (uint32_t)slot, span);
    /* A slot that only subclasses or builders know. */
    IrAtom self = lower_self(l, span), key = lower_bind0(l, IR_CONST, lower_symbol(l, name), span);
    return lower_send2(l, IR_SENDSELF, l->a->names.field_at, self, key, span);
}

static IrAtom lower_field_write(Lower *l, const Node *target, IrAtom value) {
    FnFacts *home = l->fn->facts->home;
    const char *name = target->as.field.name;
    Span span = target->span;
    if (home->class_side) return bind_home(l, IR_SETCV, name, &value, CAP_CLASS_VAR, span);
    if (home->kind == FN_ACTOR_METHOD) return bind_home(l, IR_SETSTATE, name, &value, CAP_STATE, span);
    int32_t slot = slot_of_field(l, name);
    if (home->test_self && slot >= 0) {
        value = lower_keep(l, value, span);
        IrAtom copy = lower_bind2(l, IR_SETSLOT, lower_self(l, span), value, (uint32_t)slot, span);
        lower_write(l, home->self_var, copy, span);
        return value;
    }
    /* Raises immutable_value: the compiler rejects it, unless an @expect asked for it. */
    value = lower_lasting(l, value, span);
    IrAtom *operands = lower_atoms(l, 3);
    operands[0] = lower_self(l, span);
    operands[1] = lower_bind0(l, IR_CONST, lower_symbol(l, name), span);
    operands[2] = value;
    return lower_send_named(l, IR_SENDSELF, l->a->names.field_at_put, operands, 3, span);
}

/* ---- sends ---- */

/* What kind of send the receiver's spelling makes it. */
static IrOp send_op(const Lower *l, const Node *receiver, const SelectorInfo *info, uint8_t *flags) {
    const Node *r = ast_unparen((Node *)(uintptr_t)receiver);
    *flags = 0;
    if (r->kind == AST_SUPER) return IR_SENDSUPER;
    if (is_self_name(l->a, r)) return IR_SENDSELF;
    if (r->kind == AST_CLASS_REF && is_class_name(l, r)) {
        const FnFacts *home = l->fn->facts->home;
        *flags = SITE_LITERAL_CLASS;
        if (!home->class_side || r->as.class_ref.name != home->class_name) return IR_SEND;
        *flags |= SITE_OWN_CLASS;
        return IR_SENDSELF;
    }
    return info && info->op == IR_CALLBLOCK ? IR_CALLBLOCK : IR_SEND;
}

static IrOp guard_op(IrOp op, bool *swap) {
    *swap = op == IR_GT || op == IR_GE;
    if (op == IR_LT || op == IR_GT) return IR_TLT;
    if (op == IR_LE || op == IR_GE) return IR_TLE;
    return op;
}

static IrAtom lower_operator(Lower *l, const Node *node, IrOp op, const Operands *o) {
    bool swap = false;
    if (l->guard) op = guard_op(op, &swap);
    if (swap) return lower_bind2(l, op, o->atoms[1], o->atoms[0], 0, node->span);
    return lower_bind(l, op, o->atoms, o->count, 0, 0, node->span);
}

static Span send_span(const Node *send) {
    return (Span){send->as.send.selector_start, send->span.end > send->as.send.selector_start
                                                    ? send->span.end
                                                    : send->as.send.selector_start};
}

IrAtom lower_finish_send(Lower *l, Node *send, const Node *receiver, Operands *o, Position pos) {
    const SelectorInfo *info = send->facts;
    Span span = send_span(send);
    lower_operands_settle(l, o, span);
    uint8_t flags;
    IrOp op = send_op(l, receiver, info, &flags);
    bool is_cast = send->kind == AST_SEND && send->as.send.is_cast;
    if (info && info->op != IR_SEND && info->op != IR_CALLBLOCK && op != IR_SENDSUPER && !is_cast)
        return lower_operator(l, send, info->op, o);
    uint32_t name = lower_symbol(l, send->as.send.selector);
    if (is_cast) {
        lower_bind(l, IR_CAST, o->atoms, o->count, name, flags & SITE_LITERAL_CLASS, span);
        return NIL_ATOM;
    }
    if (pos != POS_VALUE && l->fn->tail_calls && !l->fn->regions && (op == IR_SEND || op == IR_SENDSELF))
        flags |= IR_TAIL;
    IrAtom answer = lower_bind(l, op, o->atoms, o->count, name, flags, span);
    FnFacts *home = l->fn->facts->home;
    if (op == IR_SENDSUPER && send->as.send.selector == l->a->names.set_up && lower_sets_up_self(l, home))
        lower_write(l, home->self_var, lower_instance_or_self(l, answer, span), span);
    return answer;
}

static void add_args(Lower *l, Operands *o, const Node *send) {
    for (uint32_t i = 0; i < send->as.send.args.count; i++)
        lower_operands_add(l, o, lower_expr(l, send->as.send.args.items[i]));
}

static IrAtom lower_receiver(Lower *l, Node *receiver) {
    return receiver->kind == AST_SUPER ? lower_self(l, receiver->span) : lower_expr(l, receiver);
}

static bool is_has_field(const Lower *l, const Node *send) {
    if (send->as.send.selector != l->a->names.has_field || !l->fn->facts->home->class_side) return false;
    return is_self_name(l->a, ast_unparen(send->as.send.receiver)) &&
           ast_unparen(send->as.send.args.items[0])->kind == AST_SYMBOL;
}

/* ---- expressions that are Characters by their text (semantics 1); at run time they are Integers ---- */

static bool is_character(const Lower *l, const Node *node) {
    node = ast_unparen((Node *)(uintptr_t)node);
    if (node->kind == AST_CHAR) return true;
    if (node->kind != AST_SEND || node->as.send.is_cast) return false;
    const char *selector = node->as.send.selector;
    if (selector == l->a->names.uppercase || selector == l->a->names.lowercase)
        return is_character(l, node->as.send.receiver);
    if (selector != l->a->names.value_keyword) return false;
    const Node *base = ast_unparen(node->as.send.receiver);
    return base->kind == AST_CLASS_REF && base->as.class_ref.name == l->a->names.Character;
}

/* The method of Character behind a selector, by its hidden name in Integer; NULL if Character has none of its
 * own. */
static const char *character_selector(const Lower *l, const char *selector) {
    if (selector == l->a->names.as_integer) return l->a->names.character_as_integer;
    if (selector == l->a->names.as_string) return l->a->names.character_as_string;
    if (selector == l->a->names.print_string) return l->a->names.character_print_string;
    if (selector == l->a->names.uppercase) return l->a->names.character_uppercase;
    if (selector == l->a->names.lowercase) return l->a->names.character_lowercase;
    return NULL;
}

/* True if the send is one to a static Character and was lowered here. */
static bool lower_character_send(Lower *l, Node *node, IrAtom *answer) {
    const char *selector = node->as.send.selector;
    uint32_t argc = node->as.send.args.count;
    if (argc > 1 || node->as.send.is_cast || !is_character(l, node->as.send.receiver)) return false;
    if (selector == l->a->names.perform) {
        const Node *name = ast_unparen(node->as.send.args.items[0]);
        if (name->kind == AST_SYMBOL) selector = name->as.name;
    }
    if (selector == l->a->names.class_ && !argc) {
        lower_expr(l, node->as.send.receiver);
        *answer = lower_bind0(l, IR_CLASS, lower_symbol(l, l->a->names.Character), node->span);
        return true;
    }
    if (selector == l->a->names.responds_to) {
        const Node *name = ast_unparen(node->as.send.args.items[0]);
        if (name->kind != AST_SYMBOL || !character_selector(l, name->as.name)) return false;
        lower_expr(l, node->as.send.receiver);
        *answer = ATOM(ATOM_TRUE, 0);
        return true;
    }
    const char *hidden = character_selector(l, selector);
    if (!hidden) return false;
    *answer = lower_send1(l, IR_SEND, hidden, lower_expr(l, node->as.send.receiver), node->span);
    return true;
}

static IrAtom lower_send(Lower *l, Node *node, Position pos) {
    const SelectorInfo *info = node->facts;
    if (send_is_inlined(info, node)) return lower_construct(l, node, info, pos);
    Node *twin = fold_twin(l->a, node);
    if (twin) return lower_fold(l, node, twin, pos);
    IrAtom answer;
    if (lower_character_send(l, node, &answer)) return answer;
    if (is_has_field(l, node)) {
        const char *name = ast_unparen(node->as.send.args.items[0])->as.name;
        return bind_home(l, IR_HASCV, name, NULL, CAP_CLASS_VAR, node->span);
    }
    Operands o;
    lower_operands_begin(l, &o, node->as.send.args.count + 1);
    lower_operands_add(l, &o, lower_receiver(l, node->as.send.receiver));
    add_args(l, &o, node);
    return lower_finish_send(l, node, node->as.send.receiver, &o, pos);
}

/* The receiver once, then each message with its own arguments. */
static IrAtom lower_cascade(Lower *l, Node *node, Position pos) {
    NodeList parts = node->as.cascade.parts;
    Node *receiver = node->as.cascade.receiver;
    IrAtom value = lower_receiver(l, receiver), answer = value;
    uint32_t read_at = l->fn->frame->stmt_count;
    for (uint32_t i = 0; i < parts.count; i++) {
        Node *part = parts.items[i];
        Operands o;
        lower_operands_begin(l, &o, part->as.send.args.count + 1);
        lower_operands_add(l, &o, value);
        o.at[0] = read_at;
        add_args(l, &o, part);
        answer = lower_finish_send(l, part, receiver, &o, i + 1 == parts.count ? pos : POS_VALUE);
    }
    return answer;
}

/* ---- assignments, returns, pragmas ---- */

static IrAtom lower_assign(Lower *l, const Node *node) {
    IrAtom value = lower_expr(l, node->as.assign.value);
    const Node *target = node->as.assign.target;
    if (target->kind == AST_FIELD) return lower_field_write(l, target, value);
    return lower_write(l, target->facts, value, node->span);
}

static IrAtom lower_return(Lower *l, const Node *node) {
    FnLower *fn = l->fn;
    Position pos = fn->facts->parent ? POS_VALUE : fn->frame == fn->ir->body ? POS_LAST : POS_TAIL;
    IrAtom value = lower_at(l, node->as.child, pos);
    lower_answer(l, value, node->span);
    return NIL_ATOM;
}

/* `@primitive "Integer>>abs"`; a bare one is named after the method around it. */
static IrAtom lower_primitive(Lower *l, const Node *node) {
    const FnFacts *home = l->fn->facts->home;
    const char *name = node->as.primitive.name;
    if (node->as.primitive.inferred)
        name = intern_format(l->a->intern, "%s%s>>%s", home->class_name ? home->class_name : "",
                             home->class_side ? " class" : "", home->selector);
    return lower_bind0(l, IR_PRIM, lower_symbol(l, name), node->span);
}

/* ---- statements ---- */

IrAtom lower_statements(Lower *l, NodeList body, Position pos) {
    IrAtom value = NIL_ATOM;
    for (uint32_t i = 0; i < body.count; i++) {
        if (body.items[i]->kind == AST_EXPECT) continue;
        bool last = i + 1 == body.count;
        value = lower_at(l, body.items[i], last ? pos : POS_VALUE);
        IrFrame *frame = l->fn->frame;
        if (frame->ends || l->fn->dead || ir_failed(l->unit)) return NIL_ATOM;
        if (!last && body.items[i]->kind == AST_PRIMITIVE) /* what follows is the code for its failure */
            frame->stmts[frame->stmt_count - 1]->flags = 1;
    }
    return value;
}

IrAtom lower_at(Lower *l, Node *node, Position pos) {
    l->fn->position = pos;
    return lower_expr(l, node);
}

IrAtom lower_expr(Lower *l, Node *node) {
    Position pos = l->fn->position;
    l->fn->position = POS_VALUE;
    if (ir_failed(l->unit) || arena_failed(l->a->arena)) return NIL_ATOM; /* the unit is refused */
    while (node->kind == AST_PAREN) node = node->as.child;
    switch ((AstKind)node->kind) {
    case AST_INTERP: return lower_interp(l, node);
    case AST_IDENT: return lower_ident(l, node);
    case AST_CLASS_REF: return lower_class_ref(l, node);
    case AST_FIELD: return lower_field(l, node);
    case AST_SEND: return lower_send(l, node, pos);
    case AST_CASCADE: return lower_cascade(l, node, pos);
    case AST_BLOCK: return lower_closure(l, node);
    case AST_ASSIGN: return lower_assign(l, node);
    case AST_DESTRUCTURE: return lower_destructure(l, node);
    case AST_RETURN: return lower_return(l, node);
    case AST_MATCH: return lower_match(l, node, pos);
    case AST_LIST: {
        Node *tail = node->as.sequence.tail;
        return lower_elements(l, tail ? IR_CONSTAIL : IR_LIST, node->as.sequence.elements, tail, node->span);
    }
    case AST_ARRAY: return lower_elements(l, IR_ARRAY, node->as.sequence.elements, NULL, node->span);
    case AST_MAP: return lower_map(l, node);
    case AST_PRIMITIVE: return lower_primitive(l, node);
    default: return lower_literal(l, node);
    }
}
