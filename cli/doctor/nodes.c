/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/roster.h"
#include "console/output.h"
#include "doctor.h"
#include "launcher/hosts.h"
#include "system/node.h"

/* Each node of a step prints its findings and, if Slurm loads the plugin, a record. One process reads all, and compares
 * the records with its record. Nodes need no plugin or port for that.
 *
 *   nodes: n[1-4]
 *   n1: rollcall 0.9.0, plugin 0.9.0 for Slurm 24.11, /usr/lib/rollcall.so; files rollcall=5d1f... ...; words addr=-ib
 *   n2: D109: /etc/slurm/plugstack.conf does not name the plugin */

#define LIST "nodes: "

enum { LISTING_NODES = 4 }; /* so many print the list of nodes: the first ones may lack rollcall */

/* Write this host's record; "", with the reason in `findings`, if Slurm does not load the plugin. */
static void look_here(struct doctor_plugin *plugin, struct findings *findings, char record[DOCTOR_RECORD])
{
    char text[DOCTOR_PLUGIN_TEXT];
    char series[DOCTOR_SERIES] = "";
    enum finding_id id;

    doctor_plugin_find(plugin);
    doctor_slurm_series(series);
    id = doctor_plugin_judge(plugin, series, text);
    *record = '\0';
    if (id == FINDING_COUNT)
        doctor_plugin_record(plugin, text, record);
    else
        doctor_findings_add(findings, id, NULL, 0, NULL, "%s", text);
}

void doctor_print_here(void)
{
    static char record[DOCTOR_RECORD];
    const char *list = getenv("SLURM_STEP_NODELIST");
    const char *local = getenv("SLURM_LOCALID");
    const char *node = getenv("SLURMD_NODENAME");
    char name[RC_NODE_NAME_SIZE];
    static struct doctor_plugin plugin;
    struct findings findings = { .count = 0 };
    uint32_t number;

    if (local && strcmp(local, "0") != 0)
        return;
    if (list && rc_parse_u32(rc_str(getenv("SLURM_NODEID")), LISTING_NODES - 1, &number))
        printf(LIST "%s\n", list);
    node = node ? node : rc_node_name(name);
    look_here(&plugin, &findings, record);
    if (*record)
        doctor_plugin_check(&plugin, &findings);
    for (size_t i = 0; i < findings.count; i++)
        printf("%s: %s: %s\n", node, findings.list[i].id, findings.list[i].what);
    if (*record)
        printf("%s: %s\n", node, record);
    doctor_findings_free(&findings);
}

/* Nodes with equal text. */
struct group {
    char *text;
    struct rc_blame nodes;
};

struct reading {
    struct group *groups;
    size_t count;
    char *nodes; /* NULL: no list of nodes was read */
    size_t answers;
    bool failed; /* no memory */
};

/* Return the text after "D109: " or "RC201: "; else NULL. */
static const char *after_id(const char *text)
{
    size_t letters = strncmp(text, "RC", 2) == 0 ? 2 : text[0] == 'D';

    return letters && strspn(text + letters, "0123456789") == 3 && strncmp(text + letters + 3, ": ", 2) == 0
               ? text + letters + 5
               : NULL;
}

/* Return whether `rest` is a node's line, not other output. */
static bool is_said(const char *rest)
{
    return strncmp(rest, DOCTOR_RIGHT, strlen(DOCTOR_RIGHT)) == 0 || after_id(rest);
}

static struct group *find_group(struct reading *reading, const char *text)
{
    struct group *larger;
    char *kept;

    for (size_t i = 0; i < reading->count; i++)
        if (strcmp(reading->groups[i].text, text) == 0)
            return &reading->groups[i];
    larger = realloc(reading->groups, (reading->count + 1) * sizeof(*larger));
    kept = larger ? strdup(text) : NULL;
    if (larger)
        reading->groups = larger;
    if (!kept)
        return NULL;
    larger[reading->count] = (struct group){ .text = kept };
    return &larger[reading->count++];
}

static void add_node(struct reading *reading, const char *name, const char *text)
{
    struct group *group = find_group(reading, text);
    struct rc_blame *nodes = group ? &group->nodes : NULL;
    struct rc_blamed *larger = nodes ? realloc(nodes->list, (nodes->count + 1) * sizeof(*larger)) : NULL;
    char *kept = larger ? strdup(name) : NULL;

    if (larger)
        nodes->list = larger;
    if (kept)
        larger[nodes->count++] = (struct rc_blamed){ .name = kept };
    reading->failed = reading->failed || !kept;
}

