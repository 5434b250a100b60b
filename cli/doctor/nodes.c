/* SPDX-License-Identifier: BSD-3-Clause */
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

/* Each node of a step prints a line, and one process reads them all. No node needs the plugin for that, or a port.
 *
 *   nodes: n[1-4]
 *   n1: rollcall 0.9.0, plugin 0.9.0 for Slurm 24.11, /usr/lib/slurm/rollcall.so
 *   n2: D109: /etc/slurm/plugstack.conf does not name the plugin
 */

#define RIGHT "rollcall "
#define LIST  "nodes: "

enum { LISTING_NODES = 4 }; /* that many say which nodes there are: the first ones may have no rollcall */

void doctor_print_here(void)
{
    static char text[DOCTOR_PLUGIN_TEXT];
    const char *list = getenv("SLURM_STEP_NODELIST");
    const char *local = getenv("SLURM_LOCALID");
    const char *node = getenv("SLURMD_NODENAME");
    char name[RC_NODE_NAME_SIZE];
    char series[DOCTOR_SERIES] = "";
    static struct doctor_plugin plugin;
    enum finding_id id;
    uint32_t number;

    if (local && strcmp(local, "0") != 0)
        return;
    if (list && rc_parse_u32(rc_str(getenv("SLURM_NODEID")), LISTING_NODES - 1, &number))
        printf(LIST "%s\n", list);
    doctor_plugin_find(&plugin);
    doctor_slurm_series(series);
    id = doctor_plugin_judge(&plugin, series, text);
    node = node ? node : rc_node_name(name);
    if (id == FINDING_COUNT)
        printf("%s: " RIGHT PACKAGE_VERSION ", plugin %s\n", node, text);
    else
        printf("%s: %s: %s\n", node, cli_catalogue_finding(id)->id, text);
}

/* Nodes that say the same. */
struct group {
    char *text;
    struct rc_blame nodes;
};

struct reading {
    struct group *groups;
    size_t count;
    char *nodes; /* NULL: no node has said which there are */
    size_t answers;
    bool failed; /* no memory */
};

/* Whether a line's rest is a node's, and not somebody else's output. */
static bool is_said(const char *rest)
{
    return strncmp(rest, RIGHT, strlen(RIGHT)) == 0 ||
           (rest[0] == 'D' && strspn(rest + 1, "0123456789") == 3 && strncmp(rest + 4, ": ", 2) == 0);
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

/* srun -l and pdsh put words of their own before a line. */
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
        add_node(reading, name, colon + 2);
        reading->answers++;
        return;
    }
    clean = console_escape(rc_str(line), 0);
    if (clean)
        fprintf(stderr, "%s\n", clean);
    free(clean);
}

static bool has_answered(const struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->count; i++)
        for (size_t j = 0; j < reading->groups[i].nodes.count; j++)
            if (strcmp(reading->groups[i].nodes.list[j].name, name) == 0)
                return true;
    return false;
}

/* Adds the nodes that have said nothing. */
static void add_silent(struct reading *reading)
{
    char name[RC_HOST_MAX + 1];
    uint32_t count = 0;

    if (reading->nodes && rc_hostlist_count(rc_str(reading->nodes), &count))
        for (uint32_t i = 0; i < count; i++)
            if (rc_hostlist_nth(rc_str(reading->nodes), i, name) && !has_answered(reading, name))
                add_node(reading, name, "D112: no line of rollcall doctor --here has come");
}

/* What a group says becomes a finding, or what was looked at. */
static void report_group(struct findings *findings, const struct group *group)
{
    static const char same[] = RIGHT PACKAGE_VERSION ", plugin " PACKAGE_VERSION " for ";
    static const char unread[] = RIGHT PACKAGE_VERSION ", plugin (not known) for Slurm (not known), ";
    struct rc_str text = rc_str(group->text);
    const char *fact = rc_str_starts(text, same) ? "right" : NULL;
    char *names = cli_exclude_list(&group->nodes);
    size_t count = group->nodes.count;
    char id[5];

    snprintf(id, sizeof(id), "%s", group->text);
    /* named without a folder: Slurm looks in its PluginDir (src/common/spank.c), where the node has not */
    if (rc_str_starts(text, unread) && text.p[strlen(unread)] != '/')
        fact = "unknown";
    if (fact)
        doctor_findings_add_fact(findings, fact, "%zu node%s: %s", count, count == 1 ? "" : "s", group->text);
    else if (names && cli_catalogue_find_finding(id) < FINDING_COUNT)
        doctor_findings_add(findings, cli_catalogue_find_finding(id), NULL, 0, NULL, "%s: %s", names, group->text + 6);
    else if (names)
        doctor_findings_add(findings, FINDING_D111, NULL, 0, NULL, "%s: %s; here is rollcall " PACKAGE_VERSION, names,
                            group->text);
    findings->failed = findings->failed || !names;
    free(names);
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
    for (size_t i = 0; i < reading.count; i++) {
        report_group(findings, &reading.groups[i]);
        rc_blame_free(&reading.groups[i].nodes);
        free(reading.groups[i].text);
    }
    findings->failed = findings->failed || reading.failed;
    free(reading.groups);
    free(reading.nodes);
    if (reading.count || reading.failed)
        return 0;
    console_fail("doctor: --nodes reads the nodes' lines: srun -N4 rollcall doctor --here | rollcall doctor --nodes");
    return -1;
}
