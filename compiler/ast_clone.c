/* See ast_clone.h. Recursion follows the tree, whose height the parser bounds. */
#include "compiler/ast_clone.h"

typedef struct {
    Arena *arena;
    uint32_t left; /* nodes that may still be copied */
    bool failed;
} Clone;

static void clone_child(Clone *c, Node **child);

static void clone_list(Clone *c, NodeList *list) {
    if (!list->count || c->failed) return;
    Node **items = arena_try_alloc(c->arena, list->count * sizeof *items);
    c->failed = !items;
    for (uint32_t i = 0; i < list->count && !c->failed; i++) {
        items[i] = list->items[i];
        clone_child(c, &items[i]);
    }
    list->items = items;
}

static void clone_pair(Clone *c, Node **first, Node **second) {
    clone_child(c, first);
    clone_child(c, second);
}

static void clone_pattern(Clone *c, Node *n) {
    switch ((AstKind)n->kind) {
    case AST_PAT_LITERAL: clone_child(c, &n->as.child); return;
    case AST_PAT_TUPLE:
    case AST_PAT_ARRAY:
    case AST_PAT_LIST:
        clone_list(c, &n->as.pat_sequence.elements);
        clone_child(c, &n->as.pat_sequence.rest);
        return;
    case AST_PAT_MAP:
    case AST_PAT_BINARY: clone_list(c, &n->as.list); return;
    case AST_PAT_CTOR: clone_list(c, &n->as.pat_ctor.args); return;
    case AST_CTOR_ARG: clone_child(c, &n->as.ctor_arg.pattern); return;
    case AST_SEGMENT: clone_pair(c, &n->as.segment.value, &n->as.segment.size); return;
    default: return; /* leaves, and types, which are shared */
    }
}

static void clone_parts(Clone *c, Node *n) {
    switch ((AstKind)n->kind) {
    case AST_INTERP:
    case AST_MAP: clone_list(c, &n->as.list); return;
    case AST_FIELD: clone_child(c, &n->as.field.base); return;
    case AST_SEND:
    case AST_PART:
        clone_child(c, &n->as.send.receiver);
        clone_list(c, &n->as.send.args);
        return;
    case AST_CASCADE:
        clone_child(c, &n->as.cascade.receiver);
        clone_list(c, &n->as.cascade.parts);
        return;
    case AST_BLOCK:
        clone_list(c, &n->as.block.params);
        clone_list(c, &n->as.block.body);
        return;
    case AST_PAREN:
    case AST_RETURN: clone_child(c, &n->as.child); return;
    case AST_ASSIGN: clone_pair(c, &n->as.assign.target, &n->as.assign.value); return;
    case AST_DESTRUCTURE: clone_pair(c, &n->as.destructure.pattern, &n->as.destructure.value); return;
    case AST_MATCH:
        clone_child(c, &n->as.match.value);
        clone_list(c, &n->as.match.arms);
        return;
    case AST_ARM:
        clone_pair(c, &n->as.arm.pattern, &n->as.arm.guard);
        clone_child(c, &n->as.arm.body);
        return;
    case AST_LIST:
    case AST_ARRAY:
        clone_list(c, &n->as.sequence.elements);
        clone_child(c, &n->as.sequence.tail);
        return;
    case AST_PAIR: clone_pair(c, &n->as.pair.key, &n->as.pair.value); return;
    default: clone_pattern(c, n); return;
    }
}

static void clone_child(Clone *c, Node **child) {
    if (!*child || c->failed) return;
    Node *copy = c->left ? arena_try_alloc(c->arena, sizeof *copy) : NULL;
    if (!copy) {
        c->failed = true;
        return;
    }
    c->left--;
    *copy = **child;
    copy->facts = NULL;
    *child = copy;
    clone_parts(c, copy);
}

Node *ast_clone(Arena *arena, const Node *node, uint32_t limit) {
    Clone c = {.arena = arena, .left = limit};
    Node *copy = (Node *)(uintptr_t)node;
    clone_child(&c, &copy);
    return c.failed ? NULL : copy;
}
