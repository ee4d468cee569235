/* See listen.h. */
#define _GNU_SOURCE
#include "vm/cli/listen.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "vm/cli/cli.h"
#include "vm/cli/frames.h"
#include "vm/cli/meta.h"

enum { CONNECTIONS_MAX = 16 };

typedef struct {
    Listener *listener;
    int fd; /* -1: free */
    bool joinable;
    pthread_t thread;
    bt_session *session;
} Connection;

struct Listener {
    bt_vm *vm;
    char *path;
    int fd;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    bool stopping;
    Connection connections[CONNECTIONS_MAX];
};

/* ---- answering ---- */

static bool reply(Connection *c, FrameKind kind, const char *text) {
    if (!text) text = "";
    return frame_write(c->fd, kind, text, strlen(text));
}

static bool reply_failure(Connection *c, const bt_result *result) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return false;
    const char *class_name = bt_result_error_class(result), *message = bt_result_error_message(result);
    const char *hint = bt_result_error_hint(result), *diagnostics = bt_result_diagnostics(result);
    if (bt_result_status(result) == BT_COMPILE_ERROR && diagnostics && *diagnostics)
        fputs(diagnostics, to);
    else
        fprintf(to, "Error: %s%s%s", class_name ? class_name : "", class_name ? ": " : "",
                message ? message : "the evaluation was ended");
    if (hint) fprintf(to, "\nHint: %s", hint);
    fclose(to);
    bool sent = reply(c, FRAME_ERROR, text);
    free(text);
    return sent;
}

static bool evaluate(Connection *c, const char *source, size_t length) {
    bt_eval_options options = {
        .size = sizeof options, .name = "attached", .want_shown = 1, .ignore_link_exits = 1};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(c->session, source, length, &options, &result);
    bool sent = false;
    if (status == BT_OK)
        sent = reply(c, FRAME_VALUE, bt_result_shown(result));
    else if (status == BT_EXIT)
        (void)reply(c, FRAME_END, NULL);
    else if (result)
        sent = reply_failure(c, result);
    bt_result_free(result);
    return sent;
}

static bool run_meta(Connection *c, Meta *meta, const char *line) {
    MetaReply r = meta_run(meta, line);
    bool goes_on = !r.exit && reply(c, r.failed ? FRAME_ERROR : FRAME_VALUE, r.text);
    if (r.exit) (void)reply(c, FRAME_END, NULL);
    meta_reply_free(&r);
    return goes_on;
}

static bool show_top(Connection *c, const char *count) {
    char source[128];
    int n = atoi(count);
    snprintf(source, sizeof source, "topReport := SystemReport next: topReport. topReport text: %d",
             n > 0 && n < 100000 ? n : 20);
    return evaluate(c, source, strlen(source));
}

static bool serve_one(Connection *c, Meta *meta) {
    FrameKind kind;
    char *text;
    size_t length;
    if (!frame_read(c->fd, &kind, &text, &length)) return false;
    bool goes_on = false;
    if (kind == FRAME_TOP)
        goes_on = show_top(c, text);
    else if (kind == FRAME_EVALUATE && meta_is_command(text))
        goes_on = run_meta(c, meta, text);
    else if (kind == FRAME_EVALUATE)
        goes_on = evaluate(c, text, length);
    free(text);
    return goes_on;
}

static void *serve(void *argument) {
    Connection *c = argument;
    Meta meta = {.vm = c->listener->vm, .session = c->session};
    static const char first[] = "topReport := nil";
    bt_eval_options options = {.size = sizeof options};
    bt_result *result = NULL;
    (void)bt_vm_eval(c->session, first, sizeof first - 1, &options, &result);
    bt_result_free(result);
    while (serve_one(c, &meta)) {
    }
    meta_free(&meta);
    pthread_mutex_lock(&c->listener->lock);
    bt_session *session = c->session;
    c->session = NULL;
    close(c->fd);
    c->fd = -1;
    pthread_mutex_unlock(&c->listener->lock);
    bt_session_free(session);
    return NULL;
}

/* ---- connections ---- */

static Connection *free_connection(Listener *l) {
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        Connection *c = &l->connections[i];
        if (c->fd >= 0) continue;
        if (c->joinable) pthread_join(c->thread, NULL); /* it has given up its place: about to end */
        c->joinable = false;
        return c;
    }
    return NULL;
}

/* Takes the descriptor over. */
static void begin(Listener *l, int fd) {
    Connection *c = l->stopping ? NULL : free_connection(l);
    bt_session *session = c ? bt_session_new(l->vm) : NULL;
    if (!session) {
        close(fd);
        return;
    }
    c->listener = l;
    c->fd = fd;
    c->session = session;
    c->joinable = pthread_create(&c->thread, NULL, serve, c) == 0;
    if (c->joinable) return;
    c->fd = -1;
    c->session = NULL;
    bt_session_free(session);
    close(fd);
}

static void *accept_all(void *argument) {
    Listener *l = argument;
    for (;;) {
        int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (fd < 0) return NULL; /* listen_stop has shut it down */
        pthread_mutex_lock(&l->lock);
        begin(l, fd);
        pthread_mutex_unlock(&l->lock);
    }
}

/* ---- the socket ---- */

/* A socket that nobody listens at any more may be replaced, nothing else. */
static bool make_way(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return true;
    if (!S_ISSOCK(status.st_mode)) return fail("%s exists and is no socket", path), false;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool taken = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0) close(fd);
    if (taken) return fail("another program listens at %s", path), false;
    return unlink(path) == 0;
}

static int bind_owner_only(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t before = umask(0177);
    bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    umask(before);
    if (bound && listen(fd, CONNECTIONS_MAX) == 0) return fd;
    fail("cannot listen at %s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

Listener *listen_start(bt_vm *vm, const char *path) {
    if (bt_vm_is_seeded(vm)) return fail("--listen and --seed exclude each other"), NULL;
    if (strlen(path) > SOCKET_PATH_MAX) return fail("the socket's path is too long"), NULL;
    if (!make_way(path)) return NULL;
    Listener *l = calloc(1, sizeof *l);
    if (!l) return fail("out of memory"), NULL;
    l->vm = vm;
    l->path = strdup(path);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) l->connections[i].fd = -1;
    pthread_mutex_init(&l->lock, NULL);
    l->fd = l->path ? bind_owner_only(path) : -1;
    if (l->fd >= 0 && pthread_create(&l->thread, NULL, accept_all, l) == 0) return l;
    if (l->fd >= 0) close(l->fd), unlink(path);
    free(l->path);
    free(l);
    return NULL;
}

void listen_stop(Listener *l) {
    if (!l) return;
    pthread_mutex_lock(&l->lock);
    l->stopping = true;
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        Connection *c = &l->connections[i];
        if (c->fd >= 0) shutdown(c->fd, SHUT_RDWR);
        if (c->session) bt_session_interrupt(c->session);
    }
    pthread_mutex_unlock(&l->lock);
    shutdown(l->fd, SHUT_RDWR);
    pthread_join(l->thread, NULL);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        if (l->connections[i].joinable) pthread_join(l->connections[i].thread, NULL);
    close(l->fd);
    unlink(l->path);
    pthread_mutex_destroy(&l->lock);
    free(l->path);
    free(l);
}
