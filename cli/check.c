/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/netaddr.h"
#include "base/text.h"
#include "cli.h"
#include "console/output.h"
#include "inspect.h"
#include "roll/names.h"
#include "roll/netorder.h"
#include "roster.h"

/* Print `before` and the option for sbatch or srun; nothing if no node is blamed. */
static int print_exclude(const struct roster *roster, const char *before)
{
    char *list = cli_exclude_list(&roster->blame);

    if (!list)
        return console_fail("out of memory");
    if (*list)
        printf("%s--exclude=%s\n", before, list);
    free(list);
    return STATUS_RESOLVED;
}

/* Return the switches or block of a node, without its name. */
static struct rc_str network_of(const struct rc_roll *roll)
{
    struct rc_str name;

    return rc_str_split(roll->place, ' ', &name);
}

/* Return whether two nodes match, ignoring names and ranks. */
static bool is_alike(const struct rc_roll *a, const struct rc_roll *b)
{
    return !rc_text_order(a->mode, b->mode) && !rc_text_order(network_of(a), network_of(b)) &&
           !rc_text_order(a->visible, b->visible) && !rc_text_order(a->addr, b->addr) &&
           !rc_text_order(a->item[RC_ITEM_cores], b->item[RC_ITEM_cores]) &&
           rc_netorder_tasks(a) == rc_netorder_tasks(b);
}

/* Return "0-7" of "tasks 0-7". */
static const char *numbers_of(const char *text)
{
    return text + strcspn(text, "0123456789");
}

/* port: held by RANK 0's node; 0: none */
static void add_row(struct table *table, const struct rc_member *member, size_t count, uint32_t port,
                    struct rc_namer *namer)
{
    const struct rc_roll *roll = member->roll;

    rc_namer_reset(namer);
    table_text(table, PAINT_NONE, numbers_of(rc_name_numbers(namer, "node", member, count)));
    table_text(table, PAINT_NONE, rc_name_hosts(namer, member, count));
    table_text(table, PAINT_NONE, numbers_of(rc_name_tasks(namer, member, count)));
    table_cell(table, PAINT_NONE, roll->mode, 0);
    table_cell(table, PAINT_NONE, network_of(roll), 0);
    table_cell(table, PAINT_NONE, roll->visible, 0);
    table_cell(table, PAINT_NONE, roll->item[RC_ITEM_cores], 0);
    table_text(table, PAINT_NONE, rc_host_with_port(roll->addr, port, &namer->text));
}

/* Print a row for each group of equal nodes. Return -1 without memory. */
static int print_nodes(const struct roster *roster)
{
    static const char *const titles[TABLE_COLUMNS] = { "node",    "host",    "tasks", "mode",
                                                       "network", "visible", "cores", "master" };
    struct table table = { .columns = TABLE_COLUMNS, .headed = true };
    struct rc_member *member = calloc(roster->count, sizeof(*member));
    bool *done = calloc(roster->count, sizeof(*done));
    struct rc_namer namer = { .host = calloc(roster->count, sizeof(*namer.host)) };
    uint32_t port = 0;
    size_t ranges = roster->count + 1;

    for (size_t i = 0; i < roster->count; i++) {
        ranges += rc_str_pieces(roster->roll[i].tasks, ',');
        port = port ? port : roster->roll[i].port;
    }
    namer.range = calloc(ranges, sizeof(*namer.range));
    table.failed = !member || !done || !namer.host || !namer.range;
    for (unsigned i = 0; i < TABLE_COLUMNS; i++)
        table_text(&table, PAINT_STRONG, titles[i]);
    for (size_t i = 0; i < roster->count && !table.failed; i++) {
        size_t alike = 0;

        for (size_t j = done[i] ? roster->count : i; j < roster->count; j++) {
            if (done[j] || !is_alike(&roster->roll[i], &roster->roll[j]))
                continue;
            done[j] = true;
            member[alike++] = (struct rc_member){ .roll = &roster->roll[j], .number = roster->roll[j].node };
        }
        if (alike)
            add_row(&table, member, alike, port, &namer);
    }
    free(member);
    free(done);
    free(namer.host);
    free(namer.range);
    return table_print(stdout, &table);
}

