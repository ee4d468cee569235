#include "vm/compare.h"
#include "vm/bytecode/memory.h"
#include "vm/array.h"
#include "vm/dict.h"
#include "vm/number.h"
#include "vm/string.h"
#include "vm/vm.h"

#include <limits.h>
#include <stdlib.h>

/* How two values are compared. The first two only tell equal (0) from different. */
typedef enum { STRICT, LOOSE, ORDER, ORDER_KEYS } Mode;

/* Two compound values being compared, part by part. */
typedef enum { PARTS_WORDS, PARTS_KEYED, PARTS_LIST, PARTS_ARRAY, PARTS_FIELDS, PARTS_SORTED } PartsKind;
typedef struct {
    Value a, b;
    uint32_t at, end;  /* word indexes, element indexes, or number of fields done */
    uint32_t keys_end; /* PARTS_KEYED: keys are at even distance below (nodes), or all words below (flat
                          dictionaries) */
    uint8_t mode, kind;
    bool flat;
    uint32_t field; /* PARTS_FIELDS: number of the field done last, 0 before the first */
    Value *items;   /* PARTS_SORTED: the elements of both sets in native memory, `end` of each */
} Frame2;

#define INLINE_FRAMES 32
typedef struct {
    BtVm *vm;
    Frame2 *frames;
    size_t count, capacity;
    unsigned nesting; /* walks under way: sorting a set's elements starts more of them */
    Frame2 first[INLINE_FRAMES];
} Walk;
#define MAX_NESTING 4

/* The answer of comparing two parts when it needs a look inside. */
#define DESCEND INT_MIN

/* --- ranks
 * ----------------------------------------------------------------------------------------------------------------
 */

typedef enum {
    RANK_NUMBER,
    RANK_SYMBOL,
    RANK_REFERENCE,
    RANK_BLOCK,
    RANK_PID,
    RANK_TUPLE,
    RANK_MAP,
    RANK_LIST,
    RANK_BYTES
} Rank;

static Rank rank_of_object(Value v) {
    switch (object_kind(v)) {
    case KIND_FLOAT:
    case KIND_BIGNUM: return RANK_NUMBER;
    case KIND_STRING:
    case KIND_STRING_REF: return RANK_BYTES;
    case KIND_CONS: return RANK_LIST;
    case KIND_TUPLE:
    case KIND_ACTOR_REF: return RANK_TUPLE;
    case KIND_CLOSURE: return RANK_BLOCK;
    case KIND_REFERENCE: return RANK_REFERENCE;
    default: return RANK_MAP;
    }
}

static Rank rank_of(Value v) {
    if (value_is_ptr(v)) return rank_of_object(v);
    if (value_is_int(v) || value_is_flonum(v)) return RANK_NUMBER;
    if (value_is_pid(v)) return RANK_PID;
    if (value_is_class(v) || value_is_meta(v)) return RANK_TUPLE;
    return v == V_EMPTY_LIST ? RANK_LIST : RANK_SYMBOL;
}

bool value_orders_by_message(Value v) {
    if (value_is_class(v) || value_is_meta(v)) return true;
    if (!value_is_ptr(v)) return false;
    switch (object_kind(v)) {
    case KIND_INSTANCE:
    case KIND_ARRAY:
    case KIND_ARRAY_TREE:
    case KIND_SET:
    case KIND_ACTOR_REF:
    case KIND_METHOD:
    case KIND_TIMER:
    case KIND_NATIVE: return true;
    default: return false;
    }
}

bool value_equals_by_message(Value v) { return value_is_kind(v, KIND_INSTANCE); }

/* --- leaves
 * ---------------------------------------------------------------------------------------------------------------
 */

static int order_of(uint64_t x, uint64_t y) { return (x > y) - (x < y); }

static const char *atom_text(BtVm *vm, Value v, size_t *length) {
    if (value_is_symbol(v)) return symbol_text(vm, v, length);
    const char *text = v == V_NIL ? "nil" : v == V_TRUE ? "true" : v == V_FALSE ? "false" : "";
    *length = strlen(text);
    return text;
}

static int compare_text(const char *x, size_t x_length, const char *y, size_t y_length) {
    int order = memcmp(x, y, x_length < y_length ? x_length : y_length);
    return order ? (order > 0) - (order < 0) : order_of(x_length, y_length);
}

static int compare_atoms(BtVm *vm, Value a, Value b) {
    if (a == b) return 0;
    size_t a_length, b_length;
    const char *a_text = atom_text(vm, a, &a_length), *b_text = atom_text(vm, b, &b_length);
    return compare_text(a_text, a_length, b_text, b_length);
}

