/* The class table as vm/class.c, vm/install.c and vm/code.c share it.
 *
 * Classes, methods and the name index lie in reserved address space that is committed page by page: nothing
 * ever moves, so readers need no lock to follow an id. Tables of methods are read under the reader side of
 * `lock` and changed under the writer side; every change ends in dispatch_flush while the writer side is
 * held, and every cache is filled under the reader side, so no stale fill can follow. */
#ifndef BT_VM_CLASS_INTERNAL_H
#define BT_VM_CLASS_INTERNAL_H

#include <pthread.h>
#include "vm/method_table.h"
#include "vm/process.h"
#include "vm/vm.h"

#define MAX_CLASSES (1u << 20)
#define MAX_METHODS (1u << 22)
#define MAX_CLASS_SYMBOLS (1u << 24)
#define GLOBAL_CACHE_SIZE 4096u

struct ClassTable {
    pthread_rwlock_t lock;
    Class *_Atomic *classes;      /* by id; NULL = none */
    _Atomic uint32_t class_limit; /* ids below it are or were in use */
    _Atomic uint32_t *by_symbol;  /* symbol index -> class id, 0 = none */
    Method *methods;              /* by index, from 1 */
    uint32_t method_limit;
    uint32_t next_layout;
    /* One word per entry, dispatch class << 32 | method index; the selector is compared with the method's
     * own. */
    _Atomic uint64_t *cache;
    pthread_mutex_t process_lock; /* making class processes; never held while `lock` is taken */
    pthread_mutex_t units_lock;   /* innermost; never held while `lock` is taken */
    CodeUnit *units;              /* every linked unit, for the flush */
    struct Owned *owned;          /* arrays of names and the like that live as long as the VM */
    uint64_t oom_words[16 + 24];  /* error_out_of_memory: an exception and its message, literals */
};

/* acquire in all three: pairs with the release store of the install, or of the lookup, that filled the word;
 * what it names was complete then. */
static inline Class *class_at(const ClassTable *t, uint32_t id) {
    return id < MAX_CLASSES ? atomic_load_explicit(&t->classes[id], memory_order_acquire) : NULL;
}
/* 0: there is none of that name. */
static inline uint32_t class_id_find(const ClassTable *t, Value name) {
    if (!value_is_symbol(name) || value_to_symbol(name) >= MAX_CLASS_SYMBOLS) return 0;
    return atomic_load_explicit(&t->by_symbol[value_to_symbol(name)], memory_order_acquire);
}
static inline Class *class_find(const ClassTable *t, Value name) {
    uint32_t id = class_id_find(t, name);
    return id ? class_at(t, id) : NULL;
}
static inline uint32_t cache_slot(uint32_t dispatch_class, Value selector) {
    return (dispatch_class * 0x9e3779b1u ^ value_to_symbol(selector) * 0x85ebca6bu) >> 20;
}
_Static_assert(GLOBAL_CACHE_SIZE == 1u << 12, "cache_slot yields twelve bits");
/* What the global cache has; NULL sends the caller to selector_lookup. */
static inline Method *selector_cached(const ClassTable *t, Value selector, uint32_t dispatch_class) {
    uint64_t word =
        atomic_load_explicit(&t->cache[cache_slot(dispatch_class, selector)], memory_order_acquire);
    if ((uint32_t)(word >> 32) != dispatch_class || !word) return NULL;
    Method *m = &t->methods[(uint32_t)word];
    return m->selector == selector ? m : NULL;
}

/* Memory that lives as long as the VM, zeroed. Under the writer side. */
void *class_table_own(BtVm *vm, size_t size);
const SlotLayout *slot_layout_new(BtVm *vm, const Value *names, uint32_t count);

Method *class_lookup_locked(BtVm *vm, uint32_t dispatch_class, Value selector);
/* Zeroes all caches. Writer side held. */
void dispatch_flush(BtVm *vm);
/* A fresh Method with its index; NULL = table full. Writer side held. */
Method *method_new(BtVm *vm);
/* Stores into the site's cache, if the method is still what lookup finds and `plain` still says so. Any
 * thread. */
void site_fill(BtVm *vm, Site *site, uint32_t dispatch_class, Method *m,
               bool (*plain)(BtVm *vm, const Site *site, uint32_t dispatch_class, const Method *m));
/* The method of a super send, through the site's cache. The text's class is the site's own, so the key is a
 * constant. No kind of instruction takes another's fill of a site for its own, whatever code shares the site:
 * dispatch keys are below SUPER_KEY, layout ids start at LAYOUT_ID_FIRST. */
#define SUPER_KEY (1u << 27)
#define LAYOUT_ID_FIRST (1u << 31)
Method *super_lookup(BtVm *vm, const Function *fn, Site *site);
/* True if the search for a method goes on beyond MAX_HIERARCHY_DEPTH. */
bool class_too_deep(const Class *c);

/* vm/code.c: the table's list of units. */
void units_add(BtVm *vm, CodeUnit *unit);
void units_remove(BtVm *vm, CodeUnit *unit);

#endif
