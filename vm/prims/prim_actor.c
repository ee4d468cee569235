/* Primitives of actors: birth, state, end, names (semantics 15). Sent to a reference they run in the caller's
 * process; those marked "own" run in the actor's. */
#include "vm/dict.h"
#include "vm/prims/prim_support.h"
#include "vm/tracing.h"

/* ---- birth ---- */

/* With `state`, the process is ready to serve; else `__start:` must be its first message. */
static PrimStatus make_process(Process *p, const Class *c, const Value *state, Value *result) {
    if (!heap_reserve(p, 2)) return PRIM_RAISE;
    SpawnOptions options = {.role = PROC_ACTOR,
                            .self_ref = V_NIL,
                            .class_id = c->id,
                            .parent = p,
                            .state_layout = c->state_layout,
                            .state = state};
    Process *fresh = process_new(p->vm, &options);
    if (!fresh) return error_resource(p, "The limit of processes or memory was reached");
    Value reference = heap_new(p, KIND_ACTOR_REF, c->id, 2);
    object_words(reference)[1] = fresh->pid;
    *result = reference;
    return PRIM_OK;
}

PRIM(prim_actor_make_process) {
    (void)count;
    Class *c = value_is_class(args[0]) ? class_by_id(p->vm, special_payload(args[0])) : NULL;
    if (!c || c->kind != BC_KIND_ACTOR) return error_dnu(p, args[0], args[1], NULL);
    if (c->flags & CLASS_ABSTRACT)
        return error_raise(p, ERR_instantiation_error, c->name, args[1], NULL,
                           "Abstract classes cannot be instantiated. Subclass it first.", V_NIL);
    return make_process(p, c, NULL, result);
}

/* The class has nothing of its own where Actor has a hook that does nothing. */
static bool has_no(Process *p, Value hook, uint32_t class_id) {
    const Method *m = selector_lookup(p, hook, class_id);
    return m && m->owner->id == CLASS_ID_Actor;
}

/* The class, if birth runs no code of it: literal fields, no initialize. NULL: it runs some, or refuses. */
static const Class *born_ready(Process *p, Value class_value) {
    const Class *c = value_is_class(class_value) ? class_by_id(p->vm, special_payload(class_value)) : NULL;
    if (!c || !c->literal_slots || (c->flags & CLASS_ABSTRACT)) return NULL;
    return has_no(p, SYMBOL(initialize), c->id) ? c : NULL;
}

/* An actor that is ready at once; nil: birth has to run code, to refuse, or to preset fields. */
PRIM(prim_actor_born_ready) {
    (void)count;
    const Class *c = dict_is(args[1]) && !dict_size(args[1]) ? born_ready(p, args[0]) : NULL;
    if (!c) return *result = V_NIL, PRIM_OK;
    return make_process(p, c, c->literal_slots, result);
}

/* Somebody may want to hear of births and ends (SystemAnnouncer). */
static bool are_announced(Process *p) {
    return registry_lookup(p->vm, SYMBOL(beamtalk_system_announcer)) != V_NIL;
}

/* The short way of `spawn`, where nothing but a process is to be made. */
PRIM(prim_actor_spawn) {
    (void)count;
    const Class *c = born_ready(p, args[0]);
    return c && !are_announced(p) ? make_process(p, c, c->literal_slots, result) : PRIM_FAIL;
}

/* own: args[1] the Tuple of defaults, args[2] the Dictionary that overrides them. */
PRIM(prim_actor_set_state) {
    (void)count;
    Class *c = class_by_id(p->vm, object_class(args[0]));
    if (!value_is_kind(args[1], KIND_TUPLE) || p->role != PROC_ACTOR || object_at(args[0], 1) != p->pid)
        return error_argument(p, args[0], SYMBOL(__start), NULL);
    const SlotLayout *layout = c->state_layout;
    uint32_t slots = layout ? layout->count : 0;
    Value record = record_new(p, slots);
    if (record == V_HOLE) return PRIM_RAISE;
    for (uint32_t i = 0; i < slots; i++) {
        Value v = dict_is(args[2]) ? dict_get(p->vm, args[2], layout->names[i]) : V_HOLE;
        if (v == V_HOLE) v = i + 1 < object_size(args[1]) ? object_at(args[1], i + 1) : V_NIL;
        object_words(record)[i + 1] = v;
    }
    p->state = record;
    p->state_layout = layout;
    *result = V_NIL;
    return PRIM_OK;
}

