/* Primitives of Exception: raising, and reading the record (semantics 11, stdlib-core 15). */
#include "vm/print.h"
#include "vm/dict.h"
#include "vm/prims/prim_support.h"

static bool was_signalled(Value e) { return object_at(e, EXC_KIND) != V_NIL; }

/* Kind of a signal by hand: the two classes that have a kind of their own keep it. */
static Value signal_kind(Process *p, Value e) {
    uint32_t id = object_class(e);
    if (class_id_inherits(p->vm, id, CLASS_ID_TypeError)) return symbol_intern(p->vm, "type_error", 10);
    if (class_id_inherits(p->vm, id, CLASS_ID_InstantiationError))
        return symbol_intern(p->vm, "instantiation_error", 19);
    return SYMBOL(signal);
}

static Value exception_class_name(Process *p, Value e) {
    Class *c = class_by_id(p->vm, object_class(e));
    return c ? c->name : V_NIL;
}

/* A copy of args[0] as a new signal with the text in args[1] (a String), raised. Own fields are kept. */
static PrimStatus raise_copy(Process *p, Value *args) {
    size_t size = object_size(args[0]);
    if (!heap_reserve(p, size)) return PRIM_RAISE;
    Value made = heap_new(p, KIND_INSTANCE, object_class(args[0]), size);
    uint64_t *words = object_words(made);
    for (size_t i = 1; i < size; i++) words[i] = object_at(args[0], i);
    words[EXC_MESSAGE] = args[1];
    words[EXC_KIND] = signal_kind(p, made);
    words[EXC_ERROR_CLASS] = exception_class_name(p, made);
    words[EXC_SELECTOR] = words[EXC_HINT] = words[EXC_DETAILS] = words[EXC_TRACE] = V_NIL;
    p->exception = made;
    return PRIM_RAISE;
}

/* Symbols by name, Strings as they are, everything else by printString. */
static PrimStatus as_text(Process *p, Value *v) {
    if (value_is_bytes(*v)) return PRIM_OK;
    if (value_is_symbol(*v)) return string_from_symbol(p, *v, v);
    return value_print_string(p, *v, v);
}

PRIM(prim_exception_signal) {
    (void)count, (void)result;
    if (was_signalled(args[0])) return p->exception = args[0], PRIM_RAISE;
    Value pair[2] = {args[0], V_NIL};
    RootSpan span;
    roots_push(p, &span, pair, 2);
    PrimStatus status = string_from_symbol(p, exception_class_name(p, args[0]), &pair[1]);
    if (status == PRIM_OK) status = raise_copy(p, pair);
    roots_pop(p, &span);
    return status;
}

PRIM(prim_exception_signal_text) {
    (void)count, (void)result;
    PrimStatus status = as_text(p, &args[1]);
    return status == PRIM_OK ? raise_copy(p, args) : status;
}

/* As much of a text as the buffer holds; NULL: no String. */
static const char *cut_text(Value v, char *buffer, size_t size) {
    if (!value_is_bytes(v)) return NULL;
    size_t length;
    const char *bytes = string_bytes(v, &length);
    snprintf(buffer, size, "%.*s", (int)(length < size ? length : size - 1), bytes);
    return buffer;
}

/* args: kind, class (Symbol, class object or nil), selector, hint, and perhaps the message. */
PRIM(prim_exception_signal_kind) {
    (void)result;
    char hint[1024], text[4096];
    if (!value_is_symbol(args[1])) return error_type(p, args[0], SYMBOL(signal), "The kind must be a Symbol");
    Value class_name = value_is_class(args[2]) || value_is_meta(args[2])
                           ? class_by_id(p->vm, special_payload(args[2]))->name
                           : args[2];
    if (class_name != V_NIL && !value_is_symbol(class_name)) class_name = V_NIL;
    Value selector = value_is_symbol(args[3]) ? args[3] : V_NIL;
    if (count == 5 && args[5] != V_NIL) {
        PrimStatus status = as_text(p, &args[5]);
        if (status != PRIM_OK) return status;
    }
    if (count == 4 && args[3] == V_NIL)
        selector = symbol_intern(p->vm, "nil", 3); /* the template counts nil as a selector */
    PrimStatus status = error_raise_symbol(p, args[1], class_name, selector,
                                           count == 5 ? cut_text(args[5], text, sizeof text) : NULL,
                                           cut_text(args[4], hint, sizeof hint), V_NIL);
    if (count == 4 && args[3] == V_NIL && value_is_kind(p->exception, KIND_INSTANCE))
        object_words(p->exception)[EXC_SELECTOR] = V_NIL;
    return status;
}

/* ---- reading; an instance that was never signalled answers what a signal would set ---- */

PRIM(prim_exception_message) {
    (void)count;
    *result = object_at(args[0], EXC_MESSAGE);
    return *result == V_NIL ? string_from_symbol(p, exception_class_name(p, args[0]), result) : PRIM_OK;
}
PRIM(prim_exception_kind) {
    (void)count;
    *result = was_signalled(args[0]) ? object_at(args[0], EXC_KIND) : signal_kind(p, args[0]);
    return PRIM_OK;
}
PRIM(prim_exception_error_class) {
    return (void)p, (void)count, *result = object_at(args[0], EXC_ERROR_CLASS), PRIM_OK;
}
PRIM(prim_exception_selector) {
    return (void)p, (void)count, *result = object_at(args[0], EXC_SELECTOR), PRIM_OK;
}
PRIM(prim_exception_hint) { return (void)p, (void)count, *result = object_at(args[0], EXC_HINT), PRIM_OK; }

PRIM(prim_exception_details) {
    (void)count;
    Value details = object_at(args[0], EXC_DETAILS);
    *result = details == V_NIL ? dict_empty(p) : details;
    return *result == V_HOLE ? PRIM_RAISE : PRIM_OK;
}

PRIM(prim_exception_stack_trace) {
    (void)count;
    Value raw = object_at(args[0], EXC_TRACE);
    *result = raw == V_NIL ? V_EMPTY_LIST : interp_render_trace(p, raw);
    return *result == V_HOLE ? PRIM_RAISE : PRIM_OK;
}

PRIM(prim_exception_print_string) {
    Value parts[3] = {V_NIL, V_NIL, object_at(args[0], EXC_HINT)};
    RootSpan span;
    roots_push(p, &span, parts, 3);
    PrimStatus status = prim_exception_message(p, args, count, &parts[0]);
    if (status == PRIM_OK) status = string_from_cstring(p, "\nHint: ", &parts[1]);
    if (status == PRIM_OK && value_is_bytes(parts[2]))
        status = string_concat_many(p, parts, 3, result);
    else
        *result = parts[0];
    roots_pop(p, &span);
    return status;
}
