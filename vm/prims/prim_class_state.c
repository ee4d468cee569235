/* Primitives of class state seen from other processes: class methods that run elsewhere against a read-only
 * snapshot (performLocally:, supervisor definitions), and what a process holds at one instant.
 *
 * Nobody reads another process's heap: the process itself answers at its next safepoint, in mid-invocation
 * too (vm/system_signal.c). */
#include "vm/class_vars.h"
#include "vm/dict.h"
#include "vm/prims/prim_support.h"

/* ---- class methods in the caller's process ---- */

/* The class method of a performLocally:, NULL: none. `own`: the class's own ones only (semantics 6.6). */
static Method *local_method(Process *p, uint32_t class_id, Value selector, bool own) {
    Class *c = class_by_id(p->vm, class_id);
    if (!own) return class_lookup(p->vm, class_id | DISPATCH_META, selector);
    Method *m = c ? class_own_extension(p->vm, c, true, selector) : NULL;
    return m || !c ? m : class_own_method(p->vm, c, true, selector);
}

/* Runs class method args[2] of class args[1] with the List args[3] here, whatever process the class has;
 * args[4]: only if it is the class's own. */
PRIM(prim_process_direct) {
    (void)count, (void)result;
    Value list[PRIM_SEND_MAX];
    unsigned argc = 0;
    bool proper = value_is_symbol(args[2]) && list_is(args[3]);
    for (Value at = args[3]; proper && at != V_EMPTY_LIST; at = CONS_TAIL(at)) {
        if (argc == PRIM_SEND_MAX) return error_argument(p, args[1], args[2], "Too many arguments");
        list[argc++] = CONS_HEAD(at);
    }
    if (!proper || !value_is_class(args[1]))
        return error_type(p, args[1], named(p, "performLocally:withArguments:"),
                          proper ? "Receiver is not a class object"
                                 : "Expected atom selector and list of arguments");
    Method *m = local_method(p, special_payload(args[1]), args[2], args[4] == V_TRUE);
    if (!m || m->fn->param_count != argc) return error_dnu(p, args[1], args[2], NULL);
    PrimStatus status = prim_send(p, args[1], args[2], list, argc);
    p->send->method = m;
    return status;
}

/* What was made for the answer of a request in its target: nothing may stay pending there. */
static Value made_here(Process *target, Value v) {
    if (v != V_HOLE) return v;
    target->exception = V_HOLE;
    return V_NIL;
}

static void answer_committed(Process *target, void *context) {
    (void)context;
    Value variables = made_here(target, class_vars_committed(target));
    system_answer(target, variables == V_NIL ? named(target, "pending") : variables);
}

/* The committed variables of a class as a Dictionary; nil if it has none, or if this process is at home in
 * the class already; #pending while their initial values are being computed. */
PRIM(prim_process_committed) {
    (void)count;
    *result = V_NIL;
    Class *c = value_is_class(args[1]) ? class_by_id(p->vm, special_payload(args[1])) : NULL;
    if (!c || !c->class_var_count || class_vars_present(p, c->id)) return PRIM_OK;
    Value pid = class_process(p->vm, c);
    return pid == V_HOLE ? PRIM_OK : system_signal(p, pid, answer_committed, NULL);
}

/* Installs the Dictionary as read-only view of the class; answers what __closeView: needs to undo it. */
PRIM(prim_process_open_view) {
    (void)count;
    *result = V_NIL;
    if (!dict_is(args[1]) || !value_is_class(args[2])) return PRIM_OK;
    if (!heap_reserve(p, 2)) return PRIM_RAISE;
    Value saved = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, 2);
    object_words(saved)[1] = class_vars_views(p);
    args[0] = saved; /* a root */
    if (!class_vars_install_view(p, special_payload(args[2]), args[1])) return PRIM_RAISE;
    return *result = args[0], PRIM_OK;
}

PRIM(prim_process_close_view) {
    (void)count;
    if (value_is_kind(args[1], KIND_TUPLE) && object_size(args[1]) == 2)
        class_vars_restore_views(p, object_at(args[1], 1));
    return *result = V_NIL, PRIM_OK;
}

/* ---- what a process holds at one instant (ProcessSnapshot) ---- */

enum {
    SNAP_ROLE,
    SNAP_HOME,
    SNAP_COMMITTED,
    SNAP_LIVE,
    SNAP_VIEWS,
    SNAP_DICTIONARY,
    SNAP_SELECTOR,
    SNAP_CALLER,
    SNAP_COUNT
};

static const char *role_name(const Process *p) {
    return p->role == PROC_CLASS ? "class" : p->role == PROC_ACTOR ? "actor" : "plain";
}

/* The Tuple of the parts above, made in p; V_HOLE: no memory. */
static Value snapshot_of(Process *p) {
    Value parts[SNAP_COUNT];
    for (unsigned i = 0; i < SNAP_COUNT; i++) parts[i] = V_NIL;
    RootSpan span;
    roots_push(p, &span, parts, SNAP_COUNT);
    parts[SNAP_ROLE] = named(p, role_name(p));
    parts[SNAP_HOME] = class_vars_home(p);
    parts[SNAP_COMMITTED] = made_here(p, class_vars_committed(p));
    parts[SNAP_LIVE] = made_here(p, class_vars_live_map(p));
    parts[SNAP_VIEWS] = class_vars_views(p);
    parts[SNAP_DICTIONARY] = p->dictionary;
    if (p->serving) parts[SNAP_SELECTOR] = p->serving->selector, parts[SNAP_CALLER] = p->serving->sender;
    Value tuple = V_HOLE;
    if (heap_reserve(p, SNAP_COUNT + 1)) {
        tuple = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, SNAP_COUNT + 1);
        memcpy(object_words(tuple) + 1, parts, sizeof parts);
    }
    roots_pop(p, &span);
    return tuple;
}

static void answer_snapshot(Process *target, void *context) {
    (void)context;
    system_answer(target, made_here(target, snapshot_of(target)));
}

/* The Pid of the process behind a class object, an actor or a Pid; nil if there is none. No class is started
 * for it. */
PRIM(prim_snapshot_pid) {
    (void)count;
    Class *c = value_is_class(args[1]) ? class_by_id(p->vm, special_payload(args[1])) : NULL;
    /* acquire: pairs with the store in class_process */
    Value pid = c ? atomic_load_explicit(&c->process, memory_order_acquire) : pid_of(p, args[1]);
    return *result = value_is_pid(pid) && process_is_alive(p->vm, pid) ? pid : V_NIL, PRIM_OK;
}

/* Of the process behind the Pid args[1]; nil if it has ended. */
PRIM(prim_snapshot_parts) {
    (void)count;
    *result = V_NIL;
    if (!value_is_pid(args[1]) || !process_is_alive(p->vm, args[1])) return PRIM_OK;
    return system_signal(p, args[1], answer_snapshot, NULL);
}
