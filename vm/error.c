/* Structured errors: templates, hints, exception instances. See error.h.
 *
 * An exception is built in native text first, then in one reserve; if memory is short on the way, the
 * exception that heap_reserve left pending (resource_error) takes its place, so an error always ends in some
 * exception. */
#include <stdarg.h>
#include <stdio.h>
#include "vm/bytecode/memory.h"
#include "vm/class_internal.h"
#include "vm/error.h"
#include "vm/string.h"
#include "vm/text.h"

typedef struct {
    const char *name, *with_selector, *without;
    uint32_t class_id;
} KindInfo;

static const KindInfo KINDS[] = {
#define ERROR_KIND(name, class_name, with_selector, without)                                                 \
    {#name, with_selector, without, CLASS_ID_##class_name},
#include "vm/errors.def"
#undef ERROR_KIND
};
_Static_assert(sizeof KINDS / sizeof KINDS[0] == ERROR_KIND_COUNT, "one row per kind");

static const KindInfo *find_kind(BtVm *vm, Value kind_symbol) {
    if (!value_is_symbol(kind_symbol)) return NULL;
    size_t length;
    const char *text = symbol_text(vm, kind_symbol, &length);
    for (size_t i = 0; i < ERROR_KIND_COUNT; i++)
        if (strlen(KINDS[i].name) == length && memcmp(KINDS[i].name, text, length) == 0) return &KINDS[i];
    return NULL;
}

bool value_is_exception(BtVm *vm, Value v) {
    return value_is_kind(v, KIND_INSTANCE) && object_size(v) >= EXC_SLOTS_END &&
           class_id_inherits(vm, object_class(v), CLASS_ID_Exception);
}

Value error_out_of_memory(BtVm *vm) { return value_from_object(vm->classes->oom_words); }

/* ---- texts ---- */

static void append_symbol(BtVm *vm, Text *t, Value symbol) {
    if (!value_is_symbol(symbol)) return text_append_cstring(t, "unknown");
    size_t length;
    const char *text = symbol_text(vm, symbol, &length);
    text_append(t, text, length);
}

static void expand_template(BtVm *vm, Text *t, const char *template, Value class_name, Value selector) {
    for (; *template; template ++) {
        if (template[0] == '%' && template[1] == 'C')
            append_symbol(vm, t, class_name), template ++;
        else if (template[0] == '%' && template[1] == 's')
            append_symbol(vm, t, selector), template ++;
        else
            text_append_char(t, *template);
    }
}

static void generic_message(BtVm *vm, Text *t, Value kind, Value class_name, Value selector) {
    append_symbol(vm, t, kind);
    text_append_cstring(t, " error in ");
    if (selector != V_NIL) {
        text_append_char(t, '\'');
        append_symbol(vm, t, selector);
        text_append_cstring(t, "' on ");
    }
    append_symbol(vm, t, class_name);
}

static void message_text(BtVm *vm, Text *t, const KindInfo *info, Value kind, Value class_name,
                         Value selector, const char *text) {
    if (text) return text_append_cstring(t, text);
    if (!info) return generic_message(vm, t, kind, class_name, selector);
    expand_template(vm, t, selector == V_NIL ? info->without : info->with_selector, class_name, selector);
}

/* ---- exception instances ---- */

enum { ROOT_MESSAGE, ROOT_HINT, ROOT_DETAILS, ROOT_TRACE, ROOT_COUNT };

static Value instantiate(Process *p, uint32_t class_id, Value kind, Value class_name, Value selector,
                         const Value *roots) {
    Class *c = class_by_id(p->vm, class_id);
    size_t words = EXC_SLOTS_END + (c ? c->slot_count : 0);
    if (!heap_reserve(p, words)) return V_HOLE;
    Value exception = heap_new(p, KIND_INSTANCE, class_id, words);
    uint64_t *slots = object_words(exception);
    slots[EXC_MESSAGE] = roots[ROOT_MESSAGE];
    slots[EXC_KIND] = kind;
    slots[EXC_ERROR_CLASS] = class_name;
    slots[EXC_SELECTOR] = selector;
    slots[EXC_HINT] = roots[ROOT_HINT];
    slots[EXC_DETAILS] = roots[ROOT_DETAILS];
    slots[EXC_TRACE] = roots[ROOT_TRACE];
    for (size_t i = EXC_SLOTS_END; i < words; i++) slots[i] = V_NIL;
    return exception;
}

/* A resource_error needs no native memory for its message: what fails to make another error's text ends here.
 */
static PrimStatus make_message(Process *p, const KindInfo *info, Value kind, Value class_name, Value selector,
                               const char *text, Value *out) {
    if (info == &KINDS[ERR_resource_error] && !text) return string_from_cstring(p, info->without, out);
    Text message = TEXT_IN(p->vm->memory);
    message_text(p->vm, &message, info, kind, class_name, selector, text);
    return text_to_string(p, &message, out);
}

/* What an exception is made of besides its kind. The message is a String, or nil: then text, or the template.
 */
typedef struct {
    Value class_name, selector, message, details;
    const char *text, *hint;
} Parts;

static Value make(Process *p, uint32_t class_id, const KindInfo *info, Value kind, const Parts *parts) {
    Value roots[ROOT_COUNT] = {parts->message, V_NIL, parts->details, V_NIL}, exception = V_HOLE;
    Value class_name = parts->class_name, selector = parts->selector;
    const char *hint = parts->hint;
    RootSpan span;
    roots_push(p, &span, roots, ROOT_COUNT);
    roots[ROOT_TRACE] = error_trace(p);
    if ((roots[ROOT_MESSAGE] != V_NIL ||
         make_message(p, info, kind, class_name, selector, parts->text, &roots[ROOT_MESSAGE]) == PRIM_OK) &&
        (!hint || string_from_cstring(p, hint, &roots[ROOT_HINT]) == PRIM_OK))
        exception = instantiate(p, class_id, kind, class_name, selector, roots);
    roots_pop(p, &span);
    return exception;
}

static PrimStatus raise(Process *p, Value exception) {
    if (exception != V_HOLE)
        p->exception = exception;
    else if (p->exception == V_HOLE)
        p->exception = error_out_of_memory(p->vm);
    return PRIM_RAISE;
}

bool error_kinds_init(BtVm *vm) {
    vm->error_kinds = memory_alloc(vm->memory, ERROR_KIND_COUNT * sizeof *vm->error_kinds);
    if (!vm->error_kinds) return false;
    for (size_t i = 0; i < ERROR_KIND_COUNT; i++) {
        vm->error_kinds[i] = symbol_intern(vm, KINDS[i].name, strlen(KINDS[i].name));
        if (vm->error_kinds[i] == V_HOLE) return false;
    }
    return true;
}

static Value make_of_kind(Process *p, ErrorKind kind, const Parts *parts) {
    return make(p, KINDS[kind].class_id, &KINDS[kind], p->vm->error_kinds[kind], parts);
}

Value error_make(Process *p, ErrorKind kind, Value class_name, Value selector, const char *text,
                 const char *hint, Value details) {
    return make_of_kind(p, kind, &(Parts){class_name, selector, V_NIL, details, text, hint});
}

PrimStatus error_raise_message(Process *p, ErrorKind kind, Value class_name, Value message) {
    return raise(p, make_of_kind(p, kind, &(Parts){class_name, V_NIL, message, V_NIL, NULL, NULL}));
}

PrimStatus error_raise(Process *p, ErrorKind kind, Value class_name, Value selector, const char *text,
                       const char *hint, Value details) {
    return raise(p, error_make(p, kind, class_name, selector, text, hint, details));
}

PrimStatus error_raisef(Process *p, ErrorKind kind, Value class_name, Value selector, const char *hint,
                        const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* A cut text must still be UTF-8: drop the bytes of a character that lost its end. */
    if (n >= (int)sizeof text) {
        size_t end = sizeof text - 1;
        while (end > 0 && ((unsigned char)text[end - 1] & 0xc0) == 0x80) end--;
        text[end > 0 && (unsigned char)text[end - 1] >= 0xc0 ? end - 1 : sizeof text - 1] = 0;
    }
    return error_raise(p, kind, class_name, selector, n < 0 ? "" : text, hint, V_NIL);
}

/* A user signal keeps its class: the record's class names a subclass of Exception (errors.md section 2, rule
 * 1). */
static uint32_t class_of_record(Process *p, const KindInfo *info, Value class_name) {
    Class *named = value_is_symbol(class_name) ? class_by_name(p->vm, class_name) : NULL;
    if (named && class_id_inherits(p->vm, named->id, CLASS_ID_Exception)) return named->id;
    return info ? info->class_id : CLASS_ID_Error;
}

PrimStatus error_raise_symbol(Process *p, Value kind_symbol, Value class_name, Value selector,
                              const char *text, const char *hint, Value details) {
    const KindInfo *info = find_kind(p->vm, kind_symbol);
    return raise(p, make(p, class_of_record(p, info, class_name), info, kind_symbol,
                         &(Parts){class_name, selector, V_NIL, details, text, hint}));
}

Value error_detail(Process *p, const char *key, Value value) {
    Value roots[1] = {value}, symbol = symbol_intern(p->vm, key, strlen(key)), dictionary = V_HOLE;
    RootSpan span;
    roots_push(p, &span, roots, 1);
    if (symbol == V_HOLE)
        raise(p, V_HOLE);
    else if (heap_reserve(p, 3)) {
        dictionary = heap_new(p, KIND_DICT, CLASS_ID_Dictionary, 3);
        object_words(dictionary)[1] = symbol;
        object_words(dictionary)[2] = roots[0];
    }
    roots_pop(p, &span);
    return dictionary;
}

/* ---- the usual ones ---- */

PrimStatus error_type(Process *p, Value receiver, Value selector, const char *hint) {
    return error_raise(p, ERR_type_error, class_name_of(p->vm, receiver), selector, NULL, hint, V_NIL);
}

PrimStatus error_arith(Process *p) {
    return error_raise(p, ERR_type_error, V_NIL, V_NIL, "bad arithmetic operation",
                       "Arithmetic requires numbers; check for a non-numeric operand or division by zero.",
                       V_NIL);
}

PrimStatus error_argument(Process *p, Value receiver, Value selector, const char *hint) {
    (void)receiver, (void)selector; /* a fault without class and selector (errors.md 3.1) */
    return error_raise(p, ERR_argument_error, V_NIL, V_NIL, NULL,
                       hint ? hint : "Check the argument types and values for this message.", V_NIL);
}

PrimStatus error_resource(Process *p, const char *hint) {
    return error_raise(p, ERR_resource_error, V_NIL, V_NIL, NULL, hint, V_NIL);
}

static const char *dnu_hint(Process *p, Value receiver, Value selector, char *buffer, size_t size) {
    if (value_is_class(receiver)) return "Class does not understand this message";
    if (value_is_meta(receiver)) return "Metaclass does not understand this message";
    uint32_t dispatch_class = dispatch_class_of(receiver);
    Class *c = class_by_id(p->vm, dispatch_class);
    if (c && class_too_deep(c)) return "Hierarchy depth limit exceeded; possible cycle in class hierarchy";
    if (c && class_lookup(p->vm, dispatch_class | DISPATCH_META, selector)) {
        const char *text = symbol_text(p->vm, selector, NULL);
        snprintf(buffer, size,
                 "'%.200s' is a class-side message; use 'class %.200s' to send it to an instance's class",
                 text, text);
        return buffer;
    }
    return "Check spelling or use 'respondsTo:' to verify method exists";
}

PrimStatus error_dnu(Process *p, Value receiver, Value selector, const char *hint) {
    char buffer[512];
    if (!hint) hint = dnu_hint(p, receiver, selector, buffer, sizeof buffer);
    bool of_class = value_is_class(receiver) || value_is_meta(receiver);
    Class *c = of_class ? class_by_id(p->vm, special_payload(receiver)) : NULL;
    Value name = c ? c->name : class_name_of(p->vm, receiver);
    return error_raise(p, ERR_does_not_understand, name, selector, NULL, hint, V_NIL);
}

/* ---- faults leaving an actor message ---- */

Value error_relabel(Process *p, Value exception, Value class_name, Value selector) {
    if (!value_is_exception(p->vm, exception) || object_at(exception, EXC_ERROR_CLASS) != V_NIL ||
        object_at(exception, EXC_SELECTOR) != V_NIL || !value_is_symbol(selector) ||
        !value_is_symbol(class_name))
        return exception;
    Text t = TEXT_IN(p->vm->memory);
    append_symbol(p->vm, &t, class_name);
    text_append_cstring(&t, ">>");
    append_symbol(p->vm, &t, selector);
    text_append_cstring(&t, ": ");
    size_t length;
    const char *bytes = string_bytes(object_at(exception, EXC_MESSAGE), &length);
    text_append(&t, bytes, length);
    Value roots[2] = {exception, V_NIL};
    RootSpan span;
    roots_push(p, &span, roots, 2);
    size_t words = object_size(exception);
    if (text_to_string(p, &t, &roots[1]) == PRIM_OK && heap_reserve(p, words)) {
        uint64_t *copy = heap_alloc(p, words);
        memcpy(copy, object_words(roots[0]), words * sizeof *copy);
        copy[0] &= ~header_make(0, (ObjectKind)0, OBJ_LITERAL, 0);
        copy[EXC_MESSAGE] = roots[1];
        copy[EXC_ERROR_CLASS] = class_name;
        copy[EXC_SELECTOR] = selector;
        roots[0] = value_from_object(copy);
    }
    roots_pop(p, &span);
    return roots[0];
}
