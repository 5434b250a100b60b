/* SPDX-License-Identifier: BSD-3-Clause */
/* alone.c - a process that is a job of one: by --ddp=alone, or because no launcher started it. */
#include "resolve/steps.h"

unsigned rc_alone_family(bool single)
{
    unsigned index = 0;

    while (!(single ? rc_launcher_at(index)->single : rc_launcher_at(index)->alone))
        index++;
    return index;
}

/* --ddp=alone: what makes a program count the launch that it is in, and is hidden from it.
 *
 * The numbers of a task that frameworks read (SLURM_NTASKS, SLURM_PROCID and so on) become those of a job of one, as
 * other wrong ones do (planning.c). SLURM_JOB_ID and what describes the allocation stay: programs name files by it, and
 * scontrol and sbatch require it. Here is the rest. */

static const struct {
    struct rc_str name;
    bool begins;       /* all variables whose names begin so */
    const char *value; /* of one that is there; NULL: it goes */
    const char *reason;
} hidden[] = {
    { RC_NAME("SLURM_STEP_ID"), false, NULL, "Open MPI and rollcall take the process for a task of srun" },
    { RC_NAME("SLURM_STEPID"), false, NULL, "the same by its older name" },
    { RC_NAME("SLURM_GTIDS"), false, NULL, "the ranks of the step's tasks on this node" },
    /* TensorFlow, cluster_resolver/slurm_cluster_resolver.py */
    { RC_NAME("SLURM_STEP_NUM_NODES"), false, "1", "JAX and TensorFlow count the step's nodes" },
    { RC_NAME("SLURM_STEP_TASKS_PER_NODE"), false, "1", "TensorFlow counts the step's tasks" },
    { RC_NAME(RC_SERVER), false, NULL, "the step's other tasks meet there" },
    { RC_NAME(RC_TASK_HOSTS), false, NULL, "the hosts of the step's tasks" },
    /* DeepSpeed, launcher/launch.py */
    { RC_NAME("CROSS_RANK"), false, NULL, "the number of the node for DeepSpeed" },
    { RC_NAME("CROSS_SIZE"), false, NULL, "the number of nodes for DeepSpeed" },
    { RC_NAME("LOCAL_SIZE"), false, NULL, "the node's tasks for DeepSpeed" },
    /* MPI_Init, which Lightning calls if mpi4py is there (MPIEnvironment.detect): without these it is a job of one.
     * Open MPI 4 keeps its own in OMPI_MCA_ names, which users set as well. */
    { RC_NAME("PMIX_"), true, NULL, "MPI_Init joins the launch" },
    { RC_NAME("PMI_"), true, NULL, "MPI_Init joins the launch; Accelerate reads PMI_SIZE" },
    { RC_NAME("PRTE_LAUNCHED"), false, NULL, "JAX reads PRTE_LAUNCHED" },
    { RC_NAME("OMPI_COMM_WORLD_"), true, NULL, "Accelerate, DeepSpeed and JAX read them" },
    { RC_NAME("OMPI_MCA_ess"), true, NULL, "MPI_Init joins the launch" },
    { RC_NAME("OMPI_MCA_orte_"), true, NULL, "JAX and MPI_Init take the process for a task of mpirun" },
    { RC_NAME("MV2_COMM_WORLD_"), true, NULL, "Accelerate reads them" },
    { RC_NAME("JSM_NAMESPACE_"), true, NULL, "Lightning takes the process for a task of jsrun" },
};

static void hide(struct rc_result *result, unsigned row)
{
    struct rc_str name = hidden[row].name;
    struct rc_str now = rc_env_find(&result->env, name);

    if (!now.p)
        return;
    if (hidden[row].value)
        rc_plan_set(result, name, hidden[row].value, "--ddp=alone", hidden[row].reason);
    else
        rc_plan_unset(result, name, hidden[row].reason);
}

static void hide_all(struct rc_result *result, unsigned row)
{
    for (uint32_t i = 0; i < result->env.count; i++) {
        struct rc_str value;
        struct rc_str name = rc_str_split(rc_str(result->env.block[i]), '=', &value);

        if (value.p && rc_str_starts(name, hidden[row].name.p)) {
            name.p = rc_copy(&result->arena, name); /* ends with a NUL */
            rc_plan_unset(result, name, hidden[row].reason);
        }
    }
}

/* The variables by which rollcall itself knows tasks of other launchers. */
static void hide_numbers(struct rc_result *result)
{
    for (unsigned i = 0; i < RC_LAUNCHER_COUNT; i++) {
        const struct rc_launcher *launcher = rc_launcher_at(i);

        if (!launcher->processes[0] || launcher->slurm_environment || launcher->authoritative)
            continue;
        for (const struct rc_variable *v = launcher->variables; v->name.n; v++)
            rc_plan_unset(result, v->name, "the number of a task of the launch");
    }
}

/* JAX queries no cluster if one of its variables is missing, and then requires all numbers as arguments
 * (clusters/slurm_cluster.py, is_env_present, JAX 0.10). */
static void set_node(struct rc_result *result)
{
    struct rc_str node = rc_env_get(&result->env, "SLURMD_NODENAME");

    if (node.n && rc_env_get(&result->env, "SLURM_JOB_ID").n)
        rc_plan_set(result, RC_STR("SLURM_STEP_NODELIST"), rc_copy(&result->arena, node), "SLURMD_NODENAME",
                    "JAX and others count the hosts of the step");
}

