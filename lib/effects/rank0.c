/* SPDX-License-Identifier: BSD-3-Clause */
#include "effects/rank0.h"

#include <errno.h>

#include <sys/resource.h>

#include "system/port.h"
#include "system/sys.h"

enum { DESCRIPTORS = 1024, OWNER_SIZE = 160, OTHER_FILES = 512 };

bool rc_rank0_verify(struct rc_result *result, const struct rc_rank0 *hooks)
{
    const struct rc_master *master = &result->master;
    bool is_users = master->addr_given == RC_GIVEN_BY_USER;
    bool to_unset = is_users && result->facts.master_certain;
    struct rc_netaddr address;
    bool elsewhere;

    if (!(master->todo & RC_MASTER_VERIFY))
        return true;
    elsewhere = rc_netaddr_read(rc_str(master->addr), &address) ? rc_netaddr_is_elsewhere(&address)
                                                                : hooks->is_elsewhere(result);
    if (elsewhere)
        rc_say(&result->messages, RC407,
               "this is rank 0, but MASTER_ADDR %s (%s) is not an address of its node; %s; %s%s%s", master->addr,
               master->addr_source, hooks->outcome,
               master->wish ? "give another addr="
               : to_unset   ? "unset it, or choose one of the node's own with addr="
                            : "use ",
               master->wish || to_unset    ? ""
               : result->launcher->pass[0] ? result->launcher->pass
                                           : "MASTER_ADDR=HOST",
               is_users ? "; if it leads here (NAT), use addr=given" : "");
    return !elsewhere;
}

/* A rollcall further outside (the plugin, another exec) may hold the port for
 * this very process, by a descriptor that it has inherited. */
static bool is_inherited(uint16_t port)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if (rc_port_number(fd) == port)
            return true;
    return false;
}

bool rc_rank0_hold(struct rc_result *result, const struct rc_rank0 *hooks, int *fd)
{
    const struct rc_master *master = &result->master;
    struct rc_str node = hooks->node.n ? hooks->node : RC_STR("this node, which is rank 0's,");
    char owner[OWNER_SIZE];
    bool is_denied;
    int held;

    *fd = -1;
    if (!(master->todo & RC_MASTER_HOLD))
        return true;
    held = rc_port_hold(master->port);
    if (held >= 0)
        *fd = held;
    /* below 1024 the kernel refuses users, but not root, nor all containers (net.ipv4.ip_unprivileged_port_start) */
    is_denied = held == -EACCES && master->port < RC_PORT_FIRST_OF_USERS;
    /* without a free descriptor, or where sockets are forbidden: as it was without us. And the user may run the store
     * on another host: then it does not matter what has the port here. */
    if ((held != -EADDRINUSE && !is_denied) || is_inherited(master->port) || master->addr_given != RC_GIVEN_BY_LAUNCH)
        return true;
    if (is_denied)
        return rc_say(&result->messages, RC405,
                      "port %u of %pS is only for root; %s; set MASTER_PORT to a number from %u to 65535, or unset it",
                      (uint32_t)master->port, &node, hooks->outcome, (uint32_t)RC_PORT_FIRST_OF_USERS);
    if (hooks->name_owner)
        hooks->name_owner(master->port, owner, sizeof(owner));
    return rc_say(&result->messages, RC405,
                  "port %u of %pS is taken%s%s; %s; wait for it to end, or set MASTER_PORT to a free port",
                  (uint32_t)master->port, &node, hooks->name_owner ? " by " : "", hooks->name_owner ? owner : "",
                  hooks->outcome);
}

/* Not higher than needed: some programs close all descriptors below the soft limit, one by one. */
uint32_t rc_rank0_raise_limit(struct rc_result *result)
{
    uint32_t ranks = rc_ranks_count(result);
    uint32_t wanted = ranks + OTHER_FILES;
    struct rc_limit limit, raised;

    if (!(result->master.todo & RC_MASTER_HOLD) || ranks == RC_UNKNOWN || rc_sys_limit(RLIMIT_NOFILE, NULL, &limit) < 0)
        return 0;
    if (limit.hard < ranks)
        rc_say(&result->messages, RC426,
               "rank 0 may open %u files (hard limit), and torch's store needs one for each of %u ranks; the tasks "
               "start; the ranks that come last may wait in vain; raise the hard limit there to %u",
               (uint32_t)limit.hard, ranks, wanted);
    if (wanted > limit.hard)
        wanted = (uint32_t)limit.hard;
    raised = (struct rc_limit){ wanted, limit.hard };
    if (limit.soft < wanted)
        rc_sys_limit(RLIMIT_NOFILE, &raised, NULL);
    return wanted;
}
