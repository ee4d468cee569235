/* What the REPL and `eval` show of an evaluation: values on stdout, faults and warnings on stderr, colours if
 * both are terminals (spec tooling 1.1, 4.2). */
#ifndef BT_CLI_SCREEN_H
#define BT_CLI_SCREEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include "beamtalk.h"

typedef struct {
    bool colours;
    _Atomic bool line_open; /* the program has printed text without the end of its line */
} Screen;

void screen_open(Screen *s, bool no_color);
/* What the program prints: any thread. */
void screen_program_output(Screen *s, const char *bytes, size_t length);
/* The value of an evaluation that went well, after its warnings. */
void screen_value(Screen *s, const bt_result *result);
void screen_failure(Screen *s, const bt_result *result);
void screen_warnings(Screen *s, const bt_result *result);
/* One line of the tool itself. */
void screen_text(Screen *s, const char *text);
void screen_error(Screen *s, const char *text);

#endif
