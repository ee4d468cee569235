/* The lines that were typed, one a line, oldest first. Failures are silent: a session without a history is a
 * session. */
#ifndef BT_CLI_HISTORY_FILE_H
#define BT_CLI_HISTORY_FILE_H

enum { HISTORY_LINES = 1000 };

/* ~/.beamtalk/repl_history, its directory made if it is missing; NULL: no home. Caller frees. */
char *history_file_path(void);
/* The last HISTORY_LINES lines in turn. A file that has grown far beyond them is cut back to them. */
void history_file_read(const char *path, void (*line)(void *context, const char *text), void *context);
void history_file_add(const char *path, const char *line);

#endif
