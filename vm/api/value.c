/* Reading values through handles. See value.h and beamtalk.h. */
#include "vm/api/value.h"
#include <stdio.h>
#include "vm/array.h"
#include "vm/compare.h"
#include "vm/class.h"
#include "vm/dict.h"
#include "vm/list.h"
#include "vm/number.h"
#include "vm/print.h"
#include "vm/string.h"
#include "vm/text.h"

/* ---- life ---- */

/* Takes over the caller's count of the term. */
static bt_value *handle_new(bt_vm *vm, SharedTerm *term, Value value) {
    bt_value *h = term ? memory_zalloc(vm->memory, sizeof *h) : NULL;
    if (!h) return shared_term_release(vm->core, term), NULL;
    atomic_init(&h->refs, 1);
    h->vm = vm;
    h->term = term;
    h->value = value;
    return h;
}

bt_value *handle_of(bt_vm *vm, Value term) {
    SharedTerm *shared = shared_term_new(vm->core, term);
    return shared ? handle_new(vm, shared, shared->value) : NULL;
}

bt_value *handle_on(bt_vm *vm, SharedTerm *term, Value value) {
    /* relaxed: the holder of a count makes another */
    atomic_fetch_add_explicit(&term->refs, 1, memory_order_relaxed);
    return handle_new(vm, term, value);
}

static bt_value *handle_inside(const bt_value *whole, Value part) {
    return handle_on(whole->vm, whole->term, part);
}

bt_value *bt_result_value(const bt_result *r) {
    return r && r->term && r->status == BT_OK ? handle_on(r->vm, r->term, r->value) : NULL;
}

bt_value *bt_value_retain(bt_value *h) {
    if (h) atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
    return h;
}

void bt_value_release(bt_value *h) {
    /* acq_rel: who frees sees what every holder did before */
    if (!h || atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) != 1) return;
    shared_term_release(h->vm->core, h->term);
    memory_free(h->vm->memory, atomic_load_explicit(&h->text, memory_order_relaxed));
    memory_free(h->vm->memory, h);
}

/* ---- what it is ---- */

static bt_kind kind_of_object(Value v) {
    switch (object_kind(v)) {
    case KIND_FLOAT: return BT_KIND_FLOAT;
    case KIND_BIGNUM: return BT_KIND_INTEGER;
    case KIND_STRING:
    case KIND_STRING_REF: return string_is_text(v) ? BT_KIND_STRING : BT_KIND_BINARY;
    case KIND_CONS: return BT_KIND_LIST;
    case KIND_TUPLE: return BT_KIND_TUPLE;
    case KIND_ARRAY:
    case KIND_ARRAY_TREE: return BT_KIND_ARRAY;
    case KIND_DICT:
    case KIND_DICT_TRIE: return BT_KIND_DICTIONARY;
    case KIND_SET: return BT_KIND_SET;
    case KIND_CLOSURE: return BT_KIND_BLOCK;
    case KIND_ACTOR_REF: return BT_KIND_ACTOR;
    default: return BT_KIND_OBJECT;
    }
}

bt_kind bt_value_kind(const bt_value *h) {
    if (!h) return BT_KIND_NONE;
    Value v = h->value;
    if (v == V_NIL) return BT_KIND_NIL;
    if (value_is_bool(v)) return BT_KIND_BOOLEAN;
    if (value_is_int(v)) return BT_KIND_INTEGER;
    if (value_is_flonum(v)) return BT_KIND_FLOAT;
    if (v == V_EMPTY_LIST) return BT_KIND_LIST;
    if (value_is_symbol(v)) return BT_KIND_SYMBOL;
    if (value_is_class(v) || value_is_meta(v)) return BT_KIND_CLASS;
    return value_is_ptr(v) ? kind_of_object(v) : BT_KIND_OBJECT;
}

const char *bt_value_class(const bt_value *h) {
    return h ? symbol_text(h->vm->core, class_name_of(h->vm->core, h->value), NULL) : NULL;
}

int bt_value_equal(const bt_value *a, const bt_value *b) {
    return a && handle_is_of(b, a->vm) && value_equal_strict(a->vm->core, a->value, b->value);
}

/* ---- contents ---- */

bt_status bt_value_boolean(const bt_value *h, int *out) {
    if (!h || !out || !value_is_bool(h->value)) return BT_MISUSE;
    *out = h->value == V_TRUE;
    return BT_OK;
}

/* An int64 that does not fit a small integer is a bignum of one limb. */
static bool bignum_int64(Value v, int64_t *out) {
    const uint64_t *w = object_words(v);
    bool negative = w[1] & 1;
    if (w[1] >> 1 != 1 || w[2] > (uint64_t)INT64_MAX + negative) return false;
    *out = negative ? (int64_t)(0 - w[2]) : (int64_t)w[2];
    return true;
}

bool integer_fits_int64(Value v, int64_t *out) {
    if (value_is_bignum(v)) return bignum_int64(v, out);
    if (value_is_int(v)) *out = value_to_int(v);
    return value_is_int(v);
}

bt_status bt_value_int64(const bt_value *h, int64_t *out) {
    return h && out && integer_fits_int64(h->value, out) ? BT_OK : BT_MISUSE;
}

