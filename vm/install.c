/* Installing units: classes and extensions into the table, superclasses first, all or nothing; class
 * processes. See class.h.
 *
 * A unit is examined before anything changes: unknown superclasses, cycles, sealed superclasses, shadowing of
 * the library. Then, under the writer side of the table's lock, classes are made or changed in order of the
 * hierarchy, their tables are built, and the caches are flushed once. Redefining a user class is a reload
 * (semantics 20.2): its id, and so every class object and instance, stays. */
#include <stdio.h>
#include "vm/bytecode/memory.h"
#include "vm/class_internal.h"
#include "vm/field_slots.h"
#include "vm/literal_slots.h"
#include "vm/sched.h"
#include "vm/string.h"

typedef struct {
    BtVm *vm;
    CodeUnit *unit;
    bool stdlib;
    char *reason;
    size_t reason_size;
    uint32_t *order;    /* indexes of the unit's classes, superclasses first */
    Value *names;       /* of the unit's classes */
    const Class *moved; /* the first outside the unit whose fields had to move, or NULL */
    uint32_t moved_count;
} Install;

static bool refuse(Install *in, const char *format, BcText a, BcText b) {
    snprintf(in->reason, in->reason_size, format, (int)a.length, a.bytes ? a.bytes : "", (int)b.length,
             b.bytes ? b.bytes : "");
    return false;
}

static Value intern(BtVm *vm, BcText t) { return t.length ? symbol_intern(vm, t.bytes, t.length) : V_NIL; }

static uint32_t index_in_unit(const Install *in, Value name) {
    for (uint32_t i = 0; i < in->unit->bc->class_count; i++)
        if (in->names[i] == name) return i;
    return BC_NONE;
}

/* ---- examination ---- */

/* Orders superclasses first; BC_NONE marks a class that is not placed yet. Each round places what it can, so
 * a cycle ends it. */
static bool order_classes(Install *in) {
    const BcUnit *bc = in->unit->bc;
    bool *placed = memory_zalloc(in->vm->memory, bc->class_count + 1);
    if (!placed) return refuse(in, "out of memory%.*s%.*s", (BcText){0}, (BcText){0});
    uint32_t count = 0;
    for (bool progress = true; progress && count < bc->class_count;) {
        progress = false;
        for (uint32_t i = 0; i < bc->class_count; i++) {
            uint32_t super = index_in_unit(in, intern(in->vm, bc->classes[i].superclass));
            if (placed[i] || (super != BC_NONE && !placed[super])) continue;
            in->order[count++] = i;
            placed[i] = progress = true;
        }
    }
    uint32_t stuck = 0;
    while (stuck < bc->class_count && placed[stuck]) stuck++;
    memory_free(in->vm->memory, placed);
    if (stuck == bc->class_count) return true;
    return refuse(in, "Class `%.*s` is its own superclass, by way of `%.*s`", bc->classes[stuck].name,
                  bc->classes[stuck].superclass);
}

static bool check_superclass(Install *in, const BcClass *bc) {
    Value name = intern(in->vm, bc->superclass);
    if (bc->superclass.length == 0)
        return in->stdlib ? true : refuse(in, "Class `%.*s` has no superclass%.*s", bc->name, (BcText){0});
    uint32_t inside = index_in_unit(in, name);
    Class *c = class_by_name(in->vm, name);
    if (inside == BC_NONE && !c)
        return refuse(in, "Class `%.*s`: unknown superclass `%.*s`", bc->name, bc->superclass);
    uint8_t flags = inside != BC_NONE ? in->unit->bc->classes[inside].flags : c->flags;
    if ((flags & CLASS_SEALED) && !in->stdlib)
        return refuse(in, "Class `%.*s`: cannot subclass sealed class `%.*s`", bc->name, bc->superclass);
    return true;
}

/* A reload may not put a class below itself: the chain above it in the new hierarchy must not lead back. */
static bool check_reload_cycle(Install *in, const BcClass *bc, Value name) {
    for (Class *c = class_by_name(in->vm, intern(in->vm, bc->superclass)); c; c = c->superclass)
        if (c->name == name)
            return refuse(in, "Class `%.*s` is its own superclass, by way of `%.*s`", bc->name,
                          bc->superclass);
    return true;
}

static bool check_class(Install *in, const BcClass *bc, Value name) {
    if (!value_is_symbol(name) || value_to_symbol(name) >= MAX_CLASS_SYMBOLS)
        return refuse(in, "A class has no usable name%.*s%.*s", (BcText){0}, (BcText){0});
    Class *known = class_by_name(in->vm, name);
    if (known && (known->flags & CLASS_STDLIB) && !in->stdlib)
        return refuse(in, "Cannot redefine stdlib class '%.*s'%.*s", bc->name, (BcText){0});
    return check_superclass(in, bc) && (!known || check_reload_cycle(in, bc, name));
}

