/* SPDX-License-Identifier: BSD-3-Clause */
#include "times.h"

#include <stdio.h>
#include <stdlib.h>

#include "console/table.h"
#include "rendezvous/client.h"
#include "rendezvous/protocol.h"

enum { PATIENCE_MS = 2000, LINE_SIZE = 2048, CELL_SIZE = 64 };

static const char *const headings[] = {
    [RC_STAGE_CALL] = "srun to the roll call",     [RC_STAGE_BEGIN] = "roll call to the program",
    [RC_STAGE_TORCH] = "program to torch",         [RC_STAGE_INIT] = "torch to init_process_group",
    [RC_STAGE_JOIN] = "init_process_group itself",
};

void cli_times_read(struct cli_times *times, struct rc_str text)
{
    times->known = rc_times_read(text, &times->read) &&
                   rc_startup_find(&times->read.times, times->read.count, &times->startup);
}

void cli_times_ask(const struct rc_endpoint *server, struct cli_times *times)
{
    struct rc_reply reply;

    if (rc_client_request(server, rc_str(RC_SERVER_TIMES), PATIENCE_MS, &reply, NULL) < 0)
        return;
    times->text = reply.text;
    cli_times_read(times, (struct rc_str){ reply.text, reply.size });
}

const char *cli_times_line(const struct cli_times *times, struct rc_arena *arena)
{
    return times->known ? rc_startup_line(&times->read.times, times->read.roll, times->read.count, arena) : NULL;
}

struct rc_str cli_times_slowest(const struct cli_times *times, enum rc_stage stage)
{
    uint32_t which = times->startup.stage[stage].which;
    const struct rc_roll *roll = rc_times_node_of(&times->read, which);

    if (stage == RC_STAGE_CALL)
        roll = which < times->read.count ? &times->read.roll[which] : NULL;
    return roll ? roll->host : RC_ABSENT;
}

static void add_stage(struct table *table, const struct cli_times *times, enum rc_stage stage)
{
    const struct rc_stage_figures *figures = &times->startup.stage[stage];
    char space[CELL_SIZE];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };

    if (figures->count == 0)
        return;
    table_text(table, PAINT_NONE, headings[stage]);
    table_text(table, PAINT_NONE, rc_startup_seconds(figures->median, &arena));
    table_text(table, PAINT_NONE, rc_startup_seconds(figures->slowest, &arena));
    table_cell(table, PAINT_NONE, cli_times_slowest(times, stage), CELL_SIZE);
}

int cli_times_print(const struct cli_times *times)
{
    static struct table table;
    char space[LINE_SIZE];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };
    const char *line = cli_times_line(times, &arena);

    if (!line)
        return 0;
    printf("\n");
    if (console_print_wrapped(0, 4, PAINT_NONE, line) < 0)
        return -1;
    table = (struct table){ .columns = 4 };
    table_text(&table, PAINT_STRONG,
               rc_format(&arena, "%u of %u tasks", times->read.times.told, times->read.times.tasks));
    table_text(&table, PAINT_STRONG, "median");
    table_text(&table, PAINT_STRONG, "slowest");
    table_text(&table, PAINT_STRONG, "");
    for (unsigned stage = 0; stage < RC_STAGES; stage++)
        add_stage(&table, times, (enum rc_stage)stage);
    return table_print(&table);
}

void cli_times_free(struct cli_times *times)
{
    rc_times_read_free(&times->read);
    free(times->text);
    *times = (struct cli_times){ .known = false };
}
