/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/resolve.h"
#include "base/pairs.h"

#include "resolve/command.h"
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/steps.h"

/* sbatch in a task passes the task's environment (RANK, MASTER_ADDR, stamp) to the job's script; training there would
 * wait for an ended step. */

static const char left_over[] = "left over from the task that sbatch was called in";

static const char own_names[][28] = {
    RC_STAMP,    RC_OWN,    RC_KEPT_NAME,  RC_ORDERED,   RC_IDENTITY, RC_PINS,       RC_PINNED,
    RC_REPORTED, RC_SERVER, RC_TASK_HOSTS, RC_BIND_LEFT, RC_WISH,     RC_NO_MONITOR, RC_SETTLED,
};

static void forget(struct rc_result *result, struct rc_str name, bool is_submitting)
{
    struct rc_str kept = rc_env_get(&result->env, RC_KEPT_NAME);
    bool is_name = rc_str_is(name, "SLURM_JOB_NAME");

    /* in the job they are Slurm's again */
    if (!rc_plan_owns(&result->env, name) || (!is_submitting && rc_str_starts(name, "SLURM_")))
        return;
    name.p = rc_copy(&result->arena, name); /* must end with a NUL */
    if (is_name && kept.p)
        rc_plan_set(result, name, rc_copy(&result->arena, kept), RC_KEPT_NAME, left_over);
    else
        rc_plan_unset(result, name, left_over);
}

static void forget_all(struct rc_result *result, bool is_submitting)
{
    bool is_typed = rc_planning_is_changed(result, false);
    struct rc_str list = rc_env_get(&result->env, RC_OWN);
    struct rc_str name;
    struct rc_str digest;

    while (rc_pair_next(&list, ' ', &name, &digest))
        if (!is_typed || !rc_planning_is_number(name))
            forget(result, name, is_submitting);
    rc_preloading_forget(result, left_over);
    for (size_t i = 0; i < sizeof(own_names) / sizeof(*own_names); i++)
        rc_plan_unset(result, rc_str(own_names[i]), left_over);
}

void rc_leftover_plan(struct rc_result *result, const char *job)
{
    if (job && result->stamp.scope.p && !rc_stamp_is_in_job(&result->stamp, job))
        forget_all(result, false);
}

void rc_submission_plan(struct rc_result *result)
{
    forget_all(result, true);
}

static void forget_identity(struct rc_result *result)
{
    for (unsigned i = 0; i < RC_FIELD_COUNT; i++)
        result->identity.field[i] = RC_UNKNOWN;
}

static void clear_plan(struct rc_result *result)
{
    result->status = RC_RESOLVED;
    result->master = (struct rc_master){ .addr = NULL };
    result->plan.count = 0;
    result->plan.rejected_count = 0;
    result->plan.full = false;
}

static void clear_result(struct rc_result *result)
{
    /* field by field: clearing it all would cost the preload more than the rest */
    clear_plan(result);
    result->launcher = NULL;
    result->mode = RC_MODE_NONE;
    result->mode_reason = NULL;
    result->ordered = (struct rc_ordered){ .host = RC_ABSENT };
    result->by_node = false;
    result->has_workers = false;
    result->stamp_is_outer = false;
    result->outer_master = NULL;
    result->stamped = false;
    result->messages.arena = &result->arena;
    result->messages.count = 0;
    result->messages.has_error = false;
    rc_facts_init(&result->facts);
    forget_identity(result);
    result->arena = (struct rc_arena){ .base = result->text, .size = sizeof(result->text) };
}

void rc_result_refuse(struct rc_result *result, const char *reason)
{
    clear_plan(result);
    result->status = RC_CONTRADICTION;
    result->mode = RC_MODE_NONE;
    result->mode_reason = reason;
    forget_identity(result);
}

/* Functions that refuse return false. */
static bool refuse_contradiction(struct rc_result *result)
{
    rc_result_refuse(result, "the facts contradict each other");
    /* the message may have lost its text in a full arena */
    rc_plan_fits(result);
    result->messages.has_error = true;
    return false;
}

