/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank0.h"

#include "effects/rank0.h"
#include "launcher/hostlist.h"
#include "system/sys.h"

#include <sys/utsname.h>

/* Names cannot be looked up without a libc, but this node's own name may be
 * another one of the list than RANK 0's. */
static bool is_other_host(const struct rc_result *result)
{
    const struct rc_facts *facts = &result->facts;
    struct utsname uts;
    struct rc_str name;
    uint32_t index;

    if (!facts->hosts.p || facts->master_node == RC_UNKNOWN || rc_sys_uname(&uts) < 0)
        return false;
    name = rc_str(uts.nodename);
    index = rc_hostlist_find(facts->hosts, name);
    if (index == RC_UNKNOWN) {
        struct rc_str domain;

        index = rc_hostlist_find(facts->hosts, rc_str_split(name, '.', &domain));
    }
    return index != RC_UNKNOWN && index != facts->master_node;
}

bool shim_rank0(struct rc_result *result, int *fd)
{
    const struct rc_rank0 hooks = { .outcome = "nothing is set", .is_elsewhere = is_other_host };
    const struct rc_master *master = &result->master;

    *fd = -1;
    if (master->kind == RC_ADDRESS_INTERFACE || master->kind == RC_ADDRESS_NETWORK) {
        rc_message_add(&result->messages, RC413,
                       rc_format(&result->arena,
                                 "addr=%s needs a look at interfaces and names, which the preload library cannot take; "
                                 "nothing is set; use rollcall exec, or a suffix of node names (addr=-ib)",
                                 master->wish));
        return false;
    }
    return rc_rank0_begin(result, &hooks, fd);
}
