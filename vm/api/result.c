/* What an evaluation answers: plain text fields, owned by the result. */
#include <stdio.h>
#include <stdlib.h>
#include "vm/api/gate.h"
#include "vm/suggest.h"
#include "vm/error.h"
#include "vm/string.h"
#include "vm/text.h"

char *text_dup(const Memory *memory, const char *bytes, size_t length) {
    char *copy = memory_alloc(memory, length + 1);
    if (!copy) return NULL;
    memcpy(copy, bytes, length);
    copy[length] = 0;
    return copy;
}

bt_result *result_new(bt_vm *vm, bt_status status) {
    bt_result *r = memory_zalloc(vm->memory, sizeof *r);
    if (!r) return NULL;
    vm_keep(vm);
    r->vm = vm;
    r->status = status;
    return r;
}

char *string_dup(const Memory *memory, Value v) {
    size_t length;
    if (!value_is_bytes(v)) return NULL;
    const char *bytes = string_bytes(v, &length);
    return text_dup(memory, bytes, length);
}

static char *slot_text(BtVm *vm, Value v) {
    size_t length;
    if (value_is_symbol(v)) {
        const char *text = symbol_text(vm, v, &length);
        return text_dup(vm->memory, text, length);
    }
    return string_dup(vm->memory, v);
}

/* A message that was not understood: what its author may have meant. Looked for here, where somebody reads
 * it, and not where it is raised. */
static void set_hint_of_dnu(bt_result *r, BtVm *vm, Value class_name) {
    Class *c = class_by_name(vm, class_name);
    bool class_side = r->error_hint && !strncmp(r->error_hint, "Class ", 6);
    size_t length = strlen(r->error_selector);
    const char *near = c ? class_similar_selector(vm, c, class_side, r->error_selector, length) : NULL;
    char text[512];
    if (near)
        snprintf(text, sizeof text, "Did you mean '%s'?", near);
    else if (!class_side && c && c->id == CLASS_ID_Result)
        snprintf(text, sizeof text,
                 "A Result holds a value or an error: `unwrap` answers the value, `valueOr:` another one");
    else if (!class_side && c && c->id == CLASS_ID_String && !strcmp(r->error_selector, "+"))
        snprintf(text, sizeof text, "Strings are joined with `++`");
    else
        return;
    char *hint = text_dup(r->vm->memory, text, strlen(text));
    if (!hint) return;
    memory_free(r->vm->memory, r->error_hint);
    r->error_hint = hint;
}

void result_set_own_error(bt_result *r, const char *kind, const char *message, const char *hint) {
    r->error_class = text_dup(r->vm->memory, "RuntimeError", 12);
    r->error_kind = text_dup(r->vm->memory, kind, strlen(kind));
    r->error_message = text_dup(r->vm->memory, message, strlen(message));
    r->error_hint = text_dup(r->vm->memory, hint, strlen(hint));
}

void result_set_refusal(bt_result *r, RanKind kind) {
    if (kind == RAN_TOO_DEEP)
        result_set_own_error(r, "resource_error",
                             "functions of the host wait for evaluations more than 16 deep",
                             "Answer by bt_call_later, or call a block by bt_call_block: neither waits");
    else
        result_set_own_error(r, "unsupported", "a hook or call-back of the VM cannot wait for an evaluation",
                             "Functions of the host may; hooks hand the work to another thread");
}

void result_set_error(bt_result *r, BtVm *vm, Value exception) {
    if (!value_is_kind(exception, KIND_INSTANCE) || object_size(exception) < EXC_SLOTS_END) return;
    Class *c = class_by_id(vm, object_class(exception));
    r->error_class = slot_text(vm, c ? c->name : V_NIL);
    r->error_kind = slot_text(vm, object_at(exception, EXC_KIND));
    r->error_message = slot_text(vm, object_at(exception, EXC_MESSAGE));
    r->error_hint = slot_text(vm, object_at(exception, EXC_HINT));
    r->error_selector = slot_text(vm, object_at(exception, EXC_SELECTOR));
    if (r->error_selector && r->error_kind && !strcmp(r->error_kind, "does_not_understand"))
        set_hint_of_dnu(r, vm, object_at(exception, EXC_ERROR_CLASS));
    Text stack = TEXT_IN(vm->memory);
    trace_append_text(vm, object_at(exception, EXC_TRACE), &stack);
    if (!stack.failed) r->stack = text_dup(r->vm->memory, stack.bytes ? stack.bytes : "", stack.length);
    text_free(&stack);
}

