/* Frame stacks: a list of segments in which frames lie end to end. Owner: the process.
 *
 * A frame never moves and never straddles segments. Its header takes the FRAME_WORDS words below the caller's
 * outgoing window, so within a segment arguments are not copied; a frame that does not fit begins a new,
 * larger segment (FRAME_NEW_SEGMENT) and gets copies. One spare segment is kept behind the current one, so
 * that a loop of calls at a border does not allocate.
 *
 * Every word between a segment's start and the end of the highest frame that was ever in it is, at any
 * safepoint, a frame header, a live register, or a Value that the collector has seen or cleared: a frame is
 * nil-filled when it is pushed, its header is overwritten with nils when it is popped, and the collector
 * clears what lies above the top frame (stack_clear_dead). So a caller's registers may be scanned whole as
 * soon as the callee is gone.
 */
#ifndef BT_VM_STACK_H
#define BT_VM_STACK_H

#include "vm/interp.h"

struct StackSegment {
    StackSegment *older, *newer; /* newer: the spare, only of the current segment */
    Value *limit; /* frames pushed in place end here or below; under segment_stress: at the start */
    Value *end;
    Value words[];
};
#define SEGMENT_HEADER_WORDS (sizeof(StackSegment) / sizeof(Value))
#define SEGMENT_FIRST_WORDS 64u
#define SEGMENT_LONE_WORDS 512u /* of processes that are no actors: they are few, and many loop for long */
#define STACK_SPARE_WORDS 8u    /* behind the end of a segment: frames are filled some words at a time */
#define SEGMENT_MAX_WORDS 32768u
_Static_assert(sizeof(StackSegment) % sizeof(Value) == 0, "a segment is made of words");

static inline Value *frame_end(const Frame *f) { return (Value *)f->regs + f->fn->register_count; }

/* Header and nil-filled registers behind the arguments; the window's receiver and arguments stay. */
static inline Frame *stack_init_frame(Process *p, Value *window, const Function *fn, unsigned argc,
                                      unsigned flags) {
    Frame *f = (Frame *)(void *)(window - FRAME_WORDS);
    f->caller = p->frame;
    f->pc = fn->code;
    f->fn = fn;
    f->serial = 0;
    f->flags = (uint16_t)flags;
    f->carriers = 0;
    for (unsigned i = argc + 1; i < fn->register_count; i++) window[i] = V_NIL;
    p->frame = f;
    return f;
}

/* Where receiver and arguments of the first activation go if the first segment is there and has room;
 * stack_init_frame then completes it. NULL: stack_push. */
static inline Value *stack_base_window(Process *p, const Function *fn) {
    StackSegment *s = p->segments;
    if (p->frame || !s || s->older || s->words + FRAME_WORDS + fn->register_count > s->end) return NULL;
    return s->words + FRAME_WORDS;
}

/* The interpreter's call: `window` is the outgoing window of the running frame (receiver or closure, then
 * argc arguments). Flags are FRAME_NEW_SEGMENT or 0, the caller of this adds its own. NULL: limit,
 * resource_error pending. MAY_GC only when it is. */
static inline Frame *stack_push_fast(Process *p, const Function *fn, Value *window, unsigned argc) {
    if (window + fn->register_count <= p->segments->limit) return stack_init_frame(p, window, fn, argc, 0);
    return stack_push(p, fn, window, argc);
}

/* Pops the running frame; nothing of it may be read afterwards. */
static inline void stack_pop_fast(Process *p) {
    Frame *f = p->frame;
    if (f->flags & FRAME_NEW_SEGMENT) {
        stack_pop(p);
        return;
    }
    p->frame = f->caller;
    Value *header = (Value *)(void *)f;
    header[0] = header[1] = header[2] = header[3] = V_NIL;
}

/* May the running frame become one of fn's (tail send)? Its registers stay where they are. */
static inline bool stack_can_retarget(const Process *p, const Function *fn) {
    return p->frame->regs + fn->register_count <= p->segments->end;
}
/* Turns the running frame into an activation of fn whose receiver and arguments the caller has moved to
 * regs[0..argc]. Keeps caller, FRAME_NEW_SEGMENT, FRAME_BASE and FRAME_RESUME. stack_can_retarget must hold.
 */
static inline void stack_retarget(Process *p, const Function *fn, unsigned argc) {
    Frame *f = p->frame;
    unsigned old_count = f->fn->register_count;
    unsigned count = fn->register_count > old_count ? fn->register_count : old_count;
    f->pc = fn->code;
    f->fn = fn;
    f->serial = 0;
    f->carriers = 0;
    for (unsigned i = argc + 1; i < count; i++) f->regs[i] = V_NIL;
}

/* Words of stack that a collection has to scan. */
size_t stack_used_words(const Process *p);
/* Clears what lies above the top frame of each segment. For the collector, before values move. */
void stack_clear_dead(Process *p);

#endif
