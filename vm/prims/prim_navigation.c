/* Primitives of navigation: what a method's text mentions, which selectors are defined. The library asks
 * method by method (stdlib/SystemNavigation.bt). */
#define _GNU_SOURCE
#include <ctype.h>
#include "vm/bytecode/uses.h"
#include "vm/prims/prim_support.h"
#include "vm/rooted.h"
#include "vm/tuple.h"

/* ---- uses ---- */

typedef struct {
    uint8_t kind;
    uint32_t line;
    Value name;
} FoundUse;

typedef struct {
    BtVm *vm;
    uint32_t kinds;     /* bit by UseKind */
    const char *wanted; /* NULL: any name */
    FoundUse *items;
    size_t count, capacity;
    bool failed;
} Uses;

/* `lists:reverse` wants any number of arguments, `lists:reverse/1` this one. */
static bool name_matches(UseKind kind, const char *wanted, const char *name) {
    if (!wanted || !strcmp(wanted, name)) return true;
    size_t n = strlen(wanted);
    return kind == USE_FOREIGN && !strchr(wanted, '/') && !strncmp(wanted, name, n) && name[n] == '/';
}

static void found_use(const MethodUse *use, void *context) {
    Uses *u = context;
    if (!(u->kinds & 1u << use->kind) || !name_matches(use->kind, u->wanted, use->name) || u->failed) return;
    if (u->count == u->capacity) {
        FoundUse *grown = memory_grown(u->vm->memory, u->items, &u->capacity, sizeof *grown, 16);
        if (!grown) {
            u->failed = true;
            return;
        }
        u->items = grown;
    }
    Value name = symbol_intern(u->vm, use->name, strlen(use->name));
    u->failed = name == V_HOLE;
    u->items[u->count++] = (FoundUse){.kind = (uint8_t)use->kind, .line = use->line, .name = name};
}

/* The List of #(kind, name, line). */
static PrimStatus uses_list(Process *p, const Uses *u, Value *result) {
    enum { TUPLE_WORDS = 4 };
    *result = V_EMPTY_LIST;
    if (!heap_reserve(p, u->count * (LIST_CELL_WORDS + TUPLE_WORDS))) return PRIM_RAISE;
    for (size_t i = u->count; i-- > 0;) {
        Value tuple = heap_new(p, KIND_TUPLE, CLASS_ID_Tuple, TUPLE_WORDS);
        object_words(tuple)[1] = value_from_int(u->items[i].kind);
        object_words(tuple)[2] = u->items[i].name;
        object_words(tuple)[3] = value_from_int(u->items[i].line);
        *result = list_cons_reserved(p, tuple, *result);
    }
    return PRIM_OK;
}

/* The first word of a selector, class or function name must stand in a text that uses it: no need to parse
 * the others. Operators inside a name are no words. */
static bool may_use(const char *source, size_t length, const char *wanted) {
    if (!wanted) return true;
    size_t n = 0;
    while (isalnum((unsigned char)wanted[n]) || wanted[n] == '_') n++;
    if (wanted[n] == ':' && n > 0 && wanted[n + 1] == 0) n++;
    return n == 0 || memmem(source, length, wanted, n) != NULL;
}

/* args[1]: the text of a method; args[2]: bits of UseKind; args[3]: a name as a String, or nil for any. */
PRIM(prim_navigation_uses) {
    (void)count;
    if (!value_is_bytes(args[1]) || !value_is_int(args[2]) || !p->vm->compiler.uses)
        return *result = V_EMPTY_LIST, PRIM_OK;
    size_t length, wanted_length;
    char *source = native_text(p, args[1], &length);
    char *wanted = value_is_bytes(args[3]) ? native_text(p, args[3], &wanted_length) : NULL;
    if (!source || (value_is_bytes(args[3]) && !wanted)) {
        memory_free(p->vm->memory, source);
        memory_free(p->vm->memory, wanted);
        return error_resource(p, NULL);
    }
    Uses u = {.vm = p->vm, .kinds = (uint32_t)value_to_int(args[2]), .wanted = wanted};
    if (may_use(source, length, wanted))
        (void)p->vm->compiler.uses(p->vm->memory, source, length, found_use, &u);
    (void)process_charge(p, (uint32_t)(1 + length / 16));
    PrimStatus status = u.failed ? error_resource(p, NULL) : uses_list(p, &u, result);
    memory_free(p->vm->memory, u.items);
    memory_free(p->vm->memory, source);
    memory_free(p->vm->memory, wanted);
    return status;
}

/* ---- selectors ---- */

typedef struct {
    BtVm *vm;
    Value *items;
    size_t count, capacity;
    bool failed;
} Selectors;

static void found_method(Method *m, void *context) {
    Selectors *s = context;
    if (s->count == s->capacity) {
        Value *grown = memory_grown(s->vm->memory, s->items, &s->capacity, sizeof *grown, 512);
        if (!grown) {
            s->failed = true;
            return;
        }
        s->items = grown;
    }
    s->items[s->count++] = m->selector;
}

static void found_class(Class *c, void *context) {
    Selectors *s = context;
    class_each_method(s->vm, c, false, found_method, s);
    class_each_method(s->vm, c, true, found_method, s);
}

static PrimStatus selectors_list(Process *p, Selectors *s, Value *result) {
    PrimStatus status =
        s->failed ? error_resource(p, NULL) : list_of_immediates(p, s->items, s->count, result);
    memory_free(p->vm->memory, s->items);
    return status;
}

/* Every selector that some class defines on either side, the library's private ones included; with repeats.
 */
PRIM(prim_navigation_defined) {
    (void)args, (void)count;
    Selectors s = {.vm = p->vm};
    class_each(p->vm, found_class, &s);
    return selectors_list(p, &s, result);
}

/* The same of one class or metaclass. */
PRIM(prim_navigation_own_methods) {
    (void)count;
    Selectors s = {.vm = p->vm};
    bool meta = value_is_meta(args[0]);
    Class *c = meta || value_is_class(args[0]) ? class_by_id(p->vm, special_payload(args[0])) : NULL;
    if (c) class_each_method(p->vm, c, meta, found_method, &s);
    return selectors_list(p, &s, result);
}
