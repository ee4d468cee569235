/* JSON. See json.h. */
#include "vm/json.h"
#include <yajl/yajl_parse.h>
#include "vm/bytecode/memory.h"
#include "vm/array.h"
#include "vm/bignum.h"
#include "vm/dict.h"
#include "vm/error.h"
#include "vm/float_text.h"
#include "vm/json_pool.h"
#include "vm/list.h"
#include "vm/number.h"
#include "vm/rooted.h"
#include "vm/string.h"
#include "vm/vm.h"

/* ---- reading ---- */

/* Finished values lie on a rooted stack; `opened` notes where each open array or object began. */
typedef struct {
    Process *p;
    Value *values;
    size_t count, capacity;
    RootSpan span;
    size_t *opened;
    size_t depth, opened_capacity;
    PrimStatus status;
} Reader;

static int stop(Reader *r, PrimStatus status) {
    r->status = status;
    return 0;
}

static bool grow_values(Reader *r) {
    size_t old = r->capacity;
    Value *values = memory_grown(r->p->vm->memory, r->values, &r->capacity, sizeof *values, 64);
    if (!values) return false;
    for (size_t i = old; i < r->capacity; i++) values[i] = V_NIL;
    r->values = r->span.values = values;
    r->span.count = r->capacity;
    return true;
}

static int no_memory(Reader *r) {
    return stop(r, error_resource(r->p, "There is no memory for this JSON text"));
}

static int push(Reader *r, Value v) {
    if (r->count == r->capacity && !grow_values(r)) return no_memory(r);
    r->values[r->count++] = v;
    (void)process_charge(r->p, 1);
    return 1;
}

static int on_null(void *context) { return push(context, V_NIL); }
static int on_boolean(void *context, int b) { return push(context, b ? V_TRUE : V_FALSE); }

static bool is_integer_text(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] == '.' || text[i] == 'e' || text[i] == 'E') return false;
    return true;
}

/* float_parse wants a fraction: 1e3 is read as 1.0e3. */
static bool read_float(const Memory *memory, const char *text, size_t length, double *out) {
    size_t exponent = 0;
    while (exponent < length && text[exponent] != 'e' && text[exponent] != 'E') exponent++;
    if (memchr(text, '.', exponent)) return float_parse(memory, text, length, out);
    Text t = TEXT_IN(memory);
    text_append(&t, text, exponent);
    text_append(&t, ".0", 2);
    text_append(&t, text + exponent, length - exponent);
    bool read = !t.failed && float_parse(memory, t.bytes, t.length, out);
    text_free(&t);
    return read;
}

static int on_number(void *context, const char *text, size_t length) {
    Reader *r = context;
    Value v = V_NIL;
    double d;
    PrimStatus status;
    if (is_integer_text(text, length))
        status = number_parse_integer(r->p, text, length, &v);
    else if (read_float(r->p->vm->memory, text, length, &d))
        status = number_from_double(r->p, d, &v);
    else
        status = PRIM_FAIL;
    return status == PRIM_OK ? push(r, v) : stop(r, status);
}

static int on_string(void *context, const unsigned char *bytes, size_t length) {
    Reader *r = context;
    Value v;
    PrimStatus status = string_new(r->p, (const char *)bytes, length, &v);
    return status == PRIM_OK ? push(r, v) : stop(r, status);
}

static int on_open(void *context) {
    Reader *r = context;
    if (r->depth == JSON_MAX_DEPTH) return stop(r, PRIM_FAIL);
    if (r->depth == r->opened_capacity) {
        size_t *opened = memory_grown(r->p->vm->memory, r->opened, &r->opened_capacity, sizeof *opened, 32);
        if (!opened) return no_memory(r);
        r->opened = opened;
    }
    r->opened[r->depth++] = r->count;
    return 1;
}

static int close_with(Reader *r, size_t start, Value v) {
    if (v == V_HOLE) return stop(r, PRIM_RAISE);
    r->count = start;
    return push(r, v);
}

static int on_end_array(void *context) {
    Reader *r = context;
    size_t start = r->opened[--r->depth];
    return close_with(r, start, list_from_array(r->p, r->values + start, r->count - start, V_EMPTY_LIST));
}

