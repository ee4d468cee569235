#include "vm/print_leaf.h"
#include "vm/bignum.h"
#include "vm/float_text.h"
#include "vm/string.h"
#include "vm/vm.h"

void print_symbol_text(BtVm *vm, Text *t, Value symbol) {
    size_t length;
    const char *text = symbol_text(vm, symbol, &length);
    text_append(t, text, length);
}

void print_class_name(BtVm *vm, Text *t, uint32_t class_id) {
    Class *c = class_by_id(vm, class_id);
    if (c) print_symbol_text(vm, t, c->name);
}

static void print_quoted(Text *t, const char *bytes, size_t length) {
    text_append_char(t, '"');
    while (length > 0) {
        const char *quote = memchr(bytes, '"', length);
        size_t run = quote ? (size_t)(quote - bytes) + 1 : length;
        text_append(t, bytes, run);
        if (quote) text_append_char(t, '"');
        bytes += run;
        length -= run;
    }
    text_append_char(t, '"');
}

static void print_hex_bytes(Text *t, const char *bytes, size_t length) {
    text_append_cstring(t, "<<");
    for (size_t i = 0; i < length; i++) {
        unsigned byte = (unsigned char)bytes[i];
        char hex[3] = {' ', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
        text_append(t, i == 0 ? hex + 1 : hex, i == 0 ? 2 : 3);
    }
    text_append_cstring(t, ">>");
}

static void print_bytes(Text *t, Value v, bool bare) {
    size_t length;
    bool text = string_is_text(v);
    const char *bytes = string_bytes(v, &length);
    if (!text) {
        print_hex_bytes(t, bytes, length);
    } else if (bare) {
        text_append(t, bytes, length);
    } else {
        print_quoted(t, bytes, length);
    }
}

static void print_float(Text *t, double d) {
    char text[FLOAT_TEXT_MAX];
    text_append(t, text, float_print(d, text));
}

static void print_pid_numbers(Text *t, Value pid) {
    text_appendf(t, "0.%u.%u", pid_slot(pid), pid_generation(pid));
}

static bool class_is_below(const Class *c, BtVm *vm, const char *ancestor) {
    for (; c; c = c->superclass) {
        size_t length;
        const char *name = symbol_text(vm, c->name, &length);
        if (length == strlen(ancestor) && memcmp(name, ancestor, length) == 0) return true;
    }
    return false;
}

static void print_actor(BtVm *vm, Text *t, Value v) {
    const Class *c = class_by_id(vm, object_class(v));
    bool dynamic = class_is_below(c, vm, "DynamicSupervisor"),
         supervisor = class_is_below(c, vm, "Supervisor");
    text_append_cstring(t, dynamic ? "DynamicSupervisor(" : supervisor ? "Supervisor(" : "Actor(");
    print_class_name(vm, t, object_class(v));
    text_append_cstring(t, ", ");
    Value target = object_at(v, 1);
    if (value_is_pid(target)) {
        print_pid_numbers(t, target);
    } else {
        text_append_cstring(t, "registered, ");
        print_symbol_text(vm, t, target);
    }
    text_append_char(t, ')');
}

static void print_block(Text *t, Value v, bool nested) {
    text_append_cstring(t, "Block");
    if (nested) text_appendf(t, "/%u", closure_function(v)->param_count);
}

static void print_heap_leaf(BtVm *vm, Text *t, Value v, PrintStyle style, bool nested) {
    switch (object_kind(v)) {
    case KIND_FLOAT: print_float(t, number_float_value(v)); break;
    case KIND_BIGNUM: integer_append_text(t, v, 10); break;
    case KIND_STRING:
    case KIND_STRING_REF: print_bytes(t, v, style == PRINT_DISPLAY && !nested); break;
    case KIND_ACTOR_REF: print_actor(vm, t, v); break;
    case KIND_CLOSURE: print_block(t, v, nested); break;
    case KIND_REFERENCE: text_appendf(t, "#Ref<0.0.0.%lu>", (unsigned long)object_at(v, 1)); break;
    case KIND_METHOD:
        text_append_cstring(t, "CompiledMethod(");
        print_symbol_text(vm, t, object_at(v, 3));
        text_append_char(t, ')');
        break;
    default: print_class_name(vm, t, object_class(v)); break;
    }
}

static void print_special(BtVm *vm, Text *t, Value v) {
    if (value_is_class(v) || value_is_meta(v)) {
        print_class_name(vm, t, special_payload(v));
        if (value_is_meta(v)) text_append_cstring(t, " class");
        return;
    }
    text_append_cstring(t, v == V_NIL          ? "nil"
                           : v == V_TRUE       ? "true"
                           : v == V_FALSE      ? "false"
                           : v == V_EMPTY_LIST ? "#()"
                                               : "?");
}

void print_leaf(BtVm *vm, Text *t, Value v, PrintStyle style, bool nested) {
    if (value_is_ptr(v)) {
        print_heap_leaf(vm, t, v, style, nested);
    } else if (value_is_int(v)) {
        integer_append_text(t, v, 10);
    } else if (value_is_flonum(v)) {
        print_float(t, flonum_decode(v));
    } else if (value_is_symbol(v)) {
        if (style != PRINT_DISPLAY || nested) text_append_char(t, '#');
        print_symbol_text(vm, t, v);
    } else if (value_is_pid(v)) {
        text_append_cstring(t, "#Pid<");
        print_pid_numbers(t, v);
        text_append_char(t, '>');
    } else {
        print_special(vm, t, v);
    }
}