/* Return the request that needs a launcher; NULL if there is none, or a message explains it. */
static const char *name_wish(const struct rc_context *context, const struct rc_result *result)
{
    const struct rc_messages *messages = &result->messages;

    if (result->command.kind == RC_COMMAND_STARTER ||
        (messages->count && messages->list[messages->count - 1].id == RC128))
        return NULL;
    if (context->options.mode == RC_MODE_WORKER)
        return "worker mode";
    if (context->options.mode == RC_MODE_LAUNCHER)
        return "launcher mode";
    return context->options.nproc ? "nproc=" : NULL;
}

static bool no_task(const struct rc_context *context, struct rc_result *result, enum rc_claim claim)
{
    const char *wish = name_wish(context, result);

    rc_starter_say(context, result);
    if (claim == RC_CLAIM_HALF) {
        result->mode_reason = "half an identity is left alone";
        if (wish && context->options.mode != RC_MODE_AUTO) {
            rc_say(&result->messages, RC119,
                   "%s was asked for, but %s gives only a part of the rank, size and node; "
                   "nothing is set; set the rest too, or leave the mode out",
                   wish, result->launcher->title);
            return refuse_contradiction(result);
        }
    } else if (claim == RC_CLAIM_OUTSIDE) {
        result->mode_reason = "this is a batch script or an interactive shell, not a task of srun";
        rc_say(&result->messages, RC107, "inside %s, but not in a task of a step: nothing is set",
               result->launcher->title);
        if (result->launcher->batch_inherits)
            rc_leftover_plan(result, result->facts.scope);
    } else {
        result->mode_reason = "no launcher was found";
    }
    if (wish && claim != RC_CLAIM_HALF)
        rc_say(&result->messages, RC307,
               "%s was asked for, but this is no task of a launcher; nothing is set; start it with srun or mpirun",
               wish);
    return false;
}

/* Return the mode of this task's stamp, or AUTO. */
static enum rc_mode stamped_mode(const struct rc_stamp *stamp, const struct rc_facts *facts)
{
    if (!rc_stamp_is_of(stamp, facts->scope, facts->field[RC_RANK].value))
        return RC_MODE_AUTO;
    return stamp->mode == RC_STAMP_LAUNCHER ? RC_MODE_LAUNCHER : RC_MODE_WORKER;
}

/* In launcher mode torchrun or Lightning assigns ranks. A derived number of nodes is only for torchrun, with an agent
 * in each task. */
static void forget_numbers(struct rc_result *result)
{
    uint32_t *field = result->identity.field;

    if (result->mode == RC_MODE_LAUNCHER)
        field[RC_RANK] = field[RC_LOCAL_RANK] = field[RC_WORLD_SIZE] = field[RC_LOCAL_WORLD_SIZE] = RC_UNKNOWN;
    else if (result->facts.nnodes_derived)
        field[RC_NNODES] = RC_UNKNOWN;
}

/* The user's mode overrides a guess from a shell's text. */
static void read_command(const struct rc_context *context, struct rc_result *result)
{
    struct rc_command *command = &result->command;

    if (!context->command_read)
        rc_command_read(context->argv, command);
    if (command->is_guess && (context->options.mode != RC_MODE_AUTO || context->options.nproc) &&
        rc_command_starts_tasks(command))
        command->kind = RC_COMMAND_UNKNOWN;
}

/* mpirun in a batch script of `sbatch -m arbitrary` passes that on to its daemons' step. */
static bool refuse_task(const struct rc_context *context, struct rc_result *result)
{
    read_command(context, result);
    if (!rc_command_starts_tasks(&result->command))
        return refuse_contradiction(result);
    result->messages.count = 0;
    result->messages.has_error = false;
    forget_identity(result);
    rc_mode_of_daemon(context, result);
    return false;
}

