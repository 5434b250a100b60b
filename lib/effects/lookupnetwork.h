/* SPDX-License-Identifier: BSD-3-Clause */
/* lookupnetwork.h - addr=IFNAME and addr=CIDR: the address of RANK 0's node in a network. */
#ifndef ROLLCALL_EFFECTS_LOOKUPNETWORK_H
#define ROLLCALL_EFFECTS_LOOKUPNETWORK_H

#include "effects/lookupname.h"

/* Looks for it by the node's name, and by the names that go with an interface. */
void rc_lookup_network(const struct rc_result *result, const struct rc_lookup_place *place, struct rc_lookup *lookup);

#endif
