/* SPDX-License-Identifier: BSD-3-Clause */
#include "roster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "rendezvous/protocol.h"
#include "roll/check.h"
#include "roll/items.h"
#include "roll/netorder.h"

enum { RANKS_SIZE = 24 };

/* A blank line ends each entry. */
static int split_entries(struct roster *roster)
{
    size_t most = 0;
    char *next;

    for (const char *p = roster->text; (p = strstr(p, "\n\n")); p += 2)
        most++;
    roster->roll = calloc(most + 1, sizeof(*roster->roll));
    if (!roster->roll)
        return -1;
    for (char *p = roster->text; (next = strstr(p, "\n\n")); p = next + 2)
        if (rc_roll_read((struct rc_str){ p, (size_t)(next + 1 - p) }, &roster->roll[roster->count]))
            roster->count++;
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

static int read_text(struct roster *roster)
{
    const struct rc_roll_known known = { .item_lines = RC_ITEMS };
    struct rc_arena arena = { .size = RC_CHECK_ARENA };

    arena.base = roster->findings_text = malloc(RC_CHECK_ARENA);
    if (!arena.base || split_entries(roster) < 0)
        return fail_memory("read");
    if (roster->count == 0) {
        console_fail("no node of step %s has answered yet", roster->step);
        return -1;
    }
    qsort(roster->roll, roster->count, sizeof(*roster->roll), by_node);
    if (!rc_roll_check(roster->roll, roster->count, &known, &roster->findings, &roster->blame, &arena))
        return fail_memory("check");
    if (!follow_order(roster))
        return fail_memory("sort");
    roster->nodes = roster->roll[0].nodes;
    roster->world = roster->roll[0].world;
    return 0;
}

int cli_roster_ask(struct roster *roster, const struct stepserver *server)
{
    *roster = (struct roster){ .text = cli_stepserver_ask(server, RC_SERVER_QUESTION) };
    memcpy(roster->step, server->step, sizeof(roster->step));
    return roster->text ? read_text(roster) : -1;
}

void cli_roster_free(struct roster *roster)
{
    free(roster->roll);
    free(roster->text);
    free(roster->findings_text);
    free(roster->order_text);
    rc_blame_free(&roster->blame);
    *roster = (struct roster){ .count = 0 };
}
