/* Primitives of ProtoObject and Object: identity, equality, dynamic sends, making instances, fields,
 * printing. */
#include "vm/class_internal.h"
#include "vm/compare.h"
#include "vm/dict.h"
#include "vm/hash.h"
#include "vm/list.h"
#include "vm/print.h"
#include "vm/prims/prim_support.h"

PRIM(prim_object_eq) {
    return (void)count, *result = value_from_bool(value_equal(p->vm, args[0], args[1])), PRIM_OK;
}
PRIM(prim_object_ne) {
    return (void)count, *result = value_from_bool(!value_equal(p->vm, args[0], args[1])), PRIM_OK;
}
PRIM(prim_object_seq) {
    return (void)count, *result = value_from_bool(value_equal_strict(p->vm, args[0], args[1])), PRIM_OK;
}
PRIM(prim_object_sne) {
    return (void)count, *result = value_from_bool(!value_equal_strict(p->vm, args[0], args[1])), PRIM_OK;
}
PRIM(prim_object_class) { return (void)count, *result = class_value_of(p->vm, args[0]), PRIM_OK; }
PRIM(prim_object_hash) {
    return (void)count, *result = value_from_int(value_public_hash(p->vm, args[0])), PRIM_OK;
}

/* ---- dynamic sends ---- */

PRIM(prim_object_dnu) {
    (void)count, (void)result;
    if (!value_is_symbol(args[1]))
        return error_type(p, args[0], SYMBOL(doesNotUnderstand), "The selector must be a Symbol");
    return error_dnu(p, args[0], args[1], NULL);
}

static PrimStatus bad_perform(Process *p, Value receiver, Value selector, bool timeout) {
    return error_type(
        p, receiver, selector,
        timeout ? "Expected atom selector, list of arguments, and non-negative integer or #infinity timeout"
                : "Expected atom selector and list of arguments");
}

/* A block reached through perform: with another number of arguments than it takes, or one that writes locals
 * (semantics 4). */
static bool block_cannot_be_performed(Value receiver, Value selector, size_t argc) {
    if (!value_is_kind(receiver, KIND_CLOSURE) || !selector_is_value_family(selector)) return false;
    const Function *fn = closure_function(receiver);
    return fn->param_count != argc || (fn->flags & FN_WRITES_OUTER);
}

static PrimStatus perform_list(Process *p, Value receiver, Value selector, Value list) {
    size_t argc = list_length(list);
    if (block_cannot_be_performed(receiver, selector, argc))
        return error_raise(p, ERR_stateful_block_dispatch, class_name_of(p->vm, receiver), selector, NULL,
                           NULL, V_NIL);
    if (argc > PRIM_SEND_MAX) return error_dnu(p, receiver, selector, NULL);
    Value values[PRIM_SEND_MAX];
    for (size_t i = 0; i < argc; i++, list = CONS_TAIL(list)) values[i] = CONS_HEAD(list);
    return prim_send(p, receiver, selector, values, (unsigned)argc);
}

PRIM(prim_object_perform) {
    (void)count, (void)result;
    if (!value_is_symbol(args[1])) return bad_perform(p, args[0], SYMBOL(perform), false);
    return perform_list(p, args[0], args[1], V_EMPTY_LIST);
}

PRIM(prim_object_perform_with) {
    (void)count, (void)result;
    if (!value_is_symbol(args[1]) || !list_is(args[2]))
        return bad_perform(p, args[0], SYMBOL(performWith), false);
    return perform_list(p, args[0], args[1], args[2]);
}

