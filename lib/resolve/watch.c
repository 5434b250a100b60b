/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/watch.h"

#include "base/stepserver.h"

#define SWITCH "TORCH_DEVICE_BACKEND_AUTOLOAD"

/* What does not fit would be a reason to set nothing at all, and a watch is none:
 * the preload has room for twice this path, and others write to arena and plan
 * behind it. */
enum { PATH_LENGTH_MAX = 4096, ARENA_LEFT = 4096, ENTRIES_LEFT = 8 };

static bool holds_folder(struct rc_str path, struct rc_str folder)
{
    while (path.p)
        if (rc_str_eq(rc_str_split(path, ':', &path), folder))
            return true;
    return false;
}

/* Behind the user's own folders, whose order and empty places stay. Python takes
 * an empty PYTHONPATH for none at all. NULL where it does not fit. */
const char *rc_watch_path(struct rc_result *result, struct rc_str folder)
{
    struct rc_str now = rc_env_get(&result->env, "PYTHONPATH");

    if (now.n + 1 + folder.n > PATH_LENGTH_MAX ||
        result->arena.used + now.n + folder.n + ARENA_LEFT > result->arena.size ||
        result->plan.count + ENTRIES_LEFT > RC_PLAN_MAX)
        return NULL;
    if (!now.n || holds_folder(now, folder))
        return rc_format(&result->arena, "%S", now.n ? &now : &folder);
    return rc_format(&result->arena, "%S:%S", &now, &folder);
}

/* Whether srun's rendezvous server, if there is one, is this very step's. */
static bool has_server(const struct rc_result *result)
{
    struct rc_step_server server;

    return rc_step_server_read(&result->env, &server) && result->launcher->srun_server == RC_SRUN_SERVER_OWN &&
           rc_str_is(server.step, result->facts.run_id);
}

/* Slurm's own number for it: the roll call names tasks so. */
static const char *with_task(struct rc_result *result, const char *text)
{
    const struct rc_number *field = result->facts.field;

    return rc_format(&result->arena, "%s task=%u tasks=%u", text, field[RC_RANK].value, field[RC_WORLD_SIZE].value);
}

/* The task's numbers, but for that. */
static const char *identity_text(struct rc_result *result)
{
    const uint32_t *field = result->identity.field;
    uint32_t other = result->facts.field[RC_RANK].value;
    const char *text = rc_format(&result->arena, "node=%u nodes=%u", field[RC_NODE_RANK], field[RC_NNODES]);

    if (result->mode != RC_MODE_WORKER)
        return text;
    text = rc_format(&result->arena, "rank=%u size=%u %s", field[RC_RANK], field[RC_WORLD_SIZE], text);
    if (other == field[RC_RANK])
        other = result->facts.node_order_rank.value;
    if (other == RC_UNKNOWN || other == field[RC_RANK])
        return text;
    return rc_format(&result->arena, "%s other=%u", text, other);
}

/* False, with a warning, where the watch cannot work. */
static bool plan_watch(const struct rc_context *context, struct rc_result *result)
{
    struct rc_str folder = context->here->watch;
    uint32_t seconds = context->options.watch_seconds;
    struct rc_str loads = rc_env_get(&result->env, SWITCH);
    const char *path;
    const char *who;

    if (loads.p && !rc_str_is(loads, "1")) {
        rc_message_add(&result->messages, RC705,
                       rc_format(&result->arena,
                                 "watch was asked for, but " SWITCH "=%q keeps torch from loading it; no process is "
                                 "watched; unset it, or leave watch out",
                                 &loads));
        return false;
    }
    path = folder.n ? rc_watch_path(result, folder) : NULL;
    if (!path) {
        rc_message_add(
            &result->messages, RC706,
            context->contained && !folder.n
                ? "watch was asked for, but the container does not see its folder share/rollcall/watch; no process "
                  "is watched; mount rollcall's folder into it"
            : folder.n ? "watch was asked for, but PYTHONPATH is too long for one more folder; no process is watched; "
                         "make it shorter"
                       : "watch was asked for, but its folder share/rollcall/watch is not where it was "
                         "installed to; no process is watched; install all of rollcall on this node");
        return false;
    }
    who = identity_text(result);
    if (seconds && has_server(result))
        who = with_task(result, who);
    else if (seconds)
        rc_message_add(
            &result->messages, RC709,
            rc_format(
                &result->arena,
                "watch=%u was asked for, but there is no rendezvous server beside srun; nothing names tasks that do "
                "not reach init_process_group; use srun --ddp=watch=%u without exchange=off and exchange=pmix, or "
                "watch alone",
                seconds, seconds));
    rc_plan_set(result, RC_STR("PYTHONPATH"), path, "watch", "where torch finds the watch, behind all other folders");
    rc_plan_set(result, RC_STR(RC_IDENTITY), who, "watch", "what the watch compares with");
    return true;
}

void rc_watch_plan(const struct rc_context *context, struct rc_result *result)
{
    if (context->options.watch != RC_WATCH_ON || !rc_result_learned(context, result, RC_LEARN_WATCH) ||
        !plan_watch(context, result))
        rc_plan_unset(result, RC_STR(RC_IDENTITY), "left over from a launch further outside");
}
