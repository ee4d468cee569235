/* The scheduler without the interpreter: processes run small C scripts in place of bytecode, on real threads.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include "tests/unit/test_suite.h"
#include "vm/dict.h"
#include "vm/error.h"
#include "vm/list.h"
#include "vm/sched_internal.h"

/* Check's own assertions are for the test's thread, and write to a pipe each time. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* ---- scripts ---- */

typedef struct Script Script;
struct Script {
    RunOutcome (*run)(Process *p, Script *s);
    int step;
    Value peer, answer, pid;
    uint64_t count, sum, tag;
    uint64_t last[8]; /* newest number by sender */
    void *context;
    _Atomic int done;
};

enum { SLOTS = 1 << 17 };
static Script *_Atomic scripts[SLOTS];
static BtVm *vm;

static RunOutcome run_script(Process *p) {
    Script *s = atomic_load(&scripts[p->link.slot]);
    return s->run(p, s);
}

static void vm_start(unsigned threads, bool seeded, uint64_t seed) {
    VmConfig config = {.schedulers = threads, .seeded = seeded, .seed = seed};
    vm = vm_new(&config);
    ck_assert_ptr_nonnull(vm);
    vm->schedulers->run = run_script;
}
static void setup(void) { vm_start(4, false, 0); }
static void teardown(void) { vm_free(vm); }

static Process *make(Script *s, ProcessRole role, Process *parent, bool ignore) {
    SpawnOptions options = {
        .role = role, .self_ref = V_NIL, .class_id = 77, .parent = parent, .ignore_link_exits = ignore};
    Process *p = process_new(vm, &options);
    CHECK(p != NULL);
    s->pid = p->pid;
    atomic_store(&scripts[p->link.slot], s);
    return p;
}
static Value start(Script *s, bool ignore) {
    Process *p = make(s, PROC_PLAIN, NULL, ignore);
    Value pid = p->pid;
    sched_make_runnable(vm, p);
    return pid;
}
static bool ends(Value pid) { return sched_wait_for(vm, NULL, pid, vm_now_us(vm) + 20000000); }

static RunOutcome finish(Process *p) { return p->link.exit_reason = SYMBOL(normal), RUN_DONE; }
/* What the interpreter does after a wait: the reply of a call, or resume_value. */
static ReplyKind answer_of_call(Process *p, Value *answer) {
    CHECK(p->link.wait == WAIT_CALL);
    p->link.wait = WAIT_NONE;
    ReplyKind kind = call_take_reply(p, answer);
    p->exception = V_HOLE;
    return kind;
}
static Value answer_of_wait(Process *p) {
    p->link.wait = WAIT_NONE;
    return p->resume_value;
}

/* ---- control blocks ---- */

START_TEST(test_generations) {
    Script s = {0};
    Process *p = make(&s, PROC_ACTOR, NULL, false);
    Value pid = p->pid;
    ck_assert(process_is_alive(vm, pid));
    ck_assert_ptr_eq(process_by_pid(vm, pid), p);
    ck_assert(!process_claim(p, pid_generation(pid) + 1, RUN_IDLE));
    ck_assert(process_claim(p, pid_generation(pid), RUN_IDLE));
    ck_assert(!process_claim(p, pid_generation(pid), RUN_IDLE));
    process_end(NULL, p);
    ck_assert(!process_is_alive(vm, pid));
    Message *m = message_make(vm, NULL, MSG_CAST, V_NIL, V_HOLE, V_NIL, NULL, 0);
    ck_assert_int_eq(mailbox_push(vm, NULL, pid, m), PUSH_DEAD);
    message_release(vm, NULL, m);
    Process *q = make(&s, PROC_ACTOR, NULL, false);
    ck_assert_ptr_eq(p, q); /* the block is used again, under another pid */
    ck_assert(q->pid != pid && pid_slot(q->pid) == pid_slot(pid));
    ck_assert(!process_is_alive(vm, pid));
}
END_TEST

START_TEST(test_block_size) {
    ck_assert_uint_le(sizeof(Process), 960); /* an idle process is to cost less than 1 KiB */
    ck_assert_uint_eq(sizeof(Process) % 64, 0);
}
END_TEST

