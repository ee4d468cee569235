/* See async.h. */
#include "vm/api/async.h"
#include "vm/api/evaluation.h"
#include "vm/api/gate.h"
#include "vm/api/value.h"
#include "vm/io.h"
#include "vm/sched_internal.h"

/* RUNS: its process has been started. OVER: it never will be; `status` says why. */
typedef enum { JOB_WAITS, JOB_RUNS, JOB_OVER } JobStage;

struct Job {
    Job *next;                 /* of those due, or waiting for the session */
    Job *live_next, **live_at; /* of all */
    Evaluation e;
    Completion *completion; /* NULL: no process has been started */
    Value pid;
    char *name, *source; /* of an evaluation */
    size_t length;
    Script script;
    JobStage stage;
    bool holds_session, timed_out;
    int64_t deadline_us; /* DEADLINE_NONE: none, or not running */
    bt_status status;    /* JOB_OVER */
    bt_done done;
    void *context;
};

/* ---- the VM's part ---- */

bool async_new(bt_vm *vm) {
    vm->async = memory_zalloc(vm->memory, sizeof *vm->async);
    if (vm->async && pthread_mutex_init(&vm->async->lock, NULL) == 0) return true;
    memory_free(vm->memory, vm->async);
    vm->async = NULL;
    return false;
}

bool async_open_fd(bt_vm *vm) {
    struct Async *a = vm->async;
    pthread_mutex_lock(&a->lock);
    if (!a->is_open) a->is_open = poll_fd_open(&a->fd);
    /* release: whoever finds it finds it whole */
    if (a->is_open && vm->core) atomic_store_explicit(&vm->core->poll, &a->fd, memory_order_release);
    bool open = a->is_open;
    pthread_mutex_unlock(&a->lock);
    return open;
}

/* Under the lock. */
static void append_due(struct Async *a, Job *job) {
    job->next = NULL;
    if (a->due_last)
        a->due_last->next = job;
    else
        a->due_first = job;
    a->due_last = job;
    poll_fd_signal(&a->fd);
}

static void job_is_due(Job *job) {
    struct Async *a = job->e.vm->async;
    pthread_mutex_lock(&a->lock);
    append_due(a, job);
    pthread_mutex_unlock(&a->lock);
}

static Job *take_due(struct Async *a) {
    pthread_mutex_lock(&a->lock);
    Job *job = a->due_first;
    if (job) a->due_first = job->next;
    if (!a->due_first) a->due_last = NULL;
    pthread_mutex_unlock(&a->lock);
    return job;
}

static void job_live(struct Async *a, Job *job) {
    pthread_mutex_lock(&a->lock);
    job->live_next = a->live;
    job->live_at = &a->live;
    if (a->live) a->live->live_at = &job->live_next;
    a->live = job;
    pthread_mutex_unlock(&a->lock);
}

static void job_dead(struct Async *a, Job *job) {
    pthread_mutex_lock(&a->lock);
    *job->live_at = job->live_next;
    if (job->live_next) job->live_next->live_at = job->live_at;
    pthread_mutex_unlock(&a->lock);
}

/* ---- the session of an evaluation ---- */

void job_take_session(Job *job) {
    job->holds_session = true;
    job_is_due(job);
}

static void enter_session(Job *job) {
    bt_session *s = job->e.session;
    pthread_mutex_lock(&s->lock);
    bool is_free = s->holder == SESSION_FREE;
    if (is_free) {
        s->holder = SESSION_HELD_ASYNC;
    } else {
        Job **end = &s->jobs;
        while (*end) end = &(*end)->next;
        *end = job;
    }
    pthread_mutex_unlock(&s->lock);
    if (is_free) job_take_session(job);
}

Job *session_next_job(bt_session *s) {
    Job *next = s->jobs;
    if (next) s->jobs = next->next;
    s->holder = next ? SESSION_HELD_ASYNC : SESSION_FREE;
    if (!next) pthread_cond_signal(&s->free);
    return next;
}

static void leave_session(Job *job) {
    bt_session *s = job->e.session;
    Job *next = NULL;
    pthread_mutex_lock(&s->lock);
    if (job->holds_session) {
        atomic_store(&s->running, V_NIL);
        next = session_next_job(s);
    }
    for (Job **at = &s->jobs; *at; at = &(*at)->next)
        if (*at == job) {
            *at = job->next;
            break;
        }
    bool last = s->closing && s->holder == SESSION_FREE;
    pthread_mutex_unlock(&s->lock);
    if (next) job_take_session(next);
    if (last) session_destroy(s);
}

/* ---- running ---- */

