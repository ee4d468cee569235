/* The sampling profiler. See profile.h. */
#include "vm/profile.h"
#include <pthread.h>
#include <stdlib.h>
#include "vm/bytecode/memory.h"
#include "vm/process.h"
#include "vm/symbol.h"
#include "vm/text.h"

#define FRAMES_MAX 128u /* innermost; what lies further out is cut */

typedef struct {
    char *stack; /* NULL: empty */
    uint64_t nanoseconds;
} Entry;

struct Profile {
    const Memory *memory;
    pthread_mutex_t lock;
    Entry *entries; /* open addressing by text; the capacity is a power of two */
    size_t count, capacity;
};

Profile *profile_new(const Memory *memory) {
    Profile *profile = memory_zalloc(memory, sizeof *profile);
    if (!profile) return NULL;
    profile->memory = memory;
    if (pthread_mutex_init(&profile->lock, NULL) != 0) return memory_free(memory, profile), NULL;
    return profile;
}

void profile_free(Profile *profile) {
    if (!profile) return;
    for (size_t i = 0; i < profile->capacity; i++) memory_free(profile->memory, profile->entries[i].stack);
    memory_free(profile->memory, profile->entries);
    pthread_mutex_destroy(&profile->lock);
    memory_free(profile->memory, profile);
}

/* ---- the stack as text ---- */

static void append_frame(BtVm *vm, Text *t, const Function *fn) {
    bool named = value_is_symbol(fn->class_name) && value_is_symbol(fn->name);
    if (named)
        text_appendf(t, "%s%s>>%s", symbol_text(vm, fn->class_name, NULL), fn->class_side ? " class" : "",
                     symbol_text(vm, fn->name, NULL));
    else
        text_append_cstring(t, "top level");
    if (fn->kind == FN_BLOCK) text_append_cstring(t, " (block)");
}

static void append_stack(Process *p, Text *t) {
    const Function *fns[FRAMES_MAX];
    size_t depth = 0;
    const Frame *f = p->frame;
    for (; f && depth < FRAMES_MAX; f = f->caller) fns[depth++] = f->fn;
    if (f) text_append_cstring(t, "...;");
    while (depth-- > 0) {
        append_frame(p->vm, t, fns[depth]);
        if (depth) text_append_char(t, ';');
    }
    text_append_char(t, 0);
}

/* ---- the table ---- */

static size_t hash_of(const char *text) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return (size_t)(h ^ (h >> 32));
}

static Entry *find(Entry *entries, size_t capacity, const char *stack) {
    size_t at = hash_of(stack) & (capacity - 1);
    while (entries[at].stack && strcmp(entries[at].stack, stack) != 0) at = (at + 1) & (capacity - 1);
    return &entries[at];
}

static bool grow(Profile *profile) {
    size_t capacity = profile->capacity ? 2 * profile->capacity : 256;
    Entry *entries = memory_zalloc(profile->memory, capacity * sizeof *entries);
    if (!entries) return false;
    for (size_t i = 0; i < profile->capacity; i++)
        if (profile->entries[i].stack)
            *find(entries, capacity, profile->entries[i].stack) = profile->entries[i];
    memory_free(profile->memory, profile->entries);
    profile->entries = entries;
    profile->capacity = capacity;
    return true;
}

/* Takes the text over. Without memory the sample is lost. */
static void charge(Profile *profile, char *stack, uint64_t nanoseconds) {
    bool room = 2 * profile->count < profile->capacity || grow(profile);
    Entry *e = room ? find(profile->entries, profile->capacity, stack) : NULL;
    if (e && !e->stack) {
        *e = (Entry){stack, 0};
        profile->count++;
        stack = NULL;
    }
    if (e) e->nanoseconds += nanoseconds;
    memory_free(profile->memory, stack);
}

void profile_charge(Profile *profile, Process *p, uint64_t nanoseconds) {
    Text t = TEXT_IN(profile->memory);
    append_stack(p, &t);
    if (t.failed) return text_free(&t);
    pthread_mutex_lock(&profile->lock);
    charge(profile, t.bytes, nanoseconds);
    pthread_mutex_unlock(&profile->lock);
}

/* ---- the answer ---- */

static int by_stack(const void *a, const void *b) {
    return strcmp(((const Entry *)a)->stack, ((const Entry *)b)->stack);
}

bool profile_each(Profile *profile, void (*line)(void *context, const char *stack, uint64_t microseconds),
                  void *context) {
    pthread_mutex_lock(&profile->lock);
    Entry *sorted = memory_alloc(profile->memory, (profile->count + 1) * sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; sorted && i < profile->capacity; i++)
        if (profile->entries[i].stack) sorted[n++] = profile->entries[i];
    if (n) qsort(sorted, n, sizeof *sorted, by_stack);
    for (size_t i = 0; i < n; i++) line(context, sorted[i].stack, sorted[i].nanoseconds / 1000);
    pthread_mutex_unlock(&profile->lock);
    memory_free(profile->memory, sorted);
    return sorted != NULL;
}
