/* What the files of the facts walk share. Nobody else includes this. */
#ifndef BT_COMPILER_FACTS_H
#define BT_COMPILER_FACTS_H

#include "compiler/analysis.h"

/* Ends the scope that began when scope_count was `mark`. */
void facts_scope_pop(Analysis *a, uint32_t mark);
Var *facts_var_new(Analysis *a, const char *name, VarKind kind, Span span);
/* A new variable of the current scope. */
Var *facts_declare(Analysis *a, const char *name, VarKind kind, Span span);
/* A session variable, wherever its name stands. */
Var *facts_declare_binding(Analysis *a, const char *name, Span span);
/* The innermost visible variable of that name, or NULL. */
Var *facts_lookup(Analysis *a, const char *name);
/* Reading and writing where the walk stands: captures, carriers, writes of blocks follow. */
void facts_read(Analysis *a, Var *var);
void facts_write(Analysis *a, Var *var);
void facts_read_field(Analysis *a, const char *name);
void facts_write_field(Analysis *a, const char *name);
/* The literal blocks of one threading construct see each other's writes: what one of them writes, another
 * that may run after it reads where it is written, not as it was when the blocks were made. */
void facts_share_writes(Analysis *a, const FnFacts *writer, FnFacts *reader);
/* So does a literal block of a construct with what a stored block writes that it may call; at the end of a
 * home. Other blocks that only read keep the values of their making. */
/* What is kept lives as long as the method: that opens carriers, if need be none, so that this can be seen.
 */
void facts_root_carriers(Analysis *a, FnFacts *home);
void facts_share_stored_writes(Analysis *a);
/* "Undefined variable", with the name that may have been meant. */
void facts_undefined(Analysis *a, const char *name, Span span);

#endif
