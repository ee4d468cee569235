#include "vm/wire.h"
#include "vm/bytecode/memory.h"
#include "vm/array.h"
#include "vm/bignum.h"
#include "vm/dict.h"
#include "vm/error.h"
#include "vm/list.h"
#include "vm/string.h"
#include "vm/tuple.h"
#include "vm/unicode.h"
#include "vm/vm.h"

static const char MARK[] = {'B', 'T', 1};

/* --- writing
 * --------------------------------------------------------------------------------------------------------------
 */

/* Values still to be written, the next one last. */
typedef struct {
    Value *items;
    size_t count, capacity;
} Pending;

static bool pending_push(Text *t, Pending *todo, Value v) {
    if (todo->count == todo->capacity) {
        Value *items = memory_grown(t->memory, todo->items, &todo->capacity, sizeof *items, 64);
        if (!items) {
            t->failed = true;
            return false;
        }
        todo->items = items;
    }
    todo->items[todo->count++] = v;
    return true;
}

static void put_number(Text *t, uint64_t n) {
    for (; n >= 0x80; n >>= 7) text_append_char(t, (char)(n | 0x80));
    text_append_char(t, (char)n);
}

static void put_tagged(Text *t, char tag, uint64_t n) {
    text_append_char(t, tag);
    put_number(t, n);
}

static void put_raw(Text *t, char tag, uint64_t word) {
    text_append_char(t, tag);
    text_append(t, (const char *)&word, sizeof word);
}

static void put_name(BtVm *vm, Text *t, char tag, Value symbol) {
    size_t length;
    const char *text = symbol_text(vm, symbol, &length);
    put_tagged(t, tag, length);
    text_append(t, text, length);
}

/* Words [first, end) of v, first one first. */
static bool put_words(Text *t, Pending *todo, Value v, size_t first, size_t end) {
    while (end > first && pending_push(t, todo, object_at(v, end - 1))) end--;
    return end == first;
}

static bool put_list(Text *t, Pending *todo, Value list) {
    size_t base = todo->count, length = 0;
    for (; value_is_kind(list, KIND_CONS); list = CONS_TAIL(list), length++) {
        if (!pending_push(t, todo, CONS_HEAD(list))) return false;
    }
    for (size_t i = base, j = todo->count; i + 1 < j; i++, j--) {
        Value swap = todo->items[i];
        todo->items[i] = todo->items[j - 1];
        todo->items[j - 1] = swap;
    }
    put_tagged(t, 'l', length);
    return list == V_EMPTY_LIST;
}

static bool put_array(Text *t, Pending *todo, Value v) {
    put_tagged(t, 'a', array_size(v));
    for (size_t i = array_size(v); i > 0; i--) {
        if (!pending_push(t, todo, array_at(v, i - 1))) return false;
    }
    return true;
}

/* Order of entries does not matter: the reader builds the one shape of the content. */
static bool put_dictionary(Text *t, Pending *todo, Value v, bool set) {
    DictIter it;
    Value key, value;
    put_tagged(t, set ? 'e' : 'm', dict_size(v));
    dict_iter_init(&it, v);
    while (dict_iter_next(&it, &key, &value)) {
        if (!set && !pending_push(t, todo, value)) return false;
        if (!pending_push(t, todo, key)) return false;
    }
    return true;
}

/* Fields of a class whose instances may be written and made from bytes; -1 if they may not. Exceptions stay
 * at home: the VM trusts their first slots. So does what a reload has put in another order than the next VM
 * will have it. */
static int64_t wire_fields(BtVm *vm, const Class *c) {
    bool plain = c->id >= CLASS_ID_FIRST_FREE || c->id == CLASS_ID_Result || c->id == CLASS_ID_Interval ||
                 c->id == CLASS_ID_StackFrame;
    if (!plain || c->field_slot || c->kind == BC_KIND_ACTOR || (c->flags & CLASS_ABSTRACT)) return -1;
    return class_id_inherits(vm, c->id, CLASS_ID_Exception) ? -1 : (int64_t)c->field_count;
}

