/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - the modes of rollcall-exchange. */
#pragma once

#include "base/text.h"
#include "rendezvous/server.h"
#include "resolve/options.h"
#include "roll/roll.h"

/* Close descriptors inherited from srun or a task, which this process outlives. */
void exchange_close_from(int first);

/* The servers (server.c). Return an exit status. */
int exchange_serve_srun(const struct rc_server_settings *settings);
int exchange_serve_launch(const struct rc_server_settings *settings);

/* Watch the signals of a step until its tasks on this node have ended (monitor.c). Return an exit status. */
int exchange_monitor(void);

enum { RC_VERDICT_TEXT = 65536 };

struct rc_verdict {
    /* in */
    struct rc_str srun;  /* host of srun's server; unset: another server */
    const char *silence; /* possible reason why a node has not called; or NULL */
    /* out */
    struct rc_answer answer; /* with its findings */
    char text[RC_VERDICT_TEXT];
};

/* An rc_server_decide; more is a struct rc_verdict. srun's server prints the findings. Another server puts them into
 * the answer, for RANK 0's node to print. */
struct rc_str rc_verdict_decide(void *more, const struct rc_roll_call *call);
