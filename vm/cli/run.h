/* `beamtalk run`: what its forms share (spec tooling 1.3). command_run.c runs files, run_package.c what a
 * package offers. */
#ifndef BT_CLI_RUN_H
#define BT_CLI_RUN_H

#include "vm/cli/cli.h"

typedef struct {
    bt_vm *vm;
    bt_session *session;
    bt_eval_options options;
    bool verbose;
} Run;

/* Sends the entry to the class; its error, if any, is reported. The exit status. */
int run_entry(Run *r, const char *class_name, const char *selector, char **arguments, int count);
/* `run Class selector [arguments]` in the current directory's package. */
int run_package_entry(Run *r, const char *class_name, char **arguments, int count);
/* `run .`: the package's root supervisor, until it ends. */
int run_package_service(Run *r);

#endif
