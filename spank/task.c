/* SPDX-License-Identifier: BSD-3-Clause */
#include "task.h"

#include <unistd.h>

#include "apply.h"
#include "bind.h"
#include "effects/lastline.h"
#include "effects/lookup.h"
#include "effects/rank0.h"
#include "event.h"
#include "items.h"
#include "meet.h"
#include "outside.h"
#include "report.h"
#include "step.h"
#include "system/devicefiles.h"
#include "system/portowner.h"

/* A task during rc_spank_task_begin. */
struct task {
    spank_t spank;
    struct rc_context context; /* what is known before it is resolved */
    struct rc_result *result;
    struct rc_rank0 rank0; /* how RANK 0's process checks its address and holds its port */
    int held;              /* the descriptor of RANK 0's port, or -1 */
};

/* A user who asked for rollcall gets an error and no task. If only the administrator
 * asked, the job runs as without rollcall. */
static int give_up(spank_t spank, const struct rc_messages *messages)
{
    bool spoke = rc_spank_report_error(spank, messages);

    rc_spank_meet_finish();
    if (spoke)
        rc_spank_event_refused(rc_spank_result(), messages);
    if (!rc_spank_step()->options.by_user)
        return 0;
    rc_last_line_wait(spoke);
    /* Slurm ignores what an `optional` plugin returns (_do_call_stack), and of
     * a `required` one it would only print a second line */
    _exit(1);
}

/* Slurm's items count within a component of srun A : B, the environment over all (measured). */
static bool has_components(spank_t spank, const struct rc_env *env)
{
    uint32_t own, all;

    return rc_spank_number(spank, S_JOB_NNODES, &own) &&
           rc_parse_u32(rc_env_get(env, "SLURM_STEP_NUM_NODES"), RC_MAX_TASKS, &all) && own < all;
}

static void describe_task(struct task *task, spank_t spank)
{
    const struct rc_spank_step *step = rc_spank_step();

    task->spank = spank;
    task->result = rc_spank_result();
    task->held = -1;
    task->context = (struct rc_context){
        .env = rc_spank_environment(spank),
        .here = step->here.learned ? &step->here : NULL,
        .indexed = true,
        .argv = rc_spank_command(spank),
        .command_read = true, /* by rc_spank_step_begin */
        .options = step->options,
        .pid = (uint32_t)getpid(),
        .local_port_first = step->local_port_first,
        .local_port_last = step->local_port_last,
        .contained = rc_spank_outside_is_elsewhere(),
        .slurm_certain = true,
        .decided_mode = step->mode,
        .step_gpus = step->gpus,
    };
    rc_env_index(&task->result->env, task->context.env);
    task->context.slurm_het = has_components(spank, &task->result->env);
    task->rank0 = (struct rc_rank0){
        .outcome = step->options.by_user ? "nothing was set" : "the ranks are set all the same",
        .is_elsewhere = rc_lookup_is_elsewhere,
        .name_owner = rc_port_owner,
    };
}

/* Looks which GPUs of the node this task may open, where that can change the result. */
static enum rc_status resolve_with_gpu_files(struct task *task)
{
    static struct rc_here here;

    here = rc_spank_step()->here;
    rc_device_files_find(&here);
    here.learned |= RC_LEARN_GPU_FILES;
    task->context.here = &here;
    return rc_resolve_again(&task->context, task->result);
}

/* Finds out who this task is and what would be set. */
static bool resolve_task(struct task *task)
{
    enum rc_status status = rc_resolve(&task->context, task->result);

    if (task->result->wants & RC_LEARN_GPU_FILES)
        status = resolve_with_gpu_files(task);
    task->rank0.node = rc_env_get(&task->result->env, "SLURMD_NODENAME");
    if (status != RC_RESOLVED)
        rc_spank_meet_not(task->spank, task->result);
    return status == RC_RESOLVED;
}

/* Lets the nodes agree on the port of RANK 0 and compare what they know. */
static bool meet_nodes(struct task *task)
{
    return rc_spank_meet(task->spank, &task->context, task->result, &task->rank0, &task->held);
}

/* Checks once for all tasks of this node whether it can resolve MASTER_ADDR. */
static bool find_master(struct task *task)
{
    if (!rc_lookup_is_needed(task->result))
        return true;
    return rc_lookup_apply(task->result, rc_spank_step_lookup(task->result, "nothing was set"));
}

/* In RANK 0 only: checks that MASTER_ADDR is its own, and holds the port, if the
 * exchange has not held it. */
static bool hold_port(struct task *task)
{
    struct rc_result *result = task->result;

    if (rc_rank0_verify(result, &task->rank0) && (task->held >= 0 || rc_rank0_hold(result, &task->rank0, &task->held)))
        return true;
    if (rc_spank_step()->options.by_user)
        return false;
    /* the tasks of other nodes have their ranks already: if the user did not ask for
     * rollcall, this one gets its rank too, even without the port */
    rc_spank_report_error(task->spank, &result->messages);
    return true;
}

/* Applies all of the plan, or nothing of it. */
static bool apply_plan(struct task *task)
{
    struct rc_result *result = task->result;
    bool first = rc_spank_is_first(&result->env);
    const char *failed = rc_spank_apply(task->spank, &result->plan);

    if (failed) {
        rc_message_add(&result->messages, RC503,
                       rc_format(&result->arena,
                                 "%s could not be put into the task's environment; nothing is set; unset large "
                                 "variables of the job",
                                 failed));
        return false;
    }
    /* the environment block has moved, and replaced entries are freed */
    rc_env_index(&result->env, first ? rc_spank_environment(task->spank) : NULL);
    if (first)
        rc_spank_event_set(result);
    return true;
}

int rc_spank_task_begin(spank_t spank)
{
    const struct rc_spank_step *step = rc_spank_step();
    struct task task;

    rc_spank_step_begin(spank);
    if (!step->active)
        return 0;
    if (!step->understood)
        return give_up(spank, &step->wrong);
    describe_task(&task, spank);
    if (!resolve_task(&task) || !meet_nodes(&task) || !find_master(&task) || !hold_port(&task))
        return give_up(spank, &task.result->messages);
    rc_spank_bind(spank, &task.context, task.result);
    rc_spank_report_warnings(task.result);
    if (!apply_plan(&task))
        return give_up(spank, &task.result->messages);
    return 0;
}
