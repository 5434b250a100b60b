/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/families.h"
#include "launcher/layout.h"

/* Tasks of Hydra: mpiexec of MPICH, Intel MPI and MVAPICH.
 *
 * Marker: MPI_LOCALRANKID (also exported by hand, for oneCCL) with PMI_RANK (PMI_ID under -pmi-port), which srun
 * --mpi=pmi2 and --mpi=cray_shasta and Cray's PALS set as well: see find_writer(). Intel MPI was not run and has no
 * public source: its rules are from its manual and published logs. Source: mpich v4.0.2
 * src/pm/hydra/pm/pmiserv/pmip_cb.c, launch_procs; v5.0 src/pm/hydra/proxy/pmip_cb.c.
 * The environment has only ranks and sizes. An ancestor's command line has more (MPICH 4.0.2):
 * hydra_pmi_proxy --control-port n1:35397 --rmk user --launcher ssh ... --pgid 0 ... --proxy-id 1
 * control-port has mpiexec's host as listed; proxies get ranks in rounds, so proxy 0 has rank 0; --rmk is the source of
 * the hosts. Under srun (--launcher slurm) --proxy-id is -1, and tasks inherit SLURM_NODEID. MPICH 4.3 in a batch
 * script exports the script's SLURM_NODEID=0 to all nodes (Slurm 24.11; not 4.0.2 under 22.05): use the host name.
 * Intel MPI adds a process:
 * hydra_bstrap_proxy --upstream-host n1 --upstream-port 34921 --pgid 0 --launcher ssh ... --tree-width 16 --tree-level
 * 1 ... --proxy-id 0 --node-id 0 ...
 * whose upstream is mpiexec only for the first tree-width proxies (llnl and volcano-sh issues).
 * Nodes: 1 if the local size is the size; SLURM_STEP_NUM_NODES under srun; else size / local size.
 * Node rank: under srun, the index in SLURM_STEP_NODELIST, or SLURM_NODEID; else the proxy's number, if an even layout
 * allows it; else that of an even layout by slot.
 * Host of rank 0: under srun, the first of SLURM_STEP_NODELIST; else, checked by rank 0, the first of
 * SLURM_JOB_NODELIST (--rmk slurm) or of HYDRA_HOST_FILE or I_MPI_HYDRA_HOST_FILE; else mpiexec's host, the first of a
 * PBS or Grid Engine job. mpiexec's command line has the hosts only on its node, but all nodes need the same master. */

/* The nearest proxy. */
struct proxy {
    struct rc_str host; /* mpiexec's */
    struct rc_str port;
    struct rc_str group; /* above 0: by MPI_Comm_spawn */
    struct rc_str launcher;
    struct rc_str rmk;
    uint32_t id;
    bool tree; /* Intel MPI's, started by each other beyond the first */
};

static bool read_proxy(struct rc_str cmdline, struct proxy *proxy)
{
    struct rc_str name = rc_ancestor_name(cmdline);
    struct rc_str control = rc_ancestor_option(cmdline, "--control-port");
    uint32_t level;

    if (rc_str_is(name, "hydra_pmi_proxy") && control.n) {
        /* "n1:35397"; an IPv6 address has more colons */
        proxy->host = rc_str_split_last(control, ':', &proxy->port);
        if (!proxy->port.p)
            proxy->host = RC_ABSENT;
    } else if (rc_str_is(name, "hydra_bstrap_proxy")) {
        proxy->tree = true;
        /* further down the tree, the upstream is another proxy */
        if (rc_parse_u32(rc_ancestor_option(cmdline, "--tree-level"), RC_MAX_TASKS, &level) && level <= 1) {
            proxy->host = rc_ancestor_option(cmdline, "--upstream-host");
            proxy->port = rc_ancestor_option(cmdline, "--upstream-port");
        }
    } else {
        return false;
    }
    proxy->group = rc_ancestor_option(cmdline, "--pgid");
    proxy->launcher = rc_ancestor_option(cmdline, "--launcher");
    proxy->rmk = rc_ancestor_option(cmdline, "--rmk");
    if (!rc_parse_u32(rc_ancestor_option(cmdline, "--proxy-id"), RC_MAX_TASKS, &proxy->id))
        proxy->id = RC_UNKNOWN;
    return true;
}

