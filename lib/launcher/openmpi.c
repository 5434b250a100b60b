/* SPDX-License-Identifier: BSD-3-Clause */
/* openmpi.c - tasks of Open MPI's mpirun (ORTE in 4, PRRTE since 5).
 *
 * Both set OMPI_COMM_WORLD_{RANK,SIZE,LOCAL_RANK,LOCAL_SIZE}, which no program under srun has. Derived:
 * Number of nodes: ORTE's orte_num_nodes; with PRRTE size / local size (layout.h).
 * Node: mpirun has numbered daemons, 0 on its node. A node's number is its daemon's, d, if mpirun's node has ranks,
 * else d - 1. (OMPI_COMM_WORLD_NODE_RANK counts processes.)
 * Host of rank 0, which checks it: the first of a Slurm allocation of as many nodes, else mpirun's host if it has ranks
 * (4.1.4 and 5.0.7: daemons 0,1 if mpirun is on a node of the job, then always the first; 1,2 on a login node), else
 * the second of orte_node_regex.
 * PRRTE's mapping is only on its PMIx server (pmix.c), which some tasks cannot query. So conclusions from variables
 * must be certain: d = 0: 0. In Slurm, as many daemons as nodes of the job: d; one more: d - 1. As many daemons as
 * nodes with ranks: d. And the nodes must look even. Otherwise query the server, or RC110.
 * Source: ompi v4.1 orte/mca/schizo/ompi/schizo_ompi.c, setup_fork and setup_child; openpmix v5.0
 * src/mca/pmdl/ompi/pmdl_ompi.c. */
#include "base/netaddr.h"
#include "launcher/families.h"
#include "launcher/layout.h"

/* Limit of bytes to scan in large uneven jobs. */
enum { WORK_MAX = 1 << 26 };

/* mpirun's daemons, as far as this task knows. */
struct daemons {
    bool orte; /* Open MPI 4 */
    uint32_t own;
    uint32_t count;     /* not available from daemon 0, mpirun's */
    uint32_t allocated; /* the Slurm job's nodes, if srun started PRRTE's daemons */
};

/* Return the PMIx server's URI of PRRTE's daemon, "prterun-n1-651@0.2;...", in this namespace. */
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

/* With PRRTE's server, ORTE's variables are an outer mpirun's. */
static bool is_orte(const struct rc_env *env)
{
    return !prrte_uri(env).p &&
           (rc_env_get(env, "OMPI_MCA_orte_hnp_uri").n || rc_env_get(env, "OMPI_MCA_orte_num_nodes").n);
}

/* Both export the daemon's URI: "1740701696.2;tcp://...", "prterun-n1-651@0.2;tcp4://...". */
uint32_t rc_openmpi_daemon(const struct rc_env *env)
{
    struct rc_str uri = is_orte(env) ? rc_env_get(env, "OMPI_MCA_orte_local_daemon_uri") : prrte_uri(env);
    struct rc_str number;
    uint32_t daemon;

    rc_str_split_last(rc_str_split(uri, ';', &uri), '.', &number);
    return rc_parse_u32(number, RC_MAX_TASKS, &daemon) ? daemon : RC_UNKNOWN;
}

/* A rank file or the sequential mapper puts any rank on any node, with a wrong orte_num_nodes (4.1.4, four lines for
 * two nodes: 2 on mpirun's node, 4 on the other). */
static bool dealt_at_will(const struct rc_env *env)
{
    struct rc_str mapper = rc_env_get(env, "OMPI_MCA_rmaps");

    return rc_env_get(env, "OMPI_MCA_orte_rankfile").n || rc_env_get(env, "OMPI_MCA_rmaps_rank_file_path").n ||
           rc_str_is(mapper, "seq") || rc_str_is(mapper, "rank_file");
}

/* "3", in quotes if started by srun */
static struct rc_str prted_option(struct rc_str cmdline, const char *option)
{
    struct rc_str text = rc_ancestor_option(cmdline, option);

