/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.h - the tasks of a launch that all run the same command: one of them prints, and what. */
#pragma once

#include <stdio.h>

#include "rendezvous/client.h"
#include "rendezvous/server.h"
#include "resolve/resolve.h"

/* A number of this process as its launcher has it; RC_UNKNOWN where it does not say. */
static inline uint32_t cli_fact(const struct rc_result *result, enum rc_field field)
{
    return result->facts.field[field].value;
}

/* The tasks of a launch, each of which runs the same command, have one of them print for all.
 *
 * The tasks of a node bring their texts to its first one, the nodes' first ones theirs to the lowest of them, through
 * the launch's server (discovery.h): srun's, or with srun --mpi=pmix one that the PMIx server leads to. No other
 * launcher lets some tasks ask its PMIx server while others do not: there each node prints its own.
 * Who finds nobody to print for it does so itself: a task that runs alone waits for some seconds, no longer. */

enum cli_part {
    CLI_PART_ALONE,  /* print for this task */
    CLI_PART_SPEAKS, /* print for all tasks that have come */
    CLI_PART_NODE,   /* the same; they are of this node, which has no way to the others */
    CLI_PART_SILENT, /* another task prints for this one */
};

/* Of a node's first task: serve the node's other tasks at this local name until they have come or the time is over.
 * Their reply is what `decide` returns. 0, or -errno without a call of `decide`. */
int cli_gather_node(const char *name, const struct rc_gather_request *own, rc_server_decide *decide, void *more);

/* Of the others: wait so many milliseconds for the first task, and `patience` for its reply. 0 or -errno. */
int cli_join_node(const char *name, const struct rc_gather_request *own, uint32_t milliseconds, uint32_t patience,
                  struct rc_reply *reply);

/* Whether this process is one of several tasks that may meet so. A person at a terminal looks at one process, be it a
 * task's shell (srun --pty). */
bool cli_together_is_possible(const struct rc_result *result);

/* Brings this task's text to the one that prints. Returns this task's
 * part; where it is to print for several, *all is the texts of those who have come, its own first, to be freed. */
enum cli_part cli_together(const struct rc_result *result, const char *own, char **all);

/* Prints the launch that `result` is a task of, how many of its tasks are here, and why no more. */
void cli_together_head(const struct rc_result *result, enum cli_part part, size_t count);

/* RANK; in launcher mode, where tasks have none, the node rank. */
static inline uint32_t cli_rank_of(const struct rc_result *result)
{
    enum rc_field field = result->mode == RC_MODE_LAUNCHER ? RC_NODE_RANK : RC_RANK;
    uint32_t number = result->identity.field[field];

    return number != RC_UNKNOWN ? number : cli_fact(result, RC_RANK);
}

/* One task prints the reports of all tasks, equal ones once, each headed by ranks and nodes, the worst first; or one
 * table with a row of each task. */

struct cli_scope {
    unsigned all;     /* --all: each task's whole report, in order */
    const char *rank; /* --rank: that task's alone, by itself; or NULL */
    uint32_t number;
    bool by_node; /* reports of one task a node are enough, but with these two */
    bool plain;   /* for programs: each task prints its own, as it is */
    bool table;   /* reports are the table's head and a row, cells with tabs between them, and notes */
};

/* Read the number of --rank, if it is given. Return false after one line on standard error. */
bool cli_scope_read(struct cli_scope *scope);

/* Print a report to `out` and return an exit status. */
typedef int cli_print(FILE *out, void *more);

/* Make this task's report with `print`, and print this task's part of all reports. Return the status of `print`; 0 if
 * another task was asked for. */
int cli_report(const struct rc_result *result, const struct cli_scope *scope, cli_print *print, void *more);

/* What a task of a Slurm step may use, and what its job has for it. RC_UNKNOWN for what is not known. */
struct cli_got {
    uint32_t cpus, promised; /* of the task; by SLURM_CPUS_PER_TASK */
    uint32_t gpus, job_gpus; /* on this node: of the step; of the job */
};

/* The result is of this very process, whose CPUs the kernel tells. */
struct cli_got cli_got_find(const struct rc_result *result);

enum { CLI_TASK_COLUMNS = 7 };

/* Prints such a row, and the warnings and errors. Returns an exit status. */
int cli_task_print(FILE *out, const struct rc_result *result);

/* Print one table of such rows, then each note once. `reports` are `count` texts of a head, a row and notes; behind
 * them is room for all their notes. Return -1 without memory. */
int cli_tasks_print(struct rc_str *reports, size_t count);
