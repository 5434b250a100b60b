/* SPDX-License-Identifier: BSD-3-Clause */
/* slurm.c - a task of a Slurm step (srun).
 *
 * What counts is the step, not the job: SLURM_STEP_* first, the job's names
 * only where the step has none. SLURM_NTASKS and SLURM_NODELIST are the job's
 * under `srun -E` and in steps of several het components, and SLURM_NODELIST in
 * a step on some of the nodes (srun -w); SLURM_STEP_* never (seen with 22.05 and
 * 24.11; src/common/env.c, env_array_for_step).
 * order=topology replaces SLURM_PROCID and SLURM_NODEID; Slurm's own are in ROLLCALL_ORDER.
 */
#include "launcher/registry.h"

#include "launcher/gpulist.h"
#include "launcher/hostlist.h"
#include "launcher/ordered.h"
#include "launcher/slurmcomponents.h"
#include "launcher/slurmorder.h"
#include "launcher/tasklist.h"

static const char marker[] = "SLURM_STEP_ID"; /* says that this is a task of a step */

static bool refuse_values(struct rc_reader *reader, const char *text)
{
    rc_message_add(reader->messages, RC103, text);
    return false;
}

static bool read_numbers(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_number *field = facts->field;
    struct rc_ordered kept;

    if (!rc_read_number(reader, RC_STR("SLURM_LOCALID"), RC_MAX_TASKS, &field[RC_LOCAL_RANK]) ||
        !rc_read_number(reader, RC_STR("SLURM_NODEID"), RC_MAX_TASKS, &field[RC_NODE_RANK]) ||
        !rc_read_either(reader, RC_STR("SLURM_STEP_NUM_TASKS"), RC_STR("SLURM_NTASKS"), RC_MAX_TASKS,
                        &field[RC_WORLD_SIZE]) ||
        !rc_read_either(reader, RC_STR("SLURM_STEP_NUM_NODES"), RC_STR("SLURM_NNODES"), RC_MAX_TASKS,
                        &field[RC_NNODES]))
        return false;
    if (!rc_need_field(reader, facts, RC_LOCAL_RANK, marker, "SLURM_LOCALID") ||
        !rc_need_field(reader, facts, RC_NODE_RANK, marker, "SLURM_NODEID") ||
        !rc_need_field(reader, facts, RC_WORLD_SIZE, marker, "SLURM_STEP_NUM_TASKS") ||
        !rc_need_field(reader, facts, RC_NNODES, marker, "SLURM_STEP_NUM_NODES"))
        return false;
    if (rc_ordered_read(reader->env, facts->scope, &kept))
        field[RC_NODE_RANK].value = kept.node;
    return true;
}

static bool read_layout(struct rc_reader *reader, struct rc_facts *facts, uint32_t node)
{
    struct rc_number *field = facts->field;
    struct rc_str text = rc_env_either(reader->env, RC_STR("SLURM_STEP_TASKS_PER_NODE"),
                                       RC_STR("SLURM_TASKS_PER_NODE"));
    struct rc_tasklist list;
    uint32_t before;

    if (!text.p)
        return rc_missing(reader, marker, "SLURM_STEP_TASKS_PER_NODE");
    if (!rc_tasklist_parse(text, &list)) {
        rc_message_add(reader->messages, RC104,
                       rc_format(reader->arena,
                                 "SLURM_STEP_TASKS_PER_NODE is %q, not a list such as 2(x3),1; nothing is set; unset "
                                 "it if it was exported by hand",
                                 &text));
        return false;
    }
    if (list.tasks != field[RC_WORLD_SIZE].value)
        return refuse_values(reader,
                             rc_format(reader->arena,
                                       "SLURM_STEP_TASKS_PER_NODE %q has %u tasks, but %s is %u; nothing is "
                                       "set; start the command with srun again",
                                       &text, list.tasks, field[RC_WORLD_SIZE].source, field[RC_WORLD_SIZE].value));
    if (list.nodes != field[RC_NNODES].value)
        return refuse_values(reader, rc_format(reader->arena,
                                               "SLURM_STEP_TASKS_PER_NODE %q has %u nodes, but %s is %u; nothing is "
                                               "set; start the command with srun again",
                                               &text, list.nodes, field[RC_NNODES].source, field[RC_NNODES].value));
    field[RC_LOCAL_WORLD_SIZE].value = rc_tasklist_at(&list, node, &before);
    field[RC_LOCAL_WORLD_SIZE].source = "SLURM_STEP_TASKS_PER_NODE";
    facts->node_order_rank.value = before + field[RC_LOCAL_RANK].value;
    facts->node_order_rank.source = "SLURM_STEP_TASKS_PER_NODE and SLURM_LOCALID";
    facts->min_local_size = list.smallest;
    facts->max_local_size = list.largest;
    facts->layout = text;
    return true;
}

