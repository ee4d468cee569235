/* See history_file.h. */
#define _GNU_SOURCE
#include "vm/cli/history_file.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLACK_LINES = 1000, MOST_BYTES = 16 << 20 };

char *history_file_path(void) {
    const char *home = getenv("HOME");
    char *directory, *path = NULL;
    if (!home || !*home || asprintf(&directory, "%s/.beamtalk", home) < 0) return NULL;
    (void)mkdir(directory, 0700);
    if (asprintf(&path, "%s/repl_history", directory) < 0) path = NULL;
    free(directory);
    return path;
}

static char *whole_file(const char *path, size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    char *text = NULL;
    *length = 0;
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MOST_BYTES)
        text = malloc((size_t)info.st_size + 1);
    ssize_t n = text ? read(fd, text, (size_t)info.st_size) : -1;
    if (fd >= 0) close(fd);
    if (n < 0) return free(text), NULL;
    text[n] = 0;
    *length = (size_t)n;
    return text;
}

/* In place, by one write: who is killed in between leaves a short history, not a second file. */
static void cut_back(const char *path, const char *text, size_t length) {
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t written = write(fd, text, length);
    (void)written;
    close(fd);
}

void history_file_read(const char *path, void (*line)(void *context, const char *text), void *context) {
    size_t length, lines = 0, start = 0;
    char *text = whole_file(path, &length);
    if (!text) return;
    for (size_t i = length; i-- > 0;)
        if (text[i] == '\n' && ++lines == HISTORY_LINES + 1) start = i + 1;
    if (lines > HISTORY_LINES + SLACK_LINES) cut_back(path, text + start, length - start);
    char *rest = text + start;
    for (char *each; (each = strsep(&rest, "\n"));)
        if (*each) line(context, each);
    free(text);
}

void history_file_add(const char *path, const char *line) {
    char *text;
    int n = asprintf(&text, "%s\n", line);
    if (n < 0) return;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    ssize_t written = fd >= 0 ? write(fd, text, (size_t)n) : 0;
    (void)written;
    if (fd >= 0) close(fd);
    free(text);
}
