/* SPDX-License-Identifier: BSD-3-Clause */
/* openmpi.c - a rank that Open MPI's mpirun started (ORTE in 4, PRRTE in 5).
 *
 * Both set OMPI_COMM_WORLD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}; no other
 * launcher does (an Open MPI program under srun has none of them). What
 * no variable says:
 * - the number of nodes: ORTE's orte_num_nodes; with PRRTE size / local size,
 *   if there is no rest (layout.h).
 * - the node's number: the daemons' numbers tell it (mpidaemon.h);
 *   OMPI_COMM_WORLD_NODE_RANK counts processes of all jobs on a node.
 * - the host of rank 0: first host of the Slurm allocation if the job spans
 *   just that, else the host of mpirun itself (orte_hnp_uri; PRRTE's namespace)
 *   where the daemons' numbers show that it carries ranks (measured with 4.1.4
 *   and 5.0.7: 0,1 when mpirun runs on a node of the job, which then is the
 *   first one wherever it stands in the list of hosts, 1,2 when it runs on a
 *   login node), else the second of orte_node_regex, else the first host of
 *   the default hostfile. RANK 0 compares it with its own addresses.
 * What PRRTE's variables do not tell, its PMIx server does, where the caller can
 * ask (pmixjob.h): the node where it does not follow, and no other task takes
 * another answer from its own variables (rc_mpidaemon_all_right); the host of
 * rank 0 where MASTER_ADDR is not set.
 * Source: ompi v4.1 orte/mca/schizo/ompi/schizo_ompi.c, setup_fork and
 * setup_child; openpmix v5.0 src/mca/pmdl/ompi/pmdl_ompi.c.
 */
#include "launcher/registry.h"

#include "base/netaddr.h"
#include "launcher/hostfile.h"
#include "launcher/hostlist.h"
#include "launcher/layout.h"
#include "launcher/mpidaemon.h"
#include "launcher/orteregex.h"
#include "launcher/pmixjob.h"
#include "launcher/slurmpmix.h"

static bool read_numbers(struct rc_reader *reader, struct rc_facts *facts, bool orte)
{
    const char *const rank = "OMPI_COMM_WORLD_RANK";

    return rc_read_fields(reader, &rc_launcher_openmpi, facts) &&
           rc_need_field(reader, facts, RC_WORLD_SIZE, rank, "OMPI_COMM_WORLD_SIZE") &&
           rc_need_field(reader, facts, RC_LOCAL_RANK, rank, "OMPI_COMM_WORLD_LOCAL_RANK") &&
           rc_need_field(reader, facts, RC_LOCAL_WORLD_SIZE, rank, "OMPI_COMM_WORLD_LOCAL_SIZE") &&
           /* Open MPI 4 sets both a second time, for its own library */
           (!orte ||
            (rc_agrees(reader, RC_STR("OMPI_MCA_orte_ess_num_procs"), &facts->field[RC_WORLD_SIZE], "mpirun") &&
             rc_agrees(reader, RC_STR("OMPI_MCA_ess_base_vpid"), &facts->field[RC_RANK], "mpirun")));
}

/* A newer step of srun, or another PMIx launcher, inside of this one. */
static bool is_stale(struct rc_reader *reader, uint32_t own_rank)
{
    struct rc_str rank = rc_env_get(reader->env, "PMIX_RANK");
    struct rc_str job = rc_env_get(reader->env, "SLURM_JOB_ID");
    struct rc_str step = rc_env_get(reader->env, "SLURM_STEP_ID");
    uint32_t number;

    /* of this very step: mpirun's tasks keep an outer step's SLURM_*, with another namespace */
    reader->why = "PMIX_NAMESPACE is a newer launcher's";
    if (job.n && step.n && rc_str_eq(rank, rc_env_get(reader->env, "SLURM_PROCID")) &&
        rc_str_is(rc_slurmpmix_step(reader->env), rc_format(reader->arena, "%S.%S", &job, &step)))
        return true;
    return rc_parse_u32(rank, RC_MAX_TASKS, &number) && number != own_rank;
}

