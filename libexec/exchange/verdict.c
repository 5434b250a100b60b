/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.c - the result of a roll call: the answer to all nodes, and findings. */
#include "config.h"

#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "roll/check.h"
#include "roll/netorder.h"

/* Totals of the entries. */
struct sum {
    uint64_t tasks;
    uint32_t world;
    bool asks_order;              /* each node then holds a port, and RANK 0's node is chosen */
    bool has_dead;                /* a node whose tasks do not start: others would wait for them */
    const struct rc_roll *holder; /* of RANK 0's port; or NULL */
};

static struct sum add_up(const struct rc_roll *rolls, size_t count)
{
    struct sum sum = { .tasks = 0 };

    for (size_t i = 0; i < count; i++) {
        sum.tasks += rc_netorder_tasks(&rolls[i]);
        if (rolls[i].world > sum.world)
            sum.world = rolls[i].world;
        sum.asks_order = sum.asks_order || rolls[i].place.p;
        sum.has_dead = sum.has_dead || rolls[i].dead.p;
        if (!sum.holder && rolls[i].port)
            sum.holder = &rolls[i];
    }
    return sum;
}

/* Return the launcher's node rank of RANK 0's node: 0 in the launcher's order. Sorts a copy: the server keeps the order
 * of arrival. */
static uint32_t find_order(struct rc_answer *answer, const struct rc_roll *rolls, size_t count, bool complete,
                           struct rc_arena *arena)
{
    struct rc_roll *sorted = malloc(count * sizeof(*sorted));
    const char *why = "out of memory";
    const char *order = NULL;
    uint32_t first = 0;

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
        first = sorted[0].node;
    }
    free(sorted);
    return first;
}

/* No task starts on any node. */
static void refuse_foreign(struct rc_answer *answer, const char *foreign, struct rc_arena *arena)
{
    answer->stop = true;
    rc_message_add(&answer->findings, RC608, rc_format(arena, RC_FOREIGN "no task starts; " RC_FOREIGN_CURE, foreign));
}

/* Use the lowest number of nodes in an entry: do not wait for nodes that only one knows. */
static bool is_whole(const struct rc_roll *rolls, size_t count)
{
    uint32_t nodes = UINT32_MAX;

    for (size_t i = 0; i < count; i++)
        nodes = rolls[i].nodes < nodes ? rolls[i].nodes : nodes;
    return count > 0 && count >= nodes;
}

static void decide(struct rc_verdict *verdict, const struct rc_server_settings *settings, const struct rc_roll *rolls,
                   size_t count, struct rc_arena *arena)
{
    struct rc_answer *answer = &verdict->answer;
    const struct sum sum = add_up(rolls, count);
    bool complete = is_whole(rolls, count);
    /* a task without an entry has computed its port */
    bool whole = complete && sum.tasks >= sum.world;
    const struct rc_roll_known known = { .deadline = settings->seconds,
                                         .item_lines = RC_ITEM_LINES,
                                         .silence = verdict->silence,
                                         .addr = whole ? rc_roll_address(rolls, count) : RC_ABSENT,
                                         .addresses_alone = settings->check == RC_CHECK_OFF };
    const struct rc_roll *first = sum.holder;

    if (!rc_roll_check(rolls, count, &known, &answer->findings, NULL, arena))
        rc_message_add(&answer->findings, RC611, "the nodes could not be compared: out of memory; the tasks start");
    if (sum.asks_order) {
        uint32_t node = find_order(answer, rolls, count, whole, arena);

        first = NULL;
        for (size_t i = 0; i < count && !first; i++)
            first = rolls[i].node == node ? &rolls[i] : NULL;
    }
    answer->stop = sum.has_dead || (first && first->busy.p) ||
                   (settings->check == RC_CHECK_STOP && answer->findings.has_error) ||
                   (settings->check == RC_CHECK_STRICT && answer->findings.count > 0) ||
                   (settings->same == RC_CHECK_STOP && rc_roll_found(&answer->findings, RC622));
    /* if incomplete, omit the port: a missing node would not receive it */
    answer->port = whole && first ? first->port : 0;
    answer->own = whole && first ? first->own : RC_ABSENT;
    answer->addr = known.addr;
}

struct rc_str rc_verdict_decide(void *more, const struct rc_roll_call *call)
{
    struct rc_verdict *verdict = more;
    struct rc_arena arena = { .base = verdict->text, .size = sizeof(verdict->text) };
    size_t count;
    struct rc_roll *rolls = rc_muster_rolls(call->gather, &count);
    struct rc_answer answer;

    verdict->answer.findings.arena = &arena;
    if (call->foreign)
        refuse_foreign(&verdict->answer, call->foreign, &arena);
    else if (rolls)
        decide(verdict, call->settings, rolls, count, &arena);
    answer = verdict->answer;
    if (verdict->srun.p) {
        answer.findings.count = 0;
        answer.said = verdict->answer.findings.count > 0;
    }
    free(rolls);
    return rc_str(rc_answer_write(&answer, &arena));
}
