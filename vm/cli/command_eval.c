/* `beamtalk eval`: one input of a session, by the same door as bt_vm_eval. */
#include <stdlib.h>
#include <string.h>
#include "vm/cli/cli.h"

static int load_file(bt_session *session, const char *path) {
    size_t length;
    char *text = read_source(path, &length);
    if (!text) return 1;
    bt_eval_options options = {.size = sizeof options, .name = path};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(session, text, length, &options, &result);
    free(text);
    fputs(bt_result_diagnostics(result), stderr);
    int code = status == BT_OK ? 0 : report_failure(result, false);
    bt_result_free(result);
    return code;
}

static int evaluate(bt_session *session, const char *source, size_t length, bool verbose) {
    bt_eval_options options = {.size = sizeof options, .want_shown = 1};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(session, source, length, &options, &result);
    fputs(bt_result_diagnostics(result), stderr);
    int code = status == BT_OK ? 0 : report_failure(result, verbose);
    if (status == BT_OK && bt_result_repl_text(result)) printf("%s\n", bt_result_repl_text(result));
    bt_result_free(result);
    return code;
}

int command_eval(Invocation *in) {
    const char *source = NULL;
    bt_vm *vm = start_vm(&in->common);
    bt_session *session = vm ? bt_session_new(vm) : NULL;
    int code = session ? 0 : 1;
    for (int i = 1; i < in->argc && code == 0; i++) {
        const char *a = in->argv[i];
        if (!strcmp(a, "-p") || !strcmp(a, "--print"))
            continue; /* it always prints */
        else if (!strcmp(a, "--load") && i + 1 < in->argc)
            code = load_file(session, in->argv[++i]);
        else if (source)
            code = usage_error("eval takes one source text");
        else
            source = a;
    }
    if (code == 0 && !source) code = usage_error("eval needs a source text, or - for standard input");
    if (code == 0 && !strcmp(source, "-")) {
        size_t length;
        char *text = read_source("-", &length);
        code = text ? evaluate(session, text, length, in->common.verbose) : 1;
        free(text);
    } else if (code == 0) {
        code = evaluate(session, source, strlen(source), in->common.verbose);
    }
    bt_session_free(session);
    stop_vm(&in->common, vm);
    return code;
}