/* Keys: every Integer before every Float. */
static int compare_numbers(Value a, Value b, Mode mode) {
    bool a_float = number_is_float(a), b_float = number_is_float(b);
    if (mode == ORDER_KEYS && a_float != b_float) return a_float ? 1 : -1;
    int order = number_compare(a, b);
    if (order != 0 || mode != ORDER_KEYS || !a_float) return order;
    return (__builtin_signbit(number_float_value(b)) != 0) - (__builtin_signbit(number_float_value(a)) != 0);
}

static int compare_pids(Value a, Value b) {
    int order = order_of(pid_slot(a), pid_slot(b));
    return order ? order : order_of(pid_generation(a), pid_generation(b));
}

/* Size of what the term order sees as a tuple or a map. */
static size_t size_in_order(Value v) {
    if (!value_is_ptr(v)) return 4; /* class object: kind, name, module, process */
    switch (object_kind(v)) {
    case KIND_TUPLE: return object_size(v) - 1;
    case KIND_ACTOR_REF: return 4;
    case KIND_DICT:
    case KIND_DICT_TRIE: return dict_size(v);
    case KIND_INSTANCE: return object_size(v); /* slots and the class */
    default: return 2;
    }
}

/* Order of unlike things of one rank and size. */
static unsigned subrank(Value v) {
    if (!value_is_ptr(v)) return value_is_class(v) ? KIND_COUNT : KIND_COUNT + 1;
    ObjectKind kind = object_kind(v);
    return kind == KIND_ARRAY_TREE ? KIND_ARRAY : kind == KIND_DICT_TRIE ? KIND_DICT : kind;
}

static Value class_name_symbol(BtVm *vm, uint32_t class_id) {
    Class *c = class_by_id(vm, class_id);
    return c ? c->name : V_NIL;
}

/* --- fields
 * ---------------------------------------------------------------------------------------------------- */

/* Number (from 1) of the field whose name follows that of field `last` in name order; 0 = there is none. */
static uint32_t next_field(BtVm *vm, const Class *c, uint32_t last) {
    uint32_t best = 0;
    for (uint32_t i = 1; i <= c->field_count; i++) {
        Value name = c->field_names[i - 1];
        if (last && compare_atoms(vm, name, c->field_names[last - 1]) <= 0) continue;
        if (!best || compare_atoms(vm, name, c->field_names[best - 1]) < 0) best = i;
    }
    return best;
}

/* Names of the fields in order, then class names. */
static int compare_layouts(BtVm *vm, const Class *a, const Class *b) {
    uint32_t at_a = 0, at_b = 0;
    for (;;) {
        at_a = next_field(vm, a, at_a);
        at_b = next_field(vm, b, at_b);
        if (!at_a || !at_b) break;
        int order = compare_atoms(vm, a->field_names[at_a - 1], b->field_names[at_b - 1]);
        if (order) return order;
    }
    return compare_atoms(vm, a->name, b->name);
}

/* --- the walk
 * -------------------------------------------------------------------------------------------------------------
 */

static bool push(Walk *w, Frame2 frame) {
    if (w->count == w->capacity) {
        size_t capacity = w->capacity * 2;
        bool grown = w->frames != w->first;
        Frame2 *frames = memory_realloc(w->vm->memory, grown ? w->frames : NULL, capacity * sizeof *frames);
        if (!frames) {
            w->vm->failed = true;
            return false;
        }
        if (!grown) memcpy(frames, w->first, sizeof w->first);
        w->frames = frames;
        w->capacity = capacity;
    }
    w->frames[w->count++] = frame;
    return true;
}

static int descend_words(Walk *w, Value a, Value b, Mode mode, uint32_t first) {
    size_t size = object_size(a);
    if (size != object_size(b)) return size < object_size(b) ? -1 : 1;
    if (size == first) return 0;
    return push(w, (Frame2){.a = a,
                            .b = b,
                            .at = first,
                            .end = (uint32_t)size,
                            .mode = (uint8_t)mode,
                            .kind = PARTS_WORDS})
               ? DESCEND
               : 1;
}

static int descend_list(Walk *w, Value a, Value b, Mode mode) {
    return push(w, (Frame2){.a = a, .b = b, .end = 1, .mode = (uint8_t)mode, .kind = PARTS_LIST}) ? DESCEND
                                                                                                  : 1;
}

