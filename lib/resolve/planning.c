/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/steps.h"

#include "base/netaddr.h"
#include "resolve/options.h"
#include "resolve/resolve.h"

/* Variables that only one framework reads and fails without, each with a test (tests/frameworks). The user's values
 * stay. */

enum { LAST_PORT = 65535, DEVICES_MAX = 32, MANY_RANKS = 4096, ROOTS = 13 };

/* A script may use torch as well, so JAX gets the next port. Ports come in blocks (master.c): no other step has it. */
static const char *jax_coordinator(struct rc_result *result)
{
    uint32_t port = result->master.port + 1u;

    return port <= LAST_PORT ? rc_host_with_port(rc_str(result->master.addr), port, &result->arena) : NULL;
}

static const char *jax_local_devices(struct rc_result *result)
{
    uint32_t visible = result->gpus.shown;
    uint32_t count = visible != RC_UNKNOWN ? visible : result->facts.gpus.value;
    const char *list = "0";

    if (result->mode == RC_MODE_WORKER && !result->has_workers)
        return visible == 1 && result->identity.field[RC_LOCAL_WORLD_SIZE] > 1 ? list : NULL;
    if (count == RC_UNKNOWN || count < 2 || count > DEVICES_MAX)
        return NULL;
    for (uint32_t i = 1; i < count; i++)
        list = rc_format(&result->arena, "%s,%u", list, i);
    return list;
}

static const char *torchrun_signals(struct rc_result *result)
{
    return result->mode == RC_MODE_LAUNCHER ? "SIGTERM,SIGINT,SIGHUP,SIGQUIT,SIGUSR1,SIGUSR2" : NULL;
}

uint32_t rc_ranks_count(const struct rc_result *result)
{
    uint64_t ranks = result->identity.field[RC_WORLD_SIZE];
    uint32_t gpus = result->facts.gpus.value;

    if (ranks == RC_UNKNOWN) /* uncounted by launchers */
        return RC_UNKNOWN;
    if ((result->mode == RC_MODE_LAUNCHER || result->has_workers) && gpus != RC_UNKNOWN && gpus > 1)
        ranks *= gpus;
    return ranks < RC_MAX_TASKS ? (uint32_t)ranks : RC_MAX_TASKS;
}

static const char *torch_ranks_per_root(struct rc_result *result)
{
    uint32_t ranks = rc_ranks_count(result);

    if (ranks == RC_UNKNOWN || ranks <= MANY_RANKS)
        return NULL;
    return rc_format(&result->arena, "%u", (ranks + ROOTS - 1) / ROOTS);
}

static const struct {
    struct rc_str name;
    const char *(*value)(struct rc_result *result); /* NULL if unneeded */
    const char *source;
    const char *reason;
} frameworks[] = {
    /* jax/_src/distributed.py, initialize(). The default host is the first of SLURM_STEP_NODELIST or mpirun's
     * (clusters/slurm_cluster.py, ompi_cluster.py); the default port is the same for all steps of a job. */
    { RC_NAME("JAX_COORDINATOR_ADDRESS"), jax_coordinator, "MASTER_ADDR, the port behind MASTER_PORT",
      "JAX guesses rank 0's host, and takes the same port for all steps of a job" },
    /* clusters/cluster.py: one device a process, by local rank. Wrong if a task has several GPUs or sees only one. */
    { RC_NAME("JAX_LOCAL_DEVICE_IDS"), jax_local_devices, "the GPUs that this task sees",
      "JAX takes one GPU, number LOCAL_RANK of those that the task sees" },
    /* torch/distributed/run.py, --signals-to-handle, from torch 2.9. The default lacks the last two, which end torchrun
     * at once instead of reaching its workers. */
    { RC_NAME("PET_SIGNALS_TO_HANDLE"), torchrun_signals, "launcher mode",
      "torchrun would die of the signal that sbatch --signal asks for" },
    /* ProcessGroupNCCL.cpp, initNCCLComm(), from torch 2.7: ranks per NCCL id, by default 128. Every rank fetches all K
     * ids from rank 0's store, which costs 25 + 1.3 K us a rank (tests/bench), and a root 75 us for each of its ranks:
     * 13 ids are best from 4,000 to 100,000 ranks. */
    { RC_NAME("TORCH_NCCL_RANKS_PER_ROOT"), torch_ranks_per_root, "the number of ranks",
      "each rank would fetch hundreds of NCCL ids from rank 0's store" },
};

