/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rendezvous/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "roll/names.h"

/* Nodes come to the same finding within moments; the first of a thousand waits that long for the others. */
enum { SETTLE_MS = 1500 };

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

static const struct rc_form form = { .head = "reported", RC_FORM_ROWS(rows) };

const char *rc_report_write(enum rc_message_id id, uint32_t node, const char *text, struct rc_arena *arena)
{
    const struct report report = { .id = id, .node = node, .text = rc_str(text) };

    return rc_pairs_write(&form, &report, arena);
}

/* The group of findings that differ only in numbers, or a free one; NULL: all are taken. */
static struct rc_reports_group *find_group(struct rc_reports *reports, const struct report *report)
{
    for (size_t i = 0; i < RC_REPORT_GROUPS; i++) {
        struct rc_reports_group *group = &reports->group[i];

        if (!group->others || (group->id == report->id && rc_failures_are_alike(rc_str(group->text), report->text)))
            return group;
    }
    return NULL;
}

bool rc_reports_take(struct rc_reports *reports, struct rc_str text, uint32_t nodes, int64_t now)
{
    struct report report = { .id = RC_UNKNOWN, .node = RC_UNKNOWN };
    struct rc_reports_group *group;

    if (!rc_pairs_read(text, '\n', &form, &report) || report.id == RC_UNKNOWN || report.node >= nodes ||
        !(group = find_group(reports, &report)))
        return false;
    if (!group->others) {
        struct rc_arena room = { .base = group->text, .size = sizeof(group->text) };

        if (!(group->others = calloc(nodes + 1, sizeof(*group->others))))
            return false;
        memset(group->others, true, nodes);
        rc_copy(&room, report.text);
        group->id = report.id;
        group->since = now;
        return true;
    }
    /* a node that comes after the line is named by nobody: the line is there */
    group->more += group->others[report.node];
    group->others[report.node] = false;
    return true;
}

int64_t rc_reports_due(const struct rc_reports *reports)
{
    int64_t due = INT64_MAX;

    for (size_t i = 0; i < RC_REPORT_GROUPS; i++)
        if (reports->group[i].others && !reports->group[i].said && reports->group[i].since + SETTLE_MS < due)
            due = reports->group[i].since + SETTLE_MS;
    return due;
}

const char *rc_reports_say(struct rc_reports *reports, const struct rc_callers *callers, int64_t now,
                           enum rc_message_id *id, struct rc_arena *arena)
{
    for (size_t i = 0; i < RC_REPORT_GROUPS; i++) {
        struct rc_reports_group *group = &reports->group[i];
        struct rc_namer namer;

        if (!group->others || group->said || now < group->since + SETTLE_MS)
            continue;
        group->said = true;
        *id = (enum rc_message_id)group->id;
        if (!group->more)
            return group->text;
        rc_namer_reset(&namer);
        if (!callers->hosts.p)
            return rc_format(arena, "%s; the same on %u other nodes", group->text, group->more);
        return rc_format(arena, "%s; the same on %s", group->text,
                         rc_name_absent_hosts(&namer, callers->hosts, group->others, callers->nodes));
    }
    return NULL;
}

void rc_reports_free(struct rc_reports *reports)
{
    for (size_t i = 0; i < RC_REPORT_GROUPS; i++)
        free(reports->group[i].others);
}
