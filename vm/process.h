/* Processes: control block, segmented frame stack, heap, mailbox, homes of mutable state.
 *
 * Owner: the scheduler thread that runs (or has claimed) the process; other threads touch only the atomic
 * fields marked so and the mailbox. Control blocks are type-stable: never given back while the VM lives; a
 * pid is (slot, generation). The interpreter never recurses on the C stack: all of a process's execution
 * state is here.
 */
#ifndef BT_VM_PROCESS_H
#define BT_VM_PROCESS_H

#include "vm/class.h"
#include "vm/heap.h"
#include "vm/mailbox.h"
#include "vm/prim.h"

typedef struct Scheduler Scheduler;

/* An activation. Registers follow the header; register 0 is self (methods) or the closure (blocks). A frame
 * never moves and never straddles segments; the callee's frame lies in the caller's outgoing window when the
 * segment has room. Registers from 0 to fn->register_count - 1 always hold valid Values (nil-filled on
 * entry), save those covered by a live callee's frame. */
typedef struct Frame {
    struct Frame *caller; /* NULL: base of the process or of the message being served */
    const Instr *pc;      /* resume point while not running; the word before it is the send that waits */
    const Function *fn;
    uint32_t serial;   /* activation serial if FN_NLR_HOME, else 0 */
    uint16_t flags;    /* FRAME_* */
    uint16_t carriers; /* carriers this frame opened; while it runs, they are the topmost (carrier.c) */
    Value regs[];
} Frame;
_Static_assert(sizeof(Frame) == 8 * FRAME_WORDS, "FRAME_WORDS is the header of an activation");
enum {
    FRAME_NEW_SEGMENT = 1,
    FRAME_CARRIERS = 2,
    FRAME_BASE = 4, /* no caller: its answer ends the message being served, or the process */
    FRAME_RESUME =
        8, /* the caller does not simply want the answer in register a of the instruction that waits */
    FRAME_TAILED = 16 /* has replaced callers: see elided_ring */
};

typedef struct StackSegment StackSegment; /* vm/stack.h */

/* What unwinds: nothing, an error (process->exception), a non-local return (value and token). */
typedef enum { PENDING_NONE, PENDING_ERROR, PENDING_NLR, PENDING_RETURN } PendingKind;

typedef enum {
    PROC_PLAIN, /* runs one closure or entry, then ends: main, evaluation, timer body, Parallel worker */
    PROC_ACTOR, /* serves messages; state = record of fields */
    PROC_CLASS  /* serves class-side calls of one class */
} ProcessRole;

/* The class-variable home of a process (ADR 0130). Touched only by vm/class_vars.c; the fields are here
 * because the collector must see them and a snapshot must be one load. */
typedef struct ClassVarHome {
    Value live_class;     /* class object whose invocation runs here, V_HOLE = none */
    uint32_t live_layout; /* id of layout while an invocation runs, else 0: what warm sites compare */
    Value views;     /* read-only snapshots installed by with_snapshot: Dictionary of class objects and the
                        Dictionaries of their variables, V_NIL = none */
    Value entry;     /* the record as it was at entry: the committed map while an invocation runs */
    Value committed; /* class processes, between invocations */
    const struct SlotLayout
        *layout; /* slot names of live, entry and committed; NULL before the first record */
    Value live;  /* its record, V_HOLE outside an invocation */
} ClassVarHome;

/* A caller replaced by a tail send. The ring is made at the first one: most processes never need it. */
#define ELIDED_CALLS 16
#define ELIDED_FIRST 0x80000000u
#define ELIDED_FRAME_MASK 0x7fffffffu
typedef struct ElidedCall {
    const Function *fn;
    uint32_t line;  /* index of the instruction that sent */
    uint32_t frame; /* tag of the frame it had (vm/trace.c), ELIDED_FIRST: the first that its activation
                       replaced */
} ElidedCall;

/* The send that a primitive asks for. It lives from prim_send to send_described, which follow one another
 * without a collection, so each scheduler has one for all its processes. prim_send fills all of it,
 * has_timeout, method and call_block cleared. */
typedef struct DescribedSend {
    Value receiver, selector, args[PRIM_SEND_MAX];
    unsigned argc;
    bool has_timeout; /* timeout_us is the limit if it becomes a call to another process (< 0: none) */
    bool call_block;  /* the receiver is a closure: call it with the arguments (arity_mismatch), no lookup */
    int64_t timeout_us;
    const Method *method; /* not NULL: run this method on the receiver, no lookup */
} DescribedSend;

