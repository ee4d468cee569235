/* See input.h. */
#define _GNU_SOURCE
#include "vm/cli/input.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 4096, PASTE_PAUSE_MS = 15 };

bool input_open(Input *in, int fd) {
    *in = (Input){.fd = fd};
    in->capacity = CHUNK;
    in->bytes = malloc(in->capacity);
    if (in->bytes && pipe2(in->wake, O_CLOEXEC | O_NONBLOCK) == 0) return true;
    free(in->bytes);
    return false;
}

void input_close(Input *in) {
    close(in->wake[0]);
    close(in->wake[1]);
    free(in->bytes);
}

void input_wake(Input *in) {
    ssize_t written = write(in->wake[1], "", 1);
    (void)written; /* a full pipe has woken the reader already */
}

/* Reads what is there; waits for it first. False: nothing will come, or the pause is over. */
static bool fill(Input *in, int timeout_ms, bool *woken) {
    if (in->start == in->end) in->start = in->end = 0;
    if (in->end == in->capacity) {
        char *grown = realloc(in->bytes, in->capacity * 2);
        if (!grown) return false;
        in->bytes = grown;
        in->capacity *= 2;
    }
    struct pollfd fds[2] = {{.fd = in->fd, .events = POLLIN}, {.fd = in->wake[0], .events = POLLIN}};
    int ready = poll(fds, woken ? 2 : 1, timeout_ms);
    if (ready < 0 && errno == EINTR) return true;
    if (ready <= 0) return false;
    if (woken && fds[1].revents) {
        char sink[64];
        while (read(in->wake[0], sink, sizeof sink) > 0) {
        }
        *woken = true;
        return true;
    }
    ssize_t n = read(in->fd, in->bytes + in->end, in->capacity - in->end);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n <= 0) return in->ended = true, false;
    in->end += (size_t)n;
    return true;
}

int input_byte(Input *in) {
    bool woken = false;
    while (in->start == in->end) {
        if (in->ended || !fill(in, -1, &woken)) return INPUT_END;
        if (woken) return INPUT_WOKEN;
    }
    return (unsigned char)in->bytes[in->start++];
}

bool input_has_indented_line(Input *in) {
    size_t at = in->start;
    for (;;) {
        while (at < in->end && (in->bytes[at] == '\n' || in->bytes[at] == '\r')) at++;
        if (at < in->end) return in->bytes[at] == ' ' || in->bytes[at] == '\t';
        size_t offset = at - in->start;
        if (in->ended || !fill(in, PASTE_PAUSE_MS, NULL)) return false;
        at = in->start + offset;
    }
}
