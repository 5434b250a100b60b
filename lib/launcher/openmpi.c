/* SPDX-License-Identifier: BSD-3-Clause */
/* openmpi.c - a rank that Open MPI's mpirun started (ORTE in 4, PRRTE from 5 on).
 *
 * Both set OMPI_COMM_WORLD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}; no other launcher does (an Open MPI program under srun
 * has none of them). What no variable says:
 * - the number of nodes: ORTE's orte_num_nodes; with PRRTE size / local size, if there is no rest (layout.h).
 * - the node's number: mpirun has a daemon on each node, its own among them, which is number 0. A node's number is that
 *   of its daemon, d, if mpirun's own node carries ranks, and d - 1 if it does not. Which of the two it is follows from
 *   what is below; OMPI_COMM_WORLD_NODE_RANK counts processes of all jobs on a node.
 * - the host of rank 0: first host of the Slurm allocation if the job spans just that, else the host of mpirun itself
 *   (orte_hnp_uri; PRRTE's namespace) where the daemons' numbers show that it carries ranks (measured with 4.1.4 and
 *   5.0.7: 0,1 when mpirun runs on a node of the job, which then is the first one wherever it is in the list of hosts,
 *   1,2 when it runs on a login node), else the second of orte_node_regex. RANK 0 compares it with its own addresses.
 *
 * PRRTE tells no mapping, and has a PMIx server that knows all of this (pmix.c). Some tasks may ask it and others not,
 * so what a task takes from its variables has to be certain:
 * - d is 0: 0. In Slurm as many daemons as nodes of the job: d; one more: d - 1, for mpirun is outside of the job. As
 *   many daemons as nodes with ranks: d.
 * - the nodes have to look even from here (rc_layout_agrees).
 * Else the server is asked, which the preload and a recorded environment cannot: then RC110.
 * Source: ompi v4.1 orte/mca/schizo/ompi/schizo_ompi.c, setup_fork and
 * setup_child; openpmix v5.0 src/mca/pmdl/ompi/pmdl_ompi.c. */
#include "base/netaddr.h"
#include "launcher/families.h"
#include "launcher/layout.h"

/* Bytes of a server's answer read before a large uneven job is given up. */
enum { WORK_MAX = 1 << 26 };

/* mpirun's daemons; RC_UNKNOWN for a number that this task cannot know. */
struct daemons {
    bool orte;          /* Open MPI 4's; else PRRTE's */
    uint32_t own;       /* the number of the one that started this task */
    uint32_t count;     /* mpirun's own daemon, which counts, does not tell its tasks */
    uint32_t allocated; /* nodes of the Slurm job, where srun started PRRTE's daemons */
};

/* The PMIx server of PRRTE's daemon, "prterun-n1-651@0.2;...", where the namespace
 * is that launch's: one of another launch has another name before the @. */
static struct rc_str prrte_uri(const struct rc_env *env)
{
    struct rc_str uris = RC_STR("PMIX_SERVER_URI41|PMIX_SERVER_URI4|PMIX_SERVER_URI2");
    struct rc_str job;
    struct rc_str name = rc_str_split(rc_env_get(env, "PMIX_NAMESPACE"), '@', &job);

    while (job.p && uris.p) {
        struct rc_str uri = rc_env_find(env, rc_str_split(uris, '|', &uris));
        struct rc_str daemon;

        if (rc_str_eq(rc_str_split(uri, '@', &daemon), name))
            return uri;
    }
    return RC_ABSENT;
}

/* Where PRRTE's server is there, what ORTE says is an outer mpirun's. One of two of its
 * variables is enough, if the other got lost. */
static bool is_orte(const struct rc_env *env)
{
    return !prrte_uri(env).p &&
           (rc_env_get(env, "OMPI_MCA_orte_hnp_uri").n || rc_env_get(env, "OMPI_MCA_orte_num_nodes").n);
}

/* ORTE names its daemon to the task, PRRTE the PMIx server, which is the same: "1740701696.2;tcp://..." and
 * "prterun-n1-651@0.2;tcp4://...", with the number after the last dot of the name. */