static bool put_instance(BtVm *vm, Text *t, Pending *todo, Value v) {
    const Class *c = class_by_id(vm, object_class(v));
    if (!c || wire_fields(vm, c) != (int64_t)object_size(v) - 1) return false;
    put_name(vm, t, 'v', c->name);
    put_number(t, object_size(v) - 1);
    return put_words(t, todo, v, 1, object_size(v));
}

static bool put_object(BtVm *vm, Text *t, Pending *todo, Value v) {
    size_t length;
    switch (object_kind(v)) {
    case KIND_FLOAT: return put_raw(t, 'd', object_at(v, 1)), true;
    case KIND_BIGNUM:
        put_tagged(t, 'I', object_at(v, 1));
        text_append(t, (const char *)(object_words(v) + 2), (object_size(v) - 2) * 8);
        return true;
    case KIND_STRING:
    case KIND_STRING_REF: {
        const char *bytes = string_bytes(v, &length);
        put_tagged(t, 's', length);
        text_append(t, bytes, length);
        return true;
    }
    case KIND_CONS: return put_list(t, todo, v);
    case KIND_TUPLE: return put_tagged(t, 't', object_size(v) - 1), put_words(t, todo, v, 1, object_size(v));
    case KIND_ARRAY:
    case KIND_ARRAY_TREE: return put_array(t, todo, v);
    case KIND_DICT:
    case KIND_DICT_TRIE: return put_dictionary(t, todo, v, false);
    case KIND_SET: return put_dictionary(t, todo, set_dict(v), true);
    case KIND_INSTANCE: return put_instance(vm, t, todo, v);
    case KIND_REFERENCE: return put_raw(t, 'r', object_at(v, 1)), true;
    default: return false;
    }
}

static bool put_immediate(BtVm *vm, Text *t, Value v) {
    if (value_is_int(v)) {
        int64_t i = value_to_int(v);
        return put_tagged(t, 'i', ((uint64_t)i << 1) ^ (uint64_t)(i >> 63)), true;
    }
    if (value_is_symbol(v)) return put_name(vm, t, 'y', v), true;
    if (value_is_pid(v)) return put_raw(t, 'p', v), true;
    if (value_is_flonum(v)) {
        uint64_t bits;
        double d = flonum_decode(v);
        memcpy(&bits, &d, sizeof bits);
        return put_raw(t, 'd', bits), true;
    }
    if (value_is_class(v) || value_is_meta(v)) {
        const Class *c = class_by_id(vm, special_payload(v));
        if (c) put_name(vm, t, value_is_class(v) ? 'c' : 'C', c->name);
        return c != NULL;
    }
    char tag = v == V_NIL ? 'N' : v == V_TRUE ? 'T' : v == V_FALSE ? 'F' : v == V_EMPTY_LIST ? 'l' : 0;
    if (tag) text_append_char(t, tag);
    if (tag == 'l') put_number(t, 0);
    return tag != 0;
}

bool wire_write(BtVm *vm, Text *t, Value v) {
    Pending todo = {NULL, 0, 0};
    text_append(t, MARK, sizeof MARK);
    bool ok = pending_push(t, &todo, v);
    while (ok && todo.count > 0 && !t->failed) {
        v = todo.items[--todo.count];
        ok = value_is_ptr(v) ? put_object(vm, t, &todo, v) : put_immediate(vm, t, v);
    }
    memory_free(t->memory, todo.items);
    return ok && !t->failed;
}

/* --- reading
 * --------------------------------------------------------------------------------------------------------------
 */

/* A compound whose parts are being read: they lie in the value stack from `start`. */
typedef struct {
    char tag;
    uint32_t class_id;
    size_t start, wanted;
} Open;

typedef struct {
    Process *p;
    const unsigned char *bytes;
    size_t length, at;
    Value *values; /* rooted */
    size_t value_count, value_capacity;
    RootSpan span;
    Open *open;
    size_t open_count, open_capacity;
    PrimStatus status; /* PRIM_OK while all is well */
} Reader;

static void malformed(Reader *r) {
    if (r->status == PRIM_OK) r->status = PRIM_FAIL;
}

static void out_of_memory(Reader *r) {
    if (r->status == PRIM_OK)
        r->status = error_resource(r->p, "There is no memory to read a value from its bytes.");
}

static uint64_t get_number(Reader *r) {
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->length; shift += 7) {
        unsigned char byte = r->bytes[r->at++];
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return n;
    }
    malformed(r);
    return 0;
}

