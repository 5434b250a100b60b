/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "effects/lookup.h"
#include "programs.h"
#include "resolve/options.h"
#include "system/gpufiles.h"
#include "system/node.h"

int cli_read_options(struct said *said, const char *ddp, const char *const *env, struct rc_options *options)
{
    struct rc_options command_line = { .given = false };
    struct rc_options environment = { .given = false };
    struct rc_env index;

    *said = (struct said){ .messages = { .arena = &said->arena } };
    said->arena = (struct rc_arena){ .base = said->text, .size = sizeof(said->text) };
    if (ddp && !rc_options_parse(rc_str(ddp), "--ddp", &command_line, &said->messages))
        return -1;
    rc_env_index(&index, env);
    if (!rc_options_parse_variable(rc_env_get(&index, "ROLLCALL"), "ROLLCALL", &environment, &said->messages))
        return -1;
    *options = rc_options_combine(&command_line, &environment, NULL);
    return 0;
}

static void resolve_process(struct inspection *inspection, const char *const *argv, const struct rc_options *options)
{
    struct rc_context *context = &inspection->context;

    *context = (struct rc_context){
        .env = inspection->input.env,
        .argv = argv ? argv : inspection->input.argv,
        .options = *options,
        .pid = inspection->input.pid,
        .ignore_stamp = true,
        .explain = true,
    };
    if (inspection->input.this_node) {
        rc_node_port_range(&context->local_port_first, &context->local_port_last);
        /* another process may be connected to its PMIx server, which would take this one for it */
        inspection->here.ask_pmix = context->pid == (uint32_t)getpid() ? cli_pmix_ask : NULL;
        inspection->here.find_gpu_files = rc_device_files_find;
        inspection->here.watch_relative = ROLLCALL_WATCH_FROM_BIN;
        inspection->here.libraries_relative = ROLLCALL_PRELOAD_FROM_BIN;
        rc_here_resolve(context, &inspection->here, &inspection->result);
        if (inspection->result.master.wish)
            rc_lookup_settle(context, &inspection->result, "nothing would be set");
    } else {
        context->here = &inspection->input.here;
        rc_resolve(context, &inspection->result);
    }
}

static void settle_inspection(struct inspection *inspection, const char *ddp, const char *const *argv)
{
    const struct rc_messages *wrong = &inspection->said.messages;
    struct rc_options options = { .given = false };
    bool good = cli_read_options(&inspection->said, ddp, inspection->input.env, &options) == 0;

    resolve_process(inspection, argv, &options);
    if (good)
        return;
    /* a process with this ROLLCALL variable would be refused, so the result is that refusal */
    rc_result_refuse(&inspection->result, "the ROLLCALL variable cannot be read");
    for (unsigned i = 0; i < wrong->count; i++)
        rc_message_add(&inspection->result.messages, wrong->list[i].id, wrong->list[i].text);
}

int cli_inspect_own(struct inspection *inspection)
{
    if (input_own(&inspection->input) < 0)
        return -1;
    settle_inspection(inspection, NULL, NULL);
    return 0;
}

int cli_report_own(struct cli_scope *scope, int (*print)(void *more), void *more)
{
    struct inspection *inspection = console_is_task() ? calloc(1, sizeof(*inspection)) : NULL;
    bool good = inspection && cli_inspect_own(inspection) == 0;
    int status = good ? cli_report(&inspection->result, scope, print, more) : print(more);

    if (inspection)
        input_free(&inspection->input);
    free(inspection);
    return status;
}

struct arguments {
    bool help;
    const char *file;
    const char *pid;
    const char *ddp;
    const char *const *argv;
};

/* Returns 0, or a status to exit with after one line on standard error. */
static int read_arguments(int argc, char **argv, const char *name, struct arguments *a, struct inspection *inspection)
{
    static const struct option options[] = {
        { "from", required_argument, NULL, 'f' },
        { "pid", required_argument, NULL, 'p' },
        { "ddp", optional_argument, NULL, 'd' },
        { "json", no_argument, NULL, 'j' },
        { "why", no_argument, NULL, 'w' },
        { "long", no_argument, NULL, 'l' },
        { "help", no_argument, NULL, 'h' },
        CLI_SCOPE_OPTIONS,
        { NULL, 0, NULL, 0 },
    };
    struct rc_options ignored;

    for (int c; (c = console_getopt(name, argc, argv, options)) != -1;) {
        switch (c) {
        case 'f':
            a->file = optarg;
            break;
        case 'p':
            a->pid = optarg;
            break;
        case 'd':
            a->ddp = optarg ? optarg : "";
            break;
        case 'j':
            inspection->json = true;
            break;
        case 'l':
            inspection->whole = true;
            break;
        case 'w':
            inspection->why = true;
            break;
        case 'h':
            a->help = true;
            return 0;
        case 'a':
        case 'r':
            if (cli_scope_take(&inspection->scope, c, optarg))
                break;
            return STATUS_USAGE;
        default:
            return STATUS_USAGE;
        }
    }
    if (optind < argc && strcmp(argv[optind - 1], "--") != 0)
        return console_fail("%s: what is '%.64s'? a file goes after --from, a command after --", name, argv[optind]);
    if (optind < argc)
        a->argv = (const char *const *)argv + optind;
    if (a->file && a->pid)
        return console_fail("%s: --from and --pid do not go together", name);
    if (a->ddp && cli_read_options(&inspection->said, a->ddp, NULL, &ignored) < 0)
        return console_fail("%s", inspection->said.messages.list[0].text);
    return 0;
}

