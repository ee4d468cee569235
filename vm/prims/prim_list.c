/* Primitives of List: access, pieces, sums. What sorts or regroups is in prim_list_build.c. */
#include "vm/prims/prim_collection.h"
#include "vm/compare.h"
#include "vm/prims/iolist.h"

#include <stdio.h>

/* --- access --- */

PRIM(prim_list_with_all) {
    (void)count;
    if (!list_is(args[1])) return prim_type_error(p, args[0], "withAll:", "Expected a List argument");
    return answered(args[1], result);
}

PRIM(prim_list_size) {
    (void)count;
    size_t n = list_length(args[0]);
    charge_elements(p, n);
    return answered(value_from_int((int64_t)n), result);
}

PRIM(prim_list_is_empty) {
    (void)p, (void)count;
    return answered(value_from_bool(args[0] == V_EMPTY_LIST), result);
}

PRIM(prim_list_is_not_empty) {
    (void)p, (void)count;
    return answered(value_from_bool(args[0] != V_EMPTY_LIST), result);
}

static PrimStatus empty(Process *p, Value *args, const char *selector) {
    return prim_empty(p, args[0], selector, "guard with `isEmpty` or use `detect:ifNone:`");
}

PRIM(prim_list_first) {
    (void)count;
    return args[0] == V_EMPTY_LIST ? empty(p, args, "first") : answered(CONS_HEAD(args[0]), result);
}

PRIM(prim_list_last) {
    (void)count;
    if (args[0] == V_EMPTY_LIST) return empty(p, args, "last");
    Value list = args[0];
    for (; CONS_TAIL(list) != V_EMPTY_LIST; list = CONS_TAIL(list)) {
    }
    return answered(CONS_HEAD(list), result);
}

PRIM(prim_list_rest) {
    (void)p, (void)count;
    return answered(args[0] == V_EMPTY_LIST ? V_EMPTY_LIST : CONS_TAIL(args[0]), result);
}

PRIM(prim_list_head) {
    (void)p, (void)count;
    return answered(args[0] == V_EMPTY_LIST ? V_NIL : CONS_HEAD(args[0]), result);
}

PRIM(prim_list_at) {
    (void)count;
    int64_t index;
    char hint[80];
    if (!index_from(args[1], &index)) return prim_type_error(p, args[0], "at:", "Index must be an Integer");
    if (index < 1) {
        snprintf(hint, sizeof hint, "Index %lld is out of bounds (must be >= 1)", (long long)index);
        return prim_raise(p, ERR_index_out_of_bounds, args[0], "at:", hint);
    }
    if (args[0] == V_EMPTY_LIST) return empty(p, args, "at:");
    Value list = list_drop(args[0], (size_t)index - 1);
    if (list != V_EMPTY_LIST) return answered(CONS_HEAD(list), result);
    snprintf(hint, sizeof hint, "Index %lld is out of bounds", (long long)index);
    return prim_raise(p, ERR_index_out_of_bounds, args[0], "at:", hint);
}

/* --- adding and joining --- */

PRIM(prim_list_add_first) {
    (void)count;
    return made(list_cons(p, args[1], args[0]), result);
}

PRIM(prim_list_add) {
    (void)count;
    return made(list_append(p, args[0], args[1]), result);
}

PRIM(prim_list_concat) {
    (void)count;
    if (!list_is(args[1]))
        return prim_type_error(p, args[0], "++", "The right operand of ++ must be a List too");
    return made(list_concat(p, args[0], args[1]), result);
}

PRIM(prim_list_reversed) {
    (void)count;
    return made(list_reverse(p, args[0]), result);
}

/* Only of a List that the sender alone knows. */
PRIM(prim_list_turned) {
    (void)count;
    return made(list_turn(p, args[0]), result);
}