static bool check_method(Install *in, const BcMethod *m) {
    const CodeUnit *unit = in->unit;
    Value selector = intern(in->vm, m->selector);
    if (m->function >= unit->function_count || !value_is_symbol(selector) ||
        unit->functions[m->function].kind == FN_BLOCK ||
        unit->functions[m->function].param_count != symbol_arity(in->vm, selector))
        return refuse(in, "Method `%.*s` has no code of its own%.*s", m->selector, (BcText){0});
    return true;
}

static bool check_unit(Install *in) {
    const BcUnit *bc = in->unit->bc;
    for (uint32_t i = 0; i < bc->class_count; i++) {
        if (!check_class(in, &bc->classes[i], in->names[i])) return false;
        for (uint32_t m = 0; m < bc->classes[i].method_count; m++)
            if (!check_method(in, &bc->classes[i].methods[m])) return false;
    }
    for (uint32_t i = 0; i < bc->extension_count; i++) {
        Value name = intern(in->vm, bc->extensions[i].class_name);
        if (index_in_unit(in, name) == BC_NONE && !class_by_name(in->vm, name))
            return refuse(in, "Extension `%.*s` of unknown class `%.*s`", bc->extensions[i].selector,
                          bc->extensions[i].class_name);
        if (!check_method(in, &bc->extensions[i])) return false;
    }
    return order_classes(in);
}

/* ---- methods ---- */

static MethodTable **table_of(Class *c, bool class_side, bool extension) {
    if (extension) return class_side ? &c->class_extensions : &c->extensions;
    return class_side ? &c->class_methods : &c->methods;
}

static char *own_text(BtVm *vm, const char *bytes, size_t length) {
    char *copy = length ? class_table_own(vm, length + 1) : NULL;
    if (copy) memcpy(copy, bytes, length);
    return copy;
}

static void set_doc(BtVm *vm, const char *_Atomic *doc, const char *bytes, size_t length) {
    /* release: pairs with the acquire loads of the readers, which take no lock */
    atomic_store_explicit(doc, own_text(vm, bytes, length), memory_order_release);
}

static bool add_method(BtVm *vm, Class *c, CodeUnit *unit, const BcMethod *bc, bool class_side,
                       bool extension) {
    Method *m = method_new(vm);
    if (!m) return false;
    m->selector = intern(vm, bc->selector);
    m->fn = &unit->functions[bc->function];
    m->owner = c;
    m->flags = bc->flags;
    /* the library's own classes that have class variables keep them like any other: in their process */
    if (class_side && unit->stdlib && !(c->bc && c->bc->class_var_count)) m->flags |= METHOD_DIRECT;
    m->class_side = class_side;
    m->extension = extension;
    set_doc(vm, &m->doc, bc->doc.bytes, bc->doc.length);
    return method_table_put(vm->memory, table_of(c, class_side, extension), m);
}

/* ---- classes ---- */

static const struct {
    const char *name;
    uint32_t id;
} FIXED_IDS[] = {
#define CLASS(name, superclass) {#name, CLASS_ID_##name},
#include "vm/classes.def"
#undef CLASS
};

static uint32_t fixed_id(BcText name) {
    for (size_t i = 0; i < sizeof FIXED_IDS / sizeof *FIXED_IDS; i++)
        if (strlen(FIXED_IDS[i].name) == name.length &&
            memcmp(FIXED_IDS[i].name, name.bytes, name.length) == 0)
            return FIXED_IDS[i].id;
    return 0;
}

static Class *class_new(BtVm *vm, const BcClass *bc, Value name) {
    ClassTable *t = vm->classes;
    uint32_t limit = atomic_load_explicit(&t->class_limit, memory_order_relaxed), id = fixed_id(bc->name);
    if (!id) id = limit;
    if (id >= MAX_CLASSES) return NULL;
    Class *c = memory_zalloc(vm->memory, sizeof *c);
    if (!c) return NULL;
    c->id = id;
    c->name = name;
    atomic_init(&c->process, V_NIL);
    /* release: whoever sees the id sees the class; its tables follow under the lock */
    atomic_store_explicit(&t->classes[id], c, memory_order_release);
    if (id == limit) atomic_store_explicit(&t->class_limit, limit + 1, memory_order_release);
    return c;
}

static bool same_names(const SlotLayout *layout, const Value *names, uint32_t count) {
    return layout && layout->count == count && memcmp(layout->names, names, count * sizeof *names) == 0;
}

