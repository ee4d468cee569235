/* Lines of a person or a pipe. On a terminal: editing, history and completion by libedit; elsewhere plain
 * lines, without prompts. Owner: one thread; line_editor_interrupt and line_editor_print may come from any.
 */
#ifndef BT_CLI_LINE_EDITOR_H
#define BT_CLI_LINE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include "vm/api/complete.h"

typedef struct LineEditor LineEditor;

typedef struct {
    bool terminal;
    const char *history_path; /* NULL: none is kept */
    /* What the text before the cursor may go on with; the words are the editor's to free. */
    Completions (*complete)(void *context, const char *text, size_t length);
    void *context;
} LineEditorConfig;

LineEditor *line_editor_new(const LineEditorConfig *config); /* NULL: no memory, or no such terminal */
void line_editor_free(LineEditor *e);

typedef enum { LINE_READ, LINE_END, LINE_INTERRUPTED } LineStatus;
/* *line, without its end, lives until the next call. */
LineStatus line_editor_read(LineEditor *e, const char *prompt, const char **line);
/* Has more of a pasted definition arrived: a line that begins with white space? */
bool line_editor_more_indented(LineEditor *e);
/* Makes the read under way, or the next one, answer LINE_INTERRUPTED. */
void line_editor_interrupt(LineEditor *e);
/* While a line is being edited: shows the text above it, and answers true. False: nothing is edited, print
 * it. */
bool line_editor_print(LineEditor *e, const char *bytes, size_t length);
/* The process is about to end: the cursor leaves the edited line. Any thread. */
void line_editor_leave(LineEditor *e);

#endif
