/* Sessions: one input at a time is compiled, its definitions installed, its expressions run in a process of
 * their own; the variables that it assigned stay bound unless it failed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "vm/api/async.h"
#include "vm/api/evaluation.h"
#include "vm/api/gate.h"
#include "vm/api/patches.h"
#include "vm/api/value.h"
#include "vm/io.h"
#include "vm/sched.h"
#include "vm/string.h"

static bt_session *session_make(bt_vm *vm) {
    bt_session *s = memory_zalloc(vm->memory, sizeof *s);
    if (!s) return NULL;
    s->vm = vm;
    s->core = session_open(vm->core);
    if (!s->core) return memory_free(vm->memory, s), NULL;
    atomic_init(&s->running, V_NIL);
    if (pthread_mutex_init(&s->lock, NULL) == 0 && pthread_cond_init(&s->free, NULL) == 0)
        return vm_keep(vm), s;
    session_close(vm->core, s->core);
    memory_free(vm->memory, s);
    return NULL;
}

bt_session *bt_session_new(bt_vm *vm) {
    if (!vm || !gate_enter(vm)) return NULL;
    bt_session *s = session_make(vm);
    gate_leave(vm);
    return s;
}

void bt_session_clear(bt_session *s) {
    if (!s || !gate_enter(s->vm)) return;
    names_clear(s->vm->core, s->core->id);
    gate_leave(s->vm);
}

void session_destroy(bt_session *s) {
    if (gate_enter(s->vm)) { /* else it has gone with the VM */
        session_close(s->vm->core, s->core);
        gate_leave(s->vm);
    }
    pthread_cond_destroy(&s->free);
    pthread_mutex_destroy(&s->lock);
    bt_vm *vm = s->vm;
    memory_free(vm->memory, s);
    vm_let_go(vm);
}

void bt_session_free(bt_session *s) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    bool has_jobs = s->holder == SESSION_HELD_ASYNC;
    s->closing = has_jobs;
    pthread_mutex_unlock(&s->lock);
    if (!has_jobs) session_destroy(s);
}

void bt_session_interrupt(bt_session *s) {
    if (!s || !gate_enter(s->vm)) return;
    /* seq_cst, here and in run_process: of a start and an interrupt at once, one sees the other */
    atomic_store(&s->interrupted, true);
    Value pid = atomic_load(&s->running);
    if (pid != V_NIL) {
        process_interrupt(s->vm->core, pid);
        io_reader_gone(s->vm->core);
    }
    gate_leave(s->vm);
}

static bool binding_set(bt_session *s, const char *name, size_t length, Value value) {
    BtVm *vm = s->vm->core;
    SharedTerm *term = shared_term_new(vm, value);
    return term && name_put(vm, s->core->id, name, length, term);
}

bt_value *bt_session_get(bt_session *s, const char *name) {
    if (!s || !name || !gate_enter(s->vm)) return NULL;
    BtVm *vm = s->vm->core;
    uint64_t version;
    SharedTerm *term = name_get(vm, s->core->id, name, strlen(name), &version);
    bt_value *value = term ? handle_on(s->vm, term, term->value) : NULL;
    shared_term_release(vm, term);
    gate_leave(s->vm);
    return value;
}

static bool is_variable_name(const char *name) {
    if (!((*name >= 'a' && *name <= 'z') || *name == '_')) return false;
    for (; *name; name++) {
        char c = *name;
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!word) return false;
    }
    return true;
}

bt_status bt_session_set(bt_session *s, const char *name, const bt_value *value) {
    if (!s || !name || !handle_is_of(value, s->vm) || !is_variable_name(name)) return BT_MISUSE;
    if (!gate_enter(s->vm)) return BT_EXIT;
    bool bound = binding_set(s, name, strlen(name), value->value);
    gate_leave(s->vm);
    return bound ? BT_OK : BT_NO_MEMORY;
}

/* ---- compiling and installing one input ---- */

