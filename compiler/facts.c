/* Names and block facts: one walk over a method, in source order.
 *
 * A name belongs to the scope in which it is first assigned (facts_scope.c). Recursion follows the tree,
 * whose height the parser bounds; frames are kept small.
 */
#include "compiler/ast_clone.h"
#include "compiler/facts.h"
#include "compiler/lexer.h"

static void visit(Analysis *a, Node *node);

/* ---- names ---- */

static void visit_self(Analysis *a, Span span) {
    if (a->fn->home->script) {
        report(a, DIAG_ERROR, "self", span, "self can only be used inside a method body");
        return;
    }
    if (a->fn->home->test_self) facts_read(a, a->fn->home->self_var);
}

static void visit_ident(Analysis *a, Node *node) {
    const char *name = node->as.name;
    Var *var = facts_lookup(a, name);
    if (!var) {
        if (name == a->names.self || name == a->fn->home->receiver_name) {
            visit_self(a, node->span);
            return;
        }
        if (name == a->names.nil || name == a->names.true_ || name == a->names.false_) return;
        if (a->fn->home->script && facts_shared_name(a, name)) return;
        if (!a->fn->home->script || !a->options->session || name == a->names.underscore) {
            facts_undefined(a, name, node->span);
            return;
        }
        var = facts_declare_binding(a, name, node->span);
    }
    if (var->fn->home != a->fn->home) {
        report(a, DIAG_ERROR, "type", node->span,
               "a method block cannot use `%s` of the method around it: it is compiled as a method of the "
               "new class",
               name);
        return;
    }
    node->facts = var;
    facts_read(a, var);
}

static void visit_class_ref(Analysis *a, Node *node) {
    const char *name = node->as.class_ref.name;
    ClassInfo *c = class_find(a, name);
    bool shared = facts_shared_name(a, name) && (a->fn->home->script || !c->known);
    node->facts = c->known && !shared ? c : NULL;
    if (c->known || name == a->names.Transcript || name == a->names.Workspace || name == a->names.Beamtalk ||
        name == a->names.Erlang || !a->options->world.find_class || shared)
        return;
    suggest_class(a, report(a, DIAG_WARNING, "unresolved_class", node->span, "Unresolved class `%s`", name),
                  name);
}

/* ---- blocks ---- */

static void visit_params(Analysis *a, NodeList params) {
    for (uint32_t i = 0; i < params.count; i++) {
        Node *p = params.items[i];
        p->facts = facts_declare(a, p->as.param.name, VAR_PARAM, p->span);
    }
}

static void visit_flow(Analysis *a, Node *node, BlockFlow flow, const char *selector, Node *receiver);

static void visit_destructure(Analysis *a, Node *node);

static void visit_body(Analysis *a, NodeList body, BlockFlow last) {
    uint32_t expects = a->expect_count;
    for (uint32_t i = 0; i < body.count; i++) {
        Node *statement = body.items[i];
        uint32_t closures = a->closures.count;
        if (statement->kind == AST_EXPECT) {
            expect_push(a, statement);
            continue;
        }
        if (statement->kind == AST_DESTRUCTURE)
            visit_destructure(a, statement);
        else
            visit_flow(a, statement, i + 1 == body.count ? last : FLOW_NONE, NULL, NULL);
        /* Outermost blocks first, so not before the home's own statement ends; an @expect further in is asked
         * while it is in force. */
        if (!a->fn->parent || a->expect_count > expects) check_abroad_from(a, closures);
        expect_pop(a, expects);
    }
    expect_pop(a, expects);
}

static BlockFacts *block_enter(Analysis *a, Node *node) {
    BlockFacts *b = ARENA_NEW(a->arena, BlockFacts);
    b->node = node;
    b->fn = a->fn;
    b->outer = a->block;
    b->depth = a->block ? a->block->depth + 1 : 1;
    node->facts = b;
    a->block = b;
    return b;
}

static void visit_inlined(Analysis *a, Node *block) {
    uint32_t mark = a->scope_count;
    BlockFacts *b = block_enter(a, block);
    visit_params(a, block->as.block.params);
    visit_body(a, block->as.block.body, FLOW_NONE);
    a->block = b->outer;
    facts_scope_pop(a, mark);
}

/* Does a stateful block that flows so have a way back? Everything does in an actor's own methods, but
 * elements of collections. */
