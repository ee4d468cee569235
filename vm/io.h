/* Input and output: the console, and the reading of stdin off the scheduler threads.
 *
 * Program output is buffered per VM and handed to vm->out (or file descriptor 1) when the buffer is full,
 * when nobody has work, before stdin is read, and at the end. Lines of stdin are read on the pool of one
 * libuv loop, whose thread starts at the first request; the process that asked waits in its reply slot. In
 * seeded mode there is no thread: the driver does one request at a time when no process is runnable. Files
 * are prims/prim_file.c's.
 */
#ifndef BT_VM_IO_H
#define BT_VM_IO_H

#include "vm/vm.h"

/* Any thread. The hooks run under the console's lock: they must not write to the console themselves. */
void io_console_write(BtVm *vm, const char *bytes, size_t length);
void io_console_flush(BtVm *vm);
/* Is this thread in the output hook, and so holds the console's lock? */
bool io_in_hook(BtVm *vm);
/* Standard error or vm->error_out, unbuffered, after what is pending on the console. */
void io_error_write(BtVm *vm, const char *bytes, size_t length);
/* To the stream stdout, in order with what the host writes there, and never a SIGPIPE. Any thread. */
void io_write_stdout(const char *bytes, size_t length);
/* PRIM_BLOCK: a String without its line end, or nil at the end of input. */
PrimStatus io_read_line(Process *p);
/* A process that may wait for a line has been killed: its read ends before it takes one. Any thread. */
void io_reader_gone(BtVm *vm);

/* ---- for vm.c and the seeded driver ---- */
IoThread *io_new(BtVm *vm);
void io_stop(BtVm *vm); /* flushes, ends the loop's thread; no process runs any more */
void io_free(BtVm *vm);
/* Seeded mode: does the oldest request; false if there is none. */
bool io_run_one(BtVm *vm);

#endif
