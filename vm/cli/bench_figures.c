/* See bench_figures.h. */
#include "vm/cli/bench_figures.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vm/cli/cli.h"

enum { FIELDS = 4 };

static Figure *find(Figures *f, size_t program, const char *name, const char *metric) {
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].program == program && !strcmp(f->items[i].name, name) &&
            !strcmp(f->items[i].metric, metric))
            return &f->items[i];
    return NULL;
}

static void free_figure(Figure *g) {
    free(g->name);
    free(g->metric);
    free(g->unit);
    free(g->values);
}

static Figure *append(Figures *f, size_t program, const char *name, const char *metric, const char *unit) {
    if (f->count == f->capacity) {
        size_t capacity = f->capacity ? f->capacity * 2 : 32;
        Figure *grown = realloc(f->items, capacity * sizeof *grown);
        if (!grown) return NULL;
        f->items = grown;
        f->capacity = capacity;
    }
    Figure *g = &f->items[f->count];
    *g = (Figure){.program = program, .name = strdup(name), .metric = strdup(metric), .unit = strdup(unit)};
    if (!g->name || !g->metric || !g->unit) return free_figure(g), NULL;
    f->count++;
    return g;
}

bool figures_add(Figures *f, size_t program, const char *name, const char *metric, double value,
                 const char *unit) {
    Figure *g = find(f, program, name, metric);
    if (!g) g = append(f, program, name, metric, unit);
    if (g && g->count == g->capacity) {
        size_t capacity = g->capacity ? g->capacity * 2 : 8;
        double *grown = realloc(g->values, capacity * sizeof *grown);
        if (grown) g->values = grown, g->capacity = capacity;
    }
    if (!g || g->count == g->capacity) return fail("out of memory"), false;
    g->values[g->count++] = value;
    return true;
}

static bool is_number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return *text && !*end && isfinite(*value);
}

bool figures_take_line(Figures *f, size_t program, char *line) {
    char *fields[FIELDS], *at = line;
    size_t count = 0;
    double value = 0;
    for (; at && count < FIELDS; count++) {
        fields[count] = at;
        at = strchr(at, '\t');
        if (at) *at++ = 0;
    }
    bool good = count == FIELDS && !at && *fields[0] && *fields[1] && is_number(fields[2], &value);
    bool added = good && figures_add(f, program, fields[0], fields[1], value, fields[3]);
    if (at) at[-1] = '\t';
    for (size_t i = 1; i < count; i++) fields[i][-1] = '\t';
    return added;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void figures_print(const Figures *f, size_t first, bool table) {
    for (size_t i = first; i < f->count; i++) {
        const Figure *g = &f->items[i];
        if (!g->count) continue; /* there was no memory for its first value */
        double middle = median(g->values, g->count), least = g->values[0], most = g->values[g->count - 1];
        if (table && g->count > 1)
            printf("%-24s %-14s %12.6g %-8s %.6g .. %.6g\n", g->name, g->metric, middle, g->unit, least,
                   most);
        else if (table)
            printf("%-24s %-14s %12.6g %s\n", g->name, g->metric, middle, g->unit);
        else if (g->count > 1)
            printf("%s\t%s\t%.10g\t%s\t%.10g\t%.10g\n", g->name, g->metric, middle, g->unit, least, most);
        else
            printf("%s\t%s\t%.10g\t%s\n", g->name, g->metric, middle, g->unit);
    }
    fflush(stdout);
}

void figures_free(Figures *f) {
    for (size_t i = 0; i < f->count; i++) free_figure(&f->items[i]);
    free(f->items);
    *f = (Figures){0};
}
