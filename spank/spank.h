/* SPDX-License-Identifier: BSD-3-Clause */
/* spank.h - what the files of the plugin share. */
#pragma once

#include <slurm/spank.h>

#include "effects/binding.h"
#include "effects/lookup.h"
#include "effects/rank0.h"
#include "resolve/options.h"
#include "resolve/resolve.h"

/* slurm.c: Slurm's calls, without their calling conventions. */

/* The environment of the step or, in task_init, of the task; NULL without one.
 * Slurm moves the block when a variable is set: ask again after spank_setenv. */
const char *const *rc_spank_environment(spank_t spank);

/* The command, NULL-terminated, or NULL. */
const char *const *rc_spank_command(spank_t spank);

/* An item that is a 32 bit number. False, with *value untouched, where Slurm does not say. */
bool rc_spank_number(spank_t spank, spank_item_t item, uint32_t *value);

/* Whether this environment is that of the step's first task, which prints for the whole step. */
bool rc_spank_is_first(const struct rc_env *env);

/* A line `rollcall: warning RC301: TEXT`: in srun to its standard error, in user_init and task_init to the task's,
 * through srun's own channels (--label, --error, --output). */
void rc_spank_say(enum rc_level level, enum rc_message_id id, const char *text);

/* A line that many nodes may have, of a task with this environment: srun's server prints it once for all of them; if it
 * cannot be reached, so does the task. */
void rc_spank_say_alike(const struct rc_env *env, enum rc_message_id id, const char *text);

/* Prints the messages of this level or worse. */
void rc_spank_say_all(const struct rc_messages *messages, enum rc_level least);

/* Looks for the folder of rollcall's programs. slurmstepd does it once, for all tasks that it forks later: its list of
 * mapped files is long (40 us, measured). */
void rc_spank_programs_find(void);

/* The path of one of them, until the next call; it need not be there. "" where it cannot be known. */
const char *rc_spank_program(const char *name);

/* Carries out the entries that change something, and reads each back: spank_setenv drops values over 128 KiB, and
 * reports success (measured on 22.05). Returns NULL, or the name that could not be set, after undoing all changes.
 * The strings of the plan may be part of the environment that changes. */
const char *rc_spank_apply(spank_t spank, const struct rc_plan *plan);

/* options.c: what was asked for, by --ddp, the ROLLCALL variable and plugstack.conf, in one grammar
 * (lib/resolve/options.h). Slurm calls back for the option in srun, sbatch and salloc, where a wrong value is refused
 * at once, and again in slurmstepd, as root and where an error would be dropped together with the option: there the
 * text is kept, and read by the tasks. */

/* Registers --ddp. Call it only from slurm_spank_init. */
void rc_spank_register(spank_t spank);

/* Reads the words after the plugin's path in plugstack.conf; only the first call does.
 * Reports and ignores a word that it does not understand. */
void rc_spank_read_arguments(int argc, char *argv[]);

/* Whether plugstack.conf has log=json. */
bool rc_spank_logs_steps(void);

/* Whether --ddp was said, of this step or of its job. */
bool rc_spank_is_typed(void);

/* In srun, sbatch and salloc: whether what was asked for can be done. Prints what is wrong. */
bool rc_spank_check_environment(void);

/* Return whether --ddp or ROLLCALL is there. Parse neither: for user_init, where root can be had back, and for
 * slurmstepd. */
bool rc_spank_may_be_asked(const char *const *env);

/* Combine the three sources. `rollcall` is the value of the ROLLCALL variable, absent if it is unset; `acts` is true on
 * a node if srun acts by ROLLCALL. Return false, with messages and with out->given set, if a value of the user is not
 * valid, or is switched off in plugstack.conf. */
bool rc_spank_asked(struct rc_str rollcall, bool acts, struct rc_options *out, struct rc_messages *messages);

/* In srun: whether rollcall was asked for, with valid options. Prints nothing.
 * Texts in *out live until the next call. */
bool rc_spank_asked_here(struct rc_options *out);

/* srun.c: srun's side. */

/* Once the step is made: where rollcall was asked for and no other exchange was, opens a socket in SrunPortRange,
 * starts rollcall-exchange with it, and names it to the tasks (RC_SERVER). Where the step needs it, sets RC_TASK_HOSTS.
 * An outer step's are emptied. If the program cannot be started, prints RC624. */
void rc_spank_srun_begin(spank_t spank);

/* Return whether one of the first `most` words of this process's command line is wanted. */
bool rc_spank_is_on_command_line(bool (*is_wanted)(const char *word), int most);

/* Call it before srun opens a socket and makes the step. Return false, with a line, if what was asked for cannot be
 * done. If rollcall was asked for, put /dev/null on each of the descriptors 0 to 2 that srun's caller has closed. */
bool rc_spank_srun_check(void);

/* step.c: what holds for all tasks of the step on this node. user_init, where slurmstepd can have root back, only keeps
 * copies; each task reads them, and comes to the same result. */