/* The next n bytes, NULL if there are fewer. */
static const char *get_bytes(Reader *r, uint64_t n) {
    if (r->status != PRIM_OK || n > r->length - r->at) {
        malformed(r);
        return NULL;
    }
    const char *at = (const char *)r->bytes + r->at;
    r->at += (size_t)n;
    return at;
}

static uint64_t get_raw(Reader *r) {
    uint64_t word = 0;
    const char *at = get_bytes(r, sizeof word);
    if (at) memcpy(&word, at, sizeof word);
    return word;
}

static Value get_symbol(Reader *r) {
    uint64_t length = get_number(r);
    const char *text = get_bytes(r, length);
    if (!text || !utf8_is_valid(text, length, NULL)) {
        malformed(r);
        return V_HOLE;
    }
    Value symbol = symbol_intern_counted(r->p->vm, text, length);
    if (symbol == V_HOLE) r->status = error_resource(r->p, "The table of symbols is full.");
    return symbol;
}

static const Class *get_class(Reader *r) {
    Value name = get_symbol(r);
    const Class *c = r->status == PRIM_OK ? class_by_name(r->p->vm, name) : NULL;
    if (!c) malformed(r);
    return c;
}

static void push_value(Reader *r, Value v) {
    if (v == V_HOLE) {
        if (r->status == PRIM_OK) r->status = PRIM_RAISE;
        return;
    }
    if (r->value_count == r->value_capacity) {
        Value *values = memory_grown(r->p->vm->memory, r->values, &r->value_capacity, sizeof *values, 64);
        if (!values) {
            out_of_memory(r);
            return;
        }
        r->span.values = r->values = values;
    }
    r->values[r->value_count++] = v;
    r->span.count = r->value_count;
}

static Value build_instance(Process *p, uint32_t class_id, const Value *values, size_t count) {
    if (!heap_reserve(p, 1 + count)) return V_HOLE;
    Value v = heap_new(p, KIND_INSTANCE, class_id, 1 + count);
    if (count) memcpy(object_words(v) + 1, values, count * sizeof *values);
    return v;
}

/* The parts are all there: they give way to the compound. The makers read them where they are, which is
 * rooted. */
static void build(Reader *r, const Open *o) {
    Process *p = r->p;
    const Value *parts = r->values + o->start;
    Value built = V_HOLE;
    switch (o->tag) {
    case 'l': built = list_from_array(p, parts, o->wanted, V_EMPTY_LIST); break;
    case 't': built = tuple_from(p, parts, o->wanted); break;
    case 'a': built = array_from(p, parts, o->wanted); break;
    case 'm': built = dict_from_pairs(p, parts, o->wanted / 2); break;
    case 'e': built = set_from(p, parts, o->wanted); break;
    default: built = build_instance(p, o->class_id, parts, o->wanted); break;
    }
    r->value_count = o->start;
    push_value(r, built);
}

static void open_compound(Reader *r, char tag, uint64_t parts, uint32_t class_id) {
    /* Each part is a byte at least. */
    if (r->status != PRIM_OK || parts > r->length - r->at) {
        malformed(r);
        return;
    }
    Open o = {tag, class_id, r->value_count, (size_t)parts};
    if (parts == 0) {
        build(r, &o);
        return;
    }
    if (r->open_count == r->open_capacity) {
        Open *open = memory_grown(r->p->vm->memory, r->open, &r->open_capacity, sizeof *open, 32);
        if (!open) {
            out_of_memory(r);
            return;
        }
        r->open = open;
    }
    r->open[r->open_count++] = o;
}

static void get_instance(Reader *r) {
    const Class *c = get_class(r);
    uint64_t count = get_number(r);
    if (c && wire_fields(r->p->vm, c) != (int64_t)count) malformed(r);
    if (r->status == PRIM_OK) open_compound(r, 'v', count, c->id);
}