/* If a script changed the port since, the stamp keeps the task's. */
static const char *make_stamp(struct rc_result *result)
{
    const struct rc_master *master = &result->master;
    const uint32_t *field = result->identity.field;
    uint16_t port = master->port_given == RC_GIVEN_BY_STAMP ? result->stamp.port : master->port;
    bool launcher = result->mode == RC_MODE_LAUNCHER;
    enum rc_stamp_mode mode = launcher ? RC_STAMP_LAUNCHER : result->by_node ? RC_STAMP_BY_NODE : RC_STAMP_WORKER;
    uint32_t told[RC_STAMP_TOLD] = {
        field[RC_RANK],
        field[RC_WORLD_SIZE],
        result->gpus.why ? result->gpus.device : field[RC_LOCAL_RANK],
        field[RC_LOCAL_WORLD_SIZE],
        field[RC_NODE_RANK],
    };

    return rc_stamp_write(&result->arena, result->facts.scope, result->facts.field[RC_RANK].value, mode, port,
                          launcher || result->launcher->by_hand || result->has_workers ? NULL : told, result->outer,
                          result->outer_count);
}

/* Return true for the task's program or a shell before it. Its children may have other ranks. */
static bool is_program(const struct rc_context *context, struct rc_result *result, enum rc_claim claim)
{
    const struct rc_here *here = context->here;

    if (claim == RC_CLAIM_INNERMOST)
        return true;
    if (!rc_seen(context->here, RC_LEARN_ANCESTORS, RC_ABSENT))
        return false;
    for (unsigned i = 0; i < here->ancestor_count; i++) {
        struct rc_str name = rc_ancestor_name(here->ancestor[i]);

        if (rc_str_which(name, result->launcher->processes))
            return true;
        if (!rc_command_starts_another(name))
            return false;
    }
    return false;
}

/* All is set, unless a script has changed the rank. */
static void keep_stamped(const struct rc_context *context, struct rc_result *result, enum rc_claim claim)
{
    result->mode_reason = "set already: this process carries the stamp of its own task";
    result->identity.field[RC_RANK] = result->facts.field[RC_RANK].value;
    result->stamped = true;
    if (rc_planning_is_changed(result, context->called) && (context->called || is_program(context, result, claim)))
        rc_planning_restore(result);
    else
        rc_say(&result->messages, RC303, "the environment was set by rollcall for this task already");
}

/* Return true if this is a task that needs a plan. */
static bool recognise_task(const struct rc_context *context, struct rc_result *result, rc_facts_reader *read)
{
    enum rc_mode stamped;
    enum rc_claim claim;

    clear_result(result);
    if (!context->indexed)
        rc_env_index(&result->env, context->env);
    result->stamp = rc_stamp_read(rc_env_get(&result->env, RC_STAMP));
    if (context->options.mode == RC_MODE_OFF && !context->ignore_stamp) {
        result->mode_reason = "switched off";
        return false;
    }
    claim = rc_nesting_recognise(context, result);
    if (claim == RC_CLAIM_BROKEN)
        return refuse_task(context, result);
    if (claim != RC_CLAIM_TASK && claim != RC_CLAIM_INNERMOST) {
        read_command(context, result);
        if (!rc_single_take(context, claim, result))
            return no_task(context, result, claim);
    }

    stamped = stamped_mode(&result->stamp, &result->facts);
    /* a job of one inherits nothing */
    result->stamp_is_outer = (result->stamp.text.p || result->launcher->alone) && stamped == RC_MODE_AUTO;
    if (stamped != RC_MODE_AUTO && !context->ignore_stamp && !result->launcher->authoritative) {
        result->mode = stamped;
        keep_stamped(context, result, claim);
        return false;
    }
    if (!rc_identity_read(context, result, read))
        return refuse_task(context, result);
    read_command(context, result);
    result->command.is_part = rc_agents_are_part(result);
    if (!rc_mode_decide(context, result))
        return refuse_contradiction(result);
    if (result->mode == RC_MODE_TORCHRUN && context->explain)
        rc_identity_list_rejected(result);
    if (!rc_plan_fits(result))
        return refuse_contradiction(result);
    return result->mode == RC_MODE_WORKER || result->mode == RC_MODE_LAUNCHER;
}

/* vLLM up to 0.23 (platforms/interface.py), and SGLang 0.5.23 with several GPUs a node (custom_all_reduce_utils.py). */
static void say_uuids(struct rc_result *result)
{
    struct rc_str list = rc_env_get(&result->env, "CUDA_VISIBLE_DEVICES");

    if (result->command.told && (rc_str_starts(list, "GPU-") || rc_str_starts(list, "MIG-")))
        rc_say(&result->messages, RC905,
               "CUDA_VISIBLE_DEVICES lists UUIDs, but %pS may accept only indices; rollcall left the list unchanged; "
               "list the GPUs by index if it ends with 'invalid literal for int()'",
               &result->command.name);
}

