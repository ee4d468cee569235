/* What benchmark programs print, `name<TAB>metric<TAB>value<TAB>unit` a line, gathered over rounds. Owner:
 * the caller, until figures_free. */
#ifndef BT_CLI_BENCH_FIGURES_H
#define BT_CLI_BENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t program; /* figures of two programs are never mixed, whatever they are called */
    char *name, *metric, *unit;
    double *values; /* one a round */
    size_t count, capacity;
} Figure;

typedef struct {
    Figure *items;
    size_t count, capacity;
} Figures;

/* Splits one line (without its end) into a figure and adds it. False: the line is none; it is whole again. */
bool figures_take_line(Figures *f, size_t program, char *line);
/* False: no memory, a message was given. */
bool figures_add(Figures *f, size_t program, const char *name, const char *metric, double value,
                 const char *unit);
/* From number `first` on, to stdout: as a table for people or with tabs; of several rounds the median, the
 * smallest and the largest. */
void figures_print(const Figures *f, size_t first, bool table);
void figures_free(Figures *f);
/* Sorts the values. */
double median(double *values, size_t count);

#endif