/* ---- mailboxes ---- */

enum { PER_SENDER = 20000, SENDERS = 6 };

static RunOutcome consume(Process *p, Script *s) {
    while (p->reductions > 0) {
        Message *m = mailbox_take(p);
        if (!m) break;
        p->reductions--;
        uint64_t sender = (uint64_t)value_to_int(m->values[0]), number = (uint64_t)value_to_int(m->values[1]);
        CHECK(number == s->last[sender] + 1); /* order of each sender */
        s->last[sender] = number;
        message_release(vm, p->scheduler, m);
        if (++s->count == s->sum) return finish(p);
    }
    return p->reductions > 0 ? RUN_SERVED : RUN_YIELDED;
}

static RunOutcome produce(Process *p, Script *s) {
    while (s->count < PER_SENDER) {
        Value args[2] = {value_from_int((int64_t)s->tag), value_from_int((int64_t)++s->count)};
        CHECK(cast_send(p, s->peer, V_HOLE, V_NIL, args, 2));
        if (--p->reductions <= 0) return RUN_YIELDED;
    }
    return finish(p);
}

static void *produce_outside(void *context) {
    Script *s = context;
    for (uint64_t i = 1; i <= PER_SENDER; i++) {
        Value args[2] = {value_from_int((int64_t)s->tag), value_from_int((int64_t)i)};
        Message *m = message_make(vm, NULL, MSG_CAST, V_NIL, V_HOLE, V_NIL, args, 2);
        CHECK(mailbox_push(vm, NULL, s->peer, m) == PUSH_DONE);
    }
    return NULL;
}

START_TEST(test_mailbox_stress) {
    Script consumer = {.run = consume, .sum = PER_SENDER * SENDERS}, producers[SENDERS];
    Value pid = make(&consumer, PROC_ACTOR, NULL, false)->pid;
    pthread_t threads[2];
    for (unsigned i = 0; i < SENDERS; i++) {
        producers[i] = (Script){.run = produce, .peer = pid, .tag = i};
        if (i < 2)
            pthread_create(&threads[i], NULL, produce_outside, &producers[i]);
        else
            (void)start(&producers[i], false);
    }
    ck_assert(ends(pid));
    for (unsigned i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    ck_assert_uint_eq(consumer.count, PER_SENDER * SENDERS);
}
END_TEST

/* A flood's blocks are kept while there is work, and most are given back when there is none. */
START_TEST(test_message_pools) {
    enum { MANY = 60 * MESSAGE_BATCH };
    Scheduler *s = &vm->schedulers->list[0]; /* its thread has not been started */
    MessagePool *pool = &vm->schedulers->message_pools[0];
    Message **made = malloc(MANY * sizeof *made);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) made[i] = message_make(vm, s, MSG_CAST, V_NIL, V_HOLE, V_NIL, NULL, 0);
        ck_assert_uint_eq(atomic_load(&pool->count), 0);
        for (int i = 0; i < MANY; i++) message_release(vm, s, made[i]);
        ck_assert_uint_ge(atomic_load(&pool->count), 58);
    }
    message_pools_trim(vm->schedulers);
    ck_assert_uint_eq(atomic_load(&pool->count), MESSAGE_POOL_IDLE);
    free(made);
}
END_TEST

/* ---- calls ---- */

static RunOutcome serve_plus_one(Process *p, Script *s) {
    for (Message *m; (m = mailbox_take(p)) != NULL;) {
        p->serving = m;
        s->count++;
        s->context = p->scheduler;
        Value answer = m->argc ? value_from_int(value_to_int(m->values[0]) + 1) : V_NIL;
        call_reply(p, REPLY_VALUE, answer);
        if (--p->reductions <= 0) return RUN_YIELDED;
    }
    return RUN_SERVED;
}

