#include "vm/dict_internal.h"
#include "vm/compare.h"
#include "vm/list.h"
#include "vm/rooted.h"

Value set_from_dict(Process *p, Value dict) {
    if (!heap_reserve_rooted(p, 2, &dict, 1)) return V_HOLE;
    Value set = heap_new(p, KIND_SET, CLASS_ID_Set, 2);
    object_words(set)[1] = dict;
    return set;
}

static Value set_of(Process *p, Value dict) { return dict == V_HOLE ? V_HOLE : set_from_dict(p, dict); }

Value set_from(Process *p, const Value *values, size_t count) {
    return set_of(p, dict_from_entries(p, values, NULL, count));
}

Value set_from_list(Process *p, Value list) {
    EntryBuffer b;
    if (!entries_open(p, &b, list_length(list))) return V_HOLE;
    for (; list != V_EMPTY_LIST; list = CONS_TAIL(list)) entries_add(&b, CONS_HEAD(list), V_NIL);
    return set_of(p, entries_build(p, &b));
}

Value set_add(Process *p, Value set, Value element) {
    if (set_has(p->vm, set, element)) return set;
    return set_of(p, dict_put(p, set_dict(set), element, V_NIL));
}

Value set_remove(Process *p, Value set, Value element) {
    if (!set_has(p->vm, set, element)) return set;
    return set_of(p, dict_remove(p, set_dict(set), element));
}

/* A small map has its Integers before its Floats; a Set shows them by value. */
Value set_to_list(Process *p, Value set) {
    Value elements[DICT_FLAT_MAX];
    size_t n = set_size(set);
    if (n > DICT_FLAT_MAX) return dict_keys(p, set_dict(set));
    for (size_t i = 0; i < n; i++) {
        Value element = object_at(set_dict(set), 1 + i);
        size_t at = i;
        for (; at > 0 && value_compare_elements(p->vm, elements[at - 1], element) > 0; at--)
            elements[at] = elements[at - 1];
        elements[at] = element;
    }
    RootSpan span;
    roots_push(p, &span, elements, n);
    Value list = list_from_array(p, elements, n, V_EMPTY_LIST);
    roots_pop(p, &span);
    return list;
}

Value set_union(Process *p, Value left, Value right) {
    return set_of(p, dict_merge(p, set_dict(left), set_dict(right)));
}

/* The elements of `from` that `in` has, or has not. */
static Value set_filter(Process *p, Value from, Value in, bool keep) {
    EntryBuffer b;
    if (!entries_open(p, &b, set_size(from))) return V_HOLE;
    DictIter it;
    Value key, value;
    dict_iter_init(&it, set_dict(from));
    while (dict_iter_next(&it, &key, &value))
        if (set_has(p->vm, in, key) == keep) entries_add(&b, key, V_NIL);
    return set_of(p, entries_build(p, &b));
}

Value set_intersection(Process *p, Value left, Value right) {
    return set_size(left) <= set_size(right) ? set_filter(p, left, right, true)
                                             : set_filter(p, right, left, true);
}

Value set_difference(Process *p, Value left, Value right) { return set_filter(p, left, right, false); }

bool set_is_subset(BtVm *vm, Value left, Value right) {
    if (set_size(left) > set_size(right)) return false;
    DictIter it;
    Value key, value;
    dict_iter_init(&it, set_dict(left));
    while (dict_iter_next(&it, &key, &value))
        if (!set_has(vm, right, key)) return false;
    return true;
}
