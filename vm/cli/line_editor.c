/* See line_editor.h. libedit reads its characters through our Input, so that another thread can end a read:
 * it sets a request, and wakes the Input. */
#define _GNU_SOURCE
#include "vm/cli/line_editor.h"
#include <histedit.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>
#include "vm/cli/history_file.h"
#include "vm/cli/input.h"

struct LineEditor {
    LineEditorConfig config;
    Input input;
    EditLine *el; /* NULL: plain lines */
    History *history;
    const char *prompt;
    char *line;
    size_t line_capacity;
    pthread_mutex_t lock; /* guards what other threads ask for, below */
    bool editing, interrupt;
    char *above; /* text to show above the line */
    size_t above_length;
};

/* ---- requests of other threads ---- */

void line_editor_interrupt(LineEditor *e) {
    pthread_mutex_lock(&e->lock);
    e->interrupt = true;
    pthread_mutex_unlock(&e->lock);
    input_wake(&e->input);
}

bool line_editor_print(LineEditor *e, const char *bytes, size_t length) {
    pthread_mutex_lock(&e->lock);
    bool taken = e->editing;
    char *grown = taken ? realloc(e->above, e->above_length + length) : NULL;
    if (grown) {
        memcpy(grown + e->above_length, bytes, length);
        e->above = grown;
        e->above_length += length;
    }
    pthread_mutex_unlock(&e->lock);
    if (taken) input_wake(&e->input);
    return taken;
}

void line_editor_leave(LineEditor *e) {
    pthread_mutex_lock(&e->lock);
    ssize_t written = e->editing ? write(STDOUT_FILENO, "\n", 1) : 0;
    (void)written;
    pthread_mutex_unlock(&e->lock);
}

static bool take_interrupt(LineEditor *e) {
    pthread_mutex_lock(&e->lock);
    bool asked = e->interrupt;
    e->interrupt = false;
    pthread_mutex_unlock(&e->lock);
    return asked;
}

/* The text that came meanwhile, on lines of its own, and the edited line again below it. */
static void show_above(LineEditor *e) {
    pthread_mutex_lock(&e->lock);
    char *text = e->above;
    size_t length = e->above_length;
    e->above = NULL;
    e->above_length = 0;
    pthread_mutex_unlock(&e->lock);
    if (!length) return;
    fputs("\r\033[K", stdout);
    fwrite(text, 1, length, stdout);
    if (text[length - 1] != '\n') putchar('\n');
    fflush(stdout);
    free(text);
    el_set(e->el, EL_REFRESH);
}

static void set_editing(LineEditor *e, bool editing) {
    pthread_mutex_lock(&e->lock);
    e->editing = editing;
    pthread_mutex_unlock(&e->lock);
}

/* ---- libedit's call-backs ---- */

static LineEditor *editor_of(EditLine *el) {
    void *data = NULL;
    el_get(el, EL_CLIENTDATA, &data);
    return data;
}

static char *prompt_text(EditLine *el) { return (char *)(uintptr_t)editor_of(el)->prompt; }

/* One character, 0 at the end, -1 when interrupted. Bytes that are no UTF-8 become U+FFFD. */
static int read_character(EditLine *el, wchar_t *out) {
    LineEditor *e = editor_of(el);
    mbstate_t state = {0};
    for (;;) {
        if (take_interrupt(e)) return -1;
        show_above(e);
        int byte = input_byte(&e->input);
        if (byte == INPUT_WOKEN) continue;
        if (byte == INPUT_END) return 0;
        char c = (char)byte;
        size_t used = mbrtowc(out, &c, 1, &state);
        if (used == (size_t)-2) continue;
        if (used == (size_t)-1) *out = 0xfffd;
        return 1;
    }
}

static size_t common_length(const Completions *c) {
    size_t n = strlen(c->words[0]);
    for (size_t i = 1; i < c->count; i++) {
        size_t k = 0;
        while (k < n && c->words[i][k] == c->words[0][k]) k++;
        n = k;
    }
    return n;
}

static unsigned terminal_columns(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void list_words(const Completions *c) {
    enum { MOST = 200 };
    size_t widest = 0, count = c->count < MOST ? c->count : MOST;
    for (size_t i = 0; i < count; i++)
        if (strlen(c->words[i]) > widest) widest = strlen(c->words[i]);
    size_t columns = terminal_columns() / (widest + 2);
    if (!columns) columns = 1;
    size_t rows = (count + columns - 1) / columns;
    putchar('\n');
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = row; i < count; i += rows)
            printf("%-*s", i + rows < count ? (int)(widest + 2) : 0, c->words[i]);
        putchar('\n');
    }
    if (count < c->count) printf("... and %zu more\n", c->count - count);
    fflush(stdout);
}

