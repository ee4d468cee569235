#include "vm/print.h"
#include "vm/process.h"
#include "vm/bytecode/memory.h"
#include "vm/array.h"
#include "vm/compare.h"
#include "vm/dict.h"
#include "vm/error.h"
#include "vm/print_leaf.h"
#include "vm/string.h"
#include "vm/vm.h"

#include <stdlib.h>

/* A compound being printed. `items` is a private array of the parts: elements, key and value pairs, or field
 * names and values. */
typedef enum { PRINT_LIST, PRINT_ITEMS, PRINT_PAIRS, PRINT_FIELDS } FrameKind;
typedef struct {
    FrameKind kind;
    Value cursor; /* PRINT_LIST: the cell to come */
    Value *items;
    size_t count, at;  /* in items */
    size_t *starts;    /* PRINT_PAIRS: where the text of each pair begins */
    const char *close; /* ends the text */
} PrintFrame;

typedef struct {
    BtVm *vm;
    Text *t; /* NULL: only custom values are wanted */
    PrintFrame *frames;
    size_t count, capacity;
    unsigned depth;   /* instances open */
    size_t base;      /* length of the text when the outermost instance began */
    Value customs;    /* texts still to be used */
    Value *collected; /* custom values met */
    size_t collected_count, collected_capacity;
    bool met_custom; /* one was printed structurally */
    bool failed;
    size_t steps,
        most_steps; /* most: 0 = none. Every step is a byte at least of what is printed in the end */
} Printer;

/* --- what is custom
 * ------------------------------------------------------------------------------------------------------- */

bool print_is_custom(BtVm *vm, Value v) {
    if (!value_is_kind(v, KIND_INSTANCE)) return false;
    Method *m = class_lookup(vm, object_class(v), SYMBOL(printString));
    return m && m->owner->id != CLASS_ID_Object && m->owner->id != CLASS_ID_Value &&
           m->owner->id != CLASS_ID_ProtoObject;
}

static bool is_structural(BtVm *vm, Value v) {
    return value_is_kind(v, KIND_INSTANCE) && class_id_inherits(vm, object_class(v), CLASS_ID_Value);
}

/* --- output
 * ---------------------------------------------------------------------------------------------------------------
 */

static void emit(Printer *pr, const char *text) {
    if (pr->t) text_append_cstring(pr->t, text);
}

static bool printer_stopped(Printer *pr) {
    if (pr->most_steps && pr->steps >= pr->most_steps) pr->failed = true;
    return pr->failed || (pr->t && pr->t->failed);
}

static size_t room_left(Printer *pr) {
    if (pr->depth == 0 || !pr->t) return SIZE_MAX;
    size_t used = pr->t->length - pr->base;
    return used < PRINT_MAX_BYTES ? PRINT_MAX_BYTES - used : 0;
}

static void *grown(Printer *pr, void *block, size_t *capacity, size_t element) {
    void *fresh = memory_grown(pr->vm->memory, block, capacity, element, 16);
    if (!fresh) pr->failed = true;
    return fresh;
}

static void collect(Printer *pr, Value v) {
    if (pr->collected_count == pr->collected_capacity) {
        Value *fresh = grown(pr, pr->collected, &pr->collected_capacity, sizeof *fresh);
        if (!fresh) return;
        pr->collected = fresh;
    }
    pr->collected[pr->collected_count++] = v;
}

/* --- parts
 * ----------------------------------------------------------------------------------------------------------------
 */

static PrintFrame *push(Printer *pr, FrameKind kind, const char *open, const char *close) {
    if (pr->count == pr->capacity) {
        PrintFrame *fresh = grown(pr, pr->frames, &pr->capacity, sizeof *fresh);
        if (!fresh) return NULL;
        pr->frames = fresh;
    }
    PrintFrame *f = &pr->frames[pr->count++];
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->close = close;
    emit(pr, open);
    return f;
}

static bool allocate_items(Printer *pr, PrintFrame *f, size_t count) {
    f->items = memory_alloc(pr->vm->memory, (count ? count : 1) * sizeof *f->items);
    if (!f->items) pr->failed = true;
    return f->items != NULL;
}

static void word_items(Value v, PrintFrame *f) {
    for (size_t i = 1; i < object_size(v); i++) f->items[f->count++] = object_at(v, i);
}

