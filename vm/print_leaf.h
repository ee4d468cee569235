/* Text of values without parts; internal to print.c. */
#ifndef BT_VM_PRINT_LEAF_H
#define BT_VM_PRINT_LEAF_H

#include "vm/print.h"

/* Appends the text of anything but lists, tuples, arrays, dictionaries, sets and instances. nested: inside
 * something else. */
void print_leaf(BtVm *vm, Text *t, Value v, PrintStyle style, bool nested);
void print_class_name(BtVm *vm, Text *t, uint32_t class_id);
void print_symbol_text(BtVm *vm, Text *t, Value symbol);

#endif