BcText *binding_names(const Memory *memory, const char *texts, uint32_t count) {
    BcText *names = memory_alloc(memory, (count + 1) * sizeof *names);
    for (uint32_t i = 0; names && i < count; i++) {
        names[i] = (BcText){texts, (uint32_t)strlen(texts)};
        texts += names[i].length + 1;
    }
    return names;
}

static BcUnit *compile_input(Evaluation *e, const char *source, size_t length) {
    bt_session *s = e->session;
    uint32_t name_count;
    char *texts = names_list(s->vm->core, s->core->id, &name_count);
    BcText *names = binding_names(e->vm->memory, texts, name_count);
    World *world = world_new(s->vm->core);
    BcUnit *bc = NULL;
    DiagList diags;
    diag_list_init(&diags, e->vm->memory);
    if (names && world) {
        CompileOptions options = {.memory = e->vm->memory,
                                  .name = e->options->name ? e->options->name : "eval",
                                  .script = true,
                                  .session = !e->options->main_process,
                                  .spoil_methods = e->options->spoil_methods != 0,
                                  .refuse_empty = !e->options->main_process && !e->options->load_only,
                                  .bindings = names,
                                  .binding_count = name_count,
                                  .world = world_interface(world)};
        bc = compile_source(&options, source, length, &diags);
    }
    SourceFile file;
    bool named = source_file_init(&file, e->options->name ? e->options->name : "eval", source, length);
    file.memory = e->vm->memory;
    result_set_diagnostics(e->result, &diags, named ? &file : NULL);
    if (named) source_file_free(&file);
    diag_list_free(&diags);
    world_free(world);
    memory_free(e->vm->memory, names);
    memory_free(e->vm->memory, texts);
    return bc;
}

static bt_status compile_failure(Evaluation *e, const char *kind, const char *reason) {
    if (!e->result->error_message) e->result->error_message = text_dup(e->vm->memory, reason, strlen(reason));
    if (!e->result->error_kind) e->result->error_kind = text_dup(e->vm->memory, kind, strlen(kind));
    return BT_COMPILE_ERROR;
}

static bt_status install_input(Evaluation *e, BcUnit *bc) {
    BtVm *vm = e->vm->core;
    char reason[512] = "";
    bool defines = bc->class_count > 0 || bc->extension_count > 0;
    e->result->definitions = definition_names(e->vm->memory, bc);
    e->unit = code_link(vm, bc, !defines, reason, sizeof reason);
    if (!e->unit) return bc_unit_free(bc), compile_failure(e, "internal_verifier", reason);
    bool file = e->options->main_process || e->options->load_only;
    Patches *patches = file ? NULL : patches_of(vm, bc);
    if (defines && !classes_install(vm, e->unit, false, reason, sizeof reason)) {
        patches_free(vm, patches);
        bool shadowing = strncmp(reason, "Cannot redefine stdlib", 22) == 0;
        return compile_failure(e, shadowing ? "stdlib_shadowing" : "compile_error", reason);
    }
    RunLimits limits = evaluation_limits(e);
    bool installed = !patches || patches_install(vm, e->unit, &limits, patches);
    patches_free(vm, patches);
    return installed ? BT_OK : BT_NO_MEMORY;
}

/* ---- running ---- */

RunLimits evaluation_limits(const Evaluation *e) {
    const bt_eval_options *o = e->options;
    int64_t deadline_ms = o->deadline_ms ? o->deadline_ms : e->vm->deadline_ms;
    return (RunLimits){.session = e->session,
                       .heap_limit_words = o->heap_limit_bytes / sizeof(Value),
                       .stack_limit_words = o->stack_limit_bytes / sizeof(Value),
                       .reductions_limit = o->reductions_limit,
                       .deadline_ms = deadline_ms > INT64_MAX / 2000 ? INT64_MAX / 2000 : deadline_ms,
                       .main_process = o->main_process || o->ignore_link_exits};
}

