/* The reference interpretation: runs a generated program by the rules of the decision records and
 * semantics.md, knowing nothing of the compiler and the VM. State is cells and one undo log a process: a
 * protected region that an error crosses undoes the log to its mark, and that is the whole rule for locals,
 * actor state and class variables alike.
 */
#ifndef BT_TESTS_REFERENCE_H
#define BT_TESTS_REFERENCE_H

#include "rules.h"

typedef enum { OUTCOME_NORMAL, OUTCOME_RAISED, OUTCOME_LEFT, OUTCOME_COUNT } Outcome;
extern const char *const OUTCOME_NAMES[OUTCOME_COUNT];

/* How often each construct ended how, by where it stood. */
typedef struct {
    uint32_t hits[SHAPES_ALL][POS_COUNT][OUTCOME_COUNT];
} Coverage;

typedef struct {
    bool known; /* false: the program leaves what is modelled here, or runs too long; it is no test */
    bool raised;
    ProgText answer; /* printString of the answer, or the kind of the error */
    ProgText finals; /* printString of the final values, as the last input of program_inputs asks them */
} RefAnswer;

/* The program must have passed rules_check. `coverage` may be NULL. */
RefAnswer reference_run(const Program *program, Coverage *coverage);
void reference_free(RefAnswer *answer);

#endif
