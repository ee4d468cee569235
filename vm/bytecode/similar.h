/* "Did you mean": the candidate that is nearest to a name, by edit distance. */
#ifndef BT_VM_BYTECODE_SIMILAR_H
#define BT_VM_BYTECODE_SIMILAR_H

#include <stddef.h>

typedef struct {
    const char *name;
    size_t length;
    const char *best;    /* the nearest candidate so far, NULL: none is near; not copied */
    unsigned best_edits; /* a candidate must do better than this */
} Nearest;

/* Short names must match but for one edit, others but for two. */
void nearest_begin(Nearest *n, const char *name, size_t length);
/* The first of equally near candidates wins; the name itself is none. */
void nearest_try(Nearest *n, const char *candidate, size_t length);

#endif
