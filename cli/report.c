/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - merge the reports of a launch's tasks.
 *
 * Each task sends MARK, "RANK NODE\n" and its report, empty if another task of the node sends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "console/output.h"
#include "roll/names.h"
#include "system/node.h"
#include "tasks.h"

enum { SHOWN_MAX = 16, NAMES_MAX = 60, WARNING = 1, ERROR = 1 << 16 };

#define MARK '\x1e' /* in no report: printers escape control characters */

bool cli_scope_read(struct cli_scope *scope)
{
    if (!scope->rank || rc_parse_u32(rc_str(scope->rank), RC_MAX_TASKS - 1, &scope->number))
        return true;
    console_fail("--rank=%.64s is no rank; give a number, such as --rank 3", scope->rank);
    return false;
}

struct report {
    uint32_t rank;
    uint32_t weight; /* of errors and warnings */
    struct rc_str node;
    struct rc_str text;
    size_t group; /* index of the first report with the same text */
};

struct reports {
    struct report *list;
    struct rc_range *range; /* room for the ranks of one group */
    struct rc_str *text;    /* room for its hosts, or for all texts and their notes */
    size_t count;           /* of reports with text */
    size_t tasks;
};

static uint32_t weigh(struct rc_str text)
{
    uint32_t weight = 0;

    while (text.n) {
        struct rc_str line = rc_str_split(text, '\n', &text);

        if (rc_str_starts(line, "error ") || rc_str_starts(line, "  error "))
            weight += ERROR;
        else if (rc_str_starts(line, "warning ") || rc_str_starts(line, "  warning "))
            weight += WARNING;
    }
    return weight;
}

/* Print "ranks 0-3 on n[1-2]". */
static void print_title(const struct reports *reports, size_t group)
{
    char text[4 * NAMES_MAX];
    struct rc_arena arena = { .base = text, .size = sizeof(text) };
    size_t count = 0;
    const char *ranks;

    for (size_t i = group; i < reports->count; i++) {
        if (reports->list[i].group != group)
            continue;
        reports->range[count] = (struct rc_range){ reports->list[i].rank, reports->list[i].rank };
        reports->text[count++] = reports->list[i].node;
    }
    qsort(reports->text, count, sizeof(*reports->text), rc_host_order);
    ranks = rc_compact_ranges(reports->range, count, NAMES_MAX, &arena);
    printf("%s %s on %s:\n", count == 1 ? "rank" : "ranks", ranks,
           rc_compact_hosts(reports->text, count, NAMES_MAX, &arena));
}

static bool read_report(struct rc_str text, struct report *report)
{
    struct rc_str number = rc_str_split(rc_str_split(text, '\n', &report->text), ' ', &report->node);

    report->weight = weigh(report->text);
    return report->node.p && rc_parse_u32(number, RC_MAX_TASKS - 1, &report->rank);
}

static int by_rank(const void *a, const void *b)
{
    const struct report *left = a;
    const struct report *right = b;

    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Worst first. */
static int by_weight(const void *a, const void *b)
{
    const struct report *left = a;
    const struct report *right = b;

    return left->weight != right->weight ? (left->weight < right->weight ? 1 : -1) : by_rank(a, b);
}

/* Return false without memory. */
static bool read_reports(struct rc_str text, struct reports *reports)
{
    size_t most = rc_str_pieces(text, '\n') + 1;

    reports->list = calloc(most, sizeof(*reports->list));
    reports->range = calloc(most, sizeof(*reports->range));
    reports->text = calloc(most, sizeof(*reports->text));
    if (!reports->list || !reports->range || !reports->text)
        return false;
    while (text.n) {
        struct report *report = &reports->list[reports->count];
        bool good = read_report(rc_str_split(text, MARK, &text), report);

        reports->tasks += good;
        reports->count += good && report->text.n;
    }
    return true;
}

static void print_groups(struct reports *reports, bool all)
{
    struct report *list = reports->list;
    size_t groups = 0;

    qsort(list, reports->count, sizeof(*list), all ? by_rank : by_weight);
    for (size_t i = 0; i < reports->count; i++) {
        size_t *group = &list[i].group;

        while (*group < i && (all || list[*group].group != *group || !rc_str_eq(list[*group].text, list[i].text)))
            ++*group;
    }
    for (size_t i = 0; i < reports->count; i++) {
        if (list[i].group != i || (groups++ >= SHOWN_MAX && !all))
            continue;
        if (i > 0)
            putchar('\n');
        print_title(reports, i);
        fwrite(list[i].text.p, 1, list[i].text.n, stdout);
    }
    if (groups > SHOWN_MAX && !all)
        printf("\n%zu more reports differ: --rank N prints one of them, --all each\n", groups - SHOWN_MAX);
}

/* Return -1 without memory. */
static int print_rows(struct reports *reports)
{
    qsort(reports->list, reports->count, sizeof(*reports->list), by_rank);
    for (size_t i = 0; i < reports->count; i++)
        reports->text[i] = reports->list[i].text;
    return cli_tasks_print(reports->text, reports->count);
}

/* Return -1 without memory. */
static int print_reports(const struct rc_result *result, const struct cli_scope *scope, enum cli_part part,
                         const char *text)
{
    struct reports reports = { .count = 0 };
    int status = read_reports(rc_str(text), &reports) ? 0 : -1;

    if (status == 0 && reports.count) {
        if (!scope->rank)
            cli_together_head(result, part, reports.tasks);
        if (scope->table)
            status = print_rows(&reports);
        else
            print_groups(&reports, scope->all);
    }
    free(reports.list);
    free(reports.range);
    free(reports.text);
    return status;
}

/* Return -1 without memory. */
static int share(const struct rc_result *result, const struct cli_scope *scope, char *own)
{
    bool speaks = !scope->by_node || scope->all || cli_fact(result, RC_LOCAL_RANK) == 0;
    char *text = strchr(own, '\n') + 1;
    char first = *text;
    char *all = NULL;
    enum cli_part part = CLI_PART_ALONE;
    int status = 0;

    if (!speaks)
        *text = '\0';
    if (!scope->rank)
        part = cli_together(result, own, &all);
    *text = first;
    if (part != CLI_PART_SILENT)
        status = print_reports(result, scope, part, all ? all : own);
    free(all);
    return status;
}

int cli_report(const struct rc_result *result, const struct cli_scope *scope, cli_print *print, void *more)
{
    bool possible = cli_together_is_possible(result);
    uint32_t ranks = cli_fact(result, result->mode == RC_MODE_LAUNCHER ? RC_NNODES : RC_WORLD_SIZE);
    char name[RC_NODE_NAME_SIZE];
    char *own = NULL;
    size_t size;
    FILE *out;
    int status;

    if (possible && scope->rank && scope->number >= ranks) {
        if (cli_rank_of(result) == 0)
            console_fail("--rank=%u: the ranks of this launch are 0 to %u", (unsigned)scope->number, ranks - 1);
        return STATUS_USAGE;
    }
    if (possible && scope->rank && cli_rank_of(result) != scope->number)
        return STATUS_RESOLVED;
    if (!possible || scope->plain)
        return print(stdout, more);
    out = open_memstream(&own, &size);
    if (!out)
        return console_fail("out of memory");
    fprintf(out, "%c%u %s\n", MARK, (unsigned)cli_rank_of(result), rc_node_name(name));
    status = print(out, more);
    if (fclose(out) != 0 || share(result, scope, own) < 0)
        status = console_fail("out of memory");
    free(own);
    return status;
}
