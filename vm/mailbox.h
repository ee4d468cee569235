/* Messages, signals, and the cross-thread half of a process.
 *
 * The state word is 128 bits, changed by one compare-and-swap (vm/atomic128.h): run state, flags and
 * generation in the low half, the inbox (a stack of messages, newest first) in the high half. So a push, a
 * claim or a reply against a dead generation fails. IDLE -> RUNNABLE or RUNNING by that CAS is the only right
 * to enqueue or run a process; going idle is one CAS that fails if the inbox is not empty, and take-all is
 * the same CAS, so no message is ever left behind.
 *
 *   63         32 31        14 13       8 7      0      63                    0
 *   [ generation ][ in inbox  ][ LINK_*  ][ state ]      [ newest Message or 0 ]
 *
 * WAITING is a process whose reply slot is open: a call, a sleep, an I/O request and a system request all
 * wait for the same slot, under an id that no other wait of this control block ever had. Who wins the CAS on
 * reply_call_id (answer, time limit, death of the callee) writes the reply; the others find it closed and
 * drop theirs. An IDLE process has nothing in its inbox and nothing in its private queue.
 */
#ifndef BT_VM_MAILBOX_H
#define BT_VM_MAILBOX_H

#include "vm/heap.h"

typedef struct Message Message;
typedef enum {
    MSG_CALL,   /* synchronous request: reply goes to sender's reply slot under call_id */
    MSG_CAST,   /* asynchronous request */
    MSG_RAW,    /* any term (Server handleInfo:): values[0] */
    MSG_EXIT,   /* exit signal: values[0] = reason; sender = the linked process that ended, or nil if sent on
                   purpose */
    MSG_KILL,   /* untrappable */
    MSG_DOWN,   /* monitor fired: sender = who ended, values[0] = reference, values[1] = reason */
    MSG_TIMER,  /* a timer ran out: call_id = timer id */
    MSG_SYSTEM, /* read request served at the next safepoint: see system_signal in sched.h */
    MSG_START,  /* first message of a PLAIN process: receiver = callable, selector or nil, values = arguments
                 */
    MSG_LINK,   /* sender has linked to me */
    MSG_UNLINK,
    MSG_MONITOR, /* sender watches me: call_id = reference serial, or, with `waiter` set, its wait id */
    MSG_DEMONITOR
} MessageKind;

struct Message {
    Message *next;
    MessageKind kind;
    uint8_t argc;
    uint8_t capacity; /* values there is room for */
    bool handoff; /* MSG_CALL: the caller's thread claimed the callee, the answer switches straight back */
    bool waiter;  /* MSG_MONITOR: the watcher waits in its reply slot; MSG_START: the block of a timer */
    Value sender; /* pid, or nil */
    uint64_t call_id;
    Fragment
        *fragment; /* holds what receiver and values point to, or NULL; owned by the message until adopted */
    union {
        struct {
            Value receiver; /* MSG_CALL, MSG_CAST: class object, or V_HOLE: the actor itself (mailbox_take
                               puts self_ref there) */
            Value selector;
        };
        struct { /* MSG_SYSTEM */
            void (*serve)(Process *target, void *context);
            void *context;
        };
    };
    Value values[]; /* arguments */
};

/* How many messages may wait for it from now on, 0: no limit (vm/limits.h). */
void process_limit_mailbox(Process *p, uint32_t most);

typedef enum { RUN_FREE, RUN_IDLE, RUN_RUNNABLE, RUN_RUNNING, RUN_WAITING, RUN_EXITING } RunState;

/* Flags of the state word. */
#define LINK_SIGNALS ((uint64_t)1 << 8)  /* the inbox holds a message that must act at a safepoint */
#define LINK_WAKE ((uint64_t)1 << 9)     /* woken while still RUNNING: do not start to wait */
#define LINK_RECEIVE ((uint64_t)1 << 10) /* waits for a message: any push wakes it */
#define LINK_WATCHED ((uint64_t)1 << 11) /* a host thread waits for its end */
#define LINK_NAMED ((uint64_t)1 << 12)   /* has a registered name */
/* A kill has been pushed: for everyone else it is dead already, so what its killer sends next cannot reach
 * it. Signals still do, and are answered when it ends. */
#define LINK_DOOMED ((uint64_t)1 << 13)

/* How many messages are in the inbox; stays at its maximum. */
#define LINK_COUNT_ONE ((uint64_t)1 << 14)
#define LINK_COUNT_BITS ((uint64_t)0x3ffff << 14)
static inline uint32_t link_count(uint64_t low) { return (uint32_t)((low & LINK_COUNT_BITS) >> 14); }