int cli_inspect(int argc, char **argv, const struct subcommand *self, int (*print)(struct inspection *inspection))
{
    static struct inspection inspection;
    struct arguments a = { .help = false };
    int status = STATUS_USAGE;

    if (read_arguments(argc, argv, self->name, &a, &inspection) != 0)
        return STATUS_USAGE;
    if (a.help) {
        fputs(self->help, stdout);
        return STATUS_RESOLVED;
    }
    inspection.own = !a.file && !a.pid;
    if ((a.file  ? input_file(&inspection.input, a.file)
         : a.pid ? input_process(&inspection.input, a.pid)
                 : input_own(&inspection.input)) == 0) {
        settle_inspection(&inspection, a.ddp, a.argv);
        status = print(&inspection);
    }
    input_free(&inspection.input);
    return status;
}

const struct cli_field cli_fields[RC_FIELD_COUNT] = {
    [RC_RANK] = { "rank", "rank", "this task's number in the job" },
    [RC_LOCAL_RANK] = { "local rank", "local_rank", "this task's number on its node" },
    [RC_NODE_RANK] = { "node rank", "node_rank", "this node's number in the job, by the lowest rank on it" },
    [RC_WORLD_SIZE] = { "world size", "world_size", "tasks in the job" },
    [RC_LOCAL_WORLD_SIZE] = { "local world size", "local_world_size", "tasks on this node" },
    [RC_NNODES] = { "nodes", "nnodes", "nodes of the job" },
};

const char *cli_report_field_source(const struct rc_result *result, enum rc_field field)
{
    const char *source = rc_identity_source(result, field);

    return source && result->identity.field[field] != RC_UNKNOWN ? source : "";
}

const char *cli_report_verb(const struct rc_plan_entry *entry)
{
    switch (entry->action) {
    case RC_UNSET:
        return "unset";
    case RC_KEEP:
        return "keep";
    case RC_SET:
        break;
    }
    return entry->changes ? "set" : "same";
}

enum { INDENT = 4, LABEL = 8, DETAIL = INDENT + LABEL };

int cli_report_detail(const char *label, const char *text)
{
    if (!text || !*text)
        return 0;
    printf("%*s%s%-*s%s", (int)INDENT, "", paint_on(PAINT_FAINT), (int)LABEL, label, paint_off());
    return console_print_wrapped(DETAIL, DETAIL, PAINT_NONE, text);
}

enum paint cli_report_level_paint(enum rc_level level)
{
    return level == RC_LEVEL_ERROR ? PAINT_BAD : level == RC_LEVEL_WARNING ? PAINT_WARN : PAINT_FAINT;
}

static int head_line(const char *name, enum paint paint, const char *value, const char *more)
{
    char line[1024];

    snprintf(line, sizeof(line), "%s%s%s", value, more && *more ? ": " : "", more ? more : "");
    printf("%s%-10s%s", paint_on(PAINT_STRONG), name, paint_off());
    return console_print_wrapped(10, 10, paint, line);
}

int cli_report_head(const struct rc_result *result)
{
    bool bad = result->status == RC_CONTRADICTION;
    const struct rc_master *master = &result->master;
    char value[512];

    snprintf(value, sizeof(value), "%s%s%s", result->launcher ? result->launcher->title : "none",
             result->facts.run_id ? ", " : "", result->facts.run_id ? result->facts.run_id : "");
    if (head_line("launcher", PAINT_NONE, value, NULL) < 0 ||
        head_line("mode", bad ? PAINT_BAD : PAINT_NONE, rc_mode_name(result->mode), result->mode_reason) < 0)
        return -1;
    if (!master->addr)
        return 0;
    snprintf(value, sizeof(value), "%s port %u", master->addr, (unsigned)master->port);
    return head_line("master", PAINT_NONE, value, master->addr_source);
}