/* The first of "192.0.2.2,10.0.0.2" that other nodes can reach. */
static struct rc_str first_reachable(struct rc_str addresses)
{
    while (addresses.p) {
        struct rc_str address = rc_str_split(addresses, ',', &addresses);

        if (address.n && !rc_str_starts(address, "127.") && !rc_str_is(address, "::1") &&
            !rc_str_starts(address, "fe80:"))
            return address;
    }
    return RC_ABSENT;
}

/* "1740701696.0;tcp://192.0.2.2,10.0.0.2:57779;tcp6://[fd00::2]:43749": the
 * first address of mpirun's node; IPv6 only where there is nothing else. */
static struct rc_str mpirun_address(const struct rc_env *env)
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

/* "prterun-node-a-651@1": mpirun's own name for its host. */
static struct rc_str prrte_host(const struct rc_env *env)
{
    struct rc_str rest;
    struct rc_str host;
    struct rc_str name = rc_str_split(rc_env_get(env, "PMIX_NAMESPACE"), '@', &rest);

    if (!rest.p)
        return RC_ABSENT;
    rc_str_split(name, '-', &host);
    while (host.n && host.p[host.n - 1] != '-')
        host.n--;
    return host.n > 1 ? (struct rc_str){ host.p, host.n - 1 } : RC_ABSENT;
}

/* Rank 0's host where mpirun runs on another one, such as a login node: the host
 * of daemon 1, or the first one of mpirun's default hostfile. */
static void find_first_host(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str regex = rc_env_get(reader->env, "OMPI_MCA_orte_node_regex");
    struct rc_str file = rc_env_get(reader->env, "OMPI_MCA_orte_default_hostfile");
    char name[RC_HOST_MAX + 1];

    if (rc_orteregex_nth(regex, 1, name)) {
        facts->master_host = rc_str(rc_format(reader->arena, "%s", name));
        facts->master_source = "first daemon's host in OMPI_MCA_orte_node_regex, checked by rank 0";
        return;
    }
    if (!file.n)
        file = rc_env_get(reader->env, "PRTE_MCA_prte_default_hostfile");
    if (file.n && rc_learned_file(reader, file)) {
        facts->master_host = rc_hostfile_first(reader->here->host_file);
        facts->master_source = "first host of mpirun's default hostfile, checked by rank 0";
    }
}

static void find_master(struct rc_reader *reader, struct rc_facts *facts, const struct rc_mpidaemon *daemon)
{
    /* mpirun's own daemon is number 0: if that of node 0 is 1, mpirun's host
     * (a login node, say) carries no ranks */
    bool mpirun_has_ranks = daemon->number == RC_UNKNOWN || daemon->number == facts->field[RC_NODE_RANK].value;
    struct rc_str job_hosts = rc_env_get(reader->env, "SLURM_JOB_NODELIST");
    uint32_t count;

    /* one node: the core takes the loopback address */
    facts->master_certain = facts->field[RC_NNODES].value == 1;
    if (facts->master_certain)
        return;
    if (rc_hostlist_count(job_hosts, &count) && count == facts->field[RC_NNODES].value) {
        facts->hosts = job_hosts;
        facts->master_node = 0;
        facts->master_source = "first host of SLURM_JOB_NODELIST, checked by rank 0";
    } else if (!mpirun_has_ranks) {
        find_first_host(reader, facts);
    } else {
        facts->master_host = daemon->orte ? mpirun_address(reader->env) : prrte_host(reader->env);
        facts->master_source = daemon->orte ? "mpirun's host in OMPI_MCA_orte_hnp_uri, checked by rank 0"
                                            : "mpirun's host in PMIX_NAMESPACE, checked by rank 0";
    }
}

enum rc_claim rc_openmpi_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str name = rc_env_get(reader->env, "PMIX_NAMESPACE");
    struct rc_number rank;

    if (!rc_env_get(reader->env, "OMPI_COMM_WORLD_RANK").n)
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, RC_STR("OMPI_COMM_WORLD_RANK"), RC_MAX_TASKS, &rank))
        return RC_CLAIM_BROKEN;
    if (is_stale(reader, rank.value))
        return RC_CLAIM_STALE;
    facts->field[RC_RANK] = rank;
    rc_facts_name(reader, facts, "openmpi", name.n ? name : rc_env_get(reader->env, "OMPI_MCA_ess_base_jobid"));
    return RC_CLAIM_TASK;
}

