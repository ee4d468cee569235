/* The class table: ids, names, lookup, caches, reflection. See class.h and class_internal.h. */
#include <sys/mman.h>
#include "vm/class_internal.h"
#include "vm/bytecode/memory.h"
#include "vm/leaf.h"
#include "vm/string.h"
#include "vm/text.h"

/* ---- the table's life ---- */

struct Owned {
    struct Owned *next;
    _Alignas(16) unsigned char bytes[];
};

static void *reserve_space(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void release_space(void *at, size_t bytes) {
    if (at) munmap(at, bytes);
}

static void init_oom_exception(ClassTable *t) {
    static const char text[] = "a system limit was reached";
    uint64_t *exception = t->oom_words, *message = t->oom_words + 16;
    Value text_value = string_make_literal(message, text, sizeof text - 1);
    message[0] |= header_make(0, (ObjectKind)0, OBJ_LITERAL, 0);
    exception[0] = header_make(CLASS_ID_RuntimeError, KIND_INSTANCE, OBJ_LITERAL, EXC_SLOTS_END);
    for (size_t i = 1; i < EXC_SLOTS_END; i++) exception[i] = V_NIL;
    exception[EXC_MESSAGE] = text_value;
}

ClassTable *class_table_new(BtVm *vm) {
    ClassTable *t = memory_zalloc(vm->memory, sizeof *t);
    if (!t) return NULL;
    vm->classes = t;
    pthread_rwlock_init(&t->lock, NULL);
    pthread_mutex_init(&t->units_lock, NULL);
    pthread_mutex_init(&t->process_lock, NULL);
    t->classes = reserve_space(MAX_CLASSES * sizeof *t->classes);
    t->methods = reserve_space(MAX_METHODS * sizeof *t->methods);
    t->by_symbol = reserve_space(MAX_CLASS_SYMBOLS * sizeof *t->by_symbol);
    t->cache = memory_zalloc(vm->memory, GLOBAL_CACHE_SIZE * sizeof *t->cache);
    atomic_init(&t->class_limit, CLASS_ID_FIRST_FREE);
    t->method_limit = 1;
    t->next_layout = LAYOUT_ID_FIRST;
    init_oom_exception(t);
    Value kind = symbol_intern(vm, "resource_error", 14);
    t->oom_words[EXC_KIND] = kind;
    if (!t->classes || !t->methods || !t->by_symbol || !t->cache || kind == V_HOLE)
        return class_table_free(vm), NULL;
    return t;
}

static void class_free(BtVm *vm, Class *c) {
    method_table_free(vm->memory, c->methods);
    method_table_free(vm->memory, c->class_methods);
    method_table_free(vm->memory, c->extensions);
    method_table_free(vm->memory, c->class_extensions);
    memory_free(vm->memory, c);
}

void class_table_free(BtVm *vm) {
    ClassTable *t = vm->classes;
    if (!t) return;
    uint32_t limit = atomic_load_explicit(&t->class_limit, memory_order_relaxed);
    for (uint32_t id = 1; t->classes && id < limit; id++) {
        Class *c = atomic_load_explicit(&t->classes[id], memory_order_relaxed);
        if (c) class_free(vm, c);
    }
    while (t->units) {
        CodeUnit *unit = t->units;
        atomic_store_explicit(&unit->refs, 1, memory_order_relaxed);
        code_release(unit);
    }
    while (t->owned) {
        struct Owned *next = t->owned->next;
        memory_free(vm->memory, t->owned);
        t->owned = next;
    }
    release_space((void *)t->classes, MAX_CLASSES * sizeof *t->classes);
    release_space(t->methods, MAX_METHODS * sizeof *t->methods);
    release_space((void *)t->by_symbol, MAX_CLASS_SYMBOLS * sizeof *t->by_symbol);
    memory_free(vm->memory, (void *)t->cache);
    pthread_rwlock_destroy(&t->lock);
    pthread_mutex_destroy(&t->units_lock);
    pthread_mutex_destroy(&t->process_lock);
    memory_free(vm->memory, t);
    vm->classes = NULL;
}

void *class_table_own(BtVm *vm, size_t size) {
    struct Owned *o = memory_zalloc(vm->memory, sizeof *o + size);
    if (!o) return NULL;
    o->next = vm->classes->owned;
    vm->classes->owned = o;
    return o->bytes;
}

/* ---- ids and names ---- */

Class *class_by_id(BtVm *vm, uint32_t id) { return class_at(vm->classes, id); }

Class *class_by_name(BtVm *vm, Value name) { return class_find(vm->classes, name); }

bool class_inherits(const Class *c, const Class *ancestor) {
    for (; c; c = c->superclass)
        if (c == ancestor) return true;
    return false;
}

bool class_id_inherits(BtVm *vm, uint32_t id, uint32_t ancestor_id) {
    if (id == ancestor_id) return true;
    for (const Class *c = class_by_id(vm, id); c; c = c->superclass)
        if (c->id == ancestor_id) return true;
    return false;
}

bool class_too_deep(const Class *c) {
    unsigned depth = 0;
    for (; c; c = c->superclass)
        if (++depth > MAX_HIERARCHY_DEPTH) return true;
    return false;
}

int slot_layout_find(const SlotLayout *layout, Value name) {
    for (uint32_t i = 0; layout && i < layout->count; i++)
        if (layout->names[i] == name) return (int)i;
    return -1;
}

const SlotLayout *slot_layout_new(BtVm *vm, const Value *names, uint32_t count) {
    SlotLayout *layout = class_table_own(vm, sizeof *layout);
    if (!layout) return NULL;
    *layout = (SlotLayout){.id = vm->classes->next_layout++, .count = count, .names = names};
    return layout;
}

/* ---- classes of values ---- */

static uint32_t class_of_special(Value v) {
    switch (v) {
    case V_NIL: return CLASS_ID_UndefinedObject;
    case V_TRUE: return CLASS_ID_True;
    case V_FALSE: return CLASS_ID_False;
    case V_EMPTY_LIST: return CLASS_ID_List;
    default: break;
    }
    if (value_is_symbol(v)) return CLASS_ID_Symbol;
    if (value_is_class(v)) return special_payload(v) | DISPATCH_META;
    if (value_is_meta(v)) return special_payload(v) | DISPATCH_METACLASS;
    return CLASS_ID_UndefinedObject; /* the hole never reaches a program; nil is the harmless reading of it */
}

static uint32_t class_of_bytes(Value v) {
    uint64_t word = object_words(v)[object_kind(v) == KIND_STRING ? 1 : 3];
    if (word & STRING_UTF8_KNOWN) return word & STRING_UTF8_VALID ? CLASS_ID_String : CLASS_ID_Binary;
    return string_is_text(v) ? CLASS_ID_String : CLASS_ID_Binary;
}

uint32_t dispatch_class_slow(Value v) {
    if (value_is_int(v)) return CLASS_ID_Integer;
    if (value_is_ptr(v)) return value_is_bytes(v) ? class_of_bytes(v) : object_class(v);
    if (value_is_flonum(v)) return CLASS_ID_Float;
    if (value_is_pid(v)) return CLASS_ID_Pid;
    return class_of_special(v);
}

Value class_value_of(BtVm *vm, Value v) {
    (void)vm;
    if (value_is_class(v)) return value_from_meta(special_payload(v));
    if (value_is_meta(v)) return v; /* the tower grounds itself: a metaclass is its own class */
    return value_from_class(dispatch_class_of(v));
}

static Value meta_name(BtVm *vm, Value class_name) {
    size_t length;
    const char *name = symbol_text(vm, class_name, &length);
    Text t = TEXT_IN(vm->memory);
    text_append(&t, name, length);
    text_append_cstring(&t, " class");
    Value symbol = t.failed ? V_HOLE : symbol_intern(vm, t.bytes, t.length);
    text_free(&t);
    return symbol == V_HOLE ? class_name : symbol;
}

Value class_name_of(BtVm *vm, Value v) {
    bool meta = value_is_class(v) || value_is_meta(v);
    Class *c = class_by_id(vm, meta ? special_payload(v) : dispatch_class_of(v));
    if (!c) return V_NIL;
    return meta ? meta_name(vm, c->name) : c->name;
}

/* ---- lookup ---- */

/* Instance side: at each class its own methods, then extensions registered on it. */
static Method *lookup_instance(const Class *c, Value selector) {
    for (unsigned depth = 0; c && depth < MAX_HIERARCHY_DEPTH; c = c->superclass, depth++) {
        Method *m = method_table_find(c->methods, selector);
        if (!m) m = method_table_find(c->extensions, selector);
        if (m) return m;
    }
    return NULL;
}

/* Class side: at each class extensions first (semantics 2.3). */
static Method *lookup_class_side(const Class *c, Value selector) {
    for (unsigned depth = 0; c && depth < MAX_HIERARCHY_DEPTH; c = c->superclass, depth++) {
        Method *m = method_table_find(c->class_extensions, selector);
        if (!m) m = method_table_find(c->class_methods, selector);
        if (m) return m;
    }
    return NULL;
}

Method *class_lookup_locked(BtVm *vm, uint32_t dispatch_class, Value selector) {
    uint32_t id = dispatch_class & (DISPATCH_META - 1);
    Class *c = class_by_id(vm, id);
    if (!c) return NULL;
    if (!(dispatch_class & (DISPATCH_META | DISPATCH_METACLASS))) return lookup_instance(c, selector);
    Method *m = lookup_class_side(c, selector);
    if (m) return m;
    return lookup_instance(
        class_by_id(vm, dispatch_class & DISPATCH_META ? CLASS_ID_Class : CLASS_ID_Metaclass), selector);
}

Method *class_lookup(BtVm *vm, uint32_t dispatch_class, Value selector) {
    pthread_rwlock_rdlock(&vm->classes->lock);
    Method *m = class_lookup_locked(vm, dispatch_class, selector);
    pthread_rwlock_unlock(&vm->classes->lock);
    return m;
}

static bool programs_own(const MethodTable *t, Value selector) {
    const Method *m = t ? method_table_find(t, selector) : NULL;
    return m && !m->fn->unit->stdlib;
}

bool class_program_has(BtVm *vm, Value selector) {
    bool found = false;
    pthread_rwlock_rdlock(&vm->classes->lock);
    uint32_t limit = atomic_load_explicit(&vm->classes->class_limit, memory_order_relaxed);
    for (uint32_t id = 1; id < limit && !found; id++) {
        const Class *c = class_by_id(vm, id);
        if (!c || c->removed) continue;
        found = programs_own(c->extensions, selector) || programs_own(c->class_extensions, selector);
        if (!(c->flags & CLASS_STDLIB))
            found = found || programs_own(c->methods, selector) || programs_own(c->class_methods, selector);
    }
    pthread_rwlock_unlock(&vm->classes->lock);
    return found;
}

/* Above the class in which the text lives: extensions of that superclass first, then its chain
 * (semantics 2.2). */
static Method *lookup_above(BtVm *vm, const Class *c, bool class_side, Value selector) {
    if (!c) return class_side ? lookup_instance(class_by_id(vm, CLASS_ID_Class), selector) : NULL;
    Method *m = method_table_find(class_side ? c->class_extensions : c->extensions, selector);
    if (m) return m;
    m = class_side ? lookup_class_side(c, selector) : lookup_instance(c, selector);
    return m || !class_side ? m : lookup_instance(class_by_id(vm, CLASS_ID_Class), selector);
}

static Method *lookup_super_locked(BtVm *vm, const Function *fn, Value selector) {
    Class *c = class_by_name(vm, fn->class_name);
    return c ? lookup_above(vm, c->superclass, fn->class_side, selector) : NULL;
}

Method *super_lookup(BtVm *vm, const Function *fn, Site *site) {
    /* acquire: pairs with the fill below */
    uint64_t word = atomic_load_explicit(&site->word, memory_order_acquire);
    if ((uint32_t)(word >> 32) == SUPER_KEY) return &vm->classes->methods[(uint32_t)word];
    pthread_rwlock_rdlock(&vm->classes->lock);
    Method *m = lookup_super_locked(vm, fn, site->name);
    if (m) atomic_store_explicit(&site->word, (uint64_t)SUPER_KEY << 32 | m->index, memory_order_release);
    pthread_rwlock_unlock(&vm->classes->lock);
    return m;
}

/* ---- caches ---- */

/* A function of its own, so that a hit saves no registers. */
static __attribute__((noinline)) Method *lookup_and_note(BtVm *vm, Value selector, uint32_t dispatch_class) {
    ClassTable *t = vm->classes;
    pthread_rwlock_rdlock(&t->lock);
    Method *m = class_lookup_locked(vm, dispatch_class, selector);
    if (m)
        atomic_store_explicit(&t->cache[cache_slot(dispatch_class, selector)],
                              (uint64_t)dispatch_class << 32 | m->index, memory_order_release);
    pthread_rwlock_unlock(&t->lock);
    return m;
}

Method *selector_lookup(Process *p, Value selector, uint32_t dispatch_class) {
    Method *m = selector_cached(p->vm->classes, selector, dispatch_class);
    return m ? m : lookup_and_note(p->vm, selector, dispatch_class);
}

void site_fill(BtVm *vm, Site *site, uint32_t dispatch_class, Method *m,
               bool (*plain)(BtVm *vm, const Site *site, uint32_t dispatch_class, const Method *m)) {
    if (atomic_load_explicit(&site->word2, memory_order_relaxed)) return; /* full: no lock for nothing */
    pthread_rwlock_rdlock(&vm->classes->lock);
    if (m && class_lookup_locked(vm, dispatch_class, site->name) == m && plain(vm, site, dispatch_class, m)) {
        uint64_t word = (uint64_t)dispatch_class << 32 | site_target(m);
        if (!atomic_load_explicit(&site->word, memory_order_relaxed))
            atomic_store_explicit(&site->word, word, memory_order_release);
        else if (!atomic_load_explicit(&site->word2, memory_order_relaxed))
            atomic_store_explicit(&site->word2, word, memory_order_release);
    }
    pthread_rwlock_unlock(&vm->classes->lock);
}

static void flush_unit(CodeUnit *unit) {
    for (uint32_t i = 0; i < unit->function_count; i++) {
        Function *fn = &unit->functions[i];
        for (uint32_t s = 0; s < fn->bc->site_count; s++) {
            atomic_store_explicit(&fn->sites[s].word, 0, memory_order_release);
            atomic_store_explicit(&fn->sites[s].word2, 0, memory_order_release);
        }
    }
}

void dispatch_flush(BtVm *vm) {
    ClassTable *t = vm->classes;
    for (uint32_t i = 0; i < GLOBAL_CACHE_SIZE; i++)
        atomic_store_explicit(&t->cache[i], 0, memory_order_release);
    pthread_mutex_lock(&t->units_lock);
    for (CodeUnit *unit = t->units; unit; unit = unit->next) flush_unit(unit);
    pthread_mutex_unlock(&t->units_lock);
}

Method *method_new(BtVm *vm) {
    ClassTable *t = vm->classes;
    if (t->method_limit >= MAX_METHODS) return NULL;
    Method *m = &t->methods[t->method_limit];
    m->index = t->method_limit++;
    return m;
}

/* ---- reflection ---- */

void class_each(BtVm *vm, void (*visit)(Class *c, void *context), void *context) {
    uint32_t limit = atomic_load_explicit(&vm->classes->class_limit, memory_order_acquire);
    for (uint32_t id = 1; id < limit; id++) {
        Class *c = class_by_id(vm, id);
        if (c && !c->removed) visit(c, context);
    }
}

Method *class_own_method(BtVm *vm, Class *c, bool class_side, Value selector) {
    pthread_rwlock_rdlock(&vm->classes->lock);
    Method *m = method_table_find(class_side ? c->class_methods : c->methods, selector);
    pthread_rwlock_unlock(&vm->classes->lock);
    return m;
}

Method *class_own_extension(BtVm *vm, Class *c, bool class_side, Value selector) {
    pthread_rwlock_rdlock(&vm->classes->lock);
    Method *m = method_table_find(class_side ? c->class_extensions : c->extensions, selector);
    pthread_rwlock_unlock(&vm->classes->lock);
    return m;
}

void class_each_method(BtVm *vm, const Class *c, bool class_side, MethodVisitor visit, void *context) {
    pthread_rwlock_rdlock(&vm->classes->lock);
    method_table_each(class_side ? c->class_methods : c->methods, visit, context);
    method_table_each(class_side ? c->class_extensions : c->extensions, visit, context);
    pthread_rwlock_unlock(&vm->classes->lock);
}
