/* SPDX-License-Identifier: BSD-3-Clause */
/* stepserver.h - the rendezvous server beside a live step's srun, and what the command asks it. */
#ifndef ROLLCALL_CLI_STEPSERVER_H
#define ROLLCALL_CLI_STEPSERVER_H

#include "rendezvous/endpoint.h"

enum { CLI_STEP_SIZE = 32, CLI_STEPSERVER_TEXT = 4096 };

struct stepserver {
    char step[CLI_STEP_SIZE]; /* "42.0" */
    bool is_own;              /* of a step that this process is a task of */
    struct rc_endpoint endpoint;
    char text[CLI_STEPSERVER_TEXT];
};

/* Finds the server of the step of process `pid`. NULL: of the step of this process, or if it is in none, of the first
 * step of the same Slurm job on this node. 0, or -1 after one line on standard error. */
int cli_stepserver_find(struct stepserver *server, const char *pid);

/* Returns what it replies, to be freed; NULL after one line on standard error. */
char *cli_stepserver_ask(const struct stepserver *server, const char *question);

/* Whether this process is to print for its step, all of whose tasks may run the same command: the first one that asks
 * is. Each further time that they all ask, it is the first of them again. True for a server that is not of the
 * process's own step, and for one that does not answer. */
bool cli_stepserver_is_first_to_ask(const struct stepserver *server);

#endif
