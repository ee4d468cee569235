/* Input and output: the console, and blocking work (files) off the scheduler threads.
 *
 * Program output is buffered per VM and handed to vm->out (or file descriptor 1) when the buffer is full,
 * when nobody has work, before stdin is read, and at the end. Blocking work runs on the pool of one libuv
 * loop, whose thread starts at the first request; the process that asked waits in its reply slot. In seeded
 * mode there is no thread: the driver does one request at a time when no process is runnable.
 */
#ifndef BT_VM_IO_H
#define BT_VM_IO_H

#include "vm/vm.h"

/* Any thread. The hooks run under the console's lock: they must not write to the console themselves. */
void io_console_write(BtVm *vm, const char *bytes, size_t length);
void io_console_flush(BtVm *vm);
/* Standard error, unbuffered, after what is pending on the console. */
void io_error_write(BtVm *vm, const char *bytes, size_t length);
/* PRIM_BLOCK: a String without its line end, or nil at the end of input. */
PrimStatus io_read_line(Process *p);

/* ---- blocking work ---- */
/* Made by io_request_new (or as first member of a larger zeroed block from mem_zalloc), handed over by
 * io_submit. Owner: who fills it; from io_submit on this module. work runs on a pool thread and touches
 * nothing but the request; finish runs in the process's ownership when it resumes, and leaves p->resume_value
 * or p->exception (MAY_GC); drop frees everything, and is called exactly once, also if the process has died
 * meanwhile. */
typedef struct IoRequest IoRequest;
struct IoRequest {
    IoRequest *next;
    BtVm *vm;
    Value pid;
    uint64_t wait_id;
    void (*work)(IoRequest *r);
    void (*finish)(Process *p, IoRequest *r);
    void (*drop)(IoRequest *r); /* NULL: io_request_free */
    int error;                  /* errno that work met, 0 */
    bool is_line;               /* a read of stdin: these go one after the other */
    bool found_end;
    char *path; /* all NUL-terminated or NULL, freed with the request */
    char *bytes;
    size_t length;
    int flags;                  /* for work's own use */
    Value class_name, selector; /* symbols, for errors */
};
IoRequest *io_request_new(BtVm *vm, void (*work)(IoRequest *r), void (*finish)(Process *p, IoRequest *r));
void io_request_free(IoRequest *r);
/* PRIM_BLOCK, or PRIM_RAISE (the request is dropped). timeout_us < 0: none; over: timeout_error is raised,
 * the work goes on unseen. */
PrimStatus io_submit(Process *p, IoRequest *r, int64_t timeout_us);

/* Whole files. The answer is a String (read) or nil (write); errors are raised with the kinds of
 * errors.md 4.5 for class File. The path and the contents are copied. Writing makes missing parent
 * directories. */
PrimStatus io_read_file(Process *p, const char *path, size_t path_length, Value selector);
PrimStatus io_write_file(Process *p, const char *path, size_t path_length, const char *bytes, size_t length,
                         bool append, Value selector);
/* Raises file_not_found, permission_denied, already_exists ... for an errno. */
PrimStatus io_raise_errno(Process *p, int error, Value class_name, Value selector);

/* ---- for vm.c and the seeded driver ---- */
IoThread *io_new(BtVm *vm);
void io_stop(BtVm *vm); /* flushes, ends the loop's thread; no process runs any more */
void io_free(BtVm *vm);
/* Seeded mode: does the oldest request; false if there is none. */
bool io_run_one(BtVm *vm);

#endif
