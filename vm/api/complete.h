/* What the last word of an unfinished input may become: variables and classes where an operand is due,
 * selectors behind a receiver. The receiver's class is known for literals, variables, class names, and
 * answers of methods whose head names a type. */
#ifndef BT_API_COMPLETE_H
#define BT_API_COMPLETE_H

#include "beamtalk.h"

typedef struct {
    const struct Memory *memory;
    char **words; /* sorted, whole words */
    size_t count;
    size_t prefix; /* bytes of the text's end that they replace */
} Completions;

Completions complete_text(bt_session *session, const char *text, size_t length);
void completions_free(Completions *c);

#endif
