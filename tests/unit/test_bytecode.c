/* Bytecode as data: the loader's check, the image form, the tables. Last line: `N passed, N failed`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"
#include "vm/error.h"
#include "vm/process.h"

static int passed, failed;

static void check(bool ok, const char *what) {
    if (ok) {
        passed++;
        return;
    }
    failed++;
    printf("FAIL %s\n", what);
}

_Static_assert((int)BC_ERROR_stateful_block == (int)ERR_stateful_block_dispatch, "ORDER errors");
_Static_assert((int)BC_ERROR_undefined_variable == (int)ERR_undefined_variable, "ORDER errors");
_Static_assert((int)BC_ERROR_compile_error == (int)ERR_compile_error, "ORDER errors");

/* ---- tables ---- */

static void test_formats(void) {
    for (int op = 0; op < OPCODE_COUNT; op++) {
        const char *format = opcode_format((Opcode)op);
        size_t n = strlen(format);
        bool fits = n == 3 || n == 4;
        for (size_t i = 0; i < n; i++) fits = fits && strchr("-rdwnKSFiIJjx", format[i]) != NULL;
        fits = fits && (format[0] == '-' || format[0] == 'n' || format[0] == 'r') &&
               *opcode_name((Opcode)op) != 0;
        for (const char *e = opcode_effects((Opcode)op); *e; e++) fits = fits && strchr("GYRT", *e) != NULL;
        check(fits, opcode_name((Opcode)op));
    }
}

static void test_instructions(void) {
    Instr i = instr_abc(OP_ADDI, 7, 65535, 300, (uint16_t)(int16_t)-2);
    check(instr_op(i) == OP_ADDI && instr_f(i) == 7 && instr_a(i) == 65535 && instr_b(i) == 300 &&
              instr_sc(i) == -2,
          "three operands come back");
    i = instr_aimm(OP_LOADI, 0, 12, (uint32_t)-5);
    check(instr_op(i) == OP_LOADI && instr_a(i) == 12 && instr_imm(i) == -5, "a wide operand comes back");
}

/* ---- the loader's check ---- */

enum { REGISTERS = 20 };

/* A unit of one method (and one block with a capture of register 3) whose code is given. */
typedef struct {
    BcUnit unit;
    BcFunction functions[2];
    BcConst consts[3];
    BcSite sites[1];
    BcRegion regions[1];
    BcCapture captures[1];
    Instr code[8], block[1];
} Sample;

static BcText text(const char *s) { return (BcText){s, (uint32_t)strlen(s)}; }

static void sample(Sample *s, const Instr *code, uint32_t count) {
    memset(s, 0, sizeof *s);
    s->consts[0] = (BcConst){.kind = BC_SYMBOL, .u.text = text("foo:")};
    s->consts[1] = (BcConst){.kind = BC_INT, .u.i = 5};
    s->consts[2] = (BcConst){.kind = BC_STRING, .u.text = text("text")};
    s->sites[0] = (BcSite){.name = 0, .argc = 1, .capture = BC_NO_CAPTURE};
    memcpy(s->code, code, count * sizeof *code);
    s->captures[0] = (BcCapture){.kind = CAP_REGISTER, .index = 3, .fallback = BC_NO_CAPTURE};
    s->functions[0] = (BcFunction){.kind = FN_OBJECT_METHOD,
                                   .param_count = 1,
                                   .register_count = REGISTERS,
                                   .code = s->code,
                                   .code_count = count,
                                   .sites = s->sites,
                                   .site_count = 1};
    s->block[0] = instr_aimm(OP_RETURN, 0, 0, 0);
    s->functions[1] = (BcFunction){.kind = FN_BLOCK,
                                   .register_count = 1,
                                   .code = s->block,
                                   .code_count = 1,
                                   .captures = s->captures,
                                   .capture_count = 1};
    s->unit = (BcUnit){.format_version = BC_FORMAT_VERSION,
                       .class_var_abi = BC_CLASS_VAR_ABI,
                       .const_count = 3,
                       .consts = s->consts,
                       .function_count = 2,
                       .functions = s->functions,
                       .script = BC_NONE};
}

static bool accepted(Sample *s) {
    char reason[160] = "";
    bool ok = bc_check(&s->unit, reason, sizeof reason);
    if (!ok && !*reason) check(false, "a refusal says why");
    return ok;
}

static void expect(bool ok, const char *what, const Instr *code, uint32_t count) {
    Sample s;
    sample(&s, code, count);
    check(accepted(&s) == ok, what);
}

#define CODE(ok, what, ...)                                                                                  \
    do {                                                                                                     \
        const Instr code_[] = {__VA_ARGS__};                                                                 \
        expect(ok, what, code_, sizeof code_ / sizeof *code_);                                               \
    } while (0)
