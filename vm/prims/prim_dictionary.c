/* Primitives of Dictionary and Set. */
#include "vm/dict.h"
#include "vm/prims/prim_collection.h"

PRIM(prim_dictionary_new) {
    (void)count;
    if (!dict_is(args[1])) return prim_type_error(p, args[0], "new:", "new: expects a Dictionary argument");
    return answered(args[1], result);
}

/* From two Lists of the same length. */
PRIM(prim_dictionary_from_lists) {
    (void)count;
    size_t n = list_is(args[1]) ? list_length(args[1]) : 0;
    if (!list_is(args[1]) || !list_is(args[2]) || list_length(args[2]) != n)
        return error_argument(p, args[0], V_NIL, NULL);
    RootedBuffer b;
    if (!rooted_open(p, &b, 2 * n)) return PRIM_RAISE;
    Value keys = args[1], values = args[2];
    for (size_t i = 0; i < n; i++, keys = CONS_TAIL(keys), values = CONS_TAIL(values)) {
        b.items[i] = CONS_HEAD(keys);
        b.items[n + i] = CONS_HEAD(values);
    }
    Value dict = dict_from_entries(p, b.items, b.items + n, n);
    rooted_close(p, &b);
    charge_elements(p, 8 * n);
    return made(dict, result);
}

PRIM(prim_dictionary_size) {
    (void)p, (void)count;
    return answered(value_from_int((int64_t)dict_size(args[0])), result);
}

PRIM(prim_dictionary_keys) {
    (void)count;
    charge_elements(p, dict_size(args[0]));
    return made(dict_keys(p, args[0]), result);
}

PRIM(prim_dictionary_values) {
    (void)count;
    charge_elements(p, dict_size(args[0]));
    return made(dict_values(p, args[0]), result);
}

/* A miss is raised by the Beamtalk code behind, which can print any key. */
PRIM(prim_dictionary_at) {
    (void)count;
    Value found = dict_get(p->vm, args[0], args[1]);
    return found == V_HOLE ? PRIM_FAIL : answered(found, result);
}

PRIM(prim_dictionary_at_put) {
    (void)count;
    return made(dict_put(p, args[0], args[1], args[2]), result);
}

PRIM(prim_dictionary_remove_key) {
    (void)count;
    return made(dict_remove(p, args[0], args[1]), result);
}

PRIM(prim_dictionary_includes_key) {
    (void)count;
    return answered(value_from_bool(dict_has(p->vm, args[0], args[1])), result);
}

PRIM(prim_dictionary_merge) {
    (void)count;
    if (!dict_is(args[1]))
        return error_raise(p, ERR_type_error, V_NIL, V_NIL, "expected a Dictionary but got a non-map value",
                           "Pass a Dictionary argument", V_NIL);
    charge_elements(p, 8 * dict_size(args[1]));
    return made(dict_merge(p, args[0], args[1]), result);
}

/* --- sets --- */

PRIM(prim_set_new) {
    (void)args, (void)count;
    return made(set_from(p, NULL, 0), result);
}

PRIM(prim_set_from_list) {
    (void)count;
    if (!list_is(args[1])) return prim_type_error(p, args[0], "fromList:", "Expected a List argument");
    Value set = set_from_list(p, args[1]);
    if (set != V_HOLE) charge_elements(p, 8 * set_size(set));
    return made(set, result);
}

PRIM(prim_set_size) {
    (void)p, (void)count;
    return answered(value_from_int((int64_t)set_size(args[0])), result);
}

PRIM(prim_set_includes) {
    (void)count;
    return answered(value_from_bool(set_has(p->vm, args[0], args[1])), result);
}

PRIM(prim_set_add) {
    (void)count;
    return made(set_add(p, args[0], args[1]), result);
}

PRIM(prim_set_remove) {
    (void)count;
    return made(set_remove(p, args[0], args[1]), result);
}

typedef Value (*SetOperation)(Process *, Value, Value);

static PrimStatus combine(Process *p, Value *args, SetOperation operation, const char *selector,
                          Value *result) {
    if (!set_is(args[1])) return prim_type_error(p, args[0], selector, "Argument must be a Set");
    charge_elements(p, 4 * (set_size(args[0]) + set_size(args[1])));
    return made(operation(p, args[0], args[1]), result);
}

PRIM(prim_set_union) {
    (void)count;
    return combine(p, args, set_union, "union:", result);
}

PRIM(prim_set_intersection) {
    (void)count;
    return combine(p, args, set_intersection, "intersection:", result);
}

PRIM(prim_set_difference) {
    (void)count;
    return combine(p, args, set_difference, "difference:", result);
}

PRIM(prim_set_is_subset) {
    (void)count;
    if (!set_is(args[1])) return prim_type_error(p, args[0], "isSubsetOf:", "Argument must be a Set");
    return answered(value_from_bool(set_is_subset(p->vm, args[0], args[1])), result);
}

PRIM(prim_set_as_list) {
    (void)count;
    charge_elements(p, set_size(args[0]));
    return made(set_to_list(p, args[0]), result);
}
