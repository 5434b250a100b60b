/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/notices.h"

#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "launcher/hosts.h"
#include "roll/names.h"

/* Nodes report the same finding within moments: print the first at once, the others together. */
enum { SETTLE_MS = 1500, BEGIN_SHOWN = 64 };

struct report {
    uint32_t id;
    uint32_t node;
    struct rc_str text;
};

static const struct rc_row rows[] = {
    RC_ROW_NUMBER(struct report, id, 0, RC_MESSAGE_COUNT - 1),
    RC_ROW_NUMBER(struct report, node, 0, RC_MAX_TASKS - 1),
    RC_ROW_TEXT(struct report, text, RC_REPORT_SIZE),
};

/* RC206 contains the administrator's text. */
static const struct rc_form form = { .head = "reported", .any_script = true, RC_FORM_ROWS(rows) };

const char *rc_report_write(enum rc_message_id id, uint32_t node, const char *text, struct rc_arena *arena)
{
    const struct report report = { .id = id, .node = node, .text = rc_str(text) };

    return rc_pairs_write(&form, &report, arena);
}

/* Return the text without the name of its node. */
static struct rc_str drop_host(struct rc_str text, struct rc_str hosts, uint32_t node, char *room)
{
    char host[RC_HOST_MAX + 1];
    size_t used = 0;
    size_t n;

    if (!hosts.p || !rc_hostlist_nth(hosts, node, host))
        return text;
    n = strlen(host);
    while (text.n > 0) {
        if (rc_str_starts(text, host)) {
            text = (struct rc_str){ text.p + n, text.n - n };
            continue;
        }
        room[used++] = *text.p++;
        text.n--;
    }
    return (struct rc_str){ room, used };
}

static bool are_alike(const struct rc_reports_group *group, const struct report *report, struct rc_str hosts)
{
    char room[2][RC_REPORT_SIZE + 1];
    struct rc_str text = rc_str(group->text);

    return group->id == report->id && (rc_failures_are_alike(text, report->text) ||
                                       rc_failures_are_alike(drop_host(text, hosts, group->node, room[0]),
                                                             drop_host(report->text, hosts, report->node, room[1])));
}

/* Return the group of findings that differ only in numbers and hosts, or a free one, or NULL. */
static struct rc_reports_group *find_group(struct rc_reports *reports, const struct report *report)
{
    for (size_t i = 0; i < RC_REPORT_GROUPS; i++) {
        struct rc_reports_group *group = &reports->group[i];

        if (!group->others || are_alike(group, report, reports->hosts))
            return group;
    }
    return NULL;
}

bool rc_reports_take(struct rc_reports *reports, struct rc_str text, int64_t now, uint32_t *node)
{
    struct report report = { .id = RC_UNKNOWN, .node = RC_UNKNOWN };
    struct rc_reports_group *group;

    if (!rc_pairs_read(text, '\n', &form, &report) || report.id == RC_UNKNOWN || report.node >= reports->nodes ||
        !(group = find_group(reports, &report)))
        return false;
    *node = report.node;
    if (!group->others) {
        struct rc_arena room = { .base = group->text, .size = sizeof(group->text) };

        if (!(group->others = calloc(reports->nodes + 1, sizeof(*group->others))))
            return false;
        memset(group->others, true, reports->nodes);
        rc_copy(&room, report.text);
        group->id = report.id;
        group->node = report.node;
        return true;
    }
    if (!group->more)
        group->since = now;
    group->more += group->others[report.node];
    group->others[report.node] = false;
    return true;
}

/* The first line is due at once. */
static int64_t find_due(const struct rc_reports_group *group)
{
    if (!group->others || (group->said && !group->more))
        return INT64_MAX;
    return group->said ? group->since + SETTLE_MS : 0;
}

int64_t rc_reports_due(const struct rc_reports *reports)
{
    int64_t due = INT64_MAX;

    for (size_t i = 0; i < RC_REPORT_GROUPS; i++)
        if (find_due(&reports->group[i]) < due)
            due = find_due(&reports->group[i]);
    return due;
}

/* Name the senders since the last line. Several findings may share an id. */
static const char *name_others(const struct rc_reports *reports, struct rc_reports_group *group, struct rc_arena *arena)
{
    struct rc_str all = rc_str(group->text);
    struct rc_str begin = rc_str_cut(all, BEGIN_SHOWN);
    const char *more = begin.n < all.n ? "..." : "";
    struct rc_namer namer;
    const char *text;

    rc_namer_reset(&namer);
    if (reports->hosts.p)
        text = rc_format(arena, "the same on %s as '%pS%s'",
                         rc_name_absent_hosts(&namer, reports->hosts, group->others, reports->nodes), &begin, more);
    else
        text = rc_format(arena, "the same on %u more nodes as '%pS%s'", group->more, &begin, more);
    memset(group->others, true, reports->nodes);
    group->more = 0;
    return text;
}

const char *rc_reports_say(struct rc_reports *reports, int64_t now, enum rc_message_id *id, struct rc_arena *arena)
{
    for (size_t i = 0; i < RC_REPORT_GROUPS; i++) {
        struct rc_reports_group *group = &reports->group[i];
        bool said = group->said;

        if (find_due(group) > now || find_due(group) == INT64_MAX)
            continue;
        group->said = true;
        *id = (enum rc_message_id)group->id;
        return said ? name_others(reports, group, arena) : group->text;
    }
    return NULL;
}

void rc_reports_free(struct rc_reports *reports)
{
    for (size_t i = 0; i < RC_REPORT_GROUPS; i++)
        free(reports->group[i].others);
}
