/* See workspace.h. */
#include "vm/workspace.h"
#include <string.h>
#include "vm/bytecode/memory.h"
#include "vm/vm.h"

/* ---- terms ---- */

SharedTerm *shared_term_new(BtVm *vm, Value term) {
    SharedTerm *t = memory_zalloc(vm->memory, sizeof *t);
    if (!t) return NULL;
    atomic_init(&t->refs, 1);
    t->value = term;
    if (!value_is_ptr(term)) return t;
    t->fragment = term_copy(vm, &term, 1, &t->value);
    if (t->fragment) return t;
    memory_free(vm->memory, t);
    return NULL;
}

SharedTerm *shared_term_adopt(BtVm *vm, Fragment *fragment, Value term) {
    SharedTerm *t = memory_zalloc(vm->memory, sizeof *t);
    if (!t) return NULL;
    atomic_init(&t->refs, 1);
    t->fragment = fragment;
    t->value = term;
    return t;
}

void shared_term_release(BtVm *vm, SharedTerm *t) {
    /* acq_rel: who frees sees what every reader did before */
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
    if (t->fragment) fragment_free(vm, t->fragment);
    memory_free(vm->memory, t);
}

/* ---- tables; the lock is held ---- */

static NamedValue *table_find(const NameTable *t, const char *name, size_t length) {
    for (uint32_t i = 0; i < t->count; i++)
        if (t->items[i].length == length && memcmp(t->items[i].name, name, length) == 0) return &t->items[i];
    return NULL;
}

static NamedValue *table_add(BtVm *vm, NameTable *t, const char *name, size_t length) {
    if (t->count == t->capacity) {
        NamedValue *grown = memory_grown(vm->memory, t->items, &t->capacity, sizeof *grown, 16);
        if (!grown) return NULL;
        t->items = grown;
    }
    char *copy = memory_alloc(vm->memory, length + 1);
    if (!copy) return NULL;
    memcpy(copy, name, length);
    copy[length] = 0;
    NamedValue *at = &t->items[t->count++];
    *at = (NamedValue){.name = copy, .length = (uint32_t)length};
    return at;
}

static void table_clear(BtVm *vm, NameTable *t) {
    for (uint32_t i = 0; i < t->count; i++) {
        memory_free(vm->memory, t->items[i].name);
        shared_term_release(vm, t->items[i].term);
    }
    memory_free(vm->memory, t->items);
    *t = (NameTable){0};
}

static NameTable *table_of(Workspace *w, uint64_t id) {
    if (id == WORKSPACE_GLOBALS) return &w->globals;
    for (Session *s = w->sessions; s; s = s->next)
        if (s->id == id) return &s->names;
    return NULL;
}

/* ---- the workspace and its sessions ---- */

bool workspace_new(BtVm *vm) {
    Workspace *w = memory_zalloc(vm->memory, sizeof *w);
    if (!w) return false;
    if (pthread_mutex_init(&w->lock, NULL) != 0) return memory_free(vm->memory, w), false;
    vm->workspace = w;
    return true;
}

void workspace_free(BtVm *vm) {
    Workspace *w = vm->workspace;
    if (!w) return;
    while (w->sessions) session_close(vm, w->sessions);
    table_clear(vm, &w->globals);
    pthread_mutex_destroy(&w->lock);
    memory_free(vm->memory, w);
    vm->workspace = NULL;
}

Session *session_open(BtVm *vm) {
    Session *s = memory_zalloc(vm->memory, sizeof *s);
    if (!s) return NULL;
    Workspace *w = vm->workspace;
    pthread_mutex_lock(&w->lock);
    s->id = ++w->next_session;
    s->next = w->sessions;
    w->sessions = s;
    pthread_mutex_unlock(&w->lock);
    return s;
}

void session_close(BtVm *vm, Session *s) {
    Workspace *w = vm->workspace;
    pthread_mutex_lock(&w->lock);
    Session **at = &w->sessions;
    while (*at && *at != s) at = &(*at)->next;
    if (*at) *at = s->next;
    table_clear(vm, &s->names);
    pthread_mutex_unlock(&w->lock);
    memory_free(vm->memory, s);
}

