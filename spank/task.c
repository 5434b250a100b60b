/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <slurm/slurm.h>
#include <unistd.h>

#include "effects/look.h"
#include "node.h"
#include "spank.h"
#include "system/gpufiles.h"
#include "system/net.h"
#include "system/port.h"
#include "system/program.h"

/* log=json in plugstack.conf: one line a step in slurmd's log, by RANK 0's task, or by the task that prints an error.
 * It has numbers, node names and message ids, but no message's text, which may quote a user's values.
 *
 *   rollcall: {"event":"step","version":"0.1.0","job":42,"step":0,"node":"n1","outcome":"set",
 *   "mode":"worker","tasks":4,"nodes":2,"master_addr":"n1","master_port":23456,"messages":["RC301"]} */

enum { LINE_SIZE = 1024, NAME_MAX_LENGTH = 255 };

/* Copy a host's name or address; replace characters that could end a string or a line by '?'. */
static const char *plain_name(struct rc_str text, struct rc_arena *arena)
{
    char name[NAME_MAX_LENGTH + 1];
    size_t n = text.n < NAME_MAX_LENGTH ? text.n : NAME_MAX_LENGTH;

    for (size_t i = 0; i < n; i++)
        name[i] = rc_is_in_name(text.p[i]) || text.p[i] == ':' ? text.p[i] : '?';
    name[n] = '\0';
    return rc_format(arena, "%s", name);
}

/* "RC301","RC911": errors, warnings and notes. */
static const char *list_ids(const struct rc_messages *messages, struct rc_arena *arena)
{
    const char *list = rc_copy(arena, RC_STR(""));

    for (unsigned i = 0; i < messages->count; i++) {
        rc_join(arena);
        rc_format(arena, "%s\"%s\"", i ? "," : "", rc_message_entry(messages->list[i].id)->id);
    }
    return list;
}

static const char *format_count(uint32_t number, struct rc_arena *arena)
{
    return number != RC_UNKNOWN && number > 0 ? rc_format(arena, "%u", number) : "null";
}

static void log_step(const struct rc_result *result, const struct rc_messages *messages, bool set)
{
    char text[LINE_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    uint32_t job, step;
    const char *node, *master, *ids, *tasks, *nodes;

    if (!rc_spank_logs_steps() || !rc_parse_u32(rc_env_get(&result->env, "SLURM_JOB_ID"), UINT32_MAX, &job) ||
        !rc_parse_u32(rc_env_get(&result->env, "SLURM_STEP_ID"), UINT32_MAX, &step))
        return;
    node = plain_name(rc_env_get(&result->env, "SLURMD_NODENAME"), &arena);
    master = plain_name(rc_str(set && result->master.addr ? result->master.addr : ""), &arena);
    tasks = format_count(result->facts.field[RC_WORLD_SIZE].value, &arena);
    nodes = format_count(result->facts.field[RC_NNODES].value, &arena);
    ids = list_ids(messages, &arena);
    slurm_info("rollcall: {\"event\":\"step\",\"version\":\"%s\",\"job\":%u,\"step\":%u,\"node\":\"%s\","
               "\"outcome\":\"%s\",\"mode\":\"%s\",\"tasks\":%s,\"nodes\":%s,\"master_addr\":\"%s\","
               "\"master_port\":%u,\"messages\":[%s]}",
               PACKAGE_VERSION, job, step, node, set ? "set" : "refused", rc_mode_name(result->mode), tasks, nodes,
               master, (unsigned)result->master.port, ids);
}

/* Print the first error, once a step or once a node (messages.def). Return false if another task prints it. */
static bool report_error(spank_t spank, const struct rc_messages *messages)
{
    const struct rc_spank_step *step = rc_spank_step();
    const struct rc_message *error = rc_messages_error(messages);
    bool everywhere = !error || rc_message_entry(error->id)->said == RC_SAID_PER_LAUNCH;

    if ((everywhere && !step->first_node) || !rc_spank_step_speaks(spank))
        return false;
    if (!error) /* the message did not fit into the list */
        rc_spank_say(RC_LEVEL_ERROR, RC502, "the environment is too large to be read; nothing is set");
    else if (everywhere)
        rc_spank_say(RC_LEVEL_ERROR, error->id, error->text);
    else
        rc_spank_say_alike(&rc_spank_result()->env, error->id, error->text);
    return true;
}

/* In RANK 0's task print warnings, and with ROLLCALL_DEBUG notes, the mode and the master's address. */
static void report_warnings(const struct rc_result *result)
{
    const struct rc_spank_step *step = rc_spank_step();
    const struct rc_master *master = &result->master;
    uint32_t debug = rc_debug_level(rc_env_get(&result->env, RC_DEBUG));

    if (!rc_spank_is_first(&result->env))
        return;
    for (unsigned i = 0; i < result->messages.count; i++) {
        enum rc_message_id id = result->messages.list[i].id;
        const struct rc_message_entry *entry = rc_message_entry(id);

        if (entry->level == RC_LEVEL_ERROR)
            continue;
        if (entry->said == RC_SAID_PER_NODE && entry->level == RC_LEVEL_WARNING)
            rc_spank_say_alike(&result->env, id, result->messages.list[i].text);
        else if (debug || entry->level == RC_LEVEL_WARNING)
            rc_spank_say(entry->level, id, result->messages.list[i].text);
    }
    if (debug)
        slurm_spank_log("rollcall: %s mode: %s", rc_mode_name(result->mode),
                        *step->reason ? step->reason : result->mode_reason);
    if (debug && master->addr)
        slurm_spank_log("rollcall: master address %s (%s), port %u (%s)", master->addr, master->addr_source,
                        (unsigned)master->port, master->port_source);
}

enum { TEXT_SIZE = 4608 };

static bool is_asked_for(const struct rc_env *env, struct rc_options *options)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages wrong = { .arena = &arena };
    bool understood = rc_spank_asked(rc_env_get(env, "ROLLCALL"), false, options, &wrong);

    options->addr = NULL;
    return understood && options->given && options->mode != RC_MODE_OFF && options->mode != RC_MODE_ALONE &&
           options->watch != RC_WATCH_OFF;
}

