/* What the files of the scheduler share. Private to
 * vm/{sched*,mailbox,message,call,wait,process,timer,relation,registry,system_signal,limits}.c.
 *
 * `Scheduler *s` arguments: the scheduler whose thread is running, or NULL on a host or I/O thread (work then
 * goes through the injector). Everything in Scheduler without _Atomic belongs to that thread alone.
 */
#ifndef BT_VM_SCHED_INTERNAL_H
#define BT_VM_SCHED_INTERNAL_H

#include <pthread.h>
#include "vm/bytecode/memory.h"
#include "vm/atomic128.h"
#include "vm/registry.h"
#include "vm/spare_block.h"
#include "vm/stats.h"
#include "vm/vm.h"
#include "vm/timer_queue.h"

enum {
    SLICE_REDUCTIONS = 4000,
    SLICE_COST =
        32, /* what picking a process costs, in reductions: who sleeps and polls in a loop pays for it */
    RING_SIZE = 256,     /* a power of two */
    INJECTOR_TICKS = 61, /* slices between two looks at the injector: a prime, so that no rhythm hides work */
    SPIN_US = 20,        /* search this long before parking; a futex round trip costs as much */
    CHAIN_MAX = 64,      /* callers that wait through hand-off */
    COOLING_TICKS = 4096, /* slices between two looks at them on a scheduler that never parks */
    FLUSH_TICKS = 64,   /* slices between two flushes of the console by a busy scheduler: some milliseconds */
    COOLING_MAX = 1024, /* idle processes that may still give memory back */
    MESSAGE_SIZES = 2,  /* kinds of message blocks that are kept when freed (message.c) */
    MESSAGE_BATCH = 128,        /* blocks that go to and from the pool together */
    MESSAGE_POOL_BATCHES = 256, /* the most it keeps of a size while there is work */
    MESSAGE_POOL_IDLE = 16,     /* and when there is none */
    FREE_BATCH = 64,            /* control blocks moved between a scheduler's free list and the table's */
    SCHEDULERS_MAX = 256,
    PROCESSES_MAX = 1 << 29,
    SLAB_PROCESSES = 512 /* times 768 bytes: 6 of the 64 KiB slices that mimalloc deals in */
};

/* ---- run queues (sched_queue.c) ---- */
/* Owner pushes at the tail and pops at the head; others steal at the head. Positions grow for ever, slot =
 * position % RING_SIZE. */
typedef struct RunRing {
    _Alignas(64) _Atomic uint32_t head;
    _Alignas(64) _Atomic uint32_t tail;
    _Atomic(Process *) slots[RING_SIZE];
} RunRing;

/* Overflow of the rings, and work from threads that are no scheduler. */
typedef struct Injector {
    pthread_mutex_t lock;
    Process *first, *last;
    _Alignas(64) _Atomic uint32_t count;
} Injector;

bool ring_push(RunRing *ring, Process *p); /* owner; false: full */
Process *ring_pop(RunRing *ring);          /* owner */
/* Takes half of a ring (at least one if there is any); any thread. */
unsigned ring_steal(RunRing *ring, Process **batch);
/* A snapshot. */
static inline uint32_t ring_length(RunRing *ring) {
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t length = atomic_load_explicit(&ring->tail, memory_order_relaxed) - head;
    return length <= RING_SIZE ? length : 0;
}
bool ring_is_empty(RunRing *ring); /* any thread; sequentially consistent */
void injector_push(Injector *in, Process *first, Process *last, uint32_t count);
unsigned injector_take(Injector *in, Process **batch, unsigned max);

/* ---- timers (timer.c) ---- */
#define TIMER_RECORD ((uint64_t)1 << 63)

/* A timer made by timer_start. state: generation << 2 | TIMER_*; any thread may cancel by CAS. */
typedef struct TimerRecord {
    _Atomic uint64_t state;
    _Atomic Value pid;
    Message *start; /* first message of the process that the timer starts; NULL: it sends a message to pid */
    uint32_t next_free;
} TimerRecord;

