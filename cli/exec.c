/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "effects/binding.h"
#include "inspect.h"
#include "resolve/command.h"
#include "resolve/pins.h"
#include "resolve/resolve.h"
#include "system/program.h"

/* Binding: each task queries rollcall-map, and all get the same answer. */

/* Return the GPUs for the query, equal in all tasks of the node; NULL: none. */
static const char *find_gpus(const struct rc_result *result, struct rc_arena *arena)
{
    const struct rc_gpus *gpus = &result->gpus;

    /* no variable hides a GPU of the machine from this process */
    if (!gpus->seen.p)
        return "all";
    if (result->mode == RC_MODE_LAUNCHER)
        return gpus->own.p ? rc_binding_gpus(gpus->own, 1, arena) : NULL;
    return gpus->place == RC_UNKNOWN ? NULL : rc_binding_gpus(gpus->all, 1, arena);
}

static const char *ask_map(const struct rc_binder *binder, const struct rc_binding *binding, struct rc_pins *pins)
{
    static char answer[RC_BINDING_ANSWER];
    char path[PATH_MAX];

    /* a missing program is reported when it is started */
    (void)cli_own_program("rollcall-map", path);
    return rc_binding_ask(path, binding, binder->tasks, binder->gpus, answer, pins, binder->broken, binder->arena);
}

/* Bind a resolved task, or plan the cores of its workers. A failure leaves the task unbound, with a message in
 * result. */
static void cli_bind_task(struct rc_context *context, struct rc_result *result)
{
    char text[8192];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *starved = rc_binding_starved(result, &arena);
    bool broken = false;
    char name[RC_NODE_NAME_SIZE];
    const struct rc_binder binder = {
        .tasks = result->mode == RC_MODE_WORKER ? result->identity.field[RC_LOCAL_WORLD_SIZE]
                                                : rc_pinning_workers(context, result),
        .local = result->identity.field[RC_LOCAL_RANK],
        .gpus = find_gpus(result, &arena),
        .relative = ROLLCALL_PRELOAD_FROM_BIN,
        .arena = &arena,
        .broken = &broken,
        .ask = ask_map,
    };
    const struct rc_bound bound = { .by = RC_BOUND_UNKNOWN };
    bool is_bound = false;
    const char *why;

    if (starved)
        rc_say(&result->messages, RC914, "%s", starved);
    if (rc_binding_is_wanted(context, result)) {
        why = rc_binding_run(&binder, context, result);
        is_bound = !why;
        /* local rank 0 prints for the node */
        if (why && context->options.bind != RC_BIND_OFF && (!broken || result->facts.field[RC_LOCAL_RANK].value == 0))
            rc_pins_excuse(&context->options, rc_binding_broken_on(broken, result, name), false, why,
                           &result->messages);
    }
    why = is_bound ? NULL : rc_binding_short(result, &bound, &arena);
    if (why)
        rc_say(&result->messages, RC915, "%s", why);
    else if (!is_bound)
        cli_say_crowded(context, result);
}

/* As in a shell. */
enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

struct arguments {
    unsigned debug;
    const char *ddp;
    char **command;
};

/* Return whether this task prints a message. `first`: first task of the launch; `speaks`: prints errors for its node.
 * All tasks of a node have RC612 and RC613 together. */
static bool is_said(enum rc_message_id id, bool first, bool speaks)
{
    const struct rc_message_entry *entry = rc_message_entry(id);

    if (entry->level != RC_LEVEL_WARNING)
        return entry->level == RC_LEVEL_ERROR && (speaks || (id != RC612 && id != RC613));
    return first || entry->said == RC_SAID_PER_TASK || (entry->said == RC_SAID_PER_NODE && speaks);
}

static void print_messages(const struct rc_result *result, uint32_t debug, bool speaks)
{
    bool first = cli_rank_of(result) == 0 || cli_rank_of(result) == RC_UNKNOWN;

    for (unsigned i = 0; i < result->messages.count; i++)
        if (debug > 0 || is_said(result->messages.list[i].id, first, speaks))
            console_say(result->messages.list[i].id, result->messages.list[i].text);
}

/* Apply the plan. Return 0, or -1 with errno set. Unset first, which removes duplicates of a name: programs differ in
 * which one they read. */
static int apply_plan(const struct rc_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct rc_plan_entry *entry = &plan->entry[i];

        if (entry->action == RC_KEEP)
            continue;
        if (unsetenv(entry->name.p) < 0 || (entry->action == RC_SET && setenv(entry->name.p, entry->value, 1) < 0))
            return -1;
    }
    return 0;
}

/* Return false if another task prints the reason: only RC612. */
static bool knows_why(const struct rc_messages *messages)
{
    for (unsigned i = 0; i < messages->count; i++)
        if (rc_message_entry(messages->list[i].id)->level == RC_LEVEL_ERROR && messages->list[i].id != RC612)
            return true;
    return false;
}

static int refuse_task(const struct rc_result *result, uint32_t debug, bool speaks)
{
    print_messages(result, debug, speaks);
    if (result->launcher)
        rc_last_line_wait(knows_why(&result->messages));
    return STATUS_CONTRADICTION;
}

