/* `beamtalk run`: finds out what is to be run, and runs a file (spec tooling 1.3). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "vm/cli/file_set.h"
#include "vm/cli/listen.h"
#include "vm/cli/manifest.h"
#include "vm/cli/run.h"

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

int run_entry(Run *r, const char *class_name, const char *selector, char **arguments, int count) {
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

/* ---- the command ---- */

typedef struct {
    const char *entry, *socket;
    PathList loads; /* --load */
} RunOptions;

/* Number of the first operand, or a negative exit status. */
static int take_options(const Invocation *in, RunOptions *o) {
    int i = 1;
    for (; i < in->argc && in->argv[i][0] == '-' && in->argv[i][1]; i += 2) {
        const char *a = in->argv[i];
        bool entry = !strcmp(a, "--entry"), listen = !strcmp(a, "--listen"), load = !strcmp(a, "--load");
        if (!entry && !listen && !load) return -usage_error("unknown option '%s'", a);
        if (i + 1 >= in->argc) return -usage_error("%s needs a value", a);
        if (entry) o->entry = in->argv[i + 1];
        if (listen) o->socket = in->argv[i + 1];
        if (load && !paths_collect(&o->loads, in->argv[i + 1], false)) return -1;
    }
    return i;
}

static bool is_file(const char *operand) {
    return !strcmp(operand, "-") || has_suffix(operand, ".bt") || has_suffix(operand, ".btscript") ||
           (strchr(operand, '/') && strcmp(operand, "./"));
}

static int load_files(Run *r, const PathList *paths) {
    FileSet set = {0};
    int code = !file_set_read(&set, paths);
    if (code == 0 && set.count) code = file_set_load(&set, r->vm, false, true) != BT_OK;
    file_set_free(&set);
    return code;
}

static bool is_known_class(bt_vm *vm, const char *text, size_t length) {
    char *name = strndup(text, length);
    bt_value *found = name ? bt_class(vm, name) : NULL;
    free(name);
    bt_value_release(found);
    return found != NULL;
}

/* Is there a capitalised word that the library has no class for? Comments and strings count too: it only
 * costs the loading of the package. */
static bool mentions_others(bt_vm *vm, const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        size_t start = i;
        while (i < length && (isalnum((unsigned char)text[i]) || text[i] == '_')) i++;
        if (i > start && isupper((unsigned char)text[start]) && !is_known_class(vm, text + start, i - start))
            return true;
        i += i == start;
    }
    return false;
}

/* What the file may use besides the library: the classes of its package, and what --load names. */
static int load_surroundings(Run *r, const char *path, const char *text, size_t length, const RunOptions *o) {
    char *package =
        strcmp(path, "-") && mentions_others(r->vm, text, length) ? manifest_directory_above(path) : NULL;
    int code = package ? load_package_sources(r->vm, package, false, false, NULL) : 0;
    free(package);
    return code ? code : load_files(r, &o->loads);
}

static int run_file(Run *r, const char *path, const RunOptions *o, char **arguments, int count) {
    const char *entry = o->entry;
    if (!entry && count > 1 && !strcmp(arguments[0], "--entry"))
        entry = arguments[1], arguments += 2, count -= 2;
    size_t length;
    char *text = read_source(path, &length);
    if (!text) return 1;
    int code = load_surroundings(r, path, text, length, o);
    if (code == 0) {
        const char *source = skip_shebang(text, &length);
        code = run_source(r, path, source, length, entry, arguments, count);
    }
    free(text);
    return code;
}

static int run_operand(Run *r, const RunOptions *o, char **operands, int count) {
    if (!count || !strcmp(operands[0], ".") || !strcmp(operands[0], "./")) return run_package_service(r);
    if (is_file(operands[0])) return run_file(r, operands[0], o, operands + 1, count - 1);
    return run_package_entry(r, operands[0], operands + 1, count - 1);
}

int command_run(Invocation *in) {
    RunOptions options = {0};
    int first = take_options(in, &options), code = 1;
    if (first < 0) return paths_free(&options.loads), -first;
    if (first >= in->argc && !manifest_exists(".")) return usage_error("run needs a file");
    Run r = {.vm = start_vm(&in->common), .verbose = in->common.verbose};
    r.options = (bt_eval_options){.size = sizeof r.options, .main_process = 1};
    r.session = start_session(r.vm);
    Listener *listener = r.session && options.socket ? listen_start(r.vm, options.socket) : NULL;
    if (r.session && (listener || !options.socket))
        code = run_operand(&r, &options, in->argv + first, in->argc - first);
    listen_stop(listener);
    bt_session_free(r.session);
    stop_vm(&in->common, r.vm);
    paths_free(&options.loads);
    return code;
}
