/* Can the verifier be trusted? Programs are compiled, their verified IR is broken in one of the ways of
 * mutations.def, and the verifier must refuse what then behaves otherwise. A mutant that it accepts is run:
 * if the answer differs from the original's, that is a hole in the verifier. One that answers the same is
 * another correct lowering of the program, and counted apart.
 *
 *   test_mutation [COUNT [SEED]]     1,000 mutants unless said otherwise; a table says which error caught how
 * many
 *
 * The whole way from source to answer is the library's own: this program stands between the compiler and the
 * verifier (the linker's
 * --wrap) and breaks what passes. Last line: `N passed, N failed`; a mutant that is caught or harmless counts
 * as passed. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtalk.h"
#include "ir/ir_text.h"
#include "tests/mutation/mutate.h"

enum { MAX_PROGRAMS = 200, DEADLINE_MS = 4000, RUNS_PER_VM = 400 };

typedef struct {
    char name[64];
    char *text, *answer;
    uint32_t places[MUTATION_COUNT];
    uint32_t mutations[MUTATION_COUNT], mutation_count; /* those that have a place */
} Program;

static Program programs[MAX_PROGRAMS];
static uint32_t program_count;
static uint32_t caught[MUTATION_COUNT][VERIFY_ERROR_COUNT], same[MUTATION_COUNT], differs[MUTATION_COUNT],
    none[MUTATION_COUNT];
static int passed, failed;

static uint64_t state;
static uint32_t next_random(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16) % below;
}

/* ---- between the compiler and the verifier ---- */

static enum { PLAIN, COUNT, BREAK } what;
static Program *at_hand;
static Mutation mutation;
static uint32_t place, second;
static bool changed, accepted;
static int first_error; /* the verifier's first finding, -1 */
static char *mutant;    /* what was accepted */

IrVerified *__real_ir_verify(IrUnit *unit, DiagList *diags);
IrVerified *__wrap_ir_verify(IrUnit *unit, DiagList *diags);

static int error_of(const DiagList *diags) {
    for (uint32_t i = 0; i < diags->count; i++)
        for (int e = 0; e < VERIFY_ERROR_COUNT; e++)
            if (diags->items[i].message && strstr(diags->items[i].message, IR_ERROR_NAMES[e])) return e;
    return -1;
}

IrVerified *__wrap_ir_verify(IrUnit *unit, DiagList *diags) {
    if (what == COUNT)
        for (int m = 0; m < MUTATION_COUNT; m++) at_hand->places[m] = mutate_count(unit, (Mutation)m);
    if (what != BREAK) return __real_ir_verify(unit, diags);
    changed = mutate_apply(unit, mutation, place, second);
    IrVerified *verified = __real_ir_verify(unit, diags);
    accepted = verified != NULL;
    first_error = accepted ? -1 : error_of(diags);
    free(mutant);
    mutant = accepted ? ir_print(unit) : NULL;
    return verified;
}

/* ---- running ---- */

static bt_vm *vm;
static int runs;

/* The answer, or the error, of a program; NULL: it does not compile. */
static char *answer_of(const Program *p) {
    if (vm && ++runs > RUNS_PER_VM) {
        bt_vm_free(vm);
        vm = NULL;
    }
    if (!vm) {
        bt_config config = {.size = sizeof config, .seeded = 1, .seed = 1};
        vm = bt_vm_new(&config);
        runs = 0;
    }
    bt_session *session = vm ? bt_session_new(vm) : NULL;
    if (!session) exit(2);
    bt_eval_options options = {
        .size = sizeof options, .name = p->name, .want_shown = 1, .deadline_ms = DEADLINE_MS};
    bt_result *result;
    bt_status status = bt_vm_eval(session, p->text, strlen(p->text), &options, &result);
    char *answer = NULL;
    if (status == BT_OK) {
        const char *text = bt_result_print_string(result);
        answer = strdup(text ? text : "");
    } else if (status != BT_COMPILE_ERROR) {
        const char *kind = bt_result_error_kind(result), *message = bt_result_error_message(result);
        if (asprintf(&answer, "status %d: %s: %s", (int)status, kind ? kind : "", message ? message : "") < 0)
            exit(2);
    } else if (what != BREAK) {
        fputs(bt_result_diagnostics(result), stdout);
    }
    bt_result_free(result);
    bt_session_free(session);
    return answer;
}

/* ---- mutants ---- */

