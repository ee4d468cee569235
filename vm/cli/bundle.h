/* One executable file: this program, the images of a project behind it, and a trailer that says so.
 *
 *   program | entry, count, then for each module its name and image | trailer
 *
 * Numbers are little-endian; texts and images stand behind their lengths (u32, u64). The trailer ends the
 * file. A bundle has no commands: it runs its entry with all arguments. */
#ifndef BT_CLI_BUNDLE_H
#define BT_CLI_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name; /* for messages */
    const uint8_t *image;
    size_t length;
} BundleModule;

/* Writes the file `path`, executable; superclasses first. False after an error message. */
bool bundle_write(const char *path, const char *entry, const BundleModule *modules, size_t count);

typedef enum { BUNDLE_NONE, BUNDLE_FOUND, BUNDLE_DAMAGED } BundleState;
/* Does this program carry one? *payload is malloc'ed when it does. */
BundleState bundle_find(uint8_t **payload, size_t *length);
/* Runs it: the exit status. */
int bundle_run(const uint8_t *payload, size_t length, int argc, char **argv);

#endif
