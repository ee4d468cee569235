/* Crash reports. See crash_report.h. Nothing here allocates in a heap. */
#include "vm/crash_report.h"
#include "vm/error.h"
#include "vm/interp.h"
#include "vm/print.h"
#include "vm/registry.h"
#include "vm/string.h"
#include "vm/symbol.h"
#include "vm/vm.h"

#define PART_BYTES 800u /* of one value; a report fits a log line of vm_log */

static const char *text_of(BtVm *vm, Value symbol) {
    return value_is_symbol(symbol) ? symbol_text(vm, symbol, NULL) : "?";
}

static void append_cut(Text *t, const char *bytes, size_t length) {
    bool cut = length > PART_BYTES;
    if (cut) length = PART_BYTES;
    while (cut && length && ((unsigned char)bytes[length] & 0xc0) == 0x80)
        length--; /* whole characters only */
    text_append(t, bytes, length);
    if (cut) text_append_cstring(t, "...");
}

static void append_value(BtVm *vm, Text *t, Value v) {
    Text one = TEXT_IN(t->memory);
    print_value(vm, &one, v, PRINT_STRING, V_EMPTY_LIST);
    if (!one.failed) append_cut(t, one.bytes, one.length);
    text_free(&one);
}

static void append_pid(Text *t, Value pid) { text_appendf(t, "0.%u.%u", pid_slot(pid), pid_generation(pid)); }

static void append_head(Process *p, Text *t, Value owner, const char *separator, Value selector,
                        Value exception) {
    text_appendf(t, "warning: %s%s%s failed: ", text_of(p->vm, owner), separator,
                 selector == V_NIL ? "" : text_of(p->vm, selector));
    if (!value_is_exception(p->vm, exception) || !value_is_bytes(object_at(exception, EXC_MESSAGE))) return;
    size_t length;
    const char *message = string_bytes(object_at(exception, EXC_MESSAGE), &length);
    append_cut(t, message, length);
}

static void append_process(Process *p, Text *t) {
    text_append_cstring(t, "\n  process ");
    append_pid(t, p->pid);
    Value name = registry_name_of(p->vm, p->pid);
    if (name != V_NIL) text_appendf(t, ", registered as %s", text_of(p->vm, name));
}

static void append_message(Process *p, Text *t, const Message *m) {
    text_appendf(t, "\n  message %s",
                 value_is_symbol(m->selector) ? text_of(p->vm, m->selector) : "handleInfo:");
    for (unsigned i = 0; i < m->argc; i++) {
        text_append_cstring(t, i ? ", " : " ");
        append_value(p->vm, t, m->values[i]);
    }
    if (!value_is_pid(m->sender)) return;
    text_append_cstring(t, m->kind == MSG_CAST ? ", cast by " : ", sent by ");
    append_pid(t, m->sender);
}

static void append_state(Process *p, Text *t) {
    const SlotLayout *layout = p->state_layout;
    if (p->role != PROC_ACTOR || p->state == V_HOLE || !layout || !layout->count) return;
    text_append_cstring(t, "\n  state");
    for (uint32_t i = 0; i < layout->count; i++) {
        text_appendf(t, "%s%s: ", i ? ", " : " ", text_of(p->vm, layout->names[i]));
        Value v = object_at(p->state, i + 1);
        append_value(p->vm, t, v == V_HOLE ? V_NIL : v);
    }
}

void crash_report(Process *p, Value owner, const char *separator, Value selector, const Message *m,
                  Value exception) {
    Text t = TEXT_IN(p->vm->memory);
    append_head(p, &t, owner, separator, selector, exception);
    append_process(p, &t);
    if (m) append_message(p, &t, m);
    append_state(p, &t);
    if (value_is_exception(p->vm, exception)) trace_append(p->vm, &t, object_at(exception, EXC_TRACE));
    text_append_char(&t, 0);
    if (!t.failed) vm_log(p->vm, "%s", t.bytes);
    text_free(&t);
}
