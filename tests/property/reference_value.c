/* Values of the reference interpretation: making, =:=, printString and displayString (semantics 17, 18). */
#include "reference_internal.h"

#include <stdlib.h>
#include <string.h>

static Value *value_new(Pool *pool, ValueKind kind) {
    Value *value = pool_get(pool, sizeof *value);
    value->kind = kind;
    return value;
}

Value *value_int(Pool *pool, int64_t number) {
    Value *value = value_new(pool, V_INT);
    value->number = number;
    return value;
}

Value *value_bool(bool truth) {
    static Value values[2] = {{.kind = V_BOOL}, {.kind = V_BOOL, .number = 1}};
    return &values[truth];
}

Value *value_nil(void) {
    static Value nil = {.kind = V_NIL};
    return &nil;
}

Value *value_text(Pool *pool, ValueKind kind, const char *text) {
    Value *value = value_new(pool, kind);
    char *copy = pool_get(pool, strlen(text) + 1);
    strcpy(copy, text);
    value->text = copy;
    return value;
}

Value *value_list(Pool *pool, int count) {
    Value *value = value_new(pool, V_LIST);
    value->count = count;
    value->items = pool_get(pool, (size_t)(count + 1) * sizeof *value->items);
    return value;
}

Value *value_dict(Pool *pool, int count) {
    Value *value = value_list(pool, 2 * count);
    value->kind = V_DICT;
    value->count = count;
    return value;
}

Value *value_one(Pool *pool, ValueKind kind, Value *item) {
    Value *value = value_list(pool, 1);
    value->kind = kind;
    value->items[0] = item;
    return value;
}

/* errors.md section 2: the class of a kind. */
static const char *const KIND_CLASSES[][2] = {
    {"does_not_understand", "RuntimeError"}, {"empty_collection", "RuntimeError"},
    {"index_out_of_bounds", "RuntimeError"}, {"not_found", "RuntimeError"},
    {"dispatch_error", "RuntimeError"},      {"internal_error", "RuntimeError"},
    {"arity_mismatch", "RuntimeError"},      {"type_error", "TypeError"},
    {"erlang_throw", "ThrowError"}};

Value *value_exception(Pool *pool, const char *kind) {
    Value *value = value_text(pool, V_EXCEPTION, kind);
    value->class_name = "Error";
    for (size_t i = 0; i < sizeof KIND_CLASSES / sizeof *KIND_CLASSES; i++)
        if (!strcmp(kind, KIND_CLASSES[i][0])) value->class_name = KIND_CLASSES[i][1];
    return value;
}

static int same_items(const Value *a, const Value *b, int count) {
    for (int i = 0; i < count; i++) {
        int same = value_same(a->items[i], b->items[i]);
        if (same != 1) return same;
    }
    return 1;
}

int value_same(const Value *a, const Value *b) {
    if (a->kind == V_BLOCK && b->kind == V_BLOCK) return -1;
    if (a->kind != b->kind) return 0;
    switch (a->kind) {
    case V_INT:
    case V_BOOL: return a->number == b->number;
    case V_NIL: return 1;
    case V_SYM:
    case V_STR: return !strcmp(a->text, b->text);
    case V_LIST: return a->count == b->count ? same_items(a, b, a->count) : 0;
    case V_OK: return same_items(a, b, 1);
    default: return -1;
    }
}

static bool print_dict(const Value *value, ProgText *text) {
    char *pairs[16];
    if (value->count > 16) return false;
    bool fixed = true;
    for (int i = 0; i < value->count; i++) {
        ProgText pair = {0};
        fixed = value_print(value->items[2 * i], &pair) && fixed;
        prog_text_add(&pair, " => ");
        fixed = value_print(value->items[2 * i + 1], &pair) && fixed;
        int at = i; /* sorted by printed text */
        while (at > 0 && strcmp(pairs[at - 1], pair.bytes) > 0) {
            pairs[at] = pairs[at - 1];
            at--;
        }
        pairs[at] = pair.bytes;
    }
    prog_text_add(text, "#{");
    for (int i = 0; i < value->count; i++) {
        prog_text_add(text, "%s%s", i ? ", " : "", pairs[i]);
        free(pairs[i]);
    }
    prog_text_add(text, "}");
    return fixed;
}

bool value_print(const Value *value, ProgText *text) {
    switch (value->kind) {
    case V_INT: prog_text_add(text, "%lld", (long long)value->number); return true;
    case V_NIL: prog_text_add(text, "nil"); return true;
    case V_BOOL: prog_text_add(text, value->number ? "true" : "false"); return true;
    case V_SYM: prog_text_add(text, "#%s", value->text); return true;
    case V_STR: prog_text_add(text, "\"%s\"", value->text); return true; /* no text of ours has a quote */
    case V_LIST:
        prog_text_add(text, "#(");
        for (int i = 0; i < value->count; i++) {
            if (i) prog_text_add(text, ", ");
            if (!value_print(value->items[i], text)) return false;
        }
        prog_text_add(text, ")");
        return true;
    case V_DICT: return print_dict(value, text);
    case V_BLOCK:
        prog_text_add(text, "Block/%lld", (long long)value->number);
        return true; /* inside a collection */
    case V_OK: prog_text_add(text, "Result ok: "); return value_print(value->items[0], text);
    default: return false;
    }
}

bool value_display(const Value *value, ProgText *text) {
    if (value->kind == V_SYM || value->kind == V_STR) {
        prog_text_add(text, "%s", value->text);
        return true;
    }
    return value_print(value, text);
}
