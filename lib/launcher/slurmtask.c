/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmtask.c - whether this is a task of a Slurm step, and of which one.
 *
 * A batch script has no SLURM_STEP_ID; extern and interactive steps have ids
 * above SLURM_MAX_NORMAL_STEP_ID (0xfffffff0, slurm.h).
 */
#include "launcher/registry.h"

#include "launcher/ancestry.h"
#include "launcher/ordered.h"

enum { JOB_ID_MAX = 0x7fffffff };
static const uint32_t step_id_max = 0xfffffff0u - 1;

/* Why an equal SLURM_TASK_PID may prove nothing: Hydra hands a batch script's whole
 * environment to the processes that it starts on other nodes, and one of them may
 * have the script's pid by chance. */
static bool is_on_another_node(struct rc_reader *reader)
{
    struct rc_str name = rc_env_get(reader->env, "SLURMD_NODENAME");
    struct rc_str domain;
    struct rc_str host;

    if (reader->alone || !name.n || !rc_learned(reader, RC_LEARN_HOST))
        return false;
    host = reader->here->host;
    return host.n && !rc_str_eq(host, name) && !rc_str_eq(rc_str_split(host, '.', &domain), name);
}

/* SLURM_TASK_PID is the pid of the task's first process. Where that is this very
 * process, no other launcher can have started it. */
static bool is_innermost(struct rc_reader *reader)
{
    uint32_t task_pid;

    if (reader->slurm_certain)
        return true;
    return reader->pid && rc_parse_u32(rc_env_get(reader->env, "SLURM_TASK_PID"), UINT32_MAX - 1, &task_pid) &&
           task_pid == reader->pid && !is_on_another_node(reader);
}

/* sbatch called in a step hands the step's variables on to the new batch script,
 * with --export=NONE too (src/common/env.c, env_array_merge_slurm_spank; seen with
 * 22.05). The title of the script's slurmstepd tells: "slurmstepd: [42.batch]". */
static bool is_batch_script(struct rc_reader *reader, const char *scope)
{
    /* a process with a stamp of this step was seen to be in it */
    if (rc_str_is(reader->stamp.scope, scope) || !rc_learned(reader, RC_LEARN_ANCESTORS))
        return false;
    for (unsigned i = 0; i < reader->here->ancestor_count; i++)
        if (rc_str_is(rc_ancestor_name(reader->here->ancestor[i]), "slurmstepd"))
            return rc_ancestor_is_batch(reader->here->ancestor[i]);
    return false;
}

/* Ids above SLURM_MAX_NORMAL_STEP_ID may be printed as signed numbers: Slurm 26.05
 * says -6 in an interactive step (src/common/env.c, setup_env; seen). */
static bool is_negative(struct rc_str step)
{
    uint64_t id;

    return step.p[0] == '-' && rc_parse_u64((struct rc_str){ step.p + 1, step.n - 1 }, UINT32_MAX - step_id_max, &id) &&
           id > 0;
}

/* In a job, but not in a task of it. The scope is the job, which the stamp of a
 * launch inside of the job has as one of its outer scopes. */
static enum rc_claim claim_job(struct rc_reader *reader, struct rc_facts *facts, struct rc_str job)
{
    uint64_t id;

    facts->scope = rc_parse_u64(job, JOB_ID_MAX, &id) ? rc_format(reader->arena, "slurm:%S", &job) : NULL;
    return RC_CLAIM_OUTSIDE;
}

enum rc_claim rc_slurm_recognise(struct rc_reader *reader, struct rc_facts *facts)
{
    struct rc_str job = rc_env_either(reader->env, RC_STR("SLURM_JOB_ID"), RC_STR("SLURM_JOBID"));
    struct rc_str step = rc_env_either(reader->env, RC_STR("SLURM_STEP_ID"), RC_STR("SLURM_STEPID"));
    struct rc_ordered kept;
    struct rc_number rank;
    uint64_t job_id;
    uint64_t step_id;

    if (!job.p || job.n == 0)
        return RC_CLAIM_ABSENT;
    if (!step.p || step.n == 0 || is_negative(step))
        return claim_job(reader, facts, job);
    if (!rc_parse_u64(step, UINT32_MAX, &step_id)) {
        rc_message_add(reader->messages, RC101,
                       rc_format(reader->arena,
                                 "SLURM_STEP_ID is %q, not a step id; nothing is set; unset it if it was exported by "
                                 "hand",
                                 &step));
        return RC_CLAIM_BROKEN;
    }
    if (step_id > step_id_max)
        return claim_job(reader, facts, job);
    if (!rc_parse_u64(job, JOB_ID_MAX, &job_id)) {
        rc_message_add(reader->messages, RC101,
                       rc_format(reader->arena,
                                 "SLURM_JOB_ID is %q, not a job id; nothing is set; unset it if it was exported by "
                                 "hand",
                                 &job));
        return RC_CLAIM_BROKEN;
    }
    if (!rc_read_number(reader, RC_STR("SLURM_PROCID"), RC_MAX_TASKS, &rank) ||
        (rank.value == RC_UNKNOWN && !rc_missing(reader, "SLURM_STEP_ID", "SLURM_PROCID")))
        return RC_CLAIM_BROKEN;
    facts->field[RC_RANK] = rank;
    facts->port_seed[0] = job_id;
    facts->port_seed[1] = step_id;
    facts->scope = rc_format(reader->arena, "slurm:%S.%S", &job, &step);
    facts->run_id = facts->scope + (sizeof("slurm:") - 1);
    if (rc_ordered_read(reader->env, facts->scope, &kept))
        facts->field[RC_RANK].value = kept.rank;
    if (is_innermost(reader))
        return RC_CLAIM_INNERMOST;
    return is_batch_script(reader, facts->scope) ? claim_job(reader, facts, job) : RC_CLAIM_TASK;
}
