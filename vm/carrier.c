/* Carriers: locals that real closures write, in one record of the process (architecture.md section 2).
 *
 * An activation that opens n carriers takes n + 1 slots at carrier_top: a serial, then the values. While a
 * frame runs, everything opened further in is closed again, so its own slots are the topmost. A closure finds
 * them by place, and believes them only in the process that opened them and if the serial there is still the
 * one it carries: both stand behind its captures. That is the activation that opened the carriers, not the
 * home of its ^: a block with carriers of its own may run in a process that never saw its method.
 *
 * A block that opens some and also reaches further out links them: its first carrier is the place of those
 * that its closure reaches into, nil if they are not there. A link needs no serial: while an activation
 * lives, so do all that were open when it began.
 *
 * Kept carriers. A block inside such a block may be stored, and called as long as the method lives, when the
 * activation that opened its carriers is over. Those lie at the other end of the record: their place is
 * counted from the end, so that it stands when the record grows. Three words before the serial say how many
 * words they take, and which carriers of the method they belong to (place and serial). The frame that opened
 * them has one ordinary carrier, their place. They are given up when others are opened and the method is
 * over; where the method is not found at all, in another process, the block opens ordinary ones. The last
 * slot of the record counts the words so kept: what a restore puts back, it puts back with its count. */
#include "vm/interp_internal.h"

enum { KEPT_WORDS = 3, KEPT_SIZE = 0, KEPT_HOME, KEPT_HOME_SERIAL };

/* ---- the record ---- */

static size_t record_slots(const Process *p) {
    return p->carriers == V_HOLE ? 0 : object_size(p->carriers) - 1;
}

static Value slot_value(const Process *p, size_t slot) {
    return slot < record_slots(p) ? object_at(p->carriers, slot + 1) : V_HOLE;
}

/* Slot of a place; -1: none. */
static int64_t place_slot(const Process *p, Value place) {
    if (!value_is_int(place)) return -1;
    int64_t at = value_to_int(place), slots = (int64_t)record_slots(p);
    if (at < 0) at += slots;
    return at >= 0 && at < slots ? at : -1;
}

/* Words at the end that are taken, their count not included. */
static size_t kept_words(const Process *p) {
    size_t slots = record_slots(p);
    Value count = slots ? slot_value(p, slots - 1) : V_HOLE;
    bool sound = value_is_int(count) && value_to_int(count) >= 0 && (uint64_t)value_to_int(count) < slots;
    return sound ? (size_t)value_to_int(count) : 0;
}

static bool put_int(Process *p, size_t slot, int64_t i) {
    return record_write(p, &p->carriers, slot, value_from_int(i));
}

/* Room for `needed` slots in front and `kept` at the end. */
static bool carriers_grow(Process *p, size_t needed, size_t kept) {
    size_t slots = record_slots(p), old_kept = kept_words(p);
    if (needed + kept + 1 <= slots) return true;
    size_t size = needed + kept < 7 ? 8 : (needed + kept) * 2;
    Value bigger = record_new(p, size);
    if (bigger == V_HOLE) return false;
    uint64_t *to = object_words(bigger) + 1;
    for (size_t i = 0; i < slots && i < p->carrier_top; i++) to[i] = slot_value(p, i);
    for (size_t i = 1; i <= old_kept + 1 && i <= slots; i++) to[size - i] = slot_value(p, slots - i);
    to[size - 1] = value_from_int((int64_t)old_kept);
    p->carriers = bigger;
    return true;
}

/* ---- finding ---- */

/* Does the activation of the method still live that opened carriers there? */
static bool home_lives(const Process *p, Value place, Value serial) {
    int64_t at = place_slot(p, place);
    return at >= 0 && at < p->carrier_top && slot_value(p, (size_t)at) == serial;
}

int64_t carriers_kept_base(const Process *p, Value closure) {
    Value place = object_at(closure, CLOSURE_CARRIERS);
    int64_t at = value_to_int(place) < 0 ? place_slot(p, place) : -1;
    if (at < KEPT_WORDS || slot_value(p, (size_t)at) != object_at(closure, object_size(closure) - 1))
        return -1;
    const uint64_t *header = object_words(p->carriers) + 1 + at - KEPT_WORDS;
    return home_lives(p, header[KEPT_HOME], header[KEPT_HOME_SERIAL]) ? at : -1;
}

/* The place of the carriers that a running block reaches into through its closure. */
static Value place_around(const Process *p, const Frame *f) {
    bool block = f->fn->kind == FN_BLOCK && value_is_closure(f->regs[0]);
    return block && carriers_base(p, f->regs[0]) >= 0 ? object_at(f->regs[0], CLOSURE_CARRIERS) : V_NIL;
}

/* Of a frame that opened carriers. */
static Value place_opened(const Process *p, const Frame *f) {
    size_t at = (size_t)p->carrier_top - f->carriers - 1;
    Value kept = (f->fn->flags & FN_KEEPS) && f->carriers == 1 ? slot_value(p, at + 1) : V_NIL;
    return value_is_int(kept) && value_to_int(kept) < 0 ? kept : value_from_int((int64_t)at);
}

