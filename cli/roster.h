/* SPDX-License-Identifier: BSD-3-Clause */
/* roster.h - the roll of a step: all nodes' entries, as the server beside its srun has them, and what is wrong. */
#ifndef ROLLCALL_CLI_ROSTER_H
#define ROLLCALL_CLI_ROSTER_H

#include "base/message.h"
#include "roll/blame.h"
#include "roll/roll.h"
#include "stepserver.h"

struct roster {
    char step[CLI_STEP_SIZE]; /* "42.0" */
    struct rc_roll *roll;
    size_t count;
    uint32_t nodes; /* of the step */
    uint32_t world;
    bool ordered; /* with order=topology: the entries say who is who in the order of the network, and stand in it */
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

#endif
