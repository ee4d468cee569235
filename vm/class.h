/* Classes and dispatch tables. Owner: the VM. Read under the reader side of vm->class_lock (or by the fast
 * caches, lock-free), changed under the writer side; every change of method tables flushes caches by epoch
 * (models.md 3.3).
 *
 * A dispatch class is what caches compare: the class id of an object; for a class object, its class id with
 * DISPATCH_META set.
 */
#ifndef BT_VM_CLASS_H
#define BT_VM_CLASS_H

#include <stdatomic.h>
#include "vm/code.h"
#include "vm/symbol.h"
#include "vm/heap.h"

typedef struct ClassTable ClassTable;

typedef enum {
    CLASS_ID_None,
#define CLASS(name, superclass) CLASS_ID_##name,
#include "vm/classes.def"
#undef CLASS
    CLASS_ID_FIRST_FREE
} WellKnownClass;

#define DISPATCH_META (1u << 23)
/* For a metaclass (`C class`): the class id of its sole instance with this bit set. Beyond the 24 bits of a
 * header. */
#define DISPATCH_METACLASS (1u << 24)
#define MAX_CLASS_ID (DISPATCH_META - 1)
#define MAX_HIERARCHY_DEPTH 20

typedef struct MethodTable MethodTable; /* selector -> Method *, open addressing */

/* Names of the slots of a record (actor state, class variables). A class gets a new one whenever a load
 * changes the names, and what lives by the old one keeps it until its next message (semantics 20.2). Never
 * freed while the VM lives; id is unique, from LAYOUT_ID_FIRST on, and is what the caches of state and
 * class-variable sites compare. */
typedef struct SlotLayout {
    uint32_t id, count;
    const Value *names;
} SlotLayout;
/* Index of a name, or -1. */
int slot_layout_find(const SlotLayout *layout, Value name);

struct Class {
    uint32_t id;
    Value name;                   /* symbol */
    Class *superclass;            /* NULL for the root */
    uint8_t flags;                /* CLASS_* of bytecode.h */
    uint8_t kind;                 /* BcClassKind, resolved up the chain */
    bool removed, has_subclasses; /* has_subclasses: has or had */
    uint32_t field_count;         /* all fields, inherited first */
    uint32_t inherited_fields;
    Value *field_names;  /* symbols */
    uint32_t slot_count; /* of an instance; more than fields where a reload took some away */
    const uint32_t
        *field_slot;         /* parallel to the names: slot i of an instance is word i + 1. NULL: in order */
    const Value *slot_names; /* by slot, those of fields that are gone included. NULL: the fields in order */
    const BcField **field_info; /* parallel; unit memory */
    Class **field_owner;        /* parallel: class that declares it */
    uint64_t value_header;      /* of the instances of a value class that may have any, else 0 */
    const Value
        *literal_slots;       /* what `new` fills the slots with, if it need not run code (literal_slots.h) */
    uint32_t class_var_count; /* own only: class variables are not inherited */
    Value *class_var_names;
    const SlotLayout *state_layout,
        *class_var_layout;                      /* of actor state (all fields) and of the class variables */
    MethodTable *methods, *class_methods;       /* own */
    MethodTable *extensions, *class_extensions; /* own, per side */
    CodeUnit *unit;                             /* defining unit */
    const BcClass *bc;                          /* spans */
    const char *_Atomic doc;                    /* or NULL; class_set_doc replaces it */
    _Atomic uint64_t process;                   /* pid Value of the class process, V_NIL before it starts */
};

/* The slot of a field (vm/field_slots.h). */
static inline uint32_t class_field_slot(const Class *c, uint32_t field) {
    return c->field_slot ? c->field_slot[field] : field;
}

/* The dispatch class of any value. Static Characters are Integers. String or Binary by UTF-8 validity (cached
 * flag). */
static inline uint32_t dispatch_class_of(Value v);
uint32_t dispatch_class_slow(Value v);
/* The class object or metaclass that `x class` answers. */
Value class_value_of(BtVm *vm, Value v);
/* Name symbol of the receiver's class as errors print it ("Shelf class" for class objects). */
Value class_name_of(BtVm *vm, Value v);

Class *class_by_id(BtVm *vm, uint32_t id);
Class *class_by_name(BtVm *vm, Value name); /* NULL if unknown or removed. Any thread. */
bool class_inherits(const Class *c, const Class *ancestor);
bool class_id_inherits(BtVm *vm, uint32_t id, uint32_t ancestor_id);

/* Full lookup, semantics 2.1/2.3: own method, then extension, then up; class side ends in the instance
 * protocol of Class. NULL if none. Any thread. */
Method *class_lookup(BtVm *vm, uint32_t dispatch_class, Value selector);
/* The same through the global cache, which it fills under the reader lock. */
Method *selector_lookup(Process *p, Value selector, uint32_t dispatch_class);
/* Has a class a method with this selector, on either side, that is no method of the library? Any thread. */
bool class_program_has(BtVm *vm, Value selector);

/* Installs all classes and extensions of a linked unit (superclasses first), starts class processes, flushes
 * once. False with a reason: unknown superclass, cycle, sealed superclass, stdlib_shadowing ... : nothing is
 * installed. */
bool classes_install(BtVm *vm, CodeUnit *unit, bool stdlib, char *reason, size_t reason_size);
bool class_remove_method(BtVm *vm, Class *c, bool class_side, Value selector);

/* Installs one linked function as a method of a class that exists (compile:source:, `C >> sel => ...`); takes
 * its own count of the unit. extension: into the extension table of that side. False: no memory. */
bool class_install_method(BtVm *vm, Class *c, bool class_side, bool extension, CodeUnit *unit,
                          const BcMethod *bc);
/* Another documentation comment for the class (method: NULL) or one of its methods; length 0: none. A text
 * that was read stays valid while the VM lives. False: no memory. */
bool class_set_doc(BtVm *vm, Class *c, Method *method, const char *text, size_t length);
/* Takes the class out of the table (removeFromSystem): it is not found by name any more, its process is
 * killed. */
bool class_remove(BtVm *vm, Class *c);
/* Pid of the class's process, started if there is none or it has died. V_HOLE: cannot be had. Any scheduler
 * thread. */
Value class_process(BtVm *vm, Class *c);

ClassTable *class_table_new(BtVm *vm); /* NULL: no memory. Called by vm_new after symbols_new. */
void class_table_free(BtVm *vm);

/* Every class that is not removed, in order of definition. Any thread; the visitor must not install. */
void class_each(BtVm *vm, void (*visit)(Class *c, void *context), void *context);
/* Own methods or extensions of one class, one selector; NULL if it has none of its own. Any thread. */
Method *class_own_method(BtVm *vm, Class *c, bool class_side, Value selector);
Method *class_own_extension(BtVm *vm, Class *c, bool class_side, Value selector);

/* Own methods, then extensions, of one side of a class, each unordered. Any thread; the visitor runs under
 * the reader side: it must neither look methods up nor install. */
typedef void (*MethodVisitor)(Method *m, void *context);
void class_each_method(BtVm *vm, const Class *c, bool class_side, MethodVisitor visit, void *context);

#endif
