/* A file descriptor that becomes readable when the VM wants its host: for work, for completions, or because a
 * timer is due. An event loop waits on `epoll`; it holds the others.
 *
 * Owner: the bt_vm. poll_fd_signal is for any thread; the rest for the one that polls. */
#ifndef BT_VM_POLL_FD_H
#define BT_VM_POLL_FD_H

#include <stdbool.h>
#include <stdint.h>

/* Timers of programs, and time limits of jobs. */
typedef enum { POLL_TIMERS, POLL_JOBS, POLL_CLOCKS } PollClock;

typedef struct PollFd {
    int event, epoll, timers[POLL_CLOCKS];
    int64_t armed_us[POLL_CLOCKS]; /* what they are set to, DEADLINE_NONE: nothing */
} PollFd;

bool poll_fd_open(PollFd *fd); /* false: no descriptors; nothing is open then */
void poll_fd_close(PollFd *fd);
void poll_fd_signal(PollFd *fd);
void poll_fd_drain(PollFd *fd); /* not readable any more, until the next signal or deadline */
void poll_fd_arm(PollFd *fd, PollClock clock, int64_t deadline_us);
void poll_fd_wait(PollFd *fd, int64_t wait_ms); /* < 0: for ever */

#endif
