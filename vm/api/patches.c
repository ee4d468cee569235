/* See patches.h. */
#include "vm/api/patches.h"
#include "vm/string.h"

struct Patches {
    uint32_t count;
    char *before[]; /* by extension of the unit: the text that it replaces, NULL if there is none */
};

static Class *class_of(BtVm *vm, const BcMethod *m) {
    return class_by_name(vm, symbol_intern(vm, m->class_name.bytes, m->class_name.length));
}

static Value selector_of(BtVm *vm, const BcMethod *m) {
    return symbol_intern(vm, m->selector.bytes, m->selector.length);
}

static char *text_of(BtVm *vm, const Method *m) {
    const BcText *source = &m->fn->unit->bc->source;
    Span span = m->fn->bc->span;
    if (span.end > source->length || span.start >= span.end) return NULL;
    return text_dup(vm->memory, source->bytes + span.start, span.end - span.start);
}

Patches *patches_of(BtVm *vm, const BcUnit *bc) {
    if (!bc->extension_count) return NULL;
    Patches *p = memory_zalloc(vm->memory, sizeof *p + bc->extension_count * sizeof(char *));
    if (!p) return NULL;
    p->count = bc->extension_count;
    for (uint32_t i = 0; i < p->count; i++) {
        const BcMethod *m = &bc->extensions[i];
        Class *c = class_of(vm, m);
        Method *old = c ? class_own_method(vm, c, m->class_side, selector_of(vm, m)) : NULL;
        if (c && !old) old = class_own_extension(vm, c, m->class_side, selector_of(vm, m));
        if (old) p->before[i] = text_of(vm, old);
    }
    return p;
}

void patches_free(BtVm *vm, Patches *p) {
    for (uint32_t i = 0; p && i < p->count; i++) memory_free(vm->memory, p->before[i]);
    memory_free(vm->memory, p);
}

/* A String in `words`, which hold it as long as it is wanted; whoever keeps it copies it. */
static Value native_string(uint64_t *words, const char *bytes, size_t length) {
    Value text = string_make_literal(words, bytes, length);
    words[0] &= ~header_make(0, (ObjectKind)0, OBJ_LITERAL, 0);
    return text;
}

/* ChangeFlush __patched: aClass selector: s source: text before: text intent: #durable */
static bool note(BtVm *vm, const RunLimits *limits, Class *c, const BcMethod *m, Span span,
                 const BcText *source, const char *before) {
    static const char name[] = "ChangeFlush", selector[] = "__patched:selector:source:before:intent:";
    Class *keeper = class_by_name(vm, symbol_intern(vm, name, sizeof name - 1));
    size_t length = span.end <= source->length && span.start < span.end ? span.end - span.start : 0;
    size_t before_length = before ? strlen(before) : 0, words = string_inline_words(length);
    uint64_t *block =
        memory_zalloc(vm->memory, (words + string_inline_words(before_length) + 1) * sizeof *block);
    if (!keeper || !block) return memory_free(vm->memory, block), false;
    Value args[] = {m->class_side ? value_from_meta(c->id) : value_from_class(c->id), selector_of(vm, m),
                    native_string(block, source->bytes + (length ? span.start : 0), length),
                    before ? native_string(block + words, before, before_length) : V_NIL,
                    symbol_intern(vm, "durable", 7)};
    Kept answer;
    (void)run_process(vm, limits, value_from_class(keeper->id),
                      symbol_intern(vm, selector, sizeof selector - 1), args, 5, &answer);
    kept_free(vm, &answer);
    memory_free(vm->memory, block);
    return true;
}

bool patches_install(BtVm *vm, CodeUnit *unit, const RunLimits *limits, const Patches *patches) {
    const BcUnit *bc = unit->bc;
    for (uint32_t i = 0; i < patches->count; i++) {
        const BcMethod *m = &bc->extensions[i];
        Class *c = class_of(vm, m);
        if (!c) continue;
        bool own = class_own_method(vm, c, m->class_side, selector_of(vm, m)) != NULL;
        if (own && !(c->flags & CLASS_STDLIB) && !class_install_method(vm, c, m->class_side, false, unit, m))
            return false;
        if (!note(vm, limits, c, m, bc->functions[m->function].span, &bc->source, patches->before[i]))
            return false;
    }
    return true;
}
