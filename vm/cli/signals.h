/* SIGINT, SIGTERM and SIGHUP for commands that run programs: the output so far is flushed, the VM stopped,
 * the terminal put back as it was, and the exit status is 128 + the signal's number.
 *
 * SIGTERM first ends the program's supervisors, the last one started first, within some seconds. SIGUSR1 ends
 * nothing: it writes the state of the VM to standard error (observe.h).
 *
 * No signal handler runs. All threads block these signals; one thread of ours waits for them (sigwait) and
 * acts as an ordinary thread. It asks the VM that is watched to stop, so that the command's own thread comes
 * back from its evaluation with BT_EXIT, cleans up and returns; main() then turns the status into 128 + n. A
 * command that does not come back within a second (it is compiling a large file, or reads standard input) is
 * ended from here, and so is one that gets a second signal. */
#ifndef BT_CLI_SIGNALS_H
#define BT_CLI_SIGNALS_H

#include <stdbool.h>
#include "beamtalk.h"

typedef struct Signals Signals;

/* What a hook decides about a signal. */
typedef enum {
    SIGNAL_STOP,     /* as without a hook: stop the VM, the command ends */
    SIGNAL_TAKEN,    /* the hook has dealt with it; the command goes on */
    SIGNAL_EXIT_NOW, /* nothing is running: flush, restore the terminal, exit */
} SignalAction;
/* Runs on the signal thread, like any thread: it may lock, write, and call what the header of the callee
 * allows from any thread. A REPL turns SIGINT into "interrupt this evaluation" here. from_terminal: a key was
 * pressed (Ctrl-C); no process has sent it. */
typedef SignalAction (*SignalHook)(void *context, int number, bool from_terminal);

/* Blocks the signals in the calling thread, the only one so far, and starts waiting for them. NULL: no memory
 * or no thread; signals then have their default effect. */
Signals *signals_start(void);
/* The VM that a signal stops; NULL: none any more, call it before the VM is freed. */
void signals_watch(Signals *signals, bt_vm *vm);
/* NULL: no hook. When it returns the old hook is not running any more; not to be called by a hook. */
void signals_hook(Signals *signals, SignalHook hook, void *context);
/* The signal that ends the command, 0: none. A command that does several things in turn asks between them. */
int signals_received(Signals *signals);
/* The command has come back with `status`: 128 + n if a signal ended it. Restores the terminal. The thread
 * stays until the process exits. */
int signals_finish(Signals *signals, int status);

#endif
