/* One case per kind; see ast_print.h. Recursion is bounded by the height of trees. */
#include "compiler/ast_print.h"

#include <stdlib.h>
#include <string.h>
#include "compiler/intern.h"

/* ---- text
 * ------------------------------------------------------------------------------------------------------- */

static void print_quoted(FILE *out, const char *bytes, uint32_t length) {
    fputc('"', out);
    for (uint32_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        switch (c) {
        case '"': fputs("\\\"", out); break;
        case '\\': fputs("\\\\", out); break;
        case '\n': fputs("\\n", out); break;
        case '\t': fputs("\\t", out); break;
        case '\r': fputs("\\r", out); break;
        default:
            if (c < 0x20 || c == 0x7f)
                fprintf(out, "\\x%02x", c);
            else
                fputc(c, out);
        }
    }
    fputc('"', out);
}

/* Symbols that can be written without quotes are. */
static void print_symbol(FILE *out, const char *name) {
    uint32_t length = intern_length(name);
    bool word = length > 0, op = length > 0;
    for (uint32_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == ':'))) word = false;
        if (!c || !strchr("+-*/<>=~%&?,\\", c)) op = false;
    }
    fputc('#', out);
    if (word || op)
        fwrite(name, 1, length, out);
    else
        print_quoted(out, name, length);
}

/* Shortest text that reads back as the same double, with a point or an exponent. */
static void print_float(FILE *out, double value) {
    char text[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value) break;
    }
    double magnitude = value < 0 ? -value : value;
    if (strchr(text, 'e') && magnitude < 1e16 && magnitude >= 1) snprintf(text, sizeof text, "%.1f", value);
    fputs(text, out);
    if (!strpbrk(text, ".en")) fputs(".0", out);
}

static void print_list(FILE *out, NodeList list) {
    for (uint32_t i = 0; i < list.count; i++) {
        fputc(' ', out);
        ast_print_node(out, list.items[i]);
    }
}

static void print_doc(FILE *out, Text doc) {
    if (!doc.bytes) return;
    fputs(" (doc ", out);
    print_quoted(out, doc.bytes, doc.length);
    fputc(')', out);
}

/* (head a b c) with one to three children, of which later ones may be NULL. */
static void print_form(FILE *out, const char *head, const Node *a, const Node *b, const Node *c) {
    fprintf(out, "(%s ", head);
    ast_print_node(out, a);
    if (b) fputc(' ', out);
    if (b) ast_print_node(out, b);
    if (c) fputc(' ', out);
    if (c) ast_print_node(out, c);
    fputc(')', out);
}

static void print_list_form(FILE *out, const char *head, NodeList list) {
    fprintf(out, "(%s", head);
    print_list(out, list);
    fputc(')', out);
}

/* ---- expressions
 * ------------------------------------------------------------------------------------------------ */

static void print_send(FILE *out, const Node *node) {
    fputs(node->as.send.is_cast ? "(cast " : "(send ", out);
    ast_print_node(out, node->as.send.receiver);
    fprintf(out, " %s", node->as.send.selector);
    print_list(out, node->as.send.args);
    fputc(')', out);
}

static void print_params(FILE *out, NodeList params) {
    fputc('(', out);
    for (uint32_t i = 0; i < params.count; i++) {
        if (i > 0) fputc(' ', out);
        ast_print_node(out, params.items[i]);
    }
    fputc(')', out);
}

/* Block parameters show no types: they mean nothing. */
static void print_block(FILE *out, const Node *node) {
    fputs("(block (", out);
    for (uint32_t i = 0; i < node->as.block.params.count; i++)
        fprintf(out, i > 0 ? " %s" : "%s", node->as.block.params.items[i]->as.param.name);
    fputc(')', out);
    print_list(out, node->as.block.body);
    fputc(')', out);
}

static void print_assign(FILE *out, const Node *node) {
    fputs("(:= ", out);
    ast_print_node(out, node->as.assign.target);
    if (node->as.assign.type) {
        fputs(" (:: ", out);
        ast_print_node(out, node->as.assign.type);
        fputc(')', out);
    }
    fputc(' ', out);
    ast_print_node(out, node->as.assign.value);
    fputc(')', out);
}

static void print_cascade(FILE *out, const Node *node) {
    fputs("(cascade ", out);
    ast_print_node(out, node->as.cascade.receiver);
    print_list(out, node->as.cascade.parts);
    fputc(')', out);
}

static void print_match(FILE *out, const Node *node) {
    fputs(node->as.match.exhaustive ? "(match! " : "(match ", out);
    ast_print_node(out, node->as.match.value);
    print_list(out, node->as.match.arms);
    fputc(')', out);
}

