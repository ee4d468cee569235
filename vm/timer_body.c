/* Processes that run the blocks of timers whose time has come.
 *
 * Each block runs in a process of its own, as far as anybody can see: one process is given all that are due
 * at once and runs them one after the other, as long as each ends without waiting, before its slice does, and
 * leaves nothing behind (a link, a message, a name, a limit). The first that does not keeps the process, and
 * what is left goes to a new one. So a timer costs no birth and no death.
 *
 * A block ends with the process that made its timer. While it shares its process that is not told of it (it
 * is tethered, vm/relation.c); it is linked when it gets the process for itself.
 *
 * The messages are MSG_START with `waiter` set, the maker of the timer as sender. They lie in the private
 * queue from the beginning: nobody sends them to a process that runs. */
#include "vm/sched_internal.h"

void timer_bodies_start(BtVm *vm, Scheduler *s, Message *first) {
    if (!first) return;
    SpawnOptions options = {.role = PROC_PLAIN, .self_ref = V_NIL, .scheduler = s};
    Process *p = sched_is_stopping(vm) ? NULL : process_new(vm, &options);
    if (p) {
        (void)process_claim(p, pid_generation(p->pid), RUN_IDLE);
        p->scheduler = s;
        p->link.timer = true;
    }
    for (Message *m = first, *next; m; m = next) {
        next = m->next;
        if (p)
            mailbox_append(p, m);
        else
            message_release(vm, s, m);
    }
    if (!p) return;
    process_set_state(p, RUN_RUNNABLE);
    sched_enqueue(vm, s, p, QUEUE_WOKEN);
}

bool timer_body_begin(Process *p, const Message *m) {
    if (!process_is_alive(p->vm, m->sender)) return false;
    process_tether(p, m->sender);
    return true;
}

static bool left_nothing(Process *p) {
    ProcessLink *l = &p->link;
    uint64_t links, monitors;
    relation_counts(&l->relations, &links, &monitors);
    /* relaxed: its own; who else sets it does so by a signal */
    uint32_t mailbox_limit = atomic_load_explicit(&l->mailbox_limit, memory_order_relaxed);
    return p->pending == PENDING_NONE && !links && !monitors && !l->ending && !l->trap_exit &&
           !(word128_peek(l->word).low & LINK_NAMED) && p->dictionary == V_NIL &&
           p->heap.limit_words == p->vm->default_heap_limit_words && mailbox_limit == p->vm->mailbox_limit;
}

bool timer_body_may_follow(Process *p) {
    if (!mailbox_drain(p) || !left_nothing(p)) return false;
    const Message *last = p->link.queue_tail;
    if (!last || last->kind != MSG_START) return false;
    process_untether(p);
    return true;
}

void timer_bodies_hand_over(Scheduler *s, Process *p) {
    Message *bodies = NULL, **end = &bodies, *others = NULL;
    for (Message *m; (m = mailbox_remove_first(p)) != NULL;) {
        if (m->kind == MSG_START && m->waiter) {
            m->next = NULL;
            *end = m;
            end = &m->next;
        } else {
            m->next = others;
            others = m;
        }
    }
    for (Message *m = messages_reverse(others), *next; m; m = next) {
        next = m->next;
        mailbox_append(p, m);
    }
    timer_bodies_start(p->vm, s, bodies);
}

void timer_body_outlives(Scheduler *s, Process *p) {
    process_tie(p);
    timer_bodies_hand_over(s, p);
    p->link.timer = false;
}