static void open_array(Printer *pr, Value v) {
    PrintFrame *f = push(pr, PRINT_ITEMS, "#[", "]");
    size_t size = array_size(v), n;
    if (!f || !allocate_items(pr, f, size)) return;
    for (; f->count < size; f->count += n) {
        const Value *chunk = array_chunk(v, f->count, &n);
        memcpy(f->items + f->count, chunk, n * sizeof *chunk);
    }
}

/* Keys and values alternating. */
static bool dictionary_pairs(Printer *pr, Value v, PrintFrame *f) {
    if (!allocate_items(pr, f, 2 * dict_size(v))) return false;
    DictIter it;
    Value key, value;
    dict_iter_init(&it, v);
    while (dict_iter_next(&it, &key, &value)) {
        f->items[f->count++] = key;
        f->items[f->count++] = value;
    }
    return true;
}

static void open_dictionary(Printer *pr, Value v) {
    PrintFrame *f = push(pr, PRINT_PAIRS, "#{", "}");
    if (!f || !dictionary_pairs(pr, v, f)) return;
    f->starts = memory_alloc(pr->vm->memory, (f->count / 2 + 1) * sizeof *f->starts);
    if (!f->starts) pr->failed = true;
}

/* Bottom-up merge sort in the order of a Set's elements. */
static void sort_items(Printer *pr, Value *items, size_t count) {
    Value *other = memory_alloc(pr->vm->memory, (count ? count : 1) * sizeof *other), *from = items,
          *to = other;
    if (!other) {
        pr->failed = true;
        return;
    }
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = low + width < count ? low + width : count,
                   high = middle + width < count ? middle + width : count;
            size_t i = low, j = middle;
            for (size_t k = low; k < high; k++) {
                bool left =
                    j >= high || (i < middle && value_compare_elements(pr->vm, from[i], from[j]) <= 0);
                to[k] = left ? from[i++] : from[j++];
            }
        }
        Value *swap = from;
        from = to, to = swap;
    }
    if (from != items) memcpy(items, from, count * sizeof *items);
    memory_free(pr->vm->memory, other);
}

static void open_set(Printer *pr, Value v) {
    PrintFrame *f = push(pr, PRINT_ITEMS, "Set(", ")");
    Value dictionary = set_dict(v);
    if (!f || !dictionary_pairs(pr, dictionary, f)) return;
    f->count /= 2;
    for (size_t i = 0; i < f->count; i++) f->items[i] = f->items[2 * i];
    sort_items(pr, f->items, f->count);
}

static void open_tuple(Printer *pr, Value v) {
    PrintFrame *f = push(pr, PRINT_ITEMS, "{", "}");
    if (f && allocate_items(pr, f, object_size(v))) word_items(v, f);
}

static void open_list(Printer *pr, Value v) {
    PrintFrame *f = push(pr, PRINT_LIST, "#(", ")");
    if (f) f->cursor = v;
}

/* Fields in the order of their names: an insertion sort of a few pairs. */
static void open_fields(Printer *pr, Value v, const Class *c) {
    PrintFrame *f = push(pr, PRINT_FIELDS, "(", ")");
    if (!f || !allocate_items(pr, f, 2 * (size_t)c->field_count)) return;
    for (uint32_t i = 0; i < c->field_count; i++) {
        size_t at = f->count, word = 1 + (size_t)class_field_slot(c, i);
        if (word >= object_size(v)) continue; /* made before the class got this field */
        for (; at > 0 && value_compare(pr->vm, f->items[at - 2], c->field_names[i]) > 0; at -= 2) {
            f->items[at] = f->items[at - 2];
            f->items[at + 1] = f->items[at - 1];
        }
        f->items[at] = c->field_names[i];
        f->items[at + 1] = object_at(v, word);
        f->count += 2;
    }
    if (pr->depth++ == 0 && pr->t) pr->base = pr->t->length;
}

static void open_instance(Printer *pr, Value v) {
    const Class *c = class_by_id(pr->vm, object_class(v));
    if (pr->t) print_class_name(pr->vm, pr->t, object_class(v));
    if (!c || !is_structural(pr->vm, v)) return;
    if (pr->depth >= PRINT_MAX_DEPTH) {
        emit(pr, "(...)");
    } else {
        open_fields(pr, v, c);
    }
}

/* --- printing
 * -------------------------------------------------------------------------------------------------------------
 */

static void print_leaf_capped(Printer *pr, Value v, PrintStyle style, bool nested) {
    if (!pr->t) return;
    if (value_is_bytes(v) && string_length(v) > room_left(pr)) {
        emit(pr, "...");
        return;
    }
    print_leaf(pr->vm, pr->t, v, style, nested);
}

