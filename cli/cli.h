/* SPDX-License-Identifier: BSD-3-Clause */
/* cli.h - the subcommands of the rollcall command. */
#ifndef ROLLCALL_CLI_CLI_H
#define ROLLCALL_CLI_CLI_H

#include "console/usage.h"

struct subcommand {
    const char *name;
    const char *summary;               /* one line of `rollcall --help` */
    const char *help;                  /* `rollcall NAME --help` */
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand; returns the exit status */
};

extern const struct subcommand cli_exec;
extern const struct subcommand cli_show;
extern const struct subcommand cli_explain;
extern const struct subcommand cli_check;
extern const struct subcommand cli_map;
extern const struct subcommand cli_doctor;

#endif