char *definition_names(const Memory *memory, const BcUnit *bc) {
    size_t length = 0;
    for (uint32_t i = 0; i < bc->class_count; i++) length += bc->classes[i].name.length + 1;
    char *text = memory_zalloc(memory, length + 1), *at = text;
    for (uint32_t i = 0; text && i < bc->class_count; i++) {
        if (i) *at++ = ' ';
        memcpy(at, bc->classes[i].name.bytes, bc->classes[i].name.length);
        at += bc->classes[i].name.length;
    }
    return text;
}

static char *copy_of(const bt_result *r, const char *text) {
    return text ? text_dup(r->vm->memory, text, strlen(text)) : NULL;
}

static bt_severity severity_of(DiagSeverity s) {
    return s == DIAG_ERROR ? BT_DIAG_ERROR : s == DIAG_WARNING ? BT_DIAG_WARNING : BT_DIAG_HINT;
}

static void add_diagnostic(bt_result *r, const Diag *d, SourceFile *file) {
    SourcePosition at = file ? source_position(file, d->span.start) : (SourcePosition){0};
    bt_diagnostic item = {.severity = severity_of(d->severity),
                          .line = at.line,
                          .column = at.column,
                          .message = copy_of(r, d->message),
                          .help = copy_of(r, d->help)};
    if (!item.message) {
        memory_free(r->vm->memory, (void *)(uintptr_t)item.help);
        return;
    }
    r->diagnostic_items[r->diagnostic_count++] = item;
    if (d->severity != DIAG_ERROR || r->error_message) return;
    r->error_message = copy_of(r, d->message);
    r->error_hint = copy_of(r, d->help);
}

void result_set_diagnostics(bt_result *r, const DiagList *diags, SourceFile *file) {
    char *text = diag_render_all(diags, file, DIAG_HINT);
    r->diagnostics = copy_of(r, text);
    free(text);
    r->diagnostic_items = memory_zalloc(r->vm->memory, (diags->count + 1) * sizeof *r->diagnostic_items);
    for (uint32_t i = 0; r->diagnostic_items && i < diags->count; i++)
        if (diags->items[i].severity != DIAG_LINT && diags->items[i].message)
            add_diagnostic(r, &diags->items[i], file);
}

void bt_result_free(bt_result *r) {
    if (!r) return;
    for (size_t i = 0; i < r->diagnostic_count; i++) {
        memory_free(r->vm->memory, (void *)(uintptr_t)r->diagnostic_items[i].message);
        memory_free(r->vm->memory, (void *)(uintptr_t)r->diagnostic_items[i].help);
    }
    memory_free(r->vm->memory, r->diagnostic_items);
    if (r->term) shared_term_release(r->vm->core, r->term);
    char *texts[] = {r->value_class, r->print_string,   r->shown,      r->repl_text,
                     r->diagnostics, r->error_class,    r->error_kind, r->error_message,
                     r->error_hint,  r->error_selector, r->stack,      r->definitions};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) memory_free(r->vm->memory, texts[i]);
    bt_vm *vm = r->vm;
    memory_free(vm->memory, r);
    vm_let_go(vm);
}

bt_status bt_result_status(const bt_result *r) { return r ? r->status : BT_MISUSE; }
const char *bt_result_print_string(const bt_result *r) { return r ? r->print_string : NULL; }
const char *bt_result_shown(const bt_result *r) { return r ? r->shown : NULL; }
const char *bt_result_repl_text(const bt_result *r) { return r ? r->repl_text : NULL; }
const char *bt_result_diagnostics(const bt_result *r) { return r && r->diagnostics ? r->diagnostics : ""; }
const char *bt_result_value_class(const bt_result *r) { return r ? r->value_class : NULL; }
int bt_result_diagnostic(const bt_result *r, size_t index, bt_diagnostic *out) {
    if (!r || !out || index >= r->diagnostic_count) return 0;
    *out = r->diagnostic_items[index];
    return 1;
}
const char *bt_result_error_class(const bt_result *r) { return r ? r->error_class : NULL; }
const char *bt_result_error_kind(const bt_result *r) { return r ? r->error_kind : NULL; }
const char *bt_result_error_message(const bt_result *r) { return r ? r->error_message : NULL; }
const char *bt_result_error_hint(const bt_result *r) { return r ? r->error_hint : NULL; }
const char *bt_result_error_selector(const bt_result *r) { return r ? r->error_selector : NULL; }
const char *bt_result_stack(const bt_result *r) { return r && r->stack ? r->stack : ""; }
const char *bt_result_definitions(const bt_result *r) { return r && r->definitions ? r->definitions : ""; }
int bt_result_exit_status(const bt_result *r) { return r ? r->exit_status : 0; }
int bt_result_ran_expressions(const bt_result *r) { return r ? r->ran_expressions : 0; }