static bool has_channel(const FnFacts *fn, const BlockFacts *b) {
    if (b->flow == FLOW_THREADING || b->flow == FLOW_FOREIGN) return true;
    return b->flow != FLOW_NONE && facts_actor_instance(fn);
}

static void visit_closure(Analysis *a, Node *block, BlockFlow flow, const char *selector, Node *receiver) {
    uint32_t mark = a->scope_count;
    BlockFacts *b = block_enter(a, block);
    if (arena_failed(a->arena)) {
        a->block = b->outer;
        return;
    }
    FnFacts *fn = ARENA_NEW(a->arena, FnFacts), *maker = a->fn;
    *fn = (FnFacts){.parent = maker,
                    .home = maker->home,
                    .block = b,
                    .class_info = maker->class_info,
                    .selector = maker->selector,
                    .class_name = maker->class_name,
                    .kind = maker->kind,
                    .class_side = maker->class_side,
                    .abroad_reported = a->quiet};
    b->closure = b->fn = a->fn = fn;
    b->flow = (uint8_t)flow;
    b->flow_selector = selector;
    b->flow_receiver = receiver;
    visit_params(a, block->as.block.params);
    visit_body(a, block->as.block.body, FLOW_RETURNED);
    fn->channel = has_channel(fn, b);
    if (fn->writes.count && fn->channel && flow != FLOW_THREADING)
        for (FnFacts *f = maker; f->parent; f = f->parent) f->keeps_carriers = true;
    fn->lossy = flow == FLOW_FOREIGN;
    for (uint32_t i = 0; i < fn->writes.count && flow != FLOW_THREADING && flow != FLOW_FOREIGN; i++)
        ((Var *)(uintptr_t)fn->writes.items[i])->stored_write = true;
    if (fn->has_return) {
        fn->home->nlr_home = true;
        if (maker->parent) maker->has_return = true;
    }
    a->fn = maker;
    a->block = b->outer;
    facts_scope_pop(a, mark);
    ptr_set_add(&a->closures, a->arena, fn);
    check_closure(a, b);
}

/* A value in a place of its own: a literal block there is a real closure, and where it goes is known. */
static void visit_flow(Analysis *a, Node *node, BlockFlow flow, const char *selector, Node *receiver) {
    Node *block = literal_block(node);
    if (block)
        visit_closure(a, block, flow, selector, receiver);
    else
        visit(a, node);
}

/* ---- sends ---- */

static bool is_self(const Analysis *a, const Node *node) {
    node = ast_unparen((Node *)(uintptr_t)node);
    return node && (node->kind == AST_SUPER || is_self_name(a, node));
}

/* `Erlang module` as a receiver. */
static bool is_foreign(const Analysis *a, const Node *node) {
    node = ast_unparen((Node *)(uintptr_t)node);
    if (!node || node->kind != AST_SEND) return false;
    const Node *base = ast_unparen(node->as.send.receiver);
    return base && base->kind == AST_CLASS_REF && base->as.class_ref.name == a->names.Erlang;
}

/* ---- ClassBuilder blocks: methods of a class that does not exist yet ---- */

/* How many arguments a selector takes, as its spelling says. */
static uint32_t arguments_of(const char *selector) {
    uint32_t count = 0;
    for (const char *c = selector; *c; c++) count += *c == ':';
    bool word = lexer_is_ident_char((unsigned char)*selector);
    return word ? count : 1;
}

/* The first parameter is the receiver: it is called self, or there is one more than the selector says. */
static bool takes_receiver(const Analysis *a, const Node *block, const Node *key) {
    if (!block || !block->as.block.params.count) return false;
    if (block->as.block.params.items[0]->as.param.name == a->names.self) return true;
    return a->builder_name && key->kind == AST_SYMBOL &&
           block->as.block.params.count == arguments_of(key->as.name) + 1;
}

