/* See signals.h. */
#include "vm/cli/signals.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "vm/cli/observe.h"

enum { GRACE_SECONDS = 1 };

struct Signals {
    sigset_t set;
    pthread_mutex_t lock; /* guards vm, hook and context; held while the hook runs */
    bt_vm *vm;
    SignalHook hook;
    void *context;
    _Atomic int received;
    bool has_terminal;
    struct termios terminal; /* as we found it */
};

static void restore_terminal(Signals *s) {
    if (s->has_terminal) tcsetattr(STDIN_FILENO, TCSANOW, &s->terminal);
}

/* Ends the process beside a command that may hold any lock, that of stdout too. */
static _Noreturn void leave(Signals *s, int number) {
    restore_terminal(s);
    if (ftrylockfile(stdout) == 0) fflush(stdout);
    _exit(128 + number);
}

static void stop(Signals *s, int number) {
    atomic_store_explicit(&s->received, number, memory_order_release); /* pairs with signals_received */
    bool running = s->vm != NULL;
    if (running && number == SIGTERM) observe_stop_supervisors(s->vm);
    if (running) bt_vm_stop(s->vm, 128 + number);
    pthread_mutex_unlock(&s->lock);
    struct timespec grace = {.tv_sec = GRACE_SECONDS};
    if (running) (void)sigtimedwait(&s->set, NULL, &grace);
    leave(s, number);
}

static void *wait_for_signals(void *argument) {
    Signals *s = argument;
    for (;;) {
        siginfo_t info;
        int number = sigwaitinfo(&s->set, &info);
        if (number < 0) continue; /* EINTR: a debugger, a stopped process that goes on */
        pthread_mutex_lock(&s->lock);
        if (number == SIGUSR1) {
            if (s->vm) observe_dump(s->vm);
            pthread_mutex_unlock(&s->lock);
            continue;
        }
        bool key = info.si_code == SI_KERNEL;
        SignalAction action = s->hook ? s->hook(s->context, number, key) : SIGNAL_STOP;
        if (action == SIGNAL_EXIT_NOW) leave(s, number);
        if (action == SIGNAL_STOP) stop(s, number); /* unlocks, and ends the process in the end */
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

/* SIGINT counts also where a shell has started us in the background with it ignored: who sends it there means
 * us. SIGHUP stays ignored under nohup. */
static void choose_signals(sigset_t *set) {
    struct sigaction hangup;
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGUSR1);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(set, SIGHUP);
}

Signals *signals_start(void) {
    Signals *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    pthread_t thread;
    choose_signals(&s->set);
    s->has_terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &s->terminal) == 0;
    pthread_mutex_init(&s->lock, NULL);
    pthread_sigmask(SIG_BLOCK, &s->set, NULL);
    if (pthread_create(&thread, NULL, wait_for_signals, s) != 0) {
        pthread_sigmask(SIG_UNBLOCK, &s->set, NULL);
        free(s);
        return NULL;
    }
    pthread_detach(thread);
    return s;
}

void signals_watch(Signals *s, bt_vm *vm) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->vm = vm;
    pthread_mutex_unlock(&s->lock);
    int number = signals_received(s);
    if (number && vm) bt_vm_stop(vm, 128 + number);
}

void signals_hook(Signals *s, SignalHook hook, void *context) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->hook = hook;
    s->context = context;
    pthread_mutex_unlock(&s->lock);
}

int signals_received(Signals *s) {
    return s ? atomic_load_explicit(&s->received, memory_order_acquire) : 0; /* pairs with stop */
}

int signals_finish(Signals *s, int status) {
    if (!s) return status;
    restore_terminal(s);
    int number = signals_received(s);
    return number ? 128 + number : status;
}
