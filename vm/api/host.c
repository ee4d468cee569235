/* Host functions: classes whose methods are C functions, and what such a function may do. See beamtalk.h. */
#include <stdio.h>
#include "vm/api/gate.h"
#include "vm/api/host_method.h"
#include "vm/api/pool.h"
#include "vm/api/value.h"
#include "vm/array.h"
#include "vm/error.h"
#include "vm/host.h"
#include "vm/list.h"
#include "vm/number.h"
#include "vm/prims/prim_support.h"
#include "vm/sched_internal.h"
#include "vm/string.h"
#include "vm/text.h"
#include "vm/tuple.h"

/* ---- what a call came to ---- */

typedef enum {
    OUTCOME_VALUE,
    OUTCOME_INT64,
    OUTCOME_DOUBLE,
    OUTCOME_ERROR,
    OUTCOME_BLOCK,
    OUTCOME_LATER
} OutcomeKind;

typedef struct {
    char *kind, *message, *hint;
} ErrorTexts;

struct bt_call {
    bt_vm *vm;
    Process *p;                /* NULL on a thread of the pool */
    Value *arguments;          /* a List that stays where it is, or rooted; NULL in a continuation */
    bt_completion *completion; /* on a thread of the pool: what the process waits for */
    OutcomeKind outcome;
    bt_value *value; /* OUTCOME_VALUE (NULL: nil), OUTCOME_BLOCK: the block */
    int64_t integer;
    double number;
    ErrorTexts error;
    bt_value *block_arguments; /* a List */
    HostStep *step;
};

struct bt_completion {
    bt_vm *vm;
    Value pid;
    uint64_t wait_id;
    bt_call said; /* what the process does when it goes on */
};

static void error_free(const Memory *memory, ErrorTexts *e) {
    memory_free(memory, e->kind);
    memory_free(memory, e->message);
    memory_free(memory, e->hint);
    *e = (ErrorTexts){0};
}

static ErrorTexts error_texts(const Memory *memory, const char *kind, const char *message, const char *hint) {
    if (!kind || !*kind) kind = "runtime_error";
    return (ErrorTexts){.kind = text_dup(memory, kind, strlen(kind)),
                        .message = message ? text_dup(memory, message, strlen(message)) : NULL,
                        .hint = hint ? text_dup(memory, hint, strlen(hint)) : NULL};
}

static PrimStatus raise_texts(Process *p, const ErrorTexts *e) {
    Value kind = e->kind ? symbol_intern(p->vm, e->kind, strlen(e->kind)) : V_HOLE;
    if (kind == V_HOLE) return error_resource(p, NULL);
    return error_raise_symbol(p, kind, V_NIL, V_NIL, e->message, e->hint, V_NIL);
}

/* Lets go of what the call said before. */
static void call_reset(bt_call *call) {
    bt_value_release(call->value);
    bt_value_release(call->block_arguments);
    error_free(call->vm->memory, &call->error);
    if (call->step) host_step_drop(call->vm->memory, &call->step->counted);
    call->value = call->block_arguments = NULL;
    call->step = NULL;
}

/* ---- arguments ---- */

bt_vm *bt_call_vm(const bt_call *call) { return call ? call->vm : NULL; }

size_t bt_call_count(const bt_call *call) {
    return call && call->arguments ? list_length(*call->arguments) : 0;
}

static bool argument_at(const bt_call *call, size_t index, Value *out) {
    if (!call || !call->arguments) return false;
    Value rest = list_drop(*call->arguments, index);
    if (rest == V_EMPTY_LIST) return false;
    *out = CONS_HEAD(rest);
    return true;
}

bt_value *bt_call_argument(const bt_call *call, size_t index) {
    Value v;
    return argument_at(call, index, &v) ? handle_of(call->vm, v) : NULL;
}

bt_status bt_call_int64(const bt_call *call, size_t index, int64_t *out) {
    Value v;
    return argument_at(call, index, &v) && out && integer_fits_int64(v, out) ? BT_OK : BT_MISUSE;
}

bt_status bt_call_double(const bt_call *call, size_t index, double *out) {
    Value v;
    return argument_at(call, index, &v) && out && number_is(v) && number_to_double(v, out) ? BT_OK
                                                                                           : BT_MISUSE;
}

/* ---- what it says ---- */

static const char FOREIGN[] = "the value belongs to another virtual machine";

/* Once the answer is to come later, nothing else can be said. */
static bool may_say(bt_call *call) {
    if (!call || call->outcome == OUTCOME_LATER) return false;
    call_reset(call);
    return true;
}

void bt_call_answer(bt_call *call, const bt_value *value) {
    if (!may_say(call)) return;
    if (value && !handle_is_of(value, call->vm)) {
        bt_call_raise(call, "argument_error", FOREIGN, NULL);
        return;
    }
    call->outcome = OUTCOME_VALUE;
    call->value = bt_value_retain((bt_value *)(uintptr_t)value);
}

void bt_call_answer_int64(bt_call *call, int64_t integer) {
    if (!may_say(call)) return;
    call->outcome = OUTCOME_INT64;
    call->integer = integer;
}