/* The limit counts for another process's actor only; everything else is an ordinary send. */
PRIM(prim_object_perform_timeout) {
    (void)result;
    Value limit = args[3];
    bool sound = limit == SYMBOL(infinity) || (value_is_int(limit) && value_to_int(limit) >= 0);
    if (!value_is_symbol(args[1]) || !list_is(args[2]) || !sound)
        return bad_perform(p, args[0], SYMBOL(performWith), true);
    (void)count;
    PrimStatus status = perform_list(p, args[0], args[1], args[2]);
    if (status == PRIM_SEND)
        p->send->timeout_us = limit == SYMBOL(infinity)                ? -1
                              : value_to_int(limit) > INT64_MAX / 2000 ? -1
                                                                       : value_to_int(limit) * 1000;
    if (status == PRIM_SEND) p->send->has_timeout = true;
    return status;
}

/* ---- making instances ---- */

PRIM(prim_object_defaults) {
    (void)args, (void)count;
    if (!heap_reserve(p, 1)) return PRIM_RAISE;
    *result = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, 1);
    return PRIM_OK;
}

static const uint32_t PRIMITIVE_CLASSES[] = {
    CLASS_ID_Integer,    CLASS_ID_Float,          CLASS_ID_Character,      CLASS_ID_Binary, CLASS_ID_String,
    CLASS_ID_Symbol,     CLASS_ID_Block,          CLASS_ID_True,           CLASS_ID_False,  CLASS_ID_Pid,
    CLASS_ID_Reference,  CLASS_ID_List,           CLASS_ID_CompiledMethod, CLASS_ID_Array,  CLASS_ID_Tuple,
    CLASS_ID_Dictionary, CLASS_ID_UndefinedObject};

static bool class_is_primitive(uint32_t id) {
    for (size_t i = 0; i < sizeof PRIMITIVE_CLASSES / sizeof *PRIMITIVE_CLASSES; i++)
        if (PRIMITIVE_CLASSES[i] == id) return true;
    return false;
}

/* PRIM_FAIL: go on with the Beamtalk body. */
static PrimStatus check_instantiable(Process *p, Value receiver, Value selector) {
    Class *c = value_is_class(receiver) ? class_by_id(p->vm, special_payload(receiver)) : NULL;
    if (!c) return error_dnu(p, receiver, selector, NULL);
    if (c->flags & CLASS_ABSTRACT)
        return error_raise(p, ERR_instantiation_error, c->name, selector, NULL,
                           "Abstract classes cannot be instantiated. Subclass it first.", V_NIL);
    if (c->kind == BC_KIND_ACTOR)
        return error_raise(p, ERR_instantiation_error, c->name, selector, NULL, "Use spawn instead", V_NIL);
    if (class_is_primitive(c->id)) {
        char hint[160];
        snprintf(hint, sizeof hint, "%s is a primitive type and cannot be instantiated with new",
                 symbol_text(p->vm, c->name, NULL));
        return error_raise(p, ERR_instantiation_error, c->name, selector, NULL, hint, V_NIL);
    }
    return PRIM_FAIL;
}

static const Class *class_of_receiver(const Process *p, Value receiver) {
    return value_is_class(receiver) ? class_at(p->vm->classes, special_payload(receiver)) : NULL;
}

/* An instance of a value class with the slots given, which are immediates, literals or roots. */
static inline PrimStatus instance_of(Process *p, const Class *c, const Value *slots, Value *result) {
    uint32_t fields = c->field_count;
    if (!heap_reserve(p, 1 + fields)) return PRIM_RAISE;
    Value made = heap_new(p, KIND_INSTANCE, c->id, 1 + fields);
    for (uint32_t i = 0; i < fields; i++) object_words(made)[1 + i] = slots[i];
    *result = made;
    return PRIM_OK;
}

PRIM(prim_object_new) {
    (void)count;
    const Class *c = class_of_receiver(p, args[0]);
    if (c && c->literal_slots && !(c->flags & CLASS_ABSTRACT))
        return instance_of(p, c, c->literal_slots, result);
    return check_instantiable(p, args[0], SYMBOL(new));
}

