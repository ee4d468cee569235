/* Source files that are loaded together (bt_vm_load): read, installed, reported. Owner: the caller, until
 * file_set_free. */
#ifndef BT_CLI_FILE_SET_H
#define BT_CLI_FILE_SET_H

#include "beamtalk.h"
#include "vm/cli/paths.h"

typedef struct {
    bt_source *sources;
    bt_result **results; /* one per source, once loaded */
    size_t count;
} FileSet;

/* Reads all the files. False after an error message. */
bool file_set_read(FileSet *set, const PathList *paths);
/* spoil: a semantic error in a method body spoils that method only, a file that cannot be installed itself
 * only; otherwise one error means that nothing is installed. Diagnostics are printed, those of good files
 * only if `warnings`. */
bt_status file_set_load(FileSet *set, bt_vm *vm, bool spoil, bool warnings);
/* How many files have not been installed; how many warnings there were. */
size_t file_set_failed(const FileSet *set);
size_t file_set_warnings(const FileSet *set);
void file_set_free(FileSet *set);

/* Loads the .bt files of DIRECTORY/src, strictly; nothing to do if there is no such folder. 0, or 1 after the
 * diagnostics. */
int load_package_sources(bt_vm *vm, const char *directory, bool spoil, bool warnings, size_t *warning_count);

#endif
