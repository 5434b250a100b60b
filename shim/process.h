/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - what a constructor finds out about the process that it is loaded into. */
#ifndef ROLLCALL_SHIM_PROCESS_H
#define ROLLCALL_SHIM_PROCESS_H

#include <stdbool.h>

extern char **environ;

/* Returns argv from a constructor's arguments: glibc passes argc, argv and envp, musl
 * passes nothing. NULL where the command is not known. */
const char *const *shim_command_line(int argc, char **argv, char **envp);

/* Whether this process has rights that the user who wrote the environment lacks. The
 * loader ignores LD_PRELOAD in set-uid programs and those with file capabilities, but
 * a site's /etc/ld.so.preload reaches them, too. `variables` is the length of environ. */
bool shim_is_privileged(const char *const *argv, unsigned variables);

#endif