enum { TIMER_CHUNKS = 16, TIMER_FIRST_CHUNK = 64 };
typedef struct TimerQueue {
    TimerHeap heap;
    size_t next_sweep; /* entries at which to look for those that nobody waits for any more */
    _Atomic(TimerRecord *) chunks[TIMER_CHUNKS]; /* chunk k holds TIMER_FIRST_CHUNK << k records */
    uint32_t record_count, free_record;          /* free list: index + 1 */
    _Atomic uint32_t cancelled;                  /* records cancelled and still in the heap */
    _Atomic uint32_t records;                    /* entries of timers, the cancelled included */
} TimerQueue;

/* ---- timer_body.c ---- */
/* A process for these messages, in their order; NULL: none. They are taken over. */
void timer_bodies_start(BtVm *vm, Scheduler *s, Message *first);
/* The process does not end with the slice, or ends otherwise than by itself: the others go elsewhere. */
void timer_body_outlives(Scheduler *s, Process *p);
void timer_bodies_hand_over(Scheduler *s, Process *p);

void timers_destroy(BtVm *vm, TimerQueue *t);
/* Fires what is due. */
void timers_run(Scheduler *s, int64_t now);
/* Exact next deadline, DEADLINE_NONE if none. */
static inline int64_t timers_next(const TimerQueue *t) { return timer_heap_next(&t->heap); }
/* Starts the clock of p's present wait (wait_timeout_us from now). p is owned. */
void wait_arm(Scheduler *s, Process *p);

/* ---- freed messages (message.c) ---- */
typedef struct MessageCache {
    Message *first; /* count of them, at most a batch */
    Message *full;  /* a whole batch, or NULL */
    unsigned count;
} MessageCache;

typedef struct MessagePool {
    pthread_mutex_t lock;
    _Atomic uint32_t count;
    Message *batches[MESSAGE_POOL_BATCHES];
} MessagePool;

bool message_pools_init(Schedulers *all);
void message_pools_free(Schedulers *all);
/* Gives back what a flood has left. */
void message_pools_trim(Schedulers *all);
void message_caches_free(Scheduler *s);

/* ---- a scheduler ---- */
/* Who runs it: its own thread, which sleeps when PARKED, or, inside a function of the host, WAITING; nobody,
 * when UNSTARTED, or in HOST until a host thread comes; a host thread while its own sleeps, when LENT, and
 * LENT_WAITING when that host thread sleeps too (sched_lend.c). */
enum { PARK_RUNNING, PARK_PARKED, PARK_WAITING, PARK_UNSTARTED, PARK_HOST, PARK_LENT, PARK_LENT_WAITING };

struct Scheduler {
    void *method_cache; /* for the interpreter; freed with the scheduler */
    BtVm *vm;
    unsigned index;
    bool searching; /* counted in Schedulers.searching */
    uint32_t tick;
    uint64_t reductions;               /* used here since the start */
    _Atomic uint64_t shown_reductions; /* the same for other threads */
    SchedulerCounts counts;            /* vm/stats.h; likewise */
    _Atomic uint64_t shown_counts[sizeof(SchedulerCounts) / sizeof(uint64_t)];
    int64_t unprofiled_ns; /* used here and charged to no stack yet (vm/profile.h) */
    bool runs_expired;     /* the slice at hand began with an expired process: what it uses is its own */
    int32_t woken_used;    /* reductions that woken processes had since an expired one was picked */
    uint64_t random;
    Process *next;      /* runs next and inherits the rest of the slice; nobody steals it */
    Process *handoff;   /* callee that call_start claimed: RUNNING, runs as soon as its caller has stopped */
    Process *switch_to; /* caller that call_reply claimed: RUNNING */
    Process *chain[CHAIN_MAX]; /* callers that wait through hand-off: sched_run.c */
    unsigned chain_count;
    DescribedSend send;
    TimerQueue timers;
    Process *free_processes;
    unsigned free_count;
    _Atomic int32_t live; /* processes made here less those ended here; only the sum of all says something */
    MessageCache messages[MESSAGE_SIZES];
    SpareBlocks spares;         /* of collections */
    Value cooling[COOLING_MAX]; /* pids */
    unsigned cooling_count;
    _Atomic uint64_t
        owner; /* pthread_self of the thread that runs it, 0: none; only that thread finds itself */
    Process *host_caller; /* whose function of the host runs on this thread now, or NULL */
    unsigned host_depth;  /* waits of such functions, one inside the other */
    uint32_t lent_from;   /* while it is lent: PARK_PARKED or PARK_UNSTARTED, to which it goes back; else 0 */
    int64_t slept_until;  /* while it is lent: when its own thread wakes by itself, or before */
    _Atomic bool is_wanted; /* its own thread would like to run, and waits for the host thread to leave */
    bool started;
    pthread_t thread;
    RunRing woken;                           /* woken by a message, a reply, a timer: ahead of expired ones */
    RunRing expired;                         /* used up their slice */
    _Alignas(64) _Atomic uint32_t park_word; /* PARK_*, the futex */
};

