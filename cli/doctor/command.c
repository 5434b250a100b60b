/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/inspect.h"
#include "console/output.h"
#include "doctor.h"
#include "system/program.h"

struct arguments {
    struct doctor_request request;
    unsigned json;
    unsigned here;
    unsigned nodes;
    struct cli_scope scope;
    struct inspection *inspection; /* NULL: checks scripts or nodes */
    struct findings findings;
};

/* `rollcall doctor srun -N2 python train.py`: probably a forgotten "--". */
static bool begins_line(char *const *argv)
{
    char program[PATH_MAX];

    return argv[1] && strcmp(argv[1], "--") != 0 && access(argv[0], F_OK) < 0 &&
           rc_program_find(getenv("PATH"), argv[0], program);
}

/* Return 0, or -1 after one line on standard error. Options and the script may come in any order. */
static int read_arguments(char **argv, struct arguments *a)
{
    const struct console_option options[] = {
        { "--script", .value = &a->request.job },
        { "--json", .count = &a->json },
        { "--here", .count = &a->here },
        { "--nodes", .count = &a->nodes },
        { "--rank", .value = &a->scope.rank },
        { "--all", .count = &a->scope.all },
        { NULL },
    };
    int at = console_options("doctor", argv, 1, options);

    while (at && argv[at] && strcmp(argv[at - 1], "--") != 0 && !begins_line(argv + at)) {
        if (a->request.script) {
            console_fail("doctor: one script at a time, not '%.64s' as well; an srun or sbatch line goes after --",
                         argv[at]);
            return -1;
        }
        a->request.script = argv[at];
        at = console_options("doctor", argv, at + 1, options);
    }
    if (at && argv[at])
        a->request.line = (const char *const *)argv + at;
    return at && cli_scope_read(&a->scope) ? 0 : -1;
}

/* Check this machine, and the launch of this process. */
static int look_around(struct arguments *a)
{
    static struct inspection inspection;
    struct findings *findings = &a->findings;
    const struct rc_result *result = &inspection.result;
    const uint32_t *field = result->identity.field;
    const char *type = getenv("SLURM_MPI_TYPE");
    struct doctor_slurm slurm;

    a->inspection = &inspection;
    cli_inspect_own(&inspection);
    /* first, while the doctors of other nodes run */
    doctor_reachability(findings, result);
    doctor_step(findings, result);
    doctor_slurm(findings, &slurm);
    if (type)
        doctor_slurm_type(findings, &slurm, type, NULL, 0);
    doctor_network(findings, result);
    doctor_node(findings, result);
    /* in launcher mode a task has only a node rank */
    a->request.is_task = (field[RC_RANK] != RC_UNKNOWN || field[RC_NODE_RANK] != RC_UNKNOWN) && !isatty(STDIN_FILENO);
    return doctor_script(findings, &a->request, &slurm);
}

/* Omit findings about the machine. */
static int look_at_script(struct arguments *a)
{
    struct findings unsaid = { .count = 0 };
    struct doctor_slurm slurm;

    doctor_slurm(&unsaid, &slurm);
    doctor_findings_free(&unsaid);
    return doctor_script(&a->findings, &a->request, &slurm);
}

static int look(struct arguments *a)
{
    if (a->nodes)
        return doctor_read_nodes(&a->findings);
    return a->request.script || a->request.job || a->request.line ? look_at_script(a) : look_around(a);
}

static int print_report(FILE *out, void *more)
{
    const struct arguments *a = more;
    bool titled = a->inspection && cli_together_is_possible(&a->inspection->result);

    if (a->json)
        doctor_print_json(out, &a->findings);
    else
        doctor_print_text(out, &a->findings, titled);
    return doctor_findings_status(&a->findings);
}

static int print_findings(struct arguments *a)
{
    doctor_findings_sort(&a->findings);
    paint_choose();
    if (a->findings.failed)
        return console_fail("out of memory");
    a->scope.plain = a->json;
    return a->inspection ? cli_report(&a->inspection->result, &a->scope, print_report, a)
           : a->nodes    ? print_report(stdout, a)
                         : cli_report_own(&a->scope, print_report, a);
}

static int run_doctor(char **argv)
{
    struct arguments a = { .json = 0 };
    int status = STATUS_USAGE;

    if (read_arguments(argv, &a) < 0)
        return STATUS_USAGE;
    if ((a.here || a.nodes) && (a.request.script || a.request.job || a.request.line))
        return console_fail("doctor: --%s looks at no script", a.here ? "here" : "nodes");
    if (a.here) {
        doctor_print_here();
        return STATUS_RESOLVED;
    }
    if (look(&a) == 0)
        status = print_findings(&a);
    doctor_findings_free(&a.findings);
    return status;
}

const struct subcommand cli_doctor = {
    .name = "doctor",
    .summary = "what would go wrong: on this machine, in this step, in a script",
    .help = "usage: rollcall doctor [--json]\n"
            "       rollcall doctor [--json] [--script JOB] [SCRIPT] [-- LINE...]\n"
            "       srun -N4 rollcall doctor --here | rollcall doctor [--json] --nodes\n"
            "\n"
            "Without SCRIPT and JOB it looks at this machine or, inside of a step, at this\n"
            "task: Slurm and the plugin, names, ports and interfaces, GPUs, cores and\n"
            "limits, and what all nodes of the step have said:\n"
            "\n"
            "  srun --ddp -N2 --ntasks-per-node=1 rollcall doctor\n"
            "\n"
            "SCRIPT is a training script, which it reads with the modules beside it, or a\n"
            "job script, which it follows to the training script; LINE is the srun or sbatch\n"
            "line that you will type. It says what contradicts what, and what it has not\n"
            "looked at. It imports and runs nothing of them.\n"
            "\n"
            "  rollcall doctor job.sh\n"
            "  rollcall doctor train.py -- srun -N2 --ntasks-per-node=4 python train.py\n"
            "\n"
            "The third line names the nodes where the plugin, its line or a file of its own\n"
            "is not as on this host, and those where a program of its own cannot be run.\n"
            "\n"
            "      --here        this node's lines, once a node\n"
            "      --nodes       the report of all lines on standard input\n"
            "      --script JOB  a job script, beside a SCRIPT of its own\n"
            "      --rank N      in a launch of several tasks rank N's report alone\n"
            "      --all         the report of each task, in order\n"
            "      --json        one JSON object instead of text\n"
            "  -h, --help        this help\n"
            "\n"
            "Exit status: 0 nothing found, or notes alone, 1 warnings, 2 wrong usage or a\n"
            "file that cannot be read, 3 errors, 4 nothing found, but not all was looked at.\n",
    .run = run_doctor,
};
