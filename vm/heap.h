/* A process's heap: bump allocation into a young semispace, an old space for what survived, no write barrier.
 *
 * Owner: the process; only the thread that runs (or has claimed) it may touch its heap.
 * Protocol ("ensure free, then build"): heap_reserve once, which may collect, then any number of heap_alloc
 * calls that cannot fail up to the reserved words. No Value lives in a C local across a reserve unless it
 * sits in a frame register, a process root or a declared RootSpan. MAY_GC marks every function that can
 * collect. No old object ever points to a younger one: data is immutable, and records are written in place
 * only while young (allocated since the last collection) and unshared (since the last snapshot of any
 * record).
 */
#ifndef BT_VM_HEAP_H
#define BT_VM_HEAP_H

#include "vm/object.h"

typedef struct Process Process;
typedef struct BtVm BtVm;
typedef struct CodeUnit CodeUnit;
#define MAY_GC

/* A block of words holding a copied term on its way to a process; the receiver adopts it. */
typedef struct Fragment {
    struct Fragment *next;
    uint64_t *offheap; /* head of the off-heap list threaded through the fragment's objects */
    CodeUnit **units;  /* transient code units that closures in it keep alive (counted) */
    uint32_t unit_count;
    size_t size_words;
    uint64_t words[];
} Fragment;

typedef struct Heap {
    uint64_t *young, *top,
        *limit;            /* nursery: [young, top) used, [top, limit) free; all NULL before the first
                              allocation. limit may lie below the block's end, to force a collection */
    uint64_t *young_mark;  /* [young, young_mark) has survived one collection, [young_mark, top) none */
    uint64_t *record_mark; /* records below it are copied before a write: a snapshot has seen them, or they
                              are older than the last collection. Never below young_mark */
    uint64_t *young_end;   /* end of the block */
    uint64_t *old, *old_top, *old_limit;
    uint64_t *offheap, *old_offheap;         /* OFFHEAP objects of nursery and fragments, of the old space */
    size_t offheap_words, old_offheap_words; /* virtual size of their data: it forces collections */
    size_t old_offheap_limit;                /* a full collection is due beyond it; 0 = the least limit */
    Fragment *fragments;                     /* adopted, dissolved by the next collection */
    size_t fragment_words;
    CodeUnit **units; /* transient units that closures here keep alive, one count each */
    uint32_t unit_count, unit_capacity;
    size_t young_target; /* words the next nursery should have */
    size_t limit_words;  /* 0 = none; going over raises resource_error */
    uint32_t unit_limit; /* more units than this make the next collection a full one; 0 = the least limit */
    uint32_t minor_count, since_full;
    bool tenures; /* the next minor collection promotes all that survives, since most of it does */
} Heap;

/* C locals that hold Values across a reserve: push, use, pop in LIFO order. */
typedef struct RootSpan {
    struct RootSpan *next;
    Value *values;
    size_t count;
} RootSpan;
void roots_push(Process *p, RootSpan *span, Value *values, size_t count);
void roots_pop(Process *p, RootSpan *span);

/* Makes sure that heap_alloc can hand out `words` words. False: limit reached or out of memory; a
 * resource_error exception is then pending in the process (process->exception) and the caller returns
 * PRIM_RAISE. MAY_GC. */
bool heap_reserve_slow(Process *p, size_t words);
static inline bool heap_reserve(Process *p, size_t words);
/* The same before so many words of native memory are taken for an off-heap object: limits count them too. */
bool heap_reserve_offheap(Process *p, size_t words, size_t offheap_words);
/* Hands out reserved words, uninitialised; the caller writes the header and every value word before the next
 * reserve. */
static inline uint64_t *heap_alloc(Process *p, size_t words);
static inline Value heap_new(Process *p, ObjectKind kind, uint32_t class_id, size_t words);

/* Minor or full collection. `need` words will be free afterwards (false as above). MAY_GC. */
bool heap_collect(Process *p, size_t need, bool full);
/* Memory for exactly these words, as an idle process keeps it: for what a process has before it first runs,
 * in a heap without any. The caller fills it at once. NULL: no memory. */
uint64_t *heap_begin(Process *p, size_t words);
/* Gives back what an idle process does not need. MAY_GC. */
void heap_shrink_idle(Process *p);
void heap_destroy(Process *p);
bool heap_is_valid(Process *p); /* ASSERT_HEAVY: walks everything */

/* Registers an OFFHEAP object just built (word 1 is the link); takes over one count of its Counted. */
void heap_link_offheap(Process *p, uint64_t *object, size_t virtual_words);
void counted_retain(Counted *c);
void counted_release(const Memory *memory, Counted *c);
/* Notes that a closure over code of `unit` lives in this heap (no-op unless the unit is transient). */
bool heap_keep_unit(Process *p, CodeUnit *unit);

/* Mutable homes. *home must be a process root (process->state, class-variable home, process->carriers).
 * record_write stores in place if the record is young and unshared, else copies it once and updates *home.
 * False = pending resource_error. `value` is rooted by the callee. MAY_GC. */
bool record_write_slow(Process *p, Value *home, size_t index, Value value);
static inline bool record_write(Process *p, Value *home, size_t index, Value value);
/* Marks the process's records shared (snapshot, reader): each is copied by the next write to it. */
static inline void records_share(Process *p);
/* A fresh record of n slots, each V_HOLE. MAY_GC. V_HOLE = pending resource_error. */
Value record_new(Process *p, size_t slots);

/* Message copying (models.md 3.5): sizes and copies a term, iteratively, sharing preserved; immediates and
 * literals of loaded modules travel free, big strings by count. NULL = out of memory. May be called by the
 * owner of the term only. */
Fragment *term_copy(BtVm *vm, const Value *roots, size_t count, Value *copies);
/* True if all are immediates or literals, which travel as they are. */
static inline bool values_travel_free(const Value *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (value_is_ptr(values[i]) && !(header_flags(object_header(values[i])) & OBJ_LITERAL)) return false;
    return true;
}
/* The receiver takes the fragment into its heap (no copy). NULL is ignored. */
void heap_adopt(Process *p, Fragment *fragment);
/* What was adopted or lies off the heap has become much: a process that serves messages without allocating
 * should collect now. */
static inline bool heap_wants_collection(const Heap *h) { return h->fragment_words > 1024 + h->young_target; }
void fragment_free(BtVm *vm, Fragment *fragment);
/* Copies a term directly into p's heap. V_HOLE = pending resource_error. Source must not change meanwhile.
 * MAY_GC. */
Value term_copy_into(Process *p, Value term);

#endif
