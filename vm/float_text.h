/* Text of floats (stdlib-core 9.4): shortest digits that read back, in the reference's notation. */
#ifndef BT_VM_FLOAT_TEXT_H
#define BT_VM_FLOAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Memory Memory;

#define FLOAT_TEXT_MAX 40
/* Writes the text of a finite double, NUL terminated, into buffer (FLOAT_TEXT_MAX bytes); answers its length.
 */
size_t float_print(double d, char *buffer);
/* Strict form [+-]?[0-9]+.[0-9]+([eE][+-]?[0-9]+)?, nearest double. False: other syntax, out of range or no
 * memory. */
bool float_parse(const Memory *memory, const char *text, size_t length, double *out);

#endif
