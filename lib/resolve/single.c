/* SPDX-License-Identifier: BSD-3-Clause */
/* single.c - makes a process without a launcher a job of one, if its user called rollcall. */
#include "resolve/steps.h"

static unsigned find_single(void)
{
    unsigned index = 0;

    while (!rc_launcher_at(index)->single)
        index++;
    return index;
}

static bool is_job_of_one(const struct rc_result *result)
{
    bool is_told = false;

    for (const struct rc_variable *v = result->launcher->variables; v->length; v++) {
        struct rc_str value = rc_env_find(&result->env, rc_variable_name(v));
        bool is_size = v->field == RC_WORLD_SIZE || v->field == RC_NNODES;

        if (is_size && value.n && !rc_str_is(value, "1"))
            return false;
        is_told = is_told || is_size;
    }
    return is_told;
}

/* A size of 1 does not number the process, nor 0 in a job of one task, as in a step of an interactive shell. */
static bool is_number(const struct rc_env *env, struct rc_str name, enum rc_field field, bool in_job)
{
    struct rc_str value = rc_env_find(env, name);
    bool is_size = field == RC_WORLD_SIZE || field == RC_NNODES;

    return field != RC_LOCAL_WORLD_SIZE && value.n && !(is_size && rc_str_is(value, "1")) &&
           !(in_job && rc_str_is(value, "0"));
}

/* Return a variable of another launcher, or a script's number of a machine, or RC_ABSENT. Ignore the job `outside`. */
static struct rc_str find_number(const struct rc_env *env, const struct rc_launcher *outside)
{
    static const struct {
        char name[20];
        enum rc_field field;
    } others[] = {
        /* scripts, DeepSpeed and Accelerate */
        { "NODE_RANK", RC_NODE_RANK },
        { "MACHINE_RANK", RC_NODE_RANK },
        { "CROSS_RANK", RC_NODE_RANK },
        { "NNODES", RC_NNODES },
        /* launchers of no family: jsrun, MVAPICH, Platform MPI, ALPS, Horovod */
        { "JSM_NAMESPACE_RANK", RC_RANK },
        { "MV2_COMM_WORLD_RANK", RC_RANK },
        { "MPI_RANKID", RC_RANK },
        { "ALPS_APP_PE", RC_RANK },
        { "HOROVOD_RANK", RC_RANK },
    };

    for (unsigned i = 0; i < RC_LAUNCHER_COUNT; i++)
        for (const struct rc_variable *v = rc_launcher_at(i)->variables; v->length; v++)
            if (rc_launcher_at(i) != outside && is_number(env, rc_variable_name(v), (enum rc_field)v->field, outside))
                return rc_variable_name(v);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (is_number(env, rc_str(others[i].name), others[i].field, outside))
            return rc_str(others[i].name);
    return RC_ABSENT;
}

/* torchrun needs no launcher, only nproc=. If it names its nodes, there are more. */
static bool is_agent(const struct rc_context *context, const struct rc_command *command)
{
    const struct rc_command_options *given = &command->given;

    return context->options.nproc && (command->torchrun || command->accelerate) && !given->node_rank.p &&
           !given->master_addr.p && !given->endpoint.p && (!given->nnodes.p || rc_str_is(given->nnodes, "1"));
}

bool rc_single_take(const struct rc_context *context, enum rc_claim claim, struct rc_result *result)
{
    struct rc_reader reader = rc_reader_of(context, result);
    unsigned single = find_single();
    bool is_possible = claim == RC_CLAIM_ABSENT || (claim == RC_CLAIM_OUTSIDE && is_job_of_one(result));
    /* from the task that submitted this job, or an outer job of one */
    bool is_stale = result->stamp.text.n &&
                    (claim == RC_CLAIM_OUTSIDE || rc_launcher_has_scope(rc_launcher_at(single), result->stamp.scope));

    /* for the library, after a rollcall that made this a job of one */
    bool is_again = context->ignore_stamp && !context->called && result->stamp.told.p &&
                    rc_launcher_has_scope(rc_launcher_at(single), result->stamp.scope) &&
                    !rc_planning_is_changed(result, true);
    bool starts_workers = result->command.kind != RC_COMMAND_UNKNOWN;
    /* the numbers of an outer rollcall stay */
    bool is_said = context->called ? !result->stamp.text.p : context->options.mode != RC_MODE_AUTO;
    struct rc_str number = RC_ABSENT;

    if (!is_possible || (!is_again && starts_workers && !is_agent(context, &result->command)))
        return false;
    /* the preload gets here in each process and must not search the environment */
    if (!is_again && !context->called && !is_said)
        return false;
    if (!is_again && !is_stale)
        number = find_number(&result->env, result->launcher);
    if (number.p && is_said)
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
    if (claim == RC_CLAIM_ABSENT && !is_again && !starts_workers)
        rc_say(&result->messages, RC311,
               "no launcher started this process, so it is a job of one process; start all processes of a larger job "
               "with srun or mpirun%s",
               context->options.nproc ? "" : "; a script that starts its N processes itself needs --ddp=nproc=N");
    return true;
}
