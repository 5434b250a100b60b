/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* strverscmp */
#include "roll/netorder.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/layout.h"

#define NOWHERE "-"

/* Return the offset of the node's name. It may have dots, so count those of the pattern. */
static size_t name_begin(struct rc_str address, struct rc_str pattern)
{
    size_t dots = 0;
    size_t at = 0;

    for (size_t i = 0; i < pattern.n; i++)
        dots += pattern.p[i] == '.';
    for (size_t i = 0; i < address.n && dots > 0; i++) {
        if (address.p[i] != '.')
            continue;
        dots--;
        at = i + 1;
    }
    return dots ? 0 : at;
}

struct rc_str rc_netorder_place(const struct rc_env *env, struct rc_str host, struct rc_arena *arena)
{
    struct rc_str address = rc_env_get(env, "SLURM_TOPOLOGY_ADDR");
    size_t begin = name_begin(address, rc_env_get(env, "SLURM_TOPOLOGY_ADDR_PATTERN"));
    struct rc_str name = { address.p + begin, address.n - begin };
    struct rc_str above = { address.p, begin ? begin - 1 : 0 };
    bool known = false;

    for (size_t i = 0; i < above.n; i++)
        known = known || above.p[i] != '.';
    if (!known)
        above = RC_STR(NOWHERE);
    return rc_str(rc_format(arena, "%pS %pS", &above, name.n ? &name : &host));
}

struct rc_str rc_netorder_host(const struct rc_roll *roll)
{
    struct rc_str name = RC_ABSENT;

    if (roll->place.p)
        rc_str_split(roll->place, ' ', &name);
    return name;
}

static struct rc_str switches_of(const struct rc_roll *roll)
{
    struct rc_str name;

    return rc_str_split(roll->place, ' ', &name);
}

/* strverscmp() puts "s2" before "s10". */
static int by_place(const void *a, const void *b)
{
    char text[2][RC_ROLL_TEXT_MAX + 1];
    struct rc_arena left = { .base = text[0], .size = sizeof(text[0]) };
    struct rc_arena right = { .base = text[1], .size = sizeof(text[1]) };
    int order = strverscmp(rc_copy(&left, switches_of(a)), rc_copy(&right, switches_of(b)));

    return order ? order : rc_roll_by_node(a, b);
}

/* Return why the entries, sorted by node rank, cannot be ordered, or NULL. */
static const char *find_doubt(const struct rc_roll *rolls, size_t count, bool complete, struct rc_arena *arena)
{
    size_t nowhere = 0;
    size_t last = 0;
    struct rc_str host;

    if (!complete)
        return "not all nodes were there in time";
    for (size_t i = 0; i < count; i++) {
        if (rolls[i].node != i || rolls[i].nodes != count || !rc_str_eq(rolls[i].scope, rolls[0].scope))
            return "the nodes do not agree on how many they are";
        if (rolls[i].place.p && !rc_str_is(switches_of(&rolls[i]), NOWHERE))
            continue;
        nowhere++;
        last = i;
    }
    if (nowhere == 0)
        return NULL;
    if (nowhere == count)
        return "Slurm has no switches or blocks here (SLURM_TOPOLOGY_ADDR)";
    host = rc_netorder_host(&rolls[last]);
    if (!host.n)
        return "it was not requested on all nodes";
    return rc_format(arena, "Slurm does not provide the switch or block of %pS (SLURM_TOPOLOGY_ADDR)", &host);
}

uint32_t rc_netorder_tasks(const struct rc_roll *roll)
{
    struct rc_str rest = roll->tasks;
    uint32_t tasks = 0;
    uint32_t first;
    uint32_t last;

    while (rc_roll_next_range(&rest, &first, &last))
        tasks += last - first + 1;
    return tasks;
}

static const char *write_order(const struct rc_roll *rolls, size_t count, struct rc_arena *arena)
{
    struct rc_runs runs = rc_runs_begin(arena);

    for (size_t i = 0; i < count; i++)
        rc_runs_add(&runs, rolls[i].node, rc_netorder_tasks(&rolls[i]));
    return rc_runs_end(&runs);
}

const char *rc_netorder_sort(struct rc_roll *rolls, size_t count, bool complete, const char **order,
                             struct rc_arena *arena)
{
    const char *why;
    const char *text;

    qsort(rolls, count, sizeof(*rolls), rc_roll_by_node);
    why = find_doubt(rolls, count, complete, arena);
    if (why)
        return why;
    qsort(rolls, count, sizeof(*rolls), by_place);
    text = write_order(rolls, count, arena);
    if (text && rc_str(text).n <= RC_ROLL_ORDER_MAX) {
        *order = text;
        return NULL;
    }
    qsort(rolls, count, sizeof(*rolls), rc_roll_by_node);
    return "the nodes are in too many pieces";
}

bool rc_netorder_find(struct rc_str order, uint32_t node, uint32_t *place, uint32_t *before)
{
    uint64_t nodes = 0;
    uint64_t sum = 0;
    struct rc_run run;

    while (order.p && rc_run_next(&order, &run)) {
        uint64_t those = (uint64_t)run.nodes * run.tasks;

        if (those > RC_MAX_TASKS - sum)
            return false;
        if (node >= run.first && node - run.first < run.nodes) {
            *place = (uint32_t)nodes + node - run.first;
            *before = (uint32_t)sum + (node - run.first) * run.tasks;
            return true;
        }
        nodes += run.nodes;
        sum += those;
    }
    return false;
}