static void report_hole(const Program *p, const char *answer) {
    printf("FAIL %s: %s, place %u, choice %u is accepted\n  original: %s\n  mutant:   %s\n", p->name,
           MUTATION_NAMES[mutation], place, second, p->answer, answer ? answer : "does not run");
    const char *directory = getenv("BT_MUTANTS");
    char path[512];
    if (!directory) return;
    snprintf(path, sizeof path, "%s/%s.%s.%u.%u.ir", directory, p->name, MUTATION_NAMES[mutation], place,
             second);
    FILE *f = fopen(path, "w");
    if (!f) return;
    fputs(mutant ? mutant : "", f);
    fclose(f);
}

static void run_mutant(Program *p) {
    at_hand = p;
    mutation = (Mutation)p->mutations[next_random(p->mutation_count)];
    place = next_random(p->places[mutation]);
    second = next_random(1u << 20);
    what = BREAK;
    changed = accepted = false;
    char *answer = answer_of(p);
    what = PLAIN;
    if (!changed) {
        none[mutation]++;
    } else if (!accepted) {
        if (first_error >= 0) caught[mutation][first_error]++;
        if (first_error >= 0)
            passed++;
        else
            failed++, printf("FAIL %s: %s: refused without a finding\n", p->name, MUTATION_NAMES[mutation]);
    } else if (answer && strcmp(answer, p->answer) == 0) {
        same[mutation]++;
        passed++;
    } else {
        differs[mutation]++;
        failed++;
        report_hole(p, answer);
    }
    free(answer);
}

/* ---- programs ---- */

static int is_program(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 3 && strcmp(entry->d_name + n - 3, ".bt") == 0;
}

/* Takes `text`. */
static void add_program(const char *name, char *text) {
    Program *p = &programs[program_count];
    if (program_count == MAX_PROGRAMS) exit(2);
    snprintf(p->name, sizeof p->name, "%.63s", name);
    p->text = text;
    at_hand = p;
    what = COUNT;
    p->answer = answer_of(p);
    what = PLAIN;
    char *again = p->answer ? answer_of(p) : NULL;
    bool steady = again && strcmp(again, p->answer) == 0 && strncmp(p->answer, "status", 6) != 0;
    free(again);
    for (uint32_t m = 0; m < MUTATION_COUNT; m++)
        if (p->places[m]) p->mutations[p->mutation_count++] = m;
    if (steady && p->mutation_count) {
        program_count++;
        passed++;
        return;
    }
    printf("FAIL %s: does not compile, or does not answer the same twice: %s\n", name,
           p->answer ? p->answer : "");
    failed++;
}

static void load_programs(void) {
    struct dirent **names;
    int count = scandir(TEST_DIR "/mutation", &names, is_program, alphasort);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, TEST_DIR "/mutation/%s", names[i]->d_name);
        SourceFile file;
        const char *why;
        if (!source_file_load(&file, path, &why)) exit(2);
        add_program(names[i]->d_name, strndup(file.text, file.length));
        source_file_free(&file);
        free(names[i]);
    }
    if (count > 0) free(names);
}

/* ---- the table ---- */

static void print_table(void) {
    uint32_t by_error[VERIFY_ERROR_COUNT] = {0}, all_same = 0, all_differ = 0, all = 0;
    printf("%-26s %8s %8s %8s  %s\n", "mutation", "caught", "same", "holes", "by");
    for (int m = 0; m < MUTATION_COUNT; m++) {
        uint32_t sum = 0;
        for (int e = 0; e < VERIFY_ERROR_COUNT; e++) sum += caught[m][e], by_error[e] += caught[m][e];
        printf("%-26s %8u %8u %8u ", MUTATION_NAMES[m], sum, same[m], differs[m]);
        for (int e = 0; e < VERIFY_ERROR_COUNT; e++)
            if (caught[m][e]) printf(" %s %u", IR_ERROR_NAMES[e], caught[m][e]);
        putchar('\n');
        all_same += same[m];
        all_differ += differs[m];
        all += sum + same[m] + differs[m];
    }
    printf("\n%-28s %8s\n", "error", "caught");
    for (int e = 0; e < VERIFY_ERROR_COUNT; e++) printf("%-28s %8u\n", IR_ERROR_NAMES[e], by_error[e]);
    printf("%u mutants of %u programs: %u caught, %u answer as the original, %u holes\n", all, program_count,
           all - all_same - all_differ, all_same, all_differ);
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 1000;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    state = state * 0x9e3779b97f4a7c15u + 1;
    load_programs();
    for (long i = 0; i < count && program_count; i++) run_mutant(&programs[next_random(program_count)]);
    print_table();
    for (uint32_t i = 0; i < program_count; i++) {
        free(programs[i].text);
        free(programs[i].answer);
    }
    free(mutant);
    bt_vm_free(vm);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
