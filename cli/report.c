/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - the reports of a launch's tasks, in one piece.
 *
 * What a task sends of its own:
 *
 *   report RANK NODE\n
 *   |LINE\n             each line; none where another task of the node speaks for this one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "console/output.h"
#include "roll/names.h"
#include "system/node.h"
#include "tasks.h"

enum { SHOWN_MAX = 16, NAMES_MAX = 60, WARNING = 1, ERROR = 1 << 16 };

#define BEGIN "report "
#define EMPTY "|\n"

bool cli_scope_take(struct cli_scope *scope, int option, const char *value)
{
    scope->all = scope->all || option == 'a';
    if (option != 'r')
        return true;
    scope->rank = value;
    if (rc_parse_u32(rc_str(value), RC_MAX_TASKS - 1, &scope->number))
        return true;
    console_fail("--rank=%.64s is no rank; give a number, such as --rank 3", value);
    return false;
}

struct report {
    uint32_t rank;
    uint32_t weight; /* of its errors and warnings */
    struct rc_str node;
    struct rc_str lines; /* each with the mark before it */
    struct rc_str verdict;
    size_t group; /* the place of the first report that says the same; SIZE_MAX: one too many */
};

struct reports {
    struct report *list;
    struct rc_range *range; /* room for those of one group */
    struct rc_str *text;    /* for its hosts, or for all lines */
    size_t count;           /* that have lines */
    size_t tasks;
};

/* Takes the next line, with those that belong to it: they are indented by four blanks or more. */
static struct rc_str take_unit(struct rc_str *rest)
{
    struct rc_str unit = *rest;

    do
        rc_str_split(*rest, '\n', rest);
    while (rc_str_starts(*rest, "|    "));
    unit.n -= rest->n;
    return unit;
}

/* 0 of what is neither error nor warning. */
static uint32_t weigh(struct rc_str unit)
{
    while (rc_str_starts(unit, "|") || rc_str_starts(unit, " "))
        unit = (struct rc_str){ unit.p + 1, unit.n - 1 };
    return rc_str_starts(unit, "error ") ? ERROR : rc_str_starts(unit, "warning ") ? WARNING : 0;
}

/* "|  warning RC301" of a finding, whose text may differ between nodes; else the first line. */
static struct rc_str head_of(struct rc_str unit)
{
    struct rc_str rest;
    struct rc_str line = rc_str_split(unit, '\n', &rest);

    return weigh(unit) ? rc_str_split(line, ':', &rest) : line;
}

/* Return whether `lines` has this unit or, if `by_head`, one with the same head. */
static bool has_unit(struct rc_str lines, struct rc_str unit, bool by_head)
{
    while (lines.n) {
        struct rc_str next = take_unit(&lines);

        if (by_head ? rc_str_eq(head_of(next), head_of(unit)) : rc_str_eq(next, unit))
            return true;
    }
    return false;
}

/* Takes the next unit that `other` has not. */
static bool take_different(struct rc_str *rest, struct rc_str other, struct rc_str *unit)
{
    while (rest->n) {
        *unit = take_unit(rest);
        if (!rc_str_is(*unit, EMPTY) && !has_unit(other, *unit, false))
            return true;
    }
    return false;
}

/* Take the head of the next finding that `other` lacks. */
static bool take_missing(struct rc_str *rest, struct rc_str other, struct rc_str *head)
{
    while (rest->n) {
        struct rc_str unit = take_unit(rest);

        *head = head_of(unit);
        if (weigh(unit) && !has_unit(other, unit, true))
            return true;
    }
    return false;
}

/* Rank 0 alone looks at some things: a line that is no finding may be missing. */
static bool is_alike(struct rc_str first, struct rc_str lines)
{
    struct rc_str rest = lines;
    struct rc_str unit;

    return !take_different(&rest, first, &unit) && !take_missing(&first, lines, &unit);
}

static void print_lines(struct rc_str lines)
{
    while (lines.n) {
        struct rc_str line = rc_str_split(lines, '\n', &lines);

        printf("%.*s\n", (int)line.n - 1, line.p + 1);
    }
}

static void print_missing(struct rc_str head)
{
    do
        head = (struct rc_str){ head.p + 1, head.n - 1 };
    while (rc_str_starts(head, " "));
    printf("missing here: %.*s\n", (int)head.n, head.p);
}

static void print_different(struct rc_str first, struct rc_str lines)
{
    struct rc_str rest = lines;
    struct rc_str unit;

    while (take_different(&rest, first, &unit))
        print_lines(unit);
    while (take_missing(&first, lines, &unit))
        print_missing(unit);
}

/* "ranks 0-3 on n[1-2]" */
static void print_title(const struct reports *reports, size_t group, const char *end)
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
    printf("%s %s on %s%s\n", count == 1 ? "rank" : "ranks", ranks,
           rc_compact_hosts(reports->text, count, NAMES_MAX, &arena), end);
}

static bool read_report(struct rc_str *rest, struct report *report)
{
    struct rc_str line = rc_str_split(*rest, '\n', rest);
    struct rc_str lines = *rest;

    *report = (struct report){ .lines = lines };
    if (!rc_str_starts(line, BEGIN))
        return false;
    while (rc_str_starts(*rest, "|"))
        rc_str_split(*rest, '\n', rest);
    report->lines.n = lines.n -= rest->n;
    while (lines.n) {
        struct rc_str unit = take_unit(&lines);

        report->weight += weigh(unit);
        if (!rc_str_starts(unit, "|verdict "))
            continue;
        report->verdict = unit;
        report->lines.n -= unit.n;
    }
    while (rc_str_ends(report->lines, "\n" EMPTY))
        report->lines.n -= sizeof(EMPTY) - 1;
    rc_str_split(line, ' ', &line);
    line = rc_str_split(line, ' ', &report->node);
    return report->node.p && rc_parse_u32(line, RC_MAX_TASKS - 1, &report->rank);
}