static void print_sequence(FILE *out, const Node *node) {
    fputs(node->kind == AST_LIST ? "(list" : "(array", out);
    print_list(out, node->as.sequence.elements);
    if (node->as.sequence.tail) {
        fputs(" | ", out);
        ast_print_node(out, node->as.sequence.tail);
    }
    fputc(')', out);
}

static void print_primitive(FILE *out, const Node *node) {
    const char *name = node->as.primitive.name;
    fputs(node->as.primitive.intrinsic ? "(intrinsic " : "(primitive ", out);
    if (node->as.primitive.quoted || node->as.primitive.inferred)
        print_quoted(out, name, intern_length(name));
    else
        fputs(name, out);
    fputs(node->as.primitive.inferred ? " :inferred)" : ")", out);
}

static void print_expect(FILE *out, const Node *node) {
    fprintf(out, "(expect %s", node->as.expect.category);
    if (node->as.expect.reason.bytes) {
        fputc(' ', out);
        print_quoted(out, node->as.expect.reason.bytes, node->as.expect.reason.length);
    }
    fputc(')', out);
}

/* ---- patterns and parts
 * ----------------------------------------------------------------------------------------- */

static void print_pattern_sequence(FILE *out, const char *head, const Node *node) {
    fprintf(out, "(%s", head);
    print_list(out, node->as.pat_sequence.elements);
    if (node->as.pat_sequence.rest) {
        fputc(' ', out);
        print_form(out, "rest", node->as.pat_sequence.rest, NULL, NULL);
    }
    fputc(')', out);
}

static void print_arm(FILE *out, const Node *node) {
    fputs("(arm ", out);
    ast_print_node(out, node->as.arm.pattern);
    if (node->as.arm.guard) {
        fputc(' ', out);
        print_form(out, "when", node->as.arm.guard, NULL, NULL);
    }
    fputc(' ', out);
    ast_print_node(out, node->as.arm.body);
    fputc(')', out);
}

static void print_segment(FILE *out, const Node *node) {
    static const char *const types[] = {"", " :integer", " :float", " :binary", " :utf8"};
    static const char *const signs[] = {"", " :signed", " :unsigned"};
    static const char *const endians[] = {"", " :big", " :little", " :native"};
    fputs("(seg ", out);
    ast_print_node(out, node->as.segment.value);
    if (node->as.segment.size) {
        fputs(" :size ", out);
        ast_print_node(out, node->as.segment.size);
    }
    fprintf(out, "%s%s%s)", types[node->as.segment.type], signs[node->as.segment.sign],
            endians[node->as.segment.endian]);
}

static void print_named_type(FILE *out, const char *name, const Node *type, const char *separator) {
    if (!type) {
        fputs(name, out);
        return;
    }
    fprintf(out, "(%s%s", name, separator);
    ast_print_node(out, type);
    fputc(')', out);
}

static void print_part(FILE *out, const Node *node) {
    switch (node->kind) {
    case AST_PART:
        fprintf(out, "(%s", node->as.send.selector);
        print_list(out, node->as.send.args);
        fputc(')', out);
        break;
    case AST_PAIR:
        fputc('(', out);
        ast_print_node(out, node->as.pair.key);
        fputc(' ', out);
        ast_print_node(out, node->as.pair.value);
        fputc(')', out);
        break;
    case AST_ARM: print_arm(out, node); break;
    case AST_PARAM: print_named_type(out, node->as.param.name, node->as.param.type, " "); break;
    case AST_TYPE_PARAM:
        if (node->as.type_param.bound)
            fprintf(out, "(%s :: %s)", node->as.type_param.name, node->as.type_param.bound);
        else
            fputs(node->as.type_param.name, out);
        break;
    case AST_CTOR_ARG:
        print_named_type(out, node->as.ctor_arg.keyword, node->as.ctor_arg.pattern, " ");
        break;
    default: print_segment(out, node); break;
    }
}

static void print_pattern(FILE *out, const Node *node) {
    switch (node->kind) {
    case AST_PAT_WILD: fputc('_', out); break;
    case AST_PAT_NIL: fputs("nil", out); break;
    case AST_PAT_LITERAL: ast_print_node(out, node->as.child); break;
    case AST_PAT_VAR: fprintf(out, "(bind %s)", node->as.name); break;
    case AST_PAT_TYPE:
        fprintf(out, "(is %s %s)", node->as.pat_type.name, node->as.pat_type.class_name);
        break;
    case AST_PAT_TUPLE: print_pattern_sequence(out, "ptuple", node); break;
    case AST_PAT_ARRAY: print_pattern_sequence(out, "parray", node); break;
    case AST_PAT_LIST: print_pattern_sequence(out, "plist", node); break;
    case AST_PAT_MAP: print_list_form(out, "pmap", node->as.list); break;
    case AST_PAT_BINARY: print_list_form(out, "pbin", node->as.list); break;
    default:
        fprintf(out, "(pctor %s", node->as.pat_ctor.class_name);
        print_list(out, node->as.pat_ctor.args);
        fputc(')', out);
    }
}