/* The keyword constructor of a value class, all of whose slots are among the arguments. */
PRIM(prim_value_construct) {
    const Class *c = class_of_receiver(p, args[0]);
    if (!c || c->kind != BC_KIND_VALUE || c->field_count != count || c->field_slot) return PRIM_FAIL;
    if (c->flags & CLASS_ABSTRACT) return check_instantiable(p, args[0], SYMBOL(new));
    return instance_of(p, c, args + 1, result);
}

PRIM(prim_object_new_with) {
    (void)count, (void)result;
    PrimStatus status = check_instantiable(p, args[0], SYMBOL(new_));
    if (status == PRIM_FAIL && !dict_is(args[1]))
        return error_type(p, args[0], SYMBOL(new_), "new: expects a Dictionary argument");
    return status;
}

/* Exceptions have the VM's slots before their own fields. */
static size_t hidden_slots(BtVm *vm, uint32_t class_id) {
    return class_id_inherits(vm, class_id, CLASS_ID_Exception) ? EXC_SLOTS_END - 1 : 0;
}

/* From the values of the fields, in their order. */
static PrimStatus make_instance(Process *p, const Class *c, Value *args, Value *result) {
    bool ordered = !c || !c->field_slot;
    uint32_t id = special_payload(args[0]);
    size_t hidden = hidden_slots(p->vm, id), fields = object_size(args[1]) - 1;
    size_t slots = ordered ? fields : c->slot_count;
    if (!heap_reserve(p, 1 + hidden + slots)) return PRIM_RAISE;
    Value made = heap_new(p, KIND_INSTANCE, id, 1 + hidden + slots);
    uint64_t *own = object_words(made) + 1 + hidden;
    for (size_t i = 0; i < hidden; i++) object_words(made)[1 + i] = V_NIL;
    for (size_t i = 0; i < slots; i++) own[i] = ordered ? object_at(args[1], 1 + i) : V_NIL;
    for (uint32_t i = 0; !ordered && i < fields && i < c->field_count; i++)
        own[c->field_slot[i]] = object_at(args[1], 1 + i);
    *result = made;
    return PRIM_OK;
}

PRIM(prim_object_make) {
    (void)count;
    if (!value_is_class(args[0]) || !value_is_kind(args[1], KIND_TUPLE))
        return error_argument(p, args[0], SYMBOL(new), NULL);
    const Class *c = class_by_id(p->vm, special_payload(args[0]));
    if (c && (c->flags & CLASS_ABSTRACT)) return check_instantiable(p, args[0], SYMBOL(new));
    return make_instance(p, c, args, result);
}

PRIM(prim_object_make_with) {
    if (!dict_is(args[2])) return error_type(p, args[0], SYMBOL(new_), "new: expects a Dictionary argument");
    PrimStatus status = prim_object_make(p, args, count, result);
    if (status != PRIM_OK) return status;
    Class *c = class_by_id(p->vm, special_payload(args[0]));
    size_t hidden = hidden_slots(p->vm, c->id);
    for (uint32_t i = 0; i < c->field_count; i++) {
        Value v = dict_get(p->vm, args[2], c->field_names[i]);
        size_t word = 1 + hidden + class_field_slot(c, i);
        if (v != V_HOLE && word < object_size(*result)) object_words(*result)[word] = v;
    }
    return PRIM_OK;
}

/* Primitives because a method that only answers would need a frame. */
PRIM(prim_object_is_nil) {
    return (void)p, (void)count, *result = value_from_bool(args[0] == V_NIL), PRIM_OK;
}
PRIM(prim_object_not_nil) {
    return (void)p, (void)count, *result = value_from_bool(args[0] != V_NIL), PRIM_OK;
}

/* ---- fields ---- */

static Class *instance_class(Process *p, Value v) {
    if (value_is_kind(v, KIND_INSTANCE) || value_is_kind(v, KIND_ACTOR_REF))
        return class_by_id(p->vm, object_class(v));
    return NULL;
}

