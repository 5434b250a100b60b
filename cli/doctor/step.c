/* SPDX-License-Identifier: BSD-3-Clause */
#include "step.h"

#include <stdlib.h>

#include "cli/roster.h"
#include "rendezvous/wire.h"

static void check_roll(struct findings *findings)
{
    static struct stepserver server;
    struct roster roster = { .count = 0 };

    if (cli_stepserver_find(&server, NULL) < 0 || cli_roster_ask(&roster, &server) < 0) {
        doctor_findings_add(findings, FINDING_D208, NULL, 0, NULL, "the roll of this step cannot be read");
    } else {
        doctor_findings_add_fact(findings, "roll", "%zu of %u nodes have answered", roster.count, roster.nodes);
        for (unsigned i = 0; i < roster.findings.count; i++)
            doctor_findings_add_message(findings, roster.findings.list[i].id, roster.findings.list[i].text);
    }
    cli_roster_free(&roster);
}

void doctor_step(struct findings *findings, const struct rc_result *result)
{
    const uint32_t *field = result->identity.field;
    const struct rc_master *master = &result->master;

    if (!result->launcher)
        doctor_findings_add_fact(findings, "step", "none: this process is no task of a launch");
    else
        doctor_findings_add_fact(findings, "step", "%s%s%s, %s", result->launcher->title,
                                 result->facts.run_id ? " " : "", result->facts.run_id ? result->facts.run_id : "",
                                 result->mode_reason);
    if (field[RC_WORLD_SIZE] != RC_UNKNOWN && field[RC_RANK] != RC_UNKNOWN && master->addr)
        doctor_findings_add_fact(findings, "task", "rank %u of %u, master %s port %u", field[RC_RANK],
                                 field[RC_WORLD_SIZE], master->addr, (unsigned)master->port);
    else if (field[RC_WORLD_SIZE] != RC_UNKNOWN && field[RC_RANK] != RC_UNKNOWN)
        doctor_findings_add_fact(findings, "task", "rank %u of %u", field[RC_RANK], field[RC_WORLD_SIZE]);
    for (unsigned i = 0; i < result->messages.count; i++)
        doctor_findings_add_message(findings, result->messages.list[i].id, result->messages.list[i].text);
    /* a step on one node has no roll */
    if (getenv(RC_SERVER) && field[RC_NNODES] != 1 &&
        (field[RC_RANK] == 0 || (field[RC_RANK] == RC_UNKNOWN && field[RC_NODE_RANK] == 0)))
        check_roll(findings);
}
