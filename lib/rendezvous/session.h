/* SPDX-License-Identifier: BSD-3-Clause */
/* session.h - a node's part in the roll call, and the outcome. */
#pragma once

#include "base/text.h"
#include "effects/rank0.h"
#include "rendezvous/discovery.h"
#include "rendezvous/wire.h"
#include "resolve/options.h"
#include "roll/roll.h"
#include "system/net.h"

/* One task of each node calls the server for all tasks of the node: spank/meet.c, cli/meet.c. */

enum { RC_SESSION_TEXT = 65536 };

enum rc_transport { RC_TRANSPORT_NONE, RC_TRANSPORT_PMIX, RC_TRANSPORT_SRUN };

struct rc_session {
    enum rc_transport transport;
    struct rc_endpoint endpoint; /* of srun's server; with PMIx the nodes find that of RANK 0's node */
    const struct rc_result *result;
    const struct rc_options *options;
    struct rc_str tasks; /* the ranks on this node */
    uint16_t port;       /* that it holds; 0: none */
    const char *failed;  /* the id of the message for which it cannot hold it; or NULL */
    uint32_t seconds;    /* deadline */
    enum rc_check check; /* what an error in the roll call does */
    enum rc_check same;  /* what a node does that is not like the others; off: it does not even say what it has */
    struct rc_tools tools;
};

enum rc_meeting {
    RC_NOT_ASKED, /* each task computes the port */
    RC_MET,
    RC_STOPPED, /* nothing is to be started */
    RC_MISSED,  /* the others go on without this node's entry, and all compute the port */
    RC_LOST,    /* the others may go on with a port that is not known here, so nothing starts */
};

/* What all tasks of the node have to know; no pointers, so that processes can share it. */
struct rc_outcome {
    enum rc_meeting how;
    uint16_t port; /* of RC_MET; 0: none that all know of */
    bool ordered;  /* the nodes have another order than the launcher's: the next three say so */
    uint32_t place;
    uint32_t before;              /* tasks on the nodes before this one */
    char first[256];              /* the first node */
    char unordered[256];          /* why an order that was asked for is not told */
    char own[256];                /* addresses of RANK 0's node */
    char addr[RC_NETADDR_TEXT];   /* one of them, for MASTER_ADDR on all nodes; empty: each keeps the one that it has */
    char leads[RC_LEADS_MAX + 1]; /* all addresses that MASTER_ADDR led to here; empty: not looked up, or not known */
    char why[256];                /* of RC_MISSED and RC_LOST */
};

void rc_outcome_miss(struct rc_outcome *outcome, const char *why);

/* Whether the nodes ask for their order: each holds a port then, and the first of them keeps it. */
bool rc_session_asks_order(const struct rc_options *options, const struct rc_result *result);

/* Whether the nodes compare what MASTER_ADDR leads to, and take another address if it does not lead to RANK 0's node
 * from all of them: not for addr=, which is a wish, nor if the order of the nodes is still to come. */
bool rc_session_compares_leads(const struct rc_options *options, const struct rc_result *result);

/* Holds the master port, where RANK 0 is this process, or may be: the user's or Slurm's
 * where there is one, one of port=, else a free one that the kernel
 * chooses. *held is its descriptor, or -1. False as rc_rank0_hold. */
bool rc_session_hold(const struct rc_options *options, struct rc_result *result, const struct rc_rank0 *hooks,
                     int *held);

/* The deadlines of a node's helpers before it calls: name servers, and files of devices. */
enum { RC_SESSION_LEADS_MS = 3000, RC_SESSION_INVENTORY_MS = 300 };

/* How long the node's other tasks have to wait for the one that calls, in
 * milliseconds, whatever happens: all helpers, and the server's last moment. */
uint32_t rc_session_patience(uint32_t seconds);

/* Take part in the roll call, and wait for its answer. It goes into the outcome, with what is to be printed in
 * answer->findings; their texts are in the arena, an empty one of RC_SESSION_TEXT bytes. Whatever goes wrong is
 * RC_MISSED or RC_LOST. SIGTERM and SIGINT end the process while it waits. */
void rc_session_meet(const struct rc_session *session, struct rc_answer *answer, struct rc_outcome *outcome,
                     struct rc_arena *arena);

/* Report to srun's server that the plugin runs on this node, whose tasks take no part: it would print otherwise that
 * the node has not called (RC621). 0 or -errno, after a second at most. env: of a task. */
int rc_session_attend(const struct rc_endpoint *endpoint, const struct rc_env *env);

/* Sends srun's server a line of this node, which it prints once for all nodes that send the same. 0 or -errno: the node
 * prints it. */
int rc_session_report(const struct rc_env *env, enum rc_message_id id, const char *text);

/* What a task does with it: plans once more (rc_resolve_again), with the port and the order that all know of;
 * result->env is an index of context->env. context->told keeps pointing to the outcome. A held port is given back, and
 * *held is -1, where the others do not know of it (all compute the same one), or RANK 0 is elsewhere. False where the
 * task is not to start, with its error in result->messages. */
bool rc_session_settle(const struct rc_outcome *outcome, const struct rc_rank0 *hooks, struct rc_context *context,
                       struct rc_result *result, int *held);

/* Read the answer to the roll call. Anything else is RC_LOST. */
void rc_outcome_read(struct rc_str text, uint32_t node, struct rc_answer *answer, struct rc_outcome *outcome,
                     struct rc_arena *arena);

/* The outcome of another process of this node, as the bytes that it is. RC_LOST where they are not so many. */
void rc_outcome_take(struct rc_str bytes, struct rc_outcome *outcome);
