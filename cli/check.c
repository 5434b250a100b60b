/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli.h"
#include "console/output.h"
#include "inspect.h"
#include "roster.h"
#include "system/node.h"

#define PAGE   "step.html"
#define MARKER "@ROLL@" /* in the page: where the JSON comes */

enum { PAGE_SIZE = 1 << 16 };

/* The width of the widest value of a column. There is one line a node, and there may be
 * thousands. */
static int widest_value(const struct roster *roster, size_t offset, int least)
{
    for (size_t i = 0; i < roster->count; i++) {
        const struct rc_str *slice = (const void *)((const char *)&roster->roll[i] + offset);

        if ((int)slice->n > least && slice->n < console_width() / 2)
            least = (int)slice->n;
    }
    return least;
}

/* What to paste after sbatch or srun, with the text before it; nothing where no node is blamed. */
static int print_exclude(const struct roster *roster, const char *before)
{
    char *list = cli_exclude_list(&roster->blame);

    if (!list)
        return console_fail("out of memory");
    if (*list)
        printf("%s" CLI_EXCLUDE "%s\n", before, list);
    free(list);
    return STATUS_RESOLVED;
}

static void print_nodes(const struct roster *roster)
{
    int host = widest_value(roster, offsetof(struct rc_roll, host), 4);
    int tasks = widest_value(roster, offsetof(struct rc_roll, tasks), 5);
    int place = roster->ordered ? widest_value(roster, offsetof(struct rc_roll, place), 7) : 0;
    int visible = widest_value(roster, offsetof(struct rc_roll, visible), 0);

    printf("step %s: %zu of %u nodes, %u tasks\n\n%s%4s  %-*s  %-*s  %-8s  ", roster->step, roster->count,
           roster->nodes, roster->world, paint_on(PAINT_STRONG), "node", host, "host", tasks, "tasks", "mode");
    if (place)
        printf("%-*s  ", place, "network");
    if (visible)
        printf("%-*s  ", visible, "visible");
    printf("master%s\n", paint_off());
    for (size_t i = 0; i < roster->count; i++) {
        const struct rc_roll *roll = &roster->roll[i];

        printf("%4u  %-*.*s  %-*.*s  %-8.*s  ", roll->node, host, (int)roll->host.n, roll->host.p, tasks,
               (int)roll->tasks.n, roll->tasks.p, (int)roll->mode.n, roll->mode.p);
        if (place)
            printf("%-*.*s  ", place, (int)roll->place.n, roll->place.p);
        if (visible)
            printf("%-*.*s  ", visible, (int)roll->visible.n, roll->visible.p ? roll->visible.p : "-");
        printf("%.*s", (int)roll->addr.n, roll->addr.p);
        printf(roll->port ? ":%u (held here)\n" : "\n", (unsigned)roll->port);
    }
}

static int print_text(const struct roster *roster)
{
    print_nodes(roster);
    for (unsigned i = 0; i < roster->findings.count; i++) {
        const struct rc_message_entry *entry = rc_message_entry(roster->findings.list[i].id);

        printf("\n%s%s %s:%s ", paint_on(cli_report_level_paint(entry->level)), rc_level_name(entry->level), entry->id,
               paint_off());
        if (console_print_wrapped((unsigned)(rc_str(rc_level_name(entry->level)).n + 8), 4, PAINT_NONE,
                                  roster->findings.list[i].text) < 0)
            return console_fail("out of memory");
    }
    return print_exclude(roster, "\n");
}

/* Reads the page that was installed. Returns its marker, or NULL after one line on standard error. */
static const char *read_page(char page[PAGE_SIZE])
{
    char path[PATH_MAX] = PAGE;
    const char *marker;
    FILE *file;
    size_t size;

    (void)rc_beside_file(ROLLCALL_DATA_FROM_BIN, PAGE, path, sizeof(path));
    file = fopen(path, "re");
    if (!file) {
        console_fail("cannot read the page %s: %s; install rollcall again, or use check --json", path, strerror(errno));
        return NULL;
    }
    size = fread(page, 1, PAGE_SIZE - 1, file);
    fclose(file);
    page[size] = '\0';
    marker = size < PAGE_SIZE - 1 ? strstr(page, MARKER) : NULL;
    if (!marker)
        console_fail("%s is not rollcall's page; install rollcall again, or use check --json", path);
    return marker;
}

