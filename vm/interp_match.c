/* Patterns: parts, sizes and type tests of match: arms, and the reads of destructuring assignment (semantics
 * 13). Arms never raise: a part that is not there is the hole. */
#include <stdio.h>
#include "vm/array.h"
#include "vm/dict.h"
#include "vm/interp_internal.h"
#include "vm/list.h"
#include "vm/text.h"
#include "vm/print.h"
#include "vm/tuple.h"

/* ORDER PATGET, PATSIZE, PATREST, DESTRUCT: operand f. */
enum { PART_TUPLE, PART_ARRAY, PART_DICT, PART_CONSTRUCTOR, SIZE_LIST = 3, REST_LIST = 3 };

static bool name_is(BtVm *vm, Value symbol, const char *text) {
    return strcmp(symbol_text(vm, symbol, NULL), text) == 0;
}

/* Class test of type patterns: nil, true and false are no Symbols; leaf classes, so inheritance only matters
 * for Boolean and its like. */
NOINLINE void match_typetest(Process *p, Value *r, Instr i) {
    Value v = r[instr_b(i)], name = p->frame->fn->sites[instr_c(i)].name;
    Class *c = class_by_name(p->vm, name);
    bool is = false;
    if (!c)
        is = name_is(p->vm, name, "Nil") && v == V_NIL;
    else if (value_is_class(v) || value_is_meta(v))
        is = class_id_inherits(p->vm, value_is_meta(v) ? CLASS_ID_Metaclass : CLASS_ID_Class, c->id);
    else
        is = class_id_inherits(p->vm, dispatch_class_of(v), c->id);
    r[instr_a(i)] = value_from_bool(is);
}

/* 0-based index of a 1-based one, or SIZE_MAX. */
static size_t part_index(Value v, size_t size) {
    if (!value_is_int(v) || value_to_int(v) < 1 || (uint64_t)value_to_int(v) > size) return SIZE_MAX;
    return (size_t)value_to_int(v) - 1;
}

static Value named_slot(Process *p, Value instance, const char *name) {
    Class *c = class_by_id(p->vm, object_class(instance));
    Value symbol = symbol_lookup(p->vm, name, strlen(name));
    for (uint32_t i = 0; c && i < c->field_count; i++)
        if (c->field_names[i] == symbol && class_field_slot(c, i) + 1 < object_size(instance))
            return object_at(instance, class_field_slot(c, i) + 1);
    return V_HOLE;
}

/* `Result ok: p` and `Result error: p`: the part named by a symbol, ok or error (with or without colon), if
 * the Result is of that side. */
static Value result_part(Process *p, Value v, Value part) {
    if (!value_is_kind(v, KIND_INSTANCE) || object_class(v) != CLASS_ID_Result || !value_is_symbol(part))
        return V_HOLE;
    bool wants_ok = name_is(p->vm, part, "ok") || name_is(p->vm, part, "ok:");
    if (named_slot(p, v, "isOk") != value_from_bool(wants_ok)) return V_HOLE;
    return named_slot(p, v, wants_ok ? "okValue" : "errReason");
}

NOINLINE PrimStatus match_get(Process *p, Value *r, Instr i) {
    Value v = r[instr_b(i)], part = r[instr_c(i)], *out = &r[instr_a(i)];
    size_t at;
    *out = V_HOLE;
    switch (instr_f(i)) {
    case PART_TUPLE:
        if (tuple_is(v) && (at = part_index(part, tuple_size(v))) != SIZE_MAX) *out = tuple_at(v, at);
        break;
    case PART_ARRAY:
        if (array_is(v) && (at = part_index(part, array_size(v))) != SIZE_MAX) *out = array_at(v, at);
        break;
    case PART_DICT:
        if (dict_is(v)) *out = dict_get(p->vm, v, part);
        break;
    default: *out = result_part(p, v, part);
    }
    return PRIM_OK;
}

