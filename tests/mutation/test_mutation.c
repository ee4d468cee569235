/* Can the verifier be trusted? Programs are compiled, their verified IR is broken in one of the ways of
 * mutations.def, and the verifier must refuse what then behaves otherwise. A mutant that it accepts is run:
 * if the answer differs from the original's, that is a hole in the verifier. One that answers the same is
 * another correct lowering of the program, and counted apart.
 *
 *   test_mutation [COUNT [SEED]]     1,000 mutants unless said otherwise; a table says which error caught how
 * many
 *
 * One mutant in three is of a program of tests/mutation, the others of programs that the property test
 * generates; what those answer is what the reference interpretation of the rules says, so a mutant that
 * answers the same is correct by the rules. The whole way from source to answer is the library's own: this
 * program stands between the compiler and the verifier (the linker's --wrap) and breaks what passes. Last
 * line: `N passed, N failed`; a mutant that is caught or harmless counts as passed. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtalk.h"
#include "ir/ir_text.h"
#include "tests/mutation/generated.h"
#include "tests/mutation/mutate.h"

enum {
    MAX_FILES = 40,
    MAX_CHOICES = 8 * MUTATION_COUNT,
    DEADLINE_MS = 4000,
    RUNS_PER_VM = 400,
    MUTANTS_PER_PROGRAM = 12
};

/* A mutation that has places in one of the units that a program is compiled to. */
typedef struct {
    uint32_t unit, mutation, places;
} Choice;

typedef struct {
    char name[64];
    char *text;         /* of a file, or NULL */
    Generated *program; /* or NULL */
    char *answer;
    Choice choices[MAX_CHOICES];
    uint32_t choice_count;
} Target;

static Target files[MAX_FILES];
static uint32_t file_count, program_count;
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
static Target *at_hand;
static Choice choice;
static uint32_t place, second, unit_index; /* units of the program at hand so far */
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

/* The classes that generated programs use are no part of them. */
static bool is_prelude(const IrUnit *unit) {
    const char *text = generated_prelude();
    size_t length = strlen(text);
    return unit->shell && unit->shell->source.length == length &&
           !memcmp(unit->shell->source.bytes, text, length);
}

static void count_places(IrUnit *unit) {
    for (uint32_t m = 0; m < MUTATION_COUNT; m++) {
        uint32_t places = mutate_count(unit, (Mutation)m);
        if (places && at_hand->choice_count < MAX_CHOICES)
            at_hand->choices[at_hand->choice_count++] = (Choice){unit_index, m, places};
    }
}

