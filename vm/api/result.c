/* What an evaluation answers: plain text fields, owned by the result. */
#include "vm/api/api_internal.h"
#include "vm/string.h"

char *text_dup(const char *bytes, size_t length) {
    char *copy = mem_alloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, bytes, length);
    copy[length] = 0;
    return copy;
}

bt_result *result_new(bt_status status) {
    bt_result *r = mem_zalloc(sizeof *r);
    if (r) r->status = status;
    return r;
}

char *string_dup(Value v) {
    size_t length;
    if (!value_is_bytes(v)) return NULL;
    const char *bytes = string_bytes(v, &length);
    return text_dup(bytes, length);
}

static char *slot_text(BtVm *vm, Value v) {
    size_t length;
    if (value_is_symbol(v)) {
        const char *text = symbol_text(vm, v, &length);
        return text_dup(text, length);
    }
    return string_dup(v);
}

void result_set_error(bt_result *r, BtVm *vm, Value exception) {
    if (!value_is_kind(exception, KIND_INSTANCE) || object_size(exception) < EXC_SLOTS_END) return;
    Class *c = class_by_id(vm, object_class(exception));
    r->error_class = slot_text(vm, c ? c->name : V_NIL);
    r->error_kind = slot_text(vm, object_at(exception, EXC_KIND));
    r->error_message = slot_text(vm, object_at(exception, EXC_MESSAGE));
    r->error_hint = slot_text(vm, object_at(exception, EXC_HINT));
    r->error_selector = slot_text(vm, object_at(exception, EXC_SELECTOR));
}

void bt_result_free(bt_result *r) {
    if (!r) return;
    char *texts[] = {r->print_string,   r->shown,      r->repl_text,     r->diagnostics,
                     r->error_class,    r->error_kind, r->error_message, r->error_hint,
                     r->error_selector, r->stack,      r->definitions};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) mem_free(texts[i]);
    mem_free(r);
}

bt_status bt_result_status(const bt_result *r) { return r ? r->status : BT_MISUSE; }
const char *bt_result_print_string(const bt_result *r) { return r ? r->print_string : NULL; }
const char *bt_result_shown(const bt_result *r) { return r ? r->shown : NULL; }
const char *bt_result_repl_text(const bt_result *r) { return r ? r->repl_text : NULL; }
const char *bt_result_diagnostics(const bt_result *r) { return r && r->diagnostics ? r->diagnostics : ""; }
const char *bt_result_error_class(const bt_result *r) { return r ? r->error_class : NULL; }
const char *bt_result_error_kind(const bt_result *r) { return r ? r->error_kind : NULL; }
const char *bt_result_error_message(const bt_result *r) { return r ? r->error_message : NULL; }
const char *bt_result_error_hint(const bt_result *r) { return r ? r->error_hint : NULL; }
const char *bt_result_error_selector(const bt_result *r) { return r ? r->error_selector : NULL; }
const char *bt_result_stack(const bt_result *r) { return r && r->stack ? r->stack : ""; }
const char *bt_result_definitions(const bt_result *r) { return r && r->definitions ? r->definitions : ""; }
int bt_result_exit_status(const bt_result *r) { return r ? r->exit_status : 0; }
int bt_result_ran_expressions(const bt_result *r) { return r ? r->ran_expressions : 0; }
