/* Does the REPL (or a .btscript reader) need more lines before this input can be parsed? Spec syntax.md 5.4.
 */
#ifndef BT_COMPILER_INPUT_COMPLETE_H
#define BT_COMPILER_INPUT_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    INPUT_COMPLETE,
    INPUT_INCOMPLETE,     /* an open bracket or literal, or a trailing operator: more lines are needed */
    INPUT_OPEN_DEFINITION /* only a class without methods or a protocol: more may follow, a blank line submits
                             it */
} InputState;

InputState input_state(const char *text, size_t length);
static inline bool input_complete(const char *text, size_t length) {
    return input_state(text, length) == INPUT_COMPLETE;
}

#endif
