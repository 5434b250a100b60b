/* SPDX-License-Identifier: BSD-3-Clause */
#include "taskline.h"

#include <stdlib.h>
#include <string.h>

#include "console/escape.h"
#include "system/affinity.h"
#include "system/node.h"

enum { CELL_SIZE = 200, CELL_CUT = 40 };

const char *cli_column_title(enum cli_column column)
{
    static const char *const titles[CLI_COLUMN_COUNT] = { "rank",  "node",   "local rank", "GPU",
                                                          "cores", "master", "verdict" };

    return titles[column];
}

struct line {
    struct rc_arena arena;
    bool failed;
};

/* A value is cut: a list of GPUs or cores may be long. */
static void add_cell(struct line *line, struct rc_str value)
{
    char *clean = console_escape(value.n ? value : RC_STR("-"), CELL_CUT);

    if (!clean) {
        line->failed = true;
        return;
    }
    rc_join(&line->arena);
    rc_format(&line->arena, "\t%s", clean);
    free(clean);
}

static void add_number(struct line *line, uint32_t value)
{
    char text[16];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };

    add_cell(line, value == RC_UNKNOWN ? RC_ABSENT : rc_str(rc_format_number(&arena, value)));
}

static uint32_t rank_of(const struct rc_result *result)
{
    if (result->mode == RC_MODE_LAUNCHER)
        return result->identity.field[RC_NODE_RANK];
    if (result->identity.field[RC_RANK] != RC_UNKNOWN)
        return result->identity.field[RC_RANK];
    return result->facts.field[RC_RANK].value;
}

/* The entry of LOCAL_RANK in the list that the program will see; without a list, the device of that number. */
static struct rc_str seen_gpu(const struct rc_result *result, struct rc_arena *arena)
{
    const struct rc_visible *visible = &result->visible;
    struct rc_str list = visible->list ? rc_str(visible->list) : visible->gpus.seen;
    uint32_t device = visible->device;

    if (list.p)
        return device < rc_str_pieces(list, ',') ? rc_gpu_list_at(list, device) : RC_ABSENT;
    return device < rc_node_gpus() && rc_node_gpus() != RC_UNKNOWN ? rc_str(rc_format_number(arena, device))
                                                                   : RC_ABSENT;
}

static struct rc_str own_gpu(const struct rc_result *result, struct rc_arena *arena)
{
    const struct rc_task_gpus *gpus = &result->visible.gpus;

    if (result->mode == RC_MODE_LAUNCHER)
        return gpus->all.p ? gpus->all : gpus->seen;
    return gpus->own.p ? gpus->own : seen_gpu(result, arena);
}

static struct rc_str own_cores(struct rc_arena *arena)
{
    struct rc_cpuset cores;

    return rc_affinity_get(&cores) ? rc_str(rc_cpuset_write(&cores, arena)) : RC_ABSENT;
}

static struct rc_str master_place(const struct rc_master *master, struct rc_arena *arena)
{
    bool is_ipv6 = master->addr && strchr(master->addr, ':');

    if (!master->addr)
        return RC_ABSENT;
    return rc_str(rc_format(arena, is_ipv6 ? "[%s]:%u" : "%s:%u", master->addr, (uint32_t)master->port));
}

static bool is_said(enum rc_message_id id)
{
    return rc_message_entry(id)->level != RC_LEVEL_NOTE;
}

/* "ok", or "RC301 RC407". */
static struct rc_str verdict(const struct rc_messages *messages, struct rc_arena *arena)
{
    const char *text = "ok";
    bool any = false;

    for (unsigned i = 0; i < messages->count; i++) {
        if (!is_said(messages->list[i].id))
            continue;
        if (any)
            rc_join(arena);
        rc_format(arena, "%s%s", any ? " " : "", rc_message_entry(messages->list[i].id)->id);
        if (!any)
            text = arena->base;
        any = true;
    }
    return rc_str(text);
}

static void add_notes(struct line *line, const struct rc_messages *messages)
{
    for (unsigned i = 0; i < messages->count && !line->failed; i++) {
        const struct rc_message_entry *entry = rc_message_entry(messages->list[i].id);
        char *clean = is_said(messages->list[i].id) ? console_escape(rc_str(messages->list[i].text), 0) : NULL;
        size_t used = line->arena.used;

        if (!clean)
            continue;
        rc_join(&line->arena);
        rc_format(&line->arena, "note %s %s\t%s\n", rc_level_name(entry->level), entry->id, clean);
        free(clean);
        if (line->arena.full) {
            line->arena.base[used - 1] = '\0';
            return;
        }
    }
}

bool cli_taskline_write(const struct rc_result *result, char text[CLI_TASKLINE_SIZE])
{
    struct line line = { .arena = { .base = text, .size = CLI_TASKLINE_SIZE } };
    const uint32_t *field = result->identity.field;
    char room[2 * RC_CPUS_MAX];
    char name[RC_NODE_NAME_SIZE];

#define ROOM (&(struct rc_arena){ .base = room, .size = sizeof(room) })
    rc_format(&line.arena, "task %u", rank_of(result));
    add_number(&line, rank_of(result));
    add_cell(&line, rc_str(rc_node_name(name)));
    add_number(&line, field[RC_LOCAL_RANK]);
    add_cell(&line, own_gpu(result, ROOM));
    add_cell(&line, own_cores(ROOM));
    add_cell(&line, master_place(&result->master, ROOM));
    add_cell(&line, verdict(&result->messages, ROOM));
#undef ROOM
    rc_join(&line.arena);
    rc_format(&line.arena, "\n");
    if (line.failed || line.arena.full)
        return false;
    add_notes(&line, &result->messages);
    return !line.failed;
}