uint32_t rc_openmpi_daemon(const struct rc_env *env)
{
    struct rc_str uri = is_orte(env) ? rc_env_get(env, "OMPI_MCA_orte_local_daemon_uri") : prrte_uri(env);
    struct rc_str number;
    uint32_t daemon;

    rc_str_split_last(rc_str_split(uri, ';', &uri), '.', &number);
    return rc_parse_u32(number, RC_MAX_TASKS, &daemon) ? daemon : RC_UNKNOWN;
}

/* A rank file or the sequential mapper puts any rank on any node, and then orte_num_nodes is not the number of nodes
 * either: measured with 4.1.4, four lines over two nodes, 2 on mpirun's node and 4 on the other one. */
static bool dealt_at_will(const struct rc_env *env)
{
    struct rc_str mapper = rc_env_get(env, "OMPI_MCA_rmaps");

    return rc_env_get(env, "OMPI_MCA_orte_rankfile").n || rc_env_get(env, "OMPI_MCA_rmaps_rank_file_path").n ||
           rc_str_is(mapper, "seq") || rc_str_is(mapper, "rank_file");
}

/* "3", in quotes where srun started it */
static struct rc_str prted_option(struct rc_str cmdline, const char *option)
{
    struct rc_str text = rc_ancestor_option(cmdline, option);

    return text.n > 2 && text.p[0] == '"' ? (struct rc_str){ text.p + 1, text.n - 2 } : text;
}

/* Open MPI 6 starts its daemons by srun --external-launcher. That step has its own nodes alone as those of the job.
 * Only the list of processors is still the job's (seen with Slurm 26.05). */
static uint32_t count_allocated(const struct rc_env *env)
{
    struct rc_tasklist processors;
    uint32_t nodes;

    if (rc_parse_u32(rc_env_get(env, "SLURM_JOB_NUM_NODES"), RC_MAX_TASKS, &nodes))
        return nodes;
    return rc_tasklist_parse(rc_env_get(env, "SLURM_JOB_CPUS_PER_NODE"), &processors) ? processors.nodes : RC_UNKNOWN;
}

/* ORTE exports their number; of PRRTE's the command line of this task's own tells (below mpirun's own, a prted is
 * another launch's). */
static void count_daemons(struct rc_reader *reader, struct daemons *daemons)
{
    struct rc_str prted;

    if (daemons->orte)
        rc_parse_u32(rc_env_get(reader->env, "OMPI_MCA_ess_base_num_procs"), RC_MAX_TASKS, &daemons->count);
    if (daemons->orte || daemons->own == 0 || daemons->own == RC_UNKNOWN)
        return;
    prted = rc_ancestor_nearest(reader, "prted");
    rc_parse_u32(prted_option(prted, "ess_base_num_procs"), RC_MAX_TASKS, &daemons->count);
    if (rc_str_is(prted_option(prted, "ess"), "slurm"))
        daemons->allocated = count_allocated(reader->env);
}

/* The node's number where it is certain and the nodes look even from there; else RC_UNKNOWN. */
static uint32_t prrte_place(const struct rc_facts *facts, const struct daemons *daemons)
{
    uint32_t nnodes = facts->field[RC_NNODES].value;
    uint32_t own = daemons->own;
    uint32_t place = RC_UNKNOWN;

    if (own == 0)
        place = 0;
    /* nodes that there are not: 2 and 1 ranks look like 3 nodes from the second */
    else if (own == RC_UNKNOWN || nnodes > daemons->count || nnodes > daemons->allocated)
        return RC_UNKNOWN;
    else if (daemons->allocated != RC_UNKNOWN &&
             (daemons->count == daemons->allocated || daemons->count == daemons->allocated + 1))
        place = own - (daemons->count - daemons->allocated);
    else if (daemons->count == nnodes)
        place = own;
    return rc_layout_agrees(facts, place) ? place : RC_UNKNOWN;
}

static bool read_numbers(struct rc_reader *reader, struct rc_facts *facts, bool orte)
{
    return rc_read_fields(reader, &rc_launcher_openmpi, facts, "OMPI_COMM_WORLD_RANK",
                          1u << RC_WORLD_SIZE | 1u << RC_LOCAL_RANK | 1u << RC_LOCAL_WORLD_SIZE) &&
           /* Open MPI 4 sets both a second time, for its own library; its nodes are those of the job's map,
            * mpirun's own only if it carries ranks */
           (!orte || (rc_agrees(reader, "OMPI_MCA_orte_ess_num_procs", &facts->field[RC_WORLD_SIZE], "mpirun") &&
                      rc_agrees(reader, "OMPI_MCA_ess_base_vpid", &facts->field[RC_RANK], "mpirun") &&
                      rc_read_number(reader, "OMPI_MCA_orte_num_nodes", &facts->field[RC_NNODES])));
}

