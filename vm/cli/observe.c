/* See observe.h. */
#include "vm/cli/observe.h"
#include <stdio.h>
#include <string.h>

enum { DUMP_LIMIT_MS = 5000, STOP_LIMIT_MS = 10000 };

/* Prints the value of the expression as it is shown, if `to` is not NULL. */
static void evaluate(bt_vm *vm, const char *source, int64_t limit_ms, FILE *to) {
    if (bt_vm_is_seeded(vm)) return;
    bt_session *session = bt_session_new(vm);
    bt_eval_options options = {
        .size = sizeof options, .deadline_ms = limit_ms, .want_shown = 1, .ignore_link_exits = 1};
    bt_result *result = NULL;
    if (!session) return;
    if (bt_vm_eval(session, source, strlen(source), &options, &result) == BT_OK && to &&
        bt_result_shown(result))
        fprintf(to, "%s\n", bt_result_shown(result)), fflush(to);
    bt_result_free(result);
    bt_session_free(session);
}

void observe_dump(bt_vm *vm) { evaluate(vm, "SystemReport dump", DUMP_LIMIT_MS, stderr); }

void observe_stop_supervisors(bt_vm *vm) { evaluate(vm, "SupervisorEngine __stopAll", STOP_LIMIT_MS, NULL); }
