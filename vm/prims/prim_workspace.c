/* Primitives of the live workspace: variables of sessions, shared names, loading of source texts, and what
 * classes and actors there are. The library says what they mean (stdlib/Workspace.bt). */
#include "vm/prims/prim_support.h"
#include <stdlib.h>
#include "vm/rooted.h"
#include "vm/sched.h"
#include "vm/tuple.h"
#include "vm/workspace.h"

/* ---- sessions ---- */

PRIM(prim_session_current) {
    (void)args, (void)count;
    bool there = p->session && workspace_has_session(p->vm, p->session);
    return *result = there ? value_from_int((int64_t)p->session) : V_NIL, PRIM_OK;
}

static uint64_t table_number(Value v) { return value_is_int(v) ? (uint64_t)value_to_int(v) : UINT64_MAX; }

PRIM(prim_session_has) {
    (void)count;
    return *result = value_from_bool(workspace_has_session(p->vm, table_number(args[1]))), PRIM_OK;
}

PRIM(prim_session_ids) {
    (void)args, (void)count;
    uint32_t n;
    uint64_t *ids = workspace_sessions(p->vm, &n);
    for (uint32_t i = 0; ids && i < n; i++) ids[i] = value_from_int((int64_t)ids[i]);
    PrimStatus status = list_of_immediates(p, ids, ids ? n : 0, result);
    memory_free(p->vm->memory, ids);
    return status;
}

/* ---- names ---- */

PRIM(prim_names_all) {
    (void)count;
    uint32_t n;
    char *texts = names_list(p->vm, table_number(args[1]), &n), *at = texts;
    Value *symbols = memory_alloc(p->vm->memory, (n + 1) * sizeof *symbols);
    uint32_t made = 0;
    for (; symbols && made < n; at += strlen(at) + 1) {
        symbols[made] = symbol_intern(p->vm, at, strlen(at));
        if (symbols[made++] == V_HOLE) break;
    }
    bool whole = symbols && made == n && (!n || symbols[n - 1] != V_HOLE);
    PrimStatus status = whole ? list_of_immediates(p, symbols, n, result) : error_resource(p, NULL);
    memory_free(p->vm->memory, symbols);
    memory_free(p->vm->memory, texts);
    return status;
}

/* The value that args[1], a Symbol, names in table args[2]: `otherwise` if it names none. */
PRIM(prim_names_at) {
    (void)count;
    *result = V_NIL;
    if (!value_is_symbol(args[1])) return PRIM_OK;
    size_t length;
    const char *name = symbol_text(p->vm, args[1], &length);
    SharedTerm *term = name_get(p->vm, table_number(args[2]), name, length, NULL);
    if (!term) return PRIM_OK;
    *result = term_copy_into(p, term->value);
    shared_term_release(p->vm, term);
    return *result == V_HOLE ? PRIM_RAISE : PRIM_OK;
}

PRIM(prim_names_has) {
    (void)count;
    *result = V_FALSE;
    if (!value_is_symbol(args[1])) return PRIM_OK;
    size_t length;
    const char *name = symbol_text(p->vm, args[1], &length);
    SharedTerm *term = name_get(p->vm, table_number(args[2]), name, length, NULL);
    *result = value_from_bool(term != NULL);
    shared_term_release(p->vm, term);
    return PRIM_OK;
}

/* args[1] under the name args[2], a Symbol, in table args[3]; answers whether there is such a table. */
PRIM(prim_names_put) {
    (void)count;
    if (!value_is_symbol(args[2])) return PRIM_FAIL;
    size_t length;
    const char *name = symbol_text(p->vm, args[2], &length);
    SharedTerm *term = shared_term_new(p->vm, args[1]);
    if (!term) return error_resource(p, NULL);
    *result = value_from_bool(name_put(p->vm, table_number(args[3]), name, length, term));
    return PRIM_OK;
}

PRIM(prim_names_remove) {
    (void)count;
    *result = V_FALSE;
    if (!value_is_symbol(args[1])) return PRIM_OK;
    size_t length;
    const char *name = symbol_text(p->vm, args[1], &length);
    *result = value_from_bool(name_remove(p->vm, table_number(args[2]), name, length));
    return PRIM_OK;
}