NOINLINE void match_size(Process *p, Value *r, Instr i) {
    (void)p;
    Value v = r[instr_b(i)];
    int64_t size = -1;
    switch (instr_f(i)) {
    case PART_TUPLE: size = tuple_is(v) ? (int64_t)tuple_size(v) : -1; break;
    case PART_ARRAY: size = array_is(v) ? (int64_t)array_size(v) : -1; break;
    case PART_DICT: size = dict_is(v) ? (int64_t)dict_size(v) : -1; break;
    default: size = list_is(v) ? (int64_t)list_length(v) : -1;
    }
    r[instr_a(i)] = value_from_int(size);
}

static PrimStatus rest_of(Process *p, Value v, size_t index, Value *out) {
    Value rest = list_is(v) ? list_drop(v, index) : array_slice_from(p, v, index);
    return rest == V_HOLE ? PRIM_RAISE : (*out = rest, PRIM_OK);
}

NOINLINE PrimStatus match_rest(Process *p, Value *r, Instr i) {
    Value v = r[instr_b(i)], from = r[instr_c(i)];
    if ((!list_is(v) && !array_is(v)) || !value_is_int(from) || value_to_int(from) < 1)
        return error_argument(p, v, V_NIL, NULL);
    return rest_of(p, v, (size_t)value_to_int(from) - 1, &r[instr_a(i)]);
}

/* ---- destructuring ---- */

static PrimStatus out_of_bounds(Process *p, Value v, size_t index) {
    char hint[80];
    snprintf(hint, sizeof hint, "Index %zu is out of bounds", index);
    size_t size = list_is(v) ? list_length(v) : array_size(v);
    Value at = symbol_intern(p->vm, "at:", 3);
    return error_raise(p, size ? ERR_index_out_of_bounds : ERR_empty_collection, class_name_of(p->vm, v), at,
                       NULL, hint, V_NIL);
}

static PrimStatus destruct_index(Process *p, Value v, size_t index, Value *out) {
    if (list_is(v)) {
        Value cell = list_drop(v, index - 1);
        if (cell == V_EMPTY_LIST) return out_of_bounds(p, v, index);
        *out = CONS_HEAD(cell);
        return PRIM_OK;
    }
    if (!array_is(v)) return error_argument(p, v, V_NIL, NULL);
    if (index > array_size(v)) return out_of_bounds(p, v, index);
    *out = array_at(v, index - 1);
    return PRIM_OK;
}

static PrimStatus destruct_key(Process *p, Value dict, Value key, Value *out) {
    if (!dict_is(dict)) {
        return error_raise(p, ERR_type_error, V_NIL, V_NIL, "expected a Dictionary but got a non-map value",
                           "only Dictionary values understand this message", V_NIL);
    }
    *out = dict_get(p->vm, dict, key);
    if (*out != V_HOLE) return PRIM_OK;
    *out = V_NIL;
    Text t = text_for(p);
    text_append_cstring(&t, "key not found: ");
    print_value(p->vm, &t, key, PRINT_STRING, V_EMPTY_LIST);
    PrimStatus status =
        error_raisef(p, ERR_key_error, V_NIL, V_NIL, "use `includesKey:` first or `at:ifAbsent:`", "%.*s",
                     (int)t.length, t.bytes ? t.bytes : "");
    text_free(&t);
    return status;
}

/* Tuples: f 0 with c = the element; the size must be that of the pattern, which PATSIZE has compared. */
NOINLINE PrimStatus match_destruct(Process *p, Value *r, Instr i) {
    Value v = r[instr_b(i)], *out = &r[instr_a(i)];
    unsigned index = instr_c(i);
    switch (instr_f(i)) {
    case PART_TUPLE:
        if (!tuple_is(v)) return error_argument(p, v, V_NIL, NULL);
        if (index < 1 || index > tuple_size(v)) return raise_match_failure(p, v, true);
        return *out = tuple_at(v, index - 1), PRIM_OK;
    case PART_DICT: return destruct_key(p, v, index < p->frame->fn->register_count ? r[index] : V_NIL, out);
    default: return index < 1 ? raise_match_failure(p, v, true) : destruct_index(p, v, index, out);
    }
}