static void visit_builder_block(Analysis *a, Node *block, const char *selector, bool class_side) {
    FnFacts *outer_fn = a->fn;
    BlockFacts *outer_block = a->block;
    PtrSet vars = a->home_vars, closures = a->closures;
    uint32_t mark = a->scope_count;
    FnFacts *fn = ARENA_NEW(a->arena, FnFacts);
    *fn = (FnFacts){.home = fn,
                    .selector = selector,
                    .class_name = a->builder_name,
                    .kind = class_side ? FN_CLASS_METHOD : FN_VALUE_METHOD,
                    .class_side = class_side,
                    .channel = true,
                    .builder = true,
                    .receiver_name = block->as.block.params.items[0]->as.param.name};
    a->fn = fn;
    a->block = NULL;
    a->home_vars = a->closures = (PtrSet){0};
    NodeList params = block->as.block.params;
    visit_params(a, (NodeList){params.items + 1, params.count - 1});
    visit_body(a, block->as.block.body, FLOW_RETURNED);
    facts_share_stored_writes(a);
    check_home(a, fn);
    facts_scope_pop(a, mark);
    a->fn = outer_fn;
    a->block = outer_block;
    a->home_vars = vars;
    a->closures = closures;
    BlockFacts *b = ARENA_NEW(a->arena, BlockFacts);
    *b = (BlockFacts){.node = block, .fn = fn, .outer = outer_block, .closure = fn};
    block->facts = b;
}

/* `methods: #{#s => [:self ...]}`, `addMethod: #s body: [:self ...]` and their class-side forms. True if
 * visited. */
static bool visit_builder_args(Analysis *a, Node *send) {
    const char *selector = send->as.send.selector;
    bool class_side = selector == a->names.class_methods || selector == a->names.add_class_method;
    NodeList args = send->as.send.args;
    if (selector == a->names.methods || selector == a->names.class_methods) {
        Node *map = ast_unparen(args.items[0]);
        if (map->kind != AST_MAP) return false;
        for (uint32_t i = 0; i < map->as.list.count; i++) {
            Node *pair = map->as.list.items[i];
            if (pair->kind != AST_PAIR) continue;
            Node *key = ast_unparen(pair->as.pair.key), *block = literal_block(pair->as.pair.value);
            visit(a, pair->as.pair.key);
            if (takes_receiver(a, block, key))
                visit_builder_block(a, block, key->kind == AST_SYMBOL ? key->as.name : NULL, class_side);
            else
                visit_flow(a, pair->as.pair.value, FLOW_NONE, NULL, NULL);
        }
        return true;
    }
    if (selector != a->names.add_method && selector != a->names.add_class_method) return false;
    Node *block = literal_block(args.items[1]), *key = ast_unparen(args.items[0]);
    if (!takes_receiver(a, block, key)) return false;
    visit(a, args.items[0]);
    visit_builder_block(a, block, key->kind == AST_SYMBOL ? key->as.name : NULL, class_side);
    return true;
}

/* A block-valued local that a send gets. */
static void note_use(Node *operand, const char *selector) {
    operand = ast_unparen(operand);
    if (operand->kind != AST_IDENT || !operand->facts) return;
    Var *var = operand->facts;
    if (!var->flows) var->flows = selector;
}

/* What class_state_abroad asks about: blocks that a cast carries away, or stand in a list that Parallel or
 * Timer gets. */
static void note_asynchronous(const Analysis *a, Node *operand, const Node *send, Node *receiver) {
    Node *block = literal_block(operand);
    if (block) {
        ((BlockFacts *)block->facts)->flow_cast = send->kind == AST_SEND && send->as.send.is_cast;
        return;
    }
    operand = ast_unparen(operand);
    const char *name = receiver->kind == AST_CLASS_REF ? receiver->as.class_ref.name : NULL;
    if (operand->kind != AST_LIST || (name != a->names.Parallel && name != a->names.Timer)) return;
    for (uint32_t i = 0; i < operand->as.sequence.elements.count; i++) {
        Node *element = literal_block(operand->as.sequence.elements.items[i]);
        if (element) ((BlockFacts *)element->facts)->flow_receiver = receiver;
    }
}

static void visit_operand(Analysis *a, Node *operand, uint32_t index, const Node *send, Node *receiver) {
    const char *selector = send->as.send.selector;
    BlockFlow flow = FLOW_SEND;
    if (literal_block(operand)) {
        if (selector_threads(send->facts, selector, index))
            flow = FLOW_THREADING;
        else if (is_self(a, receiver) && index)
            flow = FLOW_SELF_SEND;
        else if (is_foreign(a, receiver))
            flow = FLOW_FOREIGN;
    }
    visit_flow(a, operand, flow, selector, receiver);
    note_use(operand, selector);
    note_asynchronous(a, operand, send, receiver);
}