/* The receiver's elements, last first, in front of the argument. */
PRIM(prim_list_reversed_onto) {
    (void)count;
    size_t n = list_length(args[0]);
    if (!heap_reserve(p, n * LIST_CELL_WORDS)) return PRIM_RAISE;
    Value onto = args[1];
    for (Value list = args[0]; list != V_EMPTY_LIST; list = CONS_TAIL(list))
        onto = list_cons_reserved(p, CONS_HEAD(list), onto);
    return answered(onto, result);
}

/* --- pieces --- */

static bool count_from(Value v, int64_t *out) { return index_from(v, out) && *out >= 0; }

static PrimStatus no_count(Process *p, Value *args, const char *selector) {
    char hint[256];
    prim_hint_with(p, hint, sizeof hint, "Argument must be a non-negative integer, got: ", args[1]);
    return prim_type_error(p, args[0], selector, hint);
}

PRIM(prim_list_take) {
    (void)count;
    int64_t n;
    if (!count_from(args[1], &n)) return no_count(p, args, "take:");
    return made(list_take(p, args[0], (size_t)n), result);
}

PRIM(prim_list_drop) {
    (void)count;
    int64_t n;
    if (!count_from(args[1], &n)) return no_count(p, args, "drop:");
    return answered(list_drop(args[0], (size_t)n), result);
}

PRIM(prim_list_from_to) {
    (void)count;
    int64_t from, to;
    if (!index_from(args[1], &from) || !index_from(args[2], &to))
        return prim_type_error(p, args[0], "from:to:", "Indexes must be Integers");
    if (from < 1)
        return prim_raise(p, ERR_index_out_of_bounds, args[0], "from:to:", "Start index must be >= 1");
    if (to < from) return answered(V_EMPTY_LIST, result);
    return made(list_take(p, list_drop(args[0], (size_t)from - 1), (size_t)(to - from) + 1), result);
}

/* The cells in front of the argument, which is a tail of the receiver. */
PRIM(prim_list_up_to) {
    (void)count;
    size_t n = 0;
    for (Value list = args[0]; list != args[1] && list != V_EMPTY_LIST; list = CONS_TAIL(list)) n++;
    return made(list_take(p, args[0], n), result);
}

/* The rest that begins with the first element that is =:= x or must be asked whether it equals x. */
PRIM(prim_list_seek) {
    (void)count;
    Value list = args[0], x = args[1];
    size_t n = 0;
    for (; list != V_EMPTY_LIST; list = CONS_TAIL(list), n++)
        if (value_equal_strict(p->vm, CONS_HEAD(list), x) || value_equals_by_message(CONS_HEAD(list))) break;
    charge_elements(p, n);
    return answered(list, result);
}

PRIM(prim_list_join) {
    (void)count;
    Text t = text_for(p);
    if (iolist_append(&t, args[0], IOLIST_BYTES) || t.failed) return text_to_string(p, &t, result);
    text_free(&t);
    return prim_raise(p, ERR_argument_error, args[0], "join", "Elements must be Strings");
}

/* The length of elements and separators where all are byte strings; flags: what holds of all of them. */
static bool measure(const Value *args, size_t *total, unsigned *flags) {
    size_t pieces = 0, length = 0;
    unsigned all = STRING_SIMPLE | STRING_UTF8_KNOWN | STRING_UTF8_VALID;
    if (!value_is_bytes(args[1])) return false;
    Value list = args[0];
    for (; value_is_kind(list, KIND_CONS); list = CONS_TAIL(list), pieces++) {
        Value piece = CONS_HEAD(list);
        if (!value_is_bytes(piece)) return false;
        length += string_length(piece);
        if (length > STRING_MAX_BYTES) return false;
        all &= string_flags(piece);
    }
    if (list != V_EMPTY_LIST) return false;
    if (pieces > 1) all &= string_flags(args[1]);
    if (pieces > 1 && string_length(args[1]) > (STRING_MAX_BYTES - length) / (pieces - 1)) return false;
    *total = length + (pieces > 1 ? (pieces - 1) * string_length(args[1]) : 0);
    *flags = all;
    return true;
}

static char *put_bytes(char *to, Value piece) {
    size_t length;
    const char *bytes = string_bytes(piece, &length);
    memcpy(to, bytes, length);
    return to + length;
}