/* Return false without a visible proxy, as in a pid namespace. */
static bool find_proxy(struct rc_reader *reader, struct proxy *proxy)
{
    *proxy = (struct proxy){ .id = RC_UNKNOWN };
    if (!rc_seen(reader->here, RC_LEARN_ANCESTORS, RC_ABSENT))
        return false;
    for (unsigned i = 0; i < reader->here->ancestor_count; i++)
        if (read_proxy(reader->here->ancestor[i], proxy))
            return true;
    return false;
}

/* Return true if a second level of proxies lacks mpiexec's address. */
static bool is_deep(const struct rc_env *env, const struct proxy *proxy)
{
    enum { TREE_WIDTH = 16 };
    uint32_t size;
    uint32_t local;

    return proxy->tree && (!rc_parse_u32(rc_env_get(env, "PMI_SIZE"), RC_MAX_TASKS, &size) ||
                           !rc_parse_u32(rc_env_get(env, "MPI_LOCALNRANKS"), RC_MAX_TASKS, &local) || local == 0 ||
                           size / local > TREE_WIDTH);
}

/* Equal in all tasks. A daemon that a task left behind has only the stamp. */
static void name_launch(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str jobs = RC_STR("SLURM_JOB_ID|PBS_JOBID|LSB_JOBID|JOB_ID");
    struct proxy proxy;
    struct rc_str run = RC_ABSENT;

    if (find_proxy(reader, &proxy)) {
        bool spawned = proxy.group.n && !rc_str_is(proxy.group, "0");

        if (proxy.host.n && proxy.port.n && !is_deep(reader->env, &proxy))
            run = rc_str(
                rc_format(reader->arena, spawned ? "%pS:%pS.%pS" : "%pS:%pS", &proxy.host, &proxy.port, &proxy.group));
    } else if (rc_launcher_has_scope(&rc_launcher_mpich, reader->stamp.scope)) {
        rc_str_split(reader->stamp.scope, ':', &run);
    }
    while (!run.n && jobs.p)
        run = rc_env_find(reader->env, rc_str_split(jobs, '|', &jobs));
    rc_facts_name(reader, facts, rc_launcher_mpich.id, run);
}

/* The last writer of PMI_RANK and PMI_SIZE. */
enum writer {
    HYDRA,         /* or no evidence of another launcher */
    HYDRA_IN_STEP, /* over a Slurm step's */
    ANOTHER,       /* srun or PALS; MPI_LOCALRANKID is an outer task's or exported */
    EITHER,        /* Hydra or srun: both give this task these numbers */
};

/* srun's PMI_RANK and so on, from variables that Hydra keeps. */
struct srun_pmi {
    struct rc_str rank; /* RC_ABSENT: no known step sets PMI_RANK */
    struct rc_str size;
    struct rc_str local_rank;
    uint32_t local_size;
    bool is_innermost; /* of the step in SLURM_STEP_ID */
};

static uint32_t count_listed(struct rc_str ranks)
{
    uint32_t count = 0;

    for (; ranks.n; count++)
        rc_str_split(ranks, ',', &ranks);
    return count;
}

/* srun --mpi=pmi2 sets PMI_JOBID to its step, --mpi=cray_shasta PALS_APID; in 22.05 without PMI_RANK and local ranks
 * (measured). */
static struct srun_pmi read_srun_pmi(const struct rc_env *env, const char *step)
{
    struct rc_str launch = rc_env_get(env, "PALS_APID");
    bool is_cray = rc_pals_is_slurms(launch) && rc_env_get(env, "PALS_LOCAL_RANKID").n &&
                   rc_env_get(env, "PMI_LOCAL_SIZE").n;
    struct srun_pmi pmi = { .is_innermost = (is_cray && rc_str_is(launch, step)) ||
                                            rc_str_is(rc_env_get(env, "PMI_JOBID"), step) };

    if (pmi.is_innermost) {
        pmi.rank = rc_env_get(env, "SLURM_PROCID");
        pmi.size = rc_env_get(env, "SLURM_STEP_NUM_TASKS");
        pmi.local_rank = rc_env_get(env, "SLURM_LOCALID");
        pmi.local_size = count_listed(rc_env_get(env, "SLURM_GTIDS"));
    } else if (is_cray) {
        pmi.rank = rc_env_get(env, "PALS_RANKID");
        pmi.size = rc_env_either(env, RC_STR("PMI_UNIVERSE_SIZE"), RC_STR("PMI_SIZE"));
        pmi.local_rank = rc_env_get(env, "PALS_LOCAL_RANKID");
        if (!rc_parse_u32(rc_env_get(env, "PMI_LOCAL_SIZE"), RC_MAX_TASKS, &pmi.local_size))
            pmi.local_size = RC_UNKNOWN;
    }
    return pmi;
}

