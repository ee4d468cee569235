/* Classes and dispatch tables. Owner: the VM. Read under the reader side of vm->class_lock (or by the fast caches, lock-free),
 * changed under the writer side; every change of method tables flushes caches by epoch (models.md 3.3).
 *
 * A dispatch class is what caches compare: the class id of an object; for a class object, its class id with DISPATCH_META set.
 */
#ifndef BT_VM_CLASS_H
#define BT_VM_CLASS_H

#include <stdatomic.h>
#include "vm/code.h"
#include "vm/symbol.h"
#include "vm/heap.h"

typedef enum {
    CLASS_ID_None,
#define CLASS(name, superclass) CLASS_ID_##name,
#include "vm/classes.def"
#undef CLASS
    CLASS_ID_FIRST_FREE
} WellKnownClass;

#define DISPATCH_META (1u << 23)
#define MAX_HIERARCHY_DEPTH 20

typedef struct MethodTable MethodTable; /* selector -> Method *, open addressing */

struct Class {
    uint32_t id;
    Value name;                    /* symbol */
    Class *superclass;             /* NULL for the root */
    uint8_t flags;                 /* CLASS_* of bytecode.h */
    uint8_t kind;                  /* BcClassKind, resolved up the chain */
    bool removed;
    uint32_t field_count;          /* all slots, inherited first */
    Value *field_names;            /* symbols; slot i of an instance is word i + 1 */
    const BcField **field_info;    /* parallel; unit memory */
    Class **field_owner;           /* parallel: class that declares it */
    uint32_t class_var_count;      /* own only: class variables are not inherited */
    Value *class_var_names;
    MethodTable *methods, *class_methods;        /* own */
    MethodTable *extensions, *class_extensions;  /* own, per side */
    CodeUnit *unit;                /* defining unit */
    const BcClass *bc;             /* doc, spans */
    _Atomic uint64_t process;      /* pid Value of the class process, V_NIL before it starts */
    bool has_init_hook;
};

/* The dispatch class of any value. Static Characters are Integers. String or Binary by UTF-8 validity (cached flag). */
static inline uint32_t dispatch_class_of(Value v);
uint32_t dispatch_class_slow(Value v);
/* The class object or metaclass that `x class` answers. */
Value class_value_of(BtVm *vm, Value v);
/* Name symbol of the receiver's class as errors print it ("Shelf class" for class objects). */
Value class_name_of(BtVm *vm, Value v);

Class *class_by_id(BtVm *vm, uint32_t id);
Class *class_by_name(BtVm *vm, Value name);  /* NULL if unknown or removed. Any thread. */
bool class_inherits(const Class *c, const Class *ancestor);
bool class_id_inherits(BtVm *vm, uint32_t id, uint32_t ancestor_id);

/* Full lookup, semantics 2.1/2.3: own method, then extension, then up; class side ends in the instance protocol of Class.
 * NULL if none. Any thread. */
Method *class_lookup(BtVm *vm, uint32_t dispatch_class, Value selector);
Method *class_lookup_super(BtVm *vm, const Function *fn, Value selector);
/* Inline cache, then the scheduler's global cache, then class_lookup (fills under the reader lock). */
Method *site_lookup(Process *p, Site *site, uint32_t dispatch_class);
Method *selector_lookup(Process *p, Value selector, uint32_t dispatch_class); /* no site: global cache */

/* Installs all classes and extensions of a linked unit (superclasses first), starts class processes, flushes once.
 * False with a reason: unknown superclass, cycle, sealed superclass, stdlib_shadowing ... : nothing is installed. */
bool classes_install(BtVm *vm, CodeUnit *unit, bool stdlib, char *reason, size_t reason_size);
bool class_remove_method(BtVm *vm, Class *c, bool class_side, Value selector);

/* Iteration for reflection: methods of one table, unordered. */
typedef void (*MethodVisitor)(Method *m, void *context);
void method_table_each(const MethodTable *t, MethodVisitor visit, void *context);

#endif
