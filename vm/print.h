/* printString and displayString of any value (semantics 18). Iterative, into a Text.
 *
 * Instances that answer printString by a method of their own (user overrides, Interval, Result ...) cannot be
 * rendered from C. Object>>printString is therefore a primitive with a fallback: if such values are nested in
 * the receiver, the library asks for them (print_collect_customs, in the order in which they are met), sends
 * printString to each, and hands the texts to print_value. A custom value without a text is printed
 * structurally. The display forms of scripts and of the REPL, and display recursion, are sends, written in
 * Beamtalk (stdlib/Display.bt, System.bt).
 */
#ifndef BT_VM_PRINT_H
#define BT_VM_PRINT_H

#include "vm/text.h"

typedef enum {
    PRINT_STRING, /* printString */
    PRINT_DISPLAY /* displayString: an outermost string or symbol is bare */
} PrintStyle;

/* Caps of structural printing, that is of instances and what they contain. */
#define PRINT_MAX_DEPTH 5
#define PRINT_MAX_SLOTS 50
#define PRINT_MAX_BYTES 10000

/* Appends v. customs: a List of Strings for the custom values within v in order of meeting, or V_EMPTY_LIST.
 * No allocation in the heap. The caller checks t->failed. */
void print_value(BtVm *vm, Text *t, Value v, PrintStyle style, Value customs);
/* The custom values within v (v itself does not count) as a List in order. MAY_GC. */
PrimStatus print_collect_customs(Process *p, Value v, PrintStyle style, Value *out);
/* True if printString of v is answered by a method that C does not know. */
bool print_is_custom(BtVm *vm, Value v);

/* printString, but PRIM_FAIL if there are custom values within v. MAY_GC. */
PrimStatus value_print_plain(Process *p, Value v, Value *out);
/* Rendered as String, custom values structurally. MAY_GC. */
PrimStatus value_print_string(Process *p, Value v, Value *out);
PrimStatus value_display_string(Process *p, Value v, Value *out);
/* Rendered with texts for the custom values. MAY_GC. */
PrimStatus value_render(Process *p, Value v, PrintStyle style, Value customs, Value *out);

#endif