static void print_any(Printer *pr, Value v, PrintStyle style, bool nested) {
    if (!value_is_ptr(v)) {
        print_leaf_capped(pr, v, style, nested);
        return;
    }
    switch (object_kind(v)) {
    case KIND_CONS: open_list(pr, v); break;
    case KIND_TUPLE: open_tuple(pr, v); break;
    case KIND_ARRAY:
    case KIND_ARRAY_TREE: open_array(pr, v); break;
    case KIND_DICT:
    case KIND_DICT_TRIE: open_dictionary(pr, v); break;
    case KIND_SET: open_set(pr, v); break;
    case KIND_INSTANCE: open_instance(pr, v); break;
    default: print_leaf_capped(pr, v, style, nested); break;
    }
}

static bool print_custom(Printer *pr, Value v) {
    if (pr->t) {
        if (!print_is_custom(pr->vm, v)) return false;
        if (!value_is_kind(pr->customs, KIND_CONS)) {
            pr->met_custom = true;
            return false;
        }
        Value text = CONS_HEAD(pr->customs);
        pr->customs = CONS_TAIL(pr->customs);
        if (value_is_bytes(text)) print_leaf_capped(pr, text, PRINT_DISPLAY, false);
        return true;
    }
    if (!print_is_custom(pr->vm, v)) return false;
    collect(pr, v);
    return true;
}

static void print_nested(Printer *pr, Value v) {
    if (!print_custom(pr, v)) print_any(pr, v, PRINT_STRING, true);
}

/* --- the pairs of a dictionary are sorted by their text
 * ------------------------------------------------------------------- */

typedef struct {
    const char *bytes;
    size_t length;
} Piece;