static RunOutcome call_often(Process *p, Script *s) {
    if (s->step) {
        Value answer = V_NIL;
        CHECK(answer_of_call(p, &answer) == REPLY_VALUE);
        CHECK(value_to_int(answer) == (int64_t)s->count + 1);
        s->count++;
        s->step = 0;
    }
    if (s->count == s->sum) return finish(p);
    if (--p->reductions <= 0) return RUN_YIELDED;
    Value argument = value_from_int((int64_t)s->count);
    CHECK(call_start(p, s->peer, value_from_class(77), V_NIL, &argument, 1, 5000000) == CALL_WAITING);
    s->step = 1;
    return RUN_BLOCKED;
}

START_TEST(test_call_handoff) {
    Script server = {.run = serve_plus_one}, client = {.run = call_often, .sum = 100000};
    client.peer = make(&server, PROC_ACTOR, NULL, false)->pid;
    int64_t before = vm_now_us(vm);
    ck_assert(ends(start(&client, false)));
    ck_assert_uint_eq(server.count, 100000);
    printf("  call and answer: %.0f ns\n", (double)(vm_now_us(vm) - before) / 100.0);
}
END_TEST

START_TEST(test_call_contended) {
    Script server = {.run = serve_plus_one}, clients[8];
    Value pid = make(&server, PROC_ACTOR, NULL, false)->pid, pids[8];
    for (int i = 0; i < 8; i++) {
        clients[i] = (Script){.run = call_often, .sum = 5000, .peer = pid};
        pids[i] = start(&clients[i], false);
    }
    for (int i = 0; i < 8; i++) ck_assert(ends(pids[i]));
    ck_assert_uint_eq(server.count, 40000);
}
END_TEST

/* A term goes there and back by copy. */
static RunOutcome serve_echo(Process *p, Script *s) {
    (void)s;
    for (Message *m; (m = mailbox_take(p)) != NULL;) {
        p->serving = m;
        call_reply(p, REPLY_VALUE, m->values[0]);
    }
    return RUN_SERVED;
}

static RunOutcome call_with_term(Process *p, Script *s) {
    if (s->step) {
        CHECK(answer_of_call(p, &s->answer) == REPLY_VALUE);
        CHECK(value_is_kind(s->answer, KIND_CONS) &&
              CONS_HEAD(s->answer) == value_from_int((int64_t)s->count));
        CHECK(CONS_TAIL(s->answer) == V_EMPTY_LIST);
        if (++s->count == 1000) return finish(p);
    }
    CHECK(heap_reserve(p, 3));
    Value cell = heap_new(p, KIND_CONS, CLASS_ID_List, 3);
    object_words(cell)[1] = value_from_int((int64_t)s->count);
    object_words(cell)[2] = V_EMPTY_LIST;
    s->step = 1;
    CHECK(call_start(p, s->peer, value_from_class(77), V_NIL, &cell, 1, -1) == CALL_WAITING);
    return RUN_BLOCKED;
}

START_TEST(test_call_copies) {
    Script server = {.run = serve_echo}, client = {.run = call_with_term};
    client.peer = make(&server, PROC_ACTOR, NULL, false)->pid;
    ck_assert(ends(start(&client, false)));
}
END_TEST

static RunOutcome never_answer(Process *p, Script *s) {
    Message *m = mailbox_take(p);
    if (m) p->serving = m, s->count++;
    atomic_store(&s->done, 1);
    if (p->link.wait == WAIT_NONE && m)
        return process_sleep(p, 60000000, V_NIL) == PRIM_BLOCK ? RUN_BLOCKED : RUN_DONE;
    return RUN_SERVED;
}

static RunOutcome call_once(Process *p, Script *s) {
    if (s->step++) {
        s->answer = V_NIL;
        s->tag = answer_of_call(p, &s->answer);
        return finish(p);
    }
    if (call_start(p, s->peer, value_from_class(77), V_NIL, NULL, 0, (int64_t)s->sum) == CALL_RAISED) {
        s->tag = 99;
        return finish(p);
    }
    return RUN_BLOCKED;
}

START_TEST(test_call_timeout) {
    Script server = {.run = never_answer}, client = {.run = call_once, .sum = 20000};
    client.peer = make(&server, PROC_ACTOR, NULL, false)->pid;
    int64_t before = vm_now_us(vm);
    ck_assert(ends(start(&client, false)));
    ck_assert_uint_eq(client.tag, REPLY_TIMEOUT);
    ck_assert_int_ge(vm_now_us(vm) - before, 20000);
}
END_TEST

