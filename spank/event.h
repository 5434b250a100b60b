/* SPDX-License-Identifier: BSD-3-Clause */
/* event.h - one line a step in Slurm's own log, for a site that wants it: `log=text` or `log=json` in plugstack.conf.
 *
 * Written by the task of RANK 0, or where no task starts, by one of the first
 * node's: to the log of that node's slurmd. It holds numbers, names of nodes and
 * ids of messages; never a message's text, which may quote what a user has set.
 *
 *   rollcall: {"event":"step","version":"0.1.0","job":42,"step":0,"node":"n1","outcome":"set",
 *   "mode":"worker","tasks":4,"nodes":2,"master_addr":"n1","master_port":23456,"messages":["RC301"]}
 */
#ifndef ROLLCALL_SPANK_EVENT_H
#define ROLLCALL_SPANK_EVENT_H

#include "resolve/resolve.h"

/* The step's identity was set, or refused. Where no log= was given, nothing. */
void rc_spank_event_set(const struct rc_result *result);
void rc_spank_event_refused(const struct rc_result *result, const struct rc_messages *messages);

#endif