bt_status bt_value_double(const bt_value *h, double *out) {
    return h && out && number_is(h->value) && number_to_double(h->value, out) ? BT_OK : BT_MISUSE;
}

static HandleText *text_new(const Memory *memory, const char *bytes, size_t length) {
    HandleText *t = memory_alloc(memory, sizeof *t + length + 1);
    if (!t) return NULL;
    t->length = length;
    memcpy(t->bytes, bytes, length);
    t->bytes[length] = 0;
    return t;
}

static HandleText *integer_text(const bt_value *h) {
    Text digits = TEXT_IN(h->vm->memory);
    print_value(h->vm->core, &digits, h->value, PRINT_STRING, V_EMPTY_LIST);
    HandleText *t = digits.failed ? NULL : text_new(h->vm->memory, digits.bytes, digits.length);
    text_free(&digits);
    return t;
}

static HandleText *text_of(const bt_value *h) {
    Value v = h->value;
    size_t length;
    if (number_is_integer(v)) return integer_text(h);
    if (!value_is_bytes(v) && !value_is_symbol(v)) return NULL;
    const char *bytes = value_is_bytes(v) ? string_bytes(v, &length) : symbol_text(h->vm->core, v, &length);
    return text_new(h->vm->memory, bytes, length);
}

const char *bt_value_text(const bt_value *handle, size_t *length) {
    bt_value *h = (bt_value *)(uintptr_t)handle; /* the text is a cache, no part of the value */
    if (!h) return NULL;
    HandleText *text = atomic_load(&h->text), *made;
    if (!text) {
        made = text_of(h);
        if (!made) return NULL;
        if (atomic_compare_exchange_strong(&h->text, &text, made))
            text = made;
        else
            memory_free(h->vm->memory, made); /* another thread was first: `text` is now its */
    }
    if (length) *length = text->length;
    return text->bytes;
}

/* ---- collections ---- */

size_t bt_value_size(const bt_value *h) {
    Value v = handle_value(h);
    if (list_is(v)) return list_length(v);
    if (!value_is_ptr(v)) return 0;
    if (array_is(v)) return array_size(v);
    if (dict_is(v)) return dict_size(v) * 2;
    if (set_is(v)) return set_size(v);
    return value_is_kind(v, KIND_TUPLE) ? object_size(v) - 1 : 0;
}

/* Where the elements that were asked for go. */
typedef struct {
    const bt_value *whole;
    bt_value **items;
    size_t skip, room, count;
} Items;

/* False: no more are wanted, or memory is out. */
static bool add_item(Items *to, Value v) {
    if (to->skip) return to->skip--, true;
    if (to->count == to->room) return false;
    to->items[to->count] = handle_inside(to->whole, v);
    return to->items[to->count] ? (to->count++, true) : false;
}

static void dict_items(Items *to, Value dict, bool with_values) {
    DictIter it;
    Value key, value;
    dict_iter_init(&it, dict);
    while (dict_iter_next(&it, &key, &value))
        if (!add_item(to, key) || (with_values && !add_item(to, value))) return;
}

size_t bt_value_items(const bt_value *h, size_t first, bt_value **items, size_t count) {
    Items to = {h, items, first, count, 0};
    Value v = handle_value(h);
    if (!items) return 0;
    if (list_is(v)) {
        for (; v != V_EMPTY_LIST && add_item(&to, CONS_HEAD(v));) v = CONS_TAIL(v);
    } else if (value_is_ptr(v) && dict_is(v)) {
        dict_items(&to, v, true);
    } else if (value_is_ptr(v) && set_is(v)) {
        dict_items(&to, set_dict(v), false);
    } else if (value_is_ptr(v) && (array_is(v) || value_is_kind(v, KIND_TUPLE))) {
        to.skip = 0;
        size_t size = bt_value_size(h);
        for (size_t i = first; i < size; i++)
            if (!add_item(&to, array_is(v) ? array_at(v, i) : object_at(v, 1 + i))) break;
    }
    return to.count;
}

bt_value *bt_value_lookup(const bt_value *h, const bt_value *key) {
    Value v = handle_value(h);
    if (!h || !handle_is_of(key, h->vm) || !value_is_ptr(v) || !dict_is(v)) return NULL;
    Value found = dict_get(h->vm->core, v, key->value);
    return found == V_HOLE ? NULL : handle_inside(h, found);
}

bt_value *bt_value_field(const bt_value *h, const char *name) {
    Value v = handle_value(h);
    if (!h || !name || !value_is_kind(v, KIND_INSTANCE)) return NULL;
    BtVm *vm = h->vm->core;
    const Class *c = class_by_id(vm, object_class(v));
    Value symbol = symbol_lookup(vm, name, strlen(name));
    for (uint32_t i = 0; c && i < c->field_count; i++) {
        size_t slot =
            object_size(v) - c->slot_count + class_field_slot(c, i); /* exceptions have the VM's in front */
        if (c->field_names[i] == symbol && slot >= 1 && slot < object_size(v))
            return handle_inside(h, object_at(v, slot));
    }
    return NULL;
}
