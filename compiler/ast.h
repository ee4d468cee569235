/* The syntax tree. What each form means: spec syntax.md 11; which fields a kind uses: ast_kinds.def.
 *
 * AGREED. Nodes, lists and decoded text live in the arena of the compilation, names in its Intern (compare
 * pointers). A tree is built once by the parser and then only its `facts` pointers change; each pass that
 * needs them says which nodes it owns. Texts (`Text`) may point into the source text, so the source must
 * outlive the tree, and they are not NUL-terminated.
 *
 * Depth is bounded by the parser, in all directions: `height` is 1 above the highest child, at most
 * PARSE_MAX_HEIGHT (parser.h), so a recursive walk with small frames is safe.
 */
#ifndef BT_COMPILER_AST_H
#define BT_COMPILER_AST_H

#include <stdbool.h>
#include <stdint.h>
#include "vm/bytecode/span.h"

typedef enum {
#define AST_KIND(name, member, what) AST_##name,
#include "compiler/ast_kinds.def"
#undef AST_KIND
    AST_KIND_COUNT
} AstKind;

#define AST_FIRST_PATTERN AST_PAT_WILD
#define AST_FIRST_TYPE AST_TYPE_NAME
#define AST_FIRST_PART AST_PART

typedef struct Node Node;

typedef struct {
    const char *bytes;
    uint32_t length;
} Text;

typedef struct {
    Node **items;
    uint32_t count;
} NodeList;

typedef enum { SEL_UNARY, SEL_BINARY, SEL_KEYWORD } SelectorKind;
typedef enum {
    SEG_TYPE_NONE,
    SEG_INTEGER,
    SEG_FLOAT,
    SEG_BINARY,
    SEG_UTF8
} SegmentType; /* `bytes` is SEG_BINARY */
typedef enum { SEG_SIGN_NONE, SEG_SIGNED, SEG_UNSIGNED } SegmentSign;
typedef enum { SEG_ENDIAN_NONE, SEG_BIG, SEG_LITTLE, SEG_NATIVE } SegmentEndian;

struct Node {
    uint16_t kind;   /* AstKind */
    uint16_t height; /* of the tree below; leaves are 0 */
    Span span;
    void *facts; /* for the passes after parsing; NULL from the parser */
    union {
        int64_t integer;
        double real;
        uint32_t code_point;
        const char *name;
        Text text;
        NodeList list; /* never NULL items when count > 0 */
        Node *child;   /* PAREN, RETURN, PAT_LITERAL */
        struct {
            const char *name;
            const char *package; /* NULL without `pkg@` */
        } class_ref;
        struct {
            Node *base;
            const char *name;
            Span name_span;
        } field;
        struct {
            Node *receiver;       /* NULL in a PART */
            const char *selector; /* whole: at:put: */
            NodeList args;
            uint32_t selector_start; /* offset of the (first) selector token: the position of the send */
            uint8_t selector_kind;   /* SelectorKind */
            bool is_cast;            /* `!`; never in a PART */
        } send;
        struct {
            Node *receiver;
            NodeList parts; /* PART, or ERROR for a missing one */
        } cascade;
        struct {
            NodeList params; /* PARAM */
            NodeList body;
        } block;
        struct {
            Node *target; /* IDENT or FIELD */
            Node *value;
            Node *type; /* NULL without `::` */
        } assign;
        struct {
            Node *pattern;
            Node *value;
        } destructure;
        struct {
            Node *value;
            NodeList arms; /* ARM */
            bool exhaustive;
        } match;
        struct {
            Node *pattern;
            Node *guard; /* NULL without `when:` */
            Node *body;
        } arm;
        struct {
            NodeList elements;
            Node *tail; /* LIST only: after `|`, else NULL */
        } sequence;
        struct {
            Node *key;
            Node *value;
        } pair;
        struct {
            const char *name;
            bool quoted, intrinsic;
            bool inferred; /* bare @primitive: name is the selector of the method around it */
        } primitive;
        struct {
            const char *category;
            Text reason; /* bytes NULL without one */
        } expect;
        struct {
            const char *name;
            Node *type; /* NULL without `::` */
        } param;
        struct {
            const char *name;
            const char *bound; /* NULL without `::` */
        } type_param;
        struct {
            const char *name;
            const char *class_name;
        } pat_type;
        struct {
            NodeList elements;
            Node *rest; /* PAT_VAR or PAT_WILD, NULL without `...` */
        } pat_sequence;
        struct {
            const char *class_name;
            NodeList args; /* CTOR_ARG */
        } pat_ctor;
        struct {
            const char *keyword; /* with its colon */
            Node *pattern;
        } ctor_arg;
        struct {
            Node *value; /* PAT_VAR or PAT_WILD */
            Node *size;  /* INT or IDENT, NULL without */
            uint8_t type, sign, endian;
        } segment;
        struct {
            const char *name;
            NodeList args;
        } type_generic;
        struct {
            Node *left;
            Node *right;
        } type_pair;
    } as;
};

