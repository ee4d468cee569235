/* The core's only way to the compiler: a table of functions that vm/api sets. NULL entries: no compiler in
 * this VM. */
#ifndef BT_VM_COMPILE_SERVICE_H
#define BT_VM_COMPILE_SERVICE_H

#include "vm/bytecode/bytecode.h"
#include "vm/bytecode/diag.h"
#include "vm/bytecode/uses.h"

typedef struct BtVm BtVm;
typedef struct {
    /* Definitions as source text to a verified, emitted unit, or NULL with diagnostics. */
    BcUnit *(*compile)(BtVm *vm, const char *name, const char *source, size_t length, DiagList *diags);
    /* One method text for a class (compile:source:, ClassBuilder). */
    BcUnit *(*compile_method)(BtVm *vm, const char *class_name, bool class_side, const char *source,
                              size_t length, DiagList *diags);
    /* Shows what the text of one method mentions; false: it is no method. */
    bool (*uses)(const Memory *memory, const char *source, size_t length, UseVisitor visit, void *context);
} CompileService;

#endif
