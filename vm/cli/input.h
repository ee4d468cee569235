/* Bytes of a descriptor for the line editor: reads can be interrupted from another thread, and what has
 * arrived already can be looked at (is a pasted definition going on?). One reading thread. */
#ifndef BT_CLI_INPUT_H
#define BT_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int fd, wake[2]; /* wake: a pipe that input_wake writes to */
    char *bytes;     /* [start, end) have arrived and are not read yet */
    size_t start, end, capacity;
    bool ended;
} Input;

bool input_open(Input *in, int fd); /* false: no memory or no pipe */
void input_close(Input *in);

enum { INPUT_END = -1, INPUT_WOKEN = -2 };
/* The next byte. Waits; INPUT_WOKEN when input_wake has come first. */
int input_byte(Input *in);
/* Any thread, also a signal's. One pending wake is kept, further ones are the same. */
void input_wake(Input *in);
/* Has a line that begins with white space, blank lines before it not counted, arrived already? */
bool input_has_indented_line(Input *in);

#endif
