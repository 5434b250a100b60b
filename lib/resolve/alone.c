/* SPDX-License-Identifier: BSD-3-Clause */
/* alone.c - --ddp=alone: hides the variables by which a program counts the launch that it is in.
 *
 * planning.c replaces the numbers (SLURM_NTASKS, ...). The allocation's variables (SLURM_JOB_ID, ...) stay: programs
 * name files by them, scontrol and sbatch require them. */
#include "resolve/steps.h"

/* Replace a variable if it is set; NULL removes it. */
static void hide(struct rc_result *result, struct rc_str name, const char *value, const char *reason)
{
    if (!rc_env_find(&result->env, name).p)
        return;
    if (value)
        rc_plan_set(result, name, value, "--ddp=alone", reason);
    else
        rc_plan_unset(result, name, reason);
}

static void hide_all(struct rc_result *result, const char *begin, const char *reason)
{
    for (uint32_t i = 0; i < result->env.count; i++) {
        struct rc_str value;
        struct rc_str name = rc_str_split(rc_str(result->env.block[i]), '=', &value);

        if (value.p && rc_str_starts(name, begin)) {
            name.p = rc_copy(&result->arena, name); /* must end with a NUL */
            rc_plan_unset(result, name, reason);
        }
    }
}

static void hide_step(struct rc_result *result)
{
    hide(result, RC_STR("SLURM_STEP_ID"), NULL, "Open MPI and rollcall take the process for a task of srun");
    hide(result, RC_STR("SLURM_STEPID"), NULL, "the same by its older name");
    hide(result, RC_STR("SLURM_GTIDS"), NULL, "the ranks of the step's tasks on this node");
    /* TensorFlow, cluster_resolver/slurm_cluster_resolver.py */
    hide(result, RC_STR("SLURM_STEP_NUM_NODES"), "1", "JAX and TensorFlow count the step's nodes");
    hide(result, RC_STR("SLURM_STEP_TASKS_PER_NODE"), "1", "TensorFlow counts the step's tasks");
    hide(result, RC_STR(RC_SERVER), NULL, "the step's other tasks meet there");
    hide(result, RC_STR(RC_TASK_HOSTS), NULL, "the hosts of the step's tasks");
}

static void hide_launch(struct rc_result *result)
{
    /* DeepSpeed, launcher/launch.py */
    hide(result, RC_STR("CROSS_RANK"), NULL, "the number of the node for DeepSpeed");
    hide(result, RC_STR("CROSS_SIZE"), NULL, "the number of nodes for DeepSpeed");
    hide(result, RC_STR("LOCAL_SIZE"), NULL, "the node's tasks for DeepSpeed");
    /* Lightning calls MPI_Init if mpi4py is installed (MPIEnvironment.detect); without these it starts a job of one.
     * Users set other OMPI_MCA_. */
    hide_all(result, "PMIX_", "MPI_Init joins the launch");
    hide_all(result, "PMI_", "MPI_Init joins the launch; Accelerate reads PMI_SIZE");
    hide(result, RC_STR("PRTE_LAUNCHED"), NULL, "JAX reads PRTE_LAUNCHED");
    hide_all(result, "OMPI_COMM_WORLD_", "Accelerate, DeepSpeed and JAX read them");
    hide_all(result, "OMPI_MCA_ess", "MPI_Init joins the launch");
    hide_all(result, "OMPI_MCA_orte_", "JAX and MPI_Init take the process for a task of mpirun");
    hide_all(result, "MV2_COMM_WORLD_", "Accelerate reads them");
    hide_all(result, "JSM_NAMESPACE_", "Lightning takes the process for a task of jsrun");
}

/* Hide the variables by which rollcall recognises other launchers. */
static void hide_numbers(struct rc_result *result)
{
    for (unsigned i = 0; i < RC_LAUNCHER_COUNT; i++) {
        const struct rc_launcher *launcher = rc_launcher_at(i);

        if (!launcher->processes[0] || launcher->slurm_environment || launcher->authoritative)
            continue;
        for (const struct rc_variable *v = launcher->variables; v->length; v++)
            rc_plan_unset(result, rc_variable_name(v), "the number of a task of the launch");
    }
}

/* JAX skips the cluster if this is missing (clusters/slurm_cluster.py, is_env_present, JAX 0.10). */
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
    hide_step(result);
    hide_launch(result);
    set_node(result);
}
