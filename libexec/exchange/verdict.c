/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.c - what becomes of a roll call: the answer to all nodes, and what is printed. */
#include "config.h"

#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "roll/check.h"
#include "roll/netorder.h"

/* A task without an entry has asked no server, and computes its port. */
static bool are_all_tasks(const struct rc_roll *rolls, size_t count)
{
    uint64_t tasks = 0;
    uint32_t world = 0;

    for (size_t i = 0; i < count; i++) {
        struct rc_str rest = rolls[i].tasks;
        uint32_t first, last;

        if (rolls[i].world > world)
            world = rolls[i].world;
        while (rc_roll_next_range(&rest, &first, &last))
            tasks += last - first + UINT64_C(1);
    }
    return tasks >= world;
}

/* Sorts a copy: the server keeps the entries in the order in which they came. */
static void find_order(struct rc_answer *answer, const struct rc_roll *rolls, size_t count, bool complete,
                       struct rc_arena *arena)
{
    struct rc_roll *sorted = malloc(count * sizeof(*sorted));
    const char *why = "out of memory";
    const char *order = NULL;

    if (sorted) {
        memcpy(sorted, rolls, count * sizeof(*sorted));
        why = rc_netorder_sort(sorted, count, complete, &order, arena);
    }
    if (why) {
        answer->unordered = rc_str(why);
    } else {
        struct rc_str host = rc_netorder_host(&sorted[0]);

        answer->order = rc_str(order);
        answer->first = rc_str(rc_format(arena, "%pS", &host));
    }
    free(sorted);
}

/* Whether the nodes ask for an order. Then each holds a port, and one is to be the node of RANK 0. */
static bool ask_for_order(const struct rc_roll *rolls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rolls[i].place.p)
            return true;
    return false;
}

/* The node of RANK 0, of nodes that ask for an order. NULL where it has not answered. */
static const struct rc_roll *find_first(const struct rc_answer *answer, const struct rc_roll *rolls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t place = rolls[i].node;
        uint32_t before;

        if (answer->order.p && !rc_netorder_find(answer->order, rolls[i].node, &place, &before))
            return NULL;
        if (place == 0)
            return &rolls[i];
    }
    return NULL;
}

/* The node that holds the port, which is that of RANK 0. */
static const struct rc_roll *find_holder(const struct rc_roll *rolls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rolls[i].port)
            return &rolls[i];
    return NULL;
}

/* Where one node's tasks do not start, whatever the reason, all others would wait
 * for them in vain. */
static bool has_dead_node(const struct rc_roll *rolls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rolls[i].dead.p)
            return true;
    return false;
}

/* Such a node does not hear the answer. */
static bool has_absent_node(const struct rc_roll *rolls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rolls[i].absent.p)
            return true;
    return false;
}

static bool has_odd_node(const struct rc_messages *findings)
{
    for (unsigned i = 0; i < findings->count; i++)
        if (findings->list[i].id == RC622)
            return true;
    return false;
}

struct rc_str rc_verdict_decide(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    struct rc_verdict *verdict = more;
    struct rc_answer *answer = &verdict->answer;
    struct rc_arena arena = { .base = verdict->text, .size = sizeof(verdict->text) };
    /* the server knows no counts of its own, so the order of the entries cannot matter */
    const struct rc_roll_known known = { .deadline = verdict->seconds, .item_lines = RC_ITEM_LINES };
    const struct rc_roll *first;
    struct rc_answer others;

    if (verdict->check != RC_CHECK_OFF && !rc_roll_check(rolls, count, &known, &answer->findings, NULL, &arena))
        rc_message_add(&answer->findings, RC611, "the nodes could not be compared: out of memory; the tasks start");
    complete = complete && are_all_tasks(rolls, count) && !has_absent_node(rolls, count);
    if (ask_for_order(rolls, count)) {
        find_order(answer, rolls, count, complete, &arena);
        first = find_first(answer, rolls, count);
    } else {
        first = find_holder(rolls, count);
    }
    answer->stop = has_dead_node(rolls, count) || (first && first->busy.p) ||
                   (verdict->check == RC_CHECK_STOP && answer->findings.has_error) ||
                   (verdict->check == RC_CHECK_STRICT && answer->findings.count > 0) ||
                   (verdict->same == RC_CHECK_STOP && has_odd_node(&answer->findings));
    /* a launch that is not complete does without: a node that has not answered will not hear of it */
    answer->port = complete && first ? first->port : 0;
    answer->own = complete && first ? first->own : RC_ABSENT;
    others = *answer;
    others.findings.count = 0;
    others.said = answer->findings.count > 0;
    return rc_str(rc_answer_write(&others, &arena));
}