/* Return whether the node has a line; with `findings`, a finding. */
static bool has_line(const struct reading *reading, const char *name, bool findings)
{
    for (size_t i = 0; i < reading->count; i++)
        for (size_t j = 0; (!findings || after_id(reading->groups[i].text)) && j < reading->groups[i].nodes.count; j++)
            if (strcmp(reading->groups[i].nodes.list[j].name, name) == 0)
                return true;
    return false;
}

/* srun -l and pdsh add prefixes. */
static void read_line(struct reading *reading, char *line)
{
    char *name = line;
    char *colon;
    char *clean;

    while ((colon = strstr(name, ": ")) && !is_said(colon + 2) && strncmp(name, LIST, strlen(LIST)) != 0)
        name = colon + 2;
    if (colon && !is_said(colon + 2)) {
        free(reading->nodes);
        reading->nodes = strdup(colon + 2);
        return;
    }
    if (colon) {
        *colon = '\0';
        reading->answers += !has_line(reading, name, false);
        add_node(reading, name, colon + 2);
        return;
    }
    clean = console_escape(rc_str(line), 0);
    if (clean)
        fprintf(stderr, "%s\n", clean);
    free(clean);
}

/* Add the nodes without a line. */
static void add_silent(struct reading *reading)
{
    char name[RC_HOST_MAX + 1];
    uint32_t count = 0;

    if (reading->nodes && rc_hostlist_count(rc_str(reading->nodes), &count))
        for (uint32_t i = 0; i < count; i++)
            if (rc_hostlist_nth(rc_str(reading->nodes), i, name) && !has_line(reading, name, false))
                add_node(reading, name, "D112: no line of rollcall doctor --here has come");
}

/* A group whose text begins with an id; unknown ids are from a newer release. */
static void report_finding(struct findings *findings, const struct group *group)
{
    char *names = cli_exclude_list(&group->nodes);
    const char *what = after_id(group->text);
    struct rc_str rest;
    struct rc_str id = rc_str_split(rc_str(group->text), ':', &rest);
    enum finding_id finding;
    enum rc_message_id message;
    char name[8];
    char *text;

    snprintf(name, sizeof(name), "%.*s", (int)id.n, id.p);
    finding = cli_catalogue_find_finding(name);
    if (!names || asprintf(&text, "%s: %s", names, what) < 0)
        text = NULL;
    if (text && rc_message_named(id, &message))
        doctor_findings_add_message(findings, message, text);
    else if (text)
        doctor_findings_add(findings, finding < FINDING_COUNT ? finding : FINDING_D111, NULL, 0, NULL, "%s", text);
    findings->failed = findings->failed || !text;
    free(text);
    free(names);
}

/* Return a part of a record, RC_ABSENT if missing. The words come last. */
static struct rc_str find_part(const char *record, const char *title)
{
    const char *start = strstr(record, title);
    const char *end = start && strcmp(title, DOCTOR_FILES) == 0 ? strstr(start, DOCTOR_WORDS) : NULL;

    if (!start)
        return RC_ABSENT;
    start += strlen(title);
    return (struct rc_str){ start, end ? (size_t)(end - start) : strlen(start) };
}

/* Return whether the list lacks this file, as builds without hwloc lack rollcall-map, or has the same checksum. */
static bool is_same_file(struct rc_str list, struct rc_str name, struct rc_str sum)
{
    while (list.p) {
        struct rc_str here;

        if (rc_str_eq(rc_str_split(rc_str_split(list, ' ', &list), '=', &here), name))
            return rc_str_eq(here, sum) || rc_str_is(here, DOCTOR_MISSING);
    }
    return false;
}

/* List the files of a record that differ in `ours`; "" for none. */
static const char *list_others(struct rc_str theirs, struct rc_str ours, struct rc_arena *arena)
{
    const char *list = rc_copy(arena, RC_STR(""));
    const char *between = "";

    while (theirs.p && ours.p) {
        struct rc_str file = rc_str_split(theirs, ' ', &theirs);
        struct rc_str sum;
        struct rc_str name = rc_str_split(file, '=', &sum);

        if (is_same_file(ours, name, sum))
            continue;
        rc_join(arena);
        rc_format(arena, "%s%pS%s", between, &name, rc_str_is(sum, DOCTOR_MISSING) ? " (missing)" : "");
        between = ", ";
    }
    return list;
}

/* Add this finding to all nodes of a group. */
static void blame(struct reading *reading, size_t group, const char *text)
{
    for (size_t i = 0; i < reading->groups[group].nodes.count; i++)
        add_node(reading, reading->groups[group].nodes.list[i].name, text);
}

