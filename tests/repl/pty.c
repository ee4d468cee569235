/* See pty.h. */
#define _GNU_SOURCE
#include "tests/repl/pty.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

enum { WAIT_MS = 20000 };

static long now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static _Noreturn void run_child(char *const *argv, char *const *environment, const char *directory) {
    if (directory && chdir(directory) != 0) _exit(126);
    clearenv();
    for (char *const *each = environment; *each; each++) putenv(*each);
    execv(argv[0], argv);
    _exit(127);
}

/* Signals of the terminal go to the child as well; the leader waits, reports, and stays until it is killed.
 */
static _Noreturn void lead(int slave, int report, char *const *argv, char *const *environment,
                           const char *directory) {
    if (login_tty(slave) != 0) _exit(126);
    pid_t child = fork();
    if (child == 0) run_child(argv, environment, directory);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    int status = 0;
    ssize_t written = write(report, &child, sizeof child);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    written = write(report, &status, sizeof status);
    (void)written;
    for (;;) pause();
}

Pty *pty_start(char *const *argv, char *const *environment, const char *directory) {
    Pty *p = calloc(1, sizeof *p);
    int slave, report[2];
    struct winsize size = {.ws_row = 50, .ws_col = 200};
    if (!p || pipe2(report, O_CLOEXEC) != 0) return free(p), NULL;
    if (openpty(&p->fd, &slave, NULL, NULL, &size) != 0) return free(p), NULL;
    tcgetattr(slave, &p->before);
    p->leader = fork();
    if (p->leader == 0) {
        close(p->fd);
        lead(slave, report[1], argv, environment, directory);
    }
    close(slave);
    close(report[1]);
    p->report = report[0];
    if (read(p->report, &p->pid, sizeof p->pid) != sizeof p->pid) p->pid = 0;
    return p;
}

static void keep(Pty *p, char c) {
    if (p->seen_length + 1 >= p->seen_capacity) {
        p->seen_capacity = p->seen_capacity ? p->seen_capacity * 2 : 4096;
        p->seen = realloc(p->seen, p->seen_capacity);
        if (!p->seen) abort();
    }
    p->seen[p->seen_length++] = c;
    p->seen[p->seen_length] = 0;
}

/* Drops ESC [ ... letter, ESC letter, carriage returns. */
static void filter(Pty *p, char c) {
    if (p->raw && c != '\r')
        keep(p, c);
    else if (p->escape == 1)
        p->escape = c == '[' || c == '(' ? 2 : 0;
    else if (p->escape == 2)
        p->escape = c >= 0x40 && c <= 0x7e ? 0 : 2;
    else if (c == 033)
        p->escape = 1;
    else if (c != '\r')
        keep(p, c);
}

/* False: nothing came in time, or the terminal is closed. */
static bool read_some(Pty *p, long timeout_ms) {
    struct pollfd fd = {.fd = p->fd, .events = POLLIN};
    char bytes[4096];
    if (timeout_ms < 0 || poll(&fd, 1, (int)timeout_ms) <= 0) return false;
    ssize_t n = read(p->fd, bytes, sizeof bytes);
    for (ssize_t i = 0; i < n; i++) filter(p, bytes[i]);
    return n > 0;
}

void pty_type(Pty *p, const char *text) {
    size_t n = strlen(text);
    while (n) {
        ssize_t written = write(p->fd, text, n);
        if (written < 0 && errno != EINTR) return;
        if (written > 0) text += written, n -= (size_t)written;
    }
}

bool pty_sees(Pty *p, const char *text) {
    long end = now_ms() + WAIT_MS;
    for (;;) {
        char *found = p->seen ? strstr(p->seen + p->matched, text) : NULL;
        if (found) return p->matched = (size_t)(found - p->seen) + strlen(text), true;
        if (!read_some(p, end - now_ms())) break;
    }
    fprintf(stderr, "--- wanted: %s\n--- seen:\n%s\n---\n", text, p->seen ? p->seen + p->matched : "");
    return false;
}

bool pty_has_seen(const Pty *p, const char *text) { return p->seen && strstr(p->seen, text); }

int pty_end(Pty *p) {
    struct pollfd fds[2] = {{.fd = p->report, .events = POLLIN}, {.fd = p->fd, .events = POLLIN}};
    long end = now_ms() + WAIT_MS;
    while (p->pid > 0 && now_ms() < end && poll(fds, 2, (int)(end - now_ms())) > 0) {
        int status;
        if (fds[1].revents) (void)read_some(p, 0);
        if (!fds[0].revents) continue;
        if (read(p->report, &status, sizeof status) != sizeof status) break;
        p->pid = 0;
        while (read_some(p, 20)) {
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    }
    return -1;
}

bool pty_is_sane(Pty *p) {
    struct termios now;
    if (tcgetattr(p->fd, &now) != 0) return false;
    return now.c_lflag == p->before.c_lflag && now.c_iflag == p->before.c_iflag &&
           now.c_oflag == p->before.c_oflag && now.c_cflag == p->before.c_cflag &&
           memcmp(now.c_cc, p->before.c_cc, sizeof now.c_cc) == 0;
}

void pty_free(Pty *p) {
    if (!p) return;
    if (p->pid > 0) kill(p->pid, SIGKILL);
    if (p->leader > 0) {
        kill(p->leader, SIGKILL);
        waitpid(p->leader, NULL, 0);
    }
    close(p->report);
    close(p->fd);
    free(p->seen);
    free(p);
}
