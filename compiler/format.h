/* Canonical layout of source text: `beamtalk fmt`.
 *
 * The formatter works on tokens: it never spells a token anew, and it keeps the author's line breaks. What it
 * decides is indentation, the blanks between tokens, blank lines, that every declaration starts a line, and
 * that a `.` which separates nothing goes. Where declarations, statements and elements start it learns from
 * the tree (format_marks.c). The result is parsed again and compared with the tree of the source, so layout
 * can never change what a program means: a text for which it would comes back as it was, with a warning.
 */
#ifndef BT_COMPILER_FORMAT_H
#define BT_COMPILER_FORMAT_H

#include "vm/bytecode/diag.h"

/* The formatted text, malloc'ed; NULL with an error in diags when the text does not parse or memory ran out.
 */
char *format_source(const char *name, const char *text, size_t length, size_t *out_length, DiagList *diags);

#endif
