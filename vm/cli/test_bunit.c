/* BUnit under `beamtalk test`: loads the files, finds the test classes in them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "compiler/parser.h"
#include "vm/cli/file_set.h"
#include "vm/cli/manifest.h"
#include "vm/cli/test_class.h"

enum { PLAN_LIMIT_MS = 60000 };

/* ---- files that cannot be loaded ---- */

static void report_spoiled(TestRun *run, const char *name, const char *message) {
    report_test(&run->report, &(TestReport){.name = name, .outcome = TEST_FAILED, .message = message});
}

static size_t report_methods(TestRun *run, const ClassDecl *c, const char *message) {
    size_t reported = 0;
    for (uint32_t i = 0; i < c->methods.count; i++) {
        const MethodDecl *m = c->methods.items[i];
        char *name;
        if (m->selector_kind != SEL_UNARY || strncmp(m->selector, "test", 4) || !m->selector[4]) continue;
        if (asprintf(&name, "%s>>%s", c->name, m->selector) < 0) return reported;
        report_spoiled(run, name, message);
        free(name);
        reported++;
    }
    if (reported) report_group(&run->report, c->name);
    return reported;
}

/* All its tests fail; if none can be made out, the file does. */
static void report_spoiled_file(TestRun *run, const bt_source *source, const bt_result *result) {
    const char *why = bt_result_error_message(result);
    char *message;
    if (asprintf(&message, "%s does not compile: %s", source->name, why ? why : "it cannot be loaded") < 0)
        return;
    Arena arena;
    Intern intern;
    SourceFile file;
    DiagList diags;
    size_t reported = 0;
    arena_init(&arena, NULL);
    diag_list_init(&diags, NULL);
    bool ready = intern_init(&intern, &arena);
    if (ready && source_file_init(&file, source->name, source->text, source->length)) {
        const Module *m = parse_module(&(ParseInput){&file, &arena, &intern, &diags});
        for (uint32_t i = 0; m && i < m->classes.count; i++)
            reported += report_methods(run, m->classes.items[i], message);
        source_file_free(&file);
    }
    if (!reported) {
        report_spoiled(run, source->name, message);
        report_group(&run->report, source->name);
    }
    diag_list_free(&diags);
    intern_free(&intern);
    arena_free(&arena);
    free(message);
}

/* ---- finding the classes ---- */

static char *ask(bt_vm *vm, const char *source) {
    bt_session *session = bt_session_new(vm);
    bt_eval_options options = {.size = sizeof options, .want_shown = 1, .deadline_ms = PLAN_LIMIT_MS};
    bt_result *result = NULL;
    bt_status status =
        session ? bt_vm_eval(session, source, strlen(source), &options, &result) : BT_NO_MEMORY;
    char *text = status == BT_OK && bt_result_shown(result) ? strdup(bt_result_shown(result)) : NULL;
    if (!text && status != BT_EXIT) report_failure(result, false);
    bt_result_free(result);
    bt_session_free(session);
    return text;
}

/* One line of TestRunner __plan: name, `serial` or `-`, selectors. */
static bool add_class(TestClassList *list, const char *line, size_t length) {
    TestClass *grown = realloc(list->items, (list->count + 1) * sizeof *grown);
    if (grown) list->items = grown;
    char *copy = strndup(line, length), *at = copy, *word;
    if (!grown || !copy) return free(copy), false;
    TestClass *c = &list->items[list->count];
    *c = (TestClass){.name = strdup(strsep(&at, " "))};
    c->serial = (word = strsep(&at, " ")) && !strcmp(word, "serial");
    size_t words = 1;
    for (const char *p = at; p && *p; p++) words += *p == ' ';
    c->selectors = calloc(words, sizeof *c->selectors);
    bool good = c->name && c->selectors;
    while (good && at && (word = strsep(&at, " ")))
        if (*word) good = (c->selectors[c->count++] = strdup(word)) != NULL;
    free(copy);
    list->count++;
    return good;
}

/* The class's line in the plan; NULL: it is no class with tests. */
static const char *find_line(const char *plan, const char *name, size_t length) {
    for (const char *at = plan; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (!strncmp(at, name, length) && at[length] == ' ') return at;
    return NULL;
}

static bool classes_of_file(TestClassList *list, const char *plan, const bt_result *result) {
    const char *name = bt_result_definitions(result);
    while (name && *name) {
        size_t length = strcspn(name, " ");
        const char *line = find_line(plan, name, length);
        if (line && !add_class(list, line, strcspn(line, "\n"))) return false;
        name += length;
        name += *name == ' ';
    }
    return true;
}

bool test_classes_find(bt_vm *vm, const FileSet *set, size_t first, TestClassList *list) {
    *list = (TestClassList){NULL, 0};
    char *plan = ask(vm, "TestRunner __plan");
    bool planned = plan != NULL;
    for (size_t i = first; planned && i < set->count; i++)
        if (bt_result_status(set->results[i]) == BT_OK)
            planned = classes_of_file(list, plan, set->results[i]);
    free(plan);
    return planned;
}

void test_classes_free(TestClassList *list) {
    for (size_t i = 0; i < list->count; i++) {
        TestClass *c = &list->items[i];
        for (size_t k = 0; k < c->count; k++) free(c->selectors[k]);
        free(c->selectors);
        free(c->name);
        free(c->records);
        free(c->failure);
    }
    free(list->items);
    *list = (TestClassList){NULL, 0};
}

/* ---- the whole ---- */

bool test_files_read(FileSet *set, const PathList *fixtures, const PathList *files) {
    PathList all = {0};
    bool good = true;
    for (size_t i = 0; good && i < fixtures->count; i++) good = paths_add(&all, fixtures->items[i]);
    for (size_t i = 0; good && i < files->count; i++) good = paths_add(&all, files->items[i]);
    good = file_set_read(set, &all) && good;
    paths_free(&all);
    return good;
}

static int run_loaded(TestRun *run, bt_vm *vm, const FileSet *set, size_t fixtures) {
    TestClassList list;
    bool found = test_classes_find(vm, set, fixtures, &list);
    if (found) test_classes_run(run, vm, list.items, list.count);
    test_classes_free(&list);
    return found ? 0 : 1;
}

static int load_and_run(TestRun *run, bt_vm *vm, const PathList *fixtures, const PathList *files) {
    FileSet set = {0};
    bool warnings = !run->no_warnings && !run->report.tap;
    char *package = manifest_directory_above(files->items[0]);
    int code = package ? load_package_sources(vm, package, true, warnings, &run->warnings) : 0;
    if (code == 0 && test_files_read(&set, fixtures, files)) {
        (void)file_set_load(&set, vm, true, warnings);
        run->warnings += file_set_warnings(&set);
        for (size_t i = 0; i < set.count; i++)
            if (bt_result_status(set.results[i]) != BT_OK)
                report_spoiled_file(run, &set.sources[i], set.results[i]);
        if (!(run->warnings_as_errors && run->warnings)) code = run_loaded(run, vm, &set, fixtures->count);
    } else {
        code = 1;
    }
    file_set_free(&set);
    free(package);
    return code;
}

int test_classes(TestRun *run, const PathList *fixtures, const PathList *files) {
    bt_vm *vm = start_test_vm(run, &run->common);
    int code = vm ? load_and_run(run, vm, fixtures, files) : 1;
    stop_vm(&run->common, vm);
    return code;
}
