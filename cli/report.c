/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdio.h>

static const struct {
    const char *name;
    const char *key;
    const char *meaning;
} fields[RC_FIELD_COUNT] = {
    [RC_RANK] = { "rank", "rank", "this task's number in the job" },
    [RC_LOCAL_RANK] = { "local rank", "local_rank", "this task's number on its node" },
    [RC_NODE_RANK] = { "node rank", "node_rank", "this node's number in the job, by the lowest rank on it" },
    [RC_WORLD_SIZE] = { "world size", "world_size", "tasks in the job" },
    [RC_LOCAL_WORLD_SIZE] = { "local world size", "local_world_size", "tasks on this node" },
    [RC_NNODES] = { "nodes", "nnodes", "nodes of the job" },
};

const char *cli_report_field_name(enum rc_field field)
{
    return fields[field].name;
}

const char *cli_report_field_key(enum rc_field field)
{
    return fields[field].key;
}

const char *cli_report_field_meaning(enum rc_field field)
{
    return fields[field].meaning;
}

const char *cli_report_field_source(const struct rc_result *result, enum rc_field field)
{
    const struct rc_number *said = &result->facts.field[field];
    const char *source = said->source;

    if (result->identity.field[field] == RC_UNKNOWN)
        return "";
    if (result->identity.field[field] != said->value) /* order=node */
        source = result->facts.node_order_rank.source;
    return source ? source : "";
}

bool cli_report_has_identity(const struct rc_result *result)
{
    for (enum rc_field field = 0; field < RC_FIELD_COUNT; field++)
        if (result->identity.field[field] != RC_UNKNOWN)
            return true;
    return false;
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
