/* `beamtalk run` in a package: an entry by name, and the service that the manifest declares. See run.h. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "vm/cli/file_set.h"
#include "vm/cli/manifest.h"
#include "vm/cli/run.h"

static bool is_word(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_') return false;
    return length > 0;
}

static bool is_class_name(const char *text) {
    return isupper((unsigned char)*text) && is_word(text, strlen(text));
}

/* Unary, or one keyword. */
static bool is_entry_selector(const char *text) {
    size_t length = strlen(text);
    if (length && text[length - 1] == ':') length--;
    return islower((unsigned char)*text) && is_word(text, length);
}

static Manifest *read_manifest(void) {
    if (manifest_exists(".")) return manifest_read(".");
    fail("No beamtalk.toml found in the current directory.");
    fprintf(stderr, "Script mode runs a class of a package: go to the package's directory, or make one with "
                    "`beamtalk new NAME`.\nTo run a file, name it: beamtalk run FILE.bt\n");
    return NULL;
}

/* The package's classes are loaded; its warnings are shown. */
static bool load_package(Run *r) {
    fprintf(stderr, "Building...\n");
    return load_package_sources(r->vm, ".", false, true, NULL) == 0;
}

int run_package_entry(Run *r, const char *class_name, char **arguments, int count) {
    if (count == 0)
        return fail("Missing selector for script mode. Write: beamtalk run %s SELECTOR [arguments]",
                    class_name);
    const char *selector = *arguments++;
    count--;
    if (!is_class_name(class_name))
        return fail("'%s' is no class name (and no file: those end in .bt)", class_name);
    if (!is_entry_selector(selector))
        return fail("'%s' is no entry: a unary selector or one keyword is wanted", selector);
    if (count && !strcmp(*arguments, "--")) arguments++, count--;
    if (count && !strchr(selector, ':'))
        return fail("The unary entry '%s' takes no arguments, but %d were given. An entry with arguments is "
                    "a keyword, "
                    "e.g. 'main:'",
                    selector, count);
    Manifest *manifest = read_manifest();
    if (!manifest) return 1;
    manifest_free(manifest);
    if (!load_package(r)) return 1;
    if (!bt_vm_class_responds(r->vm, class_name, selector))
        return fail("%s has no class method '%s'", class_name, selector);
    fprintf(stderr, "\nRunning %s>>%s...\n", class_name, selector);
    return run_entry(r, class_name, selector, arguments, count);
}

/* Evaluates; the exit status. *answer, if wanted: the printed value, the caller's. */
static int evaluate(Run *r, const char *source, char **answer) {
    bt_eval_options options = {.size = sizeof options, .ignore_link_exits = 1, .want_shown = answer != NULL};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(r->session, source, strlen(source), &options, &result);
    if (status == BT_COMPILE_ERROR) fputs(bt_result_diagnostics(result), stderr);
    int code = status == BT_OK ? 0 : report_failure(result, r->verbose);
    const char *text = bt_result_print_string(result);
    if (answer) *answer = code == 0 && text ? strdup(text) : NULL;
    bt_result_free(result);
    return code;
}

static int serve(Run *r, const Manifest *manifest) {
    static const char WAIT[] = "VmProcess monitor: service\n"
                               "reason := VmProcess receive\n"
                               "reason =:= #normal or: [reason =:= #shutdown]\n";
    char *start, *ended_well = NULL;
    if (asprintf(&start, "service := %s supervise unwrap\n", manifest->supervisor) < 0)
        return fail("out of memory");
    int code = evaluate(r, start, NULL);
    free(start);
    if (code) return code;
    fprintf(stderr, "Started %s v%s\nSupervisor : %s\n", manifest->name, manifest->version,
            manifest->supervisor);
    code = evaluate(r, WAIT, &ended_well);
    if (code == 0 && (!ended_well || strcmp(ended_well, "true")))
        code = fail("the supervisor %s has failed", manifest->supervisor);
    free(ended_well);
    return code;
}

int run_package_service(Run *r) {
    Manifest *manifest = read_manifest();
    if (!manifest) return 1;
    int code = 1;
    if (!manifest->supervisor)
        fail("No entry point defined for %s: beamtalk.toml has no [application] with `supervisor = "
             "\"Class\"`. "
             "To run a class: beamtalk run Class selector",
             manifest->name);
    else if (!is_class_name(manifest->supervisor))
        fail("supervisor = \"%s\": that is no class name", manifest->supervisor);
    else if (load_package(r))
        code = serve(r, manifest);
    manifest_free(manifest);
    return code;
}
