/* See generated.h. */
#define _GNU_SOURCE
#include "tests/mutation/generated.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/property/generate.h"
#include "tests/property/subject.h"

struct Generated {
    Pool pool;
    Program program;
};

static Subject *subject;

void generated_begin(uint64_t seed) { subject = subject_new(true, seed); }
void generated_end(void) { subject_free(subject); }
const char *generated_prelude(void) { return prelude_text(); }

static char *text_of(Ran ran, bool raised, const ProgText *answer, const ProgText *finals) {
    char *text;
    int n = asprintf(&text, "%d %d %s | %s", (int)ran, raised, answer->bytes ? answer->bytes : "",
                     finals->bytes ? finals->bytes : "");
    if (n < 0) exit(2);
    return text;
}

Generated *generated_new(uint64_t seed, uint64_t index, char **wanted) {
    Generated *g = calloc(1, sizeof *g);
    if (!g) exit(2);
    g->program = generate_indexed(&g->pool, seed, index);
    Verdict verdict = rules_check(&g->program);
    bool usable = !verdict.ill_formed && rules_accept(&verdict);
    if (usable) {
        RefAnswer by_rules = reference_run(&g->program, NULL);
        usable = by_rules.known;
        if (usable) *wanted = text_of(RAN_OK, by_rules.raised, &by_rules.answer, &by_rules.finals);
        reference_free(&by_rules);
    }
    if (usable) return g;
    generated_free(g);
    return NULL;
}

void generated_free(Generated *g) {
    pool_clear(&g->pool);
    free(g);
}

char *generated_answer(const Generated *g) {
    SubjectAnswer a = subject_run(subject, &g->program, SPELL_OPEN);
    char *text = text_of(a.ran, a.raised, &a.answer, &a.finals);
    subject_answer_free(&a);
    return text;
}
