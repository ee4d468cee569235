/* The console, and the loop thread that reads stdin. See io.h.
 *
 * A request for a line is submitted under a lock to a list and announced by uv_async_send; the loop thread
 * queues it on libuv's pool, one at a time, and the answer goes to the process's reply slot from there. If
 * the slot is closed (process dead) the request is freed here, else by the process. A read waits for stdin
 * and for a pipe that ends it at shutdown. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>
#include "vm/error.h"
#include "vm/io.h"
#include "vm/sched_internal.h"
#include "vm/string.h"

enum { CONSOLE_BYTES = 16384, INPUT_CHUNK = 65536 };

/* A line that a process waits for. Owner: this module, on whose thread it is; once the answer is delivered,
 * the process. */
typedef struct IoRequest IoRequest;
struct IoRequest {
    IoRequest *next;
    BtVm *vm;
    Value pid;
    uint64_t wait_id;
    int error; /* errno that was met, 0 */
    bool found_end;
    char *bytes; /* the line without its end; NULL: none has been read */
    size_t length;
};

struct IoThread {
    pthread_mutex_t console_lock;
    size_t console_length;
    char console[CONSOLE_BYTES];
    _Atomic uint64_t hook_thread; /* pthread_self of the one in the output hook, 0: none */

    pthread_mutex_t lock; /* the list of what has been submitted, and starting */
    IoRequest *first, *last;
    bool started, stopping;
    pthread_t thread;
    uv_loop_t loop;
    uv_async_t async;
    int stop_pipe[2];     /* the read end becomes readable at shutdown, and when a reader has gone */
    _Atomic bool reading; /* stdin is waited for */

    /* stdin: touched by the one read that is going on, or by the loop thread between reads */
    IoRequest *lines_first, *lines_last; /* loop thread: reads that wait for their turn */
    bool line_active, input_ended;
    char *input;
    size_t input_length, input_capacity;
};

/* ---- writing ---- */

/* While it is held, writing to a pipe that nobody reads is an error and no signal: a closed reader is no
 * reason to die, and a host's handlers are its own. */
typedef struct {
    sigset_t pipe_signal, before;
} PipeGuard;

static void pipe_hold(PipeGuard *g) {
    sigemptyset(&g->pipe_signal);
    sigaddset(&g->pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &g->pipe_signal, &g->before);
}

static void pipe_release(PipeGuard *g, bool broken) {
    static const struct timespec now = {0, 0};
    if (broken && !sigismember(&g->before, SIGPIPE)) (void)sigtimedwait(&g->pipe_signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &g->before, NULL);
}

static void write_all(int fd, const char *bytes, size_t length) {
    PipeGuard guard;
    bool broken = false;
    pipe_hold(&guard);
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            if (poll(&p, 1, -1) >= 0 || errno == EINTR) continue;
        }
        broken = written < 0 && errno == EPIPE;
        if (written <= 0) break;
        bytes += written;
        length -= (size_t)written;
    }
    pipe_release(&guard, broken);
}

void io_write_stdout(const char *bytes, size_t length) {
    PipeGuard guard;
    pipe_hold(&guard);
    errno = 0;
    fwrite(bytes, 1, length, stdout);
    fflush(stdout);
    pipe_release(&guard, errno == EPIPE);
}

static void emit(BtVm *vm, const char *bytes, size_t length) {
    if (length == 0) return;
    if (!vm->out) {
        write_all(STDOUT_FILENO, bytes, length);
        return;
    }
    /* relaxed, both: a thread looks only for itself */
    atomic_store_explicit(&vm->io->hook_thread, (uint64_t)pthread_self(), memory_order_relaxed);
    vm->out(vm->io_context, bytes, length);
    atomic_store_explicit(&vm->io->hook_thread, 0, memory_order_relaxed);
}

bool io_in_hook(BtVm *vm) {
    return atomic_load_explicit(&vm->io->hook_thread, memory_order_relaxed) == (uint64_t)pthread_self();
}

