/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "verdict.h"

#include <string.h>

#include "roll/check.h"

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

/* The port that the node of RANK 0 holds. A launch that is not complete does
 * without: a node that has not answered will not hear of it. */
static uint16_t held_port(const struct rc_roll *rolls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rolls[i].port)
            return rolls[i].port;
    return 0;
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

struct rc_str rc_verdict_decide(void *more, const struct rc_roll *rolls, size_t count, bool complete)
{
    struct rc_verdict *verdict = more;
    struct rc_answer *answer = &verdict->answer;
    struct rc_arena arena = { .base = verdict->text, .size = sizeof(verdict->text) };
    struct rc_answer others;

    /* 0, 0: the server knows no counts of its own, so the order of the entries cannot matter */
    if (verdict->check != RC_CHECK_OFF &&
        !rc_roll_check(rolls, count, 0, 0, verdict->seconds, &answer->findings, &arena))
        rc_message_add(&answer->findings, RC611, "the roll could not be checked: out of memory; the tasks start");
    answer->stop = has_dead_node(rolls, count) || (verdict->check == RC_CHECK_STOP && answer->findings.has_error) ||
                   (verdict->check == RC_CHECK_STRICT && answer->findings.count > 0);
    answer->port = complete && are_all_tasks(rolls, count) ? held_port(rolls, count) : 0;
    others = *answer;
    others.findings.count = 0;
    others.said = answer->findings.count > 0;
    return rc_str(rc_answer_write(&others, &arena));
}