/* The error of a process that has ended for a limit. */
static bt_status out_of(Evaluation *e, const char *use, const char *what, uint64_t limit) {
    char hint[160];
    snprintf(hint, sizeof hint, "This evaluation may %s at most %" PRIu64 " %s", use, limit, what);
    const char *const texts[] = {"RuntimeError", "resource_error", "a system limit was reached", hint};
    char **const fields[] = {&e->result->error_class, &e->result->error_kind, &e->result->error_message,
                             &e->result->error_hint};
    for (size_t i = 0; i < 4; i++) *fields[i] = text_dup(e->vm->memory, texts[i], strlen(texts[i]));
    return BT_RUNTIME_ERROR;
}

bt_status evaluation_status(Evaluation *e, RanKind kind, const Kept *answer) {
    BtVm *vm = e->vm->core;
    int exit_status = atomic_load_explicit(&vm->exit_status, memory_order_acquire);
    if (exit_status >= 0) return e->result->exit_status = exit_status, BT_EXIT;
    if (atomic_load_explicit(&vm->failed, memory_order_relaxed)) return BT_VM_FAILED;
    if (kind == RAN_KILLED && e->session && atomic_load(&e->session->interrupted)) return BT_INTERRUPTED;
    switch (kind) {
    case RAN_VALUE: return BT_OK;
    case RAN_ERROR:
    case RAN_NLR: result_set_error(e->result, vm, answer->value); return BT_RUNTIME_ERROR;
    case RAN_KILLED: return BT_KILLED;
    case RAN_OUT_OF_REDUCTIONS:
        return out_of(e, "use", "reductions",
                      e->options->reductions_limit ? e->options->reductions_limit : vm->reductions_limit);
    case RAN_OUT_OF_OUTPUT: return out_of(e, "print", "bytes", vm->output_limit_bytes);
    case RAN_TIMEOUT: return BT_TIMEOUT;
    case RAN_TOO_DEEP:
    case RAN_FORBIDDEN: result_set_refusal(e->result, kind); return BT_RUNTIME_ERROR;
    case RAN_NO_MEMORY: break;
    }
    return BT_NO_MEMORY;
}

static char *sent_text(Evaluation *e, Value receiver, const char *selector) {
    BtVm *vm = e->vm->core;
    RunLimits limits = evaluation_limits(e);
    limits.main_process = true;
    if (!limits.deadline_ms) limits.deadline_ms = 30000;
    Kept answer;
    RanKind kind =
        run_process(vm, &limits, receiver, symbol_intern(vm, selector, strlen(selector)), NULL, 0, &answer);
    char *text = kind == RAN_VALUE ? string_dup(e->vm->memory, answer.value) : NULL;
    kept_free(vm, &answer);
    return text;
}

void evaluation_answer(Evaluation *e, Kept *answer, Value value) {
    e->result->term = shared_term_adopt(e->vm->core, answer->fragment, answer->value);
    if (!e->result->term) return;
    answer->fragment = NULL;
    e->result->value = value;
    if (!e->options->want_shown) return;
    size_t length;
    const char *name = symbol_text(e->vm->core, class_name_of(e->vm->core, value), &length);
    e->result->value_class = text_dup(e->vm->memory, name, length);
    e->result->print_string = sent_text(e, value, "printString");
    e->result->shown = sent_text(e, value, "__shown");
    e->result->repl_text = sent_text(e, value, "__replShown");
}

static bool variables_take(Evaluation *e, Script *v) {
    const BcUnit *bc = e->unit->bc;
    bt_session *s = e->session;
    size_t n = bc->binding_count + 1u;
    v->terms = memory_zalloc(e->vm->memory, n * sizeof *v->terms);
    v->versions = memory_zalloc(e->vm->memory, n * sizeof *v->versions);
    v->args = memory_alloc(e->vm->memory, n * sizeof *v->args);
    if (!v->terms || !v->versions || !v->args) return false;
    for (uint32_t i = 0; i < bc->binding_count; i++) {
        v->terms[i] = name_get(s->vm->core, s->core->id, bc->bindings[i].bytes, bc->bindings[i].length,
                               &v->versions[i]);
        v->args[i] = v->terms[i] ? v->terms[i]->value : V_HOLE;
    }
    return true;
}