/* apptainer(1): the variable is the option, "true" or "1". */
static void say_cleared(struct rc_result *result)
{
    const struct rc_command *command = &result->command;
    struct rc_str value = rc_env_either(&result->env, RC_STR("APPTAINER_CLEANENV"), RC_STR("SINGULARITY_CLEANENV"));

    if (command->passing)
        rc_say(&result->messages, RC506, "%pS keeps RANK and all other variables of rollcall from the program; add %s",
               &command->cleared_by,
               result->mode == RC_MODE_WORKER ? command->passing
                                              : "-e NAME for each variable that rollcall show lists");
    else if (command->cleared_by.p)
        rc_say(&result->messages, RC506,
               "%pS %pS keeps RANK and all other variables of rollcall from the program; leave %pS out",
               &command->cleared_by, &command->clearing, &command->clearing);
    else if (rc_str_which(command->container, "apptainer|singularity") && rc_str_which(value, "1|true|TRUE|yes"))
        rc_say(&result->messages, RC506,
               "APPTAINER_CLEANENV=%pS makes %pS keep RANK and all other variables of rollcall from the program; unset "
               "APPTAINER_CLEANENV and SINGULARITY_CLEANENV",
               &value, &command->container);
}

static enum rc_status plan_task(const struct rc_context *context, struct rc_result *result)
{
    bool is_stamped = stamped_mode(&result->stamp, &result->facts) == result->mode;
    bool good = rc_identity_follow_network(context, result) && rc_master_find(context, result) &&
                (result->mode != RC_MODE_WORKER || rc_identity_order(context, result));

    if (good) {
        rc_gpus_decide(context, result);
        say_uuids(result);
        say_cleared(result);
        rc_planning_write(context, result, make_stamp(result), is_stamped);
        good = rc_plan_fits(result) && !result->messages.has_error;
    }
    if (good) {
        if (context->explain)
            rc_identity_list_rejected(result);
        if (context->explain && is_stamped)
            rc_planning_say_changed(result);
        rc_preloading_plan(context, result);
        rc_pinning_plan(context, result);
        rc_nicnames_plan(context, result);
        forget_numbers(result);
        good = rc_plan_fits(result);
    }
    if (!good)
        refuse_contradiction(result);
    return result->status;
}

/* Drop the last plan's messages, and errors of later actions, which were handled. */
static void forget_messages(struct rc_result *result)
{
    struct rc_recognised *recognised = &result->recognised;
    struct rc_messages *messages = &result->messages;

    for (unsigned i = recognised->planned; i < messages->count; i++)
        if (rc_message_entry(messages->list[i].id)->level != RC_LEVEL_ERROR)
            messages->list[recognised->messages++] = messages->list[i];
    messages->count = recognised->messages;
    messages->has_error = false;
}

static void return_to_recognised(struct rc_result *result)
{
    clear_plan(result);
    forget_messages(result);
    result->mode = result->recognised.mode;
    result->mode_reason = result->recognised.mode_reason;
    result->arena.full = false;
    rc_identity_take(result);
}

enum rc_status rc_resolve_again(const struct rc_context *context, struct rc_result *result)
{
    return_to_recognised(result);
    plan_task(context, result);
    result->recognised.planned = result->messages.count;
    return result->status;
}

static enum rc_status resolve(const struct rc_context *context, struct rc_result *result, rc_facts_reader *read)
{
    if (!recognise_task(context, result, read))
        return result->status;
    result->recognised = (struct rc_recognised){
        .mode = result->mode,
        .mode_reason = result->mode_reason,
        .messages = result->messages.count,
        .planned = result->messages.count,
    };
    return rc_resolve_again(context, result);
}

enum rc_status rc_resolve(const struct rc_context *context, struct rc_result *result)
{
    return resolve(context, result, rc_facts_read);
}

enum rc_status rc_resolve_certain(const struct rc_context *context, struct rc_result *result)
{
    return resolve(context, result, rc_facts_read_certain);
}
