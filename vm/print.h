/* Rendering of any value as text (semantics 18; tooling 3.3, REPL result line). Iterative, into a Text.
 *
 * Instances that answer printString by a method of their own (user overrides, Interval, Result ...) cannot be
 * rendered from C. Printing is therefore done in two passes by the library (Object>>__printStructure):
 * print_collect_customs lists such nested values in the order in which they are met, Beamtalk sends
 * printString to each, and the second pass takes the texts from `customs`. A custom value without a text is
 * printed structurally.
 */
#ifndef BT_VM_PRINT_H
#define BT_VM_PRINT_H

#include "vm/text.h"

typedef enum {
    PRINT_STRING,     /* printString */
    PRINT_DISPLAY,    /* displayString: the outermost string or symbol is bare */
    PRINT_TRANSCRIPT, /* display recursion: elements of lists and tuples are displayed too */
    PRINT_SCRIPT,     /* expectations of .btscript: Lists as compact JSON */
    PRINT_REPL        /* result line of the REPL */
} PrintStyle;

#define PRINT_MAX_DEPTH 5
#define PRINT_MAX_SLOTS 50
#define PRINT_MAX_BYTES 10000

/* Appends v. customs: a List of Strings for the custom values in order of meeting, or V_EMPTY_LIST. No
 * allocation in the heap. The caller checks t->failed. */
void print_value(BtVm *vm, Text *t, Value v, PrintStyle style, Value customs);
/* The values within v (v itself excluded) whose printString is to be asked by a send, as a List in order.
 * MAY_GC. */
PrimStatus print_collect_customs(Process *p, Value v, PrintStyle style, Value *out);
/* True if printString of v is answered by a method that C does not know. */
bool print_is_custom(BtVm *vm, Value v);

/* Rendered as String. MAY_GC. */
PrimStatus value_print_string(Process *p, Value v, Value *out);
PrimStatus value_display_string(Process *p, Value v, Value *out);
PrimStatus value_render(Process *p, Value v, PrintStyle style, Value customs, Value *out);

#endif