static inline RunState link_state(uint64_t low) { return (RunState)(low & 0xff); }
static inline uint32_t link_generation(uint64_t low) { return (uint32_t)(low >> 32); }
/* Alive, for others: of that generation, and neither ended, ending nor doomed. */
static inline bool link_is_alive(uint64_t low, uint32_t generation) {
    RunState state = (RunState)(low & 0xff);
    return (uint32_t)(low >> 32) == generation && state != RUN_FREE && state != RUN_EXITING &&
           !(low & LINK_DOOMED);
}
static inline uint64_t link_with_state(uint64_t low, RunState state) {
    return (low & ~(uint64_t)0xff) | (uint64_t)state;
}

typedef enum { REPLY_VALUE, REPLY_ERROR, REPLY_NLR, REPLY_DEAD, REPLY_TIMEOUT } ReplyKind;
typedef struct Reply {
    ReplyKind kind;
    Fragment *fragment;
    Value value, token_pid, token_serial;
} Reply;

/* What a process waits for. CALL: the interpreter takes the answer by call_take_reply. PRIM: the scheduler
 * fills resume_value (or exception) before it runs the process again. RECEIVE: as PRIM, for a message. */
typedef enum { WAIT_NONE, WAIT_CALL, WAIT_PRIM, WAIT_RECEIVE } WaitKind;

/* Last two bits of reply_call_id; wait ids have them clear. */
enum { SLOT_OPEN = 0, SLOT_BUSY = 1, SLOT_DONE = 2, SLOT_BITS = 3 };
#define DEADLINE_NONE INT64_MAX

/* A link or monitor of a process (vm/relation.c). key: the other's pid with its tag replaced by the kind + 1,
 * 0 = none. */
typedef struct Relation {
    uint64_t key, id;
} Relation;
typedef struct Relations {
    Relation lone; /* while there is no table */
    struct RelationTable *table;
} Relations;
struct Completion;

typedef struct ProcessLink {
    /* any thread */
    _Alignas(64) uint64_t word[2];  /* drawn above; only through atomic128 */
    _Atomic uint64_t reply_call_id; /* wait id | SLOT_*, 0 = closed */
    _Atomic uint64_t waiting_on; /* pid of the process that this one's synchronous call waits for, 0 = none */
    _Atomic int64_t wait_deadline;  /* when the present wait runs out, DEADLINE_NONE = never (vm/timer.c) */
    _Atomic int64_t armed_until;    /* deadline of the timer entry this control block has, 0 = none */
    _Atomic uint32_t class_id;      /* actor: its class; class process: the class it serves */
    _Atomic uint32_t mailbox_limit; /* messages that may wait, 0 = no limit */
    Reply reply;                    /* written by who wins the CAS on reply_call_id */
    /* the owner only */
    Message *queue_head, *queue_tail; /* private, in arrival order */
    uint64_t next_call_id;            /* never reset: an id names one wait of this control block for ever */
    int64_t wait_timeout_us;          /* < 0: no limit */
    void (*wait_finish)(
        Process *p,
        Reply *reply); /* PRIM: turns the reply into resume_value or exception; NULL: resume_value stands */
    void (*wait_discard)(
        const Reply *reply); /* PRIM: drops a reply that nobody takes; NULL: only its fragment */
    void *wait_context;
    Relations relations; /* links and monitors, both directions; changes travel as signals */
    struct Completion *completion;
    Message *system_request; /* being served, for system_answer */
    Process *run_next;       /* intrusive run-queue or free-list link */
    Value exit_reason;
    Value call_class, call_selector; /* of the call it waits for, for errors; immediates */
    uint64_t reductions_ceiling;     /* of reductions_total; beyond it the process ends (vm/limits.h) */
    _Atomic int64_t output_left;     /* bytes that it may still print, itself or by those it calls */
    uint32_t slot;
    _Atomic uint32_t queued; /* messages in the private queue; others may read it */
    uint8_t wait;            /* WaitKind */
    bool calls_class;        /* the call it waits for is a message to a class */
    bool trap_exit;          /* ignores exit signals other than kill */
    bool ending;             /* ends when the present message is answered; exit_reason is set */
    bool killed;             /* a signal has ended it: it ends at once; implies ending */
    bool timer;              /* runs blocks of timers (vm/timer_body.c) */
    bool tethered;           /* has a RELATION_TETHERED (vm/relation.c) */
    bool cooling;            /* in a scheduler's list of idle processes that may give back memory */
} ProcessLink;

#endif