struct rc_spank_step {
    bool active;     /* rollcall was asked for, and this is a step of tasks */
    bool understood; /* false: what the user asked for cannot be read */
    bool first_node; /* of the step; of its first component if it has several */
    struct rc_options options;
    struct rc_messages wrong;        /* of options that cannot be read */
    enum rc_mode mode;               /* decided for the node, or RC_MODE_AUTO: each task decides */
    char reason[128];                /* of that decision */
    enum rc_bound_by bound_by;       /* whom srun has taken the tasks' CPUs from */
    const struct rc_step_gpus *gpus; /* of the step on this node; NULL where user_init did not see them */
};

/* False for batch, extern and interactive steps. */
bool rc_spank_is_step_of_tasks(spank_t spank);

/* In user_init, once a node: keeps what a task cannot see, and the memory that tasks share. Never fails. */
void rc_spank_step_prepare(spank_t spank);

/* In task_init, once a task: builds the node's plan. If user_init did not run, the tasks share no
 * memory, so each task keeps its own copy. */
void rc_spank_step_begin(spank_t spank);

/* In slurmstepd, as root, when a task has ended, before srun hears of it. Does nothing unless the user asked for
 * rollcall. */
void rc_spank_step_task_ended(spank_t spank);

/* What step_begin found. */
const struct rc_spank_step *rc_spank_step(void);

/* True for the first task of this node that calls it, false for all others. */
bool rc_spank_step_speaks(spank_t spank);

/* What rc_lookup_ask says for result->master: asked by the first task of this
 * node, which the others wait for, because it may ask the site's DNS. Until the next call. */
const struct rc_lookup *rc_spank_step_lookup(const struct rc_result *result);

/* Whether all addresses that MASTER_ADDR resolves to are surely other nodes', by the same look-up. */
bool rc_spank_step_is_elsewhere(const struct rc_result *result);

/* Scratch for one resolution at a time; 90 KiB are too much for a stack. */
struct rc_result *rc_spank_result(void);

/* meet.c: this node's part in the roll call, done once for all of its tasks. */

/* In user_init: the memory that the tasks share. */
void rc_spank_meet_prepare(void);

/* Call it when a task has been resolved. The node's first task holds the port, if RANK
 * 0 is here, and meets the other nodes; the other tasks wait for its answer. Then the
 * task is resolved once more with that. *held is the descriptor of the held port in
 * RANK 0's own process, else -1. False, with an error in result->messages, where the
 * step is not to start, or where the first task ended without an answer. Any other failure
 * leaves the port that each task computes by itself, with a warning. */
bool rc_spank_meet(spank_t spank, struct rc_context *context, struct rc_result *result, const struct rc_rank0 *hooks,
                   int *held);

/* Call it where rc_spank_meet was false, when the error has been reported: the node's other tasks, which know only
 * that nothing starts (RC612), wait for that. */
void rc_spank_meet_finish(void);

/* All addresses that MASTER_ADDR led to here when the nodes met; absent if it was not looked up then. */
struct rc_str rc_spank_meet_leads(void);

/* Call it instead of rc_spank_meet where a task cannot be resolved, so that the node's
 * other tasks do not wait for it. */
void rc_spank_meet_not(spank_t spank, const struct rc_result *result);

/* ending.c: how a task that fails ends the step. */

/* In user_init: the socket between slurmstepd and the monitor. */
void rc_spank_ending_prepare(void);

/* Call it first in task_init: the node's first task starts the monitor, if the step has srun's server and a failure is
 * to end the step. env is of the task. */
void rc_spank_ending_begin(const struct rc_options *options, const struct rc_env *env,
                           const struct rc_command *command);

/* In slurmstepd, for each task that has ended. For the first that has failed it waits until its last words have left
 * the node, and until srun knows whether the step is to end. */
void rc_spank_ending_task_ended(spank_t spank);

/* bind.c: the cores of the node's tasks, asked for once. */

/* In user_init: memory that the node's tasks share. */
void rc_spank_bind_prepare(void);

/* Call it in task_init of a resolved task: only there its mask is final. The node's
 * first task asks rollcall-map for the places of all. Each task then binds itself, or
 * plans the cores of its workers. Never fails: a task that cannot be bound stays as it
 * is, with a message in result. Returns whether it is bound, or its workers are to be. */
bool rc_spank_bind(spank_t spank, struct rc_context *context, struct rc_result *result);

/* In srun, where rollcall was asked for, before it changes its own environment: marks SLURM_CPU_BIND that another step
 * has left (RC_BIND_LEFT). */
void rc_spank_bind_mark(void);

/* submit.c: in srun, sbatch or salloc, before it reads its options. If a task has called it, removes what rollcall has
 * set there and, if it submits a job, the --ddp of the job that it is called in. */
void rc_spank_submit_begin(bool submits);

/* task.c: task_init. */

/* Runs in the process that becomes the task, as the user. A task that cannot be numbered ends here. */
void rc_spank_task_begin(spank_t spank);

/* In a job's script: takes away what sbatch handed on of a task that rollcall had set up. In that of a job of several
 * tasks whose user asked for rollcall: gives its environment what lets torch say that srun is missing (RC309).
 * Does nothing elsewhere; never fails. */
void rc_spank_batch_begin(spank_t spank);
