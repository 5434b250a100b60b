/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.h - the filters by which NCCL chooses interfaces and InfiniBand devices. */
#ifndef ROLLCALL_CLI_DOCTOR_FILTER_H
#define ROLLCALL_CLI_DOCTOR_FILTER_H

#include "base/text.h"

/* Whether a value of NCCL_SOCKET_IFNAME or NCCL_IB_HCA lets a name pass. It is a list of
 * prefixes; "=" in front makes them whole names, and "^" ("^=") excludes them. The ":port"
 * after a device's name is ignored. An empty filter lets all names pass. */
bool doctor_filter_passes(struct rc_str filter, struct rc_str name);

#endif
