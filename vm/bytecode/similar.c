/* See similar.h. */
#include "vm/bytecode/similar.h"

#include <stdint.h>

enum { LENGTH_MAX = 64, FAR = 3 };

/* Edit distance (Levenshtein 1965) of two short names, at most FAR. */
static unsigned edits(const char *x, size_t n, const char *y, size_t m) {
    uint8_t row[LENGTH_MAX + 1];
    if (n > LENGTH_MAX || m > LENGTH_MAX || n + FAR <= m || m + FAR <= n) return FAR;
    for (size_t j = 0; j <= m; j++) row[j] = (uint8_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint8_t diagonal = row[0];
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint8_t up = row[j], best = (uint8_t)(diagonal + (x[i - 1] != y[j - 1]));
            if (up + 1 < best) best = (uint8_t)(up + 1);
            if (row[j - 1] + 1 < best) best = (uint8_t)(row[j - 1] + 1);
            diagonal = up;
            row[j] = best;
        }
    }
    return row[m] < FAR ? row[m] : FAR;
}

void nearest_begin(Nearest *n, const char *name, size_t length) {
    *n = (Nearest){name, length, NULL, length > 3 ? FAR : length > 1 ? 2 : 1};
}

void nearest_try(Nearest *n, const char *candidate, size_t length) {
    unsigned far = edits(n->name, n->length, candidate, length);
    if (far == 0 || far >= n->best_edits) return;
    n->best = candidate;
    n->best_edits = far;
}