/* own: `initialize` methods of the chain, ancestors first, as CompiledMethods. */
PRIM(prim_actor_initializers) {
    (void)count;
    Method *found[MAX_HIERARCHY_DEPTH];
    size_t n = 0;
    for (Class *c = class_by_id(p->vm, object_class(args[0])); c && n < MAX_HIERARCHY_DEPTH;
         c = c->superclass) {
        Method *m = c->id == CLASS_ID_Actor ? NULL : class_own_method(p->vm, c, false, SYMBOL(initialize));
        if (m) found[n++] = m;
    }
    if (!heap_reserve(p, n * 7)) return PRIM_RAISE;
    Value list = V_EMPTY_LIST;
    for (size_t i = 0; i < n; i++) { /* found is leaf first; consing turns it round */
        Value method = heap_new(p, KIND_METHOD, CLASS_ID_CompiledMethod, 4);
        object_words(method)[1] = (uint64_t)(uintptr_t)found[i];
        object_words(method)[2] = value_from_class(found[i]->owner->id);
        object_words(method)[3] = found[i]->selector;
        Value cell = heap_new(p, KIND_CONS, CLASS_ID_List, 3);
        object_words(cell)[1] = method;
        object_words(cell)[2] = list;
        list = cell;
    }
    *result = list;
    return PRIM_OK;
}

/* own: runs one method, found already, on self. */
PRIM(prim_actor_call_method) {
    (void)count, (void)result;
    if (!value_is_kind(args[1], KIND_METHOD)) return error_argument(p, args[0], named(p, "__call:"), NULL);
    PrimStatus status = prim_send(p, args[0], object_at(args[1], 3), NULL, 0);
    p->send->method = (const Method *)(uintptr_t)object_at(args[1], 1);
    return status;
}

/* own: the text of the complaint about a typed field without default that is still nil; nil if all is well.
 */
PRIM(prim_actor_unset_field) {
    (void)count;
    Class *c = class_by_id(p->vm, object_class(args[0]));
    *result = V_NIL;
    for (uint32_t i = 0; i < c->field_count; i++) {
        const BcField *f = c->field_info[i];
        int slot = p->state_layout ? slot_layout_find(p->state_layout, c->field_names[i]) : -1;
        if (slot < 0 || f->has_default || f->allows_nil || f->type.length == 0 ||
            object_at(p->state, (size_t)slot + 1) != V_NIL)
            continue;
        char text[600];
        const char *owner = symbol_text(p->vm, c->field_owner[i]->name, NULL);
        snprintf(text, sizeof text,
                 "UninitializedStateError in %s: %s field '%.*s' (:: %.*s) was not initialized", owner, owner,
                 (int)f->name.length, f->name.bytes, (int)f->type.length, f->type.bytes);
        return string_from_cstring(p, text, result);
    }
    return PRIM_OK;
}

/* ---- life and death ---- */

PRIM(prim_actor_pid) {
    (void)count;
    *result = pid_of(p, args[0]);
    return PRIM_OK;
}

PRIM(prim_actor_is_alive) {
    (void)count;
    Value pid = pid_of(p, args[0]);
    *result = value_from_bool(pid != V_NIL && process_is_alive(p->vm, pid));
    return PRIM_OK;
}

/* own: the process ends with this reason once the present message is answered. */
PRIM(prim_actor_end_self) {
    (void)count;
    p->link.exit_reason = args[1];
    p->link.ending = true;
    *result = SYMBOL(ok);
    return PRIM_OK;
}