START_TEST(test_death_answers_callers) {
    Script server = {.run = never_answer}, clients[3];
    Value pid = make(&server, PROC_ACTOR, NULL, false)->pid, pids[3];
    for (int i = 0; i < 3; i++) {
        clients[i] = (Script){.run = call_once, .sum = 60000000, .peer = pid};
        pids[i] = start(&clients[i], false);
    }
    while (!atomic_load(&server.done)) sched_yield();
    process_exit_signal(vm, pid, SYMBOL(killed), true);
    ck_assert(!process_is_alive(vm, pid)); /* dead for everyone from here on */
    for (int i = 0; i < 3; i++) {
        ck_assert(ends(pids[i]));
        ck_assert(clients[i].tag == REPLY_DEAD || clients[i].tag == 99);
    }
}
END_TEST

/* ---- deadlock ---- */

/* An actor that on a request calls its peer, and answers what became of that. */
static RunOutcome serve_by_calling(Process *p, Script *s) {
    if (s->step) {
        Value answer = V_NIL;
        ReplyKind kind = answer_of_call(p, &answer);
        s->step = 0;
        call_reply(p, REPLY_VALUE, kind == REPLY_VALUE ? answer : value_from_int(kind));
    }
    Message *m = mailbox_take(p);
    if (!m) return RUN_SERVED;
    p->serving = m;
    if (call_start(p, s->peer, value_from_class(77), V_NIL, NULL, 0, 10000000) == CALL_WAITING) {
        s->step = 1;
        return RUN_BLOCKED;
    }
    CHECK(p->exception != V_HOLE);
    Value details = object_at(p->exception, EXC_DETAILS);
    Value stack = dict_get(vm, details, symbol_intern(vm, "call_stack", 10));
    CHECK(CONS_HEAD(stack) == p->pid &&
          dict_get(vm, details, symbol_intern(vm, "target_pid", 10)) == s->peer);
    s->sum = list_length(stack);
    s->count++;
    p->exception = V_HOLE;
    call_reply(p, REPLY_VALUE, SYMBOL(error));
    return RUN_SERVED;
}

START_TEST(test_cycle_is_found) {
    Script actors[5];
    for (int i = 0; i < 5; i++) {
        actors[i] = (Script){.run = serve_by_calling};
        (void)make(&actors[i], PROC_ACTOR, NULL, false);
    }
    for (int i = 0; i < 5; i++) actors[i].peer = actors[(i + 1) % 5].pid;
    Script client = {.run = call_once, .sum = 15000000, .peer = actors[0].pid};
    ck_assert(ends(start(&client, false)));
    ck_assert_uint_eq(client.tag, REPLY_VALUE);
    ck_assert(client.answer == SYMBOL(error)); /* through all five, at once */
    ck_assert_uint_eq(actors[4].count, 1);
    ck_assert_uint_eq(actors[4].sum, 5); /* the whole chain is in the details */
}
END_TEST

START_TEST(test_cycle_closed_from_both_ends) {
    for (int round = 0; round < 300; round++) {
        Script a = {.run = serve_by_calling}, b = {.run = serve_by_calling};
        (void)make(&a, PROC_ACTOR, NULL, false);
        (void)make(&b, PROC_ACTOR, NULL, false);
        a.peer = b.pid;
        b.peer = a.pid;
        Script x = {.run = call_once, .sum = 15000000, .peer = a.pid}, y = x;
        y.peer = b.pid;
        int64_t before = vm_now_us(vm);
        Value px = start(&x, false), py = start(&y, false);
        ck_assert(ends(px) && ends(py));
        ck_assert_int_lt(vm_now_us(vm) - before, 5000000);
        ck_assert_uint_ge(a.count + b.count, 1);
        process_exit_signal(vm, a.pid, SYMBOL(killed), true);
        process_exit_signal(vm, b.pid, SYMBOL(killed), true);
        ck_assert(ends(a.pid) && ends(b.pid));
    }
}
END_TEST

/* ---- timers ---- */

