/* SPDX-License-Identifier: BSD-3-Clause */
/* spank.h - shared by the files of the plugin. */
#pragma once

#include <slurm/spank.h>

#include "effects/binding.h"
#include "effects/lookup.h"
#include "effects/rank0.h"
#include "resolve/options.h"
#include "resolve/resolve.h"

/* slurm.c: wrappers of Slurm's calls. */

/* Return the environment of the step or, in task_init, the task; or NULL. spank_setenv may move it. */
const char *const *rc_spank_environment(spank_t spank);

/* Return the command, NULL-terminated, or NULL. */
const char *const *rc_spank_command(spank_t spank);

/* Read a 32-bit item. Return false, with *value unchanged, on failure. */
bool rc_spank_number(spank_t spank, spank_item_t item, uint32_t *value);

/* Return whether `env` is of the step's first task. */
bool rc_spank_is_first(const struct rc_env *env);

/* Print `rollcall: warning RC301: TEXT` to standard error of srun, or of the task in user_init and task_init. */
void rc_spank_say(enum rc_level level, enum rc_message_id id, const char *text);

/* Have srun's server print a line once for all nodes, or print it here. */
void rc_spank_say_alike(const struct rc_env *env, enum rc_message_id id, const char *text);

/* Print the messages of this level or worse. */
void rc_spank_say_all(const struct rc_messages *messages, enum rc_level least);

/* Find the folder of programs, once in slurmstepd: it takes 40 us (measured). */
void rc_spank_programs_find(void);

/* Return the path of a program, which may be missing, until the next call; or "". */
const char *rc_spank_program(const char *name);

/* Apply and verify the plan: spank_setenv drops values over 128 KiB without an error (measured on 22.05). Return NULL
 * or, after a rollback, the name that failed. The plan may point into the environment. */
const char *rc_spank_apply(spank_t spank, const struct rc_plan *plan);

/* options.c: --ddp, ROLLCALL and plugstack.conf (lib/resolve/options.h). srun, sbatch and salloc refuse a bad --ddp;
 * slurmstepd, as root, only keeps the text. */

/* Register --ddp. Call only from slurm_spank_init. */
void rc_spank_register(spank_t spank);

/* Read the words of plugstack.conf, once. Report and ignore unknown ones. */
void rc_spank_read_arguments(int argc, char *argv[]);

/* Return whether plugstack.conf has log=json. */
bool rc_spank_logs_steps(void);

/* Return whether --ddp was given to this step or its job. */
bool rc_spank_is_typed(void);

/* In srun, sbatch and salloc: print errors; return whether the options are valid. */
bool rc_spank_check_environment(void);

/* Return whether --ddp or ROLLCALL is set, without parsing: safe as root. */
bool rc_spank_may_be_asked(const char *const *env);

/* Combine the sources. `rollcall`: the variable; `acts`: srun acts by it. Return false, with messages and out->given
 * set, for an invalid or disabled value. */
bool rc_spank_asked(struct rc_str rollcall, bool acts, struct rc_options *out, struct rc_messages *messages);

/* In srun: return whether rollcall was requested and valid. *out is valid until the next call. */
bool rc_spank_asked_here(struct rc_options *out);

/* srun.c: checks and the server, in srun. */

/* When the step exists: for srun's exchange listen in SrunPortRange, start rollcall-exchange, and set RC_SERVER and, if
 * needed, RC_TASK_HOSTS; empty those of an outer step. Print RC624 on failure. */
void rc_spank_srun_begin(spank_t spank);

/* Return whether is_wanted() accepts one of the first `most` words of the command line. */
bool rc_spank_is_on_command_line(bool (*is_wanted)(const char *word), int most);

/* Call before srun opens sockets. Return false, after a line, if the request is impossible. If rollcall was
 * requested, open /dev/null at closed descriptors 0 to 2. */
bool rc_spank_srun_check(void);

/* step.c: the step on this node. user_init can regain root, so it only copies data for the tasks. */

