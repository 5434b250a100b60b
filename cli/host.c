/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include <limits.h>
#include <unistd.h>

#include "effects/lookup.h"
#include "effects/rank0.h"
#include "system/portowner.h"

const struct rc_rank0 *host_way(void)
{
    static char node[HOST_NAME_MAX + 1];
    static struct rc_rank0 way = {
        .outcome = "the command is not run",
        .is_elsewhere = rc_lookup_is_elsewhere,
        .name_owner = rc_port_owner,
    };

    gethostname(node, sizeof(node) - 1);
    way.node = rc_str(node);
    return &way;
}

int host_master(struct rc_result *result, int held)
{
    const struct rc_rank0 *way = host_way();

    return rc_lookup_settle(result, way->outcome) && rc_rank0_verify(result, way) &&
                   (held >= 0 || rc_rank0_hold(result, way, &held))
               ? 0
               : -1;
}