void bt_call_answer_double(bt_call *call, double number) {
    if (!may_say(call)) return;
    call->outcome = OUTCOME_DOUBLE;
    call->number = number;
}

void bt_call_raise(bt_call *call, const char *kind, const char *message, const char *hint) {
    if (!may_say(call)) return;
    call->outcome = OUTCOME_ERROR;
    call->error = error_texts(call->vm->memory, kind, message, hint);
}

/* ---- blocks ---- */

static PrimStatus settle(bt_call *call, Value *result);
static PrimStatus resume(Process *p, HostStep *step, Value *answer, Value *result);
static PrimStatus resume_blocking(Process *p, HostStep *step, Value *answer, Value *result);

static void release_nothing(void *state) { (void)state; }

void bt_call_block(bt_call *call, const bt_value *block, bt_value *const *arguments, size_t count,
                   bt_continuation continuation, void *state, void (*release)(void *state)) {
    if (!may_say(call)) return;
    HostStep *step =
        continuation && handle_is_of(block, call->vm) ? memory_zalloc(call->vm->memory, sizeof *step) : NULL;
    bt_value *list = step ? bt_list(call->vm, arguments, count) : NULL;
    if (!list) {
        memory_free(call->vm->memory, step);
        if (release) release(state);
        bt_call_raise(call, "argument_error", "the block, its arguments or the continuation are missing",
                      NULL);
        return;
    }
    step->resume = call->completion ? resume_blocking : resume;
    step->continuation = (void (*)(void))continuation;
    step->owner = call->vm;
    step->state = state;
    step->release = release ? release : release_nothing;
    call->outcome = OUTCOME_BLOCK;
    call->value = bt_value_retain((bt_value *)(uintptr_t)block);
    call->block_arguments = list;
    call->step = step;
}

/* The step as the library takes it. */
static PrimStatus make_step(bt_call *call, Value *result) {
    Process *p = call->p;
    Value words[STEP_WORDS - 1] = {V_NIL, V_NIL, V_NIL};
    RootSpan span;
    roots_push(p, &span, words, STEP_WORDS - 1);
    Value block = term_copy_into(p, call->value->value);
    if (block != V_HOLE) words[STEP_CALLEE - 1] = block;
    Value list = block == V_HOLE ? V_HOLE : term_copy_into(p, call->block_arguments->value);
    if (list != V_HOLE) words[STEP_ARGUMENTS - 1] = list;
    bool done = list != V_HOLE && heap_reserve(p, NATIVE_WORDS + STEP_WORDS);
    if (done) {
        words[STEP_HANDLE - 1] = native_new(p, CLASS_ID_Object, &call->step->counted, host_step_drop, 16);
        call->step = NULL; /* the handle's now */
        *result = tuple_from(p, words, STEP_WORDS - 1);
        done = *result != V_HOLE;
    }
    roots_pop(p, &span);
    return done ? PRIM_OK : PRIM_RAISE;
}

static PrimStatus resume(Process *p, HostStep *step, Value *answer, Value *result) {
    bt_vm *vm = step->owner;
    bt_call call = {.vm = vm, .p = p};
    bt_value *handle = handle_of(vm, *answer);
    if (!handle) return error_resource(p, NULL);
    Process *outer = sched_host_enter(p);
    ((bt_continuation)step->continuation)(&call, handle, step->state);
    sched_host_leave(p, outer);
    bt_value_release(handle);
    host_step_release(step);
    return settle(&call, result);
}

/* ---- answers that come later ---- */

static void completion_free(bt_completion *c) {
    call_reset(&c->said);
    bt_vm *vm = c->vm;
    memory_free(vm->memory, c);
    vm_let_go(vm);
}

static bt_completion *completion_in(const Reply *reply) { return (bt_completion *)(uintptr_t)reply->value; }

static void finish_later(Process *p, Reply *reply) {
    bt_completion *c = completion_in(reply);
    Value result;
    c->said.p = p;
    p->resume_value = V_NIL;
    if (settle(&c->said, &result) == PRIM_OK) p->resume_value = result;
    completion_free(c);
}

static void discard_later(const Reply *reply) { completion_free(completion_in(reply)); }

/* The process will wait for it. NULL: no memory. */
static bt_completion *completion_open(bt_vm *vm, Process *p) {
    bt_completion *c = memory_zalloc(vm->memory, sizeof *c);
    if (!c) return NULL;
    *c = (bt_completion){.vm = vm, .pid = p->pid, .said.vm = vm};
    vm_keep(vm);
    c->wait_id = wait_open(p, WAIT_PRIM, -1);
    p->link.wait_finish = finish_later;
    p->link.wait_discard = discard_later;
    return c;
}

bt_completion *bt_call_later(bt_call *call) {
    if (!may_say(call)) return NULL;
    bt_completion *c = call->completion ? call->completion : completion_open(call->vm, call->p);
    if (c)
        call->outcome = OUTCOME_LATER;
    else
        bt_call_raise(call, "resource_error", NULL, NULL);
    return c;
}

