/* Method tables: selector -> Method *, open addressing with linear probing, one per class, side and origin.
 * Owner: the class table. Read under the reader side of its lock, changed under the writer side. */
#ifndef BT_VM_METHOD_TABLE_H
#define BT_VM_METHOD_TABLE_H

#include "vm/class.h"

struct MethodTable {
    uint32_t count, capacity; /* capacity: a power of two, at most three quarters full */
    Method *slots[];          /* NULL = free */
};

Method *method_table_find(const MethodTable *t, Value selector); /* t may be NULL */
/* Adds or replaces; *table may be NULL and may be replaced. False: no memory, nothing changed. */
bool method_table_put(const Memory *memory, MethodTable **table, Method *m);
/* Answers what was removed, NULL if there was nothing. */
Method *method_table_remove(MethodTable *t, Value selector);
void method_table_free(const Memory *memory, MethodTable *t);
/* Unordered; t may be NULL. */
void method_table_each(const MethodTable *t, MethodVisitor visit, void *context);

#endif
