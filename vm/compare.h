/* Equality and the total order of all values (semantics 17; stdlib-core 1.2).
 *
 * Pure functions of immutable data: no heap allocation, no collection, no C recursion. Deep terms use a
 * native stack; if it cannot grow, vm->failed is set and the answer is "different". Any thread that may read
 * both terms.
 */
#ifndef BT_VM_COMPARE_H
#define BT_VM_COMPARE_H

#include "vm/value.h"

typedef struct BtVm BtVm;

bool value_equal_strict_slow(BtVm *vm, Value a, Value b);
bool value_equal_slow(BtVm *vm, Value a, Value b);

/* `=:=`: same class and content; 1 =:= 1.0 and 0.0 =:= -0.0 are false. Only heap objects can be equal without
 * being one word. */
static inline bool value_equal_strict(BtVm *vm, Value a, Value b) {
    if (a == b) return true;
    return value_is_ptr(a) && value_is_ptr(b) && value_equal_strict_slow(vm, a, b);
}
/* `==`: as strict, but numbers compare by mathematical value at every depth (dictionary keys stay strict). */
static inline bool value_equal(BtVm *vm, Value a, Value b) {
    if (a == b) return true;
    if (value_is_int(a) && value_is_int(b)) return false;
    return value_equal_slow(vm, a, b);
}

int value_compare_slow(BtVm *vm, Value a, Value b);
int value_compare_keys_slow(BtVm *vm, Value a, Value b);
/* Small integers in the order of their words, since both have the tag bit. */
static inline int words_compare(Value a, Value b) {
    return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

/* Total term order: <0, 0, >0. Equal-valued numbers of both classes are equal (`<`, sort, max). */
static inline int value_compare(BtVm *vm, Value a, Value b) {
    return value_is_int(a) && value_is_int(b) ? words_compare(a, b) : value_compare_slow(vm, a, b);
}
/* The order of keys, in which only =:= values are equal: as the term order, but at every depth all Integers
 * go before all Floats, -0.0 before 0.0. Small maps are sorted by it. */
static inline int value_compare_keys(BtVm *vm, Value a, Value b) {
    return value_is_int(a) && value_is_int(b) ? words_compare(a, b) : value_compare_keys_slow(vm, a, b);
}
/* The order in which a Set shows its elements: the term order; of equal numbers the Integer first. */
int value_compare_elements(BtVm *vm, Value a, Value b);
/* True if `< > <= >=` on this receiver is a message, not the term order (instances, actors, class objects).
 */
bool value_orders_by_message(Value receiver);
/* True if a failed =:= must be followed by `element equals: x` (stdlib-core 1.2.2): instances of Value and
 * Object classes. */
bool value_equals_by_message(Value element);

#endif