int64_t carrier_slot_outer(const Process *p, const Frame *frame, unsigned level, unsigned index) {
    int64_t base =
        place_slot(p, frame->flags & FRAME_CARRIERS ? place_opened(p, frame) : place_around(p, frame));
    for (; level && base >= 0; level--) base = place_slot(p, slot_value(p, (size_t)base + 1));
    int64_t slot = base + 1 + index;
    return base >= 0 && (size_t)slot < record_slots(p) ? slot : -1;
}

Value carriers_for_closure(const Process *p, const Frame *f) {
    if (f->flags & FRAME_CARRIERS) return place_opened(p, f);
    bool block = f->fn->kind == FN_BLOCK && value_is_closure(f->regs[0]);
    return block ? object_at(f->regs[0], CLOSURE_CARRIERS) : V_NIL;
}

void carriers_tell(const Process *p, const Frame *f, uint64_t *words) {
    if (f->flags & FRAME_CARRIERS) {
        int64_t at = place_slot(p, place_opened(p, f));
        words[0] = p->pid;
        words[1] = at >= 0 ? slot_value(p, (size_t)at) : V_NIL;
    } else {
        size_t end = object_size(f->regs[0]);
        words[0] = object_at(f->regs[0], end - 2);
        words[1] = object_at(f->regs[0], end - 1);
    }
}

/* ---- opening ---- */

/* The topmost kept carriers of methods that are over. Answers how many words stay. */
static size_t kept_alive(const Process *p) {
    size_t kept = kept_words(p), slots = record_slots(p);
    while (kept > KEPT_WORDS) {
        const uint64_t *header = object_words(p->carriers) + slots - kept; /* word i is slot i - 1 */
        Value size = header[KEPT_SIZE];
        bool sound =
            value_is_int(size) && value_to_int(size) > KEPT_WORDS && (size_t)value_to_int(size) <= kept;
        if (!sound || home_lives(p, header[KEPT_HOME], header[KEPT_HOME_SERIAL])) return kept;
        kept -= (size_t)value_to_int(size);
    }
    return kept;
}

/* Carriers at the end of the record; *place is theirs. */
static bool open_kept(Process *p, Value around, unsigned count, Value *place) {
    int64_t base = place_slot(p, around);
    Value home = around, serial = slot_value(p, (size_t)base);
    if (value_to_int(around) < 0) {
        home = slot_value(p, (size_t)base - KEPT_WORDS + KEPT_HOME);
        serial = slot_value(p, (size_t)base - KEPT_WORDS + KEPT_HOME_SERIAL);
    }
    size_t words = KEPT_WORDS + 1 + count, kept = kept_alive(p) + words;
    if (kept > UINT32_MAX / 4 || !carriers_grow(p, (size_t)p->carrier_top + 2, kept)) return false;
    size_t slots = record_slots(p), first = slots - 1 - kept, at = first + KEPT_WORDS;
    if (!put_int(p, slots - 1, (int64_t)kept) || !put_int(p, first + KEPT_SIZE, (int64_t)words) ||
        !record_write(p, &p->carriers, first + KEPT_HOME, home) ||
        !record_write(p, &p->carriers, first + KEPT_HOME_SERIAL, serial) ||
        !put_int(p, at, ++p->next_serial) || !record_write(p, &p->carriers, at + 1, around))
        return false;
    for (size_t i = 1; i < count; i++)
        if (!record_write(p, &p->carriers, at + 1 + i, V_NIL)) return false;
    *place = value_from_int((int64_t)at - (int64_t)slots);
    return true;
}

static bool open_top(Process *p, Frame *frame, unsigned count, Value first) {
    size_t base = p->carrier_top;
    if (base > UINT32_MAX / 4 || !carriers_grow(p, base + count + 1, kept_words(p))) return false;
    if (!put_int(p, base, ++p->next_serial)) return false;
    for (size_t i = 0; i < count; i++)
        if (!record_write(p, &p->carriers, base + 1 + i, i ? V_NIL : first)) return false;
    frame->carriers = (uint16_t)count;
    frame->flags |= FRAME_CARRIERS;
    p->carrier_top = (uint32_t)(base + count + 1);
    return true;
}

bool carriers_open(Process *p, Frame *frame, unsigned count, unsigned mode) {
    Value first = mode == CARRIERS_PLAIN ? V_NIL : place_around(p, frame);
    if (mode == CARRIERS_KEPT && first != V_NIL) {
        if (open_kept(p, first, count, &first) && open_top(p, frame, 1, first)) return true;
    } else if (open_top(p, frame, count, first)) {
        return true;
    }
    return p->exception != V_HOLE ? false : (error_resource(p, NULL), false);
}

PrimStatus raise_stateful(Process *p, Value selector) {
    return error_raise(p, ERR_stateful_block_dispatch, class_by_id(p->vm, CLASS_ID_Block)->name, selector,
                       NULL,
                       "A block that writes a variable of the method around it can be used only by that "
                       "method while it runs, in its own process",
                       V_NIL);
}