    return text.n > 2 && text.p[0] == '"' ? (struct rc_str){ text.p + 1, text.n - 2 } : text;
}

/* Open MPI 6 uses srun --external-launcher, with only the list of processors of the job (Slurm 26.05). */
static uint32_t count_allocated(const struct rc_env *env)
{
    struct rc_tasklist processors;
    uint32_t nodes;

    if (rc_parse_u32(rc_env_get(env, "SLURM_JOB_NUM_NODES"), RC_MAX_TASKS, &nodes))
        return nodes;
    return rc_tasklist_parse(rc_env_get(env, "SLURM_JOB_CPUS_PER_NODE"), &processors) ? processors.nodes : RC_UNKNOWN;
}

/* ORTE exports the number; PRRTE's is in the daemon's command line. */
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

/* Return the node's index if certain and even, else RC_UNKNOWN. */
static uint32_t prrte_place(const struct rc_facts *facts, const struct daemons *daemons)
{
    uint32_t nnodes = facts->field[RC_NNODES].value;
    uint32_t own = daemons->own;
    uint32_t place = RC_UNKNOWN;

    if (own == 0)
        place = 0;
    /* too many nodes: 2 and 1 ranks look like 3 nodes from the second */
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
           /* Open MPI 4 repeats both for its library */
           (!orte || (rc_agrees(reader, "OMPI_MCA_orte_ess_num_procs", &facts->field[RC_WORLD_SIZE], "mpirun") &&
                      rc_agrees(reader, "OMPI_MCA_ess_base_vpid", &facts->field[RC_RANK], "mpirun") &&
                      rc_read_number(reader, "OMPI_MCA_orte_num_nodes", &facts->field[RC_NNODES])));
}

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

/* Return true if a newer launcher is inside. */
static bool is_stale(struct rc_reader *reader, uint32_t own_rank)
{
    struct rc_str rank = rc_env_get(reader->env, "PMIX_RANK");
    struct rc_str job = rc_env_get(reader->env, "SLURM_JOB_ID");
    struct rc_str step = rc_env_get(reader->env, "SLURM_STEP_ID");
    uint32_t number;

    /* this step's: mpirun's tasks keep an outer SLURM_*, with another namespace */
    reader->why = "PMIX_NAMESPACE is a newer launcher's";
    if (job.n && step.n && rc_str_eq(rank, rc_env_get(reader->env, "SLURM_PROCID")) &&
        rc_str_is(rc_slurmpmix_step(reader->env), rc_format(reader->arena, "%pS.%pS", &job, &step)))
        return true;
    return rc_parse_u32(rank, RC_MAX_TASKS, &number) && number != own_rank;
}

/* Return mpirun's host from "prterun-node-a-651@1". */
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

    /* the core uses the loopback address */
    facts->master_certain = facts->field[RC_NNODES].value == 1;
    if (facts->master_certain || rc_layout_take_job_hosts(reader->env, facts))
        return;
    if (daemons->own != RC_UNKNOWN && daemons->own != facts->field[RC_NODE_RANK].value) {
        /* daemon 0 is on mpirun's host, without ranks */
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

/* Return true if some task of an uneven job would see an even one, and not query the server. */
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

/* Query PRRTE's server. A right derived number of nodes stays marked. */
static enum rc_pmixjob_answer ask_server(struct rc_reader *reader, struct rc_facts *facts, const char *cure)
{
    uint32_t nnodes = facts->field[RC_NNODES].value;
    enum rc_pmixjob_answer answer = rc_pmixjob_fill(reader, facts, cure);

    if (answer == RC_PMIXJOB_READ)
        facts->nnodes_derived = facts->field[RC_NNODES].value == nnodes;
    return answer;
}

/* Return true if the host of rank 0 is known: to all tasks or none. */
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
    /* an uneven job uses the server's host */
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