static int descend_array(Walk *w, Value a, Value b, Mode mode) {
    size_t count = array_size(a);
    if (count != array_size(b)) return count < array_size(b) ? -1 : 1;
    if (count == 0) return 0;
    return push(w,
                (Frame2){.a = a, .b = b, .end = (uint32_t)count, .mode = (uint8_t)mode, .kind = PARTS_ARRAY})
               ? DESCEND
               : 1;
}

/* Keys are compared as keys: strictly, or with Integer before Float. */
static int descend_keyed(Walk *w, Value a, Value b, Mode mode, uint32_t first, uint32_t keys_end, bool flat) {
    size_t size = object_size(a);
    if (size != object_size(b)) return size < object_size(b) ? -1 : 1;
    if (size == first) return 0;
    Frame2 frame = {.a = a, .b = b, .at = first, .end = (uint32_t)size, .keys_end = keys_end};
    frame.mode = (uint8_t)mode;
    frame.kind = PARTS_KEYED;
    frame.flat = flat;
    return push(w, frame) ? DESCEND : 1;
}

/* Nodes of the trie have one shape for one content, so they are compared as they stand. */
static int descend_node(Walk *w, Value a, Value b, Mode mode) {
    uint64_t maps = object_at(a, 1);
    if (maps != object_at(b, 1)) return maps < object_at(b, 1) ? -1 : 1;
    size_t pairs = maps ? (size_t)__builtin_popcount((uint32_t)(maps >> 32)) : (object_size(a) - 2) / 2;
    return descend_keyed(w, a, b, mode, 2, (uint32_t)(2 + 2 * pairs), false);
}

static int compare_instances(Walk *w, Value a, Value b, Mode mode) {
    uint32_t class_a = object_class(a), class_b = object_class(b);
    if (mode <= LOOSE) return class_a == class_b ? descend_words(w, a, b, mode, 1) : 1;
    const Class *ca = class_by_id(w->vm, class_a), *cb = class_by_id(w->vm, class_b);
    if (!ca || !cb) return order_of(class_a, class_b);
    if (class_a != class_b) {
        int order = compare_layouts(w->vm, ca, cb);
        return order ? order : order_of(class_a, class_b);
    }
    if (object_size(a) != object_size(b)) return order_of(object_size(a), object_size(b));
    Frame2 frame = {.a = a, .b = b, .end = ca->field_count, .mode = (uint8_t)mode, .kind = PARTS_FIELDS};
    if (ca->field_count == 0 || object_size(a) != ca->slot_count + 1) return descend_words(w, a, b, mode, 1);
    return push(w, frame) ? DESCEND : 1;
}

/* --- sets: their elements pairwise in term order, since `==` and the order see numbers by value --- */

typedef struct {
    BtVm *vm;
    unsigned nesting;
} SortContext;
static int walk_nested(BtVm *vm, Value a, Value b, Mode mode, unsigned nesting);

static int compare_elements(const void *x, const void *y, void *context) {
    const SortContext *c = context;
    Value a = *(const Value *)x, b = *(const Value *)y;
    int order = walk_nested(c->vm, a, b, ORDER, c->nesting);
    return order ? order : walk_nested(c->vm, a, b, ORDER_KEYS, c->nesting);
}

static void sorted_elements(Walk *w, Value set, Value *items) {
    DictIter it;
    Value key, value;
    size_t n = 0;
    dict_iter_init(&it, set_dict(set));
    while (dict_iter_next(&it, &key, &value)) items[n++] = key;
    qsort_r(items, n, sizeof *items, compare_elements, &(SortContext){w->vm, w->nesting + 1});
}

static int descend_sets(Walk *w, Value a, Value b, Mode mode) {
    size_t n = set_size(a);
    if (n != set_size(b)) return n < set_size(b) ? -1 : 1;
    if (n == 0 || walk_nested(w->vm, set_dict(a), set_dict(b), STRICT, w->nesting + 1) == 0) return 0;
    Frame2 frame = {.a = a, .b = b, .end = (uint32_t)n, .mode = (uint8_t)mode, .kind = PARTS_SORTED};
    frame.items = memory_alloc(w->vm->memory, 2 * n * sizeof *frame.items);
    if (!frame.items) {
        w->vm->failed = true;
        return 1;
    }
    sorted_elements(w, a, frame.items);
    sorted_elements(w, b, frame.items + n);
    if (push(w, frame)) return DESCEND;
    memory_free(w->vm->memory, frame.items);
    return 1;
}

