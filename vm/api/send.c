/* Messages from the host: to a class by its name, to any value, and casts. */
#include "vm/api/evaluation.h"
#include "vm/api/gate.h"
#include "vm/api/value.h"
#include "vm/class.h"
#include "vm/list.h"
#include "vm/sched.h"
#include "vm/string.h"

static bool find_class_value(BtVm *vm, const char *name, Value *out) {
    Value symbol = symbol_lookup(vm, name, strlen(name));
    Class *c = symbol == V_HOLE ? NULL : class_by_name(vm, symbol);
    if (c) *out = value_from_class(c->id);
    return c != NULL;
}

int bt_vm_class_responds(bt_vm *vm, const char *class_name, const char *selector) {
    Value class_value;
    if (!vm || !class_name || !selector || !find_class_value(vm->core, class_name, &class_value)) return 0;
    Value symbol = symbol_lookup(vm->core, selector, strlen(selector));
    if (symbol == V_HOLE) return 0;
    Method *m = class_lookup(vm->core, special_payload(class_value) | DISPATCH_META, symbol);
    return m && m->class_side && !(m->owner->flags & CLASS_STDLIB);
}

/* The arguments as a List of Strings, in one block of native words. */
static uint64_t *argument_list(const Memory *memory, const char *const *arguments, size_t count,
                               Value *list) {
    size_t words = 0;
    for (size_t i = 0; i < count; i++) words += 3 + string_inline_words(strlen(arguments[i]));
    uint64_t *block = memory_zalloc(memory, (words + 1) * sizeof *block), *at = block;
    *list = V_EMPTY_LIST;
    for (size_t i = count; block && i-- > 0;) {
        size_t length = strlen(arguments[i]);
        Value text = string_make_literal(at, arguments[i], length);
        at[0] &= ~header_make(0, (ObjectKind)0, OBJ_LITERAL, 0); /* the block goes: a copy must be made */
        at += string_inline_words(length);
        at[0] = header_make(CLASS_ID_List, KIND_CONS, 0, 3);
        at[1] = text;
        at[2] = *list;
        *list = value_from_object(at);
        at += 3;
    }
    return block;
}

/* The session is ours; the arguments lie where nothing moves them. */
static bt_status send_in(Evaluation *e, Value receiver, Value selector, const Value *args, unsigned argc) {
    BtVm *vm = e->vm->core;
    RunLimits limits = evaluation_limits(e);
    Kept answer;
    RanKind kind = run_process(vm, &limits, receiver, selector, args, argc, &answer);
    bt_status status = evaluation_status(e, kind, &answer);
    if (status == BT_OK) evaluation_answer(e, &answer, answer.value);
    kept_free(vm, &answer);
    return status;
}

static bool all_given(const char *const *arguments, size_t count) {
    if (!arguments && count) return false;
    for (size_t i = 0; i < count; i++)
        if (!arguments[i]) return false;
    return true;
}

static bt_status send_class_inside(bt_session *session, const char *class_name, const char *selector,
                                   const char *const *arguments, size_t count, const bt_eval_options *options,
                                   bt_result **result) {
    BtVm *vm = session->vm->core;
    Value class_value, list = V_EMPTY_LIST;
    if (!find_class_value(vm, class_name, &class_value)) return BT_MISUSE;
    Value symbol = symbol_intern(vm, selector, strlen(selector));
    if (symbol == V_HOLE) return BT_NO_MEMORY;
    if (symbol_arity(vm, symbol) > 1) return BT_MISUSE;
    uint64_t *block = argument_list(vm->memory, arguments, count, &list);
    Evaluation e;
    bt_status status = block ? evaluation_begin(&e, session, options, result) : BT_NO_MEMORY;
    if (status != BT_OK) return memory_free(vm->memory, block), status;
    status = send_in(&e, class_value, symbol, &list, symbol_arity(vm, symbol));
    memory_free(vm->memory, block);
    return evaluation_end(&e, status, result);
}

bt_status bt_vm_send_class(bt_session *session, const char *class_name, const char *selector,
                           const char *const *arguments, size_t count, const bt_eval_options *options,
                           bt_result **result) {
    if (!result) return BT_MISUSE;
    *result = NULL;
    if (!session || !class_name || !selector || !all_given(arguments, count)) return BT_MISUSE;
    if (!gate_enter(session->vm)) return evaluation_refused(session->vm, result);
    bt_status status = send_class_inside(session, class_name, selector, arguments, count, options, result);
    gate_leave(session->vm);
    return status;
}

bt_status read_message(bt_vm *vm, const char *text, bt_value *const *arguments, size_t count, Value *selector,
                       Value **values) {
    if (count > BC_MAX_ARGS || (count && !arguments)) return BT_MISUSE;
    for (size_t i = 0; i < count; i++)
        if (!handle_is_of(arguments[i], vm)) return BT_MISUSE;
    *selector = symbol_intern(vm->core, text, strlen(text));
    *values = *selector == V_HOLE ? NULL : memory_alloc(vm->memory, (count + 1) * sizeof **values);
    if (!*values) return BT_NO_MEMORY;
    for (size_t i = 0; i < count; i++) (*values)[i] = arguments[i]->value;
    if (symbol_arity(vm->core, *selector) == count) return BT_OK;
    memory_free(vm->memory, *values);
    *values = NULL;
    return BT_MISUSE;
}

static bt_status send_inside(bt_session *session, const bt_value *receiver, const char *selector,
                             bt_value *const *arguments, size_t count, const bt_eval_options *options,
                             bt_result **result) {
    Value symbol, *values;
    bt_status status = read_message(session->vm, selector, arguments, count, &symbol, &values);
    if (status != BT_OK) return status;
    Evaluation e;
    if ((status = evaluation_begin(&e, session, options, result)) != BT_OK)
        return memory_free(session->vm->memory, values), status;
    status = send_in(&e, receiver->value, symbol, values, (unsigned)count);
    memory_free(session->vm->memory, values);
    return evaluation_end(&e, status, result);
}

bt_status bt_send(bt_session *session, const bt_value *receiver, const char *selector,
                  bt_value *const *arguments, size_t count, const bt_eval_options *options,
                  bt_result **result) {
    if (!result) return BT_MISUSE;
    *result = NULL;
    if (!session || !selector || !handle_is_of(receiver, session->vm)) return BT_MISUSE;
    if (!gate_enter(session->vm)) return evaluation_refused(session->vm, result);
    bt_status status = send_inside(session, receiver, selector, arguments, count, options, result);
    gate_leave(session->vm);
    return status;
}

bt_status bt_cast(bt_vm *vm, const bt_value *actor, const char *selector, bt_value *const *arguments,
                  size_t count) {
    if (!vm || !selector || !handle_is_of(actor, vm) || bt_value_kind(actor) != BT_KIND_ACTOR)
        return BT_MISUSE;
    if (!gate_enter(vm)) return BT_EXIT;
    Value symbol, *values = NULL;
    bt_status status = read_message(vm, selector, arguments, count, &symbol, &values);
    if (status == BT_OK && !cast_from_host(vm->core, actor->value, symbol, values, (unsigned)count))
        status = BT_NO_MEMORY;
    memory_free(vm->memory, values);
    gate_leave(vm);
    return status;
}
