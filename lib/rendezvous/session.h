/* SPDX-License-Identifier: BSD-3-Clause */
/* session.h - the part of a node in the roll call, and the outcome. */
#pragma once

#include "base/text.h"
#include "effects/rank0.h"
#include "rendezvous/discovery.h"
#include "rendezvous/wire.h"
#include "resolve/options.h"
#include "roll/roll.h"
#include "system/net.h"

/* One task calls for its node: spank/meet.c, cli/meet.c. */

enum { RC_SESSION_TEXT = 65536 };

enum rc_transport { RC_TRANSPORT_NONE, RC_TRANSPORT_PMIX, RC_TRANSPORT_SRUN };

struct rc_session {
    enum rc_transport transport;
    struct rc_endpoint endpoint; /* of srun's server; with PMIx it is looked up */
    const struct rc_result *result;
    const struct rc_options *options;
    struct rc_str tasks; /* ranks on this node */
    uint16_t port;       /* held by this node; 0: none */
    const char *failed;  /* message id if that failed; or NULL */
    uint32_t seconds;    /* deadline */
    enum rc_check check; /* action for an error in the roll call */
    enum rc_check same;  /* action for a mismatched node; off: no inventory */
    struct rc_tools tools;
};

enum rc_meeting {
    RC_NOT_ASKED, /* each task computes the port */
    RC_MET,
    RC_STOPPED, /* no task may start */
    RC_MISSED,  /* the others continue without this node, with the computed port */
    RC_LOST,    /* the others may use a port unknown here: no task may start */
};

/* The outcome for the node's tasks, without pointers. */
struct rc_outcome {
    enum rc_meeting how;
    uint16_t port; /* of RC_MET; 0: not agreed */
    bool ordered;  /* unlike the launcher's; the next three are set */
    uint32_t place;
    uint32_t before;              /* tasks on nodes before this one */
    char first[256];              /* the first node */
    char unordered[256];          /* why a requested order was not applied */
    char own[256];                /* addresses of RANK 0's node */
    char addr[RC_NETADDR_TEXT];   /* MASTER_ADDR for all nodes; empty: unchanged */
    char leads[RC_LEADS_MAX + 1]; /* addresses of MASTER_ADDR as resolved here; empty: unknown */
    char why[256];                /* of RC_MISSED and RC_LOST */
};

void rc_outcome_miss(struct rc_outcome *outcome, const char *why);

/* Return whether the nodes request an order; then each holds a port. */
bool rc_session_asks_order(const struct rc_options *options, const struct rc_result *result);

/* Return whether the nodes compare the addresses of MASTER_ADDR, and replace a bad one. False with addr=, and until
 * order= is decided. */
bool rc_session_compares_leads(const struct rc_options *options, const struct rc_result *result);

/* Hold the master port if RANK 0 may be this process: the user's or Slurm's, one of port=, or a free one. *held is the
 * descriptor or -1. Return false as rc_rank0_hold. */
bool rc_session_hold(const struct rc_options *options, struct rc_result *result, const struct rc_rank0 *hooks,
                     int *held);

/* Deadlines of the helpers for name servers and device files. */
enum { RC_SESSION_LEADS_MS = 3000, RC_SESSION_INVENTORY_MS = 300 };

/* Return the milliseconds that other tasks of the node must wait in the worst case. */
uint32_t rc_session_patience(uint32_t seconds);

/* Take part in the roll call. Failures are RC_MISSED or RC_LOST. The empty arena, RC_SESSION_TEXT bytes, backs
 * answer->findings. SIGTERM and SIGINT end the process meanwhile. */
void rc_session_meet(const struct rc_session *session, struct rc_answer *answer, struct rc_outcome *outcome,
                     struct rc_arena *arena);

/* Report to srun's server that the plugin runs without a roll call, to prevent RC621. Return 0 or -errno within a
 * second. env is a task's. */
int rc_session_attend(const struct rc_endpoint *endpoint, const struct rc_env *env);

/* Have srun's server print a line once for all nodes. Return 0, or -errno: print it here. */
int rc_session_report(const struct rc_env *env, enum rc_message_id id, const char *text);

/* Resolve a task again (rc_resolve_again) with the agreed port and order. result->env must index context->env;
 * context->told points to the outcome. Release the port, with *held -1, if not agreed on or RANK 0 is elsewhere. Return
 * false, with an error in result->messages, if the task must not start. */
bool rc_session_settle(const struct rc_outcome *outcome, const struct rc_rank0 *hooks, struct rc_context *context,
                       struct rc_result *result, int *held);

/* Parse the answer to the roll call; RC_LOST if malformed. */
void rc_outcome_read(struct rc_str text, uint32_t node, struct rc_answer *answer, struct rc_outcome *outcome,
                     struct rc_arena *arena);

/* Copy the outcome from another process's bytes; RC_LOST if the size differs. */
void rc_outcome_take(struct rc_str bytes, struct rc_outcome *outcome);