/* Control blocks by slot. The directory is replaced by a larger one; old ones live as long as the VM. */
typedef struct ProcessTable {
    pthread_mutex_t lock;
    _Atomic(Process **) directory;
    _Atomic uint32_t slab_count;
    uint32_t capacity, used; /* used: slots ever taken */
    void **memory;           /* every block ever taken for slabs and directories */
    uint32_t memory_count, memory_capacity;
    _Atomic int32_t live; /* made less ended, away from schedulers; theirs are in Scheduler.live */
    Process *free_processes;
} ProcessTable;

struct Seeded; /* sched_seeded.c */

struct Schedulers {
    BtVm *vm;
    RunOutcome (*run)(Process *p); /* interp_run; tests put their own here */
    unsigned count;
    Scheduler *list; /* count of them */
    ProcessTable processes;
    Registry *registry;
    Injector injector;
    MessagePool message_pools[MESSAGE_SIZES];
    struct Seeded *seeded;      /* NULL in threaded mode */
    pthread_mutex_t start_lock; /* starting threads against stopping them all */
    pthread_mutex_t host_lock;  /* a host thread runs the scheduler of a VM that has no threads */
    _Atomic uint32_t
        drivers; /* host threads, and functions of the host, that run a scheduler until something ends */
    _Atomic uint32_t waiting;        /* host threads that wait for one of those, or to become one */
    _Atomic(Completion *) abandoned; /* the VM stopped before these were done */
    bool any_started;
    void *memory, *list_memory;
    _Atomic uint64_t next_reference;
    _Atomic uint64_t random;
    _Atomic bool stopping; /* threads are being joined */
    _Atomic bool halted;   /* nobody is to run any more: stopping, exit requested, or the VM failed */
    /* The wake rule's words, each on its own line: see sched.c */
    _Alignas(64) _Atomic uint32_t searching;
    _Alignas(64) _Atomic uint32_t parked;
    _Alignas(64) _Atomic uint32_t ended; /* futex: a watched process has ended, or the VM stops */
};

/* ---- sched.c ---- */
/* NEXT: `next` if free, else as WOKEN. LAST and EXPIRED end a slice (among the woken, or behind them): a
 * process that is then alone on its scheduler goes on there at once, and nobody is woken to come for it. */
typedef enum { QUEUE_NEXT, QUEUE_WOKEN, QUEUE_LAST, QUEUE_EXPIRED } QueueKind;
/* Hands a RUNNABLE process to a queue and wakes a thread if the rule says so. */
void sched_enqueue(BtVm *vm, Scheduler *s, Process *p, QueueKind kind);
void sched_wake_one(BtVm *vm);
/* Seeded mode may decline a hand-off. */
bool sched_may_claim(Scheduler *s);
int32_t sched_slice(Scheduler *s);
/* Runs p (RUNNABLE, or RUNNING and claimed) and whom it hands the thread to, until the slice is used up or
 * nobody is left. */
