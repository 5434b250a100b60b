/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.h - one task prints for all tasks of a launch that run the same command. */
#pragma once

#include <stdio.h>

#include "rendezvous/client.h"
#include "rendezvous/server.h"
#include "resolve/resolve.h"

/* Return a number from the launcher, or RC_UNKNOWN. */
static inline uint32_t cli_fact(const struct rc_result *result, enum rc_field field)
{
    return result->facts.field[field].value;
}

/* Tasks send their texts to the node's first task, and that to the lowest node, through the launch's server
 * (discovery.h): srun's, or with srun --mpi=pmix one found over PMIx. With other launchers each node prints separately:
 * their PMIx servers require queries from all tasks or none. A task that finds no printer waits some seconds and prints
 * itself. */

enum cli_part {
    CLI_PART_ALONE,  /* print for this task */
    CLI_PART_SPEAKS, /* print for all tasks that have arrived */
    CLI_PART_NODE,   /* the same, for this node only: no connection to others */
    CLI_PART_SILENT, /* another task prints for this one */
};

/* In a node's first task: serve the other tasks at this local name until all have arrived or a timeout; `decide` makes
 * the reply. Return 0, or -errno without a call of `decide`. */
int cli_gather_node(const char *name, const struct rc_gather_request *own, rc_server_decide *decide, void *more);

/* In other tasks: wait `milliseconds` for the first task, and `patience` for its reply. Return 0 or -errno. */
int cli_join_node(const char *name, const struct rc_gather_request *own, uint32_t milliseconds, uint32_t patience,
                  struct rc_reply *reply);

/* Return whether this process is one of several tasks that can meet, and not at a terminal (srun --pty). */
bool cli_together_is_possible(const struct rc_result *result);

/* Send this task's text to the one that prints. Return the part of this task; if it prints for several, *all is their
 * texts, this task's first, to be freed. */
enum cli_part cli_together(const struct rc_result *result, const char *own, char **all);

/* Print the launch of `result`, the number of its tasks here, and the reason if some are missing. */
void cli_together_head(const struct rc_result *result, enum cli_part part, size_t count);

/* Return RANK; in launcher mode, without ranks, the node rank. */
static inline uint32_t cli_rank_of(const struct rc_result *result)
{
    enum rc_field field = result->mode == RC_MODE_LAUNCHER ? RC_NODE_RANK : RC_RANK;
    uint32_t number = result->identity.field[field];

    return number != RC_UNKNOWN ? number : cli_fact(result, RC_RANK);
}

/* Output of many tasks: equal reports once, with ranks and nodes, the worst first; or one table with a row per task. */

struct cli_scope {
    unsigned all;     /* --all: each whole report, in order */
    const char *rank; /* --rank: only that task; or NULL */
    uint32_t number;
    bool by_node; /* one report per node is enough, except with these two */
    bool plain;   /* for programs: each task prints its report unchanged */
    bool table;   /* reports are a table's head, a row with tabs between cells, and notes */
};

/* Read the number of --rank, if given. Return false after one line on standard error. */
bool cli_scope_read(struct cli_scope *scope);

/* Print a report to `out` and return the exit status. */
typedef int cli_print(FILE *out, void *more);

/* Create this task's report with `print`, and print this task's share. Return the status of `print`; 0 if --rank
 * selected another task. */
int cli_report(const struct rc_result *result, const struct cli_scope *scope, cli_print *print, void *more);

/* Resources of a task of a Slurm step, and of its job. RC_UNKNOWN if unknown. */
struct cli_got {
    uint32_t cpus, promised; /* of the task; by SLURM_CPUS_PER_TASK */
    uint32_t gpus, job_gpus; /* on this node: of the step; of the job */
};

/* The result must be of this process: the kernel supplies its CPUs. */
struct cli_got cli_got_find(const struct rc_result *result);

enum { CLI_TASK_COLUMNS = 7 };

/* Print a row, warnings and errors. Return the exit status. */
int cli_task_print(FILE *out, const struct rc_result *result);

/* Print one table of rows, then each note once. `reports` are `count` texts of a head, a row and notes, with room after
 * them for all notes. Return -1 without memory. */
int cli_tasks_print(struct rc_str *reports, size_t count);