static int compare_closures(Walk *w, Value a, Value b, Mode mode) {
    const Function *fa = closure_function(a), *fb = closure_function(b);
    if (fa == fb) return descend_words(w, a, b, mode, CLOSURE_SELF);
    if (mode <= LOOSE) return 1;
    int order = compare_atoms(w->vm, fa->class_name, fb->class_name);
    if (!order) order = compare_atoms(w->vm, fa->name, fb->name);
    if (!order) order = order_of((uint64_t)(fa - fa->unit->functions), (uint64_t)(fb - fb->unit->functions));
    return order ? order : order_of((uintptr_t)fa, (uintptr_t)fb);
}

/* Two objects of one kind (arrays and dictionaries: of one sort). */
static int compare_same_kind(Walk *w, Value a, Value b, Mode mode) {
    switch (object_kind(a)) {
    case KIND_STRING:
    case KIND_STRING_REF: return string_compare(a, b);
    case KIND_CONS: return descend_list(w, a, b, mode);
    case KIND_ARRAY:
    case KIND_ARRAY_TREE: return descend_array(w, a, b, mode);
    case KIND_DICT:
        if (object_kind(b) != KIND_DICT) return -1;
        return descend_keyed(w, a, b, mode, 1, (uint32_t)(1 + (object_size(a) - 1) / 2), true);
    case KIND_DICT_TRIE:
        if (object_kind(b) != KIND_DICT_TRIE) return 1;
        return descend_words(w, a, b, mode, 1);
    case KIND_DICT_NODE: return descend_node(w, a, b, mode);
    case KIND_INSTANCE: return compare_instances(w, a, b, mode);
    case KIND_CLOSURE: return compare_closures(w, a, b, mode);
    case KIND_TIMER:
    case KIND_REFERENCE: return order_of(object_at(a, 1), object_at(b, 1));
    case KIND_NATIVE: return order_of(object_at(a, 2), object_at(b, 2));
    case KIND_METHOD:
        if (mode <= LOOSE) return object_at(a, 1) != object_at(b, 1);
        return descend_words(w, a, b, mode, 2);
    case KIND_ACTOR_REF:
        if (object_class(a) != object_class(b)) {
            int order = compare_atoms(w->vm, class_name_symbol(w->vm, object_class(a)),
                                      class_name_symbol(w->vm, object_class(b)));
            return order ? order : order_of(object_class(a), object_class(b));
        }
        return descend_words(w, a, b, mode, 1);
    case KIND_SET: /* as dictionaries: size, then elements */
        if (w->nesting < MAX_NESTING && (mode == LOOSE || mode == ORDER)) return descend_sets(w, a, b, mode);
        return descend_words(w, a, b, mode, 1);
    default: return descend_words(w, a, b, mode, 1);
    }
}

static int compare_strict(Walk *w, Value a, Value b) {
    if (!value_is_ptr(a) || !value_is_ptr(b)) return 1;
    ObjectKind kind = object_kind(a);
    switch (kind) {
    case KIND_FLOAT: return object_kind(b) != KIND_FLOAT || object_at(a, 1) != object_at(b, 1);
    case KIND_BIGNUM: return object_kind(b) != KIND_BIGNUM || number_compare(a, b) != 0;
    case KIND_STRING:
    case KIND_STRING_REF:
        return !value_is_bytes(b) || string_length(a) != string_length(b) || string_compare(a, b) != 0;
    case KIND_ARRAY:
    case KIND_ARRAY_TREE:
        return object_kind(b) == KIND_ARRAY || object_kind(b) == KIND_ARRAY_TREE
                   ? compare_same_kind(w, a, b, STRICT)
                   : 1;
    default: return kind == object_kind(b) ? compare_same_kind(w, a, b, STRICT) : 1;
    }
}

static int compare_loose(Walk *w, Value a, Value b) {
    bool a_number = number_is(a), b_number = number_is(b);
    if (a_number || b_number) return !(a_number && b_number && number_compare(a, b) == 0);
    if (!value_is_ptr(a) || !value_is_ptr(b)) return 1;
    if (value_is_bytes(a)) return compare_strict(w, a, b);
    if (subrank(a) != subrank(b)) return 1;
    return compare_same_kind(w, a, b, LOOSE);
}

static int compare_sized(Walk *w, Value a, Value b, Mode mode) {
    int order = order_of(size_in_order(a), size_in_order(b));
    if (!order) order = order_of(subrank(a), subrank(b));
    if (order) return order;
    if (value_is_ptr(a)) return compare_same_kind(w, a, b, mode);
    return compare_atoms(w->vm, class_name_symbol(w->vm, special_payload(a)),
                         class_name_symbol(w->vm, special_payload(b)));
}

