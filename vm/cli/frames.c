/* See frames.h. */
#include "vm/cli/frames.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "vm/cli/cli.h"

static bool write_whole(int fd, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length) {
        ssize_t n = send(fd, at, length, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

static bool read_whole(int fd, void *bytes, size_t length) {
    char *at = bytes;
    while (length) {
        ssize_t n = recv(fd, at, length, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

bool frame_write(int fd, FrameKind kind, const char *text, size_t length) {
    if (length > FRAME_MAX_BYTES) length = FRAME_MAX_BYTES;
    unsigned char head[5] = {(unsigned char)kind, (unsigned char)length, (unsigned char)(length >> 8),
                             (unsigned char)(length >> 16), (unsigned char)(length >> 24)};
    return write_whole(fd, head, sizeof head) && write_whole(fd, text, length);
}

bool frame_read(int fd, FrameKind *kind, char **text, size_t *length) {
    unsigned char head[5];
    if (!read_whole(fd, head, sizeof head)) return false;
    size_t size = (size_t)head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16 | (size_t)head[4] << 24;
    char *bytes = size <= FRAME_MAX_BYTES ? malloc(size + 1) : NULL;
    if (!bytes || !read_whole(fd, bytes, size)) return free(bytes), false;
    bytes[size] = 0;
    *kind = (FrameKind)head[0];
    *text = bytes;
    *length = size;
    return true;
}

int frame_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) > SOCKET_PATH_MAX) return fail("the socket's path is too long"), -1;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    fail("no program listens at %s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}
