/* Programs that print, fail, crash and log, in a VM that was asked for nothing. The test looks whether
 * anything came out; this program whether signals are as they were. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

int main(void) {
    struct sigaction before[32];
    memset(before, 0, sizeof before);
    for (int s = 1; s < 32; s++) (void)sigaction(s, NULL, &before[s]);
    bt_vm *vm = bt_vm_new(NULL);
    bt_session *session = bt_session_new(vm);
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        bt_result *r = NULL;
        (void)bt_vm_eval(session, INPUTS[i], strlen(INPUTS[i]), NULL, &r);
        bt_result_free(r);
    }
    int same = same_handlers(before);
    bt_session_free(session);
    bt_vm_free(vm);
    if (!same) fprintf(stderr, "a signal is handled otherwise\n");
    return same ? 0 : 1;
}
