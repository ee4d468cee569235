/* `new`: the skeleton of a package (spec tooling 1.5). The files are new_files.def, with NAME and CLASS put
 * in. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vm/cli/cli.h"
#include "vm/cli/manifest.h"

typedef enum { LIBRARY = 1, APPLICATION = 2, ANY = LIBRARY | APPLICATION } PackageSort;

#define JUSTFILE                                                                                             \
    "# Tasks of this package: just TASK\n"                                                                   \
    "default: test\n\nbuild:\n    beamtalk build\n\ntest:\n    beamtalk test\n\n"                            \
    "fmt:\n    beamtalk fmt-check\n\nfmt-fix:\n    beamtalk fmt\n\nlint:\n    beamtalk check\n\n"            \
    "clean:\n    beamtalk clean\n\nci: fmt build test\n\n"                                                   \
    "release: ci\n    git tag \"v$(sed -n 's/^version = \"\\(.*\\)\"/\\1/p' beamtalk.toml)\"\n\n"            \
    "publish: release\n    git push --tags\n"

static const struct {
    PackageSort sort;
    const char *path, *text;
} FILES[] = {
#define FILE_OF(sort, path, text) {sort, path, text},
#include "vm/cli/new_files.def"
#undef FILE_OF
};

/* my_app -> MyApp */
static char *class_name_of_package(const char *name) {
    char *out = malloc(strlen(name) + 1), *at = out;
    bool upper = true;
    for (const char *c = name; out && *c; c++) {
        if (*c == '_')
            upper = true;
        else
            *at++ = upper ? (char)toupper((unsigned char)*c) : *c, upper = false;
    }
    if (out) *at = 0;
    return out;
}

/* `text` with @NAME@ and @CLASS@ put in; NULL: no memory. */
static char *fill(const char *text, const char *name, const char *class_name) {
    char *out = NULL;
    size_t length;
    FILE *f = open_memstream(&out, &length);
    if (!f) return NULL;
    for (const char *at = text; *at;) {
        if (!strncmp(at, "@NAME@", 6))
            fputs(name, f), at += 6;
        else if (!strncmp(at, "@CLASS@", 7))
            fputs(class_name, f), at += 7;
        else
            fputc(*at++, f);
    }
    return fclose(f) == 0 ? out : (free(out), NULL);
}

static bool write_file(const char *name, const char *class_name, size_t index) {
    char *inside = fill(FILES[index].path, name, class_name),
         *text = fill(FILES[index].text, name, class_name);
    char *path = NULL;
    bool good = inside && text && asprintf(&path, "%s/%s", name, inside) > 0 && make_parent_directories(path);
    FILE *out = good ? fopen(path, "wx") : NULL;
    good = out && fputs(text, out) >= 0;
    if (out) good = fclose(out) == 0 && good;
    if (!good) fail("cannot write %s: %s", path ? path : name, strerror(errno));
    free(inside);
    free(text);
    free(path);
    return good;
}

static int make_package(const char *name, PackageSort sort) {
    char *class_name = class_name_of_package(name);
    if (!class_name) return fail("out of memory");
    bool good = mkdir(name, 0777) == 0;
    if (!good) fail(errno == EEXIST ? "directory '%s' exists already" : "cannot create directory %s", name);
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES && good; i++)
        if (FILES[i].sort & sort) good = write_file(name, class_name, i);
    free(class_name);
    if (!good) return 1;
    printf("Created %s package '%s'\n\nNext steps:\n  cd %s\n  beamtalk test\n", //
           sort == APPLICATION ? "application" : "library", name, name);
    printf(sort == APPLICATION ? "  beamtalk run Main run\n" : "  beamtalk repl\n");
    return 0;
}

int command_new(Invocation *in) {
    PackageSort sort = LIBRARY;
    const char *name = NULL;
    for (int i = 1; i < in->argc; i++) {
        if (!strcmp(in->argv[i], "--app"))
            sort = APPLICATION;
        else if (in->argv[i][0] == '-')
            return usage_error("unknown option '%s'", in->argv[i]);
        else if (name)
            return usage_error("new takes one name");
        else
            name = in->argv[i];
    }
    if (!name) return usage_error("new needs the name of the package");
    const char *fault = package_name_fault(name);
    if (fault) return fail("'%s' is no name for a package: %s", name, fault);
    return make_package(name, sort);
}