static void flush_locked(BtVm *vm) {
    size_t length = vm->io->console_length;
    vm->io->console_length = 0;
    emit(vm, vm->io->console, length);
}

void io_console_write(BtVm *vm, const char *bytes, size_t length) {
    IoThread *io = vm->io;
    pthread_mutex_lock(&io->console_lock);
    if (length > CONSOLE_BYTES - io->console_length) flush_locked(vm);
    if (length > CONSOLE_BYTES) {
        emit(vm, bytes, length);
    } else {
        memcpy(io->console + io->console_length, bytes, length);
        io->console_length += length;
    }
    pthread_mutex_unlock(&io->console_lock);
}

void io_console_flush(BtVm *vm) {
    if (!vm->io) return;
    pthread_mutex_lock(&vm->io->console_lock);
    flush_locked(vm);
    pthread_mutex_unlock(&vm->io->console_lock);
}

void io_error_write(BtVm *vm, const char *bytes, size_t length) {
    io_console_flush(vm);
    if (vm->error_out)
        vm->error_out(vm->io_context, bytes, length);
    else
        write_all(STDERR_FILENO, bytes, length);
}

/* ---- requests ---- */

static void io_request_free(IoRequest *r) {
    const Memory *memory = r->vm->memory;
    memory_free(memory, r->bytes);
    memory_free(memory, r);
}

static IoRequest *request_in(const Reply *reply) { return (IoRequest *)(uintptr_t)reply->value; }

static void finish_request(Process *p, Reply *reply) {
    IoRequest *r = request_in(reply);
    p->resume_value = V_NIL;
    if (r->error)
        (void)error_resource(p, NULL);
    else if (!r->found_end)
        (void)string_new(p, r->bytes, r->length, &p->resume_value);
    io_request_free(r);
}

static void discard_reply(const Reply *reply) { io_request_free(request_in(reply)); }

/* The line is read. False: nobody wants it any more; the request is still ours. */
static bool answer(IoRequest *r) {
    Reply done = {.kind = REPLY_VALUE, .value = (Value)(uintptr_t)r};
    return reply_deliver(r->vm, NULL, r->pid, r->wait_id, &done, false);
}

/* ---- stdin ---- */

static void unread_line(IoThread *io, const IoRequest *r) {
    size_t length = r->length + 1;
    if (!r->bytes || io->input_length + length > io->input_capacity) return; /* it came out of this buffer */
    memmove(io->input + length, io->input, io->input_length);
    memcpy(io->input, r->bytes, r->length);
    io->input[r->length] = '\n';
    io->input_length += length;
}

static bool take_line(IoThread *io, IoRequest *r) {
    char *end = io->input_length ? memchr(io->input, '\n', io->input_length) : NULL;
    if (!end && !(io->input_ended && io->input_length)) return false;
    size_t length = end ? (size_t)(end - io->input) : io->input_length;
    size_t used = end ? length + 1 : length;
    r->bytes = memory_alloc(r->vm->memory, length + 1);
    if (!r->bytes) return r->error = ENOMEM, true;
    memcpy(r->bytes, io->input, length);
    r->length = length > 0 && io->input[length - 1] == '\r' ? length - 1 : length;
    io->input_length -= used;
    memmove(io->input, io->input + used, io->input_length);
    return true;
}

/* Waits for stdin. False: shutdown, or nobody wants the line any more (*abandoned): what comes is for others.
 */
static bool wait_for_input(IoThread *io, const IoRequest *r, bool *abandoned) {
    struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = io->stop_pipe[0], .events = POLLIN}};
    /* seq_cst: of a reader that begins to wait and its end, one sees the other */
    atomic_store(&io->reading, true);
    bool ready = false;
    while (!(*abandoned = !process_is_alive(r->vm, r->pid))) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
        ready = (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && !fds[1].revents;
        pthread_mutex_lock(&io->lock);
        bool stopping = io->stopping;
        pthread_mutex_unlock(&io->lock);
        if (ready || stopping) break;
        char sink;
        if (fds[1].revents) (void)!read(io->stop_pipe[0], &sink, 1);
    }
    atomic_store(&io->reading, false);
    return ready;
}