IrVerified *__wrap_ir_verify(IrUnit *unit, DiagList *diags) {
    if (what == PLAIN || is_prelude(unit)) return __real_ir_verify(unit, diags);
    if (what == COUNT) count_places(unit);
    if (unit_index++ != choice.unit || what != BREAK) return __real_ir_verify(unit, diags);
    changed = mutate_apply(unit, (Mutation)choice.mutation, place, second);
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

/* The answer, or the error, of a file; NULL: it does not compile. */
static char *answer_of_file(const Target *p) {
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

static char *answer_of(Target *t) {
    unit_index = 0;
    return t->program ? generated_answer(t->program) : answer_of_file(t);
}

/* ---- mutants ---- */

static void report_hole(const Target *p, const char *answer) {
    printf("FAIL %s: %s, unit %u, place %u, choice %u is accepted\n  original: %s\n  mutant:   %s\n", p->name,
           MUTATION_NAMES[choice.mutation], choice.unit, place, second, p->answer,
           answer ? answer : "does not run");
    const char *directory = getenv("BT_MUTANTS");
    char path[512];
    if (!directory) return;
    snprintf(path, sizeof path, "%s/%s.%s.%u.%u.ir", directory, p->name, MUTATION_NAMES[choice.mutation],
             place, second);
    FILE *f = fopen(path, "w");
    if (!f) return;
    fputs(mutant ? mutant : "", f);
    fclose(f);
}

/* How the mutant at hand did. */
static void judge(const Target *p, const char *answer) {
    uint32_t m = choice.mutation;
    if (!changed) {
        none[m]++;
    } else if (!accepted && first_error < 0) {
        failed++;
        printf("FAIL %s: %s: refused without a finding\n", p->name, MUTATION_NAMES[m]);
    } else if (!accepted) {
        caught[m][first_error]++;
        passed++;
    } else if (answer && strcmp(answer, p->answer) == 0) {
        same[m]++;
        passed++;
    } else {
        differs[m]++;
        failed++;
        report_hole(p, answer);
    }
}

static void run_mutant(Target *p) {
    at_hand = p;
    choice = p->choices[next_random(p->choice_count)];
    place = next_random(choice.places);
    second = next_random(1u << 20);
    what = BREAK;
    changed = accepted = false;
    char *answer = answer_of(p);
    what = PLAIN;
    judge(p, answer);
    free(answer);
}

/* Runs it as it is, and finds where it can be broken. */
static void prepare(Target *t) {
    at_hand = t;
    t->choice_count = 0;
    what = COUNT;
    t->answer = answer_of(t);
    what = PLAIN;
    program_count++;
}

/* ---- programs in files ---- */

static int is_program(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 3 && strcmp(entry->d_name + n - 3, ".bt") == 0;
}

/* Takes `text`. */
static void add_file(const char *name, char *text) {
    Target *t = &files[file_count];
    if (file_count == MAX_FILES) exit(2);
    snprintf(t->name, sizeof t->name, "%.63s", name);
    t->text = text;
    prepare(t);
    char *again = t->answer ? answer_of(t) : NULL;
    bool steady = again && strcmp(again, t->answer) == 0 && strncmp(t->answer, "status", 6) != 0;
    free(again);
    if (steady && t->choice_count) {
        file_count++;
        passed++;
        return;
    }
    printf("FAIL %s: does not compile, or does not answer the same twice: %s\n", name,
           t->answer ? t->answer : "");
    failed++;
}

static void load_files(void) {
    struct dirent **names;
    int count = scandir(TEST_DIR "/mutation", &names, is_program, alphasort);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, TEST_DIR "/mutation/%s", names[i]->d_name);
        SourceFile file;
        const char *why;
        if (!source_file_load(&file, path, &why)) exit(2);
        add_file(names[i]->d_name, strndup(file.text, file.length));
        source_file_free(&file);
        free(names[i]);
    }
    if (count > 0) free(names);
}

/* ---- generated programs ---- */

/* A few mutants of one program. Answers how many. */
static long break_generated(uint64_t seed, uint64_t index) {
    static Target t;
    char *wanted = NULL;
    long count = 0;
    t.program = generated_new(seed, index, &wanted);
    if (!t.program) return 0;
    snprintf(t.name, sizeof t.name, "generated-%llu-%llu", (unsigned long long)seed,
             (unsigned long long)index);
    prepare(&t);
    if (strcmp(wanted, t.answer) != 0) /* a fault that the property test finds, and says more of */
        printf("%s: answers %s, the rules say %s; left out\n", t.name, t.answer, wanted);
    else
        for (; count < MUTANTS_PER_PROGRAM && t.choice_count; count++) run_mutant(&t);
    generated_free(t.program);
    free(t.answer);
    free(wanted);
    return count;
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
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    state = seed * 0x9e3779b97f4a7c15u + 1;
    load_files();
    for (long i = 0; i < count / 3 && file_count; i++) run_mutant(&files[next_random(file_count)]);
    generated_begin(seed);
    for (uint64_t index = 0, done = (uint64_t)count / 3; (long)done < count; index++)
        done += (uint64_t)break_generated(seed, index);
    print_table();
    generated_end();
    for (uint32_t i = 0; i < file_count; i++) {
        free(files[i].text);
        free(files[i].answer);
    }
    free(mutant);
    bt_vm_free(vm);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
