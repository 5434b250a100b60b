/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "effects/binding.h"
#include "effects/lookup.h"
#include "resolve/options.h"
#include "resolve/pins.h"
#include "system/gpufiles.h"
#include "system/node.h"
#include "system/program.h"

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

void cli_resolve(struct rc_context *context, struct rc_here_storage *here, struct rc_result *result)
{
    /* another process may be connected to its PMIx server, which would confuse the two */
    here->ask_pmix = context->pid == (uint32_t)getpid() ? cli_pmix_ask : NULL;
    here->find_gpu_files = rc_device_files_find;
    here->needs_asan = rc_program_needs_asan;
    here->watch_relative = ROLLCALL_WATCH_FROM_BIN;
    here->file = here->file ? here->file : malloc(RC_HERE_FILE);
    here->libraries_relative = ROLLCALL_PRELOAD_FROM_BIN;
    rc_here_resolve(context, here, result);
}

void cli_say_interfaces(struct rc_result *result)
{
    char text[2048];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *why = rc_lookup_interfaces(result, &arena);

    if (why)
        rc_say(&result->messages, RC425, "%s", why);
}

void cli_say_crowded(const struct rc_context *context, struct rc_result *result)
{
    char text[256];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *why = rc_binding_crowded(context, result, &arena);

    if (why)
        rc_say(&result->messages, RC916, "%s", why);
}

/* The same for all tasks of the node. */
static void say_map(const struct rc_context *context, struct rc_result *result)
{
    char text[2048];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    char path[PATH_MAX] = "";
    char name[RC_NODE_NAME_SIZE];
    const char *why = NULL;

    (void)cli_own_program("rollcall-map", path);
    if (result->facts.field[RC_LOCAL_RANK].value == 0)
        why = rc_binding_try(path, context, result, &arena);
    if (why)
        rc_pins_excuse(&context->options, rc_binding_broken_on(true, result, name), false, why, &result->messages);
}

static void resolve_process(struct inspection *inspection, const char *const *argv, const struct rc_options *options)
{
    struct rc_context *context = &inspection->context;

    *context = (struct rc_context){
        .env = inspection->input.env,
        .argv = argv ? argv : inspection->input.argv,
        .options = *options,
        .pid = inspection->input.pid,
        .called = inspection->called,
        .ignore_stamp = true,
        .explain = true,
    };
    if (inspection->input.this_node) {
        cli_resolve(context, &inspection->here, &inspection->result);
        if (rc_lookup_is_needed(&inspection->result))
            rc_lookup_settle(context, &inspection->result, "nothing would be set");
        if (context->pid == (uint32_t)getpid())
            cli_meet_try(context, &inspection->result);
        cli_say_crowded(context, &inspection->result);
        cli_say_interfaces(&inspection->result);
        say_map(context, &inspection->result);
    } else {
        context->here = &inspection->input.here;
        rc_resolve(context, &inspection->result);
    }
}

void cli_inspect(struct inspection *inspection, const char *ddp, const char *const *argv)
{
    const struct rc_messages *wrong = &inspection->said.messages;
    struct rc_options options = { .given = false };
    bool good = cli_read_options(&inspection->said, ddp, inspection->input.env, &options) == 0;

    resolve_process(inspection, argv, &options);
    if (good)
        return;
    /* a process with this ROLLCALL variable would be refused */
    rc_result_refuse(&inspection->result, "the ROLLCALL variable cannot be read");
    for (unsigned i = 0; i < wrong->count; i++)
        rc_message_add(&inspection->result.messages, wrong->list[i].id, wrong->list[i].text);
}

void cli_inspect_own(struct inspection *inspection)
{
    input_own(&inspection->input);
    cli_inspect(inspection, NULL, NULL);
}

int cli_report_own(struct cli_scope *scope, cli_print *print, void *more)
{
    static struct inspection inspection;

    if (!console_is_task())
        return print(stdout, more);
    cli_inspect_own(&inspection);
    return cli_report(&inspection.result, scope, print, more);
}

const struct cli_field cli_fields[RC_FIELD_COUNT] = {
    [RC_RANK] = { "rank", "rank" },
    [RC_LOCAL_RANK] = { "local rank", "local_rank" },
    [RC_NODE_RANK] = { "node rank", "node_rank" },
    [RC_WORLD_SIZE] = { "world size", "world_size" },
    [RC_LOCAL_WORLD_SIZE] = { "local world size", "local_world_size" },
    [RC_NNODES] = { "nodes", "nnodes" },
};

enum { INDENT = 4, LABEL = 8, DETAIL = INDENT + LABEL };

void cli_report_detail(FILE *out, const char *label, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(out, "%*s%s%-*s%s", (int)INDENT, "", paint_on(PAINT_FAINT), (int)LABEL, label, paint_off());
    console_print_wrapped(out, DETAIL, DETAIL, PAINT_NONE, text);
}

enum paint cli_report_level_paint(enum rc_level level)
{
    return level == RC_LEVEL_ERROR ? PAINT_BAD : level == RC_LEVEL_WARNING ? PAINT_WARN : PAINT_FAINT;
}
