/* The property test: generated programs give in the VM what the reference interpretation says, and the
 * compiler refuses exactly the blocks that the rules refuse. Programs of class methods run in three
 * spellings: open, sealed, and overridden in a subclass.
 *
 *   --count N     programs (default 2,000; BT_TEST_SCALE scales it)    --seed S    --from I
 *   --only INDEX  one of them, with all that is known of it            --show      the same for all
 *   --matrix      instead: small programs for every construct x position x context x outcome
 *   --callers N   so many processes call the entry of a class at once  --schedule S  in the order of a seed
 *   --table       how often each construct ended how in each position  --failures N  stop behind so many
 *
 * A failure is shrunk and printed with its seed. The last line is `N passed, N failed`. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "generate.h"
#include "shrink.h"
#include "subject.h"

typedef struct {
    uint64_t seed;
    long count, from, only;
    bool show, table, matrix;
    int callers;       /* processes that call each class method at once */
    uint64_t schedule; /* 0: as it comes; else one scheduler that chooses by this seed */
    int max_failures;
} Options;

typedef struct {
    long ran, rejected, unknown, failed;
    Coverage coverage;
} Totals;

/* ---- one program ---- */

typedef enum { AGREE, DISAGREE, NO_TEST } Judgement;

typedef struct {
    Verdict verdict;
    RefAnswer wanted;
    SubjectAnswer got;
} Trial;

static void trial_free(Trial *t) {
    reference_free(&t->wanted);
    subject_answer_free(&t->got);
}

static bool same_text(const ProgText *a, const ProgText *b) {
    return !strcmp(a->bytes ? a->bytes : "", b->bytes ? b->bytes : "");
}

static bool same_verdict(const Verdict *a, const Verdict *b) {
    return a->no_channel == b->no_channel && a->state_stored == b->state_stored &&
           a->state_foreign == b->state_foreign;
}

static Judgement judge(Subject *subject, Program *program, Spelling spelling, Coverage *coverage, Trial *t) {
    *t = (Trial){.verdict = rules_check(program)};
    if (t->verdict.ill_formed) return NO_TEST;
    bool accept = rules_accept(&t->verdict);
    if (accept) {
        t->wanted = reference_run(program, coverage);
        if (!t->wanted.known) return NO_TEST;
    }
    t->got = subject_run(subject, program, spelling);
    if (!accept)
        return t->got.ran == RAN_REJECTED && same_verdict(&t->got.counted, &t->verdict) ? AGREE : DISAGREE;
    bool agree = t->got.ran == RAN_OK && t->got.raised == t->wanted.raised &&
                 same_text(&t->got.answer, &t->wanted.answer) && same_text(&t->got.finals, &t->wanted.finals);
    return agree ? AGREE : DISAGREE;
}

/* ---- a failure ---- */

typedef struct {
    Subject *subject;
    Spelling spelling;
} Again;

static bool still_fails(void *context, Program *candidate) {
    const Again *again = context;
    Trial t;
    Judgement judgement = judge(again->subject, candidate, again->spelling, NULL, &t);
    trial_free(&t);
    return judgement == DISAGREE;
}

static const char *text_of(const ProgText *text) { return text->bytes ? text->bytes : ""; }

static void print_trial(const Program *program, Spelling spelling, const Trial *t) {
    ProgText text = {0};
    program_print(program, spelling, &text);
    printf("%s", text.bytes);
    prog_text_free(&text);
    if (rules_accept(&t->verdict))
        printf("  rules: %s%s, finals %s\n", t->wanted.raised ? "raises " : "", text_of(&t->wanted.answer),
               text_of(&t->wanted.finals));
    else
        printf("  rules: refused, %d without channel, %d stored, %d foreign\n", t->verdict.no_channel,
               t->verdict.state_stored, t->verdict.state_foreign);
    const char *how = t->got.ran == RAN_BROKEN     ? "BROKEN "
                      : t->got.ran == RAN_REJECTED ? "refused "
                      : t->got.raised              ? "raises "
                                                   : "";
    printf("  vm:    %s%s, finals %s\n", how, text_of(&t->got.answer), text_of(&t->got.finals));
}

