/* ThreadedIr as text. ir_parse reads it back to the same unit; print, parse, print gives the same text.
 *
 *   const symbol "bump"                         the unit's constants, in order
 *   fn "bump" in "Counter" ValueMethod home ValueMethod flags 0 params 1 temps 3 constructs 1 carriers 0 span
 * 0 40 local n register local count register capture register t3 / capture 0 / carrier 1 / state #f fallback
 * 0 / classvar #c MethodBody { t0 = ADD count@1 n@0                    Bind t1 = snap count@1 Snap count@2 =
 * t0                            Set c0 t2 = If t0 else #ifTrue: 1 threads count { BranchArm threads count {
 *           count@4 = 1
 *         } -> nil
 *         BranchArm {
 *         } -> t1
 *       }
 *       count@5 = c0                            Rebind
 *       discard c0
 *       return t2                               nonlocal t2, fail 0 t2
 *     } ends
 *
 * Locals are named; one whose name is not its own (an earlier local has it, or it is no identifier) is
 * written with its number, as count.3@2. Constants stand where they are used. Positions in the source are not
 * part of the text, but for those of functions. `;` begins a comment; ir_print_with_source writes classes,
 * numbers of functions and lines of the source as comments, and leaves out the list of constants. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir_text.h"

typedef struct {
    FILE *out;
    const IrUnit *unit;
    const IrFunction *fn;
    uint32_t depth;
    SourceFile *source; /* NULL: exactly what reads back, and nothing else */
    uint32_t line;      /* of the source that was shown last */
} Printer;