/* Return true if these may be a Hydra task's that is not refused: ranks by slot, even nodes, and on several nodes a
 * MASTER_ADDR. */
static bool fits_hydra(const struct rc_env *env)
{
    uint32_t rank, size, local_rank, local_size;

    return rc_parse_u32(rc_env_get(env, "PMI_RANK"), RC_MAX_TASKS, &rank) &&
           rc_parse_u32(rc_env_get(env, "PMI_SIZE"), RC_MAX_TASKS, &size) &&
           rc_parse_u32(rc_env_get(env, "MPI_LOCALRANKID"), RC_MAX_TASKS, &local_rank) &&
           rc_parse_u32(rc_env_get(env, "MPI_LOCALNRANKS"), RC_MAX_TASKS, &local_size) && rank < size &&
           local_rank < local_size && size % local_size == 0 && rank % local_size == local_rank &&
           (local_size == size || rc_env_get(env, "MASTER_ADDR").n);
}

/* mpiexec sets the first in all tasks (mpich get_parameters.c), Intel MPI the others. */
static bool has_mark(const struct rc_env *env)
{
    return rc_env_get(env, "GFORTRAN_UNBUFFERED_PRECONNECTED").n || rc_env_get(env, "I_MPI_MPIRUN").n ||
           rc_env_get(env, "I_MPI_HYDRA_UUID").n;
}

static const char *name_step(struct rc_reader *reader)
{
    struct rc_str job = rc_env_get(reader->env, "SLURM_JOB_ID");
    struct rc_str step = rc_env_get(reader->env, "SLURM_STEP_ID");

    return rc_format(reader->arena, "slurm:%pS.%pS", &job, &step);
}

static enum writer find_writer(const struct rc_reader *reader, const char *step)
{
    const struct rc_env *env = reader->env;
    struct rc_str rank = rc_env_get(env, "PMI_RANK");
    struct rc_str there = rc_env_get(env, "MPI_LOCALNRANKS");
    struct srun_pmi srun = read_srun_pmi(env, step + sizeof("slurm:") - 1);
    bool whole = there.n && rc_env_get(env, "PMI_FD").n;
    bool is_stamped = rc_launcher_has_scope(&rc_launcher_mpich, reader->stamp.scope);
    bool same;
    uint32_t local_size;

    if (!rank.n)
        return HYDRA;
    if (!srun.rank.n && rc_str_eq(rank, rc_env_get(env, "PALS_RANKID")) &&
        !rc_pals_is_slurms(rc_env_get(env, "PALS_APID")))
        return ANOTHER;
    /* rollcall has set an inner launch's ranks */
    if (rc_stamp_has_outer(&reader->stamp, step))
        return HYDRA;
    if (!srun.rank.n) {
        same = rc_str_eq(rank, rc_env_get(env, "SLURM_PROCID")) &&
               rc_str_eq(rc_env_get(env, "PMI_SIZE"), rc_env_get(env, "SLURM_STEP_NUM_TASKS")) &&
               rc_str_eq(rc_env_get(env, "MPI_LOCALRANKID"), rc_env_get(env, "SLURM_LOCALID"));
        return same && (!whole || is_stamped) ? ANOTHER : HYDRA;
    }
    if (!rc_str_eq(rank, srun.rank) || !rc_str_eq(rc_env_get(env, "PMI_SIZE"), srun.size))
        return srun.is_innermost && !reader->stamp.text.n ? HYDRA_IN_STEP : HYDRA;
    same = rc_str_eq(rc_env_get(env, "MPI_LOCALRANKID"), srun.local_rank) &&
           (!there.n || (rc_parse_u32(there, RC_MAX_TASKS, &local_size) && local_size == srun.local_size));
    if (!whole || is_stamped || (same && !has_mark(env)) || !fits_hydra(env))
        return ANOTHER;
    if (rc_str_is(reader->stamp.scope, step))
        return same ? ANOTHER : HYDRA;
    return EITHER;
}