static void get_bignum(Reader *r) {
    uint64_t size = get_number(r), count = size >> 1;
    if (count > INTEGER_MAX_BITS / 64 || count == 0) malformed(r);
    const char *limbs = get_bytes(r, count * 8);
    if (!limbs) return;
    if (!heap_reserve(r->p, 2 + count)) {
        r->status = PRIM_RAISE;
        return;
    }
    Value v = heap_new(r->p, KIND_BIGNUM, CLASS_ID_Integer, 2 + count);
    object_words(v)[1] = size;
    memcpy(object_words(v) + 2, limbs, count * 8);
    /* Only the normal form: what fits 63 bits is immediate, no leading zeros. */
    uint64_t top = object_at(v, 1 + count);
    if (top == 0 || (count == 1 && top <= (uint64_t)SMALLINT_MAX + (size & 1))) malformed(r);
    push_value(r, v);
}

static void get_float(Reader *r) {
    double d;
    Value v = V_NIL;
    uint64_t bits = get_raw(r);
    memcpy(&d, &bits, sizeof d);
    if (!__builtin_isfinite(d)) malformed(r);
    if (r->status == PRIM_OK) r->status = number_from_double(r->p, d, &v);
    push_value(r, v);
}

static void get_string(Reader *r) {
    Value v = V_NIL;
    uint64_t length = get_number(r);
    const char *bytes = get_bytes(r, length);
    if (bytes) r->status = string_new(r->p, bytes, length, &v);
    push_value(r, v);
}

static void get_small(Reader *r) {
    uint64_t n = get_number(r);
    int64_t i = (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
    if (!int_fits_small(i)) malformed(r);
    push_value(r, value_from_int(i));
}

static void get_pid(Reader *r) {
    Value v = get_raw(r);
    if (!value_is_pid(v)) malformed(r);
    push_value(r, v);
}

static void get_reference(Reader *r) {
    uint64_t serial = get_raw(r);
    if (!heap_reserve(r->p, 2)) {
        r->status = PRIM_RAISE;
        return;
    }
    Value v = heap_new(r->p, KIND_REFERENCE, CLASS_ID_Reference, 2);
    object_words(v)[1] = serial;
    push_value(r, v);
}

static void get_value(Reader *r) {
    const char *tag = get_bytes(r, 1);
    if (!tag) return;
    switch (*tag) {
    case 'N': push_value(r, V_NIL); break;
    case 'T': push_value(r, V_TRUE); break;
    case 'F': push_value(r, V_FALSE); break;
    case 'i': get_small(r); break;
    case 'I': get_bignum(r); break;
    case 'd': get_float(r); break;
    case 's': get_string(r); break;
    case 'y': push_value(r, get_symbol(r)); break;
    case 'l':
    case 't':
    case 'a':
    case 'e': open_compound(r, *tag, get_number(r), 0); break;
    case 'm': {
        uint64_t pairs = get_number(r);
        open_compound(r, 'm', pairs <= SIZE_MAX / 2 ? 2 * pairs : SIZE_MAX, 0);
        break;
    }
    case 'v': get_instance(r); break;
    case 'c':
    case 'C': {
        const Class *c = get_class(r);
        if (c) push_value(r, *tag == 'c' ? value_from_class(c->id) : value_from_meta(c->id));
        break;
    }
    case 'p': get_pid(r); break;
    case 'r': get_reference(r); break;
    default: malformed(r); break;
    }
}

static void close_finished(Reader *r) {
    while (r->status == PRIM_OK && r->open_count > 0) {
        Open o = r->open[r->open_count - 1];
        if (r->value_count - o.start < o.wanted) return;
        r->open_count--;
        build(r, &o);
    }
}

PrimStatus wire_read(Process *p, const char *bytes, size_t length, Value *out, size_t *used) {
    if (length < sizeof MARK || memcmp(bytes, MARK, sizeof MARK) != 0) return PRIM_FAIL;
    Reader r = {.p = p,
                .bytes = (const unsigned char *)bytes,
                .length = length,
                .at = sizeof MARK,
                .status = PRIM_OK};
    roots_push(p, &r.span, NULL, 0);
    do {
        get_value(&r);
        close_finished(&r);
    } while (r.status == PRIM_OK && r.open_count > 0);
    roots_pop(p, &r.span);
    if (r.status == PRIM_OK) *out = r.values[0];
    *used = r.at;
    process_charge(p, (uint32_t)(length >> 8));
    memory_free(p->vm->memory, r.values);
    memory_free(p->vm->memory, r.open);
    return r.status;
}