/* Class variables: own names only (they are not inherited). A layout that says the same is kept, so nothing
 * migrates. */
static bool set_class_vars(BtVm *vm, Class *c, const BcClass *bc) {
    Value *names = class_table_own(vm, (bc->class_var_count + 1) * sizeof *names);
    if (!names) return false;
    for (uint32_t i = 0; i < bc->class_var_count; i++) names[i] = intern(vm, bc->class_vars[i].name);
    c->class_var_count = bc->class_var_count;
    c->class_var_names = names;
    if (!bc->class_var_count) return c->class_var_layout = NULL, true;
    if (!same_names(c->class_var_layout, names, bc->class_var_count))
        c->class_var_layout = slot_layout_new(vm, names, bc->class_var_count);
    return c->class_var_layout != NULL;
}

/* Fields: the superclass's first, then the own ones that do not repeat an inherited name. */
static bool set_fields(BtVm *vm, Class *c, bool *moved) {
    const Class *s = c->superclass;
    uint32_t inherited = s ? s->field_count : 0, own = c->bc->field_count, count = inherited;
    Value *names = class_table_own(vm, (inherited + own + 1) * sizeof *names);
    const BcField **info = class_table_own(vm, (inherited + own + 1) * sizeof *info);
    Class **owners = class_table_own(vm, (inherited + own + 1) * sizeof *owners);
    if (!names || !info || !owners) return false;
    if (s) {
        memcpy(names, s->field_names, inherited * sizeof *names);
        memcpy(info, s->field_info, inherited * sizeof *info);
        memcpy(owners, s->field_owner, inherited * sizeof *owners);
    }
    for (uint32_t i = 0; i < own; i++) {
        Value name = intern(vm, c->bc->fields[i].name);
        uint32_t at = 0;
        while (at < inherited && names[at] != name) at++;
        if (at == inherited) at = count++;
        names[at] = name;
        info[at] = &c->bc->fields[i];
        owners[at] = c;
    }
    c->value_header = 0; /* no instance is made of it in place before its slots fit again */
    if (!field_slots_set(vm, c, names, count, inherited, moved)) return false;
    c->field_count = count;
    c->inherited_fields = inherited;
    c->field_names = names;
    c->field_info = info;
    c->field_owner = owners;
    if (!same_names(c->state_layout, names, count)) c->state_layout = slot_layout_new(vm, names, count);
    if (!c->state_layout || !literal_slots_set(vm, c)) return false;
    bool in_order = !c->field_slot && c->slot_count == count;
    bool makes_values = in_order && c->kind == BC_KIND_VALUE && !(c->flags & CLASS_ABSTRACT);
    if (makes_values) c->value_header = header_make(c->id, KIND_INSTANCE, 0, 1 + (size_t)count);
    return true;
}

static uint8_t kind_of(const Class *c) {
    for (; c; c = c->superclass) {
        if (c->id == CLASS_ID_Actor) return BC_KIND_ACTOR;
        if (c->id == CLASS_ID_Value) return BC_KIND_VALUE;
    }
    return BC_KIND_OBJECT;
}

/* Own methods are replaced whole; extensions and what was patched in from elsewhere as extension stay. */
static bool define_class(Install *in, const BcClass *bc, Value name) {
    BtVm *vm = in->vm;
    Class *c = class_by_name(vm, name);
    bool fresh = !c, moved;
    if (fresh) c = class_new(vm, bc, name);
    if (!c) return false;
    c->superclass = class_by_name(vm, intern(vm, bc->superclass));
    if (c->superclass) c->superclass->has_subclasses = true;
    c->flags = (uint8_t)(bc->flags | (in->stdlib ? CLASS_STDLIB : 0));
    c->kind = kind_of(c);
    c->unit = in->unit;
    c->bc = bc;
    set_doc(vm, &c->doc, bc->doc.bytes, bc->doc.length);
    method_table_free(vm->memory, c->methods);
    method_table_free(vm->memory, c->class_methods);
    c->methods = c->class_methods = NULL;
    for (uint32_t i = 0; i < bc->method_count; i++)
        if (!add_method(vm, c, in->unit, &bc->methods[i], bc->methods[i].class_side, false)) return false;
    if (!set_fields(vm, c, &moved) || !set_class_vars(vm, c, bc)) return false;
    if (fresh)
        atomic_store_explicit(&vm->classes->by_symbol[value_to_symbol(name)], c->id, memory_order_release);
    return true;
}