/* On the thread of whoever ended it. */
static void process_ended(BtVm *core, Completion *c) {
    bt_vm *vm = core->api;
    pthread_mutex_lock(&vm->async->lock);
    Job *job = c->owner;
    if (job) append_due(vm->async, job);
    pthread_mutex_unlock(&vm->async->lock);
}

/* From here on the job may end, and go, at any moment, unless this thread is the one that polls. */
static bool start_process(Job *job, Value callable, Value selector, const Value *args, unsigned argc) {
    bt_vm *vm = job->e.vm;
    RunLimits limits = evaluation_limits(&job->e);
    Completion *c = memory_zalloc(vm->memory, sizeof *c);
    Process *p = c ? process_for_run(vm->core, NULL, &limits, c) : NULL;
    if (!p) return memory_free(vm->memory, c), false;
    c->owner = job;
    c->ended = process_ended;
    pthread_mutex_lock(&vm->async->lock);
    job->completion = c;
    job->pid = p->pid;
    job->stage = JOB_RUNS;
    if (limits.deadline_ms > 0) job->deadline_us = vm_clock_us() + limits.deadline_ms * 1000;
    pthread_mutex_unlock(&vm->async->lock);
    if (job->e.session) atomic_store(&job->e.session->running, job->pid);
    if (!process_start_from_host(p, NULL, callable, selector, args, argc)) {
        job->completion = NULL;
        job->deadline_us = DEADLINE_NONE;
        memory_free(vm->memory, c);
        return false;
    }
    poll_fd_signal(
        &vm->async->fd); /* a deadline is to be armed; in seeded mode nobody else says that there is work */
    return true;
}

static void over(Job *job, bt_status status) {
    job->stage = JOB_OVER;
    job->status = status;
}

/* The session is the job's. False: it is over already. */
static bool start_evaluation(Job *job) {
    Evaluation *e = &job->e;
    atomic_store(&e->session->interrupted, false);
    over(job, evaluation_prepare(e, job->source, job->length));
    if (job->status != BT_OK || e->options->load_only || !evaluation_has_script(e)) return false;
    uint64_t closure[SCRIPT_WORDS];
    unsigned argc;
    if (!script_open(e, &job->script, closure, &argc) ||
        !start_process(job, value_from_object(closure), V_NIL, job->script.args, argc))
        return over(job, BT_NO_MEMORY), false;
    if (atomic_load(&e->session->interrupted))
        process_exit_signal(e->vm->core, job->pid, SYMBOL(killed), true);
    return true;
}

/* Ends what its process was; the answer goes into the result. */
static bt_status settle(Job *job) {
    Evaluation *e = &job->e;
    Completion *c = job->completion;
    RanKind kind = RAN_KILLED;
    Kept answer = {.value = V_NIL};
    if (!c) return script_close(e, &job->script), job->status;
    /* acquire: pairs with the end of the process */
    if (atomic_load_explicit(&c->done, memory_order_acquire)) {
        kind = ran_kind_of(c);
        answer = (Kept){c->reply.fragment, c->reply.value};
        memory_free(e->vm->memory, c);
    } else {
        completion_abandon(e->vm->core, c);
    }
    if (job->timed_out && kind == RAN_KILLED) kind = RAN_TIMEOUT;
    bt_status status;
    if (e->session) {
        status = script_answer(e, &job->script, kind, &answer);
        script_close(e, &job->script);
    } else {
        status = evaluation_status(e, kind, &answer);
        if (status == BT_OK) evaluation_answer(e, &answer, answer.value);
    }
    kept_free(e->vm->core, &answer);
    return status;
}

static void job_free(Job *job) {
    const Memory *memory = job->e.vm->memory;
    memory_free(memory, job->name);
    memory_free(memory, job->source);
    memory_free(memory, job);
}

static void job_finish(Job *job) {
    Evaluation *e = &job->e;
    bt_status status = settle(job);
    if (e->unit) code_release(e->unit);
    io_console_flush(e->vm->core);
    job_dead(e->vm->async, job);
    if (e->session) leave_session(job);
    e->result->status = status;
    bt_done done = job->done;
    void *context = job->context;
    bt_result *result = e->result;
    job_free(job);
    done(context, result);
}

/* Ends it whatever it does; it is due no more, nor will be. */
static void job_end(Job *job) {
    struct Async *a = job->e.vm->async;
    pthread_mutex_lock(&a->lock);
    if (job->completion) job->completion->owner = NULL;
    Job **at = &a->due_first, *last = NULL;
    while (*at) {
        if (*at == job)
            *at = job->next;
        else
            last = *at, at = &last->next;
    }
    a->due_last = last;
    pthread_mutex_unlock(&a->lock);
    if (job->stage == JOB_WAITS) over(job, evaluation_status(&job->e, RAN_KILLED, NULL));
    job_finish(job);
}