static int on_end_object(void *context) {
    Reader *r = context;
    size_t start = r->opened[--r->depth];
    return close_with(r, start, dict_from_pairs(r->p, r->values + start, (r->count - start) / 2));
}

static const yajl_callbacks CALLBACKS = {.yajl_null = on_null,
                                         .yajl_boolean = on_boolean,
                                         .yajl_number = on_number,
                                         .yajl_string = on_string,
                                         .yajl_start_map = on_open,
                                         .yajl_map_key = on_string,
                                         .yajl_end_map = on_end_object,
                                         .yajl_start_array = on_open,
                                         .yajl_end_array = on_end_array};

static int hex4(const char *at, const char *end) {
    int value = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* yajl replaces a lone surrogate by a question mark; here it is an error. */
static bool surrogates_are_paired(const char *bytes, size_t length) {
    const char *end = bytes + length;
    for (const char *at = bytes; at < end; at++) {
        if (*at != '\\') continue;
        if (++at == end) return true;
        if (*at != 'u') continue;
        int unit = hex4(at + 1, end);
        if (unit >= 0xdc00 && unit <= 0xdfff) return false;
        if (unit < 0xd800 || unit > 0xdbff) continue;
        if (end - at < 7 || at[5] != '\\' || at[6] != 'u') return false;
        int low = hex4(at + 7, end);
        if (low < 0xdc00 || low > 0xdfff) return false;
        at += 10;
    }
    return true;
}

static PrimStatus run_parser(Reader *r, const char *bytes, size_t length) {
    JsonPool pool;
    if (!json_pool_init(&pool, r->p->vm->memory, bytes, length, JSON_MAX_DEPTH))
        return error_resource(r->p, "There is no memory for this JSON text");
    yajl_alloc_funcs allocation = {json_pool_take, json_pool_resize, json_pool_give, &pool};
    yajl_handle handle = yajl_alloc(&CALLBACKS, &allocation, r);
    yajl_status status = yajl_parse(handle, (const unsigned char *)bytes, length);
    if (status == yajl_status_ok) status = yajl_complete_parse(handle);
    json_pool_free(&pool); /* the handle lies in it */
    if (r->status != PRIM_OK) return r->status;
    return status == yajl_status_ok && r->count == 1 ? PRIM_OK : PRIM_FAIL;
}

PrimStatus json_parse(Process *p, const Value *text, Value *out) {
    size_t length;
    Text copy = TEXT_IN(p->vm->memory);
    const char *bytes = string_stable_bytes(*text, &length, &copy);
    if (!bytes) return error_resource(p, "There is no memory for this JSON text");
    if (!surrogates_are_paired(bytes, length)) return text_free(&copy), PRIM_FAIL;
    Reader r = {.p = p, .status = PRIM_OK};
    roots_push(p, &r.span, NULL, 0);
    PrimStatus status = run_parser(&r, bytes, length);
    if (status == PRIM_OK) *out = r.values[0];
    roots_pop(p, &r.span);
    memory_free(p->vm->memory, r.values);
    memory_free(p->vm->memory, r.opened);
    text_free(&copy);
    return status;
}

/* ---- writing ---- */

/* One open List, Array or Dictionary. */
typedef struct {
    Value container; /* List: what is left of it */
    size_t index;    /* Array */
    DictIter *entries;
    bool first;
} Level;

typedef struct {
    BtVm *vm;
    Text *t;
    bool pretty;
    Level *levels;
    size_t depth, capacity;
} Writer;

static void new_line(Writer *w) {
    if (!w->pretty) return;
    text_append_char(w->t, '\n');
    for (size_t i = 0; i < w->depth; i++) text_append(w->t, "  ", 2);
}

static void write_escaped(Text *t, unsigned char c) {
    static const char SHORT[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof SHORT; i += 2)
        if ((unsigned char)SHORT[i] == c) {
            char pair[2] = {'\\', SHORT[i + 1]};
            text_append(t, pair, 2);
            return;
        }
    text_appendf(t, "\\u%04X", c);
}

static void write_string(Text *t, const char *bytes, size_t length) {
    text_append_char(t, '"');
    size_t plain = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f) continue;
        text_append(t, bytes + plain, i - plain);
        write_escaped(t, c);
        plain = i + 1;
    }
    text_append(t, bytes + plain, length - plain);
    text_append_char(t, '"');
}

