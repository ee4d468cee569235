/* Bytecode as data: instruction words, function and unit descriptions, constants. AGREED contract between ir/
 * (which emits), the loader (which checks and links) and the disassembler. Knows nothing of values, heaps or
 * processes.
 *
 * A BcUnit is what the compiler hands over: functions, constants, sites, class declarations. It is plain
 * data owned by one BcUnit (bc_unit_free), position independent in the sense that everything is
 * named by index or by text.
 */
#ifndef BT_BYTECODE_H
#define BT_BYTECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vm/bytecode/memory.h"
#include "vm/bytecode/span.h"

typedef uint64_t Instr;

typedef enum {
#define OP(name, format, effects, doc) OP_##name,
#include "vm/bytecode/opcodes.def"
#undef OP
    OPCODE_COUNT
} Opcode;

#define FRAME_WORDS 4 /* header words of an activation, below its register 0 */
#define BC_FORMAT_VERSION 5u
#define BC_CLASS_VAR_ABI 1u
#define BC_MAX_REGISTERS 65000u
#define BC_NO_CAPTURE 0xffffu
#define BC_MAX_ARGS 255u /* of a message, so also of the one that starts a script */

static inline Instr instr_abc(Opcode op, unsigned f, unsigned a, unsigned b, unsigned c) {
    return (Instr)(op & 0xff) | ((Instr)(f & 0xff) << 8) | ((Instr)(a & 0xffff) << 16) |
           ((Instr)(b & 0xffff) << 32) | ((Instr)(c & 0xffff) << 48);
}
static inline Instr instr_aimm(Opcode op, unsigned f, unsigned a, uint32_t imm) {
    return (Instr)(op & 0xff) | ((Instr)(f & 0xff) << 8) | ((Instr)(a & 0xffff) << 16) | ((Instr)imm << 32);
}
static inline Opcode instr_op(Instr i) { return (Opcode)(i & 0xff); }
static inline unsigned instr_f(Instr i) { return (unsigned)(i >> 8) & 0xff; }
static inline unsigned instr_a(Instr i) { return (unsigned)(i >> 16) & 0xffff; }
static inline unsigned instr_b(Instr i) { return (unsigned)(i >> 32) & 0xffff; }
static inline unsigned instr_c(Instr i) { return (unsigned)(i >> 48); }
static inline int instr_sc(Instr i) { return (int16_t)(i >> 48); }
static inline int instr_sb(Instr i) { return (int16_t)(i >> 32); }
static inline int32_t instr_imm(Instr i) { return (int32_t)(i >> 32); }

/* Text that may hold NULs. */
typedef struct {
    const char *bytes;
    uint32_t length;
} BcText;

typedef enum {
    BC_INT,
    BC_BIGINT /* decimal text */,
    BC_FLOAT,
    BC_STRING,
    BC_SYMBOL,
    BC_CLASS /* class object by name */,
    BC_CONST_COUNT
} BcConstKind;
typedef struct {
    BcConstKind kind;
    union {
        int64_t i;
        double f;
        BcText text;
    } u;
} BcConst;

/* What a send, state, class-variable or type-test instruction refers to. */
enum {
    SITE_LITERAL_CLASS =
        1, /* receiver spelled as a class name: `class sealed` stateless methods are called directly */
    SITE_OWN_CLASS = 2, /* `Base s` inside one of Base's class methods: in-process (semantics 2.3) */
    SITE_IN_BLOCK = 4   /* access stands in a block: home must be checked, `capture` is the fallback */
};
typedef struct {
    uint32_t name; /* constant index of a symbol: selector, field, class variable or class name */
    uint8_t argc;
    uint8_t flags;
    uint16_t capture; /* capture index that holds the value from block creation, or BC_NO_CAPTURE */
} BcSite;

typedef enum { BC_CATCH, BC_ENSURE, BC_ANSWER, BC_HOME } BcRegionKind;
/* One protected pc range [start, end). Inner regions come before outer ones. On entry to the handler R[reg]
 * is the exception (CATCH); an ENSURE handler begins with PENDING. ANSWER protects nothing: it is one jump on
 * a comparison that may become a send, and the handler takes an answer that is no Boolean, in R[reg].
 * HOME: a ^ of a block that arrives at this script goes on there, its value in R[reg]. */
typedef struct {
    uint32_t start, end, handler;
    uint16_t reg;
    uint8_t kind;
} BcRegion;

typedef struct {
    uint32_t pc;
    uint32_t offset;
} BcLine; /* source byte offset from this pc on, ascending */

/* What CARRYOPEN opens: carriers alone; first a link to those of the closure; the same for as long as the
 * method lives. */
enum { CARRIERS_PLAIN, CARRIERS_LINKED, CARRIERS_KEPT };

/* How CLOSURE fills capture i: from a register of the creator, from a capture of the creator's own closure,
 * from a carrier of the creator (value at creation), from actor state or a class variable named by a constant
 * symbol (live value at home, the creator's own capture `fallback` away from home). Of a carrier, `fallback`
 * says how many activations further out it is than the nearest (OUTERGET). */
typedef enum { CAP_REGISTER, CAP_CAPTURE, CAP_CARRIER, CAP_STATE, CAP_CLASS_VAR } BcCaptureKind;
typedef struct {
    uint8_t kind;
    uint16_t index;
    uint32_t name;
    uint16_t fallback;
} BcCapture;

