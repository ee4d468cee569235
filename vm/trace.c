/* Stack traces. At a raise only a raw trace is taken, a Tuple of immediates (no code is kept alive by it);
 * StackFrame instances and their Strings are made when somebody asks. Callers replaced by tail sends stand in
 * the ring of the process and are woven in. */
#include <stdio.h>
#include "vm/class_internal.h"
#include "vm/error.h"
#include "vm/interp_internal.h"
#include "vm/list.h"
#include "vm/string.h"
#include "vm/symbol.h"
#include "vm/text.h"

#define TRACE_MAX_FRAMES 40
#define SHOWN_FRAMES 5
/* Words of one frame in a raw trace. FLAGS: line << 2 | class side << 1 | block. */
enum { RAW_CLASS, RAW_SELECTOR, RAW_FLAGS, RAW_ARGC, RAW_FILE, RAW_WORDS };
#define RAW_MAX_WORDS ((size_t)TRACE_MAX_FRAMES * RAW_WORDS)

typedef struct {
    Value words[RAW_MAX_WORDS];
    size_t count;
} RawTrace;

static bool note(RawTrace *t, const Function *fn, uint32_t line) {
    if (t->count == TRACE_MAX_FRAMES) return false;
    Value *w = t->words + t->count++ * RAW_WORDS;
    w[RAW_CLASS] = fn->class_name;
    w[RAW_SELECTOR] = fn->name;
    w[RAW_FLAGS] =
        value_from_int((int64_t)line << 2 | (fn->class_side ? 2 : 0) | (fn->kind == FN_BLOCK ? 1 : 0));
    w[RAW_ARGC] = value_from_int(fn->param_count);
    w[RAW_FILE] = fn->unit->name;
    return true;
}

/* Callers that this frame replaced, newest first, back to the first elision of this activation. */
static void note_elided(Process *p, RawTrace *t, const Frame *frame) {
    if (!(frame->flags & FRAME_TAILED) || !p->elided_ring) return;
    uint32_t tag = trace_frame_tag(frame);
    for (uint32_t i = 0; i < ELIDED_CALLS && i < p->elided_count; i++) {
        const ElidedCall *e = &p->elided_ring[(p->elided_count - 1 - i) % ELIDED_CALLS];
        if ((e->frame & ELIDED_FRAME_MASK) != tag) continue;
        if (!note(t, e->fn, function_line(e->fn, e->fn->code + e->line))) return;
        if (e->frame & ELIDED_FIRST) return;
    }
}

static void collect(Process *p, RawTrace *t) {
    t->count = 0;
    for (const Frame *f = p->frame; f && t->count < TRACE_MAX_FRAMES; f = f->caller) {
        const Instr *at = f->pc > f->fn->code ? f->pc - 1 : f->fn->code;
        note(t, f->fn, function_line(f->fn, at));
        note_elided(p, t, f);
    }
}

Value error_trace(Process *p) {
    RawTrace t;
    collect(p, &t);
    size_t words = 1 + t.count * RAW_WORDS;
    if (!heap_reserve(p, words)) return p->exception = V_HOLE, V_NIL;
    Value tuple = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, words);
    memcpy(object_words(tuple) + 1, t.words, (words - 1) * sizeof(Value));
    return tuple;
}

void error_extend_trace(Process *p) {
    Value exception = p->exception;
    if (!value_is_exception(p->vm, exception) || (header_flags(object_header(exception)) & OBJ_LITERAL) ||
        !value_is_kind(object_at(exception, EXC_TRACE), KIND_TUPLE))
        return;
    RawTrace t;
    collect(p, &t);
    size_t size = object_size(exception), theirs = object_size(object_at(exception, EXC_TRACE)) - 1,
           room = theirs < RAW_MAX_WORDS ? RAW_MAX_WORDS - theirs : 0,
           ours = t.count * RAW_WORDS < room ? t.count * RAW_WORDS : room;
    RootSpan span;
    roots_push(p, &span, &exception, 1);
    bool room_made = heap_reserve(p, size + 1 + theirs + ours);
    roots_pop(p, &span);
    p->exception = exception; /* as it came, if there is no memory */
    if (!room_made) return;
    Value trace = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, 1 + theirs + ours);
    memcpy(object_words(trace) + 1, object_words(object_at(exception, EXC_TRACE)) + 1,
           theirs * sizeof(Value));
    memcpy(object_words(trace) + 1 + theirs, t.words, ours * sizeof(Value));
    uint64_t *copy = heap_alloc(p, size);
    memcpy(copy, object_words(exception), size * sizeof *copy);
    copy[0] &= ~header_make(0, (ObjectKind)0, OBJ_LITERAL, 0);
    copy[EXC_TRACE] = trace;
    p->exception = value_from_object(copy);
}

Value trace_method_of(Value raw, const Class *c) {
    if (!value_is_kind(raw, KIND_TUPLE)) return V_NIL;
    size_t count = (object_size(raw) - 1) / RAW_WORDS;
    for (size_t i = 0; i < count; i++) {
        const Value *w = object_words(raw) + 1 + i * RAW_WORDS;
        if ((value_to_int(w[RAW_FLAGS]) & 3) || !value_is_symbol(w[RAW_CLASS])) continue;
        for (const Class *k = c; k && k->id != CLASS_ID_Actor; k = k->superclass)
            if (k->name == w[RAW_CLASS]) return w[RAW_SELECTOR];
    }
    return V_NIL;
}