#define RET instr_aimm(OP_RETURN, 0, 0, 0)

static void test_operands(void) {
    CODE(true, "a return", RET);
    CODE(false, "a register too many", instr_abc(OP_MOVE, 0, REGISTERS, 0, 0), RET);
    CODE(false, "a source too many", instr_abc(OP_ADD, 0, 2, 1, REGISTERS), RET);
    CODE(false, "an unknown opcode", (Instr)255, RET);
    CODE(false, "a constant that is not there", instr_aimm(OP_LOADK, 0, 2, 3), RET);
    CODE(true, "a constant", instr_aimm(OP_LOADK, 0, 2, 2), RET);
    CODE(false, "a class named by an integer", instr_aimm(OP_LOADCLASS, 0, 2, 1), RET);
    CODE(false, "a capture in a method", instr_abc(OP_GETCAP, 0, 2, 0, 0), RET);
    CODE(false, "a primitive named by an integer", instr_abc(OP_PRIM, 0, 0, 0, 1), RET);
    CODE(false, "a closure of a method", instr_aimm(OP_CLOSURE, 0, 2, 0), RET);
    CODE(true, "a closure", instr_aimm(OP_CLOSURE, 0, 2, 1), RET);
    CODE(false, "a function that is not there", instr_aimm(OP_CLOSURE, 0, 2, 2), RET);
    CODE(false, "a loop beyond the registers", instr_abc(OP_FORPREP, 0, REGISTERS - 2, 2, 0), RET);
    CODE(true, "a sum that is returned", instr_abc(OP_ADDRET, 0, 2, 3, 4), instr_abc(OP_RETURN, 0, 2, 0, 0));
    CODE(false, "another RETURN behind a sum", instr_abc(OP_ADDRET, 0, 2, 3, 4),
         instr_abc(OP_RETURN, 0, 3, 0, 0));
    CODE(false, "a sum without its RETURN", instr_abc(OP_ADDIRET, 0, 2, 3, 4), instr_abc(OP_NOP, 0, 0, 0, 0),
         RET);
    CODE(false, "a cons of nothing", instr_abc(OP_CONSTAIL, 0, 2, 3, 0), RET);
}

static void test_windows(void) {
    CODE(true, "a send", instr_abc(OP_SEND, 1, 2, 7, 0), RET);
    CODE(false, "no room for the header", instr_abc(OP_SEND, 1, 2, FRAME_WORDS - 1, 0), RET);
    CODE(false, "an argument beyond the registers", instr_abc(OP_SEND, 1, 2, REGISTERS - 1, 0), RET);
    CODE(false, "another number of arguments", instr_abc(OP_SEND, 2, 2, 7, 0), RET);
    CODE(false, "a site that is not there", instr_abc(OP_SEND, 1, 2, 7, 1), RET);
    CODE(false, "a receiver beyond the registers", instr_abc(OP_SENDOF, REGISTERS, 2, 7, 0), RET);
    CODE(false, "a receiver alone for a site with an argument", instr_abc(OP_SENDOF, 1, 2, 7, 0), RET);
    CODE(true, "a list needs no header", instr_abc(OP_LIST, 0, 2, 0, 2), RET);
    CODE(false, "a list beyond the registers", instr_abc(OP_LIST, 0, 2, 10, REGISTERS), RET);
    CODE(false, "a dictionary takes pairs", instr_abc(OP_DICT, 0, 2, 10, 6), RET);
}

static void test_flow(void) {
    CODE(false, "no code at all's end", instr_aimm(OP_LOADNIL, 0, 2, 0));
    CODE(true, "an endless loop", instr_aimm(OP_JUMP, 0, 0, (uint32_t)-1));
    CODE(false, "a jump before the code", instr_aimm(OP_JUMP, 0, 0, (uint32_t)-2));
    CODE(false, "a jump behind the code", instr_aimm(OP_JTRUE, 0, 2, 1), RET);
    CODE(false, "a near jump behind the code", instr_abc(OP_JLT, 0, 2, 3, 1), RET);
    CODE(false, "a resume at the end", instr_aimm(OP_RESUME, 0, 2, 0));
    CODE(true, "carriers are opened first", instr_abc(OP_CARRYOPEN, 2, 0, 0, 0), RET);
    CODE(false, "carriers are opened once", instr_abc(OP_CARRYOPEN, 2, 0, 0, 0),
         instr_abc(OP_CARRYOPEN, 2, 0, 0, 0), RET);
    CODE(false, "carriers are opened again in a loop", instr_abc(OP_CARRYOPEN, 2, 0, 0, 0),
         instr_aimm(OP_JUMP, 0, 0, (uint32_t)-2));
}