static enum rc_status resolve(struct rc_context *context, struct rc_result *result)
{
    static struct rc_here_storage node;

    node.only = RC_LEARN_WATCH | RC_LEARN_REVERSE | RC_LEARN_GPU_FILES | RC_LEARN_GPUS | RC_LEARN_PORT | RC_LEARN_ASAN;
    node.watch_relative = ROLLCALL_WATCH_FROM_PLUGIN;
    node.libraries_relative = ROLLCALL_PRELOAD_FROM_PLUGIN;
    node.find_gpu_files = rc_device_files_find;
    node.needs_asan = rc_program_needs_asan;
    rc_here_begin(context, &node);
    return rc_resolve_certain(context, result);
}

void rc_spank_batch_begin(spank_t spank)
{
    struct rc_result *result = rc_spank_result();
    struct rc_context context = { .env = rc_spank_environment(spank) };
    struct rc_str job;
    uint32_t step;
    bool asked;

    if (!context.env || !rc_spank_number(spank, S_JOB_STEPID, &step) || step != SLURM_BATCH_SCRIPT)
        return;
    rc_env_index(&result->env, context.env);
    asked = is_asked_for(&result->env, &context.options);
    if (!asked && !rc_env_get(&result->env, RC_STAMP).p)
        return;
    /* a script that was submitted from a task inherits that task's identity */
    context.options.mode = RC_MODE_OFF;
    if (resolve(&context, result) != RC_RESOLVED)
        return;
    job = rc_env_get(&result->env, "SLURM_JOB_ID");
    if (job.n)
        rc_leftover_plan(result, rc_format(&result->arena, "slurm:%pS", &job));
    if (asked)
        rc_forgotten_plan(&context, result); /* RC309 */
    rc_spank_apply(spank, &result->plan);
}

struct task {
    spank_t spank;
    struct rc_context context;
    struct rc_result *result;
    struct rc_rank0 rank0;
    int held;       /* the descriptor of RANK 0's port, or -1 */
    uint32_t files; /* the limit of open files that RANK 0 needs; 0: as it is */
};

