/* Programs that print, fail, crash and log, in a VM that was asked for nothing. The test looks whether
 * anything came out; this program whether signals are as they were, no thread starts before it is needed, and
 * a closed standard output kills nobody when output was asked for. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "beamtalk.h"

static const char *const INPUTS[] = {
    "Transcript show: \"out\". Transcript cr",
    "Console print: \"out\". Console errorLine: \"err\"",
    "1 / 0",
    "Actor subclass: Faulty\n  fail => 1 / 0\n\nf := Faulty spawn. f fail! Timer sleep: 20",
    "VmProcess start: [1 / 0]. Timer sleep: 20",
    "Logger error: \"bad\"",
    "Console readLine",
    "(1 +",
    "Program exit: 3"};

static int same_handlers(const struct sigaction *before) {
    int same = 1;
    for (int s = 1; s < 32; s++) {
        struct sigaction now;
        if (sigaction(s, NULL, &now) == 0) same = same && now.sa_handler == before[s].sa_handler;
    }
    return same;
}

static int threads(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks));) count += e->d_name[0] != '.';
    if (tasks) closedir(tasks);
    return count;
}

/* The reader of standard output has gone: programs print on. */
static int survives_a_closed_pipe(void) {
    const bt_config config = {.size = sizeof config, .use_stdout = 1, .use_stderr = 1};
    int ends[2], out = dup(1), error = dup(2);
    if (pipe(ends) != 0) return 0;
    close(ends[0]);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    bt_vm *vm = bt_vm_new(&config);
    bt_session *session = bt_session_new(vm);
    bt_result *r = NULL;
    static const char LOUD[] =
        "(1 to: 5000) do: [:i | Transcript show: \"loud\". Console error: \"loud\"]. 1";
    bt_status status = bt_vm_eval(session, LOUD, sizeof LOUD - 1, NULL, &r);
    bt_result_free(r);
    bt_session_free(session);
    bt_vm_free(vm);
    dup2(out, 1);
    dup2(error, 2);
    close(ends[1]);
    return status == BT_OK;
}

int main(void) {
    struct sigaction before[32];
    memset(before, 0, sizeof before);
    for (int s = 1; s < 32; s++) (void)sigaction(s, NULL, &before[s]);
    bt_vm *vm = bt_vm_new(NULL);
    bt_session *session = bt_session_new(vm);
    if (threads() != 1) return fprintf(stderr, "a thread before the first evaluation\n"), 1;
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        bt_result *r = NULL;
        (void)bt_vm_eval(session, INPUTS[i], strlen(INPUTS[i]), NULL, &r);
        bt_result_free(r);
    }
    int same = same_handlers(before);
    bt_session_free(session);
    bt_vm_free(vm);
    if (!same) fprintf(stderr, "a signal is handled otherwise\n");
    if (!survives_a_closed_pipe()) return fprintf(stderr, "a closed pipe\n"), 1;
    return same ? 0 : 1;
}
