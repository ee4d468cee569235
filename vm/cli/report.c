/* See report.h. */
#define _GNU_SOURCE
#include "vm/cli/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void report_begin(Report *r) {
    if (r->tap)
        printf("TAP version 13\n");
    else if (!r->quiet)
        printf("Running tests...\n\n");
}

void report_program_output(void *report, const char *bytes, size_t length) {
    Report *r = report;
    if (!length) return;
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
    if (atomic_exchange_explicit(&r->line_open, false, memory_order_relaxed)) putchar('\n');
}

static void end_lines(void) {
    fflush(stdout);
    funlockfile(stdout);
}

static void tap_block(const char *message) {
    printf("  ---\n  message: |\n    ");
    for (const char *c = message; *c; c++) {
        if (*c == '\n')
            printf("\n    ");
        else if (*c != '\r')
            putchar(*c);
    }
    printf("\n  ...\n");
}

static void note_detail(Report *r, const char *name, const char *message) {
    char *more;
    const char *mark = strstr(name, ">>");
    int n = mark ? asprintf(&more, "%sFAIL %.*s %s: %s\n", r->details ? r->details : "", (int)(mark - name),
                            name, mark + 2, message)
                 : asprintf(&more, "%sFAIL %s\n%s\n", r->details ? r->details : "", name, message);
    if (n < 0) return;
    free(r->details);
    r->details = more;
}

void report_test(Report *r, const char *name, TestOutcome outcome, const char *message) {
    r->number++;
    r->group_passed += outcome == TEST_PASSED;
    r->group_failed += outcome == TEST_FAILED;
    r->group_skipped += outcome == TEST_SKIPPED;
    if (r->tap) {
        begin_lines(r);
        printf("%s %u - %s%s%s\n", outcome == TEST_FAILED ? "not ok" : "ok", r->number, name,
               outcome == TEST_SKIPPED ? " # SKIP " : "", outcome == TEST_SKIPPED && message ? message : "");
        if (outcome == TEST_FAILED) tap_block(message ? message : "failed");
        end_lines();
    } else if (outcome == TEST_FAILED) {
        note_detail(r, name, message ? message : "failed");
    }
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

int report_end(Report *r, unsigned files, double seconds) {
    if (r->tap) {
        printf("1..%u\n", r->number);
    } else if (r->number == 0) {
        printf("No tests found\n");
    } else {
        FILE *out = r->failed ? stderr : stdout;
        fflush(stdout);
        if (r->details) fprintf(stderr, "\n%s\n", r->details);
        fprintf(out, "\n%u file(s), %u tests, %u passed", files, r->number, r->passed);
        if (r->skipped) fprintf(out, ", %u skipped", r->skipped);
        fprintf(out, ", %u failed (%.1fs)\n", r->failed, seconds);
        if (r->failed) fprintf(stderr, "Error: %u test(s) failed\n", r->failed);
    }
    free(r->details);
    fflush(stdout);
    return r->failed ? 1 : 0;
}
