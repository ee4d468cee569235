/* Nested Lists of bytes and byte strings, shared by the String and Binary primitives. */
#ifndef BT_IOLIST_H
#define BT_IOLIST_H

#include "vm/text.h"

typedef enum { IOLIST_BYTES, IOLIST_CODEPOINTS } IolistNumbers;
/* Appends x flattened, numbers as bytes (0-255) or as code points. False for anything else in it, or when t
 * fails. */
bool iolist_append(Text *t, Value x, IolistNumbers numbers);

#endif
