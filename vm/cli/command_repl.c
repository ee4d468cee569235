/* `beamtalk repl`: reads an input, evaluates it, shows what it came to (spec tooling 4).
 *
 * Ctrl-C cancels the input or interrupts the evaluation; a signal that another process sends ends the command
 * as it ends any other. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compiler/input_complete.h"
#include "vm/cli/cli.h"
#include "vm/cli/history_file.h"
#include "vm/cli/line_editor.h"
#include "vm/cli/manifest.h"
#include "vm/cli/meta.h"
#include "vm/cli/screen.h"
#include "vm/cli/signals.h"

typedef struct {
    bt_vm *vm;
    bt_session *session;
    LineEditor *editor;
    Screen screen;
    Meta meta;
    bool terminal;
    char *input; /* lines read so far of an unfinished input */
    size_t length;
    _Atomic bool evaluating;
    int exit_status; /* of `Program exit:`, -1: goes on */
} Repl;

/* ---- from other threads ---- */

static void program_output(void *context, const char *bytes, size_t length) {
    Repl *r = context;
    if (!r->editor || !line_editor_print(r->editor, bytes, length))
        screen_program_output(&r->screen, bytes, length);
}

static SignalAction on_signal(void *context, int number, bool from_terminal) {
    Repl *r = context;
    bool evaluating = atomic_load(&r->evaluating);
    if (number != SIGINT || !from_terminal || !r->terminal) {
        if (evaluating) return SIGNAL_STOP;
        if (r->terminal) line_editor_leave(r->editor);
        return SIGNAL_EXIT_NOW;
    }
    if (evaluating)
        bt_session_interrupt(r->session);
    else
        line_editor_interrupt(r->editor);
    return SIGNAL_TAKEN;
}

/* ---- evaluating ---- */

static void evaluate(Repl *r) {
    bt_eval_options options = {
        .size = sizeof options, .name = "input", .want_shown = 1, .ignore_link_exits = 1};
    bt_result *result = NULL;
    bt_status status = bt_vm_eval(r->session, r->input, r->length, &options, &result);
    if (status == BT_OK) {
        screen_value(&r->screen, result);
    } else if (status == BT_EXIT) {
        r->exit_status = bt_result_exit_status(result);
    } else {
        screen_warnings(&r->screen, result);
        screen_failure(&r->screen, result);
    }
    bt_result_free(result);
}

/* False: the command ends the session. */
static bool show_reply(Repl *r, MetaReply reply) {
    bool goes_on = !reply.exit;
    if (reply.failed && reply.result && bt_result_status(reply.result) == BT_EXIT)
        r->exit_status = bt_result_exit_status(reply.result);
    else if (reply.failed && reply.result)
        screen_failure(&r->screen, reply.result);
    else if (reply.failed)
        screen_error(&r->screen, reply.text ? reply.text : "out of memory");
    else if (reply.text && *reply.text)
        screen_text(&r->screen, reply.text);
    meta_reply_free(&reply);
    return goes_on;
}

/* ---- one input ---- */

static void drop_input(Repl *r) {
    free(r->input);
    r->input = NULL;
    r->length = 0;
}

static bool add_line(Repl *r, const char *line) {
    size_t n = strlen(line), before = r->length ? r->length + 1 : 0;
    char *grown = realloc(r->input, before + n + 1);
    if (!grown) return false;
    if (before) grown[before - 1] = '\n';
    memcpy(grown + before, line, n + 1);
    r->input = grown;
    r->length = before + n;
    return true;
}

static bool is_blank(const char *line) { return line[strspn(line, " \t\r")] == 0; }

/* A documentation comment belongs to what follows. */
static bool is_comment(const char *line) {
    line += strspn(line, " \t");
    return !strncmp(line, "//", 2) && line[2] != '/';
}

static bool is_doc_comment(const char *line) {
    line += strspn(line, " \t");
    return !strncmp(line, "///", 3);
}

/* The body is still to come. */
static bool ends_with_arrow(const char *line) {
    size_t n = strlen(line);
    while (n && strchr(" \t\r", line[n - 1])) n--;
    return n >= 2 && line[n - 2] == '=' && line[n - 1] == '>';
}

/* Is the input whole, now that `line` has been added to it? What is pasted goes on as long as its lines are
 * indented. */
static bool is_whole(Repl *r, const char *line) {
    InputState state = input_state(r->input, r->length);
    if (state == INPUT_INCOMPLETE || is_doc_comment(line) || ends_with_arrow(line)) return false;
    if (line_editor_more_indented(r->editor)) return false;
    return state == INPUT_COMPLETE || is_blank(line);
}

typedef enum { GOT_INPUT, GOT_NOTHING, GOT_END } Got;

