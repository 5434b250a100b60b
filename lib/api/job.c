/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "effects/lookup.h"
#include "effects/rank0.h"
#include "resolve/options.h"
#include "system/net.h"
#include "system/node.h"

extern char **environ;

int rc_job_fail(struct rollcall_error *error, int code, const char *id, const char *format, ...)
{
    size_t size = sizeof(error->text);
    va_list args;
    int n;

    if (!error)
        return -1;
    error->code = code;
    n = snprintf(error->text, size, *id ? "%s: " : "%s", id);
    va_start(args, format);
    n += vsnprintf(error->text + n, size - (size_t)n, format, args);
    va_end(args);
    if (*id && n < (int)size)
        snprintf(error->text + n, size - (size_t)n, RC_EXPLAIN("%s"), id);
    for (char *c = error->text; *c; c++)
        if (!rc_is_printable(*c))
            *c = ' ';
    return -1;
}

static int fail_with_message(struct rollcall_error *error, const struct rc_messages *messages)
{
    const struct rc_message *first = rc_messages_error(messages);

    if (first)
        return rc_job_fail(error, ROLLCALL_CONTRADICTION, rc_message_entry(first->id)->id, "%s", first->text);
    return rc_job_fail(error, ROLLCALL_CONTRADICTION, "",
                       "the environment's values are too long to be a job's identity");
}

const char *rollcall_version(void)
{
    return PACKAGE_VERSION;
}

static int resolve_job(const char *const *environment, struct rollcall *job, struct rollcall_error *error)
{
    struct rc_result *result = &job->result;
    char text[1024];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    struct rc_messages messages = { .arena = &arena };
    struct rc_options options = { .given = false };
    struct rc_context context = {
        .env = environment ? environment : (const char *const *)environ,
        .pid = environment ? 0 : (uint32_t)getpid(),
        .ignore_stamp = true,
    };

    job->here.watch_relative = ROLLCALL_WATCH_FROM_LIB;
    job->here.libraries_relative = ROLLCALL_PRELOAD_FROM_LIB;
    if (!environment && !(job->here.file = malloc(RC_HERE_FILE)))
        return rc_job_fail(error, ROLLCALL_NO_MEMORY, "", "out of memory");
    rc_env_index(&result->env, context.env);
    context.indexed = true;
    if (!rc_options_parse_variable(rc_env_get(&result->env, "ROLLCALL"), "ROLLCALL", &options, &messages))
        return fail_with_message(error, &messages);
    context.options = rc_options_combine(NULL, &options, NULL);
    /* read this node only for this process's environment; another may be of another node */
    if ((environment ? rc_resolve(&context, result) : rc_here_resolve(&context, &job->here, result)) != RC_RESOLVED)
        return fail_with_message(error, &result->messages);
    if (!environment && result->master.wish && !rc_lookup_settle(&context, result, "nothing is set"))
        return fail_with_message(error, &result->messages);
    job->is_own = !environment;
    if (job->is_own)
        rc_discovery_find(result, &job->discovery);
    job->ranks_are_tasks = result->launcher && result->launcher->srun_server == RC_SRUN_SERVER_OWN &&
                           !result->by_node && !result->ordered.host.p;
    return 0;
}

static void fill_in(struct rollcall *job)
{
    const struct rc_plan *plan = &job->result.plan;
    const struct rc_messages *messages = &job->result.messages;

    for (unsigned i = 0; i < plan->count; i++)
        job->variable[i] = (struct rollcall_variable){
            .action = (enum rollcall_action)plan->entry[i].action, /* both enums begin set, unset, keep */
            .name = plan->entry[i].name.p,
            .value = plan->entry[i].value,
            .source = plan->entry[i].source,
            .reason = plan->entry[i].reason,
        };
    for (unsigned i = 0; i < messages->count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(messages->list[i].id);

        job->message[i] = (struct rollcall_message){
            .id = entry->id,
            .level = entry->level == RC_LEVEL_NOTE ? ROLLCALL_NOTE : ROLLCALL_WARNING,
            .text = messages->list[i].text,
        };
    }
}

int rollcall_create(const char *const *environment, struct rollcall **out, struct rollcall_error *error)
{
    struct rollcall *job;

    if (!out)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "rollcall_create: out is NULL");
    job = calloc(1, sizeof(*job));
    if (!job)
        return rc_job_fail(error, ROLLCALL_NO_MEMORY, "", "out of memory");
    if (resolve_job(environment, job, error) < 0) {
        rollcall_destroy(job);
        return -1;
    }
    rc_plan_own(&job->result);
    fill_in(job);
    *out = job;
    return 0;
}

