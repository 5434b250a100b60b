#include "host.h"

#include <limits.h>
#include <unistd.h>

#include "system/lookup.h"
#include "system/portowner.h"
#include "system/rank0.h"

int host_master(struct rc_result *result)
{
    char node[HOST_NAME_MAX + 1] = "";
    struct rc_rank0 way = {
        .outcome = "the command is not run",
        .is_elsewhere = rc_lookup_is_elsewhere,
        .name_owner = rc_port_owner,
    };
    int fd;

    if (!rc_lookup_settle(result, way.outcome))
        return -1;
    gethostname(node, sizeof(node) - 1);
    way.node = rc_str(node);
    return rc_rank0_begin(result, &way, &fd) ? 0 : -1;
}
