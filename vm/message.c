/* Messages: making them, copying their terms, recycling their blocks.
 *
 * Blocks come in two sizes, the smaller a cache line. A scheduler frees the messages its processes have
 * taken and makes those they send, and the two need not balance: one scheduler may only send, another only
 * serve. So free blocks travel in batches: each scheduler keeps up to two of a size, and gives the second
 * away, or fetches one, through a pool that all share. Nothing is freed or allocated block by block then,
 * which between threads costs as much as the message. */
#include "vm/sched_internal.h"

/* ---- blocks ---- */

static const uint8_t CAPACITIES[MESSAGE_SIZES] = {1, 5};

_Static_assert(sizeof(Message) + sizeof(Value) == 64, "a message of one argument fills a cache line");

/* The size for so many values; MESSAGE_SIZES: none, such blocks are not kept. */
static inline unsigned size_for(unsigned argc) {
    _Static_assert(MESSAGE_SIZES == 2, "one comparison a size");
    return (argc > CAPACITIES[0] ? 1u : 0u) + (argc > CAPACITIES[1] ? 1u : 0u);
}

static void free_batch(BtVm *vm, Message *m) {
    while (m) {
        Message *next = m->next;
        memory_free(vm->memory, m);
        m = next;
    }
}

/* The lock is taken once a batch. */
static Message *pool_take(MessagePool *pool) {
    /* relaxed: a miss costs an allocation */
    if (atomic_load_explicit(&pool->count, memory_order_relaxed) == 0) return NULL;
    pthread_mutex_lock(&pool->lock);
    uint32_t count = atomic_load_explicit(&pool->count, memory_order_relaxed); /* relaxed: under the lock */
    Message *batch = NULL;
    if (count) {
        batch = pool->batches[count - 1];
        atomic_store_explicit(&pool->count, count - 1, memory_order_relaxed); /* as above */
    }
    pthread_mutex_unlock(&pool->lock);
    return batch;
}

static void pool_give(BtVm *vm, MessagePool *pool, Message *batch) {
    pthread_mutex_lock(&pool->lock);
    uint32_t count = atomic_load_explicit(&pool->count, memory_order_relaxed); /* relaxed: under the lock */
    bool room = count < MESSAGE_POOL_BATCHES;
    if (room) {
        pool->batches[count] = batch;
        atomic_store_explicit(&pool->count, count + 1, memory_order_relaxed); /* as above */
    }
    pthread_mutex_unlock(&pool->lock);
    if (!room) free_batch(vm, batch);
}

static Message *message_alloc(BtVm *vm, Scheduler *s, unsigned argc) {
    unsigned size = size_for(argc);
    bool kept = size < MESSAGE_SIZES;
    if (kept && s) {
        MessageCache *cache = &s->messages[size];
        if (!cache->first) {
            cache->first = cache->full ? cache->full : pool_take(&vm->schedulers->message_pools[size]);
            cache->full = NULL;
            cache->count = cache->first ? MESSAGE_BATCH : 0;
        }
        if (cache->first) {
            Message *m = cache->first;
            cache->first = m->next;
            cache->count--;
            __builtin_prefetch(cache->first, 1); /* it may come from another core */
            return m;
        }
    }
    unsigned capacity = kept ? CAPACITIES[size] : argc;
    Message *m = memory_alloc(vm->memory, sizeof *m + capacity * sizeof(Value));
    if (m) m->capacity = (uint8_t)capacity;
    return m;
}

void message_release(BtVm *vm, Scheduler *s, Message *m) {
    if (m->fragment) fragment_free(vm, m->fragment);
    unsigned size = size_for(m->capacity);
    if (!s || size == MESSAGE_SIZES) {
        memory_free(vm->memory, m);
        return;
    }
    MessageCache *cache = &s->messages[size];
    if (cache->count == MESSAGE_BATCH) {
        if (cache->full) pool_give(vm, &vm->schedulers->message_pools[size], cache->full);
        cache->full = cache->first;
        cache->first = NULL;
        cache->count = 0;
    }
    m->next = cache->first;
    cache->first = m;
    cache->count++;
}

void message_free(BtVm *vm, Message *m) { message_release(vm, NULL, m); }

bool message_pools_init(Schedulers *all) {
    for (unsigned i = 0; i < MESSAGE_SIZES; i++)
        if (pthread_mutex_init(&all->message_pools[i].lock, NULL) != 0) return false;
    return true;
}

void message_caches_free(Scheduler *s) {
    for (unsigned i = 0; i < MESSAGE_SIZES; i++) {
        free_batch(s->vm, s->messages[i].first);
        free_batch(s->vm, s->messages[i].full);
    }
}

void message_pools_trim(Schedulers *all) {
    for (unsigned i = 0; i < MESSAGE_SIZES; i++) {
        MessagePool *pool = &all->message_pools[i];
        /* relaxed: a hint; pool_take looks again */
        while (atomic_load_explicit(&pool->count, memory_order_relaxed) > MESSAGE_POOL_IDLE)
            free_batch(all->vm, pool_take(pool));
    }
}

void message_pools_free(Schedulers *all) {
    BtVm *vm = all->vm;
    for (unsigned i = 0; i < MESSAGE_SIZES; i++) {
        for (Message *batch; (batch = pool_take(&all->message_pools[i])) != NULL;) free_batch(vm, batch);
        pthread_mutex_destroy(&all->message_pools[i].lock);
    }
}

/* ---- contents ---- */

static bool copy_terms(BtVm *vm, Message *m) {
    Value roots[256], copies[256];
    roots[0] = m->receiver;
    memcpy(roots + 1, m->values, m->argc * sizeof *roots);
    m->fragment = term_copy(vm, roots, m->argc + 1u, copies);
    if (!m->fragment) return false;
    m->receiver = copies[0];
    memcpy(m->values, copies + 1, m->argc * sizeof *copies);
    return true;
}

Message *message_make(BtVm *vm, Scheduler *s, MessageKind kind, Value sender, Value receiver, Value selector,
                      const Value *args, unsigned argc) {
    Message *m = message_alloc(vm, s, argc);
    if (!m) return NULL;
    if (s) s->counts.messages++;
    m->next = NULL;
    m->kind = kind;
    m->argc = (uint8_t)argc;
    m->handoff = m->waiter = false;
    m->sender = sender;
    m->call_id = 0;
    m->fragment = NULL;
    m->receiver = receiver;
    m->selector = selector;
    bool copy = value_needs_copy(receiver);
    for (unsigned i = 0; i < argc; i++) {
        m->values[i] = args[i];
        copy |= value_needs_copy(args[i]);
    }
    if (copy && !copy_terms(vm, m)) return message_release(vm, s, m), NULL;
    return m;
}
