/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "spank.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "rendezvous/session.h"
#include "system/node.h"

const char *const *rc_spank_environment(spank_t spank)
{
    char **block = NULL;

    if (spank_get_item(spank, S_JOB_ENV, &block) != ESPANK_SUCCESS)
        return NULL;
    return (const char *const *)block;
}

const char *const *rc_spank_command(spank_t spank)
{
    char **argv = NULL;
    int argc = 0;

    if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc <= 0 || !argv)
        return NULL;
    return (const char *const *)argv;
}

bool rc_spank_number(spank_t spank, spank_item_t item, uint32_t *value)
{
    uint32_t number;

    if (spank_get_item(spank, item, &number) != ESPANK_SUCCESS)
        return false;
    *value = number;
    return true;
}

bool rc_spank_is_first(const struct rc_env *env)
{
    return rc_str_is(rc_env_get(env, "SLURM_PROCID"), "0");
}

enum { LINE_SIZE = 2048 };

/* Slurm appends the newline. */
void rc_spank_say(enum rc_level level, enum rc_message_id id, const char *text)
{
    char line[LINE_SIZE];
    struct rc_arena arena = { .base = line, .size = sizeof(line) };
    struct rc_str whole = rc_str(rc_message_line(&arena, level, id, text));

    slurm_spank_log("%.*s", (int)whole.n - 1, whole.p);
}

void rc_spank_say_alike(const struct rc_env *env, enum rc_message_id id, const char *text)
{
    if (rc_session_report(env, id, text) < 0)
        rc_spank_say(rc_message_entry(id)->level, id, text);
}

void rc_spank_say_all(const struct rc_messages *messages, enum rc_level least)
{
    for (unsigned i = 0; i < messages->count; i++) {
        enum rc_level level = rc_message_entry(messages->list[i].id)->level;

        if (level >= least)
            rc_spank_say(level, messages->list[i].id, messages->list[i].text);
    }
}

static char folder[PATH_MAX];

void rc_spank_programs_find(void)
{
    if (!folder[0])
        rc_beside_file(ROLLCALL_LIBEXEC_FROM_PLUGIN, "", folder, sizeof(folder));
}

const char *rc_spank_program(const char *name)
{
    static char path[PATH_MAX];
    struct rc_arena arena = { .base = path, .size = sizeof(path) };

    rc_spank_programs_find();
    rc_format(&arena, "%s%s", folder, name);
    return folder[0] && !arena.full ? path : "";
}

/* 22.05 src/common/env.c: MAX_ENV_STRLEN, for NAME=VALUE and the NUL */
enum { ENTRY_MAX = 32 * 4096 };

struct change {
    const char *name;
    char *value;  /* NULL: unset */
    char *before; /* NULL: was unset */
};

static const char *find_value(spank_t spank, const char *name)
{
    const char *const *env = rc_spank_environment(spank);
    size_t n = strlen(name);

    /* saves most calls */
    for (; env && *env; env++)
        if (**env == *name && !strncmp(*env, name, n) && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

static bool put_variable(spank_t spank, const char *name, const char *value)
{
    const char *now;

    if (value && spank_setenv(spank, name, value, 1) != ESPANK_SUCCESS)
        return false;
    /* unsetenvp (22.05 env.c) skips the entry after a removed one, so repeat for duplicates */
    for (int i = 0; !value && i < 8 && find_value(spank, name); i++)
        if (spank_unsetenv(spank, name) != ESPANK_SUCCESS)
            return false;
    now = find_value(spank, name);
    return value ? now && !strcmp(now, value) : !now;
}

/* Copy name and values: Slurm frees a replaced entry, to which they may point. */
static bool prepare_change(spank_t spank, const struct rc_plan_entry *entry, struct change *change)
{
    const char *before = find_value(spank, entry->name.p);
    bool set = entry->action == RC_SET;

    *change = (struct change){ .name = entry->name.p };
    if (set && strlen(entry->name.p) + strlen(entry->value) + 2 >= ENTRY_MAX)
        return false;
    change->before = before ? strdup(before) : NULL;
    change->value = set ? strdup(entry->value) : NULL;
    return (!before || change->before) && (!set || change->value);
}

const char *rc_spank_apply(spank_t spank, const struct rc_plan *plan)
{
    struct change changes[RC_PLAN_MAX];
    const char *failed = NULL;
    unsigned count = 0, done = 0;

    for (unsigned i = 0; i < plan->count && !failed; i++) {
        if (!plan->entry[i].changes || plan->entry[i].action == RC_KEEP)
            continue;
        if (!prepare_change(spank, &plan->entry[i], &changes[count++]))
            failed = plan->entry[i].name.p;
    }
    for (; done < count && !failed; done++)
        if (!put_variable(spank, changes[done].name, changes[done].value))
            failed = changes[done].name;
    while (failed && done > 0) {
        done--;
        put_variable(spank, changes[done].name, changes[done].before);
    }
    for (unsigned i = 0; i < count; i++) {
        free(changes[i].value);
        free(changes[i].before);
    }
    return failed;
}
