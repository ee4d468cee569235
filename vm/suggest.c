/* See suggest.h. */
#include "vm/suggest.h"
#include "vm/bytecode/similar.h"
#include "vm/class_internal.h"
#include "vm/symbol.h"

typedef struct {
    BtVm *vm;
    Nearest nearest;
} Search;

static void try_symbol(Search *s, Value symbol) {
    size_t length;
    const char *text = symbol_text(s->vm, symbol, &length);
    if (length > 1 && text[0] == '_' && text[1] == '_') return; /* the library's own */
    nearest_try(&s->nearest, text, length);
}

static void try_class(Class *c, void *context) { try_symbol(context, c->name); }
static void try_method(Method *m, void *context) { try_symbol(context, m->selector); }

const char *class_similar_name(BtVm *vm, const char *name, size_t length) {
    Search s = {.vm = vm};
    nearest_begin(&s.nearest, name, length);
    class_each(vm, try_class, &s);
    return s.nearest.best;
}

const char *class_similar_selector(BtVm *vm, Class *c, bool class_side, const char *selector, size_t length) {
    Search s = {.vm = vm};
    nearest_begin(&s.nearest, selector, length);
    pthread_rwlock_rdlock(&vm->classes->lock);
    for (unsigned depth = 0; c && depth < MAX_HIERARCHY_DEPTH; c = c->superclass, depth++) {
        method_table_each(class_side ? c->class_methods : c->methods, try_method, &s);
        method_table_each(class_side ? c->class_extensions : c->extensions, try_method, &s);
    }
    pthread_rwlock_unlock(&vm->classes->lock);
    return s.nearest.best;
}
