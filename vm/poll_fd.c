/* See poll_fd.h. */
#include "vm/poll_fd.h"
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "vm/sched.h"

static bool watch(PollFd *fd, int part) {
    struct epoll_event readable = {.events = EPOLLIN};
    return part >= 0 && epoll_ctl(fd->epoll, EPOLL_CTL_ADD, part, &readable) == 0;
}

bool poll_fd_open(PollFd *fd) {
    fd->epoll = epoll_create1(EPOLL_CLOEXEC);
    fd->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool whole = fd->epoll >= 0 && watch(fd, fd->event);
    for (int i = 0; i < POLL_CLOCKS; i++) {
        fd->timers[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        fd->armed_us[i] = DEADLINE_NONE;
        whole = whole && watch(fd, fd->timers[i]);
    }
    if (whole) return true;
    poll_fd_close(fd);
    return false;
}

void poll_fd_close(PollFd *fd) {
    if (fd->event >= 0) close(fd->event);
    for (int i = 0; i < POLL_CLOCKS; i++)
        if (fd->timers[i] >= 0) close(fd->timers[i]);
    if (fd->epoll >= 0) close(fd->epoll);
    fd->event = fd->epoll = fd->timers[POLL_TIMERS] = fd->timers[POLL_JOBS] = -1;
}

void poll_fd_signal(PollFd *fd) {
    uint64_t one = 1;
    /* fails only if the counter is full: it is readable then */
    while (write(fd->event, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

static void take(int part) {
    uint64_t count;
    while (read(part, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

void poll_fd_drain(PollFd *fd) {
    take(fd->event);
    for (int i = 0; i < POLL_CLOCKS; i++) take(fd->timers[i]);
}

void poll_fd_arm(PollFd *fd, PollClock clock, int64_t deadline_us) {
    if (fd->armed_us[clock] == deadline_us) return;
    struct itimerspec at = {0};
    if (deadline_us != DEADLINE_NONE) {
        if (deadline_us < 1) deadline_us = 1; /* 0 would disarm it */
        at.it_value.tv_sec = deadline_us / 1000000;
        at.it_value.tv_nsec = deadline_us % 1000000 * 1000;
    }
    if (timerfd_settime(fd->timers[clock], TFD_TIMER_ABSTIME, &at, NULL) == 0)
        fd->armed_us[clock] = deadline_us;
}

void poll_fd_wait(PollFd *fd, int64_t wait_ms) {
    struct pollfd one = {.fd = fd->epoll, .events = POLLIN};
    int limit = wait_ms < 0 ? -1 : wait_ms > INT32_MAX ? INT32_MAX : (int)wait_ms;
    (void)poll(&one, 1, limit);
}
