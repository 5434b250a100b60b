/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/missing.h"

#include <stdlib.h>

#include "rendezvous/client.h"

enum { ROLL_MS = 5000 };

/* Counts the missing tasks of one node. */
static uint32_t count_missing(const struct rc_roll *roll, const bool *come, uint32_t all)
{
    struct rc_str rest = roll->tasks;
    uint32_t first, last;
    uint32_t missing = 0;

    while (rc_roll_next_range(&rest, &first, &last))
        for (uint32_t task = first; task <= last && task < all; task++)
            missing += !come[task];
    return missing;
}

size_t rc_missing_ranges(const bool *come, uint32_t all, struct rc_range *range)
{
    size_t ranges = 0;

    for (uint32_t i = 0; i < all; i++) {
        if (come[i])
            continue;
        if (i == 0 || come[i - 1])
            range[ranges++].first = i;
        range[ranges - 1].last = i;
    }
    return ranges;
}

static uint32_t count_all(const bool *come, uint32_t all)
{
    uint32_t missing = 0;

    for (uint32_t i = 0; i < all; i++)
        missing += !come[i];
    return missing;
}

/* Returns " on n[2-3]", or "" unless the nodes of all missing tasks are known. */
static const char *name_hosts(const bool *come, uint32_t all, const struct rc_roll *rolls, size_t count,
                              struct rc_member *member, struct rc_namer *namer, struct rc_str *one)
{
    uint32_t missing = count_all(come, all);
    size_t members = 0;
    const char *hosts;
    struct rc_str rest;

    for (size_t i = 0; i < count; i++) {
        uint32_t here = count_missing(&rolls[i], come, all);

        missing -= here;
        if (here)
            member[members++] = (struct rc_member){ .roll = &rolls[i] };
    }
    if (!members || missing)
        return "";
    hosts = rc_name_hosts(namer, member, members);
    *one = rc_str_split(namer->host[0], '.', &rest);
    return rc_format(&namer->text, " on %s", hosts);
}

const char *rc_missing_name(const char *what, const bool *come, uint32_t all, const struct rc_roll *rolls, size_t count,
                            struct rc_namer *namer, struct rc_str *one)
{
    struct rc_range *range = calloc(all / 2 + 1, sizeof(*range));
    struct rc_member *member = calloc(count + 1, sizeof(*member));
    const char *text = NULL;

    namer->host = calloc(count + 1, sizeof(*namer->host));
    if (range && member && namer->host) {
        const char *tasks = rc_name_ranges(namer, what, range, rc_missing_ranges(come, all, range));

        text = rc_format(&namer->text, "%s%s", tasks, name_hosts(come, all, rolls, count, member, namer, one));
    }
    free(range);
    free(member);
    free(namer->host);
    return text;
}

bool rc_missing_ask(const struct rc_endpoint *server, const bool *come, uint32_t all, struct rc_arena *arena)
{
    uint32_t missing = count_all(come, all);
    struct rc_reply reply = { .text = NULL };
    struct rc_roll *rolls = NULL;
    struct rc_namer namer;
    struct rc_str one;
    size_t count = 0;
    const char *ranks;

    if (!missing)
        return false;
    if (server && rc_client_request(server, RC_STR(RC_SERVER_QUESTION), ROLL_MS, &reply, NULL) == 0)
        rolls = rc_roll_read_all(reply.text, &count);
    rc_namer_reset(&namer);
    ranks = rc_missing_name("rank", come, all, rolls, count, &namer, &one);
    rc_format(arena, "%s %s not called it", ranks ? ranks : "a rank", ranks && missing > 1 ? "have" : "has");
    free(rolls);
    free(reply.text);
    return true;
}