static void complete(bt_completion *c) {
    Reply reply = {.kind = REPLY_VALUE, .value = (Value)(uintptr_t)c};
    bt_vm *vm = c->vm;
    if (!gate_enter(vm)) {
        completion_free(c);
        return;
    }
    if (!reply_deliver(vm->core, NULL, c->pid, c->wait_id, &reply, false))
        completion_free(c); /* nobody waits */
    gate_leave(vm);
}

void bt_complete(bt_completion *c, const bt_value *value) {
    if (!c) return;
    bt_call_answer(&c->said, value);
    complete(c);
}

void bt_complete_error(bt_completion *c, const char *kind, const char *message, const char *hint) {
    if (!c) return;
    bt_call_raise(&c->said, kind, message, hint);
    complete(c);
}

/* ---- the call ---- */

/* Does what the function said. */
static PrimStatus settle(bt_call *call, Value *result) {
    Process *p = call->p;
    PrimStatus status = PRIM_OK;
    *result = V_NIL;
    switch (call->outcome) {
    case OUTCOME_VALUE:
        if (call->value) *result = term_copy_into(p, call->value->value);
        if (*result == V_HOLE) status = PRIM_RAISE;
        break;
    case OUTCOME_INT64: status = number_from_int64(p, call->integer, result); break;
    case OUTCOME_DOUBLE: status = number_from_double(p, call->number, result); break;
    case OUTCOME_ERROR: status = raise_texts(p, &call->error); break;
    case OUTCOME_BLOCK: status = make_step(call, result); break;
    case OUTCOME_LATER: status = PRIM_BLOCK; break;
    }
    call_reset(call);
    return status;
}

PrimStatus host_invoke(Process *p, void *method, Value *arguments, Value *result) {
    const HostMethod *m = method;
    bt_call call = {.vm = m->vm, .p = p, .arguments = arguments};
    Process *outer = sched_host_enter(p);
    sched_publish_next(p->scheduler);
    m->function(&call, m->context);
    sched_host_leave(p, outer);
    return settle(&call, result);
}

/* ---- functions that block, and their continuations ---- */

/* A function with its arguments, or a continuation with the block's answer and the step's state. */
typedef struct {
    PoolJob job;
    bt_completion *completion;
    bt_value *given;
    const HostMethod *method;
    bt_continuation continuation;
    void *state;
    void (*release)(void *state);
} Blocking;

static void blocking_free(bt_vm *vm, Blocking *b) {
    if (b->release) b->release(b->state);
    bt_value_release(b->given);
    memory_free(vm->memory, b);
}

static void run_blocking(PoolJob *job) {
    Blocking *b = (Blocking *)job;
    bt_completion *c = b->completion;
    bt_vm *vm = c->vm;
    bt_call call = {.vm = vm, .completion = c};
    if (b->method) {
        call.arguments = &b->given->value;
        b->method->function(&call, b->method->context);
    } else {
        b->continuation(&call, b->given, b->state);
    }
    blocking_free(vm, b);
    if (call.outcome != OUTCOME_LATER) {
        call.arguments = NULL;
        c->said = call;
        complete(c);
    }
    gate_leave(vm);
}

/* Takes b. bt_vm_free waits for what is under way. */
static PrimStatus submit(Process *p, bt_vm *vm, Blocking *b, Value *result) {
    *result = V_NIL;
    if (!gate_enter(vm))
        return blocking_free(vm, b), error_resource(p, NULL); /* it goes, and runs nobody any more */
    bt_completion *c = completion_open(vm, p);
    if (!c) return gate_leave(vm), blocking_free(vm, b), error_resource(p, NULL);
    b->job.run = run_blocking;
    b->completion = c;
    if (pool_submit(vm->pool, &b->job)) return PRIM_BLOCK;
    wait_close(p);
    completion_free(c);
    blocking_free(vm, b);
    gate_leave(vm);
    return error_resource(p, "The system gives no thread for a function that blocks");
}

PrimStatus host_invoke_blocking(Process *p, void *method, Value *arguments, Value *result) {
    const HostMethod *m = method;
    if (p->vm->seeded) return host_invoke(p, method, arguments, result);
    Blocking *b = memory_zalloc(m->vm->memory, sizeof *b);
    if (b) *b = (Blocking){.method = m, .given = handle_of(m->vm, *arguments)};
    if (b && b->given) return submit(p, m->vm, b, result);
    memory_free(m->vm->memory, b);
    return error_resource(p, NULL);
}

static PrimStatus resume_blocking(Process *p, HostStep *step, Value *answer, Value *result) {
    bt_vm *vm = step->owner;
    Blocking *b = memory_zalloc(vm->memory, sizeof *b);
    bt_value *given = b ? handle_of(vm, *answer) : NULL;
    if (!given) return memory_free(vm->memory, b), error_resource(p, NULL);
    *b = (Blocking){.given = given,
                    .continuation = (bt_continuation)step->continuation,
                    .state = step->state,
                    .release = step->release};
    step->release = NULL; /* the process may end before the continuation does */
    return submit(p, vm, b, result);
}