void script_close(Evaluation *e, Script *v) {
    for (uint32_t i = 0; v->terms && i < e->unit->bc->binding_count; i++)
        shared_term_release(e->vm->core, v->terms[i]);
    memory_free(e->vm->memory, v->terms);
    memory_free(e->vm->memory, v->versions);
    memory_free(e->vm->memory, v->args);
    *v = (Script){0};
}

/* A script's answer is a Tuple: the value, then the final value of each session variable it names (the hole:
 * never assigned). One that was stored or removed by its name meanwhile (`Session current bindings`) is left
 * alone. */
static bt_status take_answer(Evaluation *e, const Script *v, Kept *answer) {
    Value tuple = answer->value;
    const BcUnit *bc = e->unit->bc;
    bt_session *s = e->session;
    if (!value_is_kind(tuple, KIND_TUPLE) || object_size(tuple) < bc->binding_count + 2)
        return BT_RUNTIME_ERROR;
    for (uint32_t i = 0; i < bc->binding_count; i++) {
        Value value = object_at(tuple, i + 2);
        const BcText *name = &bc->bindings[i];
        uint64_t version;
        if (value == V_HOLE) continue;
        shared_term_release(s->vm->core,
                            name_get(s->vm->core, s->core->id, name->bytes, name->length, &version));
        if (version == v->versions[i] && !binding_set(s, name->bytes, name->length, value))
            return BT_NO_MEMORY;
    }
    evaluation_answer(e, answer, object_at(tuple, 1));
    return atomic_load(&s->interrupted) ? BT_INTERRUPTED : BT_OK;
}

/* An input of definitions alone shows the last of them: `Shelf`, `Protocol P defined`, `Shelf>>size`. */
static void show_definition(Evaluation *e) {
    const BcUnit *bc = e->unit->bc;
    if (!e->options->want_shown || !(bc->class_count || bc->extension_count)) return;
    char text[1200];
    if (bc->extension_count) {
        const BcMethod *m = &bc->extensions[bc->extension_count - 1];
        snprintf(text, sizeof text, "%.*s%s>>%.*s", (int)m->class_name.length, m->class_name.bytes,
                 m->class_side ? " class" : "", (int)m->selector.length, m->selector.bytes);
    } else {
        const BcClass *c = &bc->classes[bc->class_count - 1];
        bool protocol = c->superclass.length == 8 && !memcmp(c->superclass.bytes, "Protocol", 8);
        snprintf(text, sizeof text, protocol ? "Protocol %.*s defined" : "%.*s", (int)c->name.length,
                 c->name.bytes);
    }
    e->result->shown = text_dup(e->vm->memory, text, strlen(text));
    e->result->repl_text = text_dup(e->vm->memory, text, strlen(text));
}

bool evaluation_has_script(const Evaluation *e) { return e->unit->bc->script != BC_NONE; }

bool script_open(Evaluation *e, Script *script, uint64_t words[static SCRIPT_WORDS], unsigned *argc) {
    const BcUnit *bc = e->unit->bc;
    e->result->ran_expressions = 1;
    for (size_t i = 0; i < SCRIPT_WORDS; i++) words[i] = V_NIL;
    words[0] = header_make(CLASS_ID_Block, KIND_CLOSURE, 0, CLOSURE_CAPTURES);
    words[CLOSURE_FN] = (uint64_t)(uintptr_t)&e->unit->functions[bc->script];
    words[CLOSURE_HOME_SERIAL] = value_from_int(0);
    /* Those that have a value are the first, and the compiler refuses more of them than a message holds. */
    *argc = bc->binding_count < BC_MAX_ARGS ? bc->binding_count : BC_MAX_ARGS;
    return variables_take(e, script);
}

bt_status script_answer(Evaluation *e, const Script *script, RanKind kind, Kept *answer) {
    bt_status status = evaluation_status(e, kind, answer);
    if (status == BT_OK) status = take_answer(e, script, answer);
    if (status == BT_RUNTIME_ERROR && answer->value != V_NIL)
        binding_set(e->session, "_error", 6, answer->value);
    return status;
}

