/* See pool.h. */
#include "vm/api/pool.h"
#include <signal.h>
#include "vm/bytecode/memory.h"

Pool *pool_new(const Memory *memory) {
    Pool *pool = memory_zalloc(memory, sizeof *pool);
    if (!pool) return NULL;
    pool->memory = memory;
    bool whole = pthread_mutex_init(&pool->lock, NULL) == 0 && pthread_cond_init(&pool->wanted, NULL) == 0;
    if (!whole) memory_free(memory, pool);
    return whole ? pool : NULL;
}

static PoolJob *next_job(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->idle++;
    while (!pool->first && !pool->stopping) pthread_cond_wait(&pool->wanted, &pool->lock);
    pool->idle--;
    PoolJob *job = pool->first;
    if (job) {
        pool->first = job->next;
        pool->queued--;
        if (!pool->first) pool->last = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    return job;
}

static void *thread_main(void *argument) {
    for (PoolJob *job; (job = next_job(argument)) != NULL;) job->run(job);
    return NULL;
}

/* Under the lock. Threads of the VM take no signals. */
static void start_thread(Pool *pool) {
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    if (pthread_create(&pool->threads[pool->count], NULL, thread_main, pool) == 0) pool->count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool pool_submit(Pool *pool, PoolJob *job) {
    pthread_mutex_lock(&pool->lock);
    if (pool->idle <= pool->queued && pool->count < POOL_MAX) start_thread(pool);
    bool taken = pool->count > 0;
    if (taken) {
        job->next = NULL;
        if (pool->last)
            pool->last->next = job;
        else
            pool->first = job;
        pool->last = job;
        pool->queued++;
        pthread_cond_signal(&pool->wanted);
    }
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

void pool_free(Pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->wanted);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->count; i++) pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->wanted);
    pthread_mutex_destroy(&pool->lock);
    memory_free(pool->memory, pool);
}
