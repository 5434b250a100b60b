/* SPDX-License-Identifier: BSD-3-Clause */
#include "resolve/command.h"
#include "resolve/options.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "resolve/steps.h"

/* Adds rollcall's libraries to LD_PRELOAD and its folder to PYTHONPATH. */

#define NAME "LD_PRELOAD"

/* The loader accepts colons and blanks. */
static bool is_border(struct rc_str list, size_t i)
{
    return i >= list.n || list.p[i] == ':' || list.p[i] == ' ';
}

static bool holds_name(struct rc_str list, struct rc_str name)
{
    for (size_t i = 0; i + name.n <= list.n; i++)
        if ((i == 0 || is_border(list, i - 1)) && is_border(list, i + name.n) &&
            rc_str_eq((struct rc_str){ list.p + i, name.n }, name))
            return true;
    return false;
}

/* Append a name to the list, once. Return NULL if it is longer than `most`, or does not fit. */
static const char *add_name(struct rc_result *result, struct rc_str list, struct rc_str name, size_t most)
{
    if (list.n + 1 + name.n > most || !rc_plan_has_room(result, list.n + 1 + name.n))
        return NULL;
    if (!list.n || holds_name(list, name))
        return rc_copy(&result->arena, list.n ? list : name);
    return rc_format(&result->arena, "%pS:%pS", &list, &name);
}

const char *rc_preloading_add(const struct rc_context *context, struct rc_result *result, struct rc_str file,
                              const char *name, const char *source, const char *reason)
{
    enum { LIST_LENGTH_MAX = 2048 };
    const struct rc_plan_entry *planned = rc_plan_find(&result->plan, RC_STR(NAME));
    struct rc_str users = rc_env_get(&result->env, NAME);
    const char *list;

    /* inside the container the file was searched for */
    if (context->contained && !file.n)
        return rc_format(&result->arena, "the container does not see %s", name);
    if (!context->contained && result->command.container.p)
        return rc_format(&result->arena, "a container (%pS) does not see %s", &result->command.container, name);
    if (!file.n)
        return rc_format(&result->arena,
                         "%s is not where it was installed to, or its folder has a colon, blank or dollar in its name",
                         name);
    /* ours is last: the user may have put the runtime first */
    if (!users.n && rc_seen(context->here, RC_LEARN_ASAN, rc_env_get(&result->env, "PATH")) && context->here->asan)
        return "the program needs AddressSanitizer's runtime before all other libraries";
    list = add_name(result, planned && planned->action == RC_SET ? rc_str(planned->value) : users, file,
                    LIST_LENGTH_MAX);
    if (!list)
        return "LD_PRELOAD is too long for one more library";
    rc_plan_set(result, RC_STR(NAME), list, source, reason);
    return NULL;
}

static bool is_ours(struct rc_str file)
{
    struct rc_str name = rc_str_base_name(file);

    return rc_str_is(name, RC_PINS_LIBRARY) || rc_str_is(name, RC_REVERSE_LIBRARY) ||
           rc_str_ends(file, "/rollcall/watch");
}

static void forget_ours(struct rc_result *result, struct rc_str name, const char *borders, const char *reason)
{
    struct rc_str list = rc_env_find(&result->env, name);
    const char *left = rc_copy(&result->arena, RC_STR(""));
    bool is_found = false;

    for (size_t from = 0, to; list.p && from <= list.n; from = to + 1) {
        struct rc_str file = { list.p + from, 0 };

        for (to = from; to < list.n && list.p[to] != borders[0] && list.p[to] != borders[1];)
            to++;
        file.n = to - from;
        if (is_ours(file)) {
            is_found = true;
            continue;
        }
        if (*left) /* with the border before it */
            file = (struct rc_str){ file.p - 1, file.n + 1 };
        rc_join(&result->arena);
        rc_format(&result->arena, "%pS", &file);
    }
    if (is_found && *left)
        rc_plan_set(result, name, left, "rollcall", reason);
    else if (is_found)
        rc_plan_unset(result, name, reason);
}

void rc_preloading_forget(struct rc_result *result, const char *reason)
{
    forget_ours(result, RC_STR(NAME), ": ", reason);
    forget_ours(result, RC_STR("PYTHONPATH"), "::", reason);
}

/* lookup=numeric: a store's server (RANK 0's process, or torchrun) looks up each client in turn, and clients the
 * server: 10 s each if a name server never answers. shim/lookup.c answers torch's getnameinfo() with the address. */