static int compare_ordered(Walk *w, Value a, Value b, Mode mode) {
    Rank rank = rank_of(a), other = rank_of(b);
    if (rank != other) return rank < other ? -1 : 1;
    switch (rank) {
    case RANK_NUMBER: return compare_numbers(a, b, mode);
    case RANK_SYMBOL: return compare_atoms(w->vm, a, b);
    case RANK_PID: return compare_pids(a, b);
    case RANK_LIST:
        if (a == V_EMPTY_LIST || b == V_EMPTY_LIST) return a == V_EMPTY_LIST ? -1 : 1;
        return descend_list(w, a, b, mode);
    case RANK_TUPLE:
    case RANK_MAP: return compare_sized(w, a, b, mode);
    default: return compare_same_kind(w, a, b, mode);
    }
}

static int compare_part(Walk *w, Value a, Value b, Mode mode) {
    if (a == b) return 0;
    if (mode == STRICT) return compare_strict(w, a, b);
    if (mode == LOOSE) return compare_loose(w, a, b);
    return compare_ordered(w, a, b, mode);
}

static Mode key_mode(Mode mode) { return mode <= LOOSE ? STRICT : ORDER_KEYS; }

/* Takes the next parts out of the top frame; pops the frame with its last part, so that nesting in last
 * position stays flat. */
static void next_parts(Walk *w, Value *a, Value *b, Mode *mode) {
    Frame2 *f = &w->frames[w->count - 1];
    *mode = (Mode)f->mode;
    bool last = false;
    switch ((PartsKind)f->kind) {
    case PARTS_LIST:
        if (f->at == 0) { /* heads, then tails */
            *a = CONS_HEAD(f->a), *b = CONS_HEAD(f->b);
            f->at = 1;
            return;
        }
        *a = CONS_TAIL(f->a), *b = CONS_TAIL(f->b);
        last = true;
        break;
    case PARTS_ARRAY:
        *a = array_at(f->a, f->at), *b = array_at(f->b, f->at);
        last = ++f->at == f->end;
        break;
    case PARTS_FIELDS: {
        const Class *c = class_by_id(w->vm, object_class(f->a));
        f->field = next_field(w->vm, c, f->field);
        uint32_t word = 1 + class_field_slot(c, f->field - 1);
        *a = object_at(f->a, word), *b = object_at(f->b, word);
        last = ++f->at == f->end;
        break;
    }
    case PARTS_KEYED:
        if (f->at < f->keys_end && (f->flat || f->at % 2 == 0)) *mode = key_mode(*mode);
        *a = object_at(f->a, f->at), *b = object_at(f->b, f->at);
        last = ++f->at == f->end;
        break;
    case PARTS_WORDS:
        *a = object_at(f->a, f->at), *b = object_at(f->b, f->at);
        last = ++f->at == f->end;
        break;
    case PARTS_SORTED:
        *a = f->items[f->at], *b = f->items[f->end + f->at];
        last = ++f->at == f->end;
        break;
    }
    if (!last) return;
    memory_free(w->vm->memory, f->items);
    w->count--;
}

static int walk_nested(BtVm *vm, Value a, Value b, Mode mode, unsigned nesting) {
    Walk w;
    w.vm = vm;
    w.nesting = nesting;
    w.frames = w.first;
    w.count = 0;
    w.capacity = INLINE_FRAMES;
    int order = compare_part(&w, a, b, mode);
    while ((order == 0 || order == DESCEND) && w.count > 0) {
        next_parts(&w, &a, &b, &mode);
        order = compare_part(&w, a, b, mode);
    }
    while (w.count > 0) memory_free(vm->memory, w.frames[--w.count].items);
    if (w.frames != w.first) memory_free(vm->memory, w.frames);
    return order == DESCEND ? 0 : order;
}

static int walk(BtVm *vm, Value a, Value b, Mode mode) { return walk_nested(vm, a, b, mode, 0); }

bool value_equal_strict_slow(BtVm *vm, Value a, Value b) { return walk(vm, a, b, STRICT) == 0; }
bool value_equal_slow(BtVm *vm, Value a, Value b) { return walk(vm, a, b, LOOSE) == 0; }

int value_compare_slow(BtVm *vm, Value a, Value b) { return walk(vm, a, b, ORDER); }
int value_compare_keys_slow(BtVm *vm, Value a, Value b) { return walk(vm, a, b, ORDER_KEYS); }
int value_compare_elements(BtVm *vm, Value a, Value b) {
    int order = value_compare(vm, a, b);
    return order ? order : value_compare_keys(vm, a, b);
}
