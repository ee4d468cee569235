/* A libuv server that hands requests to Beamtalk actors: a line in, a line out. The loop is the only thread:
 * it drives the VM too, and no request ever blocks it. See README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include "beamtalk.h"

enum { LINE_MAX_BYTES = 4096 };

static const char PROGRAM[] =
    "Actor subclass: Room\n"
    "  state: values = #{}\n"
    "  answer: line =>\n"
    "    words := line split: \" \"\n"
    "    command := words first\n"
    "    command =:= \"put\" ifTrue: [\n"
    "      self.values := self.values at: (words at: 2) put: (words at: 3)\n"
    "      ^\"ok\"]\n"
    "    command =:= \"get\" ifTrue: [^self.values at: (words at: 2) ifAbsent: [\"nothing\"]]\n"
    "    command =:= \"wait\" ifTrue: [Timer sleep: (words at: 2) asInteger. ^\"waited\"]\n"
    "    self error: \"unknown command: \" ++ command\n"
    "\n"
    "Room\n";

typedef struct {
    bt_vm *vm;
    bt_session *session;
    bt_value *room_class;
    uv_loop_t *loop;
    uv_tcp_t listener;
    uv_poll_t vm_poll;
} Server;

/* One connection, with an actor of its own. Freed when it is closed and its last answer has come. */
typedef struct {
    uv_tcp_t tcp;
    Server *server;
    bt_value *room;
    char line[LINE_MAX_BYTES];
    size_t length;
    unsigned waiting; /* answers under way */
    int is_closed;
} Client;

typedef struct {
    uv_write_t write;
    char bytes[];
} Answer;

static void client_release(Client *c) {
    if (!c->is_closed || c->waiting > 0) return;
    bt_value_release(c->room);
    free(c);
}

static void closed(uv_handle_t *handle) {
    Client *c = handle->data;
    c->is_closed = 1;
    client_release(c);
}

static void client_close(Client *c) {
    if (!uv_is_closing((uv_handle_t *)&c->tcp)) uv_close((uv_handle_t *)&c->tcp, closed);
}

static void written(uv_write_t *write, int status) {
    (void)status;
    free(write->data);
}

static void reply(Client *c, const char *what, const char *text) {
    size_t size = strlen(what) + strlen(text) + 2;
    Answer *a = malloc(sizeof *a + size);
    if (!a) return;
    snprintf(a->bytes, size, "%s%s\n", what, text);
    a->write.data = a;
    uv_buf_t buffer = uv_buf_init(a->bytes, (unsigned)size - 1);
    if (uv_write(&a->write, (uv_stream_t *)&c->tcp, &buffer, 1, written) != 0) free(a);
}

/* A request has been answered: called by bt_vm_poll, on the loop's thread. */
static void answered(void *context, bt_result *result) {
    Client *c = context;
    bt_value *value = bt_result_value(result);
    const char *text = bt_value_text(value, NULL), *message = bt_result_error_message(result);
    c->waiting--;
    if (!c->is_closed && !uv_is_closing((uv_handle_t *)&c->tcp))
        reply(c, text ? "" : "error: ", text ? text : message ? message : "no answer");
    bt_value_release(value);
    bt_result_free(result);
    client_release(c);
}

static void request(Client *c, const char *line, size_t length) {
    static const bt_eval_options OPTIONS = {.size = sizeof OPTIONS, .deadline_ms = 5000};
    Server *s = c->server;
    if (length == 4 && memcmp(line, "stop", 4) == 0) {
        uv_stop(s->loop);
        return;
    }
    bt_value *text = bt_string(s->vm, line, length);
    if (bt_send_async(s->vm, c->room, "answer:", &text, 1, &OPTIONS, answered, c) == BT_OK)
        c->waiting++;
    else
        reply(c, "error: ", "refused");
    bt_value_release(text);
}

static void give_buffer(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer) {
    Client *c = handle->data;
    (void)wanted;
    *buffer = uv_buf_init(c->line + c->length, (unsigned)(LINE_MAX_BYTES - c->length));
}

