/* SPDX-License-Identifier: BSD-3-Clause */
/* alone.c - --ddp=alone: hides the variables by which a program counts the launch that it is in.
 *
 * The numbers of a task that frameworks read (SLURM_NTASKS, SLURM_PROCID and so on) become those of a job of one, as
 * other wrong ones do (planning.c). SLURM_JOB_ID and what describes the allocation stay: programs name files by it, and
 * scontrol and sbatch require it. This file has the rest. */
#include "resolve/steps.h"

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
