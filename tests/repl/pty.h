/* A child process on a pseudo-terminal of its own, driven like a person would: type, wait for text, look at
 * the end. */
#ifndef BT_TEST_PTY_H
#define BT_TEST_PTY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

typedef struct {
    int fd;
    pid_t pid;    /* of the child; 0 once it has ended */
    pid_t leader; /* of its session: it outlives the child, or the kernel would drop what was not read yet */
    int report;   /* the leader writes the child's pid, later its wait status */
    struct termios before; /* of the terminal, before the child ran */
    char *seen;            /* all output, without escape sequences and carriage returns */
    size_t seen_length, seen_capacity, matched;
    int escape; /* state of the escape-sequence filter */
    bool raw;   /* keep escape sequences */
} Pty;

/* argv as execv takes it; environment: NAME=VALUE strings added to an otherwise small one; directory: NULL
 * for here. */
Pty *pty_start(char *const *argv, char *const *environment, const char *directory);
void pty_type(Pty *p, const char *text);
/* Waits until the text comes, after what earlier calls found. False: it did not come in time; *what was seen
 * since* is on stderr then. */
bool pty_sees(Pty *p, const char *text);
/* Has this text come since the start? */
bool pty_has_seen(const Pty *p, const char *text);
/* Waits for the end of the child: its exit status, 1000 + n if signal n ended it, -1 if it did not end. */
int pty_end(Pty *p);
/* Is the terminal as it was? Call it after pty_end. */
bool pty_is_sane(Pty *p);
void pty_free(Pty *p); /* kills the child if it still lives */

#endif