/* Does a class not have the fields of its superclass as that has them now? */
static bool is_stale(const Class *c) {
    const Class *s = c->superclass;
    if (c->inherited_fields != s->field_count ||
        memcmp(c->field_names, s->field_names, s->field_count * sizeof(Value)) != 0)
        return true;
    for (uint32_t i = 0; i < s->field_count; i++)
        if (class_field_slot(c, i) != class_field_slot(s, i)) return true;
    return false;
}

/* Subclasses outside the unit follow a changed superclass. */
static bool relayout_subclasses(Install *in) {
    BtVm *vm = in->vm;
    uint32_t limit = atomic_load_explicit(&vm->classes->class_limit, memory_order_relaxed);
    for (unsigned depth = 0; depth < MAX_HIERARCHY_DEPTH; depth++) {
        bool changed = false;
        for (uint32_t id = 1; id < limit; id++) {
            Class *c = class_by_id(vm, id);
            if (!c || !c->superclass || c->removed) continue;
            bool moved;
            if (!is_stale(c)) continue;
            if (!set_fields(vm, c, &moved)) return false;
            if (moved && !in->moved_count++) in->moved = c;
            changed = true;
        }
        if (!changed) break;
    }
    return true;
}

/* At the top level of an interactive input `C >> s => ...` patches the live class (semantics 20.2); anywhere
 * else it is an extension. */
static bool add_extension(Install *in, const BcMethod *bc) {
    Value name = intern(in->vm, bc->class_name);
    Class *c = class_by_name(in->vm, name);
    BcText unit_name = in->unit->bc->name;
    bool interactive = unit_name.length == 4 && memcmp(unit_name.bytes, "eval", 4) == 0;
    bool own = index_in_unit(in, name) != BC_NONE || (interactive && !(c->flags & CLASS_STDLIB)) ||
               (in->stdlib && (c->flags & CLASS_STDLIB));
    return add_method(in->vm, c, in->unit, bc, bc->class_side, !own);
}

static bool define_all(Install *in) {
    const BcUnit *bc = in->unit->bc;
    for (uint32_t i = 0; i < bc->class_count; i++)
        if (!define_class(in, &bc->classes[in->order[i]], in->names[in->order[i]])) return false;
    if (bc->class_count && !in->stdlib && !relayout_subclasses(in)) return false;
    for (uint32_t i = 0; i < bc->extension_count; i++)
        if (!add_extension(in, &bc->extensions[i])) return false;
    return true;
}

/* The library must define the classes whose ids are built in, below the superclass that classes.def says. */
static bool check_fixed_classes(Install *in) {
    static const struct {
        uint32_t id, superclass;
    } ROWS[] = {
#define CLASS(name, superclass) {CLASS_ID_##name, CLASS_ID_##superclass},
#include "vm/classes.def"
#undef CLASS
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        Class *c = class_by_id(in->vm, ROWS[i].id);
        BcText name = {FIXED_IDS[i].name, (uint32_t)strlen(FIXED_IDS[i].name)};
        if (!c) return refuse(in, "the library does not define class `%.*s`%.*s", name, (BcText){0});
        if ((c->superclass ? c->superclass->id : CLASS_ID_None) != ROWS[i].superclass)
            return refuse(in, "the library gives class `%.*s` another superclass than the VM knows%.*s", name,
                          (BcText){0});
    }
    return true;
}

/* Classes with class variables get their process at once: their initial values are computed at load
 * (semantics 20.1), those of new variables at reload. */
static void start_processes(Install *in) {
    const BcUnit *bc = in->unit->bc;
    for (uint32_t i = 0; i < bc->class_count; i++) {
        Class *c = class_by_name(in->vm, in->names[i]);
        if (!c || !c->class_var_layout || in->stdlib) continue;
        Value pid = class_process(in->vm, c);
        Process *p = pid == V_HOLE ? NULL : process_by_pid(in->vm, pid);
        if (p) sched_make_runnable(in->vm, p);
    }
}