void io_reader_gone(BtVm *vm) {
    if (vm->io && atomic_load(&vm->io->reading)) (void)!write(vm->io->stop_pipe[1], "r", 1);
}

/* Waits for stdin and reads a piece. False: end of input, shutdown, or abandoned. */
static bool read_more(IoThread *io, const IoRequest *r, bool *abandoned) {
    if (io->input_capacity - io->input_length < INPUT_CHUNK) {
        size_t capacity = io->input_capacity * 2 + INPUT_CHUNK;
        char *bigger = memory_realloc(r->vm->memory, io->input, capacity);
        if (!bigger) return false;
        io->input = bigger;
        io->input_capacity = capacity;
    }
    if (!wait_for_input(io, r, abandoned)) return false;
    ssize_t got;
    do got = read(STDIN_FILENO, io->input + io->input_length, INPUT_CHUNK);
    while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got <= 0) return false;
    io->input_length += (size_t)got;
    return true;
}

static void read_line(IoRequest *r) {
    IoThread *io = r->vm->io;
    while (!take_line(io, r)) {
        if (io->input_ended) {
            r->found_end = true;
            return;
        }
        bool abandoned = false;
        if (read_more(io, r, &abandoned)) continue;
        if (abandoned) return;
        io->input_ended = true;
    }
}

/* Puts the line where it is waited for, or back. */
static void complete(IoThread *io, IoRequest *r) {
    if (answer(r)) return;
    unread_line(io, r);
    io_request_free(r);
}

/* ---- the loop thread ---- */

typedef struct Job {
    uv_work_t uv;
    IoRequest *request;
} Job;

static void job_work(uv_work_t *uv) { read_line(((Job *)uv)->request); }

static void start_job(IoThread *io, IoRequest *r);

static void next_line(IoThread *io) {
    IoRequest *r = io->lines_first;
    io->line_active = r != NULL;
    if (!r) return;
    io->lines_first = r->next;
    if (!r->next) io->lines_last = NULL;
    start_job(io, r);
}

static void job_done(uv_work_t *uv, int status) {
    Job *job = (Job *)uv;
    IoRequest *r = job->request;
    if (status == UV_ECANCELED) r->error = ECANCELED;
    memory_free(r->vm->memory, job);
    IoThread *io = r->vm->io;
    complete(io, r);
    next_line(io);
}

static void start_job(IoThread *io, IoRequest *r) {
    Job *job = memory_zalloc(r->vm->memory, sizeof *job);
    if (job) {
        job->request = r;
        if (uv_queue_work(&io->loop, &job->uv, job_work, job_done) == 0) return;
        memory_free(r->vm->memory, job);
    }
    r->error = ENOMEM;
    complete(io, r);
    next_line(io);
}

static void queue_line(IoThread *io, IoRequest *r) {
    r->next = NULL;
    if (io->lines_last)
        io->lines_last->next = r;
    else
        io->lines_first = r;
    io->lines_last = r;
    if (!io->line_active) next_line(io);
}

static IoRequest *take_requests(IoThread *io, bool *stopping) {
    pthread_mutex_lock(&io->lock);
    IoRequest *first = io->first;
    io->first = io->last = NULL;
    *stopping = io->stopping;
    pthread_mutex_unlock(&io->lock);
    return first;
}

static void on_async(uv_async_t *async) {
    IoThread *io = async->data;
    bool stopping;
    for (IoRequest *r = take_requests(io, &stopping), *next; r; r = next) {
        next = r->next;
        queue_line(io, r);
    }
    if (stopping && !uv_is_closing((uv_handle_t *)async)) uv_close((uv_handle_t *)async, NULL);
}

static void *loop_main(void *argument) {
    IoThread *io = argument;
    (void)uv_run(&io->loop, UV_RUN_DEFAULT); /* until the async handle is closed and the jobs are done */
    return NULL;
}