static RunOutcome sleep_once(Process *p, Script *s) {
    if (s->step++) {
        CHECK(answer_of_wait(p) == V_TRUE);
        s->count = (uint64_t)vm_now_us(vm);
        return finish(p);
    }
    (void)process_sleep(p, (int64_t)s->sum, V_TRUE);
    return RUN_BLOCKED;
}

START_TEST(test_sleep) {
    enum { N = 200 };
    static Script sleepers[N];
    int64_t before = vm_now_us(vm);
    for (uint64_t i = 0; i < N; i++) {
        sleepers[i] = (Script){.run = sleep_once, .sum = 1000 + (i * 7919) % 50000};
        (void)start(&sleepers[i], false);
    }
    for (int i = 0; i < N; i++) {
        ck_assert(ends(sleepers[i].pid));
        ck_assert_int_ge((int64_t)sleepers[i].count - before, (int64_t)sleepers[i].sum); /* never early */
    }
}
END_TEST

enum { TIMERS = 100000 };
static uint64_t timer_ids[TIMERS];

/* Starts many timers, cancels a third, receives the rest in the order of their deadlines. */
static RunOutcome many_timers(Process *p, Script *s) {
    if (s->step == 0) {
        for (uint64_t i = 0; i < TIMERS; i++)
            timer_ids[i] = timer_start(p, p->pid, (int64_t)(1000 + (i * 7919) % 30000));
        for (uint64_t i = 0; i < TIMERS; i += 3) s->sum += timer_cancel(vm, timer_ids[i]);
        CHECK(!timer_cancel(vm, timer_ids[0]));
    } else {
        Value got = answer_of_wait(p);
        if (got == V_NIL) return finish(p); /* time over: nothing came any more */
        s->count++;
    }
    s->step = 1;
    (void)process_receive(p, 0, 300000);
    return RUN_BLOCKED;
}

START_TEST(test_many_timers) {
    Script s = {.run = many_timers};
    ck_assert(ends(start(&s, false)));
    ck_assert_uint_eq(s.count + s.sum, TIMERS);
    ck_assert_uint_gt(s.sum, TIMERS / 4);
}
END_TEST