struct rc_spank_step {
    bool active;     /* requested, and the step has tasks */
    bool understood; /* false: the options are invalid */
    bool first_node; /* of the step, or of its first het component */
    struct rc_options options;
    struct rc_messages wrong;
    enum rc_mode mode;               /* of the node; or RC_MODE_AUTO */
    char reason[128];                /* of the mode */
    enum rc_bound_by bound_by;       /* source of the tasks' CPUs in srun */
    const struct rc_step_gpus *gpus; /* on this node; or NULL */
};

/* Return false for batch, extern and interactive steps. */
bool rc_spank_is_step_of_tasks(spank_t spank);

/* In user_init: copy data for tasks, and allocate shared memory. Never fails. */
void rc_spank_step_prepare(spank_t spank);

/* In task_init: build the node's plan. */
void rc_spank_step_begin(spank_t spank);

/* In slurmstepd, as root, when a task has ended and before srun is notified. */
void rc_spank_step_task_ended(spank_t spank);

/* Return the state from rc_spank_step_begin. */
const struct rc_spank_step *rc_spank_step(void);

/* Return true for the first calling task of this node. */
bool rc_spank_step_speaks(spank_t spank);

/* Return the look-up of result->master, made by one task for all, until the next call. */
const struct rc_lookup *rc_spank_step_lookup(const struct rc_result *result);

/* Return whether MASTER_ADDR surely resolves only to other nodes. */
bool rc_spank_step_is_elsewhere(const struct rc_result *result);

/* Scratch for one resolution: 90 KiB exceed a stack. */
struct rc_result *rc_spank_result(void);

/* meet.c: the roll call, once per node. */

/* In user_init: allocate the shared memory. */
void rc_spank_meet_prepare(void);

/* Call for a resolved task. The first task holds the port, if RANK 0 is here, and meets the other nodes; the others
 * wait. Then resolve again. *held is the port's descriptor in RANK 0, else -1. Return false, with an error in
 * result->messages, if the task must not start. Other failures only add a warning. */
bool rc_spank_meet(spank_t spank, struct rc_context *context, struct rc_result *result, const struct rc_rank0 *hooks,
                   int *held);

/* Call after printing the error if rc_spank_meet failed. The other tasks wait for it. */
void rc_spank_meet_finish(void);

/* Return the addresses of MASTER_ADDR from the roll call, or RC_ABSENT. */
struct rc_str rc_spank_meet_leads(void);

/* Call instead of rc_spank_meet for an unresolved task. */
void rc_spank_meet_not(spank_t spank, const struct rc_result *result);

/* ending.c: end the step when a task fails. */

/* In user_init: create the sockets. */
void rc_spank_ending_prepare(void);

/* Call first in task_init. The first task starts the monitor if a failure must end the step. */
void rc_spank_ending_begin(const struct rc_options *options, const struct rc_env *env,
                           const struct rc_command *command);

/* In slurmstepd, for each ended task. After the first failure, wait for its output, and for srun to know the result. */
void rc_spank_ending_task_ended(spank_t spank);

/* bind.c: the cores of the node's tasks. */

/* In user_init: allocate the shared memory. */
void rc_spank_bind_prepare(void);

/* Call in task_init for a resolved task. One task queries rollcall-map for all. Bind this task, or plan its workers'
 * cores. Return whether that was done; a failure adds a message to result. */
bool rc_spank_bind(spank_t spank, struct rc_context *context, struct rc_result *result);

/* In srun, if rollcall was requested: mark a SLURM_CPU_BIND left by another step (RC_BIND_LEFT). */
void rc_spank_bind_mark(void);

/* submit.c: in srun, sbatch or salloc, before options are read: remove a task's variables and, with `submits`, --ddp of
 * the enclosing job. */
void rc_spank_submit_begin(bool submits);

/* task.c: task_init. */

/* Run as the user in the process that becomes the task. Exit if it cannot be numbered. */
void rc_spank_task_begin(spank_t spank);

/* In a job's script: remove a task's variables that sbatch copied. If the job has several tasks and requested rollcall,
 * set variables with which torch reports a missing srun (RC309). */
void rc_spank_batch_begin(spank_t spank);
