/* Primitives of the machine and of the registry as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "vm/prims/prim_support.h"

PRIM(prim_machine_architecture) {
    (void)args, (void)count;
    struct utsname info;
    char text[sizeof info.machine + 32];
    if (uname(&info) != 0) return string_from_cstring(p, "unknown", result);
    snprintf(text, sizeof text, "%s-pc-linux-gnu", info.machine);
    return string_from_cstring(p, text, result);
}

PRIM(prim_machine_hostname) {
    (void)args, (void)count;
    char name[256];
    if (gethostname(name, sizeof name) != 0) return string_from_cstring(p, "localhost", result);
    name[sizeof name - 1] = 0;
    return string_from_cstring(p, name, result);
}

PRIM(prim_machine_pid) {
    return (void)p, (void)args, (void)count, *result = value_from_int(getpid()), PRIM_OK;
}

/* args[2] nil: the variable is taken out. */
PRIM(prim_machine_set_env) {
    (void)p, (void)count;
    if (!value_is_bytes(args[1])) return PRIM_FAIL;
    size_t length;
    char *name = native_text(p, args[1], &length),
         *value = value_is_bytes(args[2]) ? native_text(p, args[2], &length) : NULL;
    if (name) (void)(value ? setenv(name, value, 1) : unsetenv(name));
    memory_free(p->vm->memory, name);
    memory_free(p->vm->memory, value);
    return *result = V_TRUE, PRIM_OK;
}

/* ---- registered actors ---- */

typedef struct {
    const Memory *memory;
    Value *names;
    size_t count, capacity;
} Names;

static void note_name(void *context, Value name, Value pid) {
    (void)pid;
    Names *n = context;
    if (n->count == n->capacity) {
        Value *names = memory_grown(n->memory, n->names, &n->capacity, sizeof *names, 32);
        if (!names) return;
        n->names = names;
    }
    n->names[n->count++] = name;
}

static bool is_library_name(BtVm *vm, Value name) {
    return strncmp(symbol_text(vm, name, NULL), "beamtalk_", 9) == 0;
}

/* All registered names, the library's own included, the oldest first. */
PRIM(prim_machine_names) {
    (void)args, (void)count;
    Names n = {.memory = p->vm->memory};
    registry_each(p->vm, note_name, &n);
    PrimStatus status = list_of_immediates(p, n.names, n.count, result);
    memory_free(p->vm->memory, n.names);
    return status;
}

PRIM(prim_machine_registered) {
    (void)args, (void)count;
    Names names = {.memory = p->vm->memory};
    registry_each(p->vm, note_name, &names);
    bool room = heap_reserve(p, names.count * 5);
    Value list = V_EMPTY_LIST;
    for (size_t i = names.count; room && i-- > 0;) {
        uint32_t class_id;
        if (is_library_name(p->vm, names.names[i])) continue;
        if (!process_class_of(p->vm, registry_lookup(p->vm, names.names[i]), &class_id) || !class_id)
            continue;
        Value reference = heap_new(p, KIND_ACTOR_REF, class_id, 2);
        object_words(reference)[1] = names.names[i];
        Value cell = heap_new(p, KIND_CONS, CLASS_ID_List, 3);
        object_words(cell)[1] = reference;
        object_words(cell)[2] = list;
        list = cell;
    }
    memory_free(p->vm->memory, names.names);
    return *result = list, room ? PRIM_OK : PRIM_RAISE;
}
