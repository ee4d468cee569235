/* `fmt` and `fmt-check`: canonical layout (spec tooling 1.2). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "compiler/format.h"
#include "vm/cli/cli.h"
#include "vm/cli/paths.h"
#include "vm/cli/text_diff.h"

typedef struct {
    bool check; /* only say what would change */
    unsigned changed, unparsable, failed;
} Fmt;

/* The old text stays in place until the new one is whole. */
static bool replace_file(const char *path, const char *text, size_t length) {
    size_t size = strlen(path) + 16;
    char *target = realpath(path, NULL), *temporary = malloc(size + (target ? strlen(target) : 0));
    struct stat status;
    bool good = target && temporary && stat(target, &status) == 0;
    int fd = -1;
    if (good) {
        sprintf(temporary, "%s.fmtXXXXXX", target);
        fd = mkstemp(temporary);
        good = fd >= 0;
    }
    FILE *out = good ? fdopen(fd, "wb") : NULL;
    if (good && !out) close(fd);
    good = out && fwrite(text, 1, length, out) == length && fchmod(fd, status.st_mode) == 0;
    if (out) good = fclose(out) == 0 && good;
    if (fd >= 0 && !(good && rename(temporary, target) == 0)) {
        unlink(temporary);
        good = false;
    }
    free(target);
    free(temporary);
    return good || (fail("cannot write %s", path), false);
}

static void take_result(Fmt *f, const char *path, const char *old_text, size_t old_length,
                        const char *new_text, size_t new_length) {
    if (old_length == new_length && !memcmp(old_text, new_text, old_length)) return;
    f->changed++;
    if (f->check) {
        if (!text_diff_print(stdout, path, old_text, old_length, new_text, new_length))
            f->failed++, fail("out of memory");
    } else if (!replace_file(path, new_text, new_length)) {
        f->failed++;
    }
}

static void format_file(Fmt *f, const char *path) {
    size_t length, new_length = 0;
    char *text = read_source(path, &length);
    if (!text) {
        f->failed++;
        return;
    }
    DiagList diags;
    diag_list_init(&diags, NULL);
    char *formatted = format_source(path, text, length, &new_length, &diags);
    if (!formatted) {
        f->unparsable++;
        fprintf(stderr, "warning: skipping '%s' (has parse errors)\n", path);
    } else if (!has_suffix(path, ".btscript")) {
        for (uint32_t i = 0; i < diags.count; i++)
            if (!strcmp(diags.items[i].category, "format"))
                fprintf(stderr, "warning: %s: %s\n", path, diags.items[i].message);
        take_result(f, path, text, length, formatted, new_length);
    }
    diag_list_free(&diags);
    free(formatted);
    free(text);
}

static int format_paths(Fmt *f, Invocation *in) {
    PathList list = {0};
    unsigned operands = 0;
    for (int i = 1; i < in->argc; i++) {
        if (!strcmp(in->argv[i], "--check"))
            f->check = true;
        else if (in->argv[i][0] == '-')
            return paths_free(&list), usage_error("unknown option '%s'", in->argv[i]);
        else if (operands++, !paths_collect(&list, in->argv[i], true))
            f->failed++;
    }
    if (!operands && !paths_collect(&list, ".", true)) f->failed++;
    for (size_t i = 0; i < list.count; i++) format_file(f, list.items[i]);
    paths_free(&list);
    if (f->check && f->changed) fprintf(stderr, "%u file(s) would be reformatted\n", f->changed);
    return f->failed || (f->check && (f->changed || f->unparsable)) ? 1 : 0;
}

int command_fmt(Invocation *in) { return format_paths(&(Fmt){0}, in); }
int command_fmt_check(Invocation *in) { return format_paths(&(Fmt){.check = true}, in); }