static void report(Subject *subject, const Program *program, Spelling spelling, const char *which) {
    Pool pool = {0};
    Again again = {subject, spelling};
    Program smallest = shrink(&pool, program, 3000, still_fails, &again);
    Trial t;
    judge(subject, &smallest, spelling, NULL, &t);
    printf("FAIL %s (%s)\n", which, CONTEXT_NAMES[program->context]);
    print_trial(&smallest, spelling, &t);
    fflush(stdout);
    trial_free(&t);
    pool_clear(&pool);
}

/* ---- one program in every spelling ---- */

static void one(Subject *subject, const Options *o, Program *program, const char *which, Totals *totals) {
    int spellings = program->context == CTX_CLASS ? SPELL_COUNT : 1;
    for (int i = 0; i < spellings; i++) {
        Spelling spelling = (Spelling)i;
        Trial t;
        Judgement judgement = judge(subject, program, spelling, i ? NULL : &totals->coverage, &t);
        if (o->show) print_trial(program, spelling, &t);
        if (judgement == NO_TEST) {
            if (t.verdict.ill_formed) printf("FAIL %s: the generator made an ill-formed program\n", which);
            totals->unknown++;
            totals->failed += t.verdict.ill_formed;
        } else if (i == 0) {
            totals->ran++;
            totals->rejected += !rules_accept(&t.verdict);
        }
        trial_free(&t);
        if (judgement == DISAGREE) {
            totals->failed++;
            report(subject, program, spelling, which);
        }
        if (judgement != AGREE) return;
    }
}

static void one_indexed(Subject *subject, const Options *o, uint64_t index, Totals *totals) {
    Pool pool = {0};
    char which[64];
    snprintf(which, sizeof which, "--seed %llu --only %llu", (unsigned long long)o->seed,
             (unsigned long long)index);
    Program program = generate_indexed(&pool, o->seed, index);
    if (program.context == CTX_CLASS) program.callers = o->callers;
    one(subject, o, &program, which, totals);
    pool_clear(&pool);
}

/* ---- the matrix: every construct in every position, context and outcome ---- */

enum { CELL_TRIES = 40 };

/* Tries programs until one does in its cell what the cell says; false: none did. */
static bool cell(Subject *subject, const Options *o, Focus focus, Totals *totals) {
    char which[96];
    snprintf(which, sizeof which, "--matrix: %s at %s, %s", shape_name(focus.shape),
             POSITION_NAMES[focus.position], OUTCOME_NAMES[focus.outcome]);
    static Coverage before;
    for (uint64_t seed = 0; seed < CELL_TRIES; seed++) {
        Pool pool = {0};
        Program program =
            generate_cell(&pool, seed * 7919 + (uint64_t)(focus.shape * POS_COUNT + focus.position), focus);
        before = totals->coverage;
        if (program.methods[0].body) one(subject, o, &program, which, totals);
        bool none = !program.methods[0].body;
        pool_clear(&pool);
        const uint32_t *now = &totals->coverage.hits[focus.shape][focus.position][focus.outcome];
        if (none || *now > before.hits[focus.shape][focus.position][focus.outcome]) return true;
    }
    return false;
}

static void matrix(Subject *subject, const Options *o, Totals *totals) {
    long cells = 0, unreached = 0;
    for (int c = 0; c < CTX_COUNT; c++)
        for (int s = 0; s < SHAPES_ALL; s++)
            for (int p = 0; p < POS_COUNT; p++)
                for (int k = 0; k < OUTCOME_COUNT && totals->failed < o->max_failures; k++) {
                    if (s == SHAPE_REPEAT && k == OUTCOME_NORMAL) continue; /* has no normal end */
                    cells++;
                    if (cell(subject, o, (Focus){c, s, p, k}, totals)) continue;
                    if (o->table)
                        printf("not reached: %s %s %s %s\n", CONTEXT_NAMES[c], shape_name(s),
                               POSITION_NAMES[p], OUTCOME_NAMES[k]);
                    unreached++;
                }
    printf("matrix: %ld cells of context x construct x position x outcome, %ld not reached\n", cells,
           unreached);
    if (unreached) totals->failed++;
}