enum {
    MAX_TWINS = 4,
    MAX_TWIN_NODES = 400
}; /* folds in folds: each level compiles what it holds once more */

/* The block of a fold is compiled twice: inlined, for Lists, and as a closure for all other receivers. The
 * closure was visited first, it says what is to be said. */
static void visit_twin(Analysis *a, Node *block) {
    BlockFacts *b = block->facts;
    if (a->plain || a->twins == MAX_TWINS || !b || !b->closure || !b->closure->channel) return;
    if (b->closure->keeps_carriers) return; /* each activation has variables of its own, which are kept */
    bool quiet = a->quiet;
    a->quiet = true;
    a->twins++;
    b->twin = ast_clone(a->arena, block, MAX_TWIN_NODES);
    if (b->twin && !arena_failed(a->arena)) visit_inlined(a, b->twin);
    a->twins--;
    a->quiet = quiet;
}

/* A block in which no fold has a twin. */
static void visit_fold_args(Analysis *a, Node *send, Node *receiver) {
    NodeList args = send->as.send.args;
    uint32_t last = args.count - 1;
    for (uint32_t i = 0; i < last; i++) visit_operand(a, args.items[i], i + 1, send, receiver);
    bool plain = a->plain;
    a->plain = true;
    visit_operand(a, args.items[last], last + 1, send, receiver);
    a->plain = plain;
    visit_twin(a, literal_block(args.items[last]));
}

static FnFacts *threading_closure(const Node *operand) {
    const Node *block = literal_block((Node *)(uintptr_t)operand);
    const BlockFacts *b = block ? block->facts : NULL;
    return b && b->flow == FLOW_THREADING ? b->closure : NULL;
}

static void visit_args(Analysis *a, Node *send, Node *receiver) {
    if (visit_builder_args(a, send)) return;
    NodeList args = send->as.send.args;
    for (uint32_t i = 0; i < args.count; i++) visit_operand(a, args.items[i], i + 1, send, receiver);
    for (uint32_t i = 1; i < args.count; i++) {
        FnFacts *first = threading_closure(args.items[i - 1]), *second = threading_closure(args.items[i]);
        facts_share_writes(a, first, second);
        if (send->as.send.selector == a->names.do_separated_by) facts_share_writes(a, second, first);
    }
}

static bool is_nil_test(const SelectorInfo *info) {
    return info->construct >= CTRL_IF_NIL && info->construct <= CTRL_IF_NOT_NIL_NIL;
}

/* Compiled as both, the construct and the message; as the message alone where the copies would grow beyond
 * bounds, and where the receiver's class is asked of everything but nil. */
static void visit_own(Analysis *a, Node *node, const SelectorInfo *info) {
    Node *receiver = node->as.send.receiver;
    NodeList args = node->as.send.args;
    bool plain = a->plain, whole = !is_nil_test(info);
    visit_operand(a, receiver, 0, node, receiver);
    a->plain = true;
    visit_args(a, node, receiver);
    a->plain = plain;
    for (uint32_t i = 0; i < args.count && whole; i++) {
        if (info->blocks[i + 1] == '-') continue;
        Node *block = literal_block(args.items[i]);
        visit_twin(a, block);
        const BlockFacts *b = block->facts;
        whole = b && b->twin;
    }
    if (!whole) node->facts = (void *)(uintptr_t)selector_sent(info);
}

static void visit_construct(Analysis *a, Node *node, const SelectorInfo *info) {
    for (uint32_t i = 0; info->blocks[i]; i++) {
        Node *operand = i ? node->as.send.args.items[i - 1] : node->as.send.receiver;
        if (info->blocks[i] == '-') {
            visit_flow(a, operand, info->construct == CTRL_VALUE ? FLOW_LOCAL : FLOW_NONE, NULL, NULL);
            if (i && info->construct == CTRL_VALUE) note_use(operand, info->text);
        } else {
            visit_inlined(a, literal_block(operand));
        }
    }
}

/* `super setUp` in a setUp of a TestCase answers the self that the inherited one made: self goes on from
 * there. */
static void note_super(Analysis *a, const char *selector) {
    const FnFacts *home = a->fn->home;
    if (home->test_self && home->selector == a->names.set_up && selector == a->names.set_up)
        facts_write(a, home->self_var);
}

