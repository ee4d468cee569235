/* Host functions: classes whose methods are C functions, and what such a function may do. See beamtalk.h. */
#include <stdio.h>
#include "vm/api/gate.h"
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
    Process *p;
    Value *arguments; /* a List, rooted; NULL in a continuation */
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
    bt_value *value;
    ErrorTexts error; /* kind set: an error */
};

static void error_free(ErrorTexts *e) {
    mem_free(e->kind);
    mem_free(e->message);
    mem_free(e->hint);
    *e = (ErrorTexts){0};
}

static ErrorTexts error_texts(const char *kind, const char *message, const char *hint) {
    if (!kind || !*kind) kind = "runtime_error";
    return (ErrorTexts){.kind = text_dup(kind, strlen(kind)),
                        .message = message ? text_dup(message, strlen(message)) : NULL,
                        .hint = hint ? text_dup(hint, strlen(hint)) : NULL};
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
    error_free(&call->error);
    if (call->step) host_step_drop(&call->step->counted);
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
    call->error = error_texts(kind, message, hint);
}

/* ---- blocks ---- */

static PrimStatus settle(bt_call *call, Value *result);
static PrimStatus resume(Process *p, HostStep *step, Value *answer, Value *result);

static void release_nothing(void *state) { (void)state; }

void bt_call_block(bt_call *call, const bt_value *block, bt_value *const *arguments, size_t count,
                   bt_continuation continuation, void *state, void (*release)(void *state)) {
    if (!may_say(call)) return;
    HostStep *step = continuation && handle_is_of(block, call->vm) ? mem_zalloc(sizeof *step) : NULL;
    bt_value *list = step ? bt_list(call->vm, arguments, count) : NULL;
    if (!list) {
        mem_free(step);
        if (release) release(state);
        bt_call_raise(call, "argument_error", "the block, its arguments or the continuation are missing",
                      NULL);
        return;
    }
    step->resume = resume;
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
    bt_value_release(c->value);
    vm_let_go(c->vm);
    error_free(&c->error);
    mem_free(c);
}

static bt_completion *completion_in(const Reply *reply) { return (bt_completion *)(uintptr_t)reply->value; }

static void finish_later(Process *p, Reply *reply) {
    bt_completion *c = completion_in(reply);
    p->resume_value = V_NIL;
    if (c->error.kind) {
        (void)raise_texts(p, &c->error);
    } else if (c->value) {
        Value v = term_copy_into(p, c->value->value);
        if (v != V_HOLE) p->resume_value = v;
    }
    completion_free(c);
}

static void discard_later(const Reply *reply) { completion_free(completion_in(reply)); }

bt_completion *bt_call_later(bt_call *call) {
    if (!may_say(call)) return NULL;
    bt_completion *c = mem_zalloc(sizeof *c);
    if (!c) {
        bt_call_raise(call, "resource_error", NULL, NULL);
        return NULL;
    }
    call->outcome = OUTCOME_LATER;
    *c = (bt_completion){.vm = call->vm, .pid = call->p->pid};
    vm_keep(c->vm);
    c->wait_id = wait_open(call->p, WAIT_PRIM, -1);
    call->p->link.wait_finish = finish_later;
    call->p->link.wait_discard = discard_later;
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
    if (value && !handle_is_of(value, c->vm))
        c->error = error_texts("argument_error", FOREIGN, NULL);
    else
        c->value = bt_value_retain((bt_value *)(uintptr_t)value);
    complete(c);
}

void bt_complete_error(bt_completion *c, const char *kind, const char *message, const char *hint) {
    if (!c) return;
    c->error = error_texts(kind, message, hint);
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

typedef struct {
    bt_vm *vm;
    bt_function function;
    void *context;
} HostMethod;

static PrimStatus invoke(Process *p, void *function, Value *arguments, Value *result) {
    const HostMethod *m = function;
    bt_call call = {.vm = m->vm, .p = p, .arguments = arguments};
    Process *outer = sched_host_enter(p);
    m->function(&call, m->context);
    sched_host_leave(p, outer);
    return settle(&call, result);
}

/* ---- classes ---- */

static bool is_word(const char *text, size_t length, bool upper) {
    if (!length || !(upper ? (text[0] >= 'A' && text[0] <= 'Z') : (text[0] >= 'a' && text[0] <= 'z')))
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!ok) return false;
    }
    return true;
}

/* `at: a1 put: a2`, and how many there are. False: no selector. */
static bool append_pattern(Text *t, const char *selector, unsigned *argc) {
    *argc = 0;
    if (!strchr(selector, ':')) {
        text_append_cstring(t, selector);
        return is_word(selector, strlen(selector), false);
    }
    while (*selector) {
        const char *colon = strchr(selector, ':');
        if (!colon || !is_word(selector, (size_t)(colon - selector), false)) return false;
        text_append(t, selector, (size_t)(colon - selector));
        text_appendf(t, ": a%u ", ++*argc);
        selector = colon + 1;
    }
    return true;
}

static bool append_method(Text *t, bt_vm *vm, const bt_method *m) {
    unsigned argc;
    if (!m->selector || !m->function) return false;
    text_append_cstring(t, "  class sealed ");
    if (!append_pattern(t, m->selector, &argc)) return false;
    HostMethod *method = mem_alloc(sizeof *method);
    if (!method) return t->failed = true, false;
    *method = (HostMethod){vm, m->function, m->context};
    uint32_t number = host_add(vm->core, invoke, method, mem_free);
    if (number == UINT32_MAX) return mem_free(method), t->failed = true, false;
    text_appendf(t, " => HostFunction call: %u with: #(", number);
    for (unsigned i = 1; i <= argc; i++) text_appendf(t, i == 1 ? "a%u" : ", a%u", i);
    text_append_cstring(t, ")\n");
    return true;
}

static bt_status load(bt_vm *vm, const Text *source) {
    static const bt_eval_options LOAD = {.size = sizeof LOAD, .name = "host", .load_only = 1};
    bt_session *session = bt_session_new(vm);
    bt_result *result = NULL;
    if (!session) return BT_NO_MEMORY;
    bt_status status = bt_vm_eval(session, source->bytes, source->length, &LOAD, &result);
    bt_result_free(result);
    bt_session_free(session);
    return status;
}

bt_status bt_vm_define_class(bt_vm *vm, const char *name, const bt_method *methods, size_t count) {
    if (!vm || !name || !is_word(name, strlen(name), true) || (count && !methods)) return BT_MISUSE;
    Value symbol = symbol_lookup(vm->core, name, strlen(name));
    if (symbol != V_HOLE && class_by_name(vm->core, symbol)) return BT_COMPILE_ERROR;
    Text source = TEXT_INIT;
    text_appendf(&source, "sealed Object subclass: %s\n", name);
    bool whole = true;
    for (size_t i = 0; whole && i < count; i++) whole = append_method(&source, vm, &methods[i]);
    bt_status status = source.failed ? BT_NO_MEMORY : whole ? load(vm, &source) : BT_MISUSE;
    text_free(&source);
    return status;
}