void trace_append(BtVm *vm, Text *t, Value raw) {
    if (!value_is_kind(raw, KIND_TUPLE)) return;
    size_t count = (object_size(raw) - 1) / RAW_WORDS;
    for (size_t i = 0; i < count && i < SHOWN_FRAMES; i++) {
        const Value *w = object_words(raw) + 1 + i * RAW_WORDS;
        int64_t flags = value_to_int(w[RAW_FLAGS]);
        bool named = value_is_symbol(w[RAW_CLASS]) && value_is_symbol(w[RAW_SELECTOR]);
        if (named)
            text_appendf(t, "\n  at %s%s>>%s%s", symbol_text(vm, w[RAW_CLASS], NULL),
                         flags & 2 ? " class" : "", symbol_text(vm, w[RAW_SELECTOR], NULL),
                         flags & 1 ? " (block)" : "");
        else
            text_appendf(t, "\n  at top level%s", flags & 1 ? " (block)" : "");
        if (flags >> 2 && value_is_symbol(w[RAW_FILE]))
            text_appendf(t, " (%s:%lld)", symbol_text(vm, w[RAW_FILE], NULL), (long long)(flags >> 2));
    }
}

/* ---- rendering ---- */

enum { R_RAW, R_LIST, R_FILE, R_COUNT };

static void set_field(Class *c, uint64_t *instance, BtVm *vm, const char *name, Value v) {
    Value symbol = symbol_lookup(vm, name, strlen(name));
    for (uint32_t i = 0; i < c->field_count; i++)
        if (c->field_names[i] == symbol) instance[i + 1] = v;
}

static Value class_text(BtVm *vm, Value class_name, bool class_side) {
    if (!class_side || !value_is_symbol(class_name)) return class_name;
    Class *c = class_by_name(vm, class_name);
    return c ? class_name_of(vm, value_from_class(c->id)) : class_name;
}

/* Puts one StackFrame in front of roots[R_LIST]. */
static bool render_frame(Process *p, Class *c, size_t index, Value *roots) {
    Value file = object_at(roots[R_RAW], 1 + index * RAW_WORDS + RAW_FILE);
    roots[R_FILE] = V_NIL;
    if (value_is_symbol(file) && string_from_symbol(p, file, &roots[R_FILE]) != PRIM_OK) return false;
    if (!heap_reserve(p, 1 + c->field_count + LIST_CELL_WORDS)) return false;
    const uint64_t *raw = object_words(roots[R_RAW]) + 1 + index * RAW_WORDS;
    Value frame = heap_new(p, KIND_INSTANCE, c->id, 1 + c->field_count);
    uint64_t *slots = object_words(frame);
    for (uint32_t i = 0; i < c->field_count; i++) slots[i + 1] = V_NIL;
    int64_t flags = value_to_int(raw[RAW_FLAGS]);
    set_field(c, slots, p->vm, "method", raw[RAW_SELECTOR]);
    set_field(c, slots, p->vm, "receiverClass", class_text(p->vm, raw[RAW_CLASS], flags & 2));
    set_field(c, slots, p->vm, "arguments", raw[RAW_ARGC]);
    set_field(c, slots, p->vm, "line", flags >> 2 ? value_from_int(flags >> 2) : V_NIL);
    set_field(c, slots, p->vm, "file", roots[R_FILE]);
    roots[R_LIST] = list_cons_reserved(p, frame, roots[R_LIST]);
    return true;
}

void trace_append_text(BtVm *vm, Value raw, Text *out) {
    size_t count = value_is_kind(raw, KIND_TUPLE) ? (object_size(raw) - 1) / RAW_WORDS : 0;
    for (size_t i = 0; i < count; i++) {
        const Value *w = object_words(raw) + 1 + i * RAW_WORDS;
        int64_t flags = value_to_int(w[RAW_FLAGS]);
        const char *class_name = value_is_symbol(w[RAW_CLASS]) ? symbol_text(vm, w[RAW_CLASS], NULL) : NULL;
        const char *selector =
            value_is_symbol(w[RAW_SELECTOR]) ? symbol_text(vm, w[RAW_SELECTOR], NULL) : NULL;
        const char *file = value_is_symbol(w[RAW_FILE]) ? symbol_text(vm, w[RAW_FILE], NULL) : "?";
        if (class_name)
            text_appendf(out, "  at %s%s>>%s (%s:%lld)\n", class_name, flags & 2 ? " class" : "",
                         selector ? selector : "?", file, (long long)(flags >> 2));
        else
            text_appendf(out, "  at %s:%lld\n", file, (long long)(flags >> 2));
    }
}

Value interp_render_trace(Process *p, Value raw) {
    Class *c = class_by_id(p->vm, CLASS_ID_StackFrame);
    if (!value_is_kind(raw, KIND_TUPLE) || !c) return raw == V_NIL || !c ? V_EMPTY_LIST : raw;
    size_t count = (object_size(raw) - 1) / RAW_WORDS;
    Value roots[R_COUNT] = {raw, V_EMPTY_LIST, V_NIL};
    RootSpan span;
    roots_push(p, &span, roots, R_COUNT);
    bool done = true;
    for (size_t i = count; done && i-- > 0;) done = render_frame(p, c, i, roots);
    roots_pop(p, &span);
    return done ? roots[R_LIST] : V_HOLE;
}

Value interp_stack_trace(Process *p) { return interp_render_trace(p, error_trace(p)); }