enum { FRAMEWORKS = sizeof(frameworks) / sizeof(*frameworks) };

/* Next to another launch's stamp the values are rollcall's, not the user's. */
static void set_for_frameworks(struct rc_result *result, bool is_repeated)
{
    bool stale = (result->stamp.text.p || result->launcher->alone) && !is_repeated;

    for (unsigned i = 0; i < FRAMEWORKS; i++) {
        struct rc_str name = frameworks[i].name;
        const char *value = frameworks[i].value(result);
        struct rc_str now = rc_env_find(&result->env, name);

        if (now.n && !stale && !(value && rc_str_is(now, value)))
            rc_plan_keep(result, name, "as it was set");
        else if (value)
            rc_plan_set(result, name, value, frameworks[i].source, frameworks[i].reason);
        else
            rc_plan_unset(result, name, "left over from a launch further outside");
    }
}

static bool is_even(const struct rc_result *result)
{
    return result->facts.min_local_size == result->facts.max_local_size;
}

/* Lightning and others that multiply nodes by devices fail without naming the cause; plain torch works. */
static void warn_of_uneven(struct rc_result *result)
{
    uint32_t size = result->identity.field[RC_WORLD_SIZE];
    uint32_t nnodes = result->identity.field[RC_NNODES];
    const char *each = size % nnodes == 0 ? rc_each_write(result, size / nnodes) : result->launcher->each;
    const char *cure;

    if (result->mode != RC_MODE_WORKER || is_even(result))
        return;
    cure = size % nnodes == 0
               ? rc_format(&result->arena, "use %u on each", size / nnodes)
               : rc_format(&result->arena, "start %u or %u tasks", size - size % nnodes, size - size % nnodes + nnodes);
    rc_say(
        &result->messages, RC301,
        "%u tasks are spread unevenly over %u nodes (%u here); ranks are right, and plain torch trains; for Lightning "
        "and others that need the same number on each node, %s%s%s%s",
        size, nnodes, result->identity.field[RC_LOCAL_WORLD_SIZE], cure, each && *each ? " (" : "", each ? each : "",
        each && *each ? ")" : "");
}

/* With TORCHELASTIC_USE_AGENT_STORE=True every rank is a client of a store without a host (torch 1.13.1). */
static const struct rc_str torchelastic_names[] = {
    RC_NAME("TORCHELASTIC_RUN_ID"),        RC_NAME("TORCHELASTIC_USE_AGENT_STORE"),
    RC_NAME("TORCHELASTIC_RESTART_COUNT"), RC_NAME("TORCHELASTIC_MAX_RESTARTS"),
    RC_NAME("TORCHELASTIC_ERROR_FILE"),
};

static const char uncounted[] = "the launcher does not count nodes";

/* Numbers of a worker; the stamp has the first RC_STAMP_TOLD in this order. Launcher mode unsets all but an agent's:
 * with LOCAL_RANK Lightning and Accelerate assume that workers exist already. */
static const struct {
    struct rc_str name;
    enum rc_field field;
    bool is_agents;
    const char *reason;
} numbers[] = {
    { RC_NAME("RANK"), RC_RANK, false, "this task's number in the job" },
    { RC_NAME("WORLD_SIZE"), RC_WORLD_SIZE, false, "tasks in the job" },
    { RC_NAME("LOCAL_RANK"), RC_LOCAL_RANK, false, "this task's number on its node" },
    { RC_NAME("LOCAL_WORLD_SIZE"), RC_LOCAL_WORLD_SIZE, false, "tasks on this node" },
    { RC_NAME("NODE_RANK"), RC_NODE_RANK, true, "this node's number in the job" },
    { RC_NAME("GROUP_RANK"), RC_NODE_RANK, false, "torchrun's name for the node's number" },
    { RC_NAME("GROUP_WORLD_SIZE"), RC_NNODES, false, "nodes of the job" },
};

enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

/* Of these a value other than the stamp's shows a later change. */
enum { TELLING = 3 };

