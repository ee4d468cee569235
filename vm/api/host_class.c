/* Host classes: the text that defines one, from its methods. */
#include <string.h>
#include "vm/api/host_method.h"
#include "vm/class.h"
#include "vm/text.h"

static bool is_word(const char *text, size_t length, bool upper) {
    if (!length || !(upper ? (text[0] >= 'A' && text[0] <= 'Z') : (text[0] >= 'a' && text[0] <= 'z')))
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!ok) return false;
    }
    return true;
}

/* `at: a1 put: a2`, and how many there are. False: no selector. */
static bool append_pattern(Text *t, const char *selector, unsigned *argc) {
    *argc = 0;
    if (!strchr(selector, ':')) {
        text_append_cstring(t, selector);
        return is_word(selector, strlen(selector), false);
    }
    while (*selector) {
        const char *colon = strchr(selector, ':');
        if (!colon || !is_word(selector, (size_t)(colon - selector), false)) return false;
        text_append(t, selector, (size_t)(colon - selector));
        text_appendf(t, ": a%u ", ++*argc);
        selector = colon + 1;
    }
    return true;
}

static void drop_method(const Memory *memory, void *method) { memory_free(memory, method); }

static bool append_method(Text *t, bt_vm *vm, const bt_method *m, HostInvoke invoke) {
    unsigned argc;
    if (!m->selector || !m->function) return false;
    text_append_cstring(t, "  class sealed ");
    if (!append_pattern(t, m->selector, &argc)) return false;
    HostMethod *method = memory_alloc(vm->memory, sizeof *method);
    if (!method) return t->failed = true, false;
    *method = (HostMethod){vm, m->function, m->context};
    uint32_t number = host_add(vm->core, invoke, method, drop_method);
    if (number == UINT32_MAX) return memory_free(vm->memory, method), t->failed = true, false;
    text_appendf(t, " => HostFunction call: %u with: #(", number);
    for (unsigned i = 1; i <= argc; i++) text_appendf(t, i == 1 ? "a%u" : ", a%u", i);
    text_append_cstring(t, ")\n");
    return true;
}

static bool append_methods(Text *t, bt_vm *vm, const bt_method *methods, size_t count, HostInvoke invoke) {
    for (size_t i = 0; i < count; i++)
        if (!append_method(t, vm, &methods[i], invoke)) return false;
    return true;
}

static bt_status load(bt_vm *vm, const Text *source) {
    static const bt_eval_options LOAD = {.size = sizeof LOAD, .name = "host", .load_only = 1};
    bt_session *session = bt_session_new(vm);
    bt_result *result = NULL;
    if (!session) return BT_NO_MEMORY;
    bt_status status = bt_vm_eval(session, source->bytes, source->length, &LOAD, &result);
    bt_result_free(result);
    bt_session_free(session);
    return status;
}

bt_status bt_vm_define(bt_vm *vm, const bt_class_definition *definition) {
    bt_class_definition d = {.size = sizeof d};
    if (!vm || !definition) return BT_MISUSE;
    STRUCT_COPY(d, definition);
    if (!d.name || !is_word(d.name, strlen(d.name), true) || (d.method_count && !d.methods) ||
        (d.blocking_count && !d.blocking))
        return BT_MISUSE;
    Value symbol = symbol_lookup(vm->core, d.name, strlen(d.name));
    if (symbol != V_HOLE && class_by_name(vm->core, symbol)) return BT_COMPILE_ERROR;
    Text source = TEXT_IN(vm->memory);
    text_appendf(&source, "sealed Object subclass: %s\n", d.name);
    bool whole = append_methods(&source, vm, d.methods, d.method_count, host_invoke) &&
                 append_methods(&source, vm, d.blocking, d.blocking_count, host_invoke_blocking);
    bt_status status = source.failed ? BT_NO_MEMORY : whole ? load(vm, &source) : BT_MISUSE;
    text_free(&source);
    return status;
}

bt_status bt_vm_define_class(bt_vm *vm, const char *name, const bt_method *methods, size_t count) {
    const bt_class_definition definition = {
        .size = sizeof definition, .name = name, .methods = methods, .method_count = count};
    return bt_vm_define(vm, &definition);
}
