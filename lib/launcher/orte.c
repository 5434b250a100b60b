/* SPDX-License-Identifier: BSD-3-Clause */
/* orte.c - hosts of Open MPI 4's (ORTE's) daemons, and the index of a task's node among them. */
#include "base/netaddr.h"
#include "launcher/families.h"
#include "launcher/layout.h"

/* mpirun exports --map-by, --rank-by and (deprecated) --bynode as parameters. */
static bool dealt_by_node(const struct rc_env *env)
{
    return rc_str_starts(rc_env_get(env, "OMPI_MCA_rmaps_base_mapping_policy"), "node") ||
           rc_str_starts(rc_env_get(env, "OMPI_MCA_rmaps_base_ranking_policy"), "node") ||
           rc_str_is(rc_env_get(env, "OMPI_MCA_rmaps_base_bynode"), "1");
}

bool rc_orte_host(const struct rc_env *env, uint32_t daemon, char name[RC_HOST_MAX + 1])
{
    struct rc_str rest;

    return rc_hostlist_nth(rc_str_split(rc_env_get(env, "OMPI_MCA_orte_node_regex"), '@', &rest), daemon, name);
}

static uint32_t place_in_list(const struct rc_env *env, uint32_t daemon)
{
    char name[RC_HOST_MAX + 1];
    uint32_t place;

    if (!rc_orte_host(env, daemon, name))
        return RC_UNKNOWN;
    place = rc_hostlist_find(rc_env_get(env, "SLURM_JOB_NODELIST"), rc_str(name));
    return place == daemon || place + 1 == daemon ? place : RC_UNKNOWN;
}

/* OMPI_UNIVERSE_SIZE is the number of usable slots (ompi v4.1 schizo_ompi.c). */
static bool are_slots_taken(const struct rc_env *env, const struct rc_facts *facts)
{
    uint32_t slots;

    return rc_parse_u32(rc_env_get(env, "OMPI_UNIVERSE_SIZE"), RC_MAX_TASKS, &slots) &&
           slots == facts->field[RC_WORLD_SIZE].value;
}

uint32_t rc_orte_place(const struct rc_env *env, const struct rc_facts *facts, uint32_t daemon, uint32_t daemons)
{
    const struct rc_number *field = facts->field;
    uint32_t rank = field[RC_RANK].value;
    uint32_t local_rank = field[RC_LOCAL_RANK].value;
    uint32_t nnodes = field[RC_NNODES].value;
    bool by_node = dealt_by_node(env);
    uint32_t even = rc_layout_node_rank(facts, by_node ? 1 : field[RC_LOCAL_WORLD_SIZE].value);
    uint32_t place;

    /* all lower ranks are on this node */
    if (rank <= local_rank)
        return rank == local_rank ? 0 : RC_UNKNOWN;
    /* sizes 4,2,1,1 look even from the second node, so prefer the daemon's number */
    if (daemon == 0 || (daemon != RC_UNKNOWN && daemons == nnodes))
        place = daemon;
    else if (daemon != RC_UNKNOWN && daemon >= nnodes)
        place = daemon - 1;
    else
        place = place_in_list(env, daemon);
    if (place == RC_UNKNOWN && by_node && local_rank == 0 && rank < nnodes)
        return rank;
    /* Daemon `even` has slots, and so has an idle daemon's node. If all slots are taken, that is a login node, and the
     * hosts are uneven: 4,2,1,1 slots. */
    if (place == RC_UNKNOWN && even == daemon && even != RC_UNKNOWN && are_slots_taken(env, facts))
        return RC_UNKNOWN;
    if (place == RC_UNKNOWN && (daemon == RC_UNKNOWN || even == daemon || even + 1 == daemon))
        place = even;
    /* a parameter file can select by-node mapping; by slot, the first node has the lowest ranks (4.1.4) */
    by_node = by_node || place == 0;
    /* each earlier node has a rank below this node's */
    if (place >= nnodes || place > rank - local_rank)
        return RC_UNKNOWN;
    /* by node, the first round has a rank on each node, and no round has more */
    if (by_node && (local_rank == 0 ? rank != place : rank > (uint64_t)local_rank * nnodes + place))
        return RC_UNKNOWN;
    return place;
}

/* Return the first of "192.0.2.2,10.0.0.2" that other nodes can reach. */
static struct rc_str first_reachable(struct rc_str addresses)
{
    while (addresses.p) {
        struct rc_str address = rc_str_split(addresses, ',', &addresses);

        if (address.n && !rc_host_is_loopback(address) && !rc_str_starts(address, "fe80:"))
            return address;
    }
    return RC_ABSENT;
}

struct rc_str rc_orte_mpirun(const struct rc_env *env)
{
    struct rc_str rest;
    struct rc_str port;
    struct rc_str ipv6 = RC_ABSENT;

    rc_str_split(rc_env_get(env, "OMPI_MCA_orte_hnp_uri"), ';', &rest);
    while (rest.p) {
        struct rc_str uri = rc_str_split(rest, ';', &rest);
        struct rc_str found = RC_ABSENT;

        if (rc_str_starts(uri, "tcp://"))
            found = first_reachable(rc_str_split((struct rc_str){ uri.p + 6, uri.n - 6 }, ':', &port));
        else if (rc_str_starts(uri, "tcp6://[") && !ipv6.p)
            ipv6 = first_reachable(rc_str_split((struct rc_str){ uri.p + 8, uri.n - 8 }, ']', &port));
        if (found.p)
            return found;
    }
    return ipv6;
}
