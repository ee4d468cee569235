/* Segmented frame stacks. See stack.h for the invariants. */
#include "vm/stack.h"
#include "vm/bytecode/memory.h"
#include "vm/error.h"
#include "vm/vm.h"

#define DEFAULT_STACK_LIMIT_WORDS ((size_t)64 << 20) /* 512 MB */

/* ---- segments ---- */

static size_t segment_words(const StackSegment *s) { return (size_t)(s->end - (const Value *)s); }

/* Room for a frame of `frame_words`: eight times the current segment, within bounds. */
static size_t next_segment_words(const Process *p, size_t frame_words) {
    size_t needed = SEGMENT_HEADER_WORDS + frame_words;
    if (p->vm->segment_stress) return needed;
    size_t first = p->role == PROC_ACTOR ? SEGMENT_FIRST_WORDS : SEGMENT_LONE_WORDS;
    size_t words = p->segments ? segment_words(p->segments) * 8 : first;
    if (words > SEGMENT_MAX_WORDS) words = SEGMENT_MAX_WORDS;
    return words < needed ? needed : words;
}

static size_t stack_limit(const Process *p) {
    if (p->stack_limit_words) return p->stack_limit_words;
    size_t limit = p->vm->default_stack_limit_words;
    return limit ? limit : DEFAULT_STACK_LIMIT_WORDS;
}

static StackSegment *segment_new(const Process *p, size_t words) {
    StackSegment *s = memory_alloc(p->vm->memory, (words + STACK_SPARE_WORDS) * sizeof(Value));
    if (!s) return NULL;
    s->older = s->newer = NULL;
    s->end = (Value *)(void *)s + words;
    s->limit = p->vm->segment_stress ? s->words : s->end;
    return s;
}

/* Makes a segment with room for the frame the current one. */
static StackSegment *enter_segment(Process *p, size_t frame_words) {
    StackSegment *current = p->segments, *fresh = current ? current->newer : NULL;
    if (fresh && fresh->words + frame_words > fresh->end) {
        memory_free(p->vm->memory, fresh);
        fresh = current->newer = NULL;
    }
    if (!fresh) {
        size_t words = next_segment_words(p, frame_words);
        if (p->stack_words + words > stack_limit(p)) return NULL;
        fresh = segment_new(p, words);
        if (!fresh) return NULL;
    }
    if (current) current->newer = NULL;
    fresh->older = current;
    p->segments = fresh;
    p->stack_words += segment_words(fresh);
    return fresh;
}

/* The current segment becomes the spare of the one below it. */
static void leave_segment(Process *p) {
    StackSegment *s = p->segments;
    p->segments = s->older;
    p->stack_words -= segment_words(s);
    if (s->newer) memory_free(p->vm->memory, s->newer);
    s->newer = NULL;
    if (p->segments)
        p->segments->newer = s;
    else
        memory_free(p->vm->memory, s);
}

/* ---- frames ---- */

static bool is_outgoing_window(const Process *p, const Value *window) {
    const Frame *f = p->frame;
    return f && window > f->regs && window <= frame_end(f) + FRAME_WORDS;
}

/* Copies receiver and arguments to a place above the top frame. */
static Value *copy_window(Value *base, const Value *window, unsigned argc) {
    Value *to = base + FRAME_WORDS;
    if (to != window) memmove(to, window, (argc + 1) * sizeof(Value));
    return to;
}

static Frame *push_in_new_segment(Process *p, const Function *fn, const Value *window, unsigned argc,
                                  size_t frame_words) {
    StackSegment *s = enter_segment(p, frame_words);
    if (!s) {
        error_resource(p, "The stack limit of this process was reached: is a recursion endless?");
        return NULL;
    }
    return stack_init_frame(p, copy_window(s->words, window, argc), fn, argc,
                            p->segments->older ? FRAME_NEW_SEGMENT : 0);
}

Frame *stack_push(Process *p, const Function *fn, Value *window, unsigned argc) {
    size_t registers = fn->register_count > argc ? fn->register_count : argc + 1;
    size_t frame_words = FRAME_WORDS + registers;
    if (!p->frame)
        while (p->segments && p->segments->older) leave_segment(p);
    StackSegment *s = p->segments;
    if (s) {
        Value *base = s->words;
        if (p->frame) base = is_outgoing_window(p, window) ? window - FRAME_WORDS : frame_end(p->frame);
        bool fits = base + frame_words <= (p->frame ? s->limit : s->end);
        if (fits) return stack_init_frame(p, copy_window(base, window, argc), fn, argc, 0);
    }
    return push_in_new_segment(p, fn, window, argc, frame_words);
}

void stack_pop(Process *p) {
    Frame *f = p->frame;
    bool new_segment = f->flags & FRAME_NEW_SEGMENT;
    p->frame = f->caller;
    if (new_segment) {
        leave_segment(p);
        return;
    }
    Value *header = (Value *)(void *)f;
    for (size_t i = 0; i < FRAME_WORDS; i++) header[i] = V_NIL;
}

void stack_release(Process *p) {
    p->frame = NULL;
    while (p->segments) leave_segment(p);
}

void stack_trim_idle(Process *p) {
    if (!p->frame) stack_release(p);
}

/* ---- the collector's view ---- */

size_t stack_used_words(const Process *p) {
    if (!p->frame) return 0;
    return p->stack_words - (size_t)(p->segments->end - frame_end(p->frame));
}

void stack_clear_dead(Process *p) {
    Value *top = NULL, *high = NULL;
    for (Frame *f = p->frame; f; f = f->caller) {
        if (!top) top = high = frame_end(f);
        if (frame_end(f) > high) high = frame_end(f);
        if (!(f->flags & FRAME_NEW_SEGMENT) && f->caller) continue;
        for (Value *at = top; at < high; at++) *at = V_NIL;
        top = NULL;
    }
}

void stack_each_root(Process *p, void (*visit)(void *context, Value *slots, size_t count), void *context) {
    const Value *covered = NULL; /* header of the callee in the same segment */
    for (Frame *f = p->frame; f; f = f->caller) {
        size_t count = f->fn->register_count;
        if (covered && (size_t)(covered - f->regs) < count) count = (size_t)(covered - f->regs);
        visit(context, f->regs, count);
        covered = f->flags & FRAME_NEW_SEGMENT ? NULL : (const Value *)(const void *)f;
    }
}
