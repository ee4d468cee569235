/* Schedulers, processes' life, synchronous calls, casts, links, timers.
 *
 * One scheduler thread per core, each with a run queue; work stealing; parking on a futex. --seed: one
 * scheduler, virtual time, every choice drawn from the seed. The same-thread hand-off: a call to an IDLE
 * process claims it and runs it next on the caller's thread with the caller's reductions; the reply switches
 * straight back (models.md 3.7). Boundary with the interpreter: the scheduler calls interp_run(); the
 * interpreter calls what is declared here.
 */
#ifndef BT_VM_SCHED_H
#define BT_VM_SCHED_H

#include "vm/process.h"

/* What interp_run says when it gives the thread back. */
typedef enum {
    RUN_YIELDED, /* slice used up: runnable */
    RUN_BLOCKED, /* waits for a reply, timer or I/O: wait state already published */
    RUN_SERVED,  /* no activation left and no message it could take: go idle (the scheduler re-checks the
                    inbox) */
    RUN_DONE     /* the process has ended with link.exit_reason */
} RunOutcome;

/* ---- processes ---- */
/* Where a PLAIN process leaves how it ended, for whoever started it from outside (evaluations, main). Owner:
 * the starter; it must outlive the process. `reply` may be read once `done` is set (release store, acquire
 * load). */
typedef struct Completion {
    _Atomic bool done;
    /* Called once by the thread that sets `done`, which touches it no more; NULL: nobody asks. */
    void (*ended)(BtVm *vm, struct Completion *c);
    void *owner;             /* for `ended` */
    struct Completion *next; /* of those abandoned */
    Reply reply; /* VALUE: the answer; ERROR: the exception; NLR: a ^ that found no home; DEAD: killed, value
                    = reason symbol. The fragment is the reader's */
    uint8_t broken_limit; /* DEAD: BrokenLimit of vm/limits.h */
} Completion;

typedef struct SpawnOptions {
    ProcessRole role;
    Value self_ref;    /* actor: V_NIL (made by spawn from class_id), class: the class object */
    uint32_t class_id; /* actor: its class */
    /* actor: what its fields hold at birth, immediates and literals; NULL: its first message sets them */
    const struct SlotLayout *state_layout;
    const Value *state;
    Process *parent;                            /* link target, or NULL */
    Scheduler *scheduler;                       /* whose thread makes it, if there is no parent to tell */
    size_t heap_limit_words, stack_limit_words; /* 0 = VM default */
    bool ignore_link_exits;                     /* the main process of `run`, class processes */
    Completion *completion;                     /* PLAIN, or NULL */
} SpawnOptions;
/* Serving side (vm/serve.c) calls this once when a PLAIN process has its answer, or an error has reached its
 * base: copies the term into the Completion (if any); the process then returns RUN_DONE with link.exit_reason
 * set (normal, or the error). */
void process_complete(Process *p, ReplyKind kind, Value value);
/* A new IDLE process. NULL: limit or memory (nothing pending). Any scheduler thread. */
Process *process_new(BtVm *vm, const SpawnOptions *options);
/* Makes a PLAIN process run `callable` (closure, copied) with arguments, or, selector given, send it:
 * enqueued at once. */
bool process_start(Process *fresh, Process *from, Value callable, Value selector, const Value *args,
                   unsigned argc);
/* The same from the host; s: the scheduler that this thread runs, or NULL. */
bool process_start_from_host(Process *fresh, Scheduler *s, Value callable, Value selector, const Value *args,
                             unsigned argc);
/* The same in a process of its own that watches `target` from before it starts: the first argument is the
 * reference. False: no memory. */
bool process_start_watching(Process *from, Value target, Value callable, Value selector, const Value *args,
                            unsigned argc);
/* The process behind a pid if it is the same generation, else NULL. The pointer stays valid (type-stable);
 * its life does not. */
Process *process_by_pid(BtVm *vm, Value pid);
/* Visits every process that lives and serves a class or an actor of it, with that class's id. Processes come
 * and go meanwhile. */
void process_each(BtVm *vm, void (*visit)(Value pid, uint32_t class_id, void *context), void *context);
/* How many live now. */
uint32_t process_count(BtVm *vm);
typedef struct SystemNumbers {
    int64_t schedulers, processes, process_limit, runnable, timers, names; /* snapshots */
} SystemNumbers;
SystemNumbers system_numbers(BtVm *vm);
bool process_is_alive(BtVm *vm, Value pid);
/* Ends the actor behind a reference, normally, if it waits for messages and has none: it is gone when this
 * answers true. What else stopping means (terminate:, announcements) is the caller's business. */
