/* SPDX-License-Identifier: BSD-3-Clause */
/* slurm.c - tasks of a Slurm step. A batch script has no SLURM_STEP_ID; extern and interactive steps have ids above
 * SLURM_MAX_NORMAL_STEP_ID (0xfffffff0, slurm.h). */
#include "launcher/families.h"
#include "launcher/gpulist.h"
#include "launcher/layout.h"

/* The upper six bits are a federation's cluster; the last two numbers are NO_VAL and INFINITE (slurm.h). */
static const uint32_t job_id_max = 0xfffffffd;
static const uint32_t step_id_max = 0xfffffff0u - 1;

/* Then an equal SLURM_TASK_PID may be chance: Hydra exports a batch script's environment. */
static bool is_on_another_node(struct rc_reader *reader)
{
    struct rc_str name = rc_env_get(reader->env, "SLURMD_NODENAME");

    return !reader->alone && name.n && rc_seen(reader->here, RC_LEARN_HOST, RC_ABSENT) && reader->here->host.n &&
           rc_hostlist_find_node(name, reader->here->host) == RC_UNKNOWN;
}

/* The task's first process has no launcher between it and Slurm. */
static bool is_innermost(struct rc_reader *reader)
{
    uint32_t task_pid;

    if (reader->slurm_certain)
        return true;
    return reader->pid && rc_parse_u32(rc_env_get(reader->env, "SLURM_TASK_PID"), UINT32_MAX - 1, &task_pid) &&
           task_pid == reader->pid && !is_on_another_node(reader);
}

/* sbatch in a step exports the step's variables, even with --export=NONE (src/common/env.c,
 * env_array_merge_slurm_spank; seen with 22.05). The script's slurmstepd has the title "slurmstepd: [42.batch]". */
static bool is_batch_script(struct rc_reader *reader, const char *scope)
{
    /* a stamp of this step shows a task */
    return !rc_str_is(reader->stamp.scope, scope) && rc_ancestor_is_batch(rc_ancestor_nearest(reader, "slurmstepd"));
}

/* Slurm 26.05 prints large ids as signed numbers: -6 in an interactive step (src/common/env.c, setup_env; seen). */
static bool is_negative(struct rc_str step)
{
    uint64_t id;

    return step.p[0] == '-' && rc_parse_u64((struct rc_str){ step.p + 1, step.n - 1 }, UINT32_MAX - step_id_max, &id) &&
           id > 0;
}

static enum rc_claim refuse_id(struct rc_reader *reader, const char *name, const char *what, struct rc_str id)
{
    rc_say(reader->messages, RC101, "%s is %pQ, not a %s id; nothing is set; unset it if it was exported by hand", name,
           &id, what);
    return RC_CLAIM_BROKEN;
}

/* A stamp of a launch inside has the job's scope as an outer one. */
static enum rc_claim claim_job(struct rc_reader *reader, struct rc_facts *facts, struct rc_str job)
{
    uint64_t id;

    facts->scope = rc_parse_u64(job, job_id_max, &id) ? rc_format(reader->arena, "slurm:%pS", &job) : NULL;
    return RC_CLAIM_OUTSIDE;
}

enum rc_claim rc_slurm_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str job = rc_env_either(reader->env, RC_STR("SLURM_JOB_ID"), RC_STR("SLURM_JOBID"));
    struct rc_str step = rc_env_either(reader->env, RC_STR("SLURM_STEP_ID"), RC_STR("SLURM_STEPID"));
    struct rc_number *rank = &facts->field[RC_RANK];
    struct rc_ordered kept;
    uint64_t job_id;
    uint64_t step_id;

    if (!job.n)
        return RC_CLAIM_ABSENT;
    if (!step.n || is_negative(step))
        return claim_job(reader, facts, job);
    if (!rc_parse_u64(step, UINT32_MAX, &step_id))
        return refuse_id(reader, "SLURM_STEP_ID", "step", step);
    if (step_id > step_id_max)
        return claim_job(reader, facts, job);
    if (!rc_parse_u64(job, job_id_max, &job_id))
        return refuse_id(reader, "SLURM_JOB_ID", "job", job);
    if (!rc_read_needed(reader, "SLURM_STEP_ID", "SLURM_PROCID", rank))
        return RC_CLAIM_BROKEN;
    facts->port_seed[0] = job_id;
    facts->port_seed[1] = step_id;
    facts->scope = rc_format(reader->arena, "slurm:%pS.%pS", &job, &step);
    facts->run_id = facts->scope + (sizeof("slurm:") - 1);
    if (rc_ordered_read(reader->env, facts->scope, &kept))
        rank->value = kept.rank;
    if (is_innermost(reader))
        return RC_CLAIM_INNERMOST;
    return is_batch_script(reader, facts->scope) ? claim_job(reader, facts, job) : RC_CLAIM_TASK;
}