static void visit_send(Analysis *a, Node *node) {
    const SelectorInfo *info = selector_info(a, node->as.send.selector);
    node->facts = (void *)(uintptr_t)info;
    if (send_is_inlined(info, node)) {
        if (send_may_be_own(a, info, node))
            visit_own(a, node, info);
        else
            visit_construct(a, node, info);
        return;
    }
    Node *receiver = node->as.send.receiver;
    if (receiver->kind == AST_SUPER) {
        visit_self(a, receiver->span);
        note_super(a, node->as.send.selector);
    } else {
        visit_operand(a, receiver, 0, node, receiver);
    }
    if (send_is_fold(a, info, node))
        visit_fold_args(a, node, receiver);
    else
        visit_args(a, node, receiver);
    if (node->as.send.selector == a->names.has_field && is_self(a, receiver) && a->fn->home->class_side) {
        const Node *name = ast_unparen(node->as.send.args.items[0]);
        if (name->kind == AST_SYMBOL) facts_read_field(a, name->as.name);
    }
    check_send(a, node, receiver);
}

static const char *builder_name(const Analysis *a, const Node *cascade) {
    for (uint32_t i = 0; i < cascade->as.cascade.parts.count; i++) {
        const Node *part = cascade->as.cascade.parts.items[i];
        if (part->kind != AST_PART || part->as.send.selector != a->names.name_keyword) continue;
        const Node *name = ast_unparen(part->as.send.args.items[0]);
        return name->kind == AST_SYMBOL ? name->as.name : NULL;
    }
    return NULL;
}

static void visit_cascade(Analysis *a, Node *node) {
    Node *receiver = node->as.cascade.receiver;
    const char *outer_name = a->builder_name;
    a->builder_name = builder_name(a, node);
    if (receiver->kind == AST_SUPER)
        visit_self(a, receiver->span);
    else
        visit_flow(a, receiver, FLOW_SEND, node->as.cascade.parts.items[0]->as.send.selector, receiver);
    for (uint32_t i = 0; i < node->as.cascade.parts.count; i++) {
        Node *part = node->as.cascade.parts.items[i];
        if (part->kind != AST_PART) continue;
        if (part->as.send.selector_kind == SEL_BINARY)
            report(a, DIAG_ERROR, "syntax", part->span, "binary selectors in cascades are not supported");
        part->facts = (void *)(uintptr_t)selector_info(a, part->as.send.selector);
        if (receiver->kind == AST_SUPER) note_super(a, part->as.send.selector);
        note_use(receiver, part->as.send.selector);
        visit_args(a, part, receiver);
        check_send(a, part, receiver);
    }
    a->builder_name = outer_name;
}

/* ---- assignments and patterns ---- */

static void visit_field(Analysis *a, Node *node, bool write) {
    bool on_self = is_self_name(a, node->as.field.base);
    if (!on_self || a->fn->home->script) {
        if (on_self) {
            visit_self(a, node->as.field.base->span);
        } else if (write) {
            report(a, DIAG_ERROR, "type", node->span,
                   "Cannot assign to `%s.%s` — objects cannot mutate another object's state",
                   node->as.field.base->kind == AST_IDENT ? node->as.field.base->as.name : "object",
                   node->as.field.name);
        } else {
            report(a, DIAG_ERROR, "type", node->span,
                   "field access on a non-self receiver: `.%s` — use a getter method", node->as.field.name);
        }
        return;
    }
    check_field(a, node, write);
    if (write)
        facts_write_field(a, node->as.field.name);
    else
        facts_read_field(a, node->as.field.name);
}

static Var *assign_name(Analysis *a, const char *name, Span span) {
    Var *var = facts_lookup(a, name);
    if (var && var->fn->home != a->fn->home) var = NULL; /* a builder block is a method of its own */
    if (!var) {
        bool root = !a->block && a->fn->script && a->options->session;
        var = root ? facts_declare_binding(a, name, span) : facts_declare(a, name, VAR_LOCAL, span);
    }
    facts_write(a, var);
    return var;
}

static bool assignable(Analysis *a, const char *name, Span span) {
    if (name != a->names.self && name != a->names.nil && name != a->names.true_ && name != a->names.false_)
        return true;
    report(a, DIAG_ERROR, "type", span, "Cannot assign to `%s`", name);
    return false;
}