static void have_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    Client *c = stream->data;
    (void)buffer;
    if (count < 0) {
        client_close(c);
        return;
    }
    c->length += (size_t)count;
    char *start = c->line, *end;
    while ((end = memchr(start, '\n', c->length - (size_t)(start - c->line))) != NULL) {
        request(c, start, (size_t)(end - start));
        start = end + 1;
    }
    c->length -= (size_t)(start - c->line);
    memmove(c->line, start, c->length);
    if (c->length == LINE_MAX_BYTES) client_close(c); /* no line is that long */
}

/* The actor of a connection is there: now its lines are read. */
static void welcomed(void *context, bt_result *result) {
    Client *c = context;
    c->room = bt_result_value(result);
    c->waiting--;
    if (!c->room || uv_read_start((uv_stream_t *)&c->tcp, give_buffer, have_read) != 0) client_close(c);
    bt_result_free(result);
    client_release(c);
}

static void connected(uv_stream_t *listener, int status) {
    Server *s = listener->data;
    Client *c = status == 0 ? calloc(1, sizeof *c) : NULL;
    if (!c) return;
    c->server = s;
    uv_tcp_init(s->loop, &c->tcp);
    c->tcp.data = c;
    if (uv_accept(listener, (uv_stream_t *)&c->tcp) == 0 &&
        bt_send_async(s->vm, s->room_class, "spawn", NULL, 0, NULL, welcomed, c) == BT_OK)
        c->waiting++;
    else
        client_close(c);
}

static void vm_has_work(uv_poll_t *poll, int status, int events) {
    Server *s = poll->data;
    (void)status, (void)events;
    bt_vm_poll(s->vm, 0, 1000); /* a millisecond at a time: connections are served in between */
}

static int load_program(Server *s) {
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(s->session, PROGRAM, sizeof PROGRAM - 1, NULL, &result);
    if (status != BT_OK)
        fprintf(stderr, "%s%s\n", bt_result_diagnostics(result),
                bt_result_error_message(result) ? bt_result_error_message(result) : "");
    s->room_class = bt_result_value(result);
    bt_result_free(result);
    return s->room_class != NULL;
}

static int listen_on(Server *s, int port) {
    struct sockaddr_in address, bound;
    int length = sizeof bound;
    uv_ip4_addr("127.0.0.1", port, &address);
    uv_tcp_init(s->loop, &s->listener);
    s->listener.data = s;
    if (uv_tcp_bind(&s->listener, (const struct sockaddr *)&address, 0) != 0 ||
        uv_listen((uv_stream_t *)&s->listener, 64, connected) != 0 ||
        uv_tcp_getsockname(&s->listener, (struct sockaddr *)&bound, &length) != 0)
        return 0;
    printf("listening on port %d\n", ntohs(bound.sin_port));
    fflush(stdout);
    return 1;
}

static void close_handle(uv_handle_t *handle, void *server) {
    Server *s = server;
    if (uv_is_closing(handle)) return;
    int is_own = handle == (uv_handle_t *)&s->listener || handle == (uv_handle_t *)&s->vm_poll;
    uv_close(handle, is_own ? NULL : closed);
}

int main(int argc, char **argv) {
    const bt_config config = {.size = sizeof config, .host_driven = 1, .denied = BT_DENY_ALL};
    Server s = {.vm = bt_vm_new(&config), .loop = uv_default_loop()};
    s.session = bt_session_new(s.vm);
    if (!s.session || !load_program(&s) || !listen_on(&s, argc > 1 ? atoi(argv[1]) : 0)) return 1;
    uv_poll_init(s.loop, &s.vm_poll, bt_vm_poll_fd(s.vm));
    s.vm_poll.data = &s;
    uv_poll_start(&s.vm_poll, UV_READABLE, vm_has_work);
    uv_run(s.loop, UV_RUN_DEFAULT);
    uv_walk(s.loop, close_handle, &s);
    uv_run(s.loop, UV_RUN_DEFAULT);
    bt_value_release(s.room_class);
    bt_session_free(s.session);
    bt_vm_free(s.vm); /* calls back for what was under way, and so frees the last connections */
    uv_loop_close(s.loop);
    return 0;
}