/* SLURM_STEP_* take precedence: SLURM_NTASKS and SLURM_NODELIST are the job's under `srun -E` and in steps of several
 * het components, and SLURM_NODELIST under srun -w (seen with 22.05 and 24.11; src/common/env.c, env_array_for_step).
 * order=topology replaces SLURM_PROCID and SLURM_NODEID; ROLLCALL_ORDER has Slurm's. */

static const char marker[] = "SLURM_STEP_ID"; /* set in each task of a step */

static bool read_numbers(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;
    struct rc_ordered kept;
    const char *tasks = rc_either(reader->env, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS");
    const char *nodes = rc_either(reader->env, "SLURM_STEP_NUM_NODES", "SLURM_NNODES");

    if (!rc_read_needed(reader, marker, "SLURM_LOCALID", &field[RC_LOCAL_RANK]) ||
        !rc_read_needed(reader, marker, "SLURM_NODEID", &field[RC_NODE_RANK]) ||
        !rc_read_needed(reader, marker, tasks, &field[RC_WORLD_SIZE]) ||
        !rc_read_needed(reader, marker, nodes, &field[RC_NNODES]))
        return false;
    if (rc_ordered_read(reader->env, facts->scope, &kept))
        field[RC_NODE_RANK].value = kept.node;
    return true;
}

/* AMD's spur sets one number for all nodes (ROCm/spur 4cc3da84). */
static struct rc_str spread(struct rc_reader *reader, const struct rc_facts *facts, struct rc_str text)
{
    uint32_t nodes = facts->field[RC_NNODES].value;
    uint32_t tasks;

    return nodes > 1 && rc_parse_u32(text, RC_MAX_TASKS, &tasks) &&
                   (uint64_t)tasks * nodes == facts->field[RC_WORLD_SIZE].value
               ? rc_str(rc_format(reader->arena, "%u(x%u)", tasks, nodes))
               : text;
}

static bool read_layout(struct rc_reader *reader, struct rc_facts *facts, uint32_t node)
{
    struct rc_number *field = facts->field;
    const char *name = rc_either(reader->env, "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE");
    struct rc_str text = rc_env_find(reader->env, rc_str(name));
    struct rc_tasklist list;
    uint32_t before;

    if (!text.p)
        return rc_missing(reader, marker, name);
    text = spread(reader, facts, text);
    if (!rc_tasklist_parse(text, &list))
        return rc_say(reader->messages, RC104,
                      "%s is %pQ, not a list such as 2(x3),1; nothing is set; unset "
                      "it if it was exported by hand",
                      name, &text);
    if (list.tasks != field[RC_WORLD_SIZE].value || list.nodes != field[RC_NNODES].value)
        return rc_say(reader->messages, RC103,
                      "%s %pQ has %u tasks on %u nodes, but %s is %u and %s is %u; nothing is "
                      "set; start the command with srun again",
                      name, &text, list.tasks, list.nodes, field[RC_WORLD_SIZE].source, field[RC_WORLD_SIZE].value,
                      field[RC_NNODES].source, field[RC_NNODES].value);
    field[RC_LOCAL_WORLD_SIZE].value = rc_tasklist_at(&list, node, &before);
    field[RC_LOCAL_WORLD_SIZE].source = name;
    facts->node_order_rank.value = before + field[RC_LOCAL_RANK].value;
    facts->node_order_rank.source = rc_format(reader->arena, "%s and SLURM_LOCALID", name);
    facts->min_local_size = list.smallest;
    facts->max_local_size = list.largest;
    facts->layout = text;
    return true;
}

/* SLURM_GTIDS lists this node's ranks, also in het steps (measured): check PROCID and LOCALID. */
static bool check_gtids(struct rc_reader *reader, const struct rc_facts *facts, struct rc_slurmnode *node)
{
    struct rc_str rest = rc_env_get(reader->env, "SLURM_GTIDS");
    struct rc_str whole = rest;
    uint32_t at_local_id = RC_UNKNOWN;
    uint32_t count = 0;
    uint32_t last = 0;

    node->holds_rank_0 = facts->field[RC_RANK].value == 0;
    node->first = RC_UNKNOWN;
    node->in_a_row = true;
    if (!rest.p || rest.n == 0)
        return true;
    for (; rest.p; count++) {
        uint32_t rank;
        struct rc_str item = rc_str_split(rest, ',', &rest);

        if (!rc_parse_u32(item, RC_MAX_TASKS, &rank))
            return rc_say(reader->messages, RC103,
                          "SLURM_GTIDS is %pQ, not a list of ranks; nothing is set; unset it "
                          "if it was exported by hand",
                          &whole);
        if (rank == 0)
            node->holds_rank_0 = true;
        if (count > 0 && rank != last + 1)
            node->in_a_row = false;
        last = rank;
        if (rank < node->first)
            node->first = rank;
        if (count == facts->field[RC_LOCAL_RANK].value)
            at_local_id = rank;
    }
    if (count == facts->field[RC_LOCAL_WORLD_SIZE].value && at_local_id == facts->field[RC_RANK].value)
        return true;
    return rc_say(
        reader->messages, RC103,
        "SLURM_GTIDS is %pQ, but node %u has %u tasks (%s), and SLURM_PROCID is %u at local id %u; nothing is "
        "set; start the command with srun again",
        &whole, facts->field[RC_NODE_RANK].value, facts->field[RC_LOCAL_WORLD_SIZE].value,
        facts->field[RC_LOCAL_WORLD_SIZE].source, facts->field[RC_RANK].value, facts->field[RC_LOCAL_RANK].value);
}

static bool read_hosts(struct rc_reader *reader, struct rc_facts *facts, struct rc_slurmnode *node)
{
    const char *list = rc_either(reader->env, "SLURM_STEP_NODELIST", "SLURM_NODELIST");
    struct rc_str hosts = rc_env_find(reader->env, rc_str(list));
    struct rc_str here = rc_env_get(reader->env, "SLURMD_NODENAME");
    char name[RC_HOST_MAX + 1];
    uint32_t count;

    /* AMD's spur hands the batch script's SLURMD_NODENAME to the tasks of all nodes (ROCm/spur 4cc3da84) */
    if (rc_env_get(reader->env, "SPUR_NODEID").n)
        here = RC_ABSENT;
    if (!hosts.p)
        return rc_missing(reader, marker, list);
    if (!rc_hostlist_count(hosts, &count) || count != facts->field[RC_NNODES].value)
        return rc_say(reader->messages, RC105,
                      "%s is %pQ, not a list of %u hosts; nothing is set; start the command with "
                      "srun again, or unset it if it was exported by hand",
                      list, &hosts, facts->field[RC_NNODES].value);
    node->index = facts->field[RC_NODE_RANK].value;
    /* user_init's environment has no name, and the component's values */
    node->het = here.n && (reader->slurm_het || rc_slurmcomponents_are_there(reader->env));
    /* SLURMD_NODENAME is slurmd's, the others srun's */
    if (here.n && rc_hostlist_nth(hosts, node->index, name) && !rc_str_is(here, name)) {
        struct rc_str there = rc_str(name);

        node->het = true;
        if (rc_hostlist_find(hosts, here) == RC_UNKNOWN)
            return rc_say(reader->messages, RC103,
                          "SLURM_NODEID is %u, which is %pQ in %s, but "
                          "SLURMD_NODENAME is %pQ; nothing is set; start the command with srun again",
                          node->index, &there, list, &here);
        node->index = rc_hostlist_find(hosts, here);
    }
    facts->hosts = hosts;
    /* a batch script exports a host of its first component (srun --het-group=1) */
    facts->job_hosts = rc_slurmcomponents_nodes_with(reader->env, rc_env_get(reader->env, "MASTER_ADDR"));
    return true;
}

/* Prefer step-wide values, as in user_init: a task's may be bound. */
static void read_gpus(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str step;
    unsigned first;

    if (rc_parse_u32(rc_env_get(reader->env, "SLURM_GPUS_ON_NODE"), RC_MAX_TASKS, &facts->gpus.value)) {
        facts->gpus.source = "SLURM_GPUS_ON_NODE";
        return;
    }
    step = rc_env_get(reader->env, "SLURM_STEP_GPUS");
    first = rc_gpu_list_first(reader->env);
    if (step.p) {
        facts->gpus.value = rc_count_devices(step);
        facts->gpus.source = "SLURM_STEP_GPUS";
    } else if (first < RC_GPU_LISTS) {
        facts->gpus.value = rc_count_devices(rc_gpu_list_value(reader->env, first));
        facts->gpus.source = rc_gpu_list_name(first).p;
    }
}

bool rc_slurm_read(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_slurmnode node;

    if (!read_numbers(reader, facts) || !read_hosts(reader, facts, &node) || !read_layout(reader, facts, node.index) ||
        !check_gtids(reader, facts, &node) || !rc_slurmorder_read(reader, facts, &node))
        return false;
    facts->reserved_ports = rc_env_get(reader->env, "SLURM_STEP_RESV_PORTS");
    facts->port_source = "SLURM_STEP_RESV_PORTS";
    read_gpus(reader, facts);
    return true;
}

uint32_t rc_slurm_promise(const struct rc_env *env)
{
    struct rc_tasklist job, step;
    uint32_t each;

    return !rc_env_get(env, "SLURM_HET_SIZE").n && !rc_env_get(env, "SLURM_OVERCOMMIT").n &&
                   !rc_env_get(env, "SLURM_CPUS_PER_GPU").n &&
                   rc_parse_u32(rc_env_get(env, "SLURM_CPUS_PER_TASK"), RC_MAX_TASKS, &each) &&
                   rc_tasklist_parse(rc_env_get(env, "SLURM_JOB_CPUS_PER_NODE"), &job) &&
                   rc_tasklist_parse(rc_env_get(env, "SLURM_STEP_TASKS_PER_NODE"), &step) &&
                   (uint64_t)each * step.largest <= job.smallest
               ? each
               : 0;
}

bool rc_facts_read_certain(unsigned index, struct rc_reader *reader, struct rc_facts *facts)
{
    return index == RC_LAUNCHER_INDEX_alone ? rc_alone_read(reader, facts) : rc_slurm_read(reader, facts);
}

/* Lightning, fairseq, JAX and others read the repaired ones. mpirun in a batch script leaves its daemons' values there,
 * and Lightning 1.9 to 2.1 then fail (measured). */
const struct rc_launcher rc_launcher_slurm = {
    .id = "slurm",
    .title = "Slurm (srun)",
    .processes = "slurmstepd",
    .proves = true,
    .batch_inherits = true, /* unless --export= is set */
    /* srun's does not move tasks that the job placed as 3 and 1 */
    .each = "the job's --ntasks-per-node=N",
    .slurm_environment = true,
    .srun_server = RC_SRUN_SERVER_OWN,
    .pmix_server = RC_PMIX_SERVER_SLURM,
    .variables = {
        RC_REPAIRED("SLURM_PROCID", RC_RANK),
        RC_REPAIRED("SLURM_LOCALID", RC_LOCAL_RANK),
        RC_REPAIRED("SLURM_NODEID", RC_NODE_RANK),
        RC_REPAIRED("SLURM_NTASKS", RC_WORLD_SIZE),
        RC_REPAIRED("SLURM_NPROCS", RC_WORLD_SIZE),
        RC_REPAIRED("SLURM_STEP_NUM_TASKS", RC_WORLD_SIZE),
        RC_REPAIRED("SLURM_NTASKS_PER_NODE", RC_LOCAL_WORLD_SIZE),
        RC_REPAIRED("SLURM_NNODES", RC_NNODES),
        RC_VARIABLE("SLURM_STEP_NUM_NODES", RC_NNODES),
    },
};
