/* The text form of ThreadedIr, read back; see ir_print.c for what it looks like. Whatever the text says
 * becomes a unit that the verifier can judge; only what is no text of the form is refused here. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir_text.h"

typedef struct {
    const char *text;
    size_t length, at;
    IrUnit *unit;
    IrFunction *fn;
    DiagList *diags;
    uint32_t depth, temps, constructs; /* temps and constructs seen so far */
    bool failed;
} Parser;

/* ---- scanning ---- */

static void complain(Parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(Parser *p, const char *format, ...) {
    if (p->failed) return;
    p->failed = true;
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uint32_t at = (uint32_t)p->at;
    diag_add(p->diags, DIAG_ERROR, "ir", span_make(at, at), "%s", text);
}

static char peek(const Parser *p) { return p->at < p->length ? p->text[p->at] : 0; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Blanks and comments, and line ends too if `lines`. */
static void skip(Parser *p, bool lines) {
    for (; p->at < p->length; p->at++) {
        char c = p->text[p->at];
        if (c == ';')
            while (p->at + 1 < p->length && p->text[p->at + 1] != '\n') p->at++;
        else if (c != ' ' && c != '\t' && c != '\r' && !(lines && c == '\n'))
            break;
    }
}

/* Is this the next word of the line? Then it is taken. */
static bool take(Parser *p, const char *word) {
    skip(p, false);
    size_t n = strlen(word);
    if (p->length - p->at < n || memcmp(p->text + p->at, word, n) != 0) return false;
    char after = p->at + n < p->length ? p->text[p->at + n] : 0;
    if (is_word(word[n - 1]) && (is_word(after) || after == '@' || after == '.')) return false;
    p->at += n;
    return true;
}

static void expect(Parser *p, const char *word) {
    if (!take(p, word)) complain(p, "`%s` is expected", word);
}

static uint32_t number(Parser *p) {
    skip(p, false);
    uint64_t n = 0;
    if (!is_digit(peek(p))) complain(p, "a number is expected");
    for (; is_digit(peek(p)) && n <= UINT32_MAX; p->at++) n = n * 10 + (uint64_t)(peek(p) - '0');
    if (n > UINT32_MAX) complain(p, "the number is too large");
    return (uint32_t)n;
}

/* `prefix` and a number: t7, c2, &3. */
static uint32_t numbered(Parser *p, char prefix) {
    skip(p, false);
    if (peek(p) != prefix) complain(p, "%c and a number are expected", prefix);
    p->at++;
    return number(p);
}

static uint32_t name_in(Parser *p, const char *const *names, uint32_t count, const char *what) {
    for (uint32_t i = 0; i < count; i++)
        if (take(p, names[i])) return i;
    complain(p, "%s is expected", what);
    return 0;
}

static unsigned hex_digit(char c) {
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

/* A quoted text; it lives in the unit. */
static BcText quoted(Parser *p) {
    skip(p, false);
    if (peek(p) != '"') complain(p, "a quoted text is expected");
    size_t from = ++p->at, n = 0;
    while (p->at < p->length && peek(p) != '"') p->at += peek(p) == '\\' ? 2 : 1;
    if (p->at >= p->length) complain(p, "the text is not closed");
    if (p->failed) return (BcText){"", 0};
    char *out = ir_text(p->unit, p->text + from, p->at - from);
    if (ir_failed(p->unit)) return (BcText){"", 0};
    for (size_t i = from; i < p->at; i++) {
        char c = p->text[i];
        if (c == '\\' && (p->text[i + 1] == '"' || p->text[i + 1] == '\\')) {
            c = p->text[++i];
        } else if (c == '\\' && hex_digit(p->text[i + 1]) < 16 && i + 2 < p->at &&
                   hex_digit(p->text[i + 2]) < 16) {
            c = (char)(hex_digit(p->text[i + 1]) * 16 + hex_digit(p->text[i + 2]));
            i += 2;
        }
        out[n++] = c;
    }
    out[n] = 0;
    p->at++;
    return (BcText){out, (uint32_t)n};
}

/* ---- constants ---- */

static BcText symbol_text(Parser *p) {
    p->at++;
    if (peek(p) == '"') return quoted(p);
    size_t from = p->at;
    while (is_symbol_char(peek(p))) p->at++;
    return (BcText){p->text + from, (uint32_t)(p->at - from)};
}

static size_t scan_token(Parser *p, char *buffer, size_t size) {
    skip(p, false);
    size_t n = 0;
    while (p->at < p->length && n + 1 < size && !strchr(" \t\r\n;", p->text[p->at]))
        buffer[n++] = p->text[p->at++];
    buffer[n] = 0;
    return n;
}

/* Index of the constant that stands here. `k7` is an index as it is. */
static uint32_t constant(Parser *p) {
    char buffer[80];
    skip(p, false);
    if (peek(p) == 'k' && p->at + 1 < p->length && is_digit(p->text[p->at + 1])) return numbered(p, 'k');
    BcConst k = {.kind = BC_STRING};
    if (peek(p) == '#') {
        k = (BcConst){.kind = BC_SYMBOL, .u.text = symbol_text(p)};
    } else if (peek(p) == '"') {
        k.u.text = quoted(p);
    } else if (take(p, "int")) {
        if (!scan_token(p, buffer, sizeof buffer)) complain(p, "an integer is expected");
        k = (BcConst){.kind = BC_INT, .u.i = strtoll(buffer, NULL, 10)};
    } else if (take(p, "float")) {
        if (!scan_token(p, buffer, sizeof buffer)) complain(p, "a float is expected");
        k = (BcConst){.kind = BC_FLOAT, .u.f = strtod(buffer, NULL)};
    } else if (take(p, "bigint")) {
        k = (BcConst){.kind = BC_BIGINT, .u.text = quoted(p)};
    } else if (take(p, "class")) {
        k = (BcConst){.kind = BC_CLASS, .u.text = quoted(p)};
    } else {
        complain(p, "a constant is expected");
    }
    return p->failed ? 0 : ir_const_add(p->unit, k);
}

/* ---- atoms ---- */

static uint32_t find_local(Parser *p, size_t from, size_t n) {
    for (uint32_t i = 0; i < p->fn->local_count; i++) {
        const char *name = p->fn->locals[i].name;
        if (name && strlen(name) == n && memcmp(name, p->text + from, n) == 0) return i;
    }
    complain(p, "there is no local %.*s", (int)(n < 60 ? n : 60), p->text + from);
    return 0;
}

/* A local by name, or by number if one stands behind a dot. */
static uint32_t local(Parser *p) {
    skip(p, false);
    size_t from = p->at;
    while (is_word(peek(p))) p->at++;
    if (peek(p) == '.') {
        p->at++;
        return number(p);
    }
    if (p->at == from) complain(p, "a local is expected");
    return p->failed ? 0 : find_local(p, from, p->at - from);
}

static uint32_t version(Parser *p) {
    if (peek(p) != '@') complain(p, "a version is expected");
    p->at++;
    return number(p);
}

/* Does a local with a version stand here? */
static bool at_local(const Parser *p) {
    size_t i = p->at;
    while (i < p->length && is_word(p->text[i])) i++;
    if (i < p->length && p->text[i] == '.')
        for (i++; i < p->length && is_digit(p->text[i]);) i++;
    return i < p->length && i > p->at && p->text[i] == '@';
}

static uint32_t temp(Parser *p) {
    uint32_t t = numbered(p, 't');
    if (t >= p->temps && t < UINT32_MAX) p->temps = t + 1;
    return t;
}

static IrAtom atom(Parser *p) {
    skip(p, false);
    if (at_local(p)) {
        uint32_t index = local(p);
        return (IrAtom){ATOM_LOCAL, index, version(p)};
    }
    bool negative = peek(p) == '-';
    if (negative || is_digit(peek(p))) {
        p->at += negative;
        uint32_t n = number(p);
        return (IrAtom){ATOM_INT, negative ? 0 - n : n, 0};
    }
    static const struct {
        const char *word;
        IrAtomKind kind;
    } words[] = {{"self", ATOM_SELF}, {"nil", ATOM_NIL}, {"true", ATOM_TRUE}, {"false", ATOM_FALSE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (take(p, words[i].word)) return (IrAtom){words[i].kind, 0, 0};
    return (IrAtom){ATOM_TEMP, temp(p), 0};
}

static bool at_atom(Parser *p) {
    skip(p, false);
    char c = peek(p), next = p->at + 1 < p->length ? p->text[p->at + 1] : 0;
    if (at_local(p) || c == '-' || is_digit(c) || (c == 't' && is_digit(next))) return true;
    size_t before = p->at;
    bool word = take(p, "self") || take(p, "nil") || take(p, "true") || take(p, "false");
    p->at = before;
    return word;
}

static void operands(Parser *p, IrStmt *s) {
    uint32_t capacity = 0;
    while (!p->failed && at_atom(p)) {
        IrAtom *grown = ir_grow(p->unit, s->operands, s->operand_count, &capacity, sizeof *grown);
        if (!grown) return complain(p, "out of memory");
        s->operands = grown;
        s->operands[s->operand_count++] = atom(p);
    }
}

/* ---- statements ---- */

static void threads(Parser *p, uint32_t **out, uint32_t *count) {
    uint32_t capacity = 0;
    *count = 0;
    if (!take(p, "threads")) return;
    for (skip(p, false); !p->failed && (is_word(peek(p)) || peek(p) == '.'); skip(p, false)) {
        uint32_t *grown = ir_grow(p->unit, *out, *count, &capacity, sizeof *grown);
        if (!grown) return complain(p, "out of memory");
        *out = grown;
        (*out)[(*count)++] = local(p);
    }
}

static IrStmt *add(Parser *p, IrFrame *frame, IrStmtKind kind) {
    uint32_t at = (uint32_t)p->at;
    return ir_stmt_add(p->unit, frame, kind, span_make(at, at));
}

static bool take_op(Parser *p, IrOp *op) {
    skip(p, false);
    size_t n = 0;
    while (p->at + n < p->length && is_word(p->text[p->at + n])) n++;
    for (uint32_t i = 0; i < IR_OP_COUNT; i++) {
        if (strlen(IR_OPS[i].name) != n || memcmp(IR_OPS[i].name, p->text + p->at, n) != 0) continue;
        *op = (IrOp)i;
        p->at += n;
        return true;
    }
    return false;
}

static void bind(Parser *p, IrFrame *frame, uint32_t t) {
    IrOp op = IR_COPY;
    if (take(p, "snap")) {
        IrStmt *snap = add(p, frame, STMT_SNAP);
        snap->temp = t;
        snap->local = local(p);
        snap->version = version(p);
        return;
    }
    if (!take_op(p, &op)) return complain(p, "an operation is expected");
    IrStmt *s = add(p, frame, STMT_BIND);
    s->op = op;
    s->temp = t;
    char imm = IR_OPS[op].imm;
    if (imm == 'C' || imm == 'N' || imm == 'T' || op == IR_PRIM)
        s->imm = constant(p);
    else if (imm == 'F' || imm == 'I')
        s->imm = numbered(p, imm == 'F' ? '&' : ':');
    operands(p, s);
    if (take(p, "!")) s->flags = (uint8_t)number(p);
}

static IrFrame *frame_text(Parser *p);

static void construct_words(Parser *p, IrStmt *s) {
    s->imm = BC_NONE;
    if (take(p, "else")) s->imm = constant(p);
    if (take(p, "args")) s->flags = (uint8_t)number(p);
    s->negate = take(p, "negate");
    if (take(p, "index")) s->index_local = local(p);
    if (take(p, "exception")) s->exception = temp(p);
    s->snapshot = take(p, "snapshot");
    s->restore = take(p, "restore");
    threads(p, &s->threads, &s->thread_count);
}

static void construct(Parser *p, IrFrame *frame) {
    uint32_t id = numbered(p, 'c');
    uint32_t t = temp(p);
    expect(p, "=");
    IrStmt *s = add(p, frame, STMT_CONSTRUCT);
    s->construct = id;
    s->temp = t;
    if (id >= p->constructs && id < UINT32_MAX) p->constructs = id + 1;
    const char *names[CONSTRUCT_KIND_COUNT];
    for (uint32_t i = 0; i < CONSTRUCT_KIND_COUNT; i++) names[i] = IR_CONSTRUCTS[i].name;
    s->construct_kind = (IrConstructKind)name_in(p, names, CONSTRUCT_KIND_COUNT, "a construct");
    operands(p, s);
    construct_words(p, s);
    expect(p, "{");
    s->frames = ir_alloc(p->unit, 2 * sizeof *s->frames);
    for (skip(p, true); !p->failed && peek(p) != '}'; skip(p, true)) {
        if (s->frame_count == 2) return complain(p, "a construct has at most two frames");
        s->frames[s->frame_count++] = frame_text(p);
    }
    expect(p, "}");
}

/* `count@3 = t7` or `count@3 = c2` */
static void assignment(Parser *p, IrFrame *frame) {
    uint32_t target = local(p), v = version(p);
    expect(p, "=");
    skip(p, false);
    bool rebind = peek(p) == 'c' && !at_local(p);
    IrStmt *s = add(p, frame, rebind ? STMT_REBIND : STMT_SET);
    s->local = target;
    s->version = v;
    if (rebind)
        s->construct = numbered(p, 'c');
    else
        operands(p, s);
}

static void leaving(Parser *p, IrFrame *frame, IrStmtKind kind) {
    IrStmt *s = add(p, frame, kind);
    if (kind == STMT_FAIL) {
        s->flags = (uint8_t)number(p);
        if (s->flags >= FAIL_COMPILE_ERROR) s->imm = constant(p);
    }
    operands(p, s);
}

static void statement(Parser *p, IrFrame *frame) {
    if (at_local(p))
        assignment(p, frame);
    else if (take(p, "discard"))
        add(p, frame, STMT_DISCARD)->construct = numbered(p, 'c');
    else if (take(p, "return"))
        leaving(p, frame, STMT_RETURN);
    else if (take(p, "nonlocal"))
        leaving(p, frame, STMT_NONLOCAL);
    else if (take(p, "fail"))
        leaving(p, frame, STMT_FAIL);
    else if (peek(p) == 'c')
        construct(p, frame);
    else {
        uint32_t t = temp(p);
        expect(p, "=");
        bind(p, frame, t);
    }
    skip(p, false);
    if (peek(p) && peek(p) != '\n') complain(p, "the statement is over");
}

static IrFrame *frame_text(Parser *p) {
    IrFrame *frame =
        ir_frame_new(p->unit, (IrFrameKind)name_in(p, IR_FRAME_NAMES, FRAME_KIND_COUNT, "a frame"));
    if (++p->depth > IR_MAX_DEPTH + 1) complain(p, "frames nest too deeply");
    threads(p, &frame->threads, &frame->thread_count);
    expect(p, "{");
    for (skip(p, true); !p->failed && peek(p) && peek(p) != '}'; skip(p, true)) statement(p, frame);
    expect(p, "}");
    frame->ends = take(p, "ends");
    if (!frame->ends) {
        expect(p, "->");
        frame->value = atom(p);
    }
    p->depth--;
    return frame;
}

/* ---- functions ---- */

/* `&1.3`: local 3 of function 1. */
static IrOwner owner(Parser *p) {
    IrOwner o;
    o.function = numbered(p, '&');
    expect(p, ".");
    o.local = number(p);
    return o;
}

static uint32_t given(Parser *p, const char *word, uint32_t otherwise) {
    return take(p, word) ? number(p) : otherwise;
}

static void local_text(Parser *p) {
    BcText name = quoted(p);
    IrLocalMode mode = (IrLocalMode)name_in(p, IR_MODES, LOCAL_BINDING + 1, "a mode");
    if (p->failed) return;
    uint32_t index = ir_local_new(p->unit, p->fn, name.bytes, mode); /* may move the array */
    IrLocal *l = &p->fn->locals[index];
    if (mode == LOCAL_CARRIER) l->carrier = number(p);
    if (mode == LOCAL_BINDING) l->binding = number(p);
    if (take(p, "outer")) {
        l->outer = true;
        l->owner = owner(p);
        l->level = given(p, "level", 0);
    }
    if (take(p, "selfvt")) l->family = FAMILY_SELFVT;
    if (take(p, "versions")) l->versions = number(p);
}

static void capture_text(Parser *p) {
    IrFunction *fn = p->fn;
    if (fn->capture_count == fn->capture_capacity) {
        uint32_t larger = fn->capture_capacity ? fn->capture_capacity * 2 : 4;
        BcCapture *captures = ir_alloc(p->unit, larger * sizeof *captures);
        IrAtom *atoms = ir_alloc(p->unit, larger * sizeof *atoms);
        IrOwner *owners = ir_alloc(p->unit, larger * sizeof *owners);
        if (ir_failed(p->unit)) return complain(p, "out of memory");
        if (fn->capture_count) {
            memcpy(captures, fn->captures, fn->capture_count * sizeof *captures);
            memcpy(atoms, fn->capture_atoms, fn->capture_count * sizeof *atoms);
            memcpy(owners, fn->capture_owners, fn->capture_count * sizeof *owners);
        }
        fn->captures = captures;
        fn->capture_atoms = atoms;
        fn->capture_owners = owners;
        fn->capture_capacity = larger;
    }
    BcCapture *c = &fn->captures[fn->capture_count];
    *c = (BcCapture){.fallback = BC_NO_CAPTURE};
    c->kind = (uint8_t)name_in(p, IR_CAPTURE_KINDS, CAP_CLASS_VAR + 1, "the source of a capture");
    if (c->kind == CAP_REGISTER)
        fn->capture_atoms[fn->capture_count] = atom(p);
    else if (c->kind == CAP_CAPTURE || c->kind == CAP_CARRIER)
        c->index = (uint16_t)number(p);
    else
        c->name = constant(p);
    if (c->kind == CAP_CARRIER && take(p, "outer")) fn->capture_owners[fn->capture_count] = owner(p);
    if (c->kind == CAP_CARRIER) c->fallback = (uint16_t)given(p, "level", 0);
    if (take(p, "fallback")) c->fallback = (uint16_t)number(p);
    fn->capture_count++;
}

/* Words, or one number. */
static uint8_t flags(Parser *p) {
    skip(p, false);
    if (is_digit(peek(p))) return (uint8_t)number(p);
    uint8_t set = 0;
    for (unsigned bit = 0; bit < 8; bit++)
        if (take(p, IR_FLAGS[bit])) set |= (uint8_t)(1u << bit);
    return set;
}

static void function_head(Parser *p) {
    IrFunction *fn = p->fn;
    fn->name = quoted(p).bytes;
    if (take(p, "in")) fn->class_name = quoted(p).bytes;
    fn->class_side = take(p, "class");
    fn->kind = (BcFnKind)name_in(p, IR_FN_KINDS, FN_BLOCK + 1, "the kind of the function");
    fn->home_kind = fn->kind;
    if (take(p, "home"))
        fn->home_kind = (BcFnKind)name_in(p, IR_FN_KINDS, FN_BLOCK + 1, "the kind of the home");
    if (take(p, "flags")) fn->flags = flags(p);
    fn->param_count = given(p, "params", 0);
    fn->temp_count = given(p, "temps", BC_NONE);
    fn->construct_count = given(p, "constructs", BC_NONE);
    fn->carrier_count = given(p, "carriers", 0);
    if (take(p, "span")) {
        fn->span.start = number(p);
        fn->span.end = number(p);
    }
}

static void function_text(Parser *p) {
    uint32_t index;
    p->fn = ir_function_new(p->unit, &index);
    p->temps = p->constructs = 0;
    function_head(p);
    for (skip(p, true); !p->failed; skip(p, true)) {
        if (take(p, "local"))
            local_text(p);
        else if (take(p, "capture"))
            capture_text(p);
        else
            break;
    }
    if (!p->failed) p->fn->body = frame_text(p);
    if (p->fn->temp_count == BC_NONE) p->fn->temp_count = p->temps;
    if (p->fn->construct_count == BC_NONE) p->fn->construct_count = p->constructs;
}

/* ---- units ---- */

/* The shell is native memory, unlike everything else here. */
static void binding_text(Parser *p) {
    BcUnit *shell = p->unit->shell;
    BcText name = quoted(p);
    BcText *grown =
        memory_realloc(shell->memory, shell->bindings, (shell->binding_count + 1) * sizeof *grown);
    char *copy = memory_alloc(shell->memory, name.length + 1);
    if (grown) shell->bindings = grown;
    if (!grown || !copy) {
        memory_free(shell->memory, copy);
        return complain(p, "out of memory");
    }
    memcpy(copy, name.bytes, name.length);
    copy[name.length] = 0;
    shell->bindings[shell->binding_count++] = (BcText){copy, name.length};
}

static void unit_text(Parser *p) {
    for (skip(p, true); !p->failed && peek(p); skip(p, true)) {
        if (take(p, "const"))
            (void)constant(p);
        else if (take(p, "binding"))
            binding_text(p);
        else if (take(p, "script"))
            p->unit->shell->script = numbered(p, '&');
        else if (take(p, "fn"))
            function_text(p);
        else
            complain(p, "`const`, `binding`, `script` or `fn` is expected");
    }
}

IrUnit *ir_parse(const char *text, size_t length, DiagList *diags) {
    Parser p = {.text = text, .length = length, .unit = ir_unit_new(NULL), .diags = diags};
    if (p.unit) unit_text(&p);
    if (p.unit && ir_failed(p.unit)) complain(&p, "out of memory");
    if (p.unit && !p.failed) return p.unit;
    if (!p.unit) complain(&p, "out of memory");
    ir_unit_free(p.unit);
    return NULL;
}