static bool write_text(Writer *w, Value v) {
    size_t length;
    const char *bytes;
    if (value_is_symbol(v))
        bytes = symbol_text(w->vm, v, &length);
    else if (value_is_string(v))
        bytes = string_bytes(v, &length);
    else
        return false;
    write_string(w->t, bytes, length);
    return true;
}

static bool write_number(Writer *w, Value v) {
    if (number_is_float(v)) {
        char buffer[FLOAT_TEXT_MAX];
        text_append(w->t, buffer, float_print(number_float_value(v), buffer));
        return true;
    }
    if (!number_is_integer(v)) return false;
    integer_append_text(w->t, v, 10);
    return true;
}

static bool write_key(Writer *w, Value key) {
    if (key == V_NIL) return text_append_cstring(w->t, "\"nil\""), true;
    if (value_is_bool(key)) return text_append_cstring(w->t, key == V_TRUE ? "\"true\"" : "\"false\""), true;
    if (write_text(w, key)) return true;
    if (!number_is(key)) return false;
    text_append_char(w->t, '"');
    write_number(w, key);
    text_append_char(w->t, '"');
    return true;
}

static bool open_level(Writer *w, Value container) {
    if (w->depth == w->capacity) {
        Level *levels = memory_grown(w->vm->memory, w->levels, &w->capacity, sizeof *levels, 16);
        if (!levels) return false;
        w->levels = levels;
    }
    DictIter *entries = NULL;
    if (dict_is(container)) {
        entries = memory_alloc(w->vm->memory, sizeof *entries);
        if (!entries) return false;
        dict_iter_init(entries, container);
    }
    text_append_char(w->t, entries ? '{' : '[');
    w->levels[w->depth++] = (Level){container, 0, entries, true};
    return true;
}

static void close_level(Writer *w) {
    Level *level = &w->levels[--w->depth];
    if (!level->first) new_line(w);
    text_append_char(w->t, level->entries ? '}' : ']');
    memory_free(w->vm->memory, level->entries);
}

/* The next element of the innermost container, with what stands before it. False: there is none left, or
 * (foreign) its key cannot be written. */
static bool next_element(Writer *w, Value *element, bool *foreign) {
    Level *level = &w->levels[w->depth - 1];
    Value key = V_NIL;
    if (level->entries) {
        if (!dict_iter_next(level->entries, &key, element)) return false;
    } else if (array_is(level->container)) {
        if (level->index == array_size(level->container)) return false;
        *element = array_at(level->container, level->index++);
    } else {
        if (level->container == V_EMPTY_LIST) return false;
        *element = CONS_HEAD(level->container);
        level->container = CONS_TAIL(level->container);
    }
    if (!level->first) text_append_char(w->t, ',');
    level->first = false;
    new_line(w);
    if (!level->entries) return true;
    if (!write_key(w, key)) return *foreign = true, false;
    text_append_cstring(w->t, w->pretty ? ": " : ":");
    return true;
}

static JsonOutcome write_value(Writer *w, Value v) {
    if (v == V_NIL)
        text_append_cstring(w->t, "null");
    else if (value_is_bool(v))
        text_append_cstring(w->t, v == V_TRUE ? "true" : "false");
    else if (list_is(v) || (value_is_ptr(v) && (array_is(v) || dict_is(v))))
        return open_level(w, v) ? JSON_WRITTEN : JSON_NO_MEMORY;
    else if (!write_number(w, v) && !write_text(w, v))
        return JSON_FOREIGN;
    return JSON_WRITTEN;
}

JsonOutcome json_write(BtVm *vm, Text *t, Value v, bool pretty) {
    Writer w = {.vm = vm, .t = t, .pretty = pretty};
    JsonOutcome outcome = write_value(&w, v);
    bool foreign = false;
    while (outcome == JSON_WRITTEN && w.depth && !t->failed) {
        Value element;
        if (next_element(&w, &element, &foreign))
            outcome = write_value(&w, element);
        else if (foreign)
            outcome = JSON_FOREIGN;
        else
            close_level(&w);
    }
    while (w.depth) memory_free(w.vm->memory, w.levels[--w.depth].entries);
    memory_free(w.vm->memory, w.levels);
    if (outcome == JSON_NO_MEMORY) t->failed = true;
    return t->failed ? JSON_NO_MEMORY : outcome;
}