typedef enum {
    FN_CLASS_METHOD,
    FN_VALUE_METHOD,
    FN_ACTOR_METHOD,
    FN_OBJECT_METHOD,
    FN_SCRIPT,
    FN_BLOCK
} BcFnKind;
enum {
    FN_NLR_HOME = 1,     /* contains a block with ^: the activation gets a serial that its blocks carry */
    FN_HAS_CARRIERS = 2, /* opens carriers */
    FN_WRITES_OUTER = 4, /* a block that writes outer locals (stateful block) */
    FN_ACTOR_FIELDS = 8, /* a block that writes actor state */
    FN_BUILDER = 32,     /* ClassBuilder block compiled as a method */
    FN_ONLY_READS = 64,  /* FN_WRITES_OUTER because it reads carriers where they are; it writes none */
    FN_KEEPS = 16        /* a block whose carriers last as long as its method: a block inside may be kept */
};
typedef struct {
    uint32_t name;     /* constant index of the selector symbol (blocks: that of the home method) */
    BcText class_name; /* class in which the text lives; empty for scripts */
    uint8_t kind;      /* BcFnKind; a block has FN_BLOCK and home_kind */
    uint8_t home_kind;
    uint8_t flags;
    bool class_side;
    uint16_t param_count; /* without self */
    uint16_t register_count;
    uint32_t code_count;
    Instr *code;
    uint32_t site_count;
    BcSite *sites;
    uint32_t region_count;
    BcRegion *regions;
    uint32_t line_count;
    BcLine *lines;
    uint32_t capture_count;
    BcCapture *captures; /* blocks only */
    Span span;           /* of the method or block in the source */
} BcFunction;

typedef struct {
    BcText name;
    BcText type;
    uint32_t function; /* default's function, or BC_NONE */
    bool has_default;
    bool allows_nil;
} BcField;
#define BC_NONE 0xffffffffu

enum {
    METHOD_SEALED = 1,
    METHOD_INTERNAL = 2,
    METHOD_DIRECT = 4 /* class side: always runs in the caller */,
    METHOD_GENERATED = 8
};
typedef struct {
    BcText selector;
    BcText doc;
    BcText source;
    BcText class_name; /* class_name: extensions only */
    uint32_t function;
    uint8_t flags;
    bool class_side;
} BcMethod;

enum { CLASS_ABSTRACT = 1, CLASS_SEALED = 2, CLASS_TYPED = 4, CLASS_INTERNAL = 8, CLASS_STDLIB = 16 };
typedef enum { BC_KIND_OBJECT, BC_KIND_VALUE, BC_KIND_ACTOR } BcClassKind;
typedef struct {
    BcText name, superclass /* empty = root */, doc, native_module;
    uint8_t flags, kind;
    uint32_t field_count;
    BcField *fields;
    uint32_t class_var_count;
    BcField *class_vars;
    uint32_t method_count;
    BcMethod *methods; /* both sides */
    Span span;
} BcClass;

typedef struct {
    uint32_t format_version, class_var_abi; /* 0 = missing */
    const Memory *memory;                   /* of the unit and its pieces */
    BcText name;                            /* module name: file path or "eval" */
    BcText source;                          /* for diagnostics and compile:source:, may be empty */
    uint32_t const_count;
    BcConst *consts;
    uint32_t function_count;
    BcFunction *functions;
    uint32_t class_count;
    BcClass *classes; /* superclasses need not come first */
    uint32_t extension_count;
    BcMethod *extensions;
    uint32_t script; /* function index of the top-level expressions, or BC_NONE */
    uint32_t binding_count;
    BcText *bindings; /* script: session variables; R[1+i] at entry is binding i (hole: unbound),
                         and its answer is a Tuple of (value, binding 0 ..) */
    bool checked;     /* bc_check has passed it, here or when this program was built */
    bool decoded;     /* its pieces lie in `block` and in an image, and are not freed singly */
    void *block;
    uint8_t *image; /* owned; NULL: the image outlives the unit */
} BcUnit;

/* Kinds of RAISE that the compiler uses: rows of vm/errors.def, which this layer does not know. The unit test
 * compares them. */
enum { BC_ERROR_stateful_block = 3, BC_ERROR_undefined_variable = 27, BC_ERROR_compile_error = 42 };

void bc_unit_free(BcUnit *unit);

/* Names and operand formats of the opcodes, from opcodes.def. */
const char *opcode_name(Opcode op);
const char *opcode_format(Opcode op);
const char *opcode_effects(Opcode op);
/* The operands f, a, b, c of an instruction as its format reads them: b is the 32-bit number of a format of
 * three. */
void instr_operands(Instr i, const char *format, int64_t out[4]);

/* Checks every function of a unit: opcodes, operands by format, register bounds (windows included), jump
 * targets, regions, and that the last instruction terminates. A hostile unit cannot make the interpreter
 * leave its frame. On failure writes a one-line reason. Linear. */
bool bc_check(const BcUnit *unit, char *reason, size_t reason_size);

/* Disassembly as text appended to *out (malloc'd, caller frees). */
char *bc_disassemble(const BcUnit *unit);

/* Image form: one self-contained byte string with magic, format version, class_var_abi and a checksum; decode
 * verifies all of it and answers NULL with a reason (abi_mismatch or a fault) for anything hostile. The bytes
 * stay the caller's. */
uint8_t *bc_encode(const BcUnit *unit, size_t *length);
BcUnit *bc_decode(const Memory *memory, const uint8_t *bytes, size_t length, char *reason,
                  size_t reason_size);
/* For the image inside this program, which passed bc_check when it was built: not checked again, not copied.
 * The bytes outlive the unit and are aligned for 64-bit words. */
BcUnit *bc_decode_trusted(const Memory *memory, const uint8_t *bytes, size_t length, char *reason,
                          size_t reason_size);

#endif
