/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/muster.h"

#include <stdlib.h>

#include "roll/names.h"

struct rc_roll *rc_muster_rolls(const struct rc_gather *roll, size_t *count)
{
    struct rc_roll *rolls = calloc(roll->count + 1, sizeof(*rolls));

    *count = 0;
    for (uint32_t i = 0; rolls && roll->list && i < roll->count; i++)
        if (rc_roll_read(roll->list[i].value, &rolls[*count]))
            ++*count;
    return rolls;
}

static uint32_t count_missing(const struct rc_roll *roll, const struct rc_gather *gather)
{
    struct rc_str rest = roll->tasks;
    uint32_t first, last;
    uint32_t missing = 0;

    while (rc_roll_next_range(&rest, &first, &last))
        for (uint32_t task = first; task <= last && task < gather->of; task++)
            missing += !rc_gather_has(gather, task);
    return missing;
}

/* `range` has room for all members. */
static size_t find_missing(const struct rc_gather *gather, struct rc_range *range)
{
    size_t ranges = 0;

    for (uint32_t i = 0; i < gather->of; i++)
        if (!rc_gather_has(gather, i))
            range[ranges++] = (struct rc_range){ i, i };
    return ranges;
}

/* Return " on n[2-3]", or "" unless the nodes of all missing tasks are known. */
static const char *name_hosts(const struct rc_gather *gather, const struct rc_roll *rolls, size_t count,
                              struct rc_member *member, struct rc_namer *namer, struct rc_str *one)
{
    uint32_t missing = gather->of - gather->came;
    size_t members = 0;
    const char *hosts;
    struct rc_str rest;