/* Compare a group with a record of this release. */
static void compare(struct reading *reading, size_t group, const char *record, const char *whose)
{
    static char text[4 * DOCTOR_RECORD];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    const char *other = reading->groups[group].text;
    struct rc_str theirs = find_part(other, DOCTOR_WORDS);
    struct rc_str ours = find_part(record, DOCTOR_WORDS);
    const char *files = list_others(find_part(other, DOCTOR_FILES), find_part(record, DOCTOR_FILES), &arena);

    if (*files)
        blame(reading, group, rc_format(&arena, "D117: not the files of %s: %s", whose, files));
    if (theirs.p && ours.p && !rc_str_eq(theirs, ours))
        blame(reading, group,
              rc_format(&arena, "D116: the line has %s%pS; that of %s has %s%pS", theirs.n ? "" : "no words", &theirs,
                        whose, ours.n ? "" : "no words", &ours));
}

/* Return the release of a record. */
static struct rc_str release_of(const char *text)
{
    const char *end = strstr(text, DOCTOR_FILES);

    end = end ? end : strstr(text, DOCTOR_WORDS);
    return (struct rc_str){ text, end ? (size_t)(end - text) : strlen(text) };
}

/* Return "right" for a record of this release; "unknown" if its line names the plugin without a folder: Slurm searches
 * its PluginDir (src/common/spank.c), the node did not. Return NULL for another release. */
static const char *judge_record(const char *record)
{
    static const char same[] = DOCTOR_RIGHT PACKAGE_VERSION ", plugin " PACKAGE_VERSION " for ";
    static const char unread[] = DOCTOR_RIGHT PACKAGE_VERSION ", plugin (not known) for Slurm (not known), ";
    struct rc_str text = rc_str(record);

    if (rc_str_starts(text, unread) && text.p[strlen(unread)] != '/')
        return "unknown";
    return rc_str_starts(text, same) ? "right" : NULL;
}

/* Compare with this host's record or, if it has no words (off, or no plugin), with the most frequent one. */
static void compare_all(struct reading *reading)
{
    static char own[DOCTOR_RECORD];
    static struct doctor_plugin plugin;
    struct findings here = { .count = 0 }; /* those of rollcall doctor without --nodes */
    size_t groups = reading->count;
    const char *record = own;
    bool is_own;
    size_t most = 0;

    look_here(&plugin, &here, own);
    doctor_findings_free(&here);
    is_own = find_part(own, DOCTOR_WORDS).p;
    for (size_t i = 0; i < groups && !is_own; i++) {
        const char *text = reading->groups[i].text;

        if (!judge_record(text) || !find_part(text, DOCTOR_WORDS).p || reading->groups[i].nodes.count <= most)
            continue;
        record = text;
        most = reading->groups[i].nodes.count;
    }
    for (size_t i = 0; i < groups; i++) {
        struct rc_str release = release_of(reading->groups[i].text);
        char text[DOCTOR_RECORD];

        if (judge_record(reading->groups[i].text)) {
            compare(reading, i, record, is_own ? "this host" : "most nodes");
        } else if (!after_id(reading->groups[i].text)) {
            snprintf(text, sizeof(text), "D111: %.*s; here is rollcall " PACKAGE_VERSION, (int)release.n, release.p);
            blame(reading, i, text);
        }
    }
}

/* Count the nodes of a record that have no finding. */
static void report_right(struct findings *findings, const struct reading *reading, const struct group *group)
{
    struct rc_str release = release_of(group->text);
    size_t count = 0;

    for (size_t i = 0; i < group->nodes.count; i++)
        count += !has_line(reading, group->nodes.list[i].name, true);
    if (count)
        doctor_findings_add_fact(findings, judge_record(group->text), "%zu node%s: %.*s", count, count == 1 ? "" : "s",
                                 (int)release.n, release.p);
}

int doctor_read_nodes(struct findings *findings)
{
    struct reading reading = { .count = 0 };
    char *line = NULL;
    size_t size = 0;

    while (!isatty(STDIN_FILENO) && getline(&line, &size, stdin) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        read_line(&reading, line);
    }
    free(line);
    add_silent(&reading);
    if (reading.count)
        doctor_findings_add_fact(findings, "nodes", "%zu have answered", reading.answers);
    compare_all(&reading);
    for (size_t i = 0; i < reading.count; i++) {
        if (after_id(reading.groups[i].text))
            report_finding(findings, &reading.groups[i]);
        else
            report_right(findings, &reading, &reading.groups[i]);
    }
    findings->failed = findings->failed || reading.failed;
    for (size_t i = 0; i < reading.count; i++) {
        rc_blame_free(&reading.groups[i].nodes);
        free(reading.groups[i].text);
    }
    free(reading.groups);
    free(reading.nodes);
    if (reading.count || reading.failed)
        return 0;
    console_fail("doctor: --nodes reads the nodes' lines: srun -N4 rollcall doctor --here | rollcall doctor --nodes");
    return -1;
}