static void visit_assign(Analysis *a, Node *node) {
    Node *target = node->as.assign.target;
    bool field = target->kind == AST_FIELD;
    visit_flow(a, node->as.assign.value, field ? FLOW_FIELD : FLOW_LOCAL, NULL, NULL);
    if (field) {
        visit_field(a, target, true);
        return;
    }
    if (target->kind != AST_IDENT || !assignable(a, target->as.name, target->span)) return;
    Var *var = assign_name(a, target->as.name, target->span);
    target->facts = var;
    Node *block = literal_block(node->as.assign.value);
    if (!block) return;
    var->block = block->facts;
    var->bound_span = node->span;
    if (!a->quiet) ptr_set_add(&a->home_vars, a->arena, var);
}

static void bind_pattern(Analysis *a, Node *p, bool in_arm);

/* The size of a segment may be a segment before it, or any variable. */
static void bind_segments(Analysis *a, Node *p, bool in_arm) {
    for (uint32_t i = 0; i < p->as.list.count; i++) {
        Node *segment = p->as.list.items[i];
        if (segment->kind != AST_SEGMENT) continue;
        Node *size = segment->as.segment.size;
        if (size && size->kind == AST_IDENT) visit_ident(a, size);
        bind_pattern(a, segment->as.segment.value, in_arm);
    }
}

/* Names that a pattern binds. In an arm they are new; in a destructuring assignment they are assigned. */
static void bind_pattern(Analysis *a, Node *p, bool in_arm) {
    switch ((AstKind)p->kind) {
    case AST_PAT_VAR:
        if (!in_arm && !assignable(a, p->as.name, p->span)) return;
        if (!in_arm)
            p->facts = assign_name(a, p->as.name, p->span);
        else
            p->facts = facts_declare(a, p->as.name, VAR_PATTERN, p->span);
        return;
    case AST_PAT_TYPE: p->facts = facts_declare(a, p->as.pat_type.name, VAR_PATTERN, p->span); return;
    case AST_PAT_TUPLE:
    case AST_PAT_ARRAY:
    case AST_PAT_LIST:
        for (uint32_t i = 0; i < p->as.pat_sequence.elements.count; i++)
            bind_pattern(a, p->as.pat_sequence.elements.items[i], in_arm);
        if (p->as.pat_sequence.rest) bind_pattern(a, p->as.pat_sequence.rest, in_arm);
        return;
    case AST_PAT_MAP:
        for (uint32_t i = 0; i < p->as.list.count; i++)
            bind_pattern(a, p->as.list.items[i]->as.pair.value, in_arm);
        return;
    case AST_PAT_CTOR:
        for (uint32_t i = 0; i < p->as.pat_ctor.args.count; i++)
            bind_pattern(a, p->as.pat_ctor.args.items[i]->as.ctor_arg.pattern, in_arm);
        return;
    case AST_PAT_BINARY: bind_segments(a, p, in_arm); return;
    default: return;
    }
}

static void visit_destructure(Analysis *a, Node *node) {
    visit_flow(a, node->as.destructure.value, FLOW_NONE, NULL, NULL);
    check_pattern(a, node->as.destructure.pattern, false);
    bind_pattern(a, node->as.destructure.pattern, false);
}

static void visit_arm(Analysis *a, Node *arm) {
    uint32_t mark = a->scope_count;
    BlockFacts *b = block_enter(a, arm);
    bind_pattern(a, arm->as.arm.pattern, true);
    if (arm->as.arm.guard) {
        Node *guard = literal_block(arm->as.arm.guard);
        if (guard)
            visit_inlined(a, guard);
        else
            visit(a, arm->as.arm.guard);
    }
    visit_flow(a, arm->as.arm.body, FLOW_NONE, NULL, NULL);
    a->block = b->outer;
    facts_scope_pop(a, mark);
}

static void visit_match(Analysis *a, Node *node) {
    visit_flow(a, node->as.match.value, FLOW_NONE, NULL, NULL);
    for (uint32_t i = 0; i < node->as.match.arms.count; i++)
        if (node->as.match.arms.items[i]->kind == AST_ARM) visit_arm(a, node->as.match.arms.items[i]);
    check_match(a, node);
}

static void visit_return(Analysis *a, Node *node) {
    visit_flow(a, node->as.child, FLOW_RETURNED, NULL, NULL);
    if (!a->fn->parent) return;
    a->fn->has_return = true;
}

