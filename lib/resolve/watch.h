/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.h - watch: torch in a task says at once when it joins as somebody else.
 *
 * From release 2.5 on torch loads, at the end of `import torch`, whatever a
 * folder of sys.path registers for its entry points "torch.backends". Such a
 * folder is installed with rollcall (shim/watch/rollcall_watch.py); on PYTHONPATH it
 * compares what is passed to init_process_group with ROLLCALL_IDENTITY: RANK
 * and WORLD_SIZE will not do, since a script may have changed them. With
 * watch=SECONDS it also tells srun's server who has come so far (rendezvous/arrivals.h).
 */
#ifndef ROLLCALL_RESOLVE_WATCH_H
#define ROLLCALL_RESOLVE_WATCH_H

#include "resolve/result.h"

/* Adds to the plan of worker or launcher mode what the watch needs, where it was
 * asked for; takes an outer launch's identity away where it was not. Asks for
 * RC_LEARN_WATCH. What keeps the watch from working is a warning, no more. */
void rc_watch_plan(const struct rc_context *context, struct rc_result *result);

/* PYTHONPATH with the watch's folder, in the result's arena; NULL where there is no room for it. */
const char *rc_watch_path(struct rc_result *result, struct rc_str folder);

#endif
