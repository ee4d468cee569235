/* See uses.h. One walk over the tree, whose height the parser bounds. */
#include "compiler/uses.h"
#include <stdio.h>
#include <string.h>
#include "compiler/parser.h"

typedef struct {
    SourceFile *file;
    UseVisitor visit;
    void *context;
} Walk;

static void note(Walk *w, UseKind kind, const char *name, uint32_t offset) {
    MethodUse use = {.kind = kind, .name = name, .line = source_position(w->file, offset).line};
    w->visit(&use, w->context);
}

static const Node *bare(const Node *node) {
    while (node && node->kind == AST_PAREN) node = node->as.child;
    return node;
}

static bool is_self(const Node *node) {
    node = bare(node);
    if (!node) return false;
    return node->kind == AST_SUPER || (node->kind == AST_IDENT && !strcmp(node->as.name, "self"));
}

/* `Erlang lists`: the module's name, else NULL. */
static const char *module_named(const Node *node) {
    node = bare(node);
    if (!node || node->kind != AST_SEND || node->as.send.selector_kind != SEL_UNARY) return NULL;
    const Node *root = bare(node->as.send.receiver);
    bool gateway = root && root->kind == AST_CLASS_REF && !strcmp(root->as.class_ref.name, "Erlang");
    return gateway ? node->as.send.selector : NULL;
}

/* A send to a module is no send of Beamtalk's. */
static void foreign_call(Walk *w, const Node *send, const char *module) {
    char name[600];
    const char *selector = send->as.send.selector;
    int length = (int)strcspn(selector, ":");
    snprintf(name, sizeof name, "%s:%.*s/%u", module, length, selector, send->as.send.args.count);
    note(w, USE_FOREIGN, name, send->as.send.selector_start);
}

/* `Found new: 3` is about Found. */
static void announcement(Walk *w, const Node *send) {
    const char *selector = send->as.send.selector;
    if (strcmp(selector, "announce:") && strcmp(selector, "announceAndWait:")) return;
    const Node *root = bare(send->as.send.args.items[0]);
    while (root && root->kind == AST_SEND) root = bare(root->as.send.receiver);
    if (root && root->kind == AST_CLASS_REF)
        note(w, USE_ANNOUNCEMENT, root->as.class_ref.name, send->as.send.selector_start);
}

static void walk(Walk *w, const Node *node);

static void walk_list(Walk *w, NodeList list) {
    for (uint32_t i = 0; i < list.count; i++) walk(w, list.items[i]);
}

static void message(Walk *w, const Node *send, const Node *receiver) {
    const char *module = module_named(receiver);
    if (module)
        foreign_call(w, send, module);
    else if (!module_named(send))
        note(w, is_self(receiver) ? USE_SELF_SEND : USE_SEND, send->as.send.selector,
             send->as.send.selector_start);
    if (send->as.send.args.count == 1) announcement(w, send);
    walk_list(w, send->as.send.args);
}

static void cascade(Walk *w, const Node *node) {
    walk(w, node->as.cascade.receiver);
    for (uint32_t i = 0; i < node->as.cascade.parts.count; i++) {
        const Node *part = node->as.cascade.parts.items[i];
        if (part->kind == AST_PART) message(w, part, node->as.cascade.receiver);
    }
}

static void assignment(Walk *w, const Node *node) {
    const Node *target = node->as.assign.target;
    if (target->kind == AST_FIELD) note(w, USE_FIELD_WRITE, target->as.field.name, target->span.start);
    walk(w, node->as.assign.type);
    walk(w, node->as.assign.value);
}

static void match(Walk *w, const Node *node) {
    note(w, USE_SEND, node->as.match.exhaustive ? "matchExhaustive:" : "match:", node->span.start);
    walk(w, node->as.match.value);
    walk_list(w, node->as.match.arms);
}

static void walk(Walk *w, const Node *node) {
    if (!node) return;
    switch ((AstKind)node->kind) {
    case AST_INTERP:
    case AST_MAP:
    case AST_PAT_MAP:
    case AST_PAT_BINARY:
    case AST_TYPE_UNION: walk_list(w, node->as.list); break;
    case AST_CLASS_REF: note(w, USE_CLASS, node->as.class_ref.name, node->span.start); break;
    case AST_FIELD:
        if (is_self(node->as.field.base))
            note(w, USE_FIELD_READ, node->as.field.name, node->span.start);
        else
            walk(w, node->as.field.base);
        break;
    case AST_SEND:
        walk(w, node->as.send.receiver);
        message(w, node, node->as.send.receiver);
        break;
    case AST_CASCADE: cascade(w, node); break;
    case AST_BLOCK:
        walk_list(w, node->as.block.params);
        walk_list(w, node->as.block.body);
        break;
    case AST_PAREN:
    case AST_RETURN:
    case AST_PAT_LITERAL: walk(w, node->as.child); break;
    case AST_ASSIGN: assignment(w, node); break;
    case AST_DESTRUCTURE:
        walk(w, node->as.destructure.pattern);
        walk(w, node->as.destructure.value);
        break;
    case AST_MATCH: match(w, node); break;
    case AST_ARM:
        walk(w, node->as.arm.pattern);
        walk(w, node->as.arm.guard);
        walk(w, node->as.arm.body);
        break;
    case AST_LIST:
    case AST_ARRAY:
        walk_list(w, node->as.sequence.elements);
        if (node->kind == AST_LIST) walk(w, node->as.sequence.tail);
        break;
    case AST_PAIR:
        walk(w, node->as.pair.key);
        walk(w, node->as.pair.value);
        break;
    case AST_PARAM: walk(w, node->as.param.type); break;
    case AST_PAT_TYPE: note(w, USE_CLASS, node->as.pat_type.class_name, node->span.start); break;
    case AST_PAT_TUPLE:
    case AST_PAT_ARRAY:
    case AST_PAT_LIST: walk_list(w, node->as.pat_sequence.elements); break;
    case AST_PAT_CTOR:
        note(w, USE_CLASS, node->as.pat_ctor.class_name, node->span.start);
        walk_list(w, node->as.pat_ctor.args);
        break;
    case AST_CTOR_ARG: walk(w, node->as.ctor_arg.pattern); break;
    case AST_TYPE_NAME:
    case AST_TYPE_CLASS_OF: note(w, USE_CLASS, node->as.name, node->span.start); break;
    case AST_TYPE_GENERIC:
        note(w, USE_CLASS, node->as.type_generic.name, node->span.start);
        walk_list(w, node->as.type_generic.args);
        break;
    case AST_TYPE_DIFF:
    case AST_TYPE_AND:
        walk(w, node->as.type_pair.left);
        walk(w, node->as.type_pair.right);
        break;
    default: break; /* leaves, and what belongs to declarations */
    }
}

bool method_uses(const Memory *memory, const char *source, size_t length, UseVisitor visit, void *context) {
    Arena arena;
    Intern intern;
    SourceFile file;
    DiagList diags;
    if (!source_file_init(&file, "method", source, length)) return false;
    file.memory = memory;
    diag_list_init(&diags, memory);
    arena_init(&arena, memory);
    MethodDecl *method = NULL;
    if (intern_init(&intern, &arena)) {
        ParseInput in = {&file, &arena, &intern, &diags};
        method = parse_method(&in);
    }
    if (method) {
        Walk w = {&file, visit, context};
        walk_list(&w, method->params);
        walk(&w, method->return_type);
        walk_list(&w, method->body);
    }
    intern_free(&intern);
    arena_free(&arena);
    diag_list_free(&diags);
    source_file_free(&file);
    return method != NULL;
}
