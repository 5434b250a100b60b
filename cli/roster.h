/* SPDX-License-Identifier: BSD-3-Clause */
/* roster.h - the roll of a live step: all nodes' entries, as the server beside its srun has them. */
#ifndef ROLLCALL_CLI_ROSTER_H
#define ROLLCALL_CLI_ROSTER_H

#include "base/message.h"
#include "roll/blame.h"
#include "roll/roll.h"

struct roster {
    char step[32]; /* "42.0" */
    struct rc_roll *roll;
    size_t count;
    bool ordered; /* with order=topology: the entries say who is who in the order of the network, and stand in it */
    struct rc_messages findings;
    struct rc_blame blame; /* of the findings */
    char *text;            /* that the entries are slices of, and the findings' */
    char *findings_text;
    char *order_text;
    bool is_own; /* of a step that this process is a task of */
};

/* Finds the server of the step of process `pid`, asks it for the roll, and checks the
 * roll anew. pid 0: the step of this process, or if it is in none, the first step of
 * the same Slurm job on this node. 0, or -1 after one line on standard error. Free the
 * roster with cli_roster_free. */
int cli_roster_read(struct roster *roster, const char *pid);

/* Whether this process is to print the roster for its step, all of whose tasks may run the same command: the first one
 * that asks is. Each further time that they all ask, it is the first of them again. True for a roster that is not of
 * the process's own step, and where the server does not answer. */
bool cli_roster_is_first_to_ask(const struct roster *roster);

void cli_roster_free(struct roster *roster);

#endif
