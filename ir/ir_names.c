/* The tables of ThreadedIr as data. */
#include "ir/ir_text.h"

#define V OPERANDS_ANY
const IrOpInfo IR_OPS[IR_OP_COUNT] = {
#define IROP(name, operands, imm, effects, doc) {#name, operands, imm},
#include "ir/ir_ops.def"
#undef IROP
};
#undef V

const char *const IR_FRAME_NAMES[FRAME_KIND_COUNT] = {
#define FRAME(name, doc) #name,
#include "ir/ir_frames.def"
#undef FRAME
};

const char *const IR_ERROR_NAMES[VERIFY_ERROR_COUNT] = {
#define VERIFY_ERROR(name, doc) #name,
#include "ir/verify_errors.def"
#undef VERIFY_ERROR
};
const char *const IR_ERROR_DOCS[VERIFY_ERROR_COUNT] = {
#define VERIFY_ERROR(name, doc) doc,
#include "ir/verify_errors.def"
#undef VERIFY_ERROR
};

enum { CARRIES_LOCAL = 1 << FAMILY_LOCAL, CARRIES_SELFVT = 1 << FAMILY_SELFVT };
const IrConstructInfo IR_CONSTRUCTS[CONSTRUCT_KIND_COUNT] = {
#define CONSTRUCT(name, operands, count, first, second, loop, families, doc)                                 \
    {#name, operands, count, {FRAME_##first, FRAME_##second}, loop, families},
#include "ir/ir_constructs.def"
#undef CONSTRUCT
};

const char *const IR_FN_KINDS[] = {"ClassMethod",  "ValueMethod", "ActorMethod",
                                   "ObjectMethod", "Script",      "Block"};
const char *const IR_FLAGS[] = {"home", "opens", "stateful", "fields", "keeps", "builder", "flag6", "flag7"};
const char *const IR_CAPTURE_KINDS[] = {"register", "capture", "carrier", "state", "classvar"};
const char *const IR_MODES[] = {"register", "carrier", "binding"};
const char *const IR_CONST_KINDS[] = {"int", "bigint", "float", "string", "symbol", "class"};