typedef enum { DECL_STATE, DECL_FIELD, DECL_CLASS_STATE } DeclKeyword;

/* state: / field: / classState: */
typedef struct {
    Span span; /* keyword to end of the default */
    Span name_span;
    DeclKeyword keyword;
    const char *name;
    Node *type;          /* NULL */
    Node *default_value; /* NULL */
    Node *expect;        /* EXPECT, or NULL */
    Text doc;            /* bytes NULL without one */
    void *facts;
} FieldDecl;

typedef struct {
    FieldDecl **items;
    uint32_t count;
} FieldDeclList;

typedef struct {
    Span
        span; /* header (first modifier or selector token) to the last body token: the method's source text */
    Span header_span; /* up to and including `=>` */
    Span selector_span;
    const char *selector;
    SelectorKind selector_kind;
    NodeList params;   /* PARAM */
    Node *return_type; /* NULL */
    NodeList body;
    bool is_sealed, is_internal, is_class_side;
    bool is_generated; /* by the compiler: may bear a name of the library */
    Node *expect;      /* EXPECT, or NULL */
    Text doc;
    void *facts;
} MethodDecl;

typedef struct {
    MethodDecl **items;
    uint32_t count;
} MethodList;

typedef enum { CLASS_OBJECT, CLASS_ACTOR, CLASS_VALUE } ClassKind; /* from the direct superclass name only */

typedef struct {
    Span span; /* first modifier to the last token of the body */
    Span name_span, super_span;
    const char *name;
    const char *super_name;    /* NULL: root class (`nil subclass:`) */
    const char *super_package; /* NULL */
    NodeList super_type_args;  /* types */
    NodeList type_params;      /* TYPE_PARAM */
    bool is_abstract, is_sealed, is_typed, is_internal;
    const char *native_module; /* NULL */
    const char *handle_scope;  /* symbol text, NULL */
    ClassKind kind;
    FieldDeclList fields;     /* state: and field: */
    FieldDeclList class_vars; /* classState: */
    struct {
        Node **items; /* FIELD nodes that are assigned to, in the order of the text */
        uint32_t count;
    } assigned;
    MethodList methods, class_methods;
    Text doc;
    void *facts;
} ClassDecl;

/* Foo >> bar => ... / Foo class >> bar => ... */
typedef struct {
    Span span;
    const char *class_name;
    const char *package; /* NULL */
    bool is_class_side;
    MethodDecl *method;
    void *facts;
} ExtMethod;

typedef struct {
    Span span;
    const char *selector;
    SelectorKind selector_kind;
    NodeList params;
    Node *return_type; /* NULL */
    Text doc;
} SignatureDecl;

typedef struct {
    SignatureDecl **items;
    uint32_t count;
} SignatureList;

typedef struct {
    Span span;
    Span name_span;
    const char *name;
    NodeList type_params;
    const char *extending; /* NULL */
    SignatureList signatures, class_signatures;
    Text doc;
    void *facts;
} ProtocolDecl;

typedef struct {
    Span span;
    Span name_span;
    const char *name;
    Node *type;
    bool is_internal;
    Text doc;
    void *facts;
} AliasDecl;

/* The top-level items by kind, each list in source order. */
typedef struct {
    Span span; /* the whole text */
    struct {
        AliasDecl **items;
        uint32_t count;
    } aliases;
    struct {
        ProtocolDecl **items;
        uint32_t count;
    } protocols;
    struct {
        ClassDecl **items;
        uint32_t count;
    } classes;
    struct {
        ExtMethod **items;
        uint32_t count;
    } ext_methods;
    NodeList statements;
    void *facts;
} Module;

/* Looks through PAREN. */
static inline Node *ast_unparen(Node *node) {
    while (node && node->kind == AST_PAREN) node = node->as.child;
    return node;
}

#endif