static void set_numbers(struct rc_result *result)
{
    const struct rc_gpus *gpus = &result->gpus;

    for (unsigned i = 0; i < NUMBERS; i++) {
        struct rc_str name = numbers[i].name;

        if (result->mode == RC_MODE_LAUNCHER && !numbers[i].is_agents)
            continue;
        if (result->has_workers && (numbers[i].field == RC_LOCAL_RANK || numbers[i].field == RC_LOCAL_WORLD_SIZE))
            rc_plan_unset(result, name, "the process may start a worker for each of its GPUs");
        else if (numbers[i].field == RC_LOCAL_RANK && gpus->why)
            rc_plan_set_number(result, name, gpus->device, "the GPUs that this task sees", gpus->why);
        else if (numbers[i].field == RC_NNODES && result->facts.nnodes_derived)
            rc_plan_unset(result, name, uncounted);
        else
            rc_plan_set_field(result, name, numbers[i].field, numbers[i].reason);
    }
}

bool rc_planning_is_number(struct rc_str name)
{
    for (unsigned i = 0; i < NUMBERS; i++)
        if (rc_str_eq(numbers[i].name, name))
            return true;
    return false;
}

static void unset_workers_numbers(struct rc_result *result)
{
    for (unsigned i = 0; i < NUMBERS; i++)
        if (!numbers[i].is_agents)
            rc_plan_unset(result, numbers[i].name, "it would mean that the workers exist already");
}

static void set_master_names(struct rc_result *result)
{
    const struct rc_master *master = &result->master;
    const char *port = rc_format(&result->arena, "%u", (uint32_t)master->port);

    if (master->is_shared)
        rc_plan_keep(result, RC_STR("MASTER_ADDR"), "this step is one of several, which meet there");
    else if (master->addr_given != RC_GIVEN_BY_LAUNCH)
        rc_plan_keep(result, RC_STR("MASTER_ADDR"), "it can work as the user set it");
    else
        rc_plan_set(result, RC_STR("MASTER_ADDR"), master->addr, master->addr_source, "the host of rank 0");
    if (master->port_given == RC_GIVEN_BY_STAMP && result->stamp.port == master->port)
        rc_plan_keep(result, RC_STR("MASTER_PORT"), "as rollcall set it at the start of this task");
    else if (master->port_given == RC_GIVEN_BY_STAMP)
        rc_plan_keep(result, RC_STR("MASTER_PORT"),
                     rc_format(&result->arena, "changed since; all tasks use %u", (uint32_t)result->stamp.port));
    else if (master->port_given == RC_GIVEN_BY_USER)
        rc_plan_keep(result, RC_STR("MASTER_PORT"),
                     rc_format(&result->arena, "as the user set it; without it, all tasks get %u",
                               (uint32_t)master->launch_port));
    else
        rc_plan_set(result, RC_STR("MASTER_PORT"), port, master->port_source,
                    "the same port in all tasks, held by rank 0");
}

/* If the launcher does not count nodes, only a step on the whole allocation has a number. */
static bool is_told(struct rc_result *result, enum rc_field field)
{
    const struct rc_facts *facts = &result->facts;

    return field != RC_NNODES || !facts->nnodes_derived ||
           rc_str_is(rc_env_get(&result->env, "SLURM_JOB_NUM_NODES"),
                     rc_format(&result->arena, "%u", facts->field[RC_NNODES].value));
}

/* Correct launchers' variables that frameworks read and that contradict the identity. The innermost launcher's sizes
 * can be wrong (`srun -E` keeps the job's), its ranks only if the nodes have another order. Unset wrong ones without a
 * right value: Lightning refuses SLURM_NNODES=1 of mpirun's daemon (Slurm 26.05, Open MPI 6). */
static void repair_variables(struct rc_result *result, const struct rc_launcher *launcher)
{
    for (const struct rc_variable *v = launcher->variables; v->length; v++) {
        bool rank = v->field == RC_RANK || v->field == RC_LOCAL_RANK || v->field == RC_NODE_RANK;
        uint32_t right = result->identity.field[v->field];
        struct rc_str name = rc_variable_name(v);
        struct rc_str now;
        uint32_t number;

        if (!v->repair || right == RC_UNKNOWN ||
            (launcher == result->launcher && rank && (!result->ordered.host.p || v->field == RC_LOCAL_RANK)) ||
            (v->field == RC_LOCAL_WORLD_SIZE && !is_even(result)))
            continue;
        now = rc_env_find(&result->env, name);
        if (!now.p || (rc_parse_u32(now, RC_MAX_TASKS, &number) && number == right))
            continue;
        if (is_told(result, v->field))
            rc_plan_set_field(result, name, v->field, "frameworks read it, and it contradicted the identity");
        else
            rc_plan_unset(result, name, uncounted);
    }
}