/* Inserts what all words have in common beyond the prefix; a keyword message as far as its first colon. */
static bool insert_common(EditLine *el, const Completions *c) {
    size_t common = common_length(c);
    if (common <= c->prefix) return false;
    char *more = strndup(c->words[0] + c->prefix, common - c->prefix);
    if (!more) return false;
    char *colon = strchr(more, ':');
    if (colon) colon[1] = 0;
    bool whole = c->count == 1 || colon;
    el_insertstr(el, more);
    if (whole) el_insertstr(el, " ");
    free(more);
    return true;
}

static unsigned char complete_word(EditLine *el, int key) {
    (void)key;
    LineEditor *e = editor_of(el);
    const LineInfo *info = el_line(el);
    Completions c =
        e->config.complete(e->config.context, info->buffer, (size_t)(info->cursor - info->buffer));
    unsigned char action = CC_ERROR;
    if (c.count && insert_common(el, &c)) {
        action = CC_REFRESH;
    } else if (c.count > 1) {
        list_words(&c);
        action = CC_REDISPLAY;
    }
    completions_free(&c);
    return action;
}

/* ---- life ---- */

static void remember(void *context, const char *line) {
    LineEditor *e = context;
    HistEvent event;
    history(e->history, &event, H_ENTER, line);
}

static bool open_terminal(LineEditor *e) {
    setlocale(LC_CTYPE, "C.UTF-8"); /* libedit counts columns by it; nothing else of ours looks at it */
    e->el = el_init("beamtalk", stdin, stdout, stderr);
    e->history = history_init();
    if (!e->el || !e->history) return false;
    HistEvent event;
    history(e->history, &event, H_SETSIZE, HISTORY_LINES);
    history(e->history, &event, H_SETUNIQUE, 1);
    el_set(e->el, EL_CLIENTDATA, e);
    el_set(e->el, EL_SIGNAL, 0);
    el_set(e->el, EL_PROMPT, prompt_text);
    el_set(e->el, EL_EDITOR, "emacs");
    el_set(e->el, EL_HIST, history, e->history);
    el_set(e->el, EL_GETCFN, read_character);
    el_set(e->el, EL_ADDFN, "bt-complete", "complete the word before the cursor", complete_word);
    el_set(e->el, EL_BIND, "^I", "bt-complete", NULL);
    el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    if (e->config.history_path) history_file_read(e->config.history_path, remember, e);
    return true;
}

LineEditor *line_editor_new(const LineEditorConfig *config) {
    LineEditor *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->config = *config;
    pthread_mutex_init(&e->lock, NULL);
    if (!input_open(&e->input, STDIN_FILENO)) return free(e), NULL;
    if (config->terminal && !open_terminal(e)) return line_editor_free(e), NULL;
    return e;
}

void line_editor_free(LineEditor *e) {
    if (!e) return;
    if (e->el) el_end(e->el);
    if (e->history) history_end(e->history);
    input_close(&e->input);
    pthread_mutex_destroy(&e->lock);
    free(e->above);
    free(e->line);
    free(e);
}

/* ---- reading ---- */

static bool keep(LineEditor *e, size_t *length, char c) {
    if (*length + 2 > e->line_capacity) {
        size_t capacity = e->line_capacity ? e->line_capacity * 2 : 256;
        char *grown = realloc(e->line, capacity);
        if (!grown) return false;
        e->line = grown;
        e->line_capacity = capacity;
    }
    e->line[(*length)++] = c;
    e->line[*length] = 0;
    return true;
}

static LineStatus read_plain(LineEditor *e, const char **line) {
    size_t length = 0;
    for (;;) {
        int byte = input_byte(&e->input);
        if (byte == INPUT_WOKEN && take_interrupt(e)) return LINE_INTERRUPTED;
        if (byte == INPUT_WOKEN) continue;
        if (byte == INPUT_END && length == 0) return LINE_END;
        if (byte == '\n' || byte == INPUT_END) break;
        if (!keep(e, &length, (char)byte)) return LINE_END;
    }
    if (length && e->line[length - 1] == '\r') e->line[length - 1] = 0;
    *line = length ? e->line : "";
    return LINE_READ;
}

static LineStatus read_edited(LineEditor *e, const char *prompt, const char **line) {
    int count = 0;
    e->prompt = prompt;
    el_resize(e->el);
    el_set(e->el, EL_PREP_TERM, 1); /* before the prompt: a Ctrl-D behind it is a key, not an end of file */
    set_editing(e, true);
    const char *text = el_gets(e->el, &count);
    set_editing(e, false);
    if (!text || count <= 0) return count < 0 ? LINE_INTERRUPTED : LINE_END;
    size_t length = 0;
    for (const char *c = text; *c && *c != '\n' && *c != '\r'; c++)
        if (!keep(e, &length, *c)) return LINE_END;
    *line = length ? e->line : "";
    if (length) {
        remember(e, e->line);
        if (e->config.history_path) history_file_add(e->config.history_path, e->line);
    }
    return LINE_READ;
}

LineStatus line_editor_read(LineEditor *e, const char *prompt, const char **line) {
    return e->el ? read_edited(e, prompt, line) : read_plain(e, line);
}

bool line_editor_more_indented(LineEditor *e) { return input_has_indented_line(&e->input); }