/* True where the variables tell the node and the number of nodes. */
static bool find_node(struct rc_reader *reader, struct rc_facts *facts, const struct daemons *daemons)
{
    struct rc_number *node = &facts->field[RC_NODE_RANK];
    bool counted = rc_layout_nnodes(reader, facts);

    node->source = "node by mpirun's daemon";
    if (counted && facts->field[RC_NNODES].value == 1)
        node->value = 0;
    else if (counted && !dealt_at_will(reader->env))
        node->value = daemons->orte ? rc_orte_place(reader->env, facts, daemons->own, daemons->count)
                                    : prrte_place(facts, daemons);
    return node->value != RC_UNKNOWN;
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
        rc_str_is(rc_slurmpmix_step(reader->env), rc_format(reader->arena, "%pS.%pS", &job, &step)))
        return true;
    return rc_parse_u32(rank, RC_MAX_TASKS, &number) && number != own_rank;
}

/* "prterun-node-a-651@1": mpirun's own name for its host. */
static struct rc_str prrte_host(const struct rc_env *env)
{
    struct rc_str job;
    struct rc_str host;
    struct rc_str pid;

    rc_str_split(rc_str_split(rc_env_get(env, "PMIX_NAMESPACE"), '@', &job), '-', &host);
    host = rc_str_split_last(host, '-', &pid);
    return job.p && pid.p && host.n ? host : RC_ABSENT;
}

static void find_master(struct rc_reader *reader, struct rc_facts *facts, const struct daemons *daemons)
{
    char name[RC_HOST_MAX + 1];

    /* one node: the core takes the loopback address */
    facts->master_certain = facts->field[RC_NNODES].value == 1;
    if (facts->master_certain || rc_layout_take_job_hosts(reader->env, facts))
        return;
    if (daemons->own != RC_UNKNOWN && daemons->own != facts->field[RC_NODE_RANK].value) {
        /* mpirun's own daemon is number 0, so its host (a login node, say) carries no ranks */
        if (!rc_orte_host(reader->env, 1, name))
            return;
        facts->master_host = rc_str(rc_format(reader->arena, "%s", name));
        facts->master_source = "first daemon's host in OMPI_MCA_orte_node_regex, checked by rank 0";
    } else {
        facts->master_host = daemons->orte ? rc_orte_mpirun(reader->env) : prrte_host(reader->env);
        facts->master_source = daemons->orte ? "mpirun's host in OMPI_MCA_orte_hnp_uri, checked by rank 0"
                                             : "mpirun's host in PMIX_NAMESPACE, checked by rank 0";
    }
}

enum rc_claim rc_openmpi_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str name = rc_env_get(reader->env, "PMIX_NAMESPACE");
    struct rc_number rank;

    if (!rc_env_get(reader->env, "OMPI_COMM_WORLD_RANK").n)
        return RC_CLAIM_ABSENT;
    if (!rc_read_number(reader, "OMPI_COMM_WORLD_RANK", &rank))
        return RC_CLAIM_BROKEN;
    if (is_stale(reader, rank.value))
        return RC_CLAIM_STALE;
    facts->field[RC_RANK] = rank;
    rc_facts_name(reader, facts, "openmpi", name.n ? name : rc_env_get(reader->env, "OMPI_MCA_ess_base_jobid"));
    return RC_CLAIM_TASK;
}