enum rc_claim rc_mpich_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *rank = &facts->field[RC_RANK];
    struct rc_str size = rc_env_get(reader->env, "PMI_SIZE");
    const char *step;
    enum writer writer;
    struct proxy proxy;
    bool in_sight;

    if (!rc_env_get(reader->env, "MPI_LOCALRANKID").n)
        return RC_CLAIM_ABSENT;
    step = name_step(reader);
    writer = find_writer(reader, step);
    in_sight = (writer == ANOTHER || writer == EITHER) && find_proxy(reader, &proxy);
    if (writer == ANOTHER && !in_sight)
        return RC_CLAIM_ABSENT;
    /* -pmi-port: the rank is in PMI_ID */
    if (!rc_read_number(reader, rc_either(reader->env, "PMI_RANK", "PMI_ID"), rank))
        return RC_CLAIM_BROKEN;
    /* exported for other libraries */
    if (rank->value == RC_UNKNOWN) {
        if (!rc_env_get(reader->env, "PMI_SIZE").n && !rc_env_get(reader->env, "MPI_LOCALNRANKS").n)
            return RC_CLAIM_ABSENT;
        rc_missing(reader, "MPI_LOCALRANKID", "PMI_RANK");
        return RC_CLAIM_BROKEN;
    }
    name_launch(reader, facts);
    if (writer == HYDRA_IN_STEP)
        facts->around = step;
    if (writer == EITHER && !in_sight) {
        rc_say(reader->messages, RC127,
               "PMI_RANK %u of %pS can be this Slurm step's or that of an mpiexec inside it, and no visible process "
               "shows which; nothing is set; let the container see the node's processes (--pid=host), or use srun "
               "--mpi=none around mpiexec",
               rank->value, &size);
        return RC_CLAIM_BROKEN;
    }
    return RC_CLAIM_TASK;
}

/* Return true if ranks may have been dealt in rounds, not by a map (mpiexec -rankmap, MPICH 5.1: HYDU_create_proxy_list
 * numbers proxies by node). */
static bool is_dealt_in_turn(const struct rc_facts *facts, uint32_t place)
{
    const struct rc_number *field = facts->field;
    uint32_t rank = field[RC_RANK].value;
    uint32_t local_rank = field[RC_LOCAL_RANK].value;

    if ((uint64_t)field[RC_NNODES].value * field[RC_LOCAL_WORLD_SIZE].value == field[RC_WORLD_SIZE].value)
        return rc_layout_agrees(facts, place);
    /* each earlier node has a rank below this node's */
    return rank >= local_rank && rank - local_rank >= place && (place > 0 || local_rank > 0 || rank == 0);
}

/* SLURM_NODEID may be the batch script's (above). */
static bool find_place_in_step(struct rc_reader *reader, struct rc_facts *facts)
{
    const struct rc_number *field = facts->field;
    uint32_t here = RC_UNKNOWN;

    if (rc_seen(reader->here, RC_LEARN_HOST, RC_ABSENT))
        here = rc_hostlist_find_node(facts->hosts, reader->here->host);
    if (here == RC_UNKNOWN)
        here = field[RC_NODE_RANK].value;
    if (here != field[RC_NODE_RANK].value)
        facts->field[RC_NODE_RANK] = (struct rc_number){ here, "this host's place in SLURM_STEP_NODELIST" };
    return is_dealt_in_turn(facts, here);
}

/* MPICH 4.3 exports mpiexec's step (-5 is a batch script). Its proxy is in another: "slurmstepd: [42.1]". */
static bool is_own_step(struct rc_reader *reader)
{
    struct rc_str own = rc_env_get(reader->env, "SLURM_STEP_ID");
    struct rc_str daemon = rc_ancestor_nearest(reader, "slurmstepd");
    struct rc_str step = rc_ancestor_step(daemon);
    uint32_t number;

    return !daemon.p || !rc_parse_u32(own, RC_MAX_TASKS, &number) || rc_str_eq(step, own) ||
           rc_say(reader->messages, RC103,
                  "SLURM_STEP_ID is %pQ, but mpiexec's proxy is in step %pQ; nothing is set; start the command with "
                  "mpiexec in the batch script",
                  &own, &step);
}

