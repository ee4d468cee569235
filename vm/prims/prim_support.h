/* Small helpers that the primitive files share. */
#ifndef BT_PRIM_SUPPORT_H
#define BT_PRIM_SUPPORT_H

#include "vm/error.h"
#include "vm/string.h"
#include "vm/vm.h"

#define PRIM(function) PrimStatus function(Process *p, Value *args, unsigned count, Value *result)

static inline bool value_is_list(Value v) { return v == V_EMPTY_LIST || value_is_kind(v, KIND_CONS); }
static inline bool value_is_dictionary(Value v) {
    return value_is_kind(v, KIND_DICT) || value_is_kind(v, KIND_DICT_TRIE);
}
/* Name symbol of a class object or metaclass, or of the class of anything else. */
static inline Value receiver_class_name(Process *p, Value receiver) { return class_name_of(p->vm, receiver); }
/* A List of immediates. */
static inline PrimStatus list_of_immediates(Process *p, const Value *values, size_t n, Value *result) {
    if (!heap_reserve(p, n * 3)) return PRIM_RAISE;
    Value list = V_EMPTY_LIST;
    for (size_t i = n; i-- > 0;) {
        Value cell = heap_new(p, KIND_CONS, CLASS_ID_List, 3);
        object_words(cell)[1] = values[i];
        object_words(cell)[2] = list;
        list = cell;
    }
    *result = list;
    return PRIM_OK;
}
/* Length of a List; a List is proper by construction. */
static inline size_t list_count(Value list) {
    size_t n = 0;
    for (; list != V_EMPTY_LIST; list = CONS_TAIL(list)) n++;
    return n;
}

#endif
