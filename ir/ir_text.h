/* Names of the text form, shared by printer, parser and verifier. Private to ir/. */
#ifndef BT_IR_TEXT_H
#define BT_IR_TEXT_H

#include <string.h>
#include "ir/ir_internal.h"

/* What names are made of, and symbols that are written without quotes. */
static inline bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
static inline bool is_symbol_char(char c) { return c && (is_word(c) || strchr(":+-*/<>=~%&|?,", c)); }

/* ---- ir_names.c: tables from the .def files ---- */
typedef struct {
    const char *name;
    int operands; /* OPERANDS_ANY: any number */
    char imm;
} IrOpInfo;
enum { OPERANDS_ANY = -1 };
extern const IrOpInfo IR_OPS[IR_OP_COUNT];
extern const char *const IR_FRAME_NAMES[FRAME_KIND_COUNT];
extern const char *const IR_ERROR_NAMES[VERIFY_ERROR_COUNT];
extern const char *const IR_ERROR_DOCS[VERIFY_ERROR_COUNT]; /* what to look for */

typedef struct {
    const char *name;
    uint32_t operands, frame_count;
    IrFrameKind frames[2];
    bool loop;        /* its frames list all threads of the construct */
    unsigned carries; /* families that may be threaded through it, as bits 1 << IrFamily */
} IrConstructInfo;
extern const IrConstructInfo IR_CONSTRUCTS[CONSTRUCT_KIND_COUNT];

/* ORDER BcFnKind. */
extern const char *const IR_FN_KINDS[FN_BLOCK + 1];
/* By bit of FN_*. */
extern const char *const IR_FLAGS[8];
/* ORDER BcCaptureKind. */
extern const char *const IR_CAPTURE_KINDS[CAP_CLASS_VAR + 1];
/* ORDER IrLocalMode. */
extern const char *const IR_MODES[LOCAL_BINDING + 1];
/* ORDER BcConstKind. */
extern const char *const IR_CONST_KINDS[BC_CONST_COUNT];

/* ---- ir_print.c ---- */
/* One statement on one line, without its frames, cut to the size of the buffer. */
void ir_print_stmt(const IrUnit *unit, const IrFunction *fn, const IrStmt *s, char *buffer, size_t size);

/* Frames may nest so deep; deeper units are refused. Every pass over the tree recurses once a frame. */
enum { IR_MAX_DEPTH = 2000 };

#endif
