/* pmixask.h - has rollcall-pmix ask the PMIx server of the launcher that started this process.
 *
 * For a process that has not connected itself, and whose children have not
 * either: the server takes rollcall-pmix for the task.
 */
#ifndef ROLLCALL_PMIXASK_H
#define ROLLCALL_PMIXASK_H

#include "text.h"

/* Lines as lib/pmixjob.h explains them, in static storage, which the next call
 * overwrites: for one thread. Takes some hundredths of a second, and not longer
 * than RC_PMIXASK_DEADLINE milliseconds whatever the other side does. Leaves no
 * process and no descriptor behind. With PMIx 4, sets PMIX_MCA_gds=hash in this
 * process's environment. */
struct rc_str rc_pmix_ask(void);

enum { RC_PMIXASK_DEADLINE = 12000, RC_PMIXASK_SIZE = 1 << 20 };

#endif
