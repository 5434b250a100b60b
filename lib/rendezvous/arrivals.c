/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/server.h"

#include <stdlib.h>

#include "base/pairs.h"
#include "launcher/hosts.h"
#include "rendezvous/client.h"
#include "roll/names.h"

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

/* Finds the ranges of those of `all` that have not come. `range` has room for half of `all`, and one more. */
static size_t find_missing(const bool *come, uint32_t all, struct rc_range *range)
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

/* Returns " on n[2-3]", or "" unless the nodes of all missing tasks are known. */
static const char *name_hosts(const bool *come, uint32_t all, uint32_t missing, const struct rc_roll *rolls,
                              size_t count, struct rc_member *member, struct rc_namer *namer, struct rc_str *one)
{
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

/* Returns "tasks 2-3 on n2", text of the namer: the `missing` of `all` that have not come, at least one. Without the
 * hosts where a roll does not have the nodes of them all; else *one gets the name of one of the hosts, without a
 * domain, as Slurm takes it. NULL without memory. */
static const char *name_missing(const char *what, const bool *come, uint32_t all, uint32_t missing,
                                const struct rc_roll *rolls, size_t count, struct rc_namer *namer, struct rc_str *one)
{
    struct rc_range *range = calloc(all / 2 + 1, sizeof(*range));
    struct rc_member *member = calloc(count + 1, sizeof(*member));
    const char *text = NULL;

    namer->host = calloc(count + 1, sizeof(*namer->host));
    if (range && member && namer->host) {
        const char *tasks = rc_name_ranges(namer, what, range, find_missing(come, all, range));

        text = rc_format(&namer->text, "%s%s", tasks, name_hosts(come, all, missing, rolls, count, member, namer, one));
    }
    free(range);
    free(member);
    free(namer->host);
    return text;
}

bool rc_missing_ask(const struct rc_endpoint *server, const bool *come, uint32_t all, struct rc_arena *arena)
{
    uint32_t missing = 0;
    struct rc_reply reply = { .text = NULL };
    struct rc_roll *rolls = NULL;
    struct rc_namer namer;
    struct rc_str one;
    size_t count = 0;
    const char *ranks;

    for (uint32_t i = 0; i < all; i++)
        missing += !come[i];
    if (!missing)
        return false;
    if (server && rc_client_request(server, RC_STR(RC_SERVER_QUESTION), ROLL_MS, &reply, NULL) == 0)
        rolls = rc_roll_read_all(reply.text, &count);
    rc_namer_reset(&namer);
    ranks = name_missing("rank", come, all, missing, rolls, count, &namer, &one);
    rc_format(arena, "%s did not make this call", ranks ? ranks : "a rank");
    free(rolls);
    free(reply.text);
    return true;
}

static bool read_arrival(struct rc_str text, uint32_t *task, uint32_t *tasks)
{
    struct rc_str rest;
    struct rc_str end;
    struct rc_str number;

    rc_str_split(text, '=', &rest);
    number = rc_str_split(rest, ' ', &rest);
    rest = rc_str_split(rest, '\n', &end);
    return end.p && end.n == 0 && rc_parse_u32(rest, RC_MAX_TASKS, tasks) && rc_parse_u32(number, RC_MAX_TASKS, task) &&
           *task < *tasks;
}

static bool make_room(struct rc_arrivals *arrivals, uint32_t tasks, int64_t now)
{
    if (arrivals->tasks)
        return true;
    arrivals->come = calloc(tasks, sizeof(*arrivals->come));
    if (!arrivals->come)
        return false;
    arrivals->tasks = tasks;
    arrivals->first = now;
    return true;
}

bool rc_arrivals_take(struct rc_arrivals *arrivals, struct rc_str text, uint32_t tasks, int64_t now)
{
    uint32_t task, of;

    if (!read_arrival(text, &task, &of) || (tasks && of != tasks) || (arrivals->tasks && of != arrivals->tasks))
        return false;
    if (!arrivals->seconds)
        return true;
    if (!make_room(arrivals, of, now))
        return false;
    arrivals->count += !arrivals->come[task];
    arrivals->come[task] = true;
    return true;
}

int64_t rc_arrivals_due(const struct rc_arrivals *arrivals)
{
    if (!arrivals->tasks || arrivals->named || arrivals->done)
        return INT64_MAX;
    return arrivals->first + arrivals->seconds * INT64_C(1000);
}

/* The command that shows an administrator the processes on a node; "" outside of Slurm. */
static const char *process_command(const struct rc_arrivals *arrivals, struct rc_namer *namer, struct rc_str host)
{
    if (!arrivals->job)
        return "";
    return rc_format(&namer->text, "srun --jobid=%u --overlap -N1%s%pS ps xf, ", arrivals->job, host.n ? " -w " : "",
                     &host);
}

static const char *name_absent(const struct rc_arrivals *arrivals, const struct rc_roll *rolls, size_t count,
                               struct rc_namer *namer, struct rc_arena *arena)
{
    struct rc_str host = RC_ABSENT;
    const char *missing = name_missing("task", arrivals->come, arrivals->tasks, arrivals->tasks - arrivals->count,
                                       rolls, count, namer, &host);

    if (!missing)
        return NULL;
    return rc_format(arena,
                     "%u s after the first, %u of %u tasks have reached init_process_group, but not %s; see what "
                     "they print and do (%spy-spy dump --pid PID); a smaller world on purpose: watch=on",
                     arrivals->seconds, arrivals->count, arrivals->tasks, missing,
                     process_command(arrivals, namer, host));
}

const char *rc_arrivals_say(struct rc_arrivals *arrivals, const struct rc_roll *rolls, size_t count, int64_t now,
                            enum rc_message_id *id, struct rc_arena *arena)
{
    struct rc_namer namer;

    if (!arrivals->tasks || arrivals->done)
        return NULL;
    if (arrivals->count == arrivals->tasks) {
        arrivals->done = true;
        *id = RC708;
        return arrivals->named
                   ? rc_format(arena, "all %u tasks have reached init_process_group now, %llu s after the first",
                               arrivals->tasks, (unsigned long long)(now - arrivals->first + 500) / 1000)
                   : NULL;
    }
    if (arrivals->named || now < rc_arrivals_due(arrivals))
        return NULL;
    rc_namer_reset(&namer);
    arrivals->named = true;
    *id = RC707;
    return name_absent(arrivals, rolls, count, &namer, arena);
}

void rc_arrivals_free(struct rc_arrivals *arrivals)
{
    free(arrivals->come);
    arrivals->come = NULL;
}

bool rc_callers_expect(struct rc_callers *callers, struct rc_str hosts, uint32_t nodes, uint32_t seconds, int64_t now)
{
    uint32_t known;

    callers->called = calloc(nodes + 1, sizeof(*callers->called));
    if (!callers->called)
        return false;
    callers->hosts = rc_hostlist_count(hosts, &known) && known == nodes ? hosts : RC_ABSENT;
    callers->nodes = nodes;
    callers->seconds = seconds;
    callers->begun = callers->since = now;
    callers->started = -1;
    return true;
}

void rc_callers_start(struct rc_callers *callers, int64_t now)
{
    callers->started = callers->since = now;
}

/* By its number, which Slurm gives: two nodes may call themselves by one name (RC607). */
void rc_callers_take(struct rc_callers *callers, struct rc_str text, int64_t now)
{
    static const struct rc_row rows[] = { RC_ROW_NUMBER(struct rc_roll, node, 0, RC_MAX_TASKS - 1) };
    static const struct rc_form form = { RC_FORM_ROWS(rows) };
    struct rc_roll caller = { .node = RC_UNKNOWN };

    if (!rc_pairs_read(text, '\n', &form, &caller) || caller.node >= callers->nodes || callers->called[caller.node])
        return;
    callers->called[caller.node] = true;
    if (callers->count++ > 0)
        return;
    /* the others are counted from here, and named by themselves */
    callers->since = now;
    callers->named = false;
}

bool rc_callers_name(struct rc_callers *callers)
{
    bool named = callers->named;

    if (callers->count < callers->nodes)
        callers->named = callers->awaited = true;
    return named;
}

int64_t rc_callers_due(const struct rc_callers *callers)
{
    if (callers->started < 0 || callers->count == callers->nodes || callers->named)
        return INT64_MAX;
    return callers->since + callers->seconds * INT64_C(1000);
}

/* "n[2-3]", "nodes 1-2". */
static const char *name_silent(const struct rc_callers *callers, struct rc_namer *namer)
{
    struct rc_range *range = calloc(callers->nodes / 2 + 1, sizeof(*range));
    const char *text = "some nodes";

    rc_namer_reset(namer);
    if (callers->hosts.p)
        text = rc_name_absent_hosts(namer, callers->hosts, callers->called, callers->nodes);
    else if (range)
        text = rc_name_ranges(namer, "node", range, find_missing(callers->called, callers->nodes, range));
    free(range);
    return text;
}

const char *rc_callers_say(struct rc_callers *callers, int64_t now, enum rc_message_id *id, struct rc_arena *arena)
{
    struct rc_namer namer;

    if (callers->count < callers->nodes && now >= rc_callers_due(callers)) {
        rc_callers_name(callers);
        *id = RC621;
        return rc_format(arena, "nothing from %s %llu s after Slurm started all tasks; " RC_NO_CALL_STARTED,
                         name_silent(callers, &namer), (unsigned long long)(now - callers->started + 500) / 1000);
    }
    if (callers->count < callers->nodes || !callers->awaited)
        return NULL;
    callers->awaited = false;
    *id = RC623;
    return rc_format(arena, "every node of the step has called srun now, %llu s after its start",
                     (unsigned long long)(now - callers->begun + 500) / 1000);
}

const char *rc_callers_end(const struct rc_callers *callers, enum rc_ending ending, struct rc_arena *arena)
{
    struct rc_namer namer;

    if (callers->count == callers->nodes || ending == RC_ENDED_UNSTARTED || ending == RC_ENDED_SOMEHOW)
        return NULL;
    /* a node that cannot reach srun prints that; tasks that have not ended well may have ended in another plugin */
    return rc_format(arena, "the step has ended, and nothing came from %s; unless %s, %s tasks ran without ranks%s",
                     name_silent(callers, &namer),
                     ending == RC_ENDED_WELL ? "RC611 reports otherwise" : "another line reports otherwise",
                     callers->nodes - callers->count == 1 ? "its" : "their",
                     callers->named ? "" : "; see slurmd's log there: it must load rollcall.so");
}

void rc_callers_free(struct rc_callers *callers)
{
    free(callers->called);
    callers->called = NULL;
}
