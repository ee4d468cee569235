/* Reader of the part of TOML that beamtalk.toml needs: tables, dotted and quoted keys, one-line strings,
 * booleans, arrays, inline tables, comments. Numbers and dates are kept as text. Not read: multi-line
 * strings, arrays of tables, arrays in arrays.
 *
 * The answer is flat: one entry per value in the order of the file, its path the keys from the root joined by
 * dots ("dependencies.json.path"). Owner: the caller, until toml_free. */
#ifndef BT_CLI_TOML_H
#define BT_CLI_TOML_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { TOML_STRING, TOML_BOOLEAN, TOML_SCALAR, TOML_ARRAY } TomlKind;

typedef struct {
    char *path;
    TomlKind kind;
    char *text;   /* all but arrays: the string, "true" or "false", the scalar as written */
    char **items; /* arrays: the texts of the elements */
    size_t count;
    unsigned line;
} TomlEntry;

typedef struct {
    TomlEntry *entries;
    size_t count, capacity;
    unsigned error_line; /* 0: all is read */
    char error[160];
} Toml;

/* False: error and error_line say why. In both cases toml_free afterwards. */
bool toml_parse(Toml *toml, const char *text, size_t length);
void toml_free(Toml *toml);
/* NULL: no such entry. */
const TomlEntry *toml_find(const Toml *toml, const char *path);

#endif