static void put(const Printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(const Printer *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(p->out, format, arguments);
    va_end(arguments);
}

static void indent(const Printer *p) {
    for (uint32_t i = 0; i < p->depth && i < 40; i++) fputs("  ", p->out);
}

/* ---- names and constants ---- */

static void put_quoted(const Printer *p, const char *bytes, size_t length) {
    fputc('"', p->out);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\')
            put(p, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            put(p, "\\%02x", c);
        else
            fputc(c, p->out);
    }
    fputc('"', p->out);
}

static void put_symbol(const Printer *p, BcText text) {
    bool plain = text.length > 0;
    for (uint32_t i = 0; i < text.length; i++) plain = plain && is_symbol_char(text.bytes[i]);
    fputc('#', p->out);
    if (plain)
        put(p, "%.*s", (int)text.length, text.bytes);
    else
        put_quoted(p, text.bytes, text.length);
}

static void put_const(const Printer *p, uint32_t index) {
    if (index >= p->unit->const_count) {
        put(p, "k%" PRIu32, index);
        return;
    }
    const BcConst *k = &p->unit->consts[index];
    switch (k->kind) {
    case BC_INT: put(p, "int %" PRId64, k->u.i); break;
    case BC_FLOAT: put(p, "float %a", k->u.f); break;
    case BC_SYMBOL: put_symbol(p, k->u.text); break;
    case BC_STRING: put_quoted(p, k->u.text.bytes, k->u.text.length); break;
    case BC_BIGINT:
    case BC_CLASS:
    case BC_CONST_COUNT:
        put(p, "%s ", k->kind < BC_CONST_COUNT ? IR_CONST_KINDS[k->kind] : "?");
        put_quoted(p, k->u.text.bytes, k->u.text.length);
        break;
    }
}

/* Does the name alone find this local? */
static bool is_own_name(const IrFunction *fn, uint32_t local) {
    const char *name = fn->locals[local].name;
    if (!name || !*name || local > 200 || (*name >= '0' && *name <= '9')) return false;
    for (const char *c = name; *c; c++)
        if (!is_word(*c)) return false;
    for (uint32_t i = 0; i < local; i++)
        if (fn->locals[i].name && strcmp(fn->locals[i].name, name) == 0) return false;
    return true;
}

static void put_local(const Printer *p, uint32_t local) {
    if (local >= p->fn->local_count) {
        put(p, ".%" PRIu32, local);
        return;
    }
    const char *name = p->fn->locals[local].name;
    bool word = name && *name;
    for (const char *c = name; word && *c; c++) word = is_word(*c);
    if (word) fputs(name, p->out);
    if (!is_own_name(p->fn, local)) put(p, ".%" PRIu32, local);
}

static void put_version(const Printer *p, uint32_t local, uint32_t version) {
    put_local(p, local);
    put(p, "@%" PRIu32, version);
}

static void put_atom(const Printer *p, IrAtom atom) {
    switch (atom.kind) {
    case ATOM_TEMP: put(p, "t%" PRIu32, atom.index); break;
    case ATOM_LOCAL: put_version(p, atom.index, atom.version); break;
    case ATOM_SELF: put(p, "self"); break;
    case ATOM_NIL: put(p, "nil"); break;
    case ATOM_TRUE: put(p, "true"); break;
    case ATOM_FALSE: put(p, "false"); break;
    case ATOM_INT: put(p, "%" PRId32, (int32_t)atom.index); break;
    default: put(p, "?"); break;
    }
}

/* ---- statements ---- */

static void put_operands(const Printer *p, const IrStmt *s) {
    for (uint32_t i = 0; i < s->operand_count; i++) {
        fputc(' ', p->out);
        put_atom(p, s->operands[i]);
    }
}

static void put_bind(const Printer *p, const IrStmt *s) {
    const IrOpInfo *op = s->op < IR_OP_COUNT ? &IR_OPS[s->op] : NULL;
    put(p, "t%" PRIu32 " = %s", s->temp, op ? op->name : "?");
    char imm = op ? op->imm : '-';
    if (imm == 'C' || imm == 'N' || imm == 'T' || s->op == IR_PRIM) {
        fputc(' ', p->out);
        put_const(p, s->imm);
    } else if (imm == 'F' || imm == 'I') {
        put(p, " %c%" PRIu32, imm == 'F' ? '&' : ':', s->imm);
    }
    put_operands(p, s);
    if (s->flags) put(p, " !%u", s->flags);
}

static void put_threads(const Printer *p, const uint32_t *threads, uint32_t count) {
    if (count) put(p, " threads");
    for (uint32_t i = 0; i < count; i++) {
        fputc(' ', p->out);
        put_local(p, threads[i]);
    }
}

static void put_construct(const Printer *p, const IrStmt *s) {
    const char *name = s->construct_kind < CONSTRUCT_KIND_COUNT ? IR_CONSTRUCTS[s->construct_kind].name : "?";
    put(p, "c%" PRIu32 " t%" PRIu32 " = %s", s->construct, s->temp, name);
    put_operands(p, s);
    if (s->imm != BC_NONE) {
        put(p, " else ");
        put_const(p, s->imm);
    }
    if (s->flags) put(p, " args %u", s->flags);
    if (s->negate) put(p, " negate");
    if (construct_has_index(s->construct_kind)) {
        put(p, " index ");
        put_local(p, s->index_local);
    }
    if (s->construct_kind == CONSTRUCT_ONDO || s->construct_kind == CONSTRUCT_HOME)
        put(p, " exception t%" PRIu32, s->exception);
    if (s->construct_kind == CONSTRUCT_ONDO || s->construct_kind == CONSTRUCT_ENSURE)
        put(p, "%s%s", s->snapshot ? " snapshot" : "", s->restore ? " restore" : "");
    put_threads(p, s->threads, s->thread_count);
}

static void put_stmt(const Printer *p, const IrStmt *s) {
    switch (s->kind) {
    case STMT_BIND: put_bind(p, s); break;
    case STMT_SNAP:
        put(p, "t%" PRIu32 " = snap ", s->temp);
        put_version(p, s->local, s->version);
        break;
    case STMT_SET:
        put_version(p, s->local, s->version);
        put(p, " =");
        put_operands(p, s);
        break;
    case STMT_CONSTRUCT: put_construct(p, s); break;
    case STMT_REBIND:
        put_version(p, s->local, s->version);
        put(p, " = c%" PRIu32, s->construct);
        break;
    case STMT_DISCARD: put(p, "discard c%" PRIu32, s->construct); break;
    case STMT_RETURN:
        put(p, "return");
        put_operands(p, s);
        break;
    case STMT_NONLOCAL:
        put(p, "nonlocal");
        put_operands(p, s);
        break;
    case STMT_FAIL:
        put(p, "fail %u", s->flags);
        if (s->flags >= FAIL_COMPILE_ERROR) {
            fputc(' ', p->out);
            put_const(p, s->imm);
        }
        put_operands(p, s);
        break;
    default: put(p, "?"); break;
    }
}

/* The line of the source that a statement comes from, where it is another than that of the statement before.
 */
static void put_source_line(Printer *p, Span span) {
    if (!p->source || span.start >= p->source->length) return;
    uint32_t line = source_position(p->source, span.start).line;
    if (line == p->line) return;
    p->line = line;
    Span whole = source_line(p->source, line);
    const char *text = p->source->text + whole.start;
    uint32_t length = whole.end - whole.start;
    while (length && (*text == ' ' || *text == '\t')) text++, length--;
    indent(p);
    put(p, "; %" PRIu32 "| %.*s\n", line, (int)length, text);
}

static void put_frame(Printer *p, const IrFrame *frame) {
    indent(p);
    put(p, "%s", frame->kind < FRAME_KIND_COUNT ? IR_FRAME_NAMES[frame->kind] : "?");
    put_threads(p, frame->threads, frame->thread_count);
    put(p, " {\n");
    p->depth++;
    for (uint32_t i = 0; i < frame->stmt_count; i++) {
        const IrStmt *s = frame->stmts[i];
        put_source_line(p, s->span);
        indent(p);
        put_stmt(p, s);
        put(p, s->kind == STMT_CONSTRUCT ? " {\n" : "\n");
        if (s->kind != STMT_CONSTRUCT) continue;
        p->depth++;
        for (uint32_t k = 0; k < s->frame_count && p->depth < 2 * IR_MAX_DEPTH; k++)
            put_frame(p, s->frames[k]);
        p->depth--;
        indent(p);
        put(p, "}\n");
    }
    p->depth--;
    indent(p);
    if (frame->ends) {
        put(p, "} ends\n");
    } else {
        put(p, "} -> ");
        put_atom(p, frame->value);
        put(p, "\n");
    }
}

void ir_print_stmt(const IrUnit *unit, const IrFunction *fn, const IrStmt *s, char *buffer, size_t size) {
    buffer[0] = 0;
    FILE *out = fmemopen(buffer, size, "w");
    if (!out) return;
    Printer p = {.out = out, .unit = unit, .fn = fn};
    put_stmt(&p, s);
    fclose(out);
    buffer[size - 1] = 0;
}

/* ---- functions and units ---- */

/* Whose carrier it is: function and number of its local, and how far out. */
static void put_owner(const Printer *p, IrOwner owner, uint32_t level) {
    put(p, " outer &%" PRIu32 ".%" PRIu32, owner.function, owner.local);
    if (level) put(p, " level %" PRIu32, level);
}

static void put_locals(const Printer *p) {
    for (uint32_t i = 0; i < p->fn->local_count; i++) {
        const IrLocal *local = &p->fn->locals[i];
        put(p, "  local ");
        put_quoted(p, local->name ? local->name : "", local->name ? strlen(local->name) : 0);
        put(p, " %s", local->mode <= LOCAL_BINDING ? IR_MODES[local->mode] : "?");
        if (local->mode == LOCAL_CARRIER) put(p, " %" PRIu32, local->carrier);
        if (local->mode == LOCAL_BINDING) put(p, " %" PRIu32, local->binding);
        if (local->outer) put_owner(p, local->owner, local->level);
        if (local->family == FAMILY_SELFVT) put(p, " selfvt");
        if (local->versions) put(p, " versions %" PRIu32, local->versions);
        put(p, "\n");
    }
}

/* The atom of a captured register is in terms of the function that makes the closure. */
static void put_captures(const Printer *p, const IrFunction *creator) {
    Printer outer = *p;
    outer.fn = creator;
    for (uint32_t i = 0; i < p->fn->capture_count; i++) {
        const BcCapture *c = &p->fn->captures[i];
        put(p, "  capture %s", c->kind <= CAP_CLASS_VAR ? IR_CAPTURE_KINDS[c->kind] : "?");
        if (c->kind == CAP_REGISTER) {
            IrAtom atom = p->fn->capture_atoms[i];
            if (atom.kind == ATOM_LOCAL) {
                put(p, " .%" PRIu32 "@%" PRIu32, atom.index, atom.version);
            } else {
                fputc(' ', p->out);
                put_atom(&outer, atom);
            }
        } else if (c->kind == CAP_CAPTURE || c->kind == CAP_CARRIER) {
            put(p, " %u", c->index);
            if (c->kind == CAP_CARRIER) put_owner(p, p->fn->capture_owners[i], c->fallback);
        } else {
            fputc(' ', p->out);
            put_const(p, c->name);
            if (c->fallback != BC_NO_CAPTURE) put(p, " fallback %u", c->fallback);
        }
        put(p, "\n");
    }
}

static void put_function(Printer *p) {
    const IrFunction *fn = p->fn;
    put(p, "fn ");
    put_quoted(p, fn->name ? fn->name : "", fn->name ? strlen(fn->name) : 0);
    if (fn->class_name) {
        put(p, " in ");
        put_quoted(p, fn->class_name, strlen(fn->class_name));
    }
    put(p, "%s %s", fn->class_side ? " class" : "", fn->kind <= FN_BLOCK ? IR_FN_KINDS[fn->kind] : "?");
    if (fn->home_kind != fn->kind)
        put(p, " home %s", fn->home_kind <= FN_BLOCK ? IR_FN_KINDS[fn->home_kind] : "?");
    if (fn->flags) put(p, " flags");
    for (unsigned bit = 0; bit < 8; bit++)
        if (fn->flags >> bit & 1) put(p, " %s", IR_FLAGS[bit]);
    if (fn->param_count) put(p, " params %" PRIu32, fn->param_count);
    put(p, " temps %" PRIu32 " constructs %" PRIu32, fn->temp_count, fn->construct_count);
    if (fn->carrier_count) put(p, " carriers %" PRIu32, fn->carrier_count);
    put(p, " span %" PRIu32 " %" PRIu32 "\n", fn->span.start, fn->span.end);
    put_locals(p);
    put_captures(p, fn);
    p->depth = 1;
    put_frame(p, fn->body);
    put(p, "\n");
}

/* What a class consists of, for the reader: the text form itself knows functions only. */
static void put_class(const Printer *p, const BcClass *c) {
    static const char *const KINDS[] = {"Object", "Value", "Actor"};
    put(p, "; class %.*s, superclass %.*s, kind %s\n", (int)c->name.length, c->name.bytes,
        (int)c->superclass.length, c->superclass.bytes, c->kind <= BC_KIND_ACTOR ? KINDS[c->kind] : "?");
    for (uint32_t i = 0; i < c->field_count; i++)
        put(p, ";   field %.*s\n", (int)c->fields[i].name.length, c->fields[i].name.bytes);
    for (uint32_t i = 0; i < c->class_var_count; i++)
        put(p, ";   class variable %.*s\n", (int)c->class_vars[i].name.length, c->class_vars[i].name.bytes);
    for (uint32_t i = 0; i < c->method_count; i++)
        put(p, ";   &%" PRIu32 " %s%.*s\n", c->methods[i].function, c->methods[i].class_side ? "class " : "",
            (int)c->methods[i].selector.length, c->methods[i].selector.bytes);
}

static void put_constants(const Printer *p) {
    for (uint32_t i = 0; i < p->unit->const_count; i++) {
        put(p, "const ");
        put_const(p, i);
        put(p, "\n");
    }
}

static char *print_unit(const IrUnit *unit, SourceFile *source) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) return NULL;
    Printer p = {.out = out, .unit = unit, .source = source};
    if (!source) put_constants(&p);
    for (uint32_t i = 0; source && unit->shell && i < unit->shell->class_count; i++)
        put_class(&p, &unit->shell->classes[i]);
    for (uint32_t i = 0; unit->shell && i < unit->shell->binding_count; i++) {
        put(&p, "binding ");
        put_quoted(&p, unit->shell->bindings[i].bytes, unit->shell->bindings[i].length);
        put(&p, "\n");
    }
    if (unit->shell && unit->shell->script != BC_NONE) put(&p, "script &%" PRIu32 "\n", unit->shell->script);
    for (uint32_t i = 0; i < unit->function_count; i++) {
        p.fn = unit->functions[i];
        p.line = 0;
        if (source) put(&p, "; &%" PRIu32 "\n", i);
        put_function(&p);
    }
    bool ok = !ferror(out);
    if (fclose(out) != 0) ok = false;
    if (ok) return text;
    free(text);
    return NULL;
}

char *ir_print(const IrUnit *unit) { return print_unit(unit, NULL); }
char *ir_print_with_source(const IrUnit *unit, SourceFile *source) { return print_unit(unit, source); }