static void print_type(FILE *out, const Node *node) {
    switch (node->kind) {
    case AST_TYPE_NAME: fputs(node->as.name, out); break;
    case AST_TYPE_SELF: fputs("Self", out); break;
    case AST_TYPE_SELF_CLASS: fputs("(metatype Self)", out); break;
    case AST_TYPE_CLASS_OF: fprintf(out, "(metatype %s)", node->as.name); break;
    case AST_TYPE_SINGLETON: print_symbol(out, node->as.name); break;
    case AST_TYPE_GENERIC:
        print_list_form(out, node->as.type_generic.name, node->as.type_generic.args);
        break;
    case AST_TYPE_UNION: print_list_form(out, "or", node->as.list); break;
    default: {
        const char *head = node->kind == AST_TYPE_DIFF ? "diff" : "and";
        print_form(out, head, node->as.type_pair.left, node->as.type_pair.right, NULL);
    }
    }
}

void ast_print_node(FILE *out, const Node *node) {
    if (node->kind >= AST_FIRST_PART) {
        print_part(out, node);
        return;
    }
    if (node->kind >= AST_FIRST_TYPE) {
        print_type(out, node);
        return;
    }
    if (node->kind >= AST_FIRST_PATTERN) {
        print_pattern(out, node);
        return;
    }
    switch ((AstKind)node->kind) {
    case AST_INT: fprintf(out, "%lld", (long long)node->as.integer); break;
    case AST_FLOAT: print_float(out, node->as.real); break;
    case AST_STRING: print_quoted(out, node->as.text.bytes, node->as.text.length); break;
    case AST_SYMBOL: print_symbol(out, node->as.name); break;
    case AST_CHAR: fprintf(out, "(char %u)", node->as.code_point); break;
    case AST_INTERP: print_list_form(out, "interp", node->as.list); break;
    case AST_IDENT: fputs(node->as.name, out); break;
    case AST_CLASS_REF:
        fprintf(out, "(cls %s%s%s)", node->as.class_ref.package ? node->as.class_ref.package : "",
                node->as.class_ref.package ? "@" : "", node->as.class_ref.name);
        break;
    case AST_SUPER: fputs("super", out); break;
    case AST_FIELD:
        fputs("(field ", out);
        ast_print_node(out, node->as.field.base);
        fprintf(out, " %s)", node->as.field.name);
        break;
    case AST_SEND: print_send(out, node); break;
    case AST_CASCADE: print_cascade(out, node); break;
    case AST_BLOCK: print_block(out, node); break;
    case AST_PAREN: print_form(out, "paren", node->as.child, NULL, NULL); break;
    case AST_ASSIGN: print_assign(out, node); break;
    case AST_DESTRUCTURE:
        print_form(out, "destructure", node->as.destructure.pattern, node->as.destructure.value, NULL);
        break;
    case AST_RETURN: print_form(out, "return", node->as.child, NULL, NULL); break;
    case AST_MATCH: print_match(out, node); break;
    case AST_LIST:
    case AST_ARRAY: print_sequence(out, node); break;
    case AST_MAP: print_list_form(out, "map", node->as.list); break;
    case AST_SPREAD: fprintf(out, "(spread %s)", node->as.name); break;
    case AST_PRIMITIVE: print_primitive(out, node); break;
    case AST_EXPECT: print_expect(out, node); break;
    default: fputs("(error)", out); break;
    }
}

/* ---- declarations
 * ----------------------------------------------------------------------------------------------- */

void ast_print_method(FILE *out, const MethodDecl *method) {
    fprintf(out, "(%smethod %s ", method->is_class_side ? "class-" : "", method->selector);
    print_params(out, method->params);
    if (method->return_type) {
        fputs(" -> ", out);
        ast_print_node(out, method->return_type);
    }
    if (method->is_sealed) fputs(" :sealed", out);
    if (method->is_internal) fputs(" :internal", out);
    print_doc(out, method->doc);
    if (method->expect) {
        fputc(' ', out);
        ast_print_node(out, method->expect);
    }
    print_list(out, method->body);
    fputc(')', out);
}