/* Open MPI 5, where its variables do not tell the node: its PMIx server does. */
static bool ask_for_node(struct rc_reader *reader, struct rc_facts *facts, const struct rc_mpidaemon *daemon)
{
    switch (rc_pmixjob_fill(reader, facts, "use the same number on each node, mpirun --map-by ppr:N:node")) {
    case RC_PMIXJOB_READ:
        if (rc_mpidaemon_all_right(reader, facts, daemon))
            return true;
        break;
    case RC_PMIXJOB_WRONG:
        return false;
    case RC_PMIXJOB_NONE:
        break;
    }
    return rc_layout_refuse(reader, facts, rc_launcher_openmpi.each);
}

/* Where they do not tell the host of rank 0, which is so for all tasks or none. */
static bool ask_for_host(struct rc_reader *reader, struct rc_facts *facts)
{
    uint32_t node_rank = facts->field[RC_NODE_RANK].value;
    uint32_t nnodes = facts->field[RC_NNODES].value;
    bool derived = facts->nnodes_derived;
    struct rc_str user = reader->master_left_over ? RC_ABSENT : rc_env_get(reader->env, "MASTER_ADDR");

    if (facts->master_certain || facts->hosts.p || facts->master_host.p || (user.n && !rc_host_is_loopback(user)))
        return true;
    switch (rc_pmixjob_fill(reader, facts, "set MASTER_ADDR: mpirun -x MASTER_ADDR=HOST")) {
    case RC_PMIXJOB_READ:
        /* the same whether or not MASTER_ADDR is set */
        facts->nnodes_derived = derived;
        return (facts->field[RC_NODE_RANK].value == node_rank && facts->field[RC_NNODES].value == nnodes) ||
               rc_layout_refuse(reader, facts, rc_launcher_openmpi.each);
    case RC_PMIXJOB_WRONG:
        return false;
    case RC_PMIXJOB_NONE:
        break;
    }
    return true;
}

bool rc_openmpi_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;
    struct rc_mpidaemon daemon = rc_mpidaemon_of(reader->env);

    /* nodes of the job's map, mpirun's own only if it carries ranks */
    if (!read_numbers(reader, facts, daemon.orte) ||
        (daemon.orte && !rc_read_number(reader, RC_STR("OMPI_MCA_orte_num_nodes"), RC_MAX_TASKS, &field[RC_NNODES])))
        return false;
    if (rc_layout_nnodes(reader, facts)) {
        field[RC_NODE_RANK].value = rc_mpidaemon_node_rank(reader, facts, &daemon);
        field[RC_NODE_RANK].source = "derived from rank, local rank and daemon";
    }
    if (field[RC_NODE_RANK].value == RC_UNKNOWN) {
        if (daemon.orte || reader->messages->has_error)
            return rc_layout_refuse(reader, facts, rc_launcher_openmpi.each);
        if (!ask_for_node(reader, facts, &daemon))
            return false;
    } else {
        rc_layout_spread(facts);
        find_master(reader, facts, &daemon);
        if (!daemon.orte && !ask_for_host(reader, facts))
            return false;
    }
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_openmpi = {
    .id = "openmpi",
    .title = "Open MPI (mpirun)",
    .processes = "orted mpirun mpiexec orterun prted prterun prte mpirun.openmpi mpiexec.openmpi oshrun",
    .pass = "mpirun -x MASTER_ADDR=HOST",
    .each = "mpirun --map-by ppr:N:node",
    .pmix_server = RC_PMIX_SERVER_OWN,
    .has_mpidaemon = true,
    .variables = {
        RC_VARIABLE("OMPI_COMM_WORLD_RANK", RC_RANK),
        RC_VARIABLE("OMPI_COMM_WORLD_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("OMPI_COMM_WORLD_LOCAL_RANK", RC_LOCAL_RANK),
        RC_VARIABLE("OMPI_COMM_WORLD_LOCAL_SIZE", RC_LOCAL_WORLD_SIZE),
    },
};
