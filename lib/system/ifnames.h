/* SPDX-License-Identifier: BSD-3-Clause */
/* ifnames.h - variables that name interfaces for gloo, NCCL and tensorpipe. Not for the preload. */
#pragma once

#include "base/text.h"

enum { RC_IFNAMES = 3 };

/* GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME, TP_SOCKET_IFNAME. */
extern const struct rc_str rc_ifnames_variable[RC_IFNAMES];

struct rc_ifnames {
    struct rc_str value[RC_IFNAMES]; /* RC_ABSENT: unset, or rollcall chose an interface of this node */
    struct rc_str family;            /* NCCL_SOCKET_FAMILY */
    bool has_peers;
};

/* Return true if NCCL_SOCKET_IFNAME or NCCL_IB_HCA allows a name: a list of prefixes, whole names after "=", exclusions
 * after "^" ("^="). Ignore a device's ":port". An empty filter allows all. */
bool rc_ifnames_filter(struct rc_str filter, struct rc_str name);

/* Return an error text in the arena if a library cannot find its interface; else NULL. */
const char *rc_ifnames_check(const struct rc_ifnames *names, struct rc_arena *arena);