bool process_end_idle(Process *by, Value pid);
/* Nothing is left of it: who was linked to it or watched it has been told. */
bool process_has_ended(BtVm *vm, Value pid);
/* Exit signal to a process (kill: reason killed, untrappable). */
void process_exit_signal(BtVm *vm, Value pid, Value reason_symbol, bool kill);
void process_link(Process *a, Value b_pid); /* b dead: a gets the exit signal noproc */
void process_unlink(Process *a, Value b_pid);
/* A process is to be linked to its owner later, if at all; until then nobody knows of it. */
void process_tether(Process *p, Value owner);
void process_tie(Process *p); /* now */
void process_untether(Process *p);
/* MSG_DOWN (values: reference, reason) comes when the target ends, at once if it has. */
void process_monitor(Process *watcher, Value target, Value reference);
/* Stops a future MSG_DOWN of this reference; one that has arrived stays. */
void process_demonitor(Process *watcher, Value reference);
/* A new unique reference; MAY_GC. V_HOLE = pending resource_error. */
Value reference_new(Process *p);
static inline uint64_t reference_serial(Value reference) { return object_at(reference, 1); }
/* PRIM_BLOCK until the target has ended or the limit (< 0: none) is over; resume_value: true if it ended. */
PrimStatus process_await_end(Process *p, Value target, int64_t timeout_us);
/* PRIM_BLOCK until a MSG_RAW, MSG_DOWN or MSG_TIMER message with this tag (call_id; a MSG_DOWN's is its
 * reference serial, 0: any) has come or the limit is over. resume_value: for RAW the term, for DOWN the
 * reason, for TIMER the id; nil when the limit is over. Requests stay queued meanwhile. */
PrimStatus process_receive(Process *p, uint64_t tag, int64_t timeout_us);
/* Sends any term; false if the target is gone. `from` may be NULL (host thread). */
bool raw_send(BtVm *vm, Process *from, Value target_pid, uint64_t tag, Value term);
/* The class of the actor, or served by the class process, behind a pid, without stopping it; false if it is
 * gone. */
bool process_class_of(BtVm *vm, Value pid, uint32_t *class_id);

/* ---- synchronous calls and casts ---- */
typedef enum { CALL_WAITING, CALL_RAISED } CallStatus;
/* Starts a call: copies receiver, selector and arguments, checks the chain (deadlock_detected /
 * dispatch_error), pushes, and makes the caller wait. timeout_us < 0: none. CALL_WAITING: the interpreter
 * saves its state and returns RUN_BLOCKED (the scheduler runs the claimed callee next). CALL_RAISED:
 * process->exception is pending (actor_dead, deadlock_detected ...). */
CallStatus call_start(Process *caller, Value target_pid, Value receiver, Value selector, const Value *args,
                      unsigned argc, int64_t timeout_us);
/* When a caller runs again: takes the reply (adopts the fragment). REPLY_ERROR / DEAD / TIMEOUT leave
 * process->exception pending; REPLY_NLR fills process->pending*. */
ReplyKind call_take_reply(Process *caller, Value *answer);
/* Callee's side: answers p->serving and frees it. For MSG_CAST it only frees. */
void call_reply(Process *callee, ReplyKind kind, Value value);
/* False (silently) if the target is gone. */
bool cast_send(Process *sender, Value target_pid, Value receiver, Value selector, const Value *args,
               unsigned argc);
/* The same from a host thread, by a reference to the actor. Nothing happens if it is dead; false: no memory.
 */
bool cast_from_host(BtVm *vm, Value reference, Value selector, const Value *args, unsigned argc);
/* Next request from the private queue (signals are acted on here), adopted into the heap; NULL: nothing to
 * serve. */
Message *mailbox_take(Process *p);
/* Would it find anything, or act on anything? */
bool mailbox_has_more(Process *p);
/* Signals that must act now (kill, exit, system requests) at a safepoint; false: the process must end
 * (exit_reason set). */
bool process_poll_signals(Process *p);
static inline bool process_has_signals(Process *p) {
    /* acquire: pairs with the CAS of mailbox_push; what it found is taken by a CAS anyway */
    return (__atomic_load_n(&p->link.word[0], __ATOMIC_ACQUIRE) & LINK_SIGNALS) != 0;
}
/* Frees a served message that is not answered. */
void message_free(BtVm *vm, Message *m);

/* ---- blocks of timers (timer_body.c), for vm/serve.c ---- */
/* False: whoever made the timer has ended, there is nothing to do. */
bool timer_body_begin(Process *p, const Message *m);
/* A block has ended. True: the next one in the queue may run in the same process. */
bool timer_body_may_follow(Process *p);

