/* `beamtalk eval`: one input of a session, by the same door as bt_vm_eval. */
#include <stdlib.h>
#include <string.h>
#include "vm/cli/cli.h"
#include "vm/cli/meta.h"
#include "vm/cli/screen.h"

typedef struct {
    bt_vm *vm;
    bt_session *session;
    Screen screen;
    bool verbose;
} Eval;

static void program_output(void *context, const char *bytes, size_t length) {
    screen_program_output(&((Eval *)context)->screen, bytes, length);
}

/* A file or directory, as :load would. */
static int load(Eval *e, const char *path) {
    Meta meta = {.vm = e->vm, .session = e->session};
    MetaReply reply = meta_load_path(&meta, path);
    int code = !reply.failed  ? 0
               : reply.result ? report_failure(reply.result, e->verbose)
                              : fail("%s", reply.text);
    meta_reply_free(&reply);
    meta_free(&meta);
    return code;
}

static int evaluate(Eval *e, const char *source, size_t length) {
    bt_eval_options options = {.size = sizeof options, .want_shown = 1, .ignore_link_exits = 1};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(e->session, source, length, &options, &result);
    int code = 0;
    if (status == BT_OK) {
        screen_value(&e->screen, result);
    } else {
        fputs(bt_result_diagnostics(result), stderr);
        code = report_failure(result, e->verbose);
    }
    bt_result_free(result);
    return code;
}

static int evaluate_standard_input(Eval *e) {
    size_t length;
    char *text = read_source("-", &length);
    int code = text ? evaluate(e, text, length) : 1;
    free(text);
    return code;
}

static int load_and_evaluate(Eval *e, Invocation *in, const char *source) {
    int code = 0;
    for (int i = 1; i < in->argc && code == 0; i++)
        if (!strcmp(in->argv[i], "--load")) code = load(e, in->argv[++i]);
    if (code) return code;
    return strcmp(source, "-") ? evaluate(e, source, strlen(source)) : evaluate_standard_input(e);
}

/* The source text; NULL after a usage error. */
static const char *take_source(Invocation *in) {
    const char *source = NULL;
    for (int i = 1; i < in->argc; i++) {
        const char *a = in->argv[i];
        if (!strcmp(a, "-p") || !strcmp(a, "--print")) continue; /* it always prints */
        if (!strcmp(a, "--load")) {
            if (++i >= in->argc) return usage_error("--load needs a path"), NULL;
        } else if (source) {
            return usage_error("eval takes one source text"), NULL;
        } else {
            source = a;
        }
    }
    if (!source) usage_error("eval needs a source text, or - for standard input");
    return source;
}

int command_eval(Invocation *in) {
    const char *source = take_source(in);
    if (!source) return EXIT_USAGE;
    Eval e = {.verbose = in->common.verbose};
    screen_open(&e.screen, false);
    e.vm = start_vm_writing(&in->common, program_output, &e);
    e.session = start_session(e.vm);
    int code = e.session ? load_and_evaluate(&e, in, source) : 1;
    bt_session_free(e.session);
    stop_vm(&in->common, e.vm);
    return code;
}
