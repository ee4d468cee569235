/* Names of the class table that are near to one that is not in it, for hints. */
#ifndef BT_VM_SUGGEST_H
#define BT_VM_SUGGEST_H

#include "vm/class.h"

/* The class whose name is nearest; NULL: none is near. The text lives as long as the VM. */
const char *class_similar_name(BtVm *vm, const char *name, size_t length);
/* The selector, of those that instances of the class (or the class itself) understand, that is nearest. */
const char *class_similar_selector(BtVm *vm, Class *c, bool class_side, const char *selector, size_t length);

#endif
