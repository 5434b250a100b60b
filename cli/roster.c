/* SPDX-License-Identifier: BSD-3-Clause */
#include "roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "console/input.h"
#include "rendezvous/protocol.h"
#include "roll/check.h"
#include "roll/items.h"
#include "roll/netorder.h"
#include "roll/record.h"

enum { RANKS_SIZE = 24, TEXT_SIZE = RC_CHECK_ARENA + RC_RECORD_SIZE };

/* The parts of a text end with a blank line: entries, and before them in a record what is known of the step itself, and
 * the times of its start-up. */
static int split_parts(struct roster *roster, struct rc_record *record, struct rc_arena *arena)
{
    size_t most = 0;
    char *next;

    for (const char *p = roster->text; (p = strstr(p, "\n\n")); p += 2)
        most++;
    roster->roll = calloc(most + 1, sizeof(*roster->roll));
    if (!roster->roll)
        return -1;
    for (char *p = roster->text; (next = strstr(p, "\n\n")); p = next + 2) {
        struct rc_str part = { p, (size_t)(next + 1 - p) };

        if (rc_roll_read(part, &roster->roll[roster->count]))
            roster->count++;
        else if (!record->step.p)
            (void)rc_record_read(part, record, arena);
        else if (!roster->times.known)
            cli_times_read(&roster->times, part);
    }
    return 0;
}

static int by_node(const void *a, const void *b)
{
    uint32_t left = ((const struct rc_roll *)a)->node;
    uint32_t right = ((const struct rc_roll *)b)->node;

    return (left > right) - (left < right);
}

/* What the nodes were told of the order that they asked for: it changes node ranks, ranks and the master. False without
 * memory. */
static bool follow_order(struct roster *roster)
{
    struct rc_arena arena = { .size = RC_NETORDER_MAX + roster->count * RANKS_SIZE };
    struct rc_str first;
    const char *order;

    if (!roster->roll[0].place.p)
        return true;
    arena.base = roster->order_text = malloc(arena.size);
    if (!arena.base)
        return false;
    if (rc_netorder_sort(roster->roll, roster->count, roster->count == roster->roll[0].nodes, &order, &arena))
        return true;
    roster->ordered = true;
    first = rc_netorder_host(&roster->roll[0]);
    for (size_t i = 0; i < roster->count; i++) {
        struct rc_roll *roll = &roster->roll[i];
        uint32_t tasks, before = 0;

        tasks = rc_netorder_find(rc_str(order), roll->node, &roll->node, &before) ? rc_netorder_tasks(roll) : 0;
        roll->tasks = rc_str(tasks == 1 ? rc_format_number(&arena, before)
                                        : rc_format(&arena, "%u-%u", before, before + tasks - 1));
        roll->addr = first;
        roll->port = i == 0 ? roll->port : 0;
    }
    return true;
}

static int fail_memory(const char *what)
{
    console_fail("cannot %s the roll: %s", what, strerror(ENOMEM));
    return -1;
}

static unsigned find_finding(const struct roster *roster, enum rc_message_id id)
{
    unsigned i = 0;

    while (i < roster->findings.count && roster->findings.list[i].id != id)
        i++;
    return i;
}

/* Whether a task of the node has not reached init_process_group. */
static bool is_late(const struct rc_times *times, const struct rc_roll *roll)
{
    struct rc_str rest = roll->tasks;
    uint32_t first, last;

    while (rc_roll_next_range(&rest, &first, &last))
        for (uint32_t task = first; task <= last && task < times->tasks; task++)
            if (!times->task[task].at[RC_MARK_INIT])
                return true;
    return false;
}

/* Those for whom the others have waited in vain, if they are fewer than half. False without memory. */
static bool blame_late(struct roster *roster)
{
    unsigned finding = find_finding(roster, RC707);
    const struct rc_times *times = &roster->times.read.times;
    size_t late = 0;

    if (finding == roster->findings.count || find_finding(roster, RC708) < roster->findings.count || !times->task)
        return true;
    for (size_t i = 0; i < roster->count; i++)
        late += is_late(times, &roster->roll[i]);
    if (late >= roster->count - roster->count / 2)
        return true;
    for (size_t i = 0; i < roster->count; i++)
        if (is_late(times, &roster->roll[i]) && !rc_blame_add(&roster->blame, finding, &roster->roll[i]))
            return false;
    return true;
}

/* The findings anew, and behind them what the server has said in addition. */
static bool find_again(struct roster *roster, const struct rc_record *record, struct rc_arena *arena)
{
    const struct rc_roll_known known = { .deadline = record->deadline, .item_lines = RC_ITEMS };
    bool decided = record->deadline > 0;

    if ((roster->count > 0 || decided) &&
        !rc_roll_check(roster->roll, roster->count, &known, &roster->findings, &roster->blame, arena))
        return false;
    for (unsigned i = 0; i < record->said.count; i++)
        rc_message_add(&roster->findings, record->said.list[i].id, record->said.list[i].text);
    return blame_late(roster);
}

/* Reads roster->text, which may begin with a record. */
static int read_text(struct roster *roster, struct rc_record *record)
{
    struct rc_arena arena = { .size = TEXT_SIZE };

    arena.base = roster->findings_text = malloc(TEXT_SIZE);
    if (!arena.base || split_parts(roster, record, &arena) < 0)
        return fail_memory("read");
    qsort(roster->roll, roster->count, sizeof(*roster->roll), by_node);
    if (!find_again(roster, record, &arena))
        return fail_memory("check");
    if (roster->count > 0 && !follow_order(roster))
        return fail_memory("sort");
    roster->nodes = roster->count ? roster->roll[0].nodes : 0;
    roster->world = roster->count ? roster->roll[0].world : 0;
    return 0;
}

int cli_roster_ask(struct roster *roster, const struct stepserver *server)
{
    struct rc_record none = { .deadline = 0 };

    *roster = (struct roster){ .text = cli_stepserver_ask(server, RC_SERVER_QUESTION) };
    memcpy(roster->step, server->step, sizeof(roster->step));
    if (!roster->text || read_text(roster, &none) < 0)
        return -1;
    cli_times_ask(&server->endpoint, &roster->times);
    if (roster->count > 0)
        return 0;
    console_fail("no node of step %s has answered yet", roster->step);
    return -1;
}

int cli_roster_load(struct roster *roster, const char *path)
{
    struct rc_record record = { .deadline = 0 };

    *roster = (struct roster){ .text = input_text(path) };
    if (!roster->text || read_text(roster, &record) < 0)
        return -1;
    if (!record.step.p) {
        console_fail("%s is no record of a step", strcmp(path, "-") == 0 ? "standard input" : path);
        return -1;
    }
    memcpy(roster->step, record.step.p, record.step.n);
    roster->stopped = record.stop;
    return 0;
}

void cli_roster_free(struct roster *roster)
{
    free(roster->roll);
    free(roster->text);
    free(roster->findings_text);
    free(roster->order_text);
    rc_blame_free(&roster->blame);
    cli_times_free(&roster->times);
    *roster = (struct roster){ .count = 0 };
}
