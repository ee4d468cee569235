/* The VM: everything hangs from here; two VMs in one host process are independent. */
#ifndef BT_VM_VM_H
#define BT_VM_VM_H

#include "vm/bytecode/memory.h"
#include "vm/compile_service.h"
#include "vm/interp.h"

typedef struct Schedulers Schedulers; /* vm/sched.c */
typedef struct ClassTable ClassTable; /* vm/class.c */
typedef struct IoThread IoThread;     /* vm/io.c */
typedef struct Tracing Tracing;       /* vm/tracing.c */

struct BtVm {
    const Memory *memory; /* of all that belongs to it (vm/bytecode/memory.h); NULL: the process's own */
    SymbolTable *symbols;
    ClassTable *classes;
    Schedulers *schedulers;
    IoThread *io;
    struct HostTable *host;        /* vm/host.h */
    bool driven;                   /* a host runs it; it has no threads */
    _Atomic(struct PollFd *) poll; /* what tells the host to come; NULL: nobody listens (never, if driven) */
    void *api;                     /* the bt_vm */
    Tracing *tracing;
    struct Profile *profile; /* NULL: nobody asked for one */
    CompileService compiler;
    Value *error_kinds; /* symbols by ErrorKind */
    uint32_t max_symbols;
    size_t default_heap_limit_words, default_stack_limit_words; /* 0 heap = none; stack default 512 MB */
    size_t memory_limit_bytes; /* resident set of the whole VM; 0 = none (vm/limits.h) */
    uint32_t mailbox_limit;    /* messages that may wait for a process; 0 = none */
    uint32_t process_limit;    /* processes that may live, the library's included; 0 = none */
    uint32_t timer_limit;      /* timers that may wait; 0 = none */
    uint64_t reductions_limit, output_limit_bytes; /* of one piece of work (vm/limits.h); 0 = none */
    uint32_t denied;                    /* capabilities that programs have not (capabilities.def) */
    _Atomic bool memory_short;          /* was over the limit at the last look */
    _Atomic int64_t memory_looked_us;   /* when that was */
    _Atomic bool list_patched;          /* a program has changed methods of List: folds are sent */
    bool no_tail_calls, seeded, shared; /* shared: programs cannot end it */
    uint64_t seed;
    int64_t started_us;      /* by the system's clock */
    _Atomic bool failed;     /* a VM structure could not be had: processes stop, API calls answer so */
    _Atomic int exit_status; /* >= 0 once Program exit: or System halt: was sent, else -1 */
    /* stress switches (models.md 2.8), read once from the environment by vm_new of stress builds */
    bool gc_stress, yield_stress, segment_stress;
    void (*out)(void *context, const char *bytes,
                size_t length); /* program output; NULL = stdout, buffered */
    void (*error_out)(void *context, const char *bytes, size_t length); /* Console error:; NULL = stderr */
    void (*log)(void *context, const char *bytes, size_t length);       /* log lines; NULL = as error_out */
    void *io_context;
    struct Workspace *workspace; /* sessions and shared names: vm/workspace.h */
};

/* vm/vm.c. What bt_vm_new hands down; zero = default everywhere. */
typedef struct VmConfig {
    const Memory *memory; /* must outlive the VM */
    unsigned schedulers;
    bool seeded, no_tail_calls, shared;
    uint64_t seed;
    size_t heap_limit_words, stack_limit_words, memory_limit_bytes;
    uint32_t mailbox_limit, process_limit, timer_limit, denied;
    uint64_t reductions_limit, output_limit_bytes;
    bool profile;
    void (*out)(void *context, const char *bytes, size_t length);
    void (*error_out)(void *context, const char *bytes, size_t length);
    void (*log)(void *context, const char *bytes, size_t length);
    void *io_context;
    struct PollFd *poll; /* a host is to run it; must outlive the VM */
    void *api;
} VmConfig;
/* Structures only: no library, no compiler, no threads yet. NULL: no memory. */
BtVm *vm_new(const VmConfig *config);
/* Stops every process and thread, flushes output, frees all. */
void vm_free(BtVm *vm);
/* One log line (a newline is added). Any thread. */
void vm_log(BtVm *vm, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