static void test_snapshots(void) {
    Instr take = instr_aimm(OP_SNAPSHOT, 0, 2, 0), back = instr_aimm(OP_RESTORE, 0, 2, 0);
    CODE(true, "a snapshot and its restore", take, back, RET);
    CODE(false, "a snapshot over the parameters", instr_aimm(OP_SNAPSHOT, 0, 1, 0), RET);
    CODE(false, "snapshots that overlap", take, instr_aimm(OP_SNAPSHOT, 0, 3, 0), RET);
    CODE(false, "a snapshot is read", take, instr_abc(OP_MOVE, 0, 6, 3, 0), RET);
    CODE(false, "a snapshot is written", take, instr_aimm(OP_LOADNIL, 0, 4, 0), back, RET);
    CODE(false, "a snapshot is sent", take, instr_abc(OP_LIST, 0, 6, 3, 2), RET);
    CODE(false, "a callee's frame reaches a snapshot", take, instr_abc(OP_SEND, 1, 6, 7, 0), back, RET);
    CODE(true, "a callee's frame above a snapshot", take, instr_abc(OP_SEND, 1, 6, 9, 0), back, RET);
    CODE(false, "a snapshot is captured", take, instr_aimm(OP_CLOSURE, 0, 6, 1), RET);
}

static void test_regions(void) {
    const Instr code[] = {instr_aimm(OP_SNAPSHOT, 0, 2, 0), instr_abc(OP_MOVE, 0, 6, 5, 0),
                          instr_aimm(OP_LOADNIL, 0, 5, 0),  RET,
                          instr_aimm(OP_RESTORE, 0, 2, 0),  instr_aimm(OP_RERAISE, 0, 7, 0)};
    const BcRegion good = {.start = 2, .end = 3, .handler = 4, .reg = 7, .kind = BC_CATCH};
    Sample s;
    sample(&s, code, 6);
    s.functions[0].regions = s.regions;
    s.functions[0].region_count = 1;
    s.regions[0] = good;
    check(accepted(&s), "a region");
    s.regions[0].handler = 6;
    check(!accepted(&s), "a handler behind the code");
    s.regions[0] = good, s.regions[0].end = 7;
    check(!accepted(&s), "a region that ends behind the code");
    s.regions[0] = good, s.regions[0].reg = REGISTERS;
    check(!accepted(&s), "an exception beyond the registers");
    s.regions[0] = good, s.regions[0].kind = 7;
    check(!accepted(&s), "a region of no kind");
    s.regions[0] = good, s.regions[0].handler = 5;
    check(!accepted(&s), "a handler that does not restore");
    s.regions[0] = good, s.regions[0].start = 3;
    check(!accepted(&s), "a region without a snapshot");
    s.code[4] = instr_aimm(OP_RESTORE, 0, 8, 0);
    s.regions[0] = good;
    check(!accepted(&s), "a handler that restores another snapshot");
    s.code[4] = instr_aimm(OP_RESTORE, 0, 2, 0);
    s.regions[0].kind = BC_ENSURE;
    check(!accepted(&s), "a cleanup that does not take what is in flight");
}

static void test_functions(void) {
    const Instr code[] = {instr_aimm(OP_CLOSURE, 0, 2, 1), RET};
    Sample s;
    sample(&s, code, 2);
    s.captures[0].index = REGISTERS;
    check(!accepted(&s), "a capture of a register that is not there");
    sample(&s, code, 2);
    s.captures[0] = (BcCapture){.kind = CAP_CAPTURE, .index = 0};
    check(!accepted(&s), "a capture of a capture of a method");
    sample(&s, code, 2);
    s.functions[0].register_count = 1;
    check(!accepted(&s), "fewer registers than parameters");
    sample(&s, code, 2);
    s.functions[0].name = 1;
    check(!accepted(&s), "a name that is no symbol");
    sample(&s, code, 2);
    s.sites[0].capture = 0;
    check(!accepted(&s), "a site of a method with a capture");
    sample(&s, code, 2);
    s.unit.script = 2;
    check(!accepted(&s), "a script that is not there");
}

/* ---- images ---- */

static const char SOURCE[] = "Object subclass: Sample\n"
                             "  classState: n = 1\n"
                             "  class m: a =>\n"
                             "    t := 0\n"
                             "    r := [t := t + a. self n: t] on: Error do: [:e | e message]\n"
                             "    #(1, 2.5, \"text\", #sym, 12345678901) do: [:x | t := t + 1]\n"
                             "    [r foo: t] ensure: [self.n := self.n + 1]\n"
                             "  class n: k => k > 3 ifTrue: [\"big\"] ifFalse: [nil]\n"
                             "x := 3\n"
                             "Sample m: x\n";

static BcUnit *compiled(void) {
    CompileOptions options = {.name = "sample", .script = true};
    DiagList diags;
    diag_list_init(&diags, NULL);
    BcUnit *unit = compile_source(&options, SOURCE, sizeof SOURCE - 1, &diags);
    for (uint32_t i = 0; i < diags.count; i++) printf("  %s\n", diags.items[i].message);
    diag_list_free(&diags);
    return unit;
}

