/* The live workspace of a VM: values that have a name and outlive every process.
 *
 * A NameTable holds the variables of one session, or the names that the whole workspace shares
 * (`Workspace bind:as:`). Sessions are known by a number, so that a process may name one that is gone. Owner:
 * the VM; one lock guards tables and list, and is never held while anything allocates on a process's heap. */
#ifndef BT_VM_WORKSPACE_H
#define BT_VM_WORKSPACE_H

#include <pthread.h>
#include "vm/heap.h"

/* A term that stands alone, counted: who reads it holds a count, not the lock. */
typedef struct SharedTerm {
    _Atomic uint32_t refs;
    Fragment *fragment; /* NULL: an immediate */
    Value value;
} SharedTerm;
SharedTerm *shared_term_new(BtVm *vm, Value term); /* a copy, one count; NULL: no memory */
/* The same of a term that lies in a fragment already, which it takes over. */
SharedTerm *shared_term_adopt(BtVm *vm, Fragment *fragment, Value term);
void shared_term_release(BtVm *vm, SharedTerm *t); /* NULL is ignored */

typedef struct {
    char *name; /* NUL terminated */
    uint32_t length;
    uint64_t version; /* of the workspace's clock, when the value was stored */
    SharedTerm *term;
} NamedValue;

typedef struct {
    NamedValue *items;
    uint32_t count;
    size_t capacity;
} NameTable;

typedef struct Session {
    struct Session *next;
    uint64_t id;
    NameTable names;
} Session;

typedef struct Workspace {
    pthread_mutex_t lock;
    Session *sessions;
    NameTable globals;
    uint64_t next_session, clock;
} Workspace;

bool workspace_new(BtVm *vm); /* sets vm->workspace; false: no memory */
void workspace_free(BtVm *vm);

Session *session_open(BtVm *vm); /* NULL: no memory */
void session_close(BtVm *vm, Session *s);

/* Which table: a session's variables by its number, or, WORKSPACE_GLOBALS, those of the workspace. A session
 * that is gone has no names and takes none. Any thread. */
#define WORKSPACE_GLOBALS 0
bool workspace_has_session(BtVm *vm, uint64_t id);
/* One count for the caller, NULL if the name is not bound; *version, if wanted, 0 then. */
SharedTerm *name_get(BtVm *vm, uint64_t table, const char *name, size_t length, uint64_t *version);
/* Takes over the caller's count of the term. False: no memory, or no such session. */
bool name_put(BtVm *vm, uint64_t table, const char *name, size_t length, SharedTerm *term);
bool name_remove(BtVm *vm, uint64_t table, const char *name, size_t length); /* false: was not bound */
void names_clear(BtVm *vm, uint64_t table);
/* All names, one NUL-terminated text behind the other, in no order; *count of them. memory_free.
 * NULL: none, or no memory. */
char *names_list(BtVm *vm, uint64_t table, uint32_t *count);
/* The numbers of all sessions; memory_free. NULL: none, or no memory. */
uint64_t *workspace_sessions(BtVm *vm, uint32_t *count);

#endif
