/* Class variables: the one home (ADR 0130). The only module that touches ClassVarHome.
 *
 * Invariants: at most one live invocation per process; install and uninstall are the only writers of live and
 * live_class together; nothing nests. A snapshot (with_snapshot) is a read-only view that never counts as the
 * process's invocation. */
#ifndef BT_VM_CLASS_VARS_H
#define BT_VM_CLASS_VARS_H

#include "vm/error.h"
#include "vm/process.h"

/* Of a process at its birth: no record, no invocation, no view. */
void class_vars_init(Process *p);

/* Invocation entry and exit, one pair. install asserts absence first: internal_error (PRIM_RAISE) leaves
 * everything intact. */
PrimStatus class_vars_install(Process *p, Class *c);
/* keep: the live record becomes the committed one (normal answer, foreign ^); else the entry record stays
 * (escaping error). */
void class_vars_uninstall(Process *p, bool keep);
bool class_vars_present(const Process *p, uint32_t class_id);

/* Access from code whose self is class object `self_class`. capture: V_HOLE, or the value from block
 * creation. */
PrimStatus class_vars_get(Process *p, Site *site, Value self_class, Value capture, Value *out);
PrimStatus class_vars_put(Process *p, Site *site, Value self_class, Value value);
PrimStatus class_vars_has(Process *p, Site *site, Value self_class, Value capture, Value *out);
/* The interpreter's fast paths: slot + 1 of the site's variable if it is at home here and the site is warm,
 * else 0. */
static inline uint32_t class_vars_live_word(const Process *p, Site *site, Value self_class) {
    const ClassVarHome *h = &p->class_vars;
    /* acquire: as in class_vars_get */
    uint64_t word = atomic_load_explicit(&site->word, memory_order_acquire);
    if ((uint32_t)(word >> 32) != h->live_layout || self_class != h->live_class) return 0;
    return (uint32_t)word;
}
static inline Value class_vars_live(const Process *p, uint32_t word) {
    return object_at(p->class_vars.live, word);
}
static inline bool class_vars_live_is_own(const Process *p) { return record_is_own(p, p->class_vars.live); }
static inline void class_vars_live_set(Process *p, uint32_t word, Value value) {
    object_words(p->class_vars.live)[word] = value;
}
/* For a block's capture list: the live value of the variable at home, `outer` (the enclosing block's capture)
 * away. */
Value class_vars_capture(Process *p, Value self_class, Value name, Value outer);

/* Regions (vm/region.h, which marks the records shared): the live record, V_HOLE outside an invocation, and
 * the two homes that follow in the control block, actor state and carriers, in one copy; restore of V_HOLE
 * does nothing and plants nothing. */
static inline void class_vars_snapshot_homes(const Process *p, Value *slots) {
    memcpy(slots, (const char *)p + offsetof(Process, class_vars.live), 3 * sizeof *slots);
}
_Static_assert(offsetof(Process, state) == offsetof(Process, class_vars.live) + sizeof(Value) &&
                   offsetof(Process, carriers) == offsetof(Process, state) + sizeof(Value),
               "the homes that a snapshot notes stand together");
void class_vars_restore(Process *p, Value snapshot);

/* Does an invocation of exactly this class run here? */
bool class_vars_in_invocation(const Process *p, uint32_t class_id);

/* The four with_snapshot sites: installs a read-only view (the class's committed variables by name) beside
 * those that are here already. The caller has asked that the class's key is absent, and puts back the views
 * there were, V_NIL or a Dictionary, however its code ends. MAY_GC; false: resource_error is pending. */
bool class_vars_install_view(Process *p, uint32_t class_id, Value variables);
Value class_vars_views(const Process *p);
void class_vars_restore_views(Process *p, Value views);

/* Declared initial values. The class process computes them before it serves its first message (vm/serve.c),
 * and again for new names after a reload: begin_layout makes the record by the new names, values kept by
 * name, the rest unset; then next_unset and set_initial, one variable after the other, until next_unset
 * answers -1. */
bool class_vars_begin_layout(Process *p,
                             const SlotLayout *layout); /* false = pending resource_error. MAY_GC */
int class_vars_next_unset(Process *p);
bool class_vars_set_initial(Process *p, Value value); /* of the variable that next_unset named. MAY_GC */
/* For system signals: Dictionaries of names and values, made in p's heap. MAY_GC; V_HOLE: no memory, an error
 * is pending in p.
 * The committed map is the one at entry while an invocation runs; V_NIL: the process has no class variables,
 * or their initial values are still being computed. The live map is V_NIL outside an invocation. */
Value class_vars_committed(Process *p);
Value class_vars_live_map(Process *p);
/* The class whose invocation runs here, V_NIL: none. */
Value class_vars_home(const Process *p);

#endif
