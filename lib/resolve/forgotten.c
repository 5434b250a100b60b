/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/forgotten.h"

#include "resolve/watch.h"

enum { LINE_MAX = 200 };

static uint32_t number_of(const struct rc_result *result, struct rc_str name)
{
    uint32_t value;

    return rc_parse_u32(rc_env_find(&result->env, name), RC_MAX_TASKS, &value) ? value : 0;
}

static uint32_t nodes_of_job(const struct rc_result *result)
{
    return number_of(result, RC_STR("SLURM_JOB_NUM_NODES"));
}

uint32_t rc_forgotten_tasks(const struct rc_result *result)
{
    bool is_slurms = !result->launcher || result->launcher->slurm_environment;
    bool is_task = result->status != RC_RESOLVED || result->identity.field[RC_RANK] != RC_UNKNOWN || result->stamped ||
                   result->mode != RC_MODE_NONE;
    uint32_t tasks = number_of(result, RC_STR("SLURM_NTASKS"));

    if (!is_slurms || is_task || !rc_env_get(&result->env, "SLURM_JOB_ID").n)
        return 0;
    if (!tasks)
        tasks = nodes_of_job(result);
    return tasks > 1 ? tasks : 0;
}

static bool is_plain(struct rc_str word)
{
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];

        if (c <= ' ' || c >= 0x7f || c == '\'' || c == '"' || c == '$' || c == '`' || c == '\\' || c == ';' ||
            c == '&' || c == '|' || c == '<' || c == '>' || c == '(' || c == ')' || c == '*' || c == '?' || c == '#')
            return false;
    }
    return word.n != 0;
}

/* The command as one types it, as far as it needs no quotes. */
static const char *command_line(struct rc_result *result, const char *const *argv)
{
    const char *line = rc_format(&result->arena, "%s", argv[0]);
    size_t length = rc_str(argv[0]).n;

    for (argv++; *argv; argv++) {
        struct rc_str word = rc_str(*argv);
        bool fits = is_plain(word) && length + word.n < LINE_MAX;

        rc_join(&result->arena);
        rc_format(&result->arena, fits ? " %s" : " ...", *argv);
        if (!fits)
            break;
        length += word.n + 1;
    }
    return line;
}

/* Python's own modules that prepare. */
static bool only_prepares(struct rc_str module)
{
    return rc_str_is(module, "pip") || rc_str_is(module, "venv") || rc_str_is(module, "ensurepip");
}

/* torchrun needs no srun on one node (its workers are all there), nor where each node trains by itself. */
static bool waits_for_nodes(const struct rc_result *result)
{
    const struct rc_command *command = &result->command;

    return (command->torchrun || command->accelerate) && !command->given.standalone &&
           !rc_str_is(command->given.nnodes, "1") && nodes_of_job(result) > 1;
}

void rc_forgotten_say(const struct rc_context *context, struct rc_result *result)
{
    uint32_t tasks = rc_forgotten_tasks(result);
    const char *line;

    if (!tasks || !context->argv)
        return;
    if (!context->command_read)
        rc_command_read(context->argv, &result->command);
    line = command_line(result, context->argv);
    if (waits_for_nodes(result))
        rc_message_add(&result->messages, RC309,
                       rc_format(&result->arena,
                                 "%S is started once, in the job's script itself, but the job has %u nodes; the others "
                                 "start none; start it with srun: srun --ddp --ntasks-per-node=1 %s",
                                 &result->command.name, nodes_of_job(result), line));
    else if (result->command.script.n && !only_prepares(result->command.script))
        rc_message_add(&result->messages, RC309,
                       rc_format(&result->arena,
                                 "%S is started once, in the job's script itself, but the job has %u tasks, which "
                                 "training waits for; start it with srun: srun --ddp %s",
                                 &result->command.script, tasks, line));
}

void rc_forgotten_plan(const struct rc_context *context, struct rc_result *result)
{
    struct rc_str folder = context->here ? context->here->watch : RC_ABSENT;
    struct rc_str job = rc_env_get(&result->env, "SLURM_JOB_ID");
    uint32_t tasks = rc_forgotten_tasks(result);
    const char *path = tasks && folder.n ? rc_watch_path(result, folder) : NULL;

    if (!path)
        return;
    rc_plan_set(result, RC_STR("PYTHONPATH"), path, "watch", "where torch finds the watch, behind all other folders");
    rc_plan_set(result, RC_STR(RC_IDENTITY), rc_format(&result->arena, "script=%S tasks=%u", &job, tasks), "watch",
                "torch says there that srun was forgotten");
}