/* Under the lock. */
static bool start_thread(IoThread *io) {
    if (io->started) return true;
    sigset_t every, before;
    if (uv_loop_init(&io->loop) != 0) return false;
    if (uv_async_init(&io->loop, &io->async, on_async) != 0) return (void)uv_loop_close(&io->loop), false;
    io->async.data = io;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    io->started = pthread_create(&io->thread, NULL, loop_main, io) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!io->started) {
        uv_close((uv_handle_t *)&io->async, NULL);
        (void)uv_run(&io->loop, UV_RUN_DEFAULT);
        (void)uv_loop_close(&io->loop);
    }
    return io->started;
}

static bool submit(IoThread *io, IoRequest *r) {
    pthread_mutex_lock(&io->lock);
    bool possible = !io->stopping && (r->vm->seeded || start_thread(io));
    if (possible) {
        r->next = NULL;
        if (io->last)
            io->last->next = r;
        else
            io->first = r;
        io->last = r;
        if (io->started) uv_async_send(&io->async); /* under the lock: never after the handle is closed */
    }
    pthread_mutex_unlock(&io->lock);
    return possible;
}

PrimStatus io_read_line(Process *p) {
    io_console_flush(p->vm);
    IoRequest *r = memory_zalloc(p->vm->memory, sizeof *r);
    if (!r) return error_resource(p, NULL);
    r->vm = p->vm;
    r->pid = p->pid;
    r->wait_id = wait_open(p, WAIT_PRIM, -1);
    p->link.wait_finish = finish_request;
    p->link.wait_discard = discard_reply;
    if (submit(p->vm->io, r)) return PRIM_BLOCK;
    wait_close(p);
    io_request_free(r);
    return error_resource(p, "The I/O thread could not be started");
}

bool io_run_one(BtVm *vm) {
    IoThread *io = vm->io;
    pthread_mutex_lock(&io->lock);
    IoRequest *r = io->first;
    if (r) io->first = r->next;
    if (!io->first) io->last = NULL;
    pthread_mutex_unlock(&io->lock);
    if (!r) return false;
    read_line(r);
    complete(io, r);
    return true;
}

/* ---- life ---- */

/* A closed standard descriptor would be taken by the next file opened, and output would go there: the null
 * device takes its place. */
static void plug_standard_descriptors(void) {
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) close(fd);
}

IoThread *io_new(BtVm *vm) {
    IoThread *io = memory_zalloc(vm->memory, sizeof *io);
    if (!io) return NULL;
    io->stop_pipe[0] = io->stop_pipe[1] = -1;
    plug_standard_descriptors();
    if (pipe2(io->stop_pipe, O_CLOEXEC) != 0) return memory_free(vm->memory, io), NULL;
    if (pthread_mutex_init(&io->console_lock, NULL) != 0 || pthread_mutex_init(&io->lock, NULL) != 0) {
        close(io->stop_pipe[0]);
        close(io->stop_pipe[1]);
        return memory_free(vm->memory, io), NULL;
    }
    return vm->io = io;
}

void io_stop(BtVm *vm) {
    IoThread *io = vm->io;
    if (!io) return;
    io_console_flush(vm);
    pthread_mutex_lock(&io->lock);
    bool running = io->started && !io->stopping;
    io->stopping = true;
    if (running) {
        (void)!write(io->stop_pipe[1], "x", 1);
        uv_async_send(&io->async);
    }
    pthread_mutex_unlock(&io->lock);
    if (!running) return;
    pthread_join(io->thread, NULL);
    (void)uv_loop_close(&io->loop);
}

void io_free(BtVm *vm) {
    IoThread *io = vm->io;
    if (!io) return;
    for (IoRequest *r = io->first, *next; r; r = next) {
        next = r->next;
        io_request_free(r);
    }
    close(io->stop_pipe[0]);
    close(io->stop_pipe[1]);
    memory_free(vm->memory, io->input);
    pthread_mutex_destroy(&io->console_lock);
    pthread_mutex_destroy(&io->lock);
    memory_free(vm->memory, io);
    vm->io = NULL;
}