static Got read_input(Repl *r) {
    drop_input(r);
    for (;;) {
        const char *line;
        LineStatus status = line_editor_read(r->editor, r->length ? "..> " : "> ", &line);
        if (status == LINE_INTERRUPTED) {
            printf("%s\n", r->length ? "\nCancelled" : "");
            fflush(stdout);
            return GOT_NOTHING;
        }
        if (status == LINE_END) return r->length ? GOT_INPUT : GOT_END;
        if (!r->length && (is_blank(line) || is_comment(line))) return GOT_NOTHING;
        if (!add_line(r, line)) return fail("out of memory"), GOT_NOTHING;
        if (r->input == NULL || meta_is_command(r->input) || is_whole(r, line)) return GOT_INPUT;
    }
}

/* False: the session is over. */
static bool step(Repl *r) {
    Got got = read_input(r);
    if (got == GOT_NOTHING) return true;
    if (got == GOT_END) {
        if (r->terminal) printf("\nGoodbye!\n");
        return false;
    }
    atomic_store(&r->evaluating, true);
    bool goes_on = true;
    if (meta_is_command(r->input))
        goes_on = show_reply(r, meta_run(&r->meta, r->input));
    else
        evaluate(r);
    atomic_store(&r->evaluating, false);
    return goes_on && r->exit_status < 0;
}

/* ---- the command ---- */

static Completions complete(void *context, const char *text, size_t length) {
    Repl *r = context;
    char *whole;
    if (!r->length || asprintf(&whole, "%s\n%.*s", r->input, (int)length, text) < 0)
        return complete_text(r->session, text, length);
    Completions c = complete_text(r->session, whole, strlen(whole));
    free(whole);
    return c;
}

static bool confirm(void *context, const char *question) {
    Repl *r = context;
    char *prompt;
    const char *line;
    if (!r->terminal || asprintf(&prompt, "%s [y/N] ", question) < 0) return true;
    bool yes = line_editor_read(r->editor, prompt, &line) == LINE_READ && (*line == 'y' || *line == 'Y');
    free(prompt);
    return yes;
}

static int run(Repl *r, char **paths, int path_count) {
    atomic_store(&r->evaluating, true);
    if (r->terminal)
        printf("Beamtalk v%s\nType :help for available commands, :exit to quit.\n\n", BT_VERSION);
    fflush(stdout);
    if (manifest_exists(".")) (void)show_reply(r, meta_run(&r->meta, ":sync"));
    for (int i = 0; i < path_count; i++) (void)show_reply(r, meta_load_path(&r->meta, paths[i]));
    atomic_store(&r->evaluating, false);
    while (step(r)) {
    }
    fflush(stdout);
    return r->exit_status < 0 ? 0 : r->exit_status;
}

typedef struct {
    bool no_color;
    char **paths;
    int path_count;
} ReplOptions;

/* 0, or the exit status of a usage error. */
static int take_options(Invocation *in, ReplOptions *o) {
    for (int i = 1; i < in->argc; i++) {
        const char *a = in->argv[i];
        if (!strcmp(a, "--no-color"))
            o->no_color = true;
        else if (!strcmp(a, "--load") && i + 1 < in->argc)
            o->paths[o->path_count++] = in->argv[++i];
        else if (!strcmp(a, "-e") || !strcmp(a, "--ephemeral"))
            continue; /* every session of ours is */
        else if (a[0] == '-')
            return usage_error("unknown option '%s': this REPL runs in its own process, there is no node to "
                               "reach",
                               a);
        else
            return usage_error("repl takes no operands, but '%s' was given; --load PATH loads a file", a);
    }
    return 0;
}

static int open_and_run(Repl *r, Invocation *in, const ReplOptions *o) {
    char *history = r->terminal ? history_file_path() : NULL;
    LineEditorConfig config = {
        .terminal = r->terminal, .history_path = history, .complete = complete, .context = r};
    int code = 1;
    screen_open(&r->screen, o->no_color);
    r->vm = start_vm_writing(&in->common, program_output, r);
    r->session = start_session(r->vm);
    r->editor = r->session ? line_editor_new(&config) : NULL;
    if (r->editor) {
        r->meta = (Meta){.vm = r->vm, .session = r->session, .confirm = confirm, .confirm_context = r};
        signals_hook(in->common.signals, on_signal, r);
        code = run(r, o->paths, o->path_count);
        signals_hook(in->common.signals, NULL, NULL);
    } else if (r->session) {
        fail("the terminal cannot be used");
    }
    LineEditor *editor = r->editor;
    bt_session_free(r->session);
    stop_vm(&in->common, r->vm);
    line_editor_free(editor);
    meta_free(&r->meta);
    drop_input(r);
    free(history);
    return code;
}

int command_repl(Invocation *in) {
    Repl r = {.exit_status = -1, .terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    ReplOptions options = {.paths = calloc((size_t)in->argc, sizeof(char *))};
    if (!options.paths) return fail("out of memory");
    int code = take_options(in, &options);
    if (code == 0) code = open_and_run(&r, in, &options);
    free(options.paths);
    return code;
}