bool workspace_has_session(BtVm *vm, uint64_t id) {
    pthread_mutex_lock(&vm->workspace->lock);
    bool found = id != WORKSPACE_GLOBALS && table_of(vm->workspace, id) != NULL;
    pthread_mutex_unlock(&vm->workspace->lock);
    return found;
}

uint64_t *workspace_sessions(BtVm *vm, uint32_t *count) {
    Workspace *w = vm->workspace;
    pthread_mutex_lock(&w->lock);
    *count = 0;
    for (Session *s = w->sessions; s; s = s->next) ++*count;
    uint64_t *ids = *count ? memory_alloc(vm->memory, *count * sizeof *ids) : NULL, *at = ids;
    for (Session *s = w->sessions; ids && s; s = s->next) *at++ = s->id;
    pthread_mutex_unlock(&w->lock);
    return ids;
}

/* ---- names ---- */

SharedTerm *name_get(BtVm *vm, uint64_t table, const char *name, size_t length, uint64_t *version) {
    Workspace *w = vm->workspace;
    pthread_mutex_lock(&w->lock);
    NameTable *t = table_of(w, table);
    NamedValue *found = t ? table_find(t, name, length) : NULL;
    SharedTerm *term = found ? found->term : NULL;
    if (version) *version = found ? found->version : 0;
    /* relaxed: the table's own count keeps it alive until the lock is given back */
    if (term) atomic_fetch_add_explicit(&term->refs, 1, memory_order_relaxed);
    pthread_mutex_unlock(&w->lock);
    return term;
}

bool name_put(BtVm *vm, uint64_t table, const char *name, size_t length, SharedTerm *term) {
    Workspace *w = vm->workspace;
    pthread_mutex_lock(&w->lock);
    NameTable *t = table_of(w, table);
    NamedValue *at = t ? table_find(t, name, length) : NULL;
    if (t && !at) at = table_add(vm, t, name, length);
    SharedTerm *old = at ? at->term : term;
    if (at) {
        at->term = term;
        at->version = ++w->clock;
    }
    pthread_mutex_unlock(&w->lock);
    shared_term_release(vm, old);
    return at != NULL;
}

bool name_remove(BtVm *vm, uint64_t table, const char *name, size_t length) {
    Workspace *w = vm->workspace;
    NamedValue gone = {0};
    pthread_mutex_lock(&w->lock);
    NameTable *t = table_of(w, table);
    NamedValue *at = t ? table_find(t, name, length) : NULL;
    if (at) {
        gone = *at;
        *at = t->items[--t->count];
    }
    pthread_mutex_unlock(&w->lock);
    memory_free(vm->memory, gone.name);
    shared_term_release(vm, gone.term);
    return gone.name != NULL;
}

void names_clear(BtVm *vm, uint64_t table) {
    Workspace *w = vm->workspace;
    pthread_mutex_lock(&w->lock);
    NameTable *t = table_of(w, table), gone = {0};
    if (t) {
        gone = *t;
        *t = (NameTable){0};
    }
    pthread_mutex_unlock(&w->lock);
    table_clear(vm, &gone);
}

char *names_list(BtVm *vm, uint64_t table, uint32_t *count) {
    Workspace *w = vm->workspace;
    pthread_mutex_lock(&w->lock);
    NameTable *t = table_of(w, table);
    size_t size = 0;
    *count = t ? t->count : 0;
    for (uint32_t i = 0; i < *count; i++) size += t->items[i].length + 1;
    char *texts = size ? memory_alloc(vm->memory, size) : NULL, *at = texts;
    for (uint32_t i = 0; texts && i < *count; i++) {
        memcpy(at, t->items[i].name, t->items[i].length + 1);
        at += t->items[i].length + 1;
    }
    pthread_mutex_unlock(&w->lock);
    if (!texts) *count = 0;
    return texts;
}
