/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.h - the filters by which NCCL chooses interfaces and InfiniBand devices. */
#ifndef ROLLCALL_CLI_DOCTOR_FILTER_H
#define ROLLCALL_CLI_DOCTOR_FILTER_H

#include "base/text.h"

/* Whether NCCL_SOCKET_IFNAME or NCCL_IB_HCA lets a name pass: a list of prefixes,
 * of whole names with "=" in front, or of what is left out with "^" ("^=") in
 * front. A ":port" behind a device's name is not looked at, nor "+", which stands
 * for a name that may be missing. An empty filter lets all pass. */
bool doctor_filter_passes(struct rc_str filter, struct rc_str name);

#endif
