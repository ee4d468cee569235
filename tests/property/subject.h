/* The subject of the tests: a VM through its public interface, given programs one after another. */
#ifndef BT_TESTS_SUBJECT_H
#define BT_TESTS_SUBJECT_H

#include "rules.h"

typedef struct Subject Subject;

typedef enum {
    RAN_OK,
    RAN_REJECTED,
    RAN_BROKEN
} Ran; /* BROKEN: anything that no program may cause: timeout, internal finding, .. */
typedef struct {
    Ran ran;
    bool raised;
    ProgText answer, finals; /* as in RefAnswer; BROKEN, REJECTED: answer is the diagnostics */
    Verdict counted;         /* REJECTED: the refusals found in the diagnostics */
} SubjectAnswer;

/* seeded: one scheduler in the order that `seed` gives. */
Subject *subject_new(bool seeded, uint64_t seed);
void subject_free(Subject *subject);
/* Runs the program under a name of its own; earlier programs of this subject leave nothing behind that it
 * could see. */
SubjectAnswer subject_run(Subject *subject, const Program *program, Spelling spelling);
void subject_answer_free(SubjectAnswer *answer);

#endif
