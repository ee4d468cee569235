/* beamtalk.toml: what a package says about itself (spec tooling 1.4). Owner: the caller, until manifest_free.
 */
#ifndef BT_CLI_MANIFEST_H
#define BT_CLI_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include "vm/cli/toml.h"

#define MANIFEST_NAME "beamtalk.toml"

typedef struct {
    char *directory; /* of the file, as given */
    const char *name, *version;
    const char *description, *supervisor; /* NULL: not given */
    bool strict_deps;
    Toml toml; /* all entries; the strings above live in it */
} Manifest;

/* Reads DIRECTORY/beamtalk.toml and checks it. Errors go to stderr, as do warnings about keys that are
 * ignored. NULL: there is none, or it is wrong. */
Manifest *manifest_read(const char *directory);
void manifest_free(Manifest *manifest);
bool manifest_exists(const char *directory);
/* The nearest directory with a manifest, from that of the file `path` upwards; NULL: none. Caller frees. */
char *manifest_directory_above(const char *path);
/* NULL: the name is good for a package; else what is wrong with it. */
const char *package_name_fault(const char *name);

#endif
