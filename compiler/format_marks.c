/* A walk over the tree that tells the formatter where things start. Recursion is bounded by the height of
 * trees. */
#include "compiler/format_internal.h"

typedef struct {
    const TokenList *tokens;
    uint8_t *marks;
} Marker;

uint32_t format_token_from(const TokenList *tokens, uint32_t offset) {
    uint32_t low = 0, high = tokens->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tokens->items[middle].start < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void mark(Marker *m, uint32_t offset, unsigned flags) {
    m->marks[format_token_from(m->tokens, offset)] |= (uint8_t)flags;
}

static void mark_node(Marker *m, const Node *node);

static void mark_list(Marker *m, NodeList list, unsigned flags) {
    for (uint32_t i = 0; i < list.count; i++) {
        if (flags) mark(m, list.items[i]->span.start, flags);
        mark_node(m, list.items[i]);
    }
}

/* The `(` of type arguments and parameters stands directly behind the name. */
static void mark_type_paren(Marker *m, uint32_t behind_name) {
    uint32_t index = format_token_from(m->tokens, behind_name);
    if (m->tokens->items[index].kind == TOK_LPAREN) m->marks[index] |= MARK_GLUED;
}

static void mark_binary_pattern(Marker *m, const Node *node) {
    for (uint32_t i = 0; i < node->as.list.count; i++) {
        Span span = node->as.list.items[i]->span;
        uint32_t at = format_token_from(m->tokens, span.start + 1);
        for (; m->tokens->items[at].start < span.end; at++) m->marks[at] |= MARK_GLUED;
    }
    mark(m, node->span.end - 2, MARK_GLUED); /* >> */
}

static void mark_field(Marker *m, const Node *node) {
    uint32_t name = format_token_from(m->tokens, node->as.field.name_span.start);
    m->marks[name] |= MARK_GLUED;
    if (name > 0) m->marks[name - 1] |= MARK_GLUED; /* its dot */
}

static void mark_optional(Marker *m, const Node *node) {
    if (node) mark_node(m, node);
}

static void mark_node(Marker *m, const Node *node) {
    switch ((AstKind)node->kind) {
    case AST_FIELD:
        mark_node(m, node->as.field.base);
        mark_field(m, node);
        break;
    case AST_SEND:
    case AST_PART:
        mark_optional(m, node->as.send.receiver);
        mark_list(m, node->as.send.args, 0);
        break;
    case AST_CASCADE:
        mark_node(m, node->as.cascade.receiver);
        mark_list(m, node->as.cascade.parts, 0);
        break;
    case AST_BLOCK:
        mark_list(m, node->as.block.params, 0);
        mark_list(m, node->as.block.body, MARK_ELEMENT);
        break;
    case AST_PAREN:
        mark(m, node->as.child->span.start, MARK_ELEMENT);
        mark_node(m, node->as.child);
        break;
    case AST_RETURN:
    case AST_PAT_LITERAL: mark_node(m, node->as.child); break;
    case AST_ASSIGN:
        mark_node(m, node->as.assign.target);
        mark_optional(m, node->as.assign.type);
        mark_node(m, node->as.assign.value);
        break;
    case AST_DESTRUCTURE:
        mark_node(m, node->as.destructure.pattern);
        mark_node(m, node->as.destructure.value);
        break;
    case AST_MATCH:
        mark_node(m, node->as.match.value);
        mark_list(m, node->as.match.arms, MARK_ELEMENT);
        break;
    case AST_ARM:
        mark_node(m, node->as.arm.pattern);
        mark_optional(m, node->as.arm.guard);
        mark_node(m, node->as.arm.body);
        break;
    case AST_LIST:
    case AST_ARRAY:
        mark_list(m, node->as.sequence.elements, MARK_ELEMENT);
        mark_optional(m, node->as.sequence.tail);
        break;
    case AST_MAP:
    case AST_PAT_MAP: mark_list(m, node->as.list, MARK_ELEMENT); break;
    case AST_PAIR:
        mark_node(m, node->as.pair.key);
        mark_node(m, node->as.pair.value);
        break;
    case AST_PAT_TUPLE:
    case AST_PAT_ARRAY:
    case AST_PAT_LIST:
        mark_list(m, node->as.pat_sequence.elements, MARK_ELEMENT);
        mark_optional(m, node->as.pat_sequence.rest);
        break;
    case AST_PAT_BINARY: mark_binary_pattern(m, node); break;
    case AST_PAT_CTOR: mark_list(m, node->as.pat_ctor.args, 0); break;
    case AST_CTOR_ARG: mark_node(m, node->as.ctor_arg.pattern); break;
    case AST_PARAM: mark_optional(m, node->as.param.type); break;
    case AST_TYPE_GENERIC:
        mark_type_paren(m, node->span.start + 1);
        mark_list(m, node->as.type_generic.args, 0);
        break;
    case AST_TYPE_UNION: mark_list(m, node->as.list, 0); break;
    case AST_TYPE_DIFF:
    case AST_TYPE_AND:
        mark_node(m, node->as.type_pair.left);
        mark_node(m, node->as.type_pair.right);
        break;
    default: break; /* leaves; an INTERP is kept as it is written */
    }
}

static void mark_method(Marker *m, const MethodDecl *method, unsigned flags) {
    if (flags) mark(m, method->span.start, flags);
    if (method->expect) mark(m, method->expect->span.start, flags);
    mark_list(m, method->params, 0);
    mark_optional(m, method->return_type);
    mark_list(m, method->body, MARK_ELEMENT);
}

static void mark_fields(Marker *m, FieldDeclList list) {
    for (uint32_t i = 0; i < list.count; i++) {
        const FieldDecl *field = list.items[i];
        mark(m, field->span.start, MARK_MEMBER);
        if (field->expect) mark(m, field->expect->span.start, MARK_MEMBER);
        mark_optional(m, field->type);
        mark_optional(m, field->default_value);
    }
}

static void mark_methods(Marker *m, MethodList list) {
    for (uint32_t i = 0; i < list.count; i++) mark_method(m, list.items[i], MARK_MEMBER);
}

static void mark_class(Marker *m, const ClassDecl *decl) {
    mark(m, decl->span.start, MARK_TOP);
    mark_type_paren(m, decl->super_span.end);
    mark_list(m, decl->super_type_args, 0);
    mark_type_paren(m, decl->name_span.end);
    mark_fields(m, decl->fields);
    mark_fields(m, decl->class_vars);
    mark_methods(m, decl->methods);
    mark_methods(m, decl->class_methods);
}

static void mark_signatures(Marker *m, const SignatureList *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        mark(m, list->items[i]->span.start, MARK_MEMBER);
        mark_list(m, list->items[i]->params, 0);
        mark_optional(m, list->items[i]->return_type);
    }
}

static void mark_declarations(Marker *m, const Module *module) {
    for (uint32_t i = 0; i < module->aliases.count; i++) {
        mark(m, module->aliases.items[i]->span.start, MARK_TOP);
        mark_node(m, module->aliases.items[i]->type);
    }
    for (uint32_t i = 0; i < module->protocols.count; i++) {
        const ProtocolDecl *decl = module->protocols.items[i];
        mark(m, decl->span.start, MARK_TOP);
        mark_type_paren(m, decl->name_span.end);
        mark_signatures(m, &decl->signatures);
        mark_signatures(m, &decl->class_signatures);
    }
    for (uint32_t i = 0; i < module->classes.count; i++) mark_class(m, module->classes.items[i]);
    for (uint32_t i = 0; i < module->ext_methods.count; i++) {
        mark(m, module->ext_methods.items[i]->span.start, MARK_TOP);
        mark_method(m, module->ext_methods.items[i]->method, 0);
    }
}

void format_mark(const Module *module, const TokenList *tokens, uint8_t *marks) {
    Marker m = {tokens, marks};
    mark_declarations(&m, module);
    mark_list(&m, module->statements, MARK_ELEMENT | MARK_STATEMENT);
}
