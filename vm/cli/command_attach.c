/* `beamtalk attach SOCKET` and `beamtalk top SOCKET`: the other end of `run --listen`. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "compiler/input_complete.h"
#include "vm/cli/cli.h"
#include "vm/cli/frames.h"
#include "vm/cli/history_file.h"
#include "vm/cli/line_editor.h"
#include "vm/cli/meta.h"

/* Sends a request and shows the reply: values on stdout, errors on stderr. False: the session is over. */
static bool ask(int fd, FrameKind kind, const char *text, size_t length) {
    FrameKind got;
    char *reply;
    size_t reply_length;
    if (!frame_write(fd, kind, text, length) || !frame_read(fd, &got, &reply, &reply_length))
        return fail("the program has ended"), false;
    if (reply_length) fprintf(got == FRAME_ERROR ? stderr : stdout, "%s\n", reply);
    fflush(stdout);
    free(reply);
    return got != FRAME_END;
}

/* ---- attach ---- */

typedef struct {
    char *text;
    size_t length;
} Input;

static bool add_line(Input *in, const char *line) {
    size_t n = strlen(line), before = in->length ? in->length + 1 : 0;
    char *grown = realloc(in->text, before + n + 1);
    if (!grown) return false;
    if (before) grown[before - 1] = '\n';
    memcpy(grown + before, line, n + 1);
    in->text = grown;
    in->length = before + n;
    return true;
}

static bool is_whole(const Input *in, const char *line) {
    if (meta_is_command(in->text)) return true;
    InputState state = input_state(in->text, in->length);
    return state == INPUT_COMPLETE || (state == INPUT_OPEN_DEFINITION && line[strspn(line, " \t")] == 0);
}

/* False: no more input. An input that the end of the lines cuts off is sent as it is. */
static bool read_input(LineEditor *editor, Input *in) {
    free(in->text);
    *in = (Input){0};
    for (const char *line;;) {
        LineStatus status = line_editor_read(editor, in->length ? "..> " : "> ", &line);
        if (status == LINE_END) return in->length > 0;
        if (status == LINE_INTERRUPTED) return free(in->text), *in = (Input){0}, true;
        if (!in->length && line[strspn(line, " \t")] == 0) continue;
        if (!add_line(in, line)) return false;
        if (is_whole(in, line)) return true;
    }
}

int command_attach(Invocation *in) {
    if (in->argc != 2) return usage_error("attach needs the path of a socket");
    int fd = frame_connect(in->argv[1]);
    if (fd < 0) return 1;
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    char *history = terminal ? history_file_path() : NULL;
    LineEditorConfig config = {.terminal = terminal, .history_path = history};
    LineEditor *editor = line_editor_new(&config);
    Input input = {0};
    if (terminal)
        printf("Attached to %s. Type :help for commands, :exit to leave the program alone.\n", in->argv[1]);
    while (editor && read_input(editor, &input) &&
           (!input.length || ask(fd, FRAME_EVALUATE, input.text, input.length))) {
    }
    line_editor_free(editor);
    free(input.text);
    free(history);
    close(fd);
    return editor ? 0 : 1;
}

/* ---- top ---- */

/* Shows the screen `rounds` times, a second apart; 0: until the program or the person ends it. */
static int show_rounds(int fd, unsigned rounds) {
    bool terminal = isatty(STDOUT_FILENO);
    for (unsigned i = 0; rounds == 0 || i < rounds; i++) {
        if (i) nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        if (terminal) fputs("\033[H\033[2J", stdout);
        if (!ask(fd, FRAME_TOP, terminal ? "30" : "1000", terminal ? 2 : 4)) return 1;
    }
    return 0;
}

int command_top(Invocation *in) {
    unsigned rounds = isatty(STDOUT_FILENO) ? 0 : 1;
    int at = 1;
    if (in->argc > 3 && !strcmp(in->argv[1], "-n")) rounds = (unsigned)atoi(in->argv[2]), at = 3;
    if (at + 1 != in->argc) return usage_error("top needs the path of a socket");
    int fd = frame_connect(in->argv[at]);
    if (fd < 0) return 1;
    int code = show_rounds(fd, rounds);
    close(fd);
    return code;
}
