/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/mode.h"

#include "launcher/registry.h"

static void set_mode(struct rc_result *result, enum rc_mode mode, const char *reason)
{
    result->mode = mode;
    result->mode_reason = reason;
}

/* The most tasks that any node has, as far as this one can know. */
static uint32_t most_tasks(const struct rc_result *result)
{
    if (result->facts.max_local_size != RC_UNKNOWN)
        return result->facts.max_local_size;
    return result->identity.field[RC_LOCAL_WORLD_SIZE];
}

static bool launcher_mode(struct rc_result *result, const char *reason, const char *asked)
{
    uint32_t tasks = most_tasks(result);
    const char *each = result->launcher->each;

    if (tasks == 1) {
        set_mode(result, RC_MODE_LAUNCHER, reason);
        return true;
    }
    rc_message_add(&result->messages, RC302,
                   rc_format(&result->arena,
                             "%s needs one task a node, but a node has %u; nothing is set; use one on each%s%s%s, or "
                             "--ddp=worker",
                             asked, tasks, each[0] ? " (" : "", each, each[0] ? ")" : ""));
    return false;
}

static void by_counts(struct rc_result *result)
{
    const struct rc_number *gpus = &result->facts.gpus;
    uint32_t tasks = most_tasks(result);
    bool several_gpus = gpus->value != RC_UNKNOWN && gpus->value > 1;

    if (tasks == 1 && several_gpus)
        set_mode(result, RC_MODE_LAUNCHER,
                 rc_format(&result->arena, "one task a node and %u GPUs for it (%s)", gpus->value, gpus->source));
    else if (result->identity.field[RC_WORLD_SIZE] == 1)
        set_mode(result, RC_MODE_NONE, "one task, and no more than one GPU");
    else if (tasks == 1)
        set_mode(result, RC_MODE_WORKER, "one task a node, with no more than one GPU each");
    else
        set_mode(result, RC_MODE_WORKER, rc_format(&result->arena, "up to %u tasks on a node", tasks));
}

void rc_mode_of_daemon(struct rc_result *result)
{
    set_mode(
        result, RC_MODE_NONE,
        rc_format(&result->arena, "%S starts the tasks itself and must not pass on a rank", &result->command.name));
}

bool rc_mode_decide(const struct rc_context *context, struct rc_result *result)
{
    const struct rc_command *command = &result->command;
    const struct rc_options *options = &context->options;

    if (result->launcher->authoritative) {
        set_mode(result, RC_MODE_TORCHRUN, "torchrun started this process and has numbered it");
    } else if (options->mode == RC_MODE_OFF) {
        set_mode(result, RC_MODE_NONE, "switched off");
    } else if (command->kind == RC_COMMAND_DAEMON) {
        rc_mode_of_daemon(result);
    } else if (options->mode == RC_MODE_WORKER) {
        set_mode(result, RC_MODE_WORKER, "asked for");
    } else if (options->mode == RC_MODE_LAUNCHER) {
        return launcher_mode(result, "asked for", "launcher mode");
    } else if (context->decided_mode != RC_MODE_AUTO) {
        set_mode(result, context->decided_mode, "decided for the node");
    } else if (rc_env_get(&result->env, "SUBMITIT_EXECUTOR").p) {
        /* submitit's TorchDistributedEnvironment raises an error where one of the names is set */
        set_mode(result, RC_MODE_NONE, "submitit sets the variables itself");
    } else if (command->kind == RC_COMMAND_LAUNCHER) {
        return launcher_mode(result, rc_format(&result->arena, "the command is %S", &command->name),
                             rc_copy(&result->arena, command->name));
    } else if (options->nproc) {
        return launcher_mode(result, "nproc= was given", "nproc=");
    } else {
        by_counts(result);
    }
    return true;
}
