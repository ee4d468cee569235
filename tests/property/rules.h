/* The static rules (semantics 8.3, 9; ADR 0131 section 6): which variables are visible where, what each block
 * literal writes, and which blocks the compiler must refuse.
 */
#ifndef BT_TESTS_RULES_H
#define BT_TESTS_RULES_H

#include "program.h"

typedef struct {
    bool ill_formed;   /* a variable is used where it is not visible: no program (the shrinker makes such) */
    int no_channel;    /* blocks that write an outer local and go where no write can come back */
    int state_stored;  /* blocks that write an actor's field and are bound to a local or returned */
    int state_foreign; /* blocks that write an actor's field and are arguments of foreign sends */
} Verdict;

/* Fills every block's rules and every construct's position. */
Verdict rules_check(Program *program);
static inline bool rules_accept(const Verdict *v) {
    return !v->no_channel && !v->state_stored && !v->state_foreign;
}

#endif
