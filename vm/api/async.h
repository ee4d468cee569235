/* Evaluations and sends that nobody waits for: jobs.
 *
 * A job is born by bt_eval_async or bt_send_async, its process ends on some scheduler's thread, and
 * bt_vm_poll finishes it, on its own thread. Owner: the bt_vm, under `lock`, which is never held while
 * anything runs. */
#ifndef BT_API_ASYNC_H
#define BT_API_ASYNC_H

#include "vm/api/api_internal.h"
#include "vm/poll_fd.h"

struct Async {
    pthread_mutex_t lock;
    Job *live;                 /* all of them */
    Job *due_first, *due_last; /* ended, or to be started */
    PollFd fd;
    bool is_open;            /* fd: opened when somebody wants it */
    _Atomic uint64_t poller; /* pthread_self of the thread inside bt_vm_poll, 0: none */
};

bool async_new(bt_vm *vm);
/* No process runs any more: what is still under way ends with BT_KILLED. */
void async_free(bt_vm *vm);
/* The descriptor; false: none to be had. Any thread. */
bool async_open_fd(bt_vm *vm);
/* For bt_vm_poll: kills what is overdue; finishes what has ended, true if there was anything. */
/* Is this thread inside bt_vm_poll? */
bool async_is_polling(bt_vm *vm);
void async_expire(bt_vm *vm);
bool async_finish_due(bt_vm *vm);
/* The session is held for it: it may start. */
void job_take_session(Job *job);
/* Under the session's lock, by who held it: who holds it next, NULL: nobody. */
Job *session_next_job(bt_session *s);
/* vm/api/session.c */
void session_destroy(bt_session *s);

#endif