static void plan_reverse(const struct rc_context *context, struct rc_result *result)
{
    const char *why;

    if (context->options.lookup != RC_REVERSE_NUMERIC || !rc_seen(context->here, RC_LEARN_REVERSE, RC_ABSENT))
        return;
    why = rc_preloading_add(context, result, context->here->reverse, RC_REVERSE_LIBRARY, "lookup",
                            "torch's stores take addresses without asking for their names");
    if (why)
        rc_say(&result->messages, RC505,
               "lookup=numeric was asked for, but %s; torch's stores look up names; install all of "
               "rollcall where the tasks see it, or shorten LD_PRELOAD%s",
               why, rc_options_origin(&context->options, RC_KEY_lookup));
}

/* watch: reports a process that joins with a wrong rank.
 *
 * torch from 2.5 loads the entry points "torch.backends" of folders in sys.path after `import torch`. So
 * shim/watch/rollcall_watch.py compares init_process_group's arguments with ROLLCALL_IDENTITY: scripts may change RANK.
 * It also reports a fatal exception to srun's server, and arrivals with watch=SECONDS (rendezvous/server.h). */

#define SWITCH "TORCH_DEVICE_BACKEND_AUTOLOAD"

/* Append to PYTHONPATH, whose order and empty entries stay. The preload has room for twice this path. Return false if
 * it does not fit or is missing. */
static bool set_watch(struct rc_result *result, struct rc_str folder, const char *identity, const char *reason)
{
    enum { PATH_LENGTH_MAX = 4096 };
    const char *path = NULL;

    if (folder.n)
        path = add_name(result, rc_env_get(&result->env, "PYTHONPATH"), folder, PATH_LENGTH_MAX);
    if (!path)
        return false;
    rc_plan_set(result, RC_STR("PYTHONPATH"), path, "watch", "where torch finds the watch, after all other folders");
    rc_plan_set(result, RC_STR(RC_IDENTITY), identity, "watch", reason);
    return true;
}

/* The task's numbers and, with a server, Slurm's for it, as in the roll call. */
static const char *identity_text(struct rc_result *result, bool has_server, bool counts_arrivals)
{
    const uint32_t *field = result->identity.field;
    const struct rc_number *slurms = result->facts.field;
    uint32_t other = slurms[RC_RANK].value;
    const char *text = rc_format(&result->arena, "node=%u nodes=%u", field[RC_NODE_RANK], field[RC_NNODES]);

    if (result->mode == RC_MODE_WORKER) {
        text = rc_format(&result->arena, "rank=%u size=%u %s", field[RC_RANK], field[RC_WORLD_SIZE], text);
        if (!result->master.is_shared)
            text = rc_format(&result->arena, "%s master=%s:%u", text, result->master.addr,
                             (uint32_t)result->master.port);
        if (other == field[RC_RANK])
            other = result->facts.node_order_rank.value;
        if (other != RC_UNKNOWN && other != field[RC_RANK])
            text = rc_format(&result->arena, "%s other=%u", text, other);
    }
    if (!has_server)
        return text;
    return rc_format(&result->arena, "%s task=%u tasks=%u%s", text, slurms[RC_RANK].value, slurms[RC_WORLD_SIZE].value,
                     counts_arrivals ? " arrivals=1" : "");
}

/* Return false, with a warning, if the watch cannot work. */
static bool plan_watch(const struct rc_context *context, struct rc_result *result)
{
    struct rc_str folder = context->here->watch;
    uint32_t seconds = context->options.watch_seconds;
    const char *origin = rc_options_origin(&context->options, RC_KEY_watch);
    struct rc_str loads = rc_env_get(&result->env, SWITCH);
    struct rc_step_server server;
    /* srun's server must be this step's */
    bool is_served = rc_step_server_read(&result->env, &server) &&
                     result->launcher->srun_server == RC_SRUN_SERVER_OWN &&
                     rc_str_is(server.step, result->facts.run_id);

    if (loads.p && !rc_str_is(loads, "1"))
        return rc_say(&result->messages, RC705,
                      "watch was asked for, but " SWITCH "=%pQ keeps torch from loading it; no process is "
                      "watched; unset it, or leave watch out%s",
                      &loads, origin);
    if (!set_watch(result, folder, identity_text(result, is_served, seconds), "what the watch compares with"))
        return rc_say(&result->messages, RC505, "watch was asked for, but %s%s",
                      folder.n ? "PYTHONPATH is too long for one more folder; no process is watched; make it shorter"
                      : context->contained
                          ? "the container does not see its folder share/rollcall/watch; no process is watched; "
                            "mount rollcall's folder into it"
                          : "its folder share/rollcall/watch is not where it was installed to; no process is "
                            "watched; install all of rollcall on this node",
                      origin);
    if (seconds && !is_served)
        rc_say(&result->messages, RC709,
               "watch=%u was asked for, but there is no rendezvous server beside srun; nothing names tasks that do "
               "not reach init_process_group; use srun --ddp=watch=%u without exchange=off and exchange=pmix, or "
               "watch alone%s",
               seconds, seconds, origin);
    return true;
}