/* ---- waiting, timers ---- */
/* PRIM_BLOCK helpers: parks p until the deadline; resume_value is then `answer`. */
PrimStatus process_sleep(Process *p, int64_t microseconds, Value answer);
/* One-shot timer that pushes MSG_TIMER with this id to pid; id from timer_start, lazily deleted by
 * timer_cancel (true: was pending). 0: no memory, or no timer more is allowed. */
uint64_t timer_start(Process *p, Value pid, int64_t microseconds);
/* When the time is over, a process linked to p is started that makes the send (as process_start); not if p
 * has ended by then. 0: as above. */
uint64_t timer_start_process(Process *p, int64_t microseconds, Value callable, Value selector,
                             const Value *args, unsigned argc);
bool timer_cancel(BtVm *vm, uint64_t timer_id);
/* It will fire: it has not yet, nobody has cancelled it, and whoever made it lives. Any thread. */
bool timer_is_pending(BtVm *vm, uint64_t timer_id);
/* Microseconds: monotonic, or virtual under --seed. */
int64_t vm_now_us(BtVm *vm);
/* The monotonic clock of the system, whatever the mode. */
int64_t vm_clock_us(void);

/* ---- system signals (architecture.md section 3) ---- */
/* Runs serve(target, context) in the target's ownership at its next safepoint (at once, on this thread, if it
 * is idle or waits), then wakes p. PRIM_BLOCK; the answer is what serve left by system_answer. Dead target:
 * PRIM_RAISE actor_dead. */
PrimStatus system_signal(Process *p, Value target_pid, void (*serve)(Process *target, void *context),
                         void *context);
/* The same with a limit: a target that reaches no safepoint in time gives `timeout`. */
PrimStatus system_signal_within(Process *p, Value target_pid, void (*serve)(Process *target, void *context),
                                void *context, int64_t timeout_us);
/* From serve: a copy of the term becomes the asker's resume_value. */
void system_answer(Process *target, Value term);

/* Ends a process; what it waits for at the end of its chain of calls, a class or an actor, fails with an
 * `interrupted` error and lives on. Any thread. */
void process_interrupt(BtVm *vm, Value pid);

/* ---- running ---- */
/* Program exit: and System halt: the first status stays; every process stops at its next slice end, host
 * waits return false. */
void vm_request_exit(BtVm *vm, int status);
/* A VM structure could not be had: every process stops at its next slice end, API calls answer so. Any
 * thread. */
void vm_fail(BtVm *vm);
/* Uniform 64 bits: from the seed in seeded mode, else from the system's entropy. Any thread. */
uint64_t vm_random(BtVm *vm);
bool sched_init(BtVm *vm, unsigned schedulers, bool seeded, uint64_t seed);
void sched_stop(BtVm *vm);     /* stops and joins all scheduler threads; processes stay as they are */
void sched_shutdown(BtVm *vm); /* the same, then frees everything */
/* Starts threads on first use; enqueues p. Any thread. */
void sched_make_runnable(BtVm *vm, Process *p);
/* A scheduler that has nothing to do, for this host thread to run: what is started there and waited for soon
 * needs no other thread. NULL: none, or this thread runs one already. To be given to sched_wait_for. */
Scheduler *sched_borrow(BtVm *vm);
/* NULL is ignored. */
void sched_give_back(Scheduler *borrowed);
/* A host thread waits until the process has ended (runs a scheduler itself: the one borrowed, if not NULL,
 * which is given back; in seeded mode; if the VM has no threads; from inside a function of the host).
 * deadline_us < 0: none. True if it ended. */
bool sched_wait_for(BtVm *vm, Scheduler *borrowed, Value pid, int64_t deadline_us);
/* A thread that runs a scheduler may wait only from inside a function of the host, HOST_DEPTH_MAX waits deep.
 * Before the process that is to be waited for starts; then sched_wait_end. */
enum { HOST_DEPTH_MAX = 16 };
typedef enum { HOST_WAIT_OK, HOST_WAIT_TOO_DEEP, HOST_WAIT_FORBIDDEN } HostWaitStatus;
HostWaitStatus sched_wait_begin(BtVm *vm, Value pid);
void sched_wait_end(BtVm *vm);
HostWaitStatus sched_may_wait(BtVm *vm);
/* Does this thread run processes of the VM now? */
bool sched_is_here(BtVm *vm);
/* A function of the host is about to run for p; answers what sched_host_leave wants. */
Process *sched_host_enter(Process *p);
void sched_host_leave(Process *p, Process *outer);
/* A VM without threads of its own: runs what is runnable, until about until_us (system clock). True if
 * anything ran. A VM that has threads: nothing. */
bool sched_run_here(BtVm *vm, int64_t until_us);
/* Its process still lives, and will not run again: freed with the VM. */
void completion_abandon(BtVm *vm, Completion *c);

#endif
