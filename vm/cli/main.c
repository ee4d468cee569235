/* Entry point: finds the subcommand, takes the common options, runs it. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "vm/cli/bundle.h"
#include "vm/cli/cli.h"

enum { PLAIN = false, COMMON = true };
static const Command COMMANDS[] = {
#define COMMAND(name, function, operands, summary, options) {name, function, operands, summary, options},
#include "vm/cli/commands.def"
#undef COMMAND
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static void print_usage(FILE *out) {
    fprintf(out, "usage: beamtalk COMMAND [options] [arguments]\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (COMMANDS[i].summary) fprintf(out, "  %-12s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
    fprintf(out, "\nbeamtalk COMMAND --help says more; beamtalk --version prints the version.\n");
}

static void print_command_help(const Command *c) {
    printf("usage: beamtalk %s %s\n\n%s\n", c->name, c->operands,
           c->summary ? c->summary : "not available in this build");
    if (c->common_options)
        printf("\n  --schedulers N   scheduler threads (default: one per core)\n"
               "  --seed N         deterministic: one scheduler, virtual time, every choice from N\n"
               "  --heap-limit N   bytes of heap per process\n"
               "  --stack-limit N  bytes of stack per process\n"
               "  --mailbox-limit N  messages that may wait for a process\n"
               "  --memory-limit N bytes of memory for everything\n"
               "  --no-tail-calls  keep every caller on the stack (debugging)\n"
               "  -v               more on standard error\n");
}

static bool take_number(Invocation *in, int *i, uint64_t *out) {
    if (*i + 1 >= in->argc) return false;
    char *end;
    const char *text = in->argv[++*i];
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0;
}

/* Options of single commands that are followed by a value: it is no operand. */
static bool takes_value(const char *option) {
    static const char *const OPTIONS[] = {"--load",   "--entry", "--explore", "--listen", "--timeout",
                                          "--format", "--jobs",  "-j",        "-o"};
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        if (!strcmp(option, OPTIONS[i])) return true;
    return false;
}

/* Removes the common options that stand before the first operand. False: usage error already reported. */
static bool take_common(Invocation *in) {
    int kept = 1, i = 1;
    for (; i < in->argc && in->argv[i][0] == '-' && in->argv[i][1]; i++) {
        const char *a = in->argv[i];
        uint64_t n = 0;
        bool ok = true;
        if (!strcmp(a, "--schedulers"))
            ok = take_number(in, &i, &n) && n > 0 && n <= 1024, in->common.schedulers = (unsigned)n;
        else if (!strcmp(a, "--seed"))
            ok = take_number(in, &i, &in->common.seed), in->common.seeded = true;
        else if (!strcmp(a, "--heap-limit"))
            ok = take_number(in, &i, &n), in->common.heap_limit_bytes = (size_t)n;
        else if (!strcmp(a, "--stack-limit"))
            ok = take_number(in, &i, &n), in->common.stack_limit_bytes = (size_t)n;
        else if (!strcmp(a, "--mailbox-limit"))
            ok = take_number(in, &i, &n) && n <= UINT32_MAX, in->common.mailbox_limit = (uint32_t)n;
        else if (!strcmp(a, "--memory-limit"))
            ok = take_number(in, &i, &n), in->common.memory_limit_bytes = (size_t)n;
        else if (!strcmp(a, "--no-tail-calls"))
            in->common.no_tail_calls = true;
        else if (!strcmp(a, "-v"))
            in->common.verbose = true;
        else
            in->argv[kept++] = in->argv[i];
        if (!ok) return usage_error("%s needs a number", a), false;
        if (takes_value(a) && i + 1 < in->argc) in->argv[kept++] = in->argv[++i];
    }
    while (i < in->argc) in->argv[kept++] = in->argv[i++];
    in->argc = kept;
    return true;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    uint8_t *payload;
    size_t length;
    switch (bundle_find(&payload, &length)) {
    case BUNDLE_FOUND: return bundle_run(payload, length, argc, argv);
    case BUNDLE_DAMAGED: return fail("this program is damaged; build it again");
    case BUNDLE_NONE: break;
    }
    if (argc < 2) return print_usage(stderr), EXIT_USAGE;
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
        return printf("beamtalk %s\n", BT_VERSION), 0;
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) return print_usage(stdout), 0;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], COMMANDS[i].name)) continue;
        Invocation in = {.argc = argc - 1, .argv = argv + 1};
        if (in.argc > 1 && (!strcmp(in.argv[1], "--help") || !strcmp(in.argv[1], "-h")))
            return print_command_help(&COMMANDS[i]), 0;
        if (!COMMANDS[i].common_options) return COMMANDS[i].run(&in);
        if (!take_common(&in)) return EXIT_USAGE;
        in.common.signals = signals_start();
        return signals_finish(in.common.signals, COMMANDS[i].run(&in));
    }
    return usage_error("unknown command '%s'", argv[1]);
}