static void print_field(FILE *out, const FieldDecl *decl) {
    static const char *const heads[] = {"state", "field", "classState"};
    fprintf(out, " (%s %s", heads[decl->keyword], decl->name);
    if (decl->type) {
        fputs(" :: ", out);
        ast_print_node(out, decl->type);
    }
    if (decl->default_value) {
        fputs(" = ", out);
        ast_print_node(out, decl->default_value);
    }
    print_doc(out, decl->doc);
    if (decl->expect) {
        fputc(' ', out);
        ast_print_node(out, decl->expect);
    }
    fputc(')', out);
}

static void print_class_header(FILE *out, const ClassDecl *decl) {
    static const char *const kinds[] = {"object", "actor", "value"};
    fprintf(out, "(class %s", decl->name);
    if (decl->type_params.count) fputc(' ', out);
    if (decl->type_params.count) print_list_form(out, "tparams", decl->type_params);
    print_doc(out, decl->doc);
    fprintf(out, " :super %s%s%s", decl->super_package ? decl->super_package : "",
            decl->super_package ? "@" : "", decl->super_name ? decl->super_name : "nil");
    if (decl->super_type_args.count) fputc(' ', out);
    if (decl->super_type_args.count) print_list_form(out, "targs", decl->super_type_args);
    fprintf(out, " :kind %s", kinds[decl->kind]);
    if (decl->is_abstract) fputs(" :abstract", out);
    if (decl->is_sealed) fputs(" :sealed", out);
    if (decl->is_typed) fputs(" :typed", out);
    if (decl->is_internal) fputs(" :internal", out);
    if (decl->native_module) fprintf(out, " :native %s", decl->native_module);
    if (decl->handle_scope) fprintf(out, " :handle-scope %s", decl->handle_scope);
}

static void print_class(FILE *out, const ClassDecl *decl) {
    print_class_header(out, decl);
    for (uint32_t i = 0; i < decl->fields.count; i++) print_field(out, decl->fields.items[i]);
    for (uint32_t i = 0; i < decl->class_vars.count; i++) print_field(out, decl->class_vars.items[i]);
    for (uint32_t i = 0; i < decl->methods.count; i++) {
        fputs("\n  ", out);
        ast_print_method(out, decl->methods.items[i]);
    }
    for (uint32_t i = 0; i < decl->class_methods.count; i++) {
        fputs("\n  ", out);
        ast_print_method(out, decl->class_methods.items[i]);
    }
    fputs(")\n", out);
}

static void print_ext_method(FILE *out, const ExtMethod *ext) {
    MethodDecl method = *ext->method;
    method.is_class_side = false; /* said by the ext */
    fprintf(out, "(ext %s%s%s%s ", ext->package ? ext->package : "", ext->package ? "@" : "", ext->class_name,
            ext->is_class_side ? " :class" : "");
    ast_print_method(out, &method);
    fputs(")\n", out);
}

static void print_signatures(FILE *out, const char *head, const SignatureList *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        const SignatureDecl *signature = list->items[i];
        fprintf(out, " (%s %s ", head, signature->selector);
        print_params(out, signature->params);
        if (signature->return_type) {
            fputs(" -> ", out);
            ast_print_node(out, signature->return_type);
        }
        print_doc(out, signature->doc);
        fputc(')', out);
    }
}

static void print_protocol(FILE *out, const ProtocolDecl *decl) {
    fprintf(out, "(protocol %s", decl->name);
    if (decl->type_params.count) fputc(' ', out);
    if (decl->type_params.count) print_list_form(out, "tparams", decl->type_params);
    print_doc(out, decl->doc);
    if (decl->extending) fprintf(out, " :extending %s", decl->extending);
    print_signatures(out, "sig", &decl->signatures);
    print_signatures(out, "class-sig", &decl->class_signatures);
    fputs(")\n", out);
}

static void print_alias(FILE *out, const AliasDecl *decl) {
    fprintf(out, "(type %s%s ", decl->is_internal ? ":internal " : "", decl->name);
    ast_print_node(out, decl->type);
    print_doc(out, decl->doc);
    fputs(")\n", out);
}

void ast_print_module(FILE *out, const Module *module) {
    for (uint32_t i = 0; i < module->aliases.count; i++) print_alias(out, module->aliases.items[i]);
    for (uint32_t i = 0; i < module->protocols.count; i++) print_protocol(out, module->protocols.items[i]);
    for (uint32_t i = 0; i < module->classes.count; i++) print_class(out, module->classes.items[i]);
    for (uint32_t i = 0; i < module->ext_methods.count; i++)
        print_ext_method(out, module->ext_methods.items[i]);
    for (uint32_t i = 0; i < module->statements.count; i++) {
        ast_print_node(out, module->statements.items[i]);
        fputc('\n', out);
    }
}
