/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - the modes of rollcall-exchange. */
#pragma once

#include "base/text.h"
#include "rendezvous/server.h"
#include "resolve/options.h"
#include "roll/roll.h"

/* Closes what srun, or a task, had open without close-on-exec: this process outlives them. */
void exchange_close_from(int first);

/* The servers (server.c). Return an exit status. */
int exchange_serve_srun(const struct rc_server_settings *settings);
int exchange_serve_launch(const struct rc_server_settings *settings);

/* In a step, until its tasks on this node have ended: sees its signals (monitor.c). Returns an exit status. */
int exchange_monitor(void);

enum { RC_VERDICT_TEXT = 65536 };

struct rc_verdict {
    /* in */
    struct rc_str srun;  /* the host of srun's server; absent: the server is a node's */
    const char *silence; /* why a node may be silent; NULL: not known */
    /* out */
    struct rc_answer answer; /* with its findings */
    char text[RC_VERDICT_TEXT];
};

/* An rc_server_decide; more is a struct rc_verdict. srun's server prints the findings, and its answer has none; that of
 * another one has them, for RANK 0's node to print. */
struct rc_str rc_verdict_decide(void *more, const struct rc_roll_call *call);
