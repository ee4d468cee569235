/* The difference of two texts, line by line, in unified form. */
#ifndef BT_CLI_TEXT_DIFF_H
#define BT_CLI_TEXT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints nothing when the texts are the same. False: no memory. */
bool text_diff_print(FILE *out, const char *name, const char *old_text, size_t old_length,
                     const char *new_text, size_t new_length);

#endif