/* SLURM_GTIDS is the list of this node's ranks in order of local id. It holds
 * in het steps too (measured), so it is the cross-check of PROCID and LOCALID. */
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
            return refuse_values(reader, rc_format(reader->arena,
                                                   "SLURM_GTIDS is %q, not a list of ranks; nothing is set; unset it "
                                                   "if it was exported by hand",
                                                   &whole));
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
    if (count != facts->field[RC_LOCAL_WORLD_SIZE].value)
        return refuse_values(reader,
                             rc_format(reader->arena,
                                       "SLURM_GTIDS %q has %u ranks, but %s has %u tasks on node %u; nothing "
                                       "is set; start the command with srun again",
                                       &whole, count, facts->field[RC_LOCAL_WORLD_SIZE].source,
                                       facts->field[RC_LOCAL_WORLD_SIZE].value, facts->field[RC_NODE_RANK].value));
    if (at_local_id == facts->field[RC_RANK].value)
        return true;
    return refuse_values(reader, rc_format(reader->arena,
                                           "SLURM_PROCID is %u, but SLURM_GTIDS %q has another rank at local id %u; "
                                           "nothing is set; start the command with srun again",
                                           facts->field[RC_RANK].value, &whole, facts->field[RC_LOCAL_RANK].value));
}

static bool read_hosts(struct rc_reader *reader, struct rc_facts *facts, struct rc_slurmnode *node)
{
    struct rc_str hosts = rc_env_either(reader->env, RC_STR("SLURM_STEP_NODELIST"), RC_STR("SLURM_NODELIST"));
    struct rc_str here = rc_env_get(reader->env, "SLURMD_NODENAME");
    char name[RC_HOST_MAX + 1];
    uint32_t count;

    if (!hosts.p)
        return rc_missing(reader, marker, "SLURM_STEP_NODELIST");
    if (!rc_hostlist_count(hosts, &count)) {
        rc_message_add(reader->messages, RC105,
                       rc_format(reader->arena,
                                 "SLURM_STEP_NODELIST is %q, not a host list; nothing is set; unset it if it was "
                                 "exported by hand",
                                 &hosts));
        return false;
    }
    if (count != facts->field[RC_NNODES].value) {
        rc_message_add(reader->messages, RC105,
                       rc_format(reader->arena,
                                 "SLURM_STEP_NODELIST %q names %u hosts for %u nodes; nothing is set; start the "
                                 "command with srun again",
                                 &hosts, count, facts->field[RC_NNODES].value));
        return false;
    }
    node->index = facts->field[RC_NODE_RANK].value;
    /* the synthetic environment of user_init has no name, and items of the component */
    node->het = here.n && (reader->slurm_het || rc_slurmcomponents_are_there(reader->env));
    /* SLURMD_NODENAME is slurmd's, SLURM_NODEID and the list are srun's: they check each other */
    if (here.n && rc_hostlist_nth(hosts, node->index, name) && !rc_str_is(here, name)) {
        struct rc_str there = rc_str(name);

        node->het = true;
        if (rc_hostlist_find(hosts, here) == RC_UNKNOWN)
            return refuse_values(reader,
                                 rc_format(reader->arena,
                                           "SLURM_NODEID is %u, which is %q in SLURM_STEP_NODELIST, but "
                                           "SLURMD_NODENAME is %q; nothing is set; start the command with srun again",
                                           node->index, &there, &here));
        node->index = rc_hostlist_find(hosts, here);
    }
    facts->hosts = hosts;
    facts->job_hosts = rc_env_get(reader->env, "SLURM_JOB_NODELIST");
    return true;
}

/* Step-wide where Slurm says so, because what one task sees may be bound to
 * it already. A plugin's view in user_init is step-wide. */
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

/* Repaired are those that Lightning, fairseq, JAX and others read by themselves.
 * mpirun in a batch script leaves its daemons' values there, and Lightning 1.9 to
 * 2.1 then stop ("ntasks-per-node=1 does not match"; measured). */
const struct rc_launcher rc_launcher_slurm = {
    .id = "slurm",
    .title = "Slurm (srun)",
    .processes = "slurmstepd",
    .batch_inherits = true, /* sbatch hands on all that it was started with, unless --export= says otherwise */
    .each = "srun --ntasks-per-node=N",
    .ports = "srun --resv-ports",
    .slurm_environment = true,
    .srun_server = RC_SRUN_SERVER_OWN,
    .pmix_server = RC_PMIX_SERVER_SLURM,
    .repairs = true,
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