static int compare_pieces(const void *x, const void *y) {
    const Piece *a = x, *b = y;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static void sort_pairs(Printer *pr, PrintFrame *f, size_t pairs) {
    size_t start = f->starts[0], length = pr->t->length - start;
    Piece *pieces = memory_alloc(pr->vm->memory, pairs * sizeof *pieces);
    char *copy = memory_alloc(pr->vm->memory, length);
    if (pieces && copy) {
        memcpy(copy, pr->t->bytes + start, length);
        for (size_t i = 0; i < pairs; i++) {
            size_t end = i + 1 < pairs ? f->starts[i + 1] : start + length;
            pieces[i] = (Piece){copy + (f->starts[i] - start), end - f->starts[i]};
        }
        qsort(pieces, pairs, sizeof *pieces, compare_pieces);
        text_truncate(pr->t, start);
        for (size_t i = 0; i < pairs; i++) {
            if (i > 0) text_append_cstring(pr->t, ", ");
            text_append(pr->t, pieces[i].bytes, pieces[i].length);
        }
    } else {
        pr->failed = true;
    }
    memory_free(pr->vm->memory, pieces);
    memory_free(pr->vm->memory, copy);
}

/* --- the loop
 * -------------------------------------------------------------------------------------------------------------
 */

static void pop(Printer *pr) {
    PrintFrame *f = &pr->frames[pr->count - 1];
    if (f->kind == PRINT_PAIRS && pr->t && f->at > 0 && !printer_stopped(pr))
        sort_pairs(pr, f, (f->at + 1) / 2);
    if (f->kind == PRINT_FIELDS) pr->depth--;
    emit(pr, f->close);
    memory_free(pr->vm->memory, f->items);
    memory_free(pr->vm->memory, f->starts);
    pr->count--;
}

/* An improper tail prints behind a bar; it ends the list. */
static void step_list(Printer *pr, PrintFrame *f) {
    Value cell = f->cursor;
    bool proper = value_is_kind(cell, KIND_CONS);
    if (f->at++ > 0) emit(pr, proper ? ", " : " | ");
    f->cursor = proper ? CONS_TAIL(cell) : V_EMPTY_LIST;
    print_nested(pr, proper ? CONS_HEAD(cell) : cell);
}

static void step_items(Printer *pr, PrintFrame *f) {
    if (f->at > 0) emit(pr, ", ");
    print_nested(pr, f->items[f->at++]);
}

/* A key or a value. The text of a pair goes up to the start of the next one. */
static void step_pairs(Printer *pr, PrintFrame *f) {
    if (f->at % 2 == 1) {
        emit(pr, " => ");
    } else if (pr->t) {
        f->starts[f->at / 2] = pr->t->length;
    }
    print_nested(pr, f->items[f->at++]);
}

static void step_fields(Printer *pr, PrintFrame *f) {
    if (f->at > 0) emit(pr, ", ");
    if (f->at / 2 == PRINT_MAX_SLOTS) {
        emit(pr, "...");
        f->at = f->count;
        return;
    }
    if (pr->t) print_symbol_text(pr->vm, pr->t, f->items[f->at]);
    emit(pr, ": ");
    f->at += 2;
    print_nested(pr, f->items[f->at - 1]);
}

static bool frame_is_done(const PrintFrame *f) {
    return f->kind == PRINT_LIST ? f->cursor == V_EMPTY_LIST : f->at >= f->count;
}

static void step(Printer *pr) {
    PrintFrame *f = &pr->frames[pr->count - 1];
    bool pair_open = f->kind == PRINT_PAIRS && f->at % 2 == 1;
    if (frame_is_done(f)) {
        pop(pr);
    } else if (!pair_open && room_left(pr) == 0) {
        emit(pr, f->at > 0 && f->kind != PRINT_PAIRS ? ", ..." : "...");
        f->cursor = V_EMPTY_LIST;
        f->count = f->at;
    } else if (f->kind == PRINT_LIST) {
        step_list(pr, f);
    } else if (f->kind == PRINT_ITEMS) {
        step_items(pr, f);
    } else if (f->kind == PRINT_PAIRS) {
        step_pairs(pr, f);
    } else {
        step_fields(pr, f);
    }
}

static void run(Printer *pr, Value v, PrintStyle style) {
    print_any(pr, v, style, false);
    for (; pr->count > 0 && !printer_stopped(pr); pr->steps++) step(pr);
    while (pr->count > 0) pop(pr);
    memory_free(pr->vm->memory, pr->frames);
    if (pr->failed && pr->t) pr->t->failed = true;
}

void print_value(BtVm *vm, Text *t, Value v, PrintStyle style, Value customs) {
    Printer pr = {.vm = vm, .t = t, .customs = customs};
    run(&pr, v, style);
}

PrimStatus print_collect_customs(Process *p, Value v, PrintStyle style, Value *out) {
    Text limit = text_for(p);
    Printer pr = {.vm = p->vm, .most_steps = limit.most ? limit.most : STRING_MAX_BYTES};
    RootSpan span;
    run(&pr, v, style);
    roots_push(p, &span, pr.collected, pr.collected_count);
    bool ok = !pr.failed && heap_reserve(p, 3 * pr.collected_count);
    roots_pop(p, &span);
    *out = V_EMPTY_LIST;
    for (size_t i = pr.collected_count; ok && i > 0; i--) {
        Value cell = heap_new(p, KIND_CONS, CLASS_ID_List, 3);
        object_words(cell)[1] = pr.collected[i - 1];
        object_words(cell)[2] = *out;
        *out = cell;
    }
    memory_free(p->vm->memory, pr.collected);
    if (pr.failed) return error_resource(p, "There is no memory to print this value.");
    return ok ? PRIM_OK : PRIM_RAISE;
}

/* The digits of a large integer cost more than other text. */
static void charge_text(Process *p, Value v, const Text *t) {
    bool digits = value_is_kind(v, KIND_BIGNUM);
    size_t work = digits ? t->length << 1 : t->length >> 3;
    (void)process_charge(p, work > INT32_MAX >> 6 ? INT32_MAX >> 6 : (uint32_t)work);
}

PrimStatus value_print_plain(Process *p, Value v, Value *out) {
    Text t = text_for(p);
    Printer pr = {.vm = p->vm, .t = &t, .customs = V_EMPTY_LIST};
    run(&pr, v, PRINT_STRING);
    charge_text(p, v, &t);
    if (!pr.met_custom) return text_to_string(p, &t, out);
    text_free(&t);
    return PRIM_FAIL;
}

PrimStatus value_render(Process *p, Value v, PrintStyle style, Value customs, Value *out) {
    Text t = text_for(p);
    print_value(p->vm, &t, v, style, customs);
    charge_text(p, v, &t);
    return text_to_string(p, &t, out);
}

PrimStatus value_print_string(Process *p, Value v, Value *out) {
    return value_render(p, v, PRINT_STRING, V_EMPTY_LIST, out);
}
PrimStatus value_display_string(Process *p, Value v, Value *out) {
    return value_render(p, v, PRINT_DISPLAY, V_EMPTY_LIST, out);
}
