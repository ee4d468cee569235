/* See screen.h. */
#include "vm/cli/screen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char PLAIN[] = "", RESET[] = "\033[0m", BOLD_RED[] = "\033[1;31m", YELLOW[] = "\033[33m",
                  GREEN[] = "\033[32m", BOLD_BLUE[] = "\033[1;34m", CYAN[] = "\033[36m";

void screen_open(Screen *s, bool no_color) {
    const char *term = getenv("TERM"), *refused = getenv("NO_COLOR");
    bool terminals = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    s->colours = terminals && !no_color && !(refused && *refused) && term && *term && strcmp(term, "dumb");
}

void screen_program_output(Screen *s, const char *bytes, size_t length) {
    if (!length) return;
    flockfile(stdout);
    fwrite(bytes, 1, length, stdout);
    fflush(stdout);
    /* relaxed: the lock of stdout orders it */
    atomic_store_explicit(&s->line_open, bytes[length - 1] != '\n', memory_order_relaxed);
    funlockfile(stdout);
}

/* Nothing of ours stands behind what a program left on its line. */
static void fresh_line(Screen *s) {
    if (atomic_exchange_explicit(&s->line_open, false, memory_order_relaxed)) putchar('\n');
    fflush(stdout);
}

static void coloured_line(const Screen *s, FILE *out, const char *colour, const char *text) {
    if (s->colours && colour != PLAIN)
        fprintf(out, "%s%s%s\n", colour, text, RESET);
    else
        fprintf(out, "%s\n", text);
    fflush(out);
}

static const char *colour_of(const char *class_name) {
    static const struct {
        const char *name, *colour;
    } table[] = {{"String", GREEN},   {"Integer", YELLOW},  {"Float", YELLOW},
                 {"True", BOLD_BLUE}, {"False", BOLD_BLUE}, {"UndefinedObject", BOLD_BLUE}};
    for (size_t i = 0; class_name && i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, class_name)) return table[i].colour;
    return class_name ? CYAN : PLAIN;
}

void screen_text(Screen *s, const char *text) {
    fresh_line(s);
    coloured_line(s, stdout, PLAIN, text);
}

void screen_value(Screen *s, const bt_result *r) {
    const char *text = bt_result_repl_text(r), *class_name = bt_result_value_class(r);
    fresh_line(s);
    screen_warnings(s, r);
    if (text)
        coloured_line(s, stdout, colour_of(class_name), text);
    else if (class_name) /* its printString has failed */
        printf("%s %s\n", strchr("AEIOU", *class_name) ? "an" : "a", class_name);
    fflush(stdout);
}

void screen_warnings(Screen *s, const bt_result *r) {
    bt_diagnostic d;
    for (size_t i = 0; bt_result_diagnostic(r, i, &d); i++) {
        if (d.severity == BT_DIAG_ERROR) continue;
        fresh_line(s);
        fprintf(stderr, "• %s: %s\n", d.severity == BT_DIAG_WARNING ? "warning" : "hint", d.message);
        if (d.help) fprintf(stderr, "  help: %s\n", d.help);
    }
}

void screen_error(Screen *s, const char *text) {
    fresh_line(s);
    fputs(s->colours ? BOLD_RED : PLAIN, stderr);
    fprintf(stderr, "Error: %s%s\n", text, s->colours ? RESET : PLAIN);
}

static void more(const char *label, const char *text) {
    if (text && *text) fprintf(stderr, "%s: %s\n", label, text);
}

/* True if there were errors of the compiler. */
static bool compile_errors(Screen *s, const bt_result *r) {
    bt_diagnostic d;
    bool any = false;
    for (size_t i = 0; bt_result_diagnostic(r, i, &d); i++) {
        if (d.severity != BT_DIAG_ERROR) continue;
        screen_error(s, d.message);
        if (d.line) fprintf(stderr, "Line: %u\n", d.line);
        more("Hint", d.help);
        any = true;
    }
    return any;
}

static const char *reason_of(const bt_result *r) {
    switch (bt_result_status(r)) {
    case BT_TIMEOUT: return "the time limit passed";
    case BT_KILLED: return "the evaluation's process was killed";
    case BT_NO_MEMORY:
    case BT_VM_FAILED: return "out of memory";
    default: return "unknown error";
    }
}

void screen_failure(Screen *s, const bt_result *r) {
    const char *message = bt_result_error_message(r), *class_name = bt_result_error_class(r);
    fresh_line(s);
    if (bt_result_status(r) == BT_INTERRUPTED) {
        fputs("Interrupted\n", stderr);
        return;
    }
    if (bt_result_status(r) == BT_COMPILE_ERROR && compile_errors(s, r)) return;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    /* What the text itself has wrong is no exception of the program, however late it is found. */
    const char *kind = bt_result_error_kind(r);
    bool own_fault = kind && (!strcmp(kind, "undefined_variable") || !strcmp(kind, "compile_error"));
    if (class_name && !own_fault) fprintf(out, "%s: ", class_name);
    fputs(message ? message : reason_of(r), out);
    fclose(out);
    screen_error(s, text ? text : "out of memory");
    free(text);
    more("Hint", bt_result_error_hint(r));
}