static void visit_list(Analysis *a, NodeList list) {
    for (uint32_t i = 0; i < list.count; i++) visit_flow(a, list.items[i], FLOW_NONE, NULL, NULL);
}

static void visit_primitive(Analysis *a, const Node *node) {
    if (a->options->stdlib) return;
    report(a, DIAG_ERROR, "primitive", node->span, "Primitives can only be declared in the standard library");
}

static void visit(Analysis *a, Node *node) {
    if (arena_failed(a->arena)) return;
    switch ((AstKind)node->kind) {
    case AST_INTERP: visit_list(a, node->as.list); return;
    case AST_IDENT: visit_ident(a, node); return;
    case AST_CLASS_REF: visit_class_ref(a, node); return;
    case AST_SUPER:
        report(a, DIAG_ERROR, "super", node->span, "super must be used with a message send");
        return;
    case AST_FIELD: visit_field(a, node, false); return;
    case AST_SEND: visit_send(a, node); return;
    case AST_CASCADE: visit_cascade(a, node); return;
    case AST_BLOCK: visit_closure(a, node, FLOW_NONE, NULL, NULL); return;
    case AST_PAREN: visit(a, node->as.child); return;
    case AST_ASSIGN: visit_assign(a, node); return;
    case AST_DESTRUCTURE:
        report(a, DIAG_ERROR, "type", node->span, "destructuring assignment in expression position");
        return;
    case AST_RETURN: visit_return(a, node); return;
    case AST_MATCH: visit_match(a, node); return;
    case AST_LIST:
    case AST_ARRAY:
        visit_list(a, node->as.sequence.elements);
        if (node->kind == AST_LIST && node->as.sequence.tail)
            visit_flow(a, node->as.sequence.tail, FLOW_NONE, NULL, NULL);
        return;
    case AST_MAP:
        for (uint32_t i = 0; i < node->as.list.count; i++) {
            if (node->as.list.items[i]->kind != AST_PAIR) continue;
            visit_flow(a, node->as.list.items[i]->as.pair.key, FLOW_NONE, NULL, NULL);
            visit_flow(a, node->as.list.items[i]->as.pair.value, FLOW_NONE, NULL, NULL);
        }
        return;
    case AST_SPREAD:
        report(a, DIAG_ERROR, "syntax", node->span,
               "spread expression `...%s` outside a destructuring target", node->as.name);
        return;
    case AST_PRIMITIVE: visit_primitive(a, node); return;
    default: return; /* literals, ERROR, EXPECT; patterns and types are visited by their owners */
    }
}

/* ---- homes ---- */

static FnFacts *home_enter(Analysis *a, ClassInfo *c, const char *selector, BcFnKind kind, bool class_side) {
    FnFacts *fn = ARENA_NEW(a->arena, FnFacts);
    fn->home = fn;
    fn->class_info = c;
    fn->class_name = c ? c->name : NULL;
    fn->selector = selector;
    fn->kind = kind;
    fn->class_side = class_side;
    fn->channel = true;
    a->fn = fn;
    a->block = NULL;
    a->home_vars = a->closures = (PtrSet){0};
    if (c && c->is_test_case && !class_side) {
        fn->test_self = true;
        fn->self_var = facts_var_new(a, a->names.self, VAR_SELF, span_make(0, 0));
    }
    return fn;
}

static FnFacts *home_leave(Analysis *a, FnFacts *fn, uint32_t mark) {
    facts_share_stored_writes(a);
    facts_root_carriers(a, fn);
    check_home(a, fn);
    facts_scope_pop(a, mark);
    a->fn = NULL;
    a->block = NULL;
    return fn;
}

BcFnKind method_kind(const ClassInfo *c, bool class_side) {
    if (class_side) return FN_CLASS_METHOD;
    if (!c || c->kind == BC_KIND_OBJECT) return FN_OBJECT_METHOD;
    return c->kind == BC_KIND_ACTOR ? FN_ACTOR_METHOD : FN_VALUE_METHOD;
}

FnFacts *facts_of_method(Analysis *a, ClassInfo *c, MethodDecl *method, bool class_side) {
    uint32_t mark = a->scope_count, expects = a->expect_count;
    if (method->expect) expect_push(a, method->expect);
    FnFacts *fn = home_enter(a, c, method->selector, method_kind(c, class_side), class_side);
    visit_params(a, method->params);
    visit_body(a, method->body, FLOW_RETURNED);
    home_leave(a, fn, mark);
    expect_pop(a, expects);
    return fn;
}