static void repair_launchers(struct rc_result *result)
{
    for (unsigned i = 0; i < RC_LAUNCHER_COUNT; i++)
        repair_variables(result, rc_launcher_at(i));
}

/* Restore a job name that launcher mode hid. Replace one with which Lightning counts from LOCAL_RANK, if that is 0. */
static void plan_job_name(struct rc_result *result)
{
    struct rc_str kept = rc_env_get(&result->env, RC_KEPT_NAME);
    struct rc_str now = rc_env_get(&result->env, "SLURM_JOB_NAME");
    bool hidden = kept.p && rc_str_is(now, "bash");

    if (result->gpus.why && rc_is_interactive(hidden ? kept : now))
        rc_plan_set(result, RC_STR("SLURM_JOB_NAME"), "srun", "LOCAL_RANK",
                    "Lightning takes no rank from an interactive job, but counts from LOCAL_RANK");
    else if (hidden)
        rc_plan_set(result, RC_STR("SLURM_JOB_NAME"), rc_copy(&result->arena, kept), RC_KEPT_NAME,
                    "launcher mode further outside had hidden it");
    if (kept.p)
        rc_plan_unset(result, RC_STR(RC_KEPT_NAME), "the job name is in its own place again");
}

/* Lightning takes the step's tasks for its workers, except in a job named "bash" (slurm.py, all versions). */
static void hide_step_from_lightning(struct rc_result *result)
{
    struct rc_str name = rc_env_get(&result->env, "SLURM_JOB_NAME");

    if (!rc_env_get(&result->env, "SLURM_NTASKS").p)
        return;
    if (name.n && !rc_str_is(name, "bash"))
        rc_plan_set(result, RC_STR(RC_KEPT_NAME), rc_copy(&result->arena, name), "SLURM_JOB_NAME",
                    "the job's real name");
    rc_plan_set(result, RC_STR("SLURM_JOB_NAME"), "bash", "launcher mode",
                "Lightning must not take the step's tasks for its workers");
}

/* One task a node may be a script that starts torchrun, which reads PET_*. */
static void plan_agents_of_worker(const struct rc_context *context, struct rc_result *result)
{
    bool is_one_a_node = result->facts.max_local_size == 1;

    if (is_one_a_node && result->identity.field[RC_NNODES] > 1 && !result->launcher->by_hand)
        rc_agents_plan(context, result);
    else if (result->identity.field[RC_WORLD_SIZE] > 1 || result->stamp_is_outer || result->launcher->alone)
        rc_agents_unset(result, "a worker must not start agents");
}

static void plan_worker(const struct rc_context *context, struct rc_result *result)
{
    set_numbers(result);
    set_master_names(result);
    if (result->launcher->alone)
        hide_step_from_lightning(result);
    else
        plan_job_name(result);
    repair_launchers(result);
    /* also under mpirun in a batch script: with SLURM_NTASKS Lightning assumes Slurm */
    if (!result->launcher->alone && is_even(result) && !rc_env_get(&result->env, "SLURM_NTASKS_PER_NODE").p &&
        (result->launcher->slurm_environment || rc_env_get(&result->env, "SLURM_NTASKS").p))
        rc_plan_set_field(result, RC_STR("SLURM_NTASKS_PER_NODE"), RC_LOCAL_WORLD_SIZE,
                          "Lightning refuses to start without it (\"You set --ntasks\")");
    plan_agents_of_worker(context, result);
    RC_PLAN_UNSET(result, torchelastic_names, "left over from another torchrun");
}