static bt_status run_script(Evaluation *e) {
    if (!evaluation_has_script(e)) return show_definition(e), BT_OK;
    uint64_t closure[SCRIPT_WORDS];
    unsigned argc;
    Script script = {0};
    bt_status status = BT_NO_MEMORY;
    if (script_open(e, &script, closure, &argc)) {
        RunLimits limits = evaluation_limits(e);
        Kept answer;
        RanKind kind =
            run_process(e->vm->core, &limits, value_from_object(closure), V_NIL, script.args, argc, &answer);
        status = script_answer(e, &script, kind, &answer);
        kept_free(e->vm->core, &answer);
    }
    script_close(e, &script);
    return status;
}

/* Nobody waits here who would have to run what he waits for. */
static bool session_hold(bt_session *s) {
    bool may_wait = !sched_is_here(s->vm->core);
    pthread_mutex_lock(&s->lock);
    while (s->holder == SESSION_HELD && may_wait) pthread_cond_wait(&s->free, &s->lock);
    bool held = s->holder == SESSION_FREE;
    if (held) s->holder = SESSION_HELD;
    pthread_mutex_unlock(&s->lock);
    return held;
}

static void session_let_go(bt_session *s) {
    pthread_mutex_lock(&s->lock);
    Job *next = session_next_job(s);
    pthread_mutex_unlock(&s->lock);
    if (next) job_take_session(next);
}

bt_status evaluation_begin(Evaluation *e, bt_session *session, const bt_eval_options *options,
                           bt_result **result) {
    /* relaxed: a statistic */
    atomic_fetch_add_explicit(&session->vm->evaluation_count, 1, memory_order_relaxed);
    *e = (Evaluation){.vm = session->vm,
                      .session = session,
                      .result = result_new(session->vm, BT_OK),
                      .own.want_shown = !options};
    if (options) STRUCT_COPY(e->own, options);
    e->options = &e->own;
    if (!e->result) return BT_NO_MEMORY;
    e->result->vm = session->vm;
    bool in_hook = io_in_hook(session->vm->core);
    if (!in_hook && session_hold(session)) return atomic_store(&session->interrupted, false), BT_OK;
    if (in_hook)
        result_set_refusal(e->result, RAN_FORBIDDEN);
    else
        result_set_own_error(e->result, "deadlock_detected",
                             "the session evaluates already, and that would have to end first",
                             "A function of the host needs a session of its own");
    *result = e->result;
    return e->result->status = BT_RUNTIME_ERROR;
}

bt_status evaluation_end(Evaluation *e, bt_status status, bt_result **result) {
    if (e->unit) code_release(e->unit);
    io_console_flush(e->vm->core);
    session_let_go(e->session);
    e->result->status = status;
    *result = e->result;
    return status;
}

bt_status evaluation_prepare(Evaluation *e, const char *source, size_t length) {
    BcUnit *bc = compile_input(e, source, length);
    return bc ? install_input(e, bc) : compile_failure(e, "compile_error", "out of memory");
}

bt_status evaluation_refused(bt_vm *vm, bt_result **result) {
    *result = result_new(vm, BT_EXIT);
    return *result ? BT_EXIT : BT_NO_MEMORY;
}

static bt_status eval_inside(bt_session *session, const char *source, size_t length,
                             const bt_eval_options *options, bt_result **result) {
    Evaluation e;
    bt_status status = evaluation_begin(&e, session, options, result);
    if (status != BT_OK) return status;
    status = evaluation_prepare(&e, source, length);
    if (status == BT_OK && !e.options->load_only) status = run_script(&e);
    return evaluation_end(&e, status, result);
}

bt_status bt_vm_eval(bt_session *session, const char *source, size_t length, const bt_eval_options *options,
                     bt_result **result) {
    if (!result) return BT_MISUSE;
    *result = NULL;
    if (!session || (!source && length)) return BT_MISUSE;
    if (!gate_enter(session->vm)) return evaluation_refused(session->vm, result);
    bt_status status = eval_inside(session, source, length, options, result);
    gate_leave(session->vm);
    return status;
}
