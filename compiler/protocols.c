/* Protocols become classes: `Protocol define: P` is an abstract sealed subclass of Protocol whose class side
 * answers what it requires, as literals. Everything else about protocols is Beamtalk (stdlib/Protocol.bt). */
#include "compiler/analysis.h"

static Node *leaf(Analysis *a, AstKind kind, Span span) {
    Node *node = ARENA_NEW(a->arena, Node);
    node->kind = (uint16_t)kind;
    node->span = span;
    return node;
}

static void add_symbol(Analysis *a, Node *list, const char *name) {
    Node *symbol = leaf(a, AST_SYMBOL, list->span);
    symbol->as.name = name;
    arena_list_push(a->arena, &list->as.sequence.elements, symbol);
    list->height = 1;
}

static Node *requirements(Analysis *a, const ProtocolDecl *p) {
    Node *list = leaf(a, AST_LIST, p->name_span);
    for (uint32_t i = 0; i < p->signatures.count; i++) add_symbol(a, list, p->signatures.items[i]->selector);
    for (uint32_t i = 0; i < p->class_signatures.count; i++)
        add_symbol(a, list, intern_format(a->intern, "class %.900s", p->class_signatures.items[i]->selector));
    return list;
}

static Node *extended(Analysis *a, const ProtocolDecl *p) {
    Node *node = leaf(a, p->extending ? AST_SYMBOL : AST_IDENT, p->name_span);
    node->as.name = p->extending ? p->extending : a->names.nil;
    return node;
}

static void add_answer(Analysis *a, ClassDecl *c, const char *selector, Node *answer) {
    MethodDecl *m = ARENA_NEW(a->arena, MethodDecl);
    *m = (MethodDecl){.span = c->span,
                      .header_span = c->name_span,
                      .selector_span = c->name_span,
                      .selector = intern_cstring(a->intern, selector),
                      .selector_kind = SEL_UNARY,
                      .is_sealed = true,
                      .is_class_side = true,
                      .is_generated = true};
    arena_list_push(a->arena, &m->body, answer);
    arena_list_push(a->arena, &c->class_methods, m);
}

void protocols_to_classes(Analysis *a) {
    Module *m = a->module;
    for (uint32_t i = 0; i < m->protocols.count; i++) {
        const ProtocolDecl *p = m->protocols.items[i];
        ClassDecl *c = ARENA_NEW(a->arena, ClassDecl);
        *c = (ClassDecl){.span = p->span,
                         .name_span = p->name_span,
                         .super_span = p->name_span,
                         .name = p->name,
                         .super_name = a->names.Protocol,
                         .is_abstract = true,
                         .is_sealed = true,
                         .kind = CLASS_OBJECT,
                         .doc = p->doc};
        add_answer(a, c, "__required", requirements(a, p));
        add_answer(a, c, "__extended", extended(a, p));
        arena_list_push(a->arena, &m->classes, c);
    }
}
