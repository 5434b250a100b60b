/* SPDX-License-Identifier: BSD-3-Clause */
/* roster.h - the roll of a step, nodes to leave out, and equal nodes in one row. */
#pragma once

#include "base/message.h"
#include "rendezvous/wire.h"
#include "roll/check.h"
#include "roll/names.h"
#include "roll/roll.h"

/* The rendezvous server beside a live step's srun, and what the command asks it. */

enum { CLI_STEP_SIZE = 32, CLI_STEPSERVER_TEXT = 4096 };

struct stepserver {
    const char *wanted;       /* ".0", or NULL for any step of the job */
    char step[CLI_STEP_SIZE]; /* "42.0" */
    bool is_own;              /* of a step that this process is a task of */
    struct rc_endpoint endpoint;
    char text[CLI_STEPSERVER_TEXT];
};

/* Finds the server of the step of this process, or if it is in none, of the first step of the same Slurm job on this
 * node. 0, or -1 after one line on standard error. */
int cli_stepserver_find(struct stepserver *server);

/* Whether this process is to print for its step, all of whose tasks may run the same command: the first one that asks
 * is. Each further time that they all ask, it is the first of them again. True for a server that is not of the
 * process's own step, and for one that does not answer. */
bool cli_stepserver_is_first_to_ask(const struct stepserver *server);

struct roster {
    char step[CLI_STEP_SIZE]; /* "42.0" */
    struct rc_roll *roll;     /* by node rank; with order=topology they have the ranks of the order of the network */
    size_t count;
    uint32_t nodes; /* of the step */
    uint32_t world;
    struct rc_messages findings;
    struct rc_blame blame; /* of the findings */
    char *text;            /* that the entries are slices of, and the findings' */
    char *findings_text;
    char *order_text;
};

/* Asks the server for the roll, and checks the roll anew. 0, or -1 after one line on standard error. Free the roster
 * with cli_roster_free, in both cases. */
int cli_roster_ask(struct roster *roster, const struct stepserver *server);

void cli_roster_free(struct roster *roster);

/* The names of all who are blamed, in order, each once: "n7,n12", many with brackets: "n[1-9,12]". "" for nobody.
 * Memory to free; NULL without memory. */
char *cli_exclude_list(const struct rc_blame *blame);
