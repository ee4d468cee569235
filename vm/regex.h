/* Regular expressions: PCRE2 on bytes, with match limits. A compiled pattern is immutable and may be shared
 * by processes. */
#ifndef BT_VM_REGEX_H
#define BT_VM_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Memory Memory;
typedef struct Regex Regex;
enum { REGEX_CASELESS = 1, REGEX_MULTILINE = 2, REGEX_DOTALL = 4, REGEX_EXTENDED = 8, REGEX_UNGREEDY = 16 };

/* NULL with a text for the user. */
Regex *regex_compile(const Memory *memory, const char *pattern, size_t length, unsigned options, char *reason,
                     size_t reason_size);
void regex_free(Regex *r);

/* All matches one after the other. An empty match is reported once per position, then a non-empty one is
 * tried there. */
typedef struct {
    const Regex *regex;
    const char *bytes;
    size_t length, at;
    bool retry;         /* the last match was empty, at `at` */
    void *match;        /* of PCRE2 */
    size_t *offsets;    /* of the match: start and end of the whole, then of each group; REGEX_UNSET */
    size_t group_count; /* with the whole match */
} RegexScan;
#define REGEX_UNSET ((size_t)-1)
typedef enum { REGEX_MATCH, REGEX_END, REGEX_LIMIT, REGEX_NO_MEMORY } RegexStep;
/* False: no memory. The bytes must stay where they are until regex_scan_close. */
bool regex_scan_open(RegexScan *s, const Regex *r, const char *bytes, size_t length);
RegexStep regex_scan_next(RegexScan *s);
void regex_scan_close(RegexScan *s);

#endif