void rc_preloading_plan(const struct rc_context *context, struct rc_result *result)
{
    if (context->options.watch != RC_WATCH_ON || !rc_seen(context->here, RC_LEARN_WATCH, RC_ABSENT) ||
        !plan_watch(context, result))
        rc_plan_unset(result, RC_STR(RC_IDENTITY), "left over from a launch further outside");
    plan_reverse(context, result);
}

/* A forgotten srun: a job script runs a command of several tasks once, which hangs (Lightning: "MEMBER: 1/4"). Other
 * commands are checked when torch starts to train (shim/watch). */

static uint32_t number_of(const struct rc_result *result, struct rc_str name)
{
    uint32_t value;

    return rc_parse_u32(rc_env_find(&result->env, name), RC_MAX_TASKS, &value) ? value : 0;
}

/* Return the tasks (or nodes) of the Slurm job if this process is not one and there are several, else 0. */
static uint32_t forgotten_tasks(const struct rc_result *result)
{
    bool is_slurms = !result->launcher || result->launcher->slurm_environment;
    bool is_task = result->status != RC_RESOLVED || result->identity.field[RC_RANK] != RC_UNKNOWN || result->stamped ||
                   result->mode != RC_MODE_NONE;
    uint32_t tasks = number_of(result, RC_STR("SLURM_NTASKS"));

    if (!is_slurms || is_task || !rc_env_get(&result->env, "SLURM_JOB_ID").n)
        return 0;
    if (!tasks)
        tasks = number_of(result, RC_STR("SLURM_NPROCS")); /* scripts remove SLURM_NTASKS for Lightning */
    if (!tasks)
        tasks = number_of(result, RC_STR("SLURM_JOB_NUM_NODES"));
    return tasks > 1 ? tasks : 0;
}

/* torchrun needs no srun on one node or with --standalone, a server none if Ray or the script starts the others. */
static bool waits_for_nodes(const struct rc_result *result)
{
    const struct rc_command *command = &result->command;

    if (command->told ? rc_str_is(command->given.backend, "ray") || command->given.node_rank.p
                      : !command->torchrun && !command->accelerate)
        return false;
    return !command->given.standalone && !rc_str_is(command->given.nnodes, "1") &&
           number_of(result, RC_STR("SLURM_JOB_NUM_NODES")) > 1;
}

/* Replace RC307 by RC309, which has the line to type. */
static void say_forgotten(struct rc_messages *messages, const char *text)
{
    for (unsigned i = 0; i < messages->count; i++)
        if (messages->list[i].id == RC307)
            messages->list[i--] = messages->list[--messages->count];
    rc_message_add(messages, RC309, text);
}

void rc_forgotten_say(const struct rc_context *context, struct rc_result *result)
{
    uint32_t tasks = forgotten_tasks(result);
    const char *line;
    const char *end; /* ends the step when a task fails */

    if (!context->argv)
        return;
    if (!context->command_read)
        rc_command_read(context->argv, &result->command);
    if (!tasks)
        return;
    line = rc_command_write(context->argv, NULL, RC_ABSENT, &result->arena);
    end = rc_command_goes_on(&result->command) ? "" : "-K ";
    if (result->command.told)
        line = rc_format(&result->arena, "sh -c '%s %s'", line, result->command.told);
    if (waits_for_nodes(result))
        say_forgotten(&result->messages,
                      rc_format(&result->arena,
                                "%pS is started once, in the job's script itself, but the job has %u nodes; the others "
                                "start none; start it with srun: srun %s--ntasks-per-node=1 rollcall exec -- %s",
                                &result->command.name, number_of(result, RC_STR("SLURM_JOB_NUM_NODES")), end, line));
    else if (!result->command.script.n || rc_str_which(result->command.script, "pip|venv|ensurepip"))
        return;
    /* Lightning starts its ranks there; torch reports a missing start */
    else if (rc_is_interactive(rc_env_get(&result->env, "SLURM_JOB_NAME")))
        rc_forgotten_plan(context, result);
    else
        say_forgotten(&result->messages,
                      rc_format(&result->arena,
                                "%pS is started once, in the job's script itself, but the job has %u tasks, which "
                                "training waits for; start it with srun: srun -K rollcall exec -- %s",
                                &result->command.script, tasks, line));
}

void rc_forgotten_plan(const struct rc_context *context, struct rc_result *result)
{
    struct rc_str job = rc_env_get(&result->env, "SLURM_JOB_ID");
    uint32_t tasks = forgotten_tasks(result);

    if (tasks && rc_seen(context->here, RC_LEARN_WATCH, RC_ABSENT))
        set_watch(result, context->here->watch,
                  rc_format(&result->arena, "script=%pS tasks=%u%s", &job, tasks, context->called ? " exec=1" : ""),
                  "torch reports there that srun is missing");
}