START_TEST(test_idle_uses_no_processor) {
    Script s = {.run = sleep_once, .sum = 300000};
    Value pid = start(&s, false);
    struct timespec before, after, nap = {0, 20000000};
    nanosleep(&nap, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    ck_assert(ends(pid));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t used = (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000;
    ck_assert_int_lt(used, 20000);
}
END_TEST

/* ---- links, monitors, names ---- */

static RunOutcome stay(Process *p, Script *s) {
    (void)s;
    for (Message *m; (m = mailbox_take(p)) != NULL;) message_release(vm, p->scheduler, m);
    return RUN_SERVED;
}

START_TEST(test_exit_over_links) {
    Script scripts_[4];
    for (int i = 0; i < 4; i++) scripts_[i] = (Script){.run = stay};
    Process *parent = make(&scripts_[0], PROC_ACTOR, NULL, false);
    Value root = parent->pid;
    Value child = make(&scripts_[1], PROC_ACTOR, parent, false)->pid;
    Process *trapper = make(&scripts_[2], PROC_ACTOR, parent, true);
    Value trapping = trapper->pid;
    Value grandchild = make(&scripts_[3], PROC_ACTOR, process_by_pid(vm, child), false)->pid;
    process_exit_signal(vm, grandchild, SYMBOL(normal), false); /* changes nothing */
    process_exit_signal(vm, trapping, SYMBOL(shutdown), false);
    process_exit_signal(vm, grandchild, SYMBOL(shutdown), false);
    ck_assert(ends(grandchild) && ends(child) && ends(root));
    ck_assert(process_is_alive(vm, trapping));
    process_exit_signal(vm, trapping, SYMBOL(killed), true);
    ck_assert(ends(trapping));
}
END_TEST

static RunOutcome watch_it(Process *p, Script *s) {
    switch (s->step++) {
    case 0: {
        Value given_up = reference_new(p), kept = reference_new(p);
        process_monitor(p, s->peer, given_up);
        process_demonitor(p, given_up);
        process_monitor(p, s->peer, kept);
        s->tag = reference_serial(kept);
        atomic_store(&s->done, 1);
        (void)process_receive(p, 0, 5000000);
        return RUN_BLOCKED;
    }
    case 1:
        s->answer = answer_of_wait(p);
        process_monitor(p, s->peer, reference_new(p)); /* dead by now */
        (void)process_receive(p, 0, 5000000);
        return RUN_BLOCKED;
    case 2:
        CHECK(answer_of_wait(p) == SYMBOL(noproc));
        (void)process_await_end(p, s->peer, -1);
        return RUN_BLOCKED;
    default: CHECK(answer_of_wait(p) == V_TRUE); return finish(p);
    }
}

START_TEST(test_monitors) {
    Script target = {.run = stay}, watcher = {.run = watch_it};
    watcher.peer = make(&target, PROC_ACTOR, NULL, false)->pid;
    Value pid = start(&watcher, false);
    while (!atomic_load(&watcher.done)) sched_yield();
    process_exit_signal(vm, watcher.peer, SYMBOL(shutdown), false);
    ck_assert(ends(pid));
    ck_assert(watcher.answer == SYMBOL(shutdown));
}
END_TEST

static RunOutcome await(Process *p, Script *s) {
    if (s->step++) {
        s->answer = answer_of_wait(p);
        return finish(p);
    }
    (void)process_await_end(p, s->peer, 10000);
    return RUN_BLOCKED;
}

START_TEST(test_await_gives_up) {
    Script target = {.run = stay}, waiter = {.run = await};
    waiter.peer = make(&target, PROC_ACTOR, NULL, false)->pid;
    ck_assert(ends(start(&waiter, false)));
    ck_assert(waiter.answer == V_FALSE);
}
END_TEST

static void count_names(void *context, Value name, Value pid) {
    (void)name, (void)pid;
    ++*(int *)context;
}

START_TEST(test_names) {
    Script a = {.run = stay}, b = {.run = stay};
    Value pa = make(&a, PROC_ACTOR, NULL, false)->pid, pb = make(&b, PROC_ACTOR, NULL, false)->pid;
    ck_assert(registry_register(vm, SYMBOL(ok), pa));
    ck_assert(!registry_register(vm, SYMBOL(ok), pb));
    ck_assert(!registry_register(vm, SYMBOL(error), pa)); /* has a name */
    ck_assert(registry_lookup(vm, SYMBOL(ok)) == pa && registry_name_of(vm, pa) == SYMBOL(ok));
    ck_assert(!registry_unregister(vm, SYMBOL(ok), pb));
    process_exit_signal(vm, pa, SYMBOL(killed), true);
    ck_assert(registry_lookup(vm, SYMBOL(ok)) == V_NIL); /* at once */
    ck_assert(registry_register(vm, SYMBOL(ok), pb));
    ck_assert(ends(pa));
    ck_assert(registry_lookup(vm, SYMBOL(ok)) == pb);
    ck_assert(!registry_register(vm, SYMBOL(error), pa));
    int count = 0;
    registry_each(vm, count_names, &count);
    ck_assert_int_eq(count, 1);
    ck_assert(registry_unregister(vm, SYMBOL(ok), pb));
    ck_assert(registry_name_of(vm, pb) == V_NIL);
}
END_TEST

START_TEST(test_relation_table) {
    Relations t = {.table = NULL};
    for (uint32_t i = 0; i < 3000; i++) {
        ck_assert(relation_add(NULL, &t, RELATION_LINK, value_from_pid(i, 1), 0));
        ck_assert(relation_add(NULL, &t, RELATION_WATCHES, value_from_pid(i % 7, 1), i + 1));
    }
    for (uint32_t i = 0; i < 3000; i += 2)
        ck_assert(relation_remove(&t, RELATION_LINK, value_from_pid(i, 1), 0));
    for (uint32_t i = 0; i < 3000; i++) {
        ck_assert(relation_watched(&t, i + 1) == value_from_pid(i % 7, 1));
        ck_assert_int_eq(relation_remove(&t, RELATION_LINK, value_from_pid(i, 1), 0), i % 2);
    }
    ck_assert(relation_add(NULL, &t, RELATION_WATCHED_BY, value_from_pid(1, 1), 5));
    relations_free(NULL, &t);
    /* the first one has no table; the second moves both into one */
    uint64_t links, monitors;
    ck_assert(relation_add(NULL, &t, RELATION_LINK, value_from_pid(3, 1), 0));
    ck_assert(relation_add(NULL, &t, RELATION_LINK, value_from_pid(3, 1), 0));
    ck_assert_ptr_null(t.table);
    ck_assert(!relation_remove(&t, RELATION_LINK, value_from_pid(3, 2), 0));
    ck_assert(relation_add(NULL, &t, RELATION_WATCHES, value_from_pid(3, 1), 9));
    relation_counts(&t, &links, &monitors);
    ck_assert_uint_eq(links, 1);
    ck_assert_uint_eq(monitors, 1);
    ck_assert(relation_watched(&t, 9) == value_from_pid(3, 1));
    ck_assert(relation_remove(&t, RELATION_LINK, value_from_pid(3, 1), 0));
    ck_assert(relation_remove(&t, RELATION_WATCHES, V_NIL, 9));
    relations_free(NULL, &t);
    ck_assert(relation_add(NULL, &t, RELATION_LINK, value_from_pid(3, 1), 0));
    ck_assert(relation_remove(&t, RELATION_LINK, value_from_pid(3, 1), 0));
    ck_assert(!relation_remove(&t, RELATION_LINK, value_from_pid(3, 1), 0));
    relations_free(NULL, &t);
}
END_TEST

/* ---- system requests ---- */

static void read_state(Process *target, void *context) {
    (void)context;
    system_answer(target, value_from_int((int64_t)target->reductions_total * 0 + 41));
}

static RunOutcome ask(Process *p, Script *s) {
    if (s->step) {
        CHECK(answer_of_wait(p) == value_from_int(41));
        if (++s->count == 2000) return finish(p);
    }
    s->step = 1;
    return system_signal(p, s->peer, read_state, NULL) == PRIM_BLOCK ? RUN_BLOCKED : finish(p);
}

static RunOutcome spin(Process *p, Script *s) {
    s->count += (uint64_t)p->reductions;
    p->reductions = 0;
    return RUN_YIELDED;
}

START_TEST(test_system_requests) {
    Script idle = {.run = stay}, busy = {.run = spin}, asleep = {.run = sleep_once, .sum = 60000000},
           askers[6];
    Value targets[3] = {make(&idle, PROC_ACTOR, NULL, false)->pid, start(&busy, false),
                        start(&asleep, false)},
          pids[6];
    for (int i = 0; i < 6; i++) {
        askers[i] = (Script){.run = ask, .peer = targets[i % 3]};
        pids[i] = start(&askers[i], false);
    }
    for (int i = 0; i < 6; i++) ck_assert(ends(pids[i]) && askers[i].count == 2000);
    process_exit_signal(vm, targets[1], SYMBOL(killed), true);
    ck_assert(ends(targets[1]));
}
END_TEST

/* ---- many processes ---- */

static RunOutcome spawn_tree(Process *p, Script *s) {
    uint64_t depth = s->sum;
    _Atomic uint64_t *left = s->context;
    for (unsigned i = 0; depth > 0 && i < 4; i++) {
        Script *child = calloc(1, sizeof *child);
        *child = (Script){.run = spawn_tree, .sum = depth - 1, .context = left};
        Process *q = make(child, PROC_PLAIN, p, false);
        CHECK(process_start(q, p, V_NIL, V_NIL, NULL, 0));
    }
    atomic_fetch_sub(left, 1);
    free(s);
    return finish(p);
}

START_TEST(test_spawn_tree) {
    enum { DEPTH = 7, NODES = 21845 }; /* (4^8 - 1) / 3 */
    _Atomic uint64_t left = NODES;
    Script *root = calloc(1, sizeof *root);
    *root = (Script){.run = spawn_tree, .sum = DEPTH, .context = (void *)&left};
    (void)start(root, false);
    for (int i = 0; i < 20000 && atomic_load(&left); i++) {
        struct timespec nap = {0, 1000000};
        nanosleep(&nap, NULL);
    }
    ck_assert_uint_eq(atomic_load(&left), 0);
    while (process_count(vm)) sched_yield();
}
END_TEST

START_TEST(test_waiting_goes_ahead_of_busy) {
    Script busy[8], sleeper = {.run = sleep_once, .sum = 5000};
    for (int i = 0; i < 8; i++) {
        busy[i] = (Script){.run = spin};
        (void)start(&busy[i], false);
    }
    int64_t before = vm_now_us(vm);
    ck_assert(ends(start(&sleeper, false)));
    ck_assert_int_lt((int64_t)sleeper.count - before, 1000000);
    for (int i = 0; i < 8; i++) process_exit_signal(vm, busy[i].pid, SYMBOL(killed), true);
    for (int i = 0; i < 8; i++) ck_assert(ends(busy[i].pid));
}
END_TEST

/* ---- deterministic mode ---- */

static char trace[4096];
static size_t trace_length;

static RunOutcome note_turns(Process *p, Script *s) {
    while (s->count < 40) {
        if (trace_length < sizeof trace - 1) trace[trace_length++] = (char)('a' + s->tag);
        s->count++;
        p->reductions -= 100;
        if (p->reductions <= 0) return RUN_YIELDED;
    }
    return finish(p);
}

static void run_seeded(uint64_t seed, char *out) {
    vm_start(0, true, seed);
    Script s[4];
    trace_length = 0;
    for (uint64_t i = 0; i < 4; i++) {
        s[i] = (Script){.run = note_turns, .tag = i};
        (void)start(&s[i], false);
    }
    for (int i = 0; i < 4; i++) ck_assert(sched_wait_for(vm, NULL, s[i].pid, -1));
    trace[trace_length] = 0;
    strcpy(out, trace);
    vm_free(vm);
}

START_TEST(test_seeded_replays) {
    static char first[4096], second[4096], other[4096];
    run_seeded(42, first);
    run_seeded(42, second);
    run_seeded(43, other);
    ck_assert_str_eq(first, second);
    ck_assert_str_ne(first, other);
    ck_assert_uint_eq(strlen(first), 160);
}
END_TEST

START_TEST(test_seeded_time) {
    vm_start(0, true, 7);
    Script s = {.run = sleep_once, .sum = 3600u * 1000000u}, server = {.run = serve_plus_one};
    Script client = {.run = call_often, .sum = 2000};
    int64_t before = vm_now_us(vm), real = clock_now_us();
    ck_assert(sched_wait_for(vm, NULL, start(&s, false), -1));
    ck_assert_int_ge(vm_now_us(vm) - before, 3600ll * 1000000);
    ck_assert_int_lt(clock_now_us() - real, 2000000);
    client.peer = make(&server, PROC_ACTOR, NULL, false)->pid;
    ck_assert(sched_wait_for(vm, NULL, start(&client, false), -1));
    ck_assert(!sched_wait_for(vm, NULL, client.peer, -1)); /* nothing will ever happen */
    vm_free(vm);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("sched");
    TTest const *const threads[] = {test_generations,
                                    test_block_size,
                                    test_mailbox_stress,
                                    test_message_pools,
                                    test_call_handoff,
                                    test_call_contended,
                                    test_call_copies,
                                    test_call_timeout,
                                    test_death_answers_callers,
                                    test_cycle_is_found,
                                    test_cycle_closed_from_both_ends,
                                    test_sleep,
                                    test_many_timers,
                                    test_idle_uses_no_processor,
                                    test_exit_over_links,
                                    test_monitors,
                                    test_await_gives_up,
                                    test_names,
                                    test_relation_table,
                                    test_system_requests,
                                    test_spawn_tree,
                                    test_waiting_goes_ahead_of_busy};
    TTest const *const seeded[] = {test_seeded_replays, test_seeded_time};
    suite_case(suite, "threads", setup, teardown, 120, threads, COUNT_OF(threads));
    suite_case(suite, "seeded", NULL, NULL, 4, seeded, COUNT_OF(seeded));
    return suite_run(suite);
}