/* For a later rollcall in this task, which reads the launcher's numbers. */
static void keep_order(struct rc_result *result)
{
    struct rc_ordered kept = result->ordered;
    struct rc_ordered before;

    if (!kept.host.p) {
        rc_plan_unset(result, RC_STR(RC_ORDERED), "left over from a launch further outside");
        return;
    }
    kept.rank = result->facts.field[RC_RANK].value;
    if (rc_ordered_read(&result->env, result->facts.scope, &before))
        kept.node = before.node;
    else if (!rc_parse_u32(rc_env_get(&result->env, "SLURM_NODEID"), RC_MAX_TASKS, &kept.node))
        kept.node = result->facts.field[RC_NODE_RANK].value;
    rc_plan_set(result, RC_STR(RC_ORDERED), rc_ordered_write(&kept, result->facts.scope, &result->arena), "rollcall",
                "keeps the launcher's own numbers");
}

static void plan_launcher(const struct rc_context *context, struct rc_result *result)
{
    set_numbers(result);
    set_master_names(result);
    rc_agents_plan(context, result);
    /* scripts give torchrun or accelerate $SLURM_NODEID and $SLURM_PROCID */
    if (result->ordered.host.p || result->launcher->alone)
        repair_launchers(result);
    hide_step_from_lightning(result);
    unset_workers_numbers(result);
    RC_PLAN_UNSET(result, torchelastic_names, "left over from another torchrun");
}

bool rc_planning_is_changed(const struct rc_result *result, bool missing_counts)
{
    struct rc_str rest = result->stamp.told;

    for (unsigned i = 0; rest.p && i < TELLING; i++) {
        struct rc_str told = rc_str_split(rest, '/', &rest);
        struct rc_str now = rc_env_find(&result->env, numbers[i].name);

        if (now.p ? !rc_str_eq(now, told) : missing_counts)
            return true;
    }
    return false;
}

static void note_changed(struct rc_result *result, struct rc_str name, struct rc_str told, const char **text)
{
    struct rc_str now = rc_env_find(&result->env, name);
    const char *this;

    if (rc_str_eq(now, told))
        return;
    if (*text)
        rc_join(&result->arena);
    now = now.p ? now : RC_STR("");
    this = rc_format(&result->arena, *text ? ", %pS is %pQ and not %pS" : "%pS is %pQ and not %pS", &name, &now, &told);
    *text = *text ? *text : this;
}

void rc_planning_say_changed(struct rc_result *result)
{
    struct rc_str rest = result->stamp.told;
    const char *text = NULL;

    for (unsigned i = 0; rest.p && i < RC_STAMP_TOLD; i++)
        note_changed(result, numbers[i].name, rc_str_split(rest, '/', &rest), &text);
    if (result->stamp.told.p) {
        char port[8];
        struct rc_arena arena = { .base = port, .size = sizeof(port) };

        note_changed(result, RC_STR("MASTER_PORT"), rc_str(rc_format(&arena, "%u", (uint32_t)result->stamp.port)),
                     &text);
    }
    /* another value is RC401 or RC402; the stamp does not have the host */
    if (result->stamp.told.p && !rc_env_get(&result->env, "MASTER_ADDR").n)
        note_changed(result, RC_STR("MASTER_ADDR"), RC_STR("a host"), &text);
    if (text)
        rc_say(&result->messages, RC507,
               "%s, as rollcall has set it; a TaskProlog or a script before the program changed it; take that line out",
               text);
}

void rc_planning_restore(struct rc_result *result)
{
    static const char reason[] = "as rollcall set it, before it was changed";
    struct rc_str rest = result->stamp.told;
    uint32_t value = RC_UNKNOWN;

    for (unsigned i = 0; i < RC_STAMP_TOLD; i++) {
        if (!rc_parse_u32(rc_str_split(rest, '/', &rest), RC_MAX_TASKS, &value))
            return;
        rc_plan_set_number(result, numbers[i].name, value, RC_STAMP, reason);
    }
    rc_plan_set_number(result, RC_STR("GROUP_RANK"), value, RC_STAMP, reason);
}

void rc_planning_write(const struct rc_context *context, struct rc_result *result, const char *stamp, bool is_repeated)
{
    if (result->mode == RC_MODE_WORKER)
        plan_worker(context, result);
    else
        plan_launcher(context, result);
    if (result->launcher->alone)
        rc_alone_plan(result);
    keep_order(result);
    rc_gpus_plan(context, result);
    set_for_frameworks(result, is_repeated);
    rc_plan_set(result, RC_STR(RC_STAMP), stamp, "rollcall", "a later rollcall in this task finds that all is set");
    warn_of_uneven(result);
}