/* JSON has no `<` of its own (console/json.h), so that nothing in it can end the script's element. */
static int print_page(const struct roster *roster)
{
    static char page[PAGE_SIZE];
    const char *marker = read_page(page);
    int status;

    if (!marker)
        return STATUS_USAGE;
    fwrite(page, 1, (size_t)(marker - page), stdout);
    status = cli_roster_print_json(roster);
    fputs(marker + strlen(MARKER), stdout);
    return status;
}

enum form { FORM_TEXT, FORM_JSON, FORM_HTML, FORM_EXCLUDE };

static int print_form(const struct roster *roster, enum form form)
{
    switch (form) {
    case FORM_JSON:
        return cli_roster_print_json(roster);
    case FORM_HTML:
        return print_page(roster);
    case FORM_EXCLUDE:
        return print_exclude(roster, "");
    case FORM_TEXT:
        break;
    }
    paint_choose();
    return print_text(roster);
}

/* The server's address and token are in the environment of the step's tasks alone, so another step of the job asks.
 * Returns only where it cannot. */
static int ask_in_job(const char *word, enum form form)
{
    static const char *const options[] = { NULL, "--json", "--html", "--exclude" };
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
    argv[n++] = options[form];
    /* so that srun's own errors are not "something is wrong", nor the question a step of --ddp */
    if (setenv("SLURM_EXIT_ERROR", "2", 1) == 0 && setenv("ROLLCALL", "off", 1) == 0)
        execvp(argv[0], (char **)(void *)argv);
    return console_fail("check: srun cannot be started: %s", strerror(errno));
}

static int check_step(const char *pid, const char *step, enum form form)
{
    static struct stepserver server;
    struct roster roster = { .count = 0 };
    int status = STATUS_USAGE;

    server.wanted = step;
    if (cli_stepserver_find(&server, pid) == 0 && cli_roster_ask(&roster, &server) == 0) {
        status = cli_stepserver_is_first_to_ask(&server) ? print_form(&roster, form) : STATUS_RESOLVED;
        /* a script that asks for nodes to leave out goes on when there are some */
        if (status == STATUS_RESOLVED && form != FORM_EXCLUDE && roster.findings.count > 0)
            status = STATUS_CONTRADICTION;
    }
    cli_roster_free(&roster);
    return status;
}

static int run_check(int argc, char **argv)
{
    static const struct option options[] = {
        { "json", no_argument, NULL, 'j' },        { "pid", required_argument, NULL, 'p' },
        { "jobid", required_argument, NULL, 'J' }, /* as of srun */
        { "exclude", no_argument, NULL, 'x' },     { "html", no_argument, NULL, 'H' },
        { "help", no_argument, NULL, 'h' },        { NULL, 0, NULL, 0 },
    };
    const char *pid = NULL;
    const char *job = NULL;
    enum form form = FORM_TEXT;

    for (int c; (c = console_getopt("check", argc, argv, options)) != -1 || optind < argc;) {
        switch (c) {
        case -1:
            if (job)
                return console_fail("check: unexpected argument '%.64s'", argv[optind]);
            job = argv[optind++];
            break;
        case 'j':
            form = FORM_JSON;
            break;
        case 'H':
            form = FORM_HTML;
            break;
        case 'x':
            form = FORM_EXCLUDE;
            break;
        case 'p':
            pid = optarg;
            break;
        case 'J':
            job = optarg;
            break;
        case 'h':
            fputs(cli_check.help, stdout);
            return STATUS_RESOLVED;
        default:
            return STATUS_USAGE;
        }
    }
    return job && *job != '.' ? ask_in_job(job, form) : check_step(pid, job, form);
}

const struct subcommand cli_check = {
    .name = "check",
    .summary = "the roll call of a live step: its nodes, and what is wrong with them",
    .help = "usage: rollcall check [OPTION]... [JOB[.STEP]]\n"
            "\n"
            "Shows what each node of a step of srun --ddp has said of itself, and every\n"
            "contradiction. Where nodes are to blame, the last line leaves them out of the\n"
            "next job. Asks the rendezvous server beside the step's srun: with JOB in a step\n"
            "of its own on a node of that job, else from one of its tasks or nodes.\n"
            "\n"
            "      --pid PID     the step that this process is a task of\n"
            "      --exclude     that last line alone; nothing where no node is to blame\n"
            "      --json        one JSON object instead of text\n"
            "      --html        a page for a browser, in one file\n"
            "  -h, --help        this help\n"
            "\n"
            "Exit status: 0 all nodes have answered and agree, 1 something is wrong (but 0\n"
            "with --exclude), 2 wrong usage, no such job or step, or its rendezvous server\n"
            "does not answer.\n",
    .run = run_check,
};