void sched_run_slice(Scheduler *s, Process *p);
/* Before others run in the midst of p's slice: whoever stands behind it waits like anyone else. */
void sched_suspend_slice(Scheduler *s);
/* Puts the process in `next` where others find it: before something that may keep this thread for long. */
void sched_publish_next(Scheduler *s);
static inline bool sched_is_stopping(BtVm *vm) {
    /* relaxed: seen in time; nothing is read on the strength of it */
    return atomic_load_explicit(&vm->schedulers->halted, memory_order_relaxed) ||
           atomic_load_explicit(&vm->failed, memory_order_relaxed);
}
/* Picks a process and runs it for a slice; false: there is none. */
bool sched_step(Scheduler *s);
typedef struct HostWait {
    uint32_t ended; /* of Schedulers, before the look whether it is over */
    int64_t deadline_us;
} HostWait;
/* Sleeps until there is work, or a timer is due, or, with `wait`, something has ended. */
void sched_park(Scheduler *s, const HostWait *wait);
void sched_stop_searching(Scheduler *s);
/* Before nobody runs it: gives back what only work needs, shows its counts. */
void sched_settle(Scheduler *s);
bool sched_work_is_visible(Schedulers *all);

/* If nobody runs s, somebody comes and does, as a searcher. */
void sched_unpark(Schedulers *all, Scheduler *s);

/* ---- sched_lend.c ---- */
/* The only scheduler of a VM without threads; NULL: another host thread has it. */
Scheduler *sched_borrow_driven(BtVm *vm);

/* ---- sched_host.c ---- */
/* Something a host thread may wait for has happened. */
void sched_notify_hosts(Schedulers *all);
/* This thread runs s, or does no more. */
void sched_own(Scheduler *s, bool owns);
/* The scheduler that this thread runs, or NULL. */
Scheduler *sched_here(BtVm *vm);
/* Gives memory of processes that stayed idle back. */
void sched_cool(Scheduler *s);
/* A process ends. One that lived shortly was noted last, so loops of them leave nothing behind. */
void sched_forget_cooling(Scheduler *s, Process *p);
int64_t clock_now_us(void);
int64_t clock_now_ns(void);
uint64_t splitmix64(uint64_t *state);
void futex_wait_until(_Atomic uint32_t *word, uint32_t value,
                      int64_t deadline_us); /* DEADLINE_NONE: no limit */
void futex_wake(_Atomic uint32_t *word, int count);

/* ---- sched_seeded.c ---- */
struct Seeded *seeded_new(const Memory *memory, uint64_t seed);
void seeded_free(const Memory *memory, struct Seeded *seeded);
void seeded_enqueue(BtVm *vm, Scheduler *s, Process *p);
bool seeded_choice(struct Seeded *seeded, unsigned one_in);
int32_t seeded_slice(struct Seeded *seeded);
uint64_t seeded_random(struct Seeded *seeded);
int64_t seeded_now_us(struct Seeded *seeded);
bool seeded_wait_for(BtVm *vm, Value pid, int64_t deadline_us);
/* The same on a thread that drives already. */
bool seeded_drive(BtVm *vm, Value pid, int64_t deadline_us);
/* Runs until nothing is runnable or, by the system's clock, until_us; false: another thread drives. */
bool seeded_run(BtVm *vm, int64_t until_us, bool *ran);

/* ---- message.c ---- */
/* A message with its terms copied; NULL = out of memory. `receiver` is copied too. s may be NULL. */
Message *message_make(BtVm *vm, Scheduler *s, MessageKind kind, Value sender, Value receiver, Value selector,
                      const Value *args, unsigned argc);
void message_release(BtVm *vm, Scheduler *s, Message *m);
static inline bool value_needs_copy(Value v) {
    return value_is_ptr(v) && !(header_flags(object_header(v)) & OBJ_LITERAL);
}

/* ---- mailbox.c ---- */
typedef enum { PUSH_DEAD, PUSH_DONE } PushResult;
/* Pushes to the process behind pid and makes it runnable if need be. PUSH_DEAD: m is still the caller's. */
PushResult mailbox_push(BtVm *vm, Scheduler *s, Value pid, Message *m);
/* Pushes, or releases m. False: the target is gone. */
bool mailbox_send(BtVm *vm, Scheduler *s, Value pid, Message *m);
/* Makes and pushes; an OOM fails the VM, since a lost signal cannot be repaired. False: the target is gone.
 */
bool signal_send(BtVm *vm, Scheduler *s, Value target, MessageKind kind, Value sender, uint64_t id,
                 const Value *values, unsigned count);