PRIM(prim_names_clear) {
    (void)count;
    names_clear(p->vm, table_number(args[1]));
    return *result = V_NIL, PRIM_OK;
}

/* ---- loading ---- */

/* #(false, message, hint or nil, line, rendered diagnostics) */
static PrimStatus load_failure(Process *p, const char *message, const char *help, int64_t line,
                               const char *rendered, Value *result) {
    RootedBuffer parts;
    if (!rooted_open(p, &parts, 5)) return PRIM_RAISE;
    Value *v = parts.items;
    v[0] = V_FALSE;
    v[3] = value_from_int(line);
    bool made = string_new(p, message, strlen(message), &v[1]) == PRIM_OK &&
                (!help || string_new(p, help, strlen(help), &v[2]) == PRIM_OK) &&
                string_new(p, rendered, strlen(rendered), &v[4]) == PRIM_OK;
    *result = made ? tuple_from(p, v, 5) : V_HOLE;
    rooted_close(p, &parts);
    return *result == V_HOLE ? PRIM_RAISE : PRIM_OK;
}

static PrimStatus refused_by_compiler(Process *p, DiagList *diags, SourceFile *file, Value *result) {
    char *rendered = diag_render_all(diags, file, DIAG_HINT);
    const Diag *first = NULL;
    for (uint32_t i = 0; i < diags->count && !first; i++)
        if (diags->items[i].severity == DIAG_ERROR && diags->items[i].message) first = &diags->items[i];
    int64_t line = first && file ? source_position(file, first->span.start).line : 0;
    PrimStatus status = load_failure(p, first ? first->message : "it cannot be compiled",
                                     first ? first->help : NULL, line, rendered ? rendered : "", result);
    free(rendered);
    return status;
}

/* #(true, classes, rendered warnings) */
static PrimStatus loaded(Process *p, CodeUnit *unit, const char *rendered, Value *result) {
    const BcUnit *bc = unit->bc;
    RootedBuffer parts;
    if (!rooted_open(p, &parts, bc->class_count + 3u)) return PRIM_RAISE;
    Value *v = parts.items;
    uint32_t n = 0;
    for (uint32_t i = 0; i < bc->class_count; i++) {
        Class *c =
            class_by_name(p->vm, symbol_intern(p->vm, bc->classes[i].name.bytes, bc->classes[i].name.length));
        if (c) v[3 + n++] = value_from_class(c->id);
    }
    v[0] = V_TRUE;
    v[1] = list_from_array(p, v + 3, n, V_EMPTY_LIST);
    bool made = v[1] != V_HOLE && string_new(p, rendered, strlen(rendered), &v[2]) == PRIM_OK;
    *result = made ? tuple_from(p, v, 3) : V_HOLE;
    rooted_close(p, &parts);
    return *result == V_HOLE ? PRIM_RAISE : PRIM_OK;
}

static PrimStatus install_text(Process *p, const char *name, const char *source, size_t length,
                               Value *result) {
    DiagList diags;
    SourceFile file;
    char reason[512] = "";
    diag_list_init(&diags, p->vm->memory);
    BcUnit *bc = p->vm->compiler.compile(p->vm, name, source, length, &diags);
    bool named_file = source_file_init(&file, name, source, length);
    file.memory = p->vm->memory;
    CodeUnit *unit = bc ? code_link(p->vm, bc, false, reason, sizeof reason) : NULL;
    PrimStatus status;
    if (!bc) {
        status = refused_by_compiler(p, &diags, named_file ? &file : NULL, result);
    } else if (!unit || !classes_install(p->vm, unit, false, reason, sizeof reason)) {
        if (!unit) bc_unit_free(bc);
        status = load_failure(p, reason, NULL, 0, "", result);
    } else {
        char *rendered = diag_render_all(&diags, named_file ? &file : NULL, DIAG_HINT);
        status = loaded(p, unit, rendered ? rendered : "", result);
        free(rendered);
    }
    if (unit) code_release(unit);
    if (named_file) source_file_free(&file);
    diag_list_free(&diags);
    return status;
}

