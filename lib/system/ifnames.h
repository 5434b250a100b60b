/* SPDX-License-Identifier: BSD-3-Clause */
/* ifnames.h - the variables that name interfaces to gloo, NCCL and tensorpipe. Not for the preload. */
#pragma once

#include "base/text.h"

enum { RC_IFNAMES = 3 };

/* GLOO_SOCKET_IFNAME, NCCL_SOCKET_IFNAME, TP_SOCKET_IFNAME. */
extern const struct rc_str rc_ifnames_variable[RC_IFNAMES];

struct rc_ifnames {
    struct rc_str value[RC_IFNAMES]; /* absent: not set, or rollcall has chosen an interface of this node */
    struct rc_str family;            /* NCCL_SOCKET_FAMILY */
    bool has_peers;                  /* the launch has other nodes */
};

/* Return whether a value of NCCL_SOCKET_IFNAME or NCCL_IB_HCA lets a name pass. It is a list of prefixes; "=" in front
 * makes them whole names, and "^" ("^=") excludes them. The ":port" after a device's name is ignored. An empty filter
 * lets all names pass. */
bool rc_ifnames_filter(struct rc_str filter, struct rc_str name);

/* Return what is wrong if a library finds no interface of this node by its variable. Else NULL. The text is in the
 * arena. */
const char *rc_ifnames_check(const struct rc_ifnames *names, struct rc_arena *arena);
