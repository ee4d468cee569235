/* `beamtalk test --explore N [--seed S]`: each test under N interleavings (docs/exploration.md).
 *
 * Every round is a VM of its own with one seed, S to S + N - 1: one scheduler, virtual time, each choice of
 * who goes on and for how long drawn from the seed. So a round depends on nothing but the files, the test and
 * the seed, and `--explore 1` with the seed that failed repeats it exactly. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "vm/cli/manifest.h"
#include "vm/cli/test_class.h"

typedef struct {
    TestRun *run;
    const PathList *files;
    FileSet set; /* fixtures first */
    size_t fixtures;
    char *package; /* its src is loaded too; NULL: none */
} Exploration;

/* What one interleaving came to. */
typedef struct {
    TestOutcome outcome;
    char *message, *stack;
} Round;

static void swallow(void *context, const char *bytes, size_t length) {
    (void)context, (void)bytes, (void)length;
}

/* A VM with this seed and the files loaded; NULL: they do not load, and the reason is printed. Log lines of
 * the errors that a round provokes would drown the report; they are kept when one round is repeated. */
static bt_vm *round_vm(Exploration *x, uint64_t seed) {
    CommonOptions options = x->run->common;
    options.seeded = true;
    options.seed = seed;
    options.log = x->run->explore > 1 ? swallow : NULL;
    options.signals = NULL;
    bt_vm *vm = start_test_vm(x->run, &options);
    if (!vm) return NULL;
    bool good = !x->package || load_package_sources(vm, x->package, true, false, NULL) == 0;
    if (good && file_set_load(&x->set, vm, true, false) == BT_OK) return vm;
    bt_vm_free(vm);
    return NULL;
}

static Round run_round(Exploration *x, uint64_t seed, const char *class_name, char *selector) {
    Round round = {.outcome = TEST_FAILED};
    bt_vm *vm = round_vm(x, seed);
    TestClass one = {.name = (char *)(uintptr_t)class_name, .selectors = &selector, .count = 1};
    if (!vm) return round;
    test_class_run(x->run, vm, &one);
    bt_vm_free(vm);
    char *at = one.records;
    if (!test_record_read(&at, &round.outcome, &round.message, &round.stack)) {
        round.message = one.failure;
        one.failure = NULL;
    }
    free(one.records);
    free(one.failure);
    return round;
}

static void report_round(Exploration *x, const char *name, uint64_t seed, unsigned rounds,
                         const Round *round) {
    TestReport report = {
        .name = name, .outcome = round->outcome, .message = round->message, .stack = round->stack};
    char *text = NULL;
    size_t length;
    FILE *to = round->outcome == TEST_FAILED ? open_memstream(&text, &length) : NULL;
    if (to) {
        fprintf(to, "seed %llu, interleaving %u: %s\n  repeat it: beamtalk test --explore 1 --seed %llu",
                (unsigned long long)seed, rounds, round->message ? round->message : "no answer",
                (unsigned long long)seed);
        for (size_t i = 0; i < x->files->count; i++) fprintf(to, " %s", x->files->items[i]);
        fclose(to);
        report.message = text;
    }
    report_test(&x->run->report, &report);
    free(text);
}

static void explore_test(Exploration *x, const char *class_name, char *selector) {
    const TestRun *run = x->run;
    uint64_t first = run->common.seeded ? run->common.seed : 1;
    char *name;
    bool last = false;
    if (asprintf(&name, "%s>>%s", class_name, selector) < 0) return;
    for (unsigned i = 0; i < run->explore && !last; i++) {
        if (signals_received(run->common.signals)) break;
        Round round = run_round(x, first + i, class_name, selector);
        last = round.outcome != TEST_PASSED || i + 1 == run->explore;
        if (last) report_round(x, name, first + i, i + 1, &round);
        free(round.message);
        free(round.stack);
    }
    free(name);
}

static int explore(Exploration *x) {
    TestClassList list;
    bt_vm *vm = round_vm(x, 1);
    if (!vm) return 1;
    bool found = test_classes_find(vm, &x->set, x->fixtures, &list);
    bt_vm_free(vm);
    for (size_t i = 0; i < list.count; i++) {
        for (size_t k = 0; k < list.items[i].count; k++)
            explore_test(x, list.items[i].name, list.items[i].selectors[k]);
        report_group(&x->run->report, list.items[i].name);
    }
    test_classes_free(&list);
    return found ? 0 : 1;
}

int test_explore(TestRun *run, const PathList *fixtures, const PathList *files) {
    Exploration x = {.run = run, .files = files, .fixtures = fixtures->count};
    x.package = manifest_directory_above(files->items[0]);
    int code = test_files_read(&x.set, fixtures, files) ? explore(&x) : 1;
    file_set_free(&x.set);
    free(x.package);
    return code;
}