PRIM(prim_object_field_names) {
    (void)count;
    if (value_is_class(args[0]) || value_is_meta(args[0]))
        return prim_send(p, args[0], symbol_intern(p->vm, "allFieldNames", 13), NULL, 0);
    Class *c = instance_class(p, args[0]);
    return list_of_immediates(p, c ? c->field_names : NULL, c ? c->field_count : 0, result);
}

static PrimStatus immutable(Process *p, Value receiver, const char *selector, const char *hint) {
    return error_raise(p, ERR_immutable_value, class_name_of(p->vm, receiver),
                       symbol_intern(p->vm, selector, strlen(selector)), NULL, hint, V_NIL);
}

static bool is_own_actor(Process *p, Value v) {
    return value_is_kind(v, KIND_ACTOR_REF) && p->role == PROC_ACTOR && object_at(v, 1) == p->pid &&
           p->state_layout;
}

PRIM(prim_object_field_at) {
    (void)count;
    Value v = args[0];
    if (is_own_actor(p, v)) {
        int slot = slot_layout_find(p->state_layout, args[1]);
        *result = slot < 0 ? V_NIL : object_at(p->state, (size_t)slot + 1);
        return PRIM_OK;
    }
    Class *c = instance_class(p, v);
    if (!c || c->field_count == 0)
        return immutable(p, v, "fieldAt:", "Value types have no instance variables");
    *result = V_NIL;
    size_t hidden = hidden_slots(p->vm, c->id);
    for (uint32_t i = 0; i < c->field_count; i++) {
        size_t word = 1 + hidden + class_field_slot(c, i);
        if (c->field_names[i] == args[1] && word < object_size(v)) *result = object_at(v, word);
    }
    return PRIM_OK;
}

PRIM(prim_object_field_at_put) {
    (void)count;
    if (!is_own_actor(p, args[0]))
        return immutable(p, args[0], "fieldAt:put:",
                         "Cannot modify slot on value type — use withSlot: to create a new instance");
    int slot = slot_layout_find(p->state_layout, args[1]);
    if (slot < 0)
        return error_argument(p, args[0], symbol_intern(p->vm, "fieldAt:put:", 12), "No such field");
    if (!record_write(p, &p->state, (size_t)slot, args[2])) return PRIM_RAISE;
    *result = args[2];
    return PRIM_OK;
}

/* ---- reflection, errors, printing ---- */

PRIM(prim_object_responds_to) {
    (void)count;
    if (!value_is_symbol(args[1])) {
        Value selector = symbol_intern(p->vm, "respondsTo:", 11);
        return error_type(p, args[0], selector, "The selector must be a Symbol");
    }
    *result = value_from_bool(selector_lookup(p, args[1], dispatch_class_of(args[0])) != NULL);
    return PRIM_OK;
}

PRIM(prim_object_error) {
    (void)count, (void)result;
    if (!value_is_bytes(args[1])) {
        PrimStatus status = value_is_symbol(args[1]) ? value_display_string(p, args[1], &args[1])
                                                     : value_print_string(p, args[1], &args[1]);
        if (status != PRIM_OK) return status;
    }
    return error_raise_message(p, ERR_user_error, class_name_of(p->vm, args[0]), args[1]);
}

/* PRIM_FAIL when a value inside has a printString of its own: the library asks those and renders then. */
PRIM(prim_object_print_string) {
    (void)count;
    Value customs;
    PrimStatus status = print_collect_customs(p, args[0], PRINT_STRING, &customs);
    if (status != PRIM_OK) return status;
    if (customs != V_EMPTY_LIST) return PRIM_FAIL;
    return value_print_string(p, args[0], result);
}

PRIM(prim_object_customs) { return (void)count, print_collect_customs(p, args[0], PRINT_STRING, result); }
PRIM(prim_object_render) { return (void)count, value_render(p, args[0], PRINT_STRING, args[1], result); }
