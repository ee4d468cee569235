/* Names: one `const char *` per distinct text, so that equal names are equal pointers within one Intern.
 *
 * AGREED. One owner thread. Names are NUL-terminated, may contain NULs (quoted symbols), and know their
 * length and hash. They live as long as the Intern, which is as long as its arena.
 */
#ifndef BT_COMPILER_INTERN_H
#define BT_COMPILER_INTERN_H

#include "compiler/arena.h"

/* What lies in memory before the text of a name. */
typedef struct {
    uint32_t hash, length;
    char text[];
} InternEntry;

typedef struct Intern {
    Arena *arena;
    InternEntry **slots; /* open addressing, power of two, in native memory */
    uint32_t mask, count;
} Intern;

/* False when memory ran out; intern_free is fine after either. */
bool intern_init(Intern *intern, Arena *arena);
void intern_free(Intern *intern);

/* Never NULL; when memory runs out the arena is marked failed and the result is the empty name of no Intern.
 */
const char *intern_bytes(Intern *intern, const char *bytes, size_t length);
const char *intern_cstring(Intern *intern, const char *text);
/* printf into a name; at most 1000 bytes. */
const char *intern_format(Intern *intern, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline const InternEntry *intern_entry(const char *name) {
    return (const InternEntry *)(const void *)(name - offsetof(InternEntry, text));
}
static inline uint32_t intern_length(const char *name) { return intern_entry(name)->length; }
static inline uint32_t intern_hash(const char *name) { return intern_entry(name)->hash; }

#endif