/* The short way of `stop`, where it runs no code: the actor waits, and would do nothing but end. */
PRIM(prim_actor_stop) {
    (void)count;
    uint32_t class_id;
    Value pid = pid_of(p, args[0]);
    *result = SYMBOL(ok);
    if (pid == V_NIL || !process_class_of(p->vm, pid, &class_id)) return PRIM_OK;
    if (!has_no(p, SYMBOL(terminate), class_id) || are_announced(p) || tracing_is_on(p->vm)) return PRIM_FAIL;
    if (!process_end_idle(p, pid)) return PRIM_FAIL;
    /* that it was linked is over, as if its last answer had come */
    return process_has_signals(p) && !process_poll_signals(p) ? PRIM_YIELD : PRIM_OK;
}

PRIM(prim_actor_ended) {
    (void)count;
    Value pid = pid_of(p, args[0]);
    *result = V_TRUE;
    if (pid != V_NIL && pid != p->pid && !process_has_ended(p->vm, pid))
        return process_await_end(p, pid, 5000000);
    return PRIM_OK;
}

PRIM(prim_actor_monitor) {
    (void)count;
    Value reference = reference_new(p);
    if (reference == V_HOLE) return PRIM_RAISE;
    process_monitor(p, pid_of(p, args[0]), reference);
    *result = reference;
    return PRIM_OK;
}

PRIM(prim_actor_unlink) {
    (void)count;
    Value pid = pid_of(p, args[0]);
    if (pid != V_NIL) process_unlink(p, pid);
    *result = V_NIL;
    return PRIM_OK;
}

/* A watcher process waits for the end and runs the block with the reason. The watch is set before this
 * answers: a kill that follows finds it. */
PRIM(prim_actor_on_exit) {
    (void)count;
    Class *watcher = class_by_name(p->vm, named(p, "ExitWatcher"));
    if (!value_is_kind(args[1], KIND_CLOSURE) || !watcher)
        return error_type(p, args[0], named(p, "onExit:"), "Expected a one-argument block");
    Value reference = reference_new(p);
    if (reference == V_HOLE) return PRIM_RAISE;
    Value pair[2] = {reference, args[1]};
    if (!process_start_watching(p, pid_of(p, args[0]), value_from_class(watcher->id), named(p, "watch:do:"),
                                pair, 2))
        return error_resource(p, NULL);
    *result = SYMBOL(ok);
    return PRIM_OK;
}

PRIM(prim_pid_is_alive) {
    return (void)count, *result = value_from_bool(process_is_alive(p->vm, args[0])), PRIM_OK;
}
/* A signal to the own process acts before the next expression: nothing runs after one's own kill. */
static PrimStatus signal_exit(Process *p, Value pid, Value reason, bool kill, Value *result) {
    *result = V_TRUE;
    if (value_is_pid(pid)) process_exit_signal(p->vm, pid, reason, kill);
    return pid != p->pid || process_poll_signals(p) ? PRIM_OK : PRIM_YIELD;
}
PRIM(prim_pid_kill) { return (void)count, signal_exit(p, args[0], SYMBOL(killed), true, result); }
PRIM(prim_pid_exit) {
    (void)count;
    return signal_exit(p, args[0], value_is_symbol(args[1]) ? args[1] : SYMBOL(error), false, result);
}
PRIM(prim_reference_demonitor) {
    (void)count;
    process_demonitor(p, args[0]);
    return *result = V_TRUE, PRIM_OK;
}

/* ---- names ---- */

static const char *const RESERVED[] = {"application_controller",
                                       "code_server",
                                       "erl_prim_loader",
                                       "erl_signal_server",
                                       "error_logger",
                                       "erts_code_purger",
                                       "file_server_2",
                                       "global_group",
                                       "global_group_check",
                                       "global_name_server",
                                       "inet_db",
                                       "init",
                                       "kernel_refc",
                                       "kernel_safe_sup",
                                       "kernel_sup",
                                       "logger",
                                       "logger_handler_watcher",
                                       "logger_proxy",
                                       "logger_std_h_default",
                                       "logger_sup",
                                       "net_kernel",
                                       "net_sup",
                                       "rex",
                                       "socket_registry",
                                       "standard_error",
                                       "standard_error_sup",
                                       "standard_error_writer",
                                       "user",
                                       "user_drv",
                                       "user_drv_reader",
                                       "user_drv_writer"};

