/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include <limits.h>
#include <unistd.h>

#include "effects/lookup.h"
#include "effects/rank0.h"
#include "system/portowner.h"

const struct rc_rank0 *cli_rank0_hooks(void)
{
    static char node[HOST_NAME_MAX + 1];
    static struct rc_rank0 hooks = {
        .outcome = "the command is not run",
        .is_elsewhere = rc_lookup_is_elsewhere,
        .name_owner = rc_port_owner,
    };

    gethostname(node, sizeof(node) - 1);
    hooks.node = rc_str(node);
    return &hooks;
}

int cli_settle_master(struct rc_result *result, int held)
{
    const struct rc_rank0 *hooks = cli_rank0_hooks();

    return rc_lookup_settle(result, hooks->outcome) && rc_rank0_verify(result, hooks) &&
                   (held >= 0 || rc_rank0_hold(result, hooks, &held))
               ? 0
               : -1;
}
