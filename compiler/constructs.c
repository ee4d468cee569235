/* The table of selectors with a meaning to the compiler, and what a send with literal blocks is. */
#include "compiler/analysis.h"

#include <string.h>

static const SelectorInfo SELECTORS[] = {
#define SELECTOR(text, construct, op, blocks) {text, CTRL_##construct, IR_##op, blocks},
#include "compiler/constructs.def"
#undef SELECTOR
};

/* Those of which `send_may_be_own`, as ordinary messages that hand the writes of their blocks back. */
static const SelectorInfo SENT[] = {
#define SELECTOR(text, construct, op, blocks) {text, CTRL_THREADING, IR_##op, blocks},
#include "compiler/constructs.def"
#undef SELECTOR
};

bool constructs_init(Analysis *a) {
    for (size_t i = 0; i < sizeof SELECTORS / sizeof *SELECTORS; i++) {
        void **slot = name_map_slot(&a->selectors, a->arena, intern_cstring(a->intern, SELECTORS[i].text));
        if (!slot) return false;
        *slot = (void *)(uintptr_t)&SELECTORS[i];
    }
#define WELL_KNOWN(field, text) a->names.field = intern_cstring(a->intern, text);
#include "compiler/well_known.def"
#undef WELL_KNOWN
    return !arena_failed(a->arena);
}

const SelectorInfo *selector_info(const Analysis *a, const char *selector) {
    return name_map_get(&a->selectors, selector);
}

static bool block_fits(char want, const Node *block) {
    uint32_t count = block->as.block.params.count;
    if (want == '*') return true;
    if (want == '?') return count <= 1;
    return count == (uint32_t)(want - '0');
}

bool send_is_inlined(const SelectorInfo *info, const Node *send) {
    if (!info || info->construct <= CTRL_THREADING || send->as.send.is_cast) return false;
    for (uint32_t i = 0; info->blocks[i]; i++) {
        if (info->blocks[i] == '-') continue;
        Node *block = literal_block(i ? send->as.send.args.items[i - 1] : send->as.send.receiver);
        if (!block || !block_fits(info->blocks[i], block)) return false;
    }
    return true;
}

/* What stands there is no List for certain, or the fold would be that of the receiver's own class. */
static bool never_list(const Analysis *a, const Node *receiver) {
    receiver = ast_unparen((Node *)(uintptr_t)receiver);
    switch ((AstKind)receiver->kind) {
    case AST_IDENT: return is_self_name(a, receiver);
    case AST_SEND:
        return receiver->as.send.selector == a->names.to_ || receiver->as.send.selector == a->names.to_by;
    case AST_FIELD:
    case AST_CASCADE:
    case AST_ASSIGN:
    case AST_MATCH:
    case AST_LIST: return false;
    default: return true;
    }
}

bool send_is_fold(const Analysis *a, const SelectorInfo *info, const Node *send) {
    if (!info || info->construct == CTRL_NONE || info->construct >= CTRL_THREADING || send->as.send.is_cast)
        return false;
    NodeList args = send->as.send.args;
    const Node *block = literal_block(args.items[args.count - 1]);
    bool two = info->construct == CTRL_FOLD_INJECT || info->construct == CTRL_FOLD_WITH_INDEX;
    return block && block->as.block.params.count == (two ? 2 : 1) && !never_list(a, send->as.send.receiver);
}

Node *fold_twin(const Analysis *a, const Node *send) {
    if (!send_is_fold(a, send->facts, send)) return NULL;
    NodeList args = send->as.send.args;
    const BlockFacts *b = literal_block(args.items[args.count - 1])->facts;
    return b ? b->twin : NULL;
}

/* ---- constructs whose selector a class of the program has ---- */

static bool unit_has(const Analysis *a, const char *selector) {
    const Module *m = a->module;
    for (uint32_t i = 0; i < m->classes.count; i++) {
        const ClassInfo *c = m->classes.items[i]->facts;
        if (c && (name_map_get(&c->methods, selector) || name_map_get(&c->class_methods, selector)))
            return true;
    }
    for (uint32_t i = 0; i < m->ext_methods.count; i++)
        if (m->ext_methods.items[i]->method->selector == selector) return true;
    return false;
}

static bool program_has(Analysis *a, const char *selector) {
    static char yes, no;
    const CompilerWorld *world = &a->options->world;
    void **slot = name_map_slot(&a->own, a->arena, selector);
    if (!slot) return false;
    if (!*slot) {
        bool has =
            unit_has(a, selector) || (world->program_has && world->program_has(world->context, selector));
        *slot = has ? &yes : &no;
    }
    return *slot == &yes;
}

/* Numbers, Strings and the like: of the library. */
static bool is_literal(const Node *node) {
    node = ast_unparen((Node *)(uintptr_t)node);
    return node->kind == AST_INT || node->kind == AST_FLOAT || node->kind == AST_STRING;
}

bool send_may_be_own(Analysis *a, const SelectorInfo *info, const Node *send) {
    if (info->construct < CTRL_IF_TRUE || info->blocks[0] != '-' || a->options->stdlib) return false;
    return !is_literal(send->as.send.receiver) && program_has(a, send->as.send.selector);
}

const SelectorInfo *selector_sent(const SelectorInfo *info) { return &SENT[info - SELECTORS]; }

Node *inlined_block(Node *argument) {
    Node *block = literal_block(argument);
    const BlockFacts *b = block ? block->facts : NULL;
    return b && b->twin ? b->twin : block;
}

static bool ends_with(const char *text, const char *suffix) {
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && memcmp(text + n - m, suffix, m) == 0;
}

bool selector_threads(const SelectorInfo *info, const char *selector, uint32_t index) {
    if (info)
        return info->construct != CTRL_NONE && info->construct != CTRL_VALUE && info->blocks[index] != '-';
    if (index == 0) return false;
    return ends_with(selector, "ifAbsent:") || ends_with(selector, "ifAbsentPut:") ||
           ends_with(selector, "ifNone:");
}
