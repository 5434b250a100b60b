/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "event.h"

#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#include "options.h"

enum { TEXT_SIZE = 1024, NAME_MAX_LENGTH = 255 };

/* A host's name or address, unchanged. In any other text each character that could
 * end a string or a line becomes a question mark. */
static const char *plain_name(struct rc_str text, struct rc_arena *arena)
{
    char name[NAME_MAX_LENGTH + 1];
    size_t n = text.n < NAME_MAX_LENGTH ? text.n : NAME_MAX_LENGTH;

    for (size_t i = 0; i < n; i++) {
        char c = text.p[i];

        name[i] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                          c == ':' || c == '_'
                      ? c
                      : '?';
    }
    name[n] = '\0';
    return rc_format(arena, "%s", name);
}

/* "RC301", "RC610" or, in text, RC301 RC610; errors and warnings alone. */
static const char *list_ids(const struct rc_messages *messages, bool json, struct rc_arena *arena)
{
    const char *list = rc_format(arena, "");
    const char *between = "";

    for (unsigned i = 0; i < messages->count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(messages->list[i].id);

        if (entry->level == RC_LEVEL_NOTE)
            continue;
        rc_join(arena);
        rc_format(arena, json ? "%s\"%s\"" : "%s%s", between, entry->id);
        between = json ? "," : " ";
    }
    return list;
}

static const char *format_count(uint32_t number, const char *unknown, struct rc_arena *arena)
{
    return number != RC_UNKNOWN && number > 0 ? rc_format_number(arena, number) : unknown;
}

static void write_line(const struct rc_result *result, const struct rc_messages *messages, bool set)
{
    char text[TEXT_SIZE];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    bool json = rc_spank_log() == RC_SPANK_LOG_JSON;
    const char *unknown = json ? "null" : "?";
    uint32_t job, step;
    const char *node, *master, *ids, *tasks, *nodes;

    if (rc_spank_log() == RC_SPANK_LOG_NONE ||
        !rc_parse_u32(rc_env_get(&result->env, "SLURM_JOB_ID"), UINT32_MAX, &job) ||
        !rc_parse_u32(rc_env_get(&result->env, "SLURM_STEP_ID"), UINT32_MAX, &step))
        return;
    node = plain_name(rc_env_get(&result->env, "SLURMD_NODENAME"), &arena);
    master = plain_name(rc_str(set && result->master.addr ? result->master.addr : ""), &arena);
    tasks = format_count(result->facts.field[RC_WORLD_SIZE].value, unknown, &arena);
    nodes = format_count(result->facts.field[RC_NNODES].value, unknown, &arena);
    ids = list_ids(messages, json, &arena);
    if (json)
        slurm_info("rollcall: {\"event\":\"step\",\"version\":\"%s\",\"job\":%u,\"step\":%u,\"node\":\"%s\","
                   "\"outcome\":\"%s\",\"mode\":\"%s\",\"tasks\":%s,\"nodes\":%s,\"master_addr\":\"%s\","
                   "\"master_port\":%u,\"messages\":[%s]}",
                   PACKAGE_VERSION, job, step, node, set ? "set" : "refused", rc_mode_name(result->mode), tasks, nodes,
                   master, (unsigned)result->master.port, ids);
    else
        slurm_info("rollcall: step %u.%u %s: %s mode, %s tasks on %s nodes, master %s port %u%s%s", job, step,
                   set ? "set" : "refused", rc_mode_name(result->mode), tasks, nodes, *master ? master : "none",
                   (unsigned)result->master.port, *ids ? ", " : "", ids);
}

void rc_spank_event_set(const struct rc_result *result)
{
    write_line(result, &result->messages, true);
}

void rc_spank_event_refused(const struct rc_result *result, const struct rc_messages *messages)
{
    write_line(result, messages, false);
}
