/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.h - what becomes of a roll call: the answer to all nodes, and what is printed. */
#ifndef ROLLCALL_LIBEXEC_EXCHANGE_VERDICT_H
#define ROLLCALL_LIBEXEC_EXCHANGE_VERDICT_H

#include "rendezvous/server.h"
#include "resolve/option.h"
#include "roll/answer.h"

enum { RC_VERDICT_TEXT = 65536 };

struct rc_verdict {
    /* in */
    enum rc_check check;
    enum rc_check same; /* what a node does that is not like the others */
    uint32_t seconds;   /* the deadline, for its message */
    /* out */
    struct rc_answer answer; /* with its findings */
    char text[RC_VERDICT_TEXT];
};

/* An rc_server_decide; more is a struct rc_verdict. The answer that it returns is
 * for the nodes that are not the server's: the findings are the server's to print. */
struct rc_str rc_verdict_decide(void *more, const struct rc_roll *rolls, size_t count, bool complete);

#endif