static int by_rank(const void *a, const void *b)
{
    const struct report *left = a;
    const struct report *right = b;

    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* What is worst comes first, whole. */
static int by_weight(const void *a, const void *b)
{
    const struct report *left = a;
    const struct report *right = b;

    return left->weight != right->weight ? (left->weight < right->weight ? 1 : -1) : by_rank(a, b);
}

static bool read_reports(struct rc_str text, struct reports *reports)
{
    size_t most = rc_str_pieces(text, '\n') + 1;

    reports->list = calloc(most, sizeof(*reports->list));
    reports->range = calloc(most, sizeof(*reports->range));
    reports->text = calloc(most, sizeof(*reports->text));
    if (!reports->list || !reports->range || !reports->text)
        return false;
    while (text.n) {
        bool good = read_report(&text, &reports->list[reports->count]);

        reports->tasks += good;
        reports->count += good && reports->list[reports->count].lines.n;
    }
    return true;
}

/* Gives each report a group, one of its own for `all`. Returns how many have none: no more groups are shown. */
static size_t group_reports(struct reports *reports, bool all)
{
    size_t shown[SHOWN_MAX];
    size_t groups = 0;
    size_t more = 0;

    for (size_t i = 0; all && i < reports->count; i++)
        reports->list[i].weight = 0;
    qsort(reports->list, reports->count, sizeof(*reports->list), by_weight);
    for (size_t i = 0; i < reports->count; i++) {
        size_t j = 0;

        while (j < groups && !is_alike(reports->list[shown[j]].lines, reports->list[i].lines))
            j++;
        if (j == groups && groups < SHOWN_MAX)
            shown[groups++] = i;
        reports->list[i].group = all ? i : j < groups ? shown[j] : SIZE_MAX;
        more += !all && j == groups;
    }
    return more;
}

static void print_verdict(const struct report *report)
{
    if (report->verdict.p)
        putchar('\n');
    print_lines(report->verdict);
}

static void print_grouped(struct reports *reports, bool all)
{
    size_t more = group_reports(reports, all);

    for (size_t i = 0; i < reports->count; i++) {
        const struct report *report = &reports->list[i];

        if (report->group != i)
            continue;
        if (i > 0)
            putchar('\n');
        print_title(reports, i, i > 0 && !all ? ", what differs:" : ":");
        if (i > 0 && !all)
            print_different(reports->list[0].lines, report->lines);
        else
            print_lines(report->lines);
        if (all)
            print_verdict(report);
    }
    if (more)
        printf("\n%zu more differ: --rank N prints one of them, --all each\n", more);
    if (!all)
        print_verdict(&reports->list[0]);
}

/* Return -1 without memory. */
static int print_rows(struct reports *reports)
{
    qsort(reports->list, reports->count, sizeof(*reports->list), by_rank);
    for (size_t i = 0; i < reports->count; i++)
        reports->text[i] = reports->list[i].lines;
    return cli_tasks_print(reports->text, reports->count);
}

/* Returns -1 without memory. */
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
            print_grouped(&reports, scope->all);
    }
    free(reports.list);
    free(reports.range);
    free(reports.text);
    return status;
}

/* What this task sends: to be freed; NULL without memory. */
static char *write_report(const struct rc_result *result, const char *text)
{
    char *report = NULL;
    size_t size;
    FILE *out = open_memstream(&report, &size);
    char name[RC_NODE_NAME_SIZE];
    struct rc_str rest = rc_str(text);

    if (!out)
        return NULL;
    fprintf(out, BEGIN "%u %s\n", (unsigned)cli_rank_of(result), rc_node_name(name));
    while (rest.n) {
        struct rc_str line = rc_str_split(rest, '\n', &rest);

        fprintf(out, "|%.*s\n", (int)line.n, line.p);
    }
    fclose(out);
    return report;
}

/* Returns -1 without memory. */
static int share(const struct rc_result *result, const struct cli_scope *scope, char *own)
{
    bool speaks = !scope->by_node || scope->all || cli_fact(result, RC_LOCAL_RANK) == 0;
    char *lines = strchr(own, '\n') + 1;
    char first = *lines;
    char *all = NULL;
    enum cli_part part = CLI_PART_ALONE;
    int status = 0;

    if (!speaks)
        *lines = '\0';
    if (!scope->rank)
        part = cli_together(result, own, &all);
    *lines = first;
    if (part != CLI_PART_SILENT)
        status = print_reports(result, scope, part, all ? all : own);
    free(all);
    return status;
}

int cli_report(const struct rc_result *result, const struct cli_scope *scope, cli_print *print, void *more)
{
    bool possible = cli_together_is_possible(result);
    uint32_t ranks = cli_fact(result, result->mode == RC_MODE_LAUNCHER ? RC_NNODES : RC_WORLD_SIZE);
    char *text = NULL;
    char *own;
    size_t size;
    FILE *memory;
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
    memory = open_memstream(&text, &size);
    if (!memory)
        return console_fail("out of memory");
    status = print(memory, more);
    fclose(memory);
    own = write_report(result, text);
    if (!own || share(result, scope, own) < 0)
        status = console_fail("out of memory");
    free(text);
    free(own);
    return status;
}
