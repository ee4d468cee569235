/* The log entry about an error that nobody waits for: what failed, with what, in which state. */
#ifndef BT_VM_CRASH_REPORT_H
#define BT_VM_CRASH_REPORT_H

#include "vm/process.h"

/* p failed to serve m, or, m NULL, in its own code. owner and selector: of what failed, Symbols or nil;
 * separator stands between them. The state printed is what the process goes on with. The exception is a root
 * of p. */
void crash_report(Process *p, Value owner, const char *separator, Value selector, const Message *m,
                  Value exception);

#endif
