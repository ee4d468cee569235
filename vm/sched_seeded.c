/* Deterministic mode: one scheduler, run by the host thread that waits, virtual time, every choice drawn from
 * the seed.
 *
 * Choices: which runnable process goes on, how long its slice is, whether a call is handed off. Virtual time
 * moves with the reductions used (so a loop that polls the clock ends), and when nobody is runnable it jumps
 * to the next deadline. While I/O is outstanding it stands still: completions come first, in the order of
 * their requests (vm/io.c does the work of one request at a time in this mode, when nobody is runnable). Work
 * from other threads comes through the injector and is not replayable. One host thread drives at a time;
 * others wait for it. */
#include "vm/io.h"
#include "vm/sched_internal.h"

enum { REDUCTIONS_PER_US = 16 };
#define VIRTUAL_EPOCH_US ((int64_t)1000000)

struct Seeded {
    uint64_t choices, values; /* two streams: what programs draw does not shift the interleaving */
    int64_t now_us;
    uint64_t counted; /* reductions that the clock has seen */
    Process **ready;
    size_t count, capacity;
    pthread_mutex_t drive;
};

struct Seeded *seeded_new(const Memory *memory, uint64_t seed) {
    struct Seeded *d = memory_zalloc(memory, sizeof *d);
    if (!d) return NULL;
    if (pthread_mutex_init(&d->drive, NULL) != 0) return memory_free(memory, d), NULL;
    d->choices = seed;
    d->values = ~seed;
    d->now_us = VIRTUAL_EPOCH_US;
    return d;
}

void seeded_free(const Memory *memory, struct Seeded *d) {
    if (!d) return;
    pthread_mutex_destroy(&d->drive);
    memory_free(memory, d->ready);
    memory_free(memory, d);
}

bool seeded_choice(struct Seeded *d, unsigned one_in) { return splitmix64(&d->choices) % one_in == 0; }

/* Short slices as often as long ones: a power of two, then a length below it. */
int32_t seeded_slice(struct Seeded *d) {
    uint64_t draw = splitmix64(&d->choices);
    return (int32_t)(1 + (draw >> 8) % ((uint64_t)1 << (draw % 13)));
}

uint64_t seeded_random(struct Seeded *d) { return splitmix64(&d->values); }
int64_t seeded_now_us(struct Seeded *d) { return d->now_us; }

static void add_ready(BtVm *vm, struct Seeded *d, Process *p) {
    if (d->count == d->capacity) {
        Process **ready = memory_grown(vm->memory, d->ready, &d->capacity, sizeof *ready, 64);
        if (!ready) {
            vm_fail(vm);
            return;
        }
        d->ready = ready;
    }
    d->ready[d->count++] = p;
}

void seeded_enqueue(BtVm *vm, Scheduler *s, Process *p) {
    if (s)
        add_ready(vm, vm->schedulers->seeded, p);
    else
        injector_push(&vm->schedulers->injector, p, p, 1);
}

static void take_injected(BtVm *vm, struct Seeded *d) {
    Process *batch[32];
    unsigned count;
    while ((count = injector_take(&vm->schedulers->injector, batch, 32)) > 0)
        for (unsigned i = 0; i < count; i++) add_ready(vm, d, batch[i]);
}

static Process *draw(struct Seeded *d) {
    size_t i = (size_t)(splitmix64(&d->choices) % d->count);
    Process *p = d->ready[i];
    d->ready[i] = d->ready[--d->count];
    return p;
}

static void tick(Scheduler *s, struct Seeded *d) {
    uint64_t passed = (s->reductions - d->counted) / REDUCTIONS_PER_US;
    d->counted += passed * REDUCTIONS_PER_US;
    d->now_us += (int64_t)passed;
}

/* Nobody is runnable: I/O first, then time. False: nothing will ever happen. */
static bool pass_time(Scheduler *s, struct Seeded *d) {
    sched_cool(s);
    if (io_run_one(s->vm)) return true;
    int64_t next = timers_next(&s->timers);
    if (next == DEADLINE_NONE) return false;
    if (next > d->now_us) d->now_us = next;
    return true;
}

/* One turn. False: nothing will ever happen. */
static bool turn(BtVm *vm, Scheduler *s, struct Seeded *d) {
    tick(s, d);
    take_injected(vm, d);
    timers_run(s, d->now_us);
    if (!d->count) return pass_time(s, d);
    sched_run_slice(s, draw(d));
    return true;
}

bool seeded_drive(BtVm *vm, Value pid, int64_t deadline_us) {
    struct Seeded *d = vm->schedulers->seeded;
    for (;;) {
        if (process_has_ended(vm, pid)) return true;
        if (sched_is_stopping(vm)) return false;
        if (deadline_us >= 0 && d->now_us >= deadline_us) return false;
        if (!turn(vm, &vm->schedulers->list[0], d)) return false;
    }
}

bool seeded_wait_for(BtVm *vm, Value pid, int64_t deadline_us) {
    struct Seeded *d = vm->schedulers->seeded;
    pthread_mutex_lock(&d->drive);
    sched_own(&vm->schedulers->list[0], true);
    bool ended = seeded_drive(vm, pid, deadline_us);
    sched_own(&vm->schedulers->list[0], false);
    pthread_mutex_unlock(&d->drive);
    io_console_flush(vm);
    return ended;
}

bool seeded_run(BtVm *vm, int64_t until_us, bool *ran) {
    struct Seeded *d = vm->schedulers->seeded;
    if (pthread_mutex_trylock(&d->drive) != 0) return false;
    Scheduler *s = &vm->schedulers->list[0];
    sched_own(s, true);
    while (!sched_is_stopping(vm) && clock_now_us() < until_us && turn(vm, s, d)) *ran = true;
    sched_own(s, false);
    pthread_mutex_unlock(&d->drive);
    io_console_flush(vm);
    return true;
}
