/* The compiler as the command line uses it, with the classes of a VM as its world. Internal: not installed.
 */
#ifndef BT_API_FRONT_H
#define BT_API_FRONT_H

#include "beamtalk.h"
#include "compiler/compiler.h"

/* Analyses one source text as `run` would. NULL: errors, in diags. */
IrUnit *front_compile_to_ir(bt_vm *vm, const char *name, const char *source, size_t length, DiagList *diags);
BcUnit *front_compile(bt_vm *vm, const char *name, const char *source, size_t length, DiagList *diags);
/* The same, but a semantic error in one method spoils that method only. */
BcUnit *front_compile_spoiled(bt_vm *vm, const char *name, const char *source, size_t length,
                              DiagList *diags);
bool front_has_class(bt_vm *vm, const char *name, size_t length);
/* Makes the classes and extensions of a unit part of the VM; its expressions are not run. Takes the unit.
 * False: refused, and `reason` says why. */
bool front_define(bt_vm *vm, BcUnit *unit, char *reason, size_t reason_size);
/* ThreadedIr and bytecode of one input of a session, as text (free); false: errors, in diags. */
bool front_listing(bt_session *session, const char *source, size_t length, DiagList *diags, char **text);

#endif