static int print_text(const struct roster *roster)
{
    printf("step %s: %zu of %u nodes, %u tasks\n\n", roster->step, roster->count, roster->nodes, roster->world);
    for (unsigned i = 0; i < roster->findings.count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(roster->findings.list[i].id);

        printf("%s%s %s:%s ", paint_on(cli_report_level_paint(entry->level)), rc_level_name(entry->level), entry->id,
               paint_off());
        console_print_wrapped(stdout, (unsigned)(rc_str(rc_level_name(entry->level)).n + 8), 4, PAINT_NONE,
                              roster->findings.list[i].text);
        putchar('\n');
    }
    if (print_nodes(roster) < 0)
        return console_fail("out of memory");
    return print_exclude(roster, "\n");
}

struct form {
    unsigned json;
    unsigned exclude;
};

static int print_form(const struct roster *roster, struct form form)
{
    if (form.exclude)
        return print_exclude(roster, "");
    if (form.json)
        return cli_roster_print_json(roster);
    paint_choose();
    return print_text(roster);
}

/* Only tasks of the step know its server, so query it from another step of the job. Return only on failure. */
static int ask_in_job(const char *word, struct form form)
{
    char jobid[32];
    const char *self = program_invocation_name;
    const char *argv[12] = { "srun", "--overlap", "-N1", "-n1", "--input=none", jobid, self, "check" };
    unsigned n = 8;
    struct rc_str step;
    struct rc_str job = rc_str_split(rc_str(word), '.', &step);
    uint32_t number;

    if (!rc_parse_u32(job, UINT32_MAX, &number) || (step.p && !rc_parse_u32(step, UINT32_MAX, &number)))
        return console_fail("check: unexpected argument '%.64s'; a job's number is as squeue --format=%%A prints it",
                            word);
    snprintf(jobid, sizeof(jobid), "--jobid=%.*s", (int)job.n, job.p);
    if (step.p)
        argv[n++] = step.p - 1;
    argv[n++] = form.exclude ? "--exclude" : form.json ? "--json" : NULL;
    /* distinguish srun's errors from findings, and keep --ddp out of the query's step */
    if (setenv("SLURM_EXIT_ERROR", "2", 1) == 0 && setenv("ROLLCALL", "off", 1) == 0)
        execvp(argv[0], (char **)(void *)argv);
    return console_fail("check: srun cannot be started: %s", strerror(errno));
}

static int check_step(const char *step, struct form form)
{
    static struct stepserver server;
    struct roster roster = { .count = 0 };
    int status = STATUS_USAGE;

    server.wanted = step;
    if (cli_stepserver_find(&server) == 0 && cli_roster_ask(&roster, &server) == 0) {
        status = cli_stepserver_is_first_to_ask(&server) ? print_form(&roster, form) : STATUS_RESOLVED;
        /* a script with --exclude continues if there are nodes to exclude */
        if (status == STATUS_RESOLVED && !form.exclude && roster.findings.count > 0)
            status = STATUS_CONTRADICTION;
    }
    cli_roster_free(&roster);
    return status;
}

/* Options and the job may come in any order. */
static int run_check(char **argv)
{
    const char *job = NULL;
    struct form form = { .json = 0 };
    const struct console_option options[] = {
        { "--json", .count = &form.json },
        { "--exclude", .count = &form.exclude },
        { "--jobid", .value = &job }, /* as in srun */
        { NULL },
    };
    int at = console_options("check", argv, 1, options);

    while (at && argv[at]) {
        if (job)
            return console_fail("check: unexpected argument '%.64s'", argv[at]);
        job = argv[at];
        at = console_options("check", argv, at + 1, options);
    }
    if (!at)
        return STATUS_USAGE;
    return job && *job != '.' ? ask_in_job(job, form) : check_step(job, form);
}

const struct subcommand cli_check = {
    .name = "check",
    .summary = "the roll call of a live step: its nodes, and what is wrong with them",
    .help = "usage: rollcall check [OPTION]... [JOB[.STEP]]\n"
            "\n"
            "Prints every contradiction between the nodes of a step of srun --ddp, then what\n"
            "they reported; equal nodes are one row. If nodes are at fault, the last line\n"
            "excludes them from the next job. Queries the server beside the step's srun:\n"
            "with JOB from a new step on a node of that job, else from one of its tasks or\n"
            "nodes.\n"
            "\n"
            "      --exclude     only that last line; nothing if no node is at fault\n"
            "      --json        one JSON object instead of text\n"
            "  -h, --help        this help\n"
            "\n"
            "Exit status: 0 all nodes answered and agree, 1 something is wrong (but 0\n"
            "with --exclude), 2 wrong usage, no such job or step, or its rendezvous server\n"
            "does not answer.\n",
    .run = run_check,
};