/* A name that the session does not have and the input never assigns. One that is assigned may still be read
 * too early: that is found at run time. */
static void check_bindings(Analysis *a) {
    for (uint32_t i = 0; i < a->bindings.count; i++) {
        const Var *var = a->bindings.items[i];
        if (!var->exists && !var->writes) facts_undefined(a, var->name, var->span);
    }
}

/* Those that come with a value are the first arguments of the script. */
static void existing_first(Analysis *a) {
    PtrSet all = a->bindings;
    uint32_t existing = 0;
    a->bindings = (PtrSet){0};
    for (int exists = 1; exists >= 0; exists--)
        for (uint32_t i = 0; i < all.count; i++) {
            Var *var = (Var *)(uintptr_t)all.items[i];
            if (var->exists != exists) continue;
            var->binding = a->bindings.count;
            existing += var->exists;
            ptr_set_add(&a->bindings, a->arena, var);
        }
    if (existing > BC_MAX_ARGS)
        report(a, DIAG_ERROR, "limit", a->module->span,
               "this input uses %u variables of the session; it can use %u at most", existing, BC_MAX_ARGS);
}

/* A ^ out of a closure ends the script wherever it stands: what the session's variables are then must be
 * found in one place. */
static void returns_find_variables(Analysis *a, FnFacts *script) {
    for (uint32_t i = 0; script->nlr_home && i < a->bindings.count; i++) {
        Var *var = (Var *)(uintptr_t)a->bindings.items[i];
        if (var->writes) var->carrier = script->opens_carriers = script->any_carrier = true;
    }
}

FnFacts *facts_of_script(Analysis *a, const NodeList *statements) {
    uint32_t mark = a->scope_count;
    FnFacts *fn = home_enter(a, NULL, NULL, FN_SCRIPT, false);
    fn->script = true;
    a->script = fn;
    visit_body(a, *statements, FLOW_NONE);
    check_bindings(a);
    existing_first(a);
    returns_find_variables(a, fn);
    return home_leave(a, fn, mark);
}

FnFacts *facts_of_default(Analysis *a, ClassInfo *c, const char *name, Node *value) {
    uint32_t mark = a->scope_count;
    FnFacts *fn = home_enter(a, c, name, FN_CLASS_METHOD, true);
    fn->is_default = true;
    visit_flow(a, value, FLOW_FIELD, NULL, NULL);
    return home_leave(a, fn, mark);
}

FnFacts *facts_of_defaults(Analysis *a, ClassInfo *c) {
    uint32_t mark = a->scope_count;
    FnFacts *fn = home_enter(a, c, a->names.defaults, FN_CLASS_METHOD, true);
    fn->is_default = true;
    for (uint32_t i = 0; i < c->decl->fields.count; i++) {
        Node *value = c->decl->fields.items[i]->default_value;
        if (value) visit_flow(a, value, FLOW_FIELD, NULL, NULL);
    }
    return home_leave(a, fn, mark);
}

/* ---- threaded locals ---- */

static void add_writes(Analysis *a, const BlockFacts *b, PtrSet *out) {
    for (uint32_t i = 0; b && i < b->writes.count; i++) ptr_set_add(out, a->arena, b->writes.items[i]);
}

void threaded_locals_of(Analysis *a, const Node *construct, PtrSet *out) {
    if (construct->kind == AST_BLOCK || construct->kind == AST_ARM) {
        add_writes(a, construct->facts, out);
        return;
    }
    if (construct->kind == AST_MATCH) {
        for (uint32_t i = 0; i < construct->as.match.arms.count; i++)
            add_writes(a, construct->as.match.arms.items[i]->facts, out);
        return;
    }
    if (construct->kind != AST_SEND || !send_is_inlined(construct->facts, construct)) return;
    const SelectorInfo *info = construct->facts;
    for (uint32_t i = 0; info->blocks[i]; i++) {
        if (info->blocks[i] == '-') continue;
        Node *operand = i ? construct->as.send.args.items[i - 1] : construct->as.send.receiver;
        add_writes(a, inlined_block(operand)->facts, out);
    }
}