/* args[1]: definitions as source text, args[2]: the path they come from. Nothing is raised for a text that
 * cannot be loaded: the Tuple says why. */
PRIM(prim_workspace_install) {
    (void)count;
    if (!value_is_string(args[1]) || !value_is_string(args[2])) return PRIM_FAIL;
    if (!p->vm->compiler.compile) return load_failure(p, "this VM has no compiler", NULL, 0, "", result);
    size_t length, name_length;
    char *source = native_text(p, args[1], &length), *name = native_text(p, args[2], &name_length);
    PrimStatus status =
        source && name ? install_text(p, name, source, length, result) : error_resource(p, NULL);
    memory_free(p->vm->memory, source);
    memory_free(p->vm->memory, name);
    return status;
}

/* args[1]: definitions as source text, args[2]: their path. True, or as for loading why they would not
 * compile now; nothing is installed. */
PRIM(prim_workspace_check) {
    (void)count;
    if (!value_is_string(args[1]) || !value_is_string(args[2])) return PRIM_FAIL;
    size_t length, name_length;
    char *source = native_text(p, args[1], &length), *name = native_text(p, args[2], &name_length);
    DiagList diags;
    SourceFile file;
    diag_list_init(&diags, p->vm->memory);
    bool whole = source && name && p->vm->compiler.compile;
    BcUnit *bc = whole ? p->vm->compiler.compile(p->vm, name, source, length, &diags) : NULL;
    bool named_file = whole && source_file_init(&file, name, source, length);
    file.memory = p->vm->memory;
    PrimStatus status = PRIM_OK;
    *result = V_TRUE;
    if (!bc) status = refused_by_compiler(p, &diags, named_file ? &file : NULL, result);
    if (bc) bc_unit_free(bc);
    if (named_file) source_file_free(&file);
    diag_list_free(&diags);
    memory_free(p->vm->memory, source);
    memory_free(p->vm->memory, name);
    return status;
}

/* ---- what there is ---- */

typedef struct {
    Value *items;
    size_t count, capacity;
    BtVm *vm;
    bool failed;
} Found;

static void found_add(Found *f, Value v) {
    if (f->count == f->capacity) {
        Value *grown = memory_grown(f->vm->memory, f->items, &f->capacity, sizeof *grown, 256);
        if (!grown) {
            f->failed = true;
            return;
        }
        f->items = grown;
    }
    f->items[f->count++] = v;
}

/* Pid, then class, of an actor. */
static void found_process(Value pid, uint32_t class_id, void *found) {
    Found *f = found;
    if (!class_id_inherits(f->vm, class_id, CLASS_ID_Actor)) return;
    found_add(f, pid);
    found_add(f, value_from_int(class_id));
}

static void found_class(Class *c, void *found) { found_add(found, value_from_class(c->id)); }

PRIM(prim_workspace_classes) {
    (void)args, (void)count;
    Found f = {.vm = p->vm};
    class_each(p->vm, found_class, &f);
    PrimStatus status = f.failed ? error_resource(p, NULL) : list_of_immediates(p, f.items, f.count, result);
    memory_free(p->vm->memory, f.items);
    return status;
}

/* References to all actors that live, in no order. */
PRIM(prim_workspace_actors) {
    (void)args, (void)count;
    Found f = {.vm = p->vm};
    process_each(p->vm, found_process, &f);
    size_t cells = f.count / 2;
    bool reserved = !f.failed && heap_reserve(p, cells * (LIST_CELL_WORDS + 2));
    *result = V_EMPTY_LIST;
    for (size_t i = cells; reserved && i-- > 0;) {
        Value reference = heap_new(p, KIND_ACTOR_REF, (uint32_t)value_to_int(f.items[2 * i + 1]), 2);
        object_words(reference)[1] = f.items[2 * i];
        *result = list_cons_reserved(p, reference, *result);
    }
    memory_free(p->vm->memory, f.items);
    return reserved ? PRIM_OK : f.failed ? error_resource(p, NULL) : PRIM_RAISE;
}
