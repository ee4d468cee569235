/* What can be seen of a process. See process_info.h. */
#include "vm/process_info.h"
#include "vm/gc.h"
#include "vm/sched_internal.h"
#include "vm/stack.h"

static Value status_of(Process *p) {
    if (!p->frame && !p->serving) return symbol_intern(p->vm, "idle", 4);
    return p->link.wait == WAIT_NONE ? symbol_intern(p->vm, "running", 7)
                                     : symbol_intern(p->vm, "waiting", 7);
}

static Value role_of(const Process *p) {
    switch (p->role) {
    case PROC_ACTOR: return symbol_intern(p->vm, "actor", 5);
    case PROC_CLASS: return symbol_intern(p->vm, "class", 5);
    case PROC_PLAIN: break;
    }
    return symbol_intern(p->vm, "plain", 5);
}

static Value class_of(Process *p) {
    uint32_t id = atomic_load_explicit(&p->link.class_id, memory_order_relaxed); /* relaxed: owned */
    return p->role == PROC_PLAIN || !id ? V_NIL : value_from_class(id);
}

/* Owner: whoever pushes meanwhile only adds in front. */
static size_t queue_length(Process *p) {
    uint64_t low = word128_peek(p->link.word).low;
    return link_count(low) + atomic_load_explicit(&p->link.queued, memory_order_relaxed);
}

static void describe_memory(const Process *p, uint64_t *words) {
    const Heap *h = &p->heap;
    size_t offheap = h->offheap_words + h->old_offheap_words;
    size_t taken = (size_t)(h->young_end - h->young) + (size_t)(h->old_limit - h->old) + h->fragment_words;
    words[INFO_HEAP] = value_from_int((int64_t)((gc_used_words(h) + offheap) * sizeof(Value)));
    words[INFO_MEMORY] =
        value_from_int((int64_t)((taken + offheap + p->stack_words) * sizeof(Value) + sizeof(Process)));
}

void process_describe_into(Process *p, uint64_t *words) {
    words[0] = header_make(CLASS_ID_Tuple, KIND_TUPLE, 0, INFO_WORDS);
    words[INFO_STATUS] = status_of(p);
    words[INFO_ROLE] = role_of(p);
    words[INFO_CLASS] = class_of(p);
    words[INFO_NAME] = registry_name_of(p->vm, p->pid);
    words[INFO_QUEUE] = value_from_int((int64_t)queue_length(p));
    words[INFO_REDUCTIONS] = value_from_int((int64_t)p->reductions_total);
    describe_memory(p, words);
    words[INFO_AT_CLASS] = p->frame ? p->frame->fn->class_name : V_NIL;
    words[INFO_AT_SELECTOR] = p->frame ? p->frame->fn->name : V_NIL;
    relation_counts(&p->link.relations, &words[INFO_LINKS], &words[INFO_MONITORS]);
    words[INFO_LINKS] = value_from_int((int64_t)words[INFO_LINKS]);
    words[INFO_MONITORS] = value_from_int((int64_t)words[INFO_MONITORS]);
}

void process_describe(Process *target, void *context) {
    (void)context;
    uint64_t words[INFO_WORDS];
    process_describe_into(target, words);
    system_answer(target, value_from_object(words));
}

static void count_name(void *context, Value name, Value pid) {
    (void)name, (void)pid;
    ++*(int64_t *)context;
}

SystemNumbers system_numbers(BtVm *vm) {
    Schedulers *all = vm->schedulers;
    SystemNumbers n = {
        .schedulers = all->count, .processes = process_count(vm), .process_limit = PROCESSES_MAX};
    /* relaxed: all of this is out of date when it is read */
    n.runnable = atomic_load_explicit(&all->injector.count, memory_order_relaxed);
    for (unsigned i = 0; i < all->count; i++)
        n.runnable += ring_length(&all->list[i].woken) + ring_length(&all->list[i].expired);
    for (unsigned i = 0; i < all->count; i++) {
        const TimerQueue *t = &all->list[i].timers;
        n.timers += (int64_t)atomic_load_explicit(&t->records, memory_order_relaxed) -
                    (int64_t)atomic_load_explicit(&t->cancelled, memory_order_relaxed);
    }
    registry_each(vm, count_name, &n.names);
    return n;
}

size_t scheduler_loads(BtVm *vm, Value *loads, size_t max) {
    Schedulers *all = vm->schedulers;
    for (unsigned i = 0; i < all->count && i < max; i++) {
        /* relaxed: a number for reports */
        uint64_t done = atomic_load_explicit(&all->list[i].shown_reductions, memory_order_relaxed);
        loads[i] = value_from_int((int64_t)done);
    }
    return all->count;
}

size_t process_list(BtVm *vm, Value *pids, size_t max) {
    ProcessTable *t = &vm->schedulers->processes;
    /* acquire: pairs with slab_add */
    uint32_t slabs = atomic_load_explicit(&t->slab_count, memory_order_acquire);
    size_t count = 0;
    for (uint32_t slot = 0; slot < slabs * SLAB_PROCESSES; slot++) {
        uint64_t low = word128_peek(process_by_slot(vm, slot)->link.word).low;
        if (!link_is_alive(low, link_generation(low)) || link_generation(low) == 0) continue;
        if (count < max) pids[count] = value_from_pid(slot, link_generation(low));
        count++;
    }
    return count;
}
