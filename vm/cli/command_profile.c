/* `beamtalk profile FILE`: runs a program as `run` does and says where its time went. Folded stacks, one a
 * line with its microseconds, go to a file that tools for flame graphs read; the methods that took most
 * themselves are listed on stderr. */
#include <stdlib.h>
#include <string.h>
#include "vm/cli/cli.h"

enum { SHOWN_METHODS = 20 };

typedef struct {
    char *name;
    uint64_t self_us;
} Cost;

typedef struct {
    FILE *to;
    Cost *costs;
    size_t count, capacity;
    uint64_t total_us;
} Output;

static void add_cost(Output *o, const char *name, uint64_t us) {
    for (size_t i = 0; i < o->count; i++)
        if (!strcmp(o->costs[i].name, name)) {
            o->costs[i].self_us += us;
            return;
        }
    if (o->count == o->capacity) {
        size_t capacity = o->capacity ? 2 * o->capacity : 64;
        Cost *costs = realloc(o->costs, capacity * sizeof *costs);
        if (!costs) return;
        o->costs = costs;
        o->capacity = capacity;
    }
    char *copy = strdup(name);
    if (copy) o->costs[o->count++] = (Cost){copy, us};
}

static void write_line(void *context, const char *stack, uint64_t us) {
    Output *o = context;
    fprintf(o->to, "%s %llu\n", stack, (unsigned long long)us);
    const char *last = strrchr(stack, ';');
    add_cost(o, last ? last + 1 : stack, us);
    o->total_us += us;
}

static int by_cost(const void *a, const void *b) {
    uint64_t x = ((const Cost *)a)->self_us, y = ((const Cost *)b)->self_us;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void show_costs(Output *o, const char *path) {
    if (o->count) qsort(o->costs, o->count, sizeof *o->costs, by_cost);
    fprintf(stderr, "profile: %.1f ms in methods; stacks in %s\n", (double)o->total_us / 1000, path);
    for (size_t i = 0; i < o->count && i < SHOWN_METHODS; i++)
        fprintf(stderr, "%6.1f %%  %10.1f ms  %s\n",
                100.0 * (double)o->costs[i].self_us / (double)o->total_us, (double)o->costs[i].self_us / 1000,
                o->costs[i].name);
}

void write_profile(bt_vm *vm, const char *path) {
    Output o = {.to = fopen(path, "w")};
    if (!o.to) {
        fail("cannot write %s", path);
        return;
    }
    bt_vm_profile(vm, write_line, &o);
    if (fclose(o.to) != 0)
        fail("cannot write %s", path);
    else
        show_costs(&o, path);
    for (size_t i = 0; i < o.count; i++) free(o.costs[i].name);
    free(o.costs);
}

int command_profile(Invocation *in) {
    in->common.profile_path = "profile.folded";
    if (in->argc > 2 && !strcmp(in->argv[1], "-o")) {
        in->common.profile_path = in->argv[2];
        in->argv += 2;
        in->argc -= 2;
    }
    return command_run(in);
}
