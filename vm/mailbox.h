/* Messages, signals, and the cross-thread half of a process.
 *
 * The state word is 128 bits, changed by one compare-and-swap (vm/atomic128.h): run state, flags and generation in the low half, the
 * inbox (a stack of messages, newest first) in the high half. So a push, a claim or a reply against a dead generation
 * fails. IDLE -> RUNNABLE or RUNNING by that CAS is the only right to enqueue or run a process; going idle is one CAS that
 * fails if the inbox is not empty, and take-all is the same CAS, so no message is ever left behind.
 */
#ifndef BT_VM_MAILBOX_H
#define BT_VM_MAILBOX_H

#include "vm/heap.h"

typedef struct Message Message;
typedef enum {
    MSG_CALL,    /* synchronous request: reply goes to sender's reply slot under call_id */
    MSG_CAST,    /* asynchronous request */
    MSG_RAW,     /* any term (Server handleInfo:) */
    MSG_EXIT,    /* exit signal over a link: values[0] = reason */
    MSG_KILL,    /* untrappable */
    MSG_DOWN,    /* monitor fired: values[0] = reference, values[1] = reason */
    MSG_TIMER,   /* a timer or time limit ran out: call_id = timer id */
    MSG_SYSTEM,  /* read request served at the next safepoint: see system_signal in sched.h */
    MSG_IO       /* completion of an I/O request: values[0] = answer */
} MessageKind;

struct Message {
    Message *next;
    MessageKind kind;
    uint8_t argc;
    Value sender;        /* pid, or nil */
    uint64_t call_id;
    Fragment *fragment;  /* holds what receiver and values point to, or NULL; owned by the message until adopted */
    void (*serve)(Process *target, void *context); /* MSG_SYSTEM */
    void *context;
    Value receiver;      /* MSG_CALL, MSG_CAST: actor reference or class object */
    Value selector;
    Value values[];      /* arguments */
};

typedef enum { RUN_FREE, RUN_IDLE, RUN_RUNNABLE, RUN_RUNNING, RUN_WAITING, RUN_EXITING } RunState;

typedef enum { REPLY_VALUE, REPLY_ERROR, REPLY_NLR, REPLY_DEAD, REPLY_TIMEOUT } ReplyKind;
typedef struct Reply { ReplyKind kind; Fragment *fragment; Value value, token_pid, token_serial; } Reply;

typedef struct ProcessLink {
    _Alignas(16) uint64_t word[2];     /* [0] = generation << 32 | flags << 8 | RunState, [1] = inbox head; only through atomic128 */
    Message *queue_head, *queue_tail;  /* private, in arrival order */
    _Atomic uint32_t queue_length;
    _Atomic uint64_t waiting_on;       /* pid of the process that this one's synchronous call waits for, 0 = none */
    _Atomic uint64_t reply_call_id;    /* call the reply slot is open for, 0 = closed */
    Reply reply;                       /* written by who wins the CAS on reply_call_id */
    uint64_t next_call_id;
    struct Relation *links, *monitors, *monitored_by; /* under the owner only; changes travel as signals */
    bool trap_exit;
    uint32_t slot;
    Value name;                        /* registered name or nil */
    Value exit_reason;
    Process *run_next;                 /* intrusive run-queue or free-list link */
} ProcessLink;

#endif
