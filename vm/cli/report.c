/* See report.h. */
#define _GNU_SOURCE
#include "vm/cli/report.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void report_begin(Report *r) {
    if (r->tap)
        printf("TAP version 13\n");
    else if (!r->quiet && !r->scripts)
        printf("Running tests...\n\n");
    fflush(stdout);
}

void report_program_output(void *report, const char *bytes, size_t length) {
    Report *r = report;
    if (!length || r->discard) return;
    flockfile(stdout);
    fwrite(bytes, 1, length, stdout);
    fflush(stdout);
    /* relaxed: the lock of stdout orders it */
    atomic_store_explicit(&r->line_open, bytes[length - 1] != '\n', memory_order_relaxed);
    funlockfile(stdout);
}

/* From here to end_lines, no program writes in between. */
static void begin_lines(Report *r) {
    flockfile(stdout);
    if (r->progress_shown) fputs("\r\033[K", stderr), r->progress_shown = false;
    if (atomic_exchange_explicit(&r->line_open, false, memory_order_relaxed)) putchar('\n');
}

static void end_lines(void) {
    fflush(stdout);
    funlockfile(stdout);
}

void report_progress(Report *r, const char *text) {
    if (!isatty(STDERR_FILENO)) return;
    flockfile(stdout);
    fprintf(stderr, "\r\033[K%.100s", text);
    r->progress_shown = true;
    funlockfile(stdout);
}

/* ---- TAP ---- */

/* A block scalar; bytes that YAML does not allow in one become question marks. */
static void tap_text(const char *key, const char *text) {
    printf("  %s: |\n    ", key);
    for (const char *c = text; *c; c++) {
        if (*c == '\n' && c[1])
            printf("\n    ");
        else if (*c != '\n' && *c != '\r')
            putchar((unsigned char)*c < ' ' && *c != '\t' ? '?' : *c);
    }
    putchar('\n');
}

static void tap_test(const Report *r, const TestReport *t) {
    bool skipped = t->outcome == TEST_SKIPPED;
    char why[200] = "";
    if (skipped && t->message) snprintf(why, sizeof why, "%s", t->message);
    for (char *c = why; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    printf("%s %u - %s%s%s\n", t->outcome == TEST_FAILED ? "not ok" : "ok", r->number, t->name,
           skipped ? " # SKIP " : "", why);
    if (t->outcome != TEST_FAILED) return;
    printf("  ---\n");
    tap_text("message", t->message ? t->message : "failed");
    if (t->stack && *t->stack) tap_text("stack", t->stack);
    printf("  ...\n");
}

/* ---- the plain form ---- */

static void detail(Report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void detail(Report *r, const char *format, ...) {
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    size_t needed = r->details_length + (size_t)length + 1;
    if (needed > r->details_capacity) {
        char *grown = realloc(r->details, needed * 2);
        if (!grown) return free(text);
        r->details = grown;
        r->details_capacity = needed * 2;
    }
    memcpy(r->details + r->details_length, text, (size_t)length + 1);
    r->details_length += (size_t)length;
    free(text);
}

static void note_failure(Report *r, const TestReport *t) {
    const char *mark = strstr(t->name, ">>"), *message = t->message ? t->message : "failed";
    if (mark)
        detail(r, "FAIL %.*s %s: %s\n%s", (int)(mark - t->name), t->name, mark + 2, message,
               t->stack ? t->stack : "");
    else
        detail(r, "FAIL %s\n%s\n", t->name, message);
}

void report_test(Report *r, const TestReport *t) {
    r->number++;
    r->group_passed += t->outcome == TEST_PASSED;
    r->group_failed += t->outcome == TEST_FAILED;
    r->group_skipped += t->outcome == TEST_SKIPPED;
    if (!r->tap && t->outcome == TEST_FAILED) note_failure(r, t);
    if (!r->tap) return;
    begin_lines(r);
    tap_test(r, t);
    end_lines();
}

void report_group(Report *r, const char *name) {
    unsigned total = r->group_passed + r->group_failed + r->group_skipped;
    if (!r->tap && total && (!r->quiet || r->group_failed)) {
        begin_lines(r);
        printf("  %s: %u tests, %u passed", name, total, r->group_passed);
        if (r->group_skipped) printf(", %u skipped", r->group_skipped);
        if (r->group_failed) printf(", %u failed", r->group_failed);
        printf(" %s\n", r->group_failed ? "✗" : "✓");
        end_lines();
    }
    r->passed += r->group_passed;
    r->failed += r->group_failed;
    r->skipped += r->group_skipped;
    r->group_passed = r->group_failed = r->group_skipped = 0;
}

static void plain_end(Report *r, unsigned files, double seconds) {
    begin_lines(r);
    end_lines();
    if (r->number == 0) {
        printf("No tests found\n");
        return;
    }
    FILE *out = r->failed ? stderr : stdout;
    if (r->details) fprintf(stderr, "\n%s", r->details);
    fprintf(out, "\n%u file(s), %u tests, %u passed", files, r->number, r->passed);
    if (r->skipped) fprintf(out, ", %u skipped", r->skipped);
    fprintf(out, ", %u failed", r->failed);
    if (!r->scripts) fprintf(out, " (%.1fs)", seconds);
    fputc('\n', out);
    if (r->failed) fprintf(stderr, "Error: %u test(s) failed\n", r->failed);
}

int report_end(Report *r, unsigned files, double seconds) {
    if (r->tap) {
        begin_lines(r);
        printf("1..%u\n", r->number);
        end_lines();
    } else {
        plain_end(r, files, seconds);
    }
    free(r->details);
    r->details = NULL;
    fflush(stdout);
    return r->failed ? 1 : 0;
}
