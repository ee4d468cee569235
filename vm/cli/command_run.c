/* `beamtalk run`: loads one file and runs it (spec tooling 1.3). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "vm/cli/cli.h"
#include "vm/cli/listen.h"

typedef struct {
    bt_vm *vm;
    bt_session *session;
    bt_eval_options options;
    bool verbose;
} Run;

/* The source without a leading #! line; lines keep their numbers. */
static const char *skip_shebang(const char *text, size_t *length) {
    if (*length < 2 || text[0] != '#' || text[1] != '!') return text;
    const char *end = memchr(text, '\n', *length);
    if (!end) return *length = 0, text;
    *length -= (size_t)(end - text);
    return end;
}

/* my_tool.bt -> MyTool */
static char *class_name_of_file(const char *path) {
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    char *name = strdup(base), *at = name;
    bool upper = true;
    for (const char *c = base; name && *c && *c != '.'; c++) {
        if (*c == '_' || *c == '-')
            upper = true;
        else
            *at++ = upper ? (char)toupper((unsigned char)*c) : *c, upper = false;
    }
    if (name) *at = 0;
    return name;
}

static int finish(bt_result *result, bt_status status, bool verbose) {
    int code = status == BT_OK ? 0 : report_failure(result, verbose);
    bt_result_free(result);
    return code;
}

static int run_entry(Run *r, const char *class_name, const char *selector, char **arguments, int count) {
    bt_result *result = NULL;
    bt_status status = bt_vm_send_class(r->session, class_name, selector, (const char *const *)arguments,
                                        (size_t)count, &r->options, &result);
    if (!result) return fail("no class %s", class_name);
    return finish(result, status, r->verbose);
}

static int run_class(Run *r, const char *class_name, char **arguments, int count) {
    if (bt_vm_class_responds(r->vm, class_name, "main:"))
        return run_entry(r, class_name, "main:", arguments, count);
    if (bt_vm_class_responds(r->vm, class_name, "run")) return run_entry(r, class_name, "run", arguments, 0);
    return -1;
}

/* Step 6 of the specification: Main, the class named like the file, the only class. */
static int run_found_entry(Run *r, const char *path, const char *definitions, char **arguments, int count) {
    int code = run_class(r, "Main", arguments, count);
    char *named = class_name_of_file(path);
    if (code < 0 && named) code = run_class(r, named, arguments, count);
    free(named);
    if (code < 0 && *definitions && !strchr(definitions, ' '))
        code = run_class(r, definitions, arguments, count);
    if (code >= 0) return code;
    if (!*definitions) return 0;
    return fail(
        "nothing to run: %s defines %s but has no top-level expressions and no class-side run or main:", path,
        definitions);
}

static int run_explicit_entry(Run *r, const char *entry, char **arguments, int count) {
    char *class_name = strdup(entry), *selector = class_name ? strchr(class_name, ' ') : NULL;
    int code;
    if (!selector)
        code = usage_error("--entry needs \"Class selector\"");
    else {
        *selector++ = 0;
        bool takes_list = strchr(selector, ':') != NULL;
        if (!bt_vm_class_responds(r->vm, class_name, selector))
            code = fail("%s has no class method '%s'", class_name, selector);
        else if (!takes_list && count > 0)
            code = fail("'%s' takes no arguments", selector);
        else
            code = run_entry(r, class_name, selector, arguments, count);
    }
    free(class_name);
    return code;
}

int run_entry_in(bt_vm *vm, bt_session *session, const char *entry, char **arguments, int count) {
    Run r = {.vm = vm, .session = session};
    r.options = (bt_eval_options){.size = sizeof r.options, .main_process = 1};
    return run_explicit_entry(&r, entry, arguments, count);
}

static int run_source(Run *r, const char *path, const char *text, size_t length, const char *entry,
                      char **arguments, int count) {
    bt_result *result = NULL;
    r->options.name = path;
    bt_status status = bt_vm_eval(r->session, text, length, &r->options, &result);
    if (!result) return fail("out of memory");
    fputs(bt_result_diagnostics(result), stderr);
    if (status != BT_OK) return finish(result, status, r->verbose);
    int code = 0;
    if (entry)
        code = run_explicit_entry(r, entry, arguments, count);
    else if (!bt_result_ran_expressions(result))
        code = run_found_entry(r, path, bt_result_definitions(result), arguments, count);
    else if (count > 0)
        fprintf(stderr, "warning: %s has top-level expressions; the arguments are ignored\n", path);
    bt_result_free(result);
    return code;
}

int command_run(Invocation *in) {
    const char *entry = NULL, *socket = NULL;
    int first = 1;
    while (first < in->argc && in->argv[first][0] == '-' && in->argv[first][1]) {
        bool listens = !strcmp(in->argv[first], "--listen");
        if ((!listens && strcmp(in->argv[first], "--entry") != 0) || first + 1 >= in->argc)
            return usage_error("unknown option '%s'", in->argv[first]);
        *(listens ? &socket : &entry) = in->argv[first + 1];
        first += 2;
    }
    if (first >= in->argc) return usage_error("run needs a file");
    const char *path = in->argv[first++];
    if (!entry && first + 1 < in->argc && !strcmp(in->argv[first], "--entry"))
        entry = in->argv[first + 1], first += 2;
    size_t length;
    char *text = read_source(path, &length);
    if (!text) return 1;
    Run r = {.vm = start_vm(&in->common), .verbose = in->common.verbose};
    r.options = (bt_eval_options){.size = sizeof r.options, .main_process = 1};
    r.session = bt_session_new(r.vm);
    int code = 1;
    Listener *listener = r.session && socket ? listen_start(r.vm, socket) : NULL;
    if (r.session && (listener || !socket)) {
        size_t shown_length = length;
        const char *source = skip_shebang(text, &shown_length);
        code = run_source(&r, path, source, shown_length, entry, in->argv + first, in->argc - first);
    }
    listen_stop(listener);
    bt_session_free(r.session);
    stop_vm(&in->common, r.vm);
    free(text);
    return code;
}
