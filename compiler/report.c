/* Reporting from analysis: @expect, and methods that an error spoils instead of the unit. */
#include "compiler/analysis.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool expect_covers(const Expect *e, const char *category) {
    return strcmp(e->category, "all") == 0 || strcmp(e->category, category) == 0;
}

static bool suppressed(Analysis *a, const char *category) {
    for (uint32_t i = a->expect_count; i-- > 0;) {
        Expect *e = &a->expects[i];
        if (!expect_covers(e, category)) continue;
        e->used = true;
        return true;
    }
    return false;
}

/* The home whose body is being analysed, if an error there may spoil just that. */
static FnFacts *spoilable(Analysis *a) {
    if (!a->options->spoil_methods || !a->fn || a->fn->home->script || a->fn->home->is_default) return NULL;
    return a->fn->home;
}

Diag *report(Analysis *a, DiagSeverity severity, const char *category, Span span, const char *format, ...) {
    if (suppressed(a, category) || a->quiet) return NULL;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    FnFacts *home = severity == DIAG_ERROR ? spoilable(a) : NULL;
    if (home) {
        if (!home->spoiled) home->spoiled = arena_copy(a->arena, text, strlen(text));
        severity = DIAG_WARNING;
    }
    return diag_add(a->diags, severity, category, span, "%s", text);
}

void expect_push(Analysis *a, const Node *expect) {
    if (a->expect_count == sizeof a->expects / sizeof *a->expects) return;
    a->expects[a->expect_count++] = (Expect){expect->as.expect.category, expect->span, false};
}

/* Categories whose diagnostics this compiler gives completely: for these an @expect that meets nothing is
 * stale. */
static bool stale_known(const char *category) {
    static const char *const COMPLETE[] = {"class_state_abroad", "stored_closure", "actor_new",
                                           "unresolved_class"};
    for (size_t i = 0; i < sizeof COMPLETE / sizeof *COMPLETE; i++)
        if (strcmp(category, COMPLETE[i]) == 0) return true;
    return false;
}

void expect_pop(Analysis *a, uint32_t count) {
    while (a->expect_count > count) {
        Expect e = a->expects[--a->expect_count];
        if (!e.used && !a->quiet && stale_known(e.category))
            diag_add(a->diags, DIAG_WARNING, "lint", e.span, "stale @expect: no %s diagnostic here",
                     e.category);
    }
}
