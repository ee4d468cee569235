/* Threads for functions of the host that block: as many as there is work at once, up to POOL_MAX; what is
 * more waits its turn. They stay until the VM goes. */
#ifndef BT_API_POOL_H
#define BT_API_POOL_H

#include <pthread.h>
#include <stdbool.h>

enum { POOL_MAX = 256 };

typedef struct PoolJob {
    struct PoolJob *next;
    void (*run)(struct PoolJob *job); /* frees it, if need be */
} PoolJob;

typedef struct Memory Memory;
typedef struct Pool {
    const Memory *memory;
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    PoolJob *first, *last;
    unsigned queued, idle, count;
    bool stopping;
    pthread_t threads[POOL_MAX];
} Pool;

Pool *pool_new(const Memory *memory); /* no threads yet; NULL: no memory */
/* Any thread. False: there is no thread, and none is to be had. */
bool pool_submit(Pool *pool, PoolJob *job);
void pool_free(Pool *pool); /* nothing is queued or runs any more */

#endif
