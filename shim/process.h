/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h - what a constructor finds out about the process that it is loaded into. */
#ifndef ROLLCALL_SHIM_PROCESS_H
#define ROLLCALL_SHIM_PROCESS_H

#include <stdbool.h>

extern char **environ;

/* From a constructor's own arguments: glibc hands argc, argv and envp to them, musl
 * nothing. NULL where the command is not known. */
const char *const *shim_command_line(int argc, char **argv, char **envp);

/* Do we have rights that the user who wrote the environment has not? The loader
 * keeps LD_PRELOAD from set-uid programs, and from those with file capabilities,
 * but a site's /etc/ld.so.preload reaches them too. `variables` is the length of
 * environ. */
bool shim_is_privileged(const char *const *argv, unsigned variables);

#endif
