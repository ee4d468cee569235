/* See manifest.h. */
#define _GNU_SOURCE
#include "vm/cli/manifest.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vm/cli/cli.h"

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words; words++)
        if (!strcmp(word, *words)) return true;
    return false;
}

const char *package_name_fault(const char *name) {
    /* Our own parts and the names of OTP's applications, which a package on the BEAM cannot take. */
    static const char *const reserved[] = {
        "beamtalk",    "stdlib",       "kernel",     "runtime",       "workspace",  "compiler", "crypto",
        "ssl",         "inets",        "sasl",       "mnesia",        "observer",   "debugger", "tools",
        "public_key",  "asn1",         "ssh",        "ftp",           "tftp",       "xmerl",    "eunit",
        "common_test", "syntax_tools", "parsetools", "erts",          "os_mon",     "snmp",     "wx",
        "dialyzer",    "diameter",     "edoc",       "eldap",         "erl_docgen", "et",       "jinterface",
        "megaco",      "odbc",         "reltool",    "runtime_tools", NULL};
    size_t length = strlen(name);
    if (!length) return "it is empty";
    if (length > 64) return "it has more than 64 characters";
    if (name[0] < 'a' || name[0] > 'z') return "it must begin with a lower-case letter";
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != length)
        return "only lower-case letters, digits and _ may stand in it";
    return is_one_of(name, reserved) ? "it is reserved" : NULL;
}

/* major.minor.patch, decimal, no leading zeros */
static bool is_version(const char *text) {
    for (int part = 0; part < 3; part++) {
        size_t digits = strspn(text, "0123456789");
        if (!digits || digits > 9 || (digits > 1 && *text == '0')) return false;
        text += digits;
        if (part < 2 && *text++ != '.') return false;
    }
    return !*text;
}

/* ---- checking ---- */

static int complain(const Manifest *m, const TomlEntry *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int complain(const Manifest *m, const TomlEntry *at, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (at) return fail("%s/" MANIFEST_NAME ":%u: %s", m->directory, at->line, text);
    return fail("%s/" MANIFEST_NAME ": %s", m->directory, text);
}

/* The text at the path; NULL if there is none. *bad is set if it is no string. */
static const char *string_at(const Manifest *m, const char *path, bool *bad) {
    const TomlEntry *e = toml_find(&m->toml, path);
    if (!e) return NULL;
    if (e->kind == TOML_STRING) return e->text;
    *bad = true;
    complain(m, e, "%s must be a string", path);
    return NULL;
}

static bool check_package(Manifest *m) {
    bool bad = false;
    m->name = string_at(m, "package.name", &bad);
    m->version = string_at(m, "package.version", &bad);
    m->description = string_at(m, "package.description", &bad);
    m->supervisor = string_at(m, "application.supervisor", &bad);
    if (bad) return false;
    if (!m->name) return complain(m, NULL, "[package] name is missing"), false;
    if (!m->version) return complain(m, NULL, "[package] version is missing"), false;
    const char *fault = package_name_fault(m->name);
    if (fault)
        return complain(m, toml_find(&m->toml, "package.name"), "the package name '%s' is invalid: %s",
                        m->name, fault),
               false;
    if (!is_version(m->version))
        return complain(m, toml_find(&m->toml, "package.version"),
                        "the version '%s' is invalid: it must be major.minor.patch, like 1.0.2", m->version),
               false;
    const TomlEntry *strict = toml_find(&m->toml, "package.strict-deps");
    if (strict && strict->kind != TOML_BOOLEAN)
        return complain(m, strict, "package.strict-deps must be true or false"), false;
    m->strict_deps = strict && !strcmp(strict->text, "true");
    if (m->supervisor && !isupper((unsigned char)*m->supervisor))
        return complain(m, toml_find(&m->toml, "application.supervisor"),
                        "application.supervisor must be the name of a class"),
               false;
    return true;
}

static bool check_diagnostics(const Manifest *m, const TomlEntry *e) {
    static const char *const categories[] = {"dnu",
                                             "type",
                                             "unused",
                                             "empty-body",
                                             "lint",
                                             "dead-assignment",
                                             "extension-conflict",
                                             "deprecation",
                                             "actor-new",
                                             "visibility",
                                             "unresolved-class",
                                             "unresolved-ffi",
                                             "arity-mismatch",
                                             "shadowed-class",
                                             "type-annotation",
                                             "inheritance",
                                             "sendability",
                                             NULL};
    static const char *const levels[] = {"off", "lint", "hint", "warn", "error", NULL};
    const char *category = e->path + strlen("diagnostics.");
    if (!is_one_of(category, categories))
        return complain(m, e, "unknown diagnostic category '%s'", category), false;
    if (e->kind != TOML_STRING || !is_one_of(e->text, levels))
        return complain(m, e, "%s must be \"off\", \"lint\", \"hint\", \"warn\" or \"error\"", e->path),
               false;
    return true;
}

static bool check_entries(const Manifest *m) {
    bool good = true;
    for (size_t i = 0; i < m->toml.count; i++) {
        const TomlEntry *e = &m->toml.entries[i];
        if (!strcmp(e->path, "run.entry") || !strcmp(e->path, "package.start"))
            fprintf(stderr,
                    "warning: %s/" MANIFEST_NAME ":%u: %s is ignored; use 'beamtalk run Class selector' "
                    "or [application] supervisor\n",
                    m->directory, e->line, e->path);
        if (!strncmp(e->path, "diagnostics.", strlen("diagnostics."))) good = check_diagnostics(m, e) && good;
    }
    return good;
}

/* ---- reading ---- */

static char *manifest_path(const char *directory) {
    char *path;
    return asprintf(&path, "%s/" MANIFEST_NAME, directory) < 0 ? NULL : path;
}

bool manifest_exists(const char *directory) {
    char *path = manifest_path(directory);
    struct stat status;
    bool exists = path && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    free(path);
    return exists;
}

Manifest *manifest_read(const char *directory) {
    char *path = manifest_path(directory);
    size_t length;
    char *text = path ? read_source(path, &length) : NULL;
    free(path);
    Manifest *m = text ? calloc(1, sizeof *m) : NULL;
    if (!m) return free(text), NULL;
    m->directory = strdup(directory);
    bool good = toml_parse(&m->toml, text, length);
    free(text);
    if (!good)
        fail("%s/" MANIFEST_NAME ":%u: %s", directory, m->toml.error_line, m->toml.error);
    else
        good = check_package(m) && check_entries(m);
    if (good && m->directory) return m;
    return manifest_free(m), NULL;
}

void manifest_free(Manifest *m) {
    if (!m) return;
    toml_free(&m->toml);
    free(m->directory);
    free(m);
}

char *manifest_directory_above(const char *path) {
    char *whole = strcmp(path, "-") ? realpath(path, NULL) : NULL,
         *directory = whole ? whole : getcwd(NULL, 0);
    struct stat status;
    if (!directory) return NULL;
    if (whole && stat(whole, &status) == 0 && !S_ISDIR(status.st_mode)) *strrchr(whole, '/') = 0;
    for (;;) {
        if (manifest_exists(*directory ? directory : "/")) return directory;
        char *slash = strrchr(directory, '/');
        if (!slash) return free(directory), NULL;
        *slash = 0;
    }
}