/* The usual case: the place is made once, and what holds of all pieces holds of the whole. */
static PrimStatus join_strings(Process *p, const Value *args, size_t total, unsigned flags, Value *result) {
    char *to;
    PrimStatus status = string_new_blank(p, total, &to, result);
    if (status != PRIM_OK) return status;
    for (Value list = args[0]; list != V_EMPTY_LIST; list = CONS_TAIL(list)) {
        if (list != args[0]) to = put_bytes(to, args[1]);
        to = put_bytes(to, CONS_HEAD(list));
    }
    if (flags & STRING_UTF8_VALID)
        string_seal_as(*result, flags);
    else
        string_seal(*result);
    return PRIM_OK;
}

PRIM(prim_list_join_with) {
    (void)count;
    size_t total;
    unsigned flags;
    size_t most = text_for(p).most;
    if (measure(args, &total, &flags) && total > STRING_INLINE_MAX && (!most || total <= most))
        return join_strings(p, args, total, flags, result);
    Text t = text_for(p);
    bool ok = true;
    for (Value list = args[0]; ok && list != V_EMPTY_LIST; list = CONS_TAIL(list)) {
        if (list != args[0]) ok = iolist_append(&t, args[1], IOLIST_BYTES);
        ok = ok && iolist_append(&t, CONS_HEAD(list), IOLIST_BYTES);
    }
    if (ok || t.failed) return text_to_string(p, &t, result);
    text_free(&t);
    return prim_raise(p, ERR_argument_error, args[0], "join:", "Elements and separator must be Strings");
}

/* --- sums: the cursor is the receiver's own register, which is a root --- */

static PrimStatus sum_of(Process *p, Value *args, Value *sum) {
    *sum = value_from_int(0);
    size_t n = 0;
    for (; args[0] != V_EMPTY_LIST; args[0] = CONS_TAIL(args[0]), n++) {
        Value x = CONS_HEAD(args[0]);
        int64_t total;
        if (value_is_int(x) && value_is_int(*sum) &&
            (total = value_to_int(*sum) + value_to_int(x), int_fits_small(total))) {
            *sum = value_from_int(total);
        } else {
            Value out;
            PrimStatus status = number_add(p, *sum, x, &out);
            if (status != PRIM_OK) return status;
            *sum = out;
        }
    }
    charge_elements(p, n);
    return PRIM_OK;
}

PRIM(prim_list_sum) {
    (void)count;
    return sum_of(p, args, result);
}

static PrimStatus empty_for(Process *p, const char *selector) {
    char hint[80];
    snprintf(hint, sizeof hint, "Cannot compute %s of an empty collection", selector);
    return error_raise(p, ERR_empty_collection, collection_symbol(p), prim_selector(p, selector), NULL, hint,
                       V_NIL);
}

PRIM(prim_list_average) {
    (void)count;
    if (args[0] == V_EMPTY_LIST) return empty_for(p, "average");
    int64_t n = (int64_t)list_length(args[0]);
    Value sum;
    PrimStatus status = sum_of(p, args, &sum);
    return status == PRIM_OK ? number_div(p, sum, value_from_int(n), result) : status;
}

/* sign: 1 for the largest, -1 for the smallest; the first of equals wins. */
static PrimStatus extreme(Process *p, Value *args, int sign, const char *selector, Value *result) {
    if (args[0] == V_EMPTY_LIST) return empty_for(p, selector);
    Value best = CONS_HEAD(args[0]);
    for (Value list = CONS_TAIL(args[0]); list != V_EMPTY_LIST; list = CONS_TAIL(list))
        if (value_compare(p->vm, CONS_HEAD(list), best) * sign > 0) best = CONS_HEAD(list);
    return answered(best, result);
}

PRIM(prim_list_max) {
    (void)count;
    return extreme(p, args, 1, "max", result);
}

PRIM(prim_list_min) {
    (void)count;
    return extreme(p, args, -1, "min", result);
}
