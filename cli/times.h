/* SPDX-License-Identifier: BSD-3-Clause */
/* times.h - where the time of a live step's start-up went, as the server beside its srun has heard it. */
#ifndef ROLLCALL_CLI_TIMES_H
#define ROLLCALL_CLI_TIMES_H

#include "rendezvous/endpoint.h"
#include "rendezvous/startup.h"
#include "rendezvous/timesread.h"

/* Zero it to begin, cli_times_free to end. */
struct cli_times {
    bool known; /* false: the server does not answer, or does not know the question; the rest means nothing */
    struct rc_times_read read;
    struct rc_startup startup;
    char *text; /* that the rolls are slices of, where the server was asked */
};

/* Reads a text of rc_times_text, which must live as long as *times. What is none stays unknown. */
void cli_times_read(struct cli_times *times, struct rc_str text);

/* Asks the server. What it does not answer stays unknown: nothing depends on it. */
void cli_times_ask(const struct rc_endpoint *server, struct cli_times *times);

/* The line of RC711, in an arena of the caller's; NULL where no task has told anything, as without watch=SECONDS. */
const char *cli_times_line(const struct cli_times *times, struct rc_arena *arena);

/* The name of the slowest node of a stage, or of the slowest task's node; absent where it is not known. */
struct rc_str cli_times_slowest(const struct cli_times *times, enum rc_stage stage);

/* Prints that line and a table of the stages; nothing where there is no line. -1 without memory. */
int cli_times_print(const struct cli_times *times);

void cli_times_free(struct cli_times *times);

#endif
