/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/notices.h"

#include "system/node.h"

/* RC711 takes up to 1,700 bytes with its pieces; RC621 may precede it. */
enum { SAY_SIZE = 4096 };

static const struct rc_gather *look(const struct rc_gathers *gathers, const char *name)
{
    return rc_gathers_look(gathers, name);
}

void rc_notices_begin(struct rc_notices *notices, const struct rc_server_settings *settings, uint32_t silence,
                      rc_server_say *say, struct rc_gathers *gathers)
{
    bool has_nodes = settings->nodes > 0 && rc_gathers_find(gathers, RC_STR(RC_GATHER_NODES), settings->nodes) != NULL;

    *notices = (struct rc_notices){
        .say = say,
        .nodes = { .seconds = has_nodes ? silence : 0, .hosts = rc_hosts_of(settings), .since = rc_milliseconds() },
        .tasks = { .seconds = settings->watch_seconds, .job = settings->job, .since = -1 },
        .reports = { .nodes = settings->nodes, .hosts = rc_hosts_of(settings) },
    };
}

void rc_notices_free(struct rc_notices *notices)
{
    rc_reports_free(&notices->reports);
}

void rc_notices_attend(struct rc_gathers *gathers, uint32_t node)
{
    struct rc_gather *nodes = rc_gathers_look(gathers, RC_GATHER_NODES);

    if (nodes && node < nodes->of)
        rc_gather_attend(nodes, node, rc_milliseconds());
}

bool rc_notices_take(struct rc_notices *notices, struct rc_gathers *gathers, struct rc_str text)
{
    int64_t now = rc_milliseconds();
    uint32_t node;

    if (rc_reports_take(&notices->reports, text, now, &node))
        rc_notices_attend(gathers, node);
    else if (!rc_failures_take(&notices->failures, text, now))
        return false;
    rc_notices_speak(notices, gathers);
    return true;
}

int64_t rc_notices_due(const struct rc_notices *notices, const struct rc_gathers *gathers)
{
    const int64_t all[] = {
        rc_muster_due(&notices->nodes, look(gathers, RC_GATHER_NODES)),
        rc_muster_due(&notices->tasks, look(gathers, RC_GATHER_TASKS)),
        rc_failures_due(&notices->failures),
        rc_reports_due(&notices->reports),
    };
    int64_t due = INT64_MAX;

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        due = all[i] < due ? all[i] : due;
    return due;
}

void rc_notices_speak(struct rc_notices *notices, const struct rc_gathers *gathers)
{
    char space[SAY_SIZE];
    int64_t now = rc_milliseconds();
    enum rc_message_id id;
    const char *text;

    do {
        struct rc_arena arena = { .base = space, .size = sizeof(space) };

        text = rc_muster_nodes(&notices->nodes, look(gathers, RC_GATHER_NODES), now, &id, &arena);
        text = text ? text : rc_reports_say(&notices->reports, now, &id, &arena);
        text = text ? text
                    : rc_muster_tasks(&notices->tasks, look(gathers, RC_GATHER_TASKS), look(gathers, RC_GATHER_ROLL),
                                      now, &id, &arena);
        if (!text && now >= rc_failures_due(&notices->failures)) {
            id = RC711;
            text = rc_failures_say(&notices->failures, &arena);
        }
        if (text && notices->say)
            notices->say(id, text);
    } while (text);
}

void rc_notices_end(struct rc_notices *notices, const struct rc_gathers *gathers, char ending, bool cancelled)
{
    char space[SAY_SIZE];
    struct rc_arena arena = { .base = space, .size = sizeof(space) };
    enum rc_message_id id;
    const char *text;

    if (!notices->say)
        return;
    while ((text = rc_reports_say(&notices->reports, INT64_MAX, &id, &arena)))
        notices->say(id, text);
    text = cancelled ? NULL : rc_muster_end(&notices->nodes, look(gathers, RC_GATHER_NODES), ending, &arena);
    if (text)
        notices->say(RC621, text);
    text = ending == RC_ENDED_WELL ? NULL : rc_failures_say(&notices->failures, &arena);
    if (text)
        notices->say(RC711, text);
}
