/* Preloaded before the binary: makes allocations fail on purpose.
 *
 * BT_ALLOC_FAIL=N fails the N-th allocation of the process (from 1), BT_ALLOC_FAIL=N+ that one and all later
 * ones. BT_ALLOC_COUNT=FILE writes to FILE how many allocations there were. Counted are the calls of the C
 * library's and of mimalloc's entry points by the program; what an allocator asks of the system, and what
 * runs before main, is not.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic long calls;
static long fail_at;    /* 0: never */
static bool fail_after; /* all later ones too */
static const char *count_file;
static _Atomic bool armed;

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

static bool fails(void) {
    if (!atomic_load_explicit(&armed, memory_order_relaxed)) return false;
    long now = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    if (!fail_at || now < fail_at || (now > fail_at && !fail_after)) return false;
    errno = ENOMEM;
    return true;
}

__attribute__((constructor)) static void arm(void) {
    const char *text = getenv("BT_ALLOC_FAIL");
    count_file = getenv("BT_ALLOC_COUNT");
    if (text) {
        char *end;
        fail_at = strtol(text, &end, 10);
        fail_after = *end == '+';
    }
    unsetenv("LD_PRELOAD"); /* programs that it starts are left alone */
    atomic_store(&armed, text || count_file);
}

__attribute__((destructor)) static void report(void) {
    atomic_store(&armed, false);
    FILE *out = count_file ? fopen(count_file, "w") : NULL;
    if (!out) return;
    fprintf(out, "%ld\n", atomic_load(&calls));
    fclose(out);
}

void *malloc(size_t n) { return fails() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return fails() ? NULL : __libc_realloc(p, n); }
char *strdup(const char *s) {
    size_t n = strlen(s) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, s, n) : NULL;
}
int posix_memalign(void **out, size_t alignment, size_t n) {
    if (fails()) return ENOMEM;
    *out = __libc_memalign(alignment, n);
    return *out ? 0 : ENOMEM;
}
void *aligned_alloc(size_t alignment, size_t n) { return fails() ? NULL : __libc_memalign(alignment, n); }

/* mimalloc's names go to the C library: one heap, so every `free` fits. Its own library is not entered then.
 */
void *mi_malloc(size_t n) { return malloc(n); }
void *mi_zalloc(size_t n) { return calloc(1, n); }
void *mi_calloc(size_t n, size_t size) { return calloc(n, size); }
void *mi_realloc(void *p, size_t n) { return realloc(p, n); }
void *mi_malloc_aligned(size_t n, size_t alignment) { return aligned_alloc(alignment, n); }
extern void __libc_free(void *p);
void free(void *p) { __libc_free(p); }
void mi_free(void *p) { __libc_free(p); }