static _Noreturn void give_up(struct task *task, const struct rc_messages *messages)
{
    bool spoke = report_error(task->spank, messages);

    rc_spank_meet_finish();
    if (spoke)
        log_step(rc_spank_result(), messages, false);
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

static void describe_task(struct task *task)
{
    const struct rc_spank_step *step = rc_spank_step();

    task->result = rc_spank_result();
    task->context = (struct rc_context){
        .env = rc_spank_environment(task->spank),
        .indexed = true,
        .argv = rc_spank_command(task->spank),
        .command_read = true, /* by rc_spank_step_begin */
        .options = step->options,
        .pid = (uint32_t)getpid(),
        .contained = rc_spank_outside_is_elsewhere(),
        .slurm_certain = true,
        .decided_mode = step->mode,
        .step_gpus = step->gpus,
    };
    rc_env_index(&task->result->env, task->context.env);
    task->context.slurm_het = has_components(task->spank, &task->result->env);
    task->rank0 = (struct rc_rank0){
        .outcome = "nothing was set",
        .is_elsewhere = rc_spank_step_is_elsewhere,
        .name_owner = rc_port_owner,
    };
}

static bool resolve_task(struct task *task)
{
    enum rc_status status = resolve(&task->context, task->result);

    task->rank0.node = rc_env_get(&task->result->env, "SLURMD_NODENAME");
    if (status != RC_RESOLVED)
        rc_spank_meet_not(task->spank, task->result);
    return status == RC_RESOLVED;
}

static bool find_master(struct task *task)
{
    return !rc_lookup_is_needed(task->result) ||
           rc_lookup_apply(&task->context, task->result, rc_spank_step_lookup(task->result));
}

/* In RANK 0's task, unless the exchange holds the port. */
static bool hold_port(struct task *task)
{
    struct rc_result *result = task->result;

    if (!rc_rank0_verify(result, &task->rank0) || (task->held < 0 && !rc_rank0_hold(result, &task->rank0, &task->held)))
        return false;
    task->files = rc_rank0_raise_limit(result);
    return true;
}

#define LIMIT "SLURM_RLIMIT_NOFILE"

/* After the plugins slurmstepd sets the limit of the shell that called srun (22.05 to 26.05 src/slurmd/slurmstepd/
 * ulimits.c, _set_limit), and then removes the variable. U: with --propagate. NULL if that is high enough. */
static const char *raise_propagated(struct task *task)
{
    struct rc_str now = rc_env_get(&task->result->env, LIMIT);
    bool is_asked = rc_str_starts(now, "U");
    uint64_t limit;

    if (is_asked)
        now = (struct rc_str){ now.p + 1, now.n - 1 };
    if (!rc_parse_u64(now, UINT64_MAX, &limit) || limit >= task->files)
        return NULL;
    return rc_format(&task->result->arena, is_asked ? "U%u" : "%u", task->files);
}

static bool apply_plan(struct task *task)
{
    struct rc_result *result = task->result;
    bool first = rc_spank_is_first(&result->env);
    const char *failed, *limit;

    rc_plan_own(result);
    limit = raise_propagated(task);
    failed = rc_spank_apply(task->spank, &result->plan);
    if (failed)
        return rc_say(&result->messages, RC503,
                      "%s could not be put into the task's environment; nothing is set; unset large "
                      "variables of the job",
                      failed);
    if (limit)
        spank_setenv(task->spank, LIMIT, limit, 1);
    /* the environment block has moved, and replaced entries are freed */
    rc_env_index(&result->env, first ? rc_spank_environment(task->spank) : NULL);
    if (first)
        log_step(result, &result->messages, true);
    return true;
}

/* The first node reports srun's binding, each node its slurmd's. */
static void say_short(spank_t spank, const struct rc_context *context, const struct rc_result *result)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const struct rc_spank_step *step = rc_spank_step();
    struct rc_bound bound = { .by = step->bound_by };
    const char *why;

    if (result->facts.field[RC_LOCAL_RANK].value != 0 || !rc_spank_number(spank, S_STEP_CPUS_PER_TASK, &bound.each) ||
        (!step->first_node && bound.by == RC_BOUND_BY_LEFTOVER))
        return;
    if (!step->first_node)
        bound.each = UINT32_MAX;
    why = rc_binding_short(result, &bound, &arena);
    if (why)
        rc_spank_say_alike(&result->env, RC915, why);
    else if (step->first_node && (why = rc_binding_crowded(context, result, &arena)))
        rc_spank_say(RC_LEVEL_WARNING, RC916, why);
}

static void report_interfaces(const struct rc_result *result)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *why = result->facts.field[RC_LOCAL_RANK].value == 0 ? rc_lookup_interfaces(result, &arena) : NULL;

    if (why)
        rc_spank_say_alike(&result->env, RC425, why);
}

void rc_spank_task_begin(spank_t spank)
{
    const struct rc_spank_step *step = rc_spank_step();
    struct task task = { .spank = spank, .held = -1 };

    rc_spank_step_begin(spank);
    if (!step->options.given)
        return;
    describe_task(&task);
    /* with srun --export=ROLLCALL=off srun's server still expects a call of each node */
    if (!step->active) {
        rc_spank_meet_not(spank, task.result);
        return;
    }
    rc_spank_ending_begin(&step->options, &task.result->env, &task.result->command);
    if (!step->understood) {
        rc_spank_meet_not(spank, task.result);
        give_up(&task, &step->wrong);
    }
    if (!resolve_task(&task) || !rc_spank_meet(spank, &task.context, task.result, &task.rank0, &task.held) ||
        !find_master(&task) || !hold_port(&task))
        give_up(&task, &task.result->messages);
    if (!rc_spank_bind(spank, &task.context, task.result))
        say_short(spank, &task.context, task.result);
    report_interfaces(task.result);
    report_warnings(task.result);
    if (!apply_plan(&task))
        give_up(&task, &task.result->messages);
}