/* Resolve and change this process's environment. Return 0, or a status to exit with. */
static int prepare_task(const struct arguments *a, struct rc_result *result)
{
    static struct said said;
    static struct rc_here_storage here;
    struct rc_context context = {
        .env = (const char *const *)environ,
        .argv = (const char *const *)a->command,
        .pid = (uint32_t)getpid(),
        .called = true,
    };
    bool speaks = false;

    if (cli_read_options(&said, a->ddp, context.env, &context.options) < 0) {
        console_say(said.messages.list[0].id, said.messages.list[0].text);
        return STATUS_CONTRADICTION;
    }
    if (context.options.mode == RC_MODE_OFF)
        return 0;
    /* options of the command line override those of an outer rollcall */
    context.ignore_stamp = a->ddp != NULL;
    rc_command_read(context.argv, &result->command);
    context.command_read = true;
    cli_resolve(&context, &here, result);
    /* this process was the PMIx server's first client; the command is the second */
    if (here.here.learned & RC_LEARN_PMIX)
        cli_choose_store(&context, result);
    if (result->status != RC_RESOLVED || !cli_meet(&context, result, &speaks))
        return refuse_task(result, a->debug, speaks);
    cli_bind_task(&context, result);
    /* local rank 0 prints for the node */
    if (result->facts.field[RC_LOCAL_RANK].value == 0)
        cli_say_interfaces(result);
    rc_forgotten_say(&context, result);
    rc_plan_own(result);
    if (apply_plan(&result->plan) < 0) {
        rc_say(&result->messages, RC503, "the environment cannot be changed: %s", strerror(errno));
        return refuse_task(result, a->debug, speaks);
    }
    print_messages(result, a->debug, speaks);
    if (a->debug > 0)
        fprintf(stderr, "rollcall: mode %s: %s\n", rc_mode_name(result->mode), result->mode_reason);
    if (a->debug > 0 && result->master.addr)
        fprintf(stderr, "rollcall: master address %s (%s), port %u (%s)\n", result->master.addr,
                result->master.addr_source, (unsigned)result->master.port, result->master.port_source);
    return 0;
}

static int start_command(const struct arguments *a)
{
    const char *name = a->command[0];
    struct rc_options ignored;
    struct said said;
    int error;

    execvp(name, a->command);
    error = errno;
    if (error == ENOENT && a->ddp && !*a->ddp && cli_read_options(&said, name, NULL, &ignored) == 0)
        console_fail("%.64s: command not found; did you mean --ddp=%.64s?", name, name);
    else if (error == ENOENT && strchr(name, '/') && access(name, F_OK) == 0)
        console_fail("%.256s: its interpreter (the #! line) is not there", name);
    else
        console_fail(rc_str_ends(rc_str(name), ".py") ? "%.256s: %s; did you mean python %.256s?" : "%.256s: %s", name,
                     error == ENOENT && !strchr(name, '/') ? "command not found" : strerror(error), name);
    return error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

/* Options of srun, which users may move when they replace `srun --ddp` by `srun -K rollcall exec --`. */
static bool is_launchers(const char *word)
{
    static const char *const options[] = { "-N",     "-n",          "-c",         "-G",          "-p",
                                           "-A",     "-w",          "-t",         "--nodes",     "--ntasks",
                                           "--gpus", "--gres",      "--cpus-",    "--partition", "--account",
                                           "--mpi",  "--exclusive", "--nodelist", "--map-by" };

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (strncmp(word, options[i], strlen(options[i])) == 0)
            return true;
    return false;
}

/* Return 0, or a status to exit with after one line on standard error. */
static int read_arguments(char **argv, struct arguments *a)
{
    const struct console_option options[] = {
        { "--ddp", .value = &a->ddp, .may_be_empty = true },
        { "--verbose", .count = &a->debug },
        { "-v", .count = &a->debug },
        { NULL },
    };
    const char *debug = getenv(RC_DEBUG);
    struct rc_options ignored;
    struct said said;
    int at;

    for (char **word = argv + 1; *word && **word == '-'; word++)
        if (is_launchers(*word))
            return console_fail("exec: %.64s is an option of srun or mpirun; put it before rollcall, as in "
                                "srun -K -N2 rollcall exec -- CMD",
                                *word);
    if (debug)
        a->debug = rc_debug_level(rc_str(debug));
    at = console_options("exec", argv, 1, options);
    if (!at)
        return STATUS_USAGE;
    if (a->ddp && cli_read_options(&said, a->ddp, NULL, &ignored) < 0) {
        console_say(said.messages.list[0].id, said.messages.list[0].text);
        return STATUS_USAGE;
    }
    a->command = argv + at;
    return *a->command ? 0 : console_fail("exec: which command? rollcall exec [OPTION]... -- CMD...");
}

static int run_exec(char **argv)
{
    static struct rc_result result;
    struct arguments a = { .debug = 0 };
    int status = read_arguments(argv, &a);

    if (status)
        return status;
    status = prepare_task(&a, &result);
    return status ? status : start_command(&a);
}

const struct subcommand cli_exec = {
    .name = "exec",
    .summary = "sets the environment of this task, then becomes CMD",
    .help = "usage: rollcall exec [OPTION]... [--] CMD...\n"
            "\n"
            "Finds the rank of this process, sets RANK, WORLD_SIZE, MASTER_ADDR and so on,\n"
            "then executes CMD: same process, same standard streams, CMD's exit status.\n"
            "Rank 0 holds the master port for CMD. Without a launcher\n"
            "CMD is rank 0 of 1 (RC311).\n"
            "\n"
            "      --ddp[=MODE][,KEY=VALUE]...\n",
    .more = "  -v, --verbose     print what was found\n"
            "  -h, --help        this help\n"
            "\n"
            "ROLLCALL=MODE,KEY=VALUE,... has the same effect; --ddp takes precedence.\n"
            "ROLLCALL=off switches everything off. ROLLCALL_DEBUG=1 is -v.\n"
            "\n"
            "Exit status: CMD's; 1 the facts contradict each other (CMD was not run), 2\n"
            "wrong usage, 126 CMD cannot be executed, 127 CMD was not found.\n"
            "\n"
            "  mpirun -np 4 rollcall exec -- python train.py\n"
            "  srun -K --ntasks-per-node=1 rollcall exec --ddp=nproc=2 torchrun train.py\n",
    .run = run_exec,
};
