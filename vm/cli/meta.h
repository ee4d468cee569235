/* Meta commands, lines that begin with a colon: of the REPL (spec tooling 4.4) and of .btscript files (3.4).
 *
 * One table, meta_commands.def, with a function each. A function leaves its reply as text; who called shows
 * it. The two surfaces differ in a few words of reply only (`protocol`). */
#ifndef BT_CLI_META_H
#define BT_CLI_META_H

#include <stdbool.h>
#include "beamtalk.h"

typedef struct {
    bt_vm *vm;
    bt_session *session;
    bool protocol;   /* replies as .btscript files expect them */
    char *last_path; /* of :load, for :reload; meta_free frees it */
    /* Asked before something is destroyed; NULL: go on. */
    bool (*confirm)(void *context, const char *question);
    void *confirm_context;
} Meta;

typedef struct {
    bool failed, exit;
    char *text;        /* the reply, or what went wrong; NULL: nothing to show. free */
    bt_result *result; /* of an evaluation that failed, for who shows more of it; bt_result_free */
} MetaReply;

/* Is this line a meta command rather than source text? */
bool meta_is_command(const char *line);
MetaReply meta_run(Meta *meta, const char *line);
/* As `:load path`, whatever bytes the path has. */
MetaReply meta_load_path(Meta *meta, const char *path);
void meta_reply_free(MetaReply *reply);
void meta_free(Meta *meta);

#endif