bool async_finish_due(bt_vm *vm) {
    bool any = false;
    while (sched_is_stopping(vm->core) && vm->async->live) { /* what has not ended never will */
        job_end(vm->async->live);
        any = true;
    }
    for (Job *job; (job = take_due(vm->async)) != NULL; any = true)
        if (job->stage != JOB_WAITS || !start_evaluation(job)) job_finish(job);
    return any;
}

void async_expire(bt_vm *vm) {
    struct Async *a = vm->async;
    int64_t now = vm_clock_us(), next = DEADLINE_NONE;
    pthread_mutex_lock(&a->lock);
    for (Job *job = a->live; job; job = job->live_next) {
        if (job->deadline_us <= now) {
            job->deadline_us = DEADLINE_NONE;
            job->timed_out = true;
            process_exit_signal(vm->core, job->pid, SYMBOL(killed), true);
        } else if (job->deadline_us < next) {
            next = job->deadline_us;
        }
    }
    pthread_mutex_unlock(&a->lock);
    poll_fd_arm(&a->fd, POLL_JOBS, next);
}

void async_free(bt_vm *vm) {
    struct Async *a = vm->async;
    if (!a) return;
    while (a->live) job_end(a->live);
    if (a->is_open) poll_fd_close(&a->fd);
    pthread_mutex_destroy(&a->lock);
    memory_free(vm->memory, a);
    vm->async = NULL;
}

/* ---- the calls ---- */

static Job *job_new(bt_vm *vm, bt_session *session, const bt_eval_options *options, bt_done done,
                    void *context) {
    Job *job = async_open_fd(vm) ? memory_zalloc(vm->memory, sizeof *job) : NULL;
    if (!job) return NULL;
    job->e = (Evaluation){.vm = vm, .session = session, .result = result_new(vm, BT_OK)};
    if (options) STRUCT_COPY(job->e.own, options);
    job->e.own.want_shown = 0; /* rendering would have to wait for the program */
    job->e.options = &job->e.own;
    job->deadline_us = DEADLINE_NONE;
    job->done = done;
    job->context = context;
    if (options && options->name) {
        job->name = text_dup(vm->memory, options->name, strlen(options->name));
        job->e.own.name = job->name;
    }
    /* relaxed: a statistic */
    atomic_fetch_add_explicit(&vm->evaluation_count, 1, memory_order_relaxed);
    if (job->e.result && (!options || !options->name || job->name)) return job;
    bt_result_free(job->e.result);
    job_free(job);
    return NULL;
}

static bt_status eval_inside(bt_session *session, const char *source, size_t length,
                             const bt_eval_options *options, bt_done done, void *context) {
    Job *job = job_new(session->vm, session, options, done, context);
    if (!job) return BT_NO_MEMORY;
    job->source = text_dup(session->vm->memory, source ? source : "", length);
    job->length = length;
    if (!job->source) return bt_result_free(job->e.result), job_free(job), BT_NO_MEMORY;
    job_live(session->vm->async, job);
    enter_session(job);
    return BT_OK;
}

bt_status bt_eval_async(bt_session *session, const char *source, size_t length,
                        const bt_eval_options *options, bt_done done, void *context) {
    if (!session || (!source && length) || !done) return BT_MISUSE;
    if (!gate_enter(session->vm)) return BT_EXIT;
    bt_status status = eval_inside(session, source, length, options, done, context);
    gate_leave(session->vm);
    return status;
}

static bt_status send_inside(bt_vm *vm, const bt_value *receiver, const char *selector,
                             bt_value *const *arguments, size_t count, const bt_eval_options *options,
                             bt_done done, void *context) {
    Value symbol, *values = NULL;
    bt_status status = read_message(vm, selector, arguments, count, &symbol, &values);
    if (status != BT_OK) return status;
    Job *job = job_new(vm, NULL, options, done, context);
    if (!job) return memory_free(vm->memory, values), BT_NO_MEMORY;
    job_live(vm->async, job);
    if (!start_process(job, receiver->value, symbol, values, (unsigned)count)) {
        over(job, BT_NO_MEMORY);
        job_is_due(job);
    }
    memory_free(vm->memory, values);
    return BT_OK;
}

bt_status bt_send_async(bt_vm *vm, const bt_value *receiver, const char *selector, bt_value *const *arguments,
                        size_t count, const bt_eval_options *options, bt_done done, void *context) {
    if (!vm || !selector || !done || !handle_is_of(receiver, vm)) return BT_MISUSE;
    if (!gate_enter(vm)) return BT_EXIT;
    bt_status status = send_inside(vm, receiver, selector, arguments, count, options, done, context);
    gate_leave(vm);
    return status;
}
