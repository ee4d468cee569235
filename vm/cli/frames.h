/* What `attach` and `top` say to a running program, and what it answers: frames of a kind, a length (four
 * bytes, little endian) and so many bytes of text. */
#ifndef BT_CLI_FRAMES_H
#define BT_CLI_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { FRAME_MAX_BYTES = 16 << 20, SOCKET_PATH_MAX = 107 };

typedef enum {
    FRAME_EVALUATE = 'e', /* source text, or a line that begins with a colon */
    FRAME_TOP = 't',      /* the number of processes to show */
    FRAME_VALUE = 'o',    /* the text to show; may be empty */
    FRAME_ERROR = 'x',
    FRAME_END = 'q' /* the session is over */
} FrameKind;

bool frame_write(int fd, FrameKind kind, const char *text, size_t length);
/* *text ends with a NUL; the caller frees it. False: the other side is gone, or talks something else. */
bool frame_read(int fd, FrameKind *kind, char **text, size_t *length);
/* A connection to the socket of a running program; -1 after a message. */
int frame_connect(const char *path);

#endif
