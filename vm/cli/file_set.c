/* See file_set.h. */
#define _GNU_SOURCE
#include "vm/cli/file_set.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "vm/cli/cli.h"

bool file_set_read(FileSet *set, const PathList *paths) {
    *set = (FileSet){.sources = calloc(paths->count + 1, sizeof *set->sources),
                     .results = calloc(paths->count + 1, sizeof *set->results)};
    if (!set->sources || !set->results) return fail("out of memory"), false;
    for (size_t i = 0; i < paths->count; i++) {
        size_t length;
        char *name = strdup(paths->items[i]), *text = name ? read_source(name, &length) : NULL;
        if (!text) return free(name), false;
        set->sources[set->count++] = (bt_source){.name = name, .text = text, .length = length};
    }
    return true;
}

/* What the diagnostics do not say: the installation was refused. */
static void print_refusal(const bt_source *source, const bt_result *result) {
    const char *message = bt_result_error_message(result);
    if (!strstr(bt_result_diagnostics(result), "error: "))
        fprintf(stderr, "error: %s\n  --> %s\n", message ? message : "it cannot be loaded", source->name);
}

bt_status file_set_load(FileSet *set, bt_vm *vm, bool spoil, bool warnings) {
    bt_eval_options options = {.size = sizeof options, .spoil_methods = spoil};
    for (size_t i = 0; i < set->count; i++) bt_result_free(set->results[i]); /* of an earlier load */
    bt_status status = bt_vm_load(vm, set->sources, set->count, &options, set->results);
    fflush(stdout);
    for (size_t i = 0; i < set->count; i++) {
        bool good = bt_result_status(set->results[i]) == BT_OK;
        if (!good || warnings) fputs(bt_result_diagnostics(set->results[i]), stderr);
        if (!good) print_refusal(&set->sources[i], set->results[i]);
    }
    return status;
}

size_t file_set_failed(const FileSet *set) {
    size_t failed = 0;
    for (size_t i = 0; i < set->count; i++) failed += bt_result_status(set->results[i]) != BT_OK;
    return failed;
}

size_t file_set_warnings(const FileSet *set) {
    size_t warnings = 0;
    bt_diagnostic d;
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; bt_result_diagnostic(set->results[i], k, &d); k++)
            warnings += d.severity == BT_DIAG_WARNING;
    return warnings;
}

void file_set_free(FileSet *set) {
    for (size_t i = 0; i < set->count; i++) {
        free((char *)(uintptr_t)set->sources[i].name);
        free((char *)(uintptr_t)set->sources[i].text);
        bt_result_free(set->results[i]);
    }
    free(set->sources);
    free(set->results);
    *set = (FileSet){0};
}

int load_package_sources(bt_vm *vm, const char *directory, bool spoil, bool warnings, size_t *warning_count) {
    char *folder;
    struct stat status;
    PathList paths = {0};
    FileSet set = {0};
    if (asprintf(&folder, "%s%ssrc", strcmp(directory, ".") ? directory : "",
                 strcmp(directory, ".") ? "/" : "") < 0)
        return fail("out of memory");
    bool exists = stat(folder, &status) == 0 && S_ISDIR(status.st_mode);
    int code = exists && !(paths_collect(&paths, folder, false) && file_set_read(&set, &paths));
    if (code == 0 && set.count) {
        (void)file_set_load(&set, vm, spoil, warnings);
        code = file_set_failed(&set) > 0;
        if (warning_count) *warning_count += file_set_warnings(&set);
    }
    file_set_free(&set);
    paths_free(&paths);
    free(folder);
    return code;
}
