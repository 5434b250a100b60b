/* SPDX-License-Identifier: BSD-3-Clause */
/* roster.h - the roll of a live step: all nodes' entries, as the server beside its srun has them. */
#ifndef ROLLCALL_CLI_ROSTER_H
#define ROLLCALL_CLI_ROSTER_H

#include "base/message.h"
#include "roll/roll.h"

struct roster {
    char step[32]; /* "42.0" */
    struct rc_roll *roll;
    size_t count;
    bool ordered; /* with order=topology: the entries say who is who in the order of the network, and stand in it */
    struct rc_messages findings;
    char *text; /* that the entries are slices of, and the findings' */
    char *findings_text;
    char *order_text;
};

/* Finds the server of the step of process `pid`, asks it for the roll, and checks the
 * roll anew. pid 0: the step of this process, or if it is in none, the first step of
 * the same Slurm job on this node. 0, or -1 after one line on standard error. Free the
 * roster with cli_roster_free. */
int cli_roster_read(struct roster *roster, const char *pid);
void cli_roster_free(struct roster *roster);

#endif