struct Process {
    /* --- hot: read and written by the interpreter --- */
    Heap heap;
    Frame *frame;       /* running or suspended activation; NULL when idle */
    int32_t reductions; /* left in this slice */
    BtVm *vm;
    Scheduler *scheduler; /* that runs it now */
    Value pid;
    Value self_ref; /* actor: its ACTOR_REF; class process: its class object; else nil */
    const struct SlotLayout *state_layout; /* slot names of state; NULL before birth */
    uint32_t carrier_top;                  /* first free carrier */
    ClassVarHome class_vars;
    Value state;     /* actor: record of fields; else V_HOLE */
    Value carriers;  /* record of open carriers; V_HOLE before the first */
    Value exception; /* pending error, V_HOLE if none */
    PendingKind pending;
    Value pending_value, pending_pid, pending_serial;
    uint32_t next_serial;
    RootSpan *roots;
    DescribedSend *send;    /* PRIM_SEND: the scheduler's, set while it runs here */
    Value resume_value;     /* answer of what it waited for */
    StackSegment *segments; /* current segment first */
    size_t stack_words, stack_limit_words;
    struct ElidedCall
        *elided_ring; /* callers replaced by tail sends; NULL until the first: see process_note_elided */
    uint32_t
        elided_count; /* ever noted; the last ELIDED_CALLS of them are in the ring at [i % ELIDED_CALLS] */
    ProcessRole role;
    uint32_t
        init_next; /* class process: next class variable whose initial value is to be computed (vm/serve.c) */
    bool call_retried;    /* the callee died before it began; the send is made once more */
    bool raising_limit;   /* the error about a limit is being made: the limit does not count (vm/limits.c) */
    Message *serving;     /* the request being answered, NULL if none */
    int64_t traced_since; /* when it began, 0: it is not traced */
    Value rollback_state; /* actor: state at entry of the message being served */
    Value dictionary;     /* process dictionary (a Dictionary), nil if empty */
    uint64_t session;     /* evaluation: number of its session (vm/workspace.h), else 0 */
    uint64_t reductions_total;
    /* --- cross-thread: state word, mailbox, links (vm/mailbox.h, vm/sched.h) --- */
    ProcessLink link;
};
/* A slab of control blocks is a whole number of the allocator's slices (SLAB_PROCESSES): a field too many
 * costs every process 128 bytes. */
_Static_assert(sizeof(Process) <= 768, "the size of a control block");

static inline uint32_t dispatch_class_of(Value v) {
    if (__builtin_expect(value_is_ptr(v), 1)) {
        uint32_t class_id = object_class(v);
        if (__builtin_expect(class_id != CLASS_ID_String, 1)) return class_id; /* else String or Binary */
        return dispatch_class_slow(v);
    }
    if (value_is_int(v)) return CLASS_ID_Integer;
    return dispatch_class_slow(v);
}
/* Signed: the limit may have been pulled below the top, to force a collection. */
static inline bool heap_has_room(const Process *p, size_t words) {
    return p->heap.limit - p->heap.top >= (ptrdiff_t)words;
}
static inline bool heap_reserve(Process *p, size_t words) {
    return heap_has_room(p, words) || heap_reserve_slow(p, words);
}
static inline uint64_t *heap_alloc(Process *p, size_t words) {
    uint64_t *at = p->heap.top;
    p->heap.top += words;
    return at;
}
static inline Value heap_new(Process *p, ObjectKind kind, uint32_t class_id, size_t words) {
    uint64_t *at = heap_alloc(p, words);
    at[0] = header_make(class_id, kind, 0, words);
    return value_from_object(at);
}
static inline void records_share(Process *p) { p->heap.record_mark = p->heap.top; }
/* May the record be written in place? */
static inline bool record_is_own(const Process *p, Value record) {
    const uint64_t *words = object_words(record);
    return words >= p->heap.record_mark && words < p->heap.top;
}
static inline bool record_write(Process *p, Value *home, size_t index, Value value) {
    if (!record_is_own(p, *home)) return record_write_slow(p, home, index, value);
    object_words(*home)[index + 1] = value;
    return true;
}
bool process_make_elided_ring(Process *p);
/* Notes the caller that a tail send replaces (dropped silently without memory: it only serves traces). */
static inline void process_note_elided(Process *p, const Function *fn, uint32_t line) {
    if (!p->elided_ring && !process_make_elided_ring(p)) return;
    p->elided_ring[p->elided_count++ % ELIDED_CALLS] = (ElidedCall){fn, line, 0};
}
/* Charges work beyond the instruction count; a long primitive answers PRIM_YIELD when this is false. */
static inline bool process_charge(Process *p, uint32_t reductions) {
    return (p->reductions -= (int32_t)reductions) > 0;
}

#endif
