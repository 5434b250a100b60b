/* SPDX-License-Identifier: BSD-3-Clause */
/* roster.h - the roll of a step, exclude lists, and rows of equal nodes. */
#pragma once

#include "base/message.h"
#include "rendezvous/wire.h"
#include "roll/check.h"
#include "roll/names.h"
#include "roll/roll.h"

/* The rendezvous server beside the srun of a live step. */

enum { CLI_STEP_SIZE = 32, CLI_STEPSERVER_TEXT = 4096 };

struct stepserver {
    const char *wanted;       /* ".0", or NULL for any step of the job */
    char step[CLI_STEP_SIZE]; /* "42.0" */
    bool is_own;              /* this process is a task of the step */
    struct rc_endpoint endpoint;
    char text[CLI_STEPSERVER_TEXT];
};

/* Find the server of this process's step, or of the first step of its Slurm job on this node. Return 0, or -1 after one
 * line on standard error. */
int cli_stepserver_find(struct stepserver *server);

/* Return whether this process prints for its step, all of whose tasks may run the command: the first caller does, in
 * each round. True for other steps, and if the server does not answer. */
bool cli_stepserver_is_first_to_ask(const struct stepserver *server);

struct roster {
    char step[CLI_STEP_SIZE]; /* "42.0" */
    struct rc_roll *roll;     /* by node rank; with order=topology ranks are those of the network's order */
    size_t count;
    uint32_t nodes; /* of the step */
    uint32_t world;
    struct rc_messages findings;
    struct rc_blame blame; /* of the findings */
    char *text;            /* backs the entries and the findings */
    char *findings_text;
    char *order_text;
};

/* Query the roll and check it again. Return 0, or -1 after one line on standard error; call cli_roster_free in both
 * cases. */
int cli_roster_ask(struct roster *roster, const struct stepserver *server);

void cli_roster_free(struct roster *roster);

/* Return the sorted names of all blamed nodes, to be freed: "n7,n12", many as "n[1-9,12]", or ""; NULL without
 * memory. */
char *cli_exclude_list(const struct rc_blame *blame);
