/* SPDX-License-Identifier: BSD-3-Clause */
/* pmixask.h - has rollcall-pmix ask the PMIx server of the launcher that started this process.
 *
 * For a process that has not connected itself, and whose children have not
 * either: the server takes rollcall-pmix for the task.
 */
#ifndef ROLLCALL_CLI_PMIXASK_H
#define ROLLCALL_CLI_PMIXASK_H

#include <limits.h>

#include "base/text.h"

/* Lines as lib/launcher/pmixjob.h explains them, in static storage, which the next call
 * overwrites: for one thread. Takes some hundredths of a second, and not longer
 * than CLI_PMIXASK_DEADLINE milliseconds whatever the other side does. Leaves no
 * process and no descriptor behind. With PMIx 4, sets PMIX_MCA_gds=hash in this
 * process's environment. */
struct rc_str cli_pmix_ask(void);

/* With PMIx 4, sets PMIX_MCA_gds=hash in this process's environment, unless it
 * says something: the store that serves a task's second client, which is its
 * own program after rollcall-pmix. All tasks of a node have to have the same. */
void cli_pmix_choose_store(void);

/* The path of one of rollcall's own programs, beside this very command wherever
 * it is installed. 0, or -1 with errno. */
int cli_own_program(const char *name, char path[PATH_MAX]);

enum { CLI_PMIXASK_DEADLINE = 12000, CLI_PMIXASK_SIZE = 1 << 20 };

#endif