/* Whether some task of an uneven job takes it for an even one, and so has not asked. */
static bool looks_even_to_some(const struct rc_reader *reader, const struct rc_facts *facts,
                               const struct daemons *daemons)
{
    struct rc_facts its = *facts;
    struct rc_number *field = its.field;
    bool mpirun_has_ranks = daemons->own == field[RC_NODE_RANK].value;
    uint32_t size = field[RC_WORLD_SIZE].value;
    struct rc_str map = rc_pmixjob_line(reader->here->pmix, "map");
    struct rc_tasklist tasks;
    struct rc_run run;
    uint32_t unused;

    if (facts->min_local_size == facts->max_local_size)
        return false;
    if (!rc_tasklist_parse(facts->layout, &tasks) || (uint64_t)tasks.nodes * (tasks.text.n + map.n) > WORK_MAX)
        return true;
    for (uint32_t node = 0; node < tasks.nodes; node++) {
        struct rc_str rest = map;
        uint32_t first = 0;
        struct daemons its_daemons = *daemons;

        its_daemons.own = node + !mpirun_has_ranks;
        field[RC_LOCAL_WORLD_SIZE].value = rc_tasklist_at(&tasks, node, &unused);
        field[RC_NNODES].value = size / field[RC_LOCAL_WORLD_SIZE].value;
        field[RC_LOCAL_RANK].value = 0;
        for (; rc_taskmap_next(&rest, &run); first += run.nodes * run.tasks) {
            field[RC_RANK].value = first + (node - run.first) * run.tasks;
            for (uint32_t i = 0; node - run.first < run.nodes && i < run.tasks; i++) {
                if (rc_layout_agrees(&its, node) || prrte_place(&its, &its_daemons) != RC_UNKNOWN)
                    return true;
                field[RC_RANK].value++;
                field[RC_LOCAL_RANK].value++;
            }
        }
    }
    return false;
}

/* PRRTE's server fills in what the variables do not tell. A number of nodes that was right stays one that no task is
 * told, as in those that do not ask. */
static enum rc_pmixjob_answer ask_server(struct rc_reader *reader, struct rc_facts *facts, const char *cure)
{
    uint32_t nnodes = facts->field[RC_NNODES].value;
    enum rc_pmixjob_answer answer = rc_pmixjob_fill(reader, facts, cure);

    if (answer == RC_PMIXJOB_READ)
        facts->nnodes_derived = facts->field[RC_NNODES].value == nnodes;
    return answer;
}

/* Whether the host of rank 0 is told, which is so for all tasks or none. */
static bool has_master(const struct rc_reader *reader, const struct rc_facts *facts)
{
    struct rc_str user = reader->master_left_over ? RC_ABSENT : rc_env_get(reader->env, "MASTER_ADDR");

    return facts->master_certain || facts->hosts.p || facts->master_host.p || (user.n && !rc_host_is_loopback(user));
}

bool rc_openmpi_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct daemons daemons = { is_orte(reader->env), rc_openmpi_daemon(reader->env), RC_UNKNOWN, RC_UNKNOWN };
    enum rc_pmixjob_answer answer = RC_PMIXJOB_NONE;
    bool found;

    if (!read_numbers(reader, facts, daemons.orte))
        return false;
    count_daemons(reader, &daemons);
    found = find_node(reader, facts, &daemons);
    if (found)
        rc_layout_spread(facts);
    else if (daemons.orte || reader->messages->has_error)
        return rc_layout_refuse(reader, facts, rc_launcher_openmpi.each);
    else
        answer = ask_server(reader, facts, "use the same number on each node, mpirun --map-by ppr:N:node");
    /* in an uneven job all tasks query the server: they take the server's host, also on a node with the mean number */
    if (found || (facts->nnodes_derived && facts->min_local_size == facts->max_local_size))
        find_master(reader, facts, &daemons);
    if (!daemons.orte && (found || answer == RC_PMIXJOB_READ) && !has_master(reader, facts))
        answer = ask_server(reader, facts, "set MASTER_ADDR: mpirun -x MASTER_ADDR=HOST");
    if (answer == RC_PMIXJOB_WRONG)
        return false;
    if (answer == RC_PMIXJOB_READ ? looks_even_to_some(reader, facts, &daemons) : !found)
        return rc_layout_refuse(reader, facts, "mpirun --map-by ppr:N:node rollcall exec -- COMMAND");
    rc_read_gpus(reader, facts);
    return true;
}

const struct rc_launcher rc_launcher_openmpi = {
    .id = "openmpi",
    .title = "Open MPI (mpirun)",
    .processes = "orted|mpirun|mpiexec|orterun|prted|prterun|prte|mpirun.openmpi|mpiexec.openmpi|oshrun",
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