static bool name_is_reserved(const char *name) {
    if (strncmp(name, "beamtalk_", 9) == 0) return true;
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++)
        if (!strcmp(name, RESERVED[i])) return true;
    return false;
}

/* An error as a value: what a Result carries. */
static PrimStatus refusal(Process *p, Value receiver, const char *kind, const char *text, Value *result) {
    (void)error_raise_symbol(p, symbol_intern(p->vm, kind, strlen(kind)), class_name_of(p->vm, receiver),
                             V_NIL, text, NULL, V_NIL);
    *result = p->exception;
    p->exception = V_HOLE;
    return PRIM_OK;
}

/* nil if the name may be registered now, else the exception that says why not. */
PRIM(prim_actor_name_refusal) {
    (void)count;
    *result = V_NIL;
    if (!value_is_symbol(args[1]))
        return refusal(p, args[0], "type_error", "The name must be a Symbol", result);
    const char *name = symbol_text(p->vm, args[1], NULL);
    char text[400];
    if (name_is_reserved(name)) {
        snprintf(text, sizeof text, "Cannot register actor under reserved name '%s'", name);
        return refusal(p, args[0], "reserved_name", text, result);
    }
    if (registry_lookup(p->vm, args[1]) != V_NIL) {
        snprintf(text, sizeof text, "Name '%s' is already registered", name);
        return refusal(p, args[0], "name_registered", text, result);
    }
    return PRIM_OK;
}

PRIM(prim_actor_register) {
    (void)count;
    *result = value_from_bool(registry_register(p->vm, args[1], pid_of(p, args[0])));
    return PRIM_OK;
}

PRIM(prim_actor_unregister) {
    (void)count;
    Value pid = pid_of(p, args[0]);
    Value name = pid == V_NIL ? V_NIL : registry_name_of(p->vm, pid);
    if (name != V_NIL) (void)registry_unregister(p->vm, name, pid);
    return *result = SYMBOL(ok), PRIM_OK;
}

PRIM(prim_actor_registered_name) {
    (void)count;
    Value pid = pid_of(p, args[0]);
    *result = pid == V_NIL ? V_NIL : registry_name_of(p->vm, pid);
    return PRIM_OK;
}

/* nil if the name stands for an actor of the receiver class or one below it. */
PRIM(prim_actor_lookup_refusal) {
    (void)count;
    *result = V_NIL;
    if (!value_is_symbol(args[1]))
        return refusal(p, args[0], "type_error", "The name must be a Symbol", result);
    const char *name = symbol_text(p->vm, args[1], NULL);
    char text[400];
    Value pid = registry_lookup(p->vm, args[1]);
    uint32_t class_id;
    if (pid == V_NIL || !process_class_of(p->vm, pid, &class_id)) {
        snprintf(text, sizeof text, "No actor is registered under name '%s'", name);
        return refusal(p, args[0], "name_not_registered", text, result);
    }
    if (class_id_inherits(p->vm, class_id, special_payload(args[0]))) return PRIM_OK;
    Class *actual = class_by_id(p->vm, class_id), *wanted = class_by_id(p->vm, special_payload(args[0]));
    snprintf(text, sizeof text, "Name '%s' is registered to a %s, not a %s", name,
             actual ? symbol_text(p->vm, actual->name, NULL) : "?",
             wanted ? symbol_text(p->vm, wanted->name, NULL) : "?");
    return refusal(p, args[0], "wrong_class", text, result);
}

/* A reference that resolves its name at every send; it carries the class registered now. */
PRIM(prim_actor_reference) {
    (void)count;
    uint32_t class_id;
    if (!process_class_of(p->vm, registry_lookup(p->vm, args[1]), &class_id))
        class_id = special_payload(args[0]);
    return reference_to(p, class_id, args[1], result);
}

PRIM(prim_watcher_await) {
    (void)count, (void)result;
    if (!value_is_kind(args[1], KIND_REFERENCE))
        return error_argument(p, args[0], named(p, "__await:"), NULL);
    return process_receive(p, reference_serial(args[1]), -1);
}