static bool read_step(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;
    struct rc_number proxies;
    uint32_t count;

    if (!is_own_step(reader) || !rc_read_needed(reader, "MPI_LOCALRANKID", "SLURM_NODEID", &field[RC_NODE_RANK]) ||
        !rc_read_needed(reader, "MPI_LOCALRANKID", "SLURM_STEP_NUM_NODES", &field[RC_NNODES]) ||
        !rc_read_number(reader, "SLURM_STEP_NUM_TASKS", &proxies))
        return false;
    if ((proxies.value != RC_UNKNOWN && proxies.value != field[RC_NNODES].value) ||
        field[RC_NODE_RANK].value >= field[RC_NNODES].value) {
        return rc_say(reader->messages, RC103,
                      "mpiexec's proxy is on node %u of %u, in a step that has not one task a node; nothing "
                      "is set; start the command with mpiexec again, without more tasks for srun",
                      field[RC_NODE_RANK].value, field[RC_NNODES].value);
    }
    facts->hosts = rc_env_get(reader->env, "SLURM_STEP_NODELIST");
    if (!rc_hostlist_count(facts->hosts, &count) || count != field[RC_NNODES].value)
        return rc_say(reader->messages, RC105,
                      "SLURM_STEP_NODELIST is %pQ, no list of %u hosts; nothing is set; start the command "
                      "with mpiexec again",
                      &facts->hosts, field[RC_NNODES].value);
    facts->master_node = 0;
    facts->master_source = "first host of SLURM_STEP_NODELIST, which proxy 0 is on";
    facts->master_certain = true;
    return true;
}

/* A user's file must be on each node. */
static bool find_listed(struct rc_reader *reader, const struct proxy *proxy, struct rc_facts *facts)
{
    static const char names[][22] = { "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE" };

    if (rc_str_is(proxy->rmk, "slurm") && rc_layout_take_job_hosts(reader->env, facts))
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct rc_str path = rc_env_find(reader->env, rc_str(names[i]));

        if (!path.n)
            continue;
        if (rc_seen(reader->here, RC_LEARN_HOST_FILE, path)) {
            facts->master_host = rc_hostfile_first(reader->here->host_file, RC_HOSTFILE_LINES);
            facts->master_source = rc_format(reader->arena, "first host of %s, checked by rank 0", names[i]);
        }
        return true;
    }
    return false;
}

bool rc_mpich_read(struct rc_reader *reader, struct rc_facts *facts)
{
    const char *each = rc_launcher_mpich.each;
    struct rc_number *field = facts->field;
    struct rc_number *node = &field[RC_NODE_RANK];
    struct proxy proxy;
    bool by_srun;

    find_proxy(reader, &proxy);
    by_srun = rc_str_is(proxy.launcher, "slurm");
    if (!rc_read_fields(reader, &rc_launcher_mpich, facts, "MPI_LOCALRANKID",
                        1u << RC_WORLD_SIZE | 1u << RC_LOCAL_WORLD_SIZE) ||
        (by_srun && !read_step(reader, facts)))
        return false;
    if (!rc_layout_nnodes(reader, facts))
        return rc_layout_refuse(reader, facts, each);
    if (by_srun && !find_place_in_step(reader, facts))
        return rc_layout_refuse(reader, facts, rc_format(reader->arena, "%s without -rankmap", each));
    if (!by_srun && proxy.id == RC_UNKNOWN)
        *node = (struct rc_number){ rc_layout_node_rank(facts, field[RC_LOCAL_WORLD_SIZE].value),
                                    "derived from rank, local rank and local size" };
    else if (!by_srun)
        *node = (struct rc_number){ rc_layout_agrees(facts, proxy.id) ? proxy.id : RC_UNKNOWN,
                                    "--proxy-id of hydra's proxy" };
    if (node->value == RC_UNKNOWN)
        return rc_layout_refuse(reader, facts, each);
    rc_layout_spread(facts);
    if (field[RC_NNODES].value > 1 && !facts->hosts.p && !find_listed(reader, &proxy, facts) &&
        !is_deep(reader->env, &proxy)) {
        facts->master_host = proxy.host;
        facts->master_source = "mpiexec's host, checked by rank 0";
    }
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_mpich = {
    .id = "mpich",
    .title = "MPICH, Intel MPI (mpiexec)",
    .processes = "hydra_pmi_proxy|hydra_bstrap_proxy|mpiexec.hydra|mpiexec.mpich|mpirun.mpich",
    .pass = "mpiexec -genv MASTER_ADDR HOST",
    .each = "mpiexec -ppn N",
    .variables = {
        RC_VARIABLE("PMI_RANK", RC_RANK),
        RC_VARIABLE("PMI_SIZE", RC_WORLD_SIZE),
        RC_VARIABLE("MPI_LOCALRANKID", RC_LOCAL_RANK),
        RC_VARIABLE("MPI_LOCALNRANKS", RC_LOCAL_WORLD_SIZE),
    },
};