bool classes_install(BtVm *vm, CodeUnit *unit, bool stdlib, char *reason, size_t reason_size) {
    const BcUnit *bc = unit->bc;
    Install in = {.vm = vm, .unit = unit, .stdlib = stdlib, .reason = reason, .reason_size = reason_size};
    in.order = memory_zalloc(vm->memory, (bc->class_count + 1) * sizeof *in.order);
    in.names = memory_zalloc(vm->memory, (bc->class_count + 1) * sizeof *in.names);
    bool done = in.order && in.names;
    if (!done) snprintf(reason, reason_size, "out of memory");
    unit->stdlib = stdlib;
    pthread_rwlock_wrlock(&vm->classes->lock);
    for (uint32_t i = 0; done && i < bc->class_count; i++) in.names[i] = intern(vm, bc->classes[i].name);
    done = done && check_unit(&in);
    if (done) {
        code_retain(unit); /* the table's count */
        done = define_all(&in);
        if (!done) snprintf(reason, reason_size, "out of memory");
        if (!stdlib) dispatch_flush(vm); /* nothing has run before the library, so no cache is filled */
    }
    pthread_rwlock_unlock(&vm->classes->lock);
    if (in.moved)
        vm_log(
            vm,
            "warning: fields of class %s%s have moved, and its methods look where they were; load it again",
            symbol_text(vm, in.moved->name, NULL), in.moved_count > 1 ? ", and of others below," : "");
    if (done && stdlib) done = check_fixed_classes(&in);
    if (done) start_processes(&in);
    memory_free(vm->memory, in.order);
    memory_free(vm->memory, in.names);
    return done;
}

/* ---- single methods, removal ---- */

/* Folds over Lists are compiled in place, as the library has them. */
static void note_patched(BtVm *vm, const Class *c, bool class_side) {
    if (c->id == CLASS_ID_List && !class_side)
        atomic_store_explicit(&vm->list_patched, true, memory_order_relaxed);
}

bool class_install_method(BtVm *vm, Class *c, bool class_side, bool extension, CodeUnit *unit,
                          const BcMethod *bc) {
    pthread_rwlock_wrlock(&vm->classes->lock);
    bool done = add_method(vm, c, unit, bc, class_side, extension);
    if (done) code_retain(unit);
    if (!extension) note_patched(vm, c, class_side);
    dispatch_flush(vm);
    pthread_rwlock_unlock(&vm->classes->lock);
    return done;
}

bool class_remove_method(BtVm *vm, Class *c, bool class_side, Value selector) {
    pthread_rwlock_wrlock(&vm->classes->lock);
    Method *m = method_table_remove(*table_of(c, class_side, false), selector);
    if (!m) m = method_table_remove(*table_of(c, class_side, true), selector);
    if (m) dispatch_flush(vm);
    if (m) note_patched(vm, c, class_side);
    pthread_rwlock_unlock(&vm->classes->lock);
    return m != NULL;
}

bool class_set_doc(BtVm *vm, Class *c, Method *method, const char *text, size_t length) {
    const char *_Atomic *doc = method ? &method->doc : &c->doc;
    pthread_rwlock_wrlock(&vm->classes->lock); /* the table's memory has one owner at a time */
    set_doc(vm, doc, text, length);
    bool ok = !length || atomic_load_explicit(doc, memory_order_relaxed);
    pthread_rwlock_unlock(&vm->classes->lock);
    return ok;
}

bool class_remove(BtVm *vm, Class *c) {
    pthread_rwlock_wrlock(&vm->classes->lock);
    bool there = !c->removed;
    c->removed = true;
    atomic_store_explicit(&vm->classes->by_symbol[value_to_symbol(c->name)], 0, memory_order_release);
    dispatch_flush(vm);
    pthread_rwlock_unlock(&vm->classes->lock);
    Value pid = atomic_load_explicit(&c->process, memory_order_acquire);
    if (there && value_is_pid(pid)) process_exit_signal(vm, pid, SYMBOL(killed), true);
    return there;
}

/* ---- class processes ---- */

Value class_process(BtVm *vm, Class *c) {
    /* acquire: pairs with the store below */
    Value pid = atomic_load_explicit(&c->process, memory_order_acquire);
    if (value_is_pid(pid) && process_is_alive(vm, pid)) return pid;
    pthread_mutex_lock(&vm->classes->process_lock);
    pid = atomic_load_explicit(&c->process, memory_order_acquire);
    bool died = value_is_pid(pid) && !process_is_alive(vm, pid);
    if (!value_is_pid(pid) || died) {
        SpawnOptions options = {.role = PROC_CLASS,
                                .self_ref = value_from_class(c->id),
                                .class_id = c->id,
                                .ignore_link_exits = true};
        Process *p = c->removed ? NULL : process_new(vm, &options);
        pid = p ? p->pid : V_HOLE;
        if (p) atomic_store_explicit(&c->process, pid, memory_order_release);
        if (p && c->class_var_layout) sched_make_runnable(vm, p); /* it computes their initial values */
    }
    pthread_mutex_unlock(&vm->classes->process_lock);
    if (died && pid != V_HOLE && c->class_var_layout)
        vm_log(vm,
               "warning: the process of class %s had ended and was started again; its class variables have "
               "their declared initial values",
               symbol_text(vm, c->name, NULL));
    return pid;
}