/* Turns the newest-first list of an inbox round. */
Message *messages_reverse(Message *m);
/* Takes the inbox over into the private queue, acting on signals. False: link.ending. */
bool mailbox_drain(Process *p);
void mailbox_append(Process *p, Message *m);
Message *mailbox_remove_first(Process *p);
/* First RAW, DOWN or TIMER message with this tag (0: any), unlinked; NULL if none. */
bool mailbox_has_tagged(const Process *p, uint64_t tag);
Message *mailbox_remove_tagged(Process *p, uint64_t tag);

/* ---- wait.c ---- */
/* Opens the reply slot under a new id. */
uint64_t wait_open(Process *p, WaitKind kind, int64_t timeout_us);
/* Owner: closes the slot, whatever is in it. */
void wait_close(Process *p);
static inline bool wait_is_over(Process *p) {
    /* acquire: pairs with the release store of SLOT_DONE in reply_deliver */
    return (atomic_load_explicit(&p->link.reply_call_id, memory_order_acquire) & SLOT_BITS) == SLOT_DONE;
}
/* Before a resumed process runs: true if what it waited for is there (for PRIM and RECEIVE, taken). MAY_GC.
 */
bool wait_resume(Process *p);
/* Copies the value out of the heap it is in, into the reply's own fragment; without memory the reply becomes
 * the error that says so. */
void reply_detach(BtVm *vm, Reply *reply);
/* Takes the fragment over whatever happens. False: slot closed or another id. */
bool reply_deliver(BtVm *vm, Scheduler *s, Value pid, uint64_t call_id, const Reply *reply, bool handoff);
/* WAITING -> RUNNABLE and enqueued, or, RUNNING, noted. */
void process_wake(BtVm *vm, Scheduler *s, Process *p, uint32_t generation);
/* Owner's transitions. False: something came in between, p stays RUNNING. */
bool process_go_waiting(Process *p);
bool process_go_idle(Process *p);
void process_set_state(Process *p, RunState state); /* any flags kept, WAKE cleared */
/* Claims for this thread a process in state `from` (IDLE or WAITING). */
bool process_claim(Process *p, uint32_t generation, RunState from);

/* ---- process.c ---- */
bool processes_init(BtVm *vm, ProcessTable *t);
void processes_destroy(BtVm *vm, ProcessTable *t);
static inline Process *process_by_slot(BtVm *vm, uint32_t slot) {
    ProcessTable *t = &vm->schedulers->processes;
    /* acquire: pairs with slab_add */
    if (slot / SLAB_PROCESSES >= atomic_load_explicit(&t->slab_count, memory_order_acquire)) return NULL;
    Process **directory = atomic_load_explicit(&t->directory, memory_order_acquire);
    return &directory[slot / SLAB_PROCESSES][slot % SLAB_PROCESSES];
}
/* Ends p (RUNNING, owned): answers callers, tells links and monitors, frees. */
void process_end(Scheduler *s, Process *p);

/* ---- relation.c ---- */
/* TETHERED: to become a link when the process outlives its first slice; nobody else knows of it. */
typedef enum {
    RELATION_LINK,
    RELATION_WATCHES,
    RELATION_WATCHED_BY,
    RELATION_AWAITED_BY,
    RELATION_TETHERED
} RelationKind;
bool relation_add(const Memory *memory, Relations *of, RelationKind kind, Value pid, uint64_t id);
bool relation_remove(Relations *of, RelationKind kind, Value pid, uint64_t id);
/* Of RELATION_WATCHES: whom this reference watches, or V_NIL. */
Value relation_watched(Relations *of, uint64_t id);
/* How many links, and how many monitors in either direction. */
void relation_counts(Relations *of, uint64_t *links, uint64_t *monitors);
void relations_fire(Scheduler *s, Process *p, Value reason); /* at death */
void relations_free(const Memory *memory, Relations *of);
/* Acts on MSG_LINK, MSG_UNLINK, MSG_MONITOR, MSG_DEMONITOR. */
void relation_signal(Process *p, const Message *m);
/* A LINK or MONITOR that its target did not live to see. */
void relation_refuse(BtVm *vm, Scheduler *s, Value self, const Message *m, Value reason);

#endif