static void test_round_trip(const BcUnit *unit, const uint8_t *image, size_t length) {
    char reason[200] = "";
    BcUnit *back = bc_decode(NULL, image, length, reason, sizeof reason);
    check(back != NULL, "an image is read back");
    if (!back) {
        printf("  %s\n", reason);
        return;
    }
    size_t again_length = 0;
    uint8_t *again = bc_encode(back, &again_length);
    check(again && again_length == length && memcmp(again, image, length) == 0, "and written again the same");
    char *before = bc_disassemble(unit), *after = bc_disassemble(back);
    check(before && after && strcmp(before, after) == 0, "with the same code");
    check(back->class_count == unit->class_count && back->script == unit->script, "and the same shell");
    free(before);
    free(after);
    free(again);
    bc_unit_free(back);
}

static bool refused(const uint8_t *image, size_t length, const char *because) {
    char reason[200] = "";
    BcUnit *unit = bc_decode(NULL, image, length, reason, sizeof reason);
    if (unit) bc_unit_free(unit);
    return !unit && strstr(reason, because) != NULL;
}

static void test_truncation(const uint8_t *image, size_t length) {
    bool all = true;
    for (size_t n = 0; n < length; n++) {
        uint8_t *part = malloc(n ? n : 1); /* of its very size, so that a read beyond it is seen */
        if (!part) return;
        memcpy(part, image, n);
        all = all && refused(part, n, "");
        free(part);
    }
    check(all, "a part of an image is refused");
}

static void test_flips(uint8_t *image, size_t length) {
    bool all = true;
    for (size_t bit = 0; bit < length * 8; bit += 3) {
        image[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        all = all && refused(image, length, "");
        image[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    check(all, "an image with a wrong bit is refused");
}

static void test_versions(uint8_t *image, size_t length) {
    image[8] ^= 1;
    check(refused(image, length, "abi_mismatch: module 'sample'"), "another format is refused, by name");
    image[8] ^= 1;
    image[12] ^= 1;
    check(refused(image, length, "abi_mismatch: module 'sample'"),
          "another class-variable ABI is refused, by name");
    image[12] = 0;
    check(refused(image, length, "abi_mismatch: module 'sample'"),
          "a missing class-variable ABI is refused, by name");
    image[12] = BC_CLASS_VAR_ABI;
    image[0] ^= 1;
    check(refused(image, length, "image"), "what is no image is refused");
    image[0] ^= 1;
}

/* As image.c computes it: an attacker can. */
static uint64_t checksum(const uint8_t *bytes, size_t length) {
    uint64_t h = 0xcbf29ce484222325ull, word;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        memcpy(&word, bytes + i, 8);
        h = (h ^ word) * 0x100000001b3ull;
    }
    for (; i < length; i++) h = (h ^ bytes[i]) * 0x100000001b3ull;
    return h;
}

static void test_forgeries(const uint8_t *image, size_t length, unsigned rounds) {
    uint64_t state = 0x2545f4914f6cdd1du;
    bool all = true;
    uint8_t *copy = malloc(length);
    for (unsigned round = 0; copy && round < rounds; round++) {
        memcpy(copy, image, length);
        for (unsigned k = 0; k < 1 + round % 4; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            copy[32 + state % (length - 32)] = (uint8_t)(state >> 40);
        }
        uint64_t sum = checksum(copy + 32, length - 32);
        memcpy(copy + 24, &sum, 8);
        char reason[200] = "";
        BcUnit *unit = bc_decode(NULL, copy, length, reason, sizeof reason);
        all = all && (!unit || bc_check(unit, reason, sizeof reason));
        if (unit) {
            char *listing = bc_disassemble(unit);
            free(listing);
            bc_unit_free(unit);
        }
    }
    free(copy);
    check(all, "forged images are refused or sound");
}

static void test_images(unsigned rounds) {
    BcUnit *unit = compiled();
    check(unit != NULL, "the sample compiles");
    if (!unit) return;
    size_t length = 0;
    uint8_t *image = bc_encode(unit, &length);
    check(image != NULL && length > 32, "a unit has an image");
    if (image) {
        test_round_trip(unit, image, length);
        test_truncation(image, length);
        test_flips(image, length);
        test_versions(image, length);
        test_forgeries(image, length, rounds);
    }
    free(image);
    bc_unit_free(unit);
}

int main(int argc, char **argv) {
    test_formats();
    test_instructions();
    test_operands();
    test_windows();
    test_flow();
    test_snapshots();
    test_regions();
    test_functions();
    test_images(argc > 1 ? (unsigned)atoi(argv[1]) : 3000);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