    for (size_t i = 0; i < count; i++) {
        uint32_t here = count_missing(&rolls[i], gather);

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

/* Return "tasks 2-3 on n2", text of the namer; or NULL. If the roll has all their nodes, *one is a host without its
 * domain, as Slurm takes it. */
static const char *name_missing(const char *what, const struct rc_gather *gather, const struct rc_gather *roll,
                                struct rc_namer *namer, struct rc_str *one)
{
    struct rc_range *range = calloc(gather->of, sizeof(*range));
    size_t count = 0;
    struct rc_roll *rolls = roll ? rc_muster_rolls(roll, &count) : NULL;
    struct rc_member *member = calloc(count + 1, sizeof(*member));
    const char *text = NULL;
    size_t ranges;

    rc_namer_reset(namer);
    namer->host = calloc(count + 1, sizeof(*namer->host));
    if (range && member && namer->host && (ranges = find_missing(gather, range))) {
        const char *tasks = rc_name_ranges(namer, what, range, ranges);

        text = rc_format(&namer->text, "%s%s", tasks, name_hosts(gather, rolls, count, member, namer, one));
    }
    free(rolls);
    free(range);
    free(member);
    free(namer->host);
    return text;
}

const char *rc_muster_missing(const struct rc_gather *gather, const struct rc_gather *roll, struct rc_arena *arena)
{
    bool are_tasks = rc_str_starts(rc_str(gather->name), RC_GATHER_OF_TASKS);
    struct rc_namer namer;
    struct rc_str one;
    const char *text = name_missing("rank", gather, are_tasks ? roll : NULL, &namer, &one);

    return text ? rc_format(arena, "%s did not make this call within %u s", text, (gather->each + 999) / 1000) : NULL;
}

int64_t rc_muster_due(const struct rc_muster *muster, const struct rc_gather *gather)
{
    int64_t wait = muster->seconds * INT64_C(1000);

    if (!muster->seconds || !gather || muster->named || rc_gather_has_all(gather))
        return INT64_MAX;
    if (gather->came)
        return gather->begun + wait;
    return muster->since < 0 ? INT64_MAX : muster->since + RC_MUSTER_NONE * wait;
}

/* Return true once, when all have attended after some were printed as missing. */
static bool has_all_now(struct rc_muster *muster, const struct rc_gather *gather)
{
    bool has = muster->awaited && gather && rc_gather_has_all(gather);

    muster->awaited &= !has;
    return has;
}

static unsigned long long seconds_between(int64_t before, int64_t now)
{
    return (unsigned long long)(now - before + 500) / 1000;
}

bool rc_muster_name(struct rc_muster *muster, const struct rc_gather *nodes)
{
    bool named = muster->named;

    if (nodes && !rc_gather_has_all(nodes))
        muster->named = muster->awaited = true;
    return named;
}

/* Return "n[1-2]" or "nodes 1-2". */
static const char *name_silent(const struct rc_muster *muster, const struct rc_gather *nodes, struct rc_namer *namer)
{
    struct rc_str one;
    const char *text;

    rc_namer_reset(namer);
    if (muster->hosts.p && nodes->come)
        return rc_name_absent_hosts(namer, muster->hosts, nodes->come, nodes->of);
    if (muster->hosts.p)
        return rc_format(&namer->text, "%pS", &muster->hosts);
    text = name_missing("node", nodes, NULL, namer, &one);
    return text ? text : "some nodes";
}

const char *rc_muster_nodes(struct rc_muster *muster, const struct rc_gather *nodes, int64_t now,
                            enum rc_message_id *id, struct rc_arena *arena)
{
    struct rc_namer namer;

    if (now >= rc_muster_due(muster, nodes)) {
        bool none = !nodes->came;

        rc_muster_name(muster, nodes);
        *id = RC621;
        return rc_format(arena, "nothing from %s %llu s after %s; " RC_NO_CALL, name_silent(muster, nodes, &namer),
                         seconds_between(none ? muster->since : nodes->begun, now),
                         none ? "srun began the step" : "the first node's call");
    }
    if (!has_all_now(muster, nodes))
        return NULL;
    *id = RC623;
    return rc_format(arena, "every node of the step has called srun now, %llu s after its start",
                     seconds_between(muster->since, now));
}

const char *rc_muster_end(const struct rc_muster *muster, const struct rc_gather *nodes, char ending,
                          struct rc_arena *arena)
{
    struct rc_namer namer;

    if (!nodes || rc_gather_has_all(nodes) || !ending)
        return NULL;
    /* a node that cannot reach srun prints RC611; failed tasks may have ended in another plugin */
    return rc_format(arena, "the step has ended, and nothing came from %s; unless %s, %s tasks ran without ranks%s",
                     name_silent(muster, nodes, &namer),
                     ending == RC_ENDED_WELL ? "RC611 reports otherwise" : "another line reports otherwise",
                     nodes->of - nodes->came == 1 ? "its" : "their",
                     muster->named ? "" : "; see slurmd's log there: it must load rollcall.so");
}

/* The command that lists the processes of a node; "" outside of Slurm. */
static const char *process_command(const struct rc_muster *muster, struct rc_namer *namer, struct rc_str host)
{
    if (!muster->job)
        return "";
    return rc_format(&namer->text, "srun --jobid=%u --overlap -N1%s%pS ps xf, ", muster->job, host.n ? " -w " : "",
                     &host);
}

const char *rc_muster_tasks(struct rc_muster *muster, const struct rc_gather *tasks, const struct rc_gather *roll,
                            int64_t now, enum rc_message_id *id, struct rc_arena *arena)
{
    struct rc_namer namer;
    struct rc_str host = RC_ABSENT;
    const char *missing;

    if (has_all_now(muster, tasks)) {
        *id = RC708;
        return rc_format(arena, "all %u tasks have reached init_process_group now, %llu s after the first", tasks->of,
                         seconds_between(tasks->begun, now));
    }
    if (now < rc_muster_due(muster, tasks))
        return NULL;
    muster->named = muster->awaited = true;
    *id = RC707;
    missing = name_missing("task", tasks, roll, &namer, &host);
    return missing ? rc_format(arena,
                               "%u s after the first, %u of %u tasks have reached init_process_group, but not %s; see "
                               "what they print and do (%spy-spy dump --pid PID); a smaller world on purpose: watch=on",
                               muster->seconds, tasks->came, tasks->of, missing, process_command(muster, &namer, host))
                   : NULL;
}