void rc_alone_plan(struct rc_result *result)
{
    hide_numbers(result);
    for (unsigned i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
        if (hidden[i].begins)
            hide_all(result, i);
        else
            hide(result, i);
    set_node(result);
}

/* A process that no launcher started. */

/* Whether the launcher says that its job has one task. */
static bool is_job_of_one(const struct rc_result *result)
{
    bool is_told = false;

    for (const struct rc_variable *v = result->launcher->variables; v->name.n; v++) {
        struct rc_str value = rc_env_find(&result->env, v->name);
        bool is_size = v->field == RC_WORLD_SIZE || v->field == RC_NNODES;

        if (is_size && value.n && !rc_str_is(value, "1"))
            return false;
        is_told = is_told || is_size;
    }
    return is_told;
}

/* Whether the variable numbers this process. A size of 1 does not. */
static bool is_number(const struct rc_env *env, struct rc_str name, enum rc_field field)
{
    struct rc_str value = rc_env_find(env, name);
    bool is_size = field == RC_WORLD_SIZE || field == RC_NNODES;

    return field != RC_LOCAL_WORLD_SIZE && value.n && !(is_size && rc_str_is(value, "1"));
}

/* Return a variable that another launcher has left, or by which a script numbers its machines; absent if none is there.
 * The variables of `outside`, a job that this process is in and no task of, do not count. */
static struct rc_str find_number(const struct rc_env *env, const struct rc_launcher *outside)
{
    static const struct {
        struct rc_str name;
        enum rc_field field;
    } others[] = {
        /* scripts, DeepSpeed and Accelerate */
        { RC_NAME("NODE_RANK"), RC_NODE_RANK },
        { RC_NAME("MACHINE_RANK"), RC_NODE_RANK },
        { RC_NAME("CROSS_RANK"), RC_NODE_RANK },
        { RC_NAME("NNODES"), RC_NNODES },
        /* launchers of no family: jsrun, MVAPICH, Platform MPI, ALPS, Horovod */
        { RC_NAME("JSM_NAMESPACE_RANK"), RC_RANK },
        { RC_NAME("MV2_COMM_WORLD_RANK"), RC_RANK },
        { RC_NAME("MPI_RANKID"), RC_RANK },
        { RC_NAME("ALPS_APP_PE"), RC_RANK },
        { RC_NAME("HOROVOD_RANK"), RC_RANK },
    };

    for (unsigned i = 0; i < RC_LAUNCHER_COUNT; i++)
        for (const struct rc_variable *v = rc_launcher_at(i)->variables; v->name.n; v++)
            if (rc_launcher_at(i) != outside && is_number(env, v->name, (enum rc_field)v->field))
                return v->name;
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (is_number(env, others[i].name, others[i].field))
            return others[i].name;
    return RC_ABSENT;
}

bool rc_alone_take_single(const struct rc_context *context, enum rc_claim claim, struct rc_result *result)
{
    struct rc_reader reader = rc_reader_of(context, result);
    unsigned single = rc_alone_family(true);
    bool is_possible = claim == RC_CLAIM_ABSENT || (claim == RC_CLAIM_OUTSIDE && is_job_of_one(result));
    /* the numbers are those of a task that submitted this job, or of an outer job of one */
    bool is_stale = result->stamp.text.n &&
                    (claim == RC_CLAIM_OUTSIDE || rc_launcher_has_scope(rc_launcher_at(single), result->stamp.scope));

    /* the library, in a process that an earlier rollcall made a job of one */
    bool is_again = context->ignore_stamp && !context->called && result->stamp.told.p &&
                    rc_launcher_has_scope(rc_launcher_at(single), result->stamp.scope) &&
                    !rc_planning_is_changed(result, true);
    struct rc_str number = is_stale ? RC_ABSENT : find_number(&result->env, result->launcher);

    /* torchrun needs no launch, but reads the number of its workers from one */
    bool is_agent = result->command.kind == RC_COMMAND_LAUNCHER && context->options.nproc;

    if (!is_possible || (!is_again && !is_agent && result->command.kind != RC_COMMAND_UNKNOWN))
        return false;
    if (!is_again && number.p && (context->called || context->options.mode != RC_MODE_AUTO))
        rc_say(&result->messages, RC128,
               "%pS is set, but no launcher started this process; nothing is set, as each of several such processes "
               "would train alone; start it with srun, mpirun or torchrun; or unset %pS",
               &number, &number);
    if (!is_again && (number.p || !context->called))
        return false;
    if (result->facts.scope && result->outer_count < RC_OUTER_MAX)
        result->outer[result->outer_count++] = result->facts.scope;
    rc_facts_init(&result->facts);
    result->launcher_index = single;
    result->launcher = rc_launcher_at(single);
    reader.starts_alone = !is_again;
    rc_launcher_recognise(single, &reader, &result->facts);
    if (claim == RC_CLAIM_ABSENT && !is_again && !is_agent)
        rc_say(&result->messages, RC311,
               "no launcher started this process, so it is a job of one process; start all processes of a larger job "
               "with srun or mpirun%s",
               context->options.nproc ? "" : "; a script that starts its N processes itself needs --ddp=nproc=N");
    return true;
}