/* ---- all of them ---- */

static void print_table(const Coverage *c) {
    printf("%-16s", "normal/raise/^");
    for (int p = 0; p < POS_COUNT; p++) printf(" %14.14s", POSITION_NAMES[p]);
    printf("\n");
    for (int s = 0; s < SHAPES_ALL; s++) {
        printf("%-16s", shape_name(s));
        for (int p = 0; p < POS_COUNT; p++) {
            char cell[48];
            snprintf(cell, sizeof cell, "%u/%u/%u", c->hits[s][p][0], c->hits[s][p][1], c->hits[s][p][2]);
            printf(" %14s", cell);
        }
        printf("\n");
    }
}

/* Answers the number of cells hit less than 200 times. Loops of `repeat` have no normal end. */
static unsigned summarize(const Coverage *c) {
    unsigned least = UINT32_MAX, below = 0, cells = 0;
    for (int s = 0; s < SHAPES_ALL; s++)
        for (int p = 0; p < POS_COUNT; p++)
            for (int k = 0; k < OUTCOME_COUNT; k++) {
                if (s == SHAPE_REPEAT && k == OUTCOME_NORMAL) continue;
                cells++;
                below += c->hits[s][p][k] < 200;
                if (c->hits[s][p][k] < least) least = c->hits[s][p][k];
            }
    printf("coverage: %u cells of construct x position x outcome, least hits %u, %u cells below 200\n", cells,
           least, below);
    return below;
}

static Options options(int argc, char **argv) {
    Options o = {.seed = 1, .count = 2000, .only = -1, .max_failures = 10};
    const char *scale = getenv("BT_TEST_SCALE");
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--count") && more)
            o.count = atol(argv[++i]);
        else if (!strcmp(argv[i], "--from") && more)
            o.from = atol(argv[++i]);
        else if (!strcmp(argv[i], "--seed") && more)
            o.seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--only") && more)
            o.only = atol(argv[++i]);
        else if (!strcmp(argv[i], "--failures") && more)
            o.max_failures = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--schedule") && more)
            o.schedule = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--callers") && more)
            o.callers = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--matrix"))
            o.matrix = true;
        else if (!strcmp(argv[i], "--show"))
            o.show = true;
        else if (!strcmp(argv[i], "--table"))
            o.table = true;
        else {
            fprintf(stderr, "usage: test_property [--count N] [--from N] [--seed S] [--only INDEX] "
                            "[--callers N] [--schedule S] [--matrix] "
                            "[--failures N] [--show] [--table]\n");
            exit(2);
        }
    }
    if (scale && atof(scale) < 1)
        o.count = (double)o.count * atof(scale) < 150 ? 150 : (long)((double)o.count * atof(scale));
    return o;
}

int main(int argc, char **argv) {
    Options o = options(argc, argv);
    static Totals totals;
    Subject *subject = subject_new(o.schedule != 0, o.schedule);
    if (o.only >= 0) {
        o.show = true;
        one_indexed(subject, &o, (uint64_t)o.only, &totals);
    } else if (o.matrix) {
        matrix(subject, &o, &totals);
    } else {
        for (long i = o.from; i < o.from + o.count && totals.failed < o.max_failures; i++)
            one_indexed(subject, &o, (uint64_t)i, &totals);
    }
    subject_free(subject);
    if (o.table) print_table(&totals.coverage);
    unsigned rare = summarize(&totals.coverage);
    double compile = totals.ran ? 100.0 * (double)(totals.ran - totals.rejected) / (double)totals.ran : 0.0;
    if (totals.ran >= 90000 && rare)
        printf("FAIL the long run leaves cells of the table thin\n"), totals.failed++;
    if (totals.ran >= 1000 && compile < 60) printf("FAIL too few programs compile\n"), totals.failed++;
    printf("%ld programs, %.1f %% compile, %ld outside the model\n", totals.ran, compile, totals.unknown);
    printf("%ld passed, %ld failed\n", totals.ran - totals.failed, totals.failed);
    return totals.failed != 0;
}