void rollcall_destroy(struct rollcall *job)
{
    int saved = errno;

    if (job)
        free(job->here.file);
    free(job);
    errno = saved;
}

const char *rollcall_launcher(const struct rollcall *job)
{
    return job && job->result.launcher ? job->result.launcher->id : NULL;
}

enum rollcall_mode rollcall_mode(const struct rollcall *job)
{
    static const enum rollcall_mode modes[] = {
        [RC_MODE_WORKER] = ROLLCALL_MODE_WORKER,
        [RC_MODE_LAUNCHER] = ROLLCALL_MODE_LAUNCHER,
        [RC_MODE_NONE] = ROLLCALL_MODE_NONE,
        [RC_MODE_TORCHRUN] = ROLLCALL_MODE_TORCHRUN,
    };

    return job ? modes[job->result.mode] : ROLLCALL_MODE_NONE;
}

const char *rollcall_mode_name(enum rollcall_mode mode)
{
    static const char *const names[] = { "none", "worker", "launcher", "torchrun" };

    return (unsigned)mode <= ROLLCALL_MODE_TORCHRUN ? names[mode] : NULL;
}

static int field_number(const struct rollcall *job, enum rc_field field)
{
    if (!job || job->result.identity.field[field] == RC_UNKNOWN)
        return -1;
    return (int)job->result.identity.field[field];
}

int rollcall_rank(const struct rollcall *job)
{
    return field_number(job, RC_RANK);
}

int rollcall_world_size(const struct rollcall *job)
{
    return field_number(job, RC_WORLD_SIZE);
}

int rollcall_local_rank(const struct rollcall *job)
{
    return field_number(job, RC_LOCAL_RANK);
}

int rollcall_local_world_size(const struct rollcall *job)
{
    return field_number(job, RC_LOCAL_WORLD_SIZE);
}

int rollcall_node_rank(const struct rollcall *job)
{
    return field_number(job, RC_NODE_RANK);
}

int rollcall_nnodes(const struct rollcall *job)
{
    return field_number(job, RC_NNODES);
}

const char *rollcall_master_addr(const struct rollcall *job)
{
    return job ? job->result.master.addr : NULL;
}

int rollcall_master_port(const struct rollcall *job)
{
    return job && job->result.master.port ? job->result.master.port : -1;
}

size_t rollcall_variable_count(const struct rollcall *job)
{
    return job ? job->result.plan.count : 0;
}

const struct rollcall_variable *rollcall_variable_at(const struct rollcall *job, size_t index)
{
    return index < rollcall_variable_count(job) ? &job->variable[index] : NULL;
}

size_t rollcall_message_count(const struct rollcall *job)
{
    return job ? job->result.messages.count : 0;
}

const struct rollcall_message *rollcall_message_at(const struct rollcall *job, size_t index)
{
    return index < rollcall_message_count(job) ? &job->message[index] : NULL;
}

int rollcall_hold_port(const struct rollcall *job, int *fd, struct rollcall_error *error)
{
    char node[RC_NODE_NAME_SIZE];
    const struct rc_rank0 hooks = {
        .outcome = "nothing is set",
        .node = rc_str(rc_node_name(node)),
        .is_elsewhere = rc_lookup_is_elsewhere,
        .name_owner = rc_port_owner,
    };
    struct rc_result *result;
    int status = 0;
    int held;

    if (!job || !fd)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "rollcall_hold_port: job or fd is NULL");
    if (!job->is_own)
        return rc_job_fail(error, ROLLCALL_INVALID, "", "the job is of another environment than this process's own");
    result = malloc(sizeof(*result));
    if (!result)
        return rc_job_fail(error, ROLLCALL_NO_MEMORY, "", "out of memory");
    /* messages about the port go to a copy: the job is constant */
    memcpy(result, &job->result, sizeof(*result));
    result->arena = (struct rc_arena){ .base = result->text, .size = sizeof(result->text) };
    result->messages = (struct rc_messages){ .arena = &result->arena };
    if (rc_rank0_verify(result, &hooks) && rc_rank0_hold(result, &hooks, &held))
        *fd = held;
    else
        status = fail_with_message(error, &result->messages);
    free(result);
    return status;
}
