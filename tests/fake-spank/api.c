/* SPDX-License-Identifier: BSD-3-Clause */
/* api.c - what the plugin finds when it asks Slurm: 22.05's answers (plugstack.c). */
#include "host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>

enum { MAX_ENV_STRLEN = 32 * 4096 };

static bool is_listed(const struct words *words, const char *word)
{
    for (int i = 0; i < words->count; i++)
        if (!strcmp(words->word[i], word))
            return true;
    return false;
}

spank_context_t spank_context(void)
{
    return scenario.context;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
    (void)spank;
    if (strcmp(now.callback, "init") || !option || !option->name || !option->usage || now.registered)
        return ESPANK_BAD_ARG;
    now.option = *option;
    now.registered = true;
    return ESPANK_SUCCESS;
}

/* The items that the plugin asks for. Where the number is not at a place of its own, read_item has it. */
static const struct item {
    spank_item_t id;
    const char *name;
    bool in_srun;
    const uint32_t *number;
} items[] = {
#define ITEM(id, in_srun, number) \
    {                             \
        id, #id, in_srun, number  \
    }
    ITEM(S_JOB_ID, true, &scenario.job_id),
    ITEM(S_JOB_STEPID, true, &scenario.step_id),
    ITEM(S_JOB_NNODES, true, &scenario.nodes),
    ITEM(S_JOB_TOTAL_TASK_COUNT, true, &scenario.total_tasks),
    ITEM(S_JOB_ARGV, true, NULL),
    ITEM(S_JOB_ENV, true, NULL),
    ITEM(S_JOB_NODEID, false, &now.node),
    ITEM(S_STEP_CPUS_PER_TASK, false, &scenario.cpus_per_task),
    ITEM(S_JOB_LOCAL_TASK_COUNT, false, NULL),
    ITEM(S_JOB_LOCAL_TO_GLOBAL_ID, false, NULL),
    ITEM(S_TASK_ID, false, NULL),
};

static spank_err_t read_item(const struct item *item, va_list *to)
{
    const struct node *node = &scenario.node[now.node];
    uint32_t *out, id;

    switch (item->id) {
    case S_JOB_ENV:
        *va_arg(*to, char ***) = scenario.null_env ? NULL : now.env;
        return ESPANK_SUCCESS;
    case S_JOB_ARGV:
        *va_arg(*to, int *) = scenario.argv.count;
        *va_arg(*to, char ***) = scenario.argv.count ? scenario.argv.word : NULL;
        return ESPANK_SUCCESS;
    case S_TASK_ID:
        *va_arg(*to, int *) = now.task;
        return now.task < 0 ? ESPANK_NOT_TASK : ESPANK_SUCCESS;
    case S_JOB_LOCAL_TO_GLOBAL_ID:
        id = va_arg(*to, uint32_t);
        out = va_arg(*to, uint32_t *);
        /* Slurm compares with <= and reads past the end of its array */
        if (id >= node->tasks)
            print_event("violation", "text", "S_JOB_LOCAL_TO_GLOBAL_ID of a task that is not there", 0);
        *out = id < node->tasks ? node->rank[id] : UINT32_MAX;
        return id < node->tasks ? ESPANK_SUCCESS : ESPANK_NOEXIST;
    default:
        *va_arg(*to, uint32_t *) = item->number ? *item->number : node->tasks;
        return ESPANK_SUCCESS;
    }
}

/* Refuses all other items. */
spank_err_t spank_get_item(spank_t spank, spank_item_t id, ...)
{
    const struct item *item = items;
    spank_err_t rc;
    va_list to;

    (void)spank;
    while (item < items + sizeof(items) / sizeof(*items) && item->id != id)
        item++;
    if (item == items + sizeof(items) / sizeof(*items) || is_listed(&scenario.missing, item->name))
        return ESPANK_NOT_AVAIL;
    if (scenario.context == S_CTX_LOCAL && (!item->in_srun || strcmp(now.callback, "local_user_init")))
        return ESPANK_NOT_REMOTE;
    if (scenario.context != S_CTX_LOCAL && scenario.context != S_CTX_REMOTE)
        return ESPANK_NOT_AVAIL;
    va_start(to, id);
    rc = read_item(item, &to);
    va_end(to);
    return rc;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
    (void)spank;
    if (scenario.context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    if (!name || !value)
        return ESPANK_BAD_ARG;
    if (strcmp(now.callback, "task_init"))
        print_event("violation", "text", "the environment is changed outside of task_init", 0);
    if (is_listed(&scenario.refuse, name))
        return ESPANK_ERROR;
    if (env_value(now.env, name) && !overwrite)
        return ESPANK_ENV_EXISTS;
    /* setenvf() returns EINVAL and ENOMEM, which are not below 0: success */
    if (!*name || is_listed(&scenario.lie, name) || strlen(name) + strlen(value) + 2 >= MAX_ENV_STRLEN)
        return ESPANK_SUCCESS;
    env_overwrite(&now.env, name, value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
    (void)spank;
    if (scenario.context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    if (!name)
        return ESPANK_BAD_ARG;
    if (is_listed(&scenario.refuse, name))
        return ESPANK_ERROR;
    env_unset(now.env, name);
    return ESPANK_SUCCESS;
}

static void log_line(const char *level, const char *format, va_list values)
{
    char *text = NULL;

    now.inside++;
    if (vasprintf(&text, format, values) >= 0)
        print_event(level, "text", text, 0);
    free(text);
    now.inside--;
}

void slurm_spank_log(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    log_line("log", format, values);
    va_end(values);
}

void slurm_error(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    log_line("error", format, values);
    va_end(values);
}

void slurm_info(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    log_line("info", format, values);
    va_end(values);
}

slurm_step_layout_t *slurm_job_step_layout_get(slurm_step_id_t *step_id)
{
    slurm_step_layout_t *layout;

    print_event("question", "text", "slurm_job_step_layout_get", (int)step_id->step_id);
    if (!scenario.layout_hosts)
        return NULL;
    now.inside++;
    layout = calloc(1, sizeof(*layout));
    layout->node_list = strdup(scenario.layout_hosts);
    layout->node_cnt = scenario.nodes;
    layout->task_cnt = scenario.total_tasks;
    layout->task_dist = scenario.distribution;
    layout->tasks = calloc(scenario.nodes, sizeof(*layout->tasks));
    layout->tids = calloc(scenario.nodes, sizeof(*layout->tids));
    for (uint32_t i = 0; i < scenario.nodes; i++) {
        layout->tasks[i] = (uint16_t)scenario.node[i].tasks;
        layout->tids[i] = scenario.node[i].rank;
    }
    now.inside--;
    return layout;
}

void slurm_job_step_layout_free(slurm_step_layout_t *layout)
{
    free(layout->node_list);
    free(layout->tasks);
    free(layout->tids);
    free(layout);
}

/* Makes the n-th allocation of the plugin fail. Not under sanitizers, which have an allocator of their own. */
#ifndef __SANITIZE_ADDRESS__
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);

static bool allocation_fails(void)
{
    return now.callback && !now.inside && now.countdown > 0 && --now.countdown == 0;
}

void *malloc(size_t size)
{
    return allocation_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __libc_calloc(count, size);
}
#endif
