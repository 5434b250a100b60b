/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.h - the modes of rollcall-exchange. */
#pragma once

#include "base/text.h"
#include "rendezvous/server.h"
#include "resolve/options.h"
#include "roll/roll.h"

/* Reads a request (lib/rendezvous/session.h) from standard input, does it, and
 * prints the answer or one line failed=WHY. Returns an exit status: 0 or 1. */
int exchange_node(void);

/* Prints failed=WHAT: WHY. Returns 1, the exit status. */
int exchange_fail(const char *what, const char *why);

/* The argument with which this program is its own child, and what it does then: it prints what the node has
 * (lib/inventory). Returns an exit status, likewise. */
#define EXCHANGE_INVENTORY "inventory"
int exchange_inventory(void);

/* Reads a question from standard input, and prints what MASTER_ADDR leads to (lib/effects/lookup.h). Returns an exit
 * status, likewise. */
int exchange_lookup(void);

/* Writes "TOKEN PORT ADDRESS..." with this host's addresses. The text is in the arena. */
const char *exchange_write_endpoint(const char *token, uint16_t port, struct rc_arena *arena);

/* Runs rollcall-pmix, which is in the folder of this program, and returns the line that it
 * prints, or NULL with the reason in `line`. */
char *exchange_ask_pmix(const char *argument, struct rc_str input, uint32_t milliseconds, char *line, size_t size);

/* In a step, until its tasks on this node have ended: sees its signals (monitor.c). Returns an exit status. */
int exchange_monitor(void);

enum { RC_VERDICT_TEXT = 65536 };

struct rc_verdict {
    /* in */
    enum rc_check check;
    enum rc_check same;  /* what a node does that is not like the others */
    uint32_t seconds;    /* the deadline, for its message */
    struct rc_str srun;  /* the host of srun's server; absent: the server is a node's */
    const char *silence; /* why a node may be silent; NULL: not known */
    /* out */
    struct rc_answer answer; /* with its findings */
    char text[RC_VERDICT_TEXT];
};

/* An rc_server_decide; more is a struct rc_verdict. The answer that it returns is
 * for the nodes that are not the server's: the findings are the server's to print. */
struct rc_str rc_verdict_decide(void *more, const struct rc_roll *rolls, size_t count, bool complete);

/* Reads a request from standard input, and prints store=TOKEN PORT HOST..., once the store is there; or taken=NAME,
 * where another one has the name; or one line failed=WHY. Returns an exit status. */
int exchange_start_store(void);
